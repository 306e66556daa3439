"""Read a population file that nobody vouches for."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from justicia.errors import PopulationFileError
from justicia.population.base import Population
from justicia.population.domain import Domain
from justicia.population.stored.features import domain_from_item
from justicia.population.stored.file import PopulationFile, StoredGrouping, StoredLabel, Table
from justicia.population.stored.forms import FORMS, Skeleton, form_of
from justicia.population.stored.items import Item
from justicia.population.stored.writing import SCHEMA
from justicia.tables.one_hot import OneHot
from justicia.words import did_you_mean, shown

__all__ = ["file_content", "parsed_json", "population_from_json", "read_population_file"]

_MOST_BYTES = 1 << 28
_MOST_DEPTH = 12
_MOST_PARTS = 10_000_000
"""Lists and objects, and texts."""
_CHUNK = 1 << 22
_COMMON = ("structure", "groups")
_KINDS = ("everybody", "favorable", "unfavorable")


def read_population_file(path: str | os.PathLike[str]) -> PopulationFile:
    """Read and check a population file.

    Raises
    ------
    PopulationFileError
        When it cannot be read, or is not what it has to be; the message says where.
    """
    place = Path(path)
    content = file_content(place)
    try:
        return replace(population_from_json(content, place.name), sha256=hashlib.sha256(content).hexdigest())
    except PopulationFileError as error:
        raise PopulationFileError(f"{place.name}: {error}") from None


def file_content(place: Path) -> bytes:
    """All bytes of a file that is not too large.

    Raises
    ------
    PopulationFileError
        When there is no such file, or it cannot be read, or is larger than any population file has to be.
    """
    if not place.is_file():
        raise PopulationFileError(f"{place}: there is no such population file")
    try:
        if place.stat().st_size > _MOST_BYTES:
            raise PopulationFileError(
                f"{place.name} is larger than {_MOST_BYTES // 2**20:,} MB, which no population file has to be: fit it "
                "with fewer --cells, columns or groups"
            )
        return place.read_bytes()
    except OSError as error:
        raise PopulationFileError(f"{place} cannot be read: {error.strerror}") from error


def population_from_json(content: str | bytes, name: str | None = None) -> PopulationFile:
    """Read and check the text of a population file.

    Parameters
    ----------
    content : str or bytes
    name : str, optional
        Of the file.

    Raises
    ------
    PopulationFileError
    """
    item = Item(parsed_json(content), "the file")
    if not isinstance(item.value, dict) or not isinstance(item.value.get("schema"), str):
        item.fail("is no population file: it names no schema (justicia population fit writes one)")
    if item.value["schema"] != SCHEMA:
        item.fail(f"is of the schema {shown(item.value['schema'])}, and this version reads {SCHEMA}")
    item.mapping(
        ("schema", "tool", "created", "data", "contains_rows_of_people", "reading", "label", "bins", "features",
         "groupings"),
    )  # fmt: skip
    domain = domain_from_item(item["features"])
    label = _label(item)
    groupings = tuple(_grouping(held, domain, label) for held in item["groupings"].items("grouping", least=1))
    keys = [tuple(sorted(grouping.sensitive)) for grouping in groupings]
    if len(set(keys)) < len(keys):
        item["groupings"].fail("names the same sensitive columns twice")
    created = item.get("created")
    data = item["data"].mapping(("source", "sha256", "rows", "dropped", "columns", "one_hot"))
    file = PopulationFile(
        domain, groupings, _table(data), data["columns"].texts("column"), label, _bins(item["bins"]),
        tuple(_one_hot(held) for held in data["one_hot"].items("feature")),
        None if created is None else created.text(), name,
    )  # fmt: skip
    if item["contains_rows_of_people"].flag() != file.rows_of_people:
        item.fail("says wrongly whether it contains rows of people")
    return file


def parsed_json(content: str | bytes) -> Any:
    """The value of a JSON text whose size and depth are bounded, and that gives no key twice.

    Raises
    ------
    PopulationFileError
        When it is no such text.
    """
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
        _check_size(text)
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except UnicodeDecodeError:
        raise PopulationFileError("the file is no text in UTF-8") from None
    except json.JSONDecodeError as error:
        raise PopulationFileError(f"the file is no JSON: {error.msg} in line {error.lineno}") from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, PopulationFileError):
            raise
        raise PopulationFileError(f"the file is no JSON that can be read: {shown(error, 100)}") from None


def _check_size(text: str) -> None:
    """Refuse brackets inside brackets without end, and more of them than any population has, before parsing."""
    # Outside of texts there are no backslashes, so those that escape one another, and quotes, may go.
    raw = text.encode("utf-8", "surrogatepass").replace(b"\\\\", b"").replace(b'\\"', b"")
    depth = n_quotes = n_opens = 0
    for start in range(0, len(raw), _CHUNK):
        part = np.frombuffer(raw, dtype=np.uint8, count=min(_CHUNK, len(raw) - start), offset=start)
        quotes = np.cumsum(part == ord('"'), dtype=np.int32) + n_quotes % 2
        outside = quotes % 2 == 0
        opens = ((part == ord("[")) | (part == ord("{"))) & outside
        closes = ((part == ord("]")) | (part == ord("}"))) & outside
        depths = np.cumsum(opens.astype(np.int32) - closes.astype(np.int32), dtype=np.int64) + depth
        if int(depths.max()) > _MOST_DEPTH:
            raise PopulationFileError(f"the file nests lists and objects more than {_MOST_DEPTH} deep")
        depth, n_quotes, n_opens = (
            int(depths[-1]),
            n_quotes + int(quotes[-1]) - n_quotes % 2,
            n_opens + int(opens.sum()),
        )
        if n_opens > _MOST_PARTS or n_quotes > 2 * _MOST_PARTS:
            raise PopulationFileError(f"the file holds more than {_MOST_PARTS:,} lists and objects, or as many texts")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise PopulationFileError(f"the file gives {shown(repr(twice))} twice in one object")
    return found


def _no_number(text: str) -> NoReturn:
    raise PopulationFileError(f"the file holds {text}, which is no number")


def _label(item: Item) -> StoredLabel | None:
    held = item.get("label")
    if held is None:
        return None
    held.mapping(("column", "favorable", "unfavorable"))
    favorable, unfavorable = held["favorable"].texts("value", 1), held["unfavorable"].texts("value")
    if set(favorable) & set(unfavorable):
        held.fail("calls a value both favorable and unfavorable")
    return StoredLabel(held["column"].text(), favorable, unfavorable)


def _table(item: Item) -> Table:
    source, digest = item.get("source"), item.get("sha256")
    dropped = item["dropped"]
    if not isinstance(dropped.value, dict):
        dropped.fail("is no JSON object")
    return Table(
        None if source is None else source.text(),
        None if digest is None else digest.text(),
        _whole(item["rows"]),
        {reason: _whole(dropped[reason]) for reason in dropped.value},
    )


def _whole(item: Item, least: int = 0) -> int:
    number = item.number()
    if number != int(number) or not least <= number <= 2**53:
        item.fail(f"is no whole number of {least} or more")
    return int(number)


def _bins(item: Item) -> dict[str, list[float]]:
    if not isinstance(item.value, dict):
        item.fail("is no JSON object")
    found = {name: [edge.number() for edge in item[name].items("edge", 1)] for name in item.value}
    for name, edges in found.items():
        if sorted(set(edges)) != edges:
            item[name].fail("does not rise")
    return found


def _one_hot(item: Item) -> OneHot:
    item.mapping(("name", "columns", "values", "aliases"))
    columns, values = item["columns"].texts("column", 2), item["values"].texts("value", 2)
    if len(columns) != len(values):
        item.fail("has not as many columns as values")
    return OneHot(item["name"].text(), columns, values, item["aliases"].texts("alias"))


def _grouping(item: Item, domain: Domain, label: StoredLabel | None) -> StoredGrouping:
    item.mapping(("sensitive", "populations"))
    sensitive = item["sensitive"].texts("column", 1)
    held = item["populations"]
    held.mapping(("everybody",), _KINDS)
    if label is None and len(held.value) > 1:
        held.fail("has populations by true outcome, and the file names no label")
    found = {kind: _population(held[kind], domain, sensitive) for kind in _KINDS if kind in held.value}
    everybody = set(found["everybody"].groups)
    for kind, population in found.items():
        strange = [group for group in population.groups if group not in everybody]
        if strange:
            held[kind].fail(f"has the group {', '.join(strange[0])}, which the population of everybody has not")
    return StoredGrouping(sensitive, found["everybody"], found.get("favorable"), found.get("unfavorable"))


def _population(item: Item, domain: Domain, sensitive: tuple[str, ...]) -> Population:
    item = Item(item.value, f"{item.where.split(' of ')[0]} of {' x '.join(sensitive)}")
    if not isinstance(item.value, dict) or not isinstance(item.value.get("structure"), str):
        item.fail("names no structure")
    structure = item.value["structure"]
    if structure not in FORMS:
        item.fail(f"has the structure {shown(repr(structure))}, which is not known{did_you_mean(structure, FORMS)}")
    keys, sizes = [], []
    for held in Item(item.value.get("groups"), f"groups of {item.where}").items("group", 1):
        held.mapping(("group", "rows"))
        named = held["group"].mapping(sensitive)
        keys.append(tuple(named[name].text() for name in sensitive))
        sizes.append(_whole(held["rows"], 1))
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        item.fail(f"has the group {', '.join(twice)} twice")
    form = form_of(structure)
    item.mapping((*_COMMON, *form.KEYS))
    skeleton = Skeleton(structure, domain, sensitive, tuple(keys), np.array(sizes, dtype=np.int64))
    population: Population = form.from_item(item, skeleton)
    return population
