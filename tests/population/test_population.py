from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import justicia
from justicia.errors import InputError
from justicia.population import Counts, Domain, Feature, fit
from justicia.population.tree import coarse_states, spanning_forest
from tests.conftest import adult_pipeline


def domain(*sizes):
    return Domain(
        tuple(
            Feature(f"f{i}", tuple(map(str, range(n))), tuple(range(n)), cells={v: v for v in range(n)})
            for i, n in enumerate(sizes)
        )
    )


def random_counts(seed, sizes, n=300, groups=(("a", "x"), ("a", "y"), ("b", "x"))):
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.integers(0, size, n) for size in sizes])
    points[:, 1] = np.minimum(points[:, 0] + rng.integers(0, 2, n), sizes[1] - 1)
    return Counts(groups, tuple(sizes), rng.integers(0, len(groups), n), points)


@pytest.mark.parametrize("structure", ["auto", "independent", "tree", "empirical"])
def test_counts_of_parts_add_up_to_the_counts_of_the_table(structure):
    sizes = (4, 5, 40, 3)
    whole = random_counts(0, sizes)
    cut = [slice(0, 50), slice(50, 51), slice(51, 300)]
    parts = [Counts(whole.group_keys, sizes, whole.groups[s], whole.points[s]) for s in cut]
    merged = parts[0] + parts[1] + parts[2]
    boxes = [np.random.default_rng(1).random((20, size)) < 0.6 for size in sizes]
    masses = [fit(structure, counts, domain(*sizes), ("s", "t")).masses(boxes, 20) for counts in (whole, merged)]
    np.testing.assert_allclose(masses[0], masses[1], atol=1e-14)


def test_counts_of_different_groups_merge():
    one = Counts((("a",),), (2,), np.array([0, 0]), np.array([[0], [1]]))
    other = Counts((("b",), ("a",)), (2,), np.array([0, 1]), np.array([[1], [1]]))
    merged = one + other
    assert merged.group_keys == (("a",), ("b",))
    assert merged.of_feature(0).tolist() == [[1, 2], [0, 1]]
    with pytest.raises(ValueError, match="different domains"):
        one + Counts((("a",),), (3,), np.array([0]), np.array([[2]]))


@given(st.integers(0, 10_000))
def test_masses_are_a_distribution_in_every_structure(seed):
    rng = np.random.default_rng(seed)
    sizes = tuple(int(n) for n in rng.integers(2, 40, size=rng.integers(2, 5)))
    counts = random_counts(seed, sizes, n=int(rng.integers(3, 200)))
    counts = Counts(
        tuple(counts.group_keys[g] for g in np.unique(counts.groups)),
        sizes,
        np.unique(counts.groups, return_inverse=True)[1],
        counts.points,
    )
    for structure in ("auto", "independent", "tree", "empirical"):
        population = fit(structure, counts, domain(*sizes), ("s", "t"))
        everything = population.masses([None] * len(sizes), 1)
        np.testing.assert_allclose(everything, 1.0, atol=1e-12)
        cut = [rng.random((1, size)) < 0.5 for size in sizes]
        first = [cut[0], *[None] * (len(sizes) - 1)]
        rest = [~cut[0], *[None] * (len(sizes) - 1)]
        total = population.masses(first, 1) + population.masses(rest, 1)
        np.testing.assert_allclose(total, 1.0, atol=1e-12)
        assert (population.masses(cut, 1) <= population.masses(first, 1) + 1e-12).all()


@pytest.mark.parametrize("structure", ["auto", "tree"])
def test_cells_without_rows_keep_probability_zero(structure):
    counts = random_counts(3, (4, 5, 40))
    points = counts.points.copy()
    points[points[:, 2] == 7, 2] = 8
    population = fit(
        structure, Counts(counts.group_keys, counts.sizes, counts.groups, points), domain(4, 5, 40), ("s", "t")
    )
    only = [None, None, (np.arange(40) == 7)[None]]
    assert population.masses(only, 1).max() == 0.0


def test_sensitive_features_are_never_shrunk():
    frame = pd.DataFrame({"sex": list("fm") * 50, "x": ([0] * 2 + [1] * 2 + [2] * 2 + [3] * 2) * 12 + [0] * 4})
    label = (frame["sex"] == "m") & (frame["x"] > 1)
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    columns = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    model = make_pipeline(columns, DecisionTreeClassifier()).fit(frame, label)
    audit = justicia.verify(model, frame, sensitive_features="sex", population="tree")
    rate = {tuple(g.group.values()): g.selection_rate for g in audit.groupings[0].groups}
    assert rate["f",].lo == rate["f",].hi == 0.0


def test_tree_finds_the_dependent_pair():
    population = fit("tree", random_counts(0, (6, 7, 3)), domain(6, 7, 3), ("s", "t"))
    linked = {frozenset((child, *parents)) for child, parents in population.parents.items()}
    assert frozenset(("f0", "f1")) in linked


def test_unknown_structure_and_group():
    counts = random_counts(0, (2, 2))
    with pytest.raises(InputError, match="did you mean tree"):
        fit("tee", counts, domain(2, 2), ("s", "t"))
    population = fit("tree", counts, domain(2, 2), ("s", "t"))
    with pytest.raises(InputError, match="no group a, z"):
        population.index({"s": "a", "t": "z"})
    with pytest.raises(InputError, match="a group names s, t"):
        population.index({"s": "a"})
    assert population.index(("b", "x")) == 2
    with pytest.raises(InputError, match="without a table"):
        population.sample(("b", "x"), 3)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=200), st.booleans(), st.booleans())
def test_coarse_states_cover_all_cells(totals, numeric, missing):
    apart = len(totals) - 1 if numeric and missing and len(totals) > 1 else None
    states = coarse_states(np.array(totals), numeric, 8, apart)
    assert len(states) == len(totals)
    assert set(states.tolist()) == set(range(states.max() + 1))
    assert states.max() < 8 or len(totals) <= 8
    if numeric:
        runs = states if apart is None else states[:-1]
        assert (np.diff(runs) >= 0).all()


def test_spanning_forest_is_the_heaviest():
    weights = np.zeros((4, 4))
    for i, j, w in ((0, 1, 3.0), (1, 2, 2.0), (0, 2, 1.0)):
        weights[i, j] = weights[j, i] = w
    order, parent = spanning_forest(weights)
    edges = {frozenset((i, int(parent[i]))) for i in range(4) if parent[i] >= 0}
    assert edges == {frozenset((0, 1)), frozenset((1, 2))}
    assert parent[3] == -1
    position = {vertex: place for place, vertex in enumerate(order)}
    assert all(position[int(parent[i])] < position[i] for i in range(4) if parent[i] >= 0)


@pytest.mark.parametrize("structure", ["auto", "tree"])
@pytest.mark.parametrize("depth", [4, 6, 8])
def test_structures_are_close_to_the_rows_on_adult(adult, depth, structure):
    model = adult_pipeline(adult, max_depth=depth)
    audit = justicia.verify(model, adult, sensitive_features=["race", "sex"], population=structure)
    table = audit.by_group
    assert len(table) == 10
    large = table[table["n"] >= 500]
    assert (large["selection_rate"] - large["sample_rate"]).abs().max() < 0.03
    assert audit.groupings[0].solution.guarantee == "exact"


@pytest.mark.parametrize("structure", ["auto", "independent", "tree", "empirical"])
def test_regrouped_counts_are_those_of_the_rows(structure):
    sizes = (4, 5, 40, 3)
    base = random_counts(2, sizes, n=500)
    target = np.array([1, -1, 0])
    groups = (("q",), ("p",))
    kept = base.groups != 1
    direct = Counts(groups, sizes, target[base.groups[kept]], base.points[kept])
    summed = base.regrouped(groups, target)
    assert summed.rows().tolist() == direct.rows().tolist()
    assert (summed.of_feature(2) == direct.of_feature(2)).all()
    states = [np.arange(size) // 2 for size in sizes]
    assert (summed.of_pair(0, 2, states) == direct.of_pair(0, 2, states)).all()
    boxes = [np.random.default_rng(1).random((20, size)) < 0.6 for size in sizes]
    one, other = (fit(structure, counts, domain(*sizes), ("s",)).masses(boxes, 20) for counts in (summed, direct))
    if structure in ("auto", "tree"):
        # Coarse states follow all counted people, so tables may differ a little.
        np.testing.assert_allclose(one, other, atol=0.2)
    else:
        np.testing.assert_allclose(one, other, atol=1e-14)
