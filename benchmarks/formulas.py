"""Times of `justicia solve`: formulas of trees on the bundled data sets, and random clauses of three variables.

Usage: python -m benchmarks.formulas [--data ricci,adult] [--depth 3,6,10] [--population independent,tree,auto]

A formula is written out and read again; the time is that of the processor (one thread) for solving what was read,
compiled code loaded before. Values are compared with those of the direct engine.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia import datasets, tables
from justicia.solvers import ENGINES, ClauseSolution, Effort, solve_clauses
from justicia.ssat import EXISTS, Block, ClauseFormula, Formula, from_sdimacs, to_sdimacs
from justicia.ssat.lowering import DUAL, LEAST_FAVORED, MOST_FAVORED, lower
from tests.formula_cases import random_3cnf

NAMES = "ricci,german,titanic,compas,adult"


def fitted(name: str, depth: int) -> Pipeline:
    """A tree on the features of a bundled data set."""
    described = datasets.describe(name)
    frame = tables.read_table(name).frame
    out = {described.label, *described.not_features}
    features = frame[[column for column in frame.columns if column not in out]]
    text = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer([("text", text, make_column_selector(dtype_exclude="number"))], remainder="passthrough")
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
    return Pipeline([("columns", columns), ("tree", tree)]).fit(features, frame[described.label].astype(str))


def timed(formula: ClauseFormula, limit: float) -> tuple[ClauseSolution, float]:
    """The value of a formula, and the seconds of the processor that it took."""
    start = time.process_time()
    solution = solve_clauses(formula, limit, assignment=False)
    return solution, time.process_time() - start


def questions(name: str, depth: int, structure: str, limit: float) -> Iterator[tuple[str, int, int, float, str]]:
    """Question, variables, clauses, seconds to solve, and how the answer compares."""
    audit = justicia.verify(fitted(name, depth), name, population=structure)
    formula = Formula(audit.population, audit.decision)
    rates = ENGINES["paths"].solve(formula, Effort()).lo
    largest = int(np.argmax(audit.population.sizes))
    for words, question, expected in (
        ("one group", largest, rates[largest]),
        ("most favored", MOST_FAVORED, rates.max()),
        ("least favored", LEAST_FAVORED, rates.min()),
        ("dual", DUAL, 1.0 - rates.min()),
    ):
        read = from_sdimacs(to_sdimacs(lower(formula, question).formula))
        solution, seconds = timed(read, limit)
        error = abs(float(solution.value.lo) - expected)
        verdict = solution.stopped or ("equal" if error < 1e-9 else f"differs by {error:.1e}")
        yield words, read.n_variables, len(read.clauses), seconds, verdict


def main() -> None:
    """Print two tables."""
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=NAMES)
    parser.add_argument("--depth", default="3,4,5,6,7,8,9,10")
    parser.add_argument("--population", default="independent,tree,auto")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a formula")
    options = parser.parse_args()
    solve_clauses(random_3cnf(20, 50, 0))
    choices = random_3cnf(20, 50, 0)
    solve_clauses(ClauseFormula((Block(EXISTS, (1, 2)), *choices.prefix[2:]), choices.clauses))
    columns = "table,depth,population,variables,clauses,one group,most favored,least favored,dual,values".split(",")
    print("|", " | ".join(columns), "|")
    print("|---" * len(columns) + "|")
    for name in options.data.split(","):
        for depth in map(int, options.depth.split(",")):
            for structure in options.population.split(","):
                asked = list(questions(name, depth, structure, options.limit))
                sizes = [f"{asked[0][i]:,} to {asked[1][i]:,}" for i in (1, 2)]
                times = [f"{solved:.3f} s" for *_, solved, _ in asked]
                verdicts = ", ".join(dict.fromkeys(verdict for *_, verdict in asked))
                print("|", " | ".join([name, str(depth), structure, *sizes, *times, verdicts]), "|", flush=True)
    print("\n| random variables | clauses of three | median of 12 | longest | branching points |")
    print("|---|---|---|---|---|")
    for n_variables, n_clauses in ((40, 100), (60, 150), (80, 200)):
        runs = [timed(random_3cnf(n_variables, n_clauses, seed), options.limit) for seed in range(12)]
        seconds = sorted(spent for _, spent in runs)
        nodes = sorted(solution.nodes for solution, _ in runs)[6]
        median = (seconds[5] + seconds[6]) / 2
        print(f"| {n_variables} | {n_clauses} | {median:.3f} s | {seconds[-1]:.3f} s | {nodes:,} |", flush=True)


if __name__ == "__main__":
    main()
