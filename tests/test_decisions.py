"""Audits of decisions without a model: known values, dirty tables, thresholds, missing groups."""

from __future__ import annotations

import json
from fractions import Fraction

import jsonschema
import numpy as np
import pandas as pd
import pytest

import justicia
from justicia.report.json import schema
from tests.decision_cases import INTERSECTION, decided


def checked(audit):
    """The audit's JSON, which the contract holds."""
    held = json.loads(audit.to_json())
    jsonschema.Draft202012Validator(schema()).validate(held)
    assert "justicia" in audit.to_text()
    return held


def rates(audit, grouping=0):
    return {
        tuple(group.group.values()): group.sample_rate.value for group in audit.groupings[grouping].groups if group.n
    }


def impact(audit, grouping=0):
    return audit.groupings[grouping].measures["disparate_impact"].sample.value


def test_an_intersection_shows_what_each_column_hides():
    audit = justicia.audit_decisions(decided(INTERSECTION, ("race", "sex")), decision="hired", tests=True)
    by_columns = {one.sensitive: float(one.measures["disparate_impact"].sample.value) for one in audit.groupings}
    assert by_columns["race", "sex"] == 0.5
    assert by_columns["sex",] == pytest.approx(0.967, abs=5e-4)
    assert by_columns["race",] == pytest.approx(0.894, abs=5e-4)
    held = checked(audit)
    assert held["model"] is None
    assert held["solver"] is None
    assert held["self_check"] is None
    assert held["favorable"] == "hired is 1"
    assert held["groupings"][0]["population"] is None
    assert held["groupings"][0]["sample_least_favored"] == {"race": "H", "sex": "f"}
    assert held["groupings"][0]["measures"]["disparate_impact"]["lo"] is None
    assert held["groupings"][0]["measures"]["disparate_impact"]["sample"]["value"] == 0.5
    tested = {tuple(one["group"].values()): one for one in held["groupings"][0]["adverse_impact"]["groups"]}
    assert tested["H", "f"]["four_fifths"] == "below"
    assert tested["W", "m"]["four_fifths"] == "meets"  # 40/100 v 45/90 is four fifths exactly
    assert "1607.4" in held["groupings"][0]["adverse_impact"]["four_fifths_source"]
    assert "✗ below" in audit.to_text()


@pytest.mark.parametrize(
    ("cells", "limit", "status", "code"),
    [
        ({"f": (3, 5), "m": (3, 4)}, 0.8, "met", 0),
        ({"f": (59, 100), "m": (75, 100)}, 0.8, "breached", 1),
        ({"f": (0, 5), "m": (0, 4)}, 0.8, "undecided", 3),
        ({"f": (0, 5), "m": (1, 4)}, 0.8, "breached", 1),
        ({"f": (3, 5)}, 0.8, "undecided", 3),
    ],
)
def test_requirements_and_exit_codes(cells, limit, status, code):
    audit = justicia.audit_decisions(decided(cells), decision="hired", require=f"sample.disparate_impact>={limit}")
    assert audit.requirements[0].status == status
    assert audit.exit_code == code
    assert checked(audit)["requirements"][0]["status"] == status
    assert ("<failure" in audit.to_junit()) == (code == 1)


def test_every_exact_four_fifths_passes():
    for n in range(5, 60, 5):
        table = decided({"f": (4 * n // 5, n), "m": (3 * n, 3 * n)})
        audit = justicia.audit_decisions(table, decision="hired", require="sample.disparate_impact>=0.8")
        assert audit.exit_code == 0


def test_a_requirement_on_verified_values_is_refused_with_the_remedy():
    table = decided({"f": (3, 5), "m": (3, 4)})
    with pytest.raises(justicia.InputError, match=r"write sample\.disparate_impact>=0\.8"):
        justicia.audit_decisions(table, decision="hired", require="disparate_impact>=0.8")
    audit = justicia.audit_decisions(
        table, decision="hired", require=["sample.selection_rate[sex=f]>=0.6", "sample.selection_rate>0.6"]
    )
    assert [one.status for one in audit.requirements] == ["met", "breached"]


def test_true_outcomes_beside_decisions():
    # TPR .9/.8/.5 and FPR .1/.3/.12 of three groups.
    rows = []
    for group, (true, positives, false, negatives) in {
        "a": (9, 10, 5, 50),
        "b": (8, 10, 15, 50),
        "c": (5, 10, 6, 50),
    }.items():
        rows += [(group, 1, 1)] * true + [(group, 0, 1)] * (positives - true)
        rows += [(group, 1, 0)] * false + [(group, 0, 0)] * (negatives - false)
    table = pd.DataFrame(rows, columns=["race", "hired", "good"])
    audit = justicia.audit_decisions(table, decision="hired", label="good")
    assert audit.measure("equalized_odds_difference").lo == Fraction(2, 5)
    assert audit.measure("average_odds_difference").lo == Fraction(3, 10)
    assert audit.measure("equalized_odds_ratio").lo == Fraction(1, 3)
    assert audit.measure("demographic_parity_ratio") == audit.measure("disparate_impact")
    assert checked(audit)["label"] == "good"
    same = justicia.audit_decisions(table.drop(columns="good"), decision="hired", y=table["good"])
    assert rates(same) == rates(audit)
    assert same.measure("equalized_odds_difference") == audit.measure("equalized_odds_difference")
    # A decision that is always right, and a group without positives.
    right = table[(table["hired"] == table["good"]) & ~((table["race"] == "c") & (table["good"] == 1))]
    audit = justicia.audit_decisions(
        right, decision="hired", label="good", require="sample.equalized_odds_difference<=0.1"
    )
    assert audit.measure("equalized_odds_difference").hi == 0
    assert audit.requirements[0].status == "undecided"


def test_group_columns_of_every_type_give_an_identical_audit():
    numbers = np.tile([0, 1, 1, 0, 2], 20)
    hired = np.arange(100) % 3 == 0
    kinds = {
        "int": pd.Series(numbers),
        "int8": pd.Series(numbers.astype(np.int8)),
        "float": pd.Series(numbers.astype(float)),
        "category": pd.Series(numbers).astype("category"),
        "object": pd.Series(numbers.astype(object)),
        "text": pd.Series(numbers.astype(str)),
        "string": pd.Series(numbers.astype(str), dtype="string"),
        "nullable": pd.Series(numbers, dtype="Int64"),
    }
    held = []
    for column in kinds.values():
        audit = justicia.audit_decisions(
            pd.DataFrame({"g": column, "hired": hired}), decision="hired", sensitive_features="g"
        )
        held.append({key: value for key, value in checked(audit).items() if key != "created"})
    assert all(one == held[0] for one in held)
    yes = pd.Series(numbers == 1)
    pair = []
    for column in (yes, yes.astype(object), yes.map({True: "True", False: "False"}), yes.astype("boolean")):
        audit = justicia.audit_decisions(
            pd.DataFrame({"g": column, "hired": hired}), decision="hired", sensitive_features="g"
        )
        pair.append({key: value for key, value in checked(audit).items() if key != "created"})
    assert all(one == pair[0] for one in pair)


@pytest.mark.parametrize("kind", ["int", "bool", "float", "text", "words", "category", "truth"])
def test_decisions_of_every_type(kind):
    table = decided({"f": (3, 10), "m": (6, 12)})
    hired = table["hired"]
    table["hired"] = {
        "int": hired,
        "bool": hired == 1,
        "float": hired.astype(float),
        "text": hired.astype(str),
        "words": hired.map({0: "no", 1: "yes"}),
        "category": hired.astype("category"),
        "truth": hired.map({0: "False", 1: "True"}),
    }[kind]
    audit = justicia.audit_decisions(table, decision="hired")
    assert rates(audit) == {("f",): Fraction(3, 10), ("m",): Fraction(1, 2)}
    assert any("override with favorable=..." in text for text in audit.announcements)


def test_favorable_outcomes_that_cannot_be_told():
    table = decided({"f": (3, 10), "m": (6, 12)}, yes="hired", no="rejected")
    with pytest.raises(justicia.InputError, match=r"which outcome .* favorable\? .*hired, rejected"):
        justicia.audit_decisions(table, decision="hired")
    three = table.assign(hired=[*["offer", "waiting", "rejected"] * 7, "offer"])
    with pytest.raises(justicia.InputError, match="offer, rejected, waiting"):
        justicia.audit_decisions(three, decision="hired")
    both = justicia.audit_decisions(three, decision="hired", favorable="offer,waiting")
    listed = justicia.audit_decisions(three, decision="hired", favorable=["offer", "waiting"])
    assert rates(both) == rates(listed)
    selected = three["hired"].isin(["offer", "waiting"]).groupby(three["sex"]).mean()
    assert [float(rate) for rate in rates(both).values()] == pytest.approx(selected.tolist())
    with pytest.raises(justicia.InputError, match="every outcome"):
        justicia.audit_decisions(three, decision="hired", favorable="offer,waiting,rejected")
    with pytest.raises(justicia.InputError, match=r"did you mean offer\?"):
        justicia.audit_decisions(three, decision="hired", favorable="Offer.")


def test_a_favorable_value_that_nobody_has():
    nobody = decided({"f": (0, 10), "m": (0, 12)})
    audit = justicia.audit_decisions(nobody, decision="hired", require="sample.disparate_impact>=0.8")
    assert audit.exit_code == 3
    assert impact(audit) is None
    assert justicia.audit_decisions(nobody, decision="hired", favorable=1).exit_code == 0
    text = decided({"f": (0, 10), "m": (0, 12)}, yes="yes", no="rejected")
    with pytest.raises(justicia.InputError, match="favorable outcome 'yes' is not in the decision column"):
        justicia.audit_decisions(text, decision="hired", favorable="yes")


def test_labels_with_a_full_stop_are_an_error_that_proposes_the_match():
    table = decided({"f": (3, 10), "m": (6, 12)}, yes=">50K.", no="<=50K.")
    with pytest.raises(justicia.InputError, match=r"did you mean >50K\.\?"):
        justicia.audit_decisions(table, decision="hired", favorable=">50K")
    labelled = decided({"f": (3, 10), "m": (6, 12)}, yes=">50K", no="<=50K").assign(truth=table["hired"])
    with pytest.raises(justicia.InputError, match=r"did you mean >50K\.\?"):
        justicia.audit_decisions(labelled, decision="hired", favorable=">50K", label="truth")
    told = justicia.audit_decisions(labelled, decision="hired", favorable=[">50K", ">50K."], label="truth")
    assert told.measure("equal_opportunity_difference").lo == 0


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("sex;hired\nf;1\nm;0\n", {}, r"pass delimiter=';'"),
        ("sex,hired\nf,1\nm,\n", {}, "decision column 'hired' has no value in 1 row of 2"),
        ("sex,hired\nf,1\nm,0\n", {"decision": "hird"}, r"did you mean hired\?"),
        ("sex,hired\nf,1\nm,0\n", {"sensitive_features": "hired"}, "is the decision, and a sensitive column is none"),
        ("sex,hired\nf,1\n,0\n", {}, r"no value in 1 row of 2: pass missing='group'"),
        ("sex,hired\nf,1\nm,0\n", {"score": "hired"}, "decision and score are both given"),
        ("sex,hired\nf,1\nm,0\n", {"decision": None}, "name the column of the decisions"),
        ("sex,hired\nf,1\nm,0\n", {"decision": None, "score": "hired"}, r"pass threshold=\.\.\."),
        ("sex,hired\nf,1\nm,x\n", {"decision": None, "score": "hired", "threshold": 1}, "'x', which is no number"),
        ("sex,hired\nf,1\nm,0\n", {"threshold": ".5"}, "a threshold is for a score"),
        ("sex,hired\nf,1\nm,0\n", {"decision": None, "score": "hired", "threshold": ".5;.6"}, "is no number"),
        ("sex,hired\nf,1\nm,0\n", {"min_group": -1}, "min_group is a number of people"),
        ("sex,hired\nf,1\nm,0\n", {"suppress_below": 2.5}, "suppress_below is a number of people"),
        ("sex,hired\nf,1\nm,0\n", {"layout": "ll145"}, r"did you mean ll144\?"),
        ("sex,hired\nf,1\nm,0\n", {"missing": "bound"}, r"did you mean bounds\?"),
        ("sex,hired\nf,1\nm,0\n", {"label": "hired"}, "named as decision and as label"),
        ("age,hired\n" + "".join(f"{i},1\n" for i in range(20)), {"sensitive_features": "age"}, r"with bins=\{'age'"),
    ],
)
def test_bad_tables_and_calls_are_one_line(tmp_path, text, options, says):
    path = tmp_path / "d.csv"
    path.write_text(text)
    with pytest.raises(justicia.InputError, match=says) as raised:
        justicia.audit_decisions(path, **{"decision": "hired", **options})
    assert "\n" not in str(raised.value)


def test_blanks_are_stripped_and_counted_and_words_are_kept(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("race, sex, hired\nNone, f, 1\nNA, f, 0\nnull, m, 1\nNone, m, 0\n")
    audit = justicia.audit_decisions(path, decision="hired", sensitive_features=["race"])
    assert rates(audit) == {("NA",): 0, ("None",): Fraction(1, 2), ("null",): 1}
    assert any("blanks around 4 values and 2 column names were removed" in text for text in audit.announcements)
    semicolons = tmp_path / "e.csv"
    semicolons.write_text(path.read_text().replace(",", ";"))
    same = justicia.audit_decisions(semicolons, decision="hired", sensitive_features=["race"], delimiter=";")
    assert rates(same) == rates(audit)


def test_hostile_names_reach_the_report_as_text():
    table = decided({"[bold]x": (3, 5), "<script>": (3, 4), "a\nb": (1, 2)})
    audit = justicia.audit_decisions(table, decision="hired", tests=True)
    assert "[bold]x" in audit.to_text()
    checked(audit)


def test_thresholds_of_a_score_by_hand():
    table = pd.DataFrame({"sex": list("ffffmmmm"), "s": [0.1, 0.3, 0.5, 0.7, 0.3, 0.3, 0.5, 0.9]})
    audit = justicia.audit_decisions(
        table, score="s", threshold=".3,>.3,<.5,<=.5", require="sample.disparate_impact>=.5"
    )
    found = {one.rule: [group.selected for group in one.groups] for one in audit.groupings}
    assert found == {"s >= .3": [3, 4], "s > .3": [2, 2], "s < .5": [2, 2], "s <= .5": [3, 3]}
    held = checked(audit)
    assert [one["threshold"] for one in held["groupings"]] == [0.3, 0.3, 0.5, 0.5]
    assert held["decisions"] == {"column": "s", "scored": True, "rules": list(found)}
    assert audit.exit_code == 0
    assert (
        justicia.audit_decisions(
            table, score="s", threshold=[0.3, 0.95], require="sample.disparate_impact>=.5"
        ).exit_code
        == 3
    )
    assert len(justicia.audit_decisions(table, score="s", threshold=0.3).groupings) == 1


def test_small_groups_are_listed_and_left_out():
    table = decided({"a": (5, 10), "b": (8, 10), "c": (0, 3)})
    audit = justicia.audit_decisions(
        table, decision="hired", min_group=4, tests=True, require="sample.disparate_impact>=.6"
    )
    assert impact(audit).lo == Fraction(5, 8)
    assert audit.exit_code == 0
    assert audit.least_favored == {"sex": "a"}
    assert [one.group["sex"] for one in audit.groupings[0].left_out] == ["c"]
    assert any("fewer than 4 rows" in text for text in audit.warnings)
    held = checked(audit)
    assert held["publishing"] == {"min_group": 4, "suppress_below": None}
    assert [one["note"] for one in held["groupings"][0]["groups"]][2] == "fewer than 4 rows: left out of every measure"
    assert "c" not in {one["group"]["sex"] for one in held["groupings"][0]["adverse_impact"]["groups"]}
    assert impact(justicia.audit_decisions(table, decision="hired")).lo == 0


@pytest.mark.parametrize("option", ["min_group", "suppress_below"])
def test_requirements_on_groups_that_are_left_out_are_undecided(option):
    table = decided({"a": (20, 40), "b": (20, 40), "c": (1, 3), "d": (4, 8)})
    everybody = justicia.audit_decisions(
        table, decision="hired", **{option: 100}, require="sample.disparate_impact>=.8", tests=True
    )
    assert everybody.exit_code == 3
    assert everybody.most_favored is None
    checked(everybody)
    one = justicia.audit_decisions(table, decision="hired", **{option: 9}, require="sample.selection_rate[sex=c]>=.1")
    assert one.requirements[0].status == "undecided"
    assert "enters a measure" in one.requirements[0].reason
    with pytest.raises(justicia.InputError, match="nobody has 'x'"):
        justicia.audit_decisions(table, decision="hired", **{option: 9}, require="sample.selection_rate[sex=x]>=.1")


def test_people_of_unknown_group_leave_a_range():
    table = pd.concat(
        [decided({"f": (45, 100), "m": (50, 100)}), pd.DataFrame({"sex": [None] * 20, "hired": [1, 0] * 10})]
    )
    options = {"decision": "hired", "missing": "bounds"}
    audit = justicia.audit_decisions(
        table, **options, require=["sample.disparate_impact>=0.74", "sample.disparate_impact>=0.8"]
    )
    assert impact(audit).lo == Fraction(9, 10)  # complete cases
    held = checked(audit)["groupings"][0]["missing_bounds"]
    assert (held["people"], held["selected"], held["exact"]) == (20, 10, True)
    assert held["disparate_impact"]["lo"] == 0.75
    assert held["disparate_impact"]["hi"] == pytest.approx(0.999, abs=5e-4)
    assert [one.status for one in audit.requirements] == ["met", "undecided"]
    assert audit.exit_code == 3
    breached = justicia.audit_decisions(table, **options, require="sample.statistical_parity_difference<=0.0001")
    assert breached.exit_code == 1
    rate = justicia.audit_decisions(table, **options, require="sample.selection_rate[sex=f]>=0.4")
    assert rate.exit_code == 0  # at worst 45/110
    labelled = table.assign(y=table["hired"])
    by_outcome = justicia.audit_decisions(
        labelled, **options, label="y", require="sample.equal_opportunity_difference<=.1"
    )
    assert by_outcome.exit_code == 3
    assert "0.7500 to 0.9992" in audit.to_text()
    for ways, groups in (("group", 3), ("drop", 2)):
        other = justicia.audit_decisions(table, decision="hired", missing=ways)
        assert len(rates(other)) == groups
    assert checked(other)["data"]["dropped"] == {"no value in sensitive column sex": 20}


def test_people_of_whom_one_column_is_known_may_be_in_some_groups():
    table = pd.DataFrame(
        {
            "race": ["a"] * 8 + ["b"] * 8 + ["a", None],
            "sex": ["f", "m"] * 8 + [None, "f"],
            "hired": [1, 0, 0, 1] * 4 + [1, 0],
        }
    )
    audit = justicia.audit_decisions(table, decision="hired", sensitive_features=["race", "sex"], missing="bounds")
    held = audit.groupings[0].missing
    # a,f and a,m have 2 of 4 and one selected person more in one of them; a,f and b,f one rejected person more.
    found = {tuple(group.values()): rate for group, rate in zip(audit.groupings[0].possible, held.rates, strict=True)}
    assert (found["a", "f"].lo, found["a", "f"].hi) == (Fraction(2, 5), Fraction(3, 5))
    assert (found["a", "m"].lo, found["a", "m"].hi) == (Fraction(1, 2), Fraction(3, 5))
    assert (found["b", "m"].lo, found["b", "m"].hi) == (Fraction(1, 2), Fraction(1, 2))
    assert (found["b", "f"].lo, found["b", "f"].hi) == (Fraction(2, 5), Fraction(1, 2))
    assert held.disparate_impact.lo == Fraction(2, 3)


def test_a_bundled_table_and_values_given_apart():
    audit = justicia.audit_decisions("adult", decision="income", sensitive_features="sex")
    assert audit.favorable_text == "income is >50K"
    table = decided({"f": (3, 10), "m": (6, 12)})
    apart = justicia.audit_decisions(table[["sex"]], decision=table["hired"].to_numpy())
    assert rates(apart) == {("f",): Fraction(3, 10), ("m",): Fraction(1, 2)}
    with pytest.raises(justicia.InputError, match="3 values and the table 22 rows"):
        justicia.audit_decisions(table[["sex"]], decision=[1, 0, 1])


def test_the_reference_group_and_the_frame():
    table = decided(INTERSECTION, ("race", "sex"))
    audit = justicia.audit_decisions(table, decision="hired", reference="race=W,sex=m")
    held = checked(audit)["groupings"][0]
    beside = {tuple(one["group"].values()): one["to_reference"] for one in held["groups"]}
    assert beside["W", "m"] is None
    assert beside["H", "f"]["sample_ratio"] == pytest.approx(0.25 / 0.4)
    assert beside["H", "f"]["ratio"] is None
    frame = audit.by_group
    assert frame.loc[("H", "f"), "sample_rate"] == 0.25
    assert frame.index.names == ["race", "sex"]
    with pytest.raises(justicia.InputError, match="nobody has 'X' in 'race'"):
        justicia.audit_decisions(table, decision="hired", reference="race=X,sex=m")
