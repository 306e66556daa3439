"""Populations of tables that do not fit in memory, before there is a model.

The table is read three times: for its types, for how often every value of a column occurs, which makes the cells, and
for counts. Under ``tree`` and ``independent`` these are counts of features and of their pairs, however many different
people there are; ``auto`` and ``empirical`` hold the people themselves, equal ones once. Counts are those of the whole
table, and so is every number of the file.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import TableError
from justicia.population.domain import Domain
from justicia.population.fine_cells import feature_of, number_of_values
from justicia.population.personal import why_personal
from justicia.streaming_pairs import PairsOfKinds
from justicia.tables import Table, rows_with_groups
from justicia.tables.condensing import Condenser, Condition, cells_of_rows
from justicia.tables.one_hot import OneHot, collapse
from justicia.tables.plain import is_plain
from justicia.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from justicia.datasets import Description
    from justicia.population.domain import Feature
    from justicia.population.pair_counts import PairCounts
    from justicia.tables.sources import Source
    from justicia.watching import Progress

__all__ = ["Batches", "Values"]

logger = logging.getLogger(__name__)

_MOST_VALUES = 1_000_000
"""Different values of a column that are counted."""
_ADVICE = ", or fit the structure tree or independent, which counts pairs of columns alone"


@dataclass(frozen=True)
class Batches:
    """The rows of a source as they are used.

    Attributes
    ----------
    source : Source
    columns : list of str
        That are read.
    one_hot : sequence of OneHot
        Features that are several columns.
    groupings : sequence of tuple of str
        Sensitive columns.
    drops : bool
        People without a value in a sensitive column are left out.
    progress : callable, optional
    """

    source: Source
    columns: list[str]
    one_hot: Sequence[OneHot]
    groupings: Sequence[tuple[str, ...]]
    drops: bool
    progress: Progress | None

    def _frames(self) -> Iterator[tuple[pd.DataFrame, dict[str, int]]]:
        """Batches in the types of the whole table, and how many rows are left out of each, by reason."""
        for batch in self.source.batches(self.columns, self.progress):
            frame = self.source.restore(batch)
            for one in self.one_hot:
                if int((frame[list(one.columns)] != 0).sum(axis=1).max()) > 1:
                    raise TableError(
                        "0/1 columns that exclude each other in the first rows do not in all: pass --one-hot none"
                    )
            frame = collapse(frame, self.one_hot)
            dropped: dict[str, int] = {}
            if self.drops:
                kept, dropped = rows_with_groups(frame, self.groupings)
                frame = frame[kept].reset_index(drop=True)
            if len(frame) or dropped:
                yield frame, dropped

    def cells(
        self, names: Sequence[str], most: int, *, list_numbers: bool, keep: Collection[str]
    ) -> tuple[Domain, Values]:
        """The cells of some columns, as `justicia.population.fine_cells` makes them, and all values of the columns.

        Raises
        ------
        TableError
            When a column has too many values.
        """
        logger.info(
            "%s is read in batches, %s; override with --no-stream",
            *(self.source.name or "the table", counted(len(self.columns), "column")),
        )
        self.source.survey(self.columns, (), self.progress)
        rows, left_out, lists, personal = 0, dict[str, int](), set[str](), set[str]()
        values: dict[str, pd.Series[int]] = {}
        for frame, dropped in self._frames():
            rows += len(frame)
            for reason, number in dropped.items():
                left_out[reason] = left_out.get(reason, 0) + number
            for name in names:
                if name in lists or name in personal:
                    continue
                if not is_plain(frame[name]):
                    lists.add(name)
                    continue
                values[name] = _together(values.get(name), number_of_values(frame[name]))
                if len(values[name]) > _MOST_VALUES:
                    # What is left out anyway is counted no further.
                    if name in keep or why_personal(values[name], rows) is None:
                        raise TableError(
                            f"column {name!r} has more than {_MOST_VALUES:,} different values, which are not counted: "
                            "round them, or name it with --leave-out"
                        )
                    personal.add(name)
        if not rows:
            raise TableError("no row is left of the table")
        for reason, number in left_out.items():
            logger.warning("%s left out: %s", counted(number, "row is", "rows are"), reason)
        features = [
            feature_of(
                name,
                None if name in lists else values[name],
                rows,
                most,
                list_numbers=list_numbers,
                keep=name in keep,
            )
            for name in names
        ]
        domain = Domain(tuple(feature for feature in features if feature is not None))
        return domain, Values(rows, left_out, {name: values[name] for name in domain.names})

    def count(
        self,
        structure: str,
        domain: Domain,
        values: Values,
        label: str | None,
        edges: Mapping[str, Sequence[float]],
        description: Description | None,
    ) -> tuple[Table, np.ndarray, PairCounts | None]:
        """Count the people.

        Returns
        -------
        table : Table
            Kinds of people, a row each, with the number of people in `repeats`.
        points : int array of shape (n_kinds, n_features)
            Of those people; nothing but zeros where pairs are counted.
        pairs : PairCounts or None
            By kind of people, under "tree" and "independent".

        Raises
        ------
        TableError
            When a structure that holds the people themselves would hold too many.
        InputError
            When too many pairs would be counted.
        """
        apart = dict.fromkeys(name for names in self.groupings for name in names)
        names = [name for name in dict.fromkeys([*apart, label]) if name is not None and name not in edges]
        condition = Condition(domain.features, tuple(names), {name: tuple(held) for name, held in edges.items()})
        pairs = None
        if structure in ("tree", "independent"):
            condition = replace(condition, features=())
            frame, repeats, pairs = self._pairs(structure, domain, values, condition)
            points = np.zeros((len(frame), len(domain.features)), dtype=np.int32)
        else:
            condenser = Condenser(condition, lambda held: held, advice=_ADVICE)
            for batch, _ in self._frames():
                condenser.add(batch)
            frame, repeats = condenser.result()
            points = domain.points(frame)
        held = Table(frame, self.source.name, self.source.sha256(), description, values.dropped, repeats=repeats)
        return held, points, pairs

    def _pairs(
        self, structure: str, domain: Domain, values: Values, condition: Condition
    ) -> tuple[pd.DataFrame, np.ndarray, PairCounts]:
        """A row of each kind of people, how many they are, and their counts."""
        totals = [values.totals(feature) for feature in domain.features]
        counter = PairsOfKinds(structure, domain, totals, condition)
        for frame, _ in self._frames():
            counter.add(frame, cells_of_rows(domain, frame))
        held = counter.result()
        if held is None:
            raise TableError("no row is left of the table")
        return held.people, held.repeats, held.counts


@dataclass(frozen=True)
class Values:
    """How often the values of the features occur.

    Attributes
    ----------
    rows : int
        That are used.
    dropped : dict of str to int
        Rows that are left out, by reason.
    by_column : dict of str to Series
        How often each value occurs, by the values.
    """

    rows: int
    dropped: dict[str, int]
    by_column: dict[str, pd.Series[int]]

    def totals(self, feature: Feature) -> np.ndarray:
        """People in each cell of a feature."""
        import pandas as pd

        held = self.by_column[feature.name]
        cells = feature.cells_of(pd.Series(held.index, name=feature.name))
        totals = np.bincount(cells, weights=held.to_numpy(dtype=np.float64), minlength=len(feature)).astype(np.int64)
        if feature.missing is not None:
            totals[feature.missing] += self.rows - int(held.sum())
        return totals


def _together(held: pd.Series[int] | None, more: pd.Series[int]) -> pd.Series[int]:
    """How often values occur in two parts."""
    import pandas as pd

    return more if held is None else pd.concat([held, more]).groupby(level=0, sort=False).sum()
