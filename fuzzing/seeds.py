"""Good files to begin with: small tables, fitted models, populations, audits."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import pickle
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from fuzzing.state_mutations import seed_of
from fuzzing.texts import LABELS, RULE

__all__ = [
    "audits",
    "compressed",
    "decisions_table",
    "generations_lines",
    "generations_table",
    "joblibs",
    "lightgbm_files",
    "model_files",
    "parquet_files",
    "people",
    "people_csv",
    "pickles",
    "populations",
    "shield_state",
    "skops_files",
    "vectors",
    "xgboost_files",
]

TEXT, NUMBERS = ["sex", "race", "job"], ["age", "pay"]


@cache
def people(n: int = 60) -> pd.DataFrame:
    """A small table with an outcome."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "sex": rng.choice(["M", "F"], n),
            "race": rng.choice(["a", "b"], n),
            "age": rng.integers(18, 70, n),
            "pay": rng.normal(50, 20, n).round(2),
            "job": rng.choice(["x", "y", "z"], n),
        }
    )
    score = table["pay"] + table["age"] + 10 * (table["job"] == "x")
    return table.assign(out=np.where(score > 100, "yes", "no"))


def people_csv() -> bytes:
    """The same as CSV text."""
    return people().to_csv(index=False).encode()


def compressed() -> list[bytes]:
    """The same, compressed."""
    return [gzip.compress(people_csv(), 1, mtime=0)]


def decisions_table() -> bytes:
    """Decisions, scores, weights and missing values as CSV text."""
    table = people(40)
    rng = np.random.default_rng(1)
    held = table.assign(score=rng.random(len(table)).round(3), weight=rng.integers(0, 4, len(table)))
    held.loc[3, "race"] = None
    return held.to_csv(index=False).encode()


def parquet_files() -> list[bytes]:
    """The table in Parquet's forms, also with columns of odd types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = people(30)
    odd = table.assign(
        when=pd.Timestamp("2020-01-01"), long=pd.to_timedelta(3, "D"), kind=pd.Categorical(table["job"]), flag=True
    )
    held = [pa.Table.from_pandas(frame) for frame in (table, odd, table.set_index("job"))]
    lists = pa.table({**{name: pa.array(table[name]) for name in table}, "list": [[1, 2]] * len(table)})
    decimals = lists.drop_columns(["list"]).append_column("d", pa.array([1] * len(table)).cast(pa.decimal128(30, 2)))
    made = []
    for one in (*held, lists, decimals):
        for options in ({"compression": "none"}, {"compression": "snappy", "use_dictionary": False}):
            buffer = io.BytesIO()
            pq.write_table(one, buffer, **options)
            made.append(buffer.getvalue())
    return made


@cache
def _unfitted() -> tuple[Any, ...]:
    """Models of every family that is read."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import (
        AdaBoostClassifier,
        BaggingClassifier,
        ExtraTreesClassifier,
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
        VotingClassifier,
    )
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
    from sklearn.naive_bayes import BernoulliNB, GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import (
        KBinsDiscretizer,
        OneHotEncoder,
        OrdinalEncoder,
        PolynomialFeatures,
        QuantileTransformer,
        SplineTransformer,
        StandardScaler,
        TargetEncoder,
    )
    from sklearn.svm import LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    from justicia.learners import CNFClassifier

    def tree(depth: int = 3) -> Any:
        return DecisionTreeClassifier(max_depth=depth, random_state=0)

    def linear() -> Any:
        return LogisticRegression()

    def columns(numbers: Any, words: Any = None) -> Any:
        return ColumnTransformer(
            [("words", words or OneHotEncoder(handle_unknown="ignore"), TEXT), ("numbers", numbers, NUMBERS)]
        )

    return (
        tree(),
        make_pipeline(columns("passthrough"), tree(4)),
        make_pipeline(columns(StandardScaler()), linear()),
        make_pipeline(columns(KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf")), LinearSVC()),
        make_pipeline(columns(SplineTransformer(n_knots=3)), SGDClassifier(random_state=0)),
        make_pipeline(columns(make_pipeline(SimpleImputer(), PolynomialFeatures(2))), linear()),
        make_pipeline(columns(QuantileTransformer(n_quantiles=10)), BernoulliNB()),
        make_pipeline(columns("drop", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)), tree()),
        make_pipeline(columns("passthrough", TargetEncoder(cv=2)), tree()),
        make_pipeline(columns("passthrough"), RandomForestClassifier(3, max_depth=3, random_state=0)),
        make_pipeline(columns("passthrough"), ExtraTreesClassifier(3, max_depth=3, random_state=0)),
        make_pipeline(columns("passthrough"), GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0)),
        HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4, min_samples_leaf=3),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=3, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3, random_state=0),
        VotingClassifier([("tree", tree()), ("linear", GaussianNB())]),
        GaussianNB(),
        FixedThresholdClassifier(make_pipeline(columns("passthrough"), linear()), threshold=0.4),
        GridSearchCV(make_pipeline(columns("passthrough"), tree()), {"decisiontreeclassifier__max_depth": [2]}, cv=2),
        CalibratedClassifierCV(LinearSVC(), cv=2, ensemble=False),
        CNFClassifier(n_clauses=2, random_state=0),
    )


_OF_NUMBERS = (0, 12, 13, 14, 15, 16, 19)
"""Models that take columns of numbers alone."""


@cache
def fitted(number: int) -> Any:
    """One of the models, fitted."""
    table = people()
    X, y = table.drop(columns="out"), table["out"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _unfitted()[number].fit(X[NUMBERS] if number in _OF_NUMBERS else X, y)


def models() -> tuple[Any, ...]:
    """All of them, fitted."""
    return tuple(map(fitted, range(len(_unfitted()))))


def model_files() -> dict[str, bytes]:
    """Pickles of a tree and of a linear model."""
    return {"model.pkl": pickle.dumps(fitted(1)), "linear.pkl": pickle.dumps(fitted(2))}


def pickles() -> list[bytes]:
    """The models as pickles."""
    return [seed_of(model, pickle.dumps) for model in models()]


def joblibs() -> list[bytes]:
    """The models as joblib writes them."""
    return [seed_of(model, _joblib) for model in models()]


def _joblib(model: Any) -> bytes:
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    return buffer.getvalue()


def skops_files() -> list[bytes]:
    """The models as skops writes them."""
    from skops import io as skops_io

    def written(model: Any) -> bytes | None:
        # skops does not write every class.
        with contextlib.suppress(Exception):
            return bytes(skops_io.dumps(model))
        return None

    return [content for content in map(written, models()) if content is not None]


def xgboost_files() -> list[bytes]:
    """Small models of XGBoost, with and without categories, as JSON."""
    from xgboost import XGBClassifier

    table = people()
    y = (table["out"] == "yes").astype(int)
    kinds = table[["age", "pay"]].assign(job=table["job"].astype("category"))
    made = []
    for X, options in (
        (table[NUMBERS], {}),
        (table[NUMBERS], {"booster": "dart", "rate_drop": 0.5, "num_parallel_tree": 2}),
        (kinds, {"enable_categorical": True}),
    ):
        model = XGBClassifier(n_estimators=3, max_depth=3, **options).fit(X, y)
        made.append(bytes(model.get_booster().save_raw("json")))
    return made


def lightgbm_files() -> list[bytes]:
    """Small models of LightGBM, with and without categories, as text."""
    from lightgbm import LGBMClassifier

    table = people()
    y = (table["out"] == "yes").astype(int)
    kinds = table[["age", "pay"]].assign(job=table["job"].astype("category"))
    options = {"n_estimators": 3, "num_leaves": 4, "min_child_samples": 3, "verbosity": -1}
    more = {"min_data_per_group": 1, "cat_smooth": 0}
    forest = {"boosting_type": "rf", "subsample": 0.7, "subsample_freq": 1}
    made = []
    for X, extra in ((table[NUMBERS], {}), (kinds, more), (table[NUMBERS], forest)):
        model = LGBMClassifier(**options, **extra).fit(X, y)
        made.append(model.booster_.model_to_string().encode())
    return made


@cache
def populations() -> list[bytes]:
    """Population files of every structure, one with labels, one-hot columns and bins."""
    import justicia

    table = people()
    made = []
    for structure in ("independent", "tree", "empirical", "auto"):
        options: dict[str, Any] = {"label": "out", "favorable": "yes"} if structure != "auto" else {}
        file = justicia.fit_population(
            table,
            sensitive_features=["sex"],
            structure=structure,
            cells=8,
            leave_out=[] if options else ["out"],
            **options,
        )
        made.append(file.to_json().encode())
    hot = table.drop(columns="job").assign(**{f"job_{word}": (table["job"] == word).astype(int) for word in "xyz"})
    file = justicia.fit_population(
        hot, sensitive_features=[["race", "age"]], structure="tree", bins={"age": [30, 50]}, leave_out=["out"], cells=4,
        list_numbers=True,
    )  # fmt: skip
    return [*made, file.to_json().encode()]


@cache
def audits() -> list[bytes]:
    """Audits as JSON: of a model, of decisions, of generations."""
    rule = RULE.decode()
    files = {
        "people.csv": people_csv(), "d.csv": decisions_table(), "model.rule": rule.encode(),
        "g.csv": generations_table(), "spec.json": generations_spec(),
    }  # fmt: skip
    about = "--sensitive sex --quiet --json -"
    lines = (
        f"verify --model model.rule --data people.csv --label out --favorable yes --reference sex=M {about} --require "
        "disparate_impact>=0.8",
        f"verify --model model.rule --data people.csv --label out --favorable yes --shift 0.05 {about} --population "
        "independent",
        f"verify --decisions d.csv --decision out --favorable yes --tests {about}",
        "generations audit g.csv --spec spec.json --quiet --json -",
    )
    commands = [line.split() for line in lines]
    return [_printed(command, files) for command in commands]


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    out = io.TextIOWrapper(io.BytesIO())
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        yield


def _printed(words: list[str], files: dict[str, bytes]) -> bytes:
    """What a command prints, in a folder with these files."""
    from justicia.cli import main

    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        os.chdir(folder)
        try:
            with _silence(), contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
                main(words)
        finally:
            os.chdir(here)
    return out.getvalue().encode()


@cache
def _generations() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 24
    return pd.DataFrame(
        {
            "run": np.repeat(["r1", "r2"], n // 2),
            "step": [*range(1, n // 2 + 1)] * 2,
            "prompt": "a person",
            "gender": rng.choice(["female", "male"], n),
            "ethnicity": rng.choice(["asian", "black", "white", "asian|white", ""], n),
            "context": rng.choice(["neutral", "poor"], n),
            "group": np.tile(["F", "M"], n // 2),
            "response": rng.choice(["yes", "no", "unknown"], n),
            "truth": rng.choice(["yes", "no"], n),
            "score": rng.random(n).round(3),
            "pair": np.arange(n) // 2,
            "axis": "wealth",
            "counterfactual": rng.choice(["", "poor", "rich"], n),
            "text": rng.choice(["she is kind", "he is strong", "they are tall"], n),
        }
    )


def generations_table() -> bytes:
    """Labelled generations as CSV text."""
    return _generations().to_csv(index=False).encode()


def generations_lines() -> bytes:
    """The same as JSON lines, some with lists."""
    rows = json.loads(_generations().to_json(orient="records"))
    for row in rows[::3]:
        row["ethnicity"] = ["asian", "black"]
    return "\n".join(map(json.dumps, rows)).encode()


def generations_spec() -> bytes:
    """What is declared of that table."""
    return json.dumps(
        {
            "run": "run",
            "step": "step",
            "unknown": ["?"],
            "off_domain": "none",
            "attributes": {
                "gender": {"domain": ["female", "male"], "beta": 20},
                "ethnicity": {"domain": ["asian", "black", "white"], "separator": "|"},
            },
            "require": ["least_beta[attribute=gender]<=20"],
        }
    ).encode()


def vectors() -> list[bytes]:
    """Word vectors as text (GloVe, word2vec), word2vec's binary form, and arrays of numpy."""
    words = ["she", "he", "kind", "strong", "tall", "they", "woman", "man"]
    held = np.random.default_rng(4).normal(size=(len(words), 4)).astype(np.float32)
    glove = "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, held.tolist(), strict=True))
    binary = b"8 4\n" + b"".join(
        word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, held, strict=True)
    )
    array, archive = io.BytesIO(), io.BytesIO()
    np.save(array, held)
    np.savez(archive, words=np.array(words), vectors=held)
    return [glove.encode(), f"8 4\n{glove}".encode(), binary, array.getvalue(), archive.getvalue()]


@cache
def shield_state() -> bytes:
    """The state of a shield after some labels."""
    from justicia.cli import main

    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("labels.jsonl").write_bytes(b"".join(LABELS.splitlines(keepends=True)[:4]))
        words = "generations enforce labels.jsonl --attr gender --domain female,male --beta 4"
        try:
            with _silence(), contextlib.suppress(SystemExit):
                main([*words.split(), "--state", "s.json", "--quiet"])
            return Path("s.json").read_bytes()
        finally:
            os.chdir(here)
