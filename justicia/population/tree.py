"""A Chow-Liu tree given the group, with tables shrunk towards pooled ones.

Features are first cut into at most `MOST_STATES` states, which carry the dependence; the cells inside a state follow
the group's own, shrunk, distribution within the state. The tree is the maximum spanning forest of the mutual
information given the group (Chow and Liu 1968), or given each sensitive column alone where groups are too small to
measure it. A table of a group is its counts plus `PRIOR` people who follow the product of what each sensitive column
alone says; those tables in turn are shrunk by `PRIOR` towards the table of all people.

Features that are sensitive columns have plain frequencies: they are constant given the group, or vary inside their own
bin only, and must not leak out of it. Cells that no row holds keep probability 0 everywhere.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from justicia.population.base import Node
from justicia.population.network import NetworkPopulation
from justicia.population.shrinkage import divided, frequencies, summed

if TYPE_CHECKING:
    from collections.abc import Callable

    from justicia.population.counts import Counts
    from justicia.population.domain import Domain

__all__ = [
    "FEW_STATES",
    "MOST_STATES",
    "PRIOR",
    "SMALL_GROUP",
    "all_states",
    "coarse_states",
    "counted",
    "fit_tree",
    "given_state",
    "promising",
    "spanning_forest",
]

MOST_STATES = 24
FEW_STATES = 10
"""The same where groups are small: larger tables starve."""
PRIOR = 5.0
"""People that a prior table stands for."""
MANY_FEATURES = 150
PARTNERS = 10
"""With more features, each is compared with its most correlated partners only."""
SMALL_GROUP = 60
"""With fewer rows a group, states are few, and mutual information is measured given each sensitive column alone."""


def fit_tree(
    counts: Counts, domain: Domain, sensitive: tuple[str, ...], fixed: frozenset[str] = frozenset()
) -> NetworkPopulation:
    """Fit structure and tables.

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
    NetworkPopulation
    """
    rows = counts.rows()
    margins = _margins(counts.group_keys)
    most = FEW_STATES if rows.sum() < SMALL_GROUP * len(rows) else MOST_STATES
    states = all_states(counts, domain, most)
    order, parent = spanning_forest(_information(counts, states, margins, rows))
    nodes = []
    for feature in order:
        above = int(parent[feature])
        table = counted(counts, feature, above, states)
        estimate = frequencies if domain.names[feature] in fixed else partial(_shrunk, margins=margins)
        coarse = int(states[feature].max()) + 1 < len(states[feature])
        within = given_state(counts.of_feature(feature), states[feature], estimate) if coarse else None
        parents = () if above < 0 else (above,)
        nodes.append(Node(feature, parents, estimate(table), states[feature], within))
    return NetworkPopulation("tree", domain, sensitive, counts.group_keys, rows, tuple(nodes))


class Totals(Protocol):
    """What states are made of."""

    def totals(self, feature: int) -> np.ndarray:
        """People in each cell of a feature, int array of shape (n_cells,)."""
        ...


def all_states(counts: Totals, domain: Domain, most: int) -> list[np.ndarray]:
    """For each feature the state of each cell, as `coarse_states` has it."""
    return [
        coarse_states(counts.totals(i), feature.numeric, most, apart=feature.missing)
        for i, feature in enumerate(domain.features)
    ]


def counted(counts: Counts, feature: int, parent: int, states: list[np.ndarray]) -> np.ndarray:
    """People by group, state of the parent (one when it is -1) and state of the feature."""
    if parent < 0:
        return counts.of_feature(feature, states[feature])[:, None, :]
    return counts.of_pair(parent, feature, states)


def coarse_states(totals: np.ndarray, numeric: bool, most: int = MOST_STATES, apart: int | None = None) -> np.ndarray:
    """Map cells to at most `most` states of similar mass.

    A numeric feature's states are runs of neighbouring cells; of a categorical one the commonest cells stand alone
    and the rest share a state.

    Parameters
    ----------
    totals : int array of shape (n_cells,)
        People in each cell.
    apart : int, optional
        A cell that stands alone: missing values are no neighbours of large ones.

    Returns
    -------
    int array of shape (n_cells,)

    >>> coarse_states(np.array([5, 1, 1, 5]), numeric=True, most=3)
    array([0, 1, 1, 2])
    """
    n_cells = len(totals)
    if n_cells <= most:
        return np.arange(n_cells)
    if numeric and apart is not None:
        others = np.delete(np.arange(n_cells), apart)
        states = np.empty(n_cells, dtype=np.int64)
        states[others] = coarse_states(totals[others], numeric, most - 1)
        states[apart] = states[others].max() + 1
        return states
    if not numeric:
        states = np.full(n_cells, most - 1)
        if (totals > 0).sum() <= most:
            # Cells that no row holds need no state of their own.
            held = np.flatnonzero(totals > 0)
            states[:] = len(held) - 1
            states[held] = np.arange(len(held))
            return states
        common = np.sort(np.argsort(-totals, kind="stable")[: most - 1])
        states[common] = np.arange(most - 1)
        return states
    middle = (np.cumsum(totals) - totals / 2) / max(totals.sum(), 1)
    return np.unique(np.minimum((middle * most).astype(np.int64), most - 1), return_inverse=True)[1]


def _margins(group_keys: tuple[tuple[str, ...], ...]) -> list[np.ndarray]:
    """For each sensitive column of a compound grouping, the code of its value in each group."""
    if not group_keys or len(group_keys[0]) < 2:
        return []
    columns = np.array(group_keys, dtype=object).T
    return [np.unique(column.astype(str), return_inverse=True)[1] for column in columns]


def _information(counts: Counts, states: list[np.ndarray], margins: list[np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Mutual information of each pair of features given the group, in nats, of shape (n_features, n_features)."""
    information = np.zeros((len(states), len(states)))
    pairs_wanted = promising(counts, states)
    small = rows.sum() < SMALL_GROUP * len(rows) and bool(margins)
    for i in range(len(states)):
        for j in range(i):
            if not pairs_wanted[i, j]:
                continue
            pairs = counts.of_pair(j, i, states)
            tables = [summed(pairs, codes) for codes in margins] if small else [pairs]
            information[i, j] = information[j, i] = np.mean([_conditional_information(table) for table in tables])
    return information


def promising(counts: Counts, states: list[np.ndarray]) -> np.ndarray:
    """Pairs of features that are worth a look, bool array of shape (n_features, n_features).

    All pairs of up to `MANY_FEATURES`; of more, each feature's `PARTNERS` most correlated ones by their states' order.
    """
    n = len(states)
    if n <= MANY_FEATURES:
        return np.ones((n, n), dtype=bool)
    columns = np.stack([held[counts.points[:, i]] for i, held in enumerate(states)], axis=1).astype(np.float64)
    weights = counts.every_weight().astype(np.float64)
    columns -= np.average(columns, axis=0, weights=weights)
    spread = np.sqrt(np.average(columns**2, axis=0, weights=weights))
    columns /= np.where(spread > 0, spread, 1.0)
    likeness = np.abs((columns * weights[:, None]).T @ columns)
    np.fill_diagonal(likeness, -1.0)
    partners = np.argpartition(-likeness, PARTNERS, axis=1)[:, :PARTNERS]
    wanted = np.zeros((n, n), dtype=bool)
    wanted[np.arange(n)[:, None], partners] = True
    return wanted | wanted.T


def _conditional_information(table: np.ndarray) -> float:
    """Mutual information of X and Y inside the groups, averaged over groups by the square root of their rows.

    Each group's value is reduced by its mean under independence, degrees of freedom / 2n (Miller 1955), so that small
    groups do not see dependence where there is noise. The square root gives them a say beside large ones.

    Parameters
    ----------
    table : int array of shape (n_groups, n_x, n_y)
    """
    rows = table.sum(axis=(1, 2)).astype(np.float64)
    table, rows = table[rows > 0].astype(np.float64), rows[rows > 0]
    if not len(rows):
        return 0.0
    of_x, of_y = table.sum(axis=2), table.sum(axis=1)
    joint = _plogp(table).sum(axis=(1, 2)) + _plogp(rows)
    information = (joint - _plogp(of_x).sum(axis=1) - _plogp(of_y).sum(axis=1)) / rows
    freedom = ((of_x > 0).sum(axis=1) - 1) * ((of_y > 0).sum(axis=1) - 1)
    corrected = np.maximum(0.0, information - freedom / (2 * rows))
    return float(np.average(corrected, weights=np.sqrt(rows)))


def _plogp(counts: np.ndarray) -> np.ndarray:
    return np.where(counts > 0, counts * np.log(np.where(counts > 0, counts, 1.0)), 0.0)


def spanning_forest(weights: np.ndarray, least: float = 1e-12) -> tuple[list[int], np.ndarray]:
    """Maximum spanning forest by Prim's algorithm, rooted at the vertex of largest total weight in each tree.

    Parameters
    ----------
    weights : float array of shape (n, n), symmetric
    least : float
        Edges of this weight or less are left out.

    Returns
    -------
    order : list of int
        Vertices, parents before children.
    parent : int array of shape (n,)
        Parent of each vertex, -1 for roots.
    """
    n = len(weights)
    parent = np.full(n, -1)
    best = np.full(n, -np.inf)
    outside = np.ones(n, dtype=bool)
    importance = weights.sum(axis=1)
    order: list[int] = []
    for _ in range(n):
        candidate = int(np.argmax(np.where(outside, best, -np.inf)))
        if not outside[candidate] or best[candidate] <= least:
            candidate = int(np.argmax(np.where(outside, importance, -np.inf)))
            parent[candidate] = -1
        outside[candidate] = False
        order.append(candidate)
        closer = outside & (weights[candidate] > best)
        best[closer] = weights[candidate][closer]
        parent[closer] = candidate
    return order, parent


def _shrunk(table: np.ndarray, margins: list[np.ndarray]) -> np.ndarray:
    """Conditional probabilities of each group from counts of shape (n_groups, n_parent_states, n_states)."""
    pooled_counts = table.sum(axis=0)
    overall = pooled_counts.sum(axis=0)
    n_states = table.shape[-1]
    # A state that no row holds has mass 0 wherever it is used: its table only has to be one.
    overall = overall / overall.sum() if overall.sum() else np.full(n_states, 1 / n_states)
    pooled = divided(pooled_counts.astype(np.float64), overall)
    prior = np.broadcast_to(pooled, table.shape)
    if margins:
        prior = pooled[None].copy()
        with np.errstate(invalid="ignore", divide="ignore"):
            for codes in margins:
                of_value = summed(table, codes) + PRIOR * pooled
                of_value = of_value / of_value.sum(axis=-1, keepdims=True)
                prior = prior * np.where(pooled > 0, of_value / pooled, 0.0)[codes]
        prior = divided(prior, pooled)
    shrunk = table + PRIOR * prior
    return np.asarray(shrunk / shrunk.sum(axis=-1, keepdims=True))


def given_state(cells: np.ndarray, states: np.ndarray, estimate: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Probability of each cell given its state and group, of shape (n_groups, n_cells), by an estimate of tables."""
    within = np.zeros(cells.shape)
    for state in range(int(states.max()) + 1):
        inside = np.flatnonzero(states == state)
        within[:, inside] = estimate(cells[:, inside][:, None, :])[:, 0, :]
    return within
