"""An audit of a file that does not fit in memory, beside DuckDB counting the same pairs.

python -m benchmarks.scale people.parquet tree.pkl

Both are whole commands, run in turn: wall-clock seconds, processor seconds, and the largest resident memory
(`resource.getrusage` of the ended process, as `/usr/bin/time -v` prints it). What DuckDB is asked for: people by group,
true outcome and the cells of every two features of the model, one query a pair, straight from the file; the cells are
those of the audit. DuckDB (`pip install duckdb`) is needed for nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

__all__ = ["counted_pairs", "measured"]


def measured(call: list[str]) -> dict[str, float]:
    """Seconds and memory of a command.

    Returns
    -------
    dict
        "wall" and "cpu" in seconds, "memory" in GB.
    """
    begin = time.perf_counter()
    process = subprocess.Popen(call, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    if os.waitstatus_to_exitcode(status) not in (0, 1, 3):
        raise SystemExit(f"{' '.join(call)} ended with {os.waitstatus_to_exitcode(status)}")
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss * 1024 / 1e9}


def _cell(feature) -> str:
    """A feature's cell as SQL."""
    name = f'"{feature.name}"'
    if not feature.numeric:
        return name
    cases = [f"when {name} <= {edge!r} then {i}" for i, edge in enumerate(feature.edges.tolist())]
    return f"case {' '.join(cases)} else {len(cases)} end" if cases else "0"


def counted_pairs(path: str, features, groups: list[str], *, threads: int | None = None) -> int:
    """Let DuckDB count people by group and the cells of every two features; the number of counts."""
    import duckdb

    connection = duckdb.connect(config={} if threads is None else {"threads": threads})
    found = 0
    for one, other in combinations(features, 2):
        keys = [*(f'"{name}"' for name in groups), _cell(one), _cell(other)]
        query = f"select {', '.join(keys)}, count(*) from '{path}' group by all"
        found += len(connection.execute(query).fetchall())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("model")
    parser.add_argument("--population", default="auto")
    parser.add_argument("--duckdb", action="store_true", help="count in this process, and print nothing else")
    options = parser.parse_args()
    if options.duckdb:
        from justicia import encoders, models

        head = _head(options.path)
        fitted = models.unwrap(pickle.loads(Path(options.model).read_bytes()))
        _, domain = encoders.encode(fitted, head[list(fitted.columns)], [1])
        counted_pairs(options.path, domain.features, ["race", "sex", "income"])
        return
    calls = {
        "justicia": [
            *(sys.executable, "-m", "justicia", "verify", "--model", options.model, "--data", options.path),
            *("--sensitive", "race,sex", "--label", "income", "--population", options.population),
        ],
        "duckdb": [sys.executable, "-m", "benchmarks.scale", options.path, options.model, "--duckdb"],
    }
    found = {name: measured(call) for name, call in calls.items()}
    found["duckdb / justicia"] = {
        key: found["duckdb"][key] / found["justicia"][key] for key in ("wall", "cpu", "memory")
    }
    print(json.dumps(found, indent=1))


def _head(path: str):
    from justicia.tables.sources import ParquetSource

    return ParquetSource(Path(path)).head()


if __name__ == "__main__":
    main()
