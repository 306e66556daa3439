"""Whole processes in turn: the floor, and `justicia verify` on the same files.

Usage: python -m benchmarks.command [--runs 5] [--rows 1000000]
"""

from __future__ import annotations

import argparse
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from justicia import datasets

FLOOR = """
import pickle, sys
import pandas as pd
import sklearn
frame = pd.read_csv(sys.argv[1])
with open(sys.argv[2], "rb") as file:
    model = pickle.load(file)
model.predict(frame)
"""


def fit(frame: pd.DataFrame, label: pd.Series) -> Pipeline:
    text = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer([("text", text, make_column_selector(dtype_exclude="number"))], remainder="passthrough")
    return Pipeline([("columns", columns), ("tree", DecisionTreeClassifier(max_depth=6, random_state=0))]).fit(
        frame, label
    )


def large_table(rows: int) -> tuple[pd.DataFrame, pd.Series]:
    """15 columns: 12 numbers, 3 words."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.normal(size=rows).round(3) for i in range(8)})
    for i in range(4):
        frame[f"n{i}"] = rng.integers(0, 50, rows)
    frame["race"] = rng.choice(["a", "b", "c", "d", "e"], rows)
    frame["sex"] = rng.choice(["f", "m"], rows)
    frame["town"] = rng.choice([f"t{i}" for i in range(30)], rows)
    score = frame[[f"x{i}" for i in range(8)]].sum(axis=1) + frame["n0"] / 10 + (frame["sex"] == "m")
    return frame, pd.Series(np.where(score > 3, "yes", "no"))


def seconds(command: list[str], folder: str) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def compare(name: str, frame: pd.DataFrame, model: Pipeline, runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        frame.to_csv(Path(folder) / "table.csv", index=False)
        (Path(folder) / "tree.pkl").write_bytes(pickle.dumps(model))
        (Path(folder) / "floor.py").write_text(FLOOR)
        floor = [sys.executable, "floor.py", "table.csv", "tree.pkl"]
        audit = [sys.executable, "-m", "justicia", "verify", "--model", "tree.pkl", "--data", "table.csv"]
        audit += ["--json", "out.json"]
        times: dict[str, list[float]] = {"floor": [], "audit": []}
        for run in range(runs + 1):
            for kind, command in (("floor", floor), ("audit", audit)):
                taken = seconds(command, folder)
                if run:
                    times[kind].append(taken)
        ratios = [a / f for a, f in zip(times["audit"], times["floor"], strict=True)]
        medians = {kind: statistics.median(values) for kind, values in times.items()}
        print(
            f"{name:28} floor {medians['floor']:.2f} s   audit {medians['audit']:.2f} s   "
            f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000_000)
    chosen = parser.parse_args()
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    adult, description = datasets.load("adult")
    features = adult.drop(columns=description.label)
    model = fit(features, adult[description.label])
    compare("Adult without its label", features, model, chosen.runs)
    compare("Adult with its label", adult, model, chosen.runs)
    frame, label = large_table(chosen.rows)
    compare(f"{chosen.rows:,} x {frame.shape[1]}", frame, fit(frame, label), chosen.runs)


if __name__ == "__main__":
    main()
