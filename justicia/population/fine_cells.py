"""Cells of a population that is fitted before the model is known.

- A column of numbers with at most `most` distinct values has one cell a value: a model's threshold never falls inside
  of one. With more, neighbours share a cell, so that cells hold similar numbers of people; a value that many people
  have keeps a cell of its own. A cell is known by its smallest and largest value.
- A column of words, truth values, or numbers too large to be told apart as floats has one cell a value; with more than
  `most`, the commonest values have one each and the others share the last.
- Empty cells are a cell, where there are any; words have a cell "(unseen)" besides, which no row of the table is in.

Columns that hold other things, and those whose values are of single persons (`justicia.population.personal`), are left
out and announced.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import TableError
from justicia.population.domain import Domain, Feature
from justicia.population.personal import why_personal
from justicia.population.tree import coarse_states
from justicia.tables.plain import is_plain
from justicia.words import value_text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pandas as pd

__all__ = ["MISSING", "MOST_CELLS", "UNSEEN", "feature_of", "fine_domain", "number_of_values"]

logger = logging.getLogger(__name__)

MOST_CELLS = 512
"""Distinct values that have a cell each, unless asked for another number."""
MISSING, UNSEEN = "(missing)", "(unseen)"
_LARGEST_WHOLE = 2**53


def fine_domain(
    frame: pd.DataFrame,
    columns: Sequence[str],
    most: int = MOST_CELLS,
    *,
    list_numbers: bool = False,
    keep: Collection[str] = (),
) -> Domain:
    """Cut columns into cells that are fine enough for models to come.

    Parameters
    ----------
    frame : DataFrame
    columns : sequence of str
        In the order of the features.
    most : int
        Cells of a column, at most; missing and unseen values apart.
    list_numbers : bool
        Keep all numbers of a cell, not its smallest and largest alone.
    keep : collection of str
        Columns that are features though their values are those of single persons; others are left out.

    Raises
    ------
    TableError
        When a column holds infinite numbers.
    """
    features = []
    for name in columns:
        column = frame[name]
        counts = number_of_values(column) if is_plain(column) else None
        features.append(feature_of(name, counts, len(column), most, list_numbers=list_numbers, keep=name in keep))
    return Domain(tuple(feature for feature in features if feature is not None))


def number_of_values(column: pd.Series[Any]) -> pd.Series[int]:
    """How often each value of a column occurs, by the values; empty cells are left out."""
    counts = column.value_counts(sort=False)
    if isinstance(counts.index.dtype, np.dtype) and counts.index.dtype.kind in "iuf":
        return counts
    held = counts[counts > 0]
    # Categories are words, whatever stands in them.
    return held.set_axis(held.index.astype(object)) if column.dtype == "category" else held


def feature_of(
    name: str, counts: pd.Series[int] | None, rows: int, most: int, *, list_numbers: bool = False, keep: bool = False
) -> Feature | None:
    """The cells of one column; None where it is left out, which is announced.

    Parameters
    ----------
    name : str
    counts : Series, optional
        As `number_of_values` has them; None for a column of lists.
    rows : int
        Of the table, with those whose cell is empty.
    most, list_numbers, keep
        As `fine_domain` has them.
    """
    why = why_personal(counts, rows, most, name) if counts is not None and not keep else None
    if why is not None:
        logger.warning(
            "column %s is left out, for it tells people apart, not kinds of people: %s; if it is a feature and may be "
            "published, name it with --keep",
            *(name, why),
        )
        return None
    holes = counts is not None and int(counts.sum()) < rows
    if counts is not None and counts.index.dtype.kind in "iuf" and not _too_large(counts.index):
        return _numbers(name, counts, most, list_numbers, holes=holes)
    if counts is None or not all(isinstance(value, (str, bool, int, float, np.bool_)) for value in counts.index):
        logger.warning("column %s is left out: it holds values that are no words, numbers or truth values", name)
        return None
    return _words(name, counts, most, holes=holes)


def _too_large(values: pd.Index[Any]) -> bool:
    """Whether whole numbers are too large to be told apart as floats."""
    if values.dtype.kind not in "iu" or not len(values):
        return False
    return max(abs(int(values.max())), abs(int(values.min()))) > _LARGEST_WHOLE


def _numbers(name: str, counts: pd.Series[int], most: int, list_numbers: bool, *, holes: bool) -> Feature | None:
    numbers, places = np.unique(counts.index.to_numpy(dtype=np.float64), return_inverse=True)
    totals = np.bincount(places, weights=counts.to_numpy(dtype=np.float64), minlength=len(numbers)).astype(np.int64)
    if np.isinf(numbers).any():
        raise TableError(f"column {name!r} holds infinite numbers: remove these rows, or leave the column out")
    numbers = numbers + 0.0  # -0.0 and 0.0 are one number
    if not len(numbers):
        if holes:
            logger.warning("column %s is left out: it holds no value", name)
        return None
    states = coarse_states(totals, numeric=True, most=most)
    first = np.flatnonzero(np.diff(states, prepend=-1))
    last = np.append(first[1:], len(numbers)) - 1
    ranges = np.stack([numbers[first], numbers[last]], axis=1)
    labels = [value_text(low) if low == high else f"{value_text(low)} to {value_text(high)}" for low, high in ranges]
    held = [float(number) for number in ranges[:, 1]]
    missing = len(labels) if holes else None
    members = None
    if list_numbers:
        members = tuple(tuple(run.tolist()) for run in np.split(numbers, first[1:]))
    return Feature(
        *(name, (*labels, *([MISSING] if holes else [])), (*held, *([np.nan] if holes else [])), ranges[:-1, 1]),
        missing=missing, by_value=True, ranges=ranges, members=members,
        integers=bool((numbers == np.rint(numbers)).all()),
    )  # fmt: skip


def _words(name: str, distinct: pd.Series[int], most: int, *, holes: bool) -> Feature:
    values = [value.item() if isinstance(value, np.generic) else value for value in distinct.index]
    order = sorted(range(len(values)), key=lambda i: (isinstance(values[i], str), str(values[i])))
    values, totals = [values[i] for i in order], distinct.to_numpy(dtype=np.int64)[order]
    states = coarse_states(totals, numeric=False, most=most)
    n_cells = int(states.max()) + 1 if len(states) else 0
    shared = np.bincount(states, minlength=n_cells) > 1
    labels = [""] * n_cells
    representatives: list[Any] = [None] * n_cells
    for value, cell in zip(values, states.tolist(), strict=True):
        labels[cell] = "(other values)" if shared[cell] else value_text(value)
        representatives[cell] = value
    cells = dict(zip(values, states.tolist(), strict=True))
    unseen, missing = n_cells, n_cells + 1 if holes else None
    return Feature(
        name, (*labels, UNSEEN, *([MISSING] if holes else [])),
        (*representatives, None, *([np.nan] if holes else [])), cells=cells, unseen=unseen, missing=missing,
    )  # fmt: skip
