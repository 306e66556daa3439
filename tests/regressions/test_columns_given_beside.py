"""Sensitive features and labels given as data never reach the model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.regressions.common import NUMBERS, audit, people, pipeline, rates, tree, truth


def test_a_feature_of_the_same_name_stays_the_models_own():
    table, _ = people()
    model = pipeline()
    decade = table["age"] // 10 * 10
    assert rates(audit(model, table, sensitive_features=decade)) == pytest.approx(truth(model, table, decade))
    words = table["sex"].map({"M": "male", "F": "female"})
    assert rates(audit(model, table, sensitive_features=words)) == pytest.approx(truth(model, table, words))
    old = pd.Series(np.where(table["age"] > 40, "old", "young"), name="age")
    assert rates(audit(model, table, sensitive_features=old)) == pytest.approx(truth(model, table, old))


def test_a_label_of_the_same_name_stays_apart():
    table, out = people()
    held = audit(pipeline(), table, y=out.rename("pay"))
    assert held.roles.truth.positive.sum() == (out == "yes").sum()


def test_they_do_not_count_as_columns_of_a_model_without_names():
    table, out = people()
    model = tree().fit(table[NUMBERS].to_numpy(), out)
    expected = truth(model, table[NUMBERS].to_numpy(), table["sex"])
    assert rates(audit(model, table[NUMBERS], sensitive_features=table["sex"], y=out)) == pytest.approx(expected)
    wider = tree().fit(table[NUMBERS].assign(s=0).to_numpy(), out)
    with pytest.raises(ValueError, match="takes 3 columns; the table has 2"):
        audit(wider, table[NUMBERS], sensitive_features=table["sex"])


def test_a_given_label_is_the_label():
    table, out = people()
    model = pipeline()
    other = table.assign(other=np.where(table["age"] > 40, "yes", "no"))
    assert audit(model, other, y=out).roles.truth.positive.sum() == (out == "yes").sum()
    as_bool = audit(model, table, y=(out == "yes"))
    assert as_bool.roles.truth.positive.tolist() == (out == "yes").tolist()


def test_a_given_label_goes_before_the_data_sets_own():
    import justicia
    from justicia import datasets

    frame, _ = datasets.load("ricci")
    mine = pd.Series(["no"] * 117 + ["yes"], name="mine")
    held = justicia.verify("tree", frame, y=mine, sensitive_features="race")
    assert held.roles.truth.name == "mine"
    assert held.roles.truth.positive.sum() == 1


@pytest.mark.parametrize("kind", ["list", "categorical", "dict", "index", "array of names", "rows"])
def test_forms_of_sensitive_features(kind):
    table, _ = people()
    model = pipeline()
    given = {
        "list": table["sex"].tolist(),
        "categorical": pd.Categorical(table["sex"]),
        "dict": {"sex": table["sex"].tolist()},
        "index": pd.Index(["sex"]),
        "array of names": np.array(["sex"]),
        "rows": [[value] for value in table["sex"]],
    }[kind]
    assert rates(audit(model, table, sensitive_features=given)) == pytest.approx(truth(model, table, table["sex"]))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"y": "out"}, "pass label='out'"),
        ({"y": 3}, "one a row"),
        ({"y": [1, 0], "label": "sex"}, "both given"),
        ({"y": np.zeros((400, 2))}, "2 dimensions"),
        ({"y": pd.DataFrame({"a": [1] * 400, "b": [1] * 400})}, "2 columns"),
        ({"sensitive_features": pd.DataFrame([[1, 2]] * 400, columns=["a", "a"])}, "names a column twice"),
        ({"sensitive_features": pd.Series([[1]] * 400, name="s")}, "no single words"),
        ({"favorable": []}, "no favorable outcome"),
        ({"require": [0.8]}, "a requirement is a text"),
        ({"confidence": "a"}, "is a number"),
        ({"confidence": 1.0}, "between 0 and 1"),
        ({"time_limit": -1}, "no number of seconds"),
        ({"time_limit": float("nan")}, "no number of seconds"),
        ({"features": "age,pay"}, "has its own"),
    ],
)
def test_calls_that_cannot_be_meant(options, says):
    table, _ = people()
    with pytest.raises(ValueError, match=says):
        audit(pipeline(), table, **options)


def test_columns_of_a_label_frame_and_of_one_dimension_more():
    table, out = people()
    for y in (out.to_frame(), out.to_numpy()[:, None]):
        assert audit(pipeline(), table, y=y).roles.truth.positive.sum() == (out == "yes").sum()


def test_a_sensitive_column_may_be_called_n():
    table, _ = people()
    held = audit(pipeline(), table.assign(n=table["sex"]), sensitive_features="n")
    assert sorted(held.by_group.index) == ["F", "M"]
    assert held.by_group["n"].sum() == 400
