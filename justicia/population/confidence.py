"""How far the tables of a population may be from those of the people whom the rows were drawn from.

The rows of a group are independent draws from a distribution P that need not follow the structure. The population with
P's own conditional probabilities in the structure's tables is P's *projection*; its rate is what a fitted population
estimates. Given the parent's column, the rows in one parent state are independent draws from that row of the
projection's table, whatever else P does, so each table has confidence bounds from its own counts:

- `lower` and `upper`: Clopper and Pearson's interval (1934) of every single probability.
- `radius`: of the total variation distance between the row of the *fitted* table and the projection's. It is that
  between the fitted row and the plain frequencies, which is known, plus a bound of that between the frequencies and the
  projection's. Of n draws over k states the latter exceeds both of these with probability `error` at most, so that the
  smaller one is taken:

      sqrt((k ln 2 + ln(1 / error)) / 2n)           (Weissman et al., HPL-2003-97)
      sqrt((k - 1) / n) / 2 + sqrt(ln(1 / error) / 2n)   (its mean, and McDiarmid 1989)

All of these hold together, in all groups. Where the rows themselves have chosen which feature depends on which, and
where states are cut, `error` is divided among all tables that they could have chosen: every parent, every run of cells
of a number, every set of cells of a category.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.binomial import clopper_pearson
from justicia.population.shrinkage import frequencies
from justicia.population.tree import counted, given_state

if TYPE_CHECKING:
    from justicia.population.base import Node
    from justicia.population.counts import Counts
    from justicia.population.domain import Feature
    from justicia.population.network import NetworkPopulation

__all__ = ["ConfidentNode", "confident_nodes", "distance", "marginals"]

_LEAST_LOG = -650.0
"""Logarithm of the smallest probability with which intervals are taken; a smaller one gives no bound."""


@dataclass(frozen=True)
class ConfidentNode:
    """Bounds of the tables of one node.

    Attributes
    ----------
    node : Node
    lower, upper : float64 array of shape (n_groups, n_parent_states, n_states)
        Of each probability.
    radius : float64 array of shape (n_groups, n_parent_states)
        Of the total variation distance of each row of the table to the projection's.
    within_lower, within_upper : float64 array of shape (n_groups, n_cells), or None
        Of the probability of each cell given its state; None when every state is one cell.
    within_radius : float64 array of shape (n_groups, n_states), or None
    """

    node: Node
    lower: np.ndarray
    upper: np.ndarray
    radius: np.ndarray
    within_lower: np.ndarray | None = None
    within_upper: np.ndarray | None = None
    within_radius: np.ndarray | None = None


def confident_nodes(
    population: NetworkPopulation,
    counts: Counts,
    error: float,
    determined: frozenset[str] = frozenset(),
    together: int | None = None,
) -> tuple[ConfidentNode, ...]:
    """Bounds of all tables.

    Parameters
    ----------
    population : NetworkPopulation
    counts : Counts
        What it was fitted from.
    error : float in (0, 1)
        Probability that some bound misses; half of it goes to single probabilities, half to distances.
    determined : frozenset of str
        Features that the group determines: where all of a group's rows lie in one cell, there is no error.
    together : int, optional
        Number of groups whose bounds hold together; all of them unless given.

    Returns
    -------
    tuple of ConfidentNode
        In the order of the nodes.
    """
    domain, nodes = population.domain, population.nodes
    chosen = population.structure != "independent"
    share = math.log(error / 2) - math.log(together or population.n_groups) - math.log(max(len(nodes), 1))
    states = [np.zeros(0, dtype=np.int64)] * len(domain.features)
    for node in nodes:
        states[node.feature] = node.states
    parents = math.log(max(len(nodes), 1)) if chosen else 0.0
    sets = {node.feature: _log_sets(domain.features[node.feature], node) for node in nodes}
    found = []
    for node in nodes:
        above = node.parents[0] if node.parents else -1
        people = counted(counts, node.feature, above, states)
        own = share - parents - (sets[above] if above >= 0 else 0.0) - (math.log(2) if node.within is not None else 0.0)
        lower, upper = _intervals(people, people.sum(axis=-1, keepdims=True), own - sets[node.feature])
        ways = _log_cuts(domain.features[node.feature], node)
        radius = _radius(node.table, people, people.shape[-1], own - ways)
        one = ConfidentNode(node, lower, upper, radius)
        if node.within is not None:
            one = _with_cells(
                one, node.within, counts.of_feature(node.feature), share - math.log(2), sets[node.feature]
            )
        if domain.names[node.feature] in determined:
            one = _determined(one, counts.of_feature(node.feature))
        found.append(one)
    return tuple(found)


def _log_sets(feature: Feature, node: Node) -> float:
    """Logarithm of the number of sets of cells that a state may be, when the rows cut the states."""
    n_cells = len(node.states)
    if node.within is None:
        return math.log(n_cells)
    if feature.numeric:
        return math.log(n_cells * (n_cells + 1) / 2 + 1)
    return n_cells * math.log(2)


def _log_cuts(feature: Feature, node: Node) -> float:
    """Logarithm of the number of ways to cut the cells into so many states, times that of numbers of states."""
    n_cells, n_states = len(node.states), node.table.shape[-1]
    if node.within is None:
        return 0.0
    among, which = (n_cells - 1, n_states - 1) if feature.numeric else (n_cells + 1, n_states)
    ways = math.lgamma(among + 1) - math.lgamma(which + 1) - math.lgamma(among - which + 1)
    return ways + math.log(n_cells)


def _intervals(k: np.ndarray, n: np.ndarray, log_error: float) -> tuple[np.ndarray, np.ndarray]:
    """Clopper and Pearson's intervals; equal counts are looked up once."""
    n = np.broadcast_to(n, k.shape)
    if log_error < _LEAST_LOG:
        return np.zeros(k.shape), np.ones(k.shape)
    width = int(n.max(initial=0)) + 1
    distinct, inverse = np.unique(k.astype(np.int64) * width + n, return_inverse=True)
    lo, hi = clopper_pearson(distinct // width, distinct % width, math.exp(log_error))
    return lo[inverse].reshape(k.shape), hi[inverse].reshape(k.shape)


def _radius(fitted: np.ndarray, people: np.ndarray, n_states: int | np.ndarray, log_error: float) -> np.ndarray:
    """Bound of the distance between rows of a fitted table and the projection's; 1 where there are no people."""
    n = people.sum(axis=-1)
    plain = people / np.maximum(n, 1)[..., None]
    apart = np.abs(fitted - plain).sum(axis=-1) / 2
    return np.where(n > 0, np.minimum(1.0, apart + _plain_radius(n, n_states, log_error)), 1.0)


def _plain_radius(n: np.ndarray, n_states: int | np.ndarray, log_error: float) -> np.ndarray:
    n = np.maximum(n, 1)
    weissman = np.sqrt((n_states * math.log(2) - log_error) / (2 * n))
    mean = np.sqrt((np.maximum(n_states, 1) - 1) / n) / 2 + np.sqrt(-log_error / (2 * n))
    return np.where(np.asarray(n_states) > 1, np.minimum(weissman, mean), 0.0)


def _with_cells(
    one: ConfidentNode, within: np.ndarray, cells: np.ndarray, share: float, log_sets: float
) -> ConfidentNode:
    """Bounds of the probabilities of cells given their state."""
    states = one.node.states
    inside = (states[:, None] == np.arange(int(states.max()) + 1)).astype(np.int64)
    people = cells @ inside
    own = share - log_sets
    lower, upper = _intervals(cells, people[:, states], own - math.log(len(states)))
    sizes = inside.sum(axis=0)
    alone = sizes[states] == 1
    plain = given_state(cells, states, frequencies)
    apart = (np.abs(within - plain) @ inside) / 2
    radius = np.where(people > 0, np.minimum(1.0, apart + _plain_radius(people, sizes, own)), 1.0)
    return ConfidentNode(
        one.node, one.lower, one.upper, one.radius,
        np.where(alone, 1.0, lower), np.where(alone, 1.0, upper), np.where(sizes == 1, 0.0, radius),
    )  # fmt: skip


def _determined(one: ConfidentNode, cells: np.ndarray) -> ConfidentNode:
    """No error in the groups whose rows all lie in one cell."""
    held = cells > 0
    sure = held.sum(axis=1) == 1
    cell = np.argmax(held, axis=1)
    state = one.node.states[cell]
    only = np.zeros(one.lower.shape)
    only[np.arange(len(cells)), :, state] = 1.0
    wide = sure[:, None, None]
    within = (one.within_lower, one.within_upper, one.within_radius)
    if one.within_lower is not None and one.within_upper is not None and one.within_radius is not None:
        alone = np.zeros(cells.shape)
        alone[np.arange(len(cells)), cell] = 1.0
        here = sure[:, None] & (one.node.states == state[:, None])
        exact = sure[:, None] & (np.arange(one.within_radius.shape[1]) == state[:, None])
        within = (
            np.where(here, alone, one.within_lower), np.where(here, alone, one.within_upper),
            np.where(exact, 0.0, one.within_radius),
        )  # fmt: skip
    return ConfidentNode(
        one.node, np.where(wide, only, one.lower), np.where(wide, only, one.upper),
        np.where(sure[:, None], 0.0, one.radius), *within,
    )  # fmt: skip


def marginals(nodes: tuple[Node, ...]) -> dict[int, np.ndarray]:
    """Probability of each state of each feature under the fitted tables, arrays of shape (n_groups, n_states)."""
    found: dict[int, np.ndarray] = {}
    for node in nodes:
        above = found[node.parents[0]] if node.parents else np.ones((len(node.table), 1))
        found[node.feature] = np.einsum("gu,gus->gs", above, node.table)
    return found


def distance(confident: tuple[ConfidentNode, ...]) -> np.ndarray:
    """Bounds of the total variation distance of the fitted population to the projection, of shape (n_groups,).

    Tables are changed from fitted to the projection's one node at a time, parents first. What lies above the node is
    as fitted, and what lies below moves nothing: so each node adds the distances of the rows of its table, weighted by
    the fitted probability of the parent's states. (Bounding the weighted sum by the largest distance of a row gives the
    better known, wider form.) The distance of a row is bounded by `radius`, and by what `lower` and `upper` leave: it
    is the sum of all rises, and of all falls.
    """
    weights = marginals(tuple(one.node for one in confident))
    total = np.zeros(len(confident[0].radius) if confident else 0)
    for one in confident:
        node, here = one.node, weights[one.node.feature]
        above = weights[node.parents[0]] if node.parents else np.ones((len(node.table), 1))
        rise = np.maximum(one.upper - node.table, 0.0).sum(axis=-1)
        fall = np.maximum(node.table - one.lower, 0.0).sum(axis=-1)
        total += (above * np.minimum(one.radius, np.minimum(rise, fall))).sum(axis=1)
        if node.within is None or one.within_lower is None or one.within_upper is None or one.within_radius is None:
            continue
        inside = (node.states[:, None] == np.arange(here.shape[1])).astype(np.float64)
        rise = np.maximum(one.within_upper - node.within, 0.0) @ inside
        fall = np.maximum(node.within - one.within_lower, 0.0) @ inside
        total += (here * np.minimum(one.within_radius, np.minimum(rise, fall))).sum(axis=1)
    return np.minimum(total, 1.0)
