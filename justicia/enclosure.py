"""An enclosure: two numbers that certainly hold the true one between them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["EXACT", "Enclosure", "Number"]

Number = float | Fraction

EXACT = 1e-12
"""Width up to which an enclosure counts as exact: float rounding."""


@dataclass(frozen=True)
class Enclosure:
    """The interval [lo, hi]; certainly holds the true value.

    Bounds are fractions where counts give them exactly, else floats.

    >>> Enclosure(0.25, 0.25).exact, float(Enclosure(0.25, 0.25))
    (True, 0.25)
    """

    lo: Number
    hi: Number

    @property
    def exact(self) -> bool:
        """Whether the bounds are equal up to float rounding."""
        return float(self.hi) - float(self.lo) <= EXACT

    @property
    def middle(self) -> float:
        """Halfway between the bounds."""
        return float(self.lo + self.hi) / 2

    def __float__(self) -> float:
        if not self.exact:
            raise ValueError(f"{self} is a bound, not a number: use lo and hi")
        return float(self.lo)

    def __str__(self) -> str:
        return f"{float(self.lo):.6g}" if self.exact else f"[{float(self.lo):.6g}, {float(self.hi):.6g}]"

    def overlaps(self, other: Enclosure) -> bool:
        """Whether the two may hold the same value, float rounding included."""
        slack = 0 if isinstance(self.lo, Fraction) and isinstance(other.lo, Fraction) else EXACT
        return bool(self.lo <= other.hi + slack and other.lo <= self.hi + slack)
