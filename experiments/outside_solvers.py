"""reSSAT/erSSAT, SharpSSAT and the engine here on the same formulas: whether values agree, and how long they take.

Usage: python -m experiments.outside_solvers [--out results] [--limit 60] [--data ricci,adult] [--depth 3,6]
       [--random 100] [--no-rules] [--solvers abc,sharpssat]

Formulas are those of `justicia encode --digits 6`: trees on the bundled tables, one group, most favored, least favored
and dual; rules in clauses where this version learns them; and random ones. All solvers get the same six decimals.
Programs that are not installed are left out. Times are of the processor, in seconds; those of this package do not
include the start of the interpreter, and compiled code is loaded before. A program gets `--limit` seconds of the
processor, or less where that decides nothing: three and a half times what the engine here took, and two seconds at
least.

It writes outside_solvers.csv, one line a formula and solver, and prints two tables.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
import resource
import shlex
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import justicia
from benchmarks.formulas import fitted
from justicia.models.training import TRAINABLE
from justicia.solvers import external, solve_clauses
from justicia.solvers.external.preparing import quantifiers
from justicia.solvers.external.programs import ABC, SHARPSSAT, Kind, Program, locate
from justicia.ssat import Block, ClauseFormula, Formula, from_sdimacs, to_sdimacs
from justicia.ssat.lowering import DUAL, LEAST_FAVORED, MOST_FAVORED, lower
from justicia.words import counted

TABLES = ("ricci", "german", "titanic", "compas", "adult")
DEPTHS = (3, 4, 6, 8, 10)
STRUCTURES = ("independent", "tree")
QUESTIONS = ("group", MOST_FAVORED, LEAST_FAVORED, DUAL)
OURS = "justicia"
AGREE = 1e-6
LEAST_LIMIT = 2.0
PATIENCE = 20.0
"""Times as long by the clock, on a machine that has other work."""


def of_audits(model: Any, words: str, table: str, structure: str) -> Iterator[tuple[str, str, ClauseFormula]]:
    """The four questions about one model: the kind of formula, its name, and the formula."""
    audit = justicia.verify(model, table, population=structure)
    asked = Formula(audit.population, audit.decision)
    for question in QUESTIONS:
        which = int(np.argmax(audit.population.sizes)) if question == "group" else question
        yield question, f"{table}, {words}, {structure}", lower(asked, which).formula


def formulas(
    tables: list[str], depths: list[int], rules: bool, n_random: int
) -> Iterator[tuple[str, str, ClauseFormula]]:
    """All formulas, small ones first: kind, name, formula."""
    for seed in range(n_random):
        yield "random", f"random {seed}", random_formula(seed)
    for depth in depths:
        for table in tables:
            for structure in STRUCTURES:
                yield from of_audits(fitted(table, depth), f"depth {depth}", table, structure)
    if rules and "cnf" in TRAINABLE:
        for table in tables:
            for structure in STRUCTURES:
                yield from of_audits("cnf", "rules", table, structure)


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


def children() -> float:
    """Seconds of the processor of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(
    kind: str, name: str, formula: ClauseFormula, programs: dict[str, Kind], limit: float
) -> Iterator[dict[str, Any]]:
    """One line a solver."""
    read = from_sdimacs(to_sdimacs(formula, 6))
    sizes = {"kind": kind, "formula": name, "variables": read.n_variables, "clauses": len(read.clauses)}
    start = time.process_time()
    solution = solve_clauses(read, limit, assignment=False)
    seconds = time.process_time() - start
    value = None if solution.stopped else float(solution.value.lo)
    yield {**sizes, "solver": OURS, "status": solution.stopped or "answer", "value": value, "seconds": seconds}
    enough = math.ceil(limit if solution.stopped else min(limit, max(LEAST_LIMIT, 3.5 * seconds)))
    for solver, program in programs.items():
        before = children()
        reply = limited(program, read, enough).ask(read, PATIENCE * enough)
        used = children() - before
        status = "time" if reply.status == "failed" and used > 0.8 * enough else reply.status
        yield {**sizes, "solver": solver, "status": status, "value": reply.value, "seconds": used}


def limited(kind: Kind, formula: ClauseFormula, seconds: int) -> Program:
    """A program that the system ends after so many seconds of the processor."""
    more = [kind.universal] if kind.universal is not None and "a" in quantifiers(formula) else []
    words = shlex.join([str(locate(kind)), *more, *kind.words])
    return Program(replace(kind, words=("-c", f"ulimit -t {seconds}; exec {words}"), universal=None), "/bin/sh")


def summary(lines: list[dict[str, Any]], solvers: list[str]) -> Iterator[str]:
    """Two tables: agreement, and times."""
    held: dict[tuple[str, str], dict[str, dict[str, Any]]] = defaultdict(dict)
    for line in lines:
        held[line["kind"], line["formula"]][line["solver"]] = line
    kinds = list(dict.fromkeys(kind for kind, _ in held))
    yield "| formulas | " + " | ".join(f"{one}: values, equal, farthest" for one in solvers) + " |"
    yield "|---" * (len(solvers) + 1) + "|"
    for kind in [*kinds, "all"]:
        chosen = [one for (of, _), one in held.items() if kind in (of, "all")]
        cells = []
        for solver in solvers:
            found = [one for one in chosen if one.get(solver, {}).get("value") is not None]
            apart = [abs(one[solver]["value"] - one[OURS]["value"]) for one in found if one[OURS]["value"] is not None]
            equal = sum(one <= AGREE for one in apart)
            cells.append(f"{len(found)}, {equal}, {max(apart):.0e}" if apart else f"{len(found)}, 0, -")
        yield f"| {counted(len(chosen), f'{kind} formula' if kind != 'all' else 'formula')} | {' | '.join(cells)} |"
    yield ""
    yield (
        f"| formulas | {OURS}: median, longest, open | "
        + " | ".join(f"{one}: median, longest, open, refused" for one in solvers)
        + " | ours / fastest other: median, largest |"
    )
    yield "|---" * (len(solvers) + 3) + "|"
    for kind in [*kinds, "all"]:
        chosen = [one for (of, _), one in held.items() if kind in (of, "all")]
        cells = []
        for solver in [OURS, *solvers]:
            asked = [one[solver] for one in chosen if one[solver]["status"] != "unsupported"]
            solved = [one["seconds"] for one in asked if one["status"] == "answer"]
            times = f"{median(solved):.3f} s, {max(solved):.2f} s" if solved else "-, -"
            refused = "" if solver == OURS else f", {len(chosen) - len(asked)}"
            cells.append(f"{times}, {len(asked) - len(solved)}{refused}")
        ratios = []
        for one in chosen:
            others = [one[solver]["seconds"] for solver in solvers if one[solver]["status"] == "answer"]
            if others:
                ratios.append(one[OURS]["seconds"] / max(min(others), 1e-4))
        cells.append(f"{median(ratios):.2f}, {max(ratios):.1f}" if ratios else "-")
        yield f"| {kind} | {' | '.join(cells)} |"
    lost = [
        f"{name} ({kind})"
        for (kind, name), one in held.items()
        if one[OURS]["status"] != "answer" and any(one[solver]["status"] == "answer" for solver in solvers)
    ]
    yield ""
    yield f"Solved by another and not here: {', '.join(lost) or 'none'}"


def main() -> None:
    """Measure, write, print."""
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=".")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--data", default=",".join(TABLES))
    parser.add_argument("--depth", default=",".join(map(str, DEPTHS)))
    parser.add_argument("--random", type=int, default=100, help="random formulas")
    parser.add_argument("--no-rules", action="store_true")
    parser.add_argument("--solvers", default="abc,sharpssat")
    options = parser.parse_args()
    here = external.available()
    wanted = options.solvers.split(",")
    programs = {kind.name: kind for kind in (ABC, SHARPSSAT) if kind.name in here and kind.name in wanted}
    absent = [name for name in wanted if name not in here]
    if absent:
        print(f"not installed, left out: {', '.join(absent)}")
    for seed in range(4):
        solve_clauses(random_formula(seed), 10)
    lines: list[dict[str, Any]] = []
    with open(Path(options.out) / "outside_solvers.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(
            file, ["kind", "formula", "variables", "clauses", "solver", "status", "value", "seconds"]
        )
        writer.writeheader()
        depths = [int(one) for one in options.depth.split(",") if one]
        chosen = formulas(options.data.split(","), depths, not options.no_rules, options.random)
        for kind, name, formula in chosen:
            for line in measured(kind, name, formula, programs, options.limit):
                writer.writerow(line)
                lines.append(line)
                file.flush()
    print("\n".join(summary(lines, list(programs))))


if __name__ == "__main__":
    main()
