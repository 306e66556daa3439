"""Wording shared by messages: near matches, lists, counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["comma_hint", "counted", "did_you_mean", "groups_listed", "listed", "printable", "shown", "value_text"]

_LONGEST = 60


def did_you_mean(word: object, choices: Iterable[object]) -> str:
    """A clause that proposes the nearest of `choices`, and lists them when they are few.

    >>> did_you_mean("adlt", ["adult", "german"])
    '; did you mean adult? (there are: adult, german)'
    >>> did_you_mean("income", ["name", "age"]), did_you_mean("income", ["income_2020", "age"])
    (' (there are: name, age)', '; did you mean income_2020? (there are: income_2020, age)')
    """
    texts = [str(choice) for choice in choices]
    near = _nearest(str(word), texts)
    proposal = f"; did you mean {_marked(near)}?" if near is not None else ""
    return f"{proposal} (there are: {listed(texts, 40)})" if texts else proposal


def _nearest(word: str, texts: list[str]) -> str | None:
    """The text that a word is a slip of the pen for, that begins with it, or that holds all its words; None if none."""
    from difflib import SequenceMatcher

    wanted = _folded(word)
    parts = _parts(wanted)
    best, nearest = (0.0, ""), None
    for text in texts:
        folded = _folded(text)
        found = _parts(folded)
        held = bool(parts and found) and (parts < found or found < parts)
        held = held and max(map(len, parts & found)) >= _SHORTEST_PART
        held = held or (len(wanted) >= _SHORTEST_PART and folded.startswith(wanted))
        ratio = SequenceMatcher(None, folded, wanted).ratio()
        if folded and (ratio, folded) > best and (held or ratio >= _near(len(wanted))):
            best, nearest = (ratio, folded), text
    return nearest


_SHORTEST_PART = 3


def _near(length: int) -> float:
    """How alike two words have to be; a slip changes more of a short one."""
    return 0.65 if length <= 4 else 0.75


def _folded(text: str) -> str:
    return text.casefold().strip(" .")


def _parts(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text))


def _marked(text: str) -> str:
    """A name between quotes where it could not be told from the words around it."""
    return f'"{shown(text)}"' if text != text.strip() or "," in text else shown(text)


def listed(items: Iterable[object], most: int = 10) -> str:
    """`items` separated by commas, cut after `most`.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    texts = [shown(item) for item in items]
    if len(texts) <= most:
        return ", ".join(texts)
    return f"{', '.join(texts[:most])} and {len(texts) - most} more"


def groups_listed(groups: Iterable[object], most: int = 3) -> str:
    """Names of groups, which may hold commas, separated by slashes and cut after `most`.

    >>> groups_listed(["Black, Female", "Other, Male"])
    'Black, Female / Other, Male'
    """
    texts = [shown(group) for group in groups]
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return " / ".join(texts[:most]) + more


def shown(value: object, longest: int = _LONGEST) -> str:
    """A value as text for a person: control characters written out, long texts cut.

    >>> shown("a" * 100, longest=5)
    'aaaa…'
    """
    try:
        text = str(value)
    except ValueError:  # an integer of more digits than Python writes
        text = type(value).__name__
    text = printable(text[: longest + 1])
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def printable(text: str) -> str:
    r"""The text on one line, with control characters written out.

    >>> printable("a\nb")
    'a\\nb'
    """
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


_COMMA = re.compile(r"\s*[-+]?\d[\d.]*(,\d+)+(\.\d*)?\s*", re.ASCII)


def comma_hint(values: Iterable[object]) -> str:
    """A clause that says what to do about numbers with commas; empty when there are none among the values.

    >>> comma_hint(["3,14", "n/a"])
    ': numbers with commas are words here; write decimals with a point (3.14), and thousands without a mark'
    >>> comma_hint(["a,14", "none"])
    ''
    """
    if not any(_COMMA.fullmatch(str(value)) for value in values):
        return ""
    return ": numbers with commas are words here; write decimals with a point (3.14), and thousands without a mark"


def value_text(value: Any) -> str:
    """A cell value as text, the same whatever column type holds it.

    >>> value_text(1), value_text(1.0), value_text(True), value_text("1"), value_text(0.5)
    ('1', '1', 'True', '1', '0.5')
    """
    if isinstance(value, float) or type(value).__name__.startswith("float"):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    return str(value)
