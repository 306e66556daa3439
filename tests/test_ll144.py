"""The layout of Local Law 144: selection and scoring tools, small and unknown categories."""

from __future__ import annotations

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.report.json import schema
from tests.decision_cases import INTERSECTION, decided


def laid_out(audit):
    held = audit.to_dict()
    jsonschema.Draft202012Validator(schema()).validate(held)
    return held["layout"], {table["title"]: table for table in held["layout"]["tables"]}


def ratios(table):
    return {tuple(one["group"].values()): one["impact_ratio"] for one in table["categories"]}


def test_three_tables_each_with_its_own_highest_rate():
    audit = justicia.audit_decisions(decided(INTERSECTION, ("race", "sex")), decision="hired", layout="ll144")
    layout, tables = laid_out(audit)
    assert layout["statement"] == "calculation in LL144 format"
    assert list(tables) == ["sex", "race/ethnicity", "intersection"]
    assert ratios(tables["sex"]) == pytest.approx({("f",): 55 / 130 / (70 / 160), ("m",): 1.0})
    assert ratios(tables["race/ethnicity"]) == pytest.approx({("H",): 0.4 / (85 / 190), ("W",): 1.0})
    assert ratios(tables["intersection"]) == pytest.approx(
        {("H", "f"): 0.5, ("H", "m"): 1, ("W", "f"): 1, ("W", "m"): 0.8}
    )
    assert [table["unknown"] for table in tables.values()] == [0, 0, 0]
    text = audit.to_text()
    assert "calculation in LL144 format" in text
    for word in ("compliant", "compliance", "fair ", "unbiased"):
        assert word not in text.casefold()


def test_scores_strictly_above_the_median_of_the_full_sample():
    # Median of 8 scores, one of them of unknown sex: 4.5; above it are 5, 6, 7 and 8.
    table = pd.DataFrame(
        {"gender": ["f", "f", "f", "m", "m", "m", "m", None], "race": ["a", "b"] * 4, "s": [1, 5, 2, 6, 7, 3, 4, 8]}
    )
    audit = justicia.audit_decisions(table, score="s", layout="ll144")
    layout, tables = laid_out(audit)
    assert (layout["median"], layout["median_of"]) == (4.5, 8)
    sex = {one["group"]["gender"]: (one["n"], one["selected"]) for one in tables["sex"]["categories"]}
    assert sex == {"f": (3, 1), "m": (4, 2)}
    assert (tables["sex"]["unknown"], tables["race/ethnicity"]["unknown"], tables["intersection"]["unknown"]) == (
        1,
        0,
        1,
    )
    assert ratios(tables["sex"]) == pytest.approx({("f",): (1 / 3) / (1 / 2), ("m",): 1})
    # A tie at the median is not above it.
    ties = pd.DataFrame({"sex": list("ffmm"), "race": list("abab"), "s": [1, 2, 2, 3]})
    _, tables = laid_out(justicia.audit_decisions(ties, score="s", layout="ll144"))
    assert [one["selected"] for one in tables["sex"]["categories"]] == [0, 1]
    assert "above median" in audit.to_text()
    cut = justicia.audit_decisions(table, score="s", threshold=7, layout="ll144")
    assert laid_out(cut)[0]["median"] is None


def test_categories_below_two_percent_keep_their_count_and_rate():
    # 2 of 101 are below 2 %, 2 of 100 are not.
    for others, small in ((99, True), (98, False)):
        table = decided({("x", "f"): (2, 2), ("a", "f"): (10, 49), ("a", "m"): (20, others - 49)}, ("race", "sex"))
        _, tables = laid_out(justicia.audit_decisions(table, decision="hired", layout="ll144"))
        race = {one["group"]["race"]: one for one in tables["race/ethnicity"]["categories"]}
        assert (race["x"]["n"], race["x"]["selected"], race["x"]["rate"]) == (2, 2, 1.0)
        assert (race["x"]["impact_ratio"] is None) == small
        assert ("2 %" in (race["x"]["left_out"] or "")) == small
        # Left out, it is not the highest either.
        assert race["a"]["impact_ratio"] == pytest.approx(1.0 if small else 30 / others)


def test_columns_are_told_by_name_or_by_order():
    table = decided(INTERSECTION, ("race", "sex"))
    renamed = table.rename(columns={"race": "group_1", "sex": "group_2"})
    with pytest.raises(justicia.InputError, match="no sensitive column is found"):
        justicia.audit_decisions(renamed, decision="hired", layout="ll144")
    audit = justicia.audit_decisions(renamed, decision="hired", layout="ll144", sensitive_features="group_2,group_1")
    assert laid_out(audit)[1]["sex"]["sensitive"] == ["group_2"]
    with pytest.raises(justicia.InputError, match="one column of sex and one of race"):
        justicia.audit_decisions(table, decision="hired", layout="ll144", sensitive_features="sex")
    with pytest.raises(justicia.InputError, match="counts people of unknown category apart"):
        justicia.audit_decisions(table, decision="hired", layout="ll144", missing="group")


def test_suppression_reaches_the_layout():
    table = decided(
        {("H", "m"): (30, 60), ("W", "m"): (40, 100), ("H", "f"): (3, 40), ("W", "f"): (45, 90)}, ("race", "sex")
    )
    audit = justicia.audit_decisions(table, decision="hired", layout="ll144", suppress_below=10)
    _, tables = laid_out(audit)
    cells = {tuple(one["group"].values()): one for one in tables["intersection"]["categories"]}
    assert cells["H", "f"]["selected"] is None
    assert cells["H", "f"]["left_out"] == "suppressed"
    assert f"{3 / 40:.4f}" not in audit.to_text()


def test_a_model_in_the_layout():
    rng = np.random.default_rng(1)
    n = 200
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "race": rng.choice(["a", "b"], n), "x": rng.normal(size=n)})
    model = DecisionTreeClassifier(max_depth=2).fit(table[["x"]], table["x"] > 0.3)
    table.loc[:4, "sex"] = None
    audit = justicia.verify(model, table, layout="ll144", favorable=True)
    layout, tables = laid_out(audit)
    assert tables["sex"]["unknown"] == 5
    by_race = (table["x"] > 0.3).groupby(table["race"]).agg(["sum", "size"])
    assert [(one["selected"], one["n"]) for one in tables["race/ethnicity"]["categories"]] == [
        tuple(row) for row in by_race.to_numpy().tolist()
    ]
    assert "calculation in LL144 format" in audit.to_text()
    assert layout["median"] is None
