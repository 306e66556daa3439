"""A population and the contributions of a sum, feature by feature, ready for one upward pass over all groups.

For any function f of a number with f(s + t) = f(s) f(t), such as exp(z s), the mean of f(score) in a group is found
along the population's tree: a feature's message to its parent is, for each parent state, the sum over its own states
of probability times the mean of f over the cells of the state times the messages of its children. That is exact under
every structure with at most one parent a feature, without a convolution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from justicia.population.network import NetworkPopulation

__all__ = ["Part", "extremes", "means", "parts_of", "product", "upward"]

_MOST_JOINED = 16
"""Cells of parts that are taken together."""


@dataclass(frozen=True)
class Part:
    """One feature.

    Attributes
    ----------
    feature : int
    parent : int
        Feature that it depends on beside the group; -1 for none.
    table : float64 array of shape (n_groups, n_parent_states, n_states)
    values : float64 array of shape (n_cells,)
        Contributions, sorted by state and then by value.
    starts : int array of shape (n_states + 1,)
        First cell of each state, and the number of cells.
    within : float64 array of shape (n_groups, n_cells), or None
        Probability of each cell given its state; None when every state is one cell.
    """

    feature: int
    parent: int
    table: np.ndarray
    values: np.ndarray
    starts: np.ndarray
    within: np.ndarray | None

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.starts) - 1

    def of(self, groups: slice | np.ndarray) -> Part:
        """The same for some groups."""
        return replace(self, table=self.table[groups], within=None if self.within is None else self.within[groups])

    def averaged(self, made: np.ndarray) -> np.ndarray:
        """Means over the cells of each state, of shape (n_states, n) or (n_groups, n_states, n).

        Parameters
        ----------
        made : array of shape (n_cells, n)
            A number of each cell.
        """
        if self.within is None:
            return made
        if self.n_states == 1:
            return product(self.within, made)[:, None, :]
        out = np.empty((len(self.within), self.n_states, made.shape[1]), dtype=made.dtype)
        for state, (start, end) in enumerate(pairwise(self.starts.tolist())):
            if end == start + 1:
                np.multiply(self.within[:, start, None], made[start], out=out[:, state])
            else:
                out[:, state] = product(self.within[:, start:end], made[start:end])
        return out


def product(real: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Matrix product of a real and a complex (or real) array; the complex one seen as pairs of real numbers."""
    if other.dtype.kind != "c":
        return np.matmul(real, other)
    pairs = np.ascontiguousarray(other).view(np.float64)
    return np.matmul(real, pairs).view(np.complex128)


def parts_of(population: NetworkPopulation, contributions: Sequence[np.ndarray], *, join: bool = True) -> list[Part]:
    """Parts in upward order, children before parents; cells without mass in any group are left out.

    Features that neither have a parent nor are one come first, those of widest contributions before others.

    Parameters
    ----------
    population : NetworkPopulation
    contributions : sequence of float64 arrays of shape (n_cells,), one a feature
    join : bool
        Take features of few cells that stand alone together.
    """
    has_children = {parent for node in population.nodes for parent in node.parents}
    parts = []
    for node in reversed(population.nodes):
        values = contributions[node.feature]
        table, states, within = node.table, node.states, node.within
        if not node.parents and node.feature not in has_children:
            # One state, whose cells have the probabilities of the feature itself.
            order = np.argsort(values, kind="stable")
            share = table[:, 0, states[order]]
            if within is not None:
                share *= within[:, order]
            values, firsts = np.unique(values[order], return_index=True)
            if len(values) < len(order):
                share = np.add.reduceat(share, firsts, axis=1)
            kept = share.any(axis=0)
            if not kept.all():
                values, share = values[kept], share[:, kept]
            table, starts = np.ones((len(share), 1, 1)), np.array([0, len(values)])
            parts.append(Part(node.feature, -1, table, values, starts, np.ascontiguousarray(share)))
            continue
        order = np.lexsort((values, states))
        if within is not None:
            order = order[within[:, order].any(axis=0)]
            within = np.ascontiguousarray(within[:, order])
        starts = np.searchsorted(states[order], np.arange(table.shape[2] + 1))
        parent = node.parents[0] if node.parents else -1
        parts.append(Part(node.feature, parent, table, values[order], starts, within))
    alone = [part for part in parts if part.parent < 0 and part.feature not in has_children]
    alone.sort(key=lambda part: -float(np.ptp(part.values)))
    return (_joined(alone) if join else alone) + [
        part for part in parts if part.parent >= 0 or part.feature in has_children
    ]


def _joined(parts: list[Part]) -> list[Part]:
    """Parts that stand alone, neighbours with few cells taken together as one: fewer and denser products."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last is None or len(last.values) * len(part.values) > _MOST_JOINED:
            joined.append(part)
            continue
        if last.within is None or part.within is None:
            raise ValueError("a part that stands alone has its cells in one state")
        values = (last.values[:, None] + part.values).ravel()
        within = (last.within[:, :, None] * part.within[:, None, :]).reshape(len(part.table), -1)
        joined[-1] = replace(last, values=values, within=within, starts=np.array([0, len(values)]))
    return joined


def upward(
    parts: Sequence[Part], averaged: Callable[[int, Part], np.ndarray], total: np.ndarray, negligible: float = 0.0
) -> np.ndarray:
    """Mean of f(score) in each group: `total` times the means of all parts, in place.

    Parameters
    ----------
    parts : sequence of Part
        In upward order.
    averaged : callable
        Takes the position of a part and the part; returns the means of f over the cells of each state, of shape
        (n_states, n) or (n_groups, n_states, n).
    total : array of shape (n_groups, n)
    negligible : float
        When no number of the total is larger than this, what is left is not looked at and the total is 0. Only for
        functions of modulus at most 1.
    """
    messages: dict[int, list[np.ndarray]] = {}
    for position, part in enumerate(parts):
        if negligible and position % 4 == 3 and _below(total, negligible):
            total[:] = 0.0
            return total
        own = averaged(position, part)
        below = messages.pop(part.feature, [])
        if below:
            own = own * below[0] if own.ndim == 3 else own[None] * below[0]
            for message in below[1:]:
                own *= message
        if part.n_states == 1 and part.table.shape[1] == 1:
            passed = own.reshape(-1, 1, own.shape[-1])
        else:
            passed = product(part.table, own)
        if part.parent < 0:
            total *= passed[:, 0]
        else:
            messages.setdefault(part.parent, []).append(passed)
    return total


def _below(numbers: np.ndarray, limit: float) -> bool:
    """Whether every number has a modulus below the limit."""
    pairs = numbers.view(np.float64)
    return bool(pairs.max(initial=0.0) < limit / 2 and pairs.min(initial=0.0) > -limit / 2)


def means(parts: Sequence[Part], n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the sum in each group, and the largest variance that the parts would give if they were independent."""
    mean = np.zeros(n_groups)
    variance = np.zeros(n_groups)
    shares: dict[int, np.ndarray] = {}
    for part in reversed(parts):
        above = shares.get(part.parent, np.ones((n_groups, 1)))
        share = np.einsum("gp,gps->gs", above, part.table)
        shares[part.feature] = share
        of_cells = share.repeat(np.diff(part.starts), axis=1)
        if part.within is not None:
            of_cells = of_cells * part.within
        first = of_cells @ part.values
        mean += first
        variance += np.maximum(of_cells @ part.values**2 - first**2, 0.0)
    return mean, variance


def extremes(parts: Sequence[Part], n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that no sum in the group falls below, and exceeds, of shape (n_groups,)."""
    low, high = np.zeros(n_groups), np.zeros(n_groups)
    for part in parts:
        possible = (part.table > 0).any(axis=1).repeat(np.diff(part.starts), axis=1)
        if part.within is not None:
            possible = possible & (part.within > 0)
        low += np.where(possible, part.values, np.inf).min(axis=1)
        high += np.where(possible, part.values, -np.inf).max(axis=1)
    return low, high
