r"""The least beta of a sequence, in closed form.

A sequence :math:`x_1 \dots x_n` is *beta-bounded* (Cheng et al., arXiv 2404.16663, definition 7) when (1) n > beta,
(2) every value first occurs at beta at the latest, and every occurrence at m is followed by another in (m, m + beta]
or m + beta > n. For a value at the positions :math:`p_1 < \dots < p_r`, let

.. math:: g = \max(p_1,\; p_{j+1} - p_j,\; n + 1 - p_r),

one more than its longest stretch of absence. With :math:`\beta^* = \max g` over the values, the definition holds at
beta iff :math:`\beta^* \le \beta < n`. A value that never occurs has no gap yet; whatever follows, it will be n + 1 at
least, which is what takes its place here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from justicia.generations.labels import Labels

__all__ = ["Gaps", "Stretch", "widest_gaps", "widest_stretch"]

_FEW_VALUES = 16


@dataclass(frozen=True)
class Gaps:
    """Widest gaps of every value in every run.

    Attributes
    ----------
    hi : int array of shape (n_runs, n_values)
        When an unknown label shows none of the values: the largest that any completion of the labels gives.
    lo : int array of shape (n_runs, n_values)
        When an unknown label shows this very value: no completion gives less.
    counts : int array of shape (n_runs, n_values)
        Generations that show the value for certain; 0: `hi` is n + 1 for want of an occurrence.
    possible : int array of shape (n_runs, n_values)
        Generations that may show it.
    """

    hi: np.ndarray
    lo: np.ndarray
    counts: np.ndarray
    possible: np.ndarray


@dataclass(frozen=True)
class Stretch:
    """Where a value is missing longest.

    Attributes
    ----------
    after, before : int or None
        Positions in the run, from 1, of the occurrences around the gap; None: the run's beginning, or its end.
    """

    after: int | None
    before: int | None


def widest_gaps(labels: Labels, starts: np.ndarray) -> Gaps:
    """Widest gaps of every value in every run.

    Parameters
    ----------
    labels : Labels
        In the order of runs and steps.
    starts : int array of shape (n_runs + 1,)
        Where each run begins, and the end of the last.
    """
    shape = (len(starts) - 1, len(labels.values))
    hi, counts = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
    uncertain = labels.kinds_uncertain
    lo, possible = (np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)) if uncertain else (hi, counts)
    places = _Places(labels)
    for value in range(len(labels.values)):
        hi[:, value], counts[:, value] = _of_places(places.of(labels.shows[:, value]), starts)
        if uncertain:
            lo[:, value], possible[:, value] = _of_places(places.of(labels.may[:, value]), starts)
    return Gaps(hi, lo, counts, possible)


class _Places:
    """Where kinds of labels stand; of many values, by sorting rows once instead of comparing all with each."""

    def __init__(self, labels: Labels) -> None:
        self._codes = labels.codes
        self._order: np.ndarray | None = None
        if len(labels.values) > _FEW_VALUES:
            kinds = len(labels.shows)
            # Sixteen bits and less are sorted by radix.
            codes = labels.codes.astype(np.uint16) if kinds <= 1 << 16 else labels.codes
            self._order = np.argsort(codes, kind="stable")
            self._edges = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=kinds))])

    def of(self, kinds: np.ndarray) -> np.ndarray:
        """Rows whose kind is marked, in their order."""
        held = np.flatnonzero(kinds)
        if self._order is None:
            return np.flatnonzero(self._codes == held[0] if len(held) == 1 else kinds[self._codes])
        parts = [self._order[self._edges[kind] : self._edges[kind + 1]] for kind in held]
        parts = [part for part in parts if len(part)]
        if len(parts) == 1:
            return parts[0]
        return np.sort(np.concatenate(parts)) if parts else self._order[:0]


def _of_places(places: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The widest gap of each run between places in the table, and their number."""
    edges = np.searchsorted(places, starts)
    counts = np.diff(edges)
    gaps = np.diff(starts) + 1
    runs = np.flatnonzero(counts)
    if len(runs):
        first, last = edges[runs], edges[runs + 1] - 1
        between = np.empty_like(places)
        between[1:] = places[1:] - places[:-1]
        between[first] = places[first] - starts[runs] + 1
        widest = np.maximum.reduceat(between, first)
        gaps[runs] = np.maximum(widest, starts[runs + 1] - places[last])
    return gaps, counts


def widest_stretch(labels: Labels, start: int, end: int, value: int, *, possible: bool = False) -> Stretch:
    """The first of the widest gaps of a value in the run from `start` to `end`."""
    places = np.flatnonzero(labels.part(slice(start, end)).shown(value, possible=possible)) + 1
    marks = np.concatenate([[0], places, [end - start + 1]])
    widest = int(np.argmax(marks[1:] - marks[:-1]))
    after, before = int(marks[widest]), int(marks[widest + 1])
    return Stretch(None if widest == 0 else after, None if widest == len(marks) - 2 else before)
