"""Find the most and least favored compound group without evaluating every group.

Branch and bound over the sensitive columns: a partial assignment stands for all observed groups that complete it, and
an engine's `Oracle` bounds the rates of all groups of such a set at once. Sets are split, most promising first, until
no other set can hold a rate as extreme as the best one found. Groups that were never looked at keep the bounds of their
set, which lie inside the extremes, so measures of the extremes are those of enumeration.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from justicia.enclosure import EXACT
from justicia.solvers.base import Solution

if TYPE_CHECKING:
    from justicia.population import Population

__all__ = ["Hierarchy", "Oracle", "learn"]

_AT_ONCE = 32
"""Sets that are split together."""


class Oracle(Protocol):
    """What an engine knows about sets of groups."""

    hierarchy: Hierarchy
    finished: str
    """Guarantee of what `finish` gives: "exact" or "bounds"."""

    def bounds(self, level: int, sets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the rates of all groups in some sets of a level, float64 arrays of shape (n_sets,)."""
        ...

    def finish(self, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of single groups, sets of the last level, as narrow as they are wanted."""
        ...


def learn(oracle: Oracle, n_groups: int, engine: str, time_limit: float | None, start: float) -> Solution:
    """Rates of the extreme groups, bounds of the others.

    Parameters
    ----------
    oracle : Oracle
    n_groups : int
    engine : str
        Named in the solution.
    time_limit : float or None
        Seconds; then the bounds reached so far are the answer.
    start : float
        `time.perf_counter()` at which the engine began.

    Returns
    -------
    Solution
        `groups_evaluated` counts the groups, and the sets of groups that do not differ, whose rate was finished.
    """
    search = _Search(oracle, n_groups)
    deadline = None if time_limit is None else start + time_limit
    finished = search.run(largest=True, deadline=deadline) and search.run(largest=False, deadline=deadline)
    lo, hi = np.empty(n_groups), np.empty(n_groups)
    lo[oracle.hierarchy.order], hi[oracle.hierarchy.order] = search.lo, search.hi
    seconds = time.perf_counter() - start
    guarantee = oracle.finished if finished else "bounds"
    return Solution(lo, hi, engine, seconds, guarantee, search.evaluated, search="learn")


@dataclass(frozen=True)
class Hierarchy:
    """Groups sorted by their sensitive columns, and the sets that share the values of the first columns.

    Attributes
    ----------
    order : int array of shape (n_groups,)
        The groups, sorted.
    starts : list of int arrays
        For each level, the first group of each set in sorted order; level 0 is one set, the last level single groups.
    first_child : list of int arrays
        For each level but the last, the first set of each set's children on the next level.
    """

    order: np.ndarray
    starts: list[np.ndarray]
    first_child: list[np.ndarray]

    @classmethod
    def of(cls, population: Population, telling: np.ndarray) -> Hierarchy:
        """Sets of a population's groups; columns that tell most are fixed first.

        Parameters
        ----------
        population : Population
        telling : float array of shape (n_numbers, n_groups)
            Numbers of each group; a column tells as much as their means over its values differ.
        """
        columns = np.array(population.groups, dtype=object).reshape(population.n_groups, -1)
        codes = np.stack([np.unique(column.astype(str), return_inverse=True)[1] for column in columns.T], axis=1)
        codes = codes[:, _most_telling_first(codes, telling)]
        order = np.lexsort(codes.T[::-1])
        codes = codes[order]
        changes = np.zeros(len(codes), dtype=bool)
        changes[0] = True
        starts = [np.zeros(1, dtype=np.int64)]
        for column in codes.T:
            changes = changes.copy()
            changes[1:] |= column[1:] != column[:-1]
            starts.append(np.flatnonzero(changes))
        first_child = [np.searchsorted(below, above) for above, below in pairwise(starts)]
        return cls(order, starts, first_child)


class _Search:
    def __init__(self, oracle: Oracle, n_groups: int) -> None:
        self.oracle = oracle
        self.evaluated = 0
        self.lo, self.hi = np.zeros(n_groups), np.ones(n_groups)
        self._last = len(oracle.hierarchy.starts) - 1
        self._frontier: list[tuple[int, int]] = []
        self._settle(0, np.zeros(1, dtype=np.int64), *oracle.bounds(0, np.zeros(1, dtype=np.int64)))

    def _settle(self, level: int, sets: np.ndarray, lo: np.ndarray, hi: np.ndarray, *, finished: bool = False) -> None:
        """Narrow the bounds of some sets of a level; those that are not exact yet wait in the frontier."""
        starts = self.oracle.hierarchy.starts[level]
        ends = np.append(starts[1:], len(self.lo))
        for i, chosen in enumerate(sets):
            span = slice(starts[chosen], ends[chosen])
            self.hi[span] = np.minimum(self.hi[span], hi[i])
            # Bounds of different sums may cross by their rounding.
            self.lo[span] = np.minimum(np.maximum(self.lo[span], lo[i]), self.hi[span])
            if finished or hi[i] - lo[i] <= EXACT / 2 * hi[i]:
                self.evaluated += 1
            else:
                self._frontier.append((level, int(chosen)))

    def run(self, *, largest: bool, deadline: float | None) -> bool:
        """Split sets until the extreme is certain; False when time ran out."""
        while True:
            known = self.lo.max() if largest else self.hi.min()
            keyed = []
            for level, chosen in self._frontier:
                first = self.oracle.hierarchy.starts[level][chosen]
                bound = self.hi[first] if largest else -self.lo[first]
                if bound >= (known if largest else -known) - EXACT:
                    keyed.append((bound, level, chosen))
            if not keyed:
                return True
            if deadline is not None and time.perf_counter() > deadline:
                return False
            # Of equally promising sets the smaller ones settle sooner.
            keyed.sort(key=lambda item: (-item[0], -item[1]))
            picked = {(level, chosen) for _, level, chosen in keyed[:_AT_ONCE]}
            self._frontier = [item for item in self._frontier if item not in picked]
            single = np.array(sorted(chosen for level, chosen in picked if level == self._last), dtype=np.int64)
            if len(single):
                self._settle(self._last, single, *self.oracle.finish(single), finished=True)
            for level, sets in self._children(picked).items():
                self._settle(level, sets, *self.oracle.bounds(level, sets))

    def _children(self, picked: set[tuple[int, int]]) -> dict[int, np.ndarray]:
        """Sets on the next level of some sets, by that level."""
        children: dict[int, list[np.ndarray]] = {}
        for level, chosen in sorted(picked):
            if level < self._last:
                firsts = self.oracle.hierarchy.first_child[level]
                following = self.oracle.hierarchy.starts[level + 1]
                end = firsts[chosen + 1] if chosen + 1 < len(firsts) else len(following)
                children.setdefault(level + 1, []).append(np.arange(firsts[chosen], end))
        return {level: np.concatenate(sets) for level, sets in children.items()}


def _most_telling_first(codes: np.ndarray, telling: np.ndarray) -> list[int]:
    scores = []
    for column in codes.T:
        size = np.bincount(column)
        order = np.argsort(column, kind="stable")
        first = np.searchsorted(column[order], np.arange(len(size)))
        means = np.add.reduceat(telling[:, order], first, axis=1) / size
        scores.append(float(np.ptp(means, axis=1).sum()))
    return [int(position) for position in np.argsort(-np.array(scores), kind="stable")]
