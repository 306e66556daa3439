"""A stated network as a population of groups: a tree of its variables and of sets of them.

Where a variable is joined with several others, a node stands for the states of all of them together (a junction tree;
Lauritzen and Spiegelhalter 1988), so that each node has one parent at most and every engine takes the population as it
takes any tree. Such nodes are features of the domain that no model depends on; they come after the columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import PopulationFileError
from justicia.population.base import Node
from justicia.population.domain import Domain, Feature
from justicia.population.network import NetworkPopulation
from justicia.words import counted, listed

if TYPE_CHECKING:
    from justicia.population.networks.elimination import Conditional, Conditionals

__all__ = ["GivenNetwork", "population_of"]

_MOST_NUMBERS = 1 << 26
"""In all tables of all groups."""


class GivenNetwork(NetworkPopulation):
    """A population that somebody states.

    Parameters
    ----------
    shares : float64 array of shape (n_groups,)
        Probability of each group.
    declared : dict of str to list of str
        Parents of the columns in the network, as it is stated.
    n_columns : int
        Features of the domain that are columns; they come first.

    Attributes
    ----------
    of_groups : int or None
        Groups that these were found among by a search; None when they are all that there are.
    densities : str or None
        Of numeric variables that are seen as ranges here, in words.
    fixed : dict of str to int
        States that everybody has, of variables beside the sensitive ones.
    """

    of_groups: int | None = None
    densities: str | None = None
    fixed: Mapping[str, int] = MappingProxyType({})

    def __init__(
        self,
        domain: Domain,
        sensitive: tuple[str, ...],
        groups: tuple[tuple[str, ...], ...],
        nodes: tuple[Node, ...],
        shares: np.ndarray,
        declared: dict[str, list[str]],
        n_columns: int,
    ) -> None:
        super().__init__("network", domain, sensitive, groups, np.zeros(len(groups), dtype=np.int64), nodes)
        self._shares = shares
        self._declared = declared
        self.n_columns = n_columns

    @property
    def description(self) -> str:
        """What was given, in words."""
        found = "stated, not fitted on rows"
        if self.of_groups is not None:
            found += f"; of {self.of_groups:,} groups, those that may be extreme and those of the rows"
        return found if self.densities is None else f"{found}; {self.densities}"

    @property
    def shares(self) -> np.ndarray:
        """Probability of each group among the groups, float64 array of shape (n_groups,)."""
        total = float(self._shares.sum())
        return self._shares / total if total > 0 else self._shares

    @property
    def parents(self) -> dict[str, list[str]]:
        """Parents of the columns, as the network states them."""
        return self._declared

    def state_parents(self, declared: dict[str, list[str]]) -> None:
        """Say what the network states where other parents were put in their place."""
        self._declared = {name: held for name, held in {**self._declared, **declared}.items() if held}

    def sample_points(self, group: int, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw `n` points of a group, their cells of the columns, int array of shape (n, n_columns)."""
        return super().sample_points(group, n, rng)[:, : self.n_columns]


def population_of(
    conditionals: Conditionals,
    columns: Mapping[str, tuple[Feature, np.ndarray]],
    sensitive: tuple[str, ...],
    groups: tuple[tuple[str, ...], ...],
    codes: Mapping[str, np.ndarray],
    declared: dict[str, list[str]],
) -> GivenNetwork:
    """The population of some groups.

    Parameters
    ----------
    conditionals : Conditionals
        Of the columns given the sensitive variables.
    columns : mapping of str to (Feature, int array of shape (n_cells,))
        Features of the domain, sensitive ones too where a model may depend on them, and the state of each cell.
    sensitive : tuple of str
    groups : tuple of tuple of str
    codes : mapping of str to int array of shape (n_groups,)
        State of each sensitive variable.
    declared : dict of str to list of str
        Parents to report.

    Raises
    ------
    PopulationFileError
        When the tables of all groups would be too many numbers.
    """
    maker = _Maker(conditionals, columns, codes, len(groups), len(sensitive))
    nodes = maker.made()
    shares = conditionals.shares(codes, len(groups))
    return GivenNetwork(Domain(tuple(maker.features)), sensitive, groups, nodes, shares, declared, len(columns))


class _Maker:
    def __init__(
        self,
        conditionals: Conditionals,
        columns: Mapping[str, tuple[Feature, np.ndarray]],
        codes: Mapping[str, np.ndarray],
        n_groups: int,
        n_sensitive: int,
    ) -> None:
        self.features = [feature for feature, _ in columns.values()]
        self._cells = {name: cells for name, (_, cells) in columns.items()}
        self._place = {name: place for place, name in enumerate(columns)}
        self._variables = conditionals.variables
        self._sizes = conditionals.sizes
        self._codes = codes
        self._n_groups = n_groups
        self._n_sensitive = n_sensitive
        self._joint: dict[tuple[str, ...], int] = {}
        self._nodes: list[Node] = []
        self._n_numbers = 0

    def made(self) -> tuple[Node, ...]:
        """All nodes, parents first."""
        for name in self._cells:
            if name in self._codes:
                self._constant(name)
        position = {variable.name: place for place, variable in enumerate(self._variables)}
        joined = {max(one.above, key=position.__getitem__) for one in self._variables if len(one.above) > 1}
        by_name = {variable.name: variable for variable in self._variables}
        for variable in self._variables:
            table = self._table(variable)
            parent = self._joint_of(variable.above, by_name, position)
            if variable.name in joined:
                members = (*variable.above, variable.name)
                above, n_states = table.shape[1:]
                self._count(above * above * n_states, members)
                together = np.zeros((self._n_groups, above, above, n_states))
                together[:, np.arange(above), np.arange(above)] = table
                if variable.above:
                    parent = self._set(members, parent, together.reshape(self._n_groups, above, -1))
                    table = self._projection(members, (variable.name,))
            self._own(variable.name, parent, table)
        return tuple(self._nodes)

    def _constant(self, name: str) -> None:
        """A sensitive column is what the group says."""
        table = np.zeros((self._n_groups, 1, self._sizes[name]))
        table[np.arange(self._n_groups), 0, self._codes[name]] = 1.0
        self._node(self._place[name], None, table, self._cells[name])

    def _own(self, name: str, parent: int | None, table: np.ndarray) -> None:
        """The node of a variable."""
        if name not in self._place:
            # Hidden: no column of the table.
            self._place[name] = self._new(name, self._sizes[name])
            self._cells[name] = np.arange(self._sizes[name])
        self._joint[name,] = self._place[name]
        self._node(self._place[name], parent, table, self._cells[name])

    def _joint_of(
        self, names: tuple[str, ...], by_name: Mapping[str, Conditional], position: Mapping[str, int]
    ) -> int | None:
        """The node of the states of some variables together."""
        if not names:
            return None
        if names not in self._joint:
            # They are all in the set of the one among them that comes last.
            last = by_name[max(names, key=position.__getitem__)]
            members = (*last.above, last.name)
            self._set(names, self._joint[members], self._projection(members, names))
        return self._joint[names]

    def _set(self, members: tuple[str, ...], parent: int | None, table: np.ndarray) -> int:
        place = self._new(" x ".join(members), table.shape[2])
        self._joint[members] = place
        self._node(place, parent, table, np.arange(table.shape[2]))
        return place

    def _new(self, name: str, n_states: int) -> int:
        taken = {feature.name for feature in self.features}
        while name in taken:
            name = f"({name})"
        self.features.append(Feature(name, tuple(map(str, range(n_states))), (None,) * n_states))
        return len(self.features) - 1

    def _node(self, place: int, parent: int | None, table: np.ndarray, cells: np.ndarray) -> None:
        self._count(table.shape[1] * table.shape[2], (self.features[place].name,))
        self._nodes.append(Node(place, () if parent is None else (parent,), table, cells, None))

    def _count(self, numbers: int, names: Sequence[str]) -> None:
        self._n_numbers += numbers * self._n_groups
        if self._n_numbers > _MOST_NUMBERS:
            raise PopulationFileError(
                f"the tables of {counted(self._n_groups, 'group')} would hold more than {_MOST_NUMBERS:,} numbers, "
                f"with those of {listed(names, 8)}: name fewer than {self._n_sensitive} sensitive columns, or give the "
                "network fewer states or parents"
            )

    def _table(self, variable: Conditional) -> np.ndarray:
        """Tables of all groups given all variables that it is joined with, of shape (n_groups, n_above, n_states)."""
        sizes = [self._sizes[name] for name in variable.above]
        self._count(math.prod(sizes) * self._sizes[variable.name], (*variable.above, variable.name))
        table = variable.of_groups(self._codes, self._n_groups)
        given = [name for name in variable.given if name not in variable.sensitive]
        order = [given.index(name) + 1 for name in variable.above if name in given]
        table = table.transpose(0, *order, table.ndim - 1)
        shape = [self._sizes[name] if name in given else 1 for name in variable.above]
        table = table.reshape(self._n_groups, *shape, -1)
        whole = np.broadcast_to(table, (self._n_groups, *sizes, table.shape[-1]))
        return whole.reshape(self._n_groups, -1, table.shape[-1])

    def _projection(self, members: tuple[str, ...], names: tuple[str, ...]) -> np.ndarray:
        """Which states of some variables together go with states of all of them."""
        sizes = [self._sizes[name] for name in members]
        at = dict(zip(members, np.unravel_index(np.arange(math.prod(sizes)), sizes), strict=True))
        found = np.zeros(math.prod(sizes), dtype=np.int64)
        for name in names:
            found = found * self._sizes[name] + at[name]
        n_states = math.prod(self._sizes[name] for name in names)
        self._count(len(found) * n_states, names)
        table = np.zeros((len(found), n_states))
        table[np.arange(len(found)), found] = 1.0
        return np.broadcast_to(table, (self._n_groups, *table.shape))
