"""Sums in clauses: the diagram says what the sum says, and is small."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pysat.solvers import Solver
from sklearn.linear_model import LogisticRegression

import justicia
from justicia.errors import FormulaError
from justicia.ssat import thresholds
from justicia.ssat.building import Builder
from justicia.ssat.features import FeatureCode
from justicia.ssat.thresholds import at_least


def features_of(builder, weights):
    """A feature a list of weights, its positions in order."""
    made = []
    for one in weights:
        below = [builder.choice(f"not after {k}") for k in range(len(one) - 1)]
        for first, second in pairwise(below):
            builder.add((-first, second))
        made.append((FeatureCode(np.arange(len(one)), [*below, True], ()), np.array(one, dtype=np.int64)))
    return made


def accepted(builder, features, clauses):
    """The positions that satisfy the clauses."""
    for clause in clauses:
        builder.add(clause)
    found = []
    with Solver(bootstrap_with=builder.clauses) as solver:
        for place in product(*(range(len(weights)) for _, weights in features)):
            held = [
                literal if at <= k else -literal
                for (code, _), at in zip(features, place, strict=True)
                for k, literal in enumerate(code.below[:-1])
            ]
            if solver.solve(assumptions=held):
                found.append(place)
    return found


WEIGHTS = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=4), min_size=1, max_size=4)


@given(WEIGHTS, st.integers(-3, 40), st.sampled_from([2**18, 3, 0]))
def test_what_the_clauses_accept_adds_up(weights, bound, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thresholds, "_MOST_SUMS", most)
        builder = Builder()
        features = features_of(builder, weights)
        found = accepted(builder, features, at_least(builder, features, bound))
    every = product(*(range(len(one)) for one in weights))
    assert found == [
        place for place in every if sum(one[k] for one, k in zip(weights, place, strict=True)) >= bound
    ]  # fmt: skip


def test_large_weights_make_no_large_diagram():
    rng = np.random.default_rng(0)
    weights = [np.sort(rng.integers(0, 2**33, size=60)) for _ in range(3)]
    builder = Builder()
    clauses = at_least(builder, features_of(builder, weights), 2**34)
    assert 60 < len(clauses) < 60 * 61 + 60 * 61


def test_a_diagram_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(thresholds, "_MOST_EDGES", 100)
    rng = np.random.default_rng(0)
    builder = Builder()
    features = features_of(builder, [rng.integers(0, 2**30, size=20) for _ in range(5)])
    with pytest.raises(FormulaError, match="more than 100 edges: pass --solver fourier"):
        at_least(builder, features, 2**31)


def test_numbers_of_many_values_are_encoded_at_once():
    """A diagram over the literals of two numbers of sixty values has a million clauses and more."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"a": rng.normal(size=60).round(2), "b": rng.normal(size=60).round(2)})
    people["sex"] = rng.choice([0, 1], 60)
    people["out"] = (people["a"] + people["b"] + rng.normal(size=60) > 0).astype(int)
    model = LogisticRegression().fit(people[["a", "b", "sex"]], people["out"])
    asked = {"sensitive_features": "sex", "label": "out", "population": "independent"}
    encoded = justicia.encode(model, people, group="sex=0", **asked)
    assert len(encoded.formula.clauses) < 2000
    expected = justicia.verify(model, people, **asked)
    audit = justicia.verify(model, people, solver="clauses", **asked)
    for found, rate in zip(audit.groupings[0].groups, expected.groupings[0].groups, strict=True):
        assert found.selection_rate.middle == pytest.approx(rate.selection_rate.middle, abs=1e-9)
