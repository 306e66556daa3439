"""Exact sums: lattices, scorecards, and when they decline."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from justicia.encoders import LinearThreshold
from justicia.errors import InputError
from justicia.solvers import Effort, Fourier, Sums, TooLargeError, pick
from justicia.solvers.sums import add_up
from justicia.ssat import Formula
from tests.solvers.test_fourier import chain, decision, independent


def test_a_thousand_weights_of_one_are_exact():
    rng = np.random.default_rng(0)
    share = rng.uniform(0.2, 0.8, size=(3, 1000))
    population = independent([np.stack([1 - share[:, i], share[:, i]], axis=1) for i in range(1000)])
    signs = rng.choice([-1.0, 1.0], size=1000)
    held = LinearThreshold(tuple(np.array([0.0, sign]) for sign in signs), 3.0, 0.0, True, 0.0, 1.0)
    solution = Sums().solve(Formula(population, held), Effort())
    assert solution.guarantee == "exact"
    for group in range(3):
        # The distribution of the sum, one feature after another.
        law = np.zeros(2001)
        law[1000] = 1.0
        for i, sign in enumerate(signs.astype(int)):
            law = (1 - share[group, i]) * law + share[group, i] * np.roll(law, sign)
        assert solution.lo[group] == solution.hi[group] == pytest.approx(law[998:].sum(), abs=1e-12)
    near = Fourier().solve(Formula(population, held), Effort(tolerance=1e-5))
    assert (near.lo <= solution.lo).all()
    assert (solution.hi <= near.hi).all()
    assert (near.hi - near.lo <= 1e-5).all()


def test_a_fair_coin_is_counted_as_on_paper():
    population = independent([np.array([[0.5, 0.5]])] * 20)
    held = LinearThreshold((np.array([0.0, 1.0]),) * 20, -12.0, 0.0, True, 0.0, 1.0)
    low, high = add_up(held, population)
    assert low[0] == high[0] == float(Fraction(sum(comb(20, k) for k in range(13, 21)), 2**20))


def test_a_scorecard_of_tenths_is_exact():
    # No sum of tenths is a tenth in binary: equal points must be joined all the same.
    rng = np.random.default_rng(1)
    shares = [rng.dirichlet(np.ones(6), size=2) for _ in range(9)]
    points = [rng.integers(-20, 21, size=6) for _ in range(9)]
    population = independent(shares)
    held = decision([each / 10 for each in points], base=-0.15, slack=1e-11)
    low, high = add_up(held, population, most_sums=400)
    assert (low == high).all()
    for group in range(2):
        law = {0: 1.0}
        for share, each in zip(shares, points, strict=True):
            after: dict[int, float] = {}
            for total, mass in law.items():
                for cell in range(6):
                    after[total + each[cell]] = after.get(total + each[cell], 0.0) + mass * share[group, cell]
            law = after
        assert low[group] == pytest.approx(sum(mass for total, mass in law.items() if total > 1.5), abs=1e-13)


@pytest.mark.parametrize("seed", range(10))
def test_dependence_is_followed(seed):
    rng = np.random.default_rng(seed)
    population = chain(rng, 4, [3, 6, 2, 5], 3)
    contributions = [rng.integers(-3, 4, size=size).astype(float) for size in (3, 6, 2, 5)]
    held = LinearThreshold(tuple(contributions), 0.5, 0.0, True, 0.0, 1.0)
    low, high = add_up(held, population)
    points = np.indices((3, 6, 2, 5)).reshape(4, -1).T
    yes = held.evaluate(points)
    for group in range(4):
        truth = 0.0
        for point in points[yes]:
            mass = 1.0
            for node in population.nodes:
                above = 0
                if node.parents:
                    above = population.nodes[node.parents[0]].states[point[node.parents[0]]]
                mass *= node.table[group, above, node.states[point[node.feature]]]
                if node.within is not None:
                    mass *= node.within[group, point[node.feature]]
            truth += mass
        assert low[group] == high[group] == pytest.approx(truth, abs=1e-13)


def test_too_many_sums_are_declined_and_another_engine_answers():
    rng = np.random.default_rng(2)
    population = independent([rng.dirichlet(np.ones(2), size=2) for _ in range(40)])
    held = decision([rng.normal(size=2) for _ in range(40)])
    with pytest.raises(TooLargeError, match="--solver auto"):
        Sums().solve(Formula(population, held), Effort())
    assert issubclass(TooLargeError, InputError)
    solution = pick("auto", held).solve(Formula(population, held), Effort())
    assert solution.engine == "fourier"
    assert (solution.hi - solution.lo <= 1e-4).all()


def test_time_out_leaves_the_trivial_bounds():
    population = independent([np.array([[0.5, 0.5]])] * 20)
    held = LinearThreshold((np.array([0.0, 1.0]),) * 20, -12.0, 0.0, True, 0.0, 1.0)
    solution = Sums().solve(Formula(population, held), Effort(time_limit=0.0))
    assert (solution.lo[0], solution.hi[0], solution.guarantee) == (0.0, 1.0, "bounds")
