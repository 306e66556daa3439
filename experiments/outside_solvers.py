"""reSSAT/erSSAT, SharpSSAT and the engine here on the same formulas: whether values agree, and how long they take.

Formulas are those of `justicia encode --digits 6`: trees on the bundled tables, one group, most favored, least favored
and dual; rules in clauses; and random ones. All solvers get the same six decimals. Programs that are not installed are
left out. Seconds are of the processor; those of this package do not include the start of the interpreter, and compiled
code is loaded before. A program gets `--limit` seconds of the processor, or less where that decides nothing: three and
a half times what the engine here took, and two seconds at least.

erSSAT is asked with its default options, too, where formulas begin with ∃; and all are asked about the tree of two
tests that docs/outside-solvers.md goes through by hand.

    python -m experiments.outside_solvers --out experiments/results
"""

from __future__ import annotations

import math
import random
import shlex
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

import justicia
from experiments.formulas import TABLES, fitted
from experiments.running import (
    Reporter,
    Rows,
    command,
    new_figure,
    of_children,
    of_one,
    read_rows,
    save_figure,
    table,
    wrapped,
)
from justicia.solvers import external, solve_clauses
from justicia.solvers.external.preparing import quantifiers
from justicia.solvers.external.programs import ABC, SHARPSSAT, Kind, Program, locate
from justicia.ssat import Block, ClauseFormula, Formula, from_sdimacs, to_sdimacs
from justicia.ssat.lowering import DUAL, LEAST_FAVORED, MOST_FAVORED, lower
from justicia.words import counted

__all__ = ["CAPTION", "NAME", "TITLE", "parts", "plot", "run"]

NAME = "outside_solvers"
TITLE = "Do other solvers give the same values?"
CAPTION = "Seconds of the faster other program against those of the engine here, a formula a mark"

DEPTHS = (3, 4, 6, 8, 10)
STRUCTURES = ("independent", "tree")
ONE_GROUP, RANDOM, BY_HAND = "one group", "random", "by hand"
QUESTIONS = (ONE_GROUP, MOST_FAVORED, LEAST_FAVORED, DUAL)
KINDS = (*QUESTIONS, RANDOM)
OURS = "justicia"
DEFAULT_ABC = replace(ABC, name="abc, default options", words=("-c", ABC.words[1].replace(" -p -s", "")))
"""erSSAT with partial assignments and subsumption."""
PROGRAMS = (ABC, SHARPSSAT)
COUNTER = "pyganak"
AGREE = 1e-6
LEAST_LIMIT = 2.0
ENOUGH = 3.5
PATIENCE = 20.0
"""Times as long by the clock, on a machine that has other work."""
KEY = ["kind", "formula", "solver", "limit", "seed"]
COLUMNS = [*KEY, "variables", "clauses", "status", "value", "seconds"]

Made = tuple[str, ClauseFormula]


@dataclass(frozen=True)
class Case:
    """Formulas that are made together.

    Attributes
    ----------
    name : str
    kinds : tuple of str
    make : callable
        Gives the formula of each kind.
    """

    name: str
    kinds: tuple[str, ...]
    make: Callable[[], Iterator[Made]]


def of_audit(model: Any, name: str, structure: str) -> Iterator[Made]:
    """The four questions about one model."""
    audit = justicia.verify(model, name, population=structure)
    asked = Formula(audit.population, audit.decision)
    for question in QUESTIONS:
        which = int(np.argmax(audit.population.sizes)) if question == ONE_GROUP else question
        yield question, lower(asked, which).formula


def by_hand() -> Iterator[Made]:
    """The questions about the tree of two tests that the page goes through."""
    from sklearn.tree import DecisionTreeClassifier

    frame = justicia.tables.read_table("ricci").frame
    model = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(frame[["oral", "written"]], frame["passed"])
    audit = justicia.verify(model, "ricci", population="independent")
    asked = Formula(audit.population, audit.decision)
    for at, group in enumerate(audit.population.groups):
        yield f"{BY_HAND}: {', '.join(group)}", lower(asked, at).formula
    for question in (MOST_FAVORED, DUAL, LEAST_FAVORED):
        yield f"{BY_HAND}: {question}", lower(asked, question).formula


def cases(data: tuple[str, ...], depths: tuple[int, ...], rules: bool, n_random: int, seed: int) -> Iterator[Case]:
    """All formulas, small ones first."""
    yield Case("ricci", tuple(f"{BY_HAND}: {one}" for one in HAND), by_hand)
    for number in range(seed * n_random, (seed + 1) * n_random):
        yield Case(f"random {number}", (RANDOM,), lambda number=number: iter([(RANDOM, random_formula(number))]))
    models = [(f"depth {depth}", lambda name, depth=depth: fitted(name, depth, seed)) for depth in depths]
    if rules:
        models.append(("rules", lambda _: "cnf"))
    for words, model in models:
        for name in data:
            for structure in STRUCTURES:
                yield Case(
                    f"{name}, {words}, {structure}",
                    QUESTIONS,
                    lambda model=model, name=name, structure=structure: of_audit(model(name), name, structure),
                )


HAND = ("Black", "Hispanic", "White", MOST_FAVORED, DUAL, LEAST_FAVORED)


def random_formula(seed: int) -> ClauseFormula:
    """Thirty variables, seventy clauses of three, every shape of prefix that reSSAT and erSSAT take."""
    rng = random.Random(seed)
    order = rng.sample(range(1, 31), 30)
    shape = ("r", "re", "er", "ere")[seed % 4]
    prefix: list[Block] = []
    for at, letter in enumerate(shape):
        part = order[30 * at // len(shape) : 30 * (at + 1) // len(shape)]
        if letter == "e":
            prefix.append(Block("e", tuple(part)))
        else:
            prefix += [Block("r", (one,), Fraction(rng.randint(1, 999_999), 1_000_000)) for one in part]
    clauses = tuple(tuple(v * rng.choice((1, -1)) for v in rng.sample(range(1, 31), 3)) for _ in range(70))
    return ClauseFormula(tuple(prefix), clauses)


def ours(formula: ClauseFormula, limit: float) -> dict[str, Any]:
    """What the engine here says, and what it took."""
    start = time.process_time()
    solution = solve_clauses(formula, limit, assignment=False)
    seconds = time.process_time() - start
    value = None if solution.stopped else float(solution.value.lo)
    return {"status": solution.stopped or "answer", "value": value, "seconds": seconds}


def of_program(kind: Kind, formula: ClauseFormula, limit: float, before: dict[str, Any]) -> dict[str, Any]:
    """What a program says, given what the engine here took."""
    solved, seconds = before["status"] == "answer", float(before["seconds"])
    enough = math.ceil(min(limit, max(LEAST_LIMIT, ENOUGH * seconds)) if solved else limit)
    start = of_children()
    reply = limited(kind, formula, enough).ask(formula, PATIENCE * enough)
    used = of_children() - start
    status = "time" if reply.status == "failed" and used > 0.8 * enough else reply.status
    return {"status": status, "value": reply.value, "seconds": used}


def limited(kind: Kind, formula: ClauseFormula, seconds: int) -> Program:
    """A program that the system ends after so many seconds of the processor."""
    more = [kind.universal] if kind.universal is not None and "a" in quantifiers(formula) else []
    words = shlex.join([str(locate(kind)), *more, *kind.words])
    return Program(replace(kind, words=("-c", f"ulimit -t {seconds}; exec {words}"), universal=None), "/bin/sh")


def run(
    out: Path,
    *,
    quick: bool,
    progress: Reporter,
    seed: int = 0,
    data: tuple[str, ...] = (),
    depth: tuple[int, ...] = DEPTHS,
    n_random: int = 100,
    rules: bool = True,
    limit: float = 60.0,
) -> None:
    """Compute the rows that are not there yet, and draw the figure."""
    if quick:
        data, depth, n_random, rules, limit = ("ricci",), (3,), 8, False, 5.0
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    here = external.available()
    programs = [kind for kind in PROGRAMS if kind.name in here]
    absent = [kind.name for kind in PROGRAMS if kind.name not in here]
    absent += [COUNTER] if COUNTER not in here else []
    if absent:
        progress.note(f"not installed, left out: {', '.join(absent)}")

    def solvers(kind: str) -> list[str]:
        names = [OURS, *(one.name for one in programs)]
        if kind in (RANDOM, MOST_FAVORED) and ABC in programs:
            names.append(DEFAULT_ABC.name)
        return [*names, COUNTER] if kind.startswith(BY_HAND) and COUNTER in here else names

    def key(kind: str, name: str, solver: str) -> dict[str, Any]:
        return {"kind": kind, "formula": name, "solver": solver, "limit": limit, "seed": seed}

    def open_solvers(kind: str, name: str) -> list[str]:
        return [solver for solver in solvers(kind) if key(kind, name, solver) not in rows]

    todo = [
        case
        for case in cases(data or TABLES, depth, rules, n_random, seed)
        if any(open_solvers(kind, case.name) for kind in case.kinds)
    ]
    if todo:
        # What a first formula loads is nobody's price.
        for number in range(4):
            solve_clauses(random_formula(number), 10)
    for case in progress.track(todo, TITLE):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = list(case.make())
        for kind, formula in made:
            read = from_sdimacs(to_sdimacs(formula, 6))
            sizes = {"variables": read.n_variables, "clauses": len(read.clauses)}
            for solver in open_solvers(kind, case.name):
                named = key(kind, case.name, solver)
                if solver == OURS:
                    found = ours(read, limit)
                elif solver == COUNTER:
                    start = time.process_time()
                    reply = external.outside_solver(COUNTER).ask(read, limit)
                    found = {"status": reply.status, "value": reply.value, "seconds": time.process_time() - start}
                else:
                    mine = key(kind, case.name, OURS)
                    (before,) = (row for row in rows.held if all(row[name] == str(mine[name]) for name in KEY))
                    program = next(one for one in (*PROGRAMS, DEFAULT_ABC) if one.name == solver)
                    found = of_program(program, read, limit, before)
                rows.add({**named, **sizes, **found})
    plot(rows.held, out / f"{NAME}.svg")


Held = dict[tuple[str, str], dict[str, dict[str, str]]]


def _by_formula(rows: list[dict[str, str]]) -> Held:
    """Rows by kind and formula, then by solver."""
    held: Held = defaultdict(dict)
    for row in rows:
        held[row["kind"], row["formula"]][row["solver"]] = row
    return held


def _apart(row: dict[str, str] | None, beside: dict[str, str]) -> float | None:
    """How far a value is from ours; None where there is none."""
    if row is None or not row["value"] or not beside["value"]:
        return None
    return abs(float(row["value"]) - float(beside["value"]))


def _small(value: float) -> str:
    """A difference with one digit."""
    return f"{value:.0e}".replace("e-0", "e-")


def _ratios(held: Held, solvers: list[str]) -> list[float]:
    """Seconds here by those of the fastest other program that answers."""
    found = []
    for one in held.values():
        others = [float(one[name]["seconds"]) for name in solvers if one.get(name, {}).get("status") == "answer"]
        if others and one[OURS]["status"] == "answer":
            found.append(float(one[OURS]["seconds"]) / max(min(others), 1e-4))
    return found


def _lines(held: Held, solvers: list[str]) -> tuple[list[list[str]], list[list[str]]]:
    """Agreement and times, a line a kind."""
    agreement, times = [], []
    for kind in [*(one for one in KINDS if any(one == of for of, _ in held)), "all"]:
        part = {key: one for key, one in held.items() if kind in (key[0], "all")}
        cells = []
        for solver in solvers:
            apart = [far for one in part.values() if (far := _apart(one.get(solver), one[OURS])) is not None]
            refused = all(one.get(solver, {}).get("status") == "unsupported" for one in part.values())
            equal = sum(far <= AGREE for far in apart)
            cells.append(
                f"{len(apart)}, {equal}, {_small(max(apart))}" if apart else "∀ is not taken" if refused else "0, 0, -"
            )
        agreement.append([f"{len(part)} {kind}" if kind != "all" else f"{len(part)} together", *cells])
        cells = []
        for solver in [OURS, *solvers]:
            asked = [one[solver] for one in part.values() if one[solver]["status"] != "unsupported"]
            solved = [float(one["seconds"]) for one in asked if one["status"] == "answer"]
            text = f"{median(solved):.3f} s, {max(solved):.2f} s, {len(asked) - len(solved)}" if solved else "-"
            cells.append(text)
        ratios = _ratios(part, solvers)
        cells.append(f"{median(ratios):.2f}, {max(ratios):.1f}" if ratios else "-")
        times.append([kind, *cells])
    return agreement, times


def parts(folder: Path) -> dict[str, str]:
    """Tables of the page on outside solvers, and what they say."""
    rows = read_rows(folder / f"{NAME}.csv")
    everything = _by_formula(rows)
    held = {key: one for key, one in everything.items() if key[0] in KINDS}
    solvers = [kind.name for kind in PROGRAMS if any(row["solver"] == kind.name for row in rows)]
    agreement, times = _lines(held, solvers)
    trees = sorted({name.split(", ", 1)[0] for kind, name in held if "depth" in name})
    depths = sorted({int(name.split(", ")[1].removeprefix("depth ")) for kind, name in held if "depth" in name})
    kinds = [f"trees of depth {', '.join(map(str, depths))} on {', '.join(trees)}"]
    if any(", rules," in name for _, name in held):
        kinds.append("rules in clauses on the same tables")
    n_random = sum(kind == RANDOM for kind, _ in held)
    about = (
        f"The tables are of {len(held)} formulas: {'; '.join(kinds)}, under the populations "
        f"{' and '.join(f'`{one}`' for one in STRUCTURES)}, each for one group, the most favored, the least favored, "
        f"and the dual; and {n_random} random ones of thirty variables and seventy clauses of three."
    )
    header = [f"`{solver}`: answers, equal within {_small(AGREE)}, farthest" for solver in solvers]
    return {
        "formulas": wrapped(about),
        "agreement": table(["formulas", *header], agreement),
        "times": table(
            [
                "formulas",
                "here: median, longest, open",
                *(f"`{solver}`" for solver in solvers),
                "here / faster of the others: median, largest",
            ],
            times,
        ),
        "in words": wrapped(_conclusion(held, solvers)),
        "default options": wrapped(_defaults(held)),
        "by hand": _by_hand(everything),
    }


def _conclusion(held: Held, solvers: list[str]) -> str:
    """Whether values agree, whether a program answers what is open here, and where ours is slower."""
    far = [
        f"{solver} on {name} ({kind})"
        for (kind, name), one in held.items()
        for solver in solvers
        if (_apart(one.get(solver), one[OURS]) or 0.0) > AGREE
    ]
    lost = [
        f"{name} ({kind})"
        for (kind, name), one in held.items()
        if one[OURS]["status"] != "answer" and any(one[solver]["status"] == "answer" for solver in solvers)
    ]
    says = "Every value that some program gave is the same" if not far else f"Values differ: {', '.join(far)}"
    says += (
        ", and no program answered what the engine here did not."
        if not lost
        else f". Answered by another and not here: {', '.join(lost)}."
    )
    shapes: dict[str, list[float]] = defaultdict(list)
    for (kind, name), one in held.items():
        if kind == RANDOM:
            shape = ("R", "R∃", "∃R", "∃R∃")[int(name.split()[1]) % 4]
            shapes[shape] += _ratios({(kind, name): one}, solvers)
    slower = [f"{shape} ({median(ratios):.1f} times)" for shape, ratios in shapes.items() if median(ratios or [0]) > 1]
    if slower:
        says += (
            f" On random formulas it is slower than the faster program with prefixes {', '.join(slower)}: all choices "
            "of the outermost variables are looked at one by one, which is made for groups, of which there are few."
        )
    return says


def _defaults(held: Held) -> str:
    """How often erSSAT with its default options says something else."""
    says, farthest = [], (0.0, "")
    for kind in (RANDOM, MOST_FAVORED):
        small = large = asked = 0
        for (of, name), one in held.items():
            # Of the random ones, those that begin with R are reSSAT's.
            if of != kind or (kind == RANDOM and int(name.split()[1]) % 4 < 2):
                continue
            row, beside = one.get(DEFAULT_ABC.name), one[OURS]
            if _apart(row, beside) is None or row is None:
                continue
            said, right = float(row["value"]), float(beside["value"])
            asked, small, large = asked + 1, small + (said < right - AGREE), large + (said > right + AGREE)
            words = f"{of_one(said, 6)} in place of {of_one(right, 6)} ({name})"
            farthest = max(farthest, (abs(said - right), words))
        words = "random formulas with prefixes ∃R and ∃R∃" if kind == RANDOM else "formulas of the most favored group"
        if asked:
            says.append(f"{small} of {asked} {words}" + (f" (and too large ones of {large})" if large else ""))
    if not says:
        return "erSSAT was not asked with its default options."
    most = f"; the farthest is {farthest[1]}" if farthest[0] > AGREE else ""
    return f"With its default options erSSAT prints values that are too small of {', and of '.join(says)}{most}."


def _by_hand(everything: Held) -> str:
    """What each says of the tree of two tests."""
    held = {kind.removeprefix(f"{BY_HAND}: "): one for (kind, _), one in everything.items() if kind.startswith(BY_HAND)}
    names = [OURS, *(kind.name for kind in PROGRAMS), COUNTER]
    names = [name for name in names if any(name in one for one in held.values())]
    options = {MOST_FAVORED: "--most-favored", LEAST_FAVORED: "--least-favored", DUAL: "--dual"}
    titles = {MOST_FAVORED: "most favored", LEAST_FAVORED: "least favored", DUAL: "1 - least favored"}
    lines = []
    for question, one in held.items():
        cells = []
        for name in names:
            row = one.get(name)
            if row is None or not row["value"]:
                quantifier = "∀" if question == LEAST_FAVORED else "∃"
                cells.append(f"{quantifier} is not taken" if row and row["status"] == "unsupported" else "-")
            else:
                cells.append(of_one(float(row["value"]), 12 if name in (OURS, COUNTER) else 7))
        label = f"{titles[question]} (`{options[question]}`)" if question in options else question
        lines.append([label, *cells])
    return table(["question", *(f"`{'clauses' if name == OURS else name}`" for name in names)], lines)


def plot(rows: list[dict[str, str]], path: Path) -> None:
    """Seconds of the faster other program against ours."""
    held = {key: one for key, one in _by_formula(rows).items() if key[0] in KINDS}
    figure, axis = new_figure(figsize=(4.6, 4.2))
    for at, kind in enumerate(KINDS):
        x, y = [], []
        for (of, _), one in held.items():
            others = [
                float(one[solver.name]["seconds"])
                for solver in PROGRAMS
                if one.get(solver.name, {}).get("status") == "answer"
            ]
            if of == kind and others and one[OURS]["status"] == "answer":
                x.append(max(float(one[OURS]["seconds"]), 1e-3))
                y.append(max(min(others), 1e-3))
        axis.loglog(x, y, "o", markersize=3, color=f"C{at}", label=f"{kind}, {counted(len(x), 'formula')}")
    ends = [1e-3, 10]
    axis.plot(ends, ends, color="0.7", linewidth=0.8)
    axis.set(xlabel="seconds here", ylabel="seconds of the faster other program")
    axis.legend(frameon=False, fontsize="small", loc="lower right")
    save_figure(figure, path)


if __name__ == "__main__":
    command(
        NAME,
        run,
        __doc__,
        click.option("--limit", type=click.FloatRange(min=1), default=60.0, show_default=True),
        click.option("--data", multiple=True, type=click.Choice(TABLES), help="Repeatable.  [default: all]"),
        click.option(
            "--depth", multiple=True, type=click.IntRange(min=1), default=DEPTHS, show_default=True, help="Repeatable."
        ),
        click.option(
            "--random", "n_random", type=click.IntRange(min=0), default=100, show_default=True, help="Random formulas."
        ),
        click.option("--rules/--no-rules", default=True, help="Rules in clauses, too."),
    )()
