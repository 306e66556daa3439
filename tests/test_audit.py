"""The Python interface."""

from __future__ import annotations

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.report.json import schema


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 300), "race": rng.choice(["a", "b", "c"], 300), "x": rng.normal(size=300)}
    )
    label = (frame["x"] + (frame["sex"] == "m") > 0.5).astype(int)
    model = DecisionTreeClassifier(max_depth=3).fit(frame[["x"]], label)
    return frame, label, model


def rates(audit):
    return [float(group.selection_rate.lo) for group in audit.groupings[0].groups if group.n]


def test_ways_to_name_sensitive_features(people):
    frame, _, model = people
    by_name = justicia.verify(model, frame, sensitive_features=["race", "sex"])
    assert by_name.groupings[0].sensitive == ("race", "sex")
    assert len(by_name.groupings) == 1
    several = justicia.verify(model, frame, sensitive_features=[["race", "sex"], ["sex"], ["race"]])
    assert [grouping.sensitive for grouping in several.groupings] == [("race", "sex"), ("sex",), ("race",)]
    only_x = frame[["x"]]
    for given in (frame[["race", "sex"]], frame[["race", "sex"]].to_numpy()):
        assert rates(justicia.verify(model, only_x, sensitive_features=given)) == rates(by_name)
    for given in (frame["sex"], frame["sex"].to_numpy()):
        assert rates(justicia.verify(model, only_x, sensitive_features=given)) == rates(
            justicia.verify(model, frame, sensitive_features="sex")
        )
    with pytest.raises(ValueError, match="mixes names and lists"):
        justicia.verify(model, frame, sensitive_features=["race", ["sex"]])
    with pytest.raises(ValueError, match="is empty"):
        justicia.verify(model, frame, sensitive_features=[])


def test_labels_given_beside_the_table(people):
    frame, label, model = people
    for y in (label, label.to_numpy(), label.tolist()):
        audit = justicia.verify(model, frame, sensitive_features="sex", y=y)
        counts = [(group.positives, group.negatives) for group in audit.groupings[0].groups]
        by_sex = label.groupby(frame["sex"]).agg(["sum", "count"])
        assert counts == [(row["sum"], row["count"] - row["sum"]) for _, row in by_sex.iterrows()]
    with pytest.raises(ValueError, match="has 2 values and the table 300 rows"):
        justicia.verify(model, frame, sensitive_features="sex", y=[0, 1])


def test_results_are_what_the_contract_says(people):
    frame, label, model = people
    audit = justicia.verify(model, frame, sensitive_features=["race", "sex"], y=label, require="disparate_impact>=0.8")
    table = audit.by_group
    assert table.index.names == ["race", "sex"]
    assert len(table) == 6
    assert float(audit.disparate_impact) == pytest.approx(table["selection_rate"].min() / table["selection_rate"].max())
    assert float(audit.statistical_parity_difference) == pytest.approx(np.ptp(table["selection_rate"]))
    best = table["selection_rate"].idxmax()
    assert tuple(audit.most_favored.values()) == best
    assert audit.population.sample(audit.least_favored, 5, random_state=0).shape == (5, 1)
    jsonschema.Draft202012Validator(schema()).validate(audit.to_dict())
    assert "most favored" in audit.to_text()
    assert audit.exit_code in (0, 1)
    fit = audit.to_dict()["groupings"][0]["population"]["fit"]
    errors = (table["selection_rate"] - table["sample_rate"]).abs()
    assert fit["max_abs_error"] == pytest.approx(errors.max())
    assert fit["mean_abs_error"] == pytest.approx(errors.mean())


def test_empty_groups_are_listed_and_enter_no_extreme(people):
    frame, _, model = people
    frame = frame[~((frame["sex"] == "m") & (frame["race"] == "a"))]
    audit = justicia.verify(model, frame, sensitive_features=["race", "sex"])
    empty = [group for group in audit.groupings[0].groups if group.n == 0]
    assert [group.group for group in empty] == [{"race": "a", "sex": "m"}]
    assert empty[0].selection_rate is None
    assert empty[0].note == "empty: no rows"
    assert audit.disparate_impact is not None
    jsonschema.Draft202012Validator(schema()).validate(audit.to_dict())


def test_sensitive_columns_in_and_out_of_the_model_of_every_type(people):
    frame, label, _ = people
    kinds = {
        "int": frame["sex"].map({"f": 0, "m": 1}),
        "float": frame["sex"].map({"f": 0.0, "m": 1.0}),
        "category": frame["sex"].map({"f": 0, "m": 1}).astype("category"),
        "object": frame["sex"].map({"f": 0, "m": 1}).astype(object),
        "text": frame["sex"].map({"f": "0", "m": "1"}),
        "string": frame["sex"].map({"f": "0", "m": "1"}).astype("string"),
    }
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(
        pd.DataFrame({"sex": kinds["int"], "x": frame["x"]}), label
    )
    audits = [justicia.verify(model, frame.assign(sex=column), sensitive_features="sex") for column in kinds.values()]
    assert all(rates(audit) == rates(audits[0]) for audit in audits)
    assert all(audit.to_dict()["groupings"] == audits[0].to_dict()["groupings"] for audit in audits)


def test_intersection_hides_no_harm():
    # Selected of total: male-H 30/60, male-W 40/100, female-H 10/40, female-W 45/90.
    cells = {("male", "H"): (30, 60), ("male", "W"): (40, 100), ("female", "H"): (10, 40), ("female", "W"): (45, 90)}
    rows = [{"sex": sex, "race": race, "x": float(i < k)} for (sex, race), (k, n) in cells.items() for i in range(n)]
    frame = pd.DataFrame(rows)
    model = DecisionTreeClassifier().fit(frame[["x"]], frame["x"].astype(int))
    audit = justicia.verify(
        model, frame, sensitive_features=[["sex"], ["race"], ["sex", "race"]], population="empirical"
    )
    values = [float(grouping.measures["disparate_impact"].verified.value) for grouping in audit.groupings]
    assert [round(value, 3) for value in values] == [0.967, 0.894, 0.5]


def test_a_model_that_depends_on_nothing(people):
    frame, _, _ = people
    model = DecisionTreeClassifier(max_depth=1).fit(frame[["x"]], np.ones(300, dtype=int))
    audit = justicia.verify(model, frame, sensitive_features="sex")
    assert rates(audit) == [1.0, 1.0]
    assert audit.features == ()
    assert "depends on no column" in audit.warnings[0]
    assert "nothing" in audit.to_text()


def test_many_groups_stay_readable(people):
    _, _, model = people
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"g": [f"g{i}" for i in rng.integers(0, 500, 3000)], "x": rng.normal(size=3000)})
    audit = justicia.verify(model, frame, sensitive_features="g")
    text = audit.to_text()
    assert "--all-groups" in text
    assert "smallest groups" in text
    assert len(text.splitlines()) < 80
    whole = audit.to_text(all_groups=True)
    assert len(whole.splitlines()) > len(audit.by_group)
    smallest = audit.by_group["n"].idxmin()
    assert smallest in text


def test_missing_sensitive_values(people):
    frame, label, model = people
    frame = frame.copy()
    frame.loc[:9, "race"] = None
    with pytest.raises(ValueError, match=r"'race' has no value in 10 rows of 300: pass missing='group'"):
        justicia.verify(model, frame, sensitive_features="race")
    grouped = justicia.verify(model, frame, sensitive_features="race", missing="group")
    assert [(g.group["race"], g.n) for g in grouped.groupings[0].groups][-1] == ("(missing)", 10)
    dropped = justicia.verify(model, frame, sensitive_features="race", missing="drop", y=label)
    held = dropped.to_dict()
    assert held["data"]["rows"] == 300
    assert held["data"]["rows_used"] == 290
    assert held["data"]["dropped"] == {"no value in sensitive column race": 10}
    assert sum(g.n for g in dropped.groupings[0].groups) == 290
    assert sum(g.positives for g in dropped.groupings[0].groups) == label[10:].sum()
    assert "10 rows are left out" in dropped.warnings[0]
    jsonschema.Draft202012Validator(schema()).validate(held)


def test_bins_of_a_column_that_the_model_uses_do_not_leak():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 400), "x": rng.normal(size=400)})
    label = ((frame["age"] > 40) & (frame["x"] > 0)).astype(int)
    model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(frame, label)
    for structure in ("tree", "independent", "empirical"):
        audit = justicia.verify(
            model, frame, sensitive_features="age", bins={"age": [25, 40, 60]}, population=structure
        )
        young = [group for group in audit.groupings[0].groups if group.group["age"] in ("<= 25", "(25, 40]")]
        assert [float(group.selection_rate.hi) for group in young] == [0.0, 0.0]
        drawn = audit.population.sample({"age": "(40, 60]"}, 200, random_state=0)
        assert drawn["age"].between(41, 60).all()


def test_unknown_choices(people):
    frame, _, model = people
    for options, says in (({"missing": "ignore"}, "missing cannot be"), ({"search": "lern"}, "did you mean learn")):
        with pytest.raises(ValueError, match=says):
            justicia.verify(model, frame, sensitive_features="sex", **options)
