"""A population seen through what a model can tell apart: fewer cells, the same distribution.

Cells of a feature that lie in the same state and may hold the same cells of the model become one. Features that the
model does not depend on are left out, where no other feature depends on them; of those that stay, the states remain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from justicia.population.base import Node, Population
from justicia.population.counts import Counts
from justicia.population.domain import Domain, Feature
from justicia.population.empirical import EmpiricalPopulation
from justicia.population.mixture import MixturePopulation
from justicia.population.network import NetworkPopulation

__all__ = ["Coarsened", "coarsened", "possible_cells"]


@dataclass(frozen=True)
class Coarsened:
    """A population with fewer cells.

    Attributes
    ----------
    population : Population
        Of features of its own.
    feature : tuple of int
        For each of them, the feature of the population that it was.
    cells : tuple of int arrays
        For each of them, where each cell of that feature went.
    """

    population: Population
    feature: tuple[int, ...]
    cells: tuple[np.ndarray, ...]


def possible_cells(population: Population) -> list[np.ndarray]:
    """For each feature, which cells have people in some group, bool arrays of shape (n_cells,)."""
    held = population.possible()
    if held is not None:
        return held
    sizes = population.domain.sizes
    found = [np.zeros(size, dtype=bool) for size in sizes]
    networks, rows = _parts(population)
    for part in rows:
        _, points, _ = part.support
        for feature in range(len(sizes)):
            found[feature][points[:, feature]] = True
    for network in networks:
        for node in network.nodes:
            held = np.asarray((node.table > 0).any(axis=(0, 1)))[node.states]
            if node.within is not None:
                held = held & (node.within > 0).any(axis=0)
            found[node.feature] |= held
    return found


def _parts(population: Population) -> tuple[list[NetworkPopulation], list[EmpiricalPopulation]]:
    if isinstance(population, MixturePopulation):
        return [population.network], [population.rows]
    if isinstance(population, NetworkPopulation):
        return [population], []
    if isinstance(population, EmpiricalPopulation):
        return [], [population]
    raise TypeError(f"a {population.structure} population has no parts that are known")


def coarsened(population: Population, kinds: Mapping[int, np.ndarray]) -> Coarsened:
    """Join cells that are of the same kind and in the same state.

    Parameters
    ----------
    population : Population
    kinds : mapping of int to int array of shape (n_cells,)
        Kind of each cell, of the features that matter.
    """
    networks, _ = _parts(population)
    nodes = networks[0].nodes if networks else ()
    kept = set(kinds)
    for node in reversed(nodes):
        if node.feature in kept:
            kept |= set(node.parents)
    states = {node.feature: node.states for node in nodes}
    features, cells, new = [], [], []
    for feature, held in enumerate(population.domain.features):
        if feature not in kept:
            continue
        kind = kinds.get(feature, np.zeros(len(held), dtype=np.int64))
        pairs = np.stack([states.get(feature, np.zeros(len(held), dtype=np.int64)), kind])
        joined, where = np.unique(pairs, axis=1, return_inverse=True)
        features.append(feature)
        cells.append(where.ravel())
        new.append(Feature(held.name, tuple(f"{state}/{one}" for state, one in joined.T), (None,) * joined.shape[1]))
    domain = Domain(tuple(new))
    position = {feature: i for i, feature in enumerate(features)}

    def network(held: NetworkPopulation) -> NetworkPopulation:
        inside = [node for node in held.nodes if node.feature in position]
        made = tuple(_node(node, position, cells[position[node.feature]]) for node in inside)
        return NetworkPopulation(held.structure, domain, held.sensitive, held.groups, held.sizes, made)

    def rows(held: EmpiricalPopulation) -> EmpiricalPopulation:
        groups, points, weights = held.support
        columns = [where[points[:, feature]] for feature, where in zip(features, cells, strict=True)]
        seen = np.stack(columns, axis=1) if columns else np.zeros((len(points), 0), dtype=np.int64)
        return EmpiricalPopulation(Counts(held.groups, domain.sizes, groups, seen, weights), domain, held.sensitive)

    made: Population
    if isinstance(population, MixturePopulation):
        made = population.over(network(population.network), rows(population.rows))
    elif isinstance(population, NetworkPopulation):
        made = network(population)
    elif isinstance(population, EmpiricalPopulation):
        made = rows(population)
    return Coarsened(made, tuple(features), tuple(cells))


def _node(node: Node, position: Mapping[int, int], where: np.ndarray) -> Node:
    n_cells = int(where.max()) + 1
    states = np.zeros(n_cells, dtype=np.int64)
    states[where] = node.states
    within = None
    if n_cells > len(np.unique(states)):
        shares = node.within
        if shares is None:
            raise ValueError("a state of one cell was divided")
        within = np.zeros((len(shares), n_cells))
        np.add.at(within.T, where, shares.T)
        # A state whose cells all went to one is kept whole, whatever the rounding of their sum.
        alone = np.bincount(states)[states] == 1
        within[:, alone] = 1.0
    return Node(position[node.feature], tuple(position[parent] for parent in node.parents), node.table, states, within)
