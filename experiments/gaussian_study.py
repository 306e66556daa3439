"""Disparate impact of linear models on Gaussian features, against the exact value.

The synthetic study of the graphical-model paper on fairness verification (Ghosh, Basu and Meel, Algorithmic Fairness
Verification with Graphical Models, AAAI 2022): a group A ~ Bernoulli(1/2); features X_i given A ~ N(mu_i, .1^2) or
N(mu'_i, .1^2) with means uniform in [0, 1]; the label is 1 when the sum of the features is at least half the sum of all
means. A logistic regression and a linear support vector machine learn it from a sample, and are audited on a table of
10,000 rows under the `independent` population. The exact rates are known: the score given A is normal.

    python -m experiments.gaussian_study --out experiments/results
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from scipy.stats import norm

import justicia
from experiments.running import Reporter, Rows, command, new_figure, of_one, read_rows, save_figure, table

__all__ = ["CAPTION", "NAME", "TITLE", "plot", "run", "section"]

NAME = "gaussian_study"
TITLE = "Linear models of normal features"
CAPTION = "Mean absolute error of the disparate impact, verified and of the rows, against the number of features"

SPREAD = 0.1
WIDTHS = (2, 3, 4, 5)
MODELS = ("LogisticRegression", "LinearSVC")
KEY = ["model", "features", "draw", "rows", "seed"]
COLUMNS = [*KEY, "exact", "lo", "hi", "of_rows"]


def draw(rng: np.random.Generator, n_features: int, n: int) -> tuple[np.ndarray, pd.DataFrame, np.ndarray]:
    """Means of shape (2, n_features), a table with column `group`, and labels."""
    means = rng.uniform(size=(2, n_features))
    group = rng.integers(0, 2, size=n)
    values = rng.normal(means[group], SPREAD)
    frame = pd.DataFrame(values, columns=[f"x{i}" for i in range(n_features)])
    frame["group"] = np.array(["a", "b"])[group]
    return means, frame, (values.sum(axis=1) >= means.sum() / 2).astype(int)


def exact_impact(weights: np.ndarray, intercept: float, means: np.ndarray) -> float:
    """Smaller over larger chance that a normal score is above 0."""
    rates = norm.sf(0.0, loc=means @ weights + intercept, scale=SPREAD * np.linalg.norm(weights))
    return float(rates.min() / rates.max())


def study(n_features: int, number: int, n_rows: int, seed: int) -> list[dict[str, Any]]:
    """A row a model, for one draw of means and people."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    means, frame, label = draw(np.random.default_rng([seed, n_features, number]), n_features, n_rows)
    features = [f"x{i}" for i in range(n_features)]
    rows = []
    for model in (LogisticRegression(), LinearSVC(random_state=seed)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(frame[features], label)
        audit = justicia.verify(
            model, frame, sensitive_features="group", favorable=1, population="independent", label=None
        )
        found = audit.disparate_impact
        rows.append(
            {
                "model": type(model).__name__,
                "features": n_features,
                "draw": number,
                "rows": n_rows,
                "seed": seed,
                "exact": exact_impact(model.coef_[0], float(model.intercept_[0]), means),
                "lo": None if found is None else float(found.lo),
                "hi": None if found is None else float(found.hi),
                "of_rows": float(audit.groupings[0].measures["disparate_impact"].sample.value.middle),
            }
        )
    return rows


def run(out: Path, *, quick: bool, progress: Reporter, seed: int = 0, draws: int = 100, n_rows: int = 10_000) -> None:
    """Compute the draws that are not there yet, and draw the figure."""
    widths, draws = ((2,), 2) if quick else (WIDTHS, draws)
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    cases = [(width, number) for width in widths for number in range(draws)]

    def key(case: tuple[int, int], model: str) -> dict[str, Any]:
        return {"model": model, "features": case[0], "draw": case[1], "rows": n_rows, "seed": seed}

    todo = [case for case in cases if any(key(case, model) not in rows for model in MODELS)]
    for case in progress.track(todo, TITLE):
        for row in study(*case, n_rows, seed):
            if key(case, row["model"]) not in rows:
                rows.add(row)
    plot(rows.held, out / f"{NAME}.svg")


def errors(rows: list[dict[str, str]]) -> pd.DataFrame:
    """Mean absolute errors by model and number of features."""
    frame = pd.DataFrame(rows).astype({"features": int})
    numbers = frame[["exact", "lo", "hi", "of_rows"]].apply(pd.to_numeric)
    frame["verified"] = ((numbers["lo"] + numbers["hi"]) / 2 - numbers["exact"]).abs()
    frame["sample"] = (numbers["of_rows"] - numbers["exact"]).abs()
    return frame.groupby(["model", "features"], sort=False)[["verified", "sample"]].mean()


def section(folder: Path) -> str:
    """What the CSV file says."""
    rows = read_rows(folder / f"{NAME}.csv")
    found = errors(rows)
    draws = len({row["draw"] for row in rows})
    lines = [
        [model, str(features), *(of_one(float(row[name]), 4) for name in ("verified", "sample"))]
        for (model, features), row in found.iterrows()
    ]
    overall = found.mean()
    return "\n\n".join(
        [
            "The synthetic study of Ghosh, Basu and Meel (AAAI 2022): features are normal with a standard deviation of "
            f"{of_one(SPREAD, 1)} and random means in two groups, and linear models learn whether their sum is large. "
            "Mean absolute error of the disparate impact against the exact one, verified under `independent` on "
            f"{int(rows[0]['rows']):,} rows, and of these rows; {draws} draws.",
            table(["model", "features", "verified", "rows"], lines),
            f"Mean of all: {of_one(float(overall['verified']), 4)} verified, {of_one(float(overall['sample']), 4)} of "
            "the rows.",
        ]
    )


def plot(rows: list[dict[str, str]], path: Path) -> None:
    """Mean absolute error against the number of features."""
    found = errors(rows)
    figure, axes = new_figure(figsize=(6, 3.5))
    for model, held in found.groupby(level="model"):
        width = held.index.get_level_values("features")
        axes.plot(width, held["verified"], marker="o", label=f"{model}, verified")
        axes.plot(width, held["sample"], marker="x", linestyle="--", label=f"{model}, rows")
    axes.axhline(0.01, color="0.7", linewidth=0.8)
    axes.set(
        xlabel="features", ylabel="mean absolute error of disparate impact",
        xticks=sorted({int(row["features"]) for row in rows}), ylim=0,
    )  # fmt: skip
    axes.legend(frameon=False)
    save_figure(figure, path)


if __name__ == "__main__":
    command(
        NAME,
        run,
        __doc__,
        click.option("--draws", type=click.IntRange(min=1), default=100, show_default=True),
        click.option("--rows", "n_rows", type=click.IntRange(min=100), default=10_000, show_default=True),
    )()
