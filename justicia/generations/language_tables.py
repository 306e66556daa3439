"""Columns of a table of answers as codes: groups, responses, truth, models, clusters and pairs."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import SpecError, TableError
from justicia.generations.columns import coded
from justicia.generations.labels import label_text
from justicia.words import counted, shown

if TYPE_CHECKING:
    from justicia.generations.reading import Source

__all__ = [
    "MOST_VALUES",
    "Coded",
    "coded_column",
    "coded_responses",
    "joined_columns",
    "need_filled",
    "need_groups",
    "pair_places",
]

logger = logging.getLogger(__name__)

MOST_VALUES = 100
"""Different groups or responses, at most: more are texts that nobody has labelled yet."""


@dataclass(frozen=True)
class Coded:
    """A column as codes.

    Attributes
    ----------
    name : str
    codes : int array of shape (n_rows,)
        -1 where the cell is blank.
    values : tuple of str
        In the order of their codes.
    """

    name: str
    codes: np.ndarray
    values: tuple[str, ...]

    def part(self, rows: np.ndarray) -> Coded:
        """Some rows of it."""
        return Coded(self.name, self.codes[rows], self.values)


def coded_column(source: Source, name: str, what: str, rows: np.ndarray | None, most: int | None = None) -> Coded:
    """A column whose values are sorted, without those that no row has.

    Raises
    ------
    TableError
        When there is no such column, or it has more than `most` values.
    """
    column = source.column(name, what)
    codes, values = coded(column if rows is None else column.iloc[rows])
    texts = ["" if value is None else label_text(value) for value in values]
    present = {texts[code] for code in np.unique(codes[codes >= 0])} - {""}
    order = sorted(present)
    if most is not None and len(order) > most:
        raise TableError(
            f"{source.name or 'the table'}: the {what} {shown(name)} has {len(order):,} different values, such as "
            f"{shown(order[0], 40)!r}: name a column of labels (justicia generations answers labels free text)"
        )
    place = {text: position for position, text in enumerate(order)}
    new = np.array([place.get(text, -1) for text in texts] + [-1], dtype=np.int64)
    return Coded(name, new[codes], tuple(order))


def need_groups(groups: Coded, source: Source) -> np.ndarray:
    """The rows that have a group, with a warning of those without.

    Raises
    ------
    TableError
        When there are fewer than two groups.
    """
    if len(groups.values) < 2:
        only = f"one value only, {shown(groups.values[0])}" if groups.values else "no value"
        raise TableError(
            f"{source.name or 'the table'}: the group column {shown(groups.name)} has {only}: nothing can be compared"
        )
    kept = np.flatnonzero(groups.codes >= 0)
    blank = len(groups.codes) - len(kept)
    if blank:
        logger.warning(
            "%s without a group (%s is blank) cannot be judged: left out", counted(blank, "row"), shown(groups.name)
        )
    return kept


def need_filled(columns: Iterable[Coded | None], source: Source) -> None:
    """Refuse blanks in columns that say where a row belongs.

    Raises
    ------
    TableError
    """
    for one in columns:
        blank = 0 if one is None else int((one.codes < 0).sum())
        if one is not None and blank:
            raise TableError(
                f"{source.name or 'the table'}: {shown(one.name)} is blank in {counted(blank, 'row')}: fill it in"
            )


def coded_responses(responses: Coded, refusals: Sequence[str], unknown: str) -> Coded:
    """Responses in the order answers, refusals, unknown; a blank is an unknown one, and never left out."""
    blank = int((responses.codes < 0).sum())
    if blank:
        logger.warning(
            "%s blank in %s: taken as %s", counted(blank, "response is", "responses are"), responses.name, unknown
        )
    present = [*responses.values, *([unknown] if blank and unknown not in responses.values else [])]
    last = [*refusals, unknown]
    order = sorted(value for value in present if value not in last) + [value for value in last if value in present]
    place = {value: position for position, value in enumerate(order)}
    new = np.array([place[value] for value in responses.values] + [place.get(unknown, -1)], dtype=np.int64)
    return Coded(responses.name, new[responses.codes], tuple(order))


def joined_columns(source: Source, names: Sequence[str], what: str, rows: np.ndarray | None) -> Coded | None:
    """Several columns together, each combination a value; None without a name."""
    held = [coded_column(source, name, what, rows) for name in names]
    if not held:
        return None
    if len(held) == 1:
        return held[0]
    blank = np.logical_or.reduce([one.codes < 0 for one in held])
    found, codes = np.unique(np.stack([one.codes for one in held], axis=1), axis=0, return_inverse=True)
    texts = tuple(", ".join(one.values[code] for one, code in zip(held, row, strict=True)) for row in found.tolist())
    return Coded(", ".join(names), np.where(blank, -1, codes.reshape(-1)), texts)


def pair_places(pairs: Coded, groups: Coded, models: Coded | None) -> tuple[np.ndarray, np.ndarray]:
    """Where the row of each pair and group stands, -1 where there is none, and each pair's model.

    Returns
    -------
    places : int array of shape (n_pairs, n_groups)
    models : int array of shape (n_pairs,)

    Raises
    ------
    TableError
        When a pair has a group twice.
    """
    rows = np.flatnonzero((pairs.codes >= 0) & (groups.codes >= 0))
    blank = len(pairs.codes) - len(rows)
    if not len(rows):
        raise SpecError(f"no row has a pair ({shown(pairs.name)}): name the column that prompts of one pair share")
    if blank:
        logger.warning("%s without a pair (%s is blank): not paired", counted(blank, "row"), shown(pairs.name))
    model = np.zeros(len(pairs.codes), dtype=np.int64) if models is None else models.codes
    keys = model[rows] * len(pairs.values) + pairs.codes[rows]
    found, which = np.unique(keys, return_inverse=True)
    cells = which * len(groups.values) + groups.codes[rows]
    counts = np.bincount(cells, minlength=len(found) * len(groups.values))
    if counts.max() > 1:
        cell = int(counts.argmax())
        pair, group = int(found[cell // len(groups.values)]) % len(pairs.values), cell % len(groups.values)
        raise TableError(
            f"pair {shown(pairs.values[pair])} ({shown(pairs.name)}) has {int(counts[cell])} rows of "
            f"{shown(groups.values[group])}: name the columns that tell them apart, too, such as sample "
            "(--pair)"
        )
    places = np.full(len(found) * len(groups.values), -1, dtype=np.int64)
    places[cells] = rows
    return places.reshape(len(found), -1), found // len(pairs.values)
