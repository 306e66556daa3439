"""Populations with a tree-shaped structure: each feature depends on the group and on at most one other feature.

The probability of a box is found in one upward pass: a node's message to its parent is, for each parent state, the
sum over its own states of the conditional probability times the share of the state's cells that the box keeps, times
the messages of its children (belief propagation on a tree; Pearl 1988, chapter 4). All groups and many boxes go
through the pass together, and boxes that agree below a node share its message.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.population.base import Boxes, Node, Population

if TYPE_CHECKING:
    from justicia.population.domain import Domain

__all__ = ["NetworkPopulation", "Step", "evaluate_plan", "make_plan"]

_MOST_NUMBERS = 200_000
"""Numbers in one message: more groups are passed in parts."""
_FEW_GROUPS = 64
"""With fewer groups, matrix products are faster than sums along the groups."""


class NetworkPopulation(Population):
    """A population given by its nodes in topological order, parents first.

    Attributes
    ----------
    tables : dict of int to float64 array of shape (n_parent_states, n_states, n_groups)
        Tables by feature; groups lie side by side.
    within : dict of int to float64 array of shape (n_cells, n_groups)
        Shares of cells within their state, of the features that have any.
    """

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
        self.tables = {node.feature: np.ascontiguousarray(node.table.transpose(1, 2, 0)) for node in nodes}
        self.within = {node.feature: np.ascontiguousarray(node.within.T) for node in nodes if node.within is not None}

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
        plan = make_plan(self._nodes, boxes, n_boxes)
        return evaluate_plan(plan, self.tables, self.within, n_boxes, self.n_groups)

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


@dataclass(frozen=True)
class Step:
    """What one node has to do in the upward pass, each distinct condition on its subtree once.

    Attributes
    ----------
    feature : int
    root : bool
        The node has no parent.
    whole : float64 array of shape (n_masks, n_states), or None
        For each distinct condition on the node's own cells, 1 where a state is kept whole; None without any.
    partly : list of (mask, state, cells)
        States that a condition keeps in part, and the cells that it keeps there.
    own : int array of shape (n_conditions,)
        Mask of each condition on the subtree.
    children : list of (int, int array of shape (n_conditions,))
        For each child with conditions in its subtree, its feature and the child's condition.
    of_box : int array of shape (n_boxes,)
        Condition on the subtree of each box.
    """

    feature: int
    root: bool
    whole: np.ndarray | None
    partly: list[tuple[int, int, np.ndarray]]
    own: np.ndarray
    children: list[tuple[int, np.ndarray]]
    of_box: np.ndarray


def make_plan(nodes: tuple[Node, ...], boxes: Boxes, n_boxes: int) -> list[Step]:
    """Steps of the upward pass for some boxes, from the leaves to the roots."""
    plan: list[Step] = []
    conditions: dict[int, np.ndarray] = {}
    below: dict[int, list[int]] = {}
    for node in reversed(nodes):
        cells = boxes[node.feature]
        children = [child for child in below.get(node.feature, ()) if child in conditions]
        if cells is None and not children:
            continue
        whole: np.ndarray | None = None
        partly: list[tuple[int, int, np.ndarray]] = []
        keys = np.zeros(n_boxes, dtype=np.int64)
        if cells is not None:
            packed = np.ascontiguousarray(np.packbits(cells, axis=1))
            view = packed.view([("", np.void, packed.shape[1])]).ravel()
            _, first, keys = np.unique(view, return_index=True, return_inverse=True)
            whole, partly = _kept(node, cells[first])
        own = keys
        for child in children:
            keys = keys * (int(conditions[child].max()) + 1) + conditions[child]
        _, first, keys = np.unique(keys, return_index=True, return_inverse=True)
        conditions[node.feature] = keys
        for parent in node.parents:
            below.setdefault(parent, []).append(node.feature)
        links = [(child, conditions[child][first]) for child in children]
        plan.append(Step(node.feature, not node.parents, whole, partly, own[first], links, keys))
    return plan


def _kept(node: Node, masks: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int, np.ndarray]]]:
    """Which states each mask keeps whole, and which in part."""
    sizes = np.bincount(node.states)
    kept = np.stack([np.bincount(node.states, weights=mask, minlength=len(sizes)) for mask in masks])
    partly = [
        (int(mask), int(state), np.flatnonzero(masks[mask] & (node.states == state)))
        for mask, state in np.argwhere((kept > 0) & (kept < sizes))
    ]
    return (kept == sizes).astype(np.float64), partly


def evaluate_plan(
    plan: list[Step], tables: dict[int, np.ndarray], within: dict[int, np.ndarray], n_boxes: int, n_groups: int
) -> np.ndarray:
    """Run the upward pass, groups in parts that fit the processor's cache, on two threads when there are many.

    Parameters
    ----------
    plan : list of Step
    tables : dict of int to float64 array of shape (n_parent_states, n_states, n_groups)
    within : dict of int to float64 array of shape (n_cells, n_groups)

    Returns
    -------
    float64 array of shape (n_boxes, n_groups)
    """
    total = np.ones((n_boxes, n_groups))
    widest = max((len(step.own) * max(tables[step.feature].shape[:2]) for step in plan), default=1)
    part = max(16, _MOST_NUMBERS // widest)

    def run(start: int) -> None:
        _run(plan, tables, within, total, slice(start, start + part))

    starts = range(0, n_groups, part)
    if len(starts) < 2:
        run(0)
    else:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(run, starts))
    return total


def _run(
    plan: list[Step],
    tables: dict[int, np.ndarray],
    within: dict[int, np.ndarray],
    total: np.ndarray,
    groups: slice,
) -> None:
    messages: dict[int, np.ndarray] = {}
    for step in plan:
        share = _share(step, within.get(step.feature), groups)
        for child, condition in step.children:
            message = messages.pop(child)[condition]
            share = message if share is None else share * message
        passed = _passed(share, tables[step.feature][:, :, groups])
        if step.root:
            total[:, groups] *= passed[step.of_box, 0, :]
        else:
            messages[step.feature] = passed


def _share(step: Step, within: np.ndarray | None, groups: slice) -> np.ndarray | None:
    """Share of each state that each condition keeps, of shape (n_conditions, n_states, 1 or n_groups)."""
    if step.whole is None:
        return None
    if within is None or not step.partly:
        return step.whole[step.own][:, :, None]
    share = np.repeat(step.whole[:, :, None], len(range(*groups.indices(within.shape[1]))), axis=2)
    for mask, state, cells in step.partly:
        share[mask, state] = within[cells, groups].sum(axis=0)
    return share[step.own]


def _passed(share: np.ndarray | None, table: np.ndarray) -> np.ndarray:
    """Message to the parent, of shape (n_conditions, n_parent_states, n_groups)."""
    if share is None:
        raise ValueError("a step without conditions has no message")
    if share.shape[2] == 1:
        n_parents, n_states, n_groups = table.shape
        flat = table.transpose(1, 0, 2).reshape(n_states, n_parents * n_groups)
        return (share[:, :, 0] @ flat).reshape(len(share), n_parents, n_groups)
    if table.shape[2] < _FEW_GROUPS:
        passed = share.transpose(2, 0, 1) @ table.transpose(2, 1, 0)
        return passed.transpose(1, 2, 0)
    return np.einsum("dsg,psg->dpg", share, table)


def _draw(table: np.ndarray, given: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a state for each parent state in `given` from the rows of `table`."""
    cumulative = table.cumsum(axis=1)
    cumulative /= cumulative[:, -1:]
    # Row r of the table covers the stretch from r to r + 1.
    stretched = (cumulative + np.arange(len(table))[:, None]).ravel()
    found = np.searchsorted(stretched, given + rng.random(len(given)), side="right")
    # A number at the very end of a stretch may round up into the next: the last state with mass is meant.
    last = (given + 1) * table.shape[1] - 1 - np.argmax(table[:, ::-1] > 0, axis=1)[given]
    return np.minimum(found, last) - given * table.shape[1]


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
