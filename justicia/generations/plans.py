"""Plans of prompts: templates, groups with their cue, and slots, read from YAML, JSON or a mapping."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from justicia.errors import SpecError
from justicia.generations.pronouns import pronoun
from justicia.generations.spec import read_mapping, whole_number
from justicia.words import did_you_mean, listed, shown
from justicia.writing import has_half_pairs

__all__ = ["COLUMNS", "PROMPTS_SCHEMA", "SLOT", "PromptPlan", "PromptTemplate", "read_plan"]

PROMPTS_SCHEMA = "justicia.generations.prompts/1"

COLUMNS = ("prompt_id", "template", "pair", "group", "sample", "prompt")
"""Columns of the table of prompts, besides those of the slots."""

SLOT = re.compile(r"(?P<name>[^\W\d]\w*)(?:[:.](?P<form>[^\W\d]\w*))?")
"""What stands between braces."""

_KEYS = ("schema", "templates", "groups", "slots", "samples", "labels", "refusals")


@dataclass(frozen=True)
class PromptTemplate:
    """A text with slots.

    Attributes
    ----------
    name : str
    text : str
    values : dict of str to str
        Columns of its own, such as the right answer (`truth`) or the task.
    """

    name: str
    text: str
    values: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PromptPlan:
    """What prompts are made of.

    Attributes
    ----------
    templates : tuple of PromptTemplate
    groups : dict of str to (dict of str to tuple)
        Of each group its values of the cue's slots: pronouns, and texts.
    slots : dict of str to tuple of str
    samples : int
        How often each prompt is to be asked.
    labels : mapping or str, optional
        How answers are labelled, as `justicia.generations.answer_rules.read_rules` reads it.
    refusals : object
        Patterns of refusals, besides the known ones.
    """

    templates: tuple[PromptTemplate, ...]
    groups: dict[str, dict[str, tuple[Any, ...]]]
    slots: dict[str, tuple[str, ...]] = field(default_factory=dict)
    samples: int = 1
    labels: Any = None
    refusals: Any = None


def read_plan(source: Any) -> PromptPlan:
    """Read a plan from a YAML or JSON file, or from a mapping of the same form.

    Raises
    ------
    SpecError
        When it cannot be read, or holds a key or a value that means nothing.
    """
    if isinstance(source, PromptPlan):
        return source
    where = ""
    if isinstance(source, (str, os.PathLike)):
        where = f"{Path(source).name}: "
        source = read_mapping(Path(source), "plan")
    if not isinstance(source, Mapping):
        raise SpecError(f"{where}a plan of prompts is a mapping with templates and groups")
    for key in source:
        if key not in _KEYS:
            raise SpecError(f"{where}the plan has no key {shown(key)}{did_you_mean(key, _KEYS)}")
    if any(map(has_half_pairs, _texts_in(source))):
        raise SpecError(f"{where}a text holds half of a surrogate pair, which has no form in UTF-8")
    version = source.get("schema", PROMPTS_SCHEMA)
    if version != PROMPTS_SCHEMA:
        raise SpecError(f"{where}schema {shown(version)} is not known: this version reads {PROMPTS_SCHEMA}")
    slots = source.get("slots") or {}
    if not isinstance(slots, Mapping):
        raise SpecError(f"{where}slots are a mapping of name to values, not {shown(repr(slots))}")
    return PromptPlan(
        _templates(source.get("templates"), where),
        _groups(source.get("groups"), where),
        {_slot_name(name, where): _values(values, f"{where}slot {shown(name)}") for name, values in slots.items()},
        whole_number(source.get("samples", 1), f"{where}samples"),
        source.get("labels"),
        source.get("refusals"),
    )


def _texts_in(held: Any) -> Iterator[str]:
    if isinstance(held, str):
        yield held
    elif isinstance(held, Mapping):
        for key, value in held.items():
            yield from _texts_in(key)
            yield from _texts_in(value)
    elif isinstance(held, (list, tuple)):
        for one in held:
            yield from _texts_in(one)


def _templates(said: Any, where: str) -> tuple[PromptTemplate, ...]:
    if isinstance(said, str):
        said = [said]
    if isinstance(said, Mapping):
        said = [
            {"id": name, **(held if isinstance(held, Mapping) else {"text": held})} for name, held in said.items()
        ]  # fmt: skip
    if not isinstance(said, Sequence) or not said:
        raise SpecError(f"{where}a plan needs templates: a list of texts with slots, as in 'Is {{pronoun}} right?'")
    found: list[PromptTemplate] = []
    for number, one in enumerate(said, start=1):
        held = dict(one) if isinstance(one, Mapping) else {"text": one}
        text, name = held.pop("text", None), str(held.pop("id", number))
        if not isinstance(text, str) or not text.strip():
            raise SpecError(f"{where}template {shown(name)} has no text")
        if any(name == other.name for other in found):
            raise SpecError(f"{where}two templates are called {shown(name)}")
        for column, value in held.items():
            if str(column) in COLUMNS or isinstance(value, (Mapping, list)):
                raise SpecError(f"{where}template {shown(name)}: {shown(column)} cannot be a column of its own")
        found.append(PromptTemplate(name, text, {str(column): str(value) for column, value in held.items()}))
    return tuple(found)


def _groups(said: Any, where: str) -> dict[str, dict[str, tuple[Any, ...]]]:
    if not isinstance(said, Mapping) or len(said) < 2:
        raise SpecError(f"{where}a plan needs two groups at least, each with its cue, as in F: {{pronoun: she}}")
    found: dict[str, dict[str, tuple[Any, ...]]] = {}
    for name, cue in said.items():
        place = f"{where}group {shown(name)}"
        if not isinstance(cue, Mapping):
            cue = {"pronoun": cue}
        if not cue:
            raise SpecError(f"{place} has no cue, as in {{pronoun: she}}")
        made: dict[str, tuple[Any, ...]] = {}
        for slot, values in cue.items():
            slot = _slot_name(slot, where)
            if slot == "pronoun":
                listed_ = values if isinstance(values, list) else [values]
                if not listed_:
                    raise SpecError(f"{place}: pronoun has no value")
                made[slot] = tuple(pronoun(one, f"{place}: ") for one in listed_)
            else:
                made[slot] = _values(values, f"{place}: {shown(slot)}")
        found[str(name)] = made
    slots = {slot for cue in found.values() for slot in cue}
    for name, cue in found.items():
        lacking = sorted(slots - set(cue))
        if lacking:
            raise SpecError(f"{where}group {shown(name)} has no {listed(lacking)}, which other groups have")
    return found


def _slot_name(name: Any, where: str) -> str:
    text = str(name)
    if not SLOT.fullmatch(text) or ":" in text or "." in text or text in COLUMNS:
        raise SpecError(
            f"{where}a slot cannot be called {shown(text)!r}: letters, digits and _ (not {listed(COLUMNS)})"
        )
    if text[0] != text[0].lower():
        raise SpecError(
            f"{where}the slot {shown(text)} begins with a capital: name it {shown(text[0].lower() + text[1:])}"
        )
    return text


def _values(values: Any, what: str) -> tuple[str, ...]:
    if isinstance(values, (str, int, float)):
        values = [values]
    if not isinstance(values, (list, tuple)) or not values or any(isinstance(one, (dict, list)) for one in values):
        raise SpecError(f"{what} has a list of values, not {shown(repr(values))}")
    made = tuple(str(one) for one in values)
    if len(set(made)) < len(made):
        twice = next(one for one in made if made.count(one) > 1)
        raise SpecError(f"{what} has {shown(twice)} twice")
    return made
