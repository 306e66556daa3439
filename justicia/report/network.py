"""A stated network as a person reads it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from justicia.report.population import grid, matrix
from justicia.words import counted, listed, shown

if TYPE_CHECKING:
    from justicia.population.networks import Network, Variable

__all__ = ["render_network"]

_LONGEST_LIST = 60


def render_network(
    network: Network, *, width: int, feature: str | None = None, everything: bool = False
) -> RenderableType:
    """The network as tables.

    Parameters
    ----------
    network : Network
    width : int
        Characters that a line may take.
    feature : str, optional
        The table of one variable, whole.
    everything : bool
        Whole tables of all variables.

    Raises
    ------
    PopulationFileError
        When there is no such variable.
    """
    chosen = list(network.variables.values()) if everything else [] if feature is None else [network[feature]]
    parts: list[RenderableType] = []
    if feature is None:
        title = f"Network {network.name or ''}".rstrip() + f": {counted(len(network.variables), 'variable')}"
        parts += [Text(shown(title, 200), style="bold"), _variables(network)]
    for variable in chosen:
        parts += [Text(""), _table(network, variable, width)]
    if not chosen:
        hint = "--feature NAME shows the table of a variable, --all those of all, --sensitive the groups of some"
        parts += [Text(""), Text(hint, style="dim")]
    return Group(*parts)


def _variables(network: Network) -> RenderableType:
    table = grid("variable", "states", "depends on")
    for variable in network.variables.values():
        states = f"{len(variable.states)}: {listed(variable.texts, 6)}"
        cells = (variable.name, shown(states, _LONGEST_LIST), listed(variable.parents))
        table.add_row(*(Text(shown(cell, 300)) for cell in cells))
    return table


def _table(network: Network, variable: Variable, width: int) -> RenderableType:
    """Probability of each state, a column for each choice of the parents' states."""
    above = [network[parent].texts for parent in variable.parents]
    columns = [", ".join(one) for one in product(*above)] if above else ["probability"]
    title = f"{variable.name} given {', '.join(variable.parents)}" if above else variable.name
    numbers = variable.table.reshape(-1, len(variable.states)).T
    return matrix(title, variable.texts, columns, numbers, True, width)
