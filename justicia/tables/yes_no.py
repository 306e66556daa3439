"""Ways to write yes and no, read one to one: 1 and 0, true and false, yes and no, y and n."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from justicia.tables.plain import is_plain
from justicia.words import value_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["few_values", "may_say_yes_no", "read_yes_no", "same_words"]

_PAIRS = (("0", "1"), ("0.0", "1.0"), ("false", "true"), ("no", "yes"), ("n", "y"))
_NUMBERS = {word for pair in _PAIRS[:3] for word in pair}
"""False and true are 0 and 1."""
_FIRST_ROWS = 1000


def read_yes_no(texts: Iterable[str]) -> dict[str, bool] | None:
    """Which of two texts says yes; None unless they are both words of one pair, in whatever case.

    >>> read_yes_no(["No", "Yes"]), read_yes_no(["1", "0"])
    ({'No': False, 'Yes': True}, {'1': True, '0': False})
    >>> read_yes_no(["yes", "1"]), read_yes_no(["yes"]), read_yes_no(["yes", "YES"])
    (None, None, None)
    """
    held = {text: text.strip().casefold() for text in texts}
    for pair in _PAIRS:
        if len(held) == len(pair) and set(held.values()) == set(pair):
            return {text: word == pair[1] for text, word in held.items()}
    return None


def may_say_yes_no(texts: Iterable[str]) -> bool:
    """Whether all texts are words of one pair, of which one may be absent so far."""
    held = {text.strip().casefold() for text in texts}
    return any(held <= set(pair) for pair in _PAIRS)


def same_words(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether two pairs of words are the same but for case, or numbers and truth values.

    >>> same_words(["Yes", "No"], ["no", "yes"]), same_words(["0", "1"], ["False", "True"])
    (True, True)
    >>> same_words(["Yes", "No"], ["0", "1"])
    False
    """
    first, second = ({text.strip().casefold() for text in texts} for texts in (one, other))
    return first == second or first | second <= _NUMBERS


def few_values(column: pd.Series[Any], most: int = 2) -> list[str]:
    """The values of a column as text, in the order of their first rows; empty when there are more than `most`."""
    held: list[str] = []
    # Most columns hold more in their very first rows.
    for rows in (column.iloc[:_FIRST_ROWS], column):
        if not is_plain(rows):
            return []
        values = rows.dropna().unique()
        if len(values) > most:
            return []
        held = list(dict.fromkeys(value_text(value).strip() for value in values))
    return held
