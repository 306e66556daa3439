"""What every engine offers, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from justicia.enclosure import Enclosure
from justicia.errors import InputError

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.ssat import Formula

__all__ = ["TOLERANCE", "Solution", "Solver", "TooLargeError"]

TOLERANCE = 1e-4
"""Width of bounds that an engine tries to reach, unless asked for another."""


class TooLargeError(InputError):
    """Raised when an engine cannot answer a formula of this size; another one may."""


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
    """

    lo: np.ndarray
    hi: np.ndarray
    engine: str
    seconds: float
    guarantee: str
    groups_evaluated: int
    counts: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    search: str = "enumerate"

    @cached_property
    def enclosures(self) -> tuple[Enclosure, ...]:
        """One enclosure a group; of fractions where there are counts."""
        if self.counts is None:
            return tuple(map(Enclosure, self.lo.tolist(), self.hi.tolist()))
        return tuple(
            Enclosure(Fraction(int(low), int(n)), Fraction(int(high), int(n)))
            for low, high, n in zip(*self.counts, strict=True)
        )

    @property
    def best(self) -> int:
        """The group with the largest lower bound."""
        return int(np.argmax(self.lo))

    @property
    def worst(self) -> int:
        """The group with the smallest upper bound."""
        return int(np.argmin(self.hi))


class Solver(Protocol):
    """An engine that answers formulas."""

    name: str
    tolerance: float
    """Width of bounds that is reached unless another is asked for."""

    def takes(self, decision: Decision) -> bool:
        """Whether the engine answers formulas with this matrix."""
        ...

    def solve(
        self,
        formula: Formula,
        *,
        search: str = "enumerate",
        time_limit: float | None = None,
        tolerance: float = TOLERANCE,
    ) -> Solution:
        """Enclose the probability of the matrix for every group.

        Parameters
        ----------
        formula : Formula
        search : str
            "enumerate": every group; "learn": the extremes, bounds for the others.
        time_limit : float, optional
            Seconds after which the bounds reached so far are the answer.
        tolerance : float
            Width of bounds to reach, for engines that approach the answer.

        Raises
        ------
        TooLargeError
            When this engine cannot answer, whatever the time.
        """
        ...
