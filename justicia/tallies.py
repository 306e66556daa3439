"""People counted by all groupings and true outcomes at once, so that every population is a sum of the same counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from justicia import population
from justicia.population.auto import CONCENTRATION
from justicia.tables.groups import first_rows, ranks

if TYPE_CHECKING:
    from justicia.population import Domain, Population
    from justicia.population.pair_counts import PairCounts
    from justicia.tables import Grouping
    from justicia.tables.one_hot import OneHot

__all__ = ["PairTallies", "Tallies"]

_MOST_ATOMS = 3_000
"""With more combinations of groups and true outcomes, every population is counted from the rows."""


@dataclass(frozen=True)
class Tally:
    """How many people there are.

    Attributes
    ----------
    counts : Counts
        Of the groups that have people there.
    kept : int array
        Positions of those groups in the grouping.
    codes : int array of shape (n_rows,)
        Which of those groups each person belongs to; -1 for people who are left out.
    fixed : frozenset of str
        Features that are sensitive columns.
    """

    counts: population.Counts
    kept: np.ndarray
    codes: np.ndarray
    fixed: frozenset[str]


@dataclass(frozen=True)
class Tallies:
    """People by group, true outcome and domain point.

    Attributes
    ----------
    domain : Domain
    points : int array of shape (n_rows, n_features)
    groupings : sequence of Grouping
    strata : dict of str to bool array of shape (n_rows,)
        Rows of each true outcome; they exclude each other.
    one_hot : sequence of OneHot
        Features of the domain that are several columns of the table.
    weights : int64 or float64 array of shape (n_rows,), optional
        People that each row stands for; one unless given.
    sampled : float64 array of shape (n_rows,), optional
        The same in tables of populations; what is the rows themselves has the weights.
    """

    domain: Domain
    points: np.ndarray
    groupings: Sequence[Grouping]
    strata: dict[str, np.ndarray]
    one_hot: Sequence[OneHot] = ()
    weights: np.ndarray | None = None
    sampled: np.ndarray | None = None

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
        return population.Counts(names, self.domain.sizes, keys, self.points, self.weights), first

    def _counts(self, groups: tuple[tuple[str, ...], ...], codes: np.ndarray) -> population.Counts:
        """Counts of the people by group; those of code -1 are left out."""
        atoms, first = self._atoms
        if len(first) > _MOST_ATOMS:
            kept = codes >= 0
            weights = None if self.weights is None else self.weights[kept]
            return population.Counts(groups, self.domain.sizes, codes[kept], self.points[kept], weights, atoms)
        return atoms.regrouped(groups, codes[first])

    def count(self, grouping: Grouping, rows: np.ndarray | None = None) -> Tally:
        """Count the people, or those of one true outcome.

        Parameters
        ----------
        grouping : Grouping
            One of the groupings.
        rows : bool array of shape (n_rows,), optional
            One of the strata, with people in it; everybody when left out.
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
        return Tally(counts, kept, codes, frozenset(fixed))

    def fit(self, structure: str, grouping: Grouping, rows: np.ndarray | None = None) -> tuple[Population, Tally]:
        """Fit a population to the people, or to those of one true outcome; see `count`."""
        tally = self.count(grouping, rows)
        if self.sampled is None:
            return population.fit(structure, tally.counts, self.domain, grouping.sensitive, tally.fixed), tally
        drawn = replace(self, weights=self.sampled, sampled=None).count(grouping, rows)
        made = population.fit(structure, drawn.counts, self.domain, grouping.sensitive, tally.fixed)
        people = population.fit_empirical(tally.counts, self.domain, grouping.sensitive)
        if not isinstance(made, population.MixturePopulation):
            raise TypeError(f"a {structure} population is not made of tables and rows")
        return made.beside(people, people.sizes / (people.sizes + CONCENTRATION)), tally


@dataclass(frozen=True)
class PairTallies(Tallies):
    """People of whom features and pairs are counted, by kinds: groups with a true outcome.

    Attributes
    ----------
    pairs : PairCounts
        With a group for each kind.
    kinds : int array of shape (n_rows,), optional
        The kind that each row is of, -1 for none; row by row unless given.
    """

    pairs: PairCounts | None = None
    kinds: np.ndarray | None = None

    def _counts(self, groups: tuple[tuple[str, ...], ...], codes: np.ndarray) -> PairCounts:
        if self.pairs is None:
            raise ValueError("nobody is counted")
        if self.kinds is not None:
            of_kind = np.full(self.pairs.n_groups, -1, dtype=np.int64)
            known = self.kinds >= 0
            of_kind[self.kinds[known]] = codes[known]
            codes = of_kind
        return self.pairs.regrouped(groups, codes)
