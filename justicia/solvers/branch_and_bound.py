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
import math
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import EXACT
from justicia.encoders.additive_trees import AdditiveTrees
from justicia.population.network import NetworkPopulation
from justicia.progress import stage
from justicia.solvers.base import Effort, Solution
from justicia.solvers.counting import counted
from justicia.solvers.sampling import OpenBoxes

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.solvers.boxes import Boxes, Problem
    from justicia.solvers.interruption import Interruption
    from justicia.ssat import Formula

__all__ = ["BranchAndBound", "Search"]

logger = logging.getLogger(__name__)

_PATIENCE = 10.0
"""Seconds for an answer when no limit is set: an ensemble may be too large for any tolerance."""
_GROUPS_AT_ONCE = 64
_BATCH, _PART, _MOST_AT_ONCE = 1024, 64, 16_384
"""Boxes split at once: so many, or this part of them when they are more, and at most."""
_FEW = 0.01
"""Share of all people below which a group's bounds may be wider, as the sampling error of its rows is."""
_LOOKED_AT = 256
"""Of the boxes to be split at once so many are found exactly, to tell how high a priority is high."""
_GROWTH = 4
_ATTENTION, _CHANGED = 4, 0.5
"""A group's mass counts by this power of its width; smaller changes of its logarithm are let be."""
_MOST_BYTES, _MOST_SHARE = 6_000_000_000, 0.25
"""Memory for boxes: this much, or this share of the machine's when that is less."""
_THREADS = 2
_SLOW = 3.0
_LOOK = 0.25
"""Seconds between looks at the bounds."""
_MOMENT = 1.0
"""Seconds for statistical bounds when the certain ones suffice for the requirements."""
_FIRST_SHARE = 0.04
"""Share of the time after which the pace is looked at."""
_MOST_FOR_BOUNDS = 0.75
"""Share of the time after which statistical bounds follow, when the certain ones are too wide."""
_UNIT = 2.0**-53


class BranchAndBound:
    """Splits boxes of cells."""

    name = "branch_and_bound"
    tolerance = 2e-3

    def takes(self, decision: Decision) -> bool:
        """Whether the decision is a sum of trees."""
        return isinstance(decision, AdditiveTrees)

    def solve(self, formula: Formula, effort: Effort) -> Solution:
        """Bounds of every group's rate within the tolerance, or as narrow as the time allows.

        When they are wider, people are drawn from what is open, and a statistical interval stands beside the bounds.
        """
        decision, population = formula.decision, formula.population
        if not isinstance(decision, AdditiveTrees):
            raise TypeError(f"branch_and_bound takes a sum of trees, not {type(decision).__name__}")
        if not isinstance(population, NetworkPopulation):
            return counted(decision, population, self.name, effort.search, time.perf_counter())
        _warm_up(decision, population)
        start = time.perf_counter()
        limit = _PATIENCE if effort.time_limit is None else effort.time_limit
        answer = _Answer(population.n_groups, decision.accepts_above, effort)
        chunks = [slice(i, i + _GROUPS_AT_ONCE) for i in range(0, population.n_groups, _GROUPS_AT_ONCE)]
        with effort.interruption:
            for number, groups in enumerate(chunks):
                now = time.perf_counter()
                seconds = max(start + limit - now, 0.0) / (len(chunks) - number)
                answer.add(groups, decision, population, now, seconds)
        seconds = time.perf_counter() - start
        return answer.solution(self.name, seconds)


class _Answer:
    """Bounds of all groups, found for some of them at a time."""

    def __init__(self, n_groups: int, accepts_above: bool, effort: Effort) -> None:
        self.low, self.high = np.zeros(n_groups), np.ones(n_groups)
        self.inner_low, self.inner_high = np.zeros(n_groups), np.ones(n_groups)
        self.accepts_above = accepts_above
        self.effort = effort
        self.sampled = False
        self.stopped: str | None = None

    def add(
        self,
        groups: slice,
        decision: AdditiveTrees,
        population: NetworkPopulation,
        start: float,
        seconds: float,
    ) -> None:
        """Bound the rates of some groups."""
        from justicia.solvers.boxes import Problem

        effort, problem = self.effort, Problem(decision, population, groups)
        search = Search(problem, effort.tolerance, None if effort.weights is None else effort.weights[groups])
        search.run(seconds, lambda low, high: self._suffices(groups, low, high), effort.interruption)
        self._put(groups, *search.bounds(), self.low, self.high)
        self.inner_low[groups], self.inner_high[groups] = self.low[groups], self.high[groups]
        self.stopped = search.stopped or self.stopped
        if search.stopped in ("time", "settled"):
            # What was asked is settled early: a moment more says where between the bounds the rates lie.
            end = start + seconds if search.stopped == "time" else time.perf_counter() + _MOMENT
            found = search.sample(min(end, start + seconds), effort.delta / max(len(self.low) / problem.n_groups, 1.0))
            if found is not None:
                self.sampled = True
                self._put(groups, *found, self.inner_low, self.inner_high)

    def _put(self, groups: slice, low: np.ndarray, high: np.ndarray, lows: np.ndarray, highs: np.ndarray) -> None:
        """Bounds of scores above the threshold, as bounds of favorable outcomes."""
        lows[groups], highs[groups] = (low, high) if self.accepts_above else (1.0 - high, 1.0 - low)

    def _suffices(self, groups: slice, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
        """Which of the groups need more work; None when none does."""
        self._put(groups, low, high, self.low, self.high)
        if self.effort.watch is not None and self.effort.watch(self.low, self.high):
            return None
        needed = np.ones(len(low), dtype=bool)
        if self.effort.search == "learn":
            extreme = (self.high >= self.low.max()) | (self.low <= self.high.min())
            needed = extreme[groups]
        return needed

    def solution(self, engine: str, seconds: float) -> Solution:
        """The answer."""
        effort = self.effort
        exact = float((self.high - self.low).max()) <= EXACT
        guarantee = "exact" if exact else "statistical" if self.sampled else "bounds"
        evaluated = len(self.low)
        if effort.search == "learn":
            evaluated = int((self.high - self.low <= max(effort.tolerance, EXACT)).sum())
        return Solution(
            self.low, self.high, engine, seconds, guarantee, evaluated, None, effort.search,
            (self.inner_low, self.inner_high) if self.sampled else None,
            effort.delta if self.sampled else None, self.stopped,
        )  # fmt: skip


def _warm_up(decision: AdditiveTrees, population: NetworkPopulation) -> None:
    """Compile the loops, or read them from disk, before any clock starts."""
    from justicia.solvers.boxes import Problem

    says = "loops over boxes are being compiled, which takes half a minute; they are kept for the next run"
    stage("getting loops over boxes ready")
    told = threading.Timer(_SLOW, logger.info, [says])
    told.daemon = True
    told.start()
    try:
        search = Search(Problem(decision, population, slice(0, 1)), 1.0)
        with ThreadPoolExecutor(1) as pool:
            search.problem.sample(
                search.boxes, np.zeros(1, np.int64), np.ones(1, np.int64), 0, np.random.default_rng(0)
            )
            search.step(pool)
            search.problem.prioritize(search.boxes, search.n_boxes, search.weights, search._priority)
    except MemoryError:
        # The search itself will say so, with bounds.
        return
    finally:
        told.cancel()


class _Pace:
    """Tells when time is better spent on drawing people than on splitting boxes.

    Statistical bounds are as wide as what is open, over the root of the time that is left. While the open part falls
    like a power -a of time, their width is least when a share a / (a + 1/2) of the time has gone into bounds.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._seen: list[tuple[float, float]] = []

    def time_is_up(self, elapsed: float, width: float) -> bool:
        """Whether bounds have had their time, when they are `width` apart."""
        if elapsed >= _MOST_FOR_BOUNDS * self._seconds:
            return True
        if elapsed < _FIRST_SHARE * self._seconds:
            return False
        if not self._seen or elapsed > 1.1 * self._seen[-1][0]:
            self._seen.append((elapsed, width))
        earlier = [one for one in self._seen if 2 * one[0] <= elapsed]
        if not earlier:
            return False
        power = math.log(earlier[-1][1] / width) / math.log(elapsed / earlier[-1][0])
        return elapsed >= self._seconds * power / (power + 0.5)


class Search:
    """Boxes that are open, and what is decided.

    Parameters
    ----------
    problem : Problem
    tolerance : float
        Width at which a group needs no more work.
    weights : float64 array of shape (n_groups,), optional
        What the width of each group counts, 1 when left out.
    """

    def __init__(self, problem: Problem, tolerance: float, weights: np.ndarray | None = None) -> None:
        self.problem = problem
        self.tolerance = tolerance
        self.weights = np.ones(problem.n_groups) if weights is None else weights
        self.boxes: Boxes = problem.root()
        self.n_boxes = 1
        self.yes, self.no = np.zeros(problem.n_groups), np.zeros(problem.n_groups)
        self.tied = np.zeros(problem.n_groups)
        self.rounds = 0
        self.splits = 0
        self.stopped: str | None = None
        self._at_once = 1
        self._attention = self.weights
        self._standing = np.sqrt(np.clip(problem.shares / _FEW, 0.01, 1.0))
        self._priority = np.full(1, np.inf)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bound of the probability of a score above the threshold, in each group."""
        margin = self._margin()
        low, high = self.yes - margin, 1.0 - self.no + margin
        if self.n_boxes == 0 and not self.tied.any():
            # Nothing is open: one number, up to rounding.
            low = high = self.yes / np.maximum(self.yes + self.no, _UNIT)
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def _margin(self) -> float:
        """What rounding may have done to sums of masses."""
        return 4.0 * (self.rounds + self._at_once + float(self.boxes.counts[:, 1].max(initial=0)) + 500.0) * _UNIT

    def run(
        self,
        seconds: float,
        suffices: Callable[[np.ndarray, np.ndarray], np.ndarray | None] | None = None,
        interruption: Interruption | None = None,
    ) -> None:
        """Split boxes until the bounds of every group are within the tolerance; `stopped` says what ended it before.

        Parameters
        ----------
        seconds : float
            Time for certain and statistical bounds together.
        suffices : callable, optional
            Called a few times a second with the bounds; gives the groups that need more work, None when none does.
        interruption : Interruption, optional
        """
        start = time.perf_counter()
        wanted, next_look = np.ones(self.problem.n_groups, dtype=bool), start + _LOOK
        pace = _Pace(seconds)
        self.stopped = None
        with ThreadPoolExecutor(_THREADS) as pool:
            while self.n_boxes:
                width = self.weights * (1.0 - self.yes - self.no)
                needed = wanted & (width > self.tolerance)
                now = time.perf_counter()
                if not needed.any():
                    return
                if interruption is not None and interruption.pressed:
                    self.stopped = "interrupted"
                    return
                if pace.time_is_up(now - start, float(width[needed].max())):
                    self.stopped = "time"
                    return
                if suffices is not None and now > next_look:
                    next_look = now + _LOOK
                    found = suffices(*self.bounds())
                    if found is None:
                        self.stopped = "settled"
                        return
                    wanted = found
                    needed &= wanted
                if not needed.any():
                    return
                self._attend(np.where(needed, width, 0.0))
                try:
                    self.step(pool)
                except MemoryError:
                    self.stopped = "memory"
                    return

    def _attend(self, width: np.ndarray) -> None:
        """Let the mass of a group count by how wide its bounds are, so that all come down together.

        A group of few people may have wider ones: its rows say less of it still.
        """
        width = width * self._standing
        attention = self.weights * (width / width.max()) ** _ATTENTION
        changed = np.log(np.maximum(attention, _UNIT)) - np.log(np.maximum(self._attention, _UNIT))
        if np.abs(changed).max() > _CHANGED:
            self._attention = attention
            self.problem.prioritize(self.boxes, self.n_boxes, attention, self._priority)

    def sample(self, deadline: float, delta: float) -> tuple[np.ndarray, np.ndarray] | None:
        """Statistical bounds in every group, None when there is no time for any.

        Parameters
        ----------
        deadline : float
            By `time.perf_counter`.
        delta : float
            Probability that some of the bounds miss.
        """
        low, high = self.bounds()
        open_boxes = OpenBoxes(self.problem, self.boxes, self.n_boxes)
        groups = np.flatnonzero((self.weights * (high - low) > self.tolerance) & (open_boxes.open > 0.0))
        if not len(groups):
            return low, high
        with ThreadPoolExecutor(_THREADS) as pool:
            width = self.tolerance / 10
            weights = self.weights[groups] * self._standing[groups]
            found = open_boxes.interval(groups, width, delta, deadline, pool, _THREADS, weights)
        if found is None:
            return None
        mass, margin = open_boxes.open[groups], self._margin()
        inner_low = self.yes[groups] + mass * found[0] - margin
        inner_high = 1.0 - self.no[groups] - mass * (1.0 - found[1]) + margin
        low[groups], high[groups] = np.maximum(low[groups], inner_low), np.minimum(high[groups], inner_high)
        return low, high

    def step(self, pool: ThreadPoolExecutor) -> None:
        """Split some boxes: those of highest priority, or the deepest when memory is full.

        Raises
        ------
        MemoryError
            Then nothing has changed.
        """
        if not self.n_boxes:
            return
        full = self.n_boxes * self.boxes.bytes_a_box > _most_bytes()
        batch = min(max(self.n_boxes // _PART, min(_BATCH, self.n_boxes // 4), 1), _MOST_AT_ONCE)
        if full:
            chosen = _largest(self.boxes.counts[: self.n_boxes, 1].astype(np.float64), min(batch, _BATCH))
        else:
            chosen = _largest(self._priority[: self.n_boxes], batch)
        self._make_room(self.n_boxes + len(chosen))
        totals, alive = self.problem.expand(
            self.boxes, self._priority, self.n_boxes, chosen, self._attention, pool, _THREADS
        )
        self.rounds, self._at_once = self.rounds + 1, max(self._at_once, len(chosen))
        self.splits += len(chosen)
        self.yes += totals[0]
        self.no += totals[1]
        self.tied += totals[2]
        self._close_gaps(alive)

    def _make_room(self, n: int) -> None:
        if n > len(self.boxes):
            most = int(_most_bytes() / self.boxes.bytes_a_box) + _MOST_AT_ONCE
            room = max(min(_GROWTH * len(self.boxes), most), n, 4096)
            priority = np.zeros(room)
            priority[: self.n_boxes] = self._priority[: self.n_boxes]
            self.boxes, self._priority = self.boxes.grown(room), priority

    def _close_gaps(self, alive: np.ndarray) -> None:
        """Move the last boxes into rows that hold none."""
        self.n_boxes = int(alive.sum())
        holes = np.flatnonzero(~alive[: self.n_boxes])
        movers = self.n_boxes + np.flatnonzero(alive[self.n_boxes :])
        self.boxes.move(movers, holes)
        self._priority[holes] = self._priority[movers]


def _most_bytes() -> float:
    """Memory that boxes may take."""
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return _MOST_BYTES / 4
    return min(_MOST_BYTES, _MOST_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _largest(values: np.ndarray, n: int) -> np.ndarray:
    """Positions of the largest values, `n` or, of many, about as many."""
    step = n // _LOOKED_AT
    if step < 2:
        return np.argpartition(values, len(values) - n)[len(values) - n :]
    some = values[::step]
    limit = np.partition(some, len(some) - n // step)[len(some) - n // step]
    return np.flatnonzero(values >= limit)[: 2 * n]
