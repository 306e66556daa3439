"""A comparison of models and tools as tables for the terminal, and as frames."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from justicia._version import __version__
from justicia.report.groups import MOST_GROUPS, number
from justicia.report.side_by_side_models import (
    GAINED_SAY,
    change_tables,
    fits,
    incomplete_notes,
    mark_of,
    model_facts,
    shared_facts,
    tool_table,
)
from justicia.report.times import fixed_time
from justicia.words import counted, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from rich.console import RenderableType

    from justicia.comparing import Comparison
    from justicia.comparison import GroupingAudit
    from justicia.peers import PeerAnswer, PeerNumber

__all__ = [
    "SECONDS_SAY",
    "Section",
    "comparison_to_text",
    "numbers_frame",
    "rates_frame",
    "reasons_of",
    "render_comparison",
    "sections_of",
]

SECONDS_SAY = (
    "CPU seconds of all threads, without imports of AIF360 and Fairlearn. The audit reads the table, checks the "
    "encoding, fits populations and verifies every rate; the tools get the rows' decisions ready-made"
)

POPULATIONS_SAY = (
    "each model's verified rates are about a population fitted to the features that it tells apart, so that a small "
    "part of their change may be that of the population; with --population FILE, or empirical, both are about the same"
)

_KINDS = {"selection_rate": "rate", "tpr": "TPR", "fpr": "FPR", "precision": "precision"}


def comparison_to_text(held: Comparison, width: int = 120, *, all_groups: bool = False) -> str:
    """The comparison as plain text, `width` characters wide."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(render_comparison(held, width=width, all_groups=all_groups))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


@dataclass(frozen=True)
class Section:
    """A part of the report: a title, facts as pairs, tables with a caption each, and sentences."""

    title: str
    facts: list[tuple[str, str]]
    tables: list[tuple[str, Table]]
    says: list[str]


def sections_of(held: Comparison, *, all_groups: bool = False, width: int | None = None) -> list[Section]:
    """The report, part by part: the models, what each grouping has of them, why numbers differ, and what it took.

    Tables that do not fit into lines of `width` characters are divided where they can be.
    """
    reasons = reasons_of(held)
    of = _of_one if len(held.sides) == 1 else _of_two
    parts = of(held, reasons, all_groups, width)
    if reasons:
        facts = [(f"({letter})", reason) for reason, letter in reasons.items()]
        parts.append(Section("Why numbers differ", facts, [], []))
    parts.append(Section("What it took", [], [("", _times(held))], [SECONDS_SAY]))
    return parts


def _of_one(held: Comparison, reasons: dict[str, str], all_groups: bool, width: int | None) -> list[Section]:
    """One model beside the other tools."""
    (side,) = held.sides
    tables_ = []
    for position, (grouping, answers) in enumerate(zip(side.audit.groupings, side.tools, strict=True)):
        title = " x ".join(grouping.sensitive)
        rates = _rates(grouping, answers, all_groups)
        tables_.append((f"{title}: selection rates of {counted(len(grouping.groups), 'group')}", rates))
        measures = _measures(grouping, answers, reasons)
        if fits(measures, width):
            tables_.append((f"{title}: measures", measures))
            continue
        tables_.append((f"{title}: measures", _measures(grouping, (), reasons)))
        table, _ = tool_table(held, position, reasons, width)
        if table is not None:
            tables_.append((f"{title}: other tools", table))
    says = [
        f"{' x '.join(grouping.sensitive)}: {line}"
        for position, grouping in enumerate(side.audit.groupings)
        for line in incomplete_notes(held, position)
    ]
    return [Section(side.name, model_facts(side), tables_, says)]


def _of_two(held: Comparison, reasons: dict[str, str], all_groups: bool, width: int | None) -> list[Section]:
    """Two models beside each other, and beside the other tools."""
    says = [GAINED_SAY] if same_populations(held) else [GAINED_SAY, POPULATIONS_SAY]
    parts = [Section("Models", shared_facts(held), [], says if held.changes else [])]
    for position, change in enumerate(held.changes):
        title = " x ".join(change.sensitive)
        tables_ = change_tables(change, all_groups=all_groups, width=width)
        table, more = tool_table(held, position, reasons, width)
        if table is not None:
            tables_.append(("other tools", table))
        tables_ = [(f"{title}: {caption}", one) for caption, one in tables_]
        parts.append(Section(title, [], tables_, [*incomplete_notes(held, position), *([more] if more else [])]))
    return parts


def same_populations(held: Comparison) -> bool:
    """Whether the verified rates of both models are about the same distribution."""
    return all(
        side.audit.given_population is not None or side.audit.population.structure == "empirical" for side in held.sides
    )


def render_comparison(held: Comparison, *, width: int | None = None, all_groups: bool = False) -> RenderableType:
    """The comparison as something that a rich console prints; long tables in part unless `all_groups` is set."""
    parts: list[RenderableType] = [Text("Comparison by justicia", style="bold")]
    for section in sections_of(held, all_groups=all_groups, width=width):
        parts += [Text(""), Text(shown(section.title, 300), style="bold")]
        if section.facts:
            grid = Table.grid(padding=(0, 2))
            grid.add_column(style="dim", no_wrap=True)
            grid.add_column()
            for term, says in section.facts:
                grid.add_row(Text(term), Text(shown(says, 500)))
            parts.append(grid)
        for caption, table in section.tables:
            parts += [Text(""), Text(shown(caption, 300)), table] if caption else [table]
        parts += [Text(line, style="dim") for line in section.says]
    warnings = _warnings(held)
    if warnings:
        parts.append(Text(""))
    for warning in warnings:
        parts.append(Text.assemble(("! ", "yellow"), shown(warning, 1000)))
    return Group(*parts)


def _warnings(held: Comparison) -> list[str]:
    """Warnings of the comparison and of its audits: once what is said of every model, else with the model's name."""
    of_audits = dict.fromkeys(warning for side in held.sides for warning in side.audit.warnings)
    found = [warning for warning in held.warnings if warning not in of_audits]
    for warning in of_audits:
        having = [shown(side.name) for side in held.sides if warning in side.audit.warnings]
        found.append(warning if len(having) == len(held.sides) else f"{' and '.join(having)}: {warning}")
    return found


def reasons_of(held: Comparison) -> dict[str, str]:
    """Every reason for a difference, with the letter that stands for it."""
    reasons: dict[str, str] = {}
    for side in held.sides:
        for answers in side.tools:
            for one in _numbers(answers):
                if one.agreement == "explained":
                    for reason in one.reasons:
                        reasons.setdefault(reason, ascii_lowercase[len(reasons)])
    return reasons


def _numbers(answers: Sequence[PeerAnswer]) -> list[PeerNumber]:
    return [one for answer in answers for one in answer.numbers]


def _table(*headings: str, left: int = 1) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, heading in enumerate(headings):
        table.add_column(Text(shown(heading, 40)), justify="left" if place < left else "right", no_wrap=True)
    return table


def _peers(answers: Sequence[PeerAnswer]) -> list[PeerAnswer]:
    """The other tools that said something."""
    return [answer for answer in answers if answer.numbers]


def _cell(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def _rates(grouping: GroupingAudit, answers: Sequence[PeerAnswer], all_groups: bool) -> Table:
    peers = _peers(answers)
    by_tool = [
        {one.group: one for one in peer.numbers if one.group is not None and one.measure == "selection_rate"}
        for peer in peers
    ]
    others = [
        {(one.group, one.measure) for one in peer.numbers if one.group is not None and one.agreement != "equal"}
        for peer in peers
    ]
    table = _table(
        *grouping.sensitive, "people", "verified", "rows", *(peer.title for peer in peers),
        *(["others differ in"] if any(others) else []), left=len(grouping.sensitive),
    )  # fmt: skip
    held = list(range(len(grouping.groups)))
    skipped = 0
    if len(held) > MOST_GROUPS and not all_groups:
        skipped, half = len(held) - MOST_GROUPS, MOST_GROUPS // 2
        held = [*held[:half], *held[-half:]]
    for place in held:
        group = grouping.groups[place]
        differ = [
            f"{peer.title}: {', '.join(_KINDS[kind] for kind in _KINDS if (place, kind) in found)}"
            for peer, found in zip(peers, others, strict=True)
            if any(at == place for at, _ in found)
        ]
        table.add_row(
            *(Text(shown(value, 40)) for value in group.group.values()),
            f"{group.n:,}",
            "-" if group.selection_rate is None else number(group.selection_rate),
            "-" if group.sample_rate is None else f"{float(group.sample_rate.value):.4f}",
            *(_cell(found[place].value) if place in found else "" for found in by_tool),
            *([Text("; ".join(differ))] if any(others) else []),
        )
        if skipped and place == held[len(held) // 2 - 1]:
            table.add_row(Text(f"… {skipped:,} more", style="dim"))
    return table


def _measures(grouping: GroupingAudit, answers: Sequence[PeerAnswer], reasons: dict[str, str]) -> Table:
    peers = _peers(answers)
    table = _table(*("measure", "verified", "rows"), *(["tool", "its function", "its value", ""] if peers else []))
    for column in (3, 4, 6) if peers else ():
        table.columns[column].justify = "left"
    if peers:
        table.columns[6].no_wrap = False
    for name, held in grouping.measures.items():
        own = [
            name.replace("_", " "),
            "undefined" if held.verified.value is None else number(held.verified.value),
            "undefined" if held.sample.value is None else number(held.sample.value),
        ]
        lines = [
            (answer.title, one)
            for answer in peers
            for one in answer.numbers
            if one.measure == name and one.group is None
        ]
        if not lines:
            table.add_row(*own)
        for title, one in lines:
            says = mark_of(one, reasons) + (f" {shown(one.compared, 100)}" if one.compared else "")
            table.add_row(
                *own, title, one.function, "undefined" if math.isnan(one.value) else f"{one.value:.4f}", Text(says)
            )
            own = ["", "", ""]
    return table


def _times(held: Comparison) -> Table:
    table = _table("model", "grouping", "tool", "version", "CPU s", "memory MB", "", left=4)
    table.columns[6].justify = "left"
    table.columns[6].no_wrap = False

    # Equal inputs give equal bytes where the time is fixed.
    timed = fixed_time() is None

    def seconds(took: float) -> str:
        return f"{took:.3f}" if timed else "-"

    def memory(size: int | None) -> str:
        if not timed:
            return "-"
        return "not known" if size is None else f"{size / 2**20:.1f}"

    for side in held.sides:
        name = Text(shown(side.name, 40))
        table.add_row(name, "all", "justicia, audit", __version__, seconds(side.seconds), memory(side.memory))
        for grouping, answers in zip(side.audit.groupings, side.tools, strict=True):
            for answer in answers:
                if answer.seconds is not None:
                    says = Text("; ".join(answer.notes))
                    title = Text(shown(" x ".join(grouping.sensitive), 40))
                    table.add_row(
                        name,
                        title,
                        answer.title,
                        answer.version or "",
                        seconds(answer.seconds),
                        memory(answer.memory),
                        says,
                    )
    return table


def numbers_frame(held: Comparison) -> pd.DataFrame:
    """One row a number of another tool."""
    import pandas as pd

    rows = [
        {
            "model": side.name,
            "grouping": " x ".join(grouping.sensitive),
            "tool": answer.tool,
            "function": one.function,
            "measure": one.measure,
            "group": None if one.group is None else ", ".join(grouping.groups[one.group].group.values()),
            "compared": one.compared or None,
            "value": one.value,
            "rows": one.ours,
            "agreement": one.agreement,
            "why": "; ".join(one.reasons) if one.agreement == "explained" else one.problem,
        }
        for side in held.sides
        for grouping, answers in zip(side.audit.groupings, side.tools, strict=True)
        for answer in answers
        for one in answer.numbers
    ]
    columns = ["model", "grouping", "tool", "function", "measure", "group", "compared", "value", "rows"]
    return pd.DataFrame(rows, columns=[*columns, "agreement", "why"])


def rates_frame(held: Comparison) -> pd.DataFrame:
    """Selection rates of the first grouping, one row a group, columns by model and source."""
    import pandas as pd

    columns: dict[tuple[str, str], list[float]] = {}
    first = held.sides[0].audit.groupings[0]
    for side in held.sides:
        grouping, answers = side.audit.groupings[0], side.tools[0]
        rates = [group.selection_rate for group in grouping.groups]
        columns[side.name, "verified_lo"] = [math.nan if one is None else float(one.lo) for one in rates]
        columns[side.name, "verified_hi"] = [math.nan if one is None else float(one.hi) for one in rates]
        columns[side.name, "rows"] = [
            math.nan if group.sample_rate is None else float(group.sample_rate.value) for group in grouping.groups
        ]
        for answer in _peers(answers):
            found = {one.group: one.value for one in answer.numbers if one.measure == "selection_rate"}
            columns[side.name, answer.tool] = [found.get(place, math.nan) for place in range(len(grouping.groups))]
    keys = [tuple(group.group.values()) for group in first.groups]
    index = pd.MultiIndex.from_tuples(keys, names=first.sensitive)
    frame = pd.DataFrame(columns, index=index.get_level_values(0) if len(first.sensitive) == 1 else index)
    frame.columns = pd.MultiIndex.from_tuples(list(columns), names=["model", "source"])
    return frame
