"""Read a file that states a population: a population file, or a network in BIF or JSON."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from justicia.errors import PopulationFileError
from justicia.population.networks.bif import network_from_bif
from justicia.population.networks.json_form import SCHEMA, network_from_item
from justicia.population.stored.items import Item
from justicia.population.stored.reading import file_content, parsed_json, read_population_file

if TYPE_CHECKING:
    from justicia.population.networks.declared import Network
    from justicia.population.stored.file import PopulationFile

__all__ = ["network_from_text", "read_given"]


def read_given(path: str | os.PathLike[str]) -> PopulationFile | Network:
    """Read and check a file; names that end in ``.bif`` are of networks.

    Raises
    ------
    PopulationFileError
        When it cannot be read, or is not what it has to be; the message says where.
    """
    place = Path(path)
    if place.suffix.lower() != ".bif":
        content = file_content(place)
        if SCHEMA.encode() not in content:
            return read_population_file(path)
    else:
        content = file_content(place)
    try:
        network = network_from_text(content, bif=place.suffix.lower() == ".bif")
    except PopulationFileError as error:
        raise PopulationFileError(f"{place.name}: {error}") from None
    return replace(network, name=place.name, sha256=hashlib.sha256(content).hexdigest())


def network_from_text(content: str | bytes, *, bif: bool = False) -> Network:
    """Read and check the text of a network, in JSON or in BIF.

    Raises
    ------
    PopulationFileError
    """
    if bif:
        try:
            text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
        except UnicodeDecodeError:
            raise PopulationFileError("the file is no text in UTF-8") from None
        return network_from_bif(text)
    item = Item(parsed_json(content), "the file")
    if not isinstance(item.value, dict) or item.value.get("schema") != SCHEMA:
        item.fail(f"is no network: its schema is not {SCHEMA}")
    return network_from_item(item)
