"""Accuracy of rules of two to five clauses, beside that of a decision tree of depth 5.

On every bundled data set, by 5-fold cross-validation: `CNFClassifier` in both forms with its own defaults, and
scikit-learn's tree on the same columns, text one-hot encoded. Seconds are of the processor, of the slowest fit.

Beside it, in a file of its own, what the rates of a rule of four clauses over eight columns take in 10 and in 1,000
compound groups: medians of runs of the engine, in turn.

    python -m experiments.rules --out experiments/results
"""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import justicia
from experiments.running import (
    Reporter,
    Rows,
    command,
    cpu_seconds,
    new_figure,
    of_one,
    read_rows,
    save_figure,
    table,
    wrapped,
)
from justicia import datasets
from justicia.learners import CNF, DNF, CNFClassifier
from justicia.models import RuleClassifier
from justicia.solvers import Effort, pick
from justicia.ssat import Formula
from justicia.words import listed

__all__ = ["CAPTION", "NAME", "TITLE", "parts", "plot", "run"]

NAME = "rules"
TITLE = "How accurate are rules?"
CAPTION = "Accuracy of rules and of a tree of depth 5, against the number of clauses; bars: one standard error"

FOLDS = 5
DEPTH = 5
CLAUSES = (2, 3, 4, 5)
TREE = "tree"
KEY = ["data", "model", "clauses", "folds", "seed"]
COLUMNS = [*KEY, "rows", "accuracy", "standard_error", "slowest_fit", "conditions"]
QUICK = {"data": ("ricci",), "clauses": (2,)}
STRUCTURES = ("independent", "tree", "auto")
GROUPS, GROUP_RUNS, PEOPLE, OTHERS = (10, 1000), 15, 50_000, 8
GROUP_KEY = ["population", "groups", "runs", "seed"]
GROUP_COLUMNS = [*GROUP_KEY, "seconds"]


def tree(frame: pd.DataFrame, seed: int) -> Any:
    """A tree of depth 5 behind a one-hot encoding of text."""
    text = [name for name in frame.columns if frame[name].dtype.kind not in "biuf"]
    numbers = [name for name in frame.columns if name not in text]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((encoder, text), ("passthrough", numbers))
    return make_pipeline(columns, DecisionTreeClassifier(max_depth=DEPTH, random_state=seed))


def evaluate(make: Any, frame: pd.DataFrame, label: np.ndarray, folds: int, seed: int) -> dict[str, Any]:
    """Accuracy on held-out rows, its standard error, seconds of the slowest fit, and conditions."""
    scores, seconds, literals = [], [], []
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(frame, label))
    for train, test in splits[:folds]:
        model = make()
        start = cpu_seconds()
        model.fit(frame.iloc[train], label[train])
        seconds.append(cpu_seconds() - start)
        scores.append(model.score(frame.iloc[test], label[test]))
        if isinstance(model, CNFClassifier):
            literals.append(model.rule_.n_literals)
    return {
        "accuracy": float(np.mean(scores)),
        "standard_error": float(np.std(scores, ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else None,
        "slowest_fit": max(seconds),
        "conditions": float(np.mean(literals)) if literals else None,
    }


def run(
    out: Path,
    *,
    quick: bool,
    progress: Reporter,
    seed: int = 0,
    data: tuple[str, ...] = (),
    clauses: tuple[int, ...] = CLAUSES,
    folds: int = FOLDS,
) -> None:
    """Compute the rows that are not there yet, few clauses first, and draw the figure."""
    data = data or tuple(datasets.names())
    if quick:
        data, clauses, folds = QUICK["data"], QUICK["clauses"], 2
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    asked = [(name, TREE, 0) for name in data]
    asked += [(name, form, n) for n in clauses for form in (CNF, DNF) for name in data]
    cases = [dict(zip(KEY, (*case, folds, seed), strict=True)) for case in asked]
    for case in progress.track(rows.todo(cases, lambda case: case), TITLE):
        held, description = datasets.load(case["data"])
        frame, label = held[list(description.features)], held[description.label].astype(str).to_numpy()

        def make(case: dict[str, Any] = case, frame: Any = frame, favorable: str = description.favorable) -> Any:
            if case["model"] == TREE:
                return tree(frame, case["seed"])
            return CNFClassifier(case["clauses"], form=case["model"], pos_label=favorable)

        rows.add({**case, "rows": len(frame), **evaluate(make, frame, label, folds, seed)})
    times = Rows(out / f"{NAME}_groups.csv", GROUP_COLUMNS, GROUP_KEY)
    runs = 2 if quick else GROUP_RUNS
    for structure in STRUCTURES:
        named = {"population": structure, "runs": runs, "seed": seed}
        if any({**named, "groups": groups} not in times for groups in GROUPS):
            for groups, seconds in of_groups(structure, runs, seed).items():
                if {**named, "groups": groups} not in times:
                    times.add({**named, "groups": groups, "seconds": seconds})
    plot(rows.held, out / f"{NAME}.svg")


def of_groups(structure: str, runs: int, seed: int) -> dict[int, float]:
    """Median seconds of the engine, by the number of groups; runs of both numbers are made in turn."""
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(OTHERS)]
    people = pd.DataFrame({name: rng.integers(0, 10, PEOPLE) for name in names})
    # Neighbours hang together, so that a tree has something to learn.
    for before, after in pairwise(names):
        people[after] = np.where(rng.random(PEOPLE) < 0.5, people[before], people[after])
    sensitive = ["a", "b", "c"]
    for name in sensitive:
        people[name] = rng.integers(0, 10, PEOPLE).astype(str)
    rule = " and ".join(f"({one} > 4 or {two} <= 6)" for one, two in zip(names[::2], names[1::2], strict=True))
    model = RuleClassifier(rule, holds="yes", fails="no")
    asked = {}
    for columns in (sensitive[:1], sensitive):
        audit = justicia.verify(
            model, people, sensitive_features=[columns], population=structure, favorable="yes", label=None
        )
        asked[sum(group.n > 0 for group in audit.groupings[0].groups)] = Formula(audit.population, audit.decision)
    engine = pick("auto", audit.decision)
    seconds: dict[int, list[float]] = {groups: [] for groups in asked}
    for _ in range(runs):
        for groups, formula in asked.items():
            start = time.process_time()
            engine.solve(formula, Effort())
            seconds[groups].append(time.process_time() - start)
    return {groups: float(np.median(held)) for groups, held in seconds.items()}


def _groups(folder: Path) -> str:
    """How much longer the rates of many groups take."""
    held = {(row["population"], int(row["groups"])): row for row in read_rows(folder / f"{NAME}_groups.csv")}
    few, many = GROUPS
    ratios = [
        f"{float(held[structure, many]['seconds']) / float(held[structure, few]['seconds']):.1f} times under "
        f"`{structure}`"
        for structure in STRUCTURES
        if (structure, many) in held and (structure, few) in held
    ]
    runs = max(int(row["runs"]) for row in held.values())
    return (
        f"With four clauses over eight columns, an answer for {many:,} compound groups of three columns takes "
        f"{listed(ratios)} as long as one for {few} groups (medians of {runs} runs of the engine in turn, seconds of "
        "the processor)."
    )


def _number(row: dict[str, str], name: str) -> float:
    return float(row[name] or "nan")


def _accuracy(row: dict[str, str] | None) -> str:
    if row is None:
        return "-"
    error = f" ({of_one(_number(row, 'standard_error'), 3)})" if row["standard_error"] else ""
    return of_one(_number(row, "accuracy"), 3) + error


def parts(folder: Path) -> dict[str, str]:
    """The table of the page on rules, and what it says."""
    rows = read_rows(folder / f"{NAME}.csv")
    held = {(row["data"], row["model"], int(row["clauses"])): row for row in rows}
    counts = sorted({n for _, _, n in held} - {0})
    lines, behind, ahead, gains = [], [], 0, []
    for name in sorted({row["data"] for row in rows}):
        beside = held.get((name, TREE, 0))
        for form in (CNF, DNF):
            mine = [held[name, form, n] for n in counts if (name, form, n) in held]
            if not mine or beside is None:
                continue
            lines.append(
                [
                    name,
                    f"{int(mine[0]['rows']):,}",
                    _accuracy(beside),
                    form,
                    *(_accuracy(held.get((name, form, n))) for n in counts),
                    ", ".join(f"{_number(row, 'conditions'):.0f}" for row in mine),
                    ", ".join(f"{_number(row, 'slowest_fit'):.1f}" for row in mine),
                ]
            )
            few = max(_number(row, "accuracy") for row in mine if int(row["clauses"]) <= 3)
            many = max((_number(row, "accuracy") for row in mine if int(row["clauses"]) > 3), default=few)
            gains.append((many - few, name, form))
            if form == CNF:
                behind.append((_number(beside, "accuracy") - few, name))
                ahead += few >= _number(beside, "accuracy")
    header = [
        "table", "rows", "tree", "form", *(f"{n} clauses" for n in counts),
        f"conditions at {listed([str(n) for n in counts])}", "slowest fit, s",
    ]  # fmt: skip
    worst, where = max(behind)
    gain, gaining, form = max(gains)
    says = "In CNF the better one of two and three clauses is "
    if worst > 0:
        says += f"at most {100 * worst:.1f} points less accurate than the tree (on {where}), and "
    says += f"at least as accurate on {ahead} of {len(behind)} tables."
    if max(counts) > 3:
        says += f" More than three clauses bring {100 * max(gain, 0):.1f} points at most (on {gaining}, {form})."
    return {"accuracy": table(header, lines), "in words": wrapped(says), "groups": wrapped(_groups(folder))}


def plot(rows: list[dict[str, str]], path: Path) -> None:
    """Accuracy against the number of clauses, a panel a table."""
    names = sorted({row["data"] for row in rows})
    figure, axes = new_figure(1, len(names), figsize=(2.4 * len(names), 2.8), squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        mine = sorted((row for row in rows if row["data"] == name), key=lambda row: int(row["clauses"]))
        for form in (CNF, DNF):
            part = [row for row in mine if row["model"] == form]
            axis.errorbar(
                [int(row["clauses"]) for row in part],
                [_number(row, "accuracy") for row in part],
                [float(row["standard_error"] or 0) for row in part],
                marker="o", markersize=3, capsize=2, label=form,
            )  # fmt: skip
        for row in mine:
            if row["model"] == TREE:
                axis.axhline(_number(row, "accuracy"), color="0.5", linewidth=1, label="tree")
        axis.set(title=name, xlabel="clauses", xticks=CLAUSES)
    axes[0][0].set_ylabel("accuracy")
    axes[0][-1].legend(frameon=False, fontsize="small")
    save_figure(figure, path)


if __name__ == "__main__":
    command(
        NAME,
        run,
        __doc__,
        click.option(
            "--data", multiple=True, type=click.Choice(list(datasets.names())), help="Repeatable.  [default: all]"
        ),
        click.option(
            "--clauses",
            multiple=True,
            type=click.IntRange(min=1),
            default=CLAUSES,
            show_default=True,
            help="Repeatable.",
        ),
        click.option("--folds", type=click.IntRange(1, FOLDS), default=FOLDS, show_default=True),
    )()
