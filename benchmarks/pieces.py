"""One piece of an audit, timed in this process: python benchmarks/pieces.py NAME prints its processor seconds.

Everything that a piece needs is made before the clock starts, and it is run once to compile and to load what is loaded
on first use. Nothing here is imported from the package at the top, so that the same file serves any commit.
"""

from __future__ import annotations

import json
import os
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
    from sklearn.ensemble import (
        AdaBoostClassifier,
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    kinds: dict[str, Callable] = {
        "tree": lambda: DecisionTreeClassifier(max_depth=options.get("depth", 6), random_state=0),
        "logistic": lambda: LogisticRegression(max_iter=2000),
        "forest": lambda: RandomForestClassifier(options.get("trees", 20), max_depth=4, random_state=0),
        "boosting": lambda: GradientBoostingClassifier(n_estimators=options.get("trees", 20), random_state=0),
        "histogram boosting": lambda: HistGradientBoostingClassifier(max_iter=20, random_state=0),
        "adaboost": lambda: AdaBoostClassifier(n_estimators=20, random_state=0),
        "naive bayes": GaussianNB,
        "support vectors": lambda: SVC(kernel="linear"),
    }
    if kind in ("xgboost", "lightgbm"):
        from importlib import import_module

        classes = {"xgboost": "XGBClassifier", "lightgbm": "LGBMClassifier"}
        made = getattr(import_module(kind), classes[kind])(n_estimators=20, max_depth=3, random_state=0)
        return made.fit(table.filter(regex=r"^x\d"), table["good"])
    if kind == "cnf":
        from justicia.learners import CNFClassifier

        columns = table.drop(columns=[*GROUPS, "good"])
        return CNFClassifier(random_state=0).fit(columns.iloc[:2000], table["good"].iloc[:2000])
    if kind == "scorecard":
        held = LogisticRegression().fit(table[["x0", "x1", "x2"]], table["good"])
        held.coef_, held.intercept_ = np.ones((1, 3)), np.array([-1.5])
        return held
    words = make_column_transformer((OneHotEncoder(sparse_output=False), ["job"]), remainder="passthrough")
    if kind == "support vectors":
        table = table.iloc[:2000]
    return make_pipeline(words, kinds[kind]()).fit(table.drop(columns=[*GROUPS, "good"]), table["good"])


def _engine(engine: str, kind: str, population: str = "tree", **options) -> Callable[[], Callable[[], object]]:
    """Solving alone, of a population that is fitted before."""

    def prepare():
        import justicia
        from justicia import solvers
        from justicia.solvers import Effort
        from justicia.ssat import Formula

        table = people()
        if kind == "scorecard":
            table[["x0", "x1", "x2"]] = (table[["x0", "x1", "x2"]] > 0).astype(int)
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


def _network() -> str:
    """Two numbers that depend on each other and on the group, as the text of a network with densities."""
    normal = {"mean": [0, 1], "standard_deviation": [1, 0.5]}
    below = {"mean": [0.5, -1], "variance": 0.25, "coefficients": {"x0": [1, -2]}}
    variables = [
        {"name": "sex", "values": ["f", "m"], "probabilities": [0.5, 0.5]},
        {"name": "x0", "parents": ["sex"], "normal": normal},
        {"name": "x1", "parents": ["sex", "x0"], "normal": below},
    ]
    return json.dumps({"schema": "justicia.network/1", "variables": variables})


def _densities(kind: str) -> Callable[[], Callable[[], object]]:
    """An audit of people that a network with densities describes; the engine is the one for its kind of model."""

    def prepare():
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.tree import DecisionTreeClassifier

        import justicia
        from justicia.population.networks import network_from_text

        table, network = people(2_000, 2), network_from_text(_network())
        kinds = {
            "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
            "logistic": LogisticRegression(),
            "forest": RandomForestClassifier(10, max_depth=3, random_state=0),
        }
        model = kinds[kind].fit(table[["x0", "x1"]], table["good"])
        options = {"sensitive_features": "sex", "label": "good", "population": network, "time_limit": 5.0}
        return lambda: justicia.verify(model, table, **options)

    return prepare


def _given_network() -> Callable[[], object]:
    from justicia.population.networks import network_from_text

    text = _network()
    return lambda: [network_from_text(text) for _ in range(20)]


def _population_file() -> Callable[[], object]:
    import justicia

    table, path = people(), Path(tempfile.mkdtemp()) / "population.json"
    justicia.fit_population(table, sensitive_features=GROUPS).to_json(path)
    return lambda: justicia.read_population(path)


def _rules() -> Callable[[], object]:
    from justicia.models import read_rule

    path = Path(tempfile.mkdtemp()) / "who.rule"
    path.write_text(" and\n".join(f"(job = a or x{i} > {i}.5 or x{i + 1} <= -{i}.25)" for i in range(5)))
    return lambda: [read_rule(path) for _ in range(20)]


def _people_file(suffix: str, **size: int) -> Path:
    path = Path(tempfile.mkdtemp()) / f"people{suffix}"
    table = people(**size)
    if suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False)
    return path


def _read(suffix: str, **size: int) -> Callable[[], Callable[[], object]]:
    def prepare():
        from justicia.tables import read_table

        path = _people_file(suffix, **size)
        return lambda: read_table(path)

    return prepare


def _batches(suffix: str, **size: int) -> Callable[[], Callable[[], object]]:
    """Reading in batches two columns of those that there are."""

    def prepare():
        from justicia.streaming import large_source

        path = _people_file(suffix, **size)

        def read():
            source = large_source(path, stream=True)
            source.head()
            source.survey(["race", "x1"], {"race"}, None)
            return [len(batch) for batch in source.batches(["race", "x1"], None)]

        return read

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


def _decisions(groups: int = 10, form: str | None = None, **options) -> Callable[[], Callable[[], object]]:
    """An audit of decisions, or a report of it."""

    def prepare():
        import justicia

        table = people(100_000, groups=groups)

        def audit():
            return justicia.audit_decisions(table, decision="good", sensitive_features=GROUPS, **options)

        return audit if form is None else getattr(audit(), form)

    return prepare


def _comparison() -> Callable[[], object]:
    import justicia

    table = people()
    one, other = _model("tree", table), _model("logistic", table)
    return lambda: justicia.compare(one, table, other, tools=(), sensitive_features=GROUPS, label="good")


def _picture() -> Callable[[], object]:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    import justicia

    table = people()
    audit = justicia.verify(_model("tree", table), table, sensitive_features=GROUPS)

    def draw():
        audit.plot()
        pyplot.close("all")

    return draw


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


def _outside(name: str) -> Callable[[], Callable[[], object]]:
    """The same question by a program outside, which writes, runs and reads it."""

    def prepare():
        import justicia
        from justicia.solvers import Effort
        from justicia.solvers.external import External, outside_solver
        from justicia.ssat import Formula

        table = people(rows=2_000, features=3, groups=4)
        audit = justicia.verify(
            _model("tree", table, depth=3), table, sensitive_features=GROUPS, population="independent"
        )
        engine = External(outside_solver(name))
        formula = Formula(audit.population, audit.decision)
        return lambda: engine.solve(formula, Effort(time_limit=60.0))

    return prepare


def generations(rows: int = 20_000) -> pd.DataFrame:
    """Labelled generations of some runs: two attributes, three prompts."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "run": np.repeat(np.arange(rows // 100), 100),
            "step": np.tile(np.arange(1, 101), rows // 100),
            "gender": rng.choice(["female", "male"], rows, p=[0.4, 0.6]),
            "age": rng.choice(["young", "old"], rows),
            "prompt": rng.choice(["a person", "a nurse", "a boss"], rows),
        }
    )


_SPEC = {
    "attributes": {
        "gender": {"domain": ["female", "male"], "beta": 40},
        "age": {"domain": ["young", "old"], "beta": 40},
    },
    "run": "run",
    "step": "step",
}


def _clauses(kind: str) -> Callable[[], Callable[[], object]]:
    """The question of the most favored group, of a model over two numbers of few values, written down."""

    def prepare():
        import justicia
        from justicia.ssat import Formula
        from justicia.ssat.lowering import MOST_FAVORED, lower

        table = people(2_000, features=2)
        table[["x0", "x1"]] = table[["x0", "x1"]].clip(-2, 2).round(1)
        audit = justicia.verify(_model(kind, table), table, sensitive_features=GROUPS, population="independent")
        formula = Formula(audit.population, audit.decision)
        return lambda: lower(formula, MOST_FAVORED)

    return prepare


def _generations(form: str | None = None) -> Callable[[], Callable[[], object]]:
    """A whole audit of generations; its report in a form alone."""

    def prepare():
        from justicia.generations import audit

        table = generations()
        if form is None:
            return lambda: audit(table, _SPEC, replicates=50)
        return getattr(audit(table, _SPEC, replicates=50), form)

    return prepare


def _sequence() -> Callable[[], object]:
    from justicia.generations import sequence

    table = generations(200_000)
    return lambda: sequence(table, "gender", domain=["female", "male"], beta=40, by="run", step="step")


def _sdimacs() -> Callable[[], object]:
    from justicia.ssat.sdimacs import from_sdimacs

    text = "c\np cnf 3 2\nr 0.5 1 0\ne 2 0\nr 0.25 3 0\n1 2 0\n-2 3 0\n"
    return lambda: [from_sdimacs(text) for _ in range(200)]


PIECES: dict[str, Callable[[], Callable[[], object]]] = {
    "encode tree": _encode("tree"),
    "encode logistic": _encode("logistic"),
    "encode boosting": _encode("boosting"),
    "encode histogram boosting": _encode("histogram boosting"),
    "encode forest": _encode("forest"),
    "encode adaboost": _encode("adaboost"),
    "encode xgboost": _encode("xgboost"),
    "encode lightgbm": _encode("lightgbm"),
    "encode naive bayes": _encode("naive bayes"),
    "encode support vectors": _encode("support vectors"),
    "encode rules": _encode("cnf"),
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
    "engine normal": _densities("logistic"),
    "engine boxes": _densities("tree"),
    "engine sampling": _densities("forest"),
    "outside abc": _outside("abc"),
    "outside sharpssat": _outside("sharpssat"),
    "outside d4": _outside("d4"),
    "outside pyganak": _outside("pyganak"),
    "clauses of a tree": _clauses("tree"),
    "clauses of a linear model": _clauses("logistic"),
    "read sdimacs": _sdimacs,
    "read network": _given_network,
    "read population": _population_file,
    "read rule": _rules,
    "read csv": _read(".csv", rows=100_000),
    "read csv gz": _read(".csv.gz", rows=100_000),
    "read parquet": _read(".parquet", rows=100_000),
    "read csv in batches": _batches(".csv", rows=100_000),
    "read parquet in batches": _batches(".parquet", rows=100_000),
    "read wide csv in batches": _batches(".csv", rows=2_000, features=1_000),
    "read wide parquet in batches": _batches(".parquet", rows=2_000, features=1_000),
    "audit whole": _audit(),
    "audit streamed": _audit(stream=True),
    "audit logistic": _audit("logistic", rows=20_000),
    "decisions": _decisions(tests=True),
    "decisions of 1000 groups": _decisions(1_000, tests=True),
    "decisions of 1000 groups, small suppressed": _decisions(1_000, suppress_below=5),
    "compare two models": _comparison,
    "report text": _report("to_text"),
    "report json": _report("to_json"),
    "report html": _report("to_html"),
    "report html 1000 groups": _report("to_html", 1000),
    "report junit": _report("to_junit"),
    "report picture": _picture,
    "generations sequence": _sequence,
    "generations audit": _generations(),
    "report generations text": _generations("to_text"),
    "report generations json": _generations("to_json"),
    "report generations html": _generations("to_html"),
    "report decisions text": _decisions(form="to_text"),
    "report decisions json 10000 groups": _decisions(10_000, form="to_json"),
    "report decisions html 10000 groups": _decisions(10_000, form="to_html"),
}
"""What is timed, by name: something that prepares it."""


def _spent() -> float:
    """Processor seconds of this process and of those that it has ended."""
    return time.process_time() + sum(os.times()[2:4])


def piece_seconds(name: str, least: float = 0.3, most: int = 20) -> float:
    """Smallest processor seconds of a piece, programs that it runs included; again until it took `least` in all."""
    import logging

    logging.disable(logging.CRITICAL)
    run = PIECES[name]()
    run()
    times: list[float] = []
    while sum(times) < least and len(times) < most:
        begin = _spent()
        run()
        times.append(_spent() - begin)
    return min(times)


if __name__ == "__main__":
    print(json.dumps({"piece": sys.argv[1], "seconds": piece_seconds(sys.argv[1])}))
