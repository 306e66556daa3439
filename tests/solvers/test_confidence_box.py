"""Bounds over all tables in a box against the rates at every combination of the tables' vertices."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from justicia.encoders.decisions import Tree
from justicia.population import Node
from justicia.population.confidence import ConfidentNode
from justicia.solvers import confidence_box
from justicia.solvers.confidence_box import best_mean, extreme_rates


def random_tree(rng, sizes, depth):
    left, right, feature, goes, accepts = [], [], [], [], []

    def grow(level):
        node = len(left)
        for held, value in ((left, -1), (right, -1), (feature, -1), (goes, np.zeros(0, bool)), (accepts, False)):
            held.append(value)
        if level == depth or rng.random() < 0.1:
            accepts[node] = bool(rng.random() < 0.5)
            return node
        feature[node] = int(rng.integers(len(sizes)))
        goes[node] = rng.random(sizes[feature[node]]) < 0.5
        left[node], right[node] = grow(level + 1), grow(level + 1)
        return node

    grow(0)
    return Tree(sizes, np.array(left), np.array(right), np.array(feature), tuple(goes), np.array(accepts))


def vertices(lower, upper):
    """Every vertex of the distributions between two bounds: all entries but one at an end."""
    found = set()
    for free in range(len(lower)):
        others = [i for i in range(len(lower)) if i != free]
        for ends in product(*[(lower[i], upper[i]) for i in others]):
            rest = 1.0 - sum(ends)
            if lower[free] - 1e-9 <= rest <= upper[free] + 1e-9:
                vertex = [0.0] * len(lower)
                vertex[free] = rest
                for i, value in zip(others, ends, strict=True):
                    vertex[i] = value
                found.add(tuple(np.round(vertex, 12)))
    return [np.array(vertex) for vertex in sorted(found)]


def around(rng, n):
    """Bounds around a random distribution, some of them 0, 1 or equal."""
    middle = rng.dirichlet(np.full(n, 0.8))
    lower = np.maximum(middle - rng.random(n) * 0.3 * (rng.random(n) < 0.8), 0.0)
    upper = np.minimum(middle + rng.random(n) * 0.3 * (rng.random(n) < 0.8), 1.0)
    return middle, lower, upper


def random_case(seed):
    """Two or three features in two or three states of one to three cells, in a random forest, for one group."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    n_states = rng.integers(2, 4 if n == 2 else 3, size=n)
    # More than one cell in a state makes a block of its own: only in one feature.
    coarse = int(rng.integers(n)) if rng.random() < 0.5 else -1
    states = [np.arange(k) for k in n_states]
    if coarse >= 0:
        states[coarse] = np.append(states[coarse], rng.integers(n_states[coarse]))
    order = rng.permutation(n)
    nodes = []
    for position, feature in enumerate(order):
        parent = int(order[rng.integers(position)]) if position and rng.random() < 0.8 else None
        rows = 1 if parent is None else int(n_states[parent])
        bounds = [around(rng, int(n_states[feature])) for _ in range(rows)]
        table, lower, upper = (np.array([one[i] for one in bounds])[None] for i in range(3))
        within = low = high = None
        if feature == coarse:
            cells = states[feature]
            within, low, high = (np.ones((1, len(cells))) for _ in range(3))
            for state in range(int(n_states[feature])):
                held = np.flatnonzero(cells == state)
                if len(held) > 1:
                    within[0, held], low[0, held], high[0, held] = around(rng, len(held))
        node = Node(int(feature), () if parent is None else (parent,), table, states[feature], within)
        nodes.append(ConfidentNode(node, lower, upper, np.ones((1, rows)), low, high))
    sizes = tuple(len(held) for held in states)
    return random_tree(rng, sizes, 3), nodes, sizes


def corner_rates(decision, confident, sizes):
    """Least and largest rate over every combination of vertices of all rows of all tables."""
    points = np.array(list(product(*[range(size) for size in sizes])))
    accepted = points[decision.evaluate(points)]
    states = {one.node.feature: one.node.states for one in confident}
    blocks = []
    for one in confident:
        node = one.node
        own = node.states[accepted[:, node.feature]]
        above = states[node.parents[0]][accepted[:, node.parents[0]]] if node.parents else np.zeros(len(own), int)
        for row in range(one.lower.shape[1]):
            corners = vertices(one.lower[0, row], one.upper[0, row])
            blocks.append([np.where(above == row, corner[own], 1.0) for corner in corners])
        if node.within is not None:
            cells = accepted[:, node.feature]
            for state in range(node.table.shape[-1]):
                held = np.flatnonzero(node.states == state)
                if len(held) > 1:
                    corners = vertices(one.within_lower[0, held], one.within_upper[0, held])
                    place = np.searchsorted(held, cells).clip(0, len(held) - 1)
                    blocks.append([np.where(own == state, corner[place], 1.0) for corner in corners])
    factors = np.ones((1, len(accepted)))
    for block in blocks:
        factors = (factors[:, None] * np.array(block)[None]).reshape(len(factors) * len(block), len(accepted))
    rates = factors.sum(axis=1)
    return float(rates.min()), float(rates.max())


WAYS = {"situations": {}, "points": {"MOST_SITUATIONS": -1}, "leaves": {"MOST_SITUATIONS": -1, "MOST_POINTS": 0}}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(300))
def test_bounds_hold_the_rates_at_all_vertices(seed, way, monkeypatch):
    for name, value in WAYS[way].items():
        monkeypatch.setattr(confidence_box, name, value)
    decision, confident, sizes = random_case(seed)
    least, most = corner_rates(decision, confident, sizes)
    lo, hi = extreme_rates(decision, confident)
    assert lo[0] <= least + 1e-11
    assert hi[0] >= most - 1e-11
    if sum(one.lower.shape[1] for one in confident) == 1:
        assert lo[0] == pytest.approx(least, abs=1e-11)
        assert hi[0] == pytest.approx(most, abs=1e-11)


def test_bounds_are_mostly_the_extremes_themselves():
    """Tables that differ between situations make the enclosure wider than the extremes, but seldom by much."""
    excess, width = [], []
    for seed in range(100):
        decision, confident, sizes = random_case(seed)
        least, most = corner_rates(decision, confident, sizes)
        lo, hi = extreme_rates(decision, confident)
        excess.append((hi[0] - lo[0]) - (most - least))
        width.append(most - least)
    assert np.mean(np.array(excess) < 1e-9) > 0.6
    assert np.mean(excess) < 0.1 * np.mean(width)


def test_bounds_are_narrower_than_those_of_leaves_added_up(monkeypatch):
    """A chain of two fair coins within .4 to .6, accepted when they differ: worked out by hand.

    The first coin does not matter, the second may be .6 for the accepted side whatever the first says: .4 to .6. Added
    up, the two accepted leaves may have .6 * .6 each, .72 together, and the other two no less than .16 each.
    """
    half = np.full((1, 1, 2), 0.5)
    low, high = half - 0.1, half + 0.1
    root = ConfidentNode(Node(0, (), half, np.arange(2), None), low, high, np.ones((1, 1)))
    two = [np.repeat(held, 2, axis=1) for held in (half, low, high)]
    child = ConfidentNode(Node(1, (0,), two[0], np.arange(2), None), two[1], two[2], np.ones((1, 2)))
    left = np.array([1, 2, -1, -1, 5, -1, -1])
    right = np.array([4, 3, -1, -1, 6, -1, -1])
    first = np.array([True, False])
    nothing = np.zeros(0, bool)
    decision = Tree(
        (2, 2), left, right, np.array([0, 1, -1, -1, 1, -1, -1]),
        (first, first, nothing, nothing, first, nothing, nothing),
        np.array([False, False, False, True, False, True, False]),
    )  # fmt: skip
    lo, hi = extreme_rates(decision, [root, child])
    assert lo[0] == pytest.approx(0.4, abs=1e-11)
    assert hi[0] == pytest.approx(0.6, abs=1e-11)
    monkeypatch.setattr(confidence_box, "MOST_SITUATIONS", -1)
    monkeypatch.setattr(confidence_box, "MOST_POINTS", 0)
    # Each leaf has .16 to .36.
    lo, hi = extreme_rates(decision, [root, child])
    assert lo[0] == pytest.approx(0.32, abs=1e-11)
    assert hi[0] == pytest.approx(0.68, abs=1e-11)


@pytest.mark.parametrize("seed", range(50))
def test_best_mean_is_the_best_vertex(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    _, lower, upper = around(rng, n) if n > 1 else (None, np.ones(1), np.ones(1))
    values = rng.random(n).round(1)
    means = [float(vertex @ values) for vertex in vertices(lower, upper)]
    shaped = values[None, :, None], lower[None, :, None], upper[None, :, None]
    assert best_mean(*shaped, largest=True)[0, 0] == pytest.approx(max(means), abs=1e-9)
    assert best_mean(*shaped, largest=False)[0, 0] == pytest.approx(min(means), abs=1e-9)


def test_points_that_rounding_may_flip_have_either_outcome():
    decision, confident, sizes = random_case(1)
    everything = extreme_rates(decision, confident)

    class Undecided:
        def __init__(self, points_flip):
            self.sizes, self.evaluate = sizes, decision.evaluate
            self.undecided = lambda points: np.full(len(points), points_flip)

    lo, hi = extreme_rates(Undecided(False), confident)
    assert lo <= everything[0] + 0.05
    assert hi >= everything[1] - 0.05
    lo, hi = extreme_rates(Undecided(True), confident)
    assert (lo[0], hi[0]) == (0.0, 1.0)


def test_too_many_situations_and_constant_decisions(monkeypatch):
    decision, confident, sizes = next(
        case for case in map(random_case, range(100)) if len(case[2]) == 3 and 1e-9 < extreme_rates(*case[:2])[1][0] < 1
    )
    monkeypatch.setattr(confidence_box, "MOST_SITUATIONS", 0)
    by_points = extreme_rates(decision, confident)
    monkeypatch.setattr(confidence_box, "MOST_POINTS", int(np.prod(sizes)) - 1)
    by_leaves = extreme_rates(decision, confident)
    assert by_leaves[0] <= by_points[0] + 1e-9
    assert by_leaves[1] >= by_points[1] - 1e-9
    other = SimpleNamespace(sizes=sizes, evaluate=decision.evaluate, undecided=decision.undecided)
    assert extreme_rates(other, confident) is None
    one = np.array([-1])
    for outcome in (False, True):
        same = Tree(sizes, one, one, one, (np.zeros(0, bool),), np.array([outcome]))
        lo, hi = extreme_rates(same, confident)
        assert lo[0] == pytest.approx(float(outcome), abs=1e-11)
        assert hi[0] == pytest.approx(float(outcome), abs=1e-11)
