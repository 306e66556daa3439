"""Exact sums: the distribution of a score with few distinct values, or over few people, added up without rounding it.

Along the population's tree every feature passes on the distinct sums below it with their probabilities; equal sums are
joined. Weights of +-1, scorecards and other lattices have few sums however many features there are; a small domain has
few points. All numbers that are added are probabilities, so nothing cancels and the result is exact to rounding.
Sums that lie within the score's own rounding of the threshold are undecided: their probability is the width.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import EXACT
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.population.network import NetworkPopulation
from justicia.solvers.base import TOLERANCE, Effort, Solution, TooLargeError
from justicia.solvers.counting import counted
from justicia.solvers.parts import Part, parts_of

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.ssat import Formula

__all__ = ["MOST_SUMS", "Sums", "add_up"]

logger = logging.getLogger(__name__)

MOST_SUMS = 60_000
_MOST_PAIRS = 500_000
"""Sums before equal ones are joined."""
_MOST_NUMBERS = 4_000_000
"""Probabilities held at once: more groups are taken in parts."""


class Sums:
    """Adds up the distinct sums of a score."""

    name = "sums"
    tolerance = TOLERANCE

    def takes(self, decision: Decision) -> bool:
        """Whether the decision is a linear threshold."""
        return isinstance(decision, LinearThreshold)

    def solve(self, formula: Formula, effort: Effort) -> Solution:
        """Rates of every group, exact but for people too near the threshold."""
        start = time.perf_counter()
        deadline = None if effort.time_limit is None else start + effort.time_limit
        decision, population = formula.decision, formula.population
        if not isinstance(decision, LinearThreshold):
            raise TypeError(f"sums takes a linear threshold, not {type(decision).__name__}")
        if not isinstance(population, NetworkPopulation):
            return counted(decision, population, self.name, effort.search, start)
        low, high = add_up(decision.scaled(), population, deadline=deadline)
        if effort.search == "learn":
            logger.info("every group is evaluated: the score has so few distinct values that this is the fastest")
        guarantee = "exact" if float((high - low).max()) <= EXACT else "bounds"
        return Solution(low, high, self.name, time.perf_counter() - start, guarantee, population.n_groups)


@dataclass(frozen=True)
class _Sums:
    """Distinct sums and their probabilities.

    Attributes
    ----------
    values : float64 array of shape (n_sums,)
    masses : float64 array of shape (n_states, n_sums, n_groups)
        Given the state of a feature above.
    """

    values: np.ndarray
    masses: np.ndarray


def add_up(
    decision: LinearThreshold,
    population: NetworkPopulation,
    *,
    most_sums: int = MOST_SUMS,
    deadline: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bound of each group's rate; equal where no sum is undecided.

    Parameters
    ----------
    decision : LinearThreshold
    population : NetworkPopulation
    most_sums : int
    deadline : float, optional
        `time.perf_counter()` at which the groups that are not done yet keep the bounds 0 and 1.

    Returns
    -------
    low, high : float64 arrays of shape (n_groups,)

    Raises
    ------
    TooLargeError
        When there are more than `most_sums` distinct ones.
    """
    parts = parts_of(population, decision.contributions, join=False)
    # Sums that differ by less are equal but for the order in which they were added.
    apart = decision.slack / (8 * (len(parts) + 1)) if decision.slack > 0 else 0.0
    widest = max((max(part.n_states, part.table.shape[1]) for part in parts), default=1)
    plan = _Plan(parts, apart, most_sums)
    low, high = np.zeros(population.n_groups), np.ones(population.n_groups)
    size = max(1, _MOST_NUMBERS // (plan.largest * widest))
    target, slack = decision.threshold - decision.base, decision.slack
    for start in range(0, population.n_groups, size):
        if deadline is not None and time.perf_counter() > deadline:
            break
        groups = slice(start, start + size)
        sums = plan.run([part.of(groups) for part in parts])
        scores, masses = sums.values, sums.masses[0]
        if slack == 0:
            surely = possibly = scores + decision.base > decision.threshold
        else:
            surely, possibly = scores > target + 2 * slack, scores > target - 2 * slack
        low[groups], high[groups] = masses[surely].sum(axis=0), masses[possibly].sum(axis=0)
        if not surely.any() or surely.all():
            # Every sum, or none: no rounding of probabilities should show.
            low[groups] = float(surely.all())
        if not possibly.any() or possibly.all():
            high[groups] = float(possibly.all())
    low, high = np.minimum(low, 1.0), np.minimum(high, 1.0)
    return (low, high) if decision.accepts_above else (1.0 - high, 1.0 - low)


class _Plan:
    """Which sums there are; the same for all groups."""

    def __init__(self, parts: list[Part], apart: float, most_sums: int) -> None:
        self._apart = apart
        self._most = most_sums
        self.largest = 1
        # One group with mass everywhere finds the sums, or that there are too many.
        self.run([_everywhere(part) for part in parts])

    def run(self, parts: list[Part]) -> _Sums:
        """Sums of all parts together, given nothing."""
        n_groups = len(parts[0].table) if parts else 1
        total = _Sums(np.zeros(1), np.ones((1, 1, n_groups)))
        messages: dict[int, list[_Sums]] = {}
        for part in parts:
            below = _Sums(np.zeros(1), np.ones((part.n_states, 1, n_groups)))
            for message in messages.pop(part.feature, []):
                below = self._both(below, message)
            passed = self._with_own(part, below)
            if part.parent < 0:
                total = self._both(total, passed)
            else:
                messages.setdefault(part.parent, []).append(passed)
        return total

    def _both(self, one: _Sums, other: _Sums) -> _Sums:
        """Sums of two independent numbers, given each state."""
        self._check(len(one.values) * len(other.values))
        values = (one.values[:, None] + other.values).ravel()
        order, firsts = self._equal(values)
        masses = (one.masses[:, :, None] * other.masses[:, None, :]).reshape(len(one.masses), len(values), -1)
        return self._joined(values, masses, order, firsts)

    def _with_own(self, part: Part, below: _Sums) -> _Sums:
        """A feature's own contribution added, its state averaged over given the state above."""
        self._check(len(part.values) * len(below.values))
        state = np.repeat(np.arange(part.n_states), np.diff(part.starts))
        values = (part.values[:, None] + below.values).ravel()
        masses = below.masses[state]
        if part.within is not None:
            masses = masses * part.within.T[:, None, :]
        # table: (n_groups, above, states); masses: (cells, sums below, n_groups).
        given = part.table.transpose(1, 2, 0)[:, state]
        masses = (given[:, :, None, :] * masses[None]).reshape(len(given), len(values), -1)
        order, firsts = self._equal(values)
        return self._joined(values, masses, order, firsts)

    def _check(self, n_pairs: int) -> None:
        if n_pairs > _MOST_PAIRS:
            raise _too_many()

    def _equal(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Order of the values, and where in it each distinct one begins."""
        order = np.argsort(values, kind="stable")
        steps = np.diff(values[order])
        firsts = np.flatnonzero(np.append(True, steps > self._apart))
        if len(firsts) > self._most:
            raise _too_many()
        self.largest = max(self.largest, len(values))
        return order, firsts

    def _joined(self, values: np.ndarray, masses: np.ndarray, order: np.ndarray, firsts: np.ndarray) -> _Sums:
        values = values[order]
        ends = np.append(firsts[1:], len(values)) - 1
        if len(firsts) < len(values) and (values[ends] - values[firsts]).max() > 4 * self._apart:
            # Sums that creep from one to the next are no lattice.
            raise _too_many()
        return _Sums(values[firsts], np.add.reduceat(masses[:, order], firsts, axis=1))


def _too_many() -> TooLargeError:
    return TooLargeError(
        "solver sums does not take this model: its score has too many distinct values; pass --solver auto"
    )


def _everywhere(part: Part) -> Part:
    """One group with mass in every cell."""
    return Part(
        part.feature,
        part.parent,
        np.ones((1, part.table.shape[1], part.n_states)),
        part.values,
        part.starts,
        None if part.within is None else np.ones((1, len(part.values))),
    )
