"""The rows themselves as the population: what AIF360 and Fairlearn compute. Exact, and the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from justicia.population.base import Boxes, Node, Population

if TYPE_CHECKING:
    from justicia.population.counts import Counts
    from justicia.population.domain import Domain

__all__ = ["EmpiricalPopulation", "fit_empirical"]


class EmpiricalPopulation(Population):
    """Every counted person has the same probability within the group; no smoothing."""

    structure = "empirical"

    def __init__(self, counts: Counts, domain: Domain, sensitive: tuple[str, ...]) -> None:
        self.domain = domain
        self.sensitive = sensitive
        self.groups = counts.group_keys
        self.sizes = counts.rows()
        self._counts = counts

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Empty: the rows have no structure."""
        return ()

    @property
    def parents(self) -> dict[str, list[str]]:
        """Empty: the rows have no structure."""
        return {}

    @property
    def support(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Groups, points and weights of the counted people."""
        weights = self._counts.weights
        if weights is None:
            weights = np.ones(len(self._counts.groups), dtype=np.int64)
        return self._counts.groups, self._counts.points, weights

    def masses(self, boxes: Boxes, n_boxes: int) -> np.ndarray:
        """Share of each group's people in each box, float64 array of shape (n_boxes, n_groups)."""
        groups, points, weights = self.support
        masses = np.empty((n_boxes, self.n_groups))
        for box in range(n_boxes):
            inside = np.ones(len(groups), dtype=bool)
            for feature, cells in enumerate(boxes):
                if cells is not None:
                    inside &= cells[box][points[:, feature]]
            kept = np.bincount(groups[inside], weights=weights[inside], minlength=self.n_groups)
            masses[box] = kept / np.where(self.sizes > 0, self.sizes, 1)
        return masses

    def sample_points(self, group: int, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw `n` of the group's points with replacement, int array of shape (n, n_features)."""
        groups, points, weights = self.support
        members = np.flatnonzero(groups == group)
        share = weights[members] / weights[members].sum()
        return points[rng.choice(members, size=n, p=share)]


def fit_empirical(
    counts: Counts, domain: Domain, sensitive: tuple[str, ...], fixed: frozenset[str] = frozenset()
) -> EmpiricalPopulation:
    """The counted people as they are."""
    return EmpiricalPopulation(counts, domain, sensitive)
