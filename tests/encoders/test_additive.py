"""Linear and additive models: every family, rule and step against the model's own predict."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia import encoders, models
from justicia.errors import EncodingMismatchError, TableError, UnsupportedModelError


def table(seed: int = 0, n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, size=n),
            "pay": np.round(rng.lognormal(3, 1, size=n), 2),
            "job": rng.choice(["clerk", "smith", "guard"], size=n),
            "sex": rng.choice(["F", "M"], size=n),
        }
    )
    score = frame["age"] / 20 + np.log(frame["pay"]) + (frame["sex"] == "M") + rng.normal(size=n)
    return frame, (score > score.median()).astype(int).to_numpy()


def encoded(model, frame, favorable=(1,)):
    return encoders.encode(models.unwrap(model), frame, list(favorable))


def check(model, frame, label, **options):
    """Audit under the rows themselves: verified rates are those of predict."""
    model.fit(frame[["age", "pay", "job"]], label)
    audit = justicia.verify(model, frame, sensitive_features="sex", population="empirical", favorable=1, **options)
    chosen = model.predict(frame[["age", "pay", "job"]])
    for group in audit.groupings[0].groups:
        assert float(group.selection_rate.lo) == chosen[frame["sex"] == group.group["sex"]].mean()
    return audit


def columns(step):
    return make_column_transformer((OneHotEncoder(), ["job"]), (step, ["age", "pay"]), sparse_threshold=0.0)


STEPS = [
    StandardScaler(),
    RobustScaler(),
    QuantileTransformer(n_quantiles=30),
    PowerTransformer(),
    PowerTransformer("box-cox"),
    FunctionTransformer(np.log1p),
    FunctionTransformer(np.square),
    FunctionTransformer(lambda values: np.abs(values - 40.0)),
    SplineTransformer(n_knots=4),
    SplineTransformer(n_knots=3, degree=1, include_bias=False, extrapolation="linear"),
    KBinsDiscretizer(4),
    make_pipeline(StandardScaler(), KBinsDiscretizer(3, encode="ordinal")),
    make_pipeline(FunctionTransformer(np.square), KBinsDiscretizer(3, encode="ordinal")),
    make_pipeline(KBinsDiscretizer(5, encode="ordinal"), PolynomialFeatures(1)),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("which", range(len(STEPS)))
@pytest.mark.parametrize("kind", ["tree", "linear"])
def test_every_step_is_followed(which, kind):
    frame, label = table()
    step = STEPS[which]
    estimator = RidgeClassifier() if kind == "linear" else DecisionTreeClassifier(max_depth=5, random_state=0)
    audit = check(make_pipeline(columns(step), estimator), frame, label)
    assert audit.self_check.boundary_points > 0
    assert set(audit.features) <= {"age", "pay", "job"}


def test_every_value_of_the_table_is_seen_through_the_transformer():
    frame, label = table()
    steps = columns(SplineTransformer(n_knots=5))
    model = make_pipeline(steps, LogisticRegression(max_iter=1000)).fit(frame[["age", "pay", "job"]], label)
    decision, domain = encoded(model, frame[["age", "pay", "job"]])
    scores = model.decision_function(frame[["age", "pay", "job"]])
    points = domain.points(frame)
    np.testing.assert_allclose(decision.scores(points), scores, rtol=0, atol=decision.slack)
    assert len(domain.features[list(domain.names).index("pay")]) == frame["pay"].nunique()


def test_powers_of_single_columns_are_followed_and_cross_terms_refused():
    frame, label = table()
    steps = make_column_transformer(
        (PolynomialFeatures(3), ["age"]), (make_pipeline(StandardScaler(), PolynomialFeatures(2)), ["pay"])
    )
    check(make_pipeline(steps, StandardScaler(), RidgeClassifier()), frame.assign(job="clerk"), label)
    cross = make_pipeline(PolynomialFeatures(2), RidgeClassifier()).fit(frame[["age", "pay"]], label)
    with pytest.raises(UnsupportedModelError, match=r"cross terms \(age, pay multiplied\)"):
        justicia.verify(cross, frame, sensitive_features="sex", favorable=1)


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (PCA(1), "PCA before the classifier is not supported .every output mixes all columns"),
        (FunctionTransformer(lambda values: values - values.mean()), "each number a number of its own"),
        (FunctionTransformer(lambda values: np.asarray(values)[:, ::-1]), "each number a number of its own"),
    ],
)
def test_steps_that_mix_columns_are_refused(step, says):
    frame, label = table()
    model = make_pipeline(step, RidgeClassifier()).fit(frame[["age", "pay"]], label)
    with pytest.raises(UnsupportedModelError, match=says):
        justicia.verify(model, frame, sensitive_features="sex", favorable=1)


def test_more_than_two_classes_are_refused():
    frame, label = table()
    label = label + (frame["age"] > 60)
    for model in (RidgeClassifier(), GaussianNB(), SVC(kernel="linear")):
        with pytest.raises(UnsupportedModelError, match=r"with 3 classes.*two classes"):
            justicia.verify(model.fit(frame[["age", "pay"]], label), frame, sensitive_features="sex", favorable=1)


def test_other_kernels_are_refused():
    frame, label = table()
    model = SVC(kernel="poly").fit(frame[["age"]], label)
    with pytest.raises(UnsupportedModelError, match="kernel 'poly'"):
        justicia.verify(model, frame, sensitive_features="sex", favorable=1)


def lattice(rows: int = 4) -> tuple[pd.DataFrame, np.ndarray]:
    points = np.indices((2, 2, 2)).reshape(3, -1).T.repeat(rows, axis=0)
    return pd.DataFrame(points, columns=["a", "b", "c"]), np.arange(len(points)) % 2


def with_weights(model, weights, intercept):
    model.coef_ = np.array([weights], dtype=float)
    model.intercept_ = np.array([intercept], dtype=float)
    return model


def test_rounding_the_weights_would_be_another_model():
    # Coefficients 1, .004, .004 with intercept -1.003 say x1 and (x2 or x3).
    frame, label = lattice()
    model = with_weights(LogisticRegression().fit(frame, label), [1, 0.004, 0.004], -1.003)
    decision, domain = encoded(model, frame)
    wanted = (frame["a"] == 1) & ((frame["b"] == 1) | (frame["c"] == 1))
    assert (decision.evaluate(domain.points(frame)) == wanted).all()
    frame["sex"] = "F"
    for population in ("independent", "tree"):
        audit = justicia.verify(model, frame, sensitive_features="sex", favorable=1, population=population)
        rate = audit.groupings[0].groups[0].selection_rate
        assert rate.exact
        assert float(rate) == pytest.approx(0.375, abs=1e-12 if population == "independent" else 0.05)


def test_a_model_that_never_says_yes_has_rate_0_and_no_ratio():
    frame, label = table()
    model = LogisticRegression().fit(frame[["age"]], label)
    with_weights(model, [0.001], -9.0)
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable=1)
    for group in audit.groupings[0].groups:
        assert float(group.selection_rate) == 0.0
    assert audit.disparate_impact is None
    assert "0" in audit.groupings[0].measures["disparate_impact"].verified.undefined


def test_weights_of_zero_depend_on_nothing():
    frame, label = table()
    model = with_weights(LogisticRegression().fit(frame[["age"]], label), [0.0], 2.0)
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable=1)
    assert audit.features == ()
    assert [float(group.selection_rate) for group in audit.groupings[0].groups] == [1.0, 1.0]


@pytest.mark.parametrize(("make", "at_zero"), [(LogisticRegression, False), (LinearSVC, False)])
def test_a_score_of_exactly_0_is_the_first_class(make, at_zero):
    frame, label = lattice()
    model = with_weights(make().fit(frame, label), [1, 1, -2], 0.0)
    decision, domain = encoded(model, frame)
    assert (decision.slack, decision.step) == (0.0, 1.0)
    zero = frame[(frame["a"] + frame["b"] - 2 * frame["c"]) == 0]
    assert (model.predict(zero) == at_zero).all()
    assert (decision.evaluate(domain.points(zero)) == at_zero).all()
    # Seen from the other class the same points are accepted.
    other, domain = encoded(model, frame, favorable=[0])
    assert other.evaluate(domain.points(zero)).all()


def test_libsvm_takes_the_second_class_at_0():
    frame = pd.DataFrame({"a": [0.0, 2.0] * 10})
    label = np.array([0, 1] * 10)
    model = SVC(kernel="linear", C=10).fit(frame, label)
    model._intercept_ = model.intercept_ = np.array([0.0])
    middle = pd.DataFrame({"a": [0.0]})
    assert model.decision_function(middle)[0] == 0.0
    decision, domain = encoded(model, frame)
    # The score of the lower cell is 0 to the last digit, whatever its sign; predict says yes there.
    assert model.predict(middle)[0] == 1
    assert decision.evaluate(domain.points(middle))[0]


def test_ties_are_counted_and_no_mismatch():
    # 0.1 + 0.2 - 0.3: which way it falls depends on the order of the sum.
    frame, label = lattice()
    model = with_weights(LogisticRegression().fit(frame, label), [0.1, 0.2, -0.3], 0.0)
    frame["sex"] = ["F", "M"] * 16
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable=1, population="independent")
    tied = int(((frame["a"] == frame["b"]) & (frame["b"] == frame["c"])).sum())
    assert audit.self_check.ties >= tied > 0
    assert "ties, which rounding may flip" in audit.to_text(200)
    assert audit.to_dict()["self_check"]["ties"] == audit.self_check.ties
    rate = audit.groupings[0].groups[0].selection_rate
    assert float(rate.hi) - float(rate.lo) == pytest.approx(0.25)
    rows = justicia.verify(model, frame, sensitive_features="sex", favorable=1, population="empirical")
    held = rows.groupings[0].groups[0].selection_rate
    assert float(held.hi - held.lo) == 0.25


THRESHOLDS = [0.05, 0.3, 0.5, 0.62, 0.97]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
@pytest.mark.parametrize("estimator", [LogisticRegression(), SGDClassifier(loss="modified_huber", random_state=0)])
def test_thresholds_are_carried_to_the_score(threshold, positive, method, estimator):
    frame, label = table()
    inner = make_pipeline(columns(StandardScaler()), estimator)
    level = threshold if method == "predict_proba" else 2 * threshold - 1
    model = FixedThresholdClassifier(inner, threshold=level, pos_label=positive, response_method=method)
    check(model, frame, label)


@pytest.mark.parametrize("threshold", [0.0, 1.0, 1.5])
def test_thresholds_that_everybody_or_nobody_reaches(threshold):
    frame, label = table()
    model = FixedThresholdClassifier(LogisticRegression(), threshold=threshold, response_method="predict_proba")
    model.fit(frame[["age"]], label)
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable=1)
    chosen = model.predict(frame[["age"]]).mean()
    assert chosen in (0.0, 1.0)
    assert all(float(group.selection_rate) == chosen for group in audit.groupings[0].groups)


@pytest.mark.filterwarnings("ignore")
def test_tuned_thresholds_and_naive_bayes_probabilities():
    frame, label = table()
    check(TunedThresholdClassifierCV(make_pipeline(columns(StandardScaler()), LogisticRegression())), frame, label)
    check(FixedThresholdClassifier(make_pipeline(columns(StandardScaler()), GaussianNB()), threshold=0.4), frame, label)


def test_probabilities_of_libsvm_are_refused():
    frame, label = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inner = SVC(kernel="linear", probability=True)
        model = FixedThresholdClassifier(inner, threshold=0.4, response_method="predict_proba")
        model.fit(frame[["age"]], label)
    with pytest.raises(UnsupportedModelError, match="a threshold on decision_function is"):
        justicia.verify(model, frame, sensitive_features="sex", favorable=1)


def test_single_precision_widens_the_tie():
    frame, label = table()
    small = frame[["age", "pay"]].astype(np.float32)
    model = LogisticRegression(max_iter=2000).fit(small, label)
    # Since scikit-learn 1.8 the weights of such a fit are float32 by themselves.
    model.coef_, model.intercept_ = model.coef_.astype(np.float32), model.intercept_.astype(np.float32)
    wide = encoded(model, small)[0].slack
    narrow = encoded(LogisticRegression(max_iter=2000).fit(frame[["age", "pay"]], label), frame[["age", "pay"]])[
        0
    ].slack
    assert wide > 1e4 * narrow
    audit = justicia.verify(
        model, small.assign(sex=frame["sex"]), sensitive_features="sex", favorable=1, population="empirical"
    )
    assert audit.self_check.rows == len(frame)


def test_a_wrong_weight_is_found_by_the_self_check():
    frame, label = table()
    model = make_pipeline(columns(StandardScaler()), LogisticRegression()).fit(frame[["age", "pay", "job"]], label)
    fitted = models.unwrap(model)
    X = frame[["age", "pay", "job"]]
    decision, domain = encoded(model, X)
    wrong = type(decision)(
        (*decision.contributions[:-1], decision.contributions[-1] * 1.3),
        decision.base, decision.threshold, decision.accepts_above, decision.slack,
    )  # fmt: skip
    with pytest.raises(EncodingMismatchError, match="does not reproduce predict"):
        encoders.check_encoding(fitted, wrong, domain, X, domain.points(X), [1])


def test_missing_values_are_refused_where_predict_refuses_them():
    frame, label = table()
    model = make_pipeline(StandardScaler(), RidgeClassifier()).fit(frame[["age", "pay"]], label)
    frame.loc[3, "pay"] = np.nan
    with pytest.raises(TableError, match=r"pay.*no value in 1 row|NaN"):
        justicia.verify(model, frame, sensitive_features="sex", favorable=1)


def test_categories_that_naive_bayes_does_not_know_are_refused():
    frame = pd.DataFrame({"a": [0, 1, 2, 0, 1, 2] * 10, "sex": ["F", "M"] * 30})
    model = CategoricalNB().fit(frame[["a"]], [0, 1, 1, 0, 0, 1] * 10)
    assert justicia.verify(model, frame, sensitive_features="sex", favorable=1).self_check.rows == 60
    frame.loc[0, "a"] = 7
    with pytest.raises(TableError, match="predict refuses the table"):
        justicia.verify(model, frame, sensitive_features="sex", favorable=1)


@pytest.mark.filterwarnings("ignore")
def test_a_spline_model_is_read_from_a_file(tmp_path):
    frame, label = table()
    model = make_pipeline(columns(SplineTransformer()), LogisticRegression()).fit(frame[["age", "pay", "job"]], label)
    path = tmp_path / "spline.pkl"
    path.write_bytes(pickle.dumps(model))
    audit = justicia.verify(path, frame, sensitive_features="sex", favorable=1)
    assert audit.self_check.rows == len(frame)


def test_the_score_is_reported_feature_by_feature():
    frame, label = table()
    model = make_pipeline(columns(StandardScaler()), LogisticRegression()).fit(frame[["age", "pay", "job"]], label)
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable=1)
    score = audit.to_dict()["model"]["score"]
    by_feature = {one["feature"]: one for one in score["contributions"]}
    weights = model[-1].coef_[0]
    scaled = (frame["age"] - frame["age"].mean()) / frame["age"].std(ddof=0)
    age = by_feature["age"]
    values = sorted([float(scaled.min() * weights[3]), float(scaled.max() * weights[3])])
    assert [age["lo"], age["hi"]] == pytest.approx(values)
    assert {age["lo_at"], age["hi_at"]} == {str(frame["age"].min()), str(frame["age"].max())}
    assert score["base"] == pytest.approx(float(model[-1].intercept_[0]))
    assert "favorable when the score is above 0" in audit.to_text()
    tree = justicia.verify("tree", "ricci")
    assert tree.to_dict()["model"]["score"] is None
    assert tree.contributions == ()
