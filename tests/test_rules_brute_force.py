"""Rates of rules recomputed by enumerating every point of the domain, the rule read in plain Python."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import justicia
from justicia.population import auto
from justicia.solvers import ENGINES, Effort
from justicia.ssat import Formula
from tests.rule_cases import random_rule_case, says
from tests.test_brute_force import auto_probability, empirical_probability, independent_probability, tree_probability

SEEDS = [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 310))]
LARGEST_DOMAIN = 20_000


def person_at(point, domain, frame) -> dict:
    """One person at a point; truth values as such, though their cells hold numbers."""
    person = {}
    for feature, cell in zip(domain.features, point, strict=True):
        value = feature.representatives[cell]
        person[feature.name] = bool(value) if frame[feature.name].dtype == bool and value in (0.0, 1.0) else value
    return person


@pytest.mark.parametrize("seed", SEEDS)
def test_rates_equal_enumeration(seed, monkeypatch):
    case = random_rule_case(seed)
    if seed % 3:
        monkeypatch.setattr(auto, "LARGE_GROUP", 0)
    if seed % 2:
        monkeypatch.setattr(auto, "MANY_STATES", 3)
    rule = case.model.rule_
    for structure in ("auto", "independent", "tree", "empirical"):
        options = {"sensitive_features": case.sensitive, "favorable": case.favorable, "population": structure}
        audit = justicia.verify(case.model, case.frame, **options)
        population = audit.population
        domain = population.domain
        if np.prod([float(size) for size in domain.sizes]) > LARGEST_DOMAIN:
            pytest.skip("the domain is too large to enumerate")
        others = {name: case.frame[name].iloc[0] for name in rule.columns if name not in domain.names}
        points = list(product(*(range(size) for size in domain.sizes)))
        selected = np.array(
            [
                says(rule, {**others, **person_at(point, domain, case.frame)}) == (case.favorable == ["yes"])
                for point in points
            ]
        )
        keys = [case.frame[name].astype(str) for name in case.sensitive]
        truth = []
        for i, key in enumerate(population.groups):
            member = np.logical_and.reduce([column == value for column, value in zip(keys, key, strict=True)])
            rows = case.frame[member]
            if structure == "independent":
                probability = independent_probability(case, domain, rows)
            elif structure == "empirical":
                probability = empirical_probability(case, domain, rows)
                people = [says(rule, row) == (case.favorable == ["yes"]) for row in rows.to_dict("records")]
                assert float(audit.groupings[0].solution.lo[i]) == pytest.approx(np.mean(people), abs=1e-12)
            elif structure == "auto":
                probability = auto_probability(case, population, domain, rows, i)
            else:
                probability = tree_probability(population, i)
            masses = np.array([probability(point) for point in points])
            assert masses.sum() == pytest.approx(1.0, abs=1e-9)
            truth.append(masses[selected].sum())
        solution = audit.groupings[0].solution
        assert (solution.engine, solution.guarantee) == ("satisfied_clauses", "exact")
        assert solution.lo == pytest.approx(truth, abs=1e-12)
        by_formula = ENGINES["clauses"].solve(Formula(population, audit.decision), Effort())
        assert by_formula.lo == pytest.approx(truth, abs=1e-12)
        learned = justicia.verify(case.model, case.frame, search="learn", **options)
        found = learned.groupings[0].solution
        assert float(learned.groupings[0].most_favored.selection_rate.lo) == pytest.approx(max(truth), abs=1e-12)
        assert float(learned.groupings[0].least_favored.selection_rate.hi) == pytest.approx(min(truth), abs=1e-12)
        assert (found.lo <= np.array(truth) + 1e-12).all()
        assert (found.hi >= np.array(truth) - 1e-12).all()
        for end in ("most_favored", "least_favored"):
            first, second = (getattr(held.groupings[0], end).candidates for held in (audit, learned))
            assert {tuple(group.values()) for group in first} == {tuple(group.values()) for group in second}


def test_formula_route_learns_the_same_extremes():
    for seed in range(6):
        case = random_rule_case(seed)
        options = {"sensitive_features": case.sensitive, "favorable": case.favorable, "population": "tree"}
        direct = justicia.verify(case.model, case.frame, **options)
        by_formula = justicia.verify(case.model, case.frame, search="learn", solver="clauses", **options)
        for end in ("most_favored", "least_favored"):
            one, other = (getattr(held.groupings[0], end).selection_rate for held in (direct, by_formula))
            assert float(other.lo) == pytest.approx(float(one.lo), abs=1e-12)
