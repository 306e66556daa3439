"""Trigonometric polynomials that enclose the indicator of an arc pointwise (Vaaler 1985; Beurling and Selberg).

With psi(x) = {x} - 1/2 the indicator of the arc [a, b) of the circle of length 1 is (b - a) + psi(x - b) - psi(x - a).
Vaaler's polynomial psi* of degree K satisfies |psi*(x) - psi(x)| <= F(x) / (2 K + 2) everywhere, F being Fejér's kernel
of the same degree (J. D. Vaaler, Some extremal functions in Fourier analysis, Bull. AMS 12, 1985, theorem 18). Means of
both over any distribution need nothing but its characteristic function at k = 1, ..., K, so the enclosure below holds
for every distribution, spiky and discrete ones included.
"""

from __future__ import annotations

import numpy as np

__all__ = ["arc_bounds", "rounding", "weights"]

_UNIT = float(np.finfo(np.float64).eps) / 2


def weights(k: np.ndarray, degree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of psi* and of Fejér's kernel.

    Parameters
    ----------
    k : float array of shape (n,)
        Frequencies, from 1.
    degree : float array of shape (m, 1), or float
        K; frequencies above it get 0.

    Returns
    -------
    sawtooth : float64 array of shape (m, n) or (n,)
        c_k = [(1 - t) cot(pi t) + 1 / pi] / (K + 1) with t = k / (K + 1): psi*(x) = -sum c_k sin(2 pi k x).
    fejer : the same
        1 - t: F(x) = 1 + 2 sum (1 - t) cos(2 pi k x).
    """
    t = np.minimum(k / (degree + 1.0), 1.0)
    fejer = 1.0 - t
    with np.errstate(divide="ignore", invalid="ignore"):
        sawtooth = (fejer / np.tan(np.pi * t) + 1.0 / np.pi) / (degree + 1.0)
    return np.where(fejer > 0, sawtooth, 0.0), fejer


def arc_bounds(
    length: np.ndarray | float,
    sines: tuple[np.ndarray, ...],
    cosines: tuple[np.ndarray, ...],
    degree: np.ndarray,
    mass: np.ndarray | float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bound of the mass of an arc [a, b).

    Parameters
    ----------
    length : float or array
        b - a.
    sines : two arrays
        Sums of c_k Im(e(-k a) phi(k)) and of c_k Im(e(-k b) phi(k)).
    cosines : two arrays
        Sums of (1 - t) Re(e(-k a) phi(k)) and the same at b.
    degree : array
        K.
    mass : float or array
        Of the whole circle: 1 for a probability.
    """
    middle = mass * length + sines[0] - sines[1]
    reach = (mass + cosines[0] + cosines[1]) / (degree + 1.0)
    return middle - reach, middle + reach


def rounding(degree: float, n_parts: int, n_cells: int, n_states: int, interpolation: float) -> float:
    r"""Bound on how far rounding moves the bounds of an arc.

    A phase is reduced before it is multiplied, so that e(k x) errs by at most 24 u, u = 2^-53, whatever k (four
    roundings of the phase at 2 pi u each, sine and cosine, one complex product). The mean over the V cells of a part
    and the sum over its S states add (V + S + 8) u, weights being probabilities; products of numbers of modulus at
    most 1 add errors up; a part with interpolated values adds `interpolation`. So phi(k) errs by

    .. math:: \delta = \sum_{parts} (V + S + 40) u + interpolation

    The bounds are sums over k with weights c_k, two of them, and (1 - t) / (K + 1), two of them. As c_k < 1 / (pi k)
    + 1 / (pi (K + 1)), they sum to less than (ln K + 2) / pi, and the others to 1/2 each; adding K terms in any order
    errs by at most K u times those sums for terms of modulus at most 1.

    .. math:: 2 \frac{\ln K + 2}{\pi} (\delta + K u) + (\delta + K u)

    Returned is twice that.
    """
    error = (n_cells + n_states + 40 * n_parts) * _UNIT + interpolation + degree * _UNIT
    return 2.0 * error * (2.0 * (np.log(max(degree, 2.0)) + 2.0) / np.pi + 1.0)
