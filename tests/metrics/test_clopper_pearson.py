"""Clopper and Pearson's intervals against scipy's, and against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from justicia.binomial import clopper_pearson
from justicia.metrics import simultaneous_clopper_pearson


@pytest.mark.parametrize("error", [0.5, 0.05, 1e-3, 1e-8])
def test_ends_are_those_of_scipy(error):
    pairs = [(0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (1, 1000), (999, 1000), (7841, 32561), (1, 10**7)]
    k, n = np.array(pairs).T
    lo, hi = clopper_pearson(k, n, error)
    for i, (successes, trials) in enumerate(pairs):
        held = binomtest(successes, trials).proportion_ci(1 - error, method="exact")
        assert lo[i] == pytest.approx(held.low, rel=1e-6, abs=1e-12)
        assert hi[i] == pytest.approx(held.high, rel=1e-6)


def test_ends_solve_the_equations_that_define_them():
    lo, hi = clopper_pearson(np.array([4]), np.array([23]), 0.1)
    assert binom.sf(3, 23, lo[0]) == pytest.approx(0.05)
    assert binom.cdf(4, 23, hi[0]) == pytest.approx(0.05)


def test_errors_too_small_for_the_inversion_give_no_bound_and_none_that_is_wrong():
    for error in (1e-200, 1e-300):
        lo, hi = clopper_pearson(np.array([3, 8, 0]), np.array([100_000, 10, 5]), error)
        assert (lo >= 0).all()
        assert (hi <= 1).all()
        assert (lo <= np.array([3e-5, 0.8, 0.0])).all()
        assert (hi >= np.array([3e-5, 0.8, 0.0])).all()


def test_simultaneous_intervals_divide_the_error_among_groups_with_people():
    k, n = np.array([3, 0, 40]), np.array([10, 0, 100])
    lo, hi = simultaneous_clopper_pearson(k, n, 0.9)
    assert np.isnan(lo[1])
    assert np.isnan(hi[1])
    each = clopper_pearson(k[[0, 2]], n[[0, 2]], 0.05)
    assert lo[[0, 2]].tolist() == pytest.approx(each[0].tolist(), rel=1e-12)
    assert hi[[0, 2]].tolist() == pytest.approx(each[1].tolist(), rel=1e-12)
