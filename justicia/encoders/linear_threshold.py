"""The decision of a linear or additive model: a sum of one contribution a feature, compared with a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.encoders.decisions import Decision
    from justicia.population.domain import Domain

__all__ = ["Contribution", "LinearThreshold", "contributions"]


_SMALLEST = 1e-14
"""Slack of a scaled decision, at least: what its smallest numbers may have lost."""


@dataclass(frozen=True)
class Contribution:
    """The range of what a feature adds to a score, over the values of the table.

    Attributes
    ----------
    feature : str
    lo, hi : float
    lo_at, hi_at : str
        Values at which it adds that; the first when there are several.
    """

    feature: str
    lo: float
    hi: float
    lo_at: str
    hi_at: str


def contributions(decision: Decision, domain: Domain, points: np.ndarray) -> tuple[Contribution, ...]:
    """What each feature adds to the score at least and at most, widest ranges first; empty for other decisions.

    Parameters
    ----------
    decision : Decision
    domain : Domain
    points : int array of shape (n_rows, n_features)
        The domain point of each row; values that no row has are left out.
    """
    if not isinstance(decision, LinearThreshold):
        return ()
    found = []
    for feature, values, cells in zip(domain.features, decision.contributions, points.T, strict=True):
        held = np.flatnonzero(np.bincount(cells, minlength=len(values)))
        low, high = held[np.argmin(values[held])], held[np.argmax(values[held])]
        found.append(
            Contribution(
                feature.name, float(values[low]), float(values[high]), feature.labels[low], feature.labels[high]
            )
        )
    return tuple(sorted(found, key=lambda one: one.lo - one.hi))


@dataclass(frozen=True)
class LinearThreshold:
    """Favorable when base + sum of contributions is above the threshold, or when it is not.

    Attributes
    ----------
    contributions : tuple of float64 arrays, one a feature, of shape (n_cells,)
        What each cell adds to the score.
    base : float
        Score without any contribution.
    threshold : float
        The model compares ``score > threshold``.
    accepts_above : bool
        Whether the outcome is favorable above the threshold; else it is at or below it.
    slack : float
        The score that the model computes in floating point, in whatever order, and the sum of base and contributions
        taken here differ by at most this; 0 when every order gives the same number. Points whose score lies within
        it of the threshold are undecided.
    step : float
        Differences between scores are multiples of this; 0 when that is not known.
    rounding : float or None
        What the slack is at least, whatever counts as a tie: how far the two sums lie apart. None when it is not known.

    Examples
    --------
    x1 and (x2 or x3), which rounding the weights to integers would lose:

    >>> weights = [1.0, 0.004, 0.004]
    >>> decision = LinearThreshold(tuple(np.array([0.0, w]) for w in weights), -1.003, 0.0, True, 1e-12)
    >>> decision.evaluate(np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1]]))
    array([False,  True, False,  True])
    """

    contributions: tuple[np.ndarray, ...]
    base: float
    threshold: float
    accepts_above: bool
    slack: float
    step: float = 0.0
    rounding: float | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cells of each feature."""
        return tuple(len(values) for values in self.contributions)

    @cached_property
    def magnitude(self) -> float:
        """At least the absolute value of any partial sum of base and contributions."""
        return abs(self.base) + sum(float(np.abs(values).max(initial=0.0)) for values in self.contributions)

    def scaled(self) -> LinearThreshold:
        """The same decision with a magnitude near 1: all numbers times a power of two, which rounds nothing."""
        largest = max(self.magnitude, abs(self.threshold))
        exponent = 0 if largest == 0.0 else int(np.frexp(largest)[1])
        if -64 < exponent < 64:
            return self
        return LinearThreshold(
            tuple(np.ldexp(values, -exponent) for values in self.contributions),
            float(np.ldexp(self.base, -exponent)),
            float(np.ldexp(self.threshold, -exponent)),
            self.accepts_above,
            max(float(np.ldexp(self.slack, -exponent)), 0.0 if self.slack == 0 else _SMALLEST),
            float(np.ldexp(self.step, -exponent)),
        )

    def scores(self, points: np.ndarray) -> np.ndarray:
        """Base and contributions added up, float64 array of shape (n,)."""
        scores = np.full(len(points), self.base)
        for feature, values in enumerate(self.contributions):
            scores += values[points[:, feature]]
        return scores

    def evaluate(self, points: np.ndarray) -> np.ndarray:
        """Whether the outcome is favorable, bool array of shape (n,)."""
        return (self.scores(points) > self.threshold) == self.accepts_above

    def undecided(self, points: np.ndarray) -> np.ndarray:
        """Whether the order of a floating-point sum may flip the outcome, bool array of shape (n,)."""
        if self.slack == 0:
            return np.zeros(len(points), dtype=bool)
        return np.asarray(np.abs(self.scores(points) - self.threshold) <= self.slack)

    def near_boundary(self, points: np.ndarray, special: Sequence[Sequence[int]], most: int = 2000) -> np.ndarray:
        """Points next to the boundary: those at hand closest to it, with one feature changed so as to step over it.

        Parameters
        ----------
        points : int array of shape (n, n_features)
            Points to start from.
        special : sequence of sequence of int
            Cells of each feature that are tried whatever they add: missing, unseen.
        most : int
            Points wanted, about.

        Returns
        -------
        int array of shape (n_points, n_features), every point once
        """
        n_features = len(self.contributions)
        if not len(points) or not n_features:
            return np.zeros((0, n_features), dtype=np.int32)
        distance = self.scores(points) - self.threshold
        closest = np.argsort(np.abs(distance), kind="stable")
        n_bases = int(np.clip(most // (2 * n_features), 2, 60))
        # Rows repeat; starting points are told apart by their distance, so that it does not matter how often.
        different = closest[np.append(True, np.diff(np.abs(distance[closest])) > 0)]
        spread = different[np.linspace(0, len(different) - 1, max(n_bases // 3, 1)).astype(np.int64)]
        bases = np.concatenate([different[:n_bases], spread])
        found = []
        for feature, values in enumerate(self.contributions):
            order = np.argsort(values, kind="stable")
            left = distance[bases] - values[points[bases, feature]]
            first_above = np.searchsorted(values[order], -left, side="right")
            for place, inside in (
                (first_above, first_above < len(values)),
                (first_above - 1, first_above > 0),
            ):
                near = points[bases[inside]].copy()
                near[:, feature] = order[place[inside]]
                found.append(near)
            for cell in special[feature]:
                near = points[bases[:3]].copy()
                near[:, feature] = cell
                found.append(near)
        return np.unique(np.concatenate(found), axis=0)
