"""Look at bounds while they are being narrowed: show how far they are, and stop when every requirement is settled."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from justicia.enclosure import Enclosure
from justicia.metrics import MEASURES, RATES_OF, Rates, Requirement, measure

__all__ = ["KINDS", "Progress", "Watch"]

KINDS = {"selection_rate": "selection rates", "tpr": "true positive rates", "fpr": "false positive rates"}
"""Rates of groups, in words."""

Progress = Callable[[str, float], None]
"""Takes what is known so far, and how much of the way is done, between 0 and 1."""


@dataclass(frozen=True)
class Watch:
    """What an engine calls with the bounds that it has reached.

    Attributes
    ----------
    requirements : sequence of Requirement
    kind : str
        The rates that are bounded, one of `KINDS`.
    names : str
        The grouping, in words.
    absent : int
        Groups that have no such rate.
    tolerance : float
    progress : Progress or None
    """

    requirements: Sequence[Requirement]
    kind: str
    names: str
    absent: int
    tolerance: float
    progress: Progress | None

    def __call__(self, low: np.ndarray, high: np.ndarray) -> bool:
        """Whether every requirement on these rates is settled; false when there is none."""
        held: list[Enclosure | None] = [Enclosure(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        rates = Rates.by_kind({self.kind: [*held, *[None] * self.absent]})
        self._show(float((high - low).max()), rates)
        here = [held for held in self.requirements if held.source == "verified" and self.kind in held.kinds]
        if not here or any(held.kinds != (self.kind,) or not held.plain for held in here):
            return False
        return all(held.judge(measure(held.measure, rates)).status != "undecided" for held in here)

    def _show(self, width: float, rates: Rates) -> None:
        if self.progress is None:
            return
        found = [(name, measure(name, rates).value) for name in MEASURES if RATES_OF[name] == (self.kind,)]
        says = "".join(
            f", {name.replace('_', ' ')} {float(value.lo):.4f} to {float(value.hi):.4f}"
            for name, value in found
            if value is not None
        )
        done = math.log(max(width, 1e-300)) / math.log(min(self.tolerance, 0.5))
        self.progress(
            f"{self.names}, {KINDS[self.kind]}: bounds at most {width:.2g} apart{says}", min(max(done, 0.0), 1.0)
        )
