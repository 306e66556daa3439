"""Rows that belong together: clusters drawn anew, groups permuted, signs flipped.

All prompts made from one template share its wording, and what a model says to one of them says little about another
template. Where clusters are named, intervals draw whole clusters (Efron and Tibshirani 1993), and tests permute what a
whole cluster may have had otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from justicia.generations.contingency import DRAWS, Test
from justicia.metrics.intervals import newcombe

__all__ = [
    "FEW_CLUSTERS",
    "REPLICATES",
    "Blocks",
    "cluster_band",
    "difference_band",
    "least_p",
    "make_blocks",
    "permutation_test",
    "sign_flip_p",
    "sign_flip_test",
]

REPLICATES = 1_999
"""Of a cluster bootstrap."""

FEW_CLUSTERS = 10
"""Below, a report says so: what holds of so few need not hold of others."""

_MOST_EXACT = 13
_MOST_CELLS = 100_000_000
_BATCH = 2_000_000


@dataclass(frozen=True)
class Blocks:
    """Rows counted by cluster, group and response.

    Attributes
    ----------
    counts : int array of shape (n_clusters, n_groups, n_responses)
    """

    counts: np.ndarray

    @property
    def crossed(self) -> bool:
        """Whether some cluster has rows of several groups."""
        return bool(((self.counts.sum(axis=2) > 0).sum(axis=1) > 1).any())


def make_blocks(clusters: np.ndarray, groups: np.ndarray, responses: np.ndarray, shape: tuple[int, int]) -> Blocks:
    """Count rows.

    Parameters
    ----------
    clusters, groups, responses : int array of shape (n_rows,)
    shape : (n_groups, n_responses)
    """
    _, clusters = np.unique(clusters, return_inverse=True)
    n = int(clusters.max()) + 1 if len(clusters) else 0
    cells = (clusters * shape[0] + groups) * shape[1] + responses
    return Blocks(np.bincount(cells, minlength=n * shape[0] * shape[1]).reshape(n, *shape))


def least_p(blocks: Blocks) -> float:
    """A bound below which no p-value of `permutation_test` lies, for want of arrangements.

    >>> round(least_p(Blocks(np.ones((4, 2, 2), dtype=int))), 6)
    0.125
    """
    groups = (blocks.counts.sum(axis=2) > 0).sum(axis=1)
    if not blocks.crossed:
        held = np.bincount(blocks.counts.sum(axis=2).argmax(axis=1))
        ways = math.lgamma(len(blocks.counts) + 1) - sum(math.lgamma(n + 1) for n in held.tolist())
        return math.exp(-ways)
    ways = sum(math.lgamma(n + 1) for n in groups.tolist() if n)
    # With two groups, to swap all clusters changes nothing.
    return min(1.0, math.exp(-ways) * (2 if blocks.counts.shape[1] == 2 else 1))


def permutation_test(blocks: Blocks, seed: int = 0) -> Test:
    """Test independence, by permuting groups among the blocks of rows that one cluster has of one group.

    Where clusters have several groups, groups change places inside a cluster; otherwise whole clusters change places.
    The statistic is Pearson's chi-square of the table of all rows.
    """
    counts = blocks.counts
    table = counts.sum(axis=0)
    if (table.sum(axis=1) > 0).sum() < 2:
        return Test("none", None, None, None, undefined="there are fewer than two groups with rows")
    if (table.sum(axis=0) > 0).sum() < 2:
        return Test("none", None, None, None, undefined="every response is the same")
    rng = np.random.default_rng(seed)
    permuted, how = (_inside, "inside") if blocks.crossed else (_among, "among")
    # Very many clusters get fewer draws, and no more at once than fit into memory.
    draws = int(np.clip(_MOST_CELLS // counts.size, 999, DRAWS))
    batch = max(1, _BATCH // counts.size)
    value, extreme = float(_pearson(table[None])[0]), 0
    for start in range(0, draws, batch):
        tables = permuted(counts, min(batch, draws - start), rng)
        extreme += int((_pearson(tables) >= value - 1e-9).sum())
    return Test(f"groups permuted {how} clusters, {draws:,} draws", value, None, (1 + extreme) / (1 + draws))


def _inside(counts: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Tables with the groups that a cluster has in another order, array of shape (draws, n_groups, n_responses)."""
    absent = counts.sum(axis=2) == 0
    if counts.shape[1] == 2:
        whole = counts[~absent.any(axis=1)].astype(np.float64)
        # Half the sum of signed differences goes from one group to the other.
        signs = rng.integers(0, 2, size=(draws, len(whole))).astype(np.float64)
        moved = signs @ (whole[:, 0] - whole[:, 1])
        table = counts.sum(axis=0)
        return np.stack([table[0] - moved, table[1] + moved], axis=1)
    # Places of the groups that are there come first, in any order; the others stay among themselves.
    keys = np.where(absent, 2.0, rng.random((draws, *absent.shape)))
    places = np.broadcast_to(np.argsort(absent, axis=1, kind="stable"), keys.shape)
    order = np.empty(keys.shape, dtype=np.int64)
    np.put_along_axis(order, places, np.argsort(keys, axis=2), axis=2)
    return counts[np.arange(len(counts))[:, None], order].sum(axis=1)


def _among(counts: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Tables with the clusters' groups in another order."""
    groups = counts.sum(axis=2).argmax(axis=1)
    responses = counts.sum(axis=1).astype(np.float64)
    order = rng.permuted(np.tile(groups, (draws, 1)), axis=1)
    return np.stack([(order == group).astype(np.float64) @ responses for group in range(counts.shape[1])], axis=1)


def _pearson(tables: np.ndarray) -> np.ndarray:
    tables = np.asarray(tables, dtype=np.float64)
    expected = tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True)
    expected /= tables.sum(axis=(1, 2), keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, (tables - expected) ** 2 / expected, 0.0).sum(axis=(1, 2))


def cluster_band(
    blocks: Blocks, comparisons: list[tuple[int, int, int]], confidence: float, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Intervals of differences of rates that hold together, by drawing clusters anew.

    Each is as wide, in units of its own standard deviation, as the quantile of the largest deviation says. With G
    clusters, deviations are widened by sqrt(G / (G - 1)), and the quantile as much as Student's with G - 1 degrees of
    freedom is wider than the normal distribution's; without, few clusters have intervals that are too narrow.

    Parameters
    ----------
    blocks : Blocks
    comparisons : list of (response, group, other group)
    confidence : float in (0, 1)
    seed : int

    Returns
    -------
    lo, hi : float64 array of shape (n_comparisons,)
        NaN where there are fewer than two clusters, or too often no rows of a group.
    """
    lo, hi, still = _band(blocks, comparisons, confidence, seed)
    if still.any():
        # Clusters that are all alike say no more than as many single rows.
        low, high = _still(blocks.counts.astype(np.float64), comparisons, confidence)
        lo, hi = np.where(still, low, lo), np.where(still, high, hi)
    return np.maximum(lo, -1.0), np.minimum(hi, 1.0)


def difference_band(
    blocks: Blocks, comparisons: list[tuple[int, int, int, int, int]], confidence: float, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The same for differences of two differences: (response, group, other, group and other subtracted)."""
    lo, hi, still = _band(blocks, comparisons, confidence, seed)
    return np.where(still, np.nan, lo), np.where(still, np.nan, hi)


def _band(
    blocks: Blocks, comparisons: Sequence[tuple[int, ...]], confidence: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    counts = blocks.counts.astype(np.float64)
    n, none = len(counts), np.full(len(comparisons), np.nan)
    never = np.zeros(len(comparisons), dtype=bool)
    if n < 2 or not comparisons:
        return none, none, never
    rng = np.random.default_rng(seed)
    flat, parts = counts.reshape(n, -1), []
    for start in range(0, REPLICATES, batch := max(1, _BATCH // n)):
        size = min(batch, REPLICATES - start)
        parts.append(rng.multinomial(n, np.full(n, 1 / n), size=size).astype(np.float64) @ flat)
    drawn = np.concatenate(parts).reshape(REPLICATES, *counts.shape[1:])
    replicates, value = _differences(drawn, comparisons), _differences(counts.sum(axis=0)[None], comparisons)[0]
    whole = ~np.isnan(replicates).any(axis=1)
    if whole.sum() < REPLICATES // 2:
        return none, none, never
    deviations = (replicates[whole] - value) * math.sqrt(n / (n - 1))
    # Rounding is no deviation.
    unit = np.where(np.abs(deviations).max(axis=0) > 1e-12, np.sqrt((deviations**2).mean(axis=0)), 0.0)
    largest = np.where(unit > 0, np.abs(deviations) / np.where(unit > 0, unit, 1.0), 0.0).max(axis=1)
    half = float(np.quantile(largest, confidence, method="higher")) * _wider(n, confidence) * unit
    return value - half, value + half, unit == 0


def _wider(clusters: int, confidence: float) -> float:
    from scipy.stats import norm, t

    return float(t.ppf(0.5 + confidence / 2, clusters - 1) / norm.ppf(0.5 + confidence / 2))


def _still(
    counts: np.ndarray, comparisons: list[tuple[int, int, int]], confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    response, group, other = np.array(comparisons).T
    sizes = (counts.sum(axis=2) > 0).sum(axis=0)
    table = counts.sum(axis=0)
    rates = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    n, n_other = sizes[group], sizes[other]
    alone = 1 - (1 - confidence) / len(comparisons)
    return newcombe(rates[group, response] * n, n, rates[other, response] * n_other, n_other, alone)


def _differences(tables: np.ndarray, comparisons: Sequence[tuple[int, ...]]) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = tables / tables.sum(axis=2, keepdims=True)
    response, *groups = np.array(comparisons).T
    held = [rates[:, group, response] for group in groups]
    first = held[0] - held[1]
    return first if len(held) == 2 else first - (held[2] - held[3])


def sign_flip_p(parts: np.ndarray, weights: np.ndarray, seed: int = 0) -> tuple[float, float, str]:
    """How often a sum of parts, each with either sign, is as far from 0 as with the signs that it has.

    Parameters
    ----------
    parts : array of shape (n_parts, n_columns)
        Those of one pair, or of all pairs of one cluster.
    weights : float array of shape (n_columns,)
        The statistic is the sum over columns of weight times squared sum.
    seed : int
        Where there are too many signs to try all.

    Returns
    -------
    statistic, p : float
    how : str
    """
    parts = np.asarray(parts, dtype=np.float64)
    parts = parts[(parts != 0).any(axis=1)]
    value = float((parts.sum(axis=0) ** 2) @ weights)
    n = len(parts)
    if n <= _MOST_EXACT:
        signs = 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        return value, float((_flipped(signs, parts, weights) >= value * (1 - 1e-12)).mean()), "exact"
    rng = np.random.default_rng(seed)
    extreme = 0
    batch = max(1, _BATCH // n)
    for start in range(0, DRAWS, batch):
        signs = 2.0 * rng.integers(0, 2, size=(min(batch, DRAWS - start), n)) - 1.0
        extreme += int((_flipped(signs, parts, weights) >= value * (1 - 1e-12)).sum())
    return value, (1 + extreme) / (1 + DRAWS), f"{DRAWS:,} draws"


def _flipped(signs: np.ndarray, parts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return ((signs @ parts) ** 2) @ weights


def sign_flip_test(differences: np.ndarray, seed: int = 0) -> Test:
    """Test whether paired differences are as often below 0 as above, by their sum.

    >>> sign_flip_test(np.array([1.0, 2.0, 3.0])).p
    0.25
    """
    held = np.asarray(differences, dtype=np.float64)
    if not len(held):
        return Test("sign-flip", None, None, None, undefined="there is no complete pair")
    if not held.any():
        return Test("sign-flip", None, None, 1.0)
    # Scaled, so that no square overflows.
    _, p, how = sign_flip_p(held[:, None] / np.abs(held).max(), np.ones(1), seed)
    return Test(f"sign-flip, {how}", float(held.mean()), None, p)
