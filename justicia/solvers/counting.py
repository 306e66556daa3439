"""Populations that are lists of people: every person is asked, and counted in integers."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import numpy as np

from justicia.solvers.base import Solution

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.population.base import Population

__all__ = ["counted"]

logger = logging.getLogger(__name__)


def counted(decision: Decision, population: Population, engine: str, search: str, start: float) -> Solution:
    """Rates of all groups; people whose outcome is undecided make the difference between the bounds.

    Parameters
    ----------
    decision : Decision
    population : Population
        With a `support`.
    engine, search : str
    start : float
        `time.perf_counter()` at which the engine began.
    """
    if population.support is None:
        raise TypeError(f"a {population.structure} population is no list of people")
    if search == "learn":
        logger.info("every group is evaluated: under the %s population that is the fastest", population.structure)
    groups, points, weights = population.support
    selected, undecided = decision.evaluate(points), decision.undecided(points)

    def count(rows: np.ndarray) -> np.ndarray:
        kept = np.bincount(groups[rows], weights=weights[rows], minlength=population.n_groups)
        return np.rint(kept).astype(np.int64) if whole else kept

    whole = weights.dtype.kind != "f"
    counts = count(selected & ~undecided), count(selected | undecided), population.sizes
    low, high = counts[0] / counts[2], counts[1] / counts[2]
    guarantee = "bounds" if undecided.any() else "exact"
    seconds = time.perf_counter() - start
    return Solution(low, high, engine, seconds, guarantee, population.n_groups, counts if whole else None)
