"""XGBoost and LightGBM: cells, rules and roundings against the model's own predict on hostile values."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier, early_stopping
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier, XGBRFClassifier

import justicia
from justicia import encoders, models
from justicia.encoders.xgboost import _before
from justicia.errors import TableError, UnsupportedModelError

SMALLEST = 2.0**-149
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, SMALLEST, SMALLEST / 2, 1e-35, 1.1e-35, 1e39, -1e300]


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def table(seed: int = 0, n: int = 600) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers of every kind that the libraries take; no infinity, which XGBoost refuses in fit."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "plain": rng.normal(size=n),
            "holes": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "zeros": np.where(rng.random(n) < 0.5, 0.0, rng.normal(size=n)),
            "tiny": rng.choice([1e30, -1e30, 1e-300, -1e-40, SMALLEST, 0.0], n),
            "large": rng.integers(2**24 - 8, 2**24 + 8, n),
            "small": rng.integers(-3, 3, n),
            "flag": rng.random(n) < 0.5,
            "short": rng.normal(size=n).astype(np.float32),
        }
    )
    score = frame["plain"] + frame["zeros"] + (frame["large"] > 2**24) - frame["flag"] + frame["holes"].fillna(0)
    score += (frame["tiny"] > 0) + (frame["small"] > 0) + rng.normal(size=n) * 0.3
    return frame, (score > score.median()).to_numpy().astype(int)


def with_categories(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    frame, _ = table(seed)
    rng = np.random.default_rng(seed + 1)
    n = len(frame)
    letters, numbers = rng.choice(list("abcdefgh"), n), rng.choice([10, 20, 30, 7], n)
    frame["letter"] = pd.Categorical(np.where(rng.random(n) < 0.1, None, letters), categories=list("hgfedcbaz"))
    frame["number"] = pd.Categorical(numbers, categories=[7, 30, 10, 20])
    frame["order"] = pd.Categorical(rng.choice(["lo", "mid", "hi"], n), categories=["lo", "mid", "hi"], ordered=True)
    label = (frame["plain"] > 0).astype(int) + np.isin(letters, list("ace")) + (numbers == 30)
    return frame, (label >= 2).to_numpy().astype(int)


def thresholds_of(model) -> np.ndarray:
    """Numbers that the model compares with, read from the library's own text."""
    if isinstance(model, XGBClassifier):
        learner = json.loads(bytes(model.get_booster().save_raw("json")))["learner"]["gradient_booster"]
        trees = learner.get("gbtree", learner)["model"]["trees"]
        return np.array([value for tree in trees for value in tree["split_conditions"]], dtype=np.float32)
    text = model.booster_.model_to_string()
    return np.array(" ".join(re.findall(r"\nthreshold=(.*)", text)).split(), dtype=np.float64)


def hostile(model, frame, seed: int = 0) -> pd.DataFrame:
    """Rows of the table with one number replaced by a special one, or by a neighbour of a threshold."""
    rng = np.random.default_rng(seed)
    cuts = rng.permutation(np.unique(thresholds_of(model)))[:60]
    near = cuts.astype(np.float32)
    above, below = np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))
    middle = (below.astype(np.float64) + near) / 2
    found = [
        cuts,
        near,
        above,
        below,
        middle,
        *(np.nextafter(part, end) for part in (cuts, middle) for end in (-9e9, 9e9)),
    ]
    values = np.concatenate([np.array(SPECIAL), *(part.astype(np.float64) for part in found), np.arange(-2, 12) - 0.5])
    rows = []
    for name in frame.columns:
        if frame[name].dtype.kind == "f" and frame[name].dtype != np.float32:
            people = frame.iloc[rng.integers(len(frame), size=len(values))].copy()
            people[name] = values
            rows.append(people)
    return pd.concat([frame, *rows], ignore_index=True)


def agree(model, frame, people=None, favorable=(1,)):
    """The decision is the model's own on the table, at its boundary, and for `people`."""
    fitted = models.with_native_categories(models.unwrap(model), frame)
    decision, domain = encoders.encode(fitted, frame, list(favorable))
    encoders.check_encoding(fitted, decision, domain, frame, domain.points(frame), list(favorable))
    people = frame if people is None else people
    points = domain.points(people)
    sure = ~decision.undecided(points)
    assert sure.mean() > 0.98
    chosen = np.isin(model.predict(people), favorable)
    assert (decision.evaluate(points) == chosen)[sure].all()
    return decision, points


def xgb(**options):
    return XGBClassifier(**{"n_estimators": 10, "max_depth": 4, "n_jobs": 1, **options})


def lgb(**options):
    return LGBMClassifier(**{"n_estimators": 10, "n_jobs": 1, "verbose": -1, "min_child_samples": 5, **options})


XGB = {
    "default": {},
    "missing 0": {"missing": 0},
    "missing -3": {"missing": -3},
    "missing 2**24": {"missing": 2**24},
    "logitraw": {"objective": "binary:logitraw"},
    "hinge": {"objective": "binary:hinge"},
    "weighted": {"scale_pos_weight": 5, "max_delta_step": 0.3},
    "monotone": {"monotone_constraints": {"plain": 1, "zeros": -1}},
    "forests": {"num_parallel_tree": 3, "subsample": 0.5, "colsample_bytree": 0.5},
    "base score": {"base_score": 0.9},
    "single leaves": {"gamma": 1e9},
    "pruned": {"gamma": 2.0, "tree_method": "exact"},
    "one tree": {"n_estimators": 1, "base_score": 0.5},
    "dart": {"booster": "dart", "rate_drop": 0.5, "one_drop": 1, "base_score": 0.7},
    "by leaves": {"grow_policy": "lossguide", "max_leaves": 9, "max_depth": 0},
}


@pytest.mark.parametrize("case", XGB)
def test_xgboost_numbers(case):
    frame, label = table()
    model = xgb(**XGB[case]).fit(frame, label)
    decision, points = agree(model, frame, hostile(model, frame))
    if "missing" in case:
        assert any(ranks is None for ranks in decision.ranks)
    agree(model, frame, favorable=(0,))
    if case == "one tree":
        assert decision.slack == 0.0
        assert not decision.undecided(points).any()


@pytest.mark.parametrize("case", ["default", "forests", "dart", "base score", "missing 0", "one tree"])
@pytest.mark.parametrize("n_estimators", [1, 40])
def test_xgboost_scores_lie_within_the_slack(case, n_estimators):
    frame, label = table()
    model = xgb(**{**XGB[case], "n_estimators": n_estimators}).fit(frame, label)
    decision, points = agree(model, frame)
    margin = model.predict(frame, output_margin=True).astype(np.float64)
    assert np.abs(decision.scores(points) - margin).max() <= decision.slack


def test_xgboost_compares_in_float32():
    rng = np.random.default_rng(0)
    numbers = np.concatenate([rng.normal(size=500), 10.0 ** rng.uniform(-44, 38, 500), SPECIAL[3:9], [3.4028235e38]])
    single = np.concatenate([numbers, -numbers]).astype(np.float32)
    before = _before(single)
    with np.errstate(over="ignore"):
        assert (before.astype(np.float32) < single).all()
        assert (np.nextafter(before, np.inf).astype(np.float32) >= single).all()


@pytest.mark.parametrize(("base_score", "second"), [(0.5, False), (0.50001, True), (0.49999, False), (0.9, True)])
def test_xgboost_without_evidence_says_the_base(base_score, second):
    frame, label = table()
    model = xgb(gamma=1e9, base_score=base_score, n_estimators=1, learning_rate=1e-9).fit(frame, label)
    decision, points = agree(model, frame)
    assert (decision.evaluate(points) == second).all()
    assert (model.predict(frame) == second).all()


def test_xgboost_predicts_with_the_trees_to_the_best_iteration():
    frame, label = table()
    noisy = label[:100] ^ (np.random.default_rng(0).random(100) < 0.3)
    for options in ({}, {"num_parallel_tree": 2, "subsample": 0.5}, {"booster": "dart", "rate_drop": 0.3}):
        model = xgb(n_estimators=60, early_stopping_rounds=2, learning_rate=1.0, **options)
        model.fit(frame, label, eval_set=[(frame[:100], noisy)], verbose=False)
        decision, _ = agree(model, frame, hostile(model, frame))
        assert len(decision.roots) == (model.best_iteration + 1) * options.get("num_parallel_tree", 1)
        assert len(decision.roots) < len(model.get_booster().get_dump())


@pytest.mark.parametrize("options", [{}, {"max_cat_to_onehot": 1}, {"max_cat_to_onehot": 99}, {"missing": 0}])
def test_xgboost_categories(options):
    frame, label = with_categories()
    model = xgb(enable_categorical=True, **options).fit(frame, label)
    agree(model, frame, hostile(model, frame))
    # Categories in another order, or some that no row has, are the same categories.
    for same in (frame.astype({"letter": object}), frame.assign(letter=frame["letter"].cat.add_categories(["new"]))):
        fitted = models.with_native_categories(models.unwrap(model), same)
        assert (encoders.predict(fitted, same) == model.predict(frame)).all()
    strange = frame.astype({"letter": object})
    strange.loc[3, "letter"] = "new"
    with pytest.raises(TableError, match=r"column 'letter' holds new in 1 row; .* predict refuses them"):
        models.with_native_categories(models.unwrap(model), strange)


@pytest.mark.parametrize("options", [{"max_cat_to_onehot": 1}, {"max_cat_to_onehot": 99}, {"missing": 2}])
def test_xgboost_codes_in_columns_of_numbers(options):
    frame, label = codes()
    model = xgb(feature_types=["c", "c", "q"], enable_categorical=True, **options).fit(frame, label)
    agree(model, frame, hostile(model, frame))


def codes() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    code, other = rng.integers(0, 9, 600).astype(float), rng.integers(0, 6, 600).astype(float)
    label = ((code % 2 == 0) ^ (other % 3 == 0)).astype(int)
    frame = pd.DataFrame({"code": code, "other": other, "plain": rng.normal(size=600)})
    frame.loc[rng.random(600) < 0.1, "code"] = np.nan
    return frame, label


def test_xgboost_takes_the_zeros_of_a_sparse_matrix_for_missing():
    frame, label = table()
    encoder = make_column_transformer(
        (OneHotEncoder(), ["small", "large"]), remainder="passthrough", sparse_threshold=1
    )
    for missing in (np.nan, 0):
        model = make_pipeline(encoder, xgb(missing=missing)).fit(frame, label)
        agree(model, frame, hostile(model[-1], frame))
    for model in (make_pipeline(encoder, xgb(missing=5)), make_pipeline(encoder, MaxAbsScaler(), xgb())):
        with pytest.raises(UnsupportedModelError, match="zeros are missing"):
            agree(model.fit(frame, label), frame)


def test_xgboost_random_forests():
    frame, label = table()
    model = XGBRFClassifier(n_estimators=9, n_jobs=1, random_state=0).fit(frame, label)
    agree(model, frame, hostile(model, frame))


LGB = {
    "default": {},
    "zero as missing": {"zero_as_missing": True},
    "no missing": {"use_missing": False},
    "dart": {"boosting_type": "dart"},
    "forest": {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1},
    "unbalanced": {"is_unbalance": True, "sigmoid": 0.123456789},
    "weighted": {"class_weight": "balanced", "max_delta_step": 0.3},
    "monotone": {"monotone_constraints": [1, 0, -1, 0, 0, 0, 0, 0]},
    "single leaves": {"min_child_samples": 5000},
    "cross entropy": {"objective": "cross_entropy"},
    "coarse": {"max_bin": 7, "extra_trees": True},
}


@pytest.mark.parametrize("case", LGB)
def test_lightgbm_numbers(case):
    frame, label = table()
    frame.loc[:20, "plain"] = np.inf
    model = lgb(**LGB[case]).fit(frame, label)
    decision, points = agree(model, frame, hostile(model, frame))
    if case == "single leaves":
        return
    raw = model.predict(hostile(model, frame), raw_score=True) / (len(decision.roots) if case == "forest" else 1)
    assert np.abs(decision.scores(points) - raw).max() <= decision.slack


@pytest.mark.parametrize("classes", [["no", "yes"], [False, True], [3, 8]])
def test_lightgbm_classes(classes):
    frame, label = table()
    agree(lgb().fit(frame, np.array(classes)[label]), frame, favorable=(classes[1],))


def test_lightgbm_takes_nan_for_0_where_none_was_missing():
    frame, label = table()
    model = lgb().fit(frame.fillna(0.0), label)
    people = frame.copy()
    people.iloc[:, :4] = np.nan
    agree(model, frame, people)


@pytest.mark.parametrize(
    "options", [{}, {"max_cat_to_onehot": 1}, {"zero_as_missing": True}, {"boosting_type": "dart"}]
)
def test_lightgbm_categories(options):
    frame, label = with_categories()
    model = lgb(min_data_per_group=1, cat_smooth=1, **options).fit(frame, label)
    people = hostile(model, frame)
    people["letter"] = people["letter"].cat.add_categories(["new"])
    people.loc[::7, "letter"] = "new"
    agree(model, frame, people)
    text = frame.astype({"letter": object, "order": object})
    fitted = models.with_native_categories(models.unwrap(model), frame)
    assert (encoders.predict(fitted, text) == model.predict(frame)).all()


def test_lightgbm_codes_in_columns_of_numbers():
    frame, label = codes()
    model = lgb(categorical_feature=[0, 1], min_data_per_group=1, cat_smooth=1, max_cat_to_onehot=1).fit(frame, label)
    agree(model, frame, hostile(model, frame))


def test_lightgbm_predicts_with_the_trees_to_the_best_iteration():
    frame, label = table()
    noisy = label[:100] ^ (np.random.default_rng(0).random(100) < 0.3)
    model = lgb(n_estimators=60, learning_rate=1.0)
    model.fit(frame, label, eval_set=[(frame[:100], noisy)], callbacks=[early_stopping(2, verbose=False)])
    decision, _ = agree(model, frame, hostile(model, frame))
    assert len(decision.roots) == model.best_iteration_ < 60
    model = lgb().fit(frame, label)
    model.booster_.best_iteration = 3
    decision, _ = agree(model, frame, hostile(model, frame))
    assert len(decision.roots) == 3 < model.booster_.num_trees()


def test_lightgbm_column_names_with_spaces():
    frame, label = table()
    frame = frame.rename(columns={"plain": "plain number"}).assign(sex=np.where(label, "f", "m"))
    features = [name for name in frame.columns if name != "sex"]
    model = lgb().fit(frame[features], label)
    audit = justicia.verify(model, frame, sensitive_features="sex", favorable=1, population="empirical")
    chosen = model.predict(frame[features])
    for group in audit.groupings[0].groups:
        assert group.selection_rate.lo == pytest.approx(chosen[frame["sex"] == group.group["sex"]].mean(), abs=1e-12)


@pytest.mark.parametrize("make", [xgb, lgb])
@pytest.mark.parametrize("kind", ["ordinal", "one-hot", "fixed", "fixed for the first", "tuned", "nullable", "float32"])
def test_behind_steps_and_thresholds(make, kind):
    frame, label = table()
    frame["job"] = np.random.default_rng(0).choice(["clerk", "smith", "guard"], len(frame))
    if kind == "nullable":
        frame = frame.drop(columns="job").assign(
            small=frame["small"].astype("Int64"), flag=frame["flag"].astype("boolean")
        )
        return agree(make().fit(frame, label), frame)
    if kind == "float32":
        frame = frame[["short"]].assign(other=frame["plain"].astype(np.float32))
        return agree(make().fit(frame, label), frame)
    if kind in ("ordinal", "one-hot"):
        ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        step = OneHotEncoder(handle_unknown="ignore") if kind == "one-hot" else ordinal
        return agree(
            make_pipeline(make_column_transformer((step, ["job"]), remainder="passthrough"), make()).fit(frame, label),
            frame,
        )
    frame = frame.drop(columns="job")
    if kind == "tuned":
        return agree(TunedThresholdClassifierCV(make(), cv=2).fit(frame, label), frame)
    positive = 0 if "first" in kind else 1
    wrapped = FixedThresholdClassifier(make(), threshold=0.3, pos_label=positive, response_method="predict_proba")
    return agree(wrapped.fit(frame, label), frame)


CALIBRATED = {
    "xgboost": xgb,
    "lightgbm": lgb,
    "boosting": lambda: GradientBoostingClassifier(n_estimators=8),
    "histogram": lambda: HistGradientBoostingClassifier(max_iter=8),
    "forest": lambda: RandomForestClassifier(8, max_depth=4, random_state=0),
    "adaboost": lambda: AdaBoostClassifier(n_estimators=5),
    "tree": lambda: DecisionTreeClassifier(max_depth=4),
    "logistic": lambda: LogisticRegression(max_iter=50),
    "bayes": GaussianNB,
}


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("family", CALIBRATED)
def test_one_calibrated_classifier(family, method):
    frame, label = table()
    frame = frame[["plain", "zeros", "small", "flag"]]
    model = CalibratedClassifierCV(CALIBRATED[family](), method=method, ensemble=False, cv=3).fit(frame, label)
    agree(model, frame)
    agree(model, frame, favorable=(0,))
    fixed = FixedThresholdClassifier(
        FrozenEstimator(model), threshold=0.37, pos_label=0, response_method="predict_proba"
    )
    agree(fixed.fit(frame, label), frame)


def test_calibration_that_turns_the_score_round():
    frame, label = table()
    frame = frame[["plain", "zeros", "small", "flag"]]
    inner = FrozenEstimator(lgb().fit(frame, label))
    model = CalibratedClassifierCV(inner, method="sigmoid").fit(frame, 1 - label)
    assert (model.predict(frame) == 1 - label).mean() > 0.8
    agree(model, frame)


def test_calibrated_pipelines_are_taken_apart():
    frame, label = table()
    frame["job"] = np.random.default_rng(0).choice(["clerk", "smith", "guard"], len(frame))
    pipeline = make_pipeline(make_column_transformer((OrdinalEncoder(), ["job"]), remainder="passthrough"), xgb())
    agree(CalibratedClassifierCV(pipeline, ensemble=False, cv=2).fit(frame, label), frame)


REFUSED = {
    "linear booster": (lambda: xgb(booster="gblinear"), "booster 'gblinear' is not supported"),
    "objective of one's own": (lambda: xgb(objective=lambda y, p: (p - y, np.ones_like(p))), "objective of one's own"),
    "squared error": (lambda: xgb(objective="reg:squarederror"), "objective 'reg:squarederror' is not supported"),
    "outputs for each class": (lambda: xgb(objective="multi:softprob", num_class=2), "several outputs"),
    "linear leaves": (lambda: lgb(linear_tree=True), "linear_tree is not supported"),
    "LightGBM's own objective": (
        lambda: lgb(objective=lambda y, p: (p - y, np.ones_like(p))),
        "objective of one's own",
    ),
    "early stopping in predict": (lambda: lgb(pred_early_stop=True), "pred_early_stop is not supported"),
    "multiclass": (lambda: lgb(objective="multiclass", num_class=2), "several outputs"),
    "many calibrated": (lambda: CalibratedClassifierCV(xgb(), cv=2), "averages 2 classifiers.*ensemble=False"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_the_reason(case):
    make, reason = REFUSED[case]
    frame, label = table()
    frame = frame[["plain", "zeros", "small", "flag"]]
    with pytest.raises(UnsupportedModelError, match=reason):
        agree(make().fit(frame, label), frame)


@pytest.mark.parametrize("make", [xgb, lgb])
def test_three_classes_are_refused(make):
    frame, _ = table()
    model = make().fit(frame, np.arange(len(frame)) % 3)
    with pytest.raises(UnsupportedModelError, match="with 3 classes is not supported"):
        agree(model, frame)


@pytest.mark.parametrize("make", [xgb, lgb])
def test_categories_that_the_model_does_not_hold_are_refused(make):
    frame, label = table()
    model = make().fit(frame, label)
    with pytest.raises(TableError, match="categories in small"):
        agree(model, frame.assign(small=frame["small"].astype("category")))
