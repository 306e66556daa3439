"""Whole weights accept the very same points."""

from __future__ import annotations

import numpy as np
import pytest

from justicia.encoders import LinearThreshold
from justicia.errors import FormulaError
from justicia.ssat.whole_weights import MOST_WEIGHT, whole_weights


def points_of(sizes):
    return np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, len(sizes))


def accepted_by_weights(decision, points):
    weights, bound = whole_weights(decision)
    assert all(one.dtype.kind == "i" and one.min() == 0 for one in weights)
    assert sum(int(one.max()) for one in weights) <= MOST_WEIGHT
    total = sum(one[points[:, i]] for i, one in enumerate(weights))
    return (total >= bound) == decision.accepts_above


@pytest.mark.parametrize("seed", range(60))
def test_weights_accept_the_same_points(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, size=int(rng.integers(1, 7)))
    scale = 10.0 ** rng.integers(-6, 7)
    values = [rng.normal(size=size) * scale for size in sizes]
    if seed % 5 == 0:
        # Scores that differ in the tenth digit alone.
        values = [one + scale * 1e-10 * np.arange(len(one)) - one + one[0] for one in values]
    if seed % 3 == 0:
        values = [np.round(one / scale * 4) / 4 * scale for one in values]
    decision = LinearThreshold(tuple(values), float(rng.normal()) * scale, 0.1 * scale, bool(seed % 2), 0.0)
    points = points_of(sizes)
    assert (accepted_by_weights(decision, points) == decision.evaluate(points)).all()


@pytest.mark.parametrize("threshold", [-10.0, 10.0])
def test_thresholds_that_no_score_crosses(threshold):
    decision = LinearThreshold((np.array([0.0, 0.3]), np.array([0.1, 0.7])), 0.0, threshold, True, 1e-12)
    points = points_of((2, 2))
    assert (accepted_by_weights(decision, points) == decision.evaluate(points)).all()


def test_scores_at_the_threshold_of_exact_sums_are_kept():
    decision = LinearThreshold((np.array([0.0, 1.0]), np.array([0.0, 2.0])), 0.0, 2.0, True, 0.0)
    points = points_of((2, 2))
    assert accepted_by_weights(decision, points).tolist() == [False, False, False, True]


def test_too_many_combinations_are_refused():
    rng = np.random.default_rng(0)
    decision = LinearThreshold(tuple(rng.normal(size=50) for _ in range(10)), 0.0, 0.0, True, 1e-12)
    with pytest.raises(FormulaError, match="too many to find whole weights"):
        whole_weights(decision)


def test_scores_that_come_too_near_are_refused():
    decision = LinearThreshold((np.array([0.0, 1.0 + 2e-11]), np.array([0.0, 1.0])), 0.0, 1.0 + 1e-11, True, 1e-14)
    with pytest.raises(FormulaError, match="which float64 rounds too roughly"):
        whole_weights(decision)
