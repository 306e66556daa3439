"""How the cost of an audit grows with rows, features, groups, trees and depth: python -m benchmarks.growth > table.

One thing grows at a time, the others stay as they are in `START`. Each audit is run in a process of its own, so that
its memory is its own; what is printed are processor seconds of `justicia.verify` alone, the largest memory of the
process, and the widest bounds. Loops are compiled before the clock starts. The table is that of `docs/scale.md`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.pieces import GROUPS, people

__all__ = ["GROWTH", "START", "cost"]

START = {"rows": 20_000, "features": 6, "groups": 10, "trees": 0, "depth": 6}
GROWTH = {
    "rows": [2_000, 20_000, 200_000, 1_000_000],
    "features": [6, 24, 96],
    "groups": [10, 100, 1_000, 10_000],
    "depth": [2, 6, 12],
    "trees": [10, 100, 1_000],
}
SECONDS = 20.0


def cost(rows: int, features: int, groups: int, trees: int, depth: int) -> dict[str, float]:
    """Seconds, memory and width of one audit.

    Returns
    -------
    dict
        "cpu" in seconds, "memory" in GB, "width" of the widest bounds, statistical ones where there are some.
    """
    import resource

    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.tree import DecisionTreeClassifier

    import justicia

    table = people(rows, features, groups)
    names = [f"x{i}" for i in range(features)]
    estimator = (
        GradientBoostingClassifier(n_estimators=trees, max_depth=3, random_state=0)
        if trees
        else DecisionTreeClassifier(max_depth=depth, random_state=0)
    )
    model = estimator.fit(table[names].iloc[:20_000], table["good"].iloc[:20_000])
    options = {"sensitive_features": [GROUPS], "label": "good", "time_limit": SECONDS}
    small = people(500, features, 4)
    justicia.verify(estimator.__class__(max_depth=2, random_state=0).fit(small[names], small["good"]), small, **options)
    begin = time.process_time()
    audit = justicia.verify(model, table, **options)
    cpu = time.process_time() - begin
    solution = audit.groupings[0].solution
    low, high = (solution.lo, solution.hi) if solution.interval is None else solution.interval
    return {
        "cpu": cpu,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
        "width": float((high - low).max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="what grows")
    parser.add_argument("--cost", help="a case, as JSON: in this process")
    options = parser.parse_args()
    if options.cost:
        print(json.dumps(cost(**json.loads(options.cost))))
        return
    print(
        "| what grows | to | processor seconds | memory (GB) | widest bounds |\n|---|---:|---:|---:|---:|", flush=True
    )
    for name, values in GROWTH.items():
        for value in values if options.only in name else []:
            case = {**START, name: value}
            if name == "groups":
                case["rows"] = max(case["rows"], 20 * value)
            call = [sys.executable, str(Path(__file__)), "--cost", json.dumps(case)]
            done = subprocess.run(call, capture_output=True, text=True, check=True)
            held = json.loads(done.stdout.splitlines()[-1])
            width = "exact" if held["width"] < 1e-9 else f"{held['width']:.2g}"
            print(f"| {name} | {value:,} | {held['cpu']:.2f} | {held['memory']:.2f} | {width} |", flush=True)


if __name__ == "__main__":
    main()
