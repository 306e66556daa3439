r"""Reweighing: row weights under which true outcome and group are independent.

A row of group g with outcome y weighs

.. math:: w(g, y) = \frac{P(g) \, P(y)}{P(g, y)},

the share that the two would have together if they were independent, over the share that they have. In the weighted rows
every group has the same share of each outcome, that of all rows, and groups and outcomes keep their sizes. A model that
is fitted with these weights learns from people whose outcome does not depend on the group; what it decides about them
afterwards may still do so, and has to be audited.

References: F. Kamiran and T. Calders, *Data preprocessing techniques for classification without discrimination*,
Knowledge and Information Systems 33 (2012), section 5.3. Theirs has two groups and two outcomes; here there may be any
number of each.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import GroupingError, InputError
from justicia.metrics.outcomes import feature_columns, in_python, label_codes, one_column, row_weights
from justicia.words import counted, did_you_mean, listed

if TYPE_CHECKING:
    import pandas as pd

    from justicia.tables import Grouping

__all__ = ["reweigh", "reweighing_cells"]

logger = logging.getLogger(__name__)

_EMPTY_WAYS = ("keep", "error")
_MISSING_WAYS = ("error", "group")


@dataclass(frozen=True)
class _Cells:
    """Rows by group and outcome; the arrays have shape (n_groups, n_outcomes)."""

    grouping: Grouping
    outcomes: list[str]
    codes: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    factors: np.ndarray
    given: np.ndarray | None


def reweigh(
    y: Any,
    sensitive_features: Any,
    *,
    sample_weight: Any = None,
    missing: str = "error",
    empty: str = "keep",
) -> np.ndarray:
    """Weights of rows, under which the outcome is independent of the group (Kamiran and Calders 2012).

    Where some group has no row with some outcome, no weights make the two independent: the rows that are there keep
    P(g) P(y) / P(g, y), a warning names the cells, and in the weighted rows the group has less than its own size.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        True outcomes, of any number of values.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns), or mapping of str to array-like
        Several columns are one compound grouping.
    sample_weight : array-like of shape (n_rows,), optional
        Weights that the rows have already: shares are those of weights, and what is returned is multiplied by them.
    missing : str
        What happens to people without a value in a sensitive feature: "error", or "group", a group of their own.
    empty : str
        What happens when a group has no row, or no weight, with some outcome: "keep", as above, or "error".

    Returns
    -------
    float64 array of shape (n_rows,)
        To be passed as `sample_weight` to the `fit` of a classifier. Without empty cells they add up to the number of
        rows, or to the weights that were given.

    Raises
    ------
    InputError

    Examples
    --------
    Of six women one is hired, of four men three:

    >>> sex = ["f"] * 6 + ["m"] * 4
    >>> hired = [1, 0, 0, 0, 0, 0, 1, 1, 1, 0]
    >>> weights = reweigh(hired, sex)
    >>> [float(weights[row].round(4)) for row in (0, 1, 6, 9)]
    [2.4, 0.72, 0.5333, 2.4]
    """
    cells = _count(y, sensitive_features, sample_weight, missing, empty)
    weights = cells.factors[cells.grouping.codes, cells.codes]
    return weights if cells.given is None else weights * cells.given


def reweighing_cells(
    y: Any,
    sensitive_features: Any,
    *,
    sample_weight: Any = None,
    missing: str = "error",
    empty: str = "keep",
) -> pd.DataFrame:
    """What `reweigh` does, by group and outcome.

    Parameters
    ----------
    y, sensitive_features, sample_weight, missing, empty
        As `reweigh` has them.

    Returns
    -------
    DataFrame
        Indexed by the sensitive features and "outcome": "rows", "share" (of the rows, or of their weights),
        "independent" (the share that they would have), and "weight", NaN where there is nobody.

    >>> cells = reweighing_cells([1, 0, 1, 1], {"sex": ["f", "f", "m", "m"]})
    >>> cells["weight"].to_dict()
    {('f', '0'): 0.5, ('f', '1'): 1.5, ('m', '0'): nan, ('m', '1'): 0.75}
    """
    import pandas as pd

    cells = _count(y, sensitive_features, sample_weight, missing, empty)
    total = cells.weights.sum()
    independent = cells.weights.sum(axis=1, keepdims=True) * cells.weights.sum(axis=0) / total**2
    keys = [(*group, outcome) for group in cells.grouping.groups for outcome in cells.outcomes]
    held = {
        "rows": cells.rows.ravel(),
        "share": (cells.weights / total).ravel(),
        "independent": independent.ravel(),
        "weight": np.where(cells.weights > 0, cells.factors, np.nan).ravel(),
    }
    return pd.DataFrame(held, index=pd.MultiIndex.from_tuples(keys, names=[*cells.grouping.sensitive, "outcome"]))


def _count(y: Any, sensitive_features: Any, sample_weight: Any, missing: str, empty: str) -> _Cells:
    from justicia.tables.groups import group_rows

    for name, way, ways in (("missing", missing, _MISSING_WAYS), ("empty", empty, _EMPTY_WAYS)):
        if way not in ways:
            raise InputError(f"{name} cannot be {way!r}{did_you_mean(way, ways)}")
    outcomes = one_column(y, "y")
    n_rows = len(outcomes)
    if not n_rows:
        raise InputError("y is empty: there is nobody to weigh")
    frame, names = feature_columns(sensitive_features, "sensitive_features", "sensitive_feature", n_rows, "y")
    given = None if sample_weight is None else row_weights(sample_weight, n_rows, "y")
    try:
        grouping = group_rows(frame, names, missing=missing)
    except GroupingError as error:
        raise GroupingError(in_python(str(error))) from None
    found, texts = label_codes(outcomes, "y", strict=True)
    order = sorted(dict.fromkeys(texts))
    codes = np.array([order.index(text) for text in texts])[found]
    shape = (len(grouping.groups), len(order))
    keys = grouping.codes * shape[1] + codes
    rows = np.bincount(keys, minlength=shape[0] * shape[1]).reshape(shape)
    weights = np.bincount(keys, given, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
    expected = weights.sum(axis=1, keepdims=True) * weights.sum(axis=0) / weights.sum()
    factors = np.divide(expected, weights, out=np.zeros(shape), where=weights > 0)
    _mind_empty(grouping, order, (weights == 0) & (expected > 0), empty)
    return _Cells(grouping, order, codes, rows, weights, factors, given)


def _mind_empty(grouping: Grouping, outcomes: list[str], lacking: np.ndarray, empty: str) -> None:
    """Say which groups lack some outcome."""
    if not lacking.any():
        return
    names = [f"{', '.join(grouping.groups[group])} with {outcomes[outcome]}" for group, outcome in np.argwhere(lacking)]
    says = f"no row of {listed(names, 5)}: no weights make the outcome independent of the group"
    if empty == "error":
        raise GroupingError(f"{says}; join small groups, or pass empty='keep'")
    logger.warning(
        "%s; the rows of %s keep the weights of the others' shares",
        *(says, counted(int(lacking.any(axis=1).sum()), "such group")),
    )
