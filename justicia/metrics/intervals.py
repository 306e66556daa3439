"""Confidence intervals of rates, and of differences and ratios of two."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from justicia.binomial import clopper_pearson

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["log_ratio", "newcombe", "simultaneous_clopper_pearson", "simultaneous_wilson", "wilson"]


def wilson(k: np.ndarray, n: np.ndarray, confidence: float = 0.95, together: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's score interval of a binomial rate (Wilson 1927).

    Parameters
    ----------
    k, n : int array of shape (n_rates,)
        Successes and trials.
    confidence : float in (0, 1)
    together : int
        Number of intervals that hold together with this confidence (Bonferroni's correction).

    Returns
    -------
    lo, hi : float64 array of shape (n_rates,)
        NaN where `n` is 0.

    >>> lo, hi = wilson(np.array([8]), np.array([10]))
    >>> lo.round(4), hi.round(4)
    (array([0.4902]), array([0.9433]))
    """
    k = np.asarray(k, dtype=np.float64)
    n = np.asarray(n, dtype=np.float64)
    z = -NormalDist().inv_cdf((1 - confidence) / 2 / together)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = k / n
        middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # At k = 0 and k = n one end is 0 or 1 exactly; float rounding would miss it.
    lo = np.where(k == 0, 0.0, np.maximum(middle - half, 0.0))
    hi = np.where(k == n, 1.0, np.minimum(middle + half, 1.0))
    empty = n == 0
    return np.where(empty, np.nan, lo), np.where(empty, np.nan, hi)


def simultaneous_wilson(k: np.ndarray, n: np.ndarray, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Wilson intervals that hold for all rates together (Bonferroni's correction).

    Parameters and results as `wilson`.
    """
    rates = max(1, int((np.asarray(n) > 0).sum()))
    return wilson(k, n, confidence, rates)


def simultaneous_clopper_pearson(
    k: np.ndarray, n: np.ndarray, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Clopper and Pearson's intervals that hold for all rates together (Bonferroni's correction).

    The true rates are all inside with probability `confidence` at least, for any number of trials.

    Parameters and results as `wilson`.

    >>> lo, hi = simultaneous_clopper_pearson(np.array([8, 0]), np.array([10, 20]))
    >>> lo.round(4), hi.round(4)
    (array([0.401, 0.   ]), array([0.9825, 0.1968]))
    """
    n = np.asarray(n)
    lo, hi = clopper_pearson(k, n, (1 - confidence) / max(1, int((n > 0).sum())))
    return np.where(n == 0, np.nan, lo), np.where(n == 0, np.nan, hi)


def newcombe(
    k: np.ndarray, n: np.ndarray, other_k: np.ndarray, other_n: np.ndarray, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Newcombe's interval of the difference of two independent rates, k / n minus other_k / other_n.

    From Wilson's intervals, without continuity correction (Newcombe 1998, method 10).

    Parameters
    ----------
    k, n, other_k, other_n : int array of shape (n_rates,)
    confidence : float in (0, 1)

    Returns
    -------
    lo, hi : float64 array of shape (n_rates,)
        NaN where `n` or `other_n` is 0.

    >>> lo, hi = newcombe(np.array([56]), np.array([70]), np.array([48]), np.array([80]))
    >>> lo.round(4), hi.round(4)
    (array([0.0524]), array([0.3339]))
    """
    k, n, other_k, other_n = (np.asarray(one, dtype=np.float64) for one in (k, n, other_k, other_n))
    (low, high), (other_low, other_high) = wilson(k, n, confidence), wilson(other_k, other_n, confidence)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate, other = k / n, other_k / other_n
        lo = rate - other - np.hypot(rate - low, other_high - other)
        hi = rate - other + np.hypot(high - rate, other - other_low)
    return lo, hi


def log_ratio(
    k: ArrayLike, n: ArrayLike, other_k: ArrayLike, other_n: ArrayLike, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Interval of the ratio of two independent rates, k / n over other_k / other_n, on the scale of its logarithm.

    The logarithm's variance is 1 / k - 1 / n + 1 / other_k - 1 / other_n (Katz, Baptista, Azen and Pike 1978).

    Parameters
    ----------
    k, n, other_k, other_n : number or array of shape (n_rates,)
        Counts, or effective ones.
    confidence : float in (0, 1)

    Returns
    -------
    lo, hi : float64 array of shape (n_rates,)
        NaN where a count is 0, for the logarithm has no variance then; 0 and infinity where hardly anybody counts. See
        `justicia.metrics.adverse_impact.ratio_interval` for counts that are 0.

    >>> lo, hi = log_ratio(np.array([12]), np.array([40]), np.array([48]), np.array([80]))
    >>> lo.round(3), hi.round(3)
    (array([0.301]), array([0.829]))
    """
    k, n, other_k, other_n = (np.asarray(one, dtype=np.float64) for one in (k, n, other_k, other_n))
    z = -NormalDist().inv_cdf((1 - confidence) / 2)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
        middle = np.log(k / n) - np.log(other_k / other_n)
        # Effective counts are off by rounding: where everybody is selected the variance may come out below 0.
        half = z * np.sqrt(np.maximum(1 / k - 1 / n + 1 / other_k - 1 / other_n, 0.0))
        lo, hi = np.exp(middle - half), np.exp(middle + half)
    none = (k == 0) | (other_k == 0) | (n == 0) | (other_n == 0)
    return np.where(none, np.nan, lo), np.where(none, np.nan, hi)
