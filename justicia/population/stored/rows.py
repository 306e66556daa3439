"""People as they are: a list of weighted points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.population.counts import Counts
from justicia.population.empirical import EmpiricalPopulation

if TYPE_CHECKING:
    from justicia.population.base import Population
    from justicia.population.stored.forms import Skeleton
    from justicia.population.stored.items import Item

__all__ = ["KEYS", "from_item", "people_from_item", "people_to_dict", "to_dict"]

KEYS = ("people",)
"""What this structure adds to the groups of a population."""


def to_dict(population: Population) -> dict[str, Any]:
    """The people."""
    return {"people": people_to_dict(population)}


def from_item(item: Item, skeleton: Skeleton) -> Population:
    """The population of some people.

    Raises
    ------
    PopulationFileError
        When a person has a group or a cell that the file has not, or the people of a group are not as many as it says.
    """
    return people_from_item(item["people"], skeleton)


def people_to_dict(population: Population) -> dict[str, Any]:
    """Distinct people with their numbers, sorted by group and cells."""
    if population.support is None:
        raise TypeError(f"a {population.structure} population is no list of people")
    groups, points, weights = population.support
    merged = Counts(population.groups, population.domain.sizes, groups, points, weights).merged()
    return {
        "groups": merged.groups.tolist(),
        "counts": merged.every_weight().tolist(),
        "cells": merged.points.tolist(),
    }


def people_from_item(item: Item, skeleton: Skeleton) -> EmpiricalPopulation:
    """People from lists."""
    item.mapping(("groups", "counts", "cells"))
    sizes = skeleton.domain.sizes
    groups = item["groups"].wholes(None, below=len(skeleton.groups))
    if groups.ndim != 1:
        item["groups"].fail("is no list of numbers")
    weights = item["counts"].wholes(groups.shape, least=1)
    points = item["cells"].wholes((len(groups), len(sizes)))
    for feature, size in enumerate(sizes):
        if len(points) and points[:, feature].max() >= size:
            name = skeleton.domain.names[feature]
            item.fail(f"holds cell {points[:, feature].max()} of {name!r}, which has {size} cells")
    if len(np.unique(np.column_stack([groups, points]), axis=0)) < len(groups):
        item.fail("holds the same cells of the same group twice")
    counts = Counts(skeleton.groups, sizes, groups, points.astype(np.int32), weights)
    if (counts.rows() != skeleton.sizes).any():
        group = int(np.flatnonzero(counts.rows() != skeleton.sizes)[0])
        item.fail(
            f"holds {counts.rows()[group]:,} people of group {', '.join(skeleton.groups[group])}, and the group has "
            f"{skeleton.sizes[group]:,} rows"
        )
    return EmpiricalPopulation(counts, skeleton.domain, skeleton.sensitive)
