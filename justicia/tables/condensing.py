"""Rows that an audit cannot tell apart, joined: one of them stays, with their number.

A table that does not fit in memory is read in batches, and each batch is condensed to the distinct people in it; what
two batches were condensed to is joined and condensed again. That is a sum, whatever the order and wherever the parts
are computed, and the people stay in the order of their first rows. Nothing else needs to be known of a table:
populations are fitted from counts (`justicia.population.counts`), and so is all that is said about the rows.

Two rows are the same when all features of the model lie in the same cell, and all other columns that matter (sensitive
ones, the true outcome, decisions, weights) have the same value, or lie in the same class where they are cut. Values
that the model was not fitted on are told apart, so that they can be counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import TableError
from justicia.tables.plain import check_plain
from justicia.words import listed

if TYPE_CHECKING:
    import pandas as pd

    from justicia.population.domain import Domain, Feature

__all__ = ["MOST_PEOPLE", "Condenser", "Condition", "TooManyPeopleError", "cells_of_rows", "condensed"]

MOST_PEOPLE = 1_000_000
"""Distinct people of a table that is read in batches."""

_AT_ONCE = 500_000
"""Distinct people of several batches that wait to be joined."""
_MOST_KEYS = 2**62
_LOOKED_UP = 1 << 20
"""Whole numbers in a range of so many get their cells from a list."""


class TooManyPeopleError(TableError):
    """Raised when a table has more distinct people than are held."""


@dataclass(frozen=True)
class Condition:
    """When two rows are the same.

    Attributes
    ----------
    features : tuple of Feature
        Columns by cell.
    values : tuple of str
        Columns by value.
    edges : mapping of str to tuple of float
        Columns of numbers by class; a value on an edge belongs to the class below it.
    thresholds : mapping of str to tuple of float
        Columns of numbers by their place between thresholds; a value on one is apart.
    """

    features: tuple[Feature, ...] = ()
    values: tuple[str, ...] = ()
    edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    thresholds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """Columns that are looked at."""
        names = [feature.name for feature in self.features]
        return list(dict.fromkeys([*names, *self.values, *self.edges, *self.thresholds]))

    def kinds(self, frame: pd.DataFrame) -> list[tuple[np.ndarray, int]]:
        """For each part, a number of each row, below another number."""
        found = [_by_cell(feature, frame[feature.name]) for feature in self.features]
        found += [_by_value(frame[name]) for name in self.values]
        found += [_by_class(frame[name], held, apart=False) for name, held in self.edges.items()]
        found += [_by_class(frame[name], held, apart=True) for name, held in self.thresholds.items()]
        return found

    def widest(self, frame: pd.DataFrame) -> list[str]:
        """The columns, with the number of values or cells that they have here, the most first."""
        sizes = dict.fromkeys(self.columns, 0)
        parts = [*(feature.name for feature in self.features), *self.values, *self.edges, *self.thresholds]
        # What else tells people apart, such as decisions, is no column.
        for name, (codes, _) in zip(parts, self.kinds(frame), strict=False):
            sizes[name] = max(sizes[name], len(np.unique(codes)))
        return [f"{name} ({size:,})" for name, size in sorted(sizes.items(), key=lambda item: -item[1])]


def _by_value(column: pd.Series[Any]) -> tuple[np.ndarray, int]:
    import pandas as pd

    try:
        codes, uniques = pd.factorize(column)
    except TypeError:
        # The first rows were looked at before; further ones may hold something else.
        check_plain(column.to_frame(), [str(column.name)])
        raise
    return codes + 1, len(uniques) + 1


def _numbers(column: pd.Series[Any]) -> np.ndarray | None:
    """A column as floats; None when it holds something else."""
    if column.dtype.kind not in "biuf":
        return None
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _by_class(column: pd.Series[Any], edges: tuple[float, ...], *, apart: bool) -> tuple[np.ndarray, int]:
    numbers = _numbers(column)
    if numbers is None:
        return _by_value(column)
    held = np.unique(np.asarray(edges, dtype=np.float64))
    codes = np.searchsorted(held, numbers, side="left") + 1
    if apart:
        codes += np.searchsorted(held, numbers, side="right")
    codes[np.isnan(numbers)] = 0
    return codes, 2 * len(held) + 2


def _by_cell(feature: Feature, column: pd.Series[Any]) -> tuple[np.ndarray, int]:
    if not feature.numeric:
        return _by_category(feature, column)
    if column.dtype.kind not in "biuf":
        return _by_value(column)
    width = len(feature) + 1
    if column.dtype.kind in "iu" and isinstance(column.dtype, np.dtype) and len(column):
        values = column.to_numpy()
        least, most = int(values.min()), int(values.max())
        if most - least < min(_LOOKED_UP, len(values)):
            import pandas as pd

            every = pd.Series(np.arange(least, most + 1), name=column.name)
            places = values - values.dtype.type(least) if column.dtype.kind == "u" else values.astype(np.int64) - least
            return (feature.cells_or_none(every) + 1)[places], width
    return feature.cells_or_none(column) + 1, width


def cells_of_rows(domain: Domain, frame: pd.DataFrame) -> np.ndarray:
    """The domain point of each row, as `Domain.points` has it; whole numbers in a short range are looked up.

    Raises
    ------
    TableError
        When a value has no cell.
    """
    points = np.empty((len(frame), len(domain.features)), dtype=np.int32, order="F")
    for position, feature in enumerate(domain.features):
        column = frame[feature.name]
        if feature.numeric and column.dtype.kind in "iu":
            points[:, position] = _by_cell(feature, column)[0] - 1
        else:
            points[:, position] = feature.cells_or_none(column)
    return domain.points(frame) if len(frame) and points.min(initial=0) < 0 else points


def _by_category(feature: Feature, column: pd.Series[Any]) -> tuple[np.ndarray, int]:
    """Cells of known values; others by value."""
    import pandas as pd

    codes, uniques = pd.factorize(column)
    kinds, next_free = [], len(feature)
    for value in uniques:
        kind = feature.cells.get(value)
        if kind is None:
            kind, next_free = next_free, next_free + 1
        kinds.append(kind)
    return np.array([*kinds, next_free], dtype=np.int64)[codes], next_free + 1


def kinds_of_rows(frame: pd.DataFrame, condition: Condition) -> tuple[np.ndarray, np.ndarray]:
    """Which rows are the same.

    Parameters
    ----------
    frame : DataFrame of shape (n_rows, n_columns)
    condition : Condition

    Returns
    -------
    kinds : int array of shape (n_rows,)
        The same number for rows that are the same; numbers in the order in which they come.
    first : int64 array of shape (n_kinds,)
        The first row of each kind.
    """
    import pandas as pd

    keys, size = np.zeros(len(frame), dtype=np.int64), 1
    for codes, width in condition.kinds(frame):
        if size * width >= _MOST_KEYS:
            keys, uniques = pd.factorize(keys)
            size = max(len(uniques), 1)
        if width > 1:
            keys = keys * width + codes
            size *= width
    codes, uniques = pd.factorize(keys)
    first = np.empty(len(uniques), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return codes, first


def condensed(frame: pd.DataFrame, repeats: np.ndarray | None, condition: Condition) -> tuple[pd.DataFrame, np.ndarray]:
    """The first of all rows that are the same, in the order in which they come, and how many rows each stands for.

    Parameters
    ----------
    frame : DataFrame of shape (n_rows, n_columns)
    repeats : int64 array of shape (n_rows,), or None
        Rows that each of these stands for already.
    condition : Condition

    Returns
    -------
    DataFrame, int64 array

    >>> import pandas as pd
    >>> people, numbers = condensed(pd.DataFrame({"sex": list("fmff")}), None, Condition(values=("sex",)))
    >>> people["sex"].tolist(), numbers
    (['f', 'm'], array([3, 1]))
    """
    codes, first = kinds_of_rows(frame, condition)
    weights = None if repeats is None else repeats.astype(np.float64)
    numbers = np.bincount(codes, weights=weights, minlength=len(first)).astype(np.int64)
    return frame.iloc[first].reset_index(drop=True), numbers


class Condenser:
    """Condenses batches one by one.

    Parameters
    ----------
    condition : Condition
    restore : callable
        Gives columns of a batch the types that they have in the whole table.
    most : int, optional
        Distinct people that are held; `MOST_PEOPLE` unless given.
    advice : str
        What can be done where there are more.
    """

    def __init__(
        self,
        condition: Condition,
        restore: Callable[[pd.DataFrame], pd.DataFrame],
        *,
        most: int | None = None,
        advice: str = "",
    ) -> None:
        self._condition = condition
        self._restore = restore
        self._most = MOST_PEOPLE if most is None else most
        self._advice = advice
        self._parts: list[tuple[pd.DataFrame, np.ndarray]] = []
        self._waiting = 0
        self._joined = 0

    def add(self, batch: pd.DataFrame, repeats: np.ndarray | None = None) -> None:
        """Add the rows of a batch.

        Raises
        ------
        TableError
            When there are too many distinct people.
        """
        people, numbers = condensed(batch, repeats, self._condition)
        self._parts.append((self._restore(people), numbers))
        self._waiting += len(people)
        if self._waiting > max(_AT_ONCE, self._joined):
            self._join()

    def _join(self) -> None:
        import pandas as pd

        if len(self._parts) > 1:
            frame = pd.concat([people for people, _ in self._parts], ignore_index=True)
            self._parts = [condensed(frame, np.concatenate([n for _, n in self._parts]), self._condition)]
        self._joined, self._waiting = sum(len(people) for people, _ in self._parts), 0
        if self._joined > self._most:
            people = self._parts[0][0]
            raise TooManyPeopleError(
                f"the table is too large to be held, and has more than {self._most:,} different people by the columns "
                f"that matter: {listed(self._condition.widest(people.iloc[:100_000]), 5)} in the first 100,000 of "
                f"them; round these{self._advice}"
            )

    def result(self) -> tuple[pd.DataFrame, np.ndarray]:
        """The distinct people, and the rows that each stands for.

        Raises
        ------
        TableError
            When there are too many, or none.
        """
        if not self._parts:
            raise TableError("the table has no rows")
        self._join()
        return self._parts[0]
