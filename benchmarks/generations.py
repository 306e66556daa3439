"""Labelled generations in bulk: the sequence check beside pandas' reading of the same file, and a shield's pace.

Usage: python -m benchmarks.generations [--rows 10000000]
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from justicia.generations import Shield, sequence

DOMAIN = ["female", "male", "unclear"]


def table(rows: int, runs: int) -> pa.Table:
    """Runs of one length with steps, one attribute and a topic; words are plain text in the file."""
    rng = np.random.default_rng(0)
    length = rows // runs

    def words(codes: np.ndarray, names: list[str]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(names)).cast(pa.string())

    return pa.table(
        {
            "run": words(np.repeat(np.arange(runs), length), [f"run {run:05}" for run in range(runs)]),
            "step": np.tile(np.arange(1, length + 1), runs),
            "gender": words(rng.choice(3, runs * length, p=[0.3, 0.6, 0.1]), DOMAIN),
            "topic": words(rng.integers(0, 2, runs * length), ["poor", "rich"]),
        }
    )


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(path: Path, name: str, **asked: Any) -> None:
    """In turn, so that the machine's pace is the same for both."""
    ratios, reads = [], []
    for turn in range(6):
        read = seconds(lambda: pd.read_parquet(path))
        check = seconds(lambda: sequence(path, "gender", domain=DOMAIN, beta=60, **asked))
        if turn:
            ratios.append(check / read)
            reads.append(read)
    print(
        f"{name:34} pandas reads in {statistics.median(reads):.2f} s; file to verdict takes "
        f"{statistics.median(ratios):.2f} times that ({min(ratios):.2f} to {max(ratios):.2f})",
        flush=True,
    )


def pace(n: int, beta: int, constant: bool) -> None:
    """Steps a second of processor time, next and observe together."""
    values = [f"value {place}" for place in range(n)]
    rng = random.Random(0)
    drafts = [values[0] if constant else rng.choice(values) for _ in range(200_000)]
    rates, enforced = [], 0
    for _ in range(5):
        shield = Shield(values, beta)
        start = time.process_time()
        for draft in drafts:
            decision = shield.next()
            shield.observe(draft if decision is None else decision.value)
        rates.append(len(drafts) / (time.process_time() - start))
        enforced = shield.enforced
    kind = "constant" if constant else "uniform"
    print(
        f"shield, {n} values, beta {beta}, {kind}: {statistics.median(rates):,.0f} steps a second "
        f"({enforced / len(drafts):.0%} enforced)",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for runs in (1000, 100_000):
            path = Path(folder) / "t.parquet"
            pq.write_table(table(chosen.rows, runs), path)
            compare(path, f"{chosen.rows:,} rows, {runs:,} runs")
        compare(path, "the same, one topic of two", where={"topic": "poor"})
    for n, beta, constant in ((2, 6, False), (4, 12, False), (4, 12, True), (4, 4, False), (10, 20, True)):
        pace(n, beta, constant)


if __name__ == "__main__":
    main()
