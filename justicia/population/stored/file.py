"""What a population file holds."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import PopulationFileError
from justicia.population.domain import Domain
from justicia.population.mixture import MixturePopulation
from justicia.population.stored.drawing import StoredPeople
from justicia.words import did_you_mean, listed, value_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from justicia.population.base import Draws, Population
    from justicia.population.networks import Network
    from justicia.tables.one_hot import OneHot

__all__ = ["PopulationFile", "StoredGrouping", "StoredLabel", "Table"]


_MOST_ROWS = 1_000_000_000


@dataclass(frozen=True)
class Table:
    """The table that populations were fitted on.

    Attributes
    ----------
    source, sha256 : str or None
    rows : int
        Rows that were counted.
    dropped : dict of str to int
        Rows that were left out, by reason.
    """

    source: str | None
    sha256: str | None
    rows: int
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class StoredLabel:
    """The true outcome that populations were fitted for one by one.

    Attributes
    ----------
    column : str
    favorable, unfavorable : tuple of str
        Its values as text; together they are all values of the label.
    """

    column: str
    favorable: tuple[str, ...]
    unfavorable: tuple[str, ...]


@dataclass(frozen=True)
class StoredGrouping:
    """Populations of the groups of some sensitive columns.

    Attributes
    ----------
    sensitive : tuple of str
    everybody : Population
    favorable, unfavorable : Population or None
        Of the people with one true outcome; None when there is no label, or nobody has it.
    """

    sensitive: tuple[str, ...]
    everybody: Population
    favorable: Population | None = None
    unfavorable: Population | None = None

    @property
    def populations(self) -> dict[str, Population]:
        """Those that there are, by name."""
        held = {"everybody": self.everybody, "favorable": self.favorable, "unfavorable": self.unfavorable}
        return {name: population for name, population in held.items() if population is not None}


@dataclass(frozen=True)
class PopulationFile:
    """Populations of one or several groupings over the same cells.

    Attributes
    ----------
    domain : Domain
    groupings : tuple of StoredGrouping
    table : Table
    columns : tuple of str
        Columns of the table that the features come from, in its order.
    label : StoredLabel or None
    bins : dict of str to list of float
        Edges at which numeric sensitive columns were cut.
    one_hot : tuple of OneHot
        Features that are several columns of the table.
    created : str or None
        Time, as ISO 8601 has it.
    name, sha256 : str or None
        Of the file that it was read from.
    network : Network or None
        That states the populations; None when they were fitted.
    """

    domain: Domain
    groupings: tuple[StoredGrouping, ...]
    table: Table
    columns: tuple[str, ...]
    label: StoredLabel | None = None
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    one_hot: tuple[OneHot, ...] = ()
    created: str | None = None
    name: str | None = None
    sha256: str | None = None
    network: Network | None = None

    @property
    def structure(self) -> str:
        """Name of the structure."""
        return self.groupings[0].everybody.structure

    @property
    def rows_of_people(self) -> bool:
        """Whether cells of single people are in it."""
        return any(
            population.support is not None or isinstance(population, MixturePopulation)
            for grouping in self.groupings
            for population in grouping.populations.values()
        )

    def grouping(self, sensitive: Sequence[str]) -> StoredGrouping:
        """The populations of the groups of some sensitive columns, in any order.

        Raises
        ------
        PopulationFileError
            When there are none.
        """
        for grouping in self.groupings:
            if sorted(grouping.sensitive) == sorted(sensitive):
                return grouping
        held = " and ".join(" x ".join(grouping.sensitive) for grouping in self.groupings)
        raise PopulationFileError(
            f"the population {self.name or 'given'} has the groups of {held}, not of {' x '.join(sensitive)}: name "
            "these with --sensitive, or fit a population of others"
        )

    def sample(
        self, rows: int, group: Mapping[str, Any] | None = None, random_state: int | np.random.Generator | None = None
    ) -> pd.DataFrame:
        """Draw people.

        A cell of several numbers gives one of them, drawn evenly between its ends; a cell of several words one of
        these. The true outcome is not drawn.

        Parameters
        ----------
        rows : int
        group : mapping from sensitive column to value, optional
            Values of some sensitive columns of a grouping; groups are drawn by their rows, those of a network
            by their probability. Left out: everybody.
        random_state : int or Generator, optional

        Returns
        -------
        DataFrame of shape (rows, n_columns)
            Columns of the table, as a model's `predict` takes them.

        Raises
        ------
        PopulationFileError
            When there is no such group.
        """
        import pandas as pd

        if not 0 <= rows <= _MOST_ROWS:
            raise PopulationFileError(f"{rows} rows cannot be drawn: ask for a number between 0 and {_MOST_ROWS:,}")
        wanted = {name: value_text(value) for name, value in (group or {}).items()}
        grouping = self.having(wanted)
        population = grouping.everybody
        inside = _matching(grouping, wanted)
        rng = np.random.default_rng(random_state)
        share = population.shares[inside]
        counts = rng.multinomial(rows, share / share.sum())
        people = self._people(grouping)
        drawn = [
            people.draw(population.sample_points(position, int(count), rng), position, rng)
            for position, count in zip(inside.tolist(), counts, strict=True)
            if count or rows == 0
        ]
        return pd.concat(drawn, ignore_index=True).iloc[rng.permutation(rows)].reset_index(drop=True)

    def _people(self, grouping: StoredGrouping) -> Draws:
        """Draws people of the groups of a grouping."""
        if self.network is None or not self.network.numeric:
            return StoredPeople(self, grouping)
        from justicia.population.networks.people import NetworkPeople

        return NetworkPeople(self.network, grouping.sensitive, grouping.everybody.groups)

    def having(self, wanted: Mapping[str, str]) -> StoredGrouping:
        """The first grouping that has these sensitive columns."""
        for grouping in self.groupings:
            if set(wanted) <= set(grouping.sensitive):
                return grouping
        known = list(dict.fromkeys(name for grouping in self.groupings for name in grouping.sensitive))
        strange = [name for name in wanted if name not in known] or list(wanted)
        raise PopulationFileError(f"{listed(strange)} is no sensitive column here{did_you_mean(strange[0], known)}")

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The populations as JSON text; when `path` is given, written there, whole or not at all, and not returned."""
        from justicia.population.stored.writing import population_to_json
        from justicia.writing import written

        return written(population_to_json(self), path)

    def with_groupings(self, groupings: Sequence[StoredGrouping]) -> PopulationFile:
        """The same with other groupings."""
        return replace(self, groupings=tuple(groupings))

    def __repr__(self) -> str:
        groups = ", ".join(" x ".join(grouping.sensitive) for grouping in self.groupings)
        return f"<PopulationFile of {groups}, {self.structure}: {len(self.domain.features)} features>"


def _matching(grouping: StoredGrouping, wanted: Mapping[str, str]) -> np.ndarray:
    """Positions of the groups that have these values."""
    at = [grouping.sensitive.index(name) for name in wanted]
    groups = grouping.everybody.groups
    inside = [
        position
        for position, group in enumerate(groups)
        if all(group[place] == value for place, value in zip(at, wanted.values(), strict=True))
    ]
    if not inside:
        for place, (name, value) in zip(at, wanted.items(), strict=True):
            known = list(dict.fromkeys(group[place] for group in groups))
            if value not in known:
                raise PopulationFileError(f"no group has {name} {value!r}{did_you_mean(value, known)}")
        raise PopulationFileError(f"no group is {', '.join(f'{name} {value}' for name, value in wanted.items())}")
    return np.array(inside)
