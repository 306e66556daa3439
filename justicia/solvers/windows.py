"""How much of the line a score needs: windows by Chernoff's bound, and contributions too wide to matter in full."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.solvers.parts import Part, extremes, means, upward

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Tails", "saturated", "tails"]

_TILTS = 24
_WIDE = 0.25
_MOST_SATURATED = 8
_APART = 0.05


@dataclass(frozen=True)
class Tails:
    """Numbers that the sum in a group falls below, or exceeds, with at most a given probability.

    Attributes
    ----------
    low, high : float64 array of shape (n_groups,)
    """

    low: np.ndarray
    high: np.ndarray


def tails(parts: Sequence[Part], n_groups: int, delta: float) -> Tails:
    """Chernoff's bound: Pr[S >= b] <= exp(-z b) mean of exp(z S), for the best of some z > 0; and the same below.

    The means are found along the population's tree, so the bound holds under dependence.
    """
    low, high = extremes(parts, n_groups)
    _, variance = means(parts, n_groups)
    scale = np.sqrt(max(float(variance.max(initial=0.0)), 1e-300))
    tilts = np.geomspace(0.1, 100.0, _TILTS) / scale
    for sign in (1.0, -1.0):
        shifts = [float((sign * part.values).max()) for part in parts]

        def averaged(position: int, part: Part, sign: float = sign, shifts: list[float] = shifts) -> np.ndarray:
            return part.averaged(np.exp((sign * part.values - shifts[position])[:, None] * tilts))

        # Small means may underflow to 0 and bound nothing; their logarithms are then -inf, and the extremes bound.
        with np.errstate(under="ignore", divide="ignore"):
            mean = upward(parts, averaged, np.ones((n_groups, _TILTS)))
            logs = np.where(mean > 1e-250, np.log(np.maximum(mean, 1e-300)), np.inf)
        reach = ((logs + np.log(1.0 / delta)) / tilts).min(axis=1) + sum(shifts)
        reach += 1e-9 * (abs(sum(shifts)) + scale)
        if sign > 0:
            high = np.minimum(high, reach)
        else:
            low = np.maximum(low, -reach)
    return Tails(low, high)


def saturated(parts: list[Part], n_groups: int, target: float, margin: float, delta: float) -> tuple[list[Part], int]:
    """Pull in contributions that decide alone, whatever the others add.

    A value that lifts the sum above the target by more than the others can take back, but for probability `delta`,
    is replaced by the smallest such number; in the same way below.

    Parameters
    ----------
    parts : list of Part
    target : float
        The sum is compared with this.
    margin : float
        Replaced sums stay this far from the target, at least.

    Returns
    -------
    parts : list of Part
    times : int
        How often `delta` is to be charged.
    """
    times = 0
    everything = tails(parts, n_groups, delta)
    width = float((everything.high - everything.low).max(initial=0.0))
    widest = sorted(range(len(parts)), key=lambda i: -float(np.ptp(parts[i].values)))[:_MOST_SATURATED]
    for i in widest:
        part = parts[i]
        if np.ptp(part.values) <= _WIDE * width:
            continue
        without = [*parts[:i], replace(part, values=np.zeros_like(part.values)), *parts[i + 1 :]]
        rest = tails(without, n_groups, delta)
        # Much mass may lie at the ends of what the others add, so a distance is kept from the target.
        apart = margin + _APART * max(float(rest.high.max() - rest.low.min()), _APART * width)
        ceiling = target + apart - float(rest.low.min())
        floor = target - apart - float(rest.high.max())
        values = part.values
        if values.max() > ceiling:
            values = np.minimum(values, ceiling)
            times += 1
        if values.min() < floor:
            values = np.maximum(values, floor)
            times += 1
        if values is not part.values:
            parts = [*parts[:i], replace(part, values=values), *parts[i + 1 :]]
    return parts, times
