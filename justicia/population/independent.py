"""Features independent given the group: the assumption of the Justicia paper (Ghosh, Basu and Meel, AAAI 2021)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from justicia.population.base import Node
from justicia.population.network import NetworkPopulation

if TYPE_CHECKING:
    from justicia.population.counts import Counts
    from justicia.population.domain import Domain

__all__ = ["fit_independent", "frequency_node"]


def frequency_node(counts: Counts, feature: int, rows: np.ndarray) -> Node:
    """A node without parents that holds the plain frequencies k / n of each group."""
    cells = counts.of_feature(feature)
    table = (cells / np.where(rows > 0, rows, 1)[:, None])[:, None, :]
    return Node(feature, (), table, np.arange(cells.shape[1]), None)


def fit_independent(
    counts: Counts, domain: Domain, sensitive: tuple[str, ...], fixed: frozenset[str] = frozenset()
) -> NetworkPopulation:
    """Fit plain frequencies k / n of each group, without smoothing, so that anyone can recompute them."""
    rows = counts.rows()
    nodes = tuple(frequency_node(counts, feature, rows) for feature in range(len(domain.features)))
    return NetworkPopulation("independent", domain, sensitive, counts.group_keys, rows, nodes)
