"""Populations as JSON text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from justicia._version import __version__
from justicia.population.stored.features import features_to_list
from justicia.population.stored.forms import FORMS, form_of
from justicia.schemas import read_schema
from justicia.writing import has_half_pairs

if TYPE_CHECKING:
    from justicia.population.base import Population
    from justicia.population.stored.file import PopulationFile, StoredGrouping

__all__ = ["FORMS", "SCHEMA", "population_to_json", "schema", "to_dict"]

SCHEMA = "justicia.population/1"

_READING = (
    "Cells of a feature are numbered from 0, in the order of the list. states[c] is the state of cell c; within[g][c] "
    "is the probability of cell c given its state, in group g (1 where within is null). probabilities[g][u][s] is the "
    "probability of state s in group g when the parent's cell is in state u (u = 0 without a parent). The probability "
    "that a person of group g has certain cells is the product of these numbers over all features. Of 'auto' these are "
    "the numbers of one class, probabilities[g][k][u][s] and within[g][k][c] of class k: a person is one of the people "
    "of the group with probability row_weights[g], and of class k otherwise with probability class_weights[g][k]. Of "
    "people, counts[i] people of group groups[i] have the cells cells[i]."
)


def schema() -> dict[str, Any]:
    """The JSON Schema of a population file."""
    return read_schema("justicia.population.stored", "population")


def to_dict(file: PopulationFile) -> dict[str, Any]:
    """The file as plain lists, dicts, numbers and texts."""
    label = file.label
    return {
        "schema": SCHEMA,
        "tool": {"name": "justicia", "version": __version__},
        "created": file.created,
        "data": {
            "source": file.table.source,
            "sha256": file.table.sha256,
            "rows": file.table.rows,
            "dropped": dict(file.table.dropped),
            "columns": list(file.columns),
            "one_hot": [
                {
                    "name": one.name,
                    "columns": list(one.columns),
                    "values": list(one.values),
                    "aliases": list(one.aliases),
                }
                for one in file.one_hot
            ],
        },
        "contains_rows_of_people": file.rows_of_people,
        "reading": _READING,
        "label": None
        if label is None
        else {"column": label.column, "favorable": list(label.favorable), "unfavorable": list(label.unfavorable)},
        "bins": {name: list(edges) for name, edges in file.bins.items()},
        "features": features_to_list(file.domain),
        "groupings": [_grouping(grouping) for grouping in file.groupings],
    }


def _grouping(grouping: StoredGrouping) -> dict[str, Any]:
    return {
        "sensitive": list(grouping.sensitive),
        "populations": {name: _population(population) for name, population in grouping.populations.items()},
    }


def _population(population: Population) -> dict[str, Any]:
    return {
        "structure": population.structure,
        "groups": [
            {"group": dict(zip(population.sensitive, group, strict=True)), "rows": int(rows)}
            for group, rows in zip(population.groups, population.sizes, strict=True)
        ],
        **form_of(population.structure).to_dict(population),
    }


def population_to_json(file: PopulationFile) -> str:
    """The file as JSON text, a line for each list of numbers; a network as such."""
    if file.network is not None:
        from justicia.population.networks.json_form import network_to_json

        return network_to_json(file.network)
    held = to_dict(file)
    text = _laid_out(held, 0, ascii_only=False) + "\n"
    return _laid_out(held, 0, ascii_only=True) + "\n" if has_half_pairs(text) else text


def _laid_out(value: Any, depth: int, *, ascii_only: bool) -> str:
    inner, outer = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, dict) and any(isinstance(held, (dict, list)) for held in value.values()):
        parts = [
            f"{json.dumps(key, ensure_ascii=ascii_only)}: {_laid_out(held, depth + 1, ascii_only=ascii_only)}"
            for key, held in value.items()
        ]
        if all(not isinstance(held, dict) and not _nested(held) for held in value.values()) and len(value) <= 3:
            return "{" + ", ".join(parts) + "}"
        return "{" + inner + ("," + inner).join(parts) + outer + "}"
    if isinstance(value, list) and any(isinstance(held, (dict, list)) for held in value):
        parts = [_laid_out(held, depth + 1, ascii_only=ascii_only) for held in value]
        return "[" + inner + ("," + inner).join(parts) + outer + "]"
    return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)


def _nested(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(held, (dict, list)) for held in value)
