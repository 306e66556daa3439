"""Confidence intervals of a binomial rate that hold for any number of trials."""

from __future__ import annotations

import numpy as np

__all__ = ["clopper_pearson"]


def clopper_pearson(k: np.ndarray, n: np.ndarray, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Clopper and Pearson's interval (Biometrika 1934); each end misses the true rate with probability `error` / 2.

    Parameters
    ----------
    k, n : int array of shape (n_rates,)
        Successes and trials.
    error : float in (0, 1)

    Returns
    -------
    lo, hi : float64 array of shape (n_rates,)
        0 and 1 where `n` is 0.

    >>> lo, hi = clopper_pearson(np.array([8]), np.array([10]), 0.05)
    >>> lo.round(4), hi.round(4)
    (array([0.4439]), array([0.9748]))
    """
    from scipy.stats import beta

    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    lo = beta.ppf(error / 2, np.maximum(k, 0.5), n - k + 1)
    hi = beta.isf(error / 2, k + 1, np.maximum(n - k, 0.5))
    return np.where(k <= 0, 0.0, lo), np.where(k >= n, 1.0, hi)
