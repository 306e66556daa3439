"""Impact ratios in the layout of New York City's Local Law 144, for tools that select and tools that score.

For sex, for race/ethnicity, and for their intersection, each by itself: people, selected people (or those who score
strictly above the median of the full sample), their share, and the impact ratio: the share over the highest share of
that table (Rules of the City of New York, title 6, chapter 5, subchapter T, sections 5-300 and 5-301). A category with
fewer than 2 % of a table's people may be left out of the impact ratios; it is here, and cannot be the highest, but its
count and share stay. People whose category is not known are in no calculation, and their number is stated. The law sets
no pass mark, and this is a calculation, not an opinion on who has to do what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import GroupingError
from justicia.metrics.four_fifths import highest
from justicia.tables.repeats import number_of
from justicia.tables.roles import find_groupings
from justicia.tables.unknown import PartialGrouping
from justicia.words import listed

if TYPE_CHECKING:
    from justicia.tables.outcomes import Outcomes
    from justicia.tables.reading import Table

__all__ = [
    "SMALL_SHARE",
    "STATEMENT",
    "Category",
    "Layout",
    "LayoutTable",
    "layout_groupings",
    "layout_tables",
    "median",
]

STATEMENT = "calculation in LL144 format"
SMALL_SHARE = "fewer than 2 % of the people of the table: left out of the impact ratios"
"""Why a category has no impact ratio."""

_SEX = ("sex", "gender")
_RACE = ("race", "ethnic")


@dataclass(frozen=True)
class Category:
    """One category of a table.

    Attributes
    ----------
    group : dict of str to str
    n, selected : int
        People, and those selected or above the median; None where they are not published.
    rate, impact_ratio : Fraction or None
    left_out : str or None
        Why it has no impact ratio.
    """

    group: dict[str, str]
    n: int | None
    selected: int | None
    rate: Fraction | None
    impact_ratio: Fraction | None
    left_out: str | None


@dataclass(frozen=True)
class LayoutTable:
    """One of the three tables, under one rule.

    Attributes
    ----------
    title : str
        "sex", "race/ethnicity" or "intersection".
    sensitive : tuple of str
    rule : str
        Who counts as selected.
    categories : tuple of Category
    people : int
        Whose category is known.
    unknown : int or None
        Whose is not; None where it is not published.
    highest : dict of str to str, or None
        The category with the highest rate.
    """

    title: str
    sensitive: tuple[str, ...]
    rule: str
    categories: tuple[Category, ...]
    people: int | None
    unknown: int | None
    highest: dict[str, str] | None


@dataclass(frozen=True)
class Layout:
    """All tables.

    Attributes
    ----------
    tables : tuple of LayoutTable
        Three a rule of decision.
    median : float or None
        Of the scores of the full sample, where people above it are counted.
    scored : int or None
        People that it is of.
    """

    tables: tuple[LayoutTable, ...]
    median: float | None = None
    scored: int | None = None


def layout_groupings(table: Table, named: Sequence[Sequence[str]] | None) -> tuple[tuple[str, ...], ...]:
    """Sex, race/ethnicity, and both: the columns that are named, sex first, or those found by name.

    Raises
    ------
    GroupingError
        When there are not two columns, or it cannot be told which of them is which.
    """
    found = find_groupings(table, named)
    columns = list(dict.fromkeys(name for names in found for name in names))
    sex = [name for name in columns if any(word in name.casefold() for word in _SEX)]
    race = [name for name in columns if any(word in name.casefold() for word in _RACE)]
    if len(sex) == len(race) == 1 and sex != race and (named is None or len(columns) == 2):
        return (sex[0],), (race[0],), (race[0], sex[0])
    if named is not None and len(columns) == 2 and not (sex or race):
        return (columns[0],), (columns[1],), (columns[1], columns[0])
    raise GroupingError(
        f"the LL144 layout is about one column of sex and one of race/ethnicity, and {listed(columns)} is "
        "named or found: pass --sensitive SEX,RACE"
    )


def median(scores: np.ndarray, repeats: np.ndarray | None = None) -> float:
    """Median of the scores, each of so many people; the mean of the middle two of an even number.

    >>> median(np.array([1.0, 2.0, 9.0]), np.array([3, 1, 2]))
    1.5
    """
    if repeats is None:
        return float(np.median(scores))
    order = np.argsort(scores)
    reached = np.cumsum(repeats[order])
    total = int(reached[-1])
    middle = scores[order][np.searchsorted(reached, [(total + 1) // 2, total // 2 + 1])]
    return float(middle.mean())


def layout_tables(
    parts: Sequence[PartialGrouping],
    outcomes: Sequence[Outcomes],
    hidden: Sequence[frozenset[int]],
    repeats: np.ndarray | None = None,
) -> tuple[LayoutTable, ...]:
    """The three tables under each rule.

    Parameters
    ----------
    parts : sequence of PartialGrouping
        Of sex, race/ethnicity and their intersection.
    outcomes : sequence of Outcomes
    hidden : sequence of frozenset of int
        Groups of each whose numbers are not published; one beyond the last group are the people of unknown category.
    repeats : int64 array of shape (n_rows,), optional
        Equal rows that each row stands for.
    """
    titles = ("sex", "race/ethnicity", "intersection")
    return tuple(
        _table(title, part, one, concealed, repeats)
        for one in outcomes
        for title, part, concealed in zip(titles, parts, hidden, strict=True)
    )


def _table(
    title: str, part: PartialGrouping, outcomes: Outcomes, hidden: frozenset[int], repeats: np.ndarray | None
) -> LayoutTable:
    grouping = part.grouping
    n_groups = len(grouping.groups)
    n = grouping.tally().tolist()
    k = grouping.tally(outcomes.selected[part.known]).tolist()
    people, unknown = number_of(part.known, repeats), number_of(~part.known, repeats)
    held = [i for i in range(n_groups) if n[i] and i not in hidden and 50 * n[i] >= people]
    top = highest([k[i] for i in held], [n[i] for i in held])
    best = None if top is None else held[top]
    categories = []
    for i, group in enumerate(grouping.groups):
        if not n[i]:
            continue
        named = grouping.named(group)
        if i in hidden:
            categories.append(Category(named, None, None, None, None, "suppressed"))
            continue
        ratio = None
        if i in held and best is not None and k[best]:
            ratio = Fraction(k[i] * n[best], n[i] * k[best])
        categories.append(Category(named, n[i], k[i], Fraction(k[i], n[i]), ratio, None if i in held else SMALL_SHARE))
    few = n_groups in hidden
    return LayoutTable(
        title,
        grouping.sensitive,
        outcomes.rule,
        tuple(categories),
        None if few else people,
        None if few else unknown,
        None if best is None else grouping.named(grouping.groups[best]),
    )
