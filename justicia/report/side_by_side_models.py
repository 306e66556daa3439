"""Two models side by side in one table each of rates, measures and the other tools' numbers; what both share once."""

from __future__ import annotations

import math
import textwrap
from string import ascii_uppercase
from typing import TYPE_CHECKING

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from justicia.report.groups import MOST_GROUPS, number
from justicia.words import counted, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from justicia.changes import Change, GroupingChange
    from justicia.comparing import Comparison, Side
    from justicia.enclosure import Enclosure
    from justicia.peers import PeerNumber

__all__ = [
    "GAINED_SAY",
    "change_tables",
    "fits",
    "incomplete_notes",
    "mark_of",
    "model_facts",
    "shared_facts",
    "signed_number",
    "tool_table",
]

GAINED_SAY = "gained, lost: people of the table whom B alone selects, and A alone; change: B less A"


def signed_number(held: Enclosure | None) -> str:
    """A difference with its sign; bounds rounded outwards."""
    if held is None:
        return "-"
    if held.exact:
        return f"{float(held.lo):+.4f}"
    lo, hi = math.floor(float(held.lo) * 1e4) / 1e4, math.ceil(float(held.hi) * 1e4) / 1e4
    return f"{lo:+.4f} to {hi:+.4f}"


def mark_of(one: PeerNumber, reasons: Mapping[str, str]) -> str:
    """How a number agrees with the rows' own, in a few characters."""
    if one.agreement == "explained":
        return f"({','.join(reasons[reason] for reason in one.reasons)})"
    return {"equal": "=", "unexplained": "unexplained", "error": one.problem or "error"}[one.agreement]


def model_facts(side: Side) -> list[tuple[str, str]]:
    """What a model is, whom it was asked about, and which tools were not."""
    audit = side.audit
    truth, favorable = audit.roles.truth, shown(audit.roles.favorable_text, 200)
    rows = counted(len(audit.table.frame), "person", "people")
    source = audit.table.source
    facts = [
        ("model", audit.fitted.class_name),
        ("people", rows if source is None else f"{shown(source, 200)}, {rows}"),
        ("favorable", favorable if truth is None else f"{favorable} of {shown(truth.name)}"),
    ]
    if audit.weights is not None:
        facts.append(("weights", shown(audit.weights.name, 200)))
    if side.accuracy is not None:
        facts.append(("accuracy", f"{side.accuracy:.4f}"))
    by_tool = {answer.tool: answer for answers in side.tools for answer in answers}
    absent = [answer for answer in by_tool.values() if answer.version is None]
    return [*facts, *((answer.title, f"left out: {answer.notes[0]}") for answer in absent)]


def shared_facts(held: Comparison) -> list[tuple[str, str]]:
    """Facts of several models: a letter each, and once whatever is equal."""
    facts = [dict(model_facts(side)) for side in held.sides]
    terms = list(dict.fromkeys(term for one in facts for term in one))
    same = [term for term in terms if len({one.get(term) for one in facts}) == 1 and term not in ("model", "accuracy")]
    lines = []
    for letter, side, one in zip(ascii_uppercase, held.sides, facts, strict=False):
        own = [one["model"]] + [f"{term} {one[term]}" for term in terms if term in one and term not in (*same, "model")]
        lines.append((letter, f"{shown(side.name, 200)}: {', '.join(own)}"))
    names = [shown(side.name, 200) for side in held.sides]
    return [*lines, ("change", f"from {names[0]} to {names[1]}"), *((term, facts[0][term]) for term in same)]


def _table(*headings: str, left: int = 1) -> Table:
    """A table of which the names, and nothing else, are folded where it would be too wide."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, heading in enumerate(headings):
        table.add_column(
            Text("\n".join(shown(part, 40) for part in heading.split("\n"))),
            justify="left" if place < left else "right",
            no_wrap=place >= left,
        )
    return table


def fits(table: Table, width: int | None) -> bool:
    """Whether a table can stand in lines of so many characters as it is."""
    if width is None:
        return True
    console = Console(width=10_000, color_system=None)
    return Measurement.get(console, console.options, table).maximum <= width


_SOURCES = ("verified", "rows")


def change_tables(change: GroupingChange, *, all_groups: bool, width: int | None = None) -> list[tuple[str, Table]]:
    """Selection rates and measures of both models, and what changes; in lines of `width` characters, one source each.

    Parameters
    ----------
    change : GroupingChange
    all_groups : bool
        Show every group.
    width : int, optional
        Characters that a line may take; any number when left out.
    """
    says = f"selection rates of {counted(len(change.groups), 'group')}"
    together = _rates(change, _SOURCES, all_groups=all_groups)
    found = [(says, together)]
    if not fits(together, width):
        found = [(f"{says}, {one}", _rates(change, (one,), all_groups=all_groups)) for one in _SOURCES]
    measures = _measures(change, _SOURCES)
    if fits(measures, width):
        return [*found, ("measures", measures)]
    return [*found, *((f"measures, {one}", _measures(change, (one,))) for one in _SOURCES)]


def _headings(sources: Sequence[str]) -> list[str]:
    return [heading for one in sources for heading in (f"{one}\nA", "\nB", "\nchange")]


def _rates(change: GroupingChange, sources: Sequence[str], *, all_groups: bool) -> Table:
    """Rates of every group; with those of the rows, how many people change."""
    moved = ["\ngained", "\nlost"] if "rows" in sources else []
    table = _table(*change.sensitive, "people", *_headings(sources), *moved, left=len(change.sensitive))
    groups = list(change.groups)
    skipped = len(groups) - MOST_GROUPS if not all_groups and len(groups) > MOST_GROUPS else 0
    half = MOST_GROUPS // 2
    for place, group in enumerate(groups):
        if skipped and half <= place < len(groups) - half:
            if place == half:
                table.add_row(Text(f"… {skipped:,} more", style="dim"))
            continue
        table.add_row(
            *(Text(shown(value, 40)) for value in group.group.values()),
            f"{group.n:,}",
            *(cell for one in sources for cell in _three(getattr(group, one)["selection_rate"])),
            *([f"{group.gained:,}", f"{group.lost:,}"] if moved else []),
        )
    return table


def _measures(change: GroupingChange, sources: Sequence[str]) -> Table:
    table = _table("measure", *_headings(sources))
    for name in change.verified:
        cells = (cell for one in sources for cell in _three(getattr(change, one)[name]))
        table.add_row(name.replace("_", " "), *cells)
    return table


def _three(change: Change) -> tuple[str, str, str]:
    before, after = ("-" if held is None else number(held) for held in (change.before, change.after))
    return before, after, signed_number(change.difference)


_RATES = {"selection_rate": "selection rate", "tpr": "TPR", "fpr": "FPR", "precision": "precision"}


def tool_table(
    held: Comparison, position: int, reasons: Mapping[str, str], width: int | None = None
) -> tuple[Table | None, str]:
    """The other tools' numbers of one grouping, a column a model, and what is not listed.

    Rates of groups that equal those of the rows for every model are not listed.

    Parameters
    ----------
    held : Comparison
    position : int
        Of the grouping.
    reasons : mapping of str to str
        Letters of the reasons for differences.
    width : int, optional
        Characters that a line may take; any number when left out.
    """
    listed, equal = _numbers(held, position)
    more = ""
    if equal:
        more = f"{counted(equal, 'rate')} of groups that other tools have are equal to those of the rows"
    if not listed:
        return None, more
    wide = _tools(listed, len(held.sides), reasons, apart=False)
    return (wide if fits(wide, width) else _tools(listed, len(held.sides), reasons, apart=True)), more


def incomplete_notes(held: Comparison, position: int) -> list[str]:
    """Which measures of a grouping leave out groups, or are undefined, and why; once what is so for every model.

    Parameters
    ----------
    held : Comparison
    position : int
        Of the grouping.
    """
    found: dict[str, dict[str, list[int]]] = {}
    for at, side in enumerate(held.sides):
        for name, measure in side.audit.groupings[position].measures.items():
            if measure.note:
                found.setdefault(measure.note, {}).setdefault(name.replace("_", " "), []).append(at)
    lines = []
    for note, measures in found.items():
        of: dict[str, list[str]] = {}
        for name, models in measures.items():
            whose = "" if len(models) == len(held.sides) else f"{', '.join(ascii_uppercase[at] for at in models)}: "
            of.setdefault(whose, []).append(name)
        lines += [f"{whose}{note}: {', '.join(names)}" for whose, names in of.items()]
    return lines


_Line = tuple[str, str, str, str]
"""What a number is, the tool, its function, and whom it compares."""


def _numbers(held: Comparison, position: int) -> tuple[list[tuple[_Line, dict[int, PeerNumber]]], int]:
    """Numbers of the other tools by what they are, then by model; how many rates of groups are left out."""
    names = [", ".join(group.group.values()) for group in held.sides[0].audit.groupings[position].groups]
    found: dict[_Line, dict[int, PeerNumber]] = {}
    for at, side in enumerate(held.sides):
        for answer in side.tools[position]:
            for one in answer.numbers:
                what = one.measure.replace("_", " ")
                if one.group is not None:
                    what = f"{_RATES[one.measure]} of {shown(names[one.group])}"
                found.setdefault((what, answer.title, one.function, one.compared), {})[at] = one
    kept, equal = [], 0
    for line, numbers in found.items():
        every = numbers.values()
        if all(one.group is not None and one.agreement == "equal" for one in every):
            equal += len(numbers)
        else:
            kept.append((line, numbers))
    measures = held.sides[0].audit.groupings[position].measures
    order = {name.replace("_", " "): place for place, name in enumerate(measures)}
    # Measures in their order, whichever tool and model has them, and rates of groups behind them.
    return sorted(kept, key=lambda pair: order.get(pair[0][0], len(order))), equal


def _tools(
    listed: Sequence[tuple[_Line, Mapping[int, PeerNumber]]], models: int, reasons: Mapping[str, str], *, apart: bool
) -> Table:
    """One row a function; `apart`: what it is stands in a row above, and whom it compares below."""
    values = list(ascii_uppercase[:models]) if models > 1 else ["its value"]
    words = ("tool", "its function") if apart else ("measure", "tool", "its function")
    table = _table(*words, *values, "", left=len(words))
    table.columns[-1].justify, table.columns[-1].no_wrap = "left", False
    for column in table.columns[len(words) - 2 : len(words)]:
        column.no_wrap = True
    widest = max(len(function) for (_, _, function, _), _ in listed)
    last = ""
    for (what, tool, function, compared), numbers in listed:
        marks = list(dict.fromkeys(mark_of(one, reasons) for one in numbers.values()))
        if len(marks) > 1:
            marks = [f"{ascii_uppercase[at]} {mark_of(one, reasons)}" for at, one in numbers.items()]
        cells = [_cell(numbers[at].value) if at in numbers else "" for at in range(models)]
        says, whom = Text(", ".join(marks)), shown(compared, 100)
        if whom and apart:
            function = "\n".join([function, *textwrap.wrap(whom, widest)])
        elif whom:
            says.append(f" {whom}")
        if apart and what != last:
            table.add_row("", Text(what, style="bold"))
        own = [] if apart else ["" if what == last else what]
        table.add_row(*own, tool, function, *cells, says)
        last = what
    return table


def _cell(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.4f}"
