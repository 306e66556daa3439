"""Decisions, true outcomes and groups of people, as users hold them, in one form.

Lists, arrays, Series and frames of every type are taken, whatever the labels: 0 and 1, -1 and 1, False and True, or
words with `pos_label`. Rows are matched by position, as scikit-learn does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import GroupingError, InputError, LabelError
from justicia.metrics.counts import OutcomeCounts, count_outcomes
from justicia.words import counted, did_you_mean, listed, shown, value_text

if TYPE_CHECKING:
    import pandas as pd

    from justicia.tables import Grouping

__all__ = ["Outcomes", "feature_columns", "in_python", "label_codes", "one_column", "read_outcomes", "row_weights"]

_ZERO_ONE = {"0": 0, "0.0": 0, "False": 0, "false": 0, "1": 1, "1.0": 1, "True": 1, "true": 1}
_SIGNS = {"-1": 0, "-1.0": 0, "1": 1, "1.0": 1}
_MOST_LABELS = 20
_FEATURE = "sensitive_feature"


@dataclass(frozen=True)
class Outcomes:
    """People by group, decision and true outcome.

    Attributes
    ----------
    grouping : Grouping
        By the control features, if there are any, and then the sensitive ones.
    counts : OutcomeCounts
        Of its groups.
    n_controls : int
        Number of control features.
    """

    grouping: Grouping
    counts: OutcomeCounts
    n_controls: int = 0


def read_outcomes(
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    control_features: Any = None,
    missing: str = "error",
    truth: bool = True,
) -> Outcomes:
    """Count people by group, decision and true outcome.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), or None
        True outcomes.
    y_pred : array-like of shape (n_rows,)
        Decisions.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns), or mapping of str to array-like
    pos_label : label or list of labels, optional
        Favorable outcomes; needed unless the labels are 0 and 1, -1 and 1, or False and True.
    sample_weight : array-like of shape (n_rows,), optional
    control_features : as `sensitive_features`, optional
    missing : str
        What happens to people without a value in a sensitive or control feature: "error", "group" or "drop".
    truth : bool
        Whether true outcomes are counted.

    Raises
    ------
    InputError
    """
    from justicia.tables.groups import group_rows

    decisions = one_column(y_pred, "y_pred")
    n_rows = len(decisions)
    if not n_rows:
        raise InputError("y_pred is empty: there is nobody to count")
    if y_true is None and truth:
        raise InputError("y_true holds the true outcomes, which this metric needs")
    outcomes = None if y_true is None else one_column(y_true, "y_true")
    _same_length(outcomes, n_rows, "y_true")
    if missing not in ("error", "group", "drop"):
        raise InputError(f"missing cannot be {missing!r}{did_you_mean(missing, ('error', 'group', 'drop'))}")
    frame, names = feature_columns(sensitive_features, "sensitive_features", _FEATURE, n_rows)
    n_controls = 0
    if control_features is not None:
        controls, more = feature_columns(control_features, "control_features", "control_feature", n_rows)
        if set(more) & set(names):
            raise GroupingError(f"{listed(sorted(set(more) & set(names)))} is a control feature and a sensitive one")
        for name in names:
            controls[name] = frame[name]
        frame, names, n_controls = controls, [*more, *names], len(more)
    weight = None if sample_weight is None else row_weights(sample_weight, n_rows)
    selected, positive = _positive(outcomes, decisions, pos_label, truth)
    if missing == "drop":
        kept = ~frame[names].isna().any(axis=1).to_numpy()
        if not kept.any():
            raise GroupingError("nobody has a value in every sensitive feature")
        frame, selected = frame[kept], selected[kept]
        positive = None if positive is None else positive[kept]
        weight = None if weight is None else weight[kept]
    try:
        grouping = group_rows(frame, names, missing=missing if missing == "group" else "error")
    except GroupingError as error:
        raise GroupingError(in_python(str(error))) from None
    counts = count_outcomes(grouping.codes, len(grouping.groups), selected, positive, None, weight)
    return Outcomes(grouping, counts, n_controls)


def in_python(message: str) -> str:
    """The remedies of the command, as Python has them."""
    start, _, _ = message.partition("cut it into classes with --bins")
    if start != message:
        return f"{start}cut it into classes, as with pandas.cut, or turn it into text if each value is a group"
    return message.replace("pass --missing group", "pass missing='group'").replace("--missing drop", "missing='drop'")


def _same_length(values: Any, n_rows: int, name: str, beside: str = "y_pred") -> None:
    if values is not None and len(values) != n_rows:
        raise InputError(f"{name} has {counted(len(values), 'row')} and {beside} {n_rows:,}")


def one_column(values: Any, name: str) -> Any:
    """One value a row."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise InputError(f"{name} holds one value a row, not {shown(values)!r}")
    if hasattr(values, "iloc"):
        if hasattr(values, "columns"):
            if values.shape[1] != 1:
                raise InputError(f"{name} has {values.shape[1]} columns, and labels are one")
            values = values.iloc[:, 0]
        array = values.array
        return array.to_numpy() if type(array).__name__.startswith("NumpyExtension") else array
    if not hasattr(values, "dtype"):
        items = list(values)
        plain = np.asarray(items, dtype=object) if any(isinstance(item, str) for item in items) else np.asarray(items)
        values = plain
    if getattr(values, "ndim", 1) == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if getattr(values, "ndim", 1) != 1:
        raise InputError(f"{name} has {values.ndim} dimensions, and labels have one")
    return values


def feature_columns(
    given: Any, name: str, default: str, n_rows: int, beside: str = "y_pred"
) -> tuple[pd.DataFrame, list[str]]:
    """Sensitive features as a frame of named columns, as long as the column called `beside`."""
    import pandas as pd

    if given is None or isinstance(given, (str, bytes)) or not hasattr(given, "__len__"):
        raise GroupingError(f"{name} holds one value a row or several columns, not {shown(given)!r}")
    columns: dict[str, Any]
    if isinstance(given, Mapping):
        columns = {str(column): one_column(values, f"{name}[{column!r}]") for column, values in given.items()}
    elif hasattr(given, "columns"):
        names = [str(column) for column in given.columns]
        if len(set(names)) < len(names):
            raise GroupingError(f"{name} names a column twice: rename one")
        columns = {column: given.iloc[:, place].array for place, column in enumerate(names)}
    elif hasattr(given, "iloc"):
        columns = {str(given.name) if given.name is not None else default: given.array}
    else:
        array = given if hasattr(given, "dtype") else _objects(given)
        if array.ndim == 1:
            columns = {default: array}
        elif array.ndim == 2:
            several = array.shape[1] > 1
            columns = {f"{default}_{i}" if several else default: array[:, i] for i in range(array.shape[1])}
        else:
            raise GroupingError(f"{name} has {array.ndim} dimensions: pass one value a row, or a table")
    if not columns:
        raise GroupingError(f"{name} has no column")
    for column, values in columns.items():
        if len(values) != n_rows:
            raise InputError(f"{name} {shown(column)} has {counted(len(values), 'row')} and {beside} {n_rows:,}")
    held = {column: pd.Series(values, dtype=values.dtype, copy=False) for column, values in columns.items()}
    return pd.DataFrame(held, copy=False), list(columns)


def _objects(given: Sequence[Any]) -> np.ndarray:
    """A list of values, or of lists of them, without turning numbers into text."""
    items = list(given)
    if items and all(isinstance(item, (list, tuple, np.ndarray)) for item in items):
        if len({len(item) for item in items}) > 1:
            raise GroupingError("sensitive_features has rows of different lengths")
        table = np.empty((len(items), len(items[0])), dtype=object)
        for place, item in enumerate(items):
            table[place] = list(item)
        return table
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def row_weights(given: Any, n_rows: int, beside: str = "y_pred") -> np.ndarray:
    """Weights of rows, float64 array of shape (n_rows,), as long as the column called `beside`."""
    try:
        weight = np.asarray(one_column(given, "sample_weight"), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight holds something that is not a number") from None
    _same_length(weight, n_rows, "sample_weight", beside)
    wrong = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(wrong):
        raise InputError(f"sample_weight is {weight[wrong[0]]} in row {wrong[0]}: weights are 0 or more")
    if not weight.any():
        raise InputError("sample_weight is 0 in every row")
    return weight


def _positive(
    outcomes: Any, decisions: Any, pos_label: Any, truth: bool
) -> tuple[np.ndarray, np.ndarray | None]:  # fmt: skip
    """Who is selected, and whose true outcome is favorable."""
    fast = None if pos_label is not None else _zero_one(decisions)
    if fast is not None:
        if not truth or outcomes is None:
            return fast, None
        true = _zero_one(outcomes)
        if true is not None:
            return fast, true
    given, given_texts = label_codes(decisions, "y_pred", strict=True)
    if not truth:
        try:
            wanted = _wanted(pos_label, given_texts, [])
        except LabelError:
            # Where nobody is selected, the true outcomes may hold the favorable label.
            if pos_label is None or outcomes is None:
                raise
            wanted = _wanted(pos_label, given_texts, label_codes(outcomes, "y_true", strict=False)[1])
        return np.array([text in wanted for text in given_texts])[given], None
    codes, texts = label_codes(outcomes, "y_true", strict=True)
    wanted = _wanted(pos_label, given_texts, texts)
    selected, positive = (
        np.array([text in wanted for text in held])[rows] for held, rows in ((given_texts, given), (texts, codes))
    )
    return selected, positive


def _zero_one(values: Any) -> np.ndarray | None:
    """Whose label is 1, for arrays of 0 and 1 or of truth values; None for others."""
    if not isinstance(values, np.ndarray):
        return None
    if values.dtype.kind == "b":
        return values
    if values.dtype.kind not in "iu":
        return None
    one = values == 1
    return one if np.array_equal(values, one) else None


def label_codes(values: Any, name: str, *, strict: bool) -> tuple[np.ndarray, list[str]]:
    """Codes and texts of labels; where `strict`, one has to be there in every row."""
    import pandas as pd

    try:
        codes, uniques = pd.factorize(values)
    except TypeError:
        raise LabelError(f"{name} holds values that are no single words or numbers") from None
    lacking = int((codes < 0).sum())
    if lacking and strict:
        raise LabelError(f"{name} has no value in {counted(lacking, 'row')}: leave these rows out")
    if strict and len(uniques) > _MOST_LABELS:
        numeric = getattr(uniques, "dtype", np.dtype(object)).kind in "fiu"
        why = "these look like scores: pass decisions" if numeric else "pass decisions"
        raise LabelError(f"{name} holds {len(uniques):,} different values; {why}")
    return codes, [value_text(value).strip() for value in uniques]


def _coded(texts: Sequence[str]) -> Mapping[str, int] | None:
    """What labels mean, where they are written as numbers or truth values."""
    for coding in (_ZERO_ONE, _SIGNS):
        if all(text in coding for text in texts):
            return coding
    return None


def _wanted(pos_label: Any, decisions: Sequence[str], outcomes: Sequence[str]) -> set[str]:
    """Texts of the favorable labels."""
    every = list(dict.fromkeys([*decisions, *outcomes]))
    coding = _coded(every)
    if pos_label is None:
        if coding is None:
            raise LabelError(f"which outcome is favorable? pass pos_label, one or more of {listed(every, 40)}")
        return {text for text in every if coding[text] == 1}
    items = list(pos_label) if isinstance(pos_label, (list, tuple, set, frozenset, np.ndarray)) else [pos_label]
    wanted = {value_text(item).strip() for item in items}
    if coding is not None and wanted <= set(coding):
        meant = {coding[text] for text in wanted}
        return {text for text in every if coding[text] in meant}
    absent = sorted(text for text in wanted if text not in every)
    if not wanted:
        raise LabelError(f"pos_label is empty: name one or more of {listed(every, 40)}")
    if absent:
        raise LabelError(f"pos_label {shown(absent[0])!r}: there is no such label{did_you_mean(absent[0], every)}")
    _same_words(decisions, outcomes, wanted)
    if set(every) <= wanted and len(every) > 1:
        raise LabelError(f"every label is called favorable: {listed(every)}")
    return wanted


def _same_words(decisions: Sequence[str], outcomes: Sequence[str], wanted: set[str]) -> None:
    """Refuse decisions that are written in other words than the true outcomes."""
    for text in outcomes:
        if text in decisions:
            continue
        folded = text.strip(" .").casefold()
        near = [other for other in decisions if other not in outcomes and other.strip(" .").casefold() == folded]
        if near:
            raise LabelError(f"y_true holds {shown(text)!r} and y_pred {shown(near[0])!r}: write one as the other")
    apart = not set(decisions) & set(outcomes) and len(decisions) > 1 and bool(outcomes)
    if apart and not (wanted & set(decisions) and wanted & set(outcomes)):
        raise LabelError(
            f"y_true holds {listed(outcomes, 5)} and y_pred {listed(decisions, 5)}: write both in the same words, or "
            "name the favorable ones of both in pos_label"
        )
