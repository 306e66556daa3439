"""Populations with a tree-shaped structure: each feature depends on the group and on at most one other feature.

The probability of a box is found in one upward pass: a node's message to its parent is, for each parent state, the
sum over its own states of the conditional probability times the share of the state's cells that the box keeps, times
the messages of its children (belief propagation on a tree; Pearl 1988, chapter 4). All groups and many boxes go
through the pass together as matrix products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from justicia.population.base import Boxes, Node, Population

if TYPE_CHECKING:
    from justicia.population.domain import Domain

__all__ = ["NetworkPopulation"]

_MOST_NUMBERS = 4_000_000
"""Numbers in one message: more groups or boxes are passed in parts."""


class NetworkPopulation(Population):
    """A population given by its nodes in topological order, parents first."""

    def __init__(
        self,
        structure: str,
        domain: Domain,
        sensitive: tuple[str, ...],
        groups: tuple[tuple[str, ...], ...],
        sizes: np.ndarray,
        nodes: tuple[Node, ...],
    ) -> None:
        self.structure = structure
        self.domain = domain
        self.sensitive = sensitive
        self.groups = groups
        self.sizes = sizes
        self._nodes = nodes
        self._children: dict[int, list[Node]] = {node.feature: [] for node in nodes}
        for node in nodes:
            for parent in node.parents:
                self._children[parent].append(node)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The structure in topological order."""
        return self._nodes

    @property
    def parents(self) -> dict[str, list[str]]:
        """Names of the parents of each dependent feature."""
        names = self.domain.names
        return {names[node.feature]: [names[parent] for parent in node.parents] for node in self._nodes if node.parents}

    def masses(self, boxes: Boxes, n_boxes: int) -> np.ndarray:
        """Probability of each box in each group, float64 array of shape (n_boxes, n_groups)."""
        widest = max((node.table.shape[2] for node in self._nodes), default=1)
        widest = max([widest, *(cells.shape[1] for cells in boxes if cells is not None)])
        step = max(1, _MOST_NUMBERS // (widest * n_boxes))
        parts = [self._masses(boxes, n_boxes, slice(start, start + step)) for start in range(0, self.n_groups, step)]
        return np.concatenate(parts, axis=1)

    def _masses(self, boxes: Boxes, n_boxes: int, groups: slice) -> np.ndarray:
        messages: dict[int, np.ndarray] = {}
        total = np.ones((len(range(*groups.indices(self.n_groups))), n_boxes))
        for node in reversed(self._nodes):
            share = _shares(node, boxes[node.feature], groups)
            for child in self._children[node.feature]:
                message = messages.pop(child.feature, None)
                if message is not None:
                    share = message if share is None else share * message
            if share is None:
                continue
            passed = share @ node.table[groups].transpose(0, 2, 1)
            if node.parents:
                messages[node.feature] = passed
            else:
                total *= passed[:, :, 0]
        return total.T

    def sample_points(self, group: int, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw `n` domain points of a group by ancestral sampling, int array of shape (n, n_features)."""
        points = np.zeros((n, len(self.domain.features)), dtype=np.int32)
        drawn: dict[int, np.ndarray] = {}
        for node in self._nodes:
            table = node.table[group]
            given = drawn[node.parents[0]] if node.parents else np.zeros(n, dtype=np.int64)
            state = _draw(table, given, rng)
            drawn[node.feature] = state
            points[:, node.feature] = _cells(node, group, state, rng)
        return points


def _shares(node: Node, cells: np.ndarray | None, groups: slice) -> np.ndarray | None:
    """Share of each state that the boxes keep, of shape (1 or n_groups, n_boxes, n_states)."""
    if cells is None:
        return None
    if node.within is None:
        order = np.argsort(node.states)
        return cells[None, :, order].astype(np.float64)
    order = np.argsort(node.states, kind="stable")
    starts = np.searchsorted(node.states[order], np.arange(node.table.shape[2]))
    kept = cells[:, order].astype(np.float64)
    within = node.within[groups][:, order]
    return np.add.reduceat(kept[None] * within[:, None, :], starts, axis=2)


def _draw(table: np.ndarray, given: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a state for each parent state in `given` from the rows of `table`."""
    cumulative = table.cumsum(axis=1)
    cumulative /= cumulative[:, -1:]
    return (rng.random(len(given))[:, None] >= cumulative[given]).sum(axis=1)


def _cells(node: Node, group: int, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a cell inside each state."""
    if node.within is None:
        return np.argsort(node.states)[states]
    order = np.argsort(node.states, kind="stable")
    sorted_states = node.states[order]
    cumulative = node.within[group][order].cumsum()
    # Each state's cells sum to 1, so that state s covers the stretch from s to s + 1.
    ends = cumulative[np.append(np.flatnonzero(np.diff(sorted_states)), len(order) - 1)]
    begins = np.concatenate([[0.0], ends[:-1]])
    wanted = begins[states] + rng.random(len(states)) * (ends - begins)[states]
    found = np.searchsorted(cumulative, wanted, side="right")
    last = np.searchsorted(sorted_states, states, side="right") - 1
    return order[np.minimum(found, last)]
