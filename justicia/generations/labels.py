"""Labels of one attribute as codes: which of the declared values each generation shows, and which it may show.

A label is one of the values of the declared domain, several of them (`a|b`), unknown (a detector found nothing, or
nobody looked), or none of them. An unknown label may be any value; hence each kind of label has two rows: the values
that it shows for certain, and those that it may show.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import SpecError
from justicia.words import value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MOST_VALUES", "Labels", "label_text", "product"]

MOST_VALUES = 10_000
"""Values of a domain, at most; combinations of several attributes count as values."""


def label_text(value: Any) -> str:
    """A label as text, the same whatever file it comes from.

    Numbers are written without a needless point, truth values as in JSON; blanks around the text are removed, and
    letters that Unicode writes in several ways take their composed form (NFC).

    >>> label_text(" female "), label_text(1.0), label_text(True), label_text("Cafe\u0301")
    ('female', '1', 'true', 'Café')
    """
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return unicodedata.normalize("NFC", value_text(value)).strip()


@dataclass(frozen=True)
class Labels:
    """What each generation shows of one attribute.

    Attributes
    ----------
    values : tuple of str
        The declared domain, in its order.
    codes : int array of shape (n,)
        The kind of label of each generation.
    shows : bool array of shape (n_kinds, n_values)
        The values that a kind shows for certain.
    may : bool array of shape (n_kinds, n_values)
        The values that it may show; never less than `shows`.
    """

    values: tuple[str, ...]
    codes: np.ndarray
    shows: np.ndarray
    may: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def uncertain(self) -> np.ndarray:
        """Which kinds may show more than they show for certain, bool array of shape (n_kinds,)."""
        return (self.may & ~self.shows).any(axis=1)

    @cached_property
    def single(self) -> bool:
        """Whether no generation shows several values."""
        several = self.shows.sum(axis=1) > 1
        return not several.any() or not bool(self._mask(several).any())

    @cached_property
    def kinds_uncertain(self) -> bool:
        """Whether any generation's label leaves something open."""
        return bool(self.uncertain.any()) and bool(self._mask(self.uncertain).any())

    def unknown(self) -> np.ndarray:
        """Which generations have an unknown label, bool array of shape (n,)."""
        return self._mask(self.uncertain)

    def shown(self, value: int, *, possible: bool = False) -> np.ndarray:
        """Which generations show a value, or may show it, bool array of shape (n,)."""
        return self._mask((self.may if possible else self.shows)[:, value])

    def _mask(self, kinds: np.ndarray) -> np.ndarray:
        held = np.flatnonzero(kinds)
        if len(held) == 1:
            # One comparison is several times as fast as looking every code up.
            return self.codes == held[0]
        return kinds[self.codes]

    def part(self, rows: Any) -> Labels:
        """The labels of some generations: a slice, an index array or a mask."""
        return Labels(self.values, self.codes[rows], self.shows, self.may)


def product(parts: Sequence[Labels]) -> Labels:
    """Labels of several attributes together; the values are the combinations, the last attribute varying fastest.

    A combination is shown where each attribute shows its value, and may be shown where each may.

    Raises
    ------
    SpecError
        When there are more combinations than `MOST_VALUES`.
    """
    held = parts[0]
    for part in parts[1:]:
        if len(held.values) * len(part.values) > MOST_VALUES:
            raise SpecError(
                f"there are more than {MOST_VALUES:,} combinations of values: ask about fewer attributes together"
            )
        codes = held.codes.astype(np.int64) * len(part.shows) + part.codes
        # Kinds are few and rows are many: count the kinds, and number those that occur.
        kinds = np.flatnonzero(np.bincount(codes, minlength=1))
        number = np.zeros(int(kinds[-1]) + 1 if len(kinds) else 1, dtype=np.int32)
        number[kinds] = np.arange(len(kinds))
        left, right = np.divmod(kinds, len(part.shows))
        held = Labels(
            tuple(f"{a}, {b}" for a in held.values for b in part.values),
            number[codes],
            _outer(held.shows[left], part.shows[right]),
            _outer(held.may[left], part.may[right]),
        )
    return held


def _outer(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left[:, :, None] & right[:, None, :]).reshape(len(left), left.shape[1] * right.shape[1])
