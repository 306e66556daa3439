"""Rules of least cost, as MaxSAT.

A rule in conjunctive normal form has a variable for each literal of each clause: the literal is in the clause. A row
that should be accepted costs its weight unless every clause holds one of its true literals; a row that should be
rejected costs its weight unless some clause holds none of them (Malioutov and Meel, *MLIC: A MaxSAT-based framework for
learning interpretable classification rules*, CP 2018). Every literal has a cost of its own; a negative one is an
incentive to keep it (Ghosh and Meel, *IMLI: An incremental framework for MaxSAT-based learning of interpretable
classification rules*, AIES 2019). PySAT's stratified RC2 (Ignatiev, Morgado and Marques-Silva, JSAT 2019) solves it.
The budget is in conflicts of its SAT solver, so that equal inputs give equal rules on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Patterns", "accepted", "cost", "least_cost", "row_keys"]

_BITS = 62


@dataclass(frozen=True)
class Patterns:
    """Rows that agree in every literal, taken together.

    Attributes
    ----------
    true : bool array of shape (n_patterns, n_literals)
        Literals that hold.
    gain : int64 array of shape (n_patterns,)
        Weight of the rows that a rule should accept, less that of those it should reject.
    """

    true: np.ndarray
    gain: np.ndarray

    @classmethod
    def of(cls, true: np.ndarray, gain: np.ndarray) -> Patterns:
        """Patterns of some rows, in an order that does not depend on theirs; those without gain are left out."""
        if not len(true):
            return cls(true, gain)
        if not true.shape[1]:
            return cls(true[:1], np.array([gain.sum()]))
        _, first, inverse = np.unique(row_keys(true), return_index=True, return_inverse=True)
        total = np.zeros(len(first), dtype=np.int64)
        np.add.at(total, inverse.ravel(), gain)
        kept = total != 0
        return cls(true[first[kept]], total[kept])

    def only(self, literals: np.ndarray) -> Patterns:
        """The same rows, told apart by some literals alone."""
        return Patterns.of(self.true[:, literals], self.gain)


def row_keys(true: np.ndarray) -> np.ndarray:
    """One key a row, equal for equal rows and sorted as they are; whole numbers where the bits fit one."""
    if true.shape[1] <= _BITS:
        return np.asarray(true @ (1 << np.arange(true.shape[1] - 1, -1, -1, dtype=np.int64)))
    packed = np.ascontiguousarray(np.packbits(true, axis=1))
    return np.asarray(packed.view([("", np.void, packed.shape[1])])).ravel()


def accepted(true: np.ndarray, rule: np.ndarray) -> np.ndarray:
    """Which rows satisfy every clause of a rule, bool array of shape (n_rows,).

    Parameters
    ----------
    true : bool array of shape (n_rows, n_literals)
    rule : bool array of shape (n_clauses, n_literals)
        Literals of each clause; a clause without any is left out.
    """
    held = np.ones(len(true), dtype=bool)
    for clause in rule:
        chosen = np.flatnonzero(clause)
        if len(chosen):
            held &= true[:, chosen].any(axis=1)
    return held


def cost(patterns: Patterns, rule: np.ndarray, literal: int) -> int:
    """What a rule costs, up to a constant: less the gain of what it accepts, and `literal` for each literal."""
    return literal * int(rule.sum()) - int(patterns.gain[accepted(patterns.true, rule)].sum())


class _Spent(Exception):  # noqa: N818 (nothing is wrong)
    """The budget is spent."""


def least_cost(
    patterns: Patterns,
    costs: np.ndarray,
    start: np.ndarray,
    conflicts: int,
    expired: Callable[[], bool] | None = None,
) -> tuple[np.ndarray, int, bool]:
    """A rule of least cost.

    Parameters
    ----------
    patterns : Patterns
    costs : int64 array of shape (n_clauses, n_literals)
        Of having each literal in each clause; a negative one is the cost of not having it.
    start : bool array of shape (n_clauses, n_literals)
        A rule to improve on.
    conflicts : int
        At most about as many; then the best rule found so far is the answer.
    expired : callable, optional
        True when there is no time left.

    Returns
    -------
    rule : bool array of shape (n_clauses, n_literals)
    spent : int
        Conflicts.
    least : bool
        Whether no rule costs less.
    """
    from pysat.examples.rc2 import RC2Stratified
    from pysat.formula import WCNF

    formula, literals = _formula(patterns, costs)
    lowest, best = _total(patterns, costs, start), start

    class Budgeted(RC2Stratified):  # type: ignore[misc]
        """RC2 that looks at every model on the way, and stops when its conflicts are spent."""

        def _call_oracle(self, assumptions: Any = (), expect_interrupt: bool = False) -> Any:  # noqa: ARG002 (RC2 passes it)
            left = conflicts - self.oracle.accum_stats()["conflicts"]
            if left <= 0 or (expired is not None and expired()):
                raise _Spent
            self.oracle.conf_budget(left)
            found = self.oracle.solve_limited(assumptions=list(assumptions))
            if found is None:
                raise _Spent
            if found:
                look(self.oracle.get_model())
            return found

    def look(model: list[int]) -> None:
        nonlocal lowest, best
        values = np.zeros(max(len(model), int(literals.max(initial=0))) + 1, dtype=bool)
        values[[v for v in model if v > 0]] = True
        rule = values[literals]
        found = _total(patterns, costs, rule)
        if found < lowest:
            lowest, best = found, rule

    held = WCNF()
    held.extend(formula.hard)
    held.extend([clause for clause, _ in formula.soft], weights=[weight for _, weight in formula.soft])
    if not formula.soft:
        return start, 0, True
    with Budgeted(held, solver="g3", blo="div", adapt=True, exhaust=False, incr=False, minz=False) as solver:
        least = True
        try:
            solver.compute()
        except _Spent:
            least = False
        spent = int(solver.oracle.accum_stats()["conflicts"])
    return np.asarray(best), spent, least


def _total(patterns: Patterns, costs: np.ndarray, rule: np.ndarray) -> int:
    of_literals = int(costs[rule & (costs > 0)].sum()) - int(costs[~rule & (costs < 0)].sum())
    return of_literals - int(patterns.gain[accepted(patterns.true, rule)].sum())


@dataclass(frozen=True)
class _Formula:
    hard: list[list[int]]
    soft: list[tuple[list[int], int]]


def _formula(patterns: Patterns, costs: np.ndarray) -> tuple[_Formula, np.ndarray]:
    """Hard and soft clauses, and the variable of each literal of each clause."""
    n_clauses = len(costs)
    literals = np.arange(1, costs.size + 1).reshape(costs.shape)
    top = costs.size
    hard: list[list[int]] = []
    soft: list[tuple[list[int], int]] = []
    # A clause without literals is left out: it holds for every row.
    empty = []
    for clause in range(n_clauses):
        top += 1
        empty.append(top)
        hard.append([top, *literals[clause].tolist()])
        hard += [[-top, -literal] for literal in literals[clause].tolist()]
    for (clause, literal), price in np.ndenumerate(costs):
        if price:
            variable = int(literals[clause, literal])
            soft.append(([-variable if price > 0 else variable], abs(int(price))))
    for true, gain in zip(patterns.true, patterns.gain.tolist(), strict=True):
        held = np.flatnonzero(true)
        if gain > 0:
            top += 1
            for clause in range(n_clauses):
                hard.append([-top, empty[clause], *literals[clause, held].tolist()])
            soft.append(([top], gain))
            continue
        fails = []
        for clause in range(n_clauses):
            top += 1
            fails.append(top)
            hard.append([-top, -empty[clause]])
            hard += [[-top, -literal] for literal in literals[clause, held].tolist()]
        if n_clauses > 1:
            top += 1
            hard.append([-top, *fails])
        soft.append(([top], -gain))
    return _Formula(hard, soft), literals
