"""Densities of numeric variables in the JSON form of a network.

::

    {"name": "income", "parents": ["sex"], "normal": {"mean": [0.4, 0.6], "standard_deviation": 0.1}}
    {"name": "debt", "parents": ["sex", "income"],
     "normal": {"mean": 1, "coefficients": {"income": [0.5, 0.3]}, "variance": 0.04}}
    {"name": "age", "uniform": {"from": 18, "to": 70}}
    {"name": "hours", "steps": [{"from": 0, "to": 20, "density": 0.02}, {"from": 20, "to": 40, "density": 0.03}]}

A parameter is one number, or nested lists: one level for each parent with states, in their order. Parents that have a
coefficient are left out of that order: normal variables, and variables whose states are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.population.networks.bif import MOST_NUMBERS
from justicia.population.networks.densities import Normal, Numeric, Steps
from justicia.population.networks.states import Interval
from justicia.population.stored.items import Item
from justicia.words import did_you_mean, listed, shown

if TYPE_CHECKING:
    from justicia.population.networks.declared import Network, Variable

__all__ = ["DENSITIES", "density_to_dict", "with_densities"]

DENSITIES = ("normal", "uniform", "steps")
_LOOSE = 1e-6
_LARGEST = 1e100
_Axes = Sequence[tuple[str, Sequence[str]]]
"""Parents that parameters have a level for, and their states as text."""


def with_densities(network: Network, items: Mapping[str, Item]) -> Network:
    """The network with numeric variables.

    Parameters
    ----------
    network : Network
        Of the variables with states.
    items : mapping of str to Item
        The others by name; the keys of each are known to be right.

    Raises
    ------
    PopulationFileError
        When a density is none; the message names the place.
    """
    parents = {}
    for name, item in items.items():
        held = item.get("parents")
        parents[name] = () if held is None else held.texts("parent")
        for parent in parents[name]:
            if parent not in items and parent not in network.variables:
                known = [*network.variables, *items]
                item.fail(f"has the parent {shown(repr(parent))}, which is no variable{did_you_mean(parent, known)}")
    graph = {name: [parent for parent in held if parent in items] for name, held in parents.items()}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        circle = " -> ".join(shown(name, 40) for name in error.args[1])
        items[error.args[1][0]].fail(f"depends on itself in a circle: {circle}")
    made: dict[str, Numeric] = {}
    for name in order:
        item = items[name]
        if "normal" in item.value:
            made[name] = _normal(name, item, parents[name], network, made)
        else:
            made[name] = _steps(name, item, parents[name], network, made)
    return replace(network, numeric=made)


def _axes(item: Item, names: Sequence[str], network: Network) -> _Axes:
    if math.prod(len(network[name].states) for name in names) > MOST_NUMBERS:
        item.fail(f"has parameters for more than {MOST_NUMBERS:,} choices of its parents' states")
    return [(name, network[name].texts) for name in names]


def _normal(name: str, item: Item, parents: tuple[str, ...], network: Network, above: Mapping[str, Numeric]) -> Normal:
    normal = item["normal"].mapping(("mean",), ("variance", "standard_deviation", "coefficients"))
    spreads = [key for key in ("variance", "standard_deviation") if key in normal.value]
    if len(spreads) != 1:
        normal.fail("says how far numbers spread by one of variance and standard_deviation")
    held = normal.get("coefficients")
    coefficients = {} if held is None else {key: held[key] for key in held.mapping((), held.value).value}
    for parent in coefficients:
        if parent not in parents:
            normal.fail(
                f"has a coefficient on {shown(repr(parent))}, which is no parent{did_you_mean(parent, parents)}"
            )
    for parent in parents:
        if parent in network.variables:
            continue
        if parent not in coefficients:
            item.fail(f"has the parent {parent!r}, which has a density, and no coefficient on it")
        if not isinstance(above[parent], Normal):
            item.fail(
                f"has a coefficient on {parent!r}, which is {above[parent].kind}: a mean rises and falls with normal "
                "variables, and with those whose states are numbers"
            )
    plain = [parent for parent in parents if parent in network.variables and parent not in coefficients]
    counted = [parent for parent in parents if parent in network.variables and parent in coefficients]
    axes = _axes(item, [*plain, *counted], network)[: len(plain)]
    mean = _parameter(normal["mean"], axes)
    spread = _parameter(normal[spreads[0]], axes)
    if (spread <= 0).any():
        normal[spreads[0]].fail(
            f"is {spread.min():g}{_where(spread, axes)}, and has to be above 0: a number that is the same for "
            "everybody is a variable with one value"
        )
    variance = spread if spreads[0] == "variance" else spread**2
    if not (variance.min() > 1 / _LARGEST and variance.max() < _LARGEST and np.abs(mean).max() < _LARGEST):
        normal.fail("has a mean or a spread that is too large or too small to be reckoned with")
    slopes = {parent: _parameter(slope, axes) for parent, slope in coefficients.items()}
    if any(np.abs(slope).max() > _LARGEST for slope in slopes.values()):
        normal["coefficients"].fail("holds a number that is too large to be reckoned with")
    for parent in counted:
        mean = mean[..., None] + slopes.pop(parent)[..., None] * _numbers(normal, network[parent])
    shape = mean.shape
    extra = (1,) * len(counted)
    return Normal(
        name, parents, (*plain, *counted), mean,
        np.broadcast_to(variance.reshape(variance.shape + extra), shape).copy(),
        {key: np.broadcast_to(slope.reshape(slope.shape + extra), shape).copy() for key, slope in slopes.items()},
    )  # fmt: skip


def _numbers(item: Item, variable: Variable) -> np.ndarray:
    """The numbers that a variable's states are."""
    found = []
    for state in variable.states:
        if isinstance(state, (bool, str, Interval)) or state is None:
            item.fail(
                f"has a coefficient on {variable.name!r}, whose states are no numbers: give the mean for each state"
            )
        found.append(float(state))
    return np.array(found)


def _steps(name: str, item: Item, parents: tuple[str, ...], network: Network, above: Mapping[str, Numeric]) -> Steps:
    for parent in parents:
        if parent in above:
            item.fail(f"has the parent {parent!r}, which has a density: only a normal variable depends on such a one")
    axes = _axes(item, parents, network)
    if "uniform" in item.value:
        uniform = item["uniform"].mapping(("from", "to"))
        low, high = (_parameter(uniform[key], axes) for key in ("from", "to"))
        if (high <= low).any() or not np.isfinite(high - low).all():
            uniform.fail(f"does not end above its beginning{_where(high - low, axes)}")
        edges = np.stack([low, high], axis=-1)
        return Steps(name, parents, parents, edges, np.ones((*low.shape, 1)))
    numbers: list[float] = []
    masses: list[np.ndarray] = []
    kinds = set()
    for one in item["steps"].items("step", 1):
        kind = "probability" if isinstance(one.value, dict) and "probability" in one.value else "density"
        kinds.add(kind)
        one.mapping(("from", "to", kind))
        low_end, high_end = one["from"].number(), one["to"].number()
        if not low_end < high_end or not math.isfinite(high_end - low_end):
            one.fail(f"does not end above its beginning, {low_end:g}")
        if numbers and low_end < numbers[-1]:
            one.fail(f"begins at {low_end:g}, below the end of the one before it, {numbers[-1]:g}")
        held = _parameter(one[kind], axes)
        if (held < 0).any():
            one[kind].fail(f"is below 0{_where(held, axes)}")
        if numbers and low_end > numbers[-1]:
            masses.append(np.zeros(held.shape))
            numbers.append(low_end)
        numbers += [high_end] if numbers else [low_end, high_end]
        masses.append(held * (high_end - low_end) if kind == "density" else held)
    if len(kinds) > 1:
        item["steps"].fail("gives some steps a density and others a probability")
    table = np.stack(masses, axis=-1)
    sums = table.sum(axis=-1)
    if not np.isfinite(sums).all() or (np.abs(sums - 1.0) > _LOOSE).any():
        place = np.unravel_index(int(np.argmax(np.abs(np.nan_to_num(sums, nan=np.inf) - 1.0))), sums.shape)
        verb = "integrate" if kinds == {"density"} else "sum"
        item["steps"].fail(f"do not {verb} to 1{_given(place, axes)}: they {verb} to {sums[place]:.9g}")
    if (np.abs(sums - 1.0) > 1e-12).any():
        table = table / sums[..., None]
    edges = np.broadcast_to(np.array(numbers), (*table.shape[:-1], len(numbers))).copy()
    return Steps(name, parents, parents, edges, table)


def _parameter(item: Item, axes: _Axes) -> np.ndarray:
    """A number for every choice of the parents' states; one that stands alone holds for all."""
    if not isinstance(item.value, list):
        return np.full([len(texts) for _, texts in axes], item.number())
    if not axes:
        item.fail("has more levels of lists than there are parents with states")
    parent, texts = axes[0]
    if len(item.value) != len(texts):
        item.fail(
            f"has {len(item.value)} for the {len(texts)} states of {parent!r}, which are {listed(texts, 8)}: one "
            "number for each"
        )
    held = zip(item.value, texts, strict=True)
    return np.stack([_parameter(Item(value, f"{item.where} given {parent} {text}"), axes[1:]) for value, text in held])


def _where(numbers: np.ndarray, axes: _Axes) -> str:
    """Where the smallest of some parameters stands."""
    return _given(np.unravel_index(int(np.argmin(numbers)), numbers.shape), axes)


def _given(place: Sequence[Any], axes: _Axes) -> str:
    held = zip(axes, place, strict=True)
    words = ", ".join(f"{shown(parent, 40)} {shown(texts[int(at)], 40)}" for (parent, texts), at in held)
    return f" given {words}" if words else ""


def density_to_dict(variable: Numeric) -> dict[str, Any]:
    """A numeric variable as JSON has it."""
    held: dict[str, Any] = {"name": variable.name, "parents": list(variable.parents)}
    if isinstance(variable, Normal):
        # Parents with a coefficient that have states were made levels of the lists.
        numeric = [parent for parent in variable.parents if parent in variable.coefficients]
        held["parents"] = [*variable.given, *numeric]
        normal = {"mean": variable.mean.tolist(), "variance": variable.variance.tolist()}
        if numeric:
            normal["coefficients"] = {name: slope.tolist() for name, slope in variable.coefficients.items()}
        return {**held, "normal": normal}
    if not isinstance(variable, Steps):
        raise TypeError(f"{variable.name} has no density that is known")
    if variable.kind == "uniform":
        low, high = variable.edges[..., 0].tolist(), variable.edges[..., 1].tolist()
        return {**held, "uniform": {"from": low, "to": high}}
    edges = variable.edges.reshape(-1, variable.edges.shape[-1])[0].tolist()
    steps = [
        {"from": low, "to": high, "probability": variable.masses[..., step].tolist()}
        for step, (low, high) in enumerate(pairwise(edges))
    ]
    return {**held, "steps": steps}
