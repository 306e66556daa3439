"""One piece of an audit, timed in this process: python benchmarks/pieces.py NAME prints its processor seconds.

Everything that a piece needs is made before the clock starts, and it is run once to compile and to load what is loaded
on first use. Nothing here is imported from the package at the top, so that the same file serves any commit.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["PIECES", "people", "piece_seconds"]

GROUPS = ["race", "sex"]


def people(rows: int = 20_000, features: int = 6, groups: int = 10, seed: int = 0) -> pd.DataFrame:
    """A made table: a grouping of so many groups, numbers, a word, an outcome."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, rows)
    table = pd.DataFrame({"race": (group // 2).astype(str), "sex": np.where(group % 2, "f", "m")})
    trait = rng.normal(size=rows)
    for i in range(features):
        table[f"x{i}"] = (trait * 0.6 + rng.normal(size=rows)).round(2)
    table["job"] = rng.choice(list("abcdef"), rows)
    merit = table[[f"x{i}" for i in range(features)]].sum(axis=1) + (table["job"] == "a") + rng.normal(size=rows)
    table["good"] = (merit > 0).astype(int)
    return table


def _model(kind: str, table: pd.DataFrame, **options):
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    kinds: dict[str, Callable] = {
        "tree": lambda: DecisionTreeClassifier(max_depth=options.get("depth", 6), random_state=0),
        "logistic": lambda: LogisticRegression(max_iter=2000),
        "forest": lambda: RandomForestClassifier(options.get("trees", 20), max_depth=4, random_state=0),
        "boosting": lambda: GradientBoostingClassifier(n_estimators=options.get("trees", 20), random_state=0),
    }
    if kind == "cnf":
        from justicia.learners import CNFClassifier

        columns = table.drop(columns=[*GROUPS, "good"])
        return CNFClassifier(random_state=0).fit(columns.iloc[:2000], table["good"].iloc[:2000])
    if kind == "scorecard":
        held = LogisticRegression().fit((table[["x0", "x1", "x2"]] > 0).astype(int).to_numpy(), table["good"])
        held.coef_, held.intercept_ = np.ones((1, 3)), np.array([-1.5])
        return held
    words = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    return make_pipeline(words, kinds[kind]()).fit(table.drop(columns=[*GROUPS, "good"]), table["good"])


def _engine(engine: str, kind: str, population: str = "tree", **options) -> Callable[[], Callable[[], object]]:
    """Solving alone, of a population that is fitted before."""

    def prepare():
        import justicia
        from justicia import solvers
        from justicia.solvers import Effort
        from justicia.ssat import Formula

        table = people()
        audit = justicia.verify(
            _model(kind, table, **options), table, sensitive_features=GROUPS, population=population, time_limit=5.0
        )
        formula = Formula(audit.population, audit.decision)
        return lambda: solvers.ENGINES[engine].solve(formula, Effort(time_limit=5.0))

    return prepare


def _fit(structure: str) -> Callable[[], Callable[[], object]]:
    def prepare():
        from justicia import encoders, models, population, tables

        table = people()
        fitted = models.unwrap(_model("tree", table))
        _, domain = encoders.encode(fitted, table[list(fitted.columns)], [1])
        grouping = tables.group_rows(table, GROUPS)
        points = domain.points(table)

        def fit():
            counts = population.Counts(grouping.groups, domain.sizes, grouping.codes, points)
            return population.fit(structure, counts, domain, tuple(GROUPS))

        return fit

    return prepare


def _read(suffix: str, **options) -> Callable[[], Callable[[], object]]:
    def prepare():
        from justicia.tables import read_table

        path = Path(tempfile.mkdtemp()) / f"people{suffix}"
        table = people(100_000)
        if suffix == ".parquet":
            table.to_parquet(path)
        else:
            table.to_csv(path, index=False)
        return lambda: read_table(path, **options)

    return prepare


def _audit(kind: str = "tree", stream: bool | None = None, rows: int = 100_000) -> Callable[[], Callable[[], object]]:
    def prepare():
        import justicia

        table = people(rows)
        path = Path(tempfile.mkdtemp()) / "people.parquet"
        table.to_parquet(path)
        model = _model(kind, table)
        options = {} if stream is None else {"stream": stream}
        return lambda: justicia.verify(model, path, sensitive_features=GROUPS, label="good", **options)

    return prepare


def _decisions() -> Callable[[], object]:
    import justicia

    table = people(100_000)
    return lambda: justicia.audit_decisions(table, decision="good", sensitive_features=GROUPS, tests=True)


def _report(form: str, groups: int = 10) -> Callable[[], Callable[[], object]]:
    def prepare():
        import justicia

        table = people(groups=groups)
        audit = justicia.verify(_model("tree", table), table, sensitive_features=GROUPS, label="good")
        return getattr(audit, form)

    return prepare


def _encode(kind: str) -> Callable[[], Callable[[], object]]:
    def prepare():
        from justicia import encoders, models

        table = people()
        fitted = models.unwrap(_model(kind, table))
        frame = table[list(fitted.columns)]
        return lambda: encoders.encode(fitted, frame, [1])

    return prepare


def _sdimacs() -> Callable[[], object]:
    from justicia.ssat.sdimacs import from_sdimacs

    text = "c\np cnf 3 2\nr 0.5 1 0\ne 2 0\nr 0.25 3 0\n1 2 0\n-2 3 0\n"
    return lambda: [from_sdimacs(text) for _ in range(200)]


PIECES: dict[str, Callable[[], Callable[[], object]]] = {
    "encode tree": _encode("tree"),
    "encode logistic": _encode("logistic"),
    "encode boosting": _encode("boosting"),
    "fit independent": _fit("independent"),
    "fit tree": _fit("tree"),
    "fit auto": _fit("auto"),
    "fit empirical": _fit("empirical"),
    "engine paths": _engine("paths", "tree"),
    "engine fourier": _engine("fourier", "logistic"),
    "engine branch_and_bound": _engine("branch_and_bound", "boosting"),
    "engine branch_and_bound forest": _engine("branch_and_bound", "forest"),
    "engine clauses": _engine("clauses", "tree", "independent", depth=3),
    "engine satisfied_clauses": _engine("satisfied_clauses", "cnf"),
    "engine sums": _engine("sums", "scorecard", "independent"),
    "read sdimacs": _sdimacs,
    "read csv": _read(".csv"),
    "read csv gz": _read(".csv.gz"),
    "read parquet": _read(".parquet"),
    "audit whole": _audit(),
    "audit streamed": _audit(stream=True),
    "audit logistic": _audit("logistic", rows=20_000),
    "decisions": _decisions,
    "report text": _report("to_text"),
    "report json": _report("to_json"),
    "report html": _report("to_html"),
    "report html 1000 groups": _report("to_html", 1000),
}
"""What is timed, by name: something that prepares it."""


def piece_seconds(name: str, least: float = 0.3, most: int = 20) -> float:
    """Smallest processor seconds of a piece, run again until it has taken `least` seconds in all."""
    import logging

    logging.disable(logging.CRITICAL)
    run = PIECES[name]()
    run()
    times: list[float] = []
    while sum(times) < least and len(times) < most:
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return min(times)


if __name__ == "__main__":
    print(json.dumps({"piece": sys.argv[1], "seconds": piece_seconds(sys.argv[1])}))
