"""Rules over cells: how likely every clause is satisfied, for all groups at once.

Along the population's tree, every feature passes on which clauses it and the features below it satisfy, with the
probability of each such set given the state of the feature above; the sets of independent features are united two by
two. A clause whose features have all been seen is settled: once satisfied it is forgotten, and where it is not, all is
lost, whatever else follows. So the number of sets is small wherever few clauses are open at a time, however many there
are. All numbers that are added are probabilities, so nothing cancels, and both outcomes are exact to rounding.

Which sets there are, and which of them unite to which, is the same for all groups, and worked out once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.encoders.clauses import Clauses
from justicia.population.network import NetworkPopulation
from justicia.solvers.base import TOLERANCE, Effort, Solution, TooLargeError
from justicia.solvers.counting import counted

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.population.base import Node
    from justicia.ssat import Formula

__all__ = ["SatisfiedClauses"]

logger = logging.getLogger(__name__)

_MOST_SETS = 5_000
_MOST_PAIRS = 100_000
"""Sets before equal ones are joined."""
_MOST_WORK = 200_000_000
"""Products of probabilities a group."""
_MOST_NUMBERS = 2_000_000
"""Probabilities held at once: more groups are taken in parts."""
_SPARSE = 2
"""Where fewer than one in so many of a feature's states and sets go together, they are taken one by one."""

Tables = Mapping[int, np.ndarray]

_LOST = -1
"""The set where some clause is not satisfied, and cannot be."""


class SatisfiedClauses:
    """Adds up sets of satisfied clauses."""

    name = "satisfied_clauses"
    tolerance = TOLERANCE

    def takes(self, decision: Decision) -> bool:
        """Whether the decision is a rule."""
        return isinstance(decision, Clauses)

    def solve(self, formula: Formula, effort: Effort) -> Solution:
        """Exact rates of every group, or bounds when time runs out.

        All groups go through each step together, which is faster than to bound sets of them first.

        Raises
        ------
        TooLargeError
            When too many sets of clauses are possible at a time.
        """
        start = time.perf_counter()
        decision, population = formula.decision, formula.population
        if not isinstance(decision, Clauses):
            raise TypeError(f"{self.name} takes a rule, not {type(decision).__name__}")
        if not isinstance(population, NetworkPopulation):
            return counted(decision, population, self.name, effort.search, start)
        deadline = None if effort.time_limit is None else start + effort.time_limit
        plan = _Plan(decision, population.nodes)
        low, high = np.zeros(population.n_groups), np.ones(population.n_groups)
        finished = True
        for first in range(0, population.n_groups, plan.at_once):
            if deadline is not None and time.perf_counter() > deadline:
                finished = False
                break
            groups = slice(first, first + plan.at_once)
            low[groups] = high[groups] = plan.rates(population.tables, population.within, groups)[0]
        if effort.search == "learn":
            logger.info("every group is evaluated: for a rule that is the fastest")
        seconds = time.perf_counter() - start
        return Solution(low, high, self.name, seconds, "exact" if finished else "bounds", population.n_groups)


@dataclass(frozen=True)
class _Union:
    """How sets of two independent parts unite: pairs, sorted by what they unite to."""

    left: np.ndarray
    right: np.ndarray
    firsts: np.ndarray

    def of(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Probabilities of the united sets, of shape (n_states, n_sets, n_groups)."""
        return np.asarray(np.add.reduceat(one[:, self.left] * other[:, self.right], self.firsts, axis=1))


@dataclass(frozen=True)
class _Step:
    """What one feature does.

    Attributes
    ----------
    feature : int
    parent : int
        -1 for none.
    below : list of (int, _Union)
        Features whose sets are united, one after the other.
    state, cells : list
        For each kind of cells, their state, and the cells that the state's share is taken of; None for all of a state.
    pick : int array of shape (n_terms,)
        Kind of each term.
    of : int array of shape (n_terms,)
        Set of what is below, of each term.
    firsts : int array of shape (n_sums,)
        Where each sum of terms of one state and one set begins.
    at : (int array, int array)
        State and set of each sum.
    n_sets : int
    """

    feature: int
    parent: int
    below: list[tuple[int, _Union]]
    state: np.ndarray
    cells: list[np.ndarray | None]
    pick: np.ndarray
    of: np.ndarray
    firsts: np.ndarray
    at: tuple[np.ndarray, np.ndarray]
    n_states: int
    n_sets: int


class _Plan:
    """Which sets there are, and how they come about."""

    def __init__(self, decision: Clauses, nodes: tuple[Node, ...]) -> None:
        self.accepts = decision.accepts
        self.constant: bool | None = None
        if any(not any(cells.any() for cells in clause.values()) for clause in decision.clauses):
            self.constant = not decision.accepts
        elif all(any(cells.all() for cells in clause.values()) for clause in decision.clauses):
            self.constant = decision.accepts
        self.steps: list[_Step] = []
        self.roots: list[tuple[int, _Union]] = []
        self.at_once = 1 << 62
        self.final: list[int] = []
        if self.constant is None:
            self._make(decision, nodes)

    def _make(self, decision: Clauses, nodes: tuple[Node, ...]) -> None:
        self._work, self._widest = 0, 1
        # The clauses that each feature is part of, as bits.
        self._clauses: dict[int, int] = {}
        for number, clause in enumerate(decision.clauses):
            for feature in clause:
                self._clauses[feature] = self._clauses.get(feature, 0) | 1 << number
        self._all = [sum(1 << feature for feature in clause) for clause in decision.clauses]
        self._sets: dict[int, list[int]] = {}
        self._seen: dict[int, int] = {}
        children: dict[int, list[int]] = {}
        for node in reversed(nodes):
            below = children.get(node.feature, [])
            if node.feature not in self._clauses and not below:
                continue
            self.steps.append(self._step(node, decision, below))
            children.setdefault(node.parents[0] if node.parents else -1, []).append(node.feature)
        self.roots, self.final, _ = self._united(children.get(-1, []), 1)
        self.at_once = max(1, _MOST_NUMBERS // self._widest)

    def _united(self, features: list[int], n_states: int) -> tuple[list[tuple[int, _Union]], list[int], int]:
        """Unions of the sets of some features, those first that leave fewest clauses open; the sets, what was seen."""
        unions: list[tuple[int, _Union]] = []
        sets, seen = [0], 0
        left = list(features)
        while left:
            feature = min(left, key=lambda one: (self._open(seen | self._seen[one]), len(self._sets[one]), one))
            left.remove(feature)
            before = self._closed(seen) | self._closed(self._seen[feature])
            seen |= self._seen[feature]
            closing = self._closed(seen) & ~before
            self._count(len(sets) * len(self._sets[feature]), n_states)
            united = [_settled(one, other, closing) for one in sets for other in self._sets[feature]]
            distinct, order, firsts = _grouped(united)
            n_other = len(self._sets[feature])
            unions.append((feature, _Union(order // n_other, order % n_other, firsts)))
            sets = distinct
            self._check(len(sets))
        return unions, sets, seen

    def _open(self, seen: int) -> int:
        """Number of clauses of which some features have been seen, and others not."""
        return sum(0 != features & seen != features for features in self._all)

    def _closed(self, seen: int) -> int:
        """Clauses of which all features have been seen."""
        return sum(1 << number for number, features in enumerate(self._all) if features & seen == features)

    def _step(self, node: Node, decision: Clauses, below: list[int]) -> _Step:
        n_states = node.table.shape[-1]
        unions, sets, seen = self._united(below, n_states)
        patterns = np.zeros(len(node.states), dtype=object)
        for number, clause in enumerate(decision.clauses):
            if node.feature in clause:
                patterns[clause[node.feature]] |= 1 << number
        kinds: dict[tuple[int, int], list[int]] = {}
        for cell, (state, pattern) in enumerate(zip(node.states.tolist(), patterns.tolist(), strict=True)):
            kinds.setdefault((state, pattern), []).append(cell)
        n_cells = np.bincount(node.states, minlength=n_states)
        closing = self._closed(seen | 1 << node.feature) & ~self._closed(seen)
        seen |= 1 << node.feature
        found: list[tuple[int, int]] = []
        terms: list[tuple[int, int]] = []
        for kind, (state, pattern) in enumerate(kinds):
            for position, held in enumerate(sets):
                found.append((state, _settled(held, pattern, closing)))
                terms.append((kind, position))
        self._count(len(terms), node.table.shape[1])
        distinct, order, firsts = _grouped(found)
        names = list(dict.fromkeys(sorted(held for _, held in distinct)))
        place = {held: position for position, held in enumerate(names)}
        self._check(len(names))
        self._sets[node.feature], self._seen[node.feature] = names, seen
        above = node.table.shape[1]
        self._widest = max(self._widest, (above + n_states) * len(names), len(terms))
        self._work += above * n_states * len(names)
        whole = [len(cells) == n_cells[state] for (state, _), cells in kinds.items()]
        return _Step(
            feature=node.feature,
            parent=node.parents[0] if node.parents else -1,
            below=unions,
            state=np.array([state for state, _ in kinds]),
            cells=[None if all_of else np.array(cells) for all_of, cells in zip(whole, kinds.values(), strict=True)],
            pick=np.array([terms[i][0] for i in order]),
            of=np.array([terms[i][1] for i in order]),
            firsts=firsts,
            at=(np.array([state for state, _ in distinct]), np.array([place[held] for _, held in distinct])),
            n_states=n_states,
            n_sets=len(names),
        )

    def _count(self, pairs: int, times: int) -> None:
        self._work += pairs * times
        self._widest = max(self._widest, pairs * times)
        if pairs > _MOST_PAIRS or self._work > _MOST_WORK:
            raise _too_many()

    def _check(self, n_sets: int) -> None:
        if n_sets > _MOST_SETS:
            raise _too_many()

    def rates(self, tables: Tables, within: Tables, groups: slice | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probability that the outcome is favorable, and that it is not, float64 arrays of shape (n_groups,).

        Parameters
        ----------
        tables : mapping of int to float64 array of shape (n_parent_states, n_states, n_groups)
        within : mapping of int to float64 array of shape (n_cells, n_groups)
        groups : slice or int array
        """
        if self.constant is not None:
            n_groups = len(np.arange(next(iter(tables.values())).shape[-1])[groups]) if tables else 1
            return np.full(n_groups, float(self.constant)), np.full(n_groups, float(not self.constant))
        messages: dict[int, np.ndarray] = {}
        fixed = {
            step.feature: found
            for step in self.steps
            if (found := _fixed(tables[step.feature][:, :, groups])) is not None
        }
        for step in self.steps:
            messages[step.feature] = _passed(step, messages, tables, within, groups, fixed)
        total: np.ndarray | None = None
        for feature, union in self.roots:
            message = messages.pop(feature)
            total = union.of(np.ones((1, 1, message.shape[2])) if total is None else total, message)
        if total is None:
            raise ValueError("a rule that is not constant depends on some feature")
        outcomes = dict(zip(self.final, total[0], strict=True))
        zero = np.zeros(total.shape[2])
        satisfied, lost = (np.minimum(outcomes.get(held, zero), 1.0) for held in (0, _LOST))
        return (satisfied, lost) if self.accepts else (lost, satisfied)


def _settled(one: int, other: int, closing: int) -> int:
    """The clauses that either satisfies, those left out that are asked for now and never again."""
    if one == _LOST or other == _LOST:
        return _LOST
    held = one | other
    return _LOST if held & closing != closing else held & ~closing


def _grouped(keys: list) -> tuple[list, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Distinct keys, sorted; the order that sorts all of them; and where in it each distinct one begins."""
    distinct = sorted(set(keys))
    place = {key: position for position, key in enumerate(distinct)}
    numbers = np.array([place[key] for key in keys])
    order = np.argsort(numbers, kind="stable")
    return distinct, order, np.searchsorted(numbers[order], np.arange(len(distinct)))


def _fixed(table: np.ndarray) -> np.ndarray | None:
    """State of a feature in each group, where the group determines it, as it does for sensitive columns."""
    if len(table) > 1 or table.shape[1] == 1 or not (table[0].max(axis=0) == 1.0).all():
        return None
    return np.asarray(table[0].argmax(axis=0))


def _passed(
    step: _Step,
    messages: dict[int, np.ndarray],
    tables: Tables,
    within: Tables,
    groups: slice | np.ndarray,
    fixed: Mapping[int, np.ndarray],
) -> np.ndarray:
    """Probabilities of the sets of a feature and those below it, of shape (n_states above, n_sets, n_groups).

    There is one state above, that of each group, where the group determines it.
    """
    table = tables[step.feature][:, :, groups]
    n_groups = table.shape[2]
    if step.parent in fixed:
        table = np.take_along_axis(table, fixed[step.parent][None, None], axis=0)
    below: np.ndarray | None = None
    own_state = fixed.get(step.feature)
    for feature, union in step.below:
        message = messages.pop(feature)
        below = union.of(np.ones((len(message), 1, n_groups)) if below is None else below, message)
    terms = None if below is None else below[0 if own_state is not None else step.state[step.pick], step.of]
    held = within.get(step.feature)
    if held is not None and any(cells is not None for cells in step.cells):
        shares = np.ones((len(step.cells), n_groups))
        for kind, cells in enumerate(step.cells):
            if cells is not None:
                shares[kind] = held[cells][:, groups].sum(axis=0)
        terms = shares[step.pick] if terms is None else terms * shares[step.pick]
    if terms is None:
        terms = np.ones((len(step.pick), n_groups))
    sums = terms if len(step.firsts) == len(terms) else np.add.reduceat(terms, step.firsts, axis=0)
    states, sets = step.at
    if own_state is not None:
        passed = np.zeros((1, step.n_sets, n_groups))
        for place, (state, position) in enumerate(zip(states.tolist(), sets.tolist(), strict=True)):
            passed[0, position] += np.where(own_state == state, sums[place], 0.0)
        return passed
    if len(states) * _SPARSE < step.n_states * step.n_sets:
        # Most states go with one set: one product each.
        passed = np.zeros((len(table), step.n_sets, n_groups))
        for place, (state, position) in enumerate(zip(states.tolist(), sets.tolist(), strict=True)):
            passed[:, position] += table[:, state] * sums[place]
        return passed
    own = np.zeros((n_groups, step.n_states, step.n_sets))
    own[:, states, sets] = sums.T
    return np.ascontiguousarray(np.matmul(np.ascontiguousarray(table.transpose(2, 0, 1)), own).transpose(1, 2, 0))


def _too_many() -> TooLargeError:
    return TooLargeError(
        "solver satisfied_clauses does not take this rule: too many of its clauses are open at a time; "
        "pass --solver auto"
    )
