"""Small groups beside a model: listed, and left out of extremes, measures, tests and requirements."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import justicia
from tests.decision_cases import decided


@pytest.fixture(scope="module")
def case():
    table = decided({"a": (5, 10), "b": (8, 10), "c": (0, 3), "d": (4, 4)}, names=("race",))
    table["x"] = table["hired"]
    return table, DecisionTreeClassifier().fit(table[["x"]], table["hired"])


def test_extremes_and_measures_are_of_the_larger_groups(case):
    table, model = case
    options = {"sensitive_features": "race", "label": "hired", "population": "empirical"}
    audit = justicia.verify(
        model, table, **options, min_group=5, tests=True, require=["disparate_impact>=.6", "sample.selection_rate>=.5"]
    )
    assert audit.disparate_impact.lo == Fraction(5, 8)
    assert audit.groupings[0].measures["disparate_impact"].sample.value.lo == Fraction(5, 8)
    assert (audit.most_favored, audit.least_favored) == ({"race": "b"}, {"race": "a"})
    assert audit.exit_code == 0
    notes = {group.group["race"]: group.note for group in audit.groupings[0].groups}
    assert notes == {"a": None, "b": None, "c": notes["d"], "d": "fewer than 5 rows: left out of every measure"}
    assert audit.groupings[0].adverse_impact.reference == 1
    assert [one.position for one in audit.groupings[0].adverse_impact.groups] == [0]
    everybody = justicia.verify(model, table, **options)
    assert (everybody.most_favored, everybody.least_favored) == ({"race": "d"}, {"race": "c"})
    assert everybody.disparate_impact.lo == 0


def test_a_requirement_on_a_small_group_is_undecided(case):
    table, model = case
    audit = justicia.verify(
        model, table, sensitive_features="race", label="hired", population="empirical", min_group=5,
        require="selection_rate[race=c]>=0",
    )  # fmt: skip
    assert audit.exit_code == 3


def test_refused_where_it_means_nothing(case):
    table, model = case
    with pytest.raises(justicia.InputError, match="no group of race has 11 rows"):
        justicia.verify(model, table, sensitive_features="race", label="hired", min_group=11)
    with pytest.raises(justicia.InputError, match="leave min_group out"):
        justicia.verify(model, table, sensitive_features="race", min_group=5, search="learn")
    with pytest.raises(justicia.InputError, match="publish the decisions alone"):
        justicia.verify(model, table, sensitive_features="race", suppress_below=10)


def test_no_small_group_changes_nothing():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], 200), "x": rng.normal(size=200)})
    model = DecisionTreeClassifier(max_depth=3).fit(table[["x"]], table["x"] + rng.normal(size=200) > 0)
    plain = justicia.verify(model, table, sensitive_features="sex", favorable=True).to_dict()
    least = justicia.verify(model, table, sensitive_features="sex", favorable=True, min_group=2).to_dict()
    assert plain["groupings"] == least["groupings"]
