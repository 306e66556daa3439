"""An engine that is wrong by a given number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np


class ShiftedEngine:
    """Every rate of an engine, and a constant."""

    def __init__(self, engine, by: float) -> None:
        self._engine = engine
        self._by = by
        self.name = engine.name
        self.tolerance = engine.tolerance

    def takes(self, decision):
        return self._engine.takes(decision)

    def solve(self, formula, effort):
        solution = self._engine.solve(formula, effort)
        lo, hi = (np.clip(end + self._by, 0.0, 1.0) for end in (solution.lo, solution.hi))
        interval = solution.interval
        if interval is not None:
            interval = tuple(np.clip(end + self._by, 0.0, 1.0) for end in interval)
        return replace(solution, lo=lo, hi=hi, interval=interval, counts=None)
