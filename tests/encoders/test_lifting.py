"""Decisions over cells that are not the model's own, against every way in which people may lie in those cells."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from justicia.encoders import AdditiveTrees, LinearThreshold, Tree
from justicia.encoders.lifting import lift
from justicia.population import Counts, EmpiricalPopulation, MixturePopulation, NetworkPopulation
from justicia.population.coarsening import coarsened
from justicia.solvers import ENGINES, Effort
from justicia.solvers.brackets import solve_between
from tests.ensemble_cases import random_trees
from tests.linear_cases import every_point
from tests.solvers.test_fourier import chain

FAMILIES = ("tree", "linear", "ensemble")


def random_tree(rng: np.random.Generator, sizes: list[int]) -> Tree:
    left, right, feature, goes, accepts = [-1], [-1], [-1], [np.zeros(0, bool)], [False]
    leaves = [0]
    for _ in range(int(rng.integers(2, 9))):
        node = leaves.pop(int(rng.integers(len(leaves))))
        feature[node] = int(rng.integers(len(sizes)))
        goes[node] = np.arange(sizes[feature[node]]) < rng.integers(0, sizes[feature[node]] + 1)
        left[node], right[node] = len(left), len(left) + 1
        for _ in range(2):
            leaves.append(len(left))
            for array, start in ((left, -1), (right, -1), (feature, -1), (goes, np.zeros(0, bool))):
                array.append(start)
            accepts.append(bool(rng.random() < 0.5))
    return Tree(tuple(sizes), np.array(left), np.array(right), np.array(feature), tuple(goes), np.array(accepts))


def random_decision(family: str, rng: np.random.Generator, sizes: list[int]):
    if family == "tree":
        return random_tree(rng, sizes)
    if family == "ensemble":
        return random_trees(rng, sizes, 4, 6)
    contributions = tuple(np.round(rng.normal(size=size), 2) for size in sizes)
    return LinearThreshold(contributions, 0.001, 0.0, bool(rng.random() < 0.7), 1e-12)


def random_reach(rng: np.random.Generator, n_cells: int, n_model: int, certain: bool) -> np.ndarray:
    """Cells in rising order that hold one or a few neighbouring cells of the model."""
    starts = np.sort(rng.integers(0, n_model, size=n_cells))
    held = np.zeros((n_cells, n_model), dtype=bool)
    for cell, start in enumerate(starts.tolist()):
        most = starts[cell + 1] if cell + 1 < n_cells else n_model - 1
        end = start if certain else min(int(rng.integers(start, start + 3)), int(most))
        held[cell, start : end + 1] = True
    return held


def of_structure(kind: str, rng: np.random.Generator, sizes: list[int]):
    network = chain(rng, 3, sizes, 3)
    if kind == "tree":
        return network
    n = 40
    groups, points = rng.integers(0, 3, size=n), np.stack([rng.integers(0, size, size=n) for size in sizes], axis=1)
    groups[:3] = range(3)
    rows = EmpiricalPopulation(Counts(network.groups, tuple(sizes), groups, points), network.domain, ("g",))
    if kind == "empirical":
        return rows
    classes = chain(rng, 6, sizes, 3)
    weights = rng.dirichlet(np.ones(2), size=3)
    return MixturePopulation("auto", "mixed", classes, weights, rows, rng.random(3))


def point_masses(population, points: np.ndarray) -> np.ndarray:
    sizes = population.domain.sizes
    return population.masses([np.eye(size, dtype=bool)[points[:, i]] for i, size in enumerate(sizes)], len(points))


@pytest.mark.parametrize("structure", ["tree", "empirical", "auto"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(8))
def test_bounds_hold_whatever_people_in_a_cell_are_like(family, structure, seed):
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    model_sizes = rng.integers(2, 6, size=3).tolist()
    decision = random_decision(family, rng, model_sizes)
    # Four features of the population: the model looks at three of them, in another order.
    place = rng.permutation(4)[:3].tolist()
    sizes = rng.integers(2, 6, size=4).tolist()
    population = of_structure(structure, rng, sizes)
    certain = seed % 4 == 0
    touched = {i: random_reach(rng, sizes[place[i]], model_sizes[i], certain) for i in range(3)}

    kinds = {place[i]: np.unique(held, axis=0, return_inverse=True)[1].ravel() for i, held in touched.items()}
    coarse = coarsened(population, kinds)
    position = {i: coarse.feature.index(place[i]) for i in range(3)}
    of_cells = {i: touched[i][np.unique(coarse.cells[position[i]], return_index=True)[1]] for i in range(3)}
    lifted = lift(decision, coarse.population.domain.sizes, position, of_cells)
    assert (lifted.least is lifted.most) == all((held.sum(axis=1) == 1).all() for held in touched.values())

    points = every_point(population.domain)
    masses = point_masses(population, points)
    least, most = np.zeros(3), np.zeros(3)
    for point, mass in zip(points, masses, strict=True):
        ways = [np.flatnonzero(touched[i][point[place[i]]]) for i in range(3)]
        outcomes = decision.evaluate(np.array(list(product(*ways)), dtype=np.int64))
        least += mass * outcomes.all()
        most += mass * outcomes.any()
    for engine in ENGINES.values():
        if not engine.takes(decision):
            continue
        solution = solve_between(engine, coarse.population, lifted.least, lifted.most, Effort(tolerance=1e-6))
        assert (solution.lo <= least + 1e-9).all()
        assert (solution.hi >= most - 1e-9).all()
        if family == "linear" or certain:
            # Of sums nothing is lost, and where no cell is in doubt nothing at all.
            np.testing.assert_allclose(solution.lo, least, atol=1e-5)
            np.testing.assert_allclose(solution.hi, most, atol=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_a_tree_that_tests_each_feature_once_loses_nothing(seed):
    rng = np.random.default_rng(seed)
    goes = [np.arange(4) < cut for cut in rng.integers(1, 4, size=3)]
    none = np.zeros(0, bool)
    # x0 at the root, x1 on its left, x2 on its right.
    tree = Tree(
        (4, 4, 4), np.array([1, 3, 5, -1, -1, -1, -1]), np.array([2, 4, 6, -1, -1, -1, -1]),
        np.array([0, 1, 2, -1, -1, -1, -1]), (*goes, none, none, none, none), rng.random(7) < 0.5,
    )  # fmt: skip
    touched = {i: random_reach(rng, 3, 4, certain=False) for i in range(3)}
    lifted = lift(tree, (3, 3, 3), {0: 0, 1: 1, 2: 2}, touched)
    for point in product(range(3), repeat=3):
        ways = [np.flatnonzero(touched[i][cell]) for i, cell in enumerate(point)]
        outcomes = tree.evaluate(np.array(list(product(*ways))))
        assert lifted.least.evaluate(np.array([point]))[0] == outcomes.all()
        assert lifted.most.evaluate(np.array([point]))[0] == outcomes.any()


def test_a_tree_that_would_grow_without_end_still_encloses():
    # Forty tests of two features in a row, every one of which cuts the single cell.
    n = 40
    inner = np.arange(n)
    left = np.concatenate([n + inner, np.full(n + 1, -1)])
    right = np.concatenate([inner + 1, np.full(n + 1, -1)])
    right[n - 1] = 2 * n
    feature = np.concatenate([inner % 2, np.full(n + 1, -1)])
    goes = [np.arange(2) == 0] * n + [np.zeros(0, bool)] * (n + 1)
    accepts = np.arange(2 * n + 1) % 2 == 0
    tree = Tree((2, 2), left, right, feature, tuple(goes), accepts)
    everything = np.ones((1, 2), dtype=bool)
    lifted = lift(tree, (1, 1), {0: 0, 1: 1}, {0: everything, 1: everything})
    assert len(lifted.least.left) < 5 * len(left)
    assert not lifted.least.evaluate(np.zeros((1, 2), dtype=int))[0]
    assert lifted.most.evaluate(np.zeros((1, 2), dtype=int))[0]


def test_ranks_survive_where_cells_keep_their_order():
    # Cells 0 | 0 or 1 | 1: a cut between the model's two cells leaves the middle one in doubt.
    leaf = np.array([-1, -1, -1], dtype=np.int32)
    trees = AdditiveTrees(
        (2,), np.array([0], np.int32), np.array([1, -1, -1], np.int32), np.array([2, -1, -1], np.int32),
        np.array([0, -1, -1], np.int32), np.array([0.0, -1.0, 1.0]), np.array([0], np.int32), np.array([1], np.int32),
        np.array([False]), (leaf[:0].astype(bool),), 0.0, 0.0, True, 0.0, (np.array([0, 1]),), (None,),
    )  # fmt: skip
    touched = np.array([[True, False], [True, True], [False, True]])
    lifted = lift(trees, (3,), {0: 0}, {0: touched})
    assert lifted.least.ranks[0].tolist() == [0, 1, 2]
    assert lifted.least.evaluate(np.array([[0], [1], [2]])).tolist() == [False, False, True]
    assert lifted.most.evaluate(np.array([[0], [1], [2]])).tolist() == [False, True, True]


def test_a_network_stays_the_same_distribution_when_cells_are_joined():
    rng = np.random.default_rng(0)
    population = chain(rng, 3, [5, 6, 4], 3)
    kinds = {1: np.array([0, 0, 1, 1, 0, 1])}
    coarse = coarsened(population, kinds)
    assert isinstance(coarse.population, NetworkPopulation)
    # The last feature depends on the second alone: it is left out, and the first one, above, stays.
    assert coarse.feature == (0, 1)
    kept = kinds[1] == 1
    of_new = np.zeros(coarse.population.domain.sizes[1], dtype=bool)
    of_new[np.unique(coarse.cells[1][kept])] = True
    expected = population.masses([None, kept[None], None], 1)
    np.testing.assert_allclose(coarse.population.masses([None, of_new[None]], 1), expected, atol=1e-15)
