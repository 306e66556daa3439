"""Measures between groups, from enclosures of their rates.

The same functions serve verified rates, rates of the rows, and interval ends: exact fractions stay exact. A group whose
rate is undefined (no positives, no negatives, nobody selected) is left out, and the measure says so.

Every measure compares the groups with each other, with all people together, or with a reference group
(`COMPARISONS`); see `justicia.metrics.contrasts` for the latter two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from justicia.enclosure import Enclosure
from justicia.metrics.contrasts import farthest_difference, farthest_ratio, halves_reason, too_few
from justicia.metrics.rates import Measure, Rates

__all__ = [
    "ALIASES",
    "COMPARISONS",
    "MEASURES",
    "RATES_OF",
    "RATIOS",
    "SELECTION_MEASURES",
    "Measure",
    "Rates",
    "compare_rates",
    "measure",
]

COMPARISONS = ("between_groups", "to_overall", "to_reference")
"""What a group's rate may be compared with: the other groups', that of all people together, a reference group's."""


def _difference(rates: Rates, kind: str, comparison: str) -> Measure:
    """Largest minus smallest; or the largest distance from all people together, or from the reference group."""
    if comparison != "between_groups":
        return farthest_difference(rates, kind, comparison)
    held = rates.spread(kind)
    if held.sure + held.perhaps < 2:
        return Measure(None, too_few(held.sure + held.perhaps, held.reason))
    lo = held.highest_lo - held.lowest_hi if held.sure > 1 else 0
    return Measure(Enclosure(max(0, lo), held.highest_hi - held.lowest_lo), held.reason)


def _ratio(rates: Rates, kind: str, comparison: str) -> Measure:
    """Smallest over largest, undefined when every rate is 0; or the ratio that is farthest from 1."""
    if comparison != "between_groups":
        return farthest_ratio(rates, kind, comparison)
    held = rates.spread(kind)
    if held.sure + held.perhaps < 2:
        return Measure(None, too_few(held.sure + held.perhaps, held.reason))
    if held.highest_hi == 0:
        return Measure(None, f"every {_RATE_WORDS[kind]} is 0")
    hi = 1 if held.highest_lo == 0 or held.sure < 2 else min(1, held.lowest_hi / held.highest_lo)
    return Measure(Enclosure(held.lowest_lo / held.highest_hi, hi), held.reason)


_RATE_WORDS = {
    "selection_rate": "selection rate",
    "tpr": "true positive rate",
    "fpr": "false positive rate",
    "precision": "precision",
}


def _worst(halves: Sequence[Measure], choose: Callable[..., Any]) -> Measure:
    """The worse of two measures; of one when the other is undefined, and then incomplete."""
    held = [half.value for half in halves if half.value is not None]
    reason = halves_reason(halves)
    if not held:
        return Measure(None, reason)
    return Measure(Enclosure(choose(value.lo for value in held), choose(value.hi for value in held)), reason)


def disparate_impact(rates: Rates, comparison: str = "between_groups") -> Measure:
    """Smallest selection rate over largest, min s / max s, at most 1; 1 means equal rates."""
    return _ratio(rates, "selection_rate", comparison)


def statistical_parity_difference(rates: Rates, comparison: str = "between_groups") -> Measure:
    """Largest selection rate minus smallest, max s - min s, at least 0; 0 means equal rates."""
    return _difference(rates, "selection_rate", comparison)


def equal_opportunity_difference(rates: Rates, comparison: str = "between_groups") -> Measure:
    """Largest true positive rate minus smallest."""
    return _difference(rates, "tpr", comparison)


def equal_opportunity_ratio(rates: Rates, comparison: str = "between_groups") -> Measure:
    """Smallest true positive rate over largest."""
    return _ratio(rates, "tpr", comparison)


def equalized_odds_difference(rates: Rates, comparison: str = "between_groups") -> Measure:
    """The larger of the ranges of the true positive rate and of the false positive rate."""
    return _worst([_difference(rates, kind, comparison) for kind in ("tpr", "fpr")], max)


def equalized_odds_ratio(rates: Rates, comparison: str = "between_groups") -> Measure:
    """The smaller of the ratios (smallest over largest) of the true positive rate and of the false positive rate."""
    return _worst([_ratio(rates, kind, comparison) for kind in ("tpr", "fpr")], min)


def average_odds_difference(rates: Rates, comparison: str = "between_groups") -> Measure:
    """Mean of the ranges of the true positive rate and of the false positive rate."""
    tpr, fpr = (_difference(rates, kind, comparison) for kind in ("tpr", "fpr"))
    reason = halves_reason((tpr, fpr))
    if tpr.value is None or fpr.value is None:
        return Measure(None, reason)
    return Measure(Enclosure((tpr.value.lo + fpr.value.lo) / 2, (tpr.value.hi + fpr.value.hi) / 2), reason)


def predictive_parity_difference(rates: Rates, comparison: str = "between_groups") -> Measure:
    """Largest precision minus smallest: the range of Pr(favorable true outcome | selected, group)."""
    return _difference(rates, "precision", comparison)


def predictive_parity_ratio(rates: Rates, comparison: str = "between_groups") -> Measure:
    """Smallest precision over largest."""
    return _ratio(rates, "precision", comparison)


def compare_rates(rates: Rates, kind: str, comparison: str = "between_groups", *, ratio: bool = False) -> Measure:
    """Difference or ratio of one kind of rates, as `Rates` names it, under a comparison."""
    return (_ratio if ratio else _difference)(rates, kind, comparison)


MEASURES: dict[str, Callable[[Rates, str], Measure]] = {
    "disparate_impact": disparate_impact,
    "statistical_parity_difference": statistical_parity_difference,
    "equal_opportunity_difference": equal_opportunity_difference,
    "equal_opportunity_ratio": equal_opportunity_ratio,
    "equalized_odds_difference": equalized_odds_difference,
    "equalized_odds_ratio": equalized_odds_ratio,
    "average_odds_difference": average_odds_difference,
    "predictive_parity_difference": predictive_parity_difference,
    "predictive_parity_ratio": predictive_parity_ratio,
}
"""Measures by name."""

RATIOS = frozenset(name for name in MEASURES if name.endswith("_ratio")) | {"disparate_impact"}
"""Measures that a further group can only make smaller; the others it can only make larger."""

ALIASES = {
    "demographic_parity_ratio": "disparate_impact",
    "demographic_parity_difference": "statistical_parity_difference",
    "statistical_parity_ratio": "disparate_impact",
}
"""Other names that users know for the same measures."""

RATES_OF: dict[str, tuple[str, ...]] = {
    name: ("selection_rate",)
    if name in ("disparate_impact", "statistical_parity_difference")
    else ("tpr",)
    if name.startswith("equal_opportunity")
    else ("tpr", "fpr")
    for name in MEASURES
}
"""The verified rates that each measure is derived from."""

SELECTION_MEASURES = tuple(name for name in MEASURES if RATES_OF[name] == ("selection_rate",))
"""Measures that need no true outcome."""


def measure(name: str, rates: Rates, comparison: str = "between_groups") -> Measure:
    """The measure `name` of the rates of all groups that have rows.

    Parameters
    ----------
    name : str
        One of `MEASURES`.
    rates : Rates
    comparison : str
        One of `COMPARISONS`.

    >>> half, whole = Enclosure(0.25, 0.25), Enclosure(0.5, 0.5)
    >>> measure("disparate_impact", Rates([half, whole])).value
    Enclosure(lo=0.5, hi=0.5)
    """
    return MEASURES[name](rates, comparison)
