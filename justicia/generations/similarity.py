r"""How near sets of concepts are to each other, and how unevenly: concept association scores (CAS), and their MAD.

TIBET (Chinchure et al., arXiv 2312.01261) compares the images of a prompt with those of counterfactual prompts that
name a value outright (a doctor: a male doctor, a female doctor). :math:`CAS_i` is the similarity of the concepts of the
first and of the i-th of these, and the mean absolute deviation of K scores says how much nearer the prompt is to some
than to others. Scores are brought to a sum of 1, as TIBET's programs do; then

.. math:: MAD = \frac1K \sum_i |CAS_i - \tfrac1K| \le MAD_{max}(K) = \frac{2(K-1)}{K^2},

attained where one score is 1, as MAD is convex; and :math:`\sqrt{MAD / MAD_{max}}` is between 0 and 1. Without that
step it is not: with scores of 1 and 0 in halves it reaches 1.15 for four values.
"""

from __future__ import annotations

import numpy as np

from justicia.errors import InputError

__all__ = [
    "NORMALISATIONS",
    "SIMILARITIES",
    "largest_mad",
    "mad",
    "mad_range",
    "normalised_mad",
    "shares",
    "similarity",
]

SIMILARITIES = ("iou", "cosine")
"""Of weights of concepts: intersection over union of the two histograms, each of sum 1; the cosine of the angle."""
NORMALISATIONS = ("sum", "none")
"""Of scores, before their deviation is taken."""
_NOTHING = 1e-7


def similarity(first: np.ndarray, second: np.ndarray, kind: str = "iou") -> np.ndarray:
    """Similarity of weights of concepts; 0 where one of them has none.

    Parameters
    ----------
    first, second : float64 array of shape (..., n_concepts)
    kind : str
        One of `SIMILARITIES`.

    >>> doctor, male = np.array([0.75, 1, 0.25, 0.5]), np.array([1, 1, 0, 0.5])
    >>> float(similarity(doctor, male).round(6)), float(similarity(doctor, male, "cosine").round(6))
    (0.818182, 0.973729)
    """
    if kind == "cosine":
        product = (first * second).sum(axis=-1)
        size = np.sqrt((first * first).sum(axis=-1) * (second * second).sum(axis=-1))
        found = np.divide(product, size, where=size > 0, out=np.zeros_like(product))
    elif kind == "iou":
        totals = [held.sum(axis=-1, keepdims=True) for held in (first, second)]
        left, right = (
            np.divide(held, total, where=total > 0, out=np.zeros_like(held))
            for held, total in zip((first, second), totals, strict=True)
        )
        common, union = np.minimum(left, right).sum(axis=-1), np.maximum(left, right).sum(axis=-1)
        found = np.divide(common, union, where=union > 0, out=np.zeros_like(common))
    else:
        raise InputError(f"similarity cannot be {kind!r} (there are: {', '.join(SIMILARITIES)})")
    return np.asarray(np.clip(found, 0.0, 1.0))


def shares(scores: np.ndarray, normalise: str = "sum") -> np.ndarray:
    """Scores of the last axis by their sum, NaN where there is nothing in common with any; or as they are."""
    if normalise not in NORMALISATIONS:
        raise InputError(f"normalise cannot be {normalise!r} (there are: {', '.join(NORMALISATIONS)})")
    total = scores.sum(axis=-1, keepdims=True)
    if normalise == "none":
        return np.where(total > _NOTHING, scores, np.nan)
    return np.divide(scores, total, where=total > _NOTHING, out=np.full_like(scores, np.nan))


def mad(scores: np.ndarray) -> np.ndarray:
    """Mean absolute deviation of the last axis from its mean."""
    return np.asarray(np.abs(scores - scores.mean(axis=-1, keepdims=True)).mean(axis=-1))


def largest_mad(k: int) -> float:
    """The largest MAD of k scores whose sum is 1.

    >>> largest_mad(2), largest_mad(4)
    (0.5, 0.375)
    """
    return 2 * (k - 1) / k**2


def normalised_mad(deviation: np.ndarray | float, k: int) -> np.ndarray:
    """The root of MAD by its largest value for k scores; NaN for one score, which cannot deviate."""
    if k < 2:
        return np.full_like(np.asarray(deviation, dtype=np.float64), np.nan)
    return np.asarray(np.sqrt(np.maximum(deviation, 0.0) / largest_mad(k)))


def mad_range(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Bounds of the MAD of scores that lie between others.

    The deviation of K numbers is 2/K² times the largest, over sets S of them, of (K - |S|) times their sum less |S|
    times the sum of the others: taking upper ends in S and lower ones outside is the largest, and the other way round a
    bound from below.

    Parameters
    ----------
    low, high : float64 array of shape (K,)
    """
    k = len(low)
    least = most = 0.0
    for size in range(1, k):
        for inside, outside, up in ((low, high, False), (high, low, True)):
            # Of a number in S: what it adds, over what it would take off outside.
            gains = np.sort((k - size) * inside + size * outside)[::-1]
            value = float(gains[:size].sum() - size * outside.sum()) * 2 / k**2
            if up:
                most = max(most, value)
            else:
                least = max(least, value)
    return min(least, most), most
