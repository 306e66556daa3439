"""What every engine offers, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from justicia.enclosure import Enclosure
from justicia.errors import InputError
from justicia.solvers.interruption import Interruption

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.ssat import Formula

__all__ = ["DELTA", "TOLERANCE", "Effort", "Solution", "Solver", "TooLargeError"]

DELTA = 1e-6
"""Probability that statistical intervals of an answer may miss, unless asked for another."""

TOLERANCE = 1e-4
"""Width of bounds that an engine tries to reach, unless asked for another."""


class TooLargeError(InputError):
    """Raised when an engine cannot answer a formula of this size; another one may."""


@dataclass(frozen=True)
class Effort:
    """What is asked of an engine besides the formula.

    Attributes
    ----------
    search : str
        "enumerate": every group; "learn": the extremes, bounds for the others.
    time_limit : float or None
        Seconds after which the bounds reached so far are the answer.
    tolerance : float
        Width of bounds to reach, for engines that approach the answer.
    delta : float
        Probability with which a statistical interval of some group may miss.
    watch : callable or None
        Called now and then with lower and upper bounds, arrays of shape (n_groups,); true when they suffice.
    weights : float64 array of shape (n_groups,), or None
        What the width of each group's bounds counts, 1 at most; an engine may leave the others for later.
    interruption : Interruption
        Shared by the questions of an audit.
    """

    search: str = "enumerate"
    time_limit: float | None = None
    tolerance: float = TOLERANCE
    delta: float = DELTA
    watch: Callable[[np.ndarray, np.ndarray], bool] | None = None
    weights: np.ndarray | None = None
    interruption: Interruption = field(default_factory=Interruption)


@dataclass(frozen=True)
class Solution:
    """Enclosures of every group's probability.

    Attributes
    ----------
    lo, hi : float64 array of shape (n_groups,)
        Bounds, in the population's order.
    engine : str
    seconds : float
    guarantee : str
        "exact", "bounds" or "statistical".
    groups_evaluated : int
    counts : (int array, int array, int array) or None
        Numerators of the bounds, and denominators, where the probabilities are counted.
    search : str
        "enumerate", or "learn" when only the extremes are sure to be exact.
    interval : (float64 array, float64 array) or None
        Statistical bounds inside of the certain ones, arrays of shape (n_groups,); all hold together but for a
        probability of `delta`.
    delta : float or None
    stopped : str or None
        Why the bounds are wider than asked for: "time", "settled", "interrupted", "memory" or "program"; "estimated"
        where the statistical bounds are the answer.
    problems : mapping of int to str
        Groups that an outside program gave no answer for, and why: a status, a colon, and the reason.
    """

    lo: np.ndarray
    hi: np.ndarray
    engine: str
    seconds: float
    guarantee: str
    groups_evaluated: int
    counts: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    search: str = "enumerate"
    interval: tuple[np.ndarray, np.ndarray] | None = None
    delta: float | None = None
    stopped: str | None = None
    problems: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def enclosures(self) -> tuple[Enclosure, ...]:
        """One enclosure a group; of fractions where there are counts."""
        if self.counts is None:
            return tuple(map(Enclosure, self.lo.tolist(), self.hi.tolist()))
        return tuple(
            Enclosure(Fraction(int(low), int(n)), Fraction(int(high), int(n)))
            for low, high, n in zip(*self.counts, strict=True)
        )

    @cached_property
    def intervals(self) -> tuple[Enclosure | None, ...]:
        """One statistical interval a group; None where there is none."""
        if self.interval is None:
            return (None,) * len(self.lo)
        return tuple(map(Enclosure, self.interval[0].tolist(), self.interval[1].tolist()))

    @property
    def best(self) -> int:
        """The group with the largest lower bound; by the statistical bounds where there are some."""
        return int(np.argmax(self.lo if self.interval is None else self.interval[0]))

    @property
    def worst(self) -> int:
        """The group with the smallest upper bound; by the statistical bounds where there are some."""
        return int(np.argmin(self.hi if self.interval is None else self.interval[1]))


class Solver(Protocol):
    """An engine that answers formulas."""

    name: str
    tolerance: float
    """Width of bounds that is reached unless another is asked for."""

    def takes(self, decision: Decision) -> bool:
        """Whether the engine answers formulas with this matrix."""
        ...

    def solve(self, formula: Formula, effort: Effort) -> Solution:
        """Enclose the probability of the matrix for every group.

        Raises
        ------
        TooLargeError
            When this engine cannot answer, whatever the time.
        """
        ...
