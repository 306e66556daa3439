"""The worst case over shifts of the population: the range of every rate over all populations near the verified one.

What a shift of a radius may do to each structure says `justicia.population.shifts`. There are three ways to the range,
each of which certainly holds every rate, and each named in the report (`METHODS`).
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.enclosure import EXACT, Enclosure
from justicia.encoders.decisions import Decision, Tree
from justicia.errors import InputError
from justicia.population.mixture import MixturePopulation
from justicia.population.network import NetworkPopulation
from justicia.population.shifts import shift_distance
from justicia.solvers.counting import counted
from justicia.solvers.shifted import NearbyTables, moved_mean
from justicia.solvers.situations import OutOfTimeError, Situations, shuffled, situations_of_points, situations_of_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.population import Population
    from justicia.population.base import Node
    from justicia.questions import Asked
    from justicia.solvers import Solution

__all__ = ["METHODS", "SUPPORT", "Change", "Shift", "ShiftedRate", "check_shift", "shift_rates"]

logger = logging.getLogger(__name__)

METHODS = {
    "tables": "the worst row of every table in every situation (robust dynamic programming)",
    "closed_form": "the rows of a group moved as one distribution: exact",
    "distance": "the total variation distance that the rows of the tables may add up to, whatever the model",
}
"""How a range is found, by name."""

SUPPORT = "cells of positive probability in the group, before the shift"
"""Where probability may be moved to."""

MOST_SITUATIONS = 10_000
"""With more of them before some node, the range is found by distance."""
ORDERS = 6
"""Further orders of the features in which ranges are bounded, where they are wider than what was found: rows are chosen
anew in fewer situations the earlier a feature stands, so that each order makes a bound of its own."""
MOST_POINTS = 200_000
"""Points of the domain times groups; with more of them, models other than trees are bounded by distance."""


@dataclass(frozen=True)
class Change:
    """What one part of a shift adds to a rate.

    Attributes
    ----------
    part : str
        "feature": its tables; "rows": the rows of a mixture; "weights": those of a mixture's rows and classes.
    feature : str or None
        Its name.
    change : float
    """

    part: str
    feature: str | None
    change: float


@dataclass(frozen=True)
class ShiftedRate:
    """The rate of one group.

    Attributes
    ----------
    unshifted : Enclosure
        Under the population itself.
    statistical : Enclosure or None
        Statistical bounds of the same.
    within : Enclosure
        Certainly holds the rate under every population within the radius.
    interval : Enclosure or None
        The same from the statistical bounds.
    found : Enclosure or None
        Rates of the populations within the radius that come closest to the two ends, as far as a search has found.
    lowest, highest : tuple of Change, or None
        What makes the change to them, the largest first; None when no population was looked for.
    """

    unshifted: Enclosure
    statistical: Enclosure | None
    within: Enclosure
    interval: Enclosure | None
    found: Enclosure | None
    lowest: tuple[Change, ...] | None
    highest: tuple[Change, ...] | None


@dataclass(frozen=True)
class Shift:
    """The rates of one kind in all groups of a grouping.

    Attributes
    ----------
    radius : float
    method : str
        One of `METHODS`.
    rates : tuple of (ShiftedRate or None)
        None for groups that have no such rate.
    stopped : bool
        Time ran out: the ranges may be wider, and found populations further from their ends, than they had to be.
    """

    radius: float
    method: str
    rates: tuple[ShiftedRate | None, ...]
    stopped: bool = False


def check_shift(shift: Any, search: str, *, bounds: bool, bootstrap: int) -> float | None:
    """The radius; None when nothing is shifted.

    Raises
    ------
    InputError
        When it is no distance, or goes with another option that has no meaning for ranges.
    """
    if shift is None:
        return None
    if isinstance(shift, bool) or not isinstance(shift, (int, float, np.integer, np.floating)):
        raise InputError(f"shift is a number, not {shift!r}")
    radius = float(shift)
    if not 0 <= radius <= 1:
        raise InputError(f"shift {radius:g} does not lie between 0 and 1: it is a total variation distance of tables")
    if radius == 0:
        return None
    for name, asked in (("bounds", bounds), ("bootstrap", bool(bootstrap))):
        if asked:
            raise InputError(
                f"shift and {name} do not go together: {name} is about rows drawn from one population, shift about all "
                "populations near it; leave one out"
            )
    if search == "learn":
        raise InputError("shift needs the rate of every group: leave out --search learn")
    return radius


def shift_rates(asked: Asked, radius: float, n_groups: int, time_limit: float | None = None) -> Shift:
    """Ranges of the rates of all groups.

    Parameters
    ----------
    asked : Asked
        What was asked and answered about the population itself.
    radius : float in (0, 1]
    n_groups : int
        Of the grouping; `asked.kept` has the positions of those that were asked about.
    time_limit : float, optional
        Seconds; then ranges are found by distance, where they are not known yet.
    """
    seen, solution = asked.seen, asked.solution
    deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
    found = _ranges(seen.population, seen.least, seen.most, solution, radius, deadline)
    if found.stopped:
        logger.warning(
            "time ran out for the ranges over shifts of %s: %s; pass --time-limit to give more time",
            " x ".join(asked.people.sensitive),
            "they are found by distance" if found.method == "distance" else "narrower ones were not looked for",
        )
    rates: list[ShiftedRate | None] = [None] * n_groups
    for i, position in enumerate(asked.kept.tolist()):
        plain = solution.enclosures[i]
        # Rounding must not put a range beside what it holds.
        low, high = min(float(found.lo[i]), float(plain.lo)), max(float(found.hi[i]), float(plain.hi))
        statistical = solution.intervals[i]
        interval = None
        if statistical is not None:
            interval = Enclosure(
                max(low, float(statistical.lo) - (float(plain.lo) - low)),
                min(high, float(statistical.hi) + (high - float(plain.hi))),
            )
        reached = None
        if found.found is not None:
            reached = Enclosure(*(float(np.clip(end[i], low, high)) for end in found.found))
        ends = [_changes(found.changes, end, i) for end in (0, 1)]
        rates[position] = ShiftedRate(plain, statistical, Enclosure(low, high), interval, reached, *ends)
    return Shift(radius, found.method, tuple(rates), found.stopped)


def _changes(
    changes: Mapping[tuple[str, str | None], np.ndarray] | None, end: int, i: int
) -> tuple[Change, ...] | None:
    if changes is None:
        return None
    held = [Change(*key, float(values[end, i])) for key, values in changes.items()]
    return tuple(sorted((one for one in held if abs(one.change) > EXACT), key=lambda one: -abs(one.change)))


@dataclass(frozen=True)
class _Ranges:
    """Ranges of all groups, arrays of shape (n_groups,); changes by part and feature of shape (2, n_groups)."""

    method: str
    lo: np.ndarray
    hi: np.ndarray
    found: tuple[np.ndarray, np.ndarray] | None = None
    changes: Mapping[tuple[str, str | None], np.ndarray] | None = None
    stopped: bool = False


def _ranges(
    population: Population, least: Decision, most: Decision, solution: Solution, radius: float, deadline: float
) -> _Ranges:
    names = population.domain.names
    if not names:
        # Everybody has the same outcome, wherever probability is moved to.
        return _Ranges("tables", solution.lo, solution.hi, (solution.lo, solution.hi), {})
    stopped = False
    if isinstance(population, (NetworkPopulation, MixturePopulation)):
        network = population if isinstance(population, NetworkPopulation) else population.network
        try:
            held = _of_network(network.nodes, names, least, most, radius, deadline)
        except OutOfTimeError:
            held, stopped = None, True
        if isinstance(population, MixturePopulation):
            if held is not None:
                return _mixed(population, held, least, most, solution, radius)
            distance = _mixture_distance(population, radius)
        elif held is not None:
            return held
        else:
            distance = shift_distance(network.nodes, radius)
        return replace(_around(solution, distance), stopped=stopped)
    if population.support is None:
        raise InputError(
            "a shift moves people between the states of tables, and numbers that this model takes have densities, for "
            "which there is no table: leave --shift out, or state them in ranges"
        )
    exact = bool((solution.hi - solution.lo <= EXACT).all())
    lo, hi = _of_rows(solution.lo, solution.hi, radius)
    changes: dict[tuple[str, str | None], np.ndarray] = {("rows", None): np.stack([lo - solution.lo, hi - solution.hi])}
    return _Ranges("closed_form", lo, hi, (lo, hi) if exact else None, changes)


def _of_rows(lo: np.ndarray, hi: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of a list of people's rates: where all have one outcome, there is nobody of the other to move to."""
    return np.where(lo >= 1.0, 1.0, np.maximum(lo - radius, 0.0)), np.where(
        hi <= 0.0, 0.0, np.minimum(hi + radius, 1.0)
    )


def _around(solution: Solution, distance: np.ndarray) -> _Ranges:
    lo, hi = solution.lo - distance - EXACT, solution.hi + distance + EXACT
    return _Ranges("distance", np.maximum(lo, 0.0), np.minimum(hi, 1.0))


def _mixture_distance(mixture: MixturePopulation, radius: float) -> np.ndarray:
    """As `shift_distance`: the weights are the first table, and those of a class come after it."""
    of_classes = shift_distance(mixture.network.nodes, radius).reshape(mixture.weights.shape)
    held = np.concatenate([np.full((mixture.n_groups, 1), radius), of_classes], axis=1)
    weights = _weights(mixture)
    own = np.where((weights > 0).sum(axis=1) > 1, radius, 0.0)
    most = np.where(weights > 0, held, 0.0).max(axis=1)
    return np.minimum(own + (weights * held).sum(axis=1), 1.0 - (1.0 - own) * (1.0 - most))


def _weights(mixture: MixturePopulation) -> np.ndarray:
    """Of the rows and of each class, float64 array of shape (n_groups, 1 + n_classes)."""
    return np.concatenate([mixture.row_weights[:, None], mixture.weights], axis=1)


def _of_network(
    nodes: tuple[Node, ...], names: Sequence[str], least: Decision, most: Decision, radius: float, deadline: float
) -> _Ranges | None:
    """Ranges of the network's own groups; None where there are too many situations.

    Raises
    ------
    OutOfTimeError
    """
    nearby: list[NearbyTables] = []
    certain = least is most
    for end, decision in enumerate((least, most)):
        situations, sure = _situations(decision, nodes, largest=bool(end), deadline=deadline)
        if situations is None:
            return None
        certain &= sure
        nearby.append(NearbyTables(situations, nodes, radius, deadline))
    lo, hi = (one.outer(bool(end)) for end, one in enumerate(nearby))
    rates: list[np.ndarray] = []
    changes: dict[tuple[str, str | None], np.ndarray] = {}
    try:
        for end, one in enumerate(nearby):
            rate, added = one.search(bool(end))
            rates.append(rate)
            for feature, change in zip(one.features, added, strict=True):
                changes.setdefault(("feature", names[feature]), np.zeros((2, len(rate))))[end] = change
    except OutOfTimeError:
        return _Ranges("tables", lo, hi, stopped=True)
    stopped = any(one.stopped for one in nearby)
    try:
        for seed in range(ORDERS):
            if (hi - rates[1] <= EXACT).all() and (rates[0] - lo <= EXACT).all():
                break
            lo, hi = _narrowed(lo, hi, nodes, least, most, radius, deadline, seed)
    except OutOfTimeError:
        stopped = True
    return _Ranges("tables", lo, hi, (rates[0], rates[1]) if certain else None, changes, stopped)


def _narrowed(
    lo: np.ndarray,
    hi: np.ndarray,
    nodes: tuple[Node, ...],
    least: Decision,
    most: Decision,
    radius: float,
    deadline: float,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The ranges, cut by those that another order of the features gives."""
    same = isinstance(least, Tree) and least is most
    nearby: NearbyTables | None = None
    for end, decision in enumerate((least, most)):
        if nearby is None or not same:
            situations, _ = _situations(decision, nodes, largest=bool(end), deadline=deadline, seed=seed)
            if situations is None:
                return lo, hi
            nearby = NearbyTables(situations, nodes, radius, deadline)
        bound = nearby.outer(bool(end))
        lo, hi = (lo, np.minimum(hi, bound)) if end else (np.maximum(lo, bound), hi)
    return lo, hi


def _situations(
    decision: Decision, nodes: tuple[Node, ...], *, largest: bool, deadline: float = math.inf, seed: int | None = None
) -> tuple[Situations | None, bool]:
    """The situations, and whether rounding flips no outcome; what it may flip has the outcome that widens the range."""
    if isinstance(decision, Tree):
        return situations_of_tree(decision, nodes, MOST_SITUATIONS, deadline, seed), True
    sizes = decision.sizes
    if math.prod(sizes) * len(nodes[0].table) > MOST_POINTS:
        return None, True
    points = np.indices(sizes).reshape(len(sizes), -1).T.astype(np.int32)
    accepted, undecided = decision.evaluate(points), decision.undecided(points)
    outcomes = accepted | undecided if largest else accepted & ~undecided
    order = nodes if seed is None else shuffled(nodes, seed)
    return situations_of_points(outcomes, sizes, order), not undecided.any()


def _mixed(
    mixture: MixturePopulation, held: _Ranges, least: Decision, most: Decision, solution: Solution, radius: float
) -> _Ranges:
    """Ranges of a mixture from those of its classes: its weights are one more row, and the best is taken of each."""
    start = time.perf_counter()
    plain = [counted(decision, mixture.rows, "", "enumerate", start) for decision in (least, most)]
    rows = _of_rows(plain[0].lo, plain[1].hi, radius)
    weights = _weights(mixture).T[None]
    support = weights[0] > 0
    certain = held.found is not None and bool((plain[1].hi - plain[0].lo <= EXACT).all())
    ends: list[np.ndarray] = []
    found: list[np.ndarray] = []
    changes = {
        key: (values.reshape(2, *mixture.weights.shape) * mixture.weights).sum(axis=2)
        for key, values in (held.changes or {}).items()
    }
    of_rows = np.stack([rows[0] - plain[0].lo, rows[1] - plain[1].hi]) * mixture.row_weights
    before = (solution.lo, solution.hi)
    of_weights = np.zeros_like(of_rows)
    for end in (0, 1):
        for bound, into in ((held.lo, held.hi)[end], ends), ((held.found or (held.lo, held.hi))[end], found):
            values = np.concatenate([rows[end][:, None], bound.reshape(mixture.weights.shape)], axis=1)
            into.append(np.clip(moved_mean(values.T[None], weights, support, radius, bool(end))[0], 0.0, 1.0))
        of_weights[end] = found[end] - before[end] - of_rows[end] - sum(one[end] for one in changes.values())
    changes[("rows", None)] = of_rows
    changes[("weights", None)] = of_weights
    lo, hi = np.maximum(ends[0] - EXACT, 0.0), np.minimum(ends[1] + EXACT, 1.0)
    kept = held.changes is not None and certain
    return _Ranges("tables", lo, hi, (found[0], found[1]) if certain else None, changes if kept else None, held.stopped)
