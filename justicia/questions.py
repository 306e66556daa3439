"""What is asked of every grouping: the same decision, the same structure, the same engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from justicia import population
from justicia.comparison import Stratum
from justicia.ssat import Formula
from justicia.tables.groups import first_rows, ranks
from justicia.watching import Watch

if TYPE_CHECKING:
    import pandas as pd

    from justicia.enclosure import Enclosure
    from justicia.encoders import Decision
    from justicia.metrics import Requirement
    from justicia.models import OneHotExpansion
    from justicia.population import Domain, Population
    from justicia.solvers import Effort, Solution, Solver
    from justicia.tables import Grouping
    from justicia.tables.one_hot import OneHot
    from justicia.watching import Progress

__all__ = ["Asked", "Question"]

_MOST_ATOMS = 3_000
"""With more combinations of groups and true outcomes, every population is counted from the rows."""


@dataclass(frozen=True)
class Asked:
    """What was asked and answered about one kind of rates.

    Attributes
    ----------
    counts : Counts
    fixed : frozenset of str
        Features that are sensitive columns.
    people : Population
        Fitted from the counts.
    solution : Solution
    kept : int array
        Positions of the population's groups in the grouping.
    """

    counts: population.Counts
    fixed: frozenset[str]
    people: Population
    solution: Solution
    kept: np.ndarray


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
    binned : frozenset of str
        Sensitive columns that were cut into classes.
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
    binned: frozenset[str] = frozenset()

    @cached_property
    def _atoms(self) -> tuple[population.Counts, np.ndarray]:
        """Counts by all groupings and strata at once, whose sums give every population, and each atom's first row."""
        keys = np.zeros(len(self.points), dtype=np.int64)
        for grouping in self.groupings:
            keys = ranks(keys * len(grouping.groups) + grouping.codes)
        for rows in self.strata.values():
            keys = ranks(keys * 2 + rows)
        first = first_rows(keys)
        names = tuple((str(atom),) for atom in range(len(first)))
        return population.Counts(names, self.domain.sizes, keys, self.points), first

    def _counts(self, groups: tuple[tuple[str, ...], ...], codes: np.ndarray) -> population.Counts:
        """Counts of the people by group; those of code -1 are left out."""
        atoms, first = self._atoms
        if len(first) > _MOST_ATOMS:
            kept = codes >= 0
            return population.Counts(groups, self.domain.sizes, codes[kept], self.points[kept], everybody=atoms)
        return atoms.regrouped(groups, codes[first])

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
        kept = np.arange(len(grouping.groups))
        codes = grouping.codes
        if rows is not None:
            held = np.bincount(codes[rows], minlength=len(kept)) > 0
            kept = np.flatnonzero(held)
            codes = np.where(rows, (np.cumsum(held) - 1)[codes], -1)
        counts = self._counts(tuple(grouping.groups[position] for position in kept), codes)
        sensitive = set(grouping.sensitive)
        fixed = sensitive | {
            feature.name for feature in self.one_hot if sensitive & {*feature.columns, *feature.aliases}
        }
        people = population.fit(self.structure, counts, self.domain, grouping.sensitive, frozenset(fixed))
        people.people = population.People(
            self.frame, self.domain, self.points, lambda group: np.flatnonzero(codes == group), self.expansion
        )
        formula = Formula(people, self.decision)
        absent, names = len(grouping.groups) - len(kept), " x ".join(grouping.sensitive)
        watch = Watch(self.requirements, kind, names, absent, self.effort.tolerance, self.progress)
        solution = self.engine.solve(formula, replace(self.effort, watch=watch))
        return Asked(counts, frozenset(fixed), people, solution, kept)

    def ask_stratum(self, grouping: Grouping, kind: str) -> Stratum:
        """The same among the people of one true outcome; None for groups that have none."""
        rows = self.strata[kind]
        enclosures: list[Enclosure | None] = [None] * len(grouping.groups)
        intervals = list(enclosures)
        if not rows.any():
            return Stratum(rows, None, tuple(enclosures), 0.0)
        asked = self.ask(grouping, rows, kind)
        solution = asked.solution
        for position, enclosure, interval in zip(asked.kept, solution.enclosures, solution.intervals, strict=True):
            enclosures[position], intervals[position] = enclosure, interval
        return Stratum(
            rows, asked.people, tuple(enclosures), solution.seconds, tuple(intervals), solution.stopped, solution.delta,
            asked,
        )  # fmt: skip
