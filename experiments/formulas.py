"""What it takes to solve a question as a formula: those of trees on the bundled tables, and random clauses of three.

A formula is written out and read again; seconds are of the processor (one thread) for solving what was read, compiled
code loaded before. Values are compared with those of the direct engine. Whole audits by way of formulas stand beside.

    python -m experiments.formulas --out experiments/results
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import justicia
from experiments.running import Reporter, Rows, command, cpu_seconds, new_figure, read_rows, save_figure, table, wrapped
from justicia import datasets, tables
from justicia.solvers import ENGINES, ClauseSolution, Effort, solve_clauses
from justicia.ssat import EXISTS, Block, ClauseFormula, Formula, from_sdimacs, to_sdimacs
from justicia.ssat.lowering import DUAL, LEAST_FAVORED, MOST_FAVORED, lower
from justicia.words import listed

__all__ = ["CAPTION", "NAME", "TABLES", "TITLE", "fitted", "parts", "plot", "run"]

NAME = "formulas"
TITLE = "What does it take to solve formulas?"
CAPTION = "Seconds of the processor to solve the formula of the most favored group, against its clauses"

TABLES = ("ricci", "german", "titanic", "compas", "adult")
DEPTHS = (3, 4, 5, 6, 7, 8, 9, 10)
SHOWN_DEPTHS = (3, 6, 10)
"""Of the page; the others are in the file."""
STRUCTURES = ("independent", "tree", "auto")
ONE_GROUP = "one group"
QUESTIONS = (ONE_GROUP, MOST_FAVORED, LEAST_FAVORED, DUAL)
RANDOM, RANDOM_SIZES, RANDOM_NUMBER = "random", ((40, 100), (60, 150), (80, 200)), 12
WHOLE, WHOLE_SENSITIVE = "whole audit", ("race", "sex", "education")
DEFAULT = "default"
EQUAL = 1e-9
KEY = ["source", "size", "population", "question", "limit", "seed"]
COLUMNS = [*KEY, "groups", "variables", "clauses", "branching", "seconds", "status", "value", "apart"]


def fitted(name: str, depth: int, seed: int = 0) -> Pipeline:
    """A tree on the features of a bundled data set."""
    described = datasets.describe(name)
    frame = tables.read_table(name).frame
    out = {described.label, *described.not_features}
    features = frame[[column for column in frame.columns if column not in out]]
    text = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer([("text", text, make_column_selector(dtype_exclude="number"))], remainder="passthrough")
    tree = DecisionTreeClassifier(max_depth=depth, random_state=seed)
    return Pipeline([("columns", columns), ("tree", tree)]).fit(features, frame[described.label].astype(str))


def random_clauses(n_variables: int, n_clauses: int, seed: int) -> ClauseFormula:
    """Clauses of three variables, all under R."""
    rng = random.Random(seed)
    prefix = tuple(Block("r", (v,), Fraction(rng.randint(1, 99), 100)) for v in range(1, n_variables + 1))
    clauses = tuple(
        tuple(v * rng.choice([1, -1]) for v in rng.sample(range(1, n_variables + 1), 3)) for _ in range(n_clauses)
    )
    return ClauseFormula(prefix, clauses)


def solved(formula: ClauseFormula, limit: float) -> dict[str, Any]:
    """The value of a formula, and what it took."""
    start = time.process_time()
    solution: ClauseSolution = solve_clauses(formula, limit, assignment=False)
    return {
        "variables": formula.n_variables,
        "clauses": len(formula.clauses),
        "branching": solution.nodes,
        "seconds": time.process_time() - start,
        "status": solution.stopped or "answer",
        "value": None if solution.stopped else float(solution.value.lo),
    }


def of_tree(name: str, depth: int, structure: str, limit: float, seed: int) -> Iterator[dict[str, Any]]:
    """A row a question about a tree."""
    audit = justicia.verify(fitted(name, depth, seed), name, population=structure)
    formula = Formula(audit.population, audit.decision)
    rates = ENGINES["paths"].solve(formula, Effort()).lo
    largest = int(np.argmax(audit.population.sizes))
    for question, expected in zip(
        QUESTIONS, (rates[largest], rates.max(), rates.min(), 1.0 - rates.min()), strict=True
    ):
        which = largest if question == ONE_GROUP else question
        found = solved(from_sdimacs(to_sdimacs(lower(formula, which).formula)), limit)
        apart = None if found["value"] is None else abs(found["value"] - float(expected))
        yield {"question": question, "groups": len(rates), **found, "apart": apart}


def whole(size: str, limit: float, seed: int) -> dict[str, Any]:
    """A whole audit of many groups by way of one formula."""
    model = "tree" if size == DEFAULT else fitted("adult", int(size), seed)
    start = cpu_seconds()
    audit = justicia.verify(
        model, "adult", sensitive_features=list(WHOLE_SENSITIVE), solver="clauses", time_limit=limit
    )
    seconds = cpu_seconds() - start
    grouping = audit.groupings[0]
    exact = all(
        float(group.selection_rate.hi - group.selection_rate.lo) < EQUAL for group in grouping.groups if group.n
    )
    return {
        "groups": sum(group.n > 0 for group in grouping.groups), "variables": None, "clauses": None, "branching": None,
        "seconds": seconds, "status": "answer" if exact else "time", "value": None, "apart": None,
    }  # fmt: skip


def run(
    out: Path,
    *,
    quick: bool,
    progress: Reporter,
    seed: int = 0,
    data: tuple[str, ...] = (),
    depth: tuple[int, ...] = DEPTHS,
    limit: float = 60.0,
) -> None:
    """Compute the rows that are not there yet, and draw the figure."""
    sizes, audits = RANDOM_SIZES, (DEFAULT, "10")
    if quick:
        data, depth, sizes, audits = ("ricci",), (3,), RANDOM_SIZES[:1], ()
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    shared = {"limit": limit, "seed": seed}
    trees = [
        {"source": name, "size": str(deep), "population": structure, **shared}
        for name in data or TABLES
        for deep in depth
        for structure in STRUCTURES
    ]
    todo = [case for case in trees if any({**case, "question": one} not in rows for one in QUESTIONS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _load()
        for case in progress.track(todo, TITLE):
            for row in of_tree(case["source"], int(case["size"]), case["population"], limit, seed):
                if {**case, "question": row["question"]} not in rows:
                    rows.add({**case, **row})
        alone = [
            {"source": RANDOM, "size": f"{n} and {m}", "population": "", "question": str(number), **shared}
            for n, m in sizes
            for number in range(RANDOM_NUMBER * seed, RANDOM_NUMBER * (seed + 1))
        ]
        for case in progress.track(rows.todo(alone, lambda case: case), "random clauses"):
            n, m = (int(word) for word in case["size"].split(" and "))
            rows.add(
                {**case, "groups": None, **solved(random_clauses(n, m, int(case["question"])), limit), "apart": None}
            )
        audited = [
            {"source": "adult", "size": size, "population": "auto", "question": WHOLE, **shared} for size in audits
        ]
        for case in progress.track(rows.todo(audited, lambda case: case), "whole audits"):
            rows.add({**case, **whole(case["size"], limit, seed)})
    plot(rows.held, out / f"{NAME}.svg")


def _load() -> None:
    """Compiled code is loaded before anything is timed."""
    formula = random_clauses(20, 50, 0)
    solve_clauses(formula)
    solve_clauses(ClauseFormula((Block(EXISTS, (1, 2)), *formula.prefix[2:]), formula.clauses))
    # Weights of clauses have loops of their own.
    for _ in of_tree("ricci", 3, "tree", 60.0, 0):
        pass


def parts(folder: Path) -> dict[str, str]:
    """Tables of the page on formulas, and what they say."""
    rows = read_rows(folder / f"{NAME}.csv")
    trees: dict[tuple[str, int, str], dict[str, dict[str, str]]] = {}
    for row in rows:
        if row["question"] in QUESTIONS and row["source"] in TABLES:
            trees.setdefault((row["source"], int(row["size"]), row["population"]), {})[row["question"]] = row
    trees = {key: one for key, one in trees.items() if set(one) == set(QUESTIONS)}
    lines = []
    for (name, depth, structure), one in trees.items():
        if depth not in SHOWN_DEPTHS:
            continue
        sizes = [
            f"{int(one[ONE_GROUP][what]):,} to {int(one[MOST_FAVORED][what]):,}" for what in ("variables", "clauses")
        ]
        times = [_seconds(one[question]) for question in QUESTIONS]
        lines.append([name, str(depth), structure, *sizes, *times])
    header = ["table", "depth", "population", "variables", "clauses", *(f"{question}, s" for question in QUESTIONS)]
    asked = [row for one in trees.values() for row in one.values()]
    answered = [row for row in asked if row["status"] == "answer"]
    longest = max(float(row["seconds"]) for row in answered)
    farthest = max(float(row["apart"]) for row in answered)
    groups = {name: one[ONE_GROUP]["groups"] for (name, _, _), one in trees.items()}
    depths = sorted({depth for _, depth, _ in trees})
    about = (
        f"Trees of depth {depths[0]} to {depths[-1]} are fitted on the bundled tables, one-hot encoded; *one group* is "
        "the largest one, the other questions hold the tables of all groups "
        f"({listed([f'{n} of {name}' for name, n in groups.items()])}). Variables and clauses are those of one group "
        f"and of all. {len(answered)} of {len(asked)} formulas were solved, in {longest:.2f} seconds at most; "
        f"values and those of the direct engine are {farthest:.0e} apart at most."
    )
    return {
        "trees in words": wrapped(about),
        "trees": table(header, lines),
        "random": _random(rows),
        "whole audits": wrapped(_whole(rows)),
    }


def _seconds(row: dict[str, str]) -> str:
    return f"{float(row['seconds']):.3f}" if row["status"] == "answer" else f"> {float(row['limit']):g}"


def _random(rows: list[dict[str, str]]) -> str:
    """A line a size of random formulas."""
    sizes = dict.fromkeys(row["size"] for row in rows if row["source"] == RANDOM)
    lines = []
    for size in sizes:
        mine = [row for row in rows if row["source"] == RANDOM and row["size"] == size]
        seconds = [float(row["seconds"]) for row in mine]
        nodes = [int(row["branching"]) for row in mine]
        lines.append([*size.split(" and "), f"{median(seconds):.3f}", f"{max(seconds):.3f}", f"{int(median(nodes)):,}"])
    header = ["random variables", "clauses of three", f"median of {RANDOM_NUMBER}, s", "longest, s", "branching points"]
    return table(header, lines)


def _whole(rows: list[dict[str, str]]) -> str:
    """What whole audits take."""
    held = {row["size"]: row for row in rows if row["question"] == WHOLE}
    if not held:
        return "No whole audit was made."
    says = [
        f"{float(row['seconds']):.1f} for " + ("the default tree" if size == DEFAULT else f"a tree of depth {size}")
        for size, row in held.items()
    ]
    groups = next(iter(held.values()))["groups"]
    return (
        f"`justicia verify --solver clauses` takes one formula for all groups. Seconds of the processor for {groups} "
        f"groups of adult ({' x '.join(WHOLE_SENSITIVE)}), rates by true outcome among them: {' and '.join(says)}."
    )


def plot(rows: list[dict[str, str]], path: Path) -> None:
    """Seconds against clauses."""
    figure, axis = new_figure(figsize=(5, 3.4))
    for structure in STRUCTURES:
        part = [
            row
            for row in rows
            if row["question"] == MOST_FAVORED and row["population"] == structure and row["status"] == "answer"
        ]
        part.sort(key=lambda row: int(row["clauses"]))
        axis.loglog(
            [int(row["clauses"]) for row in part], [float(row["seconds"]) for row in part], "o", markersize=3,
            label=structure,
        )  # fmt: skip
    axis.set(xlabel="clauses", ylabel="seconds of the processor")
    axis.legend(frameon=False, fontsize="small")
    save_figure(figure, path)


if __name__ == "__main__":
    command(
        NAME,
        run,
        __doc__,
        click.option("--data", multiple=True, type=click.Choice(TABLES), help="Repeatable.  [default: all]"),
        click.option(
            "--depth", multiple=True, type=click.IntRange(min=1), default=DEPTHS, show_default=True, help="Repeatable."
        ),
        click.option(
            "--limit", type=click.FloatRange(min=1), default=60.0, show_default=True, help="Seconds a formula."
        ),
    )()
