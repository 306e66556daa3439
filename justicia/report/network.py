"""A stated network as a person reads it."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from justicia.population.networks.densities import Normal, Numeric, Steps
from justicia.report.population import grid, matrix
from justicia.words import counted, listed, shown

if TYPE_CHECKING:
    import numpy as np

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
    names = network.names if everything else [] if feature is None else [feature]
    chosen = [network.numeric[name] if name in network.numeric else network[name] for name in names]
    parts: list[RenderableType] = []
    if feature is None:
        title = f"Network {network.name or ''}".rstrip() + f": {counted(len(network.names), 'variable')}"
        parts += [Text(shown(title, 200), style="bold"), _variables(network)]
    for variable in chosen:
        made = _density(network, variable) if isinstance(variable, Numeric) else _table(network, variable, width)
        parts += [Text(""), made]
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
    for numeric in network.numeric.values():
        table.add_row(*(Text(shown(cell, 300)) for cell in (numeric.name, numeric.kind, listed(numeric.parents))))
    return table


def _density(network: Network, variable: Numeric) -> RenderableType:
    """Parameters, a line for each choice of the parents' states."""
    columns: dict[str, np.ndarray] = {}
    if isinstance(variable, Normal):
        columns = {"mean": variable.mean, "variance": variable.variance}
        columns |= {f"times {name}": slope for name, slope in variable.coefficients.items()}
    elif isinstance(variable, Steps) and variable.kind == "uniform":
        columns = {"from": variable.edges[..., 0], "to": variable.edges[..., 1]}
    elif isinstance(variable, Steps):
        edges = variable.edges.reshape(-1, variable.edges.shape[-1])[0].tolist()
        for step, (low, high) in enumerate(pairwise(edges)):
            columns[f"{low:g} to {high:g}"] = variable.masses[..., step]
    kind = variable.kind if variable.kind != "steps" else "probability between numbers, spread evenly"
    given = f" given {', '.join(variable.given)}" if variable.given else ""
    table = grid(*variable.given, *columns, right=tuple(columns))
    flat = [values.ravel() for values in columns.values()]
    for row, states in enumerate(product(*(network[name].texts for name in variable.given))):
        numbers = (f"{values[row]:.8g}" for values in flat)
        table.add_row(*(Text(shown(cell, 60)) for cell in (*states, *numbers)))
    return Group(Text(shown(f"{variable.name}{given}: {kind}", 200), style="bold"), table)


def _table(network: Network, variable: Variable, width: int) -> RenderableType:
    """Probability of each state, a column for each choice of the parents' states."""
    above = [network[parent].texts for parent in variable.parents]
    columns = [", ".join(one) for one in product(*above)] if above else ["probability"]
    title = f"{variable.name} given {', '.join(variable.parents)}" if above else variable.name
    numbers = variable.table.reshape(-1, len(variable.states)).T
    return matrix(title, variable.texts, columns, numbers, True, width)
