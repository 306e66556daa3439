"""A Bayesian network that somebody states: variables, the values they take, and a table for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import PopulationFileError
from justicia.population.networks.states import state_texts
from justicia.words import did_you_mean, listed, shown, value_text

if TYPE_CHECKING:
    import pandas as pd

    from justicia.population.networks.densities import Numeric
    from justicia.population.networks.states import State

__all__ = ["Network", "Variable", "checked_network", "checked_table"]

_LOOSE = 1e-6
"""Sums that are off by less, as published tables of few digits are, are made 1."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Variable:
    """One variable.

    Attributes
    ----------
    name : str
        Of the column.
    states : tuple of State
        Values, or ranges of numbers; they exclude each other.
    parents : tuple of str
    table : float64 array of shape (n_states of each parent, ..., n_states)
        Probability of each state given the states of the parents.
    """

    name: str
    states: tuple[State, ...]
    parents: tuple[str, ...]
    table: np.ndarray

    @property
    def texts(self) -> tuple[str, ...]:
        """Each state as text, as groups are named."""
        return tuple(state_texts(self.states))


@dataclass(frozen=True)
class Network:
    """Variables in topological order, parents first.

    Attributes
    ----------
    variables : dict of str to Variable
    name, sha256 : str or None
        Of the file that it was read from.
    numeric : dict of str to Numeric
        Variables that have a density and no states, parents first; variables with states do not depend on them.
    """

    variables: Mapping[str, Variable]
    name: str | None = None
    sha256: str | None = None
    numeric: Mapping[str, Numeric] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of all variables."""
        return [*self.variables, *self.numeric]

    def __getitem__(self, name: str) -> Variable:
        try:
            return self.variables[name]
        except KeyError:
            if name in self.numeric:
                raise PopulationFileError(
                    f"variable {shown(repr(name))} of the network {self.name or 'given'} has a density, and no states"
                ) from None
            raise PopulationFileError(
                f"the network {self.name or 'given'} has no variable {shown(repr(name))}"
                f"{did_you_mean(name, self.names)}"
            ) from None

    @cached_property
    def children(self) -> dict[str, list[str]]:
        """Variables that depend on each one."""
        found: dict[str, list[str]] = {name: [] for name in self.variables}
        for variable in self.variables.values():
            for parent in variable.parents:
                found[parent].append(variable.name)
        return found

    def sample(
        self, rows: int, group: Mapping[str, Any] | None = None, random_state: int | np.random.Generator | None = None
    ) -> pd.DataFrame:
        """Draw people with every variable.

        Parameters
        ----------
        rows : int
        group : mapping from variable to state, optional
            What they have in common; everybody when left out.
        random_state : int or Generator, optional

        Returns
        -------
        DataFrame of shape (rows, n_variables)

        Raises
        ------
        PopulationFileError
            When nobody is in the group.
        """
        from justicia.population_files import population_of_network

        wanted = {name: value_text(value) for name, value in (group or {}).items()}
        return population_of_network(self, group=wanted).sample(rows, wanted, random_state)

    def ancestors(self, names: Sequence[str]) -> set[str]:
        """These variables, and all that they depend on."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self[name].parents
        return found

    def __repr__(self) -> str:
        return f"<Network of {len(self.names)} variables: {listed(self.names, 5)}>"


def checked_network(variables: Sequence[Variable]) -> Network:
    """The network of some variables.

    Raises
    ------
    PopulationFileError
        When a parent is no variable, a name is given twice, or variables depend on each other in a circle.
    """
    named = {variable.name: variable for variable in variables}
    if len(named) < len(variables):
        names = [variable.name for variable in variables]
        twice = next(name for name in names if names.count(name) > 1)
        raise PopulationFileError(f"variable {shown(repr(twice))} is given twice")
    if not named:
        raise PopulationFileError("the network has no variable")
    for variable in variables:
        for parent in variable.parents:
            if parent not in named:
                raise PopulationFileError(
                    f"variable {shown(repr(variable.name))} has the parent {shown(repr(parent))}, which is no variable"
                    f"{did_you_mean(parent, named)}"
                )
    try:
        order = list(TopologicalSorter({name: variable.parents for name, variable in named.items()}).static_order())
    except CycleError as error:
        circle = " -> ".join(shown(name, 40) for name in error.args[1])
        raise PopulationFileError(f"variables depend on each other in a circle: {circle}") from None
    return Network({name: named[name] for name in order})


def checked_table(
    name: str, states: Sequence[str], parents: Mapping[str, Sequence[str]], table: np.ndarray
) -> np.ndarray:
    """A variable's table with sums of 1.

    Parameters
    ----------
    name : str
        Of the variable.
    states : sequence of str
    parents : mapping of str to sequence of str
        States of each parent.
    table : float64 array of shape (n_states of each parent, ..., n_states)

    Raises
    ------
    PopulationFileError
        When numbers are no probabilities, or do not sum to 1.
    """
    if not np.isfinite(table).all() or (table < 0).any() or (table > 1 + _LOOSE).any():
        raise PopulationFileError(f"the table of {shown(repr(name))} holds a number that is no probability")
    sums = table.sum(axis=-1, keepdims=True)
    off = np.abs(sums - 1.0)
    if off.max() > _LOOSE:
        place = np.unravel_index(int(np.argmax(off)), off.shape)
        given = ", ".join(
            f"{shown(parent, 40)} {shown(held[int(at)], 40)}"
            for (parent, held), at in zip(parents.items(), place, strict=False)
        )
        where = f" given {given}" if given else ""
        raise PopulationFileError(
            f"the table of {shown(repr(name))} does not sum to 1{where}: it sums to {sums[place]:.9g}"
        )
    return np.asarray(table / sums) if off.max() > _ROUNDING else table
