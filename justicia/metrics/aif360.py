"""AIF360's forms under its names: unprivileged minus privileged, or over it, signed and unbounded.

AIF360 compares two sets of people: the privileged group, and the others. Which one that is has to be said. A negative
difference, or a ratio below 1, means that the unprivileged have the smaller rate; opposite signs cancel in a mean, so
that a mean of 0 does not say that the rates are equal. Where a denominator is 0 the result is NaN, not 0.

The measures of `justicia.metrics` proper are between all groups, unsigned, and need no privileged one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from justicia.enclosure import Number
from justicia.errors import GroupingError
from justicia.metrics.outcomes import Outcomes, read_outcomes
from justicia.metrics.rates import exact_share
from justicia.words import did_you_mean, listed, shown, value_text

__all__ = [
    "average_abs_odds_difference",
    "average_odds_difference",
    "average_predictive_value_difference",
    "disparate_impact",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "error_rate_difference",
    "error_rate_ratio",
    "false_discovery_rate_difference",
    "false_discovery_rate_ratio",
    "false_negative_rate_difference",
    "false_negative_rate_ratio",
    "false_omission_rate_difference",
    "false_omission_rate_ratio",
    "false_positive_rate_difference",
    "false_positive_rate_ratio",
    "mean_difference",
    "statistical_parity_difference",
    "true_positive_rate_difference",
]


class SignedMetric(Protocol):
    """A comparison of the unprivileged with the privileged."""

    def __call__(
        self,
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        priv_group: Any,
        pos_label: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """The comparison."""


_DOC = """{summary}, signed: of the unprivileged, compared with the privileged.

Parameters
----------
y_true : array-like of shape (n_rows,){optional}
    True outcomes.
y_pred : array-like of shape (n_rows,)
    Decisions.
sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns), or mapping of str to array-like
priv_group : value, or tuple of values
    The privileged group, one value a sensitive feature; everybody else is unprivileged. A list names several groups.
pos_label : label or list of labels, optional
    Favorable outcomes; needed unless labels are 0 and 1, -1 and 1, or False and True.
sample_weight : array-like of shape (n_rows,), optional

Returns
-------
float
    NaN when undefined.

Raises
------
InputError
"""


def _privileged(found: Outcomes, priv_group: Any) -> np.ndarray:
    """Which groups are privileged, bool array of shape (n_groups,)."""
    groups = found.grouping.groups
    wanted = priv_group if isinstance(priv_group, list) else [priv_group]
    keys = {tuple(map(value_text, one if isinstance(one, tuple) else (one,))) for one in wanted}
    strange = [key for key in keys if key not in groups]
    names = [", ".join(group) for group in groups]
    if strange or not keys:
        word = ", ".join(strange[0]) if strange else ""
        raise GroupingError(f"priv_group {shown(word)!r}: there is no such group{did_you_mean(word, names)}")
    held = np.array([group in keys for group in groups])
    if held.all():
        raise GroupingError(f"every group is privileged, and nobody is left to compare with: {listed(names)}")
    return held


@dataclass(frozen=True)
class _Side:
    """Numbers of people of one side, or sums of their weights."""

    n: Number
    selected: Number
    positives: Number = 0
    negatives: Number = 0
    true_positives: Number = 0
    false_positives: Number = 0

    def rate(self, name: str) -> Number:
        """One of the rates that AIF360 compares."""
        missed, spared = self.positives - self.true_positives, self.negatives - self.false_positives
        part, whole = {
            "selection": (self.selected, self.n),
            "true positive": (self.true_positives, self.positives),
            "false negative": (missed, self.positives),
            "false positive": (self.false_positives, self.negatives),
            "predictive value": (self.true_positives, self.true_positives + self.false_positives),
            "false discovery": (self.false_positives, self.true_positives + self.false_positives),
            "false omission": (missed, missed + spared),
            "error": (missed + self.false_positives, self.positives + self.negatives),
        }[name]
        return exact_share(part, whole) if whole else np.nan


def _two(
    names: tuple[str, ...],
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    priv_group: Any,
    pos_label: Any,
    sample_weight: Any,
) -> list[tuple[Any, Any]]:
    """Rates of the unprivileged and of the privileged."""
    truth = names != ("selection",)
    found = read_outcomes(
        y_true, y_pred, sensitive_features, pos_label=pos_label, sample_weight=sample_weight, truth=truth
    )
    privileged, counts = _privileged(found, priv_group), found.counts
    names_of = [name for name in _Side.__dataclass_fields__ if getattr(counts, name) is not None]
    sides = [
        _Side(**{name: getattr(counts, name)[rows].sum().item() for name in names_of})
        for rows in (~privileged, privileged)
    ]
    return [(sides[0].rate(name), sides[1].rate(name)) for name in names]


def _signed(name: str, summary: str, rates: tuple[str, ...], combine: Any) -> SignedMetric:
    """A metric by AIF360's name."""

    def metric(
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        priv_group: Any,
        pos_label: Any = None,
        sample_weight: Any = None,
    ) -> float:
        pairs = _two(rates, y_true, y_pred, sensitive_features, priv_group, pos_label, sample_weight)
        return float(combine(*pairs))

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = _DOC.format(summary=summary, optional=", or None" if rates == ("selection",) else "")
    return metric


def _minus(pair: tuple[Any, Any]) -> Any:
    return pair[0] - pair[1]


def _over(pair: tuple[Any, Any]) -> Any:
    return np.nan if np.isnan(float(pair[1])) or not pair[1] else pair[0] / pair[1]


def _largest(*pairs: tuple[Any, Any]) -> Any:
    found = [abs(_minus(pair)) for pair in pairs]
    return np.nan if any(np.isnan(float(one)) for one in found) else max(found)


_ODDS = ("true positive", "false positive")

statistical_parity_difference = _signed(
    "statistical_parity_difference", "Difference of selection rates", ("selection",), _minus
)
mean_difference = _signed("mean_difference", "Difference of selection rates", ("selection",), _minus)
disparate_impact = _signed("disparate_impact", "Ratio of selection rates", ("selection",), _over)
equal_opportunity_difference = _signed(
    "equal_opportunity_difference", "Difference of true positive rates", ("true positive",), _minus
)
true_positive_rate_difference = _signed(
    "true_positive_rate_difference", "Difference of true positive rates", ("true positive",), _minus
)
false_positive_rate_difference = _signed(
    "false_positive_rate_difference", "Difference of false positive rates", ("false positive",), _minus
)
false_positive_rate_ratio = _signed(
    "false_positive_rate_ratio", "Ratio of false positive rates", ("false positive",), _over
)
false_negative_rate_difference = _signed(
    "false_negative_rate_difference", "Difference of false negative rates", ("false negative",), _minus
)
false_negative_rate_ratio = _signed(
    "false_negative_rate_ratio", "Ratio of false negative rates", ("false negative",), _over
)
false_discovery_rate_difference = _signed(
    "false_discovery_rate_difference", "Difference of false discovery rates", ("false discovery",), _minus
)
false_discovery_rate_ratio = _signed(
    "false_discovery_rate_ratio", "Ratio of false discovery rates", ("false discovery",), _over
)
false_omission_rate_difference = _signed(
    "false_omission_rate_difference", "Difference of false omission rates", ("false omission",), _minus
)
false_omission_rate_ratio = _signed(
    "false_omission_rate_ratio", "Ratio of false omission rates", ("false omission",), _over
)
error_rate_difference = _signed("error_rate_difference", "Difference of error rates", ("error",), _minus)
error_rate_ratio = _signed("error_rate_ratio", "Ratio of error rates", ("error",), _over)
average_odds_difference = _signed(
    "average_odds_difference",
    "Mean of the differences of true and of false positive rates",
    _ODDS,
    lambda one, other: (_minus(one) + _minus(other)) / 2,
)
average_abs_odds_difference = _signed(
    "average_abs_odds_difference",
    "Mean of the absolute differences of true and of false positive rates",
    _ODDS,
    lambda one, other: (abs(_minus(one)) + abs(_minus(other))) / 2,
)
equalized_odds_difference = _signed(
    "equalized_odds_difference",
    "The larger of the absolute differences of true and of false positive rates",
    _ODDS,
    _largest,
)
average_predictive_value_difference = _signed(
    "average_predictive_value_difference",
    "Mean of the differences of predictive values and of false omission rates",
    ("predictive value", "false omission"),
    lambda one, other: (_minus(one) + _minus(other)) / 2,
)
