"""Reweighing: weights by hand, independence in the weighted rows, AIF360's weights, cells without rows."""

from __future__ import annotations

import logging
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from justicia.errors import GroupingError, InputError, LabelError, UnsupportedModelError
from justicia.mitigation import refit, reweigh, reweighing_cells

# Kamiran and Calders (2012), table 1: sex and class of ten applicants for a job; their weights .75, 2, 1.5, .67.
SEX = ["m", "m", "m", "m", "m", "f", "f", "f", "f", "f"]
CLASS = ["+", "+", "+", "+", "-", "+", "+", "-", "-", "-"]


def test_weights_of_the_paper():
    weights = reweigh(CLASS, SEX)
    by_hand = {("m", "+"): 0.75, ("m", "-"): 2.0, ("f", "+"): 1.5, ("f", "-"): 2 / 3}
    np.testing.assert_allclose(weights, [by_hand[key] for key in zip(SEX, CLASS, strict=True)], atol=1e-15)


def test_cells_as_a_table():
    cells = reweighing_cells(CLASS, {"sex": SEX})
    assert cells.loc[("f", "-"), "rows"] == 3
    assert cells.loc[("f", "-"), "share"] == pytest.approx(0.3)
    assert cells.loc[("f", "-"), "independent"] == pytest.approx(0.2)
    assert cells.loc[("f", "-"), "weight"] == pytest.approx(2 / 3)
    assert list(cells.index.names) == ["sex", "outcome"]


@st.composite
def people(draw):
    n_groups, n_outcomes = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    n = draw(st.integers(1, 60))
    groups = draw(st.lists(st.integers(0, n_groups - 1), min_size=n, max_size=n))
    outcomes = draw(st.lists(st.integers(0, n_outcomes - 1), min_size=n, max_size=n))
    weights = draw(st.none() | st.lists(st.integers(0, 5), min_size=n, max_size=n))
    assume(weights is None or any(weights))
    return np.array(groups), np.array(outcomes), None if weights is None else np.array(weights, dtype=float)


@given(people())
@settings(deadline=None, max_examples=40)
def test_outcome_is_independent_of_the_group_in_the_weighted_rows(held):
    groups, outcomes, given_weights = held
    weights = reweigh(outcomes, groups, sample_weight=given_weights)
    base = np.ones(len(groups)) if given_weights is None else given_weights
    total = base.sum()
    assert (weights >= 0).all()
    assert np.isfinite(weights).all()
    for group in np.unique(groups):
        for outcome in np.unique(outcomes):
            cell = (groups == group) & (outcomes == outcome)
            expected = base[groups == group].sum() * base[outcomes == outcome].sum() / total
            # A cell without weight has nothing to weigh; every other gets what independence gives it.
            assert weights[cell].sum() == pytest.approx(expected if base[cell].any() else 0.0, abs=1e-9)


@given(people())
@settings(deadline=None, max_examples=20)
def test_whole_number_weights_are_repeated_rows(held):
    groups, outcomes, given_weights = held
    assume(given_weights is not None)
    times = given_weights.astype(int)
    repeated = reweigh(np.repeat(outcomes, times), np.repeat(groups, times))
    np.testing.assert_allclose(
        reweigh(outcomes, groups, sample_weight=given_weights)[times > 0],
        (repeated * 1.0)[np.cumsum(times)[times > 0] - 1] * times[times > 0],
        atol=1e-12,
    )


def test_compound_groups_are_one_grouping():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 30, 4000), "b": rng.integers(0, 20, 4000)}).astype(str)
    outcome = rng.integers(0, 2, 4000)
    joined = frame["a"] + "|" + frame["b"]
    np.testing.assert_array_equal(reweigh(outcome, frame), reweigh(outcome, joined))
    assert frame.groupby(["a", "b"]).ngroups > 590


def test_a_group_that_lacks_an_outcome_is_named(caplog):
    with caplog.at_level(logging.WARNING, logger="justicia"):
        weights = reweigh([1, 0, 1, 1], ["f", "f", "m", "m"])
    assert "m with 0" in caplog.text
    # P(m) P(1) / P(m, 1) = 1/2 * 3/4 / (1/2); of women 1/2 * 3/4 / (1/4) and 1/2 * 1/4 / (1/4).
    assert weights.tolist() == [1.5, 0.5, 0.75, 0.75]
    with pytest.raises(GroupingError, match=r"m with 0.*join small groups"):
        reweigh([1, 0, 1, 1], ["f", "f", "m", "m"], empty="error")


def test_rows_without_weight_keep_none_and_divide_by_nothing(caplog):
    weights = reweigh([1, 0, 1, 0], ["f", "f", "m", "m"], sample_weight=[1, 1, 1, 0])
    assert weights.tolist() == pytest.approx([float(Fraction(4, 3)), float(Fraction(2, 3)), float(Fraction(2, 3)), 0])


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: reweigh([], []), InputError, "empty"),
        (lambda: reweigh([1, 0], ["f"]), InputError, "1 row and y 2"),
        (lambda: reweigh([1, None], ["f", "m"]), LabelError, "no value in 1 row"),
        (lambda: reweigh([1, 0], ["f", None]), GroupingError, "missing='group'"),
        (lambda: reweigh([1, 0], ["f", "m"], missing="drop"), InputError, "missing cannot be"),
        (lambda: reweigh([1, 0], ["f", "m"], empty="one"), InputError, "empty cannot be"),
        (lambda: reweigh([1, 0], ["f", "m"], sample_weight=[1, -1]), InputError, "weights are 0 or more"),
        (lambda: reweigh([1, 0], ["f", "m"], sample_weight=[1]), InputError, "1 row and y 2"),
        (lambda: reweigh("10", ["f", "m"]), InputError, "one value a row"),
    ],
)
def test_bad_calls(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_missing_group_is_a_group():
    weights = reweigh([1, 0, 1, 0], ["f", "f", None, None], missing="group")
    assert weights.tolist() == [1, 1, 1, 1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(5))
def test_aif360_has_the_same_weights(seed):
    """Its `Reweighing` of a binary group, and that of its scikit-learn part of any groups, with weights and without."""
    datasets = pytest.importorskip("aif360.datasets")
    preprocessing = pytest.importorskip("aif360.algorithms.preprocessing")
    scikit = pytest.importorskip("aif360.sklearn.preprocessing")
    rng = np.random.default_rng(seed)
    n = 200
    group, y = rng.integers(0, 2, n), rng.integers(0, 2, n)
    given_weights = None if seed % 2 else rng.integers(1, 9, n).astype(float)
    frame = pd.DataFrame({"x": rng.random(n), "g": group, "y": y, "w": 1.0 if given_weights is None else given_weights})
    dataset = datasets.BinaryLabelDataset(
        df=frame, label_names=["y"], protected_attribute_names=["g"], instance_weights_name="w"
    )
    transformer = preprocessing.Reweighing(unprivileged_groups=[{"g": 0}], privileged_groups=[{"g": 1}])
    theirs = transformer.fit_transform(dataset).instance_weights
    np.testing.assert_allclose(reweigh(y, group, sample_weight=given_weights), theirs, rtol=0, atol=1e-12)

    many = rng.integers(0, 12, n).astype(str)
    labels = rng.integers(0, 3, n)
    indexed = pd.DataFrame({"x": rng.random(n)}, index=pd.Index(many, name="g"))
    _, of_many = scikit.Reweighing("g").fit_transform(
        indexed, pd.Series(labels, index=indexed.index), sample_weight=given_weights
    )
    np.testing.assert_allclose(reweigh(labels, many, sample_weight=given_weights), of_many, rtol=0, atol=1e-12)


X = pd.DataFrame({"x": np.arange(40) % 10, "z": np.arange(40) // 3})
Y = (np.arange(40) * 7 % 5 < 2).astype(int)
WEIGHTS = 1.0 + np.arange(40) % 4


@pytest.mark.parametrize(
    ("model", "inside"),
    [
        (DecisionTreeClassifier(max_depth=3), lambda m: m),
        (make_pipeline(StandardScaler(), LogisticRegression()), lambda m: m[-1]),
        (
            GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {}, cv=2),
            lambda m: m.best_estimator_[-1],
        ),
        (FixedThresholdClassifier(LogisticRegression(), threshold=0.4), lambda m: m.estimator_.estimator),
    ],
)
def test_weights_reach_what_decides(model, inside):
    before = model.get_params(deep=False).copy()
    fresh = refit(model, X, Y, WEIGHTS)
    expected = inside(fresh).__class__
    if expected is DecisionTreeClassifier:
        own = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y, sample_weight=WEIGHTS)
        np.testing.assert_array_equal(fresh.tree_.value, own.tree_.value)
    else:
        rows = X if isinstance(model, FixedThresholdClassifier) else StandardScaler().fit_transform(X)
        own = LogisticRegression().fit(rows, Y, sample_weight=WEIGHTS)
        np.testing.assert_allclose(inside(fresh).coef_, own.coef_)
    assert set(model.get_params(deep=False)) == set(before)
    assert not hasattr(model, "classes_")


def test_models_without_weights_are_refused_in_one_line():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (KNeighborsClassifier(), make_pipeline(StandardScaler(), KNeighborsClassifier()), object()):
            with pytest.raises(UnsupportedModelError, match="reweigh yourself"):
                refit(model, X, Y, WEIGHTS)
    calibrated = refit(CalibratedClassifierCV(LogisticRegression(), ensemble=False, cv=2), X, Y, WEIGHTS)
    assert calibrated.predict(X).shape == (40,)
