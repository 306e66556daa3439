"""Populations that are near a given one: every row of every table may move a little.

A row is the distribution of a feature's cells given the group (and, in a mixture, the class) and the state of its
parent. It moves by at most `radius` in total variation (half the sum of the absolute differences of its probabilities:
the probability that has to be moved), inside its *support*: the cells that have positive probability in that group.
Rows move independently of each other. Parts of a mixture move the same way: the weights of the rows and the classes
are a distribution that moves, the rows of people move as one distribution, and the tables of each class move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from justicia.population.confidence import marginals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.population.base import Node

__all__ = ["shift_distance", "supports"]


def supports(nodes: Sequence[Node]) -> dict[int, np.ndarray]:
    """Cells of positive probability in each group by feature, bool arrays of shape (n_groups, n_cells).

    Parameters
    ----------
    nodes : sequence of Node
        Parents first.
    """
    of_states = marginals(tuple(nodes))
    found = {}
    for node in nodes:
        held = of_states[node.feature][:, node.states] > 0
        found[node.feature] = held if node.within is None else held & (node.within > 0)
    return found


def shift_distance(nodes: Sequence[Node], radius: float) -> np.ndarray:
    """Bound of the total variation distance between a population and any that its rows may be moved to.

    A row u moves by d(u) at most: `radius`, or less where moving everything to one cell of the support takes less. Two
    bounds hold, and the smaller one is returned:

    - sum over nodes of sum over parent states u of p(u) d(u), with the probabilities p(u) before the shift: tables
      are changed one node at a time, parents first;
    - 1 - product over nodes of (1 - max over u of d(u)): people drawn from both populations feature by feature, with
      the same cell as often as the rows allow, agree in all of them that often at least.

    Parameters
    ----------
    nodes : sequence of Node
        Parents first.
    radius : float in [0, 1]

    Returns
    -------
    float64 array of shape (n_groups,)
    """
    if not nodes:
        raise ValueError("a population without features has no tables")
    of_states, held = marginals(tuple(nodes)), supports(nodes)
    total, same = np.zeros(len(nodes[0].table)), np.ones(len(nodes[0].table))
    for node in nodes:
        cells = node.table[:, :, node.states]
        if node.within is not None:
            cells = cells * node.within[:, None, :]
        smallest = np.where(held[node.feature][:, None, :], cells, np.inf).min(axis=2)
        above = of_states[node.parents[0]] if node.parents else np.ones((len(node.table), 1))
        apart = np.where(above > 0, np.minimum(radius, np.maximum(1.0 - smallest, 0.0)), 0.0)
        total += (above * apart).sum(axis=1)
        same *= 1.0 - apart.max(axis=1)
    return np.minimum(total, 1.0 - same)
