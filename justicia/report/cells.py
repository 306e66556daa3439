"""Cells of the HTML report: what a part of an audit's JSON says, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from justicia.enclosure import Enclosure
from justicia.report.groups import number
from justicia.words import shown

__all__ = [
    "MOST_ROWS",
    "NOTHING",
    "Json",
    "between",
    "both_ends",
    "enclosure",
    "group_name",
    "group_words",
    "rate",
    "sample",
    "text",
]

T = TypeVar("T")

Json = dict[str, Any]

NOTHING = "–"
"""Of a cell without a value."""
MOST_ROWS = 2000
"""Longer tables of a page show so many rows, half of them from each end; the JSON that the page carries has all."""


def both_ends(items: Sequence[T]) -> tuple[list[T], int, list[T]]:
    """The first of a long list, how many are left out, and the last; all of a short one, 0, and none."""
    if len(items) <= MOST_ROWS:
        return list(items), 0, []
    half = MOST_ROWS // 2
    return list(items[:half]), len(items) - 2 * half, list(items[-half:])


def between(left_out: int) -> str:
    """What stands in the place of rows that are left out."""
    return f"… {left_out:,} more between, in the JSON of this page"


def group_name(group: Json | None, nobody: str = "everyone") -> str:
    """A group's values, in the order of the sensitive columns.

    >>> group_name({"race": "Black", "sex": "Female"})
    'Black, Female'
    """
    return ", ".join(shown(value, 60) for value in (group or {}).values()) or nobody


def group_words(group: Json | None, nobody: str = "everyone") -> str:
    """The same with the names of the columns, for a sentence.

    >>> group_words({"race": "Black", "age": "> 50"})
    'race=Black, age > 50'
    """
    return ", ".join(f"{shown(name, 60)}{_is(value)}" for name, value in (group or {}).items()) or nobody


def _is(value: Any) -> str:
    """A value behind the name of its column."""
    text = shown(value, 60)
    return f" {text}" if text[:1] in ("<", ">", "≤", "≥", "=") and " " in text else f"={text}"


def enclosure(held: Json | None) -> Enclosure | None:
    """The enclosure in a part of the JSON, None where it has none."""
    if held is None or held.get("lo") is None or held.get("hi") is None:
        return None
    return Enclosure(held["lo"], held["hi"])


def text(held: Json | None, absent: str = NOTHING) -> str:
    """An enclosure with four decimals, rounded outwards when it is a bound."""
    found = enclosure(held)
    return absent if found is None else number(found)


def rate(value: float | None, absent: str = NOTHING) -> str:
    """A number with four decimals."""
    return absent if value is None else f"{value:.4f}"


def sample(held: Json | None, absent: str = NOTHING) -> str:
    """The value of a rate or measure of the rows."""
    return rate((held or {}).get("value"), absent)
