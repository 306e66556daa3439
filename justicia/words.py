"""Wording shared by messages: near matches, lists, counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["counted", "did_you_mean", "groups_listed", "listed", "shown", "value_text"]

_LONGEST = 60


def did_you_mean(word: object, choices: Iterable[object]) -> str:
    """A clause that proposes the nearest of `choices`, and lists them when they are few.

    >>> did_you_mean("adlt", ["adult", "german"])
    '; did you mean adult? (there are: adult, german)'
    """
    from difflib import get_close_matches

    texts = [str(choice) for choice in choices]
    folded = {text.casefold().strip(" ."): text for text in reversed(texts)}
    near = get_close_matches(str(word).casefold().strip(" ."), list(folded), n=1)
    proposal = f"; did you mean {_marked(folded[near[0]])}?" if near else ""
    return f"{proposal} (there are: {listed(texts, 40)})" if texts else proposal


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
    text = str(value)[: longest + 1]
    if not text.isprintable():
        text = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def value_text(value: Any) -> str:
    """A cell value as text, the same whatever column type holds it.

    >>> value_text(1), value_text(1.0), value_text(True), value_text("1"), value_text(0.5)
    ('1', '1', 'True', '1', '0.5')
    """
    if isinstance(value, float) or type(value).__name__.startswith("float"):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    return str(value)
