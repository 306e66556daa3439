"""Measures of the rows, each with a confidence interval that is named.

Two groups have an interval of their difference (Newcombe) or ratio (logarithm; where a rate is 0 or 1, which has no
error on that scale, Clopper and Pearson's intervals of both rates). A smallest or largest rate of more groups, or of
two kinds, has what the measure can be while all rates lie in intervals that hold together: a naive interval of the
measure itself would be biased.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from justicia.enclosure import Enclosure
from justicia.metrics.counts import OutcomeCounts
from justicia.metrics.disparities import COMPARISONS, MEASURES, RATIOS, SELECTION_MEASURES, Measure, Rates, measure
from justicia.metrics.intervals import log_ratio, newcombe, simultaneous_clopper_pearson, simultaneous_wilson

__all__ = [
    "SIMULTANEOUS",
    "SampleMeasure",
    "SampleMeasures",
    "compared_kinds",
    "sample_measures",
]

SIMULTANEOUS = "wilson intervals, simultaneous over groups (bonferroni)"
"""Method of the intervals of measures of more than two rates."""
_NEWCOMBE = "newcombe"
_LOG_RATIO = "logarithm of the ratio"
_EXACT = "clopper-pearson intervals, simultaneous over groups (bonferroni), for a rate is 0 or 1"

_Together = Callable[[np.ndarray, np.ndarray, float], tuple[np.ndarray, np.ndarray]]


def compared_kinds(name: str) -> tuple[str, ...]:
    """The kinds of rates that a measure compares, by the names of `Rates`."""
    if name in SELECTION_MEASURES:
        return ("selection_rate",)
    if name.startswith("predictive_parity"):
        return ("precision",)
    return ("tpr",) if name.startswith("equal_opportunity") else ("tpr", "fpr")


@dataclass(frozen=True)
class SampleMeasure:
    """A measure of the rows.

    Attributes
    ----------
    measure : Measure
    interval : Enclosure or None
        Confidence interval; None where the measure is undefined.
    method : str
        How it was found.
    simultaneous : Enclosure or None
        From Clopper and Pearson's intervals of all rates that the measure compares, which hold together for any number
        of rows.
    confidence : float
        Of both intervals.
    """

    measure: Measure
    interval: Enclosure | None
    method: str
    simultaneous: Enclosure | None
    confidence: float


@dataclass(frozen=True)
class SampleMeasures:
    """The measures of counts; each is found when it is asked for.

    Attributes
    ----------
    counts : OutcomeCounts
    reference : int or None
        Position of the reference group.
    confidence : float
    compared : frozenset of int, optional
        Positions of the groups that are compared; all of them when left out.
    group_names : tuple of str
        For what is said of groups.
    """

    counts: OutcomeCounts
    reference: int | None
    confidence: float
    compared: frozenset[int] | None = None
    group_names: tuple[str, ...] = ()

    @cached_property
    def rates(self) -> Rates:
        """The rates of the rows."""
        return replace(self.counts.rates(self.reference), compared=self.compared, names=self.group_names)

    @property
    def names(self) -> tuple[str, ...]:
        """Measures that there are."""
        return tuple(MEASURES) if len(self.counts.kinds) > 1 else SELECTION_MEASURES

    @cached_property
    def _held(self) -> dict[tuple[tuple[str, ...], bool], tuple[Rates, Rates]]:
        return {}

    def intervals(self, kinds: tuple[str, ...], comparison: str = COMPARISONS[0]) -> tuple[Rates, Rates]:
        """Intervals of rates of some kinds that hold together: Wilson's, and Clopper and Pearson's.

        Those of the groups that are compared; of all groups where the others enter a comparison, too.
        """
        alone = comparison == COMPARISONS[0] and self.compared is not None
        if (kinds, alone) not in self._held:
            ways = (simultaneous_wilson, simultaneous_clopper_pearson)
            wide, exact = (self._rates(kinds, together, alone=alone) for together in ways)
            self._held[kinds, alone] = wide, exact
        return self._held[kinds, alone]

    def _rates(self, kinds: tuple[str, ...], together: _Together, *, alone: bool) -> Rates:
        k, n = (np.concatenate(parts) for parts in zip(*(self.counts.effective(kind) for kind in kinds), strict=True))
        if alone:
            kept = np.tile(np.isin(np.arange(len(self.counts.n)), list(self.compared or ())), len(kinds))
            k, n = np.where(kept, k, 0), np.where(kept, n, 0)
        lo, hi = together(k, n, self.confidence)
        held = [
            Enclosure(a, b) if c else None for a, b, c in zip(lo.tolist(), hi.tolist(), (n > 0).tolist(), strict=True)
        ]
        size = len(self.counts.n)
        found = {kind: held[i * size : (i + 1) * size] for i, kind in enumerate(kinds)}
        rates = Rates.by_kind(found, weights=self.counts.weights, reference=self.reference)
        return replace(rates, compared=self.compared)

    def of(self, name: str, comparison: str = "between_groups") -> SampleMeasure:
        """A measure by its name, one of `MEASURES`, with its interval; `comparison` is one of `COMPARISONS`."""
        value = measure(name, self.rates, comparison)
        kinds = compared_kinds(name)
        if value.value is None:
            return SampleMeasure(value, None, SIMULTANEOUS, None, self.confidence)
        wide, exact = (measure(name, rates, comparison).value for rates in self.intervals(kinds, comparison))
        interval, method = self._of_two(name, kinds, comparison) or (wide, SIMULTANEOUS)
        return SampleMeasure(value, exact if interval is None else interval, method, exact, self.confidence)

    def _of_two(self, name: str, kinds: tuple[str, ...], comparison: str) -> tuple[Enclosure | None, str] | None:
        """The interval of two rates; none where there are more or fewer, or all people together are one of them."""
        if len(kinds) > 1 or comparison == "to_overall":
            return None
        k, n = self.counts.effective(kinds[0])
        kept = range(len(k)) if self.compared is None else sorted(self.compared)
        if comparison == "to_reference" and self.reference not in kept:
            return None
        k, n = k[list(kept)], n[list(kept)]
        if len(k) != 2 or not n.all():
            return None
        parts = (k[:1], n[:1], k[1:], n[1:])
        if name not in RATIOS:
            lo, hi = (float(end[0]) for end in newcombe(*parts, self.confidence))
            return Enclosure(max(0.0, lo, -hi), max(-lo, hi)), _NEWCOMBE
        if not k.all() or (k >= n).any():
            return None, _EXACT
        lo, hi = (float(end[0]) for end in log_ratio(*parts, self.confidence))
        # An interval of hardly any people may reach from 0 to infinity.
        ends = sorted((min(lo, 1 / lo) if lo else 0.0, min(hi, 1 / hi) if hi else 0.0))
        return Enclosure(ends[0], 1.0 if lo <= 1 <= hi else ends[1]), _LOG_RATIO


def sample_measures(
    counts: OutcomeCounts,
    *,
    reference: int | None = None,
    confidence: float = 0.95,
    group_names: Sequence[str] = (),
) -> SampleMeasures:
    """The measures of some people, from their counts.

    Parameters
    ----------
    counts : OutcomeCounts
        Of the groups; see `justicia.metrics.count_outcomes`.
    reference : int, optional
        Position of the reference group.
    confidence : float in (0, 1)
    group_names : sequence of str
        For what is said of groups.

    >>> from justicia.metrics import count_outcomes
    >>> codes, selected = np.repeat([0, 1], [80, 40]), np.arange(120) % 80 < 48
    >>> counts = count_outcomes(codes, 2, selected)
    >>> sample_measures(counts).of("disparate_impact").measure.value
    Enclosure(lo=Fraction(3, 5), hi=Fraction(3, 5))
    """
    return SampleMeasures(counts, reference, confidence, None, tuple(group_names))


def all_measures(held: SampleMeasures, comparisons: Sequence[str] = COMPARISONS) -> dict[str, dict[str, SampleMeasure]]:
    """Every measure under every comparison, by name."""
    return {name: {comparison: held.of(name, comparison) for comparison in comparisons} for name in held.names}
