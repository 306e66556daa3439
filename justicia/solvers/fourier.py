"""Linear thresholds: the characteristic function of the score, inverted between band-limited majorants.

The score is wrapped on a circle wide enough to hold it; the indicator of "above the threshold" is enclosed pointwise by
trigonometric polynomials of degree K, whose means need nothing but the characteristic function at 1, ..., K. That is
exact along a tree-shaped population, so the enclosure holds for lattices, spikes and dependence alike. Its width is
about density at the threshold times circle / K.

What is charged to every enclosure: the probability outside the window, the score's own rounding (the ends of the arc
are moved by it, outwards and inwards), and the rounding of the sums (`vaaler.rounding`).
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import EXACT
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.population.network import NetworkPopulation
from justicia.solvers.base import TOLERANCE, Effort, Solution
from justicia.solvers.characteristic import BLOCK, INTERPOLATION, NEGLIGIBLE, PANEL, Spectrum, turns
from justicia.solvers.counting import counted
from justicia.solvers.learn import learn
from justicia.solvers.parts import Part, extremes, parts_of
from justicia.solvers.vaaler import arc_bounds, rounding, weights
from justicia.solvers.windows import saturated, tails

if TYPE_CHECKING:
    from justicia.encoders.decisions import Decision
    from justicia.solvers.learn import Hierarchy, Oracle
    from justicia.ssat import Formula

__all__ = ["Fourier", "enclose"]

_LARGEST_FIRST = 16 * BLOCK
_MOST_FREQUENCIES = 2**22
_MOST_NUMBERS = 2**16
"""Complex numbers in one message: more groups are taken in parts."""
_MOST_WEIGHTS = 2**20
"""Values of one part times groups taken at once: there are a few numbers for each of them."""
_MOST_KEPT = 2**24
"""Frequencies times groups that are kept."""
_ENOUGH = 2**17
_GAP = 0.01
_CHARGE = 2e-3
"""Share of the tolerance that one tail may take."""


@dataclass
class _Circle:
    """Where the arcs lie.

    Attributes
    ----------
    length : float
    target : float
        The sum of contributions is compared with this.
    reach : float
        Sums within this of the target are undecided.
    far : float64 array of shape (n_groups,)
        The other end of the arc, where no mass is but for `charge`.
    charge : float
        Probability that something was misplaced.
    mass : float64 array of shape (n_groups,)
        Of everything: 1 but for measures that bound several groups at once.
    """

    length: float
    target: float
    reach: float
    far: np.ndarray
    charge: float
    mass: np.ndarray


class Fourier:
    """Inverts characteristic functions."""

    name = "fourier"
    tolerance = TOLERANCE

    def takes(self, decision: Decision) -> bool:
        """Whether the decision is a linear threshold."""
        return isinstance(decision, LinearThreshold)

    def solve(self, formula: Formula, effort: Effort) -> Solution:
        """Bounds of every group's rate within the tolerance (of the extreme ones when `search` is "learn")."""
        start = time.perf_counter()
        deadline = None if effort.time_limit is None else start + effort.time_limit
        decision, population = formula.decision, formula.population
        if not isinstance(decision, LinearThreshold):
            raise TypeError(f"fourier takes a linear threshold, not {type(decision).__name__}")
        if not isinstance(population, NetworkPopulation):
            return counted(decision, population, self.name, effort.search, start)
        decision = decision.scaled()
        if effort.search == "learn":
            oracle = self.oracle(decision, population, effort.tolerance, deadline, None)
            return learn(oracle, population.n_groups, self.name, effort.time_limit, start)
        parts = parts_of(population, decision.contributions)
        low, high = enclose(parts, population.n_groups, decision, effort.tolerance, deadline)
        if not decision.accepts_above:
            low, high = 1.0 - high, 1.0 - low
        widest = float((high - low).max())
        guarantee = "exact" if widest <= EXACT else "bounds"
        return Solution(low, high, self.name, time.perf_counter() - start, guarantee, population.n_groups)

    def oracle(
        self,
        decision: Decision,
        population: NetworkPopulation,
        tolerance: float,
        deadline: float | None,
        hierarchy: Hierarchy | None,
    ) -> Oracle:
        """What is known about sets of groups."""
        from justicia.solvers.sum_bounds import SumBounds

        if not isinstance(decision, LinearThreshold):
            raise TypeError(f"fourier takes a linear threshold, not {type(decision).__name__}")
        return SumBounds(decision.scaled(), population, tolerance, deadline, hierarchy)


@dataclass
class _State:
    """Bounds of the probability that the sum is above the target, as they get narrower."""

    low: np.ndarray
    high: np.ndarray

    @property
    def width(self) -> np.ndarray:
        return self.high - self.low


def enclose(
    parts: list[Part],
    n_groups: int,
    decision: LinearThreshold,
    tolerance: float,
    deadline: float | None,
    mass: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the probability in each group that the sum exceeds the decision's threshold.

    Parameters
    ----------
    parts : list of Part
    n_groups : int
    decision : LinearThreshold
    tolerance : float
        Width to reach.
    deadline : float or None
        `time.perf_counter()` at which the bounds reached so far are the answer.
    mass : float64 array of shape (n_groups,), optional
        Mass of everything, where the parts are no probabilities.

    Returns
    -------
    low, high : float64 arrays of shape (n_groups,)
    """
    from threadpoolctl import threadpool_limits

    whole = np.ones(n_groups) if mass is None else mass
    state = _State(np.zeros(n_groups), whole.copy())
    target, reach = _target(decision)
    least, most = extremes(parts, n_groups)
    state.low[least > target + reach] = whole[least > target + reach]
    state.high[most <= target - reach] = 0.0
    undecided = np.flatnonzero(state.width > 0)
    size = max(1, _MOST_NUMBERS // (BLOCK * max((part.n_states for part in parts), default=1)))
    size = min(size, max(1, _MOST_WEIGHTS // max((len(part.values) for part in parts), default=1)))
    chunks = [undecided[i : i + size] for i in range(0, len(undecided), size)]
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(2) as pool:
        for chunk in chunks:
            if deadline is not None and time.perf_counter() > deadline:
                break
            some = [part.of(chunk) for part in parts]
            _refine(state, chunk, some, whole[chunk], target, reach, tolerance, deadline, pool)
    low, high = np.clip(state.low, 0.0, whole), np.clip(state.high, 0.0, whole)
    return np.minimum(low, high), high


def _target(decision: LinearThreshold) -> tuple[float, float]:
    """What the sum of contributions is compared with, and how near to it a sum is undecided.

    Where sums are exact multiples of a step, the comparison moves to the middle between two of them, and none is near.
    """
    ours = 4e-15 * (len(decision.contributions) + 4) * (decision.magnitude + abs(decision.threshold))
    target = decision.threshold - decision.base
    if decision.slack == 0 and decision.step > 8 * ours:
        start = sum(float(values[0]) for values in decision.contributions)
        return start + (np.floor((target - start) / decision.step) + 0.5) * decision.step, 0.0
    return target, max(decision.slack, ours)


def _refine(
    state: _State,
    groups: np.ndarray,
    parts: list[Part],
    mass: np.ndarray,
    target: float,
    reach: float,
    tolerance: float,
    deadline: float | None,
    pool: ThreadPoolExecutor,
) -> None:
    """Narrow the bounds of some groups, pass by pass, until they are within the tolerance."""
    parts, circle = _circle(parts, mass, target, reach, tolerance)
    first = np.clip(0.2 / tolerance, BLOCK, _LARGEST_FIRST)
    degree = _whole_blocks(np.full(len(groups), first))
    tried = np.zeros(len(groups))
    known = _Known(parts, circle.length, len(groups))
    active = np.arange(len(groups))
    while len(active):
        if known.too_large(active, degree) and len(active) > 1:
            for half in np.array_split(active, 2):
                some = [part.of(half) for part in parts]
                _refine(state, groups[half], some, mass[half], target, reach, tolerance, deadline, pool)
            return
        if not known.extend(active, degree[active], deadline, pool):
            return
        low, high, slope = _bounds(known, circle, active, degree[active], pool)
        here = groups[active]
        before = state.width[here]
        state.low[here] = np.maximum(state.low[here], low)
        state.high[here] = np.minimum(state.high[here], high)
        width = state.width[here]
        # What more frequencies can take away is the slope; the rest is charged whatever their number.
        wanted = slope * degree[active] / np.maximum(tolerance - (high - low - slope), tolerance / 8)
        # An atom at the threshold does not get narrower; one beside it does not until the degree tells them apart.
        stuck = (width > 0.7 * before) & (degree[active] > np.maximum(2.0 * tried[active], _ENOUGH))
        tried[active] = degree[active]
        again = (width > tolerance) & ~stuck & (degree[active] < _MOST_FREQUENCIES)
        # Few passes: each looks at all frequencies again. Where the last ones changed little, many more are needed.
        least = np.where(width > 0.7 * before, 4.0, 1.3) * degree[active]
        wanted = np.clip(1.03 * wanted, np.minimum(least, _MOST_FREQUENCIES), _MOST_FREQUENCIES)
        wanted = np.minimum(wanted, 256 * degree[active])
        degree[active] = _whole_blocks(wanted)
        active = active[again]


def _whole_blocks(degree: np.ndarray) -> np.ndarray:
    return np.ceil(degree / BLOCK) * BLOCK


class _Known:
    """phi(k) as far as it was found, group by group."""

    def __init__(self, parts: list[Part], length: float, n_groups: int) -> None:
        self.parts = parts
        self.length = length
        self.phi = np.zeros((n_groups, 0), dtype=np.complex128)
        self.upto = np.zeros(n_groups)
        self._spectrum: tuple[np.ndarray, Spectrum] | None = None
        self.rounding = 0.0

    def too_large(self, active: np.ndarray, degree: np.ndarray) -> bool:
        """Whether the frequencies of all groups would take too much room."""
        return float(degree[active].max()) * len(self.phi) > _MOST_KEPT

    def extend(self, active: np.ndarray, degree: np.ndarray, deadline: float | None, pool: ThreadPoolExecutor) -> bool:
        """Find phi of some groups up to their degrees; False when time ran out."""
        order = np.argsort(-degree, kind="stable")
        rows, degree = active[order], degree[order]
        spectrum = self._of(rows)
        starts = np.arange(self.upto[rows].min() + 1, degree[0] + 1, BLOCK)
        panels = [starts[i : i + PANEL] for i in range(0, len(starts), PANEL)]
        if degree[0] > self.phi.shape[1]:
            wider = np.zeros((len(self.phi), int(degree[0])), dtype=np.complex128)
            wider[:, : self.phi.shape[1]] = self.phi
            self.phi = wider

        def run(panel: np.ndarray) -> bool:
            if deadline is not None and time.perf_counter() > deadline:
                return False
            n_active = int((degree >= panel[0]).sum())
            for start, phi in zip(panel, spectrum.blocks(panel, n_active), strict=True):
                self.phi[rows[:n_active], int(start) - 1 : int(start) - 1 + BLOCK] = phi
            return True

        done = all(list(pool.map(run, panels)))
        if done:
            self.upto[rows] = np.maximum(self.upto[rows], degree)
            self.rounding = rounding(
                float(degree[0]),
                len(self.parts),
                sum(len(part.values) for part in self.parts),
                sum(part.n_states for part in self.parts),
                spectrum.n_interpolated * INTERPOLATION + NEGLIGIBLE,
            )
        return done

    def _of(self, rows: np.ndarray) -> Spectrum:
        if self._spectrum is None or not np.array_equal(self._spectrum[0], rows):
            whole = np.array_equal(rows, np.arange(len(self.phi)))
            parts = self.parts if whole else [part.of(rows) for part in self.parts]
            self._spectrum = rows, Spectrum(parts, self.length)
        return self._spectrum[1]


def _circle(
    parts: list[Part], mass: np.ndarray, target: float, reach: float, tolerance: float
) -> tuple[list[Part], _Circle]:
    n_groups = len(mass)
    delta = tolerance * _CHARGE
    parts, times = saturated(parts, n_groups, target, 4 * reach, delta)
    window = tails(parts, n_groups, delta)
    # The far end keeps away from the ends of the window, where much mass may lie.
    margin = 8 * reach + _GAP * float((window.high - window.low).max())
    low = np.minimum(window.low, target) - margin
    high = np.maximum(window.high, target) + margin
    length = float((high - low).max())
    together = float(high.max() - low.min())
    # Between the top of the window and the bottom of its next turn there is room for the far end.
    far = (high + (length + low)) / 2
    if together <= 1.1 * length:
        # One far end for all costs less than a circle as short as can be.
        length, far = together, np.full(n_groups, high.max())
    return parts, _Circle(length, target, reach, far, (times + 2) * delta, mass)


def _bounds(
    known: _Known, circle: _Circle, rows: np.ndarray, degree: np.ndarray, pool: ThreadPoolExecutor
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bounds of some groups from their frequencies up to `degree`.

    Returns
    -------
    low, high, slope : float64 arrays of shape (n_groups,)
        The slope is the part of the width that falls as the degree rises.
    """
    inner, outer = (circle.target + circle.reach) / circle.length, (circle.target - circle.reach) / circle.length
    far = circle.far[rows] / circle.length
    far_ends = far[:1, None] if np.ptp(far) == 0 else far[:, None]
    levels, level_of = np.unique(degree, return_inverse=True)

    def run(start: int) -> np.ndarray:
        k = np.arange(start, min(start + PANEL * BLOCK, int(levels[-1]))) + 1.0
        sawtooth, fejer = weights(k, levels[:, None])
        phi = known.phi[rows, start : start + len(k)]
        sums = np.empty((6, len(rows)))
        for i, end in enumerate((np.array([[inner]]), np.array([[outer]]), far_ends)):
            here = phi * turns(k, -end)
            # Frequencies above a group's degree have weight 0.
            sums[2 * i] = np.einsum("gk,gk->g", here.imag, sawtooth[level_of])
            sums[2 * i + 1] = np.einsum("gk,gk->g", here.real, fejer[level_of])
        return sums

    panels = range(0, int(levels[-1]), PANEL * BLOCK)
    s_in, f_in, s_out, f_out, s_far, f_far = np.sum(list(pool.map(run, panels)), axis=0)
    mass = circle.mass[rows]
    low, _ = arc_bounds(far - inner, (s_in, s_far), (f_in, f_far), degree, mass)
    _, high = arc_bounds(far - outer, (s_out, s_far), (f_out, f_far), degree, mass)
    charge = circle.charge + known.rounding * np.maximum(mass, 1.0)
    slope = np.maximum(2.0 * mass + f_in + f_out + 2.0 * f_far, 0.0) / (degree + 1.0)
    return low - charge, high + charge, slope
