"""The engine for rules: by hand, beside decision trees of the same outcomes, and where it gives up."""

from __future__ import annotations

import numpy as np
import pytest

from justicia.encoders.clauses import Clauses
from justicia.encoders.lifting import lift
from justicia.population.base import Node
from justicia.population.domain import Domain, Feature
from justicia.population.network import NetworkPopulation
from justicia.shifting import _situations
from justicia.solvers import ENGINES, Effort, TooLargeError, pick
from justicia.solvers.satisfied_clauses import SatisfiedClauses
from justicia.solvers.situations import situations_of_clauses, situations_of_tree
from justicia.ssat import Formula

YES, NO = np.array([False, True]), np.array([True, False])


def feature(position: int, size: int) -> Feature:
    return Feature(f"x{position}", tuple(map(str, range(size))), (None,) * size)


def random_network(seed: int, n_features: int = 5, n_groups: int = 3) -> NetworkPopulation:
    """A random forest over the features; some of them with cells inside of their states, one that the group fixes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, size=n_features)
    nodes: list[Node] = []
    for position in rng.permutation(n_features).tolist():
        before = [node for node in nodes if rng.random() < 0.5]
        parent = before[int(rng.integers(len(before)))] if before and rng.random() < 0.8 else None
        n_states = int(sizes[position]) if rng.random() < 0.5 else int(rng.integers(1, sizes[position] + 1))
        states = np.concatenate([np.arange(n_states), rng.integers(0, n_states, size=int(sizes[position]) - n_states)])
        above = 1 if parent is None else parent.table.shape[2]
        table = rng.dirichlet(np.ones(n_states), size=(n_groups, above)) * (
            rng.random((n_groups, above, n_states)) < 0.8
        )
        table += (table.sum(axis=2, keepdims=True) == 0) / n_states
        table /= table.sum(axis=2, keepdims=True)
        if not nodes:
            table = np.eye(n_states)[rng.integers(0, n_states, size=n_groups)][:, None, :]
        within = None
        if n_states < sizes[position]:
            within = rng.random((n_groups, int(sizes[position])))
            for state in range(n_states):
                within[:, states == state] /= within[:, states == state].sum(axis=1, keepdims=True)
        nodes.append(Node(position, () if parent is None else (parent.feature,), table, states, within))
    domain = Domain(tuple(feature(i, int(size)) for i, size in enumerate(sizes)))
    groups = tuple((str(i),) for i in range(n_groups))
    return NetworkPopulation("tree", domain, ("s",), groups, np.ones(n_groups, dtype=np.int64), tuple(nodes))


def random_clauses(seed: int, sizes, n_clauses: int, width: int = 3) -> Clauses:
    rng = np.random.default_rng(seed)
    clauses = []
    for _ in range(n_clauses):
        chosen = rng.choice(len(sizes), size=min(int(rng.integers(1, width + 1)), len(sizes)), replace=False)
        clauses.append({int(i): rng.random(sizes[i]) < 0.5 for i in chosen})
    return Clauses(tuple(sizes), tuple(clauses), bool(rng.random() < 0.5))


def rates(population, decision, engine="satisfied_clauses"):
    solution = ENGINES[engine].solve(Formula(population, decision), Effort())
    assert solution.guarantee == "exact"
    return solution.lo


def test_worked_values():
    # (not F or I) and (F or J), independent: .41, .93, .09 give .4344; .01, .99, .18 give .1881; .82, .88, .01 .7234.
    chances = np.array([[0.41, 0.93, 0.09], [0.01, 0.99, 0.18], [0.82, 0.88, 0.01]])
    nodes = tuple(
        Node(i, (), np.stack([1 - chances[:, i], chances[:, i]], axis=1)[:, None, :], np.arange(2), None)
        for i in range(3)
    )
    domain = Domain(tuple(feature(i, 2) for i in range(3)))
    people = NetworkPopulation("independent", domain, ("s",), (("a",), ("b",), ("c",)), np.ones(3, dtype=int), nodes)
    decision = Clauses((2, 2, 2), ({0: NO, 1: YES}, {0: YES, 2: YES}))
    assert rates(people, decision) == pytest.approx([0.4344, 0.1881, 0.7234], abs=1e-12)
    complement = Clauses(decision.sizes, decision.clauses, False)
    assert rates(people, complement) == pytest.approx([0.5656, 0.8119, 0.2766], abs=1e-12)


@pytest.mark.parametrize("seed", range(24))
def test_a_tree_of_the_same_outcomes_has_the_same_rates(seed):
    population = random_network(seed)
    sizes = population.domain.sizes
    decision = random_clauses(seed, sizes, int(np.random.default_rng(seed).integers(0, 9)))
    tree = decision.as_tree(100_000)
    points = np.indices(sizes).reshape(len(sizes), -1).T
    assert (tree.evaluate(points) == decision.evaluate(points)).all()
    direct = rates(population, decision)
    assert direct == pytest.approx(rates(population, tree, "paths"), abs=1e-12)
    masses = [
        population.mass([np.arange(size) == cell for size, cell in zip(sizes, point, strict=True)])[0]
        for point in points[decision.evaluate(points)]
    ]
    assert direct == pytest.approx(np.sum(masses, axis=0) if masses else np.zeros(3), abs=1e-12)
    if seed < 6:
        assert direct == pytest.approx(rates(population, decision, "clauses"), abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_situations_are_those_of_a_tree(seed):
    population = random_network(seed)
    decision = random_clauses(seed, population.domain.sizes, 5)
    values = []
    for held in (
        situations_of_clauses(decision, population.nodes, 10_000),
        situations_of_tree(decision.as_tree(10_000), population.nodes, 10_000),
    ):
        value = np.zeros((2, population.n_groups))
        value[1] = 1.0
        for level in reversed(held.levels):
            node = level.node
            made = np.zeros((len(level.above), population.n_groups))
            for state, kinds in enumerate(level.kinds):
                cells = np.flatnonzero(node.states == state)
                share = np.ones((population.n_groups, len(cells))) if node.within is None else node.within[:, cells]
                for place, kind in enumerate(kinds):
                    chance = node.table[:, level.above, state].T * share[:, place]
                    made += chance * value[level.following[state][:, kind]]
            value = np.concatenate([value[:2], made])
        values.append(value[held.start])
    assert values[0] == pytest.approx(rates(population, decision), abs=1e-12)
    assert values[1] == pytest.approx(values[0], abs=1e-12)
    assert _situations(decision, population.nodes, largest=True)[1]


@pytest.mark.parametrize("seed", range(20))
def test_lifted_rules_enclose(seed):
    rng = np.random.default_rng(seed)
    fine, sizes = (3, 4, 3), (2, 3, 2)
    decision = random_clauses(seed, sizes, 3)
    reach = {}
    for position, (n_fine, n_model) in enumerate(zip(fine, sizes, strict=True)):
        touched = rng.random((n_fine, n_model)) < 0.4
        touched[np.arange(n_fine), rng.integers(0, n_model, size=n_fine)] = True
        reach[position] = touched
    lifted = lift(decision, fine, {0: 0, 1: 1, 2: 2}, reach)
    for point in np.indices(fine).reshape(3, -1).T:
        choices = [np.flatnonzero(reach[position][cell]) for position, cell in enumerate(point)]
        possible = decision.evaluate(np.array(np.meshgrid(*choices)).reshape(3, -1).T)
        low, high = (held.evaluate(point[None])[0] for held in (lifted.least, lifted.most))
        assert low <= possible.min()
        assert possible.max() <= high
        if len(possible) == 1:
            assert low == high == possible[0]


def independent(n_features: int, seed: int = 0) -> NetworkPopulation:
    chances = np.random.default_rng(seed).random((2, n_features))
    nodes = tuple(
        Node(i, (), np.stack([1 - chances[:, i], chances[:, i]], axis=1)[:, None, :], np.arange(2), None)
        for i in range(n_features)
    )
    domain = Domain(tuple(feature(i, 2) for i in range(n_features)))
    groups = (("a",), ("b",))
    return NetworkPopulation("independent", domain, ("s",), groups, np.ones(2, dtype=int), nodes)


def test_many_clauses_that_meet_few_others():
    # No two neighbours of 200 in a row are both 0, and not all three of some are 1: a recursion over the last two.
    n = 200
    people = independent(n)
    decision = Clauses((2,) * n, tuple({i: YES, i + 1: YES} for i in range(n - 1)))
    expected = []
    for group in range(2):
        chances = [float(node.table[group, 0, 1]) for node in people.nodes]
        last = [1 - chances[0], chances[0]]
        for p in chances[1:]:
            last = [(1 - p) * last[1], p * (last[0] + last[1])]
        expected.append(sum(last))
    assert rates(people, decision) == pytest.approx(expected, rel=1e-9)


def test_clauses_that_all_meet_are_too_many_for_it_and_go_another_way():
    n = 40
    rng = np.random.default_rng(1)
    clauses = tuple(
        {int(i): (YES if rng.random() < 0.5 else NO) for i in rng.choice(n, size=8, replace=False)} for _ in range(60)
    )
    decision = Clauses((2,) * n, clauses)
    with pytest.raises(TooLargeError, match="pass --solver auto"):
        SatisfiedClauses().solve(Formula(independent(n), decision), Effort())
    few = Clauses((2,) * 3, ({0: YES, 1: NO}, {2: YES}))
    solver = pick("auto", few)
    assert [engine.name for engine in solver._engines] == ["satisfied_clauses", "clauses"]
    assert solver.solve(Formula(independent(3), few), Effort()).engine == "satisfied_clauses"
    answer = pick("auto", decision).solve(Formula(independent(n), decision), Effort(time_limit=0.5))
    assert (answer.engine, answer.guarantee) == ("clauses", "bounds")


@pytest.mark.parametrize("accepts", [True, False])
def test_constants(accepts):
    people = independent(3)
    nothing = np.zeros(2, dtype=bool)
    assert rates(people, Clauses((2,) * 3, (), accepts)).tolist() == [float(accepts)] * 2
    assert rates(people, Clauses((2,) * 3, ({0: YES}, {}), accepts)).tolist() == [float(not accepts)] * 2
    assert rates(people, Clauses((2,) * 3, ({0: nothing},), accepts)).tolist() == [float(not accepts)] * 2
    assert rates(people, Clauses((2,) * 3, ({0: ~nothing},), accepts)).tolist() == [float(accepts)] * 2


def test_small_rates_keep_their_digits():
    # Both outcomes are sums: the complement of a rule that nearly always holds is no difference from 1.
    chance = 1e-9
    nodes = tuple(Node(i, (), np.array([[[1 - chance, chance]]]), np.arange(2), None) for i in range(2))
    domain = Domain((feature(0, 2), feature(1, 2)))
    people = NetworkPopulation("independent", domain, ("s",), (("a",),), np.ones(1, dtype=int), nodes)
    unlikely = Clauses((2, 2), ({0: NO, 1: NO},), False)
    assert rates(people, unlikely)[0] == pytest.approx(1e-18, rel=1e-9)


def test_a_time_limit_gives_bounds():
    people = independent(3)
    solution = SatisfiedClauses().solve(Formula(people, Clauses((2,) * 3, ({0: YES},))), Effort(time_limit=-1.0))
    assert (solution.lo.tolist(), solution.hi.tolist(), solution.guarantee) == ([0.0, 0.0], [1.0, 1.0], "bounds")
