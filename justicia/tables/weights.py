"""Row weights: what they are, and what a weighted row counts for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import InputError, TableError
from justicia.numeric import floats_of
from justicia.tables.repeats import number_of, of_rows
from justicia.words import comma_hint, counted, did_you_mean, shown

if TYPE_CHECKING:
    from justicia.tables.reading import Table

__all__ = ["WEIGHT_KINDS", "Weights", "read_weights", "without_weightless"]

WEIGHT_KINDS = {
    "sampling": "each row stands for that many people; intervals and tests count by Kish's effective sample size",
    "frequency": "each row is that many equal rows",
}
"""What a weight may mean."""

_MOST_ROWS = 20_000_000
"""Frequency weights are written out as rows; more are refused."""


@dataclass(frozen=True)
class Weights:
    """Weights of the rows.

    Attributes
    ----------
    name : str
        Their column.
    kind : str
        One of `WEIGHT_KINDS`.
    values : float64 array of shape (n_rows,), or None
        Above 0; None for frequency weights, whose rows are written out.
    rows : int
        Rows of the table before they were.
    repeats : int64 array of shape (n_rows,), or None
        Equal rows that each row stands for; one unless given.
    """

    name: str
    kind: str
    values: np.ndarray | None
    rows: int
    repeats: np.ndarray | None = None

    def of_rows(self, kept: np.ndarray) -> Weights:
        """Those of some rows."""
        values = None if self.values is None else self.values[kept]
        return replace(self, values=values, repeats=of_rows(self.repeats, kept))

    def check_whole(self, structure: str) -> None:
        """Refuse to write a population that holds rows, where these are no whole people.

        Raises
        ------
        InputError
        """
        held = self.of_population
        if structure in ("auto", "empirical") and held is not None and held.dtype.kind == "f":
            raise InputError(
                f"a population file of {structure} holds rows with whole numbers of people, and the weights in "
                f"{self.name!r} are none: write one of --population tree or independent"
            )

    @property
    def of_population(self) -> np.ndarray | None:
        """What rows count for in a population: whole numbers as they are, others scaled to a mean of 1.

        int64 or float64 array of shape (n_rows,); None when each row counts once.
        """
        values, repeats = self.values, self.repeats
        if values is None:
            return None
        n_rows = len(values) if repeats is None else int(repeats.sum())
        everybody = values if repeats is None else values * repeats
        if (values == np.rint(values)).all() and everybody.sum() < 2**53:
            return np.rint(everybody).astype(np.int64)
        return np.asarray(everybody * (n_rows / everybody.sum()))


def read_weights(table: Table, name: str) -> np.ndarray:
    """The weights in a column, float64 array of shape (n_rows,), at least 0.

    Raises
    ------
    TableError
        When the column is not there, or holds something that is no finite number of at least 0, or nothing above 0.
    """
    people = table.people
    if name not in people.columns:
        raise TableError(f"weight column {name!r} is not in the table{did_you_mean(name, people.columns)}")
    column = people[name]
    empty = number_of(column.isna().to_numpy(), table.repeats)
    if empty:
        raise TableError(f"weight column {name!r} has no value in {counted(empty, 'row')} of {table.n_rows:,}")
    numbers = floats_of(column)
    for bad, says in (
        (np.isnan(numbers), "which is no number" + comma_hint(column[np.isnan(numbers)].unique()[:100])),
        (np.isinf(numbers), "which is no finite number"),
        (numbers < 0, "and a weight is never negative"),
        ((numbers > 1e100) | ((numbers > 0) & (numbers < 1e-100)), "too far from 1: scale the weights"),
    ):
        if bad.any():
            value = shown(column[bad].iloc[0])
            where = f"in {counted(number_of(bad, table.repeats), 'row')}"
            if table.repeats is None:
                where += f", the first in row {int(np.flatnonzero(bad)[0]) + 1:,}"
            raise TableError(f"weight column {name!r} holds {value!r}, {says} ({where})")
    if not numbers.any():
        raise TableError(f"weight column {name!r} is 0 in every row: nobody counts")
    return numbers


def without_weightless(table: Table, name: str, kind: str) -> tuple[Table, Weights]:
    """The table without rows of weight 0; frequency weights are written out as that many equal rows.

    Raises
    ------
    InputError
        When frequency weights are no whole numbers, or too many to be written out.
    """
    if kind not in WEIGHT_KINDS:
        raise InputError(f"weight_kind cannot be {kind!r}{did_you_mean(kind, WEIGHT_KINDS)}")
    values = read_weights(table, name)
    n_rows, zero = table.n_rows, number_of(values == 0, table.repeats)
    repeats = table.repeats
    if kind == "frequency":
        strange = values[values != np.rint(values)]
        if len(strange):
            raise TableError(f"weight column {name!r} holds {strange[0]:g}: a frequency weight is a whole number")
        if repeats is None and values.sum() > _MOST_ROWS:
            raise InputError(
                f"the frequency weights in {name!r} add up to {values.sum():,.0f} people, over {_MOST_ROWS:,}: are "
                "they sampling weights? leave --weight-kind out"
            )
        if repeats is None:
            rows = np.repeat(np.arange(n_rows), values.astype(np.int64))
        else:
            rows = np.flatnonzero(values > 0)
            repeats = repeats * values.astype(np.int64)
    else:
        rows = np.flatnonzero(values > 0)
    if kind == "frequency" or zero:
        dropped = {**table.dropped, **({f"weight 0 in {name}": zero} if zero else {})}
        table = table.of_rows(rows, dropped=dropped, repeats=of_rows(repeats, rows))
    values_left = None if kind == "frequency" else values[rows]
    return table, Weights(name, kind, values_left, n_rows, None if kind == "frequency" else table.repeats)
