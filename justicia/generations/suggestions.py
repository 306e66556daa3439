"""What to ask for next: the generations that would show the most combinations that have not occurred."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Suggestion", "suggest"]

_MOST_ENUMERATED = 200_000
_MOST_SEEDS = 64


@dataclass(frozen=True)
class Suggestion:
    """A generation to ask for.

    Attributes
    ----------
    values : dict of str to str
        A value of every attribute.
    new : int
        Combinations that it would show, and that neither the run nor an earlier suggestion has.
    """

    values: dict[str, str]
    new: int


def suggest(
    sizes: Sequence[int], sets: Sequence[tuple[int, ...]], absent: Sequence[np.ndarray], most: int
) -> list[tuple[tuple[int, ...], int]]:
    """Propose generations one after another, each with as many new combinations as possible.

    Parameters
    ----------
    sizes : sequence of int
        Values of each attribute.
    sets : sequence of tuple of int
        Sets of attributes that are combined.
    absent : sequence of bool arrays
        For each set, the combinations without occurrence; its shape is that of the set's attributes.
    most : int
        Generations to propose; fewer when nothing is left.

    Returns
    -------
    list of (values, new)
        A value of every attribute, and how many combinations are new. Up to 200,000 possible generations all are
        compared, and the first of the best is taken; beyond, the best of those grown value by value from a combination
        that is missing.
    """
    left = [mask.copy() for mask in absent]
    found: list[tuple[tuple[int, ...], int]] = []
    choose = _best if math.prod(sizes) <= _MOST_ENUMERATED else _grown
    while len(found) < most and any(mask.any() for mask in left):
        values = choose(sizes, sets, left)
        new = 0
        for one, mask in zip(sets, left, strict=True):
            place = tuple(values[attribute] for attribute in one)
            new += int(mask[place])
            mask[place] = False
        found.append((values, new))
    return found


def _best(sizes: Sequence[int], sets: Sequence[tuple[int, ...]], left: Sequence[np.ndarray]) -> tuple[int, ...]:
    gain = np.zeros(tuple(sizes), dtype=np.int32)
    for one, mask in zip(sets, left, strict=True):
        gain += mask.reshape([size if place in one else 1 for place, size in enumerate(sizes)])
    return tuple(int(value) for value in np.unravel_index(int(np.argmax(gain)), gain.shape))


def _grown(sizes: Sequence[int], sets: Sequence[tuple[int, ...]], left: Sequence[np.ndarray]) -> tuple[int, ...]:
    """From missing combinations, add the value that completes the most missing ones, attribute by attribute."""
    best, most = (0,) * len(sizes), -1
    seeds = [
        (one, place)
        for one, mask in zip(sets, left, strict=True)
        for place in np.argwhere(mask)[: max(1, _MOST_SEEDS // len(sets))].tolist()
    ]
    for one, place in seeds[: 4 * _MOST_SEEDS]:
        values = dict(zip(one, place, strict=True))
        total = 1
        for attribute in (other for other in range(len(sizes)) if other not in one):
            gain = np.zeros(sizes[attribute], dtype=np.int64)
            for other, mask in zip(sets, left, strict=True):
                if attribute in other and all(each in values or each == attribute for each in other):
                    gain += mask[tuple(slice(None) if each == attribute else values[each] for each in other)]
            values[attribute] = int(np.argmax(gain))
            total += int(gain.max())
        if total > most:
            best, most = tuple(values[attribute] for attribute in range(len(sizes))), total
    return best
