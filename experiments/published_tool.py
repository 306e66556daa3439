"""The same models, asked by the published Justicia and by us: rates of compound groups, and what they cost.

    JUSTICIA_PUBLISHED_PYTHON=old/bin/python python -m experiments.published_tool --out docs/results

Trees of several depths under independent features, groups of race, sex and age among others, by the published tool's SSAT
encoding with its solver; logistic regressions on all features, by its form for graphical models. Tables are numbers alone,
as it wants them: 0/1 columns for words, numbers scaled to [0, 1].
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import justicia
from experiments.rivals.places import PUBLISHED, found
from experiments.rivals.published import ask_published
from experiments.running import Reporter, Rows, command

NAME = "published_tool"
TITLE = "The published Justicia"

LIMIT = 300.0
COLUMNS = (
    "data", "model", "depth", "sensitive", "groups", "columns", "tool", "population", "limit", "status",
    "disparate_impact_lo", "disparate_impact_hi", "parity_lo", "parity_hi", "rates", "seconds",
)  # fmt: skip
KEY = ("data", "model", "depth", "sensitive", "tool", "population", "limit")
SENSITIVE = {
    "adult": (("race", "sex"), ("race", "sex", "age")),
    "compas": (("race", "sex"),),
    "ricci": (("race",),),
    "titanic": (("gender",),),
}
AGE_EDGES = (25, 35, 50)
OURS = "justicia"
THEIRS = "published"
BRUTE = "brute force"
SAMPLE = "rows"


@dataclass(frozen=True)
class Case:
    """A model on a table.

    Attributes
    ----------
    data, model : str
    depth : int or None
    sensitive : tuple of str
    """

    data: str
    model: str
    depth: int | None
    sensitive: tuple[str, ...]

    def fitted(self) -> tuple[Any, pd.DataFrame]:
        """The model and what it takes."""
        frame, label = numbers(self.data, self.sensitive)
        return estimator(self.model, self.depth).fit(frame, label), frame


def cases(quick: bool) -> list[Case]:
    """All models."""
    if quick:
        return [Case("titanic", "tree", 3, ("gender",)), Case("ricci", "logistic", None, ("race",))]
    made = [
        Case(data, "tree", depth, sensitive)
        for data, groupings in SENSITIVE.items()
        for sensitive in groupings
        for depth in (3, 5, 7)
    ]
    return made + [Case(data, "logistic", None, groupings[0]) for data, groupings in SENSITIVE.items()]


def numbers(data: str, sensitive: Sequence[str]) -> tuple[pd.DataFrame, np.ndarray]:
    """A bundled table as numbers alone, and its label: words as 0/1 columns, numbers between 0 and 1."""
    people, described = justicia.datasets.load(data)
    label = (people[described.label].astype(str) == described.favorable).to_numpy().astype(int)
    held: dict[str, np.ndarray] = {}
    for name in people.columns:
        if name in (described.label, *described.not_features):
            continue
        column = people[name]
        # Its columns are known by what stands before the first underline.
        short = str(name).replace("_", "-")
        if name in sensitive and pd.api.types.is_numeric_dtype(column) and column.nunique() > 10:
            column = pd.Series(np.searchsorted(AGE_EDGES, column.fillna(column.median()))).astype(str)
        if pd.api.types.is_numeric_dtype(column) and column.nunique() > 2:
            filled = column.astype(float).fillna(column.median())
            held[short] = ((filled - filled.min()) / (filled.max() - filled.min())).to_numpy()
            continue
        values = sorted(column.dropna().astype(str).unique())
        if len(values) == 2:
            held[short] = (column.astype(str) == values[1]).to_numpy().astype(int)
        else:
            held |= {f"{short}_{at}": (column.astype(str) == value).to_numpy().astype(int)
                     for at, value in enumerate(values)}  # fmt: skip
    return pd.DataFrame(held), label


def estimator(model: str, depth: int | None) -> Any:
    """An unfitted model."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    if model == "tree":
        return DecisionTreeClassifier(max_depth=depth, random_state=0)
    return LogisticRegression(max_iter=5000)


def codes(frame: pd.DataFrame, sensitive: Sequence[str]) -> pd.Series[Any]:
    """The group of each row, as text."""
    parts = []
    for name in sensitive:
        if name in frame.columns:
            parts.append(frame[name].astype(str))
        else:
            columns = [column for column in frame.columns if column.split("_")[0] == name]
            parts.append(pd.Series(frame[columns].to_numpy().argmax(axis=1).astype(str), index=frame.index))
    return pd.Series([" ".join(held) for held in zip(*parts, strict=True)], index=frame.index)


def brute_force(model: Any, frame: pd.DataFrame, group: pd.Series[Any]) -> list[float]:
    """Rates of a tree by the assumption itself: features independent given the group, frequencies of its rows."""
    held = model.tree_
    feature_of = [column.split("_")[0] for column in frame.columns]
    rates = []
    for _, rows in frame.groupby(group.to_numpy()):
        values = rows.to_numpy(dtype=np.float32)

        def below(node: int, inside: dict[str, np.ndarray], values: np.ndarray = values) -> float:
            if held.children_left[node] < 0:
                if held.value[node, 0, 1] <= held.value[node, 0, 0]:
                    return 0.0
                return float(np.prod([mask.mean() for mask in inside.values()]))
            at = held.feature[node]
            yes, name = values[:, at].astype(np.float64) <= held.threshold[node], feature_of[at]
            before = inside.get(name, np.ones(len(values), dtype=bool))
            left = below(held.children_left[node], {**inside, name: before & yes})
            return left + below(held.children_right[node], {**inside, name: before & ~yes})

        rates.append(below(0, {}))
    return rates


def spread(rates: Sequence[float]) -> dict[str, float]:
    """Measures of some rates."""
    least, most = min(rates), max(rates)
    ratio = least / most if most else 1.0
    return {
        "disparate_impact_lo": ratio, "disparate_impact_hi": ratio, "parity_lo": most - least,
        "parity_hi": most - least, "rates": len(rates),
    }  # fmt: skip


def ours(model: Any, frame: pd.DataFrame, sensitive: Sequence[str], population: str) -> dict[str, Any]:
    """Our answer; the median of three runs after one that compiles."""
    seconds = []
    for _ in range(4):
        start = time.process_time()
        audit = justicia.verify(model, frame, sensitive_features=list(sensitive), favorable=1, population=population)
        seconds.append(time.process_time() - start)
    impact, parity = audit.disparate_impact, audit.statistical_parity_difference
    if impact is None or parity is None:
        raise ValueError("no group has a rate")
    return {
        "status": "answer", "disparate_impact_lo": float(impact.lo), "disparate_impact_hi": float(impact.hi),
        "parity_lo": float(parity.lo), "parity_hi": float(parity.hi), "rates": len(audit.groupings[0].groups),
        "seconds": sorted(seconds[1:])[1],
    }  # fmt: skip


def theirs(
    model: Any, frame: pd.DataFrame, sensitive: Sequence[str], encoding: str, limit: float, **options: Any
) -> dict[str, Any]:
    """The published tool's answer."""
    held = ask_published(model, frame, sensitive, encoding, limit, **options)
    return {
        "status": held.status, "disparate_impact_lo": held.disparate_impact, "disparate_impact_hi": held.disparate_impact,
        "parity_lo": held.parity, "parity_hi": held.parity, "rates": held.rates, "seconds": held.seconds,
    }  # fmt: skip


def run(out: Path, *, quick: bool, progress: Reporter, seed: int = 0, limit: float = LIMIT) -> None:
    """Ask both about each model; the models are the same whatever the seed."""
    warnings.filterwarnings("ignore")
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    there = found(PUBLISHED, progress)
    for case in progress.track(cases(quick), "models"):
        model, frame = case.fitted()
        group = codes(frame, case.sensitive)
        decided = [float(held.mean()) for _, held in pd.Series(model.predict(frame)).groupby(group.to_numpy())]
        common = {
            "data": case.data, "model": case.model, "depth": case.depth, "sensitive": " ".join(case.sensitive),
            "groups": group.nunique(), "columns": frame.shape[1], "limit": limit,
        }  # fmt: skip
        asked: list[tuple[str, str, Any]] = [
            (SAMPLE, "rows", lambda: {"status": "answer", "seconds": None, **spread(decided)})
        ]
        if case.model == "tree":
            asked += [
                (BRUTE, "independent",
                 lambda: {"status": "answer", "seconds": None, **spread(brute_force(model, frame, group))}),
                (OURS, "independent", lambda: ours(model, frame, case.sensitive, "independent")),
                (THEIRS, "Enum-correlation", lambda: theirs(model, frame, case.sensitive, "Enum-correlation", limit)),
                (THEIRS, "Enum", lambda: theirs(model, frame, case.sensitive, "Enum", limit)),
            ]  # fmt: skip
        else:
            asked += [
                (OURS, "tree", lambda: ours(model, frame, case.sensitive, "tree")),
                (THEIRS, "Learn-efficient-dependency",
                 lambda: theirs(model, frame, case.sensitive, "Learn-efficient-dependency", limit, dag_threshold=1)),
            ]  # fmt: skip
        for tool, population, ask in asked:
            named = {**common, "tool": tool, "population": population}
            if named not in rows and (there or tool != THEIRS):
                rows.add({**named, **ask()})


main = command(NAME, run, __doc__)

if __name__ == "__main__":
    main()
