"""Groups of people: the values of the sensitive columns together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import GroupingError, TableError
from justicia.words import counted, did_you_mean, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

__all__ = ["MOST_EMPTY", "MOST_NUMERIC_VALUES", "Grouping", "group_rows"]

MOST_NUMERIC_VALUES = 10
"""A numeric sensitive column with more distinct values is refused: it needs bins."""

MOST_EMPTY = 1_000
"""Combinations of values without rows are listed when there are at most so many combinations."""


@dataclass(frozen=True)
class Grouping:
    """The people of a table, by the values of their sensitive columns.

    Attributes
    ----------
    sensitive : tuple of str
        Sensitive columns; the grouping is compound when there is more than one.
    groups : tuple of tuple of str
        Groups that have rows, sorted; each holds one value a sensitive column.
    codes : int array of shape (n_rows,)
        Index of each person's group.
    empty : tuple of tuple of str
        Combinations of values that no row has.
    """

    sensitive: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    codes: np.ndarray
    empty: tuple[tuple[str, ...], ...] = ()

    @property
    def sizes(self) -> np.ndarray:
        """Rows of each group, int array of shape (n_groups,)."""
        return np.bincount(self.codes, minlength=len(self.groups))

    def among(self, rows: np.ndarray) -> tuple[Grouping, np.ndarray]:
        """The grouping of some of the rows.

        Parameters
        ----------
        rows : bool array of shape (n_rows,)

        Returns
        -------
        grouping : Grouping
            Of the chosen rows; groups without any are gone.
        kept : int array
            Positions of its groups in this grouping.
        """
        kept, codes = np.unique(self.codes[rows], return_inverse=True)
        return Grouping(self.sensitive, tuple(self.groups[code] for code in kept), codes), kept

    def named(self, group: Sequence[str]) -> dict[str, str]:
        """A group as a mapping from sensitive column to value."""
        return dict(zip(self.sensitive, group, strict=True))


def group_rows(frame: pd.DataFrame, sensitive: Sequence[str]) -> Grouping:
    """Group the rows of `frame` by its columns `sensitive`.

    The dtype of a column does not matter: 1, 1.0, "1" and a category 1 are the same value.

    Raises
    ------
    TableError
        When a column is not in the table.
    GroupingError
        When a column is named twice, has missing values, or is numeric with more than `MOST_NUMERIC_VALUES` values.
    """
    if not sensitive:
        raise GroupingError("a grouping needs at least one sensitive column")
    if len(set(sensitive)) != len(sensitive):
        raise GroupingError(f"a sensitive column is named twice in {','.join(sensitive)}")
    columns = [_values(frame, name) for name in sensitive]
    keys = np.zeros(len(frame), dtype=np.int64)
    for codes, values in columns:
        keys = keys * len(values) + codes
        # Ranks keep the key small however many columns there are.
        keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
    first = np.unique(keys, return_index=True)[1]
    groups = tuple(tuple(values[codes[row]] for codes, values in columns) for row in first)
    return Grouping(tuple(sensitive), groups, keys, _empty(groups, [values for _, values in columns]))


def _empty(groups: tuple[tuple[str, ...], ...], values: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    if np.prod([float(len(column)) for column in values]) > MOST_EMPTY:
        return ()
    seen = set(groups)
    return tuple(group for group in product(*values) if group not in seen)


def _values(frame: pd.DataFrame, name: str) -> tuple[np.ndarray, list[str]]:
    """Codes of a sensitive column and its values as text, in a natural order; unused categories come along."""
    import pandas as pd

    if name not in frame.columns:
        raise TableError(f"sensitive column {name!r} is not in the table{did_you_mean(name, frame.columns)}")
    column = frame[name]
    missing = int(column.isna().sum())
    if missing:
        raise GroupingError(
            f"sensitive column {name!r} has no value in {counted(missing, 'row')} of {len(column):,}: "
            "fill or remove them before the audit"
        )
    try:
        codes, uniques = pd.factorize(column)
    except TypeError as error:
        raise GroupingError(f"sensitive column {name!r} holds values that are no single words or numbers") from error
    values = list(uniques)
    if isinstance(column.dtype, pd.CategoricalDtype):
        values += [value for value in column.cat.categories if value not in set(values)]
    numeric = all(isinstance(value, (int, float, np.integer, np.floating)) for value in values)
    if numeric and len(values) > MOST_NUMERIC_VALUES:
        raise GroupingError(
            f"sensitive column {name!r} is numeric with {len(values):,} distinct values: "
            "put it into a few classes in a column of its own before the audit"
        )
    texts = [value_text(value).strip() for value in values]
    order = sorted(set(texts), key=_natural)
    rank = {text: position for position, text in enumerate(order)}
    return np.array([rank[text] for text in texts])[codes], order


def _natural(text: str) -> tuple[int, float, str]:
    """Numbers by value and before words."""
    try:
        return (0, float(text), text)
    except ValueError:
        return (1, 0.0, text)
