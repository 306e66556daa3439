"""A made table of any number of people, 12 columns, written batch by batch; the same for the same seed.

python -m benchmarks.scale_table people.parquet --rows 100000000

Two sensitive columns, a true outcome, and nine others: whole numbers, words, and two continuous columns that no two
people share. All depend on one another through two hidden traits.
"""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["COLUMNS", "batches", "model", "write_csv", "write_parquet"]

BATCH = 1_000_000
RACES = np.array(["Asian", "Black", "Latino", "Other", "White"], dtype=object)
JOBS = np.array([f"job {letter}" for letter in "abcdefghijkl"], dtype=object)
REGIONS = np.array([f"region {letter}" for letter in "abcdefgh"], dtype=object)
COLUMNS = (
    *("race", "sex", "age", "education", "hours", "married", "children", "job", "region", "capital", "score"),
    "income",
)


def batches(rows: int, seed: int = 0) -> Iterator[pd.DataFrame]:
    """The table in frames of a million rows, each of a seed of its own."""
    for number, begin in enumerate(range(0, rows, BATCH)):
        rng = np.random.default_rng([seed, number])
        n = min(BATCH, rows - begin)
        race = rng.choice(5, n, p=[0.06, 0.13, 0.18, 0.03, 0.6])
        sex = rng.integers(0, 2, n)
        trait = rng.normal(size=n) + 0.15 * sex + np.array([0.2, -0.3, -0.2, 0.0, 0.1])[race]
        other = rng.normal(size=n)
        age = np.clip(42 + 13 * other + 3 * trait + 4 * rng.normal(size=n), 18, 90).astype(np.int64)
        education = np.clip(9 + 2 * trait + rng.normal(size=n), 1, 16).astype(np.int64)
        hours = np.clip(40 + 4 * trait + 8 * rng.normal(size=n), 1, 99).astype(np.int64)
        married = (other + rng.normal(size=n) > 0).astype(np.int64)
        children = rng.poisson(0.5 + 0.8 * married).clip(0, 7)
        job = np.clip(6 + 2 * trait + 1.5 * rng.normal(size=n), 0, 11).astype(np.int64)
        region = rng.integers(0, 8, n)
        capital = np.exp(rng.normal(size=n) + trait)
        score = 0.5 * trait + 0.3 * other + rng.normal(size=n)
        wealth = 0.25 * (education - 9) + 0.03 * (hours - 40) + 0.4 * married + 0.3 * score + 0.2 * np.log(capital)
        income = (wealth + 0.02 * (age - 42) + rng.logistic(size=n) > 1.2).astype(np.int64)
        yield pd.DataFrame(
            {
                "race": pd.Categorical.from_codes(race, RACES).astype("str"),
                "sex": pd.Categorical.from_codes(sex, ["female", "male"]).astype("str"),
                "age": age,
                "education": education,
                "hours": hours,
                "married": married,
                "children": children,
                "job": pd.Categorical.from_codes(job, JOBS).astype("str"),
                "region": pd.Categorical.from_codes(region, REGIONS).astype("str"),
                "capital": capital,
                "score": score,
                "income": income,
            }
        )


def write_parquet(path: Path, rows: int, seed: int = 0) -> None:
    """Write it as a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    writer = None
    for frame in batches(rows, seed):
        table = pa.Table.from_pandas(frame, preserve_index=False)
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def write_csv(path: Path, rows: int, seed: int = 0) -> None:
    """Write it as a CSV file."""
    for number, frame in enumerate(batches(rows, seed)):
        frame.to_csv(path, mode="w" if number == 0 else "a", header=number == 0, index=False)


def model(kind: str = "tree", seed: int = 1):
    """A model fitted to 200,000 other people, all columns but race and sex."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    people = next(batches(200_000, seed))
    words = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["job", "region"]), remainder="passthrough"
    )
    kinds = {
        "tree": DecisionTreeClassifier(max_depth=6, min_samples_leaf=500, random_state=0),
        "boosting": GradientBoostingClassifier(n_estimators=100, max_depth=3, random_state=0),
        "logistic": LogisticRegression(max_iter=2000),
    }
    return make_pipeline(words, kinds[kind]).fit(people.drop(columns=["race", "sex", "income"]), people["income"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", help="also write a model of this kind (tree, boosting, logistic) beside it")
    options = parser.parse_args()
    write = write_csv if options.path.suffix == ".csv" else write_parquet
    write(options.path, options.rows, options.seed)
    if options.model:
        options.path.with_name(f"{options.model}.pkl").write_bytes(pickle.dumps(model(options.model)))


if __name__ == "__main__":
    main()
