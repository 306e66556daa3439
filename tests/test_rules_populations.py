"""Rules under populations that are stated, stored or shifted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import justicia
from justicia.encoders.decisions import Tree
from justicia.learners import CNF, DNF, Condition, Rule
from justicia.models import RuleClassifier
from justicia.solvers import ENGINES, Effort
from justicia.ssat import Formula
from tests.network_cases import joint, random_network, random_people
from tests.rule_cases import random_rule_case


def random_rule(rng, names) -> Rule:
    def condition():
        return Condition(str(rng.choice(names)), str(rng.choice(["<=", ">"])), number=float(rng.integers(0, 3)))

    parts = tuple(tuple(condition() for _ in range(int(rng.integers(1, 4)))) for _ in range(int(rng.integers(1, 5))))
    return Rule(CNF if rng.random() < 0.5 else DNF, parts)


@pytest.mark.parametrize("seed", range(8))
def test_stated_networks_against_every_combination(seed):
    network = random_network(seed)
    rng = np.random.default_rng(seed)
    people = random_people(network, rng)
    names = rng.permutation(list(network.variables)).tolist()
    sensitive = names[: 1 + seed % 2]
    frame, masses = joint(network)
    model = RuleClassifier(random_rule(rng, names[1:5]))
    audit = justicia.verify(
        model, people.drop(columns="y"), sensitive_features=sensitive, favorable=True, population=network
    )
    yes = model.predict(frame)
    for group in audit.groupings[0].groups:
        inside = (frame[sensitive] == [int(value) for value in group.group.values()]).all(axis=1)
        if masses[inside].sum() > 0:
            expected = masses[inside & yes].sum() / masses[inside].sum()
            assert float(group.selection_rate.lo) == pytest.approx(expected, abs=1e-12)
            assert group.selection_rate.exact


@pytest.mark.parametrize("seed", range(6))
def test_a_stored_population_gives_what_it_was_fitted_to(seed, tmp_path):
    case = random_rule_case(seed)
    options = {"sensitive_features": [case.sensitive], "favorable": case.favorable}
    direct = justicia.verify(case.model, case.frame, population="tree", **options)
    direct.population_file().to_json(tmp_path / "pop.json")
    stored = justicia.verify(case.model, case.frame, population=tmp_path / "pop.json", **options)
    for one, other in zip(
        direct.groupings[0].solution.enclosures, stored.groupings[0].solution.enclosures, strict=True
    ):
        assert other.exact
        assert float(one.lo) == pytest.approx(float(other.lo), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_cells_that_the_rule_cuts_give_bounds(seed, tmp_path):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], size=400), "age": rng.integers(18, 90, size=400), "pay": rng.normal(size=400)}
    )
    justicia.fit_population(frame, sensitive_features=["sex"], structure="tree").to_json(tmp_path / "p.json")
    text = "(age > 40.5 or pay > 0.123) and (age <= 66 or pay > -1.01)"
    for rule in (text, f"if {text} then 0 else 1"):
        model = RuleClassifier(rule)
        good = model.classes_.tolist()[1]
        audit = justicia.verify(
            model, frame, sensitive_features=["sex"], favorable=good, population=tmp_path / "p.json"
        )
        rows = justicia.verify(model, frame, sensitive_features=["sex"], favorable=good, population="empirical")
        for bound, rate in zip(
            audit.groupings[0].solution.enclosures, rows.groupings[0].solution.enclosures, strict=True
        ):
            assert bound.lo <= bound.hi
            assert float(bound.hi - bound.lo) < 0.2
            assert bound.lo - 0.1 <= rate.lo <= bound.hi + 0.1


@pytest.mark.parametrize("seed", range(5))
def test_shifts_and_bounds_hold_the_rate_and_equal_those_of_a_tree(seed, monkeypatch):
    case = random_rule_case(seed)
    options = {"sensitive_features": [case.sensitive], "favorable": case.favorable, "population": "tree"}
    plain = justicia.verify(case.model, case.frame, **options)
    shifted = justicia.verify(case.model, case.frame, shift=0.05, **options)
    wide = justicia.verify(case.model, case.frame, shift=0.2, **options)
    bounded = justicia.verify(case.model, case.frame, bounds=True, **options)
    as_tree = plain.decision.as_tree(10_000)
    assert isinstance(as_tree, Tree)
    rates = ENGINES["paths"].solve(Formula(plain.population, as_tree), Effort()).lo
    for i, (one, near, far, held) in enumerate(
        zip(*(audit.groupings[0].groups for audit in (plain, shifted, wide, bounded)), strict=True)
    ):
        if one.selection_rate is None:
            continue
        rate = float(one.selection_rate.lo)
        assert rate == pytest.approx(rates[i], abs=1e-12)
        assert near.selection_rate.lo - 1e-9 <= rate <= near.selection_rate.hi + 1e-9
        assert far.selection_rate.lo - 1e-9 <= near.selection_rate.lo
        assert near.selection_rate.hi <= far.selection_rate.hi + 1e-9
        assert held.selection_rate.exact
