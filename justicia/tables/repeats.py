"""Rows that stand for several equal ones: what is counted of a table that was read in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["correlation", "number_of", "of_rows", "tally", "value_counts"]


def tally(codes: np.ndarray, n: int, repeats: np.ndarray | None, rows: np.ndarray | None = None) -> np.ndarray:
    """How often each code occurs, int64 array of shape (n,).

    Parameters
    ----------
    codes : int array of shape (n_rows,)
        Between 0 and `n` - 1.
    n : int
    repeats : int64 array of shape (n_rows,), or None
        Equal rows that each row stands for; one unless given.
    rows : bool array of shape (n_rows,), optional
        The rows that are counted.

    >>> tally(np.array([0, 1, 1]), 3, np.array([5, 1, 2]))
    array([5, 3, 0])
    """
    if rows is not None:
        codes = codes[rows]
        repeats = None if repeats is None else repeats[rows]
    if repeats is None:
        return np.bincount(codes, minlength=n)
    # Exact: numbers of rows are far below 2**53.
    return np.bincount(codes, weights=repeats, minlength=n).astype(np.int64)


def number_of(rows: np.ndarray, repeats: np.ndarray | None) -> int:
    """Number of rows that some rows stand for.

    Parameters
    ----------
    rows : bool array of shape (n_rows,)
    repeats : int64 array of shape (n_rows,), or None
    """
    return int(rows.sum() if repeats is None else repeats[rows].sum())


def of_rows(repeats: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    """The same of some rows."""
    return None if repeats is None else repeats[rows]


def correlation(one: np.ndarray, other: np.ndarray, repeats: np.ndarray | None) -> float:
    """Pearson's correlation of two columns of numbers.

    Parameters
    ----------
    one, other : float64 or bool array of shape (n_rows,)
        Neither is constant.
    repeats : int64 array of shape (n_rows,), or None
    """
    if repeats is None:
        return float(np.corrcoef(one, other)[0, 1])
    moments = np.cov(np.stack([one, other]).astype(np.float64), fweights=repeats)
    return float(moments[0, 1] / np.sqrt(moments[0, 0] * moments[1, 1]))


def value_counts(column: pd.Series[Any], repeats: np.ndarray | None) -> pd.Series[int]:
    """Number of rows of each value, the commonest first; of equal ones that which comes first in the column."""
    import pandas as pd

    if repeats is None:
        return column.value_counts()
    codes, values = pd.factorize(column)
    known = codes >= 0
    counts = tally(codes[known], len(values), repeats[known])
    return pd.Series(counts, index=values).sort_values(ascending=False, kind="stable")
