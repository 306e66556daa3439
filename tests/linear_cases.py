"""Random small tables with linear and additive models, and rates found by enumerating every point of the domain."""

from __future__ import annotations

import warnings
from inspect import signature
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

from tests.strategies import Case

NEW_STYLE = (
    {"use_legacy_attributes": False, "l1_ratios": (0,)}
    if "use_legacy_attributes" in signature(LogisticRegressionCV).parameters
    else {}
)

FAMILIES = (
    LogisticRegression,
    lambda: LogisticRegressionCV(Cs=2, cv=2, **NEW_STYLE),
    lambda: LinearSVC(C=0.3),
    lambda: SVC(kernel="linear"),
    lambda: SGDClassifier(loss="log_loss", max_iter=50),
    lambda: SGDClassifier(loss="hinge", max_iter=50),
    lambda: SGDClassifier(loss="modified_huber", max_iter=50),
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    LinearDiscriminantAnalysis,
    GaussianNB,
    lambda: BernoulliNB(binarize=0.2),
    CategoricalNB,
)


def random_linear_case(seed: int) -> Case:
    """2 to 6 features of up to 6 values, 1 to 3 sensitive columns, any supported family and step."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 160))
    n_sensitive = int(rng.integers(1, 4))
    frame: dict[str, Any] = {f"s{i}": rng.integers(0, int(rng.integers(2, 4)), size=n) for i in range(n_sensitive)}
    sensitive = list(frame)
    numeric, text = [], []
    for i in range(int(rng.integers(2, 7 - min(n_sensitive, 2)))):
        name = f"x{i}"
        if rng.random() < 0.6:
            frame[name] = _numbers(rng, n)
            numeric.append(name)
        else:
            frame[name] = rng.choice(["red", "green", "blue", "sand", "?"][: int(rng.integers(2, 6))], size=n)
            text.append(name)
    table = pd.DataFrame(frame)
    for name in sensitive:
        if rng.random() < 0.4:
            numeric.append(name)
    columns = [name for name in table.columns if name in numeric + text]
    label = np.array(["no", "yes"])[(rng.random(n) < 0.3 + 0.4 * (table[sensitive[0]] > 0)).astype(int)]
    label[:2] = ["no", "yes"]
    model = _model(rng, table, numeric, text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table[columns], label)
    favorable = ["yes"] if rng.random() < 0.8 else ["no"]
    return Case(model, table, sensitive, columns, favorable, label)


def _numbers(rng: np.random.Generator, n: int) -> np.ndarray:
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(0, int(rng.integers(2, 7)), size=n)
    if kind == 1:
        return rng.choice(np.array([0.1, 0.3, 2.0, 17.5, 1e4]), size=n)
    if kind == 2:
        return rng.choice(np.round(rng.normal(size=4), 2), size=n).astype(np.float32)
    return np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 4, size=n))


def _model(rng: np.random.Generator, table: pd.DataFrame, numeric: list[str], text: list[str]) -> Any:
    family = FAMILIES[int(rng.integers(len(FAMILIES)))]()
    branches: list[Any] = []
    if isinstance(family, CategoricalNB):
        fill = SimpleImputer(strategy="most_frequent")
        encoder = OrdinalEncoder()
        return Pipeline([("fill", fill), ("codes", encoder), ("model", family)])
    if text:
        drop = "first" if rng.random() < 0.5 else None
        encoder = OneHotEncoder(drop=drop, handle_unknown="error" if drop else "ignore", sparse_output=False)
        branches.append(("text", encoder, text))
    holes = [name for name in numeric if table[name].isna().any()]
    whole = [name for name in numeric if name not in holes]
    if holes:
        imputer = SimpleImputer(add_indicator=bool(rng.random() < 0.5))
        branches.append(("holes", make_pipeline(imputer, StandardScaler()), holes))
    if whole:
        branches.append(("whole", _number_step(rng, table[whole]), whole))
    steps: list[Any] = [("columns", ColumnTransformer(branches, sparse_threshold=0.0))]
    if rng.random() < 0.35 and hasattr(family, "C"):
        # Weights of a lattice: many sums are equal, and some are 0.
        family = Rounded(int(rng.integers(1, 3)))
    steps.append(("model", family))
    model: Any = Pipeline(steps)
    if rng.random() < 0.2 and hasattr(family, "predict_proba") and not isinstance(family, Rounded):
        positive = "yes" if rng.random() < 0.7 else "no"
        model = FixedThresholdClassifier(
            model, threshold=float(rng.choice([0.3, 0.5, 0.62])), pos_label=positive, response_method="predict_proba"
        )
    return model


class Rounded(LogisticRegression):
    """Logistic regression whose weights are small whole numbers."""

    def __init__(self, most: int = 2) -> None:
        super().__init__()
        self.most = most

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        super().fit(X, y)
        rng = np.random.default_rng(X.shape[1])
        self.coef_ = rng.integers(-self.most, self.most + 1, size=self.coef_.shape).astype(np.float64)
        self.coef_[0, 0] = 1.0
        self.intercept_ = rng.integers(-1, 2, size=1).astype(np.float64)
        return self


# The encoder knows a model by its class's public name.
Rounded.__module__, Rounded.__qualname__, Rounded.__name__ = (
    LogisticRegression.__module__,
    "LogisticRegression",
    "LogisticRegression",
)


def _number_step(rng: np.random.Generator, values: pd.DataFrame) -> Any:
    kind = rng.integers(10)
    if kind == 0:
        return MinMaxScaler()
    if kind == 1:
        return RobustScaler()
    if kind == 2:
        return QuantileTransformer(n_quantiles=5)
    if kind == 3:
        return PowerTransformer()
    if kind == 4:
        return FunctionTransformer(np.square) if rng.random() < 0.5 else FunctionTransformer(np.arctan)
    if kind == 5 and min(values.nunique()) > 2:
        return SplineTransformer(n_knots=3, degree=2)
    if kind == 6 and min(values.nunique()) > 2:
        return KBinsDiscretizer(2, encode="onehot-dense", strategy="uniform")
    if kind == 7:
        return "passthrough"
    return StandardScaler()


def every_point(domain: Any) -> np.ndarray:
    """All points of a domain, int array of shape (n, n_features)."""
    every = list(product(*(range(size) for size in domain.sizes)))
    return np.array(every, dtype=np.int64).reshape(len(every), len(domain.sizes))


def people_at(points: np.ndarray, domain: Any, case: Case) -> pd.DataFrame:
    """One person a domain point, with the representatives of the cells."""
    position = {name: i for i, name in enumerate(domain.names)}
    columns = {}
    for name in case.columns:
        kind = case.frame[name].dtype
        if name not in position:
            columns[name] = pd.Series([case.frame[name].iloc[0]] * len(points), dtype=kind)
            continue
        feature = domain.features[position[name]]
        values = [feature.representatives[cell] for cell in points[:, position[name]]]
        text = any(isinstance(value, str) for value in feature.representatives)
        columns[name] = pd.Series(values, dtype=object if text else kind if kind == np.float32 else None)
    return pd.DataFrame(columns)


def cells_by_hand(feature: Any, values: pd.Series) -> list[int]:
    """The cell of each value, by comparing it with what stands for the cells, or with the edges of runs."""
    cells = []
    for value in values.tolist():
        if value is None or value != value:
            cells.append(feature.missing)
        elif feature.edges is not None:
            cells.append(sum(float(value) > edge for edge in feature.edges))
        else:
            cells.append([known == value for known in feature.cells].index(True))
    return cells


def masses(structure: str, population: Any, group: int, rows: pd.DataFrame, points: np.ndarray) -> np.ndarray:
    """Probability of each point in a group: from the rows, or from the tables of a tree."""
    domain = population.domain
    if structure == "tree":
        return _from_tables(population, group, points)
    if structure == "auto":
        total = population.row_weights[group] * masses("empirical", population, group, rows, points)
        for one, weight in enumerate(population.weights[group]):
            total += weight * _from_tables(population.network, group * population.n_classes + one, points)
        return total
    cells = [np.array(cells_by_hand(feature, rows[feature.name])) for feature in domain.features]
    if structure == "independent":
        total = np.ones(len(points))
        for i, size in enumerate(domain.sizes):
            total *= (np.bincount(cells[i], minlength=size) / len(rows))[points[:, i]]
        return total
    held: dict[tuple[int, ...], int] = {}
    for row in zip(*cells, strict=True) if cells else [()] * len(rows):
        held[tuple(map(int, row))] = held.get(tuple(map(int, row)), 0) + 1
    return np.array([held.get(tuple(point), 0) / len(rows) for point in points.tolist()])


def _from_tables(population: Any, group: int, points: np.ndarray) -> np.ndarray:
    states = {node.feature: node.states for node in population.nodes}
    total = np.ones(len(points))
    for node in population.nodes:
        cells = points[:, node.feature]
        above = states[node.parents[0]][points[:, node.parents[0]]] if node.parents else np.zeros(len(points), int)
        total *= node.table[group][above, node.states[cells]]
        if node.within is not None:
            total *= node.within[group][cells]
    return total
