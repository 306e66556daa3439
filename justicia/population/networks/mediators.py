"""A stated network whose mediators are distributed as in one group of people, and all else as it was.

A mediator's table is the one that it has where its sensitive parents have the favored group's values, whatever values
the person's own group has. That is the change of a path-specific effect (Nabi and Shpitser 2018): what the sensitive
columns do by way of these variables is what they do in the favored group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from justicia.errors import PopulationFileError
from justicia.population.networks.declared import Network
from justicia.words import listed

__all__ = ["changed_network"]


def changed_network(network: Network, mediators: Sequence[str], group: Mapping[str, int]) -> Network:
    """The network with the tables of its mediators replaced.

    Parameters
    ----------
    network : Network
    mediators : sequence of str
        Variables.
    group : mapping of str to int
        State of each sensitive variable in the favored group.

    Raises
    ------
    PopulationFileError
        When a sensitive column depends on a mediator: then nothing goes from it to the model by way of that.
    """
    above = network.ancestors(list(group))
    wrong = [name for name in mediators if name in above]
    if wrong:
        raise PopulationFileError(
            f"in the network {network.name or 'given'} the sensitive columns {listed(group)} depend on "
            f"{listed(wrong)}: that is no mediator, so leave it out of --mediators"
        )
    variables = dict(network.variables)
    for name in mediators:
        variable, table = variables[name], variables[name].table
        for place in reversed(range(len(variable.parents))):
            if variable.parents[place] in group:
                table = np.take(table, group[variable.parents[place]], axis=place)
        parents = tuple(parent for parent in variable.parents if parent not in group)
        variables[name] = replace(variable, parents=parents, table=table)
    return Network(variables, network.name, network.sha256)
