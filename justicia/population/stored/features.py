"""Features of a population and their cells, in JSON and back.

A cell is one of

- ``{"from": a, "to": b}``: numbers from a to b, both included;
- ``{"above": a, "to": b}``: numbers above a, up to b; null for no end;
- ``{"numbers": [...]}``: these numbers;
- ``{"values": [...]}``: these words, truth values or numbers;
- ``{"unseen": true, "values": [...]}``: values that no other cell holds, and those of them that the people have;
- ``{"missing": true}``: no value,

each with a ``label``. Intervals come first, in rising order; then unseen, then missing values.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.population.domain import Domain, Feature
from justicia.population.stored.items import Item

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["domain_from_item", "features_to_list"]

_OTHER = 2**53


def features_to_list(domain: Domain) -> list[dict[str, Any]]:
    """Every feature with its cells."""
    return [
        {
            "name": feature.name,
            "kind": "numbers" if feature.numeric else "values",
            "integers": feature.integers,
            "cells": [{"label": label, **_cell(feature, cell)} for cell, label in enumerate(feature.labels)],
        }
        for feature in domain.features
    ]


def _cell(feature: Feature, cell: int) -> dict[str, Any]:
    if cell == feature.missing:
        return {"missing": True}
    if not feature.numeric:
        values = [_plain(value) for value, held in feature.cells.items() if held == cell]
        return {"unseen": True, "values": values} if cell == feature.unseen else {"values": values}
    if feature.members is not None:
        return {"numbers": [_plain(value) for value in feature.members[cell]]}
    low, high = feature.ranges[cell] if feature.ranges is not None else (np.nan, np.nan)
    if not np.isnan(low):
        return {"from": _plain(low), "to": _plain(high)}
    edges = np.zeros(0) if feature.edges is None else feature.edges
    return {
        "above": _plain(edges[cell - 1]) if cell else None,
        "to": _plain(edges[cell]) if cell < len(edges) else None,
    }


def _plain(value: Any) -> Any:
    """A value as JSON has it; whole numbers without a point."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer() and abs(value) < _OTHER:
        return int(value)
    return value


def domain_from_item(item: Item) -> Domain:
    """The domain of some features.

    Raises
    ------
    PopulationFileError
        When a feature is malformed.
    """
    features: list[Feature] = []
    for held in item.items("feature"):
        held.mapping(("name", "kind", "integers", "cells"))
        name = held["name"].text()
        if any(feature.name == name for feature in features):
            item.fail(f"names {name!r} twice")
        feature = Item(held.value, f"feature {name!r}")
        kind = feature["kind"].text()
        if kind not in ("numbers", "values"):
            feature.fail("has a kind that is neither 'numbers' nor 'values'")
        cells = list(feature["cells"].items("cell", least=1))
        features.append(_numbers(feature, name, cells) if kind == "numbers" else _values(feature, name, cells))
    return Domain(tuple(features))


def _special(feature: Item, cells: Sequence[Item], key: str) -> int | None:
    """Position of the missing or the unseen cell."""
    found = [i for i, cell in enumerate(cells) if isinstance(cell.value, dict) and key in cell.value]
    if len(found) > 1 or (found and cells[found[0]][key].value is not True):
        feature.fail(f"has two {key} cells" if len(found) > 1 else f"has a cell where {key} is not true")
    return found[0] if found else None


def _label(cell: Item) -> str:
    return cell["label"].text()


def _numbers(feature: Item, name: str, cells: list[Item]) -> Feature:
    missing = _special(feature, cells, "missing")
    if missing is not None:
        cells[missing].mapping(("label", "missing"))
        if missing != len(cells) - 1:
            feature.fail("has cells after the missing one")
    intervals = cells if missing is None else cells[:-1]
    if not intervals:
        feature.fail("has no cell of numbers")
    by_member = [isinstance(cell.value, dict) and "numbers" in cell.value for cell in intervals]
    if any(by_member) and not all(by_member):
        feature.fail("lists the numbers of some cells and not of others")
    members = None
    ends: list[float] = []
    if all(by_member):
        members = tuple(_members(cell) for cell in intervals)
        ranges = np.array([[run[0], run[-1]] for run in members])
        spans = [(float(low), float(high), True) for low, high in ranges]
    else:
        spans = [_span(cell) for cell in intervals]
        ranges = np.array([(low, high) if closed else (np.nan, np.nan) for low, high, closed in spans])
    for position, (low, high, closed) in enumerate(spans):
        before = ends[-1] if ends else -np.inf
        if high < low or (low == high and not closed) or low < before or (closed and ends and low == before):
            intervals[position].fail("is empty, or does not lie above the cell before it")
        ends.append(high)
    return Feature(
        name, tuple(map(_label, cells)), (*ends, *([np.nan] if missing is not None else [])),
        np.array(ends[:-1], dtype=np.float64), missing=missing, by_value=True,
        ranges=ranges, members=members, integers=feature["integers"].flag(),
    )  # fmt: skip


def _members(cell: Item) -> tuple[float, ...]:
    found = tuple(one.number() for one in cell.mapping(("label", "numbers"))["numbers"].items("number", least=1))
    if any(after <= before for before, after in pairwise(found)):
        cell.fail("lists numbers that do not rise")
    return found


def _span(cell: Item) -> tuple[float, float, bool]:
    """Ends of an interval, and whether the lower one belongs to it."""
    if isinstance(cell.value, dict) and "from" in cell.value:
        cell.mapping(("label", "from", "to"))
        return cell["from"].number(), cell["to"].number(), True
    cell.mapping(("label", "above", "to"))
    above, to = cell.get("above"), cell.get("to")
    return -np.inf if above is None else above.number(), np.inf if to is None else to.number(), False


def _values(feature: Item, name: str, cells: list[Item]) -> Feature:
    missing, unseen = _special(feature, cells, "missing"), _special(feature, cells, "unseen")
    held: dict[Any, int] = {}
    for position, cell in enumerate(cells):
        if position == missing:
            cell.mapping(("label", "missing"))
            continue
        cell.mapping(("label", "values"), ("unseen",))
        for value in cell["values"].items("value", least=0 if position == unseen else 1):
            if not isinstance(value.value, (str, bool, int, float)):
                value.fail("is no text, number or truth value")
            if isinstance(value.value, (int, float)) and not isinstance(value.value, bool):
                value.number()
            if value.value in held:
                feature.fail(f"has two cells for {value.value!r}")
            held[value.value] = position
    representatives: list[Any] = [None] * len(cells)
    for value, position in held.items():
        representatives[position] = value
    if missing is not None:
        representatives[missing] = np.nan
    if feature["integers"].flag():
        feature.fail("cannot be of integers: it is no feature of numbers")
    return Feature(name, tuple(map(_label, cells)), tuple(representatives), cells=held, unseen=unseen, missing=missing)
