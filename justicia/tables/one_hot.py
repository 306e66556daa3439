"""Columns that were one-hot encoded before the table was saved: several 0/1 columns that are one feature.

0/1 columns are one feature when they share a prefix ending in ``_``, the shortest under which they never sum above 1.
The feature is named by the longest prefix that they share (``marital_status``, not ``marital``); the shorter ones name
it as well. Names are only ever split at ``_``, so ``age`` beside ``age_group`` and ``Purpose_radio_or_TV`` are told
apart, and nothing is matched by substring.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import TableError
from justicia.words import counted, did_you_mean, listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NONE", "OneHot", "collapse", "find_one_hot", "settle_one_hot"]

logger = logging.getLogger(__name__)

NONE = "(none)"
"""Value of a row in which all columns are 0."""


@dataclass(frozen=True)
class OneHot:
    """Several 0/1 columns that are one feature.

    Attributes
    ----------
    name : str
        Of the feature.
    columns : tuple of str
    values : tuple of str
        The value that each column stands for.
    aliases : tuple of str
        Other names of the feature.
    """

    name: str
    columns: tuple[str, ...]
    values: tuple[str, ...]
    aliases: tuple[str, ...] = ()

    @property
    def none(self) -> str:
        """Value of a row in which all columns are 0; none of the others."""
        word = NONE
        while word in self.values:
            word += "'"
        return word


def settle_one_hot(
    frame: pd.DataFrame, given: Mapping[str, Sequence[str]], *, search: bool = True, exclude: Sequence[str] = ()
) -> list[OneHot]:
    """The one-hot features of a table: those given, and those found among the other columns.

    Parameters
    ----------
    frame : DataFrame
    given : mapping of str to sequence of str
        Columns by the name of their feature.
    search : bool
        Look for more.
    exclude : sequence of str
        Columns that are no part of any, such as the label.

    Raises
    ------
    TableError
        When a given column is absent, holds other values than 0 and 1, or two of a feature are 1 in the same row.
    """
    held = [_given(frame, name, columns) for name, columns in given.items()]
    if search:
        taken = {column for feature in held for column in feature.columns} | set(exclude)
        names = {feature.name for feature in held} | {str(column) for column in frame.columns}
        others = [str(column) for column in frame.columns if column not in taken]
        found = find_one_hot(frame, others, names)
        held += found
        if found:
            logger.info(
                "0/1 columns that exclude each other are taken as one feature: %s; override with --one-hot "
                "NAME=COLUMN,COLUMN or --one-hot none",
                listed((f"{feature.name} ({len(feature.columns)} columns)" for feature in found), 20),
            )
    return held


def _given(frame: pd.DataFrame, name: str, columns: Sequence[str]) -> OneHot:
    for column in columns:
        if column not in frame.columns:
            raise TableError(f"--one-hot {name}: column {column!r} is not in the table{did_you_mean(column, frame)}")
        if not _is_zero_one(frame[column]):
            raise TableError(f"--one-hot {name}: column {column!r} holds other values than 0 and 1")
    if name in frame.columns:
        raise TableError(f"--one-hot {name}: the table has a column of that name already; choose another")
    if len(set(columns)) < 2:
        raise TableError(f"--one-hot {name} names fewer than two columns")
    several = int((_sums(frame, columns) > 1).sum())
    if several:
        raise TableError(f"--one-hot {name}: more than one of its columns is 1 in {counted(several, 'row')}")
    prefix = f"{name}_"
    shared = all(column.startswith(prefix) and len(column) > len(prefix) for column in columns)
    values = [column[len(prefix) :] if shared else column for column in columns]
    return OneHot(name, tuple(columns), tuple(values))


def _is_zero_one(column: pd.Series[Any]) -> bool:
    if column.dtype.kind not in "biuf":
        return False
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biu":
        held = column.to_numpy()
        return not len(held) or (held.min() >= 0 and held.max() <= 1)
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return bool(((values == 0) | (values == 1)).all())


def _sums(frame: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    total = np.zeros(len(frame), dtype=np.int64)
    for column in columns:
        total += frame[column].to_numpy() != 0
    return total


def find_one_hot(frame: pd.DataFrame, columns: Sequence[str], names: set[str] | None = None) -> list[OneHot]:
    """Find the one-hot features among `columns`, by the rule of this module.

    Parameters
    ----------
    frame : DataFrame
    columns : sequence of str
    names : set of str, optional
        Names that are taken.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"race_A": [1, 0], "race_B": [0, 1], "age_group": [1, 1], "age": [30, 40]})
    >>> find_one_hot(frame, list(frame.columns))
    [OneHot(name='race', columns=('race_A', 'race_B'), values=('A', 'B'), aliases=())]
    """
    names = {str(column) for column in frame.columns} if names is None else names
    checked: dict[str, bool] = {}

    def zero_one(column: str) -> bool:
        if column not in checked:
            checked[column] = _is_zero_one(frame[column])
        return checked[column]

    def split(members: Sequence[str], depth: int) -> list[OneHot]:
        """Features among columns that agree in their first `depth` parts."""
        by_prefix: dict[str, list[str]] = {}
        for column in members:
            parts = column.split("_")
            if len(parts) > depth + 1 or (len(parts) == depth + 1 and depth):
                prefix = "_".join(parts[: depth + 1]) + "_"
                if column.startswith(prefix) and len(column) > len(prefix):
                    by_prefix.setdefault(prefix, []).append(column)
        found = []
        for prefix, group in by_prefix.items():
            candidates = [column for column in group if len(group) > 1 and zero_one(column)]
            if len(candidates) < 2:
                continue
            if _sums(frame, candidates).max() <= 1:
                feature = _named(candidates, prefix, names)
                if feature is not None:
                    found.append(feature)
            else:
                found += split(candidates, depth + 1)
        return found

    return split(columns, 0)


def _named(columns: Sequence[str], shortest: str, taken: set[str]) -> OneHot | None:
    """The feature of `columns`, which all begin with `shortest`; None when every prefix that they share is taken."""
    least = shortest.count("_")
    first = columns[0].split("_")
    longest = min(column.count("_") for column in columns)
    while longest > least and len({tuple(column.split("_")[:longest]) for column in columns}) > 1:
        longest -= 1
    prefixes = ["_".join(first[:length]) for length in range(longest, least - 1, -1)]
    free = [prefix for prefix in prefixes if prefix.strip("_") and prefix not in taken]
    if not free:
        return None
    values = tuple(column[len(free[0]) + 1 :] for column in columns)
    return OneHot(free[0], tuple(columns), values, tuple(free[1:]))


def collapse(frame: pd.DataFrame, features: Sequence[OneHot]) -> pd.DataFrame:
    """`frame` with one more column a feature (one more an alias), which holds the value of the column that is 1."""
    import pandas as pd

    added = {}
    for feature in features:
        code = np.zeros(len(frame), dtype=np.int64)
        for position, column in enumerate(feature.columns):
            code[frame[column].to_numpy() != 0] = position + 1
        words = np.array([feature.none, *feature.values], dtype=object)
        for name in (feature.name, *feature.aliases):
            added[name] = pd.Series(words[code], dtype=object, index=frame.index)
    return pd.concat([frame, pd.DataFrame(added, index=frame.index)], axis="columns") if added else frame
