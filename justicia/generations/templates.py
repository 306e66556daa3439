"""Prompts made from templates: every template, every group, every value of every slot.

A template is a text with slots in braces. `{pronoun}` is the group's pronoun as a subject, `{pronoun:object}`,
`{pronoun:possessive}`, `{pronoun:possessive_pronoun}` and `{pronoun:reflexive}` its other forms, `{pronoun:is}`,
`{pronoun:was}`, `{pronoun:has}`, `{pronoun:does}` verbs that go with it, and `{pronoun:s}` the ending of any other verb
(`{pronoun} walk{pronoun:s}`). `{occupation:a}` puts a or an before a slot's value. A slot that begins with a capital
has its value begin with one. `{{` and `}}` are braces.

Slots of the group cue (pronoun, name, title, …) have values group by group; any other slot has values that are the same
for all. Prompts that differ in the group cue alone share a pair.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from justicia.errors import SpecError
from justicia.generations.pronouns import Pronoun, pronoun
from justicia.speaking import speaks_keywords
from justicia.words import counted, did_you_mean, listed, shown
from justicia.writing import has_half_pairs, written

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "PROMPTS_SCHEMA",
    "PromptPlan",
    "PromptTemplate",
    "Prompts",
    "describe",
    "expand_prompts",
    "read_plan",
    "table_text",
]

PROMPTS_SCHEMA = "justicia.generations.prompts/1"

logger = logging.getLogger(__name__)

MOST_PROMPTS = 1_000_000

COLUMNS = ("prompt_id", "template", "pair", "group", "sample", "prompt")
"""Columns of the table of prompts, besides those of the slots."""

_KEYS = ("schema", "templates", "groups", "slots", "samples", "labels", "refusals", "truth")
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_SLOT = re.compile(r"(?P<name>[^\W\d]\w*)(?:[:.](?P<form>[^\W\d]\w*))?")


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


@dataclass(frozen=True)
class Prompts:
    """A table of prompts to send.

    Attributes
    ----------
    frame : DataFrame
        One row a prompt and sample: prompt_id, template, pair, group, a column a slot, sample, prompt.
    unpaired : int
        Prompts without a partner in every other group.
    """

    frame: pd.DataFrame
    unpaired: int

    def __len__(self) -> int:
        return len(self.frame)

    def to_text(self, path: Any = None) -> str | None:
        """The table as CSV, or as JSON lines where the file's name ends in .jsonl; written there if one is named."""
        return written(table_text(self.frame, path), path)


def _whole(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def table_text(frame: pd.DataFrame, path: Any = None) -> str:
    """A table as CSV, or as JSON lines by the ending of the file that it is for.

    Halves of surrogate pairs, which broken answers have and UTF-8 has not, are written as U+FFFD, with a warning.
    """
    broken = 0
    for name in [name for name in frame.columns if frame[name].dtype.kind == "O"]:
        halved = [isinstance(value, str) and has_half_pairs(value) for value in frame[name]]
        if any(halved):
            broken += sum(halved)
            frame = frame.assign(**{name: [_whole(value) for value in frame[name]]})
    if broken:
        logger.warning(
            "%s broken: half of a surrogate pair is written as U+FFFD", counted(broken, "text is", "texts are")
        )
    if path is not None and Path(path).suffix.lower() in (".jsonl", ".ndjson", ".jsonlines"):
        return frame.to_json(orient="records", lines=True, force_ascii=False)
    return frame.to_csv(index=False, lineterminator="\n")


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
        from justicia.generations.spec import read_mapping

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
    from justicia.generations.spec import whole_number

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
    if not _SLOT.fullmatch(text) or ":" in text or "." in text or text in COLUMNS:
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


@speaks_keywords
def expand_prompts(plan: Any, *, samples: int | None = None) -> Prompts:
    """Make every prompt of a plan.

    Where a cue's slot has several values in a group, such as names, the first of one group is paired with the first of
    the others, as far as all have as many. A template whose text names no slot of the cue is refused: its prompts would
    be the same for all groups.

    Parameters
    ----------
    plan : PromptPlan, mapping, or file in YAML or JSON
    samples : int, optional
        How often each prompt is to be asked, in place of what the plan says.

    Raises
    ------
    SpecError
        When a slot has no values, or there are too many prompts.

    >>> made = expand_prompts({"templates": ["Is {pronoun} right?"], "groups": {"F": "she", "M": "he"}})
    >>> made.frame["prompt"].tolist()
    ['Is she right?', 'Is he right?']
    """
    import pandas as pd

    held = read_plan(plan)
    from justicia.generations.spec import whole_number

    times = held.samples if samples is None else whole_number(samples, "samples")
    cues = list(next(iter(held.groups.values())))
    both = [slot for slot in held.slots if slot in cues]
    if both:
        raise SpecError(f"{listed(both)} cannot be both a slot of the group cue and of all groups")
    parsed = [(template, _parsed(template, held)) for template in held.templates]
    own = list(dict.fromkeys(name for template in held.templates for name in template.values))
    clash = [name for name in own if name in held.slots or name in cues]
    if clash:
        raise SpecError(f"{listed(clash)} cannot be both a slot and a column of a template")
    total = times * sum(_number(pieces, held) for _, pieces in parsed)
    if total > MOST_PROMPTS:
        raise SpecError(f"the plan makes {total:,} prompts, more than {MOST_PROMPTS:,}: name fewer values")
    rows = [row for template, pieces in parsed for row in _rows(template, pieces, held, times)]
    columns = [*COLUMNS[:4], *cues, *held.slots, *own, *COLUMNS[4:]]
    frame = pd.DataFrame([[row.get(name, "") for name in columns] for row in rows], columns=columns)
    # An id names a prompt and sample: two texts that come out the same in one group would be asked twice.
    same = frame.duplicated(["template", "group", "sample", "prompt"])
    frame = frame[~same].reset_index(drop=True)
    return Prompts(frame, int((frame["pair"] == "").sum()))


_Piece = str | tuple[str, str | None, bool]


def _parsed(template: PromptTemplate, plan: PromptPlan) -> list[_Piece]:
    """Texts, and slots as (name, form, whether it begins with a capital)."""
    place = f"template {shown(template.name)}: "
    pieces: list[_Piece] = []
    last = 0
    for found in _PIECE.finditer(template.text):
        pieces.append(template.text[last : found.start()])
        last = found.end()
        text = found.group(0)
        if text in ("{{", "}}"):
            pieces.append(text[0])
            continue
        if found.group(1) is None:
            raise SpecError(f"{place}a brace without its partner: write {text * 2} for a brace in the text")
        slot = _SLOT.fullmatch(found.group(1).strip())
        if slot is None:
            raise SpecError(f"{place}{shown(text)} is no slot: write {{name}}, or {{{{ for a brace in the text")
        name = slot["name"]
        capital = name[0] != name[0].lower()
        name = name[0].lower() + name[1:]
        pieces.append(_checked(name, slot["form"], capital, plan, place))
    pieces.append(template.text[last:])
    cues = {slot for cue in plan.groups.values() for slot in cue}
    if not any(isinstance(one, tuple) and one[0] in cues for one in pieces):
        raise SpecError(f"{place}no slot of the group cue ({listed(sorted(cues))}): its prompts are the same for all")
    return pieces


def _checked(name: str, form: str | None, capital: bool, plan: PromptPlan, place: str) -> _Piece:
    cue = next(iter(plan.groups.values()))
    known = [*cue, *plan.slots]
    if name not in known:
        raise SpecError(f"{place}the slot {{{shown(name)}}} has no values{did_you_mean(name, known)}")
    if name == "pronoun" and name in cue:
        cue["pronoun"][0].form(form or "subject")
    elif form not in (None, "a"):
        raise SpecError(
            f"{place}{{{shown(name)}:{shown(form)}}}: only pronouns have such forms; others have a, for a or an"
        )
    return name, form, capital


def _number(pieces: Sequence[_Piece], plan: PromptPlan) -> int:
    names = {piece[0] for piece in pieces if isinstance(piece, tuple)}
    shared = 1
    for name in names & set(plan.slots):
        shared *= len(plan.slots[name])
    total = 0
    for cue in plan.groups.values():
        each = shared
        for name in names & set(cue):
            each *= len(cue[name])
        total += each
    return total


def _rows(template: PromptTemplate, pieces: Sequence[_Piece], plan: PromptPlan, times: int) -> Iterator[dict[str, Any]]:
    used = {piece[0] for piece in pieces if isinstance(piece, tuple)}
    slots = [name for name in plan.slots if name in used]
    cues = [name for name in next(iter(plan.groups.values())) if name in used]
    paired = all(len({len(cue[name]) for cue in plan.groups.values()}) == 1 for name in cues)
    for values in product(*(plan.slots[name] for name in slots)):
        shared = dict(zip(slots, values, strict=True))
        for group, cue in plan.groups.items():
            for places in product(*(range(len(cue[name])) for name in cues)):
                held = {name: cue[name][place] for name, place in zip(cues, places, strict=True)}
                prompt = "".join(_filled(piece, held, shared) for piece in pieces)
                texts = {name: _text(value) for name, value in held.items()}
                pair = _short(template.name, *values, *map(str, places)) if paired else ""
                key = _short(template.name, group, *values, *texts.values())
                for sample in range(1, times + 1):
                    yield {
                        "prompt_id": key if times == 1 else f"{key}-{sample}",
                        "template": template.name,
                        "pair": pair,
                        "group": group,
                        **texts,
                        **shared,
                        **template.values,
                        "sample": sample,
                        "prompt": prompt,
                    }


def _short(*parts: str) -> str:
    """A name that is the same whenever the same prompt is made."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", errors="surrogatepass")).hexdigest()[:12]


def _text(value: Any) -> str:
    return value.subject if isinstance(value, Pronoun) else str(value)


def _filled(piece: _Piece, cue: Mapping[str, Any], slots: Mapping[str, str]) -> str:
    if isinstance(piece, str):
        return piece
    name, form, capital = piece
    value = cue[name] if name in cue else slots[name]
    if isinstance(value, Pronoun):
        text = value.form(form or "subject")
    else:
        text = value if form is None else f"{_article(value)} {value}"
    return text[:1].upper() + text[1:] if capital else text


_LIKE_A_CONSONANT = re.compile(r"(eu|one\b|once|u[bfknrst][aeiou]|uni(?!n|m)|[^aeiou])", re.IGNORECASE)
_SILENT_H = re.compile(r"(hour|honest|honou?r|heir)", re.IGNORECASE)


def _article(text: str) -> str:
    """A or an, by the letters that a word begins with.

    >>> [_article(word) for word in ("engineer", "nurse", "usher", "user", "university", "heir", "umpire")]
    ['an', 'a', 'an', 'a', 'a', 'an', 'an']
    """
    return "a" if _LIKE_A_CONSONANT.match(text) and not _SILENT_H.match(text) else "an"


def describe(prompts: Prompts) -> str:
    """What a table of prompts holds, in one line."""
    frame = prompts.frame
    held = f"{counted(len(frame), 'prompt')} from {counted(int(frame['template'].nunique()), 'template')}"
    groups = ", ".join(f"{shown(name)} {n:,}" for name, n in frame.groupby("group", sort=False).size().items())
    pairs = int(frame.loc[frame["pair"] != "", "pair"].nunique())
    return f"{held}; {groups}; {counted(pairs, 'pair')}"
