"""Populations that mix others: in each group, the rows themselves and the classes of a latent root.

Each class of the root is a group of its own of a network population: group g and class c are its group g * n_classes
+ c. An engine answers those; the rate of a group is the weighted sum of the answers and of the rows' own rate
(`justicia.solvers.mixtures`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.population.base import Boxes, Node, Population
from justicia.population.network import NetworkPopulation

if TYPE_CHECKING:
    from justicia.population.empirical import EmpiricalPopulation

__all__ = ["MixturePopulation"]


class MixturePopulation(Population):
    """A weighted sum of the rows and of the classes of a network.

    Parameters
    ----------
    structure, description : str
    network : NetworkPopulation
        Its groups are those of the mixture, each `n_classes` times in a row.
    class_weights : float64 array of shape (n_groups, n_classes)
        Probability of each class in each group; sums to 1.
    rows : EmpiricalPopulation
    row_weights : float64 array of shape (n_groups,)
        Probability that a person is one of the rows.

    Attributes
    ----------
    network, class_weights, rows, row_weights
        As given.
    weights : float64 array of shape (n_groups, n_classes)
        Probability of each class of the network in each group; what is missing to 1 is the rows'.
    """

    def __init__(
        self,
        structure: str,
        description: str,
        network: NetworkPopulation,
        class_weights: np.ndarray,
        rows: EmpiricalPopulation,
        row_weights: np.ndarray,
    ) -> None:
        if network.n_groups != class_weights.size:
            raise ValueError(f"a network of {network.n_groups} groups for {class_weights.shape} groups and classes")
        self.structure = structure
        self._description = description
        self.network = network
        self.rows = rows
        self.row_weights = row_weights
        self.class_weights = class_weights
        self.weights = (1.0 - row_weights)[:, None] * class_weights
        self.domain = rows.domain
        self.sensitive = rows.sensitive
        self.groups = rows.groups
        self.sizes = rows.sizes

    @property
    def description(self) -> str:
        """What was chosen, in words."""
        return self._description

    @property
    def n_classes(self) -> int:
        """Classes of the latent root; 1 when there is none."""
        return int(self.weights.shape[1])

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Empty: the structure is that of `network`, by group and class."""
        return ()

    @property
    def parents(self) -> dict[str, list[str]]:
        """Names of the features that each dependent feature depends on beside the group and its class."""
        return self.network.parents

    def over(self, network: NetworkPopulation, rows: EmpiricalPopulation) -> MixturePopulation:
        """The same mixture of other parts."""
        return MixturePopulation(self.structure, self._description, network, self.class_weights, rows, self.row_weights)

    def beside(self, rows: EmpiricalPopulation, own: np.ndarray) -> MixturePopulation:
        """The same network, fitted to a sample, beside all rows.

        Parameters
        ----------
        rows : EmpiricalPopulation
        own : float64 array of shape (n_groups,)
            Probability that a person is one of the rows.
        """
        words = f"{self._description}, and whose tables are those of a sample of the rows"
        return MixturePopulation(self.structure, words, self.network, self.class_weights, rows, own)

    def of_class(self, one: int) -> NetworkPopulation:
        """One class of the network, in the mixture's own groups."""
        if self.n_classes == 1:
            chosen = self.network.nodes
        else:
            chosen = tuple(
                replace(
                    node,
                    table=node.table[one :: self.n_classes],
                    within=None if node.within is None else node.within[one :: self.n_classes],
                )
                for node in self.network.nodes
            )
        return NetworkPopulation(self.structure, self.domain, self.sensitive, self.groups, self.sizes, chosen)

    def combined(self, of_classes: np.ndarray, of_rows: np.ndarray) -> np.ndarray:
        """Probabilities of the mixture, float64 array of shape (..., n_groups).

        Parameters
        ----------
        of_classes : float64 array of shape (..., n_groups * n_classes)
            Probabilities in the network's groups.
        of_rows : float64 array of shape (..., n_groups)
        """
        split = of_classes.reshape(*of_classes.shape[:-1], *self.weights.shape)
        total = (split * self.weights).sum(axis=-1) + self.row_weights * of_rows
        # Where all parts say 0 or 1, no rounding of weights should show.
        everywhere = (split == 1.0).all(axis=-1) & (of_rows == 1.0)
        return np.asarray(np.where(everywhere, 1.0, np.minimum(total, 1.0)))

    def masses(self, boxes: Boxes, n_boxes: int) -> np.ndarray:
        """Probability of each box in each group, float64 array of shape (n_boxes, n_groups)."""
        return self.combined(self.network.masses(boxes, n_boxes), self.rows.masses(boxes, n_boxes))

    def sample_points(self, group: int, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw `n` domain points of a group, int array of shape (n, n_features)."""
        parts = np.append(self.weights[group], self.row_weights[group])
        counts = rng.multinomial(n, parts / parts.sum())
        drawn = [
            self.network.sample_points(group * self.n_classes + one, int(count), rng)
            for one, count in enumerate(counts[:-1])
        ]
        drawn.append(self.rows.sample_points(group, int(counts[-1]), rng))
        return rng.permutation(np.concatenate(drawn))
