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
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from justicia.errors import SpecError
from justicia.generations.plans import COLUMNS, SLOT, PromptPlan, PromptTemplate, read_plan
from justicia.generations.pronouns import Pronoun
from justicia.generations.spec import whole_number
from justicia.speaking import speaks_keywords
from justicia.tables.text import table_text
from justicia.words import counted, did_you_mean, listed, shown
from justicia.writing import written

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Prompts", "describe", "expand_prompts"]

MOST_PROMPTS = 1_000_000

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


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
        slot = SLOT.fullmatch(found.group(1).strip())
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
