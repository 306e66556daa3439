"""Values of a JSON file that nobody vouches for, each with the place where it stands."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NoReturn

import numpy as np

from justicia.errors import PopulationFileError
from justicia.words import did_you_mean, listed, shown

__all__ = ["Item", "normalised"]

_ROUNDING = 1e-12
_LOOSE = 1e-9
"""Sums that are off by less are taken for 1, and made so."""


class Item:
    """A value and where it stands.

    Parameters
    ----------
    value : object
    where : str
        In words, for messages.
    """

    def __init__(self, value: Any, where: str) -> None:
        self.value = value
        self.where = where

    def fail(self, problem: str) -> NoReturn:
        """Refuse the value."""
        raise PopulationFileError(f"{shown(self.where, 200)} {problem}")

    def mapping(self, required: Collection[str], optional: Collection[str] = ()) -> Item:
        """The item itself, an object with these keys."""
        if not isinstance(self.value, dict):
            self.fail("is no JSON object")
        absent = [key for key in required if key not in self.value]
        if absent:
            self.fail(f"lacks {listed(absent)}")
        strange = [key for key in self.value if key not in required and key not in optional]
        if strange:
            self.fail(
                f"holds {shown(repr(strange[0]))}, which means nothing here{did_you_mean(strange[0], [*required])}"
            )
        return self

    def __getitem__(self, key: str) -> Item:
        return Item(self.value[key], f"{key} of {self.where}" if self.where != "the file" else key)

    def get(self, key: str) -> Item | None:
        """A value that may be left out or null."""
        return None if self.value.get(key) is None else self[key]

    def items(self, what: str, least: int = 0) -> Iterator[Item]:
        """The members of a list."""
        if not isinstance(self.value, list) or len(self.value) < least:
            self.fail("is no list" if not isinstance(self.value, list) else f"needs {least} or more {what}s")
        for position, value in enumerate(self.value):
            yield Item(value, f"{what} {position + 1} of {self.where}")

    def text(self) -> str:
        """A text that can be written again."""
        if not isinstance(self.value, str):
            self.fail("is no text")
        return str(self.value)

    def texts(self, what: str, least: int = 0) -> tuple[str, ...]:
        """A list of different texts."""
        found = tuple(item.text() for item in self.items(what, least))
        if len(set(found)) < len(found):
            self.fail(f"names a {what} twice")
        return found

    def number(self) -> float:
        """A finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            self.fail("is no number")
        try:
            number = float(self.value)
        except OverflowError:
            number = np.inf
        if not np.isfinite(number):
            self.fail("is no finite number")
        return number

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            self.fail("is neither true nor false")
        return bool(self.value)

    def numbers(self, shape: tuple[int, ...]) -> np.ndarray:
        """Nested lists of finite numbers, float64 array of this shape."""
        array = self._array()
        if array.size == 0 and 0 in shape:
            return np.zeros(shape)
        if array.dtype.kind not in "iuf":
            self.fail("holds something that is no number, or lists of different lengths")
        if array.shape != shape:
            self.fail(
                f"has the shape {' x '.join(map(str, array.shape))}, and {' x '.join(map(str, shape))} is expected"
            )
        found = array.astype(np.float64)
        if not np.isfinite(found).all():
            self.fail("holds a number that is not finite")
        return found

    def wholes(self, shape: tuple[int, ...] | None, below: int | None = None, least: int = 0) -> np.ndarray:
        """Nested lists of whole numbers, int64 array; of any length when no shape is given."""
        array = self._array()
        found = self.numbers(array.shape if shape is None else shape)
        if (found != np.rint(found)).any() or (found < least).any() or (found > 2**53).any():
            self.fail(f"holds a number that is no whole number, or less than {least}")
        if below is not None and (found >= below).any():
            self.fail(f"holds {found.max():.0f}, and the largest possible is {below - 1}")
        return found.astype(np.int64)

    def probabilities(self, shape: tuple[int, ...]) -> np.ndarray:
        """Nested lists of probabilities, float64 array of this shape."""
        found = self.numbers(shape)
        if (found < 0).any() or (found > 1 + _LOOSE).any():
            self.fail("holds a number below 0 or above 1, which is no probability")
        return found

    def _array(self) -> np.ndarray:
        if not isinstance(self.value, list):
            self.fail("is no list")
        try:
            return np.array(self.value)
        except (ValueError, OverflowError):
            self.fail("holds lists of different lengths, or numbers that are too large")


def normalised(item: Item, found: np.ndarray, of: np.ndarray | None = None, names: Collection[str] = ()) -> np.ndarray:
    """Probabilities whose sums along the last axis are 1, and made so where rounding has moved them.

    Parameters
    ----------
    item : Item
    found : float64 array of shape (n_groups, ..., n)
    of : int array of shape (n,), optional
        Sums are taken of those with the same number, each of which occurs.
    names : collection of str
        Of the groups.
    """
    where = np.zeros(found.shape[-1], dtype=np.int64) if of is None else of
    inside = (where[:, None] == np.unique(where)).astype(np.float64)
    sums = found @ inside
    off = np.abs(sums - 1.0)
    if off.size and off.max() > _LOOSE:
        place = np.unravel_index(int(np.argmax(off)), off.shape)
        group = f" in group {list(names)[place[0]]}" if names else ""
        item.fail(f"does not sum to 1{group}: it sums to {sums[place]:.9g}")
    if off.size and off.max() > _ROUNDING:
        return np.asarray(found / (sums @ inside.T))
    return found
