"""Bring the arguments of `verify` into one form."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia import models, tables
from justicia.errors import InputError, LabelError, TableError
from justicia.metrics import Requirement, parse_requirement
from justicia.tables.one_hot import OneHot, collapse, settle_one_hot
from justicia.tables.roles import find_groupings
from justicia.words import counted, did_you_mean, listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Collapsed",
    "as_groupings",
    "as_list",
    "as_requirements",
    "collapse_one_hot",
    "columns_for_model",
    "model_and_table",
]

_LABEL = "y"


def as_list(value: Any) -> list[Any] | None:
    """One value or several as a list; None stays None."""
    if value is None:
        return None
    if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, np.ndarray)):
        return [value]
    return list(value)


def as_requirements(require: str | Sequence[str]) -> list[Requirement]:
    """Requirements from their texts."""
    return [parse_requirement(text) for text in ([require] if isinstance(require, str) else require)]


def as_groupings(sensitive_features: Any) -> list[list[str]] | None:
    """Groupings from `sensitive_features`: names only; columns given as data are named in `model_and_table`."""
    names = _named(sensitive_features)
    if names is None:
        return None
    if isinstance(names, str):
        return [[names]]
    if all(isinstance(name, str) for name in names):
        return [list(names)]
    if any(isinstance(name, str) for name in names):
        raise InputError("sensitive_features mixes names and lists: a list of lists is several groupings")
    return [list(group) for group in names]


def _named(sensitive_features: Any) -> Any:
    """The names in `sensitive_features`, those of given data included."""
    if sensitive_features is None or isinstance(sensitive_features, str):
        return sensitive_features
    if hasattr(sensitive_features, "columns"):
        return [str(name) for name in sensitive_features.columns]
    if hasattr(sensitive_features, "name") or isinstance(sensitive_features, np.ndarray):
        return list(_given(sensitive_features, 0))
    if isinstance(sensitive_features, Sequence):
        if not sensitive_features:
            raise InputError("sensitive_features is empty: name a column, or leave it out")
        return sensitive_features
    raise InputError(f"sensitive_features cannot be a {type(sensitive_features).__name__}: name columns of the table")


def _given(sensitive_features: Any, n_rows: int) -> dict[str, Any]:
    """Columns given as data (Series, DataFrame, array), by name; none when they are names."""
    if hasattr(sensitive_features, "columns"):
        return {str(name): sensitive_features[name].to_numpy() for name in sensitive_features.columns}
    if hasattr(sensitive_features, "name"):
        return {str(sensitive_features.name or "sensitive_feature"): sensitive_features.to_numpy()}
    if isinstance(sensitive_features, np.ndarray):
        if sensitive_features.ndim == 1 and n_rows in (0, len(sensitive_features)):
            return {"sensitive_feature": sensitive_features}
        if sensitive_features.ndim == 2:
            return {f"sensitive_feature_{i}": column for i, column in enumerate(sensitive_features.T)}
        raise InputError(f"sensitive_features has shape {sensitive_features.shape}, and the table has {n_rows:,} rows")
    return {}


def model_and_table(
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
) -> tuple[models.ModelFile, tables.Table]:
    """Load or train the model, read the table, and add columns that were given beside it."""
    trained_here = isinstance(model, str) and model in models.TRAINABLE and not Path(model).exists()
    file = None
    if not trained_here:
        if isinstance(model, (str, os.PathLike)):
            if isinstance(model, str) and not Path(model).suffix and not Path(model).exists():
                names = did_you_mean(model, models.TRAINABLE)
                raise InputError(f"{model}: there is no such model file, and no model of that name to train{names}")
            file = models.load_model(model, trust=trust)
        else:
            file = models.ModelFile(model)
    strip = file is None or not _keeps_blanks(file.predictor)
    table = tables.read_table(data, na=na, delimiter=delimiter, encoding=encoding, strip=strip)
    table = _with_columns(table, y, sensitive_features)
    if file is None:
        file = _trained(str(model), table, label or (_LABEL if y is not None else None), sensitive_features, seed)
    return file, table


def _keeps_blanks(predictor: Any) -> bool:
    """Whether the model was fitted on names or categories with blanks around them."""
    fitted = models.unwrap(predictor)
    words = [*(fitted.columns or ()), *fitted.classes]
    pending = list(fitted.steps)
    while pending:
        step = pending.pop()
        pending += [inner for _, inner in getattr(step, "steps", ())]
        pending += [inner for _, inner, _ in getattr(step, "transformers_", ())]
        words += [word for array in getattr(step, "categories_", ()) for word in list(array)]
    return any(isinstance(word, str) and word != word.strip() for word in words)


def _with_columns(table: tables.Table, y: Any, sensitive_features: Any) -> tables.Table:
    given = _given(sensitive_features, len(table.frame))
    if y is not None:
        name = getattr(y, "name", None) or _LABEL
        given[str(name)] = np.asarray(y) if not hasattr(y, "to_numpy") else y.to_numpy()
    if not given:
        return table
    for name, values in given.items():
        if len(values) != len(table.frame):
            raise InputError(f"{name} has {counted(len(values), 'value')} and the table {len(table.frame):,} rows")
    return replace(table, frame=table.frame.assign(**given))


def _trained(name: str, table: tables.Table, label: str | None, sensitive_features: Any, seed: int) -> models.ModelFile:
    """A model fitted on the table's features."""
    frame = table.frame
    described = table.description
    if label is None and described is not None and described.label in frame.columns:
        label = described.label
    if label is None:
        raise LabelError(
            f"to train a model, name the column of the outcome with --label; there are {listed(frame, 60)}"
        )
    if label not in frame.columns:
        raise TableError(f"label column {label!r} is not in the table{did_you_mean(label, frame.columns)}")
    find_groupings(table, as_groupings(sensitive_features))
    left_out = set(described.not_features) if described is not None else set()
    features = [str(column) for column in frame.columns if column != label and column not in left_out]
    import sklearn

    predictor = models.train(name, frame, features, label, random_state=seed)
    return models.ModelFile(predictor, name, None, sklearn.__version__)


def columns_for_model(
    fitted: models.FittedModel, table: tables.Table, features: Sequence[str] | None, label: str | None
) -> list[str]:
    """Names of the table's columns that the model takes, in its order."""
    frame = table.frame
    if fitted.columns is not None:
        absent = [name for name in fitted.columns if name not in frame.columns]
        if absent:
            near = did_you_mean(absent[0], frame.columns)
            raise TableError(f"the table lacks {listed(absent)}, which the model was fitted on{near}")
        return list(fitted.columns)
    if features is None:
        outcome = label or (table.description.label if table.description is not None else None)
        names = [str(name) for name in frame.columns if name != outcome]
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
        return Collapsed(fitted, table, _widened(table.frame[columns]), held, None)
    expansion = models.OneHotExpansion(table.frame, inside, columns)
    frame = _widened(table.frame[list(expansion.inputs)])
    return Collapsed(models.expanded(fitted, expansion), table, frame, held, expansion)


def _widened(frame: pd.DataFrame) -> pd.DataFrame:
    """Small integers as int64: beside float32 columns they would make a scaler compute in float32."""
    kinds = {name: frame[name].dtype for name in frame.columns}
    small = [
        name for name, kind in kinds.items() if isinstance(kind, np.dtype) and kind.kind in "iu" and kind.itemsize < 4
    ]
    return frame.astype(dict.fromkeys(small, np.int64)) if small else frame
