"""The search through clauses with weights, for all their cases at once.

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

import time
from typing import TYPE_CHECKING

import numpy as np

from justicia.progress import stage
from justicia.solvers.base import TooLargeError
from justicia.solvers.clause_cases import fresh_state, random_hash
from justicia.solvers.clause_tables import MAX, MIN, OUTERMOST, SUM

if TYPE_CHECKING:
    from justicia.solvers._component_kernels import Problem, State
    from justicia.solvers.interruption import Interruption
    from justicia.solvers.weighted_clauses import WeightedClauses

__all__ = ["WeightedSearch"]

_FIRST_CACHE = 2**14
_MOST_CACHE = 2**24
"""Components that are remembered, of one case; when there are more, all are forgotten."""
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


class WeightedSearch:
    """Searches one set of clauses, and remembers its components from one question to the next.

    Parameters
    ----------
    clauses : WeightedClauses
    interruption : Interruption, optional

    Attributes
    ----------
    nodes : int
        Branching points so far.
    stopped : str or None
        Why the last answer is not exact: "time" or "interrupted".
    """

    def __init__(self, clauses: WeightedClauses, interruption: Interruption | None = None) -> None:
        from justicia.solvers._component_kernels import Problem

        self._clauses = clauses
        self._interruption = interruption
        self.nodes = 0
        self.stopped: str | None = None
        self._last: tuple[Problem, State] | None = None
        tables, weight = clauses.tables, clauses.weight
        self._n_cases = len(clauses.root)
        lengths = np.diff(tables.clause_start)
        places = np.concatenate([[0], np.cumsum(~tables.settled[tables.clause_literal >> 1])])
        after_choices = np.diff(places[tables.clause_start])
        true, false = weight[::2], weight[1::2]
        kind = tables.kind[:, None]
        free = np.where(
            kind == SUM, true + false, np.where(kind == MAX, np.maximum(true, false), np.minimum(true, false))
        )
        self._problem = Problem(
            clause_start=tables.clause_start,
            clause_literal=tables.clause_literal,
            occurrence_start=tables.occurrence_start,
            occurrence=tables.occurrence,
            hard=(clauses.clause_weight == 0.0).all(axis=1),
            clause_weight=np.ascontiguousarray(clauses.clause_weight),
            kind=tables.kind,
            level=tables.level,
            weight=np.ascontiguousarray(weight),
            plain=(weight == 1.0).all(axis=1),
            free=free,
            hash=random_hash(tables.n_variables + tables.n_clauses),
            clause_score=_OF_LENGTH ** np.minimum(after_choices, _LENGTHS).astype(np.float64),
            length_score=_OF_OPEN
            ** np.minimum(np.arange(int(lengths.max(initial=0)) + 1), _LENGTHS).astype(np.float64),
        )
        self._state = fresh_state(tables, self._n_cases, _FIRST_CACHE)

    @property
    def numbers(self) -> np.ndarray:
        """Positions of the variables in the tables that the clauses were made from."""
        return self._clauses.tables.numbers

    def values(self, given: list[int], deadline: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the value of each case, equal ones when it is known, float64 arrays of shape (n_cases,).

        Parameters
        ----------
        given : list of int
            Literals under ∃ or ∀ that are fixed.
        deadline : float, optional
            Of `time.perf_counter`.
        """
        from justicia.solvers._component_kernels import assume

        self.stopped, self._last = None, None
        clauses = self._clauses
        kind = clauses.tables.kind.copy()
        # What is fixed is not the smaller of two any more.
        kind[np.array(given, dtype=np.int64) >> 1] = MAX
        problem = self._problem._replace(kind=kind)
        before = self._state
        state = fresh_state(clauses.tables, self._n_cases)._replace(
            keys=before.keys, values=before.values, best=before.best
        )
        state.registers[5] = before.registers[5]
        state.product[:] = clauses.root
        certain = np.flatnonzero((clauses.weight == 0.0).all(axis=1)) ^ 1
        for literal in [*given, *certain.tolist()]:
            # A minimum over a variable that a clause settles is 0.
            if problem.kind[literal >> 1] == MIN or not assume(problem, state, literal):
                return np.zeros(self._n_cases), np.zeros(self._n_cases)
        return self._run(problem, state, deadline)

    def followed(self) -> dict[int, bool] | None:
        """Values of the outermost variables by the best branches that the last search remembers, if it does.

        After a search that was stopped, these are the branches that the bound rests on: the lower one under ∃, the
        upper one under ∀.
        """
        from justicia.solvers._clause_kernels import descend

        if self._last is None:
            return None
        problem, state = self._last
        active = np.zeros(len(state.component), dtype=bool)
        if self.stopped and not _return_to_best(problem, state, active):
            return None
        if not descend(problem, state, OUTERMOST, active, bool(self.stopped)):
            return None
        held = self._last[1].value
        return {int(number): bool(held[position] == 1) for position, number in enumerate(self._clauses.tables.numbers)}

    def _run(self, problem: Problem, state: State, deadline: float | None) -> tuple[np.ndarray, np.ndarray]:
        from justicia.solvers import _clause_kernels as kernels
        from justicia.solvers._component_kernels import COMPONENTS, FRAMES, NODES, POOL

        n = self._clauses.tables.n_variables
        state.pool[:n] = np.arange(n)
        state.component[0] = 0, n, 0
        state.registers[POOL], state.registers[COMPONENTS], state.registers[FRAMES] = n, 1, 1
        fresh = not kernels.search.signatures
        if fresh:
            stage("getting loops over clauses ready; the first time they are compiled, which takes half a minute")
        kernels.first_frame(problem, state)
        budget = _FIRST_NODES
        while True:
            began = time.perf_counter()
            status = kernels.search(problem, state, budget)
            if fresh:
                fresh = False
                stage("searching a formula of %d variables", n)
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
        self._state = state
        self._last = problem, state
        self.nodes += int(state.registers[NODES])
        low, high = _branches(problem, state)[0] if self.stopped else state.number[0, kernels.LOW : kernels.HIGH + 1]
        high = np.clip(high, 0.0, 1.0)
        return np.clip(np.minimum(low, high), 0.0, 1.0), high

    def _larger_cache(self, state: State) -> State:
        from justicia.solvers._component_kernels import CACHED, rehash

        size = len(state.keys)
        if size * self._n_cases >= _MOST_CACHE:
            state.keys[:] = 0
            state.registers[CACHED] = 0
            return state
        keys, values = np.zeros((2 * size, 2), dtype=np.uint64), np.zeros((2 * size, 2, self._n_cases))
        best = np.zeros(2 * size, dtype=np.int32)
        rehash(state.keys, state.values, state.best, keys, values, best)
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


def _branches(problem: Problem, state: State) -> list[tuple[np.ndarray, np.ndarray]]:
    """Bounds of the branch of each frame of a search that was stopped, outermost first.

    What was not looked at lies between 0 and its weight.
    """
    from justicia.solvers import _clause_kernels as kernels
    from justicia.solvers._component_kernels import FRAMES

    n_frames = int(state.registers[FRAMES])
    low, high = np.ones(len(state.product)), np.ones(len(state.product))
    found = []
    for frame in range(n_frames - 1, -1, -1):
        number = state.number[frame]
        done = state.frame[frame, kernels.SUB_BEGIN] == state.frame[frame, kernels.SUB_NEXT]
        low = number[kernels.WEIGHT] * number[kernels.PRODUCT_LOW] * (low if done else 0.0)
        high = number[kernels.WEIGHT] * number[kernels.PRODUCT_HIGH] * (1.0 if frame == n_frames - 1 else high)
        found.append((low, high))
        if frame == 0:
            break
        literal = state.frame[frame, kernels.LITERAL]
        first = state.frame[frame, kernels.STAGE] == 0
        other = problem.weight[literal ^ 1] if first else 0.0
        kind = problem.kind[literal >> 1]
        if kind == SUM:
            low = low + number[kernels.LOW]
            high = high + number[kernels.HIGH] + other
        elif kind == MAX:
            low = np.maximum(low, number[kernels.LOW])
            high = np.maximum(np.maximum(high, number[kernels.HIGH]), other)
        else:
            low = np.zeros(len(low)) if first else np.minimum(low, number[kernels.LOW])
            high = np.minimum(high, number[kernels.HIGH])
    return found[::-1]


def _return_to_best(problem: Problem, state: State, active: np.ndarray) -> bool:
    """After a search of one case was stopped: take the branch up again that its bound rests on, if it was left.

    `active` marks the components of which a variable is assigned. False when a branch is impossible: which values make
    it so is not known.
    """
    from justicia.solvers import _clause_kernels as kernels
    from justicia.solvers._component_kernels import COMPONENTS, FRAMES, POOL, SHORTENED, propagate, split, undo

    branches = _branches(problem, state)
    for frame in range(1, int(state.registers[FRAMES])):
        held, number = state.frame[frame], state.number[frame]
        active[held[kernels.COMPONENT]] = True
        variable = held[kernels.LITERAL] >> 1
        if problem.level[variable] != OUTERMOST:
            break
        low, high = branches[frame]
        if problem.kind[variable] == MAX:
            better = number[kernels.LOW, 0] >= low[0]
        else:
            better = number[kernels.HIGH, 0] <= high[0]
        if held[kernels.STAGE] == 0 or not better:
            if number[kernels.WEIGHT, 0] == 0.0:
                return False
            continue
        # One by one: literals were assigned while lists of clauses were as short as they were left before.
        for inner in range(int(state.registers[FRAMES]) - 1, frame - 1, -1):
            begin = state.frame[inner, kernels.SHORTENED_BEGIN]
            for literal, end in state.shortened[begin : state.registers[SHORTENED]][::-1]:
                state.occurrence_end[literal] = end
            state.registers[SHORTENED] = begin
            undo(problem, state, state.frame[inner, kernels.TRAIL_BEGIN])
        state.registers[COMPONENTS], state.registers[POOL] = held[kernels.SUB_BEGIN], held[kernels.POOL_BEGIN]
        if not propagate(problem, state, held[kernels.BEST]):
            return False
        split(problem, state, held[kernels.COMPONENT])
        break
    return True
