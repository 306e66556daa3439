"""The default population: what it depends on is chosen by the number of rows a group.

- A forest: the maximum spanning forest of the mutual information given the sensitive columns one by one (Chow and Liu
  1968), without edges that chance alone would show, over features cut into `FEW_STATES` states.
- From `LARGE_GROUP` rows a group on, `MANY_STATES` states, and a latent root of two classes above the forest
  (`justicia.population.latent`).
- Tables of a group are steadied by what its sensitive columns say one by one (`justicia.population.shrinkage`).
- The rows themselves: in a group of n rows, a person is one of them with probability n / (n + `CONCENTRATION`), and
  drawn from the forest otherwise. That is the mean of a Dirichlet process around the forest (Ferguson 1973): what the
  structure misses matters in small groups only, and the more rows a group has, the nearer the population is to them.

Features that are sensitive columns have plain frequencies, in every class: they are constant given the group, or vary
inside their own bin only, and must not leak out of it. Cells that no row holds keep probability 0 everywhere.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from justicia.population.base import Node
from justicia.population.empirical import EmpiricalPopulation
from justicia.population.latent import CLASSES, find_classes
from justicia.population.mixture import MixturePopulation
from justicia.population.network import NetworkPopulation
from justicia.population.shrinkage import frequencies, margins_of, shrunk, shrunk_within, summed
from justicia.population.tree import all_states, counted, given_state, promising, spanning_forest

if TYPE_CHECKING:
    from justicia.population.counts import Counts
    from justicia.population.domain import Domain

__all__ = ["CONCENTRATION", "LARGE_GROUP", "fit_auto"]

FEW_STATES = 3
"""Larger tables starve: rates of small groups err more by chance than by structure."""
MANY_STATES = 8
LARGE_GROUP = 500
CONCENTRATION = 50.0
"""People that the forest stands for beside the rows of a group."""
NULL_MULTIPLE = 2.0
"""An edge stays when its mutual information is this many times what chance alone gives on average."""


def fit_auto(
    counts: Counts, domain: Domain, sensitive: tuple[str, ...], fixed: frozenset[str] = frozenset()
) -> MixturePopulation:
    """Choose the structure, fit its tables.

    Parameters
    ----------
    counts : Counts
    domain : Domain
    sensitive : tuple of str
        Sensitive columns of the grouping; each group key holds one value a column.
    fixed : frozenset of str
        Features that are sensitive columns.

    Returns
    -------
    MixturePopulation
    """
    rows = counts.rows()
    large = rows.sum() >= LARGE_GROUP * len(rows)
    most = MANY_STATES if large else FEW_STATES
    states = all_states(counts, domain, most)
    margins = margins_of(counts.group_keys)
    order, parent = spanning_forest(_information(counts, states, margins))
    free = [feature for feature in order if domain.names[feature] not in fixed]
    n_classes = CLASSES if large and len(free) > 1 else 1
    tables: dict[int, np.ndarray] = {}
    weights = np.ones((len(rows), 1))
    if n_classes > 1:
        classes = find_classes(counts, states, parent, free, margins)
        tables = classes.tables
        weights = shrunk(classes.people[:, None, :], margins)[:, 0]
    nodes = []
    for feature in order:
        people = tables.get(feature)
        if people is None:
            people = counted(counts, feature, int(parent[feature]), states)[:, None]
        nodes.append(_node(counts, domain, feature, int(parent[feature]), states, margins, people, fixed, n_classes))
    keys = tuple((*key, str(one)) for key in counts.group_keys for one in range(n_classes))
    network = NetworkPopulation("auto", domain, (*sensitive, "class"), keys, np.repeat(rows, n_classes), tuple(nodes))
    description = _description(n_classes, int((parent >= 0).sum()))
    own = rows / (rows + CONCENTRATION)
    return MixturePopulation("auto", description, network, weights, EmpiricalPopulation(counts, domain, sensitive), own)


def _description(n_classes: int, n_edges: int) -> str:
    above = ["the group"]
    if n_classes > 1:
        above.append(f"one of {n_classes} latent classes (kinds of people found in the rows)")
    if n_edges:
        above.append("at most one other feature")
    causes = " and ".join([", ".join(above[:-1]), above[-1]] if len(above) > 1 else above)
    weight = f"a distribution that weighs as much as {CONCENTRATION:.0f} people"
    return f"the rows of each group and {weight}: each feature depends on {causes}"


def _node(
    counts: Counts,
    domain: Domain,
    feature: int,
    parent: int,
    states: list[np.ndarray],
    margins: list[np.ndarray],
    people: np.ndarray,
    fixed: frozenset[str],
    n_classes: int,
) -> Node:
    """One feature, its tables from counts of shape (n_groups, n_classes or 1, n_parent_states, n_states)."""
    of_states = states[feature]
    constant = domain.names[feature] in fixed
    n_groups, _, n_above, n_states = people.shape
    if constant:
        table = frequencies(people[:, 0])[:, None]
    else:
        table = shrunk(people.reshape(n_groups, -1, n_states), margins).reshape(people.shape)
    table = np.broadcast_to(table, (n_groups, n_classes, n_above, n_states)).reshape(-1, n_above, n_states)
    within = None
    if n_states < len(of_states):
        cells = counts.of_feature(feature)
        within = given_state(cells, of_states, frequencies) if constant else shrunk_within(cells, of_states, margins)
        within = np.repeat(within, n_classes, axis=0)
    return Node(feature, () if parent < 0 else (parent,), table, of_states, within)


def _information(counts: Counts, states: list[np.ndarray], margins: list[np.ndarray]) -> np.ndarray:
    """Mutual information of each pair of features, beyond its mean under independence, 0 where chance explains it.

    It is taken given each sensitive column alone, and averaged over the columns: groups are too small for it.
    """
    information = np.zeros((len(states), len(states)))
    wanted = promising(counts, states)
    # What is constant in every group tells nothing beside it.
    constant = [int((counts.of_feature(i, held) > 0).sum(axis=1).max(initial=0)) <= 1 for i, held in enumerate(states)]
    # So rare that among all pairs chance alone is expected to show one edge.
    deviations = NormalDist().inv_cdf(1 - min(1 / max(wanted.sum() / 2, 1), 0.5))
    for i in range(len(states)):
        for j in range(i):
            if wanted[i, j] and not (constant[i] or constant[j]):
                pairs = counts.of_pair(j, i, states)
                found = [_given_groups(summed(pairs, codes), deviations) for codes in margins]
                value, chance, most = np.mean(found, axis=0)
                if value > max(NULL_MULTIPLE * chance, most):
                    information[i, j] = information[j, i] = value - chance
    return information


def _given_groups(table: np.ndarray, deviations: float) -> tuple[float, float, float]:
    """Mutual information of X and Y given the group in nats, its mean and a quantile of it under independence.

    Times twice the number of people it is then distributed as chi-square (Miller 1955); quantiles by Wilson and
    Hilferty (1931).

    Parameters
    ----------
    table : int array of shape (n_groups, n_x, n_y)
    deviations : float
        The quantile, in standard deviations of a normal distribution.
    """
    rows = table.sum(axis=(1, 2))
    of_x, of_y = table.sum(axis=2), table.sum(axis=1)
    total = max(int(rows.sum()), 1)
    information = _plogp(table) + _plogp(rows) - _plogp(of_x) - _plogp(of_y)
    freedom = np.maximum((of_x > 0).sum(axis=1) - 1, 0) * np.maximum((of_y > 0).sum(axis=1) - 1, 0)
    degrees = max(int(freedom.sum()), 1)
    quantile = degrees * (1 - 2 / (9 * degrees) + deviations * math.sqrt(2 / (9 * degrees))) ** 3
    return information / total, degrees / (2 * total), quantile / (2 * total)


def _plogp(counts: np.ndarray) -> float:
    held = counts[counts > 0].astype(np.float64)
    return float(held @ np.log(held))
