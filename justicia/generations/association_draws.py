"""Association scores of images drawn anew: how far they vary, and what they are when there is nothing to find.

Two kinds of tables are drawn. The *bootstrap* draws every set of images from itself. Under *even mixtures* the images
of the prompt are drawn from those of its counterfactuals, each counterfactual as likely as any other: what a generator
makes that treats none of them as the rule. Both draw the counterfactual images anew, too, as they are a sample as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.generations.similarity import similarity

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["Sets", "bootstrap_scores", "even_scores", "set_scores", "set_weights"]

_CHUNK = 3_000_000
"""Weights that are held at once."""


@dataclass(frozen=True)
class Sets:
    """Images of a prompt and of its counterfactuals.

    Attributes
    ----------
    initial : sparse matrix of shape (n_images, n_concepts)
    counterfactuals : tuple of sparse matrices
    kind : str
        The similarity.
    rare : float
        Concepts of less weight in a set are left out of it.
    """

    initial: csr_matrix
    counterfactuals: tuple[csr_matrix, ...]
    kind: str
    rare: float


def set_weights(images: csr_matrix, rare: float) -> np.ndarray:
    """Weights of the concepts of a set of images, of shape (n_concepts,)."""
    total = np.asarray(images.sum(axis=0), dtype=np.float64).ravel()
    return _kept(total / max(images.shape[0], 1), rare)


def _kept(weights: np.ndarray, rare: float) -> np.ndarray:
    # Counts are whole: a concept of exactly that weight stays.
    return np.where(weights >= rare - 1e-12, weights, 0.0)


def set_scores(sets: Sets) -> np.ndarray:
    """CAS of every counterfactual, of shape (n_counterfactuals,)."""
    first = set_weights(sets.initial, sets.rare)
    return np.array([similarity(first, set_weights(one, sets.rare), sets.kind) for one in sets.counterfactuals])


def bootstrap_scores(sets: Sets, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """CAS of images drawn from each set itself, of shape (replicates, n_counterfactuals)."""

    def initial(size: int) -> np.ndarray:
        return _drawn(sets.initial, sets.initial.shape[0], size, sets.rare, rng)

    return _scores(sets, replicates, rng, initial)


def even_scores(sets: Sets, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """CAS when the prompt's images are drawn evenly from those of its counterfactuals.

    Returns
    -------
    float64 array of shape (replicates, n_counterfactuals)
    """
    from scipy.sparse import vstack

    pool = vstack(sets.counterfactuals, format="csr")
    k = len(sets.counterfactuals)
    chance = np.concatenate([np.full(one.shape[0], 1 / (k * one.shape[0])) for one in sets.counterfactuals])
    chance /= chance.sum()

    def initial(size: int) -> np.ndarray:
        counts = rng.multinomial(sets.initial.shape[0], chance, size=size)
        return _kept(_sums(pool, counts) / sets.initial.shape[0], sets.rare)

    return _scores(sets, replicates, rng, initial)


def _scores(sets: Sets, replicates: int, rng: np.random.Generator, initial: Callable[[int], np.ndarray]) -> np.ndarray:
    found = np.empty((replicates, len(sets.counterfactuals)))
    step = max(1, _CHUNK // max(1, sets.initial.shape[1]))
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        first = initial(size)
        for place, one in enumerate(sets.counterfactuals):
            second = _drawn(one, one.shape[0], size, sets.rare, rng)
            found[start : start + size, place] = similarity(first, second, sets.kind)
    return found


def _drawn(images: csr_matrix, n: int, size: int, rare: float, rng: np.random.Generator) -> np.ndarray:
    counts = rng.multinomial(n, np.full(images.shape[0], 1 / images.shape[0]), size=size)
    return _kept(_sums(images, counts) / n, rare)


def _sums(images: csr_matrix, counts: np.ndarray) -> np.ndarray:
    """Sums of rows, each so many times."""
    return np.asarray((images.T @ counts.T.astype(np.float64)).T)
