"""People counted by decision and true outcome, each once or by the weight of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from justicia.metrics import OutcomeCounts, count_outcomes
from justicia.metrics.adverse_impact import AdverseImpact, adverse_impact

__all__ = ["counts_of_groups", "impact_of", "people_counts"]


def people_counts(
    codes: np.ndarray,
    n_groups: int,
    selected: np.ndarray,
    positive: np.ndarray | None,
    known: np.ndarray | None,
    weights: np.ndarray | None,
    repeats: np.ndarray | None = None,
) -> OutcomeCounts:
    """People of each group by decision and true outcome; whole numbers where every weight is one."""
    counts = count_outcomes(codes, n_groups, selected, positive, known, weights, repeats)
    if weights is None or (weights != np.rint(weights)).any():
        return counts
    if (weights.sum() if repeats is None else weights @ repeats) >= 2**53:
        return counts
    return _changed(counts, lambda held: np.rint(held).astype(np.int64), counts.squares)


def _changed(
    counts: OutcomeCounts, change: Callable[[np.ndarray], np.ndarray], squares: tuple[np.ndarray, ...] | None
) -> OutcomeCounts:
    """The same with something done to all numbers of people."""

    def maybe(held: np.ndarray | None) -> np.ndarray | None:
        return None if held is None else change(held)

    return OutcomeCounts(
        change(counts.n),
        change(counts.selected),
        maybe(counts.positives),
        maybe(counts.negatives),
        maybe(counts.true_positives),
        maybe(counts.false_positives),
        squares,
    )


def counts_of_groups(counts: OutcomeCounts, kept: Sequence[int]) -> OutcomeCounts:
    """The counts of some groups."""
    chosen = list(kept)
    squares = None if counts.squares is None else tuple(one[chosen] for one in counts.squares)
    return _changed(counts, lambda held: held[chosen], squares)


def impact_of(counts: OutcomeCounts, confidence: float) -> AdverseImpact:
    """Every group against the one with the highest rate."""
    effective = None if counts.squares is None else counts.effective("selection_rate")[1].tolist()
    k, n = (
        [one if isinstance(one, int) else Fraction(one) for one in held.tolist()]
        for held in (counts.selected, counts.n)
    )
    return adverse_impact(k, n, confidence, effective)
