"""Rates over all tables near given ones, against every vertex of the rows and against random populations."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import linprog

from justicia import shifting
from justicia.encoders.decisions import Tree
from justicia.population.shifts import shift_distance
from justicia.solvers.shifted import NearbyTables, moved_mean, moved_rows
from justicia.solvers.situations import shuffled, situations_of_points, situations_of_tree
from tests.solvers.test_confidence_box import random_case

RADII = (0.0, 0.05, 0.3, 1.0)


def nodes_of(seed):
    """A random small tree and population; some cells have no probability."""
    decision, confident, sizes = random_case(seed)
    rng = np.random.default_rng(seed)
    nodes = []
    for one in confident:
        table = one.node.table.copy()
        if rng.random() < 0.3:
            table[..., int(rng.integers(table.shape[-1]))] = 0.0
            table /= np.maximum(table.sum(axis=-1, keepdims=True), 1e-300)
        nodes.append(replace(one.node, table=table))
    return decision, nodes, sizes


def cells_of(node):
    """The rows over cells, of shape (n_parent_states, n_cells)."""
    rows = node.table[0][:, node.states]
    return rows if node.within is None else rows * node.within[0]


def support_of(node, nodes):
    """Cells of positive probability, by summing over all points of the parents."""
    by_feature = {held.feature: held for held in nodes}
    above = np.ones(1)
    if node.parents:
        parent = by_feature[node.parents[0]]
        inside = support_of(parent, nodes)
        above = np.array([inside[parent.states == u].any() for u in range(node.table.shape[1])])
    return (cells_of(node)[above > 0] > 0).any(axis=0)


def vertices_near(row, support, radius):
    """All vertices of the distributions on the support within a total variation distance, by linear programs' bases.

    Such a vertex moves the whole radius, or all there is: it empties cells fully but for one, and fills one.
    """
    cells = np.flatnonzero(support)
    found = {tuple(row)}
    for target in cells:
        others = [cell for cell in cells if cell != target and row[cell] > 0]
        for n in range(len(others) + 1):
            for emptied in combinations(others, n):
                left = radius - row[list(emptied)].sum()
                if left < -1e-15:
                    continue
                for partly in [None, *(cell for cell in others if cell not in emptied)]:
                    moved = row.copy()
                    moved[list(emptied)] = 0.0
                    if partly is not None:
                        moved[partly] -= min(left, row[partly])
                    moved[target] += row.sum() - moved.sum()
                    found.add(tuple(moved))
    return [np.array(vertex) for vertex in found]


def rate_of(decision, nodes, tables, sizes):
    """The rate by summing over all points."""
    points = np.array(list(product(*map(range, sizes))))
    states = {node.feature: node.states for node in nodes}
    total = np.ones(len(points))
    for node, table in zip(nodes, tables, strict=True):
        above = states[node.parents[0]][points[:, node.parents[0]]] if node.parents else np.zeros(len(points), int)
        total = total * table[above, points[:, node.feature]]
    return float(total[decision.evaluate(points)].sum())


def both_ways(decision, nodes, sizes):
    points = np.array(list(product(*map(range, sizes))))
    outcomes = decision.evaluate(points)
    return (
        situations_of_tree(decision, nodes, 1000),
        situations_of_points(outcomes, sizes, nodes),
        situations_of_tree(decision, nodes, 1000, seed=1),
        situations_of_points(outcomes, sizes, shuffled(nodes, 2)),
    )


def test_best_answer_of_a_row_is_that_of_a_linear_program():
    rng = np.random.default_rng(1)
    for radius in RADII:
        for _ in range(15):
            n = int(rng.integers(1, 6))
            row = rng.dirichlet(np.ones(n))
            support = (rng.random(n) < 0.7) | (np.arange(n) == 0)
            row = np.where(support, row, 0.0)
            row /= row.sum()
            values = np.round(rng.random(n), 1)
            # Variables: the distribution, and what each cell gains.
            held = linprog(
                np.append(-values, np.zeros(n)),
                A_ub=np.block([[np.eye(n), -np.eye(n)], [np.zeros((1, n)), np.ones((1, n))]]),
                b_ub=np.append(row, radius),
                A_eq=np.append(np.ones(n), np.zeros(n))[None],
                b_eq=[1.0],
                bounds=[(0, 1 if inside else 0) for inside in support] + [(0, None)] * n,
            )
            arguments = (values[None, :, None], row[None, :, None], support[:, None], radius)
            assert moved_mean(*arguments, True)[0, 0] == pytest.approx(-held.fun, abs=1e-9)
            assert moved_mean(-arguments[0], *arguments[1:], False)[0, 0] == pytest.approx(held.fun, abs=1e-9)
            moved = moved_rows(*arguments, True)[0, :, 0]
            assert moved @ values == pytest.approx(-held.fun, abs=1e-9)
            assert moved.sum() == pytest.approx(1.0)
            assert np.abs(moved - row).sum() / 2 <= radius + 1e-12
            assert not moved[~support].any()


@pytest.mark.parametrize("seed", range(40))
def test_ends_against_every_combination_of_vertices(seed):
    decision, nodes, sizes = nodes_of(seed)
    blocks = []
    for node in nodes:
        inside = support_of(node, nodes)
        blocks += [vertices_near(row, inside, 0.2) for row in cells_of(node)]
    if np.prod([float(len(block)) for block in blocks]) > 4000:
        pytest.skip("too many vertices")
    rates = []
    for chosen in product(*blocks):
        rows, tables = list(chosen), []
        for node in nodes:
            tables.append(np.array([rows.pop(0) for _ in range(node.table.shape[1])]))
        rates.append(rate_of(decision, nodes, tables, sizes))
    for situations in both_ways(decision, nodes, sizes):
        nearby = NearbyTables(situations, nodes, 0.2)
        (low, _), (high, _) = nearby.search(False), nearby.search(True)
        assert nearby.outer(False)[0] - 1e-11 <= min(rates) <= low[0] + 1e-11
        assert high[0] - 1e-11 <= max(rates) <= nearby.outer(True)[0] + 1e-11
        # Where one search reaches the bound, both are the extreme itself.
        if nearby.outer(True)[0] - high[0] < 1e-10:
            assert high[0] == pytest.approx(max(rates), abs=1e-10)


def random_nearby(rng, row, support, radius):
    """A random distribution on the support within the radius, often at its very edge."""
    cells = np.flatnonzero(support)
    other = np.zeros(len(row))
    other[cells] = rng.dirichlet(np.full(len(cells), 0.3))
    apart = np.abs(other - row).sum() / 2
    step = min(1.0, radius / apart) if apart > 0 else 0.0
    return row + (step if rng.random() < 0.7 else step * rng.random()) * (other - row)


@pytest.mark.parametrize("radius", RADII[1:])
def test_ranges_hold_the_rates_of_random_populations(radius):
    rng = np.random.default_rng(int(100 * radius))
    for seed in range(100, 120):
        decision, nodes, sizes = nodes_of(seed)
        given = rate_of(decision, nodes, [cells_of(node) for node in nodes], sizes)
        around = shift_distance(nodes, radius)[0]
        ways = [NearbyTables(one, nodes, radius) for one in both_ways(decision, nodes, sizes)]
        inside = [support_of(node, nodes) for node in nodes]
        for _ in range(50):
            tables = [
                np.array([random_nearby(rng, row, held, radius) for row in cells_of(node)])
                for node, held in zip(nodes, inside, strict=True)
            ]
            rate = rate_of(decision, nodes, tables, sizes)
            assert abs(rate - given) <= around + 1e-11
            for nearby in ways:
                assert nearby.outer(False)[0] - 1e-11 <= rate <= nearby.outer(True)[0] + 1e-11


@pytest.mark.parametrize("seed", range(10))
def test_radius_zero_is_the_population_itself_and_changes_add_up(seed):
    decision, nodes, sizes = nodes_of(seed)
    given = rate_of(decision, nodes, [cells_of(node) for node in nodes], sizes)
    for situations in both_ways(decision, nodes, sizes):
        nearby = NearbyTables(situations, nodes, 0.0)
        assert nearby.outer(False)[0] == pytest.approx(given, abs=1e-11)
        assert nearby.search(True)[0][0] == pytest.approx(given, abs=1e-11)
        rates, changes = NearbyTables(situations, nodes, 0.3).search(True)
        assert given + changes[:, 0].sum() == pytest.approx(rates[0], abs=1e-11)


def test_two_features_by_hand():
    """x = 1 and y = 1 is accepted, each with probability 1/2: .55 squared and .45 squared at radius .05."""
    from justicia.population import Node

    half = np.full((1, 1, 2), 0.5)
    nodes = [Node(feature, (), half, np.arange(2), None) for feature in (0, 1)]
    left = np.array([1, -1, 3, -1, -1])
    right = np.array([2, -1, 4, -1, -1])
    goes = np.array([True, False])
    tree = Tree(
        (2, 2), left, right, np.array([0, -1, 1, -1, -1]),
        (goes, np.zeros(0, bool), goes, np.zeros(0, bool), np.zeros(0, bool)),
        np.array([False, False, False, False, True]),
    )  # fmt: skip
    nearby = NearbyTables(situations_of_tree(tree, nodes, 10), nodes, 0.05)
    assert nearby.outer(True)[0] == pytest.approx(0.3025)
    assert nearby.outer(False)[0] == pytest.approx(0.2025)
    assert nearby.search(True)[1][:, 0] == pytest.approx([0.025, 0.0275])
    # 1 - .95^2 is less than .05 + .05.
    assert shift_distance(nodes, 0.05)[0] == pytest.approx(0.0975)


def test_many_situations_have_no_tables_range(monkeypatch):
    decision, nodes, _ = nodes_of(3)
    monkeypatch.setattr(shifting, "MOST_SITUATIONS", -1)
    assert shifting._situations(decision, tuple(nodes), largest=True)[0] is None
