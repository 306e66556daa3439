"""Random sums of trees over random cells, and the enumeration of all points."""

from __future__ import annotations

import numpy as np

from justicia.encoders import AdditiveTrees
from justicia.population import NetworkPopulation
from tests.linear_cases import every_point
from tests.solvers.test_fourier import chain

KINDS = ("ranked", "ranked with a missing cell", "sets")


def random_trees(
    rng: np.random.Generator, sizes: list[int], n_trees: int, most_leaves: int, pure: bool = False
) -> AdditiveTrees:
    """Trees that test random features at random cuts or sets; with `pure`, leaves are 1 or -1."""
    kinds = rng.choice(KINDS, size=len(sizes))
    ranks: list[np.ndarray | None] = []
    missing: list[int | None] = []
    for kind, size in zip(kinds, sizes, strict=True):
        order = rng.permutation(size)
        ranks.append(None if kind == "sets" else order)
        missing.append(int(np.flatnonzero(order == size - 1)[0]) if kind == KINDS[1] and size > 2 else None)
    tests: list[tuple[int, int, bool, np.ndarray]] = []
    for feature, size in enumerate(sizes):
        for _ in range(min(size, 8)):
            if ranks[feature] is None:
                tests.append((feature, -1, False, rng.random(size) < 0.5))
            else:
                n_ranks = size - (missing[feature] is not None)
                cut = int(rng.integers(0, n_ranks + 1))
                left = bool(rng.random() < 0.5) and missing[feature] is not None
                tests.append((feature, cut, left, np.zeros(0, dtype=bool)))
    roots, left, right, test, value = [], [], [], [], []
    for _ in range(n_trees):
        roots.append(len(left))
        wanted = int(rng.integers(1, most_leaves + 1))
        leaves = [len(left)]
        for array, start in ((left, -1), (right, -1), (test, -1), (value, 0.0)):
            array.append(start)
        while len(leaves) < wanted:
            node = leaves.pop(int(rng.integers(len(leaves))))
            test[node] = int(rng.integers(len(tests)))
            left[node], right[node] = len(left), len(left) + 1
            for array, start in ((left, -1), (right, -1), (test, -1), (value, 0.0)):
                array += [start, start]
            leaves += [left[node], right[node]]
        for node in leaves:
            value[node] = float(rng.choice([-1.0, 1.0])) if pure else float(np.round(rng.normal(), 2))
    return AdditiveTrees(
        tuple(sizes),
        np.array(roots, dtype=np.int32),
        np.array(left, dtype=np.int32),
        np.array(right, dtype=np.int32),
        np.array(test, dtype=np.int32),
        np.array(value),
        np.array([one[0] for one in tests], dtype=np.int32),
        np.array([one[1] for one in tests], dtype=np.int32),
        np.array([one[2] for one in tests], dtype=bool),
        tuple(one[3] for one in tests),
        0.1,
        float(np.round(rng.normal(scale=0.5), 2)) + 0.001,
        bool(rng.random() < 0.7),
        0.0 if pure else 1e-9,
        tuple(ranks),
        tuple(missing),
    )


def points_and_masses(population: NetworkPopulation) -> tuple[np.ndarray, np.ndarray]:
    """All points of a population's domain, and their probability in each group."""
    points = every_point(population.domain)
    boxes = [np.eye(size, dtype=bool)[points[:, i]] for i, size in enumerate(population.domain.sizes)]
    return points, population.masses(boxes, len(points))


def random_case(
    seed: int, n_trees: int = 5, most_leaves: int = 8, pure: bool = False
) -> tuple[AdditiveTrees, NetworkPopulation, np.ndarray]:
    """Trees, a population of three groups, and the true rate of each group."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 8, size=4).tolist()
    population = chain(rng, 3, sizes, 4)
    decision = random_trees(rng, sizes, n_trees, most_leaves, pure)
    points, masses = points_and_masses(population)
    return decision, population, masses[decision.evaluate(points)].sum(axis=0)
