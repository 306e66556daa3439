"""What every engine offers, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from justicia.enclosure import Enclosure

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.ssat import Formula

__all__ = ["Solution", "Solver"]


@dataclass(frozen=True)
class Solution:
    """Enclosures of every group's probability.

    Attributes
    ----------
    enclosures : tuple of Enclosure
        One a group, in the population's order.
    engine : str
    seconds : float
    guarantee : str
        "exact", "bounds" or "statistical".
    groups_evaluated : int
    """

    enclosures: tuple[Enclosure, ...]
    engine: str
    seconds: float
    guarantee: str
    groups_evaluated: int

    @property
    def best(self) -> int:
        """The group with the largest lower bound."""
        return max(range(len(self.enclosures)), key=lambda group: self.enclosures[group].lo)

    @property
    def worst(self) -> int:
        """The group with the smallest upper bound."""
        return min(range(len(self.enclosures)), key=lambda group: self.enclosures[group].hi)


class Solver(Protocol):
    """An engine that answers formulas."""

    name: str

    def takes(self, decision: Decision) -> bool:
        """Whether the engine answers formulas with this matrix."""
        ...

    def solve(self, formula: Formula, *, time_limit: float | None = None) -> Solution:
        """Enclose the probability of the matrix for every group.

        Parameters
        ----------
        formula : Formula
        time_limit : float, optional
            Seconds after which the bounds reached so far are the answer.
        """
        ...
