"""What every population offers, whatever its structure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from justicia.errors import InputError
from justicia.words import did_you_mean, listed, value_text

if TYPE_CHECKING:
    import pandas as pd

    from justicia.enclosure import Enclosure
    from justicia.population.domain import Domain

__all__ = ["Box", "Boxes", "Draws", "Node", "Population"]

Box = Sequence["np.ndarray | None"]
"""A set of cells a feature: a bool array of shape (n_cells,), or None for every cell."""

Boxes = Sequence["np.ndarray | None"]
"""Many boxes at once: per feature a bool array of shape (n_boxes, n_cells), or None where no box has a condition."""


@dataclass(frozen=True)
class Node:
    """One feature in the structure of a population.

    Attributes
    ----------
    feature : int
        Position in the domain.
    parents : tuple of int
        Features that it depends on beside the group.
    table : float64 array of shape (n_groups, n_parent_states, n_states)
        Probability of each state given group and parent state.
    states : int array of shape (n_cells,)
        State of each cell: a coarse bin.
    within : float64 array of shape (n_groups, n_cells), or None
        Probability of each cell given its state and group; None when every state is one cell.
    """

    feature: int
    parents: tuple[int, ...]
    table: np.ndarray
    states: np.ndarray
    within: np.ndarray | None


class Draws(Protocol):
    """Turns points into rows of a frame."""

    def draw(self, points: np.ndarray, group: int, rng: np.random.Generator) -> pd.DataFrame:
        """One person a point, of the group at position `group`."""
        ...


class Population(ABC):
    """A probability distribution over the domain for each group.

    Attributes
    ----------
    structure : str
        Name of the structure.
    domain : Domain
    sensitive : tuple of str
        Sensitive columns of the grouping.
    groups : tuple of tuple of str
        Groups, each with at least one row.
    sizes : int array of shape (n_groups,)
        Rows of each group; 0 where the population was not fitted on rows.
    people : Draws or None
        Turns points into rows of a frame; set by `verify`.
    rest : Enclosure or None
        Where groups were searched for and time ran out: holds the rates that a model has in all groups that are not
        among these.
    """

    structure: str
    domain: Domain
    sensitive: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    sizes: np.ndarray
    people: Draws | None = None
    rest: Enclosure | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.groups)

    @property
    def shares(self) -> np.ndarray:
        """Share of each group among all people, float64 array of shape (n_groups,)."""
        total = self.sizes.sum()
        return np.asarray(self.sizes / (total if total > 0 else 1))

    @property
    def description(self) -> str | None:
        """What was chosen, in words, where the structure's name does not say it all."""
        return None

    def possible(self) -> list[np.ndarray] | None:
        """For each feature, which cells have people in some group; None where the nodes or the people say it."""
        return None

    @property
    @abstractmethod
    def parents(self) -> dict[str, list[str]]:
        """Names of the features that each dependent feature depends on beside the group."""

    @property
    @abstractmethod
    def nodes(self) -> tuple[Node, ...]:
        """The structure in topological order, parents first; empty when there is none."""

    @property
    def support(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Groups, points and weights when the population is a finite list of people; else None."""
        return None

    @abstractmethod
    def masses(self, boxes: Boxes, n_boxes: int) -> np.ndarray:
        """Probability of each box in each group, float64 array of shape (n_boxes, n_groups)."""

    def mass(self, box: Box) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bound of the probability of one box, float64 arrays of shape (n_groups,).

        The two are equal when every cell of the population lies in one cell of the domain.
        """
        masses = self.masses([None if cells is None else np.asarray(cells, dtype=bool)[None] for cells in box], 1)[0]
        return masses, masses.copy()

    @abstractmethod
    def sample_points(self, group: int, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw `n` domain points of a group, int array of shape (n, n_features)."""

    def index(self, group: Mapping[str, Any] | Sequence[Any]) -> int:
        """Position of a group.

        Raises
        ------
        InputError
            When the population has no such group.
        """
        if isinstance(group, Mapping):
            if set(group) != set(self.sensitive):
                raise InputError(f"a group names {listed(self.sensitive)}, not {listed(group)}")
            key = tuple(value_text(group[name]) for name in self.sensitive)
        else:
            key = tuple(value_text(value) for value in group)
        try:
            return self.groups.index(key)
        except ValueError:
            texts = [", ".join(group) for group in self.groups]
            raise InputError(f"no group {', '.join(key)}{did_you_mean(', '.join(key), texts)}") from None

    def sample(
        self, group: Mapping[str, Any] | Sequence[Any], n: int, random_state: int | np.random.Generator | None = None
    ) -> pd.DataFrame:
        """Draw people of a group.

        Parameters
        ----------
        group : mapping from sensitive column to value, or the values in the grouping's order
        n : int
        random_state : int or Generator, optional

        Returns
        -------
        DataFrame of shape (n, n_columns)
            Every column that the model's `predict` takes, so that an answer can be checked by Monte Carlo.
        """
        if self.people is None:
            raise InputError("this population was fitted without a table: it draws points, not people")
        if n < 0:
            raise InputError(f"{n} people cannot be drawn")
        rng = np.random.default_rng(random_state)
        position = self.index(group)
        return self.people.draw(self.sample_points(position, n, rng), position, rng)
