"""Decisions that are known up to two others: the engine is asked for both, and the answers enclose the rate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import EXACT
from justicia.solvers.base import Effort, Solution, Solver
from justicia.ssat import Formula

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.population.base import Population

__all__ = ["solve_between"]


def solve_between(engine: Solver, population: Population, least: Decision, most: Decision, effort: Effort) -> Solution:
    """Enclose the rate of a decision that says yes where `least` does, and no where `most` does.

    Parameters
    ----------
    engine : Solver
    population : Population
    least, most : Decision
        The same object when there is no doubt: then it is asked once.
    effort : Effort
        A time limit, and the probability that intervals miss, are shared by the two.

    Returns
    -------
    Solution
        `stopped` is "cells" when both answers are as narrow as asked for, and what lies between them is not.
    """
    if least is most:
        return engine.solve(Formula(population, least), effort)
    watch = effort.watch
    half = replace(
        effort,
        delta=effort.delta / 2,
        time_limit=None if effort.time_limit is None else effort.time_limit / 2,
        watch=None if watch is None else lambda low, _: watch(low, np.ones_like(low)),
    )
    below = engine.solve(Formula(population, least), half)
    half = replace(half, watch=None if watch is None else lambda _, high: watch(np.minimum(below.lo, high), high))
    above = engine.solve(Formula(population, most), half)
    lo, hi = np.minimum(below.lo, above.hi), above.hi
    width = float((hi - lo).max(initial=0.0))
    interval, delta = None, None
    if below.interval is not None or above.interval is not None:
        ends = (below.interval or (below.lo, below.hi))[0], (above.interval or (above.lo, above.hi))[1]
        interval = np.minimum(*ends), ends[1]
        delta = (below.delta or 0.0) + (above.delta or 0.0)
    counts = None
    if below.counts is not None and above.counts is not None:
        counts = below.counts[0], above.counts[1], above.counts[2]
    stopped = below.stopped or above.stopped
    if stopped is None and width > effort.tolerance + EXACT:
        own = max(float((one.hi - one.lo).max(initial=0.0)) for one in (below, above))
        stopped = "cells" if own <= effort.tolerance + EXACT else None
    return Solution(
        lo, hi, above.engine, below.seconds + above.seconds,
        "exact" if width <= EXACT else "bounds" if interval is None else "statistical",
        min(below.groups_evaluated, above.groups_evaluated), counts, above.search, interval, delta, stopped,
    )  # fmt: skip
