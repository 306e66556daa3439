"""People of each group by decision and true outcome, and the rates that they have: what every sample measure needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from justicia.enclosure import Enclosure, Number
from justicia.metrics.rates import Rates, exact_share
from justicia.tables.repeats import tally

__all__ = ["KINDS", "OutcomeCounts", "count_outcomes"]

KINDS = ("selection_rate", "tpr", "fpr", "precision")
"""Rates that counts have, by the names of `Rates`."""


@dataclass(frozen=True)
class OutcomeCounts:
    """People of each group, numbers or sums of weights, arrays of shape (n_groups,).

    Attributes
    ----------
    n, selected : int or float64 array
        All people, and those with the favorable decision.
    positives, negatives : int or float64 array, or None
        Those whose true outcome is known to be favorable, and unfavorable; None when it is not known of anybody.
    true_positives, false_positives : int or float64 array, or None
        The selected ones among them.
    squares : tuple of float64 arrays, or None
        Sums of squared weights of all people, of positives, of negatives, and of the selected people with known true
        outcome; None when everybody counts once.
    """

    n: np.ndarray
    selected: np.ndarray
    positives: np.ndarray | None = None
    negatives: np.ndarray | None = None
    true_positives: np.ndarray | None = None
    false_positives: np.ndarray | None = None
    squares: tuple[np.ndarray, ...] | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The rates that there are, of `KINDS`."""
        return KINDS if self.positives is not None else KINDS[:1]

    def of(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Numerator and denominator of one kind of rates."""
        if kind == "selection_rate":
            return self.selected, self.n
        if self.positives is None or self.true_positives is None or self.false_positives is None:
            raise ValueError("the true outcome is not known")
        if kind == "tpr":
            return self.true_positives, self.positives
        if kind == "fpr" and self.negatives is not None:
            return self.false_positives, self.negatives
        return self.true_positives, self.true_positives + self.false_positives

    def effective(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """The same for intervals: with weights, as many people as give a mean of the same variance.

        (sum of weights)^2 / (sum of squared weights), Kish 1965.
        """
        k, n = self.of(kind)
        if self.squares is None:
            return k, n
        squares = self.squares[KINDS.index(kind)]
        with np.errstate(invalid="ignore", divide="ignore"):
            # Whole numbers of 64 bits have no square beyond 3,037,000,499.
            size = np.where(squares > 0, np.square(n, dtype=np.float64) / squares, 0.0)
            return np.where(n > 0, k / n * size, 0.0), size

    def rates(self, reference: int | None = None) -> Rates:
        """The rates of all groups: fractions of whole numbers, floats when people have weights."""
        found = {}
        for kind in self.kinds:
            k, n = self.of(kind)
            found[kind] = [
                None if not b else Enclosure(rate := exact_share(a, b), rate)
                for a, b in zip(k.tolist(), n.tolist(), strict=True)
            ]
        return Rates.by_kind(found, weights=self.weights, reference=reference)

    @property
    def weights(self) -> dict[str, Sequence[Number]]:
        """What each group's rate weighs in that of all people together."""
        return {kind: self.of(kind)[1].tolist() for kind in self.kinds}

    @property
    def base_rate(self) -> list[Number | None]:
        """Share of each group's people with favorable true outcome, among those whose outcome is known."""
        if self.positives is None or self.negatives is None:
            return [None] * len(self.n)
        return [
            exact_share(a, a + b) if a + b else None
            for a, b in zip(self.positives.tolist(), self.negatives.tolist(), strict=True)
        ]

    def together(self) -> OutcomeCounts:
        """All people as one group."""

        def total(held: np.ndarray | None) -> np.ndarray | None:
            return None if held is None else held.sum(keepdims=True)

        return OutcomeCounts(
            self.n.sum(keepdims=True),
            self.selected.sum(keepdims=True),
            total(self.positives),
            total(self.negatives),
            total(self.true_positives),
            total(self.false_positives),
            None if self.squares is None else tuple(one.sum(keepdims=True) for one in self.squares),
        )


def count_outcomes(
    codes: np.ndarray,
    n_groups: int,
    selected: np.ndarray,
    positive: np.ndarray | None = None,
    known: np.ndarray | None = None,
    weight: np.ndarray | None = None,
    repeats: np.ndarray | None = None,
) -> OutcomeCounts:
    """Count the people of each group.

    Parameters
    ----------
    codes : int array of shape (n_rows,)
        Each person's group, between 0 and `n_groups` - 1.
    n_groups : int
    selected : bool array of shape (n_rows,)
    positive : bool array of shape (n_rows,), optional
        Whose true outcome is favorable.
    known : bool array of shape (n_rows,), optional
        Whose true outcome is known; everybody's when left out.
    weight : float64 array of shape (n_rows,), optional
        At least 0.
    repeats : int64 array of shape (n_rows,), optional
        Equal rows that each row stands for.

    >>> counts = count_outcomes(np.array([0, 0, 1]), 2, np.array([True, False, True]))
    >>> counts.n, counts.selected
    (array([2, 1]), array([1, 1]))
    """
    # One pass over the people: group, decision and true outcome make one small number.
    keys = codes.astype(np.int64) * 6 + np.asarray(selected, dtype=np.int64) * 3
    if positive is not None:
        outcome = 1 + np.asarray(positive, dtype=np.int64)
        keys += outcome if known is None else np.where(known, outcome, 0)
    squares = None
    if weight is None:
        table = tally(keys, 6 * n_groups, repeats).reshape(n_groups, 2, 3)
    else:
        weight = np.asarray(weight, dtype=np.float64)
        every = weight if repeats is None else weight * repeats
        table = np.bincount(keys, every, minlength=6 * n_groups).reshape(n_groups, 2, 3)
        squared = np.bincount(keys, every * weight, minlength=6 * n_groups).reshape(n_groups, 2, 3)
        by_outcome = squared.sum(axis=1)
        squares = (squared.sum(axis=(1, 2)), by_outcome[:, 2], by_outcome[:, 1], squared[:, 1, 1:].sum(axis=1))
    n, chosen = table.sum(axis=(1, 2)), table[:, 1].sum(axis=1)
    if positive is None:
        return OutcomeCounts(n, chosen, squares=squares)
    by_outcome = table.sum(axis=1)
    return OutcomeCounts(n, chosen, by_outcome[:, 2], by_outcome[:, 1], table[:, 1, 2], table[:, 1, 1], squares)
