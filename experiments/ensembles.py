"""How narrow the bounds of tree ensembles are after how long, and how plain sampling of the same population compares.

Each model is fitted on a bundled table, all source columns that are features through an ordinal or a
one-hot encoder, and audited under the `tree` population for all compound groups at once. Widths are the largest over
the groups with at least 1 % of the rows. Bounds are certain; `hybrid` intervals, and those of plain sampling, hold for
all groups together but for a probability of 1e-6. Plain sampling gets the same people by the same compiled loops, the
whole time, and as many in each group as make its interval as wide as the others'.

    python -m experiments.ensembles --data adult,compas,german --out experiments/results
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from justicia import datasets, encoders, models, population, solvers, tables
from justicia.solvers.boxes import Problem
from justicia.solvers.sampling import OpenBoxes
from justicia.ssat import Formula

SMALLEST = 0.01
TOLERANCE = 1e-9


def families() -> dict[str, Any]:
    """Unfitted models by name."""
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from xgboost import XGBClassifier

    return {
        "gradient boosting, 100 of depth 3": GradientBoostingClassifier(random_state=0),
        "random forest, 100 of depth 6": RandomForestClassifier(100, max_depth=6, random_state=0),
        "histogram boosting, 100 of 15 leaves": HistGradientBoostingClassifier(max_leaf_nodes=15, random_state=0),
        "XGBoost, 100 of depth 4, rate .1": XGBClassifier(
            n_estimators=100, max_depth=4, learning_rate=0.1, random_state=0, n_jobs=1
        ),
        "XGBoost, 100 of depth 4": XGBClassifier(n_estimators=100, max_depth=4, random_state=0, n_jobs=1),
        "random forest, unbounded": RandomForestClassifier(random_state=0),
    }


def formula(name: str, estimator: Any, encoding: str) -> tuple[Formula, np.ndarray]:
    """A fitted model's decision over the population of a bundled table, and which groups count."""
    from sklearn.base import clone
    from sklearn.compose import ColumnTransformer, make_column_selector
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    people, described = datasets.load(name)
    columns = [column for column in people.columns if column not in (described.label, *described.not_features)]
    frame, label = people[columns], (people[described.label].astype(str) == described.favorable).astype(int)
    encoder = (
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        if encoding == "ordinal"
        else OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    )
    text = make_column_selector(dtype_exclude="number")
    model = make_pipeline(ColumnTransformer([("text", encoder, text)], remainder="passthrough"), clone(estimator))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame, label)
    decision, domain = encoders.encode(models.unwrap(model), frame, [1])
    grouping = tables.group_rows(people, list(described.sensitive))
    counts = population.Counts(grouping.groups, domain.sizes, grouping.codes, domain.points(frame))
    fitted = population.fit("tree", counts, domain, described.sensitive)
    return Formula(fitted, decision), fitted.sizes >= SMALLEST * len(people)


def curve(asked: Formula, counted: np.ndarray, seconds: float) -> list[tuple[float, float]]:
    """Seconds, and width of the certain bounds by then."""
    seen: list[tuple[float, float]] = []
    start = [0.0]

    def watch(low: np.ndarray, high: np.ndarray) -> bool:
        now = time.perf_counter()
        seen.append((now - start[0], float((high - low)[counted].max())))
        return now - start[0] > seconds

    engine = solvers.pick("branch_and_bound", asked.decision)
    engine.solve(asked, solvers.Effort(tolerance=0.9, time_limit=1.0))
    start[0] = time.perf_counter()
    # The clock ends it, so that all of the time goes into certain bounds.
    held = engine.solve(asked, solvers.Effort(tolerance=TOLERANCE, time_limit=100 * seconds, watch=watch))
    # A search that ends by itself may do so before anybody looks.
    seen.append((time.perf_counter() - start[0], float((held.hi - held.lo)[counted].max())))
    return seen


def hybrid(asked: Formula, counted: np.ndarray, seconds: float) -> tuple[float, float]:
    """Width of the certain, and of the statistical bounds."""
    engine = solvers.pick("branch_and_bound", asked.decision)
    held = engine.solve(asked, solvers.Effort(tolerance=TOLERANCE, time_limit=seconds))
    low, high = (held.lo, held.hi) if held.interval is None else held.interval
    return float((held.hi - held.lo)[counted].max()), float((high - low)[counted].max())


def sampled(asked: Formula, counted: np.ndarray, seconds: float) -> float:
    """Width of intervals when people are drawn from the whole population."""
    problem = Problem(asked.decision, asked.population, slice(0, asked.population.n_groups))
    everybody = OpenBoxes(problem, problem.root(), 1)
    groups = np.arange(asked.population.n_groups)
    with ThreadPoolExecutor(2) as pool:
        everybody.verdicts(0, 100, pool, 2)
        deadline = time.perf_counter() + seconds
        found = everybody.interval(groups, TOLERANCE, solvers.DELTA, deadline, pool, 2)
    return 1.0 if found is None else float((found[1] - found[0])[counted].max())


def study(names: list[str], encodings: list[str], chosen: str, seconds: float) -> tuple[list[dict[str, Any]], dict]:
    """One row a table, encoding and model; and the curves."""
    rows, curves = [], {}
    for name in names:
        for encoding in encodings:
            for title, estimator in families().items():
                if chosen not in title:
                    continue
                asked, counted = formula(name, estimator, encoding)
                seen = curve(asked, counted, seconds)
                certain, inner = hybrid(asked, counted, seconds)
                plain = sampled(asked, counted, seconds)
                curves[name, encoding, title] = seen
                row = {
                    "table": name, "encoding": encoding, "model": title, "groups": int(counted.sum()),
                    "seconds": seconds, "certain": seen[-1][1], "certain_in_hybrid": certain, "hybrid": inner,
                    "plain_sampling": plain,
                }  # fmt: skip
                rows.append(row)
                print(*row.values(), sep="\t", flush=True)
    return rows, curves


def draw(curves: dict, rows: list[dict[str, Any]], path: Path) -> None:
    """Width against time, one picture a table and encoding."""
    import matplotlib.pyplot as plt

    panels = list(dict.fromkeys((name, encoding) for name, encoding, _ in curves))
    figure, axes = plt.subplots(1, len(panels), figsize=(4.2 * len(panels), 3.8), sharey=True, squeeze=False)
    for axis, panel in zip(axes[0], panels, strict=True):
        for row in (row for row in rows if (row["table"], row["encoding"]) == panel):
            seen = np.array(curves[(*panel, row["model"])])
            (line,) = axis.loglog(seen[:, 0], np.maximum(seen[:, 1], 1e-7), label=row["model"])
            axis.plot(row["seconds"], max(row["hybrid"], 1e-7), "o", color=line.get_color())
            axis.plot(row["seconds"], row["plain_sampling"], "x", color=line.get_color())
        axis.set_title(f"{panel[0]}, {panel[1]}")
        axis.set_xlabel("seconds")
    axes[0][0].set_ylabel("largest width over groups of 1 % and more")
    axes[0][-1].legend(fontsize=7, title="line: certain, o: hybrid, x: plain sampling", title_fontsize=7)
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def main() -> None:
    """Write a table and a picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="adult,compas,german", help="bundled tables")
    parser.add_argument("--encoding", default="ordinal,one-hot")
    parser.add_argument("--model", default="", help="only models whose name holds this text")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--out", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    rows, curves = study(arguments.data.split(","), arguments.encoding.split(","), arguments.model, arguments.seconds)
    arguments.out.mkdir(parents=True, exist_ok=True)
    with (arguments.out / "ensembles.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    draw(curves, rows, arguments.out / "ensembles.svg")


if __name__ == "__main__":
    main()
