"""Ensembles of single leaves ended in an error of the engine."""

from __future__ import annotations

import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import justicia


@pytest.mark.parametrize("make", [GradientBoostingClassifier, RandomForestClassifier])
@pytest.mark.parametrize(("favorable", "rate"), [(1, 1.0), (0, 0.0)])
@pytest.mark.parametrize("population", ["tree", "independent", "empirical"])
def test_everybody_gets_the_same_outcome(make, favorable, rate, population):
    frame = pd.DataFrame({"a": [1.0] * 20, "sex": ["f", "m"] * 10})
    model = make(n_estimators=3, random_state=0).fit(frame[["a"]], [0, 1, 1, 1] * 5)
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable=favorable, population=population)
    for group in audit.groupings[0].groups:
        assert float(group.selection_rate.lo) == float(group.selection_rate.hi) == rate
