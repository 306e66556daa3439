"""Functions of one's own before a model: the type of a column, and what stands beside a number, may matter to them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.errors import UnsupportedModelError


def table(kind: str) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": pd.array(rng.integers(1, 120, size=300), dtype=kind), "sex": ["F", "M"] * 150})
    return frame, (rng.random(300) < frame["a"].astype(float) / 120).astype(int).to_numpy()


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "Int64", "float32", "Float64"])
@pytest.mark.parametrize(
    "function", [np.reciprocal, np.negative, lambda values: values // 7, lambda values: values * 3]
)
@pytest.mark.parametrize("estimator", [RidgeClassifier(), DecisionTreeClassifier(max_depth=3)])
def test_integers_are_given_as_integers(kind, function, estimator):
    # np.reciprocal of an int8 is 0, and 3 * 100 overflows one.
    frame, label = table(kind)
    if kind in ("Int64", "Float64") and function is np.reciprocal:
        pytest.skip("pandas has its own division there")
    model = make_pipeline(FunctionTransformer(function), estimator).fit(frame[["a"]], label)
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable=1, population="empirical")
    chosen = model.predict(frame[["a"]])
    for group in audit.groupings[0].groups:
        assert float(group.selection_rate.lo) == chosen[frame["sex"] == group.group["sex"]].mean()


def test_integers_beyond_float_are_told_apart():
    base = 2**60
    frame = pd.DataFrame({"a": [base + i % 4 for i in range(200)], "sex": ["F", "M"] * 100})
    label = np.array([0, 0, 1, 1] * 50)
    steps = make_pipeline(FunctionTransformer(lambda values: values % 4), StandardScaler(), LogisticRegression())
    model = steps.fit(frame[["a"]], label)
    assert model.predict(frame[["a"]]).mean() == 0.5
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable=1, population="independent")
    assert [float(group.selection_rate) for group in audit.groupings[0].groups] == pytest.approx([0.5, 0.5])


def test_bins_behind_a_falling_function():
    frame, label = table("float32")
    steps = make_pipeline(
        FunctionTransformer(np.negative), KBinsDiscretizer(4, encode="onehot-dense", strategy="uniform")
    )
    model = make_pipeline(steps, LogisticRegression()).fit(frame[["a"]], label)
    assert justicia.verify(model, frame, sensitive_features="sex", favorable=1).self_check.rows == 300


@pytest.mark.parametrize(
    "function",
    [
        lambda values: np.asarray(values) / np.max(values),
        lambda values: np.column_stack([np.asarray(values)[:, 0], np.asarray(values).sum(axis=1)]),
        lambda values: np.asarray(values) * np.asarray(values)[:, ::-1],
        lambda values: np.asarray(values)[::-1],
        lambda values: np.asarray(values).cumsum(axis=0),
    ],
)
def test_functions_that_look_around_are_refused(function):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200), "sex": ["F", "M"] * 100})
    label = (frame["a"] + frame["b"] > 0).astype(int)
    model = make_pipeline(FunctionTransformer(function), RidgeClassifier()).fit(frame[["a", "b"]], label)
    with pytest.raises(UnsupportedModelError, match="each number a number of its own"):
        justicia.verify(model, frame, sensitive_features="sex", favorable=1)


def test_functions_may_raise_anything():
    def picky(values):
        assert np.asarray(values).shape[1] == 1
        if np.asarray(values).min() < 1:
            raise RuntimeError("too small")
        return values

    frame, label = table("int64")
    model = make_pipeline(FunctionTransformer(picky), RidgeClassifier()).fit(frame[["a"]], label)
    with pytest.raises(UnsupportedModelError, match="each number a number of its own"):
        justicia.verify(model, frame, sensitive_features="sex", favorable=1)
