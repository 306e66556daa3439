"""The Boolean features of a rule learner: thresholds of numeric columns at quantiles, and categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.learners.rules import Condition, as_numbers, is_numeric
from justicia.words import value_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

__all__ = ["Literals", "literals_of", "thresholds", "truth_of"]


@dataclass(frozen=True)
class Literals:
    """Conditions that a rule may be made of.

    Attributes
    ----------
    conditions : tuple of Condition
        Every condition and its opposite among rows without missing values, neighbours in the list.
    categories : dict of str to tuple of str
        Categories of each column that is none of numbers, as text.
    """

    conditions: tuple[Condition, ...]
    categories: dict[str, tuple[str, ...]]


def literals_of(
    columns: Mapping[str, pd.Series[Any]], weights: np.ndarray, n_thresholds: int, most_categories: int
) -> Literals:
    """Find the conditions of each column.

    Parameters
    ----------
    columns : mapping of str to Series of shape (n_rows,)
    weights : float64 array of shape (n_rows,)
        All above 0.
    n_thresholds : int
        At most as many a column.
    most_categories : int
        Of more categories, the rarer ones have no conditions of their own.
    """
    conditions: list[Condition] = []
    categories: dict[str, tuple[str, ...]] = {}
    for name, column in columns.items():
        if is_numeric(column):
            numbers = as_numbers(column)
            known = ~np.isnan(numbers)
            missing = known.any() and not known.all()
            for edge in thresholds(numbers[known], weights[known], n_thresholds):
                conditions += [Condition(name, "<=", edge), Condition(name, ">", edge)]
        else:
            missing, made, held = _of_words(name, column, weights, most_categories)
            conditions += made
            categories[name] = held
        if missing:
            absent = Condition(name, "missing")
            conditions += [absent, absent.opposite]
    return Literals(tuple(conditions), categories)


def _of_words(
    name: str, column: pd.Series[Any], weights: np.ndarray, most: int
) -> tuple[bool, list[Condition], tuple[str, ...]]:
    import pandas as pd

    codes, uniques = pd.factorize(column)
    texts = np.array([value_text(value) for value in uniques], dtype=object)
    known = codes >= 0
    shares: dict[str, float] = dict.fromkeys(sorted(texts.tolist()), 0.0)
    for text, share in zip(texts, np.bincount(codes[known], weights[known], len(texts)), strict=True):
        shares[text] += float(share)
    missing = bool(known.any() and not known.all())
    if len(shares) == 2 and not missing:
        first, second = (Condition(name, "in", values=(text,)) for text in shares)
        return False, [first, second], tuple(shares)
    kept = sorted(shares, key=lambda text: (-shares[text], text))[:most] if len(shares) > 1 else []
    made = [Condition(name, "in", values=(text,)) for text in shares if text in set(kept)]
    return missing, [one for condition in made for one in (condition, condition.opposite)], tuple(shares)


def thresholds(numbers: np.ndarray, weights: np.ndarray, most: int) -> list[float]:
    """At most `most` numbers that cut a column into parts of about equal weight, each between two of its values.

    A value as heavy as a whole part is one by itself, and what is left is divided among the other parts: so the few
    large values of a column that is mostly 0 are cut as well.

    >>> thresholds(np.array([0.0, 0, 0, 0, 0, 0, 0, 1, 2, 3]), np.ones(10), 3)
    [0.5, 1.5, 2.5]
    """
    values, inverse = np.unique(numbers, return_inverse=True)
    if len(values) < 2 or most < 1:
        return []
    middles = _between(values)
    if len(values) <= most + 1:
        return middles.tolist()
    held = np.bincount(inverse.ravel(), weights, len(values))
    heavy = np.zeros(len(values), dtype=bool)
    while True:
        parts = most + 1 - int(heavy.sum())
        size = held[~heavy].sum() / max(parts, 1)
        found = ~heavy & (held > size * (1 + 1e-9))
        if parts <= 1 or not found.any():
            break
        heavy |= found
    cuts: list[int] = []
    filled = 0.0
    for i in range(len(values) - 1):
        if heavy[i] or heavy[i + 1]:
            cuts.append(i)
            filled = 0.0
            continue
        filled += float(held[i])
        if filled + held[i + 1] / 2 > size * (1 + 1e-9):
            cuts.append(i)
            filled = 0.0
    if len(cuts) > most:
        # Heavy values among others leave small parts: the cuts beside the lightest are dropped.
        ends = np.concatenate([[0], np.cumsum(held)])
        while len(cuts) > most:
            weights_of = np.diff(ends[[0, *(cut + 1 for cut in cuts), len(values)]])
            lightest = [weights_of[i] + weights_of[i + 1] for i in range(len(cuts))]
            cuts.pop(int(np.argmin(lightest)))
    return middles[cuts].tolist()


def _between(values: np.ndarray) -> np.ndarray:
    """A number between every two neighbours: their mean, where that is less than the larger one."""
    below, above = values[:-1], values[1:]
    middle = below / 2 + above / 2
    return np.asarray(np.where((middle >= below) & (middle < above), middle, below))


def truth_of(conditions: tuple[Condition, ...], columns: Mapping[str, pd.Series[Any]], n_rows: int) -> np.ndarray:
    """Which conditions hold in each row, bool array of shape (n_rows, n_conditions)."""
    true = np.zeros((n_rows, len(conditions)), dtype=bool, order="F")
    for position, condition in enumerate(conditions):
        true[:, position] = condition.holds(columns[condition.column])
    return true
