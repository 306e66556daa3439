"""The default population: what it chooses, and what it is."""

from __future__ import annotations

import logging
import time

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia import encoders, models, tables
from justicia.encoders.decisions import Tree
from justicia.population import Counts, MixturePopulation, auto, fit
from justicia.population.latent import find_classes
from justicia.population.shrinkage import STEADY, frequencies, shrunk, shrunk_within
from justicia.report.json import schema
from justicia.solvers import ENGINES, Effort
from justicia.ssat import Formula
from tests.conftest import adult_pipeline
from tests.population.test_population import domain, random_counts


def compact(counts):
    """The same counts with the groups that have people."""
    held = np.unique(counts.groups)
    keys = tuple(counts.group_keys[g] for g in held)
    return Counts(keys, counts.sizes, np.searchsorted(held, counts.groups), counts.points, counts.weights)


def two_classes(n, seed=0):
    """Four features that depend on nothing but a class, which nobody sees."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(n) < 0.4
    points = np.where(rng.random((n, 4)) < np.where(hidden, 0.9, 0.15)[:, None], 1, 0)
    return Counts((("a",), ("b",)), (2,) * 4, rng.integers(0, 2, n), points)


def test_rows_a_group_decide():
    for n, classes in ((100, 1), (900, 1), (1_100, 2)):
        population = fit("auto", two_classes(n), domain(2, 2, 2, 2), ("s",))
        assert population.n_classes == classes
        assert ("latent classes" in population.description) == (classes > 1)


def test_latent_classes_are_found():
    counts = two_classes(4_000)
    population = fit("auto", counts, domain(2, 2, 2, 2), ("s",))
    assert population.n_classes == 2
    every = population.network.masses([np.array([[False, True]])] * 4, 1).reshape(2, 2)
    share = population.weights / population.weights.sum(axis=1, keepdims=True)
    assert (every * share).sum(axis=1) == pytest.approx([0.4 * 0.9**4 + 0.6 * 0.15**4] * 2, abs=0.02)
    assert sorted(share[0]) == pytest.approx([0.4, 0.6], abs=0.1)


def test_weights_of_rows_by_hand():
    population = fit("auto", random_counts(0, (3, 4)), domain(3, 4), ("s", "t"))
    n = population.sizes
    np.testing.assert_allclose(population.row_weights, n / (n + auto.CONCENTRATION))
    np.testing.assert_allclose(population.weights.sum(axis=1) + population.row_weights, 1.0, atol=1e-15)


def test_shrinkage_by_hand():
    # One sensitive column, so that each group is a value: one sweep, its factors, and PRIOR people of that.
    counts = np.array([[[3, 1]], [[2, 6]]])
    pooled = np.array([5, 7]) + np.array([5, 7]) / 12
    pooled = pooled / pooled.sum()
    factor = (np.array([3, 1]) + STEADY) / (4 * pooled + STEADY)
    prior = pooled * factor / (pooled * factor).sum()
    expected = (np.array([3, 1]) + 50 * prior) / 54
    np.testing.assert_allclose(shrunk(counts, [np.array([0, 1])], sweeps=1)[0, 0], expected)


@given(st.integers(0, 10_000))
def test_shrunk_tables_are_distributions_and_keep_zeros(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 6, size=3))
    counts = rng.integers(0, 4, size=shape) * (rng.random(shape) < 0.6)
    counts[:, :, 0] = 0 if shape[2] > 1 and counts[:, :, 1:].any() else counts[:, :, 0]
    margins = [rng.integers(0, 3, size=shape[0]), np.arange(shape[0])]
    margins = [np.unique(codes, return_inverse=True)[1] for codes in margins]
    table = shrunk(counts, margins)
    np.testing.assert_allclose(table.sum(axis=-1), 1.0, atol=1e-12)
    if counts.any() and shape[2] > 1:
        assert (table[..., counts.sum(axis=(0, 1)) == 0] == 0).all()
    states = np.sort(rng.integers(0, 3, size=shape[2]))
    states = np.unique(states, return_inverse=True)[1]
    within = shrunk_within(counts[:, 0], states, margins)
    for state in range(states.max() + 1):
        np.testing.assert_allclose(within[:, states == state].sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(frequencies(counts).sum(axis=-1), 1.0, atol=1e-12)


@given(st.integers(0, 10_000), st.booleans())
def test_masses_are_a_distribution(seed, latent):
    rng = np.random.default_rng(seed)
    sizes = tuple(int(n) for n in rng.integers(1, 30, size=rng.integers(2, 5)))
    counts = compact(random_counts(seed, sizes, n=int(rng.integers(1, 200))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auto, "LARGE_GROUP", 0 if latent else 10**9)
        population = fit("auto", counts, domain(*sizes), ("s", "t"))
    assert population.n_classes == (2 if latent else 1)
    np.testing.assert_allclose(population.masses([None] * len(sizes), 1), 1.0, atol=1e-12)
    box = [rng.random((1, size)) < 0.5 for size in sizes]
    total = 0
    for feature in range(len(sizes)):
        part = [*box[:feature], ~box[feature], *[None] * (len(sizes) - feature - 1)]
        total = total + population.masses(part, 1)
    np.testing.assert_allclose(total + population.masses(box, 1), 1.0, atol=1e-12)


@pytest.mark.parametrize("latent", [0, 10**9])
def test_the_order_of_rows_and_of_parts_does_not_matter(latent, monkeypatch):
    monkeypatch.setattr(auto, "LARGE_GROUP", latent)
    sizes = (4, 5, 40, 3)
    whole = random_counts(0, sizes)
    order = np.random.default_rng(1).permutation(300)
    shuffled = Counts(whole.group_keys, sizes, whole.groups[order], whole.points[order])
    parts = [Counts(whole.group_keys, sizes, whole.groups[s], whole.points[s]) for s in (slice(0, 90), slice(90, 300))]
    fits = [fit("auto", one, domain(*sizes), ("s", "t")) for one in (whole, shuffled, parts[0] + parts[1], whole)]
    for other in fits[1:]:
        assert (other.weights == fits[0].weights).all()
        for node, same in zip(other.network.nodes, fits[0].network.nodes, strict=True):
            assert node.parents == same.parents
            assert (node.table == same.table).all()
            assert node.within is None or (node.within == same.within).all()


def test_sample_agrees_with_mass(monkeypatch):
    monkeypatch.setattr(auto, "LARGE_GROUP", 0)
    population = fit("auto", random_counts(5, (3, 3, 9)), domain(3, 3, 9), ("s", "t"))
    drawn = population.sample_points(1, 40_000, np.random.default_rng(0))
    for feature, size in enumerate((3, 3, 9)):
        for cell in range(size):
            box = [None, None, None]
            box[feature] = np.arange(size) == cell
            mass = population.mass(box)[0][1]
            assert (drawn[:, feature] == cell).mean() == pytest.approx(mass, abs=5 * (mass / 40_000) ** 0.5 + 1e-9)


@pytest.mark.parametrize("latent", [0, 10**9])
def test_tiny_and_degenerate_tables(latent, monkeypatch):
    monkeypatch.setattr(auto, "LARGE_GROUP", latent)
    one_row = Counts((("a",),), (3, 2), np.array([0]), np.array([[1, 0]]))
    population = fit("auto", one_row, domain(3, 2), ("s",))
    assert population.masses([np.array([[False, True, False]]), None], 1) == pytest.approx(1.0)
    constant = Counts((("a",), ("b",)), (1, 1), np.array([0, 1, 1]), np.zeros((3, 2), int))
    assert fit("auto", constant, domain(1, 1), ("s",)).masses([None, None], 1) == pytest.approx(1.0)
    nothing = Counts((("a",), ("b",)), (), np.array([0, 1, 1]), np.zeros((3, 0), int))
    population = fit("auto", nothing, domain(), ("s",))
    assert population.masses([], 1) == pytest.approx(1.0)
    assert population.sample_points(0, 5, np.random.default_rng(0)).shape == (5, 0)


def test_thousands_of_groups():
    rng = np.random.default_rng(0)
    n = 20_000
    groups = np.arange(n) % 5_000
    keys = tuple((f"{g // 50}", f"{g % 50}") for g in range(5_000))
    counts = Counts(keys, (8, 5, 12), groups, rng.integers(0, [8, 5, 12], size=(n, 3)))
    start = time.perf_counter()
    population = fit("auto", counts, domain(8, 5, 12), ("s", "t"))
    assert time.perf_counter() - start < 10
    np.testing.assert_allclose(population.masses([None] * 3, 1), 1.0, atol=1e-12)


def test_sensitive_features_are_never_shrunk_in_any_class(monkeypatch):
    monkeypatch.setattr(auto, "LARGE_GROUP", 0)
    counts = random_counts(2, (3, 4, 3))
    points = counts.points.copy()
    points[:, 2] = counts.groups
    counts = Counts(counts.group_keys, counts.sizes, counts.groups, points)
    population = fit("auto", counts, domain(3, 4, 3), ("s", "t"), frozenset(["f2"]))
    for group in range(3):
        box = [None, None, (np.arange(3) == group)[None]]
        assert population.masses(box, 1)[0, group] == 1.0
    assert "f2" not in population.parents


def test_chance_shows_hardly_any_edge():
    rng = np.random.default_rng(0)
    sizes = (3,) * 60
    counts = Counts((("a",), ("b",)), sizes, rng.integers(0, 2, 400), rng.integers(0, 3, (400, 60)))
    assert len(fit("auto", counts, domain(*sizes), ("s",)).parents) <= 4


def test_classes_split_the_counts():
    counts = random_counts(1, (3, 4, 3))
    states = [np.arange(size) for size in counts.sizes]
    classes = find_classes(counts, states, np.array([-1, 0, 1]), [0, 1, 2], [np.arange(3)])
    np.testing.assert_allclose(classes.people.sum(axis=1), counts.rows())
    np.testing.assert_allclose(classes.tables[1].sum(axis=1), counts.of_pair(0, 1, states), atol=1e-9)


def audit_of(frame, **options):
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame[["x", "z"]], frame["y"])
    return justicia.verify(model, frame, sensitive_features="g", label="y", favorable=1, **options)


def some_people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    g = rng.integers(0, 3, n)
    x = rng.normal(size=n).round(1) + g
    z = (x + rng.normal(size=n)).round(1)
    return pd.DataFrame({"g": np.array(list("abc"))[g], "x": x, "z": z, "y": (x + z > 2).astype(int)})


def test_auto_is_the_default_and_says_what_it_chose():
    audit = audit_of(some_people())
    assert isinstance(audit.population, MixturePopulation)
    held = audit.to_dict()["groupings"][0]["population"]
    assert (held["structure"], held["classes"]) == ("auto", 1)
    assert held["description"].startswith("the rows of each group and a distribution that weighs as much as 50 people")
    assert held["fit"]["held_out"] is None
    assert "auto: the rows of each group and a distribution" in " ".join(audit.to_text().split())


def test_held_out_fit_by_hand():
    frame = some_people(60)
    audit = audit_of(frame, population="empirical", check_fit=True, seed=3)
    fit_ = audit.groupings[0].held_out
    assert fit_.folds == 5
    fold = np.random.default_rng(3).permutation(np.arange(60) % 5)
    model_says = audit.decision.evaluate(audit.population.domain.points(frame[["x", "z"]]))
    for one in fit_.groups:
        member = (frame["g"] == one.group["g"]).to_numpy()
        expected = np.mean([model_says[member & (fold != fold[i])].mean() for i in np.flatnonzero(member)])
        assert one.population == pytest.approx(expected)
        assert one.rows == pytest.approx(model_says[member].mean())
        assert one.n == member.sum()
    held = audit.to_dict()
    jsonschema.Draft202012Validator(schema()).validate(held)
    assert held["groupings"][0]["population"]["fit"]["held_out"]["folds"] == 5
    assert "rows held out" in " ".join(audit.to_text().split())


def test_a_population_that_is_off_is_warned_of():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 4_000)
    frame = pd.DataFrame({"g": np.array(list("ab"))[rng.integers(0, 2, 4_000)], "x": x, "z": x, "y": x})
    model_frame = frame.assign(y=(frame["x"] + frame["z"] == 1).astype(int))
    grid = pd.DataFrame({"x": [0, 0, 1, 1], "z": [0, 1, 0, 1]})
    model = DecisionTreeClassifier().fit(grid, [0, 1, 1, 0])
    off = justicia.verify(
        model, model_frame[["g", "x", "z"]], sensitive_features="g", favorable=1, population="independent"
    )
    assert any("off that of the rows by more than their sampling error" in warning for warning in off.warnings)
    assert all(group["off"] for group in off.to_dict()["groupings"][0]["population"]["fit"]["groups"])
    near = justicia.verify(model, model_frame[["g", "x", "z"]], sensitive_features="g", favorable=1, check_fit=True)
    assert not any("sampling error" in warning for warning in near.warnings)


def test_a_fit_of_adult_is_fast(adult):
    grouping = tables.group_rows(adult, ["race", "sex"])
    fitted = models.unwrap(adult_pipeline(adult, max_depth=6))
    people = adult.drop(columns="income")
    _, held = encoders.encode(fitted, people, [">50K"])
    points = held.points(people)
    counts = Counts(grouping.groups, held.sizes, grouping.codes, points)
    start = time.perf_counter()
    fit("auto", counts, held, ("race", "sex"))
    assert time.perf_counter() - start < 1.0


def test_rates_of_a_mixture_under_learn_and_time_limits(monkeypatch, caplog):
    caplog.set_level(logging.ERROR)
    monkeypatch.setattr(auto, "LARGE_GROUP", 0)
    frame = some_people()
    every = audit_of(frame)
    assert isinstance(every.decision, Tree)
    stopped = ENGINES["paths"].solve(Formula(every.population, every.decision), Effort(time_limit=0.0))
    exact = every.groupings[0].solution
    assert (stopped.lo <= exact.lo + 1e-12).all()
    assert (exact.hi <= stopped.hi + 1e-12).all()
    # The rows' part is known at once: what is unknown is the classes' weight.
    np.testing.assert_allclose(stopped.hi - stopped.lo, every.population.weights.sum(axis=1), atol=1e-9)
    assert stopped.guarantee == "bounds"
