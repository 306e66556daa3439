"""The learned extremes are those of enumeration."""

from __future__ import annotations

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.population import auto
from justicia.report.json import schema
from tests.strategies import random_case

SEEDS = [*range(30), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(30, 300))]


def both(model, frame, **options):
    return [justicia.verify(model, frame, search=search, **options) for search in ("enumerate", "learn")]


def candidates(extreme):
    return {tuple(group.values()) for group in extreme.candidates}


@pytest.mark.parametrize("seed", SEEDS)
def test_learn_equals_enumerate(seed, monkeypatch):
    case = random_case(seed)
    if seed % 2:
        monkeypatch.setattr(auto, "LARGE_GROUP", 0)
    for structure in ("auto", "independent", "tree", "empirical"):
        options = {"sensitive_features": case.sensitive, "favorable": case.favorable, "y": case.label}
        every, learned = both(case.model, case.frame, population=structure, **options)
        for expected, found in zip(every.groupings, learned.groupings, strict=True):
            for name in ("most_favored", "least_favored"):
                one, other = getattr(expected, name), getattr(found, name)
                assert candidates(other) == candidates(one)
                assert other.selection_rate.exact
                assert float(other.selection_rate.lo) == pytest.approx(float(one.selection_rate.lo), abs=1e-12)
            for one, other in zip(expected.solution.enclosures, found.solution.enclosures, strict=True):
                assert other.lo <= one.lo + 1e-12
                assert one.hi <= other.hi + 1e-12
            for name, held in expected.measures.items():
                one, other = held.verified, found.measures[name].verified
                if name.startswith("predictive_parity"):
                    # The extremes of selection rates are not those of precision: it is bounded by what is known.
                    if one.value is not None:
                        assert other.value.lo - 1e-9 <= one.value.lo <= one.value.hi <= other.value.hi + 1e-9
                    continue
                assert one.undefined == other.undefined
                if one.value is not None:
                    assert float(other.value.lo) == pytest.approx(float(one.value.lo), abs=1e-9)
                    assert float(other.value.hi) == pytest.approx(float(one.value.hi), abs=1e-9)
            assert 1 <= found.solution.groups_evaluated <= expected.solution.groups_evaluated


@pytest.mark.parametrize("structure", ["auto", "tree", "independent"])
def test_a_structured_case_evaluates_few_groups(structure):
    # 10,000 groups of 20 people; the model looks at two of the four sensitive columns and at one feature.
    rng = np.random.default_rng(0)
    codes = np.indices((10, 10, 10, 10)).reshape(4, -1).T.repeat(20, axis=0)
    frame = pd.DataFrame(codes, columns=["s0", "s1", "s2", "s3"]).astype(str)
    frame["x"] = rng.integers(0, 2, len(frame))
    score = frame["s0"].astype(int) + 0.5 * frame["s1"].astype(int) + 2 * frame["x"]
    encoder = make_column_transformer((OrdinalEncoder(), ["s0", "s1"]), remainder="passthrough")
    model = make_pipeline(encoder, DecisionTreeClassifier(max_depth=6, random_state=0))
    model.fit(frame[["s0", "s1", "x"]], (score > 8).astype(int))
    every, learned = both(model, frame, sensitive_features=["s0", "s1", "s2", "s3"], population=structure)
    grouping = learned.groupings[0]
    assert every.groupings[0].solution.groups_evaluated == 10_000
    assert grouping.solution.groups_evaluated <= 1_000
    assert float(learned.disparate_impact or 0) == pytest.approx(float(every.disparate_impact or 0), abs=1e-12)
    for name in ("most_favored", "least_favored"):
        assert candidates(getattr(grouping, name)) == candidates(getattr(every.groupings[0], name))
    held = learned.to_dict()
    jsonschema.Draft202012Validator(schema()).validate(held)
    assert held["groupings"][0]["groups_evaluated"] == grouping.solution.groups_evaluated
    assert held["solver"]["search"] == "learn"


def test_json_of_a_learned_audit_holds_the_extremes_only():
    case = random_case(12)
    _, learned = both(case.model, case.frame, sensitive_features=case.sensitive, favorable=case.favorable)
    held = learned.to_dict()["groupings"][0]
    extremes = held["most_favored"]["candidates"] + held["least_favored"]["candidates"]
    assert all(group["group"] in extremes for group in held["groups"])


def test_a_time_limit_gives_bounds():
    case = random_case(14)
    learned = justicia.verify(
        case.model,
        case.frame,
        sensitive_features=case.sensitive,
        favorable=case.favorable,
        search="learn",
        time_limit=0,
        population="tree",
    )
    every = justicia.verify(
        case.model, case.frame, sensitive_features=case.sensitive, favorable=case.favorable, population="tree"
    )
    for bound, rate in zip(
        learned.groupings[0].solution.enclosures, every.groupings[0].solution.enclosures, strict=True
    ):
        assert bound.lo - 1e-12 <= rate.lo <= bound.hi + 1e-12
