"""Exact values of formulas in clauses, whatever their prefix.

The search assigns the variables from the outermost block inwards. After each one, clauses with a single open literal
settle more of them; what is left falls into components that share no variable, whose values multiply (Bayardo and
Pehoushek, Counting models using connected components, 2000); a component that was met before is looked up (Sang,
Bacchus, Beame, Kautz and Pitassi, 2004), by a hash of 128 bits whose numbers are drawn anew for every search (as GANAK
does; Sharma, Roy, Soos and Meel, 2019). Within a component the variables of its own outermost block come first. A
random variable adds up both branches, ∃ takes the larger, ∀ the smaller one; under ∃ and ∀, a branch whose bound cannot
beat what is known is left.

Values are sums and products of float64 numbers between 0 and 1, right to 1e-12.
"""

from __future__ import annotations

import math
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import EXACT, Enclosure
from justicia.solvers.base import TooLargeError
from justicia.solvers.clause_tables import MAX, MIN, OUTERMOST, tables_of
from justicia.solvers.interruption import Interruption
from justicia.ssat.clauses import EXISTS, RANDOM

if TYPE_CHECKING:
    from justicia.solvers._clause_kernels import Problem, State
    from justicia.ssat.clauses import ClauseFormula

__all__ = ["ClauseSearch", "ClauseSolution", "solve_clauses"]

_FIRST_CACHE = 2**14
_MOST_CACHE = 2**24
"""Components that are remembered; when there are more, all are forgotten."""
_MOST_POOL = 2**29
_MOST_COMPONENTS = 2**25
_FIRST_NODES = 20
"""Before the first look at the clock."""
_SECONDS = 0.1
"""Between two looks at it, about."""
_LENGTHS = 100
_OF_LENGTH, _OF_OPEN = 4.0, 0.5
"""A variable is branched on by the clauses that it stands in. Long clauses count more: they hold a formula together,
while short ones define what they speak of; literals that the outermost choices settle are no part of the length. A
clause counts more the fewer of its literals are open."""


@dataclass(frozen=True)
class ClauseSolution:
    """The value of a formula.

    Attributes
    ----------
    value : Enclosure
        Exact, or the bounds that were reached.
    assignment : dict of int to bool, or None
        Best values of the outermost variables under ∃ or ∀; None when the outermost block is random, when there is no
        prefix, or when time did not suffice.
    nodes : int
        Branching points of the search.
    seconds : float
    stopped : str or None
        Why there are only bounds: "time" or "interrupted".
    """

    value: Enclosure
    assignment: dict[int, bool] | None
    nodes: int
    seconds: float
    stopped: str | None = None


def solve_clauses(
    formula: ClauseFormula,
    time_limit: float | None = None,
    interruption: Interruption | None = None,
    *,
    assignment: bool = True,
) -> ClauseSolution:
    """The value of a formula, and an optimal assignment of its outermost block.

    Parameters
    ----------
    formula : ClauseFormula
    time_limit : float, optional
        Seconds; then the bounds reached so far are the answer.
    interruption : Interruption, optional
        Looked at as often as the clock.
    assignment : bool
        Whether an assignment is wanted.

    Raises
    ------
    TooLargeError
        When the formula does not fit into the memory that the search allows itself.

    Examples
    --------
    >>> from justicia.ssat import from_sdimacs
    >>> lines = ("p cnf 3 2", "e 1 0", "r 0.3 2 0", "r 0.6 3 0", "1 2 0", "-1 3 0")
    >>> solution = solve_clauses(from_sdimacs(chr(10).join(lines)))
    >>> float(solution.value), solution.assignment
    (0.6, {1: True})
    """
    start = time.perf_counter()
    search = ClauseSearch(formula, interruption)
    deadline = None if time_limit is None else start + time_limit
    value, best = search.solve({}, deadline) if assignment else (search.value({}, deadline), None)
    return ClauseSolution(value, best, search.nodes, time.perf_counter() - start, search.stopped)


class ClauseSearch:
    """Searches one formula, and remembers its components from one question to the next.

    Parameters
    ----------
    formula : ClauseFormula
    interruption : Interruption, optional

    Attributes
    ----------
    nodes : int
        Branching points so far.
    stopped : str or None
        Why the last answer is not exact: "time" or "interrupted".
    """

    def __init__(self, formula: ClauseFormula, interruption: Interruption | None = None) -> None:
        from justicia.solvers._clause_kernels import Problem

        tables = tables_of(formula)
        self._tables = tables
        self._outermost = formula.outermost
        self._interruption = interruption
        self._position = {int(number): position for position, number in enumerate(tables.numbers)}
        self.nodes = 0
        self.stopped: str | None = None
        n_items = tables.n_variables + tables.n_clauses
        drawn = np.random.default_rng(secrets.randbits(128)).integers(0, 2**64, size=(n_items, 2), dtype=np.uint64)
        lengths = np.diff(tables.clause_start)
        places = np.concatenate([[0], np.cumsum(~tables.settled[tables.clause_literal >> 1])])
        after_choices = np.diff(places[tables.clause_start])
        by_clause = _OF_LENGTH ** np.minimum(after_choices, _LENGTHS).astype(np.float64)
        by_open = _OF_OPEN ** np.minimum(np.arange(int(lengths.max(initial=0)) + 1), _LENGTHS).astype(np.float64)
        self._problem: Problem = Problem(
            tables.clause_start, tables.clause_literal, tables.occurrence_start, tables.occurrence, tables.kind,
            tables.level, tables.weight, drawn, by_clause, by_open,
        )  # fmt: skip
        self._keys = np.zeros((_FIRST_CACHE, 2), dtype=np.uint64)
        self._values = np.zeros((_FIRST_CACHE, 2))
        self._cached = 0
        self._best = np.zeros(_FIRST_CACHE, dtype=np.int32)
        self._last: tuple[Problem, State] | None = None

    def solve(self, fixed: dict[int, bool], deadline: float | None = None) -> tuple[Enclosure, dict[int, bool] | None]:
        """Value of the formula with some variables fixed, and best values of its outermost variables.

        There is no assignment where the outermost block is random, or when time did not suffice to find one.
        """
        value = self.value(fixed, deadline)
        quantifier, variables = self._outermost
        if self.stopped or quantifier in ("", RANDOM):
            return value, None
        settled = {variable: False for variable in variables if variable not in self._position} | fixed
        wanted, most = float(value.lo), quantifier == EXISTS
        if wanted != (0.0 if most else 1.0):
            found = self._followed(wanted, settled, deadline) or self._one_by_one(wanted, most, settled, deadline)
            if found is None:
                return value, None
            settled = found
        return value, {variable: settled.get(variable, False) for variable in variables}

    def _followed(self, wanted: float, settled: dict[int, bool], deadline: float | None) -> dict[int, bool] | None:
        """The outermost variables by the best branches that the search remembers; None when that is not enough."""
        from justicia.solvers import _clause_kernels as kernels

        if self._last is None or not kernels.descend(*self._last, OUTERMOST):
            return None
        values = self._last[1].value
        everything = settled | {
            variable: settled.get(variable, bool(variable in self._position and values[self._position[variable]] == 1))
            for variable in self._outermost[1]
        }
        reached = self.value(everything, deadline)
        if self.stopped or not math.isclose(float(reached.lo), wanted, rel_tol=EXACT):
            self.stopped = None
            return None
        return everything

    def _one_by_one(
        self, wanted: float, most: bool, settled: dict[int, bool], deadline: float | None
    ) -> dict[int, bool] | None:
        """The outermost variables settled one by one so that the value stays; None when time does not suffice."""
        for variable in self._outermost[1]:
            if variable in settled:
                continue
            if deadline is not None and time.perf_counter() > deadline:
                return None
            found: dict[bool, float] = {}
            for choice in (True, False):
                found[choice] = float(self.value({**settled, variable: choice}, deadline).lo)
                if self.stopped:
                    self.stopped = None
                    return None
                if math.isclose(found[choice], wanted, rel_tol=EXACT):
                    break
            settled = settled | {variable: (max if most else min)(found, key=found.__getitem__)}
        return settled

    def value(self, fixed: dict[int, bool], deadline: float | None = None) -> Enclosure:
        """Value of the formula with some of its variables under ∃ or ∀ fixed.

        Parameters
        ----------
        fixed : dict of int to bool
        deadline : float, optional
            Of `time.perf_counter`.
        """
        self.stopped = None
        self._last = None
        if self._tables.contradiction:
            return Enclosure(0.0, 0.0)
        given = [2 * self._position[one] + (not held) for one, held in fixed.items() if one in self._position]
        kind = self._tables.kind.copy()
        # What is fixed is not the smaller of two any more.
        kind[np.array(given, dtype=np.int64) >> 1] = MAX
        problem = self._problem._replace(kind=kind)
        state, weight = self._root(problem, given)
        if weight == 0.0:
            return Enclosure(0.0, 0.0)
        return self._run(problem, state, weight, deadline)

    def _root(self, problem: Problem, given: list[int]) -> tuple[State, float]:
        """What holds before the search begins, and its weight."""
        from justicia.solvers._clause_kernels import State, add_root

        tables = self._tables
        n, n_clauses = tables.n_variables, tables.n_clauses
        lengths = np.diff(tables.clause_start).astype(np.int32)
        space = 4 * n + 64
        state = State(
            registers=np.zeros(9, dtype=np.int64),
            value=np.full(n, -1, dtype=np.int8),
            true_literals=np.zeros(n_clauses, dtype=np.int32),
            open_literals=lengths,
            trail=np.zeros(n + 1, dtype=np.int32),
            mark=np.zeros(n, dtype=np.int64),
            clause_mark=np.zeros(n_clauses, dtype=np.int64),
            pool=np.zeros(space, dtype=np.int32),
            component=np.zeros((space, 3), dtype=np.int64),
            component_hash=np.zeros((space, 2), dtype=np.uint64),
            occurrence_end=tables.occurrence_start[1:].copy(),
            shortened=np.zeros((8 * n + 64, 2), dtype=np.int32),
            frame=np.zeros((n + 2, 10), dtype=np.int64),
            number=np.zeros((n + 2, 9)),
            keys=self._keys,
            values=self._values,
            best=self._best,
        )
        certain = np.flatnonzero(tables.weight == 0.0) ^ 1
        single = tables.clause_literal[
            tables.clause_start[:-1][tables.clause_start[1:] - tables.clause_start[:-1] == 1]
        ]
        for literal in [*given, *certain.tolist(), *single.tolist()]:
            # A minimum over a variable that a clause settles is 0.
            if problem.kind[literal >> 1] == MIN or not add_root(problem, state, literal):
                return state, 0.0
        settled = state.trail[: state.registers[0]]
        return state, float(np.prod(tables.weight[settled]))

    def _run(self, problem: Problem, state: State, weight: float, deadline: float | None) -> Enclosure:
        from justicia.solvers import _clause_kernels as kernels

        n = self._tables.n_variables
        state.pool[:n] = np.arange(n)
        state.component[0] = 0, n, 0
        state.registers[kernels.POOL], state.registers[kernels.COMPONENTS] = n, 1
        state.registers[kernels.FRAMES], state.registers[kernels.CACHED] = 1, self._cached
        kernels.first_frame(problem, state, weight)
        budget = _FIRST_NODES
        while True:
            began = time.perf_counter()
            status = kernels.search(problem, state, budget)
            if status == kernels.DONE:
                break
            if status == kernels.MORE_CACHE:
                state = self._larger_cache(state)
            elif status == kernels.MORE_POOL:
                state = _more_pool(state)
            elif status == kernels.MORE_COMPONENTS:
                state = _more_components(state)
            else:
                now = time.perf_counter()
                budget = max(1, int(budget * min(4.0, _SECONDS / max(now - began, 1e-6))))
                if deadline is not None and now > deadline:
                    self.stopped = "time"
                elif self._interruption is not None and self._interruption.pressed:
                    self.stopped = "interrupted"
                if self.stopped:
                    break
        self._keys, self._values, self._best = state.keys, state.values, state.best
        self._cached = int(state.registers[kernels.CACHED])
        self._last = None if self.stopped else (problem, state)
        self.nodes += int(state.registers[kernels.NODES])
        low, high = (
            _folded(problem, state) if self.stopped else state.number[0, kernels.LOW : kernels.HIGH + 1].tolist()
        )
        return Enclosure(max(0.0, min(low, high)), min(1.0, high))

    def _larger_cache(self, state: State) -> State:
        from justicia.solvers import _clause_kernels as kernels

        size = len(state.keys)
        if size >= _MOST_CACHE:
            state.keys[:] = 0
            state.registers[kernels.CACHED] = 0
            return state
        keys, values = np.zeros((2 * size, 2), dtype=np.uint64), np.zeros((2 * size, 2))
        best = np.zeros(2 * size, dtype=np.int32)
        kernels.rehash(state.keys, state.values, state.best, keys, values, best)
        return state._replace(keys=keys, values=values, best=best)


def _more_pool(state: State) -> State:
    """Room for twice as many variables of components."""
    size = len(state.pool)
    if 2 * size > _MOST_POOL:
        raise _too_large()
    return state._replace(pool=np.concatenate([state.pool, np.zeros(size, dtype=np.int32)]))


def _more_components(state: State) -> State:
    """Room for twice as many components."""
    size = len(state.component)
    if 2 * size > _MOST_COMPONENTS:
        raise _too_large()
    component = np.concatenate([state.component, np.zeros((size, 3), dtype=np.int64)])
    hashes = np.concatenate([state.component_hash, np.zeros((size, 2), dtype=np.uint64)])
    return state._replace(component=component, component_hash=hashes)


def _too_large() -> TooLargeError:
    return TooLargeError("the formula is too large for the solver clauses: its components would fill the memory")


def _folded(problem: Problem, state: State) -> tuple[float, float]:
    """Bounds of the formula from a search that was stopped: what was not looked at lies between 0 and its weight."""
    from justicia.solvers import _clause_kernels as kernels

    low, high = 1.0, 1.0
    for frame in range(int(state.registers[kernels.FRAMES]) - 1, -1, -1):
        number = state.number[frame]
        begin, upto = state.frame[frame, kernels.SUB_BEGIN], state.frame[frame, kernels.SUB_NEXT]
        inner = frame == state.registers[kernels.FRAMES] - 1
        low = float(number[kernels.WEIGHT] * number[kernels.PRODUCT_LOW]) * (low if upto == begin else 0.0)
        high = float(number[kernels.WEIGHT] * number[kernels.PRODUCT_HIGH]) * (1.0 if inner else high)
        if frame == 0:
            break
        literal = state.frame[frame, kernels.LITERAL]
        open_branch = state.frame[frame, kernels.STAGE] == 0
        kind = problem.kind[literal >> 1]
        if kind == kernels.SUM:
            low += float(number[kernels.LOW])
            high += float(number[kernels.HIGH]) + (float(problem.weight[literal ^ 1]) if open_branch else 0.0)
        elif kind == kernels.MAX:
            low = max(low, float(number[kernels.LOW]))
            high = 1.0 if open_branch else max(high, float(number[kernels.HIGH]))
        else:
            low = 0.0 if open_branch else min(low, float(number[kernels.LOW]))
            high = min(high, float(number[kernels.HIGH]))
    return low, min(high, 1.0)
