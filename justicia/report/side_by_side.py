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
from justicia.enclosure import Enclosure
from justicia.report.groups import MOST_GROUPS, number
from justicia.report.times import fixed_time
from justicia.words import counted, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from rich.console import RenderableType

    from justicia.changes import Change, GroupingChange
    from justicia.comparing import Comparison, Side
    from justicia.comparison import GroupingAudit
    from justicia.peers import PeerAnswer, PeerNumber

__all__ = [
    "SECONDS_SAY",
    "Section",
    "comparison_to_text",
    "mark_of",
    "numbers_frame",
    "rates_frame",
    "reasons_of",
    "render_comparison",
    "sections_of",
    "signed_number",
]

SECONDS_SAY = (
    "CPU seconds of all threads, without imports of AIF360 and Fairlearn. The audit reads the table, checks the "
    "encoding, fits populations and verifies every rate; the tools get the rows' decisions ready-made"
)

GAINED_SAY = "gained, lost: people of the table whom the second model alone selects, and the first alone"
POPULATIONS_SAY = (
    "each model's verified rates are about a population fitted to the features that it tells apart, so that a small "
    "part of their change may be that of the population; with --population FILE, or empirical, both are about the same"
)

_KINDS = {"selection_rate": "rate", "tpr": "TPR", "fpr": "FPR", "precision": "precision"}


def comparison_to_text(held: Comparison, width: int = 120, *, all_groups: bool = False) -> str:
    """The comparison as plain text, `width` characters wide."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(render_comparison(held, all_groups=all_groups))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


@dataclass(frozen=True)
class Section:
    """A part of the report: a title, facts as pairs, tables with a caption each, and sentences."""

    title: str
    facts: list[tuple[str, str]]
    tables: list[tuple[str, Table]]
    says: list[str]


def sections_of(held: Comparison, *, all_groups: bool = False) -> list[Section]:
    """The report, part by part: a model each, why numbers differ, what it took, and what changes."""
    parts, reasons = [], reasons_of(held)
    for side in held.sides:
        tables_ = []
        for grouping, answers in zip(side.audit.groupings, side.tools, strict=True):
            title = " x ".join(grouping.sensitive)
            tables_ += [
                (f"{title}: selection rates of {counted(len(grouping.groups), 'group')}",
                 _rates(grouping, answers, all_groups)),
                (f"{title}: measures", _measures(grouping, answers, reasons)),
            ]  # fmt: skip
        parts.append(Section(side.name, _facts(side), tables_, []))
    if reasons:
        facts = [(f"({letter})", reason) for reason, letter in reasons.items()]
        parts.append(Section("Why numbers differ", facts, [], []))
    names = [side.name for side in held.sides]
    alike = same_populations(held)
    parts += [_changes(change, names, all_groups, same=alike) for change in held.changes]
    parts.append(Section("What it took", [], [("", _times(held))], [SECONDS_SAY]))
    return parts


def same_populations(held: Comparison) -> bool:
    """Whether the verified rates of both models are about the same distribution."""
    return all(
        side.audit.given_population is not None or side.audit.population.structure == "empirical" for side in held.sides
    )


def render_comparison(held: Comparison, *, all_groups: bool = False) -> RenderableType:
    """The comparison as something that a rich console prints; long tables in part unless `all_groups` is set."""
    parts: list[RenderableType] = [Text("Comparison by justicia", style="bold")]
    for section in sections_of(held, all_groups=all_groups):
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
    if held.warnings:
        parts.append(Text(""))
    for warning in held.warnings:
        parts.append(Text.assemble(("! ", "yellow"), shown(warning, 1000)))
    return Group(*parts)


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


def mark_of(one: PeerNumber, reasons: dict[str, str]) -> str:
    """How a number agrees with the rows' own, in a few characters."""
    if one.agreement == "explained":
        return f"({','.join(reasons[reason] for reason in one.reasons)})"
    return {"equal": "=", "unexplained": "unexplained", "error": one.problem or "error"}[one.agreement]


def signed_number(held: Enclosure | None) -> str:
    """A difference with its sign; bounds rounded outwards."""
    if held is None:
        return "-"
    if held.exact:
        return f"{float(held.lo):+.4f}"
    lo, hi = math.floor(float(held.lo) * 1e4) / 1e4, math.ceil(float(held.hi) * 1e4) / 1e4
    return f"{lo:+.4f} to {hi:+.4f}"


def _numbers(answers: Sequence[PeerAnswer]) -> list[PeerNumber]:
    return [one for answer in answers for one in answer.numbers]


def _table(*headings: str, left: int = 1) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, heading in enumerate(headings):
        table.add_column(Text(shown(heading, 40)), justify="left" if place < left else "right", no_wrap=True)
    return table


def _facts(side: Side) -> list[tuple[str, str]]:
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
    table = _table("measure", "verified", "rows", "tool", "its function", "its value", "", left=1)
    for column in (3, 4, 6):
        table.columns[column].justify = "left"
    table.columns[6].no_wrap = False
    for name, held in grouping.measures.items():
        own = [
            name.replace("_", " "),
            "undefined" if held.verified.value is None else number(held.verified.value),
            "undefined" if held.sample.value is None else number(held.sample.value),
        ]
        lines = [
            (answer.title, one)
            for answer in _peers(answers)
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


def _changes(change: GroupingChange, names: Sequence[str], all_groups: bool, *, same: bool) -> Section:
    table = _table(
        *change.sensitive, "people", "verified", "then", "change", "rows", "then", "change", "gained", "lost",
        left=len(change.sensitive),
    )  # fmt: skip
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
            *_three(group.verified["selection_rate"]),
            *_three(group.rows["selection_rate"]),
            f"{group.gained:,}",
            f"{group.lost:,}",
        )
    measures = _table("measure", "verified", "then", "change", "rows", "then", "change")
    for name, verified in change.verified.items():
        measures.add_row(name.replace("_", " "), *_three(verified), *_three(change.rows[name]))
    title = " x ".join(change.sensitive)
    return Section(
        f"{title}: from {names[0]} to {names[1]}",
        [],
        [(f"{title}: selection rates, before and after", table), (f"{title}: measures, before and after", measures)],
        [GAINED_SAY] if same else [GAINED_SAY, POPULATIONS_SAY],
    )


def _three(change: Change) -> tuple[str, str, str]:
    before, after = ("-" if held is None else number(held) for held in (change.before, change.after))
    return before, after, signed_number(change.difference)


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
