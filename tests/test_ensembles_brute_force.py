"""Rates of tree ensembles against enumeration of every point with the model's own predict."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier, XGBRFClassifier

import justicia
from justicia import encoders, models
from justicia.population import auto
from tests.linear_cases import every_point, masses, people_at
from tests.strategies import Case

SEEDS = [*range(18), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(18, 300))]
LIBRARY_SEEDS = [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 80))]
LARGEST_DOMAIN = 60_000


def family(rng: np.random.Generator) -> object:
    """A small ensemble of any supported family."""
    n, depth, seed = int(rng.integers(2, 12)), int(rng.integers(1, 4)), int(rng.integers(100))
    tree = DecisionTreeClassifier(max_depth=depth, random_state=seed)
    families = [
        RandomForestClassifier(n, max_depth=depth, random_state=seed),
        RandomForestClassifier(2 * n, random_state=seed),
        ExtraTreesClassifier(n, max_depth=depth, random_state=seed),
        BaggingClassifier(tree, n, max_features=0.7, random_state=seed),
        AdaBoostClassifier(tree, n_estimators=n, random_state=seed),
        GradientBoostingClassifier(n_estimators=n, max_depth=depth, random_state=seed),
        GradientBoostingClassifier(n_estimators=n, max_depth=depth, init="zero", random_state=seed),
        HistGradientBoostingClassifier(max_iter=n, max_leaf_nodes=5, min_samples_leaf=4, random_state=seed),
    ]
    return families[int(rng.integers(len(families)))]


def random_ensemble_case(seed: int) -> Case:
    """2 to 5 features of up to 6 values, 1 or 2 sensitive columns."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 160))
    frame = {f"s{i}": rng.integers(0, int(rng.integers(2, 4)), size=n) for i in range(int(rng.integers(1, 3)))}
    sensitive = list(frame)
    numeric, text = [], []
    for i in range(int(rng.integers(2, 5))):
        if rng.random() < 0.6:
            values = rng.choice(np.array([-1.5, 0.1, 0.3, 2.0, 17.5, 1e4]), size=n)
            frame[f"x{i}"] = np.where(rng.random(n) < 0.1, np.nan, values) if rng.random() < 0.3 else values
            numeric.append(f"x{i}")
        else:
            frame[f"x{i}"] = rng.choice(["red", "green", "blue", "sand", "?"][: int(rng.integers(2, 6))], size=n)
            text.append(f"x{i}")
    table = pd.DataFrame(frame)
    numeric += [name for name in sensitive if rng.random() < 0.5]
    columns = [name for name in table.columns if name in numeric + text]
    label = np.array(["no", "yes"])[(rng.random(n) < 0.25 + 0.5 * (table[sensitive[0]] > 0)).astype(int)]
    label[:2] = ["no", "yes"]
    estimator = family(rng)
    takes_nan = isinstance(estimator, (RandomForestClassifier, ExtraTreesClassifier, HistGradientBoostingClassifier))
    if not takes_nan:
        table[numeric] = table[numeric].fillna(0.0)
    if isinstance(estimator, HistGradientBoostingClassifier) and text and rng.random() < 0.5:
        # Its own categories, without an encoder.
        table[text] = table[text].astype("category")
        model = estimator.set_params(categorical_features="from_dtype")
    else:
        kind = rng.integers(3)
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        if kind == 0:
            encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        steps = [("text", encoder, text), ("numbers", StandardScaler() if kind == 1 else "passthrough", numeric)]
        model = Pipeline([("columns", ColumnTransformer(steps, sparse_threshold=0.0)), ("model", estimator)])
    if rng.random() < 0.2 and not isinstance(estimator, AdaBoostClassifier):
        positive = "yes" if rng.random() < 0.7 else "no"
        model = FixedThresholdClassifier(
            model, threshold=float(rng.choice([0.3, 0.5, 0.62])), pos_label=positive, response_method="predict_proba"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table[columns], label)
    return Case(model, table, sensitive, columns, ["yes"] if rng.random() < 0.8 else ["no"], label)


def library_family(rng: np.random.Generator) -> XGBClassifier | LGBMClassifier:
    """A small ensemble of XGBoost or LightGBM."""
    n, depth, seed = int(rng.integers(1, 10)), int(rng.integers(1, 4)), int(rng.integers(100))
    boosted = {"n_estimators": n, "max_depth": depth, "random_state": seed, "n_jobs": 1, "enable_categorical": True}
    light = {
        "n_estimators": n,
        "num_leaves": 5,
        "min_child_samples": 4,
        "random_state": seed,
        "n_jobs": 1,
        "verbose": -1,
    }
    light |= {"min_data_per_group": 2, "cat_smooth": 1.0}
    families = [
        XGBClassifier(**boosted),
        XGBClassifier(base_score=0.5, **boosted),
        XGBClassifier(missing=0.0, max_cat_to_onehot=1, **boosted),
        XGBClassifier(booster="dart", rate_drop=0.4, **boosted),
        XGBClassifier(objective="binary:hinge", num_parallel_tree=2, subsample=0.7, **boosted),
        XGBRFClassifier(**boosted),
        LGBMClassifier(**light),
        LGBMClassifier(zero_as_missing=True, max_cat_to_onehot=1, **light),
        LGBMClassifier(boosting_type="dart", is_unbalance=True, **light),
        LGBMClassifier(boosting_type="rf", subsample=0.6, subsample_freq=1, **light),
        LGBMClassifier(use_missing=False, **light),
    ]
    return families[int(rng.integers(len(families)))]


def random_library_case(seed: int) -> Case:
    """The same with XGBoost or LightGBM: missing values, categories of their own, sparse matrices, calibration."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 200))
    frame = {f"s{i}": rng.integers(0, int(rng.integers(2, 4)), size=n) for i in range(int(rng.integers(1, 3)))}
    sensitive = list(frame)
    numeric, text = [], []
    for i in range(int(rng.integers(2, 5))):
        if rng.random() < 0.6:
            values = rng.choice(np.array([-1.5, 0.0, 0.1, 0.3, 2.0, 1e4, 16777217.0]), size=n)
            frame[f"x{i}"] = np.where(rng.random(n) < 0.1, np.nan, values) if rng.random() < 0.5 else values
            numeric.append(f"x{i}")
        else:
            frame[f"x{i}"] = rng.choice(["red", "green", "blue", "sand", "?"][: int(rng.integers(2, 6))], size=n)
            text.append(f"x{i}")
    table = pd.DataFrame(frame)
    numeric += [name for name in sensitive if rng.random() < 0.5]
    columns = [name for name in table.columns if name in numeric + text]
    label = (rng.random(n) < 0.25 + 0.5 * (table[sensitive[0]] > 0)).astype(int)
    label[:2] = [0, 1]
    model = library_family(rng)
    if text and rng.random() < 0.5:
        table[text] = table[text].astype("category")
    else:
        kind = rng.integers(4)
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=kind == 3)
        if kind == 0:
            encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        steps = [("text", encoder, text), ("numbers", StandardScaler() if kind == 1 else "passthrough", numeric)]
        model = Pipeline([("columns", ColumnTransformer(steps, sparse_threshold=float(kind == 3))), ("model", model)])
    wrapper = rng.random()
    if wrapper < 0.15:
        model = FixedThresholdClassifier(model, threshold=0.4, pos_label=0, response_method="predict_proba")
    elif wrapper < 0.3:
        method = "sigmoid" if rng.random() < 0.5 else "isotonic"
        model = CalibratedClassifierCV(model, method=method, ensemble=False, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table[columns], label)
    return Case(model, table, sensitive, columns, [1] if rng.random() < 0.8 else [0], label)


def points_as_people(points, domain, case):
    people = people_at(points, domain, case)
    for name in people.columns:
        if isinstance(case.frame[name].dtype, pd.CategoricalDtype):
            # What is no category is missing to LightGBM, and refused by XGBoost.
            people[name] = pd.Categorical(people[name], dtype=case.frame[name].dtype)
    return people


@pytest.mark.parametrize("seed", SEEDS)
def test_enclosures_hold_the_enumerated_rate(seed, monkeypatch):
    if seed % 3:
        monkeypatch.setattr(auto, "LARGE_GROUP", 0)
    compare_with_enumeration(random_ensemble_case(seed))


@pytest.mark.parametrize("seed", LIBRARY_SEEDS)
def test_enclosures_hold_the_enumerated_rate_of_boosting_libraries(seed):
    compare_with_enumeration(random_library_case(seed))


def compare_with_enumeration(case):
    decision, _ = encoders.encode(models.unwrap(case.model), case.frame[case.columns], case.favorable)
    for structure in ("auto", "independent", "tree", "empirical"):
        audits = {}
        for tolerance in (0.05, 1e-13):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                audits[tolerance] = justicia.verify(
                    case.model, case.frame, sensitive_features=case.sensitive, favorable=case.favorable,
                    population=structure, tolerance=tolerance,
                )  # fmt: skip
        population = audits[0.05].population
        domain = population.domain
        if np.prod([float(size) for size in domain.sizes]) > LARGEST_DOMAIN:
            pytest.skip("the domain is too large to enumerate")
        points = every_point(domain)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selected = np.isin(case.model.predict(points_as_people(points, domain, case)), case.favorable)
        undecided = decision.undecided(points)
        assert (decision.evaluate(points) == selected)[~undecided].all()
        keys = [case.frame[name].astype(str) for name in case.sensitive]
        for i, key in enumerate(population.groups):
            member = np.logical_and.reduce([column == value for column, value in zip(keys, key, strict=True)])
            mass = masses(structure, population, i, case.frame[member], points)
            truth, tied = mass[selected].sum(), mass[undecided].sum()
            for tolerance, audit in audits.items():
                solution = audit.groupings[0].solution
                assert solution.lo[i] - 1e-12 <= truth <= solution.hi[i] + 1e-12
                assert solution.hi[i] - solution.lo[i] <= tolerance + tied + 1e-12
            if tied == 0:
                assert audits[1e-13].groupings[0].solution.lo[i] == pytest.approx(truth, abs=1e-12)
