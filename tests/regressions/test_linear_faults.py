"""Faults found by attack on linear and additive models."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import justicia
from justicia.errors import TableError, UnsupportedModelError

N = 300


def verify(model, frame, seed=1, **options):
    group = np.random.default_rng(seed).choice(["a", "b"], size=len(frame))
    return justicia.verify(model, frame.assign(g=group), sensitive_features=["g"], favorable=1, **options)


@pytest.mark.parametrize("threshold", [1.0, 1 - 1e-13, 1e-18, 1e-25])
@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("make", [GaussianNB, BernoulliNB])
def test_thresholds_of_naive_bayes_near_0_and_1(threshold, positive, make):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, size=400)
    values = rng.normal(size=(400, 60)) + 1.6 * (label[:, None] - 0.5) * rng.random(60)
    frame = pd.DataFrame(values, columns=[f"v{i}x" for i in range(60)])
    model = FixedThresholdClassifier(make(), threshold=threshold, pos_label=positive).fit(frame, label)
    assert verify(model, frame, time_limit=2, population="empirical").self_check.rows == 400


def test_a_tuned_threshold_of_naive_bayes():
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, size=600)
    values = rng.normal(size=(600, 60)) + 1.6 * (label[:, None] - 0.5) * rng.random(60)
    frame = pd.DataFrame(values, columns=[f"v{i}x" for i in range(60)])
    model = TunedThresholdClassifierCV(GaussianNB(), scoring=make_scorer(recall_score, pos_label=0)).fit(frame, label)
    assert verify(model, frame, time_limit=2, population="empirical").self_check.rows == 600


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
@pytest.mark.parametrize("cut", [0.1, 0.2, 0.3])
def test_bernoulli_compares_in_the_type_of_the_matrix(kind, cut):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.choice([0.1, 0.2, 0.3], size=N).astype(kind) for name in "ab"})
    model = BernoulliNB(binarize=cut).fit(frame, (frame["a"] + frame["b"] > 0.4) * 1)
    assert verify(model, frame).self_check.rows == N


def test_text_in_a_column_of_numbers_is_named():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=N), "b": rng.normal(size=N)})
    model = LogisticRegression().fit(frame, (frame["a"] > 0) * 1)
    frame["b"] = frame["b"].astype(object)
    frame.loc[4, "b"] = "hello"
    with pytest.raises(TableError, match="'b' holds hello in 1 row"):
        verify(model, frame)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("options", [{}, {"solver": "fourier"}, {"solver": "fourier", "search": "learn"}])
def test_weights_of_any_size(scale, options):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(N, 3)).round(1), columns=list("abc"))
    model = LogisticRegression().fit(frame, (frame["a"] > 0) * 1)
    plain = verify(model, frame, population="independent", **options)
    model.coef_, model.intercept_ = model.coef_ * scale, model.intercept_ * scale
    audit = verify(model, frame, population="independent", **options)
    for one, other in zip(plain.groupings[0].groups, audit.groupings[0].groups, strict=True):
        assert float(other.selection_rate.lo) == pytest.approx(float(one.selection_rate.lo), abs=2e-4)
    assert "nan" not in audit.to_json().lower()


@pytest.mark.parametrize("options", [{}, {"solver": "fourier"}, {"solver": "fourier", "search": "learn"}])
def test_wide_bounds_are_warned_of_whatever_the_engine(options):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 2, size=(N, 3)), columns=list("abc"))
    model = LogisticRegression().fit(frame, (frame["a"] + frame["b"] - frame["c"] > 0) * 1)
    model.coef_, model.intercept_ = np.array([[0.1, 0.2, -0.3]]), np.zeros(1)
    audit = verify(model, frame, one_hot=False, **options)
    assert any("not to the tolerance" in warning for warning in audit.warnings)


@pytest.mark.slow
def test_weights_of_a_column_transformer_are_applied_in_its_type():
    rng = np.random.default_rng(1)
    for _ in range(10):
        frame = pd.DataFrame(
            {"a": rng.integers(0, 50, size=N).astype("float32"), "b": rng.integers(0, 5, size=N) * 1.0}
        )
        label = (frame["a"] / 25 + frame["b"] + rng.normal(size=N) > 3) * 1
        branches = [("x", StandardScaler(), ["a"]), ("y", StandardScaler(), ["b"])]
        steps = ColumnTransformer(branches, transformer_weights={"x": 0.1, "y": 3.3})
        model = make_pipeline(steps, LogisticRegression()).fit(frame, label)
        first = model[:-1].transform(frame)[0]
        model[-1].intercept_ = -np.array([float(first @ model[-1].coef_[0])]) + 1e-10
        assert verify(model, frame, population="empirical").self_check.rows == N


def test_booleans_beside_single_precision():
    rng = np.random.default_rng(1)
    for _ in range(10):
        frame = pd.DataFrame({"a": rng.normal(size=N).astype("float32"), "b": rng.random(N) < 0.3})
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame.astype(float), (frame["a"] > 0.3) * 1)
        model[-1].intercept_ = model[-1].intercept_ - model.decision_function(frame.iloc[:1])[0]
        assert verify(model, frame, population="empirical").self_check.rows == N


def test_an_unseen_number_is_none_of_the_known_ones():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.choice([1.0, 1e300], size=N)})
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    model.fit(frame, (frame["a"] > 1) * 1)
    frame.loc[0:4, "a"] = 7.0
    model[-1].intercept_[:] = -0.5
    assert verify(model, frame).unseen == {"a": {"7.0": 5}}


def test_likelihoods_of_0_are_refused_by_reason():
    frame = pd.DataFrame({"a": [0, 1] * 20, "b": [0] * 20 + [1] * 20})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BernoulliNB(alpha=0.0, force_alpha=True).fit(frame, frame["b"])
    with pytest.raises(UnsupportedModelError, match="fit it with smoothing"):
        verify(model, frame)


@pytest.mark.slow
def test_hundreds_of_features_under_the_default_population():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(400, 300)).round(1), columns=[f"c{i}x" for i in range(300)])
    label = (frame.iloc[:, :5].sum(axis=1) > 0) * 1
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01)).fit(frame, label)
    audit = verify(model, frame, tolerance=0.01, time_limit=20)
    assert audit.population.structure == "auto"
    assert len(audit.features) == 300
