"""What is asked of every grouping: the same decision, the same structure, the same engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia import population
from justicia.comparison import Stratum
from justicia.ssat import Formula

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from justicia.enclosure import Enclosure
    from justicia.encoders import Decision
    from justicia.models import OneHotExpansion
    from justicia.population import Domain, Population
    from justicia.solvers import Solution, Solver
    from justicia.tables import Grouping
    from justicia.tables.one_hot import OneHot

__all__ = ["Question"]


@dataclass(frozen=True)
class Question:
    """Rates of a decision among the groups of any rows.

    Attributes
    ----------
    decision : Decision
    domain : Domain
    points : int array of shape (n_rows, n_features)
    frame : DataFrame of shape (n_rows, n_columns)
        The columns that the model takes.
    structure : str
        Of the populations.
    engine : Solver
    search : str
    time_limit : float or None
        Seconds for each answer.
    one_hot : sequence of OneHot
        Features of the domain that are several columns of the table.
    expansion : OneHotExpansion or None
        Turns drawn people into the columns that the model takes.
    """

    decision: Decision
    domain: Domain
    points: np.ndarray
    frame: pd.DataFrame
    structure: str
    engine: Solver
    search: str
    time_limit: float | None
    one_hot: Sequence[OneHot] = ()
    expansion: OneHotExpansion | None = None

    def ask(self, groups: Grouping, rows: np.ndarray | None = None) -> tuple[Population, Solution]:
        """Fit a population to the rows of `groups` and enclose the rate of each group.

        Parameters
        ----------
        groups : Grouping
        rows : bool array of shape (n_rows,), optional
            The rows that `groups` groups; all of them when left out.
        """
        points = self.points if rows is None else self.points[rows]
        frame = self.frame if rows is None else self.frame[rows]
        counts = population.Counts(groups.groups, self.domain.sizes, groups.codes, points)
        fixed = frozenset(groups.sensitive) | {
            feature.name for feature in self.one_hot if {*feature.columns, *feature.aliases} & set(groups.sensitive)
        }
        people = population.fit(self.structure, counts, self.domain, groups.sensitive, fixed)
        people.people = population.People(frame, self.domain, points, groups.codes, self.expansion)
        return people, self.engine.solve(Formula(people, self.decision), search=self.search, time_limit=self.time_limit)

    def ask_stratum(self, groups: Grouping, rows: np.ndarray) -> Stratum:
        """The same among some of the rows; None for groups that have none there."""
        part, kept = groups.among(rows)
        enclosures: list[Enclosure | None] = [None] * len(groups.groups)
        if not len(kept):
            return Stratum(rows, None, tuple(enclosures), 0.0)
        people, solution = self.ask(part, rows)
        for position, enclosure in zip(kept, solution.enclosures, strict=True):
            enclosures[position] = enclosure
        return Stratum(rows, people, tuple(enclosures), solution.seconds)
