"""The same models, asked by the published Justicia and by us: rates of compound groups, and what they cost.

    JUSTICIA_PUBLISHED_PYTHON=old/bin/python python -m experiments.published_tool --out docs/results

Trees of several depths under independent features, groups of race, sex and age among others, by the published tool's
SSAT encoding with its solver; logistic regressions on all features, by its form for graphical models. Tables are
numbers alone, as it wants them: 0/1 columns for words, numbers scaled to [0, 1].
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

import justicia
from experiments.rivals.places import PUBLISHED, found
from experiments.rivals.published import ask_published
from experiments.running import Reporter, Rows, command, new_figure, read_rows, save_figure, table

NAME = "published_tool"
TITLE = "The published Justicia"
CAPTION = "Seconds of the processor against the number of groups: trees and the published tool's two forms"

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
        for depth in (3, 5, 7, 10)
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
        "status": held.status,
        "disparate_impact_lo": held.disparate_impact, "disparate_impact_hi": held.disparate_impact,
        "parity_lo": held.parity, "parity_hi": held.parity, "rates": held.rates, "seconds": held.seconds,
    }  # fmt: skip


def run(out: Path, *, quick: bool, progress: Reporter, seed: int = 0, limit: float = LIMIT) -> None:
    """Ask both about each model; the models are the same whatever the seed."""
    warnings.filterwarnings("ignore")
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    there = found(PUBLISHED, progress)
    for case in progress.track(cases(quick), "models"):
        for row, ask in questions(case, limit):
            if row not in rows and (there or row["tool"] != THEIRS):
                rows.add({**row, **ask()})


def questions(case: Case, limit: float) -> Iterator[tuple[dict[str, Any], Callable[[], dict[str, Any]]]]:
    """What names each row of a case, and how the rest of it is found."""
    model, frame = case.fitted()
    sensitive = case.sensitive
    group = codes(frame, sensitive)
    common = {
        "data": case.data, "model": case.model, "depth": case.depth, "sensitive": " ".join(sensitive),
        "groups": group.nunique(), "columns": frame.shape[1], "limit": limit,
    }  # fmt: skip

    def known(rates: Sequence[float]) -> dict[str, Any]:
        return {"status": "answer", "seconds": None, **spread(rates)}

    def of_rows() -> dict[str, Any]:
        return known([float(held.mean()) for _, held in pd.Series(model.predict(frame)).groupby(group.to_numpy())])

    yield {**common, "tool": SAMPLE, "population": "rows"}, of_rows
    if case.model == "tree":
        yield {**common, "tool": BRUTE, "population": "independent"}, lambda: known(brute_force(model, frame, group))
        yield (
            {**common, "tool": OURS, "population": "independent"},
            lambda: ours(model, frame, sensitive, "independent"),
        )
        for encoding in ("Enum-correlation", "Enum"):
            yield (
                {**common, "tool": THEIRS, "population": encoding},
                lambda encoding=encoding: theirs(model, frame, sensitive, encoding, limit),  # type: ignore[misc]
            )
        return
    yield {**common, "tool": OURS, "population": "tree"}, lambda: ours(model, frame, sensitive, "tree")
    learned = "Learn-efficient-dependency"
    yield (
        {**common, "tool": THEIRS, "population": learned},
        # Without the threshold it learns no edge.
        lambda: theirs(model, frame, sensitive, learned, limit, dag_threshold=1),
    )


PUBLISHED_NUMBERS = "published_numbers.csv"


def plot(rows: list[dict[str, str]], path: Path) -> None:
    """Seconds for trees against the number of groups."""
    figure, axis = new_figure(figsize=(5.5, 3.4))
    forms = ((OURS, "independent", "C0", "o"), (THEIRS, "Enum-correlation", "C1", "s"), (THEIRS, "Enum", "C2", "^"))
    for tool, population, color, mark in forms:
        here = [
            row for row in rows
            if (row["model"], row["tool"], row["population"], row["status"]) == ("tree", tool, population, "answer")
        ]  # fmt: skip
        groups, seconds = [int(row["groups"]) for row in here], [float(row["seconds"]) for row in here]
        label = tool if tool == OURS else f"{tool}, {population}"
        axis.plot(groups, seconds, mark, color=color, markersize=4, label=label)
    axis.set(xscale="log", yscale="log", xlabel="groups", ylabel="seconds of the processor", ylim=(0.01, 10))
    held = sorted({int(row["groups"]) for row in rows if row["model"] == "tree"})
    axis.set_xticks(held, map(str, held))
    axis.minorticks_off()
    axis.grid(color="0.9")
    axis.legend(frameon=False, fontsize="x-small")
    save_figure(figure, path)


def section(folder: Path) -> str:
    """What the CSV file says."""
    held: dict[tuple[str, ...], dict[tuple[str, str], dict[str, str]]] = {}
    for row in read_rows(folder / f"{NAME}.csv"):
        key = tuple(row[name] for name in ("data", "model", "depth", "sensitive", "groups", "columns"))
        held.setdefault(key, {})[row["tool"], row["population"]] = row
    trees = {key: of for key, of in held.items() if key[1] == "tree"}
    linear = {key: of for key, of in held.items() if key[1] == "logistic"}
    parts = [
        "The same fitted models, on tables of numbers alone (0/1 columns for words), asked by the package on PyPI "
        "(0.0.5, with reSSAT as its solver) and by us. Its `Enum-correlation` has frequencies given the group, as our "
        "`independent` population; its `Enum` has those of all people. Ours is a whole audit, with its self-check on "
        "all rows. `by the assumption`: products of frequencies of the rows, leaf by leaf, by a few lines that share "
        "no code with either. The package rounds frequencies to three digits, takes .001 for 0, and counts 0/1 columns "
        "of one word, and thresholds of one number, as independent. Its seconds grow with the "
        "number of groups, each of which is a formula; ours are those of the table and hardly of the groups: columns "
        "that are one word are found, and the model's own `predict` is asked about all rows.\n",
        "Disparate impact of trees:\n",
        table(
            [
                "table",
                "sensitive",
                "groups",
                "depth",
                "rows",
                "by the assumption",
                "justicia",
                "Enum-correlation",
                "Enum",
                "justicia, CPU s",
                "Enum-correlation, CPU s",
                "Enum, CPU s",
                "times ours",
            ],
            [_tree_line(key, of) for key, of in trees.items()],
        ),
        _summary([(of.get((THEIRS, "Enum-correlation")), of.get((OURS, "independent"))) for of in trees.values()]),
        _closer(list(trees.values()), (BRUTE, "independent"), (OURS, "independent"), (THEIRS, "Enum-correlation")),
        "\nLogistic regressions on all features, its form for graphical models (`Learn-efficient-dependency`, with "
        "`dag_threshold=1`, without which it learns no edge) and our `tree` population; both are models of the same "
        "rows, whose own disparate impact stands first:\n",
        table(
            [
                "table",
                "sensitive",
                "groups",
                "columns",
                "rows",
                "justicia",
                "graphical",
                "justicia, CPU s",
                "graphical, CPU s",
                "times ours",
            ],
            [_linear_line(key, of) for key, of in linear.items()],
        ),
        _summary([(of.get((THEIRS, "Learn-efficient-dependency")), of.get((OURS, "tree"))) for of in linear.values()]),
        _closer(list(linear.values()), (SAMPLE, "rows"), (OURS, "tree"), (THEIRS, "Learn-efficient-dependency")),
    ]
    return "\n".join(parts)


def _impact(row: Mapping[str, str] | None) -> str:
    if row is None:
        return "-"
    if row["status"] != "answer":
        return "out of time" if row["status"] == "time" else "failed"
    lo, hi = float(row["disparate_impact_lo"]), float(row["disparate_impact_hi"])
    return f"{lo:.4f}" if hi - lo < 1e-4 else f"{lo:.4f} to {hi:.4f}"


def _took(row: Mapping[str, str] | None) -> str:
    if row is None:
        return "-"
    seconds = float(row["seconds"])
    return f"> {seconds:.0f}" if row["status"] == "time" else f"{seconds:.2f}"


def _times(theirs_row: Mapping[str, str] | None, ours_row: Mapping[str, str] | None) -> float | None:
    """How many times our seconds the other tool took; None where it failed."""
    if theirs_row is None or ours_row is None or theirs_row["status"].startswith("failed"):
        return None
    return float(theirs_row["seconds"]) / float(ours_row["seconds"])


def _shown(times: float | None, row: Mapping[str, str] | None) -> str:
    more = "> " if row is not None and row["status"] == "time" else ""
    return "-" if times is None else f"{more}{times:.3g}"


def _tree_line(key: tuple[str, ...], of: Mapping[tuple[str, str], Mapping[str, str]]) -> list[str]:
    data, _, depth, sensitive, groups, _ = key
    own, one, other = of.get((OURS, "independent")), of.get((THEIRS, "Enum-correlation")), of.get((THEIRS, "Enum"))
    impacts = [_impact(row) for row in (of.get((SAMPLE, "rows")), of.get((BRUTE, "independent")), own, one, other)]
    times = _shown(_times(one, own), one)
    return [data, sensitive.replace(" ", " x "), groups, depth, *impacts, *map(_took, (own, one, other)), times]


def _linear_line(key: tuple[str, ...], of: Mapping[tuple[str, str], Mapping[str, str]]) -> list[str]:
    data, _, _, sensitive, groups, columns = key
    own, other = of.get((OURS, "tree")), of.get((THEIRS, "Learn-efficient-dependency"))
    impacts = [_impact(row) for row in (of.get((SAMPLE, "rows")), own, other)]
    times = _shown(_times(other, own), other)
    return [data, sensitive.replace(" ", " x "), groups, columns, *impacts, _took(own), _took(other), times]


def _summary(pairs: Sequence[tuple[Mapping[str, str] | None, Mapping[str, str] | None]]) -> str:
    """How many times ours, over all models."""
    times = [held for held in (_times(*pair) for pair in pairs) if held is not None]
    if not times:
        return ""
    return f"\nTimes ours: median {median(times):.3g}, from {min(times):.3g} to {max(times):.3g}."


def _closer(
    held: Sequence[Mapping[tuple[str, str], Mapping[str, str]]],
    truth: tuple[str, str],
    own: tuple[str, str],
    other: tuple[str, str],
) -> str:
    """How often our disparate impact is at least as near to another one as theirs."""
    asked = [of for of in held if all(of.get(one, {}).get("status") == "answer" for one in (truth, own, other))]
    if not asked:
        return ""

    def middle(row: Mapping[str, str]) -> float:
        return (float(row["disparate_impact_lo"]) + float(row["disparate_impact_hi"])) / 2

    apart = [[abs(middle(of[one]) - middle(of[truth])) for one in (own, other)] for of in asked]
    near = sum(ours <= theirs for ours, theirs in apart)
    what = "the rows'" if truth[0] == SAMPLE else "that by the assumption"
    return (
        f"Our disparate impact is at least as near to {what} in {near} of {len(asked)} models where both answer; it is "
        f"off by {max(ours for ours, _ in apart):.2g} at most, theirs by {max(theirs for _, theirs in apart):.2g}."
    )


def paper_seconds(rows: Sequence[Mapping[str, str]]) -> str:
    """The paper's own seconds, on its authors' machine."""
    rows = [row for row in rows if row["quantity"] == "seconds"]
    header = list(dict.fromkeys((row["data"], row["model"]) for row in rows))
    tools = dict.fromkeys(row["tool"] for row in rows)
    of = {(row["tool"], row["data"], row["model"]): row["value"] or "out of time" for row in rows}
    lines = [[tool, *(of.get((tool, *one), "-") for one in header)] for tool in tools]
    names = [f"{data}, {model}" for data, model in header]
    return f"Seconds in {rows[0]['source']}:\n\n" + table(["tool", *names], lines)


main = command(NAME, run, __doc__)

if __name__ == "__main__":
    main()
