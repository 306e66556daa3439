r"""Linear models over numeric variables that have densities.

Given the states of the other variables, a sum of multiples of normal variables is normal, whether they hang together or
not: a group's rate is the sum over the states of their probability times the normal distribution function of mean over
standard deviation of the score. That is exact but for rounding.

Where densities that are constant between numbers are in the sum too, its distribution has no closed form, but its
characteristic function has: the product of that of the normal part, and for each such variable of a mean of

.. math:: e^{2 \pi i k m} \frac{\sin \pi k w}{\pi k w}

over its steps of middle m and width w. It is inverted between majorants, as in `justicia.solvers.fourier`.

What the model's own sum may be off by rounding, and ours, moves the threshold both ways.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import EXACT
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.population.networks.gaussians import Component, Single
from justicia.population.networks.mixed import MixedNetwork
from justicia.solvers.base import TOLERANCE, Effort, Solution
from justicia.solvers.vaaler import arc_bounds, weights

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.ssat import Formula

__all__ = ["NormalScores"]

_UNIT = float(np.finfo(np.float64).eps) / 2
_FAR = 9.5
"""Standard deviations beyond which nothing is looked at, at a charge."""
_CHARGE = 1e-19
_ROOM = 0.02
_FIRST = 1024
_MOST_FREQUENCIES = 1 << 22
_NUMBERS = 1 << 20
"""Complex numbers at once."""
_GONE = 1e-17
"""Smaller values of a characteristic function are left out, at a charge."""


@dataclass(frozen=True)
class _Scores:
    """Scores given the states of all variables that matter, one choice of them a row.

    Attributes
    ----------
    share : float64 array of shape (n, n_groups)
    mean, deviation : float64 arrays of shape (n,)
        Of the normal part, all constants included.
    steps : list of (float64 array of shape (n_states, n_steps + 1), float64 array of shape (n_states, n_steps), int
        array of shape (n,))
        Edges of other parts, masses, and which of them belongs to each row.
    size : float
        At least every number that is added up.
    terms : int
        How many there are.
    """

    share: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
    size: float
    terms: int


class NormalScores:
    """Normal distribution functions of scores.

    Parameters
    ----------
    slopes : sequence of float64 array of shape (n_names,)
        What a unit of each variable of each component of the population adds to the score.
    intercept : float
        What they add at 0.
    size : float
        The largest numbers that these were found from, added up.
    reach : float
        The largest numbers that the variables take, times the slopes, added up: what a scaler may round.
    """

    name = "normal"
    tolerance = TOLERANCE

    def __init__(self, slopes: Sequence[np.ndarray], intercept: float, size: float, reach: float) -> None:
        self._slopes = slopes
        self._intercept = intercept
        self._size = size
        self._reach = reach

    def takes(self, decision: Decision) -> bool:
        """Whether the decision is a linear threshold."""
        return isinstance(decision, LinearThreshold)

    def solve(self, formula: Formula, effort: Effort) -> Solution:
        """Rates of every group: exact where all densities are normal, else bounds within the tolerance."""
        start = time.perf_counter()
        deadline = math.inf if effort.time_limit is None else start + effort.time_limit
        decision, population = formula.decision, formula.population
        if not isinstance(decision, LinearThreshold) or not isinstance(population, MixedNetwork):
            raise TypeError("normal takes a linear threshold over a stated population with densities")
        scores = self._scores(decision, population)
        rounding = decision.slack if decision.rounding is None else decision.rounding
        slack = rounding + _UNIT * (2.0 * (scores.terms + 4) * scores.size + 8.0 * self._reach)
        stopped = None
        if scores.steps:
            low, high = _inverted(scores, decision.threshold, slack, effort.tolerance, deadline)
            stopped = "time" if time.perf_counter() > deadline else None
        else:
            low, high = _exact(scores, decision.threshold, slack)
        if not decision.accepts_above:
            low, high = 1.0 - high, 1.0 - low
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
        guarantee = "exact" if float((high - low).max()) <= EXACT else "bounds"
        name = "fourier" if scores.steps else self.name
        return Solution(
            np.minimum(low, high), high, name, time.perf_counter() - start, guarantee, len(low), stopped=stopped
        )

    def _scores(self, decision: LinearThreshold, population: MixedNetwork) -> _Scores:
        moving = [place for place, held in enumerate(decision.contributions) if np.ptp(held) > 0]
        places = sorted({*moving, *population.scope})
        cells, share = population.together(places)
        still = [float(held[0]) for place, held in enumerate(decision.contributions) if place not in set(places)]
        mean = np.full(len(cells), decision.base + self._intercept + sum(still))
        sizes = [abs(decision.base), abs(self._intercept), self._size, abs(decision.threshold), *map(abs, still)]
        for at, place in enumerate(places):
            added = decision.contributions[place][cells[:, at]]
            mean += added
            sizes.append(float(np.abs(added).max(initial=0.0)))
        variance = np.zeros(len(cells))
        steps = []
        for one, slope in zip(population.components, self._slopes, strict=True):
            choice = population.choice(one, places, cells)
            if isinstance(one, Component):
                sizes.append(float((np.abs(one.mean) @ np.abs(slope)).max()))
                mean += (one.mean @ slope)[choice]
                variance += np.einsum("i,sij,j->s", slope, one.covariance, slope)[choice]
            elif slope[0] != 0.0:
                edges, masses = _scaled(one, float(slope[0]))
                sizes.append(float(np.abs(edges).max()))
                steps.append((edges, masses, choice))
        deviation = np.sqrt(np.maximum(variance, 0.0))
        sizes.append(float(deviation.max(initial=0.0)))
        return _Scores(share, mean, deviation, steps, sum(sizes), len(sizes))


def _scaled(one: Single, slope: float) -> tuple[np.ndarray, np.ndarray]:
    n_steps = one.steps.masses.shape[-1]
    edges = one.steps.edges.reshape(-1, n_steps + 1) * slope
    masses = one.steps.masses.reshape(-1, n_steps)
    return (edges, masses) if slope > 0 else (edges[:, ::-1], masses[:, ::-1])


def _exact(scores: _Scores, threshold: float, slack: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the probability of a score above the threshold, apart by the rounding alone.

    A standard deviation that is off by a share d moves a probability by less than d / 4: that is far below `EXACT`.
    """
    from scipy.special import ndtr

    found = []
    for moved in (-slack, slack):
        above = scores.mean - threshold + moved
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(scores.deviation > 0, ndtr(above / scores.deviation), above > 0)
        found.append(share @ scores.share)
    if (scores.deviation > 0).all() and float((found[1] - found[0]).max()) <= EXACT / 4:
        middle = (found[0] + found[1]) / 2
        return middle, middle
    return found[0] - EXACT / 8, found[1] + EXACT / 8


def _inverted(
    scores: _Scores, threshold: float, slack: float, tolerance: float, deadline: float
) -> tuple[np.ndarray, np.ndarray]:
    """The same by the characteristic function."""
    least = scores.mean - _FAR * scores.deviation
    most = scores.mean + _FAR * scores.deviation
    for edges, _, which in scores.steps:
        least, most = least + edges[which, 0], most + edges[which, -1]
    bottom, top = float(least.min()) - 4 * slack, float(most.max()) + 4 * slack
    n_groups = scores.share.shape[1]
    scores, threshold, bottom, top = _from(scores, bottom), threshold - bottom, 0.0, top - bottom
    if threshold <= bottom:
        return np.full(n_groups, 1.0 - _CHARGE), np.ones(n_groups)
    if threshold >= top:
        return np.zeros(n_groups), np.full(n_groups, _CHARGE)
    length = (top - bottom) * (1.0 + _ROOM)
    far = (top + (bottom + length)) / 2
    low, high = np.zeros(n_groups), np.ones(n_groups)
    phi = np.zeros((n_groups, 0), dtype=np.complex128)
    counts = len(scores.steps) + 1, len(scores.mean) + sum(masses.size for _, masses, _ in scores.steps)
    degree = _FIRST
    while True:
        made = _characteristic(scores, length, phi.shape[1] + 1, degree, deadline)
        if made is None:
            return low, high
        phi = np.concatenate([phi, made], axis=1)
        found = _arcs(phi, length, threshold, slack, far, counts)
        low, high = np.maximum(low, found[0]), np.minimum(high, found[1])
        widest = float((high - low).max())
        if widest <= tolerance or degree >= _MOST_FREQUENCIES:
            return low, high
        # The width falls as the degree rises; what does not is an atom at the threshold.
        degree = int(min(max(2.0, min(1.2 * widest / tolerance, 64.0)) * degree, _MOST_FREQUENCIES))


def _from(scores: _Scores, origin: float) -> _Scores:
    """The same scores less a number, every part with steps around 0: phases are small then."""
    mean, steps = scores.mean - origin, []
    for edges, masses, which in scores.steps:
        middle = (edges[:, 0] + edges[:, -1]) / 2
        mean = mean + middle[which]
        steps.append((edges - middle[:, None], masses, which))
    return replace(scores, mean=mean, steps=steps)


def _characteristic(scores: _Scores, length: float, first: int, last: int, deadline: float) -> np.ndarray | None:
    """phi(k) of each group, k = first, ..., last; None when time runs out."""
    n = len(scores.mean)
    size = max(1, _NUMBERS // max(n, 1))
    found = np.zeros((scores.share.shape[1], last - first + 1), dtype=np.complex128)
    for start in range(first, last + 1, size):
        if time.perf_counter() > deadline:
            return None
        k = np.arange(start, min(start + size, last + 1), dtype=np.float64)
        damped = np.exp(-2.0 * (np.pi * np.outer(scores.deviation / length, k)) ** 2)
        if damped.max() < _GONE:
            break
        made = damped * _turns(scores.mean / length, k)
        for edges, masses, which in scores.steps:
            made *= _of_steps(edges / length, masses, k)[which]
        found[:, start - first : start - first + len(k)] = scores.share.T @ made
    return found


def _of_steps(edges: np.ndarray, masses: np.ndarray, k: np.ndarray) -> np.ndarray:
    found = np.zeros((len(edges), len(k)), dtype=np.complex128)
    for step in range(masses.shape[1]):
        middle, width = (edges[:, step] + edges[:, step + 1]) / 2, edges[:, step + 1] - edges[:, step]
        found += masses[:, step, None] * np.sinc(np.outer(width, k)) * _turns(middle, k)
    return found


def _turns(x: np.ndarray, k: np.ndarray) -> np.ndarray:
    """exp(2 pi i k x)."""
    phase = np.outer(x, k)
    return np.asarray(np.exp(2j * np.pi * (phase - np.rint(phase))))


def _arcs(
    phi: np.ndarray, length: float, threshold: float, slack: float, far: float, counts: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    degree = phi.shape[1]
    k = np.arange(1.0, degree + 1.0)
    sawtooth, fejer = weights(k, np.array(float(degree)))
    sums = {}
    for name, end in (("inner", threshold + slack), ("outer", threshold - slack), ("far", far)):
        here = phi * _turns(np.array([-end / length]), k)[0]
        sums[name] = here.imag @ sawtooth, here.real @ fejer
    held = np.array(float(degree))
    low, _ = arc_bounds(
        (far - threshold - slack) / length, (sums["inner"][0], sums["far"][0]), (sums["inner"][1], sums["far"][1]), held
    )
    _, high = arc_bounds(
        (far - threshold + slack) / length, (sums["outer"][0], sums["far"][0]), (sums["outer"][1], sums["far"][1]), held
    )
    charge = _rounded(degree, *counts) + _CHARGE
    return low - charge, high + charge


def _rounded(degree: int, n_parts: int, n_terms: int) -> float:
    """How far rounding moves the bounds of an arc, at most.

    A phase k x of |x| at most 1 errs by 2 k u turns (the quotient x and the product), its sine by 12.6 k u, that of k w
    in a step's factor by 3 k u: 15.4 k u a part, and one more for the end of the arc. The weights c_k of the sines are
    less than (1 / k + 1 / K) / pi, so that the sum over k is at most 7.4 K u, those of the cosines give 2.6 K u; there
    are two ends. What does not grow with k, sums over choices of states and steps and what is left out, is in each
    phi(k).
    """
    level = 1e-13 + 2.0 * _UNIT * n_terms + _GONE
    return 32.0 * _UNIT * degree * (n_parts + 1) + 2.0 * level * (2.0 * (math.log(degree) + 2.0) / math.pi + 1.0)
