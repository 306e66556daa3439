"""The cases of a formula: what its outermost choices leave of it.

Where the outermost block is under ∃ or ∀ and leaves few different formulas, such as one for each group of people, these
are solved together. A case is what is left after choices and all that follows from them by single clauses; choices that
leave the same are one case.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.solvers.clause_tables import MIN, SUM

if TYPE_CHECKING:
    from justicia.solvers._component_kernels import Problem, State
    from justicia.solvers.clause_tables import ClauseTables

__all__ = ["Cases", "cases_of", "fresh_state", "plain_problem", "random_hash"]

_MOST_CHOICES = 4096
"""Combinations of choices that are looked at."""
_MOST_CASES = 1024
_MOST_LOOKED_AT = 2_000_000_000
"""Literals of clauses, some seconds."""


@dataclass(frozen=True)
class Cases:
    """Combinations of choices that differ, and the case of each.

    Attributes
    ----------
    settled : bool array of shape (n_variables,)
        The choices, and what all cases settle.
    values : int8 array of shape (n_cases, n_variables)
        Values of settled variables in each case; -1 where it does not matter.
    chosen : list of (int8 array of shape (n_variables,), int)
        Values in every combination that was looked at, and its case; -1 when its value is 0.
    """

    settled: np.ndarray
    values: np.ndarray
    chosen: list[tuple[np.ndarray, int]]


def cases_of(tables: ClauseTables, choices: np.ndarray) -> Cases | None:
    """The cases of a formula; None when they are too many.

    Parameters
    ----------
    tables : ClauseTables
    choices : int array
        Variables of the outermost block, all under ∃ or all under ∀.
    """
    from justicia.solvers._case_kernels import next_choice, what_is_left
    from justicia.solvers._component_kernels import TRAIL, assume, undo

    problem, state = plain_problem(tables), fresh_state(tables, 1)
    universal = len(choices) > 0 and problem.kind[choices[0]] == MIN
    certain = np.flatnonzero(tables.weight == 0.0) ^ 1
    lengths = np.diff(tables.clause_start)
    single = tables.clause_literal[tables.clause_start[:-1][lengths == 1]]
    found: dict[tuple[int, int], int] = {}
    values: list[np.ndarray] = []
    chosen: list[tuple[np.ndarray, int]] = []
    possible = not any(problem.kind[literal >> 1] == MIN for literal in single)
    possible = possible and all(assume(problem, state, literal) for literal in [*certain.tolist(), *single.tolist()])
    # Literals to be assumed, and how long the trail was before; the search goes depth first.
    pending: list[tuple[int, int]] = []
    looked_at = 0
    while True:
        variable = int(next_choice(choices, problem, state)) if possible else -1
        if variable >= 0:
            length = int(state.registers[TRAIL])
            pending += [(2 * variable + 1, length), (2 * variable, length)]
        elif possible:
            looked_at += len(tables.clause_literal)
            key = what_is_left(problem, state)
            case = found.setdefault((int(key[0]), int(key[1])), len(found))
            if case == len(values):
                values.append(state.value.copy())
            chosen.append((state.value.copy(), case))
        elif universal:
            # The smallest value is 0: nothing else needs to be known.
            return Cases(
                np.zeros(tables.n_variables, dtype=bool),
                np.zeros((0, tables.n_variables), dtype=np.int8),
                [(_refuted(tables, state.value, choices), -1)],
            )
        if not pending:
            break
        if len(chosen) > _MOST_CHOICES or len(found) > _MOST_CASES or looked_at > _MOST_LOOKED_AT:
            return None
        literal, length = pending.pop()
        undo(problem, state, length)
        possible = bool(assume(problem, state, literal))
    held = np.array(values, dtype=np.int8).reshape(len(values), tables.n_variables)
    settled = (held >= 0).all(axis=0) & (tables.weight[::2] == 1.0) & (tables.kind != SUM) & (len(held) > 0)
    settled[choices] = True
    return Cases(settled, held, chosen)


def _refuted(tables: ClauseTables, value: np.ndarray, choices: np.ndarray) -> np.ndarray:
    """Values that leave a clause false, of choices under ∀ that would have to satisfy it."""
    literal = tables.clause_literal
    held = value[literal >> 1]
    begins = tables.clause_start[:-1]
    true = np.add.reduceat(held == 1 - (literal & 1), begins) > 0
    n_open = np.add.reduceat((held < 0).astype(np.int64), begins)
    result = value.copy()
    for clause in np.flatnonzero(~true & (n_open == 1)):
        part = literal[tables.clause_start[clause] : tables.clause_start[clause + 1]]
        last = part[value[part >> 1] < 0][0]
        if last >> 1 in choices:
            result[last >> 1] = last & 1
            break
    return result


def plain_problem(tables: ClauseTables) -> Problem:
    """A formula for the search, as it stands."""
    from justicia.solvers._component_kernels import Problem

    n, n_clauses = tables.n_variables, tables.n_clauses
    return Problem(
        clause_start=tables.clause_start,
        clause_literal=tables.clause_literal,
        occurrence_start=tables.occurrence_start,
        occurrence=tables.occurrence.copy(),
        hard=np.ones(n_clauses, dtype=bool),
        clause_weight=np.zeros((n_clauses, 1)),
        kind=tables.kind,
        level=tables.level,
        weight=np.ones((2 * n, 1)),
        plain=np.ones(2 * n, dtype=bool),
        free=np.ones((n, 1)),
        hash=random_hash(n + n_clauses),
        clause_score=np.ones(n_clauses),
        length_score=np.ones(int(np.diff(tables.clause_start).max(initial=0)) + 1),
    )


def random_hash(n_items: int) -> np.ndarray:
    """128 bits for each item, uint64 array of shape (n_items, 2), drawn anew every time."""
    return np.random.default_rng(secrets.randbits(128)).integers(0, 2**64, size=(n_items, 2), dtype=np.uint64)


def fresh_state(tables: ClauseTables, n_cases: int, n_cached: int = 2) -> State:
    """Nothing assigned yet, nothing remembered.

    Parameters
    ----------
    tables : ClauseTables
    n_cases : int
    n_cached : int
        A power of two: room for components.
    """
    from justicia.solvers._component_kernels import State

    n, n_clauses = tables.n_variables, tables.n_clauses
    space = 4 * n + 64
    return State(
        registers=np.zeros(9, dtype=np.int64),
        value=np.full(n, -1, dtype=np.int8),
        true_literals=np.zeros(n_clauses, dtype=np.int32),
        open_literals=np.diff(tables.clause_start).astype(np.int32),
        trail=np.zeros(n + 1, dtype=np.int32),
        mark=np.zeros(n, dtype=np.int64),
        clause_mark=np.zeros(n_clauses, dtype=np.int64),
        pool=np.zeros(space, dtype=np.int32),
        component=np.zeros((space, 3), dtype=np.int64),
        component_hash=np.zeros((space, 2), dtype=np.uint64),
        occurrence_end=tables.occurrence_start[1:].copy(),
        shortened=np.zeros((8 * n + 64, 2), dtype=np.int32),
        frame=np.zeros((n + 2, 10), dtype=np.int64),
        number=np.zeros((n + 2, 9, n_cases)),
        product=np.ones(n_cases),
        keys=np.zeros((n_cached, 2), dtype=np.uint64),
        values=np.zeros((n_cached, 2, n_cases)),
        best=np.zeros(n_cached, dtype=np.int32),
    )
