"""Columns whose values ran together, and rows that predict refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.errors import UnsupportedModelError

GROUPS = ["p", "q"]


def agree(model, table, favorable=1):
    """Audit the rows, and compare with the model's own predict."""
    groups = np.array((GROUPS * len(table))[: len(table)])
    held = justicia.verify(model, table, sensitive_features=groups, favorable=favorable, population="empirical")
    chosen = pd.Series(model.predict(table) == favorable)
    for group in held.groupings[0].groups:
        member = groups == group.group["sensitive_feature"]
        assert float(group.selection_rate.lo) == pytest.approx(chosen[member].mean(), abs=1e-12)
    return held


def behind(encoder):
    return make_pipeline(
        make_column_transformer((encoder, ["a"]), remainder="passthrough"), DecisionTreeClassifier(random_state=0)
    )


def test_a_category_called_none_is_not_the_absence_of_all():
    rng = np.random.default_rng(0)
    race = rng.choice(["(none)", "A", "B", "C"], 400)
    table = pd.get_dummies(pd.DataFrame({"race": race, "x": rng.normal(size=400)})).drop(columns="race_C")
    label = ((race == "(none)") ^ (rng.random(400) < 0.1)).astype(int)
    model = DecisionTreeClassifier(max_depth=3).fit(table, label)
    held = justicia.verify(model, table, sensitive_features="race", favorable=1, population="empirical")
    chosen = model.predict(table)
    expected = {name: chosen[race == name].sum() for name in ("(none)", "A", "B")}
    expected["(none)'"] = chosen[race == "C"].sum()
    assert {group.group["race"]: group.selected for group in held.groupings[0].groups} == expected


def test_a_rate_does_not_depend_on_what_else_is_asked():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({f"s{i}": rng.integers(0, 9, 6000) for i in range(4)})
    table["a"] = rng.normal(size=6000) + table["s0"] * 0.1
    table["b"] = rng.normal(size=6000)
    table["c"] = table["a"].round(1)
    label = ((table["a"] + table["b"] + rng.normal(size=6000)) > 0.3).astype(int)
    model = DecisionTreeClassifier(max_depth=9, random_state=0).fit(table, label)
    one, both = (
        justicia.verify(model, table, sensitive_features=groupings, y=label, favorable=1).groupings[0].groups
        for groupings in ([["s0"]], [["s0"], ["s1", "s2", "s3"]])
    )
    for kind in ("selection_rate", "tpr", "fpr"):
        first = [float(getattr(group, kind).lo) for group in one]
        assert first == pytest.approx([float(getattr(group, kind).lo) for group in both], abs=1e-12)


@pytest.mark.parametrize("encoder", [OneHotEncoder(), OrdinalEncoder(), OneHotEncoder(handle_unknown="ignore")])
@pytest.mark.parametrize("values", [[0, 1, 2, 3], [0.5, 1, 2, 3], [True, False, True, True]])
def test_object_columns_of_numbers(encoder, values):
    table = pd.DataFrame({"a": pd.Series(values * 10, dtype=object), "b": [1.0, 2.0] * 20})
    agree(behind(encoder).fit(table, [0, 0, 0, 1] * 10), table)


def test_none_behind_an_imputer_that_does_not_fill_it():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, 200)
    table = pd.DataFrame({"a": pd.Series([[None, 1, 2, 3, 4][i] for i in codes], dtype=object), "b": 1.0})
    step = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    agree(behind(step).fit(table, (codes > 2).astype(int)), table)


def test_two_marks_for_empty_cells_are_refused_by_name():
    table = pd.DataFrame({"a": pd.Series(["x", np.nan, "w", None] * 10, dtype=object), "b": [1.0, 2.0] * 20})
    model = behind(OneHotEncoder()).fit(table, [0, 0, 0, 1] * 10)
    with pytest.raises(UnsupportedModelError, match="'a' marks empty cells with NoneType and float"):
        agree(model, table)


def test_an_integer_category_with_empty_cells_that_the_tree_does_not_test():
    column = pd.Categorical([1, 2, 3, None] * 10, categories=[1, 2, 3])
    table = pd.DataFrame({"a": pd.Series(column), "b": [1.0, 2.0] * 20})
    step = make_pipeline(SimpleImputer(strategy="constant"), OneHotEncoder(handle_unknown="ignore"))
    agree(behind(step).fit(table, [0, 1] * 20), table)


def test_codes_too_large_for_a_float():
    codes = [2**60 + 4 * i for i in range(5)] * 8
    table = pd.DataFrame({"a": codes, "b": [1.0, 2.0] * 20})
    model = behind(OneHotEncoder(handle_unknown="ignore")).fit(table, [int(code == codes[4]) for code in codes])
    agree(model, table)
