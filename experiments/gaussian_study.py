"""Disparate impact of linear models on Gaussian features, against the exact value.

The synthetic study of the graphical-model paper on fairness verification (Ghosh, Basu and Meel, Algorithmic Fairness
Verification with Graphical Models, AAAI 2022): a group A ~ Bernoulli(1/2); features X_i given A ~ N(mu_i, .1^2) or
N(mu'_i, .1^2) with means uniform in [0, 1]; the label is 1 when the sum of the features is at least half the sum of all
means. A logistic regression and a linear support vector machine learn it from a sample, and are audited on a table of
10,000 rows under the `independent` population. The exact rates are known: the score given A is normal.

    python -m experiments.gaussian_study --draws 100 --out experiments/results
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

import justicia

SPREAD = 0.1


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


def study(draws: int, n_rows: int, n_features: tuple[int, ...], seed: int) -> list[dict[str, Any]]:
    """One row a draw, number of features and model."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    rows = []
    for width in n_features:
        rng = np.random.default_rng([seed, width])
        for number in range(draws):
            means, frame, label = draw(rng, width, n_rows)
            features = [f"x{i}" for i in range(width)]
            for model in (LogisticRegression(), LinearSVC()):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model.fit(frame[features], label)
                audit = justicia.verify(
                    model, frame, sensitive_features="group", favorable=1, population="independent", label=None
                )
                exact = exact_impact(model.coef_[0], float(model.intercept_[0]), means)
                found = audit.disparate_impact
                rows.append(
                    {
                        "model": type(model).__name__,
                        "features": width,
                        "draw": number,
                        "exact": exact,
                        "lo": float(found.lo) if found is not None else np.nan,
                        "hi": float(found.hi) if found is not None else np.nan,
                        "rows": float(audit.groupings[0].measures["disparate_impact"].sample.value.middle),
                    }
                )
    return rows


def summary(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Mean absolute errors by model and number of features."""
    frame = pd.DataFrame(rows)
    frame["verified"] = ((frame["lo"] + frame["hi"]) / 2 - frame["exact"]).abs()
    frame["sample"] = (frame["rows"] - frame["exact"]).abs()
    return frame.groupby(["model", "features"])[["verified", "sample"]].mean()


def plot(errors: pd.DataFrame, path: Path) -> None:
    """Mean absolute error against the number of features."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5))
    for model, held in errors.groupby(level="model"):
        width = held.index.get_level_values("features")
        axes.plot(width, held["verified"], marker="o", label=f"{model}, verified")
        axes.plot(width, held["sample"], marker="x", linestyle="--", label=f"{model}, rows")
    axes.axhline(0.01, color="0.7", linewidth=0.8)
    axes.set(xlabel="features", ylabel="mean absolute error of disparate impact", xticks=sorted(set(width)), ylim=0)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def main() -> None:
    """Run the study and write the CSV file and the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("experiments/results"))
    given = parser.parse_args()
    rows = study(given.draws, given.rows, (2, 3, 4, 5), given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    with (given.out / "gaussian_study.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    errors = summary(rows)
    plot(errors, given.out / "gaussian_study.svg")
    print(errors.round(4).to_string())
    print(f"overall: {errors['verified'].mean():.4f} (rows: {errors['sample'].mean():.4f})")


if __name__ == "__main__":
    main()
