"""Find the most and least favored compound group without evaluating every group.

Branch and bound over the sensitive columns: a partial assignment stands for all observed groups that complete it. Its
bounds come from the tables of those groups, taken entry by entry at their largest and smallest: the mass of a box is
a sum of products of entries, all of them at least 0, so the largest entries give at least the mass in every group of
the set, and the smallest at most. Summed over the accepting leaves they enclose the rate; summed over the rejecting
leaves they enclose its complement, and the tighter of the two counts. Sets are split, most promising first, until no
other set can hold a rate as extreme as the best one found. Groups that were never looked at keep the bounds of their
set, which lie strictly inside the extremes, so measures of the extremes are exact.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import EXACT
from justicia.population.network import NetworkPopulation, Step, evaluate_plan, make_plan
from justicia.solvers.base import Solution

if TYPE_CHECKING:
    from justicia.encoders.decisions import Tree

__all__ = ["learn"]

_AT_ONCE = 32
"""Sets that are split together."""


def learn(decision: Tree, population: NetworkPopulation, engine: str, time_limit: float | None) -> Solution:
    """Exact rates of the extreme groups, bounds of the others.

    Parameters
    ----------
    decision : Tree
    population : NetworkPopulation
    engine : str
        Named in the solution.
    time_limit : float or None
        Seconds; then the bounds reached so far are the answer.

    Returns
    -------
    Solution
        `groups_evaluated` counts the groups, and the sets of groups that do not differ, whose rate was computed.
    """
    start = time.perf_counter()
    search = _Search(decision, population)
    deadline = None if time_limit is None else start + time_limit
    finished = search.run(largest=True, deadline=deadline) and search.run(largest=False, deadline=deadline)
    lo, hi = np.empty(population.n_groups), np.empty(population.n_groups)
    lo[search.hierarchy.order], hi[search.hierarchy.order] = search.lo, search.hi
    seconds = time.perf_counter() - start
    return Solution(lo, hi, engine, seconds, "exact" if finished else "bounds", search.evaluated, search="learn")


@dataclass(frozen=True)
class _Hierarchy:
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
    def of(cls, codes: np.ndarray) -> _Hierarchy:
        """Sets of groups given by the codes of their columns, of shape (n_groups, n_columns), first column first."""
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
    def __init__(self, decision: Tree, population: NetworkPopulation) -> None:
        columns = np.array(population.groups, dtype=object).reshape(population.n_groups, -1)
        codes = np.stack([np.unique(column.astype(str), return_inverse=True)[1] for column in columns.T], axis=1)
        self.hierarchy = _Hierarchy.of(codes[:, _most_telling_first(codes, population)])
        self.evaluated = 0
        n_groups = population.n_groups
        self.lo, self.hi = np.zeros(n_groups), np.ones(n_groups)
        order = self.hierarchy.order
        self._plans = {
            accepting: [
                (make_plan(population.nodes, boxes, n_boxes), n_boxes) for boxes, n_boxes in decision.boxes(accepting)
            ]
            for accepting in (True, False)
        }
        single = {feature: table[:, :, order] for feature, table in population.tables.items()}
        within = {feature: share[:, order] for feature, share in population.within.items()}
        self._levels = self._bounds_of_tables(single, within)
        self._frontier: list[tuple[int, int]] = []
        self._settle(0, np.zeros(1, dtype=np.int64))

    def _bounds_of_tables(
        self, single: dict[int, np.ndarray], within: dict[int, np.ndarray]
    ) -> list[tuple[dict[int, np.ndarray], ...]]:
        """Smallest and largest tables and shares of the sets of every level, level 0 first."""
        levels: list[tuple[dict[int, np.ndarray], ...]] = [(single, single, within, within)]
        for first in reversed(self.hierarchy.first_child):
            low, high, low_within, high_within = levels[0]
            low = {f: np.minimum.reduceat(table, first, axis=2) for f, table in low.items()}
            high = {f: np.maximum.reduceat(table, first, axis=2) for f, table in high.items()}
            low_within = {f: np.minimum.reduceat(share, first, axis=1) for f, share in low_within.items()}
            high_within = {f: np.maximum.reduceat(share, first, axis=1) for f, share in high_within.items()}
            levels.insert(0, (low, high, low_within, high_within))
        return levels

    def _masses(self, accepting: bool, level: int, sets: np.ndarray, largest: bool) -> np.ndarray:
        tables, within = self._levels[level][largest], self._levels[level][2 + largest]
        chosen = {feature: table[:, :, sets] for feature, table in tables.items()}
        shares = {feature: share[:, sets] for feature, share in within.items()}
        total = np.zeros(len(sets))
        for plan, n_boxes in self._plans[accepting]:
            total += _evaluate(plan, chosen, shares, n_boxes, len(sets))
        return total

    def _settle(self, level: int, sets: np.ndarray) -> None:
        """Bound some sets of a level; those that are not exact yet wait in the frontier."""
        starts = self.hierarchy.starts[level]
        last = level == len(self.hierarchy.starts) - 1
        if last:
            lo = hi = np.minimum(self._masses(True, level, sets, True), 1.0)
        else:
            lo = np.maximum(self._masses(True, level, sets, False), 1 - self._masses(False, level, sets, True))
            hi = np.minimum(self._masses(True, level, sets, True), 1 - self._masses(False, level, sets, False))
            lo, hi = np.clip(lo, 0.0, 1.0), np.clip(hi, 0.0, 1.0)
            lo = np.minimum(lo, hi)
        ends = np.append(starts[1:], len(self.lo))
        for i, chosen in enumerate(sets):
            span = slice(starts[chosen], ends[chosen])
            self.hi[span] = np.minimum(self.hi[span], hi[i])
            # Bounds of different sums may cross by their rounding.
            self.lo[span] = np.minimum(np.maximum(self.lo[span], lo[i]), self.hi[span])
            if last or hi[i] - lo[i] <= EXACT / 2 * hi[i]:
                self.evaluated += 1
            else:
                self._frontier.append((level, int(chosen)))

    def run(self, *, largest: bool, deadline: float | None) -> bool:
        """Split sets until the extreme is certain; False when time ran out."""
        while True:
            known = self.lo.max() if largest else self.hi.min()
            keyed = []
            for level, chosen in self._frontier:
                first = self.hierarchy.starts[level][chosen]
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
            children: dict[int, list[np.ndarray]] = {}
            for level, chosen in sorted(picked):
                firsts = self.hierarchy.first_child[level]
                end = firsts[chosen + 1] if chosen + 1 < len(firsts) else len(self.hierarchy.starts[level + 1])
                children.setdefault(level + 1, []).append(np.arange(firsts[chosen], end))
            for level, sets in children.items():
                self._settle(level, np.concatenate(sets))


def _evaluate(
    plan: list[Step], tables: dict[int, np.ndarray], within: dict[int, np.ndarray], n_boxes: int, n_sets: int
) -> np.ndarray:
    return evaluate_plan(plan, tables, within, n_boxes, n_sets).sum(axis=0)


def _most_telling_first(codes: np.ndarray, population: NetworkPopulation) -> list[int]:
    """Sensitive columns in the order in which they are fixed: those that move the tables most, first."""
    scores = []
    for column in codes.T:
        size = np.bincount(column)
        score = 0.0
        for table in population.tables.values():
            flat = table.reshape(-1, table.shape[2])
            order = np.argsort(column, kind="stable")
            first = np.searchsorted(column[order], np.arange(len(size)))
            means = np.add.reduceat(flat[:, order], first, axis=1) / size
            score += float(np.ptp(means, axis=1).max(initial=0.0))
        scores.append(score)
    return [int(position) for position in np.argsort(-np.array(scores), kind="stable")]
