"""Tree ensembles: best-first branch and bound over boxes of cells, the masses of all groups at once.

A box knows its probability in every group and the least and largest score in it. Once the score is certain to lie above
the threshold its probability is decided yes, below it no; until then the box is split at a test of the open trees. At
any time the rate lies between what is decided yes and one minus what is decided no. Scores within the model's own
rounding of the threshold are never decided.

Masses are found by one pass along the population's tree for one half of a box; the other half gets the rest, so that
nothing is lost but rounding, which is charged.
"""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import EXACT
from justicia.encoders.additive_trees import AdditiveTrees
from justicia.population.network import NetworkPopulation
from justicia.solvers.base import TOLERANCE, Solution
from justicia.solvers.counting import counted

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.solvers.boxes import Boxes, Problem
    from justicia.ssat import Formula

__all__ = ["BranchAndBound", "Search"]

logger = logging.getLogger(__name__)

_PATIENCE = 10.0
"""Seconds for an answer when no limit is set: an ensemble may be too large for any tolerance."""
_GROUPS_AT_ONCE = 64
_BATCH = 1024
_MOST_BYTES = 1_500_000_000
_THREADS = 2
_SLOW = 3.0
_UNIT = 2.0**-53


class BranchAndBound:
    """Splits boxes of cells."""

    name = "branch_and_bound"
    tolerance = 2e-3

    def takes(self, decision: Decision) -> bool:
        """Whether the decision is a sum of trees."""
        return isinstance(decision, AdditiveTrees)

    def solve(
        self,
        formula: Formula,
        *,
        search: str = "enumerate",
        time_limit: float | None = None,
        tolerance: float = TOLERANCE,
    ) -> Solution:
        """Bounds of every group's rate within the tolerance, or as narrow as the time allows."""
        decision, population = formula.decision, formula.population
        if not isinstance(decision, AdditiveTrees):
            raise TypeError(f"branch_and_bound takes a sum of trees, not {type(decision).__name__}")
        if not isinstance(population, NetworkPopulation):
            return counted(decision, population, self.name, search, time.perf_counter())
        from justicia.solvers.boxes import Problem

        chunks = [slice(i, i + _GROUPS_AT_ONCE) for i in range(0, population.n_groups, _GROUPS_AT_ONCE)]
        low, high = np.zeros(population.n_groups), np.ones(population.n_groups)
        _warm_up(decision, population)
        limit = _PATIENCE if time_limit is None else time_limit
        start = time.perf_counter()
        for number, groups in enumerate(chunks):
            left = max(start + limit - time.perf_counter(), 0.0)
            deadline = time.perf_counter() + left / (len(chunks) - number)
            held = Search(Problem(decision, population, groups), tolerance)
            held.run(deadline)
            low[groups], high[groups] = held.bounds()
        if not decision.accepts_above:
            low, high = 1.0 - high, 1.0 - low
        widest = float((high - low).max())
        guarantee = "exact" if widest <= EXACT else "bounds"
        return Solution(low, high, self.name, time.perf_counter() - start, guarantee, population.n_groups)


def _warm_up(decision: AdditiveTrees, population: NetworkPopulation) -> None:
    """Compile the loops, or read them from disk, before any clock starts."""
    from justicia.solvers.boxes import Problem

    start = time.perf_counter()
    Search(Problem(decision, population, slice(0, 1)), 1.0).step()
    if time.perf_counter() - start > _SLOW:
        logger.info("loops were compiled in %.0f s; they are kept for the next run", time.perf_counter() - start)


class Search:
    """Boxes that are open, and what is decided.

    Parameters
    ----------
    problem : Problem
    tolerance : float
        Width at which a group needs no more work.
    """

    def __init__(self, problem: Problem, tolerance: float) -> None:
        self.problem = problem
        self.tolerance = tolerance
        self.boxes: Boxes = problem.root()
        self.n_boxes = 1
        self.yes, self.no = np.zeros(problem.n_groups), np.zeros(problem.n_groups)
        self.tied = np.zeros(problem.n_groups)
        self.rounds = 0
        self.splits = 0
        self._needed = np.ones(problem.n_groups, dtype=bool)
        self._priority = np.full(1, np.inf)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bound of the probability of a score above the threshold, in each group."""
        margin = (4.0 * self.rounds + 4.0 * float(self.boxes.counts[:, 1].max(initial=0)) + 2000.0) * _UNIT
        low, high = self.yes - margin, 1.0 - self.no + margin
        if self.n_boxes == 0 and not self.tied.any():
            # Nothing is open: one number, up to rounding.
            low = high = self.yes / np.maximum(self.yes + self.no, _UNIT)
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def run(self, deadline: float | None) -> None:
        """Split boxes until every group's bounds are within the tolerance, or time runs out."""
        with ThreadPoolExecutor(_THREADS) as pool:
            while self.n_boxes:
                width = 1.0 - self.yes - self.no
                needed = width > self.tolerance
                if not needed.any() or (deadline is not None and time.perf_counter() > deadline):
                    return
                if (needed != self._needed).any():
                    self._needed = needed
                    self._priority[: self.n_boxes] = self._priorities(self.boxes, slice(0, self.n_boxes))
                self._round(pool)

    def step(self) -> None:
        """Split a few boxes."""
        with ThreadPoolExecutor(1) as pool:
            if self.n_boxes:
                self._round(pool)

    def _round(self, pool: ThreadPoolExecutor) -> None:
        full = self.n_boxes * self.boxes.bytes_a_box > _MOST_BYTES
        batch = min(self.n_boxes, _BATCH if self.n_boxes > 4 * _BATCH else max(self.n_boxes // 4, 1))
        key = self.boxes.counts[: self.n_boxes, 1] if full else self._priority[: self.n_boxes]
        batch = min(batch, 64) if full else batch
        chosen = np.argpartition(key, self.n_boxes - batch)[self.n_boxes - batch :]
        children = self.problem.expand(self.boxes, chosen, pool, _THREADS)
        self.rounds += 1
        self.splits += batch
        for outcome, total in ((1, self.yes), (2, self.no), (3, self.tied)):
            total += children.mass[children.outcome == outcome].sum(axis=0)
        kept = np.flatnonzero(children.outcome == 0)
        self._replace(chosen, children, kept)

    def _replace(self, chosen: np.ndarray, children: Boxes, kept: np.ndarray) -> None:
        """Put open children where their parents were; further ones at the end, or the last boxes into the gaps."""
        priority = self._priorities(children, kept)
        n = self.n_boxes
        if n + max(len(kept) - len(chosen), 0) > len(self.boxes):
            self.boxes = self.boxes.grown(max(2 * len(self.boxes), n + len(kept), 4096))
            self._priority = np.concatenate([self._priority, np.zeros(len(self.boxes) - len(self._priority))])
        n_in_place = min(len(kept), len(chosen))
        self.boxes.put(chosen[:n_in_place], children, kept[:n_in_place])
        self._priority[chosen[:n_in_place]] = priority[:n_in_place]
        if len(kept) > len(chosen):
            rows = np.arange(n, n + len(kept) - len(chosen))
            self.boxes.put(rows, children, kept[len(chosen) :])
            self._priority[rows] = priority[len(chosen) :]
            self.n_boxes = n + len(rows)
            return
        gaps = chosen[n_in_place:]
        if len(gaps):
            alive = np.ones(n, dtype=bool)
            alive[gaps] = False
            self.n_boxes = n - len(gaps)
            holes = np.flatnonzero(~alive[: self.n_boxes])
            movers = self.n_boxes + np.flatnonzero(alive[self.n_boxes :])
            self.boxes.put(holes, self.boxes, movers)
            self._priority[holes] = self._priority[movers]

    def _priorities(self, boxes: Boxes, rows: np.ndarray | slice) -> np.ndarray:
        """Largest mass in a group that needs work, times how far the threshold is off the middle, per open tree."""
        mass = boxes.mass[rows][:, self._needed].max(axis=1, initial=0.0)
        low, high = (boxes.numbers[rows, side] - self.problem.rule[0] for side in (0, 1))
        with np.errstate(invalid="ignore"):
            central = np.abs(low + high) / np.maximum(high - low, 1e-300)
        return np.asarray(mass * (0.1 + np.nan_to_num(central)) / np.maximum(boxes.counts[rows, 0], 1))
