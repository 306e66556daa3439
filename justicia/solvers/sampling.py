"""What branch and bound leaves open, bounded statistically.

Of a group's probability in the open boxes, the favorable share is a proportion: boxes are drawn by their probability,
people inside them from the population, and the model is asked. The number of people is settled by a pilot whose answers
are not counted, so that Clopper and Pearson's interval holds. The rate lies between what is decided yes plus the open
probability times one end of the interval, and the same with the other end.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from justicia.binomial import clopper_pearson

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from justicia.solvers.boxes import Boxes, Problem

__all__ = ["OpenBoxes"]

_PILOT = 1_000
"""People of each group whose answers only tell how many are needed, and how long that takes."""
_ROUND = 200_000
"""People drawn at once."""
_PILOT_SHARE = 0.1
"""Of the time may go into finding out how long people take."""
_PLANNED, _PLANNED_OF_BOXES = 0.9, 1.45
"""Share of the time that is planned for; the more people are drawn from many boxes, the more of them share one, which
the pilot does not see."""
_MANY_BOXES = 1_000
_MOST = 1 << 31


class OpenBoxes:
    """The open boxes of some groups, to draw people from.

    Parameters
    ----------
    problem : Problem
    boxes : Boxes
    n_boxes : int
        Of which the first so many are open.
    seed : int
    """

    def __init__(self, problem: Problem, boxes: Boxes, n_boxes: int, seed: int = 0) -> None:
        self.problem, self.boxes = problem, boxes
        self.mass = boxes.mass[:n_boxes]
        self.open = self.mass.sum(axis=0)
        self._rng = np.random.default_rng(seed)

    def verdicts(self, group: int, n: int, pool: ThreadPoolExecutor, n_threads: int) -> np.ndarray:
        """Draw people of a group and ask the model.

        Returns
        -------
        int array of shape (3,)
            People with a score below the threshold, above it, and within rounding of it.
        """
        found = np.zeros(3, dtype=np.int64)
        share = self.mass[:, group] / self.open[group]
        ends = np.cumsum(share)
        while n > 0:
            now = min(n, _ROUND)
            n -= now
            boxes = np.searchsorted(ends, self._rng.random(now) * ends[-1], side="right")
            chosen, counts = np.unique(np.minimum(boxes, len(ends) - 1), return_counts=True)
            seeds = self._rng.integers(1 << 63, size=n_threads)
            parts = np.array_split(np.arange(len(chosen)), n_threads) if len(chosen) > n_threads else None
            if parts is None:
                # Few boxes: each thread draws a part of every one.
                jobs = [(chosen, counts // n_threads + (counts % n_threads > i)) for i in range(n_threads)]
            else:
                jobs = [(chosen[part], counts[part]) for part in parts]

            def run(job: tuple[tuple[np.ndarray, np.ndarray], int]) -> np.ndarray:
                (some, sizes), seed = job
                return self.problem.sample(self.boxes, some, sizes, group, np.random.default_rng(seed))

            for verdict in pool.map(run, zip(jobs, seeds.tolist(), strict=True)):
                found += np.bincount(verdict, minlength=3)
        return found

    def interval(
        self,
        groups: np.ndarray,
        width: float,
        delta: float,
        deadline: float,
        pool: ThreadPoolExecutor,
        n_threads: int,
        weights: np.ndarray | float = 1.0,
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Bounds of the favorable share of the open probability, in some groups.

        Parameters
        ----------
        groups : int array of shape (n,)
            Groups with open probability.
        width : float
            Width of the bounds of a rate that is narrow enough.
        delta : float
            Probability that the bounds of some of the groups miss.
        deadline : float
            By `time.perf_counter`; kept but for noise.
        weights : float64 array of shape (n,), or float
            What the width of each group's bounds counts.

        Returns
        -------
        (lo, hi) : float64 arrays of shape (n,), or None when there is no time
        """
        start = time.perf_counter()
        if start >= deadline:
            return None
        spread = np.empty(len(groups))
        for i, group in enumerate(groups):
            _, above, tied = self.verdicts(int(group), _PILOT, pool, n_threads)
            share = (above + tied / 2 + 1) / (_PILOT + 2)
            spread[i] = share * (1 - share)
        # As many people as make every group's interval equally wide.
        need = (weights * self.open[groups]) ** 2 * spread
        # Small draws are slower than large ones: how long people take shows in larger ones, shared like those to come.
        each = (time.perf_counter() - start) / (_PILOT * len(groups))
        n = min(_PILOT_SHARE * (deadline - start) / each, _ROUND)
        if n > _PILOT and need.sum() > 0.0:
            now, probes = time.perf_counter(), np.ceil(n * need / need.sum()).astype(np.int64)
            for group, size in zip(groups, probes, strict=True):
                self.verdicts(int(group), int(size), pool, n_threads)
            each = (time.perf_counter() - now) / float(probes.sum())
        now = time.perf_counter()
        quantile = 4 * 2 * np.log(2 * len(groups) / delta)
        wanted = np.maximum(need * quantile / max(width, 1e-9) ** 2, _PILOT)
        # Late or not, as long as the pilot took is well spent.
        planned = _PLANNED if len(self.mass) < _MANY_BOXES else _PLANNED_OF_BOXES
        able = max(deadline - now, now - start) * planned / each
        if able < len(groups) * _PILOT / 2:
            return None
        if wanted.sum() > able:
            wanted = np.maximum(able * need / need.sum(), _PILOT / 2)
        sizes = np.minimum(wanted, _MOST).astype(np.int64)
        lo, hi = np.empty(len(groups)), np.empty(len(groups))
        for i, group in enumerate(groups):
            _, above, tied = self.verdicts(int(group), int(sizes[i]), pool, n_threads)
            # Those within rounding of the threshold count for neither end.
            low, high = clopper_pearson(np.array([above, above + tied]), np.full(2, sizes[i]), delta / len(groups))
            lo[i], hi[i] = low[0], high[1]
        return lo, hi
