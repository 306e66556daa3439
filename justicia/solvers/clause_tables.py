"""A formula in clauses as arrays, as the search takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.solvers.definitions import defined_by
from justicia.ssat.clauses import EXISTS, FORALL, RANDOM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.ssat.clauses import ClauseFormula

__all__ = [
    "MAX",
    "MIN",
    "OUTERMOST",
    "SUM",
    "ClauseTables",
    "count_defined",
    "definitions_of",
    "occurrences_of",
    "tables_of",
]

SUM, MAX, MIN = 0, 1, 2
"""Kinds of variables: random or defined, under ∃, under ∀."""

OUTERMOST = 2
"""Level of the outermost block; the next ones have 4, 6, and so on, and defined variables may come between."""


@dataclass(frozen=True)
class ClauseTables:
    """Clauses over variables 0, 1, ...; literals of variable v are 2 v (true) and 2 v + 1 (false).

    Attributes
    ----------
    numbers : int array of shape (n_variables,)
        Number of each variable in the formula; those that stand in no clause are left out.
    clause_start, clause_literal : int32 arrays
        Literals of all clauses, one after another, and where each clause begins.
    occurrence_start, occurrence : int32 arrays
        Clauses of all literals.
    kind : int8 array of shape (n_variables,)
        `SUM`, `MAX` or `MIN`.
    level : int32 array of shape (n_variables,)
        Variables of a smaller level are further out.
    weight : float64 array of shape (2 n_variables,)
        Of each literal of a random variable; 1 for others.
    contradiction : bool
        Some clause is empty.
    settled : bool array of shape (n_variables,)
        Variables of the outermost block under ∃ or ∀, and those that these alone define.
    """

    numbers: np.ndarray
    clause_start: np.ndarray
    clause_literal: np.ndarray
    occurrence_start: np.ndarray
    occurrence: np.ndarray
    kind: np.ndarray
    level: np.ndarray
    weight: np.ndarray
    contradiction: bool
    settled: np.ndarray

    @property
    def n_variables(self) -> int:
        """Variables that stand in some clause."""
        return len(self.numbers)

    @property
    def n_clauses(self) -> int:
        """Clauses that are not always true."""
        return len(self.clause_start) - 1


def tables_of(formula: ClauseFormula) -> ClauseTables:
    """Arrays of a formula, its innermost ∀ literals made use of, no definitions found yet.

    A literal under ∀ further in than every other variable of its clause is as good as false: the minimum takes it so.
    """
    depth, quantifier, probability = {}, {}, {}
    level, before = -1, ""
    for block in formula.prefix:
        if not block.variables:
            continue
        if block.quantifier != before:
            level, before = level + 1, block.quantifier
        for variable in block.variables:
            depth[variable], quantifier[variable] = level, before
            if block.probability is not None:
                probability[variable] = float(block.probability), float(1 - block.probability)
    clauses = [
        clause for clause in (_reduced(set(one), depth, quantifier) for one in formula.clauses) if clause is not None
    ]
    numbers = sorted({abs(literal) for clause in clauses for literal in clause})
    index = {number: position for position, number in enumerate(numbers)}
    lengths = np.array([len(clause) for clause in clauses], dtype=np.int64)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    flat = np.array(
        [2 * index[abs(literal)] + (literal < 0) for clause in clauses for literal in clause], dtype=np.int32
    )
    kinds = {RANDOM: SUM, EXISTS: MAX, FORALL: MIN}
    weight = np.ones((len(numbers), 2))
    for position, number in enumerate(numbers):
        if number in probability:
            weight[position] = probability[number]
    return ClauseTables(
        np.array(numbers, dtype=np.int64),
        start,
        flat,
        *occurrences_of(start, flat, len(numbers)),
        np.array([kinds[quantifier[number]] for number in numbers], dtype=np.int8),
        np.array([2 * depth[number] + OUTERMOST for number in numbers], dtype=np.int32),
        weight.ravel(),
        bool((lengths == 0).any()),
        np.zeros(len(numbers), dtype=bool),
    )


def occurrences_of(start: np.ndarray, literals: np.ndarray, n_variables: int) -> tuple[np.ndarray, np.ndarray]:
    """Clauses of all literals, and where those of each literal begin, int32 arrays."""
    owner = np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))
    order = np.argsort(literals, kind="stable")
    return np.searchsorted(literals[order], np.arange(2 * n_variables + 1)).astype(np.int32), owner[order]


def _reduced(clause: set[int], depth: dict[int, int], quantifier: dict[int, str]) -> Sequence[int] | None:
    """A clause without literals under ∀ that are further in than the others; None when it is always true.

    Those of the outermost block stay: an assignment of it is asked for.
    """
    if any(-literal in clause for literal in clause):
        return None
    deepest = max((depth[abs(literal)] for literal in clause if quantifier[abs(literal)] != FORALL), default=-1)
    return sorted(
        (literal for literal in clause if quantifier[abs(literal)] != FORALL or depth[abs(literal)] < max(deepest, 1)),
        key=abs,
    )


def definitions_of(tables: ClauseTables) -> np.ndarray:
    """Which variables under ∃ those further out define, bool array of shape (n_variables,)."""
    level, kind = tables.level, tables.kind
    found = np.zeros(tables.n_variables, dtype=bool)
    for depth in np.unique(level):
        candidates = np.flatnonzero((level == depth) & (kind == MAX))
        outer = level < depth
        if len(candidates) and outer.any():
            found[candidates] = defined_by(tables, outer, candidates)[candidates]
    return found


def count_defined(kind: np.ndarray, level: np.ndarray, defined: np.ndarray) -> None:
    """Sum over the variables that others define, which were under ∃; in place."""
    for depth in np.unique(level):
        found = np.flatnonzero((level == depth) & (kind == MAX) & defined)
        outer = level < depth
        if not len(found) or not outer.any():
            continue
        kind[found] = SUM
        # Together with the random variables right before them, or on their own before what is left of their block.
        previous = np.flatnonzero(level == level[outer].max())
        level[found] = level[previous[0]] if (kind[previous] == SUM).all() else depth - 1
