"""Metrics by Fairlearn's names and in its signature.

Every function counts people once and compares fractions of whole numbers, so that 3/5 over 3/4 is exactly 4/5. Results
are unsigned floats, NaN where a rate or a measure is undefined: where Fairlearn takes the true positive rate of a group
without positives for 0, that group is left out here, and a warning is logged. `GroupMetrics` has all measures at once,
with confidence intervals; `justicia.metrics.aif360` the signed ones of AIF360.
"""

from __future__ import annotations

import logging
from typing import Any, Protocol, cast

import numpy as np

from justicia.enclosure import Enclosure
from justicia.errors import InputError
from justicia.metrics.counts import OutcomeCounts
from justicia.metrics.disparities import MEASURES, SELECTION_MEASURES, compare_rates, measure
from justicia.metrics.outcomes import read_outcomes
from justicia.metrics.rates import Measure
from justicia.words import did_you_mean

__all__ = [
    "average_odds_difference",
    "count",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "disparate_impact",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "equalized_odds_difference",
    "equalized_odds_ratio",
    "false_negative_rate",
    "false_positive_rate",
    "precision",
    "predictive_parity_difference",
    "predictive_parity_ratio",
    "selection_rate",
    "statistical_parity_difference",
    "true_negative_rate",
    "true_positive_rate",
]

logger = logging.getLogger(__name__)

_METHODS = ("between_groups", "to_overall")


def _counted(
    y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any, pos_label: Any, *, truth: bool
) -> OutcomeCounts:  # fmt: skip
    return read_outcomes(
        y_true, y_pred, sensitive_features, pos_label=pos_label, sample_weight=sample_weight, truth=truth
    ).counts  # fmt: skip


def _value(name: str, counts: OutcomeCounts, method: str, agg: str = "worst_case") -> float:
    """A measure of counts as a float."""
    if method not in _METHODS:
        raise InputError(f"method cannot be {method!r}{did_you_mean(method, _METHODS)}")
    rates = counts.rates()
    if agg == "worst_case":
        found = MEASURES[name](rates, method)
    elif agg == "mean":
        found = average_odds(counts, method, ratio=name.endswith("_ratio"))
    else:
        raise InputError(f"agg cannot be {agg!r}{did_you_mean(agg, ('worst_case', 'mean'))}")
    if found.undefined is not None:
        logger.warning("%s %s: %s", name, "is undefined" if found.value is None else "is incomplete", found.undefined)
    return np.nan if found.value is None else float(found.value)


def average_odds(counts: OutcomeCounts, method: str, *, ratio: bool) -> Measure:
    """Mean of the measures of true and of false positive rates."""
    rates = counts.rates()
    if not ratio:
        return measure("average_odds_difference", rates, method)
    halves = [compare_rates(rates, kind, method, ratio=True) for kind in ("tpr", "fpr")]
    reasons = "; ".join(dict.fromkeys(half.undefined for half in halves if half.undefined)) or None
    held = [half.value for half in halves if half.value is not None]
    if len(held) < 2:
        return Measure(None, reasons)
    middle = (held[0].lo + held[1].lo) / 2
    return Measure(Enclosure(middle, middle), reasons)


class GroupMetric(Protocol):
    """A measure between groups, as a function of the people."""

    def __call__(
        self,
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        method: str = "between_groups",
        sample_weight: Any = None,
        pos_label: Any = None,
    ) -> float:
        """The measure."""


class OddsMetric(Protocol):
    """A measure of two kinds of rates between groups, as a function of the people."""

    def __call__(
        self,
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        method: str = "between_groups",
        sample_weight: Any = None,
        agg: str = "worst_case",
        pos_label: Any = None,
    ) -> float:
        """The measure."""


_DOC = """{summary}

Parameters
----------
y_true : array-like of shape (n_rows,){optional}
    True outcomes{unused}.
y_pred : array-like of shape (n_rows,)
    Decisions.
sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns), or mapping of str to array-like
    Several columns make compound groups.
method : str
    "between_groups"; or "to_overall": the farthest that a group is from all people together.
sample_weight : array-like of shape (n_rows,), optional
{agg}pos_label : label or list of labels, optional
    Favorable outcomes; needed unless labels are 0 and 1, -1 and 1, or False and True.

Returns
-------
float
    At least 0; NaN when undefined. Groups whose rate is undefined are left out, and a warning is logged.

Raises
------
InputError
    When rows do not match, labels cannot be told, or a sensitive feature has no value in some row.
"""


def _documented(metric: Any, name: str, measure_name: str, *, truth: bool, agg: str = "") -> Any:
    """Name and docstring of a metric."""
    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = _DOC.format(
        summary=MEASURES[measure_name].__doc__,
        optional="" if truth else ", or None",
        unused="" if truth else "; not used",
        agg=agg,
    )
    return metric


def _between(name: str, measure_name: str | None = None) -> GroupMetric:
    """A measure of one kind of rates."""
    held = measure_name or name
    truth = held not in SELECTION_MEASURES

    def metric(
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        method: str = "between_groups",
        sample_weight: Any = None,
        pos_label: Any = None,
    ) -> float:
        counts = _counted(y_true, y_pred, sensitive_features, sample_weight, pos_label, truth=truth)
        return _value(held, counts, method)

    return cast("GroupMetric", _documented(metric, name, held, truth=truth))


def _of_odds(name: str) -> OddsMetric:
    """A measure of true and false positive rates."""

    def metric(
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        method: str = "between_groups",
        sample_weight: Any = None,
        agg: str = "worst_case",
        pos_label: Any = None,
    ) -> float:
        counts = _counted(y_true, y_pred, sensitive_features, sample_weight, pos_label, truth=True)
        return _value(name, counts, method, agg)

    agg = 'agg : str\n    "worst_case" of the two, or their "mean".\n'
    return cast("OddsMetric", _documented(metric, name, name, truth=True, agg=agg))


demographic_parity_difference = _between("demographic_parity_difference", "statistical_parity_difference")
demographic_parity_ratio = _between("demographic_parity_ratio", "disparate_impact")
statistical_parity_difference = _between("statistical_parity_difference")
disparate_impact = _between("disparate_impact")
equal_opportunity_difference = _between("equal_opportunity_difference")
equal_opportunity_ratio = _between("equal_opportunity_ratio")
average_odds_difference = _between("average_odds_difference")
predictive_parity_difference = _between("predictive_parity_difference")
predictive_parity_ratio = _between("predictive_parity_ratio")
equalized_odds_difference = _of_odds("equalized_odds_difference")
equalized_odds_ratio = _of_odds("equalized_odds_ratio")


def _rate(kind: str, y_true: Any, y_pred: Any, pos_label: Any, sample_weight: Any, *, rest: bool = False) -> float:
    """A rate of all people together, or what it lacks to 1."""
    everybody = np.zeros(len(y_pred) if hasattr(y_pred, "__len__") else 0, dtype=np.int64)
    truth = kind != "selection_rate"
    counts = _counted(y_true, y_pred, everybody, sample_weight, pos_label, truth=truth)
    found = counts.rates().of(kind)[0]
    if found is None:
        return np.nan
    return float(1 - found.lo if rest else found.lo)


def selection_rate(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """Share of the people who are selected; the true outcomes are not used.

    >>> selection_rate(None, [0, 1, 1, 0])
    0.5
    """
    return _rate("selection_rate", y_true, y_pred, pos_label, sample_weight)


def true_positive_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = None) -> float:
    """Share of the selected among the people with favorable true outcome; NaN when there are none.

    >>> true_positive_rate([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """
    return _rate("tpr", y_true, y_pred, pos_label, sample_weight)


def false_positive_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = None) -> float:
    """Share of the selected among the people with unfavorable true outcome; NaN when there are none."""
    return _rate("fpr", y_true, y_pred, pos_label, sample_weight)


def false_negative_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = None) -> float:
    """Share of the rejected among the people with favorable true outcome; NaN when there are none."""
    return _rate("tpr", y_true, y_pred, pos_label, sample_weight, rest=True)


def true_negative_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = None) -> float:
    """Share of the rejected among the people with unfavorable true outcome; NaN when there are none."""
    return _rate("fpr", y_true, y_pred, pos_label, sample_weight, rest=True)


def precision(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = None) -> float:
    """Share of favorable true outcomes among the selected people; NaN when nobody is selected."""
    return _rate("precision", y_true, y_pred, pos_label, sample_weight)


def count(y_true: Any, y_pred: Any) -> int:
    """Number of people.

    Raises
    ------
    InputError
        When rows do not match.
    """
    if y_true is not None and len(y_true) != len(y_pred):
        raise InputError(f"y_true has {len(y_true):,} rows and y_pred {len(y_pred):,}")
    return len(y_pred)
