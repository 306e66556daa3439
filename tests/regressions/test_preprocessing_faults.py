"""Pipelines that were refused, or not reproduced, and work."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import justicia
from justicia.errors import UnsupportedModelError
from tests.regressions.common import NUMBERS, TEXT, audit, columns, people, pipeline, rates, tree, truth


@pytest.mark.parametrize("mark", ["?", -1])
@pytest.mark.parametrize("strategy", ["most_frequent", "constant"])
@pytest.mark.parametrize("indicator", [False, True])
@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(sparse_output=False),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        OrdinalEncoder(),
        "passthrough",
    ],
)
def test_an_imputer_with_a_mark_of_its_own(mark, strategy, indicator, encoder):
    values = ["a", "b", "?", "c"] if mark == "?" else [1, 2, -1, 3]
    if isinstance(encoder, str) and mark == "?":
        pytest.skip("text reaches no tree")
    table = pd.DataFrame({"job": values * 50, "sex": ["M", "F"] * 100})
    fill = {"fill_value": "d" if mark == "?" else 9} if strategy == "constant" else {}
    imputer = SimpleImputer(missing_values=mark, strategy=strategy, add_indicator=indicator, **fill)
    step = ColumnTransformer([("job", make_pipeline(imputer, encoder), ["job"])])
    model = make_pipeline(step, tree()).fit(table, ["no", "yes", "no", "yes"] * 50)
    held = audit(model, table)
    assert rates(held) == pytest.approx(truth(model, table, table["sex"]))
    assert held.unseen == {}
    assert held.warnings == ()


def test_nullable_numbers_with_an_imputer():
    table = pd.DataFrame({"age": pd.array([20, None, 40, 50] * 50, dtype="Int64"), "sex": ["M", "F"] * 100})
    step = ColumnTransformer([("age", SimpleImputer(), ["age"])])
    model = make_pipeline(step, tree()).fit(table, ["no", "yes", "no", "yes"] * 50)
    assert rates(audit(model, table)) == pytest.approx(truth(model, table, table["sex"]))


@pytest.mark.parametrize("encode", ["ordinal", "onehot", "onehot-dense"])
def test_a_discretizer_that_computes_in_float32(encode):
    table, out = people()
    bins = KBinsDiscretizer(3, encode=encode, dtype=np.float32, strategy="uniform")
    model = make_pipeline(ColumnTransformer([("bins", bins, NUMBERS)]), tree(3)).fit(table, out)
    assert rates(audit(model, table)) == pytest.approx(truth(model, table, table["sex"]))


@pytest.mark.parametrize("weight", [0.5, -2.0, 0.0])
def test_weights_of_a_column_transformer(weight):
    table, out = people()
    step = ColumnTransformer(
        [("text", OneHotEncoder(), TEXT), ("numbers", "passthrough", NUMBERS)], transformer_weights={"numbers": weight}
    )
    model = make_pipeline(step, tree()).fit(table, out)
    assert rates(audit(model, table)) == pytest.approx(truth(model, table, table["sex"]))


def test_a_nested_pipeline_that_begins_with_passthrough():
    table, out = people()
    model = make_pipeline(make_pipeline("passthrough", columns()), tree()).fit(table, out)
    assert rates(audit(model, table)) == pytest.approx(truth(model, table, table["sex"]))


def test_a_column_transformer_after_another_step():
    table, out = people()
    numbers = table[NUMBERS]
    late = ColumnTransformer([("bins", KBinsDiscretizer(3, strategy="uniform"), [0])], remainder="passthrough")
    model = make_pipeline(StandardScaler(), late, tree(3)).fit(numbers, out)
    with pytest.raises(UnsupportedModelError, match="KBinsDiscretizer after a scaler"):
        justicia.verify(model, table, sensitive_features="sex", favorable="yes")
    late = ColumnTransformer([("scale", StandardScaler(), [1])], remainder="passthrough")
    model = make_pipeline(StandardScaler(), late, tree(3)).fit(numbers, out)
    assert rates(audit(model, table)) == pytest.approx(truth(model, numbers, table["sex"]))


def test_a_regressor_is_no_classifier():
    table, _ = people()
    model = DecisionTreeRegressor(max_depth=2).fit(table[["age"]], table["pay"])
    with pytest.raises(UnsupportedModelError, match="is no classifier"):
        audit(model, table)


@pytest.mark.parametrize(
    "damage",
    [
        lambda model: setattr(model[-1], "tree_", None),
        lambda model: setattr(model[-1], "classes_", ("no", "yes")),
        lambda model: setattr(model[-1], "classes_", np.array(["a", "b", "c"])),
        lambda model: setattr(model[0], "feature_names_in_", 7),
        lambda model: setattr(model[0], "feature_names_in_", np.array(["age"] * 5, dtype=object)),
        lambda model: delattr(model[0], "transformers_"),
    ],
)
def test_edited_models_are_refused_in_one_line(damage):
    table, _ = people()
    model = pipeline()
    damage(model)
    with pytest.raises(ValueError, match=r"."):
        audit(model, table)


ENCODERS = {
    "one-hot": OneHotEncoder(sparse_output=False),
    "one-hot ignore": OneHotEncoder(handle_unknown="ignore"),
    "ordinal": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    "imputed": make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
}


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("kind", ["object", "str", "category", "boolean", "Int64", "Float64"])
def test_empty_cells_in_columns_of_every_type(kind, encoder):
    rng = np.random.default_rng(0)
    words = rng.choice(np.array(["x", "y", None], dtype=object), 300)
    column = pd.Series(words, dtype=object)
    if kind == "boolean":
        column = column.map({"x": True, "y": False}).astype("boolean")
    elif kind in ("Int64", "Float64"):
        column = column.map({"x": 1, "y": 2}).astype(kind)
    elif kind == "str":
        pytest.importorskip("pandas", minversion="3")
        column = column.astype(pd.StringDtype(na_value=np.nan))
    elif kind != "object":
        column = column.astype(kind)
    table = pd.DataFrame({"job": column, "sex": rng.choice(["m", "f"], 300)})
    out = np.where(column.isna() | (rng.random(300) < 0.5), "yes", "no")
    model = make_pipeline(ColumnTransformer([("job", ENCODERS[encoder], ["job"])]), tree(3)).fit(table, out)
    held = audit(model, table)
    assert rates(held) == pytest.approx(truth(model, table, table["sex"]))
    assert "(missing)" in held.population.domain.features[0].labels
