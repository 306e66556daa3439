"""Measures between groups, from enclosures of their rates.

The same functions serve verified rates, rates of the rows, and interval ends: exact fractions stay exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from justicia.enclosure import Enclosure

__all__ = ["ALIASES", "MEASURES", "Measure", "disparate_impact", "measure", "statistical_parity_difference"]


@dataclass(frozen=True)
class Measure:
    """A measure, or why it is undefined.

    Attributes
    ----------
    value : Enclosure or None
    undefined : str or None
    """

    value: Enclosure | None
    undefined: str | None = None


def disparate_impact(rates: Sequence[Enclosure]) -> Measure:
    """Smallest selection rate over largest, min s / max s, at most 1; 1 means equal rates.

    Undefined when every rate is 0: there is nothing to compare.
    """
    if not rates:
        return Measure(None, "no group has rows")
    lowest_lo, lowest_hi = min(rate.lo for rate in rates), min(rate.hi for rate in rates)
    highest_lo, highest_hi = max(rate.lo for rate in rates), max(rate.hi for rate in rates)
    if highest_hi == 0:
        return Measure(None, "every rate is 0")
    hi = 1 if highest_lo == 0 else min(1, lowest_hi / highest_lo)
    return Measure(Enclosure(lowest_lo / highest_hi, hi))


def statistical_parity_difference(rates: Sequence[Enclosure]) -> Measure:
    """Largest selection rate minus smallest, max s - min s, at least 0; 0 means equal rates."""
    if not rates:
        return Measure(None, "no group has rows")
    lo = max(rate.lo for rate in rates) - min(rate.hi for rate in rates)
    hi = max(rate.hi for rate in rates) - min(rate.lo for rate in rates)
    return Measure(Enclosure(max(0, lo), hi))


MEASURES: dict[str, Callable[[Sequence[Enclosure]], Measure]] = {
    "disparate_impact": disparate_impact,
    "statistical_parity_difference": statistical_parity_difference,
}
"""Measures of selection rates by name."""

ALIASES = {
    "demographic_parity_ratio": "disparate_impact",
    "demographic_parity_difference": "statistical_parity_difference",
}
"""Other names that users know for the same measures."""


def measure(name: str, rates: Sequence[Enclosure]) -> Measure:
    """The measure `name` of the rates of all groups that have rows.

    Parameters
    ----------
    name : str
        One of `MEASURES`.
    rates : sequence of Enclosure

    >>> measure("disparate_impact", [Enclosure(0.25, 0.25), Enclosure(0.5, 0.5)]).value
    Enclosure(lo=0.5, hi=0.5)
    """
    return MEASURES[name](rates)
