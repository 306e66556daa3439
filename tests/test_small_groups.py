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


@pytest.fixture(scope="module")
def uneven():
    """Four groups of one feature, of which the population of independent features knows the rates."""
    table = decided({"a": (50, 100), "b": (80, 100), "c": (0, 3), "d": (4, 4)}, names=("race",))
    table["x"], table["job"] = table["hired"], np.where(np.arange(len(table)) % 2, "one", "two")
    return table, DecisionTreeClassifier().fit(table[["x"]], table["hired"])


def test_what_the_fit_is_said_to_be_is_of_the_larger_groups(uneven):
    table, model = uneven
    options = {"sensitive_features": "race", "label": "hired", "population": "tree"}
    every = justicia.verify(model, table, **options, check_fit=True)
    larger = justicia.verify(model, table, **options, check_fit=True, min_group=5)
    # Under the tree population small groups lean on the others, so their rates are far from the rows'.
    errors = {
        group.group["race"]: abs(float(group.selection_rate.middle) - float(group.sample_rate.value))
        for group in every.groupings[0].groups
    }
    assert min(errors["c"], errors["d"]) > 0.15 > 0.01 > max(errors["a"], errors["b"])
    fit = larger.groupings[0].fit
    assert fit.max_abs_error == pytest.approx(max(errors["a"], errors["b"]))
    assert fit.mean_abs_error == pytest.approx((errors["a"] + errors["b"]) / 2)
    assert [one.group["race"] for one in fit.groups] == ["a", "b"]
    assert [one.group["race"] for one in larger.groupings[0].held_out.groups] == ["a", "b"]
    assert [one.group["race"] for one in every.groupings[0].held_out.groups] == ["a", "b", "c", "d"]
    assert any("lean on those of other groups" in warning for warning in every.warnings)
    assert not any("lean on those of other groups" in warning for warning in larger.warnings)


def test_intervals_of_measures_are_those_of_the_larger_groups(uneven):
    table, model = uneven
    options = {"sensitive_features": "race", "label": "hired", "population": "independent", "seed": 3}
    larger = justicia.verify(model, table, **options, bounds=True, bootstrap=50, min_group=5).groupings[0]
    alone = justicia.verify(
        model, table[table["race"].isin(["a", "b"])], **options, bounds=True, bootstrap=50
    ).groupings[0]  # fmt: skip
    # Two groups are compared: their difference has Newcombe's interval, as if there were no others.
    for name in ("statistical_parity_difference", "disparate_impact", "equalized_odds_difference"):
        held, same = larger.measures[name], alone.measures[name]
        assert (held.interval, held.method, held.simultaneous) == (same.interval, same.method, same.simultaneous)
    assert larger.measures["statistical_parity_difference"].method == "newcombe"
    # Everybody of d is selected and nobody of c: were they counted, the difference could be 1.
    every = justicia.verify(model, table, **options, bounds=True).groupings[0]
    for name, bound in larger.measures["statistical_parity_difference"].bounds.items():
        assert bound.hi < 0.75 < every.measures["statistical_parity_difference"].bounds[name].hi
    drawn = larger.measures["statistical_parity_difference"].bootstrap
    assert 0.1 < drawn.lo < 0.3 < drawn.hi < 0.55


def test_small_groups_inside_a_stratum_are_left_out_of_it(uneven):
    table, model = uneven
    audit = justicia.verify(
        model, table, sensitive_features="race", label="hired", population="empirical", given="job", min_group=5
    )
    held = audit.groupings[0].conditional
    assert [[group["race"] for group in stratum.groups] for stratum in held.strata] == [["a", "b"], ["a", "b"]]
    # Half of either group has either job, and every second of the selected ones, who come first.
    assert held.verified("conditional_parity_difference").value.lo == Fraction(80, 100) - Fraction(50, 100)


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
