"""Two models beside each other: how much the differences between groups differ."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from justicia.generations.language_results import ModelContrast
from justicia.generations.language_tables import Coded
from justicia.generations.resampling import Blocks, difference_band
from justicia.metrics.intervals import newcombe

__all__ = ["contrast_models"]


def contrast_models(
    models: Coded | None,
    groups: Coded,
    responses: Coded,
    clusters: Coded | None,
    confidence: float,
    seed: int,
) -> tuple[ModelContrast, ...]:
    """For every pair of models, the outcome and pair of groups whose difference of rates differs most.

    Intervals combine those of both differences (Zou and Donner, Statistics in Medicine 2008); where clusters are
    named, clusters are drawn anew, the same for both models, which answered the same prompts.
    """
    if models is None:
        return ()
    shape = len(models.values), len(groups.values), len(responses.values)
    cells = (models.codes * shape[1] + groups.codes) * shape[2] + responses.codes
    counts = np.bincount(cells, minlength=math.prod(shape)).reshape(shape)
    blocks = None
    if clusters is not None:
        _, codes = np.unique(clusters.codes, return_inverse=True)
        n = int(codes.max()) + 1 if len(codes) else 0
        blocks = Blocks(
            np.bincount(codes * math.prod(shape) + cells, minlength=n * math.prod(shape)).reshape(n, -1, shape[2])
        )
    found = []
    for a, b in combinations(range(shape[0]), 2):
        one = _contrast(counts, a, b, blocks, confidence, seed)
        if one is not None:
            outcome, group, other, gap, other_gap, lo, hi, method = one
            found.append(
                ModelContrast(
                    models.values[a],
                    models.values[b],
                    responses.values[outcome],
                    groups.values[group],
                    groups.values[other],
                    gap,
                    other_gap,
                    gap - other_gap,
                    lo,
                    hi,
                    method,
                )
            )
    return tuple(found)


def _contrast(
    counts: np.ndarray, a: int, b: int, blocks: Blocks | None, confidence: float, seed: int
) -> tuple[int, int, int, float, float, float | None, float | None, str] | None:
    sizes = counts.sum(axis=2)
    groups = np.flatnonzero((sizes[a] > 0) & (sizes[b] > 0)).tolist()
    outcomes = np.flatnonzero((counts[a] + counts[b]).sum(axis=0))
    if len(outcomes) == 2:
        outcomes = outcomes[:1]
    compared = [(outcome, i, j) for outcome in outcomes.tolist() for i, j in combinations(groups, 2)]
    if not compared:
        return None
    outcome, first, other = np.array(compared).T
    alone = 1 - (1 - confidence) / len(compared)

    def gaps(model: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        k, k_other = counts[model, first, outcome], counts[model, other, outcome]
        n, n_other = sizes[model, first], sizes[model, other]
        return k / n - k_other / n_other, *newcombe(k, n, k_other, n_other, alone)

    (gap, low, high), (other_gap, other_low, other_high) = gaps(a), gaps(b)
    value = gap - other_gap
    if blocks is None:
        lo = value - np.hypot(gap - low, other_high - other_gap)
        hi = value + np.hypot(high - gap, other_gap - other_low)
        method = "newcombe's intervals combined"
    else:
        n_groups = counts.shape[1]
        shifted = [(o, a * n_groups + i, a * n_groups + j, b * n_groups + i, b * n_groups + j) for o, i, j in compared]
        lo, hi = difference_band(blocks, shifted, confidence, seed)
        method = "cluster bootstrap"
    place = int(np.abs(value).argmax())
    ends = float(lo[place]), float(hi[place])
    low_end, high_end = (None, None) if math.isnan(ends[0]) else ends
    return (*compared[place], float(gap[place]), float(other_gap[place]), low_end, high_end, method)
