"""What users stumbled over who knew the README alone: warnings, and what messages tell them to do."""

from __future__ import annotations

import pandas as pd
import pytest

import justicia
from justicia.cautions import warn_of_few
from justicia.collecting import Announcements
from justicia.speaking import speaking_options
from tests.regressions.common import audit, people, pipeline


def decided(**groups):
    """One row a person; a group is its number selected and its number of people."""
    rows = [(name, int(i < k)) for name, (k, n) in groups.items() for i in range(n)]
    return pd.DataFrame(rows, columns=["sex", "hired"])


def of(texts, words):
    """The one text that holds these words."""
    (found,) = [text for text in texts if words in text]
    return found


SIZES = {"a": (20, 40), "b": (20, 30), "c": (3, 29), "d": (1, 2), "e": (1, 3), "f": (2, 5)}


@pytest.mark.parametrize("tests", [False, True])
def test_decisions_of_small_groups_are_warned_of(tests):
    held = justicia.audit_decisions(decided(**SIZES), decision="hired", tests=tests)
    assert held.warnings == (
        "4 groups of sex: fewer than 30 people (d (2); e (3); f (5); and 1 more); rates of so few people are mostly "
        "chance; leave them out of extremes, measures and tests with min_group=30",
    )
    with speaking_options():
        held = justicia.audit_decisions(decided(**SIZES), decision="hired", tests=tests)
    assert held.warnings[0].endswith("with --min-group 30")
    quiet = justicia.audit_decisions(decided(**SIZES), decision="hired", min_group=30)
    assert not any("30 people" in text for text in quiet.warnings)
    few = justicia.audit_decisions(decided(**SIZES), decision="hired", min_group=4)
    assert "2 groups of sex: fewer than 30 people (f (5); c (29));" in of(few.warnings, "30 people")


def test_suppressed_groups_are_not_named_among_the_small_ones():
    held = justicia.audit_decisions(decided(**SIZES, g=(4, 20)), decision="hired", suppress_below=10)
    shown = {one.group["sex"]: one.n for one in held.groupings[0].compared if one.n < 30}
    assert "d" not in shown
    for text in held.warnings:
        assert not any(f"{name} ({n})" in text for name, n in (("d", 2), ("e", 3), ("f", 5)))


def test_small_groups_are_named_once_for_all_groupings():
    table = decided(a=(20, 40), b=(20, 30), c=(3, 29)).assign(race=["x", "y"] * 49 + ["z"])
    held = justicia.audit_decisions(table, decision="hired", sensitive_features=[["sex"], ["race"]])
    assert of(held.warnings, "30 people").startswith(
        "1 group of sex, 1 group of race: fewer than 30 people (z (1); c (29)); "
    )


def test_leaving_out_is_no_advice_where_nothing_is_left_to_compare():
    held = justicia.audit_decisions(decided(a=(20, 40), b=(3, 9)), decision="hired")
    assert held.warnings[0].endswith("; audit more rows, or fewer sensitive columns together")


@pytest.mark.parametrize("structure", ["tree", "independent", "empirical"])
def test_small_groups_of_models_are_named(structure):
    table, _ = people()
    kept = pd.concat([table[table["sex"] == "M"].head(45), table[table["sex"] == "F"].head(35)])
    kept = pd.concat([kept, kept.head(4).assign(sex="X")])
    held = audit(pipeline(), kept, population=structure)
    text = of(held.warnings, "30 people")
    assert text.startswith("1 group of sex: fewer than 30 people (X (4)); under the ")
    assert ("lean on those of other groups" in text) == (structure == "tree")
    assert text.endswith("with min_group=30")
    assert not any("30 people" in one for one in audit(pipeline(), kept, population=structure, min_group=30).warnings)


def test_no_small_group_no_warning():
    with Announcements() as said:
        warn_of_few([(("sex",), ())], "nothing")
    assert said.warnings == ()


def test_columns_that_may_be_the_true_outcome_are_offered_beside_decisions():
    table = decided(a=(20, 40), b=(10, 40)).assign(true=[0, 1] * 40, pay=range(80), area=["n", "s"] * 40)
    held = justicia.audit_decisions(table, decision="hired")
    assert held.truth is None
    assert of(held.announcements, "no label") == (
        "no label is named: if true holds the true outcome, pass label='true' for true and false positive rates"
    )
    two = justicia.audit_decisions(table.assign(more=["no", "yes"] * 40), decision="hired")
    assert "if one of true, more holds" in of(two.announcements, "no label")
    named = justicia.audit_decisions(table, decision="hired", label="true")
    assert not any("no label" in text for text in named.announcements)
    scored = justicia.audit_decisions(table, score="pay", threshold=30)
    assert "if one of hired, true holds" in of(scored.announcements, "no label")


def test_a_label_of_numbers_beside_a_model_of_truth_values(tmp_path):
    table, out = people()
    model = pipeline().fit(table, out == "yes")
    written = table.assign(hired=(out == "yes").astype(int))
    written.to_csv(tmp_path / "people.csv", index=False)
    expected = audit(pipeline(), table.assign(out=out)).by_group
    for data, stream in ((written, None), (tmp_path / "people.csv", True), (tmp_path / "people.csv", False)):
        held = audit(model, data, favorable=None, stream=stream)
        assert held.roles.truth.name == "hired"
        assert held.by_group["tpr"].tolist() == pytest.approx(expected["tpr"].tolist())


def test_ages_are_offered_in_classes():
    table = decided(a=(20, 40), b=(20, 40)).assign(Age=range(18, 98), wage=range(80))
    held = justicia.audit_decisions(table, decision="hired")
    assert of(held.announcements, "sensitive: sex").endswith(
        "; Age can be one in classes: sensitive_features='Age', bins={'Age': [25, 40, 60]}"
    )
    assert "can be one" not in str(justicia.audit_decisions(table, decision="hired", sensitive_features="sex"))
    with speaking_options(), pytest.raises(justicia.InputError, match=r"--sensitive Age --bins Age=25,40,60$"):
        justicia.audit_decisions(table.drop(columns="sex"), decision="hired")
    for column in (["old", "young"] * 40, [20, 30] * 40):
        held = justicia.audit_decisions(table.assign(Age=column), decision="hired")
        assert not any("in classes" in text for text in held.announcements)
    classes = justicia.audit_decisions(
        table, decision="hired", sensitive_features="Age", bins={"Age": [25, 40, 60]}
    ).groupings[0]
    assert sorted(group.n for group in classes.groups) == [8, 15, 20, 37]


def test_a_sensitive_column_that_nobody_shares_is_warned_of_in_one_line():
    born = [f"{1950 + i // 12}-{1 + i % 12:02}-01" for i in range(300)] * 2
    table = pd.DataFrame({"born": born, "sex": ["f", "m"] * 300, "hired": [0, 1, 1] * 200})
    held = justicia.audit_decisions(table, decision="hired", sensitive_features=[["born", "sex"], ["born"]])
    assert of(held.warnings, "hardly anybody").startswith(
        "sensitive column 'born' has 300 values among 600 people, so hardly anybody is in the same group"
    )
    # Many people in each of many groups are no such case.
    shared = pd.DataFrame({"town": [f"t{i:03}" for i in range(100)] * 30, "hired": [0, 1, 1] * 1000})
    held = justicia.audit_decisions(shared, decision="hired", sensitive_features="town")
    assert not any("hardly anybody" in text for text in held.warnings)


def test_a_model_is_warned_of_a_sensitive_column_that_nobody_shares():
    table, _ = people(150)
    dated = table.assign(day=[f"day {i}" for i in range(150)])
    held = audit(pipeline(), dated, sensitive_features="day")
    assert "'day' has 150 values among 150 people" in of(held.warnings, "hardly anybody")
