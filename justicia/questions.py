"""What is asked of every grouping: the same decision, the same structure, the same engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from justicia import population
from justicia.comparison import Stratum
from justicia.given import Given, Seen
from justicia.progress import stage
from justicia.solvers.brackets import solve_between
from justicia.tallies import PairTallies, Tallies, Tally
from justicia.watching import KINDS, Watch

if TYPE_CHECKING:
    import pandas as pd

    from justicia.enclosure import Enclosure
    from justicia.encoders import Decision
    from justicia.metrics import Requirement
    from justicia.models import OneHotExpansion
    from justicia.population import Domain, Population
    from justicia.population.pair_counts import PairCounts
    from justicia.solvers import Effort, Solution, Solver
    from justicia.tables import Grouping
    from justicia.tables.one_hot import OneHot
    from justicia.watching import Progress

__all__ = ["Asked", "Question"]


@dataclass(frozen=True)
class Asked:
    """What was asked and answered about one kind of rates.

    Attributes
    ----------
    people : Population
        Of the groups that have people there.
    solution : Solution
    kept : int array
        Positions of those groups in the grouping.
    fitted_to : Tally or None
        What the population was fitted to; None for one that is given.
    looked_at : Seen or None
        What the engine was asked.
    """

    people: Population
    solution: Solution
    kept: np.ndarray
    fitted_to: Tally | None
    looked_at: Seen | None = None

    @property
    def seen(self) -> Seen:
        """What the engine was asked."""
        if self.looked_at is None:
            raise ValueError("it is not known what the engine was asked")
        return self.looked_at

    @property
    def tally(self) -> Tally:
        """What the population was fitted to."""
        if self.fitted_to is None:
            raise ValueError("the population is given, not fitted")
        return self.fitted_to


@dataclass(frozen=True)
class _Members:
    """The rows of a group."""

    codes: np.ndarray

    def __call__(self, group: int) -> np.ndarray:
        return np.flatnonzero(self.codes == group)


@dataclass(frozen=True)
class Question:
    """Rates of a decision in the groups of several groupings, among all people and those with one true outcome.

    Attributes
    ----------
    decision : Decision
    domain : Domain
    points : int array of shape (n_rows, n_features)
    frame : DataFrame of shape (n_rows, n_columns)
        The columns that the model takes.
    groupings : sequence of Grouping
    strata : dict of str to bool array of shape (n_rows,)
        Rows of each true outcome; they exclude each other.
    structure : str
        Of the populations.
    engine : Solver
    effort : Effort
        What is asked of the engine.
    requirements : sequence of Requirement
        When they are settled, an engine that narrows bounds may stop.
    progress : Progress or None
    one_hot : sequence of OneHot
        Features of the domain that are several columns of the table.
    expansion : OneHotExpansion or None
        Turns drawn people into the columns that the model takes.
    given : Given or None
        Populations of a file, in place of those of the rows.
    binned : frozenset of str
        Sensitive columns that were cut into classes.
    weights : int64 or float64 array of shape (n_rows,), optional
        What each row counts for in a population.
    repeats : int64 array of shape (n_rows,), optional
        Rows of the table that each row stands for.
    sampled : float64 array of shape (n_rows,), optional
        The same in the tables of a population, where they are those of a sample.
    paired : tuple of (PairCounts, int64 array of shape (n_rows,)), optional
        What a population is fitted to in place of the rows: counts by kinds of people, and the kind of each row.
    """

    decision: Decision
    domain: Domain
    points: np.ndarray
    frame: pd.DataFrame
    groupings: Sequence[Grouping]
    strata: dict[str, np.ndarray]
    structure: str
    engine: Solver
    effort: Effort
    requirements: Sequence[Requirement] = ()
    progress: Progress | None = None
    one_hot: Sequence[OneHot] = ()
    expansion: OneHotExpansion | None = None
    given: Given | None = None
    binned: frozenset[str] = frozenset()
    weights: np.ndarray | None = None
    repeats: np.ndarray | None = None
    sampled: np.ndarray | None = None
    paired: tuple[PairCounts, np.ndarray] | None = None

    @cached_property
    def _tallies(self) -> Tallies:
        held = (self.domain, self.points, self.groupings, self.strata, self.one_hot, self.weights, self.sampled)
        return Tallies(*held) if self.paired is None else PairTallies(*held, *self.paired)

    def determined(self, grouping: Grouping) -> frozenset[str]:
        """Features whose cell the group determines."""
        return frozenset(grouping.sensitive) - self.binned

    def ask(self, grouping: Grouping, rows: np.ndarray | None = None, kind: str = "selection_rate") -> Asked:
        """Fit a population to the people and enclose the rate of each group.

        Parameters
        ----------
        grouping : Grouping
            One of the groupings.
        rows : bool array of shape (n_rows,), optional
            One of the strata; everybody when left out.
        kind : str
            Its name.

        Returns
        -------
        Asked
            About the groups that have people there.
        """
        names = " x ".join(grouping.sensitive)
        stage("fitting the people of %s: %s", names, KINDS.get(kind, kind))
        people, kept, tally = self._population(grouping, rows, kind)
        absent = len(grouping.groups) - len(kept)
        stage("answering: %s of %s", KINDS.get(kind, kind), names)
        watch = Watch(self.requirements, kind, names, absent, self.effort.tolerance, self.progress)
        seen = Seen(people, self.decision, self.decision) if self.given is None else self.given.seen(people)
        effort = replace(self.effort, watch=watch)
        engine = self.engine if seen.engine is None else seen.engine
        solution = solve_between(engine, seen.population, seen.least, seen.most, effort)
        if people.rest is not None:
            solution = replace(solution, guarantee="bounds", stopped="time")
        return Asked(people, solution, kept, tally, seen)

    def _population(
        self, grouping: Grouping, rows: np.ndarray | None, kind: str
    ) -> tuple[Population, np.ndarray, Tally | None]:
        """The population of the people, or of those of one true outcome, and the positions of its groups."""
        if self.given is not None:
            return *self.given.population(grouping, kind), None
        people, tally = self._tallies.fit(self.structure, grouping, rows)
        people.people = population.People(
            self.frame, self.domain, self.points, _Members(tally.codes), self.expansion,
            self.repeats,
        )  # fmt: skip
        return people, tally.kept, tally

    def ask_stratum(self, grouping: Grouping, kind: str) -> Stratum:
        """The same among the people of one true outcome; None for groups that have none."""
        rows = self.strata[kind]
        enclosures: list[Enclosure | None] = [None] * len(grouping.groups)
        intervals = list(enclosures)
        if not (rows.any() if self.given is None else self.given.has(grouping, kind)):
            return Stratum(rows, None, tuple(enclosures), 0.0)
        asked = self.ask(grouping, rows, kind)
        solution = asked.solution
        for position, enclosure, interval in zip(asked.kept, solution.enclosures, solution.intervals, strict=True):
            enclosures[position], intervals[position] = enclosure, interval
        return Stratum(
            rows, asked.people, tuple(enclosures), solution.seconds, tuple(intervals), solution.stopped, solution.delta,
            asked,
        )  # fmt: skip
