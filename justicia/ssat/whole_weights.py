"""Whole weights that accept the very same points as a linear threshold.

Where all contributions are whole multiples of one unit, these multiples. Otherwise rounded multiples of a unit so small
that no point changes sides: with n features, rounding moves a sum by n / 2 units at most, so the unit has to be smaller
than 1 / n of the gap between the largest score below the threshold and the smallest score above it. That gap is found
from sorted sums of both halves of the features.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import FormulaError

if TYPE_CHECKING:
    from justicia.encoders.linear_threshold import LinearThreshold

__all__ = ["MOST_WEIGHT", "whole_weights"]

MOST_WEIGHT = 2**36
"""Largest sum of weights; with larger ones float64 would round too roughly."""
_MOST_SUMS = 2**20
"""Sums of one half of the features."""
_ROUNDING = 1e-12
"""A gap has to be this much wider than all that rounding may have moved, relative to the scores."""


def whole_weights(decision: LinearThreshold) -> tuple[list[np.ndarray], int]:
    """Whole weights of the cells, and the smallest sum of weights that is above the threshold.

    Parameters
    ----------
    decision : LinearThreshold

    Returns
    -------
    weights : list of int64 arrays of shape (n_cells,)
    bound : int

    Raises
    ------
    FormulaError
        When a score may lie on either side, or the weights would be too large; the message says so.

    Examples
    --------
    >>> from justicia.encoders import LinearThreshold
    >>> decision = LinearThreshold((np.array([0.0, 1.5]), np.array([0.0, 0.5, 1.0])), -1.25, 0.0, True, 0.0)
    >>> weights, bound = whole_weights(decision)
    >>> [one.tolist() for one in weights], bound
    ([[0, 3], [0, 1, 2]], 3)
    """
    low, high = _gap(decision)
    if np.isinf(low) or np.isinf(high):
        # All scores lie on one side.
        return [np.zeros(len(values), dtype=np.int64) for values in decision.contributions], int(np.isinf(high))
    return _multiples(decision) or _rounded(decision, low, high)


def _multiples(decision: LinearThreshold) -> tuple[list[np.ndarray], int] | None:
    """Multiples of a common unit; None when they are not small."""
    exact = [
        [Fraction(value) - Fraction(values.min()) for value in values.tolist()] for values in decision.contributions
    ]
    distinct = {value for values in exact for value in values if value}
    if not distinct:
        return None
    scale = math.lcm(*(value.denominator for value in distinct))
    unit = Fraction(math.gcd(*(int(value * scale) for value in distinct)), scale)
    if sum(max(values) for values in exact) / unit > MOST_WEIGHT:
        return None
    least = sum((Fraction(values.min()) for values in decision.contributions), Fraction(decision.base))
    above = (Fraction(decision.threshold) - least) / unit
    weights = [np.array([int(value / unit) for value in values], dtype=np.int64) for values in exact]
    return weights, math.floor(above) + 1


def _rounded(decision: LinearThreshold, low: float, high: float) -> tuple[list[np.ndarray], int]:
    """Rounded multiples of a unit that fits into the gap between scores."""
    n_features = sum(float(np.ptp(values)) > 0 for values in decision.contributions)
    scale = 1.001 * n_features / (high - low)
    total = sum(float(np.ptp(values)) for values in decision.contributions) * scale
    if total > MOST_WEIGHT:
        raise FormulaError(
            f"scores come as near as {high - low:.2g} to each other at the threshold: whole weights that accept the "
            f"same people would add up to {total:.2g}, which float64 rounds too roughly: pass --solver fourier"
        )
    weights = [np.rint((values - values.min()) * scale).astype(np.int64) for values in decision.contributions]
    least = decision.base + sum(float(values.min()) for values in decision.contributions)
    middle = (low + high) / 2 - least
    return weights, math.ceil(middle * scale)


def _gap(decision: LinearThreshold) -> tuple[float, float]:
    """The largest score at or below the threshold, and the smallest above it; infinite where there is none."""
    wanted = sorted((np.unique(values) for values in decision.contributions), key=len)
    halves = [np.array([decision.base]), np.zeros(1)]
    for values in reversed(wanted):
        halves.sort(key=len)
        if len(halves[0]) * len(values) > _MOST_SUMS:
            n_points = math.prod(len(one) for one in wanted)
            raise FormulaError(
                f"the model tells {n_points:.2g} combinations of values apart, too many to find whole weights that "
                f"accept the same people (half of its features have more than {_MOST_SUMS:,} sums): "
                "pass --solver fourier"
            )
        halves[0] = np.unique(np.add.outer(halves[0], values))
    first, second = halves
    places = np.searchsorted(second, decision.threshold - first, side="right")
    below = (first + second[np.maximum(places - 1, 0)])[places > 0]
    above = (first + second[np.minimum(places, len(second) - 1)])[places < len(second)]
    low, high = float(below.max(initial=-np.inf)), float(above.min(initial=np.inf))
    # Without slack every order of adding up gives the same number, and so does the one taken here.
    charge = decision.slack + _ROUNDING * decision.magnitude if decision.slack > 0.0 else 0.0
    if charge and min(high - decision.threshold, decision.threshold - low) <= charge:
        raise FormulaError(
            "some score lies so near the threshold that the rounding of the model's own sum decides about it: "
            "no clauses can say that; pass --solver fourier"
        )
    return low, high
