"""Rates of nobody are left out by name on both sides, and rates of few people are named."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.few_people import few_counted

# Of each group: people by x, z and true outcome; the model selects whoever has both.
_PEOPLE = {
    "a": {(1, 1, 1): 1, (1, 1, 0): 1, (0, 0, 1): 19, (0, 0, 0): 19},
    "b": {(1, 0, 1): 10, (0, 1, 1): 10, (1, 0, 0): 10, (0, 1, 0): 10},
    "c": {(1, 1, 1): 45, (1, 1, 0): 15, (0, 0, 1): 30, (0, 0, 0): 30},
}


@pytest.fixture(scope="module")
def case():
    rows = [
        (group, *values) for group, cells in _PEOPLE.items() for values, n in cells.items() for _ in range(n)
    ]  # fmt: skip
    grid = pd.DataFrame([(0, 0), (0, 1), (1, 0), (1, 1)], columns=["x", "z"])
    model = DecisionTreeClassifier().fit(grid, grid["x"] & grid["z"])
    return model, pd.DataFrame(rows, columns=["race", "x", "z", "outcome"])


def audited(case, **options):
    model, table = case
    return justicia.verify(
        model, table, **{"sensitive_features": "race", "label": "outcome", "population": "independent", **options}
    )


def test_a_group_of_whom_nobody_is_selected_is_named_where_it_is_left_out(case):
    audit = audited(case, require=["sample.predictive_parity_difference<=0.9", "predictive_parity_difference<=0.9"])
    held = audit.groupings[0].measures["predictive_parity_difference"]
    # Precision 1/2 of a and 45/60 of c; nobody of b is selected.
    assert held.sample.value.lo == Fraction(1, 4)
    assert held.sample.undefined == "1 group without selected people (b)"
    # Under independent features a quarter of b is selected whatever the outcome: precision 1/2. Of c, .36 of 75 and a
    # ninth of 45.
    assert float(held.verified.value.lo) == pytest.approx(27 / 32 - 1 / 2)
    assert held.verified.undefined is None
    assert held.note == "rows incomplete: 1 group without selected people (b)"
    assert held.note in " ".join(audit.to_text(100).split())
    assert [one.status for one in audit.requirements] == ["undecided", "met"]
    as_json = audit.to_dict()["groupings"][0]["measures"]["predictive_parity_difference"]
    assert (as_json["undefined"], as_json["sample_undefined"]) == (None, held.sample.undefined)


def test_both_sides_are_marked_alike_under_the_rows_themselves(case):
    audit = audited(case, population="empirical", reference="race=c")
    measures = audit.groupings[0].measures
    assert measures["predictive_parity_difference"].note == "incomplete: 1 group without selected people (b)"
    assert measures["equalized_odds_difference"].note == ""
    compared = measures["predictive_parity_difference"].compared
    assert {name: one.note for name, one in compared.items()} == dict.fromkeys(
        ("to_overall", "to_reference"), "incomplete: 1 group without selected people (b)"
    )


def test_groups_without_an_outcome_are_named(case):
    model, table = case
    table = table[(table["race"] != "b") | (table["outcome"] == 0)]
    audit = audited((model, table), require="equalized_odds_difference<=0.9")
    for name in ("equal_opportunity_difference", "equalized_odds_difference", "average_odds_difference"):
        assert audit.groupings[0].measures[name].note == "incomplete: 1 group without positives (b)", name
    assert audit.requirements[0].status == "undecided"


def test_rates_of_few_people_are_named_by_their_denominator(case):
    audit = audited(case)
    (grouping,) = audit.groupings
    assert few_counted(grouping, "precision") == [("b", 0.0), ("a", 2.0)]
    assert few_counted(grouping, "tpr") == [("a", 20.0), ("b", 20.0)]
    (warning,) = [one for one in audit.warnings if "people of the table" in one]
    assert warning.endswith("precision, of people who are selected: b (0) / a (2)")
    assert "true positive rate, of people whose true outcome is favorable: a (20) / b (20)" in warning
    # Nobody has a precision of nobody, so under the rows themselves b is left out, and not named here.
    assert few_counted(audited(case, population="empirical").groupings[0], "precision") == [("a", 2.0)]


def test_groups_that_are_left_out_and_large_counts_need_no_caution(case):
    model, table = case
    many = pd.concat([table[table["race"] != "b"]] * 40)
    assert not [one for one in audited((model, many)).warnings if "people of the table" in one]
    audit = audited(case, min_group=100)
    assert few_counted(audit.groupings[0], "precision") == []


def test_decisions_without_a_model_say_the_same(case):
    _, table = case
    decided = table.assign(hired=table["x"] & table["z"])
    audit = justicia.audit_decisions(decided, decision="hired", sensitive_features="race", label="outcome")
    held = audit.groupings[0].measures["predictive_parity_difference"].sample
    assert (held.value.lo, held.undefined) == (Fraction(1, 4), "1 group without selected people (b)")
    (warning,) = [one for one in audit.warnings if "people of the table" in one]
    # There is no population that has a precision of b.
    assert warning.endswith("precision, of people who are selected: a (2)")


def test_weights_count_by_their_effective_number(case):
    model, table = case
    weights = np.where(table["race"] == "a", np.where(table["outcome"] == 1, 3.0, 1.0), 1.0)
    audit = audited((model, table.assign(w=weights)), weight="w")
    # Two selected people with weights 3 and 1: (3 + 1)^2 / (9 + 1).
    assert dict(few_counted(audit.groupings[0], "precision"))["a"] == pytest.approx(1.6)
