"""Accuracy of rules of two to five clauses, beside that of a decision tree of depth 5.

On every bundled data set, by 5-fold cross-validation: `CNFClassifier` in both forms with its own defaults, and
scikit-learn's tree on the same columns, text one-hot encoded. The time is that of the slowest fit.

    python -m experiments.rules --out experiments/results
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from justicia import datasets
from justicia.learners import CNF, DNF, CNFClassifier

FOLDS = 5
DEPTH = 5


def tree(frame: pd.DataFrame) -> Any:
    """A tree of depth 5 behind a one-hot encoding of text."""
    text = [name for name in frame.columns if frame[name].dtype.kind not in "biuf"]
    numbers = [name for name in frame.columns if name not in text]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((encoder, text), ("passthrough", numbers))
    return make_pipeline(columns, DecisionTreeClassifier(max_depth=DEPTH, random_state=0))


def rule(clauses: int, form: str, about: str) -> Any:
    """Makes a learner of rules about one class."""
    return lambda _: CNFClassifier(clauses, form=form, pos_label=about)


def evaluate(make: Any, frame: pd.DataFrame, label: np.ndarray, folds: int) -> dict[str, float]:
    """Accuracy on held-out rows, its standard error, seconds of the slowest fit, and conditions."""
    scores, seconds, literals = [], [], []
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(frame, label)
    for fold, (train, test) in enumerate(splits):
        if fold >= folds:
            break
        model = make(frame)
        start = time.perf_counter()
        model.fit(frame.iloc[train], label[train])
        seconds.append(time.perf_counter() - start)
        scores.append(model.score(frame.iloc[test], label[test]))
        literals.append(model.rule_.n_literals if isinstance(model, CNFClassifier) else float("nan"))
    return {
        "accuracy": float(np.mean(scores)),
        "standard_error": float(np.std(scores, ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else float("nan"),
        "slowest_fit": max(seconds),
        "conditions": float(np.mean(literals)),
    }


def main(arguments: list[str] | None = None) -> None:
    """Write a CSV file, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path("experiments/results"))
    parser.add_argument("--data", nargs="*", default=datasets.names())
    parser.add_argument("--clauses", nargs="*", type=int, default=[2, 3, 4, 5])
    parser.add_argument("--folds", type=int, default=FOLDS)
    asked = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    for name in asked.data:
        table, description = datasets.load(name)
        frame, label = table[list(description.features)], table[description.label].astype(str).to_numpy()
        models: list[tuple[str, int, Any]] = [("tree", 0, tree)]
        models += [
            (form, clauses, rule(clauses, form, description.favorable))
            for form in (CNF, DNF)
            for clauses in asked.clauses
        ]
        for kind, clauses, make in models:
            found = evaluate(make, frame, label, asked.folds)
            rows.append({"data": name, "model": kind, "clauses": clauses, **found})
            print(
                f"{name:8} {kind:4} {clauses or '':1} accuracy {found['accuracy']:.4f} +- "
                f"{found['standard_error']:.4f}, {found['conditions']:.1f} conditions, "
                f"slowest fit {found['slowest_fit']:.1f} s",
                flush=True,
            )
    asked.out.mkdir(parents=True, exist_ok=True)
    with (asked.out / "rules.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
