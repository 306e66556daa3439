"""Draw people of a stated network that has numeric variables: every column, numbers by their densities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.population.networks.elimination import given_sensitive
from justicia.population.networks.gaussians import Component, Single, components_of, states_of
from justicia.population.networks.groups import States
from justicia.population.networks.population import population_of
from justicia.population.networks.ranges import without_densities
from justicia.population.networks.states import feature_of
from justicia.population.stored.drawing import drawn_values

if TYPE_CHECKING:
    import pandas as pd

    from justicia.population.networks.declared import Network

__all__ = ["NetworkPeople", "drawn_numbers"]


def drawn_numbers(one: Component | Single, choice: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Numbers of some people.

    Parameters
    ----------
    one : Component or Single
    choice : int array of shape (n,)
        Which choice of the scope's states each person has.
    rng : Generator

    Returns
    -------
    float64 array of shape (n, n_names)
    """
    if isinstance(one, Component):
        noise = rng.standard_normal((len(choice), one.loads.shape[2]))
        return np.asarray(one.mean[choice] + (one.loads[choice] @ noise[:, :, None])[:, :, 0])
    n_steps = one.steps.masses.shape[-1]
    below = np.cumsum(one.steps.masses.reshape(-1, n_steps), axis=1)
    edges = one.steps.edges.reshape(-1, n_steps + 1)
    found = np.empty(len(choice))
    for state in np.unique(choice).tolist():
        here = np.flatnonzero(choice == state)
        drawn = rng.random(len(here)) * below[state, -1]
        step = np.minimum(np.searchsorted(below[state], drawn, side="right"), n_steps - 1)
        low, high = edges[state][step], edges[state][step + 1]
        found[here] = np.clip(low + (high - low) * rng.random(len(here)), low, high)
    return found[:, None]


class NetworkPeople:
    """People of the groups of some sensitive columns.

    Parameters
    ----------
    network : Network
    sensitive : sequence of str
    groups : sequence of tuple of str
    table : DataFrame, optional
        Whose columns the variables are.
    fixed : mapping of str to int, optional
        States that everybody has.
    """

    def __init__(
        self,
        network: Network,
        sensitive: Sequence[str],
        groups: Sequence[tuple[str, ...]],
        table: pd.DataFrame | None = None,
        fixed: Mapping[str, int] | None = None,
    ) -> None:
        self._network, self._groups = network, tuple(groups)
        self._plain = without_densities(network)
        self._states = States(self._plain, sensitive, table)
        self._fixed = fixed or {}
        self._columns = {
            name: feature_of(name, variable.states, None if table is None else table.get(name))
            for name, variable in network.variables.items()
        }
        self._components = components_of(network, list(network.numeric))
        self._given = given_sensitive(self._plain, (*self._states.sensitive, *self._fixed), list(self._columns))

    def draw(self, points: np.ndarray, group: int, rng: np.random.Generator) -> pd.DataFrame:
        """As many people as there are points, of the group at position `group`.

        Cells of numbers do not say how people are spread inside of them, so that everybody is drawn anew.
        """
        import pandas as pd

        return pd.DataFrame(self.columns(self._groups[group], len(points), rng))

    def columns(self, key: tuple[str, ...], n: int, rng: np.random.Generator) -> dict[str, pd.Series[Any]]:
        """Columns of `n` people of a group, by name."""
        import pandas as pd

        codes = self._states.codes([key]) | {name: np.array([state]) for name, state in self._fixed.items()}
        population = population_of(self._given, self._columns, self._states.sensitive, (key,), codes, {})
        points = population.sample_points(0, n, rng)
        found, states = {}, {}
        for place, (name, (feature, of_cell)) in enumerate(self._columns.items()):
            states[name] = of_cell[points[:, place]]
            found[name] = drawn_values(feature, points[:, place], rng)
        for one in self._components:
            numbers = drawn_numbers(one, choices(self._network, one, states, n), rng)
            for place, name in enumerate(one.names):
                found[name] = pd.Series(numbers[:, place])
        return {name: found[name] for name in self._network.names}


def choices(network: Network, one: Component | Single, states: Mapping[str, np.ndarray], n: int) -> np.ndarray:
    """Which choice of a scope's states each person has, int array of shape (n,)."""
    found = np.zeros(n, dtype=np.int64)
    for name, size in zip(one.scope, states_of(network, one.scope), strict=True):
        found = found * size + states[name]
    return found
