"""Numeric variables of a stated network: a density for each choice of the states of other variables.

A variable is normal, with a mean that may rise and fall with other normal variables, or has a density that is constant
between some numbers. Variables with states never depend on one that has a density, so that given the states of all
others, normal variables are normal together (a conditional Gaussian network; Lauritzen and Wermuth 1989).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

__all__ = ["REACH", "Normal", "Numeric", "Steps", "normal_masses", "uneven_grid"]

REACH = 9.0
"""Standard deviations within which numbers of a normal variable are looked at; 2e-19 of the people lie beyond."""


@dataclass(frozen=True)
class Numeric(ABC):
    """One variable.

    Attributes
    ----------
    name : str
        Of the column.
    parents : tuple of str
        As they are stated.
    given : tuple of str
        Those that have states, the axes of all parameters.
    """

    name: str
    parents: tuple[str, ...]
    given: tuple[str, ...]

    @property
    @abstractmethod
    def kind(self) -> str:
        """The density in a word."""


@dataclass(frozen=True)
class Normal(Numeric):
    """A normal variable.

    Attributes
    ----------
    mean, variance : float64 arrays of shape (n_states of each given, ...)
        The variance is above 0.
    coefficients : dict of str to float64 array of the same shape
        What a unit of another normal variable, one of the parents, adds to the mean.
    """

    mean: np.ndarray
    variance: np.ndarray
    coefficients: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The density in a word."""
        return "normal"


@dataclass(frozen=True)
class Steps(Numeric):
    """A variable whose density is constant between neighbouring edges.

    Attributes
    ----------
    edges : float64 array of shape (n_states of each given, ..., n_steps + 1)
        Rising.
    masses : float64 array of shape (n_states of each given, ..., n_steps)
        Probability of each step; they sum to 1.
    """

    edges: np.ndarray
    masses: np.ndarray

    @property
    def kind(self) -> str:
        """The density in a word."""
        return "uniform" if self.masses.shape[-1] == 1 else "steps"

    def between(self, cuts: np.ndarray) -> np.ndarray:
        """Probabilities of the intervals that some numbers cut, of shape (n_states of each given, ..., n_cuts + 1)."""
        n_steps = self.masses.shape[-1]
        edges = self.edges.reshape(-1, n_steps + 1)
        below = np.zeros(edges.shape)
        np.cumsum(self.masses.reshape(-1, n_steps), axis=1, out=below[:, 1:])
        made = [np.interp(cuts, *pair, left=0.0, right=1.0) for pair in zip(edges, below, strict=True)]
        whole = np.zeros((len(edges), len(cuts) + 2))
        whole[:, 1:-1] = np.reshape(made, (len(edges), len(cuts)))
        whole[:, -1] = 1.0
        found = np.maximum(np.diff(whole, axis=1), 0.0)
        return np.asarray((found / found.sum(axis=1, keepdims=True)).reshape(*self.masses.shape[:-1], -1))


def normal_masses(mean: np.ndarray, deviation: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Probabilities of the intervals that some numbers cut under normal distributions.

    Each is found on the side where the tail is small, so that small ones keep their digits.

    Parameters
    ----------
    mean, deviation : float64 arrays of shape (n,)
    cuts : float64 array of shape (n_cuts,)

    Returns
    -------
    float64 array of shape (n, n_cuts + 1)
    """
    from scipy.special import ndtr

    z = (np.concatenate([[-np.inf], cuts, [np.inf]]) - mean[:, None]) / deviation[:, None]
    low, high = z[:, :-1], z[:, 1:]
    return np.asarray(np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low)))


def uneven_grid(mean: np.ndarray, deviation: np.ndarray, most: int) -> np.ndarray:
    """Numbers that cover several normal distributions, closer together where people are.

    Parameters
    ----------
    mean, deviation : float64 arrays of shape (n,)
    most : int
        Numbers, about.
    """
    pairs = np.unique(np.stack([mean, deviation], axis=1), axis=0)
    each = most // len(pairs)
    if each < _FEWEST:
        low = (pairs[:, 0] - REACH * pairs[:, 1]).min()
        return np.linspace(low, (pairs[:, 0] + REACH * pairs[:, 1]).max(), most)
    # Of a third of the numbers the steps are wide, out to where hardly anybody is.
    inner, outer = np.linspace(-4.5, 4.5, each - each // 3), np.linspace(-REACH, REACH, each // 3)
    z = np.union1d(inner, outer)
    return np.unique(pairs[:, :1] + z * pairs[:, 1:])


_FEWEST = 64
