"""Bring the arguments of `verify` into one form."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia import models, tables
from justicia.errors import InputError, LabelError, TableError
from justicia.metrics import Requirement, parse_requirement
from justicia.progress import stage
from justicia.tables.one_hot import OneHot, collapse, settle_one_hot
from justicia.tables.roles import find_groupings
from justicia.tables.weights import Weights, without_weightless
from justicia.text_columns import text_columns
from justicia.words import counted, did_you_mean, listed

if TYPE_CHECKING:
    import pandas as pd

    from justicia.watching import Progress

__all__ = [
    "Collapsed",
    "Inputs",
    "are_names",
    "as_list",
    "as_names",
    "as_requirements",
    "beside",
    "collapse_one_hot",
    "columns_for_model",
    "drop_missing",
    "settle_inputs",
    "settle_sensitive",
    "settle_table",
    "table_with_groups",
]

logger = logging.getLogger(__name__)

_LABEL = "y"
_FEATURE = "sensitive_feature"


def as_list(value: Any) -> list[Any] | None:
    """One value or several as a list; None stays None."""
    if value is None:
        return None
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        return [value]
    return list(value)


def as_names(value: Any) -> list[str] | None:
    """Names of columns, as a list or as one text with commas; None stays None."""
    names = value.split(",") if isinstance(value, str) else value
    return None if names is None else [str(name).strip() for name in names]


def as_requirements(require: Any) -> list[Requirement]:
    """Requirements from their texts."""
    return [parse_requirement(text) for text in as_list(require) or []]


@dataclass(frozen=True)
class Inputs:
    """What `verify` was given, in one form.

    Attributes
    ----------
    file : ModelFile
    table : Table
        With the columns that were given beside it.
    groupings : list of list of str, or None
        Sensitive columns of each grouping; None when they are to be found.
    label : str or None
    weights : Weights or None
        Of the rows.
    columns : list of str, or None
        Columns that the model takes, where they are known already.
    """

    file: models.ModelFile
    table: tables.Table
    groupings: list[list[str]] | None
    label: str | None
    weights: Weights | None = None
    columns: list[str] | None = None


@dataclass(frozen=True)
class Asking:
    """What else is asked of the columns of a table that is read in batches, as `justicia.verify` takes it."""

    favorable: Any = None
    features: Sequence[str] | None = None
    one_hot: Mapping[str, Sequence[str]] | bool | None = None
    bins: Mapping[str, Sequence[Any]] | None = None
    factors: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    drops: bool = False
    file: Any = None
    structure: str = "auto"


def settle_inputs(
    model: Any,
    data: Any,
    y: Any,
    sensitive_features: Any,
    *,
    label: str | None,
    na: Sequence[str],
    delimiter: str | None,
    encoding: str,
    seed: int,
    trust: bool,
    progress: Progress | None = None,
    weight: str | None = None,
    weight_kind: str = "sampling",
    stream: bool | None = None,
    asked: Asking | None = None,
) -> Inputs:
    """Load or train the model, read the table, and put columns that were given apart beside it."""
    trained_here = isinstance(model, str) and model in models.TRAINABLE and not Path(model).exists()
    file = None
    if not trained_here:
        stage("loading the model")
        file = _model_file(model, trust)
    strip = file is None or not _keeps_blanks(file.predictor)
    texts = () if file is None else text_columns(models.unwrap(file.predictor))
    columns = None
    if y is None and file is not None and asked is not None and are_names(sensitive_features):
        held = _condensed(
            file, data, sensitive_features, asked, label, weight, weight_kind, progress, stream, seed,
            na=na, delimiter=delimiter, encoding=encoding, strip=strip, texts=texts,
        )  # fmt: skip
        if held is not None:
            data, columns = held
    elif stream:
        raise InputError("a table is read in batches for a model that is given, and with columns that are named in it")
    table, groupings, label = settle_table(
        data,
        y,
        sensitive_features,
        label=label,
        na=na,
        delimiter=delimiter,
        encoding=encoding,
        strip=strip,
        texts=texts,
    )
    weights = None
    if weight is not None:
        tables.check_plain(table.people, [weight])
        table, weights = without_weightless(table, weight, weight_kind)
    if file is None:
        stage("training %s", model)
        file, label = _trained(str(model), table, label, groupings, seed, progress, weight)
    return Inputs(file, table, groupings, label, weights, columns)


def are_names(sensitive_features: Any) -> bool:
    """Whether sensitive features are named, not given as values."""
    if sensitive_features is None or isinstance(sensitive_features, str):
        return True
    if not isinstance(sensitive_features, (list, tuple)):
        return False
    return all(
        isinstance(item, str) or (isinstance(item, (list, tuple)) and all(isinstance(name, str) for name in item))
        for item in sensitive_features
    )


def _condensed(
    file: models.ModelFile,
    data: Any,
    sensitive_features: Any,
    asked: Asking,
    label: str | None,
    weight: str | None,
    weight_kind: str,
    progress: Progress | None,
    stream: bool | None,
    seed: int,
    **reading: Any,
) -> tuple[tables.Table, list[str]] | None:
    """The distinct people of a large file, and the columns that the model takes; None where it is read whole."""
    from justicia import streaming
    from justicia.population.networks import Network
    from justicia.streaming_models import Columns

    if isinstance(asked.file, Network):
        if stream:
            raise InputError("a network is stated about a table that is read whole: leave stream out")
        return None
    source = streaming.large_source(data, stream=stream, **reading)
    if source is None:
        return None
    groupings, _ = settle_sensitive(sensitive_features, source.head())
    columns = Columns(
        groupings, label, weight, asked.factors, asked.others, asked.bins or {}, weight_kind == "frequency",
        asked.drops, asked.file, asked.structure, seed,
    )  # fmt: skip
    return streaming.condense_for_model(
        source, models.unwrap(file.predictor), columns,
        favorable=as_list(asked.favorable), features=as_names(asked.features), one_hot=asked.one_hot,
        progress=progress,
    )  # fmt: skip


def settle_table(
    data: Any,
    y: Any,
    sensitive_features: Any,
    *,
    label: str | None,
    na: Sequence[str],
    delimiter: str | None,
    encoding: str,
    strip: bool,
    texts: Collection[str] = (),
) -> tuple[tables.Table, list[list[str]] | None, str | None]:
    """Read the table, and put columns that were given apart beside it.

    Returns
    -------
    table, groupings, label
        As `Inputs` has them.
    """
    stage("reading the table")
    table = tables.read_table(data, na=na, delimiter=delimiter, encoding=encoding, strip=strip, texts=texts)
    groupings, given = settle_sensitive(sensitive_features, table.frame)
    if y is not None:
        if label is not None:
            raise InputError("y and label are both given: the true outcome is one or the other")
        label, values = _settle_y(y)
        given[label] = values
    index = getattr(data, "index", None)
    table = replace(table, beside={name: beside(name, values, table.frame, index) for name, values in given.items()})
    return table, groupings, label


def _model_file(model: Any, trust: bool) -> models.ModelFile:
    if not isinstance(model, (str, os.PathLike)):
        return models.ModelFile(model)
    path = Path(model)
    if not path.exists():
        near = did_you_mean(path.name, [*models.TRAINABLE, *_model_files(path.parent)])
        raise InputError(f"{os.fspath(model)}: there is no such file, and no model of that name to train{near}")
    return models.load_model(model, trust=trust)


def _model_files(folder: Path) -> list[str]:
    """Names of the model files in a folder."""
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if path.suffix.lower() in models.SUFFIXES)


def _settle_y(y: Any) -> tuple[str, Any]:
    """Name and values of the true outcomes."""
    if isinstance(y, (str, bytes)) or not hasattr(y, "__len__"):
        raise InputError(f"y holds the true outcomes, one a row; to name a column of the table, pass label={y!r}")
    if hasattr(y, "columns"):
        if len(y.columns) != 1:
            raise InputError(f"y has {len(y.columns)} columns, and a label is one")
        y = y.iloc[:, 0]
    name = getattr(y, "name", None)
    values = np.asarray(y) if not hasattr(y, "dtype") else y
    if getattr(values, "ndim", 1) == 2 and values.shape[1] == 1:
        values = values[:, 0]
    return str(name) if name is not None else _LABEL, values


def beside(name: str, values: Any, frame: pd.DataFrame, index: Any = None) -> pd.Series[Any]:
    """Values given apart as a column of the table, whose rows they have to be in the order of.

    Raises
    ------
    InputError
    """
    import pandas as pd

    if getattr(values, "ndim", 1) != 1:
        raise InputError(f"{name} has {values.ndim} dimensions, and a column has one")
    if len(values) != len(frame):
        raise InputError(f"{name} has {counted(len(values), 'value')} and the table {len(frame):,} rows")
    own = getattr(values, "index", None)
    if own is not None and index is not None and not own.equals(index) and not own.equals(frame.index):
        raise InputError(f"{name} and the table have different indexes: bring their rows into the same order")
    return pd.Series(values.array if hasattr(values, "array") else values, index=frame.index, name=name)


def settle_sensitive(given: Any, frame: pd.DataFrame) -> tuple[list[list[str]] | None, dict[str, Any]]:
    """Groupings by name, and the columns that were given as data."""
    if given is None:
        return None, {}
    if isinstance(given, str):
        parts = [part.strip() for part in given.split(",")]
        return [[given] if given in frame.columns else parts], {}
    if hasattr(given, "columns"):
        names = [str(name) for name in given.columns]
        if len(set(names)) < len(names):
            raise InputError("sensitive_features names a column twice: rename one")
        return [names], {name: given.iloc[:, position] for position, name in enumerate(names)}
    if isinstance(given, Mapping):
        return [[str(name) for name in given]], {str(name): np.asarray(values) for name, values in given.items()}
    if hasattr(given, "iloc"):
        name = str(given.name) if given.name is not None else _FEATURE
        return [[name]], {name: given}
    if hasattr(given, "ndim") and given.ndim == 2:
        columns = {f"{_FEATURE}_{position}": np.asarray(given)[:, position] for position in range(given.shape[1])}
        return [list(columns)], columns
    if not hasattr(given, "__len__"):
        raise InputError(f"sensitive_features cannot be {given!r}: name columns of the table")
    if len(given) == 0:
        raise InputError("sensitive_features is empty: name a column, or leave it out")
    return _settle_sequence(given, frame)


def _settle_sequence(given: Any, frame: pd.DataFrame) -> tuple[list[list[str]] | None, dict[str, Any]]:
    """A sequence: names, lists of names, or one value a row."""
    items = list(given)
    texts = [isinstance(item, str) for item in items]
    names = set(frame.columns)
    if all(texts) and (set(items) <= names or len(items) != len(frame)):
        return [items], {}
    nested = [isinstance(item, (list, tuple)) and all(isinstance(name, str) for name in item) for item in items]
    if all(nested) and not (len(items) == len(frame) and not set(items[0]) <= names):
        return [list(item) for item in items], {}
    if any(texts) and any(nested):
        raise InputError("sensitive_features mixes names and lists: a list of lists is several groupings")
    if all(nested):
        columns = np.array(items, dtype=object)
        return settle_sensitive(columns, frame)
    return [[_FEATURE]], {_FEATURE: given if hasattr(given, "dtype") else np.asarray(items, dtype=object)}


def _keeps_blanks(predictor: Any) -> bool:
    """Whether the model was fitted on names or categories with blanks around them."""
    fitted = models.unwrap(predictor)
    words = [*(fitted.columns or ()), *fitted.classes, *_rule_words(fitted.estimator)]
    pending = list(fitted.steps)
    while pending:
        step = pending.pop()
        pending += [inner for _, inner in getattr(step, "steps", ())]
        pending += [inner for _, inner, _ in getattr(step, "transformers_", ())]
        words += [word for array in getattr(step, "categories_", ()) for word in list(array)]
    return any(isinstance(word, str) and word != word.strip() for word in words)


def _rule_words(estimator: Any) -> list[str]:
    """Values that a rule asks for."""
    parts = getattr(getattr(estimator, "rule_", None), "parts", ())
    return [value for part in parts for condition in part for value in condition.values]


def _trained(
    name: str,
    table: tables.Table,
    label: str | None,
    groupings: list[list[str]] | None,
    seed: int,
    progress: Progress | None,
    weight: str | None = None,
) -> tuple[models.ModelFile, str]:
    """A model fitted on the table's features, and the label that it was fitted to."""
    import sklearn

    people, described = table.people, table.description
    if label is None and described is not None and described.label in people.columns:
        label = described.label
    if label is None:
        names = listed(people.columns, 60)
        raise LabelError(f"to train a model, name the column of the outcome with --label; there are {names}")
    if label not in people.columns:
        raise TableError(f"label column {label!r} is not in the table{did_you_mean(label, people.columns)}")
    find_groupings(table, groupings)
    left_out = {} if described is None else described.not_features
    features = [
        str(column) for column in table.frame.columns if column not in (label, weight) and column not in left_out
    ]
    tables.check_plain(people, [*features, label])
    for column, reason in left_out.items():
        if column in table.frame.columns:
            logger.info("column %s (%s) is left out of the model that is trained here", column, reason)
    favorable = described.favorable if described is not None and label == described.label else None
    predictor = models.train(
        name, table.frame, features, people[label], random_state=seed, favorable=favorable, progress=progress
    )
    return models.ModelFile(predictor, name, None, sklearn.__version__), label


_UNDERSCORED = ("lightgbm.sklearn.LGBMClassifier", "justicia.models.native_files.LightGBMBooster")
"""Models that hold column names with underscores for spaces."""


def columns_for_model(
    fitted: models.FittedModel,
    table: tables.Table,
    features: Sequence[str] | None,
    label: str | None,
    weight: str | None = None,
) -> list[str]:
    """Names of the table's columns that the model takes, in its order."""
    frame = table.frame
    if fitted.columns is not None:
        wanted = list(fitted.columns)
        if fitted.class_name in _UNDERSCORED:
            as_held = {str(name).replace(" ", "_"): name for name in frame.columns}
            wanted = [name if name in frame.columns else as_held.get(name, name) for name in wanted]
        absent = [name for name in wanted if name not in frame.columns]
        if absent:
            near = did_you_mean(absent[0], frame.columns)
            if all(any(name.startswith(f"{held}_") for held in frame.columns) for name in absent):
                near = (
                    ": it was fitted on a one-hot encoded table; encode this one in the same way, or save the model "
                    "in a Pipeline with its encoder"
                )
            raise TableError(f"the table lacks {listed(absent)}, which the model was fitted on{near}")
        if features is not None and list(features) != wanted:
            raise TableError("--features is for a model fitted without column names; this one has its own")
        return wanted
    if features is None:
        outcome = label or (table.description.label if table.description is not None else None)
        names = [str(name) for name in frame.columns if name not in (outcome, weight)]
        if len(names) != fitted.n_columns:
            raise TableError(
                f"the model was fitted without column names and takes {counted(fitted.n_columns, 'column')}; the table "
                f"has {len(names)} beside the label: name them in the model's order with --features"
            )
        return names
    names = list(features)
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise TableError(f"the table lacks {listed(absent)}{did_you_mean(absent[0], frame.columns)}")
    if len(names) != fitted.n_columns:
        raise TableError(f"--features names {len(names)} columns, and the model takes {fitted.n_columns}")
    return names


@dataclass(frozen=True)
class Collapsed:
    """Model and table in terms of features, one-hot columns collapsed.

    Attributes
    ----------
    fitted : FittedModel
    table : Table
    frame : DataFrame
        The columns that `fitted` takes.
    one_hot : list of OneHot
    expansion : OneHotExpansion or None
    """

    fitted: models.FittedModel
    table: tables.Table
    frame: pd.DataFrame
    one_hot: list[OneHot]
    expansion: models.OneHotExpansion | None


def collapse_one_hot(
    fitted: models.FittedModel,
    table: tables.Table,
    columns: list[str],
    one_hot: Mapping[str, Sequence[str]] | bool | None,
    label: str | None,
) -> Collapsed:
    """See several 0/1 columns of the table as the one feature that they are.

    Parameters
    ----------
    columns : list of str
        Columns that the model takes.
    one_hot : mapping of str to sequence of str, or False, optional
        Columns by the name of their feature; more are looked for. False: there are none.
    label : str, optional
    """
    given = one_hot if isinstance(one_hot, Mapping) else {}
    exclude = [label] if label is not None else []
    held = settle_one_hot(table.frame, given, search=one_hot is not False, exclude=exclude)
    table = replace(table, frame=collapse(table.frame, held))
    inside = [feature for feature in held if set(feature.columns) & set(columns)]
    if not inside:
        return Collapsed(fitted, table, _widened(table.frame[columns], fitted), held, None)
    expansion = models.OneHotExpansion(table.frame, inside, columns)
    frame = _widened(table.frame[list(expansion.inputs)], fitted)
    # The self-check asks the model about the table's own columns, so that it proves the features to say the same.
    expansion.keep(frame, table.frame[columns])
    return Collapsed(models.expanded(fitted, expansion), table, frame, held, expansion)


def drop_missing(seen: Collapsed, groupings: Sequence[Sequence[str]]) -> tuple[Collapsed, np.ndarray]:
    """Leave out the people who have no value in a sensitive column, and count them; also which rows are kept."""
    table, kept = table_with_groups(seen.table, groupings)
    if seen.expansion is not None:
        seen.expansion.forget()
    return replace(seen, table=table, frame=seen.frame[kept].reset_index(drop=True)), kept


def table_with_groups(
    table: tables.Table, groupings: Sequence[Sequence[str]], *, say: bool = True
) -> tuple[tables.Table, np.ndarray]:
    """The people who have a value in every sensitive column, and which rows they were; `say`: how many they are."""
    kept, dropped = tables.rows_with_groups(table.people, groupings, table.repeats)
    if not kept.any():
        raise TableError("no row has a value in every sensitive column")
    for reason, rows in dropped.items():
        number = counted(rows, "row is", "rows are") if say else "rows are"
        logger.warning("%s left out: %s", number, reason)
    cut = table.of_rows(np.flatnonzero(kept), dropped={**table.dropped, **dropped}) if dropped else table
    return cut, kept


def _widened(frame: pd.DataFrame, fitted: models.FittedModel) -> pd.DataFrame:
    """Small integers as int64: beside float32 columns they would make a scaler compute in float32.

    Not before a function of one's own, which may take the type of its numbers for something.
    """
    kinds = {name: frame[name].dtype for name in frame.columns}
    small = [
        name for name, kind in kinds.items() if isinstance(kind, np.dtype) and kind.kind in "iu" and kind.itemsize < 4
    ]
    held = fitted.predictor.get_params(deep=True) if small and hasattr(fitted.predictor, "get_params") else {}
    own = any(type(part).__name__ == "FunctionTransformer" and part.func is not None for part in held.values())
    return frame.astype(dict.fromkeys(small, np.int64)) if small and not own else frame
