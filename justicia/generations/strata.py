"""One stratum: a table of groups and outcomes, its rates, how far they are apart, and its test."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from justicia.generations.contingency import Test, cramers_v, independence_test
from justicia.generations.resampling import FEW_CLUSTERS, Blocks, cluster_band, least_p, permutation_test
from justicia.metrics.adverse_impact import ratio_interval
from justicia.metrics.intervals import newcombe, wilson

__all__ = ["Effect", "GroupRate", "Stratum", "make_stratum"]

FEW_ROWS = 30
"""Rows of a group below which a stratum is said to be small."""

_Z_TEST, _Z_POWER = 1.959964, 0.841621
"""Quantiles of the normal distribution: .975 and .8."""


@dataclass(frozen=True)
class GroupRate:
    """How often one group has one outcome.

    Attributes
    ----------
    group, outcome : str
    k, n : int
    rate : float or None
    lo, hi : float or None
        Wilson's interval.
    """

    group: str
    outcome: str
    k: int
    n: int
    rate: float | None
    lo: float | None
    hi: float | None


@dataclass(frozen=True)
class Effect:
    """Two groups' rates of one outcome, farthest apart of all pairs and outcomes of a stratum.

    Attributes
    ----------
    value : float
        Difference: the larger rate minus the smaller. Ratio: the smaller over the larger.
    lo, hi : float or None
        An interval that holds for all pairs and outcomes of the stratum together; the difference's may reach below 0,
        the ratio's above 1.
    outcome, group, other : str
        `group` has the larger rate.
    method : str
    """

    value: float
    lo: float | None
    hi: float | None
    outcome: str
    group: str
    other: str
    method: str


@dataclass(frozen=True)
class Stratum:
    """A table of groups and outcomes under one condition.

    Attributes
    ----------
    where : dict of str to str
        What all its rows share: columns of strata, and the truth or the response that is conditioned on.
    groups, outcomes : tuple of str
    counts : tuple of tuple of int
        One row a group.
    clusters : int or None
    rates : tuple of GroupRate
        By group, then outcome.
    difference, ratio : Effect or None
        None where fewer than two groups have rows.
    largest : tuple of float, or None
        Where the largest of the absolute differences lies, with confidence over all strata of its criterion together.
    cramers_v, corrected_v : float or None
        Cramér's V, and Bergsma's.
    test : Test
    notes : tuple of str
    """

    where: dict[str, str]
    groups: tuple[str, ...]
    outcomes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    clusters: int | None
    rates: tuple[GroupRate, ...]
    difference: Effect | None
    ratio: Effect | None
    largest: tuple[float, float] | None
    cramers_v: float | None
    corrected_v: float | None
    test: Test
    notes: tuple[str, ...] = field(default=())

    @property
    def n(self) -> int:
        """Rows."""
        return sum(map(sum, self.counts))

    @property
    def name(self) -> str:
        """What its rows share, in words."""
        return ", ".join(f"{column}={value}" for column, value in self.where.items()) or "all rows"

    @property
    def undefined(self) -> str | None:
        """Why there is nothing to compare."""
        return self.test.undefined


def make_stratum(
    counts: np.ndarray,
    groups: tuple[str, ...],
    outcomes: tuple[str, ...],
    where: Mapping[str, str] | None = None,
    *,
    blocks: Blocks | None = None,
    confidence: float = 0.95,
    strata: int = 1,
    seed: int = 0,
) -> Stratum:
    """Rates, effects and test of a table.

    Parameters
    ----------
    counts : int array of shape (n_groups, n_outcomes)
    groups, outcomes : tuple of str
    where : mapping of str to str, optional
    blocks : Blocks, optional
        The same rows by cluster.
    confidence : float in (0, 1)
    strata : int
        Of the criterion, for `largest`.
    seed : int
    """
    sizes = counts.sum(axis=1)
    comparisons = _comparisons(counts)
    clusters = None if blocks is None else len(blocks.counts)
    lo, hi, method = _intervals(counts, comparisons, blocks, confidence, seed)
    if strata > 1:
        wide_lo, wide_hi, _ = _intervals(counts, comparisons, blocks, 1 - (1 - confidence) / strata, seed)
    else:
        wide_lo, wide_hi = lo, hi
    test = independence_test(counts, seed) if blocks is None else permutation_test(blocks, seed)
    plain, corrected = cramers_v(counts)
    return Stratum(
        dict(where or {}),
        groups,
        outcomes,
        tuple(map(tuple, counts.tolist())),
        clusters,
        _rates(counts, groups, outcomes, confidence),
        _difference(counts, comparisons, lo, hi, groups, outcomes, method),
        _ratio(counts, groups, outcomes, confidence),
        _largest(wide_lo, wide_hi),
        plain,
        corrected,
        test,
        _notes(sizes, groups, blocks),
    )


def _notes(sizes: np.ndarray, groups: tuple[str, ...], blocks: Blocks | None) -> tuple[str, ...]:
    notes = [f"no row of {group}" for group, n in zip(groups, sizes.tolist(), strict=True) if not n]
    small = [f"{group} has {n}" for group, n in zip(groups, sizes.tolist(), strict=True) if 0 < n < FEW_ROWS]
    if small:
        missed = "" if blocks is not None else _missed(sizes)
        notes.append(f"few rows: {', '.join(small)}{missed}")
    if blocks is not None and len(blocks.counts) < FEW_CLUSTERS:
        notes.append(f"few clusters: {len(blocks.counts)}, and no p-value below {least_p(blocks):.2g}")
    return tuple(notes)


def _missed(sizes: np.ndarray) -> str:
    """The difference of two rates around one half that a test at .05 finds four times in five, in words."""
    held = np.sort(sizes[sizes > 0])
    if len(held) < 2:
        return ""
    least = (_Z_TEST + _Z_POWER) * 0.5 * math.sqrt(1 / held[0] + 1 / held[1])
    return f"; a difference below {min(least, 1.0):.2f} is easily missed"


def _comparisons(counts: np.ndarray) -> list[tuple[int, int, int]]:
    """Outcome, group and other group; of two outcomes the first alone, as the second mirrors it."""
    outcomes = np.flatnonzero(counts.sum(axis=0))
    if len(outcomes) == 2:
        outcomes = outcomes[:1]
    groups = np.flatnonzero(counts.sum(axis=1)).tolist()
    return [(outcome, a, b) for outcome in outcomes.tolist() for a, b in combinations(groups, 2)]


def _intervals(
    counts: np.ndarray,
    comparisons: list[tuple[int, int, int]],
    blocks: Blocks | None,
    confidence: float,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, str]:
    if not comparisons:
        return np.zeros(0), np.zeros(0), "none"
    if blocks is not None:
        return *cluster_band(blocks, comparisons, confidence, seed), "cluster bootstrap"
    outcome, group, other = np.array(comparisons).T
    sizes = counts.sum(axis=1)
    alone = 1 - (1 - confidence) / len(comparisons)
    ends = newcombe(counts[group, outcome], sizes[group], counts[other, outcome], sizes[other], alone)
    return *ends, "newcombe" if len(comparisons) == 1 else f"newcombe, {len(comparisons)} together (bonferroni)"


def _largest(lo: np.ndarray, hi: np.ndarray) -> tuple[float, float] | None:
    if not len(lo) or np.isnan(lo).any():
        return None
    return float(np.maximum(np.maximum(lo, -hi), 0.0).max()), float(np.maximum(hi, -lo).max())


def _rates(
    counts: np.ndarray, groups: tuple[str, ...], outcomes: tuple[str, ...], confidence: float
) -> tuple[GroupRate, ...]:
    sizes = np.repeat(counts.sum(axis=1), counts.shape[1])
    lo, hi = wilson(counts.ravel(), sizes, confidence)
    names = [(group, outcome) for group in groups for outcome in outcomes]
    return tuple(
        GroupRate(*name, k, n, *((k / n, low, high) if n else (None, None, None)))
        for name, k, n, low, high in zip(
            names, counts.ravel().tolist(), sizes.tolist(), lo.tolist(), hi.tolist(), strict=True
        )
    )


def _difference(
    counts: np.ndarray,
    comparisons: list[tuple[int, int, int]],
    lo: np.ndarray,
    hi: np.ndarray,
    groups: tuple[str, ...],
    outcomes: tuple[str, ...],
    method: str,
) -> Effect | None:
    if not comparisons:
        return None
    rates = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    values = np.array([rates[a, outcome] - rates[b, outcome] for outcome, a, b in comparisons])
    place = int(np.abs(values).argmax())
    outcome, a, b = comparisons[place]
    value, low, high = float(values[place]), float(lo[place]), float(hi[place])
    if value < 0:
        a, b, value, low, high = b, a, -value, -high, -low
    known = not math.isnan(low)
    return Effect(
        value, low if known else None, high if known else None, outcomes[outcome], groups[a], groups[b], method
    )


def _ratio(counts: np.ndarray, groups: tuple[str, ...], outcomes: tuple[str, ...], confidence: float) -> Effect | None:
    """The smallest ratio; the most certain one when several are 0."""
    sizes = counts.sum(axis=1)
    held = np.flatnonzero(sizes).tolist()
    found: list[tuple[float, int, int, int, int]] = []
    for outcome in np.flatnonzero(counts.sum(axis=0)).tolist():
        for a, b in combinations(held, 2):
            k, n, k_other, n_other = (int(one) for one in (counts[a, outcome], sizes[a], counts[b, outcome], sizes[b]))
            if not k and not k_other:
                continue
            smaller, larger = (a, b) if k * n_other <= k_other * n else (b, a)
            share = (counts[smaller, outcome] * sizes[larger]) / (counts[larger, outcome] * sizes[smaller])
            found.append((float(share), -int(counts[larger, outcome]), outcome, larger, smaller))
    if not found:
        return None
    value, _, outcome, larger, smaller = min(found)
    interval, method = ratio_interval(
        int(counts[smaller, outcome]),
        int(sizes[smaller]),
        int(counts[larger, outcome]),
        int(sizes[larger]),
        1 - (1 - confidence) / len(found),
    )
    lo, hi = (None, None) if interval is None else (float(interval.lo), float(interval.hi))
    together = "" if len(found) == 1 else f", {len(found)} together (bonferroni)"
    return Effect(value, lo, hi, outcomes[outcome], groups[larger], groups[smaller], f"{method}{together}")
