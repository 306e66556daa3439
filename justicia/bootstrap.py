"""A parametric bootstrap: people drawn from the fitted population, the population fitted anew, its rates verified anew.

Every replicate draws as many people in each group as there are rows, and does all that the audit did with the rows:
structure, tables and bounds. How far its rates are from those of the population that it was drawn from says how far
the audit's own rates may be from those of the people, as far as finite rows are to blame (Efron and Tibshirani 1993).
That is an approximation: `docs/bounds.md` has its measured coverage.

Deviations are taken on the scale arcsin(sqrt(rate)), where their size hardly depends on the rate:

- one rate: its estimate minus the quantiles of the deviations (the basic bootstrap interval);
- a measure: what the measure can be while all rates lie in bands that hold together, as wide in units of each rate's
  own standard deviation as the quantile of the largest deviation over all groups says. For a smallest or largest rate
  of many groups, quantiles of the measure itself would be biased.

Replicates are made by as many workers as joblib is set to: `joblib.parallel_config(n_jobs=4)`, or `backend="dask"` for
those of a cluster. Which worker makes one does not matter: each has a seed of its own.

Where a rate is 0 or 1, and so are all replicates, their spread says nothing: the interval is Clopper and Pearson's of
as many people without exception as the group has rows.
"""

from __future__ import annotations

import copy
import logging
import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from justicia import population
from justicia.binomial import clopper_pearson
from justicia.enclosure import Enclosure
from justicia.errors import InputError
from justicia.metrics import MEASURES, RATES_OF, Rates, compared_kinds, measure
from justicia.population import EmpiricalPopulation, MixturePopulation
from justicia.solvers.interruption import Interruption
from justicia.ssat import Formula

if TYPE_CHECKING:
    from justicia.encoders import Decision
    from justicia.population import Counts, Population
    from justicia.questions import Asked, Question
    from justicia.solvers import Effort, Solution, Solver

__all__ = [
    "Bootstrap",
    "Deviations",
    "alone",
    "check_replicates",
    "deviations",
    "least_replicates",
    "resample",
    "together",
]

logger = logging.getLogger(__name__)

_LONG = 5.0
"""Seconds from which the time is announced before it is spent."""
_MOST_REPLICATES = 1_000_000
_MOST_DRAWN = 20_000_000
"""People of a replicate that are drawn one by one."""


@dataclass(frozen=True)
class Bootstrap:
    """Intervals of the verified rates and measures of a grouping.

    Attributes
    ----------
    asked, reached : int
        Replicates that were asked for, and that were made.
    stopped : str or None
        Why there are fewer: "time" or "interrupted".
    confidence : float
    rates : dict of str to tuple of (Enclosure or None)
        By kind of rate, one a group of the grouping; each holds with this confidence alone.
    measures : dict of str to (Enclosure or None)
    """

    asked: int
    reached: int
    stopped: str | None
    confidence: float
    rates: Mapping[str, tuple[Enclosure | None, ...]]
    measures: Mapping[str, Enclosure | None]

    @property
    def method(self) -> str:
        """How the intervals were found, with what ended it."""
        why = {None: "", "time": " (the time limit)", "interrupted": " (interrupted)"}[self.stopped]
        of = f" of {self.asked}" if self.reached < self.asked else ""
        return f"parametric bootstrap, {self.reached}{of} replicates{why}"


def least_replicates(confidence: float) -> int:
    """Replicates without which the quantiles of an interval are not known.

    >>> least_replicates(0.95)
    39
    """
    return math.ceil(2 / (1 - confidence) - 1e-9) - 1


def check_replicates(replicates: object, confidence: float) -> int:
    """The number of replicates, 0 for none; one that gives no interval is refused.

    Raises
    ------
    InputError
    """
    if isinstance(replicates, bool) or not isinstance(replicates, Integral):
        raise InputError(f"bootstrap is a number of replicates, not {replicates!r}")
    number = int(replicates)
    if not 0 <= number <= _MOST_REPLICATES:
        raise InputError(f"bootstrap {number}: a number of replicates between 0 and {_MOST_REPLICATES:,}")
    if 0 < number < least_replicates(confidence):
        raise InputError(
            f"bootstrap {number} is too few for intervals of confidence {confidence:g}: "
            f"ask for {least_replicates(confidence):,} at least, better 200"
        )
    return number


def resample(
    question: Question, names: str, answers: Mapping[str, Asked], n_groups: int, replicates: int, confidence: float,
    seed: int, compared: Collection[int] | None = None,
) -> Bootstrap:  # fmt: skip
    """Make the replicates of a grouping, as many as the time limit and the user allow.

    Parameters
    ----------
    question : Question
    names : str
        The grouping, in words.
    answers : mapping of str to Asked
        By kind of rates.
    n_groups : int
        Of the grouping.
    replicates : int
    confidence : float
    seed : int
    compared : collection of int, optional
        Positions of the groups that enter measures; all of them when left out.
    """
    from joblib import Parallel, delayed, effective_n_jobs

    effort, start = question.effort, time.perf_counter()
    deadline = math.inf if effort.time_limit is None else start + effort.time_limit
    engine_seconds = replicates * sum(one.solution.seconds for one in answers.values())
    if engine_seconds > _LONG:
        ends = "Ctrl-C ends it early" if effort.time_limit is None else f"it ends after {effort.time_limit:g} s"
        logger.info(
            "%s: %d bootstrap replicates at the pace of the first answers take the engine %.0f s; %s",
            names, replicates, engine_seconds, ends,
        )  # fmt: skip
    one = _Replicates(
        question.structure, question.engine, question.decision, replace(effort, watch=None),
        {
            kind: (_alone(asked.people), asked.tally.counts, asked.tally.fixed)
            for kind, asked in answers.items()
        },
        question.repeats is not None, (seed % 2**32, n_groups),
    )  # fmt: skip
    # Each replicate has a seed of its own, so that it does not matter who makes it.
    workers = effective_n_jobs(None)
    drawn: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {kind: [] for kind in answers}
    reached, stopped = 0, None
    with effort.interruption:
        while reached < replicates:
            if effort.interruption.pressed:
                stopped = "interrupted"
                break
            if time.perf_counter() > deadline:
                stopped = "time"
                break
            step = min(workers, replicates - reached)
            if step > 1:
                again = [(one.without_deadline(deadline), number) for number in range(reached, reached + step)]
                several = Parallel()(delayed(_made)(*pair) for pair in again)
            else:
                several = [one.made(reached, deadline)]
            if effort.interruption.pressed:
                # Bounds that were interrupted are wider than those of the audit.
                continue
            for new in several:
                for kind, found in new.items():
                    drawn[kind].append(found)
            reached += step
            if question.progress is not None:
                question.progress(f"{names}: {reached} of {replicates} bootstrap replicates", reached / replicates)
    if reached < least_replicates(confidence):
        logger.warning(
            "%s: %d of %d bootstrap replicates were made (%s), too few for intervals of confidence %g",
            names, reached, replicates, stopped, confidence,
        )  # fmt: skip
        none = (None,) * n_groups
        return Bootstrap(replicates, reached, stopped, confidence, dict.fromkeys(answers, none), {})
    scaled = {kind: _deviations(answers[kind].solution, found) for kind, found in drawn.items()}
    rates = {
        kind: _placed(one.kept, alone(scaled[kind], confidence, one.people.sizes), n_groups)
        for kind, one in answers.items()
    }
    measures: dict[str, Enclosure | None] = {}
    for name in MEASURES:
        if compared_kinds(name) == ("precision",):
            # It rests on base rates, too, and no replicate draws those.
            continue
        kinds = [kind for kind in RATES_OF[name] if kind in answers]
        if len(kinds) == len(RATES_OF[name]):
            inside = {kind: _compared(answers[kind].kept, compared) for kind in kinds}
            sizes = [answers[kind].people.sizes[inside[kind]] for kind in kinds]
            bands = together([scaled[kind].of_groups(inside[kind]) for kind in kinds], confidence, sizes)
            held = {
                kind: _placed(answers[kind].kept[inside[kind]], band, n_groups)
                for kind, band in zip(kinds, bands, strict=True)
            }
            measures[name] = measure(name, Rates.by_kind(held)).value
    return Bootstrap(replicates, reached, stopped, confidence, rates, measures)


@dataclass(frozen=True)
class _Replicates:
    """All that replicates are made of, as other processes can take it.

    Attributes
    ----------
    structure : str
    engine : Solver
    decision : Decision
    effort : Effort
    asked : dict of str to (Population, Counts, frozenset of str)
        By kind of rates, what it was fitted from, and what is never shrunk.
    condensed : bool
        Rows stand for several.
    seeds : tuple of int
    """

    structure: str
    engine: Solver
    decision: Decision
    effort: Effort
    asked: dict[str, tuple[Population, Counts, frozenset[str]]]
    condensed: bool
    seeds: tuple[int, ...]

    def without_deadline(self, deadline: float) -> _Replicates:
        """The same for another process, which has another clock and hears no Ctrl-C."""
        limit = self.effort.time_limit
        if limit is not None:
            limit = max(min(limit, deadline - time.perf_counter()), 0.0)
        return replace(self, effort=replace(self.effort, time_limit=limit, interruption=Interruption()))

    def made(self, number: int, deadline: float = math.inf) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Bounds of the rates of one replicate, by kind; statistical ones where the audit has such."""
        rng = np.random.default_rng([*self.seeds, number])
        found = {}
        for kind, (people, everybody, fixed) in self.asked.items():
            draw = drawn_counts if self.condensed else drawn_rows
            counts = draw(people, rng, everybody)
            fitted = population.fit(self.structure, counts, people.domain, people.sensitive, fixed)
            limit = self.effort.time_limit
            if limit is not None and deadline < math.inf:
                limit = max(min(limit, deadline - time.perf_counter()), 0.0)
            again = replace(self.effort, search="enumerate", watch=None, time_limit=limit)
            solution = self.engine.solve(Formula(fitted, self.decision), again)
            found[kind] = (solution.lo, solution.hi) if solution.interval is None else solution.interval
        return found


def _made(one: _Replicates, number: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return one.made(number)


def _alone(people: Population) -> Population:
    """The population without the table that it was fitted to."""
    held = copy.copy(people)
    held.people = None
    return held


def drawn_rows(people: Population, rng: np.random.Generator, everybody: Counts) -> Counts:
    """As many people as each group has rows, one by one."""
    points = [people.sample_points(group, int(n), rng) for group, n in enumerate(people.sizes)]
    groups = np.repeat(np.arange(people.n_groups), people.sizes)
    return population.Counts(people.groups, people.domain.sizes, groups, np.concatenate(points), everybody=everybody)


def drawn_counts(people: Population, rng: np.random.Generator, everybody: Counts) -> Counts:
    """The same where rows stand for several: how many people there are of each kind is drawn at once.

    Raises
    ------
    InputError
        When most people would be drawn from tables one by one, and are too many.
    """
    rows: Population
    if isinstance(people, MixturePopulation):
        rows, of_rows = people.rows, rng.binomial(people.sizes, people.row_weights)
    else:
        rows, of_rows = people, people.sizes * isinstance(people, EmpiricalPopulation)
    others = people.sizes - of_rows
    if others.sum() > _MOST_DRAWN:
        raise InputError(
            f"a replicate draws {others.sum():,} people from the tables of the {people.structure} population: leave "
            "--bootstrap out, or pass --population auto"
        )
    groups, points, weights = [], [], []
    if isinstance(rows, EmpiricalPopulation):
        held, cells, numbers = rows.support
        for group, n in enumerate(of_rows.tolist()):
            members = np.flatnonzero(held == group)
            drawn = rng.multinomial(n, numbers[members] / numbers[members].sum()) if n else np.zeros(len(members))
            some = members[drawn > 0]
            groups.append(held[some])
            points.append(cells[some])
            weights.append(drawn[drawn > 0])
    network = people.network if isinstance(people, MixturePopulation) else people
    n_classes = people.n_classes if isinstance(people, MixturePopulation) else 1
    for group, n in enumerate(others.tolist()):
        shares = people.class_weights[group] if isinstance(people, MixturePopulation) else np.ones(1)
        for one, number in enumerate(rng.multinomial(n, shares / shares.sum()).tolist()):
            groups.append(np.full(number, group))
            points.append(network.sample_points(group * n_classes + one, number, rng))
            weights.append(np.ones(number, dtype=np.int64))
    return population.Counts(
        people.groups, people.domain.sizes, np.concatenate(groups).astype(np.int64), np.concatenate(points),
        np.concatenate(weights).astype(np.int64), everybody,
    )  # fmt: skip


@dataclass(frozen=True)
class Deviations:
    """Estimates, and deviations of replicates from them, on the scale arcsin(sqrt(rate)).

    Attributes
    ----------
    low, high : float64 array of shape (n_groups,)
        Bounds of the audit.
    below, above : float64 array of shape (n_replicates, n_groups)
        Lower bounds of the replicates minus the audit's upper ones, and the other way round; equal where rates are
        exact.
    """

    low: np.ndarray
    high: np.ndarray
    below: np.ndarray
    above: np.ndarray

    def of_groups(self, positions: np.ndarray) -> Deviations:
        """The same of some groups."""
        return Deviations(
            self.low[positions], self.high[positions], self.below[:, positions], self.above[:, positions]
        )  # fmt: skip


def _scaled(rates: np.ndarray) -> np.ndarray:
    return np.arcsin(np.sqrt(np.clip(rates, 0.0, 1.0)))


def _deviations(solution: Solution, drawn: list[tuple[np.ndarray, np.ndarray]]) -> Deviations:
    low, high = (solution.lo, solution.hi) if solution.interval is None else solution.interval
    lows, highs = (np.stack(ends) for ends in zip(*drawn, strict=True))
    return deviations(low, high, lows, highs)


def deviations(low: np.ndarray, high: np.ndarray, lows: np.ndarray, highs: np.ndarray) -> Deviations:
    """Deviations of replicates from an audit.

    Parameters
    ----------
    low, high : float64 array of shape (n_groups,)
        Bounds of the audit's rates.
    lows, highs : float64 array of shape (n_replicates, n_groups)
        Bounds of the replicates'.
    """
    low, high = _scaled(low), _scaled(high)
    # The population that replicates are drawn from has a rate between the bounds: the middle stands for it.
    middle = (low + high) / 2
    return Deviations(low, high, _scaled(lows) - middle, _scaled(highs) - middle)


def alone(scaled: Deviations, confidence: float, sizes: np.ndarray) -> list[Enclosure]:
    """One interval a group, each with this confidence.

    Parameters
    ----------
    scaled : Deviations
    confidence : float
    sizes : int array of shape (n_groups,)
        Rows of each group.
    """
    # Rounding must not move a quantile to the next replicate.
    tail = round((1 - confidence) / 2, 12)
    least = np.quantile(scaled.below, tail, axis=0, method="lower")
    most = np.quantile(scaled.above, 1 - tail, axis=0, method="higher")
    return _enclosures(scaled, scaled.low - most, scaled.high - least, sizes, 1 - confidence)


def together(scaled: list[Deviations], confidence: float, sizes: list[np.ndarray]) -> list[list[Enclosure]]:
    """One interval a group, all of which, of all kinds given, hold together.

    Parameters
    ----------
    scaled : list of Deviations
        One a kind of rate.
    confidence : float
    sizes : list of int arrays of shape (n_groups,)
    """
    units = [np.sqrt((np.maximum(-one.below, one.above) ** 2).mean(axis=0)) for one in scaled]
    largest = [
        (np.maximum(-one.below, one.above) / np.where(unit > 0, unit, 1.0)).max(axis=1, initial=0.0)
        for one, unit in zip(scaled, units, strict=True)
    ]
    most = float(np.quantile(np.max(largest, axis=0), confidence, method="higher"))
    error = (1 - confidence) / sum(map(len, units))
    return [
        _enclosures(one, one.low - most * unit, one.high + most * unit, n, error)
        for one, unit, n in zip(scaled, units, sizes, strict=True)
    ]


def _enclosures(
    scaled: Deviations, low: np.ndarray, high: np.ndarray, sizes: np.ndarray, error: float
) -> list[Enclosure]:
    """Ends on the scale of rates; Clopper and Pearson's where nothing varies."""
    lo, hi = (np.sin(np.clip(end, 0.0, np.pi / 2)) ** 2 for end in (low, high))
    still = (scaled.low == scaled.high) & (scaled.below == 0).all(axis=0) & (scaled.above == 0).all(axis=0)
    none, every = still & (scaled.low == 0.0), still & (scaled.low == np.pi / 2)
    exact = clopper_pearson(np.where(every, sizes, 0), sizes, error)
    lo, hi = np.where(none, 0.0, np.where(every, exact[0], lo)), np.where(every, 1.0, np.where(none, exact[1], hi))
    return list(map(Enclosure, lo.tolist(), hi.tolist()))


def _compared(kept: np.ndarray, compared: Collection[int] | None) -> np.ndarray:
    """Which of a population's groups enter measures, by their positions in the grouping, int array."""
    return np.array([i for i, at in enumerate(kept.tolist()) if compared is None or at in compared], dtype=np.int64)


def _placed(kept: np.ndarray, values: list[Enclosure], n_groups: int) -> tuple[Enclosure | None, ...]:
    """Values of a population's groups at their positions in the grouping."""
    found: list[Enclosure | None] = [None] * n_groups
    for position, value in zip(kept.tolist(), values, strict=True):
        found[position] = value
    return tuple(found)
