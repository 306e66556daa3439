"""Engines of mixtures: what counting the rows takes is taken off the engine's time."""

from __future__ import annotations

from itertools import count

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import justicia
from justicia.solvers import ENGINES, Effort, mixtures
from justicia.ssat import Formula


@pytest.mark.parametrize(("took", "left"), [(3.0, 7.0), (9.0, 5.0), (100.0, 5.0)])
def test_time_for_the_rows_is_part_of_the_limit(monkeypatch, took, left):
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"sex": rng.choice(["f", "m"], 300), "x": rng.normal(size=300), "z": rng.normal(size=300)})
    label = (people["x"] + people["z"] > 0).astype(int)
    model = RandomForestClassifier(3, max_depth=2, random_state=0).fit(people[["x", "z"]], label)
    audit = justicia.verify(model, people, sensitive_features="sex", population="auto")
    engine, asked = ENGINES["branch_and_bound"], []

    class Watched:
        name, tolerance = engine.name, engine.tolerance

        def takes(self, decision):
            return engine.takes(decision)

        def solve(self, formula, effort):
            asked.append(effort.time_limit)
            return engine._engine.solve(formula, effort)

    clock = count()
    monkeypatch.setattr(mixtures, "time", type("Clock", (), {"perf_counter": staticmethod(lambda: next(clock) * took)}))
    formula = Formula(audit.population, audit.decision)
    solution = mixtures.WithMixtures(Watched()).solve(formula, Effort(time_limit=10.0))
    assert asked == [left]
    assert solution.seconds >= took
    mixtures.WithMixtures(Watched()).solve(formula, Effort())
    assert asked[1] is None
