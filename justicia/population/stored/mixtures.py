"""Mixtures of the rows and of the classes of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.population.mixture import MixturePopulation
from justicia.population.network import NetworkPopulation
from justicia.population.stored.items import Item, normalised
from justicia.population.stored.networks import nodes_from_item, tables_to_list
from justicia.population.stored.rows import people_from_item, people_to_dict

if TYPE_CHECKING:
    from justicia.population.base import Population
    from justicia.population.stored.forms import Skeleton

__all__ = ["KEYS", "from_item", "to_dict"]

KEYS = ("description", "row_weights", "class_weights", "tables", "people")
"""What this structure adds to the groups of a population."""
_MOST_CLASSES = 64


def to_dict(population: Population) -> dict[str, Any]:
    """Weights, tables and people."""
    if not isinstance(population, MixturePopulation):
        raise TypeError(f"a {population.structure} population is no mixture")
    tables = tables_to_list(population.domain, population.network.nodes)
    n_classes = population.n_classes
    for table in tables:
        for key in ("probabilities", "within"):
            if table[key] is not None:
                table[key] = [table[key][i : i + n_classes] for i in range(0, len(table[key]), n_classes)]
    return {
        "description": population.description,
        "row_weights": population.row_weights.tolist(),
        "class_weights": population.class_weights.tolist(),
        "tables": tables,
        "people": people_to_dict(population.rows),
    }


def from_item(item: Item, skeleton: Skeleton) -> Population:
    """The mixture of some parts.

    Raises
    ------
    PopulationFileError
        When a part is malformed, or weights are no probabilities.
    """
    n_groups = len(skeleton.groups)
    own = item["row_weights"].probabilities((n_groups,))
    texts = [", ".join(group) for group in skeleton.groups]
    weights = item["class_weights"]
    rows = list(weights.items("group"))
    n_classes = len(rows[0].value) if rows and isinstance(rows[0].value, list) else 0
    if not 1 <= n_classes <= _MOST_CLASSES:
        weights.fail("does not give each group the weights of one class or more")
    classes = normalised(weights, weights.probabilities((n_groups, n_classes)), names=texts)
    names = [f"{text}, class {one + 1}" for text in texts for one in range(n_classes)]
    nodes = nodes_from_item(_by_class(item["tables"], n_groups, n_classes), skeleton.domain, names)
    network = NetworkPopulation(
        skeleton.structure,
        skeleton.domain,
        (*skeleton.sensitive, "class"),
        tuple((*group, str(one)) for group in skeleton.groups for one in range(n_classes)),
        np.repeat(skeleton.sizes, n_classes),
        nodes,
    )
    people = people_from_item(item["people"], skeleton)
    return MixturePopulation(skeleton.structure, item["description"].text(), network, classes, people, own)


def _by_class(item: Item, n_groups: int, n_classes: int) -> Item:
    """Tables with the classes of all groups along the first axis."""
    tables = []
    for held in item.items("table"):
        held.mapping(("feature", "parents", "states", "probabilities", "within"))
        flat = dict(held.value)
        for key in ("probabilities", "within"):
            if flat[key] is None:
                continue
            groups = [list(group.items("class")) for group in held[key].items("group")]
            if len(groups) != n_groups or any(len(group) != n_classes for group in groups):
                held[key].fail(f"is not given for {n_groups} groups and {n_classes} classes each")
            flat[key] = [one.value for group in groups for one in group]
        tables.append(flat)
    return Item(tables, item.where)
