"""The audit of decisions without a model: tables for the terminal, and JSON by the contract ``justicia.audit/1``."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from justicia._version import __version__
from justicia.decision_groups import SUPPRESSED
from justicia.metrics import CONDITIONAL, MEASURES
from justicia.report.comparisons import references
from justicia.report.groups import MOST_GROUPS, interval_methods, number, percent
from justicia.report.impact import (
    impact_definitions,
    impact_to_dict,
    ranges_to_dict,
    render_impact,
    render_ranges,
)
from justicia.report.json import SCHEMA, group_to_dict, measure_to_dict, reference_to_dict, weights_to_dict
from justicia.report.ll144 import layout_to_dict, render_layout
from justicia.report.text import DEFINITIONS, FURTHER, requirements_table
from justicia.report.times import created
from justicia.tables.weights import WEIGHT_KINDS
from justicia.words import counted, shown

if TYPE_CHECKING:
    from rich.console import RenderableType

    from justicia.comparison import GroupAudit, SampleRate
    from justicia.decision_groups import DecisionGrouping
    from justicia.decisions import DecisionsAudit

__all__ = ["decisions_to_dict", "decisions_to_text", "render_decisions"]

_BAR = 16
_LONGEST_NAME = 40


def decisions_to_text(
    audit: DecisionsAudit, width: int = 100, *, all_groups: bool = False, all_measures: bool = False
) -> str:
    """The audit as plain text, `width` characters wide."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(render_decisions(audit, width=width, all_groups=all_groups, all_measures=all_measures))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def render_decisions(
    audit: DecisionsAudit, *, width: int = 100, all_groups: bool = False, all_measures: bool = False
) -> RenderableType:
    """The audit as something that a rich console prints.

    Long tables are shown in part unless `all_groups` is set, and measures unless `all_measures` is.
    """
    parts: list[RenderableType] = [_heading(audit)]
    held = [*audit.groupings[0].measures]
    names = [name for name in held if all_measures or name not in FURTHER]
    if audit.layout is not None:
        parts.append(render_layout(audit.layout))
    # The layout has tables of its own; whatever else was asked for stands below them.
    tables = audit.layout is None or any(one.adverse_impact or one.missing for one in audit.groupings)
    if tables:
        several = len({grouping.rule for grouping in audit.groupings}) > 1
        parts += [_grouping(grouping, audit, width, all_groups, several, names) for grouping in audit.groupings]
    if audit.requirements:
        parts.append(requirements_table(audit.requirements))
    if tables:
        parts.append(_definitions(audit, names))
    parts += [Text.assemble(("! ", "yellow"), shown(warning, 1000)) for warning in audit.warnings]
    return Group(*parts)


def _heading(audit: DecisionsAudit) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    table, truth = audit.table, audit.truth
    rows = counted(table.n_rows, "person", "people")
    grid.add_row("people", _text(rows if table.source is None else f"{table.source}, {rows}"))
    grid.add_row("score" if audit.scored else "decision", _text(audit.column))
    grid.add_row("favorable", _text(audit.favorable_text))
    if truth is not None:
        grid.add_row("true outcome", _text(f"{truth.words} in column {truth.name}"))
    if audit.weights is not None:
        grid.add_row("weights", _text(f"{audit.weights.name}: {WEIGHT_KINDS[audit.weights.kind]}"))
    grid.add_row("model", Text("none: nothing is verified, everything is about these rows"))
    if audit.suppress_below:
        grid.add_row("suppressed", Text(f"groups with a count below {audit.suppress_below}, and what gives them away"))
    return Group(Text("Audit of decisions by justicia", style="bold"), grid)


def _text(value: str) -> Text:
    return Text(shown(value, 300))


def _grouping(
    grouping: DecisionGrouping, audit: DecisionsAudit, width: int, all_groups: bool, several: bool, names: list[str]
) -> RenderableType:
    with_rows = [group for group in grouping.groups if group.n]
    empty = len(grouping.groups) - len(with_rows)
    title = Text.assemble(
        (shown(" x ".join(grouping.sensitive), 200), "bold"),
        f"{f', {shown(grouping.rule, 200)}' if several else ''}: {counted(len(with_rows), 'group')}"
        + (f" and {empty} without people" if empty else ""),
    )
    parts: list[RenderableType] = [
        _groups(grouping, audit, width - 2, all_groups),
        Text(""),
        _measures(grouping, audit, names),
    ]
    parts += render_impact(grouping.adverse_impact, grouping.group_names, audit.confidence, all_groups)
    parts += render_ranges(grouping.missing, grouping.possible, all_groups)
    return Group(Text(""), title, *(Padding(part, (0, 0, 0, 2)) for part in parts))


def _groups(grouping: DecisionGrouping, audit: DecisionsAudit, width: int, all_groups: bool) -> Table:
    """Groups by their rate, largest first; then those that are left out, and the empty ones."""
    compared = sorted(grouping.compared, key=lambda group: (-_value(group), tuple(group.group.values())))
    rest = [group for group in grouping.groups[len(compared) :] if group.n]
    empty = [group for group in grouping.groups if not group.n]
    rows: list[GroupAudit | str] = [*compared, *rest, *empty]
    if not all_groups and len(rows) > MOST_GROUPS:
        half = MOST_GROUPS // 2
        rows = [*rows[:half], f"… {len(rows) - 2 * half:,} more", *rows[-half:]]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in grouping.sensitive:
        table.add_column(Text(shown(name, _LONGEST_NAME)), no_wrap=True)
    labelled = ["TPR", "FPR", "precision"] if audit.truth is not None else []
    weighted = ["weight"] if any(group.weight is not None for group in grouping.groups) else []
    names = len(grouping.sensitive) * 16
    interval = [percent(audit.confidence)] if names + 70 + 11 * len(labelled) <= width else []
    bar = [""] if names + 88 + 11 * len(labelled) <= width else []
    for heading in ("people", *weighted, "selected", "rate", *bar, *interval, *labelled):
        left = heading in ("", percent(audit.confidence))
        table.add_column(heading, justify="left" if left else "right", no_wrap=True)
    table.add_column("", style="dim")
    largest = max((_value(group) for group in compared), default=0.0)
    for row in rows:
        if isinstance(row, str):
            table.add_row(Text(row, style="dim"))
            continue
        cells = _cells(row, largest)
        columns = [
            "people",
            *weighted,
            "selected",
            "rate",
            *(["bar"] if bar else []),
            *(["interval"] if interval else []),
        ]
        shown_names = (Text(shown(value, _LONGEST_NAME)) for value in row.group.values())
        table.add_row(*shown_names, *(Text(cells[column]) for column in (*columns, *labelled)), Text(row.note or ""))
    return table


def _value(group: GroupAudit) -> float:
    return 0.0 if group.sample_rate is None else float(group.sample_rate.value)


def _rate(rate: SampleRate | None) -> str:
    return "-" if rate is None else f"{float(rate.value):.4f}"


def _cells(group: GroupAudit, largest: float) -> dict[str, str]:
    names = ("people", "weight", "selected", "rate", "bar", "interval", "TPR", "FPR", "precision")
    if group.note == SUPPRESSED:
        return dict.fromkeys(names, "-")
    sample = group.sample_rate
    return {
        "people": f"{group.n:,}",
        "weight": "-" if group.weight is None else f"{group.weight[0]:,.6g}",
        "selected": f"{group.selected or 0:,}",
        "rate": _rate(sample),
        "bar": "█" * (round(_BAR * _value(group) / largest) if largest else 0),
        "interval": "-" if sample is None else f"{sample.lo:.4f} to {sample.hi:.4f}",
        "TPR": _rate(group.sample_tpr),
        "FPR": _rate(group.sample_fpr),
        "precision": _rate(group.sample_precision),
    }


def _measures(grouping: DecisionGrouping, audit: DecisionsAudit, names: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("measure", "rows", percent(audit.confidence), ""):
        table.add_column(heading, no_wrap=bool(heading))
    for name in names:
        held = grouping.measures[name]
        sample, interval = held.sample, held.interval
        note = sample.undefined or ""
        table.add_row(
            name.replace("_", " "),
            Text("undefined" if sample.value is None else number(sample.value), style="bold"),
            "" if interval is None else f"{float(interval.lo):.4f} to {float(interval.hi):.4f}",
            Text(f"incomplete: {note}" if note and sample.value is not None else note, style="yellow"),
        )
    return table


def _definitions(audit: DecisionsAudit, names: list[str]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(style="dim")
    grid.add_row(
        "rate", "share of people with the favorable outcome; intervals of measures hold for all groups together"
    )
    methods = interval_methods(audit.groupings)
    if methods:
        grid.add_row(percent(audit.confidence), methods)
    held = [grouping.adverse_impact for grouping in audit.groupings if grouping.adverse_impact is not None]
    if held:
        for name, says in impact_definitions(held[0].effective).items():
            grid.add_row(name, says)
    for name in names:
        grid.add_row(name.replace("_", " "), DEFINITIONS[name])
    if audit.requirements:
        grid.add_row("limits", "those of requirements are chosen by whoever wrote them")
    return Group(Text(""), grid)


def decisions_to_dict(audit: DecisionsAudit) -> dict[str, Any]:
    """The audit as plain lists, dicts, numbers and texts."""
    table, truth = audit.table, audit.truth
    # What was left out may be so few people that their number is not published, nor what it follows from.
    few = any(0 < rows < audit.suppress_below for rows in table.dropped.values())
    return {
        "schema": SCHEMA,
        "tool": {"name": "justicia", "version": __version__},
        "created": created(),
        "command": None if audit.command is None else list(audit.command),
        "model": None,
        "decisions": {
            "column": audit.column,
            "scored": audit.scored,
            "rules": list(dict.fromkeys(grouping.rule for grouping in audit.groupings)),
        },
        "data": {
            "source": table.source,
            "sha256": table.sha256,
            "rows": None if few else table.n_read,
            "rows_used": table.n_rows,
            "dropped": dict.fromkeys(table.dropped) if few else dict(table.dropped),
            "unseen": {},
        },
        "weight": weights_to_dict(audit.weights),
        "missing": audit.missing,
        "publishing": {"min_group": audit.min_group or None, "suppress_below": audit.suppress_below or None},
        "sensitive": list(audit.groupings[0].sensitive),
        "label": None if truth is None else truth.name,
        "favorable": audit.favorable_text,
        "solver": None,
        "self_check": None,
        "confidence": audit.confidence,
        "groupings": [_grouping_to_dict(grouping, audit.confidence) for grouping in audit.groupings],
        "layout": layout_to_dict(audit.layout),
        "requirements": [
            {"text": held.text, "status": held.status, "reason": held.reason} for held in audit.requirements
        ],
        "warnings": list(audit.warnings),
    }


def _grouping_to_dict(grouping: DecisionGrouping, confidence: float) -> dict[str, Any]:
    beside = reference_to_dict([], references(grouping.evidence.samples.rates) if grouping.reference else [])
    beside += [None] * (len(grouping.groups) - len(beside))
    measures = {
        name: measure_to_dict(grouping.measures[name], name, grouping, confidence)
        if name in grouping.measures
        else None
        for name in MEASURES
    }
    return {
        "sensitive": list(grouping.sensitive),
        "rule": grouping.rule,
        "threshold": grouping.threshold,
        "groups_evaluated": len(grouping.compared),
        "population": None,
        "errors": None,
        "bounds": None,
        "bootstrap": None,
        "shift": None,
        "cross_check": None,
        "mediators": None,
        "reference": grouping.reference,
        "groups": [
            _suppressed(group) if group.note == SUPPRESSED else group_to_dict(group, grouping, confidence, one)
            for group, one in zip(grouping.groups, beside, strict=True)
        ],
        "most_favored": None,
        "least_favored": None,
        "sample_most_favored": grouping.most_favored,
        "sample_least_favored": grouping.least_favored,
        "measures": {**measures, **dict.fromkeys(CONDITIONAL)},
        "conditional": None,
        "adverse_impact": impact_to_dict(grouping.adverse_impact, grouping.group_names),
        "missing_bounds": ranges_to_dict(grouping.missing, grouping.possible),
    }


def _suppressed(group: GroupAudit) -> dict[str, Any]:
    """A group whose numbers are not published."""
    names = (
        *("n", "selected", "positives", "negatives", "weight", "selection_rate", "sample_rate", "tpr", "fpr"),
        *("sample_tpr", "sample_fpr", "precision", "sample_precision", "to_reference"),
    )
    return {"group": group.group, **dict.fromkeys(names), "note": group.note}
