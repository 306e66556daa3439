"""Tables of features given the group and at most one other feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.population.base import Node
from justicia.population.network import NetworkPopulation
from justicia.population.stored.items import Item, normalised

if TYPE_CHECKING:
    from justicia.population.base import Population
    from justicia.population.domain import Domain
    from justicia.population.stored.forms import Skeleton

__all__ = ["KEYS", "from_item", "nodes_from_item", "tables_to_list", "to_dict"]

KEYS = ("tables",)
"""What this structure adds to the groups of a population."""


def to_dict(population: Population) -> dict[str, Any]:
    """The tables."""
    return {"tables": tables_to_list(population.domain, population.nodes)}


def from_item(item: Item, skeleton: Skeleton) -> Population:
    """The population of some tables.

    Raises
    ------
    PopulationFileError
        When a table does not belong to its feature, or is no probability distribution.
    """
    names = [", ".join(group) for group in skeleton.groups]
    nodes = nodes_from_item(item["tables"], skeleton.domain, names)
    held = skeleton.structure, skeleton.domain, skeleton.sensitive, skeleton.groups, skeleton.sizes
    return NetworkPopulation(*held, nodes)


def tables_to_list(domain: Domain, nodes: tuple[Node, ...]) -> list[dict[str, Any]]:
    """Tables as lists, parents first."""
    return [
        {
            "feature": domain.names[node.feature],
            "parents": [domain.names[parent] for parent in node.parents],
            "states": node.states.tolist(),
            "probabilities": node.table.tolist(),
            "within": None if node.within is None else node.within.tolist(),
        }
        for node in nodes
    ]


def nodes_from_item(item: Item, domain: Domain, names: list[str]) -> tuple[Node, ...]:
    """Tables from lists; `names` are those of the first axis."""
    nodes: list[Node] = []
    seen: dict[int, int] = {}
    for held in item.items("table"):
        held.mapping(("feature", "parents", "states", "probabilities", "within"))
        name = held["feature"].text()
        if name not in domain.names:
            held.fail(f"is of {name!r}, which is no feature of the file")
        table = Item(held.value, f"the table of {name!r} in {item.where}")
        feature = domain.names.index(name)
        if feature in seen:
            table.fail("is given twice")
        parents = table["parents"].texts("parent")
        if len(parents) > 1:
            table.fail("has more than one parent")
        if any(parent not in domain.names or domain.names.index(parent) not in seen for parent in parents):
            table.fail(f"comes before that of its parent {parents[0]!r}, or there is none")
        node = _node(table, feature, tuple(domain.names.index(parent) for parent in parents), seen, domain, names)
        seen[feature] = node.table.shape[2]
        nodes.append(node)
    absent = [name for position, name in enumerate(domain.names) if position not in seen]
    if absent:
        item.fail(f"lacks the table of {absent[0]!r}")
    return tuple(nodes)


def _node(
    item: Item, feature: int, parents: tuple[int, ...], seen: dict[int, int], domain: Domain, names: list[str]
) -> Node:
    n_cells = domain.sizes[feature]
    states = item["states"].wholes((n_cells,), below=n_cells)
    n_states = int(states.max()) + 1
    if len(np.unique(states)) < n_states:
        item["states"].fail("leaves a state without a cell")
    shape = len(names), seen[parents[0]] if parents else 1, n_states
    table = normalised(item, item["probabilities"].probabilities(shape), names=names)
    held, within = item.get("within"), None
    if held is not None:
        within = normalised(held, held.probabilities((len(names), n_cells)), states, names)
    elif n_states < n_cells:
        item.fail("has states of several cells, and no shares of the cells within them")
    return Node(feature, parents, table, states, within)
