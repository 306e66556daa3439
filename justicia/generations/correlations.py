"""Rank correlation with people's scores (Spearman), with an exact p-value where few are compared."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

__all__ = ["Correlation", "correlate"]

_MOST_EXACT = 8


@dataclass(frozen=True)
class Correlation:
    """A rank correlation.

    Attributes
    ----------
    column : str
        Of people's scores.
    measure : str
        What they are compared with.
    n : int
        Pairs.
    rho : float or None
    p_value : float or None
        Two-sided: exact over all orders of up to 8 pairs, by the t distribution beyond.
    undefined : str or None
        Why there is none.
    """

    column: str
    measure: str
    n: int
    rho: float | None
    p_value: float | None
    undefined: str | None = None


def correlate(pairs: Iterable[tuple[float | None, float | None]], column: str, measure: str) -> Correlation:
    """Spearman's rank correlation of pairs that are complete; ties have their mean rank.

    >>> found = correlate([(1, 0.1), (2, 0.4), (3, 0.2), (4, 0.8)], "score", "CAS")
    >>> found.rho, round(found.p_value, 4)
    (0.8, 0.3333)
    """
    from scipy.stats import rankdata, spearmanr

    held = np.array([pair for pair in pairs if pair[0] is not None and pair[1] is not None], dtype=np.float64)
    n = len(held)
    if n < 3:
        return Correlation(column, measure, n, None, None, f"{n} scored pairs, and 3 are needed")
    first, second = rankdata(held[:, 0]), rankdata(held[:, 1])
    for ranks, what in ((first, column), (second, measure)):
        if (ranks == ranks[0]).all():
            return Correlation(column, measure, n, None, None, f"{what} is the same everywhere")
    left, right = first - first.mean(), second - second.mean()
    size = np.sqrt((left @ left) * (right @ right))
    rho = float(left @ right / size)
    if n > _MOST_EXACT:
        return Correlation(column, measure, n, rho, float(spearmanr(first, second).pvalue))
    orders = np.array(list(itertools.permutations(range(n))))
    every = right[orders] @ left / size
    return Correlation(column, measure, n, rho, float((np.abs(every) >= abs(rho) - 1e-12).mean()))
