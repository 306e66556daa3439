"""A latent root of two classes above a tree: every feature depends on the class beside the group and its parent.

The classes are found by expectation and maximisation (Meila and Jordan, Learning with Mixtures of Trees, 2000) from a
start of their own: the direction in which the tree alone explains the people least, found by power iteration on the
first step of expectation and maximisation away from two equal classes. Nothing is drawn at random, and nothing depends
on the order of the rows, so that equal counts give equal classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.population.shrinkage import shrunk

if TYPE_CHECKING:
    from justicia.population.counts import Counts

__all__ = ["CLASSES", "Classes", "find_classes"]

CLASSES = 2
STEPS = 10
MOST_POINTS = 8_000
"""Distinct points from which the classes are learned; all people are then assigned to them."""
_POWER_STEPS = 10
_STEADY = 10.0
"""People added to every cell in the power iteration."""
_LEAST = 1e-12


@dataclass(frozen=True)
class Classes:
    """Soft counts of the people by class.

    Attributes
    ----------
    tables : dict of int to float64 array of shape (n_groups, n_classes, n_parent_states, n_states)
        People by feature; sums over the classes are the counts themselves.
    people : float64 array of shape (n_groups, n_classes)
    """

    tables: dict[int, np.ndarray]
    people: np.ndarray


@dataclass(frozen=True)
class _Points:
    """Distinct groups and points of states, in an order that the rows have no part in."""

    groups: np.ndarray
    states: np.ndarray
    weights: np.ndarray
    hashes: np.ndarray

    def first(self, n: int) -> _Points:
        return _Points(self.groups[:n], self.states[:, :n], self.weights[:n], self.hashes[:n])


def find_classes(
    counts: Counts, states: list[np.ndarray], parent: np.ndarray, features: list[int], margins: list[np.ndarray]
) -> Classes:
    """Divide the people into classes.

    Parameters
    ----------
    counts : Counts
    states : list of int arrays of shape (n_cells,)
        State of each cell, by feature.
    parent : int array of shape (n_features,)
        Parent of each feature, -1 for none.
    features : list of int
        Features that depend on the class; the others do not.
    margins : list of int arrays of shape (n_groups,)

    Returns
    -------
    Classes
    """
    points = _distinct(counts, states)
    frame = _Frame(counts.n_groups, [int(held.max()) + 1 for held in states], parent, features, margins)
    few = points.first(MOST_POINTS)
    keys = frame.keys(few)
    share = _start(few, keys, frame)
    for _ in range(STEPS):
        share = frame.assigned(few, keys, frame.counted(few, keys, share), sweeps=1)
    if len(few.groups) < len(points.groups):
        learned = frame.counted(few, keys, share)
        keys = frame.keys(points)
        share = frame.assigned(points, keys, learned, sweeps=1)
    return frame.counted(points, keys, share)


def _distinct(counts: Counts, states: list[np.ndarray]) -> _Points:
    """Distinct points, ordered by a hash of 64 bits; points with equal hash count as one."""
    columns = np.stack([held.astype(np.int64)[counts.points[:, i]] for i, held in enumerate(states)], axis=1)
    rng = np.random.default_rng(0)
    odd = rng.integers(0, 2**63, size=columns.shape[1] + 1, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    hashes = counts.groups.astype(np.uint64) * odd[-1]
    for column, factor in zip(columns.T, odd, strict=False):
        hashes += (column.astype(np.uint64) + np.uint64(1)) * factor
    hashes ^= hashes >> np.uint64(29)
    hashes *= odd[-1]
    hashes ^= hashes >> np.uint64(32)
    distinct, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    weights = np.bincount(inverse, weights=counts.every_weight(), minlength=len(distinct))
    return _Points(counts.groups[first], np.ascontiguousarray(columns[first].T), weights, distinct)


class _Frame:
    """What stays the same in every step."""

    def __init__(
        self, n_groups: int, sizes: list[int], parent: np.ndarray, features: list[int], margins: list[np.ndarray]
    ) -> None:
        self.n_groups = n_groups
        self.parent = parent
        self.features = features
        self.margins = margins
        self.shapes = {i: (n_groups, sizes[parent[i]] if parent[i] >= 0 else 1, sizes[i]) for i in features}

    def keys(self, points: _Points) -> dict[int, np.ndarray]:
        """Entry of each feature's table of counts that each point falls into."""
        keys = {}
        for i, (_, n_above, n_states) in self.shapes.items():
            above = points.states[self.parent[i]] if self.parent[i] >= 0 else 0
            keys[i] = (points.groups * n_above + above) * n_states + points.states[i]
        return keys

    def counted(self, points: _Points, keys: dict[int, np.ndarray], share: np.ndarray) -> Classes:
        """Counts of people by class, when `share`, of shape (n_classes, n_points), of each point is in each class."""
        weights = share * points.weights
        people = np.stack([np.bincount(points.groups, weights=held, minlength=self.n_groups) for held in weights], 1)
        tables = {}
        for i, shape in self.shapes.items():
            size = int(np.prod(shape))
            tallies = [np.bincount(keys[i], weights=held, minlength=size).reshape(shape) for held in weights]
            tables[i] = np.stack(tallies, axis=1)
        return Classes(tables, people)

    def assigned(self, points: _Points, keys: dict[int, np.ndarray], classes: Classes, sweeps: int) -> np.ndarray:
        """Probability of each class given the point, of shape (n_classes, n_points)."""
        n_classes = classes.people.shape[1]
        logs = np.log(np.maximum(shrunk(classes.people[:, None, :], self.margins)[:, 0], _LEAST)).T[:, points.groups]
        for i, counts in classes.tables.items():
            stacked = counts.reshape(self.n_groups, -1, counts.shape[-1])
            table = np.log(np.maximum(shrunk(stacked, self.margins, sweeps=sweeps), _LEAST)).reshape(counts.shape)
            for one in range(n_classes):
                logs[one] += table[:, one].ravel()[keys[i]]
        logs -= logs.max(axis=0)
        share = np.exp(logs)
        return np.asarray(share / share.sum(axis=0))


def _start(points: _Points, keys: dict[int, np.ndarray], frame: _Frame) -> np.ndarray:
    """Shares of the classes to start from, of shape (n_classes, n_points)."""
    direction = (points.hashes >> np.uint64(11)).astype(np.float64) / 2.0**53 - 0.5
    in_group = np.bincount(points.groups, weights=points.weights, minlength=frame.n_groups)
    pooled = {}
    for i, (_, n_above, n_states) in frame.shapes.items():
        entry = keys[i] % (n_above * n_states)
        size = np.bincount(entry, weights=points.weights, minlength=n_above * n_states)
        pooled[i] = entry, size.reshape(n_above, n_states)
    for _ in range(_POWER_STEPS):
        weighted = direction * points.weights
        means = np.bincount(points.groups, weights=weighted, minlength=frame.n_groups) / np.where(
            in_group > 0, in_group, 1.0
        )
        weighted -= means[points.groups] * points.weights
        direction = np.zeros(len(direction))
        for entry, size in pooled.values():
            sums = np.bincount(entry, weights=weighted, minlength=size.size).reshape(size.shape)
            people = size.sum(axis=1, keepdims=True)
            above = sums.sum(axis=1, keepdims=True) / np.where(people > 0, people, 1.0)
            direction += ((sums - size * above) / (size + _STEADY)).ravel()[entry]
        spread = float(np.sqrt(np.average(direction**2, weights=points.weights)))
        if spread < _LEAST:
            return np.full((CLASSES, len(direction)), 1 / CLASSES)
        direction /= spread
    share = 1 / (1 + np.exp(-2.0 * direction))
    return np.stack([share, 1 - share])
