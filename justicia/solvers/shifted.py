"""The extreme rates of a decision over all populations that are near a given one.

Which populations are near says `justicia.population.shifts`. The situations of the decision are gone through backwards
(`justicia.solvers.situations`): moving `radius` of a row's probability to where it changes the value most takes it from
the cells of the worst value first and gives it to the best cell of the support (a fractional knapsack). Taken in each
situation for itself, this is robust dynamic programming (Nilim and El Ghaoui 2005). A table may then be a different one
in different situations, so the answer encloses the extremes.

A population near the given one whose rate comes close is found by coordinate ascent: the rate is linear in the table of
any one node, whose rows therefore have a best answer to all other tables, by the same knapsack with the values of all
situations weighted by their probabilities. Each sweep over the nodes can only improve the rate.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.population.shifts import supports
from justicia.solvers.situations import check_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.population.base import Node
    from justicia.solvers.situations import Level, Situations

__all__ = ["NearbyTables", "moved_mean", "moved_rows"]

_MOST_NUMBERS = 2_000_000
_MOST_SWEEPS = 50
_ROUNDING = 1e-12


def _order(values: np.ndarray, largest: bool) -> np.ndarray:
    """Cells by value, those that probability is taken from first."""
    return np.argsort(values if largest else -values, axis=1, kind="stable")


def _best(values: np.ndarray, support: np.ndarray, largest: bool) -> np.ndarray:
    """Value with the sign that makes the cells of the support the first to choose."""
    return np.where(support, values, -np.inf if largest else np.inf)


def moved_mean(values: np.ndarray, rows: np.ndarray, support: np.ndarray, radius: float, largest: bool) -> np.ndarray:
    """The least or largest mean of values over all distributions within `radius` of a given one.

    Parameters
    ----------
    values : float64 array of shape (n, n_cells, n_groups)
    rows : float64 array of shape (n or 1, n_cells, n_groups)
        The given distributions.
    support : bool array of shape (n_cells, n_groups)
        Cells that may have probability.
    radius : float
        Total variation distance.
    largest : bool

    Returns
    -------
    float64 array of shape (n, n_groups)
    """
    best = _best(values, support, largest)
    target = best.max(axis=1) if largest else best.min(axis=1)
    order = _order(values, largest)
    held = np.take_along_axis(np.broadcast_to(rows, values.shape), order, axis=1)
    taken = np.clip(radius - (np.cumsum(held, axis=1) - held), 0.0, held)
    gain = target[:, None] - np.take_along_axis(values, order, axis=1)
    gain = np.where(taken > 0, gain, 0.0)
    return np.asarray((rows * values).sum(axis=1) + (taken * gain).sum(axis=1))


def moved_rows(values: np.ndarray, rows: np.ndarray, support: np.ndarray, radius: float, largest: bool) -> np.ndarray:
    """The distributions that reach `moved_mean`, of the shape of `rows`, (n, n_cells, n_groups)."""
    best = _best(values, support, largest)
    target = np.argmax(best, axis=1) if largest else np.argmin(best, axis=1)
    order = _order(values, largest)
    held = np.take_along_axis(rows, order, axis=1)
    gains = np.take_along_axis(values, order, axis=1) != np.take_along_axis(values, target[:, None], axis=1)
    taken = np.where(gains, np.clip(radius - (np.cumsum(held, axis=1) - held), 0.0, held), 0.0)
    found = held - taken
    moved = np.empty_like(found)
    np.put_along_axis(moved, order, found, axis=1)
    there = np.take_along_axis(moved, target[:, None], axis=1) + taken.sum(axis=1, keepdims=True)
    np.put_along_axis(moved, target[:, None], there, axis=1)
    return moved


@dataclass(frozen=True)
class _Step:
    """A level whose kinds of cells stand side by side, those of all states.

    Attributes
    ----------
    level : Level
    following : int array of shape (n_situations, n_kinds)
    table : float64 array of shape (n_parent_states, n_kinds, n_groups)
        Before the shift.
    support : bool array of shape (n_kinds, n_groups)
    """

    level: Level
    following: np.ndarray
    table: np.ndarray
    support: np.ndarray

    def parts(self, n_groups: int) -> list[slice]:
        """Situations that fit into memory together."""
        part = max(1, _MOST_NUMBERS // max(self.following.shape[1] * n_groups, 1))
        return [slice(start, start + part) for start in range(0, len(self.following), part)]


def _step(level: Level, support: np.ndarray) -> _Step:
    node = level.node
    tables, supports_, following = [], [], []
    for state, (kinds, after) in enumerate(zip(level.kinds, level.following, strict=True)):
        cells = np.flatnonzero(node.states == state)
        inside = (kinds == np.arange(after.shape[1])[:, None]).astype(np.float64)
        share = np.ones((len(node.table), after.shape[1]))
        if node.within is not None:
            share = node.within[:, cells] @ inside.T
        tables.append(node.table[:, :, state, None] * share[:, None, :])
        supports_.append((support[:, cells].astype(np.float64) @ inside.T) > 0)
        following.append(after)
    return _Step(
        level,
        np.concatenate(following, axis=1),
        np.ascontiguousarray(np.concatenate(tables, axis=2).transpose(1, 2, 0)),
        np.ascontiguousarray(np.concatenate(supports_, axis=1).T),
    )


class NearbyTables:
    """The situations of a decision, and all tables within a radius of a population's.

    Parameters
    ----------
    situations : Situations
    nodes : sequence of Node
        All nodes of the population, parents first.
    radius : float in [0, 1]
    deadline : float
        `time.perf_counter()` after which `outer` and `search` raise `OutOfTimeError`; a search that has begun to climb
        returns what it has reached.

    Attributes
    ----------
    stopped : bool
        A search ended because time ran out.
    """

    def __init__(
        self, situations: Situations, nodes: Sequence[Node], radius: float, deadline: float = math.inf
    ) -> None:
        self.radius = radius
        self.stopped = False
        self._deadline = deadline
        self._start = situations.start
        self._n_groups = len(nodes[0].table)
        held = supports(nodes)
        self._steps = [_step(level, held[level.node.feature]) for level in situations.levels]

    @property
    def features(self) -> list[int]:
        """Features that matter, in the order in which they are seen."""
        return [step.level.node.feature for step in self._steps]

    def outer(self, largest: bool) -> np.ndarray:
        """Bound of the rate of every population within the radius, float64 array of shape (n_groups,)."""
        found = self._bounds(largest)[0][self._start]
        # Where nobody can be accepted, nothing was rounded.
        return np.where(found == 0.0, 0.0, np.clip(found + (_ROUNDING if largest else -_ROUNDING), 0.0, 1.0))

    def search(self, largest: bool) -> tuple[np.ndarray, np.ndarray]:
        """A population within the radius whose rate is small or large, found by coordinate ascent.

        Returns
        -------
        rates : float64 array of shape (n_groups,)
        changes : float64 array of shape (n_levels, n_groups)
            What each of `features` adds to the rate before the shift, when tables are changed one feature at a time in
            this order.
        """
        given = [step.table for step in self._steps]
        starts = (self._values(given), self._bounds(largest))
        found = [self._climbed(values, largest) for values in starts]
        rates = [self._values(tables)[0][self._start] for tables in found]
        second = rates[1] > rates[0] if largest else rates[1] < rates[0]
        tables = [np.where(second, other, one) for one, other in zip(*found, strict=True)]
        best = np.where(second, rates[1], rates[0])
        return np.clip(best, 0.0, 1.0), self._changes(tables)

    def _climbed(self, values: list[np.ndarray], largest: bool) -> list[np.ndarray]:
        """Tables that no change of a single one improves, from those before the shift and values of situations."""
        tables = [step.table for step in self._steps]
        reached = self._reached(tables)
        tables = [
            self._answer(step, reach, after, largest)
            for step, reach, after in zip(self._steps, reached, values[1:], strict=True)
        ]
        rate = self._values(tables)[0][self._start]
        for _ in range(_MOST_SWEEPS):
            if time.perf_counter() > self._deadline:
                self.stopped = True
                break
            reached = self._reached(tables)
            after = self._ends()
            for position in reversed(range(len(tables))):
                step = self._steps[position]
                tables[position] = self._answer(step, reached[position], after, largest)
                after = self._before(step, tables[position], after)
            better = np.abs(after[self._start] - rate).max()
            rate = after[self._start]
            if better <= _ROUNDING:
                break
        return tables

    def _answer(self, step: _Step, reach: np.ndarray, after: np.ndarray, largest: bool) -> np.ndarray:
        """The best table of one node, when those of the others are known."""
        weighted = np.zeros(step.table.shape)
        for rows in step.parts(self._n_groups):
            values = reach[rows][:, None] * after[step.following[rows]]
            np.add.at(weighted, step.level.above[rows], values)
        return moved_rows(weighted, step.table, step.support, self.radius, largest)

    def _ends(self) -> np.ndarray:
        """Values of the two outcomes."""
        return np.stack([np.zeros(self._n_groups), np.ones(self._n_groups)])

    def _before(self, step: _Step, table: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Values of the situations before a node from those after it, for one table."""
        found = [
            (after[step.following[rows]] * table[step.level.above[rows]]).sum(axis=1)
            for rows in step.parts(self._n_groups)
        ]
        return np.concatenate([after[:2], *found])

    def _values(self, tables: list[np.ndarray]) -> list[np.ndarray]:
        """Probability of a favorable outcome in each situation before each level, and of the outcomes."""
        held = [self._ends()]
        for step, table in zip(reversed(self._steps), reversed(tables), strict=True):
            held.append(self._before(step, table, held[-1]))
        return held[::-1]

    def _bounds(self, largest: bool) -> list[np.ndarray]:
        """The same when every situation has the worst row for itself."""
        held = [self._ends()]
        for step in reversed(self._steps):
            check_time(self._deadline)
            after = held[-1]
            found = [
                moved_mean(
                    after[step.following[rows]], step.table[step.level.above[rows]], step.support, self.radius, largest
                )
                for rows in step.parts(self._n_groups)
            ]
            held.append(np.concatenate([after[:2], *found]))
        return held[::-1]

    def _reached(self, tables: list[np.ndarray]) -> list[np.ndarray]:
        """Probability of each situation before each level, the outcomes not among them."""
        held = [np.ones((1, self._n_groups))]
        for step, table, following in zip(self._steps[:-1], tables, self._steps[1:], strict=False):
            reach = np.zeros((len(following.following) + 2, self._n_groups))
            for rows in step.parts(self._n_groups):
                passed = held[-1][rows][:, None] * table[step.level.above[rows]]
                np.add.at(reach, step.following[rows], passed)
            held.append(reach[2:])
        return held[: len(self._steps)]

    def _changes(self, tables: list[np.ndarray]) -> np.ndarray:
        """What changing each table adds to the rate, those before it changed and those after it not."""
        values = self._values([step.table for step in self._steps])
        reached = self._reached(tables)
        found = np.zeros((len(tables), self._n_groups))
        for position, (step, reach, table) in enumerate(zip(self._steps, reached, tables, strict=True)):
            after = self._before(step, table, values[position + 1])[2:]
            found[position] = (reach * (after - values[position][2:])).sum(axis=0)
        return found
