"""Ranges of rates and ratios over all assignments of people of unknown group to groups.

Every person of unknown group is in one of the groups that what is known of them allows; the outcomes are known. The
smallest ratio and the largest difference are found in closed form: for two groups at a time, every rejected person who
may be in the lower one is put there, every selected one who may be in the upper one is put there, and these never
compete. The largest ratio and the smallest difference make all rates as equal as they can be, a question in whole
numbers. Up to `MOST_ASSIGNMENTS` ways to distribute the people are gone through, and compared as fractions. Beyond
that, people may be put in parts: the interval of possible highest rates is halved again and again, and in each half a
linear program asks for shares that beat the best ones found, or proves that there are none. That end is then an upper
bound, off by no more than `TOLERANCE` and what parts of people make of one.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Protocol

import numpy as np

from justicia.enclosure import Enclosure

__all__ = ["MOST_ASSIGNMENTS", "TOLERANCE", "Assignments", "Unknown", "assignment_ranges"]

MOST_ASSIGNMENTS = 2_000_000
"""Ways to distribute the people that are gone through one by one."""
TOLERANCE = 1e-4
"""By how much a bound may be off, besides what parts of people make of one, where assignments are too many."""


@dataclass(frozen=True)
class Unknown:
    """People of whom the same is known.

    Attributes
    ----------
    groups : tuple of int
        Positions of the groups that they may be in.
    selected, rejected : int
    """

    groups: tuple[int, ...]
    selected: int
    rejected: int


@dataclass(frozen=True)
class Assignments:
    """What rates and ratios can be.

    Attributes
    ----------
    people, selected : int
        Of unknown group.
    rates : tuple of (Enclosure or None)
        Of each group; None for one that nobody can be in.
    ratios : tuple of (Enclosure or None)
        Of each group's rate to the highest; None where the rate is, and where nobody is selected.
    disparate_impact, statistical_parity_difference : Enclosure or None
        None without two groups.
    exact : bool
        Some assignment attains every end. Otherwise some upper ends of ratios and the lower end of the difference are
        bounds, found with people in parts.
    """

    people: int
    selected: int
    rates: tuple[Enclosure | None, ...]
    ratios: tuple[Enclosure | None, ...]
    disparate_impact: Enclosure | None
    statistical_parity_difference: Enclosure | None
    exact: bool = True


def assignment_ranges(
    k: Sequence[int], n: Sequence[int], unknown: Sequence[Unknown], compared: Sequence[int] | None = None
) -> Assignments:
    """Exact ranges over all assignments.

    Parameters
    ----------
    k, n : sequence of int
        Selected people and people who are known to be in each group. A group without any enters a ratio when somebody
        is assigned to it.
    unknown : sequence of Unknown
    compared : sequence of int, optional
        Positions of the groups that ratios and differences are of; all of them unless given.

    >>> held = assignment_ranges([50, 45], [100, 100], [Unknown((0, 1), 10, 10)])
    >>> held.disparate_impact.lo, round(float(held.disparate_impact.hi), 3)
    (Fraction(3, 4), 0.999)
    """
    parts = [one for one in unknown if one.selected + one.rejected]
    problem = _Problem(tuple(k), tuple(n), tuple(parts), tuple(range(len(k)) if compared is None else compared))
    people = sum(one.selected + one.rejected for one in parts)
    rates = tuple(problem.rate(group) for group in range(len(k)))
    held = [group for group in problem.compared if rates[group] is not None]
    selected = sum(one.selected for one in parts)
    ratios: list[Enclosure | None] = [None] * len(k)
    impact = difference = None
    exact = problem.ways() <= max(1, MOST_ASSIGNMENTS)
    if len(held) > 1:
        best: _Most = _every(problem, held) if exact else _Search(problem)
        lowest = {group: problem.least_ratio(group, held) for group in held}
        for group in held:
            if (low := lowest[group]) is not None:
                most = problem.most_ratio(group, held)
                ratios[group] = _range(low, best.ratio([group]) if most is None else most)
        known = [low for low in lowest.values() if low is not None]
        if known:
            impact = _range(min(known), best.ratio(held))
        largest = max(problem.difference(i, j) for i in held for j in held if i != j)
        difference = _range(best.difference(held), max(Fraction(0), largest))
    return Assignments(people, selected, rates, tuple(ratios), impact, difference, exact)


def _range(low: Fraction, high: Fraction) -> Enclosure | None:
    """None where no assignment puts people into two groups: the ends come from different ones then."""
    return Enclosure(low, high) if low <= high else None


class _Most(Protocol):
    """How equal rates can be: the largest ratio of some groups' rates to the highest, the smallest difference."""

    def ratio(self, low: Sequence[int]) -> Fraction: ...

    def difference(self, low: Sequence[int]) -> Fraction: ...


@dataclass(frozen=True)
class _Problem:
    k: tuple[int, ...]
    n: tuple[int, ...]
    unknown: tuple[Unknown, ...]
    compared: tuple[int, ...]

    def _bounds(self, group: int) -> tuple[int, int, int, int]:
        """People who must be in a group, selected and rejected, and who may be in it besides."""
        forced = [one for one in self.unknown if one.groups == (group,)]
        free = [one for one in self.unknown if group in one.groups and len(one.groups) > 1]
        return (
            self.k[group] + sum(one.selected for one in forced),
            self.n[group] + sum(one.selected + one.rejected for one in forced),
            sum(one.selected for one in free),
            sum(one.rejected for one in free),
        )

    def _least(self, group: int) -> Fraction | None:
        """Smallest rate of a group; None when nobody can be in it."""
        k, n, selected, rejected = self._bounds(group)
        if n + rejected:
            return Fraction(k, n + rejected)
        return Fraction(1) if selected else None

    def _most(self, group: int) -> Fraction | None:
        k, n, selected, rejected = self._bounds(group)
        if n + selected:
            return Fraction(k + selected, n + selected)
        return Fraction(0) if rejected else None

    def is_held(self, group: int) -> bool:
        """Whether somebody is in a group under every assignment."""
        return self._bounds(group)[1] > 0

    def rate(self, group: int) -> Enclosure | None:
        """Range of a group's rate."""
        low, high = self._least(group), self._most(group)
        return None if low is None or high is None else Enclosure(low, high)

    def least_ratio(self, group: int, others: Sequence[int]) -> Fraction | None:
        """Smallest ratio of a group's rate to the highest; None when nobody is ever selected in them."""
        low = self._least(group)
        tops = [top for other in others if other != group and (top := self._most(other))]
        if low is None or (not tops and not self._most(group)):
            return None
        return min([Fraction(1), *(low / top for top in tops)])

    def difference(self, low: int, high: int) -> Fraction:
        """Largest amount by which one rate is above another."""
        below, above = self._least(low), self._most(high)
        return Fraction(-1) if below is None or above is None else above - below

    def most_ratio(self, group: int, others: Sequence[int]) -> Fraction | None:
        """Largest ratio of a group's rate to the highest where all people of unknown group may be in every group.

        All selected ones are put in the group, and each rejected one where the rate is the highest by then. None where
        some people may not be in every group: no such order is known then to be the best.
        """
        every = set(range(len(self.k)))
        if any(set(one.groups) != every for one in self.unknown) or every != set(others):
            return None
        selected = sum(one.selected for one in self.unknown)
        if not self.n[group] + selected:
            return None
        own = Fraction(self.k[group] + selected, self.n[group] + selected)
        # Rejected people where nobody is yet would only add a rate of 0.
        rest = [(-self.k[other] / self.n[other], other, self.n[other]) for other in others if self.n[other]]
        rest = [one for one in rest if one[1] != group]
        if not rest:
            return None
        heapq.heapify(rest)
        for _ in range(sum(one.rejected for one in self.unknown)):
            _, other, people = rest[0]
            heapq.heapreplace(rest, (-self.k[other] / (people + 1), other, people + 1))
        highest = max(Fraction(self.k[other], people) for _, other, people in rest)
        return min(Fraction(1), own / highest) if highest else Fraction(1)

    def ways(self) -> int:
        """Number of ways to distribute the people."""
        return math.prod(
            math.comb(count + len(one.groups) - 1, count)
            for one in self.unknown
            for count in (one.selected, one.rejected)
        )


@dataclass(frozen=True)
class _Found:
    """The best of all assignments."""

    ratios: Mapping[tuple[int, ...], Fraction]
    gap: Fraction

    def ratio(self, low: Sequence[int]) -> Fraction:
        return self.ratios[tuple(low)]

    def difference(self, low: Sequence[int]) -> Fraction:  # noqa: ARG002 (gone through for all groups alone)
        return self.gap


def _every(problem: _Problem, held: Sequence[int]) -> _Found:
    """Go through all assignments, a block at a time; what floats cannot tell apart is compared as fractions."""
    parts = [
        (
            _distributions(one.selected, one.groups, len(problem.k)),
            _distributions(one.rejected, one.groups, len(problem.k)),
        )
        for one in problem.unknown
    ]
    selected, rejected = (_sums([part[i] for part in parts], len(problem.k)) for i in (0, 1))
    selected = selected[:, held] + np.array(problem.k)[held]
    rest = rejected[:, held] + (np.array(problem.n) - np.array(problem.k))[held]
    wanted: list[tuple[int, ...]] = [*((i,) for i in range(len(held))), tuple(range(len(held)))]
    best = dict.fromkeys(wanted, Fraction(-1))
    gap = Fraction(2)
    block = max(1, _BLOCK // max(1, len(rest)))
    for start in range(0, len(selected), block):
        k = np.broadcast_to(
            selected[start : start + block, None, :], (len(selected[start : start + block]), *rest.shape)
        )
        n = k + rest[None]
        k, n = k.reshape(-1, len(held)), n.reshape(-1, len(held))
        rates = np.where(n > 0, k / np.maximum(n, 1), np.nan)
        enough = (n > 0).sum(axis=1) > 1
        top, floor = np.nanmax(rates, axis=1), np.nanmin(rates, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.where((top > 0)[:, None], rates / top[:, None], np.nan)
            least = np.where(enough & (top > 0), floor / top, np.nan)
        shares[~enough] = np.nan
        for low in wanted:
            values = shares[:, low[0]] if len(low) == 1 else least
            for row in _near(values, float(best[low])):
                own = [Fraction(int(a), int(b)) for a, b in zip(k[row], n[row], strict=True) if b]
                lowest = Fraction(int(k[row, low[0]]), int(n[row, low[0]])) if len(low) == 1 else min(own)
                best[low] = max(best[low], lowest / max(own))
        for row in _near(np.where(enough, floor - top, np.nan), -float(gap)):
            own = [Fraction(int(a), int(b)) for a, b in zip(k[row], n[row], strict=True) if b]
            gap = min(gap, max(own) - min(own))
    return _Found({tuple(held[i] for i in low): value for low, value in best.items()}, gap)


_BLOCK = 200_000
"""Assignments that are looked at together."""


def _near(values: np.ndarray, best: float) -> np.ndarray:
    """Rows of the largest values, one of each float, unless something better is known."""
    if np.isnan(values).all():
        return np.zeros(0, dtype=np.int64)
    most = float(np.nanmax(values))
    if most < best - 1e-13:
        return np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero(values >= most - 1e-13)
    return rows[np.unique(values[rows], return_index=True)[1]]


def _distributions(count: int, groups: Sequence[int], width: int) -> np.ndarray:
    """All ways to put so many people into the groups, int array of shape (n_ways, width)."""
    bars = np.array(list(combinations(range(count + len(groups) - 1), len(groups) - 1)), dtype=np.int64)
    ends = np.full((len(bars), 1), count + len(groups) - 1)
    placed = np.zeros((len(bars), width), dtype=np.int64)
    placed[:, list(groups)] = np.diff(np.hstack([np.full_like(ends, -1), bars.reshape(len(bars), -1), ends])) - 1
    return placed


def _sums(parts: Sequence[np.ndarray], width: int) -> np.ndarray:
    """All sums of one way of each part."""
    total = np.zeros((1, width), dtype=np.int64)
    for part in parts:
        total = np.unique((total[:, None, :] + part[None]).reshape(-1, width), axis=0)
    return total


class _Search:
    """Branch and bound over the highest rate; see the module."""

    def __init__(self, problem: _Problem) -> None:
        self._problem = problem
        self._pairs = [(t, group) for t, one in enumerate(problem.unknown) for group in one.groups]
        rates = [rate for group in problem.compared if (rate := problem.rate(group)) is not None]
        people = sum(problem.n) + sum(one.selected + one.rejected for one in problem.unknown)
        # A group that nobody needs to be in does not raise the highest rate.
        sure = [rate.lo for group in problem.compared if (rate := problem.rate(group)) and problem.is_held(group)]
        self._span = float(max(sure, default=0)), float(max(rate.hi for rate in rates))
        # A ratio is of a highest rate above 0: at least one person of all.
        self._least = 0.5 / people

    def ratio(self, low: Sequence[int]) -> Fraction:
        """An upper bound of the largest ratio."""
        best = self._run(low, lambda least, most: least / most if most else -1.0, 1 - TOLERANCE, ratio=True)
        return min(Fraction(1), Fraction(best + TOLERANCE))

    def difference(self, low: Sequence[int]) -> Fraction:
        """A lower bound of the smallest difference."""
        best = self._run(low, lambda least, most: least - most, -TOLERANCE, ratio=False)
        return max(Fraction(0), Fraction(-best - TOLERANCE))

    def _run(self, low: Sequence[int], value: Callable[[float, float], float], enough: float, *, ratio: bool) -> float:
        # The most promising interval first: a good assignment early cuts the others away.
        floor, top = self._span
        best, pending = -1.0, [(0.0, max(floor, self._least) if ratio else floor, top)]
        while pending and best < enough:
            _, floor, top = heapq.heappop(pending)

            def beats(limit: float, floor: float = floor, top: float = top) -> float | None:
                """What an assignment reaches that is as good as the limit in this interval; None without any."""
                rates = self._assign(low, max(0.0, limit * floor if ratio else floor + limit), top)
                return None if rates is None else value(min(rates[group] for group in low), max(rates.values()))

            reached = beats(best + TOLERANCE / 2)
            if reached is None:
                continue
            best = max(best, reached)
            if top - floor > TOLERANCE / 2 * (floor if ratio else 1.0) and top - floor > 1e-9:
                middle = (floor + top) / 2
                heapq.heappush(pending, (-reached, floor, middle))
                heapq.heappush(pending, (-reached, middle, top))
                continue
            # So narrow an interval has one highest rate, and what the others can be is found by halving.
            most = 1.0 if ratio else 0.0
            while most - best > TOLERANCE / 2:
                reached = beats((best + most) / 2)
                if reached is None:
                    most = (best + most) / 2
                else:
                    best = max((best + most) / 2, reached)
        return best

    def _assign(self, low: Sequence[int], least: float, most: float) -> dict[int, float] | None:
        """Rates with those of the groups `low` at least and those of all at most so; None where there are none."""
        from scipy.optimize import linprog

        problem, pairs = self._problem, self._pairs
        width = len(pairs)
        kinds, where = (np.array(side) for side in zip(*pairs, strict=True))
        k, n = np.array(problem.k, dtype=np.float64), np.array(problem.n, dtype=np.float64)
        # Variables: selected people of each pair of kind and group, then rejected ones, then the slack.
        totals = np.zeros((2 * len(problem.unknown), 2 * width + 1))
        for kind in range(len(problem.unknown)):
            totals[2 * kind, :width] = kinds == kind
            totals[2 * kind + 1, width:-1] = kinds == kind
        right = [float(count) for one in problem.unknown for count in (one.selected, one.rejected)]
        bounds, limits = [], []
        for groups, share, sign in ((low, least, -1.0), (problem.compared, most, 1.0)):
            for group in groups:
                own = (where == group).astype(np.float64)
                slack = 1.0 if sign < 0 and n[group] else 0.0
                bounds.append(np.concatenate([sign * (1 - share) * own, -sign * share * own, [slack]]))
                limits.append(sign * (share * n[group] - k[group]))
        cost = np.zeros(2 * width + 1)
        cost[-1] = -1.0
        answer = linprog(
            cost,
            A_ub=np.array(bounds),
            b_ub=np.array(limits) + 1e-9,
            A_eq=totals,
            b_eq=np.array(right),
            bounds=[(0, None)] * (2 * width) + [(0, float(n.sum()) + 1.0)],
            method="highs",
        )
        if answer.status == _INFEASIBLE:
            return None
        selected = k + np.bincount(where, weights=answer.x[:width], minlength=len(k))
        people = selected + (n - k) + np.bincount(where, weights=answer.x[width:-1], minlength=len(k))
        held = {
            group: min(1.0, float(selected[group] / people[group]))
            for group in problem.compared
            if people[group] > 1e-9
        }
        # A group that nobody is in stands in no comparison: as good as the highest rate.
        highest = max(held.values(), default=1.0)
        return {group: held.get(group, highest) for group in problem.compared}


_INFEASIBLE = 2
"""What scipy's `linprog` says of such a program."""
