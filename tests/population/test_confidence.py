"""Confidence bounds of tables: values by hand, and what follows from them for the whole population."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import beta

from justicia.population import Counts, Domain, Feature, fit
from justicia.population.confidence import confident_nodes, distance, marginals
from tests.population.test_population import domain, random_counts


def enumerated(nodes, sizes, group):
    """Probability of every point of the domain, in plain loops."""
    states = {node.feature: node.states for node in nodes}
    found = []
    for point in product(*[range(size) for size in sizes]):
        total = 1.0
        for node in nodes:
            above = states[node.parents[0]][point[node.parents[0]]] if node.parents else 0
            total *= node.table[group, above, node.states[point[node.feature]]]
            if node.within is not None:
                total *= node.within[group, point[node.feature]]
        found.append(total)
    return np.array(found)


def test_bounds_by_hand():
    """One group of 20 people, one feature: 5, 15 and 0 of them in its three cells."""
    counts = Counts((("a",),), (3,), np.zeros(20, int), np.repeat([0, 1], [5, 15])[:, None])
    population = fit("independent", counts, domain(3), ("s",))
    (one,) = confident_nodes(population, counts, 0.1)
    # Half of the error for three single probabilities, half for the distance.
    each = 0.05 / 3
    assert one.lower[0, 0] == pytest.approx([beta.ppf(each / 2, 5, 16), beta.ppf(each / 2, 15, 6), 0.0])
    assert one.upper[0, 0] == pytest.approx(
        [beta.isf(each / 2, 6, 15), beta.isf(each / 2, 16, 5), 1 - (each / 2) ** (1 / 20)]
    )
    weissman = math.sqrt((3 * math.log(2) + math.log(20)) / 40)
    mean = math.sqrt(2 / 20) / 2 + math.sqrt(math.log(20) / 40)
    assert one.radius[0, 0] == pytest.approx(min(weissman, mean))
    rise = (one.upper[0, 0] - [0.25, 0.75, 0.0]).sum()
    fall = ([0.25, 0.75, 0.0] - one.lower[0, 0]).sum()
    assert distance((one,)) == pytest.approx([min(weissman, mean, rise, fall)])


def test_learned_structures_pay_for_all_that_they_could_have_chosen():
    """Three features of 2, 3 and 2 cells in two groups: each table could have had three parents or none."""
    counts = random_counts(1, (2, 3, 2), groups=(("a",), ("b",)))
    population = fit("tree", counts, domain(2, 3, 2), ("s",))
    confident = confident_nodes(population, counts, 0.1)
    for one in confident:
        node = one.node
        sizes = (2, 3, 2)
        rows = sizes[node.parents[0]] if node.parents else 1
        each = 0.05 / (2 * 3 * 3 * rows * sizes[node.feature])
        states = [np.arange(size) for size in sizes]
        people = (
            counts.of_pair(node.parents[0], node.feature, states)
            if node.parents
            else counts.of_feature(node.feature)[:, None]
        )
        k, n = people[1, 0, 0], people[1, 0].sum()
        assert one.lower[1, 0, 0] == pytest.approx(beta.ppf(each / 2, k, n - k + 1) if k else 0.0)
        assert one.upper[1, 0, 0] == pytest.approx(beta.isf(each / 2, k + 1, n - k) if k < n else 1.0)


@pytest.mark.parametrize("structure", ["independent", "tree"])
@pytest.mark.parametrize("seed", range(40))
def test_distance_bounds_that_of_the_whole_from_those_of_the_tables(seed, structure):
    """Whatever tables lie within the bounds, the populations are no further apart."""
    rng = np.random.default_rng(seed)
    sizes = (3, 4, 30, 2) if seed % 2 else (3, 4, 2)
    counts = random_counts(seed, sizes, n=int(rng.integers(20, 400)), groups=(("a", "x"), ("b", "x")))
    population = fit(structure, counts, domain(*sizes), ("s", "t"))
    others = fit(structure, random_counts(seed + 1, sizes, groups=counts.group_keys), domain(*sizes), ("s", "t"))
    held = {node.feature: node for node in others.nodes}
    confident = []
    for one in confident_nodes(population, counts, 0.05):
        node = one.node
        # Other tables of the same shape, and bounds that just hold them.
        table = rng.dirichlet(np.ones(node.table.shape[-1]), size=node.table.shape[:2])
        within = None if node.within is None else (node.within + held[node.feature].within[:, : len(node.states)])
        if within is not None:
            inside = (node.states[:, None] == np.arange(node.table.shape[-1])).astype(float)
            within = within / (within @ inside)[:, node.states]
        exact = type(one)(
            node, table, table, np.abs(table - node.table).sum(-1) / 2, within, within,
            None if within is None else np.abs(within - node.within) @ inside / 2,
        )  # fmt: skip
        confident.append((exact, type(node)(node.feature, node.parents, table, node.states, within)))
    bound = distance(tuple(one for one, _ in confident))
    for group in range(2):
        mine = enumerated(population.nodes, sizes, group)
        theirs = enumerated([node for _, node in confident], sizes, group)
        assert np.abs(mine - theirs).sum() / 2 <= bound[group] + 1e-12


def test_cut_states_pay_for_every_cut():
    """30 cells of a number in 24 states, beside a feature of 2 cells: each may have the other as its parent, or none"""
    rng = np.random.default_rng(0)
    sizes = (2, 30)
    counts = Counts(
        (("a",),), sizes, np.zeros(3000, int), np.column_stack([rng.integers(0, size, 3000) for size in sizes])
    )
    numeric = Feature("f1", tuple(map(str, range(30))), tuple(range(30)), edges=np.arange(29.0))
    for feature, n_sets, n_cuts in (
        (numeric, 30 * 31 / 2 + 1, 30 * math.comb(29, 23)),
        (domain(2, 30).features[1], 2**30, 30 * math.comb(31, 24)),
    ):
        population = fit("tree", counts, Domain((domain(2).features[0], feature)), ("s",))
        one = next(one for one in confident_nodes(population, counts, 0.1) if one.node.feature == 1)
        node = one.node
        assert node.table.shape[-1] == 24
        # One group, two features, two parents, tables and cells within states, the sets that a parent may be.
        share = 0.05 / (2 * 2 * 2 * (2 if node.parents else 1))
        people = counts.of_feature(1, node.states)[:, None] if not node.parents else counts.of_pair(
            0, 1, [np.arange(2), node.states]
        )  # fmt: skip
        k, n = people[0, 0, 3], people[0, 0].sum()
        assert one.lower[0, 0, 3] == pytest.approx(beta.ppf(share / n_sets / 2, k, n - k + 1))
        mean = math.sqrt(23 / n) / 2 + math.sqrt(math.log(n_cuts / share) / (2 * n))
        weissman = math.sqrt((24 * math.log(2) + math.log(n_cuts / share)) / (2 * n))
        apart = np.abs(node.table[0, 0] - people[0, 0] / n).sum() / 2
        assert one.radius[0, 0] == pytest.approx(min(1.0, apart + min(mean, weissman)))
        # A state of two cells: each is one of the 30 cells in one of the sets.
        state = int(np.argmax(np.bincount(node.states)))
        cell = int(np.flatnonzero(node.states == state)[0])
        k, n = int(counts.of_feature(1)[0, cell]), int(counts.of_feature(1, node.states)[0, state])
        assert one.within_lower[0, cell] == pytest.approx(beta.ppf(0.05 / 4 / n_sets / 30 / 2, k, n - k + 1))


def test_marginals_are_those_of_the_points():
    sizes = (3, 4, 5)
    counts = random_counts(3, sizes)
    population = fit("tree", counts, domain(*sizes), ("s", "t"))
    found = marginals(population.nodes)
    for group in range(3):
        joint = enumerated(population.nodes, sizes, group).reshape(sizes)
        for feature in range(3):
            axes = tuple(i for i in range(3) if i != feature)
            np.testing.assert_allclose(found[feature][group], joint.sum(axis=axes), atol=1e-12)


def test_what_the_group_determines_has_no_error():
    points = np.column_stack([np.repeat([0, 1], 10), np.tile([0, 1], 10)])
    counts = Counts((("a",), ("b",)), (2, 2), np.repeat([0, 1], 10), points)
    population = fit("independent", counts, domain(2, 2), ("f0",))
    sure, unsure = (confident_nodes(population, counts, 0.05, names) for names in (frozenset({"f0"}), frozenset()))
    assert sure[0].lower[:, 0].tolist() == sure[0].upper[:, 0].tolist() == [[1, 0], [0, 1]]
    assert sure[0].radius.tolist() == [[0], [0]]
    assert unsure[0].upper[0, 0, 1] > 0.2
    np.testing.assert_array_equal(sure[1].lower, unsure[1].lower)


def test_bounds_hold_the_tables_that_rows_were_drawn_from():
    """Cells in states, a learned tree, two groups: in 300 draws all bounds of the projection hold together."""
    rng = np.random.default_rng(0)
    sizes, missed = (2, 30), 0
    first = np.array([0.3, 0.7])
    given = rng.dirichlet(np.full(30, 0.3), size=2)
    for _ in range(300):
        x = (rng.random(200) < first[1]).astype(int)
        cumulative = given.cumsum(axis=1)
        y = np.minimum((rng.random(200)[:, None] > cumulative[x]).sum(axis=1), 29)
        counts = Counts((("a",), ("b",)), sizes, np.repeat([0, 1], 100), np.column_stack([x, y]))
        population = fit("tree", counts, domain(*sizes), ("s",))
        joint = first[:, None] * given
        for one in confident_nodes(population, counts, 0.3):
            node, own = one.node, joint if one.node.feature else joint.T
            rows = own if node.parents else own.sum(axis=0, keepdims=True)
            cut = np.stack([rows[:, node.states == s].sum(axis=1) for s in range(node.table.shape[-1])], axis=1)
            if node.parents and node.parents[0] == 1:
                above = next(other.states for other in population.nodes if other.feature == 1)
                cut = np.stack([cut[above == s].sum(axis=0) for s in range(int(above.max()) + 1)])
            table = cut / np.maximum(cut.sum(axis=1, keepdims=True), 1e-300)
            held = (one.lower <= table + 1e-12).all() and (table <= one.upper + 1e-12).all()
            far = (np.abs(table - node.table).sum(axis=-1) / 2 > one.radius + 1e-12).any()
            missed += (not held) or bool(far)
    assert missed <= 0.3 * 300 + 3 * math.sqrt(300 * 0.3 * 0.7)
