"""Measures between groups, from enclosures of their rates.

The same functions serve verified rates, rates of the rows, and interval ends: exact fractions stay exact. A group whose
rate is undefined (no positives, no negatives) is left out, and the measure says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from justicia.enclosure import Enclosure
from justicia.words import counted

__all__ = ["ALIASES", "MEASURES", "RATES_OF", "RATIOS", "SELECTION_MEASURES", "Measure", "Rates", "measure"]

Undefinable = Sequence[Enclosure | None]


@dataclass(frozen=True)
class Rates:
    """Rates of every group that has rows, None where a rate is undefined.

    Attributes
    ----------
    selection_rate : sequence of Enclosure
        Pr(selected | group).
    tpr, fpr : sequence of (Enclosure or None)
        Pr(selected | group, favorable true outcome) and Pr(selected | group, unfavorable true outcome).
    """

    selection_rate: Undefinable = ()
    tpr: Undefinable = ()
    fpr: Undefinable = ()


@dataclass(frozen=True)
class Measure:
    """A measure, or why it is undefined.

    When both attributes are set, the value is that of the groups whose rates are defined: the measure is incomplete.

    Attributes
    ----------
    value : Enclosure or None
    undefined : str or None
    """

    value: Enclosure | None
    undefined: str | None = None


def _defined(rates: Undefinable, kind: str) -> tuple[list[Enclosure], str | None]:
    """The defined rates, and how many are not."""
    held = [rate for rate in rates if rate is not None]
    missing = len(rates) - len(held)
    if not missing:
        return held, None
    without = {"true positive": "positives", "false positive": "negatives"}.get(kind, "people in the population")
    return held, f"{counted(missing, 'group')} without {without}"


def _too_few(held: list[Enclosure], reason: str | None) -> str:
    return reason or ("there is one group only, and nothing to compare it with" if held else "no group has rows")


def _difference(rates: Undefinable, kind: str) -> Measure:
    """Largest minus smallest."""
    held, reason = _defined(rates, kind)
    if len(held) < 2:
        return Measure(None, _too_few(held, reason))
    lo = max(rate.lo for rate in held) - min(rate.hi for rate in held)
    hi = max(rate.hi for rate in held) - min(rate.lo for rate in held)
    return Measure(Enclosure(max(0, lo), hi), reason)


def _ratio(rates: Undefinable, kind: str) -> Measure:
    """Smallest over largest; undefined when every rate is 0, for there is nothing to compare."""
    held, reason = _defined(rates, kind)
    if len(held) < 2:
        return Measure(None, _too_few(held, reason))
    highest_lo, highest_hi = max(rate.lo for rate in held), max(rate.hi for rate in held)
    if highest_hi == 0:
        return Measure(None, f"every {kind} rate is 0")
    lowest_lo, lowest_hi = min(rate.lo for rate in held), min(rate.hi for rate in held)
    hi = 1 if highest_lo == 0 else min(1, lowest_hi / highest_lo)
    return Measure(Enclosure(lowest_lo / highest_hi, hi), reason)


def _worst(halves: Sequence[Measure], choose: Callable[..., float]) -> Measure:
    """The worse of two measures; of one when the other is undefined, and then incomplete."""
    held = [half.value for half in halves if half.value is not None]
    reason = "; ".join(half.undefined for half in halves if half.undefined) or None
    if not held:
        return Measure(None, reason)
    return Measure(Enclosure(choose(value.lo for value in held), choose(value.hi for value in held)), reason)


def disparate_impact(rates: Rates) -> Measure:
    """Smallest selection rate over largest, min s / max s, at most 1; 1 means equal rates."""
    return _ratio(rates.selection_rate, "selection")


def statistical_parity_difference(rates: Rates) -> Measure:
    """Largest selection rate minus smallest, max s - min s, at least 0; 0 means equal rates."""
    return _difference(rates.selection_rate, "selection")


def equal_opportunity_difference(rates: Rates) -> Measure:
    """Largest true positive rate minus smallest."""
    return _difference(rates.tpr, "true positive")


def equalized_odds_difference(rates: Rates) -> Measure:
    """The larger of the ranges of the true positive rate and of the false positive rate."""
    halves = (_difference(rates.tpr, "true positive"), _difference(rates.fpr, "false positive"))
    return _worst(halves, max)


def equalized_odds_ratio(rates: Rates) -> Measure:
    """The smaller of the ratios (smallest over largest) of the true positive rate and of the false positive rate."""
    return _worst((_ratio(rates.tpr, "true positive"), _ratio(rates.fpr, "false positive")), min)


def average_odds_difference(rates: Rates) -> Measure:
    """Mean of the ranges of the true positive rate and of the false positive rate."""
    tpr, fpr = _difference(rates.tpr, "true positive"), _difference(rates.fpr, "false positive")
    reason = "; ".join(half.undefined for half in (tpr, fpr) if half.undefined) or None
    if tpr.value is None or fpr.value is None:
        return Measure(None, reason)
    return Measure(Enclosure((tpr.value.lo + fpr.value.lo) / 2, (tpr.value.hi + fpr.value.hi) / 2), reason)


MEASURES: dict[str, Callable[[Rates], Measure]] = {
    "disparate_impact": disparate_impact,
    "statistical_parity_difference": statistical_parity_difference,
    "equal_opportunity_difference": equal_opportunity_difference,
    "equalized_odds_difference": equalized_odds_difference,
    "equalized_odds_ratio": equalized_odds_ratio,
    "average_odds_difference": average_odds_difference,
}
"""Measures by name."""

RATIOS = frozenset({"disparate_impact", "equalized_odds_ratio"})
"""Measures that a further group can only make smaller; the others it can only make larger."""

ALIASES = {
    "demographic_parity_ratio": "disparate_impact",
    "demographic_parity_difference": "statistical_parity_difference",
}
"""Other names that users know for the same measures."""

RATES_OF: dict[str, tuple[str, ...]] = {
    name: ("selection_rate",)
    if name in ("disparate_impact", "statistical_parity_difference")
    else ("tpr",)
    if name == "equal_opportunity_difference"
    else ("tpr", "fpr")
    for name in MEASURES
}
"""The rates that each measure compares."""

SELECTION_MEASURES = tuple(name for name in MEASURES if RATES_OF[name] == ("selection_rate",))
"""Measures that need no true outcome."""


def measure(name: str, rates: Rates) -> Measure:
    """The measure `name` of the rates of all groups that have rows.

    Parameters
    ----------
    name : str
        One of `MEASURES`.
    rates : Rates

    >>> half, whole = Enclosure(0.25, 0.25), Enclosure(0.5, 0.5)
    >>> measure("disparate_impact", Rates([half, whole])).value
    Enclosure(lo=0.5, hi=0.5)
    """
    return MEASURES[name](rates)
