"""Random tables, pipelines and trees for the tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier


@dataclass
class Case:
    """A fitted model, a table, and how to audit it."""

    model: Any
    frame: pd.DataFrame
    sensitive: list[str]
    columns: list[str]
    favorable: list[Any]
    label: np.ndarray

    def features(self) -> pd.DataFrame:
        return self.frame[self.columns]


def random_case(seed: int) -> Case:
    """A small random case: few cells a feature, so that the domain can be enumerated."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 160))
    frame = {}
    for i in range(int(rng.integers(1, 4))):
        frame[f"s {i}"] = _sensitive(rng, n)
    numeric, text = [], []
    for i in range(int(rng.integers(1, 5))):
        name = f"x_{i} <= 2" if i == 1 else f"x{i}"
        if rng.random() < 0.5:
            frame[name] = _numbers(rng, n)
            numeric.append(name)
        else:
            frame[name] = _words(rng, n)
            text.append(name)
    table = pd.DataFrame(frame)
    sensitive = [name for name in table.columns if name.startswith("s ")]
    for name in sensitive:
        if rng.random() < 0.5:
            (numeric if table[name].dtype.kind in "if" else text).append(name)
    if not numeric and not text:
        text.append(sensitive[0])
    columns = [name for name in table.columns if name in numeric + text]
    classes = [["no", "yes"], [0, 1], ["a", "b", "c"], [False, True]][int(rng.integers(4))]
    label = np.array(classes)[rng.integers(len(classes), size=n)]
    model = _model(rng, table, numeric, text)
    model.fit(table[columns], label)
    known = list(np.unique(label))
    favorable = [known[-1]] if len(known) < 3 or rng.random() < 0.5 else known[1:]
    return Case(model, table, sensitive, columns, favorable, label)


def _sensitive(rng: np.random.Generator, n: int) -> Any:
    kind = rng.integers(4)
    values = rng.integers(int(rng.integers(2, 4)), size=n)
    if kind == 0:
        return values
    if kind == 1:
        return np.array(["Male", "Female", "Other"])[values]
    if kind == 2:
        return pd.Categorical(np.array(["p", "q", "r"])[values])
    return np.array(["a b", "<b>", "ü"], dtype=object)[values]


def _numbers(rng: np.random.Generator, n: int) -> np.ndarray:
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(0, 5, size=n)
    values = rng.choice(np.array([-2.0, 0.1, 0.3, 1e6, 16777217.0, -1e-9, 0.25]), size=n)
    if kind == 1:
        return np.where(rng.random(n) < 0.15, np.nan, values)
    if kind == 2:
        return np.round(rng.normal(size=n), 1).astype(np.float32)
    return values


def _words(rng: np.random.Generator, n: int) -> Any:
    words = np.array(["red", "green", "blue", "None", "?"], dtype=object)
    values = words[rng.integers(int(rng.integers(2, 6)), size=n)]
    if rng.random() < 0.3:
        values = np.where(rng.random(n) < 0.1, np.nan, values)
    return pd.Series(values) if rng.random() < 0.5 else pd.Series(values).astype("category")


def _model(rng: np.random.Generator, table: pd.DataFrame, numeric: list[str], text: list[str]) -> Any:
    holes = [name for name in numeric if table[name].isna().any()]
    whole = [name for name in numeric if name not in holes]
    dense = bool(rng.random() < 0.7) or bool(holes)
    branches: list[Any] = []
    if text:
        branches.append(("text", _text_step(rng, dense), text))
    if holes:
        imputer = SimpleImputer(add_indicator=bool(rng.random() < 0.5))
        step = ["passthrough", make_pipeline(imputer, StandardScaler()), StandardScaler()][int(rng.integers(3))]
        branches.append(("holes", step, holes))
    if whole:
        branches.append(("whole", _number_step(rng, table[whole]), whole))
    rng.shuffle(branches)
    threshold = 1.0 if dense else 0.3
    columns = ColumnTransformer(branches, sparse_threshold=0.0 if dense else threshold)
    tree = DecisionTreeClassifier(
        max_depth=int(rng.integers(1, 7)),
        max_leaf_nodes=40,
        random_state=0,
        class_weight=None if rng.random() < 0.7 else "balanced",
    )
    steps = [("columns", columns), ("tree", tree)]
    if dense and rng.random() < 0.2:
        steps.insert(1, ("scale", StandardScaler()))
    return Pipeline(steps)


def _text_step(rng: np.random.Generator, dense: bool) -> Any:
    kind = rng.integers(4)
    if kind == 0:
        return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    if kind == 1:
        return OneHotEncoder(
            handle_unknown="infrequent_if_exist", min_frequency=int(rng.integers(1, 15)), sparse_output=not dense
        )
    drop = [None, "first", "if_binary"][int(rng.integers(3))]
    encoder = OneHotEncoder(handle_unknown="ignore" if drop is None else "error", drop=drop, sparse_output=not dense)
    if kind == 2:
        return make_pipeline(SimpleImputer(strategy="most_frequent"), encoder)
    return encoder


def _number_step(rng: np.random.Generator, values: pd.DataFrame) -> Any:
    kind = rng.integers(5)
    if kind == 0:
        return StandardScaler()
    if kind == 1:
        return MinMaxScaler(clip=bool(rng.random() < 0.5))
    if kind == 2 and min(values.nunique()) > 1:
        encode = "ordinal" if rng.random() < 0.5 else "onehot-dense"
        bins = KBinsDiscretizer(3, encode=encode, strategy="uniform")
        return make_pipeline(StandardScaler(), bins) if rng.random() < 0.5 else bins
    return "passthrough"


@st.composite
def group_counts(draw: st.DrawFn, most_groups: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Selected and total people of some groups, every group with at least one person."""
    n = draw(st.lists(st.integers(1, 5000), min_size=1, max_size=most_groups))
    k = [draw(st.integers(0, total)) for total in n]
    return np.array(k), np.array(n)


WORDS = st.sampled_from(["a", "b b", "<b>", "ü", '"', "\\", "None", "\ud800", "1", "x" * 70])


@st.composite
def small_tables(draw):
    """A table of words, numbers and truth values, a number of cells, and a generator for more."""
    n = draw(st.integers(3, 40))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    words = draw(st.lists(WORDS, min_size=1, max_size=5, unique=True))
    columns = {
        "sex": rng.choice(["f", "m"], size=n),
        "whole": rng.integers(-3, draw(st.integers(-2, 60)), size=n),
        "number": np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.2])), np.nan, rng.normal(size=n)),
        "wörd": pd.Series(rng.choice(np.array(words, dtype=object), size=n), dtype=object),
        "flag": rng.random(n) < 0.5,
        "y": rng.choice(["no", "yes"], size=n),
    }
    columns["number"][0], columns["y"][0] = 0.5, "yes"
    return pd.DataFrame(columns), draw(st.sampled_from([2, 4, 512])), rng
