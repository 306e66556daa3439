"""Populations whose mediators are distributed as in one of their groups, and all else as it was.

A feature named a mediator takes its tables, given its parents, from the favored group; every other feature keeps those
of the person's own group:

    P'(x | g) = product over mediators m of      P(x_m | parents of m, favored group)
                product over other features of   P(x_i | parents of i, g)

What each part of a population is then:

- Tables: replaced, states and the cells within a state alike. A latent class is a parent like any other: in each class
  the tables are those that the favored group has in it, and how likely the classes are stays as it was.
- A sensitive column that is a feature and varies inside of the groups' classes: where a mediator depends on it, a value
  that nobody of the favored group has stands for none of theirs, and the mediator is drawn as in all of them.
- The rows of a mixture beside its tables: each row counts for as many as P' / P makes of it, the density of its cells
  under the tables after the change over the one before it, and the weights of a group add up to its rows (the
  reweighting of DiNardo, Fortin and Lemieux 1996, with the tables as its model).
- Rows alone have no tables: they are weighted so that their mediators *together* are distributed as those of the
  favored group's rows. Values of the mediators that no row of a group has leave a share of it unknown.

The favored group itself does not change, whatever the structure.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import InputError
from justicia.population.confidence import marginals
from justicia.population.counts import Counts
from justicia.population.empirical import EmpiricalPopulation
from justicia.population.mixture import MixturePopulation
from justicia.population.network import NetworkPopulation

if TYPE_CHECKING:
    from justicia.population.base import Node, Population

__all__ = ["Mediated", "with_mediators_of"]

_WHOLE = 2**50
"""What the weights of a group's rows add up to: whole numbers whose sums floats hold exactly."""


@dataclass(frozen=True)
class Mediated:
    """A population after the change.

    Attributes
    ----------
    population : Population
    unknown : float64 array of shape (n_groups,)
        Share of each group of which nothing is known: the rate of the others counts for the rest alone.
    people : float64 array of shape (n_groups,)
        People of equal weight whom the weighted rows of each group tell as much as: the square of the sum of their
        weights over the sum of squares (Kish 1965). Infinite where there are no rows.
    """

    population: Population
    unknown: np.ndarray
    people: np.ndarray


def with_mediators_of(population: Population, favored: int, mediators: Collection[int]) -> Mediated:
    """Draw mediators as in one group.

    Parameters
    ----------
    population : Population
        Not one of a stated network: that has tables of its own to change.
    favored : int
        The group.
    mediators : collection of int
        Features.

    Raises
    ------
    InputError
        When the population is of another kind.
    """
    known, everybody = np.zeros(population.n_groups), np.full(population.n_groups, np.inf)
    if isinstance(population, MixturePopulation):
        changed = _of_mixture(population, favored, mediators)
        return Mediated(changed, known, _people(changed.rows))
    if isinstance(population, EmpiricalPopulation):
        return _of_rows(population, favored, mediators)
    if type(population) is NetworkPopulation:
        return Mediated(_of_network(population, favored, 1, mediators, population.sensitive), known, everybody)
    raise InputError(f"mediators have no meaning under a {population.structure} population: leave them out")


def _of_network(
    network: NetworkPopulation, favored: int, n_classes: int, mediators: Collection[int], sensitive: Collection[str]
) -> NetworkPopulation:
    """Group and class g * n_classes + c gets the tables of the favored group in class c."""
    chosen = slice(favored * n_classes, (favored + 1) * n_classes)
    of_states = marginals(network.nodes)

    def for_all(of_classes: np.ndarray) -> np.ndarray:
        """What the classes of the favored group have, for those of every group."""
        n_groups = network.n_groups // n_classes
        shape = (network.n_groups, *of_classes.shape[1:])
        return np.broadcast_to(of_classes, (n_groups, *of_classes.shape)).reshape(shape)

    nodes = []
    for node in network.nodes:
        if node.feature not in mediators:
            nodes.append(node)
            continue
        table = node.table[chosen]
        if any(network.domain.names[parent] in sensitive for parent in node.parents):
            above = of_states[node.parents[0]][chosen][:, :, None]
            table = np.where(above > 0, table, (above * table).sum(axis=1, keepdims=True))
        within = None if node.within is None else for_all(node.within[chosen])
        nodes.append(replace(node, table=for_all(table), within=within))
    return NetworkPopulation(
        network.structure, network.domain, network.sensitive, network.groups, network.sizes, tuple(nodes)
    )


def _of_mixture(mixture: MixturePopulation, favored: int, mediators: Collection[int]) -> MixturePopulation:
    network = _of_network(mixture.network, favored, mixture.n_classes, mediators, mixture.sensitive)
    groups, points, weights = mixture.rows.support
    before = _log_densities(mixture.network.nodes, mixture.class_weights, groups, points, mediators)
    after = _log_densities(network.nodes, mixture.class_weights, groups, points, mediators)
    # Rows that the tables call impossible tell nothing of the change.
    possible = before > -np.inf
    ratio = np.where(possible, np.exp(after - np.where(possible, before, 0.0)), 1.0)
    rows, held = _weighted(mixture.rows, weights * ratio)
    found = MixturePopulation(
        mixture.structure, mixture.description, network, mixture.class_weights, rows,
        np.where(held, mixture.row_weights, 0.0),
    )  # fmt: skip
    found.sizes = mixture.sizes
    return found


def _log_densities(
    nodes: tuple[Node, ...],
    class_weights: np.ndarray,
    groups: np.ndarray,
    points: np.ndarray,
    mediators: Collection[int],
) -> np.ndarray:
    """Logarithm of the probability of each row's cells, up to what is the same before and after the change.

    Parameters
    ----------
    class_weights : float64 array of shape (n_groups, n_classes)
    groups : int array of shape (n,)
    points : int array of shape (n, n_features)
    """
    n_classes = class_weights.shape[1]
    states = {node.feature: node.states for node in nodes}
    # Where there are no classes, what does not change cancels out.
    told = nodes if n_classes > 1 else tuple(node for node in nodes if node.feature in mediators)
    total = np.full(len(groups), -np.inf)
    with np.errstate(divide="ignore"):
        for one in range(n_classes):
            logs = np.log(class_weights[groups, one])
            own = groups * n_classes + one
            for node in told:
                cells = points[:, node.feature]
                above: np.ndarray | int = 0
                if node.parents:
                    above = states[node.parents[0]][points[:, node.parents[0]]]
                logs = logs + np.log(node.table[own, above, node.states[cells]])
                if node.within is not None:
                    logs = logs + np.log(node.within[own, cells])
            total = np.logaddexp(total, logs)
    return total


def _of_rows(rows: EmpiricalPopulation, favored: int, mediators: Collection[int]) -> Mediated:
    groups, points, weights = rows.support
    together = np.unique(points[:, sorted(mediators)], axis=0, return_inverse=True)[1].ravel()
    counts = np.zeros((rows.n_groups, int(together.max(initial=0)) + 1))
    np.add.at(counts, (groups, together), weights)
    shares = counts / counts.sum(axis=1, keepdims=True)
    held = counts > 0
    ratio = np.where(held, shares[favored] / np.where(held, shares, 1.0), 0.0)
    unknown = np.where(held, 0.0, shares[favored]).sum(axis=1)
    found, any_held = _weighted(rows, weights * ratio[groups, together])
    return Mediated(found, np.where(any_held, unknown, 1.0), _people(found))


def _weighted(rows: EmpiricalPopulation, weights: np.ndarray) -> tuple[EmpiricalPopulation, np.ndarray]:
    """The rows with other weights, and whether a group has any left; one that has none keeps its own."""
    groups, points, before = rows.support
    total = np.bincount(groups, weights=weights, minlength=rows.n_groups)
    held = total > 0
    weights = np.where(held[groups], weights, before)
    total = np.where(held, total, np.bincount(groups, weights=before, minlength=rows.n_groups))
    whole = np.rint(weights / total[groups] * _WHOLE).astype(np.int64)
    counts = Counts(rows.groups, rows.domain.sizes, groups, points, whole)
    return EmpiricalPopulation(counts, rows.domain, rows.sensitive), held


def _people(rows: EmpiricalPopulation) -> np.ndarray:
    groups, _, weights = rows.support
    shares = weights / rows.sizes[groups]
    return np.asarray(1.0 / np.bincount(groups, weights=shares**2, minlength=rows.n_groups))
