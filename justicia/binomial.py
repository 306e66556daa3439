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
    from scipy.special import betainccinv, betaincinv

    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    lo = betaincinv(np.maximum(k, 0.5), n - k + 1, error / 2)
    hi = betainccinv(k + 1, np.maximum(n - k, 0.5), error / 2)
    # Where an error is too small for the inversion, there is no number, and no bound.
    return np.where((k <= 0) | np.isnan(lo), 0.0, lo), np.where((k >= n) | np.isnan(hi), 1.0, hi)
