"""A second route to every verified rate, taken by something else, and compared group by group.

The routes are tried in this order, each for the groups that the ones before it have left open:

==============  =====================================================================================================
rows            under the empirical population, the model's own `predict` on every row
engine          another engine that takes the same decision
formula         the question in clauses, solved by the engine clauses
outside         a program outside of this package, if the machine has one
monte carlo     people drawn from the population, and the model's own `predict` of them
==============  =====================================================================================================

All but the last are compared with certainty: two enclosures of one rate that have nothing in common are a
disagreement. Drawn people leave Clopper and Pearson's interval; all such intervals of an audit together miss with
probability `ERROR` at most, so that a disagreement is no accident. Nothing but drawn people, or rows, also checks the
encoding of the model and the population's own arithmetic.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from justicia import solvers
from justicia.binomial import clopper_pearson
from justicia.enclosure import EXACT, Enclosure
from justicia.errors import JusticiaError
from justicia.population import EmpiricalPopulation
from justicia.progress import stage
from justicia.solvers.brackets import solve_between
from justicia.solvers.clauses import Clauses
from justicia.words import counted, listed, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from justicia.questions import Asked, Question
    from justicia.solvers import Solver
    from justicia.tables import Grouping

__all__ = ["ERROR", "KINDS", "CrossCheck", "Disagreement", "RouteCheck", "cross_check"]

logger = logging.getLogger(__name__)

KINDS = ("rows", "engine", "formula", "outside", "monte carlo")
"""Kinds of routes, in the order in which they are tried."""

ERROR = 1e-6
"""Probability that drawn people show a disagreement anywhere in an audit without one."""

_SLACK = 1e-9
"""Between rates that two engines hold for exact."""
_WIDE = 0.01
"""An enclosure that is wider settles nothing, unless it excludes the verified rate; the next route is taken as well."""
_LIMIT = 60.0
"""Seconds of a route, unless the engines have a time limit."""
_PEOPLE = 1_000_000
_PEOPLE_OF_GROUP = (1_000, 200_000)
"""People to draw: in all groups together about so many, and of each group at least and at most. Of 200,000, five
standard errors are .006 at most."""
_AT_ONCE = 50_000
_REASONS = {
    "time": "not finished within the time limit",
    "interrupted": "interrupted",
    "memory": "not finished within its memory",
    "program": "the program gave no answer",
}
_TOO_WIDE = "its bounds are too wide to compare"
_MOST_LEARNED = 20
"""When the extremes alone are known, so many groups are checked."""


@dataclass(frozen=True)
class Disagreement:
    """A group of which two routes say different things.

    Attributes
    ----------
    group : dict of str to str
    kind : str
        "selection_rate", "tpr" or "fpr".
    verified, other : Enclosure
    route : str
        Which the other is from.
    """

    group: dict[str, str]
    kind: str
    verified: Enclosure
    other: Enclosure
    route: str

    def __str__(self) -> str:
        who = shown(", ".join(self.group.values()), 200)
        return f"{self.kind} of {who}: verified {self.verified}, by {self.route} {self.other}"


@dataclass(frozen=True)
class RouteCheck:
    """What one route says about one kind of rates.

    Attributes
    ----------
    kind : str
        "selection_rate", "tpr" or "fpr".
    route : str
        One of `KINDS`.
    name : str
        The engine or program.
    groups, agreed : int
        Groups that it was compared in, and those in which it agrees.
    largest_difference : float or None
        Between the middles of the two enclosures; None when no group was compared.
    error_probability : float
        That it disagrees by accident; 0 for certain routes.
    people : int or None
        Drawn of each group.
    seconds : float
    disagreements : tuple of Disagreement
    reason : str or None
        Why it says nothing of some groups that were to be compared; None where it says something of all.
    """

    kind: str
    route: str
    name: str
    groups: int
    agreed: int
    largest_difference: float | None
    error_probability: float
    people: int | None
    seconds: float
    disagreements: tuple[Disagreement, ...]
    reason: str | None = None


@dataclass(frozen=True)
class CrossCheck:
    """All routes of a grouping.

    Attributes
    ----------
    routes : tuple of RouteCheck
    unchecked : dict of str to int
        By kind of rate, groups that no route was compared in.
    """

    routes: tuple[RouteCheck, ...]
    unchecked: Mapping[str, int]

    @property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """Of all routes."""
        return tuple(one for route in self.routes for one in route.disagreements)

    @property
    def status(self) -> str:
        """disagrees, incomplete (some group has no second route) or agrees."""
        if self.disagreements:
            return "disagrees"
        return "incomplete" if any(self.unchecked.values()) else "agrees"


def cross_check(
    question: Question,
    grouping: Grouping,
    answers: Mapping[str, Asked],
    predict: Callable[[pd.DataFrame], np.ndarray],
    selected: np.ndarray,
    seed: int,
) -> CrossCheck:
    """Take a second route to all rates of a grouping.

    Parameters
    ----------
    question : Question
    grouping : Grouping
    answers : mapping of str to Asked
        By kind of rates.
    predict : callable
        The model's own outcome of each row of a frame, bool array of shape (n,).
    selected : bool array of shape (n_rows,)
        The same of the table.
    seed : int
        For whom is drawn.
    """
    routes: list[RouteCheck] = []
    unchecked = {}
    error = ERROR / (3 * len(question.groupings))
    for number, (kind, asked) in enumerate(answers.items()):
        stage("checking %s by another route", kind)
        one = _Check(question, grouping, kind, asked, predict, selected, [seed % 2**32, number], error)
        routes += one.run()
        unchecked[kind] = len(one.pending)
    check = CrossCheck(tuple(routes), unchecked)
    names = " x ".join(grouping.sensitive)
    if check.disagreements:
        logger.warning(
            "CROSS-CHECK DISAGREES on %s of %s: %s; do not rely on these rates, and please report it",
            counted(len(check.disagreements), "rate"), names, listed(map(str, check.disagreements), 3),
        )  # fmt: skip
    elif check.status == "incomplete":
        logger.warning(
            "%s: no second route to %s; pass a longer --time-limit",
            names, listed(f"the {kind} of {counted(n, 'group')}" for kind, n in unchecked.items() if n),
        )  # fmt: skip
    return check


class _Check:
    """One kind of rates; `pending` are positions of groups that no route has settled."""

    def __init__(
        self, question: Question, grouping: Grouping, kind: str, asked: Asked,
        predict: Callable[[pd.DataFrame], np.ndarray], selected: np.ndarray, seeds: list[int], error: float,
    ) -> None:  # fmt: skip
        self.question = question
        self.grouping = grouping
        self.kind = kind
        self.asked = asked
        self.predict = predict
        self.selected = selected
        self.seeds = seeds
        self.error = error
        solution = asked.solution
        self.low, self.high = solution.lo, solution.hi
        self.delta = 0.0
        if solution.interval is not None:
            self.low, self.high = solution.interval
            self.delta = solution.delta or 0.0
        self.stopped: str | None = None
        self.pending = np.arange(len(self.low))
        if solution.search == "learn":
            # Nobody asked for the rates of the others.
            self.pending = self._extremes()

    def run(self) -> list[RouteCheck]:
        """Routes, until no group is pending."""
        done = []
        for route, name, take in self._routes():
            if not len(self.pending):
                break
            start = time.perf_counter()
            self.stopped = None
            try:
                with np.errstate(all="ignore"):
                    found = take()
            except (JusticiaError, MemoryError) as error:
                logger.debug("cross-check: %s does not take this question: %s", name, error)
                continue
            if found is not None:
                low, high, people = found
                done.append(self._compared(route, name, low, high, people, time.perf_counter() - start))
        return done

    def _routes(self) -> Iterator[tuple[str, str, Callable[[], tuple[np.ndarray, np.ndarray, int | None] | None]]]:
        engine = self.asked.solution.engine
        decision = self.question.decision
        rows = isinstance(self.asked.people, EmpiricalPopulation) and self.question.given is None
        if rows:
            yield "rows", "predict on every row", self._by_rows
        for name, other in solvers.ENGINES.items():
            # What counts rows is the same in all engines.
            if name not in (engine, Clauses.name) and other.takes(decision) and not rows:
                yield "engine", name, partial(self._by_engine, other)
        if engine != Clauses.name and Clauses().takes(decision):
            yield "formula", Clauses.name, partial(self._by_engine, solvers.ENGINES[Clauses.name])
        if Clauses().takes(decision) and self.asked.solution.search != "learn":
            for name in solvers.external.available():
                if name != engine:
                    outside = solvers.external.External(solvers.external.outside_solver(name))
                    yield "outside", name, partial(self._by_engine, outside)
        yield "monte carlo", "people drawn", self._by_drawing

    def _by_rows(self) -> tuple[np.ndarray, np.ndarray, int | None]:
        codes, kept = self.grouping.codes, self.asked.kept
        rows = np.ones(len(codes), dtype=bool) if self.kind == "selection_rate" else self.question.strata[self.kind]
        size = len(self.grouping.groups)
        weights = np.ones(len(codes)) if self.question.weights is None else self.question.weights
        n = np.bincount(codes[rows], weights[rows], minlength=size)[kept]
        chosen = rows & self.selected
        rates = np.bincount(codes[chosen], weights[chosen], minlength=size)[kept] / np.where(n > 0, n, 1.0)
        return np.where(n > 0, rates, 0.0), np.where(n > 0, rates, 1.0), None

    def _by_engine(self, engine: Solver) -> tuple[np.ndarray, np.ndarray, int | None]:
        effort = self.question.effort
        limit = _LIMIT if effort.time_limit is None else effort.time_limit
        # No more is asked of the other engine than of the first one, and no reason to stop early is given to it.
        again = replace(effort, time_limit=limit, watch=None, weights=None)
        seen = self.asked.seen
        solution = solve_between(engine, seen.population, seen.least, seen.most, again)
        self.stopped = solution.stopped
        if solution.interval is not None:
            self.delta += solution.delta or 0.0
            return *solution.interval, None
        return solution.lo, solution.hi, None

    def _by_drawing(self) -> tuple[np.ndarray, np.ndarray, int | None] | None:
        people = self.asked.people
        if people.people is None:
            return None
        groups = self.pending
        low, high = np.zeros(len(self.low)), np.ones(len(self.low))
        least, most = _PEOPLE_OF_GROUP
        n = int(np.clip(_PEOPLE // len(groups), least, most))
        for group in groups.tolist():
            if self.question.effort.interruption.pressed:
                self.stopped = "interrupted"
                break
            rng, yes = np.random.default_rng([*self.seeds, group]), 0
            for begin in range(0, n, _AT_ONCE):
                drawn = people.sample(people.groups[group], min(_AT_ONCE, n - begin), rng)
                yes += int(self.predict(drawn).sum())
            ends = clopper_pearson(np.array([yes]), np.array([n]), self.error / len(groups))
            low[group], high[group] = ends[0][0], ends[1][0]
        return low, high, n

    def _extremes(self) -> np.ndarray:
        """The groups that are most or least favored, or nearly."""
        half = _MOST_LEARNED // 2
        most, least = np.argsort(-self.low, kind="stable")[:half], np.argsort(self.high, kind="stable")[:half]
        return np.unique(np.concatenate([most, least]))

    def _compared(
        self, route: str, name: str, low: np.ndarray, high: np.ndarray, people: int | None, seconds: float
    ) -> RouteCheck:
        drawn = route == "monte carlo"
        groups = self.pending
        apart = np.maximum(low[groups] - self.high[groups], self.low[groups] - high[groups])
        wrong = apart > (EXACT if drawn else _SLACK)
        settled = wrong | (high[groups] - low[groups] <= _WIDE) | (drawn & (high[groups] - low[groups] < 1.0))
        middles = np.abs((low + high) / 2 - (self.low + self.high) / 2)[groups[settled]]
        found = tuple(
            Disagreement(
                dict(zip(self.grouping.sensitive, self.asked.people.groups[group], strict=True)),
                self.kind,
                Enclosure(float(self.low[group]), float(self.high[group])),
                Enclosure(float(low[group]), float(high[group])),
                name,
            )
            for group in groups[wrong].tolist()
        )
        self.pending = groups[~settled]
        reason = _REASONS.get(self.stopped or "", _TOO_WIDE) if len(self.pending) else None
        return RouteCheck(
            self.kind, route, name, int(settled.sum()), int((settled & ~wrong).sum()),
            float(middles.max()) if len(middles) else None,
            self.delta + (self.error if drawn else 0.0), people, seconds, found, reason,
        )  # fmt: skip
