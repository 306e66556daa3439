"""Groups of a stated network, and a population file of them."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import PopulationFileError
from justicia.population.domain import Domain, Feature
from justicia.population.networks.elimination import given_sensitive
from justicia.population.networks.population import population_of
from justicia.population.networks.ranges import grids_of
from justicia.population.networks.states import edges_of, feature_of, group_texts, with_both_ends
from justicia.population.stored.file import PopulationFile, StoredGrouping, StoredLabel, Table
from justicia.words import counted, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from justicia.population.networks.declared import Network
    from justicia.population.networks.population import GivenNetwork

__all__ = ["MOST_GROUPS", "States", "check_possible", "file_of_network", "for_columns", "numbers_of"]

logger = logging.getLogger(__name__)

MOST_GROUPS = 1 << 15
"""Groups that are listed one by one."""


class States:
    """The sensitive variables of a grouping and their states, as a table writes them.

    Parameters
    ----------
    network : Network
    sensitive : sequence of str
    people : DataFrame, optional
        The table that holds the columns.

    Attributes
    ----------
    sensitive : tuple of str
    texts : dict of str to list of str
        States of each column as groups are named.
    """

    def __init__(self, network: Network, sensitive: Sequence[str], people: pd.DataFrame | None) -> None:
        for name in sensitive:
            if name in network.numeric:
                raise PopulationFileError(
                    f"the sensitive column {name!r} has a density in the network {network.name or 'given'}, and groups "
                    "are states: state it in ranges, and let the others depend on these"
                )
            if name not in network.variables:
                raise PopulationFileError(
                    f"the network {network.name or 'given'} has no variable for the sensitive column {name!r}"
                    f"{did_you_mean(name, network.variables)}: name others with --sensitive, or add it"
                )
        self.sensitive = tuple(sensitive)
        self.texts = {
            name: group_texts(name, network[name].states, None if people is None else people.get(name))
            for name in sensitive
        }

    @property
    def n_groups(self) -> int:
        """Groups that can be named, whether they are possible or not."""
        return math.prod(map(len, self.texts.values()))

    def all(self) -> list[tuple[str, ...]]:
        """All of them."""
        return list(product(*self.texts.values()))

    def codes(self, groups: Sequence[tuple[str, ...]]) -> dict[str, np.ndarray]:
        """State of each sensitive column in some groups, int arrays of shape (n_groups,)."""
        found = {}
        for place, name in enumerate(self.sensitive):
            at = {text: state for state, text in enumerate(self.texts[name])}
            found[name] = np.array([at[group[place]] for group in groups], dtype=np.int64)
        return found

    def knows(self, group: tuple[str, ...]) -> bool:
        """Whether every value of a group is a state."""
        return all(value in self.texts[name] for name, value in zip(self.sensitive, group, strict=True))


def file_of_network(
    network: Network, groupings: Sequence[Sequence[str]], people: pd.DataFrame | None = None
) -> PopulationFile:
    """A population file of the groups alone; `for_columns` adds what is asked for.

    Parameters
    ----------
    network : Network
    groupings : sequence of sequence of str
        Sensitive columns.
    people : DataFrame, optional
        The table whose columns the variables are; all variables are columns when it is left out.

    Raises
    ------
    PopulationFileError
        When a sensitive column is no variable, or all groups are impossible.
    """
    columns = [name for name in network.variables if people is None or name in people.columns]
    # All numbers at which something changes, for the encoder to look at.
    features = [
        feature_of(name, with_both_ends(network[name].states), None if people is None else people[name])[0]
        for name in columns
    ]
    numeric = [name for name in network.numeric if people is None or name in people.columns]
    features += numbers_of(network, numeric, few=True)
    held = []
    for sensitive in groupings:
        states = States(network, sensitive, people)
        few = states.n_groups <= MOST_GROUPS
        held.append(StoredGrouping(states.sensitive, _everybody(network, states, states.all() if few else [], {})))
    sensitive_names = {name for names in groupings for name in names}
    bins = {name: edges for name in sensitive_names if (edges := edges_of(network[name].states)) is not None}
    source = Table(network.name, network.sha256, 0)
    return PopulationFile(
        Domain(tuple(features)), tuple(held), source, (*columns, *numeric), None, bins,
        name=network.name, sha256=network.sha256, network=network,
    )  # fmt: skip


def numbers_of(network: Network, names: Collection[str], *, few: bool) -> list[Feature]:
    """Features of numeric variables, for the encoder to look at: few numbers of each, or many."""
    return [
        Feature(name, ("",) * (len(grid) + 1), (*grid.tolist(), grid[-1]), grid)
        for name, grid in grids_of(network, names, few=few).items()
    ]


def for_columns(
    file: PopulationFile,
    wanted: Collection[str],
    people: pd.DataFrame | None = None,
    only: Mapping[tuple[str, ...], Sequence[tuple[str, ...]]] | None = None,
    outcome: tuple[str, tuple[str, ...], tuple[str, ...]] | None = None,
    cells: Network | None = None,
) -> PopulationFile:
    """The same file with the distribution of some columns in each group.

    Parameters
    ----------
    file : PopulationFile
        Of a network.
    wanted : collection of str
        Columns.
    people : DataFrame, optional
    only : mapping of tuple of str to sequence of group, optional
        For a grouping, the groups that are wanted.
    outcome : (str, tuple of str, tuple of str), optional
        Column of the true outcome, favorable values and others: populations of these people, too.
    cells : Network, optional
        The same network, with ranges whose edges are those of a model.

    Raises
    ------
    PopulationFileError
        When there are too many groups, or the network's variables hang together too closely.
    """
    network = file.network
    if network is None:
        return file
    cells = network if cells is None else cells
    columns = {
        name: feature_of(name, cells[name].states, None if people is None else people.get(name))
        for name in network.variables
        if name in wanted
    }
    held = []
    for grouping in file.groupings:
        states = States(network, grouping.sensitive, people)
        chosen = None if only is None else only.get(grouping.sensitive)
        if chosen is None and states.n_groups > MOST_GROUPS:
            raise PopulationFileError(
                f"{counted(states.n_groups, 'group')} of {' x '.join(grouping.sensitive)} are too many to look at one "
                "by one: pass --search learn, or name fewer sensitive columns"
            )
        groups = list(grouping.everybody.groups if chosen is None else chosen)
        everybody = _everybody(network, states, groups, columns)
        everybody.of_groups = None if chosen is None else states.n_groups
        strata: dict[str, Any] = {}
        if outcome is not None and outcome[0] in network.variables and outcome[0] not in grouping.sensitive:
            for kind, values in (("favorable", outcome[1]), ("unfavorable", outcome[2])):
                strata[kind] = _of_outcome(network, states, groups, columns, people, outcome[0], values)
        held.append(StoredGrouping(grouping.sensitive, everybody, **strata))
    label = StoredLabel(*outcome) if outcome is not None and all(one.favorable for one in held) else None
    return replace(file, groupings=tuple(held), label=label)


def check_possible(file: PopulationFile, group: Mapping[str, str]) -> None:
    """Refuse values of sensitive variables that nobody has together.

    Raises
    ------
    PopulationFileError
    """
    network = file.network
    if network is None or not group:
        return
    for name, value in group.items():
        if value not in network[name].texts:
            raise PopulationFileError(
                f"variable {name!r} has no state {value!r}{did_you_mean(value, network[name].texts)}"
            )
    states = States(network, list(group), None)
    code = states.codes([tuple(group.values())])
    if given_sensitive(network, states.sensitive, ()).shares(code, 1)[0] == 0:
        words = ", ".join(f"{name} {value}" for name, value in group.items())
        raise PopulationFileError(f"the group {words} has probability 0 in the network {network.name or 'given'}")


def _of_outcome(
    network: Network,
    states: States,
    groups: Sequence[tuple[str, ...]],
    columns: Mapping[str, tuple[Feature, np.ndarray]],
    people: pd.DataFrame | None,
    column: str,
    values: tuple[str, ...],
) -> GivenNetwork | None:
    """The population of people with a true outcome, where it is one state of the network."""
    texts = group_texts(column, network[column].states, None if people is None else people.get(column))
    if len(values) != 1 or values[0] not in texts:
        return None
    return _of_groups(network, states, groups, columns, {column: texts.index(values[0])})


def _everybody(
    network: Network,
    states: States,
    groups: Sequence[tuple[str, ...]],
    columns: Mapping[str, tuple[Feature, np.ndarray]],
) -> GivenNetwork:
    population = _of_groups(network, states, groups, columns)
    if population is None:
        raise TypeError("groups without a fixed state have a population")
    return population


def _of_groups(
    network: Network,
    states: States,
    groups: Sequence[tuple[str, ...]],
    columns: Mapping[str, tuple[Feature, np.ndarray]],
    fixed: Mapping[str, int] | None = None,
) -> GivenNetwork | None:
    """The population of those of some groups that there are; None where nobody has the fixed states."""
    fixed = fixed or {}
    conditionals = given_sensitive(network, (*states.sensitive, *fixed), list(columns))
    codes = states.codes(groups) | {name: np.full(len(groups), state) for name, state in fixed.items()}
    shares = conditionals.shares(codes, len(groups))
    kept = np.flatnonzero(shares > 0)
    if fixed and not len(kept):
        return None
    if groups and not len(kept):
        raise PopulationFileError(
            f"every group of {' x '.join(states.sensitive)} has probability 0 in the network {network.name or 'given'}"
        )
    declared = {name: list(network[name].parents) for name in columns if network[name].parents}
    made = population_of(
        conditionals, columns, states.sensitive, tuple(groups[place] for place in kept.tolist()),
        {name: code[kept] for name, code in codes.items()}, declared,
    )  # fmt: skip
    made.fixed = fixed
    return made
