"""People who have no value in some sensitive column, and the groups that they may be in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import GroupingError, TableError
from justicia.tables.groups import MOST_EMPTY, Grouping, first_rows, group_rows, ranks
from justicia.tables.repeats import number_of, of_rows
from justicia.words import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PartialGrouping", "UnknownPeople", "group_known"]


@dataclass(frozen=True)
class UnknownPeople:
    """People of whom the same is known.

    Attributes
    ----------
    groups : tuple of int
        Positions of the groups that they may be in.
    rows : int array
    """

    groups: tuple[int, ...]
    rows: np.ndarray


@dataclass(frozen=True)
class PartialGrouping:
    """A grouping of the people with a value in every sensitive column, and the others.

    Attributes
    ----------
    grouping : Grouping
        Of the known people; groups that somebody else may be in come after those that have people.
    known : bool array of shape (n_rows,)
        Who they are.
    unknown : tuple of UnknownPeople
        The others.
    """

    grouping: Grouping
    known: np.ndarray
    unknown: tuple[UnknownPeople, ...]


def group_known(
    frame: pd.DataFrame,
    sensitive: Sequence[str],
    *,
    bins: Mapping[str, Sequence[float]] | None = None,
    repeats: np.ndarray | None = None,
) -> PartialGrouping:
    """Group the people whose group is known, and find the groups that the others may be in.

    Parameters
    ----------
    frame : DataFrame
    sensitive : sequence of str
    bins : mapping of str to sequence of float, optional
    repeats : int64 array of shape (n_rows,), optional
        Equal rows that each row stands for.

    Raises
    ------
    TableError, GroupingError
        As `group_rows`; and when nobody's group is known, or there are too many combinations of values.
    """
    columns = [group_rows(frame, [name], bins=bins, missing="group") for name in sensitive]
    absent = np.stack([frame[name].isna().to_numpy() for name in sensitive], axis=1)
    known = np.asarray(~absent.any(axis=1), dtype=bool)
    if not known.any():
        raise TableError("no row has a value in every sensitive column")
    those = frame.iloc[np.flatnonzero(known)].reset_index(drop=True)
    grouping = group_rows(those, sensitive, bins=bins, repeats=of_rows(repeats, known))
    if known.all():
        return PartialGrouping(grouping, known, ())
    # Where somebody has no value, the last group of the column is theirs.
    values = [
        [group[0] for group in column.groups[: len(column.groups) - bool(lacks.any())]]
        for column, lacks in zip(columns, absent.T, strict=True)
    ]
    if np.prod([float(len(held)) for held in values]) > MOST_EMPTY:
        raise GroupingError(
            f"{counted(number_of(~known, repeats), 'row')} without a value in {' or '.join(sensitive)} may be in more "
            f"than {MOST_EMPTY:,} groups: name fewer sensitive columns, or pass --missing drop"
        )
    every = list(product(*values))
    kinds: list[tuple[tuple[str | None, ...], np.ndarray]] = []
    rows = np.flatnonzero(~known)
    codes = np.stack(
        [np.where(lacks, -1, column.codes) for column, lacks in zip(columns, absent.T, strict=True)], axis=1
    )
    keys = np.zeros(len(rows), dtype=np.int64)
    for position in range(len(sensitive)):
        keys = ranks(keys * (len(columns[position].groups) + 1) + codes[rows, position] + 1)
    for kind, row in enumerate(first_rows(keys)):
        pattern = tuple(
            None if code < 0 else column.groups[code][0]
            for code, column in zip(codes[rows[row]].tolist(), columns, strict=True)
        )
        kinds.append((pattern, rows[keys == kind]))
    allowed = [
        [
            group
            for group in every
            if all(word is None or word == value for word, value in zip(kind, group, strict=True))
        ]
        for kind, _ in kinds
    ]
    possible = {group for groups in allowed for group in groups}
    held = set(grouping.groups)
    order = (*grouping.groups, *(group for group in every if group in possible and group not in held))
    index = {group: position for position, group in enumerate(order)}
    unknown = tuple(
        UnknownPeople(tuple(sorted(index[group] for group in groups)), members)
        for groups, (_, members) in zip(allowed, kinds, strict=True)
    )
    return PartialGrouping(grouping.beside(order), known, unknown)
