"""Groups of people: the values of the sensitive columns together."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import GroupingError, TableError
from justicia.numeric import floats_of
from justicia.tables.repeats import number_of, tally
from justicia.words import comma_hint, counted, did_you_mean, listed, value_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

__all__ = [
    "MISSING",
    "MOST_EMPTY",
    "MOST_NUMERIC_VALUES",
    "Grouping",
    "bins_hint",
    "check_bins",
    "first_rows",
    "group_rows",
    "ranks",
    "rows_with_groups",
    "says_age",
]

logger = logging.getLogger(__name__)

MISSING = "(missing)"
"""Value of the group of people without one."""

MOST_NUMERIC_VALUES = 10
"""A numeric sensitive column with more distinct values is refused: it needs bins."""

_AGES = (25, 40, 60)
"""Edges that are proposed for ages."""

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
    repeats : int64 array of shape (n_rows,), or None
        Equal rows that each row stands for; one unless given.
    """

    sensitive: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    codes: np.ndarray
    empty: tuple[tuple[str, ...], ...] = ()
    repeats: np.ndarray | None = None

    @property
    def sizes(self) -> np.ndarray:
        """Rows of each group, int array of shape (n_groups,)."""
        return self.tally()

    def tally(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Rows of each group, or those among some rows, int array of shape (n_groups,).

        Parameters
        ----------
        rows : bool array of shape (n_rows,), optional
        """
        return tally(self.codes, len(self.groups), self.repeats, rows)

    def compared(self, least: int) -> frozenset[int]:
        """Positions of the groups that are not left out for having some rows, and fewer than `least`."""
        sizes = self.tally()
        return frozenset(np.flatnonzero((sizes == 0) | (sizes >= least)).tolist())

    def beside(self, groups: Sequence[tuple[str, ...]]) -> Grouping:
        """The same people, with some groups first, whether they have rows or not; others that have rows follow."""
        others = [group for group in self.groups if group not in set(groups)]
        together = (*groups, *others)
        index = {group: position for position, group in enumerate(together)}
        target = np.array([index[group] for group in self.groups], dtype=np.int64)
        empty = tuple(group for group in self.empty if group not in index)
        return Grouping(self.sensitive, together, target[self.codes], empty, self.repeats)

    def named(self, group: Sequence[str]) -> dict[str, str]:
        """A group as a mapping from sensitive column to value."""
        return dict(zip(self.sensitive, group, strict=True))


def group_rows(
    frame: pd.DataFrame,
    sensitive: Sequence[str],
    *,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing: str = "error",
    factors: Sequence[str] = (),
    repeats: np.ndarray | None = None,
) -> Grouping:
    """Group the rows of `frame` by its columns `sensitive`.

    The dtype of a column does not matter: 1, 1.0, "1" and a category 1 are the same value.

    Parameters
    ----------
    frame : DataFrame
    sensitive : sequence of str
    bins : mapping of str to sequence of float, optional
        Edges at which numeric columns are cut; a value on an edge belongs to the class below it.
    missing : str
        "error", or "group": rows without a value form a group of their own.
    factors : sequence of str
        Those of the columns that are lawful factors, not sensitive.
    repeats : int64 array of shape (n_rows,), optional
        Equal rows that each row stands for.

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
    words = {name: f"factor {name!r}" if name in factors else f"sensitive column {name!r}" for name in sensitive}
    columns = [_values(frame, name, words[name], (bins or {}).get(name), missing, repeats) for name in sensitive]
    keys = np.zeros(len(frame), dtype=np.int64)
    for codes, values in columns:
        keys = keys * len(values) + codes
        # Ranks keep the key small however many columns there are.
        keys = ranks(keys)
    first = first_rows(keys)
    groups = tuple(tuple(values[codes[row]] for codes, values in columns) for row in first)
    return Grouping(tuple(sensitive), groups, keys, _empty(groups, [values for _, values in columns]), repeats)


def ranks(keys: np.ndarray) -> np.ndarray:
    """Rank of each key among the distinct keys; without sorting when they are small."""
    if keys.max() > 10 * len(keys) + 1000:
        return np.unique(keys, return_inverse=True)[1].astype(np.int64)
    return (np.cumsum(np.bincount(keys) > 0) - 1)[keys]


def first_rows(keys: np.ndarray) -> np.ndarray:
    """First row of each key, for keys that are ranks, int array of shape (n_keys,)."""
    first = np.empty(int(keys.max()) + 1, dtype=np.int64)
    first[keys[::-1]] = np.arange(len(keys))[::-1]
    return first


def rows_with_groups(
    frame: pd.DataFrame, groupings: Sequence[Sequence[str]], repeats: np.ndarray | None = None
) -> tuple[np.ndarray, dict[str, int]]:
    """Rows that have a value in every sensitive column.

    Returns
    -------
    kept : bool array of shape (n_rows,)
    dropped : dict of str to int
        Rows left out, by reason; a row counts for the first column in which it has no value.
    """
    kept = np.ones(len(frame), dtype=bool)
    dropped = {}
    for name in dict.fromkeys(name for names in groupings for name in names):
        if name not in frame.columns:
            raise TableError(f"sensitive column {name!r} is not in the table{did_you_mean(name, frame.columns)}")
        lost = kept & frame[name].isna().to_numpy()
        if lost.any():
            dropped[f"no value in sensitive column {name}"] = number_of(lost, repeats)
            kept &= ~lost
    return kept, dropped


def _empty(groups: tuple[tuple[str, ...], ...], values: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    if np.prod([float(len(column)) for column in values]) > MOST_EMPTY:
        return ()
    seen = set(groups)
    return tuple(group for group in product(*values) if group not in seen)


def _values(
    frame: pd.DataFrame,
    name: str,
    words: str,
    edges: Sequence[float] | None,
    missing: str,
    repeats: np.ndarray | None,
) -> tuple[np.ndarray, list[str]]:
    """Codes of a sensitive column and its values as text, in a natural order; unused categories come along."""
    if name not in frame.columns:
        raise TableError(f"{words} is not in the table{did_you_mean(name, frame.columns)}")
    column = frame[name]
    if edges is None:
        codes, order, absent = _known_values(column, name, words, missing, repeats)
    else:
        codes, order, absent = _binned(column, name, words, edges, missing, repeats)
    if absent.any():
        if MISSING in order:
            raise GroupingError(f"{words} has both empty cells and the word {MISSING}: rename one")
        order = [*order, MISSING]
        codes = np.where(absent, len(order) - 1, codes)
    return codes, order


def _check_missing(absent: np.ndarray, words: str, missing: str, repeats: np.ndarray | None) -> None:
    """Refuse empty cells that nothing is to be done about, before anything else is said of the column."""
    if missing != "group" and absent.any():
        raise GroupingError(
            f"{words} has no value in {counted(number_of(absent, repeats), 'row')} of "
            f"{number_of(np.ones(len(absent), dtype=bool), repeats):,}: "
            "pass --missing group to make them a group, or --missing drop to leave them out"
        )


def _binned(
    column: pd.Series[Any],
    name: str,
    words: str,
    edges: Sequence[float],
    missing: str,
    repeats: np.ndarray | None,
) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Classes of a numeric column between edges, as `_known_values`; a value on an edge belongs to the class below."""
    numbers = floats_of(column)
    absent = column.isna().to_numpy()
    _check_missing(absent, words, missing, repeats)
    text = column[np.isnan(numbers) & ~absent]
    if len(text):
        raise GroupingError(
            f"--bins {name}: the column holds {listed(text.unique(), 3)}, which is not a number"
            f"{comma_hint(text.unique()[:100])}"
        )
    texts = [value_text(edge) for edge in edges]
    middle = [f"({low}, {high}]" for low, high in pairwise(texts)]
    order = [f"<= {texts[0]}", *middle, f"> {texts[-1]}"]
    return np.searchsorted(np.asarray(edges, dtype=np.float64), numbers, side="left"), order, absent


def _known_values(
    column: pd.Series[Any], name: str, words: str, missing: str, repeats: np.ndarray | None
) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Codes and values of a column as they are, and which cells are empty; their code means nothing."""
    import pandas as pd

    codes, uniques = pd.factorize(column)
    absent = codes < 0
    _check_missing(absent, words, missing, repeats)
    values = list(uniques)
    if isinstance(column.dtype, pd.CategoricalDtype):
        values += [value for value in column.cat.categories if value not in set(values)]
    numeric = all(isinstance(value, (int, float, np.integer, np.floating)) for value in values)
    if numeric and len(values) > MOST_NUMERIC_VALUES:
        other = "" if says_age(name) else ", or name another column"
        raise GroupingError(
            f"{words} is numeric with {len(values):,} distinct values: cut it into classes with "
            f"{bins_hint(name, column)}{other}"
        )
    texts = [value_text(value).strip() for value in values]
    order = sorted(set(texts), key=_natural)
    if not order:
        return np.zeros(len(column), dtype=np.int64), [], absent
    _warn_of_case(order, words)
    rank = {text: position for position, text in enumerate(order)}
    return np.array([rank[text] for text in texts])[codes], order, absent


def _warn_of_case(values: Sequence[str], words: str) -> None:
    """Values that differ in case alone are groups of their own, which is seldom meant."""
    alike: dict[str, list[str]] = {}
    for value in values:
        alike.setdefault(" ".join(value.casefold().split()), []).append(value)
    for same in alike.values():
        if len(same) > 1:
            logger.warning(
                "%s holds %s, which are different groups: write them alike if they mean the same",
                words, listed(map(repr, same), 5),
            )  # fmt: skip


def says_age(name: str) -> bool:
    """Whether a column is named like an age.

    >>> says_age("Age"), says_age("age_at_hiring"), says_age("wage"), says_age("age group")
    (True, True, False, False)
    """
    words = re.findall(r"[a-z0-9]+", name.casefold())
    return "age" in words and not {"group", "class", "band", "bracket", "range", "cat", "category"} & set(words)


def bins_hint(name: str, column: pd.Series[Any]) -> str:
    """The option that cuts a numeric column into classes; ages at usual edges with people on both sides.

    >>> import pandas as pd
    >>> bins_hint("age", pd.Series([20, 30, 50])), bins_hint("pay", pd.Series([1, 2]))
    ('--bins age=25,40', '--bins pay=EDGE,EDGE')
    """
    edges = []
    if says_age(name):
        low, high = column.min(), column.max()
        edges = [str(edge) for edge in _AGES if low <= edge < high]
    return f"--bins {name}={','.join(edges) or 'EDGE,EDGE'}"


def check_bins(bins: Mapping[str, Sequence[Any]], groupings: Sequence[Sequence[str]]) -> dict[str, list[float]]:
    """Edges as increasing numbers, of columns that are sensitive.

    Raises
    ------
    GroupingError
        When a column is not sensitive, or its edges is not a list of increasing numbers.
    """
    sensitive = {name for names in groupings for name in names}
    checked = {}
    for name, edges in bins.items():
        if name not in sensitive:
            raise GroupingError(
                f"--bins {name}: it is not among the sensitive columns{did_you_mean(name, sorted(sensitive))}"
            )
        try:
            numbers = [float(edge) for edge in edges]
        except (TypeError, ValueError):
            raise GroupingError(f"--bins {name}: {listed(edges)} is not a list of numbers") from None
        if not numbers or not np.isfinite(numbers).all() or (np.diff(numbers) <= 0).any():
            raise GroupingError(f"--bins {name}: {listed(edges)} is not a list of increasing numbers")
        checked[name] = numbers
    return checked


def _natural(text: str) -> tuple[int, float, str]:
    """Numbers by value and before words."""
    try:
        return (0, float(text), text)
    except ValueError:
        return (1, 0.0, text)
