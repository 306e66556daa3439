"""Populations in files: JSON by the contract ``justicia.population/1``; its schema is ``population.schema.json`` here.

A structure is stored by one module with two functions, and one line in `FORMS`:

- ``to_dict(population) -> dict`` gives what the structure adds to a population's groups;
- ``from_item(item, skeleton) -> Population`` checks it and builds the population again, the same to the last bit.
"""

from __future__ import annotations

from justicia.population.stored.file import PopulationFile, StoredGrouping, StoredLabel, Table
from justicia.population.stored.reading import population_from_json, read_population_file
from justicia.population.stored.writing import FORMS, SCHEMA, population_to_json, schema

__all__ = [
    "FORMS",
    "SCHEMA",
    "PopulationFile",
    "StoredGrouping",
    "StoredLabel",
    "Table",
    "population_from_json",
    "population_to_json",
    "read_population_file",
    "schema",
]
