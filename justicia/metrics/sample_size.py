"""The sample size of the Justicia paper, kept for comparison: it does not bound what it was meant to bound."""

from __future__ import annotations

import math

__all__ = ["justicia_sample_size"]


def justicia_sample_size(n: int, m: int, eps0: float, delta: float) -> int:
    r"""Samples after which the Justicia paper expects p_hat <= eps0 p with probability 1 - delta.

    .. math:: k = \lceil (n + \ln(1 / \delta)) \ln m / \ln \epsilon_0 \rceil

    (Ghosh, Basu and Meel, AAAI 2021, the constant of its O taken as 1.) **The claim does not hold**, and no verdict
    here rests on it. Let the model say yes when X1 is true, and let Pr[X1] = l / k with l < 1 / eps0: one hit among the
    k samples already makes p_hat / p at least 1 / l > eps0, and a hit has probability 1 - (1 - l / k)^k, near
    1 - exp(-l), whatever delta. No k that is chosen without knowing p can bound a ratio; and a bound on two rates from
    one side bounds neither their ratio nor their difference.

    Parameters
    ----------
    n, m : int
        The sizes that the theorem counts, under its own names.
    eps0 : float above 1
    delta : float in (0, 1)

    Returns
    -------
    int

    Raises
    ------
    ValueError
        When a parameter is out of its range.

    >>> justicia_sample_size(1, 10, 1.1, 0.05)
    97
    """
    if not (n >= 0 and m >= 1 and eps0 > 1 and 0 < delta < 1):
        raise ValueError(f"n = {n}, m = {m}, eps0 = {eps0}, delta = {delta}: n >= 0, m >= 1, eps0 > 1, 0 < delta < 1")
    return math.ceil((n + math.log(1 / delta)) * math.log(m) / math.log(eps0))
