"""Networks in JSON by the contract ``justicia.network/1``, and back.

::

    {"schema": "justicia.network/1",
     "variables": [
      {"name": "sex", "values": ["Female", "Male"], "probabilities": [0.4, 0.6]},
      {"name": "age", "edges": [25, 40], "parents": ["sex"], "probabilities": [[0.3, 0.3, 0.4], [0.2, 0.4, 0.4]]}]}

The states of a variable are its ``values`` (words, numbers, truth values; null where the value is missing), the ranges
between ``edges`` (an edge belongs to the range below it), or ``ranges``, each ``{"from": a, "to": b}`` with both ends
or ``{"above": a, "to": b}`` without the lower one, null for no end. ``probabilities`` are nested lists: one level for
each parent, in their order, and the states innermost. A variable without states has a density instead: see
`justicia.population.networks.density_form`.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np

from justicia.population.networks.bif import MOST_NUMBERS
from justicia.population.networks.declared import Network, Variable, checked_network, checked_table
from justicia.population.networks.density_form import DENSITIES, density_to_dict, with_densities
from justicia.population.networks.states import Interval, State, check_states, edges_of, state_texts
from justicia.population.stored.items import Item

__all__ = ["SCHEMA", "network_from_item", "network_to_json"]

SCHEMA = "justicia.network/1"
_STATES = ("values", "edges", "ranges")


def network_from_item(item: Item) -> Network:
    """The network of a JSON value.

    Raises
    ------
    PopulationFileError
        When it is none; the message names the place.
    """
    item.mapping(("schema", "variables"), ("comment",))
    held: dict[str, tuple[Item, tuple[State, ...]]] = {}
    densities: dict[str, Item] = {}
    for one in item["variables"].items("variable", 1):
        kinds = [kind for kind in DENSITIES if isinstance(one.value, dict) and kind in one.value]
        if kinds:
            one.mapping(("name", kinds[0]), ("parents", "comment"))
        else:
            one.mapping(("name", "probabilities"), ("parents", "comment", *_STATES))
        name = one["name"].text()
        variable = Item(one.value, f"variable {name!r}")
        if name in held or name in densities:
            variable.fail("is given twice")
        if kinds:
            densities[name] = variable
        else:
            held[name] = variable, _states(name, variable)
    variables = []
    for name, (variable, states) in held.items():
        listed = variable.get("parents")
        parents = () if listed is None else listed.texts("parent")
        for parent in parents:
            if parent in densities:
                variable.fail(f"has the parent {parent!r}, which has a density: only densities depend on such")
            if parent not in held:
                variable.fail(f"has the parent {parent!r}, which is no variable")
        shape = (*(len(held[parent][1]) for parent in parents), len(states))
        if math.prod(shape) > MOST_NUMBERS:
            variable.fail(f"has a table of more than {MOST_NUMBERS:,} numbers")
        above = {parent: state_texts(held[parent][1]) for parent in parents}
        table = checked_table(name, state_texts(states), above, variable["probabilities"].numbers(shape))
        variables.append(Variable(name, states, parents, table))
    if not variables:
        item["variables"].fail("has no variable with states, and groups are told apart by such a one")
    return with_densities(checked_network(variables), densities)


def _states(name: str, item: Item) -> tuple[State, ...]:
    given = [kind for kind in _STATES if kind in item.value]
    if len(given) != 1:
        item.fail("names its states by one of values, edges and ranges")
    held = item[given[0]]
    states: list[State]
    if given[0] == "values":
        states = [_value(value) for value in held.items("value", 1)]
    elif given[0] == "edges":
        edges = [edge.number() for edge in held.items("edge", 1)]
        if any(after <= before for before, after in pairwise(edges)):
            held.fail("does not rise")
        ends = [-math.inf, *edges, math.inf]
        states = [Interval(low, high) for low, high in pairwise(ends)]
    else:
        states = [_range(one) for one in held.items("range", 1)]
    return check_states(name, states)


def _value(item: Item) -> State:
    value = item.value
    if value is None or isinstance(value, (str, bool)):
        return value
    number = item.number()
    return value if isinstance(value, int) else number


def _range(item: Item) -> Interval:
    if isinstance(item.value, dict) and "from" in item.value:
        item.mapping(("from", "to"))
        return Interval(item["from"].number(), item["to"].number(), True)
    item.mapping(("above", "to"))
    above, to = item.get("above"), item.get("to")
    return Interval(-math.inf if above is None else above.number(), math.inf if to is None else to.number())


def network_to_json(network: Network) -> str:
    """The network as JSON text, one variable a line."""
    held = [_to_dict(variable) for variable in network.variables.values()]
    held += [density_to_dict(variable) for variable in network.numeric.values()]
    lines = [json.dumps(one, ensure_ascii=True) for one in held]
    return f'{{"schema": "{SCHEMA}",\n "variables": [\n  ' + ",\n  ".join(lines) + "]}\n"


def _to_dict(variable: Variable) -> dict[str, Any]:
    edges = edges_of(variable.states)
    held: dict[str, Any]
    if edges is not None:
        held = {"edges": edges}
    elif isinstance(variable.states[0], Interval):
        held = {"ranges": [_range_to_dict(state) for state in variable.states if isinstance(state, Interval)]}
    else:
        held = {"values": list(variable.states)}
    return {
        "name": variable.name,
        **held,
        "parents": list(variable.parents),
        "probabilities": np.asarray(variable.table).tolist(),
    }


def _range_to_dict(one: Interval) -> dict[str, float | None]:
    if one.closed:
        return {"from": one.low, "to": one.high}
    return {
        "above": None if math.isinf(one.low) else one.low,
        "to": None if math.isinf(one.high) else one.high,
    }
