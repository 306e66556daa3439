"""Audits over shifts of the population."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia import shifting
from justicia.errors import InputError
from justicia.report.json import schema
from tests.solvers.test_shifted import cells_of, random_nearby, rate_of, support_of


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "x": rng.integers(0, 4, n), "z": rng.integers(0, 3, n)})
    label = ((frame["x"] + frame["z"] + (frame["sex"] == "m") + rng.integers(0, 2, n)) > 3).astype(int)
    return frame, label


def audit(model=None, **options):
    frame, label = table()
    model = DecisionTreeClassifier(max_depth=3, random_state=0) if model is None else model
    model.fit(frame[["x", "z"]], label)
    return justicia.verify(model, frame, **{"sensitive_features": "sex", "y": label, **options})


MODELS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
    "linear": lambda: LogisticRegression(),
    "forest": lambda: RandomForestClassifier(5, max_depth=2, random_state=0),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("population", ["tree", "independent", "auto", "empirical"])
def test_ranges_hold_the_verified_rate_and_what_was_found(model, population):
    plain = audit(MODELS[model](), population=population)
    held = audit(MODELS[model](), population=population, shift=0.05, require="disparate_impact>=0.99")
    written = held.to_dict()
    jsonschema.Draft202012Validator(schema()).validate(written)
    assert written["groupings"][0]["shift"]["radius"] == 0.05
    one = written["groupings"][0]["groups"][0]["selection_rate"]
    assert one["shift"]["unshifted"] == {end: plain.to_dict()["groupings"][0]["groups"][0]["selection_rate"][end]
                                         for end in ("lo", "hi")}  # fmt: skip
    for group, before in zip(held.groupings[0].groups, plain.groupings[0].groups, strict=True):
        for kind in ("selection_rate", "tpr", "fpr"):
            shift, rate = group.shift[kind], getattr(before, kind)
            assert shift.unshifted == rate
            assert getattr(group, kind) == shift.within
            if 0 < rate.lo <= rate.hi < 1:
                assert shift.within.lo < rate.lo
                assert shift.within.hi > rate.hi
            assert shift.within.lo <= shift.found.lo <= shift.found.hi <= shift.within.hi
            assert float(rate.hi) + sum(one.change for one in shift.highest) == pytest.approx(float(shift.found.hi))
    assert held.requirements[0].reason.startswith("over all shifts of the population by 0.05 (unshifted ")
    assert held.groupings[0].fit == plain.groupings[0].fit
    assert held.groupings[0].errors == plain.groupings[0].errors
    assert "shifted" in held.to_text()
    assert held.by_group["unshifted_lo"].tolist() == plain.by_group["selection_rate_lo"].tolist()


def test_rows_move_as_one_distribution():
    held = audit(population="empirical", shift=0.1)
    for group in held.groupings[0].groups:
        rate = group.selected / group.n
        assert group.selection_rate.lo == pytest.approx(max(rate - 0.1, 0))
        assert group.selection_rate.hi == pytest.approx(min(rate + 0.1, 1))


def test_nobody_can_be_moved_to_where_nobody_is():
    """All people of one group are rejected, and its support has nobody who is accepted."""
    frame = pd.DataFrame({"sex": ["f"] * 40 + ["m"] * 40, "x": [0, 1] * 20 + [0, 2] * 20})
    model = DecisionTreeClassifier().fit(frame[["x"]], (frame["x"] == 2).astype(int))
    for population in ("empirical", "independent"):
        held = justicia.verify(model, frame, sensitive_features="sex", favorable=1, population=population, shift=0.3)
        rates = {group.group["sex"]: group.selection_rate for group in held.groupings[0].groups}
        assert (float(rates["f"].lo), float(rates["f"].hi)) == (0.0, 0.0)
        assert (float(rates["m"].lo), float(rates["m"].hi)) == pytest.approx((0.2, 0.8))


def test_radius_zero_is_the_plain_audit(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert audit(shift=0).to_json() == audit().to_json()
    assert audit().to_dict()["groupings"][0]["shift"] is None


@pytest.mark.parametrize("population", ["tree", "auto"])
def test_distance_where_there_are_too_many_points(population, monkeypatch):
    by_tables = audit(LogisticRegression(), population=population, shift=0.05).groupings[0]
    monkeypatch.setattr(shifting, "MOST_POINTS", 0)
    held = audit(LogisticRegression(), population=population, shift=0.05)
    grouping = held.groupings[0]
    assert grouping.shift.method == "distance"
    assert "total variation distance" in held.to_text()
    jsonschema.Draft202012Validator(schema()).validate(held.to_dict())
    assert held.to_dict()["groupings"][0]["shift"]["most_favored_raised_by"] is None
    for wide, narrow in zip(grouping.groups, by_tables.groups, strict=True):
        assert wide.selection_rate.lo <= narrow.selection_rate.lo
        assert narrow.selection_rate.hi <= wide.selection_rate.hi


def test_a_population_of_a_file(tmp_path):
    frame, _ = table()
    fitted = justicia.fit_population(frame, sensitive_features="sex", structure="tree")
    fitted.to_json(tmp_path / "people.json")
    frame, label = table()
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame[["x", "z"]], label)
    held = justicia.verify(model, frame, sensitive_features="sex", population=tmp_path / "people.json", shift=0.05)
    same = justicia.verify(model, frame, sensitive_features="sex", population="tree", shift=0.05)
    for one, other in zip(held.groupings[0].groups, same.groupings[0].groups, strict=True):
        if held.population.parents == same.population.parents:
            assert one.selection_rate.hi == pytest.approx(other.selection_rate.hi)
        assert one.selection_rate.lo < one.shift["selection_rate"].unshifted.lo


@pytest.mark.parametrize("bad", [-0.1, 1.5, float("nan"), True, "a", float("inf")])
def test_radius_that_is_no_distance(bad):
    with pytest.raises(InputError, match="shift"):
        audit(shift=bad)


@pytest.mark.parametrize("options", [{"bounds": True, "population": "tree"}, {"bootstrap": 200}, {"search": "learn"}])
def test_options_that_shifts_do_not_go_with(options):
    with pytest.raises(InputError, match="shift"):
        audit(shift=0.05, **options)


@pytest.mark.slow
@pytest.mark.parametrize("radius", [0.05, 0.2])
@pytest.mark.parametrize("data", ["adult", "compas", "german", "ricci", "titanic"])
def test_found_populations_come_close_for_the_default_trees(data, radius):
    held = justicia.verify("tree", data, population="tree", shift=radius)
    for grouping in held.groupings:
        for group in grouping.groups:
            for rate in group.shift.values():
                certain, reached = (float(one.hi) - float(one.lo) for one in (rate.within, rate.found))
                assert reached <= certain <= 1.1 * reached + 1e-9


def test_ranges_of_a_mixture_hold_the_rates_of_random_mixtures():
    """Weights, rows and the tables of every class moved at random, the rates added up over all points."""
    rng = np.random.default_rng(5)
    held = audit(population="auto", shift=0.1)
    grouping, decision = held.groupings[0], held.decision
    mixture = grouping.population
    sizes = mixture.domain.sizes
    points = np.array(list(product(*map(range, sizes))))
    accepted = decision.evaluate(points)
    groups, people, counts = mixture.rows.support
    for position in range(mixture.n_groups):
        share = np.zeros(sizes)
        own = groups == position
        np.add.at(share, tuple(people[own].T), counts[own] / counts[own].sum())
        weights = np.append(mixture.row_weights[position], mixture.weights[position])
        reached = []
        for _ in range(500):
            rows = random_nearby(rng, share.ravel(), share.ravel() > 0, 0.1)
            rates = [rows[accepted].sum()]
            for one in range(mixture.n_classes):
                nodes = [
                    replace(
                        node,
                        table=node.table[[position]],
                        within=None if node.within is None else node.within[[position]],
                    )
                    for node in mixture.of_class(one).nodes
                ]
                tables = [
                    np.array([random_nearby(rng, row, support_of(node, nodes), 0.1) for row in cells_of(node)])
                    for node in nodes
                ]
                rates.append(rate_of(decision, nodes, tables, sizes))
            reached.append(random_nearby(rng, weights, weights > 0, 0.1) @ rates)
        rate = grouping.groups[position].selection_rate
        assert rate.lo <= min(reached) <= max(reached) <= rate.hi
        # They come near the ends: the range is not idle.
        assert max(reached) - min(reached) > 0.4 * (rate.hi - rate.lo)


def test_cells_of_a_file_that_the_model_divides_widen_both_ends(tmp_path):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 400), "x": rng.normal(size=400).round(3)})
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(frame[["x"]], frame["x"] > 0.123)
    fitted = justicia.fit_population(frame, sensitive_features="sex", structure="independent", cells=4)
    held = justicia.verify(model, frame, sensitive_features="sex", population=fitted, shift=0.05)
    jsonschema.Draft202012Validator(schema()).validate(held.to_dict())
    for group in held.groupings[0].groups:
        rate = group.shift["selection_rate"]
        assert rate.found is None
        assert float(rate.unshifted.hi) > float(rate.unshifted.lo)
        assert float(rate.within.lo) == pytest.approx(float(rate.unshifted.lo) - 0.05)
        assert float(rate.within.hi) == pytest.approx(float(rate.unshifted.hi) + 0.05)


def test_a_model_that_depends_on_nothing():
    frame, label = table()
    for population in ("tree", "auto", "empirical"):
        model = DecisionTreeClassifier(max_depth=1).fit(frame[["x", "z"]], np.where(label == 0, 0, 0))
        held = justicia.verify(model, frame, sensitive_features="sex", favorable="0", population=population, shift=0.2)
        assert [(group.selection_rate.lo, group.selection_rate.hi) for group in held.groupings[0].groups] == [
            (1, 1)
        ] * 2


@pytest.mark.parametrize("population", ["tree", "auto", "empirical"])
def test_time_that_runs_out_leaves_wider_ranges(population, monkeypatch):
    """Of no time at all the distance is left; of some, the certain ranges without a population that was looked for."""
    full = audit(population=population, shift=0.05).groupings[0]
    shift_rates = shifting.shift_rates
    monkeypatch.setattr("justicia.audit.shift_rates", lambda *call: shift_rates(*call[:3], 0.0))
    stopped = audit(population=population, shift=0.05)
    jsonschema.Draft202012Validator(schema()).validate(stopped.to_dict())
    wide = stopped.groupings[0]
    if population == "empirical":
        assert wide.shift == full.shift
        return
    assert wide.shift.method == "distance"
    assert wide.shift.stopped
    assert any("time ran out for the ranges over shifts of sex: they are found by distance" in text
               for text in stopped.warnings)  # fmt: skip
    for one, other in zip(wide.groups, full.groups, strict=True):
        assert one.selection_rate.lo <= other.selection_rate.lo
        assert other.selection_rate.hi <= one.selection_rate.hi
        assert one.shift["selection_rate"].unshifted == other.shift["selection_rate"].unshifted
    monkeypatch.setattr("justicia.audit.shift_rates", shift_rates)

    def tired(*call):
        raise shifting.OutOfTimeError

    monkeypatch.setattr(shifting.NearbyTables, "search", tired)
    unsearched = audit(population=population, shift=0.05)
    jsonschema.Draft202012Validator(schema()).validate(unsearched.to_dict())
    assert any("narrower ones were not looked for" in text for text in unsearched.warnings)
    for one, other in zip(unsearched.groupings[0].groups, full.groups, strict=True):
        assert one.selection_rate.lo <= other.selection_rate.lo
        assert other.selection_rate.hi <= one.selection_rate.hi
        assert one.shift["selection_rate"].found is None
    assert "no worst population was looked for" in unsearched.to_text()
