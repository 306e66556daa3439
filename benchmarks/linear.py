"""Widths and times of certified rates of linear models: python -m benchmarks.linear.

Times are those of the engine alone, after one warm-up, and stand beside the time that the model's own `predict` takes
on the table, measured in turn, as a ratio: the machine's speed drifts, the ratio does not.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import justicia
from justicia import datasets
from justicia.encoders import LinearThreshold
from justicia.population import Domain, Feature, NetworkPopulation, Node
from justicia.solvers import Effort, Fourier, Sums
from justicia.ssat import Formula

REPEATS = 3


def adult() -> tuple[Pipeline, pd.DataFrame]:
    """Logistic regression on raw Adult, the survey weight included."""
    people, _ = datasets.load("adult")
    columns = ColumnTransformer(
        [("text", OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number"))],
        remainder=StandardScaler(),
    )
    model = Pipeline([("columns", columns), ("logistic", LogisticRegression(max_iter=2000))])
    return model.fit(people.drop(columns="income"), people["income"]), people


def binary(n_groups: int, n_features: int, *, signs: bool = False) -> Formula:
    """Independent binary features with random weights, or weights of +-1."""
    rng = np.random.default_rng(0)
    middle = rng.uniform(0.1, 0.9, size=n_features)
    share = np.clip(middle + rng.normal(scale=0.1, size=(n_groups, n_features)), 0.02, 0.98)
    features = tuple(Feature(f"x{j}", ("0", "1"), (0, 1), np.zeros(1)) for j in range(n_features))
    nodes = tuple(
        Node(j, (), np.stack([1 - share[:, j], share[:, j]], axis=1)[:, None, :], np.arange(2), None)
        for j in range(n_features)
    )
    groups = tuple((str(i),) for i in range(n_groups))
    population = NetworkPopulation("independent", Domain(features), ("group",), groups, np.full(n_groups, 100), nodes)
    weights = rng.choice([-1.0, 1.0], size=n_features) if signs else rng.normal(size=n_features)
    base = -float(np.rint(weights @ middle)) if signs else 0.5 - float(weights @ middle)
    slack, step = (0.0, 1.0) if signs else (1e-12 * float(np.abs(weights).sum()), 0.0)
    added = tuple(np.array([0.0, weight]) for weight in weights)
    return Formula(population, LinearThreshold(added, base, 0.0, True, slack, step))


def report(name: str, engine: Fourier | Sums, formula: Formula, tolerance: float, unit: float, repeats: int) -> None:
    """Print the width reached and the median time."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        solution = engine.solve(formula, Effort(tolerance=tolerance))
        seconds.append(time.perf_counter() - start)
    width, median = float((solution.hi - solution.lo).max()), statistics.median(seconds)
    print(f"{name:42} {engine.name:8} {tolerance:8.0e} {width:10.1e} {median:8.2f} s {median / unit:8.1f} x predict")


def main() -> None:
    """Time every case."""
    model, people = adult()
    features = people.drop(columns="income")
    unit = statistics.median(_timed(lambda: model.predict(features)) for _ in range(5))
    print(f"predict on {len(people):,} rows: {unit:.3f} s")
    for structure in ("independent", "tree"):
        audit = justicia.verify(
            model, people.drop(columns="income"), sensitive_features=["race", "sex"], population=structure,
            favorable=">50K", time_limit=1,
        )  # fmt: skip
        formula = Formula(audit.population, audit.decision)
        for tolerance in (1e-3, 1e-4, 1e-5):
            report(f"Adult, race x sex, {structure}", Fourier(), formula, tolerance, unit, REPEATS)
    for tolerance in (1e-4, 1e-5):
        report("1,000 binary features, 10 groups", Fourier(), binary(10, 1000), tolerance, unit, REPEATS)
    for tolerance in (1e-3, 1e-4):
        report("100 binary features, 10,000 groups", Fourier(), binary(10_000, 100), tolerance, unit, 1)
    report("1,000 weights of +-1, 10 groups", Sums(), binary(10, 1000, signs=True), 1e-4, unit, REPEATS)


def _timed(call: object) -> float:
    start = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
