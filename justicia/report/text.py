"""The audit as tables for the terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from justicia.bounding import CLAIMS
from justicia.enclosure import EXACT
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.metrics import RATES_OF
from justicia.report.comparisons import reference_table, strata_table, undefined_or
from justicia.report.groups import (
    BOOTSTRAP,
    LEFT_OUT,
    MOST_GROUPS,
    REMAINING,
    SHIFTED,
    STATISTICAL,
    group_table,
    interval_methods,
    is_left_out,
    number,
    outside,
    percent,
)
from justicia.report.impact import impact_definitions, render_impact, render_ranges
from justicia.report.ll144 import render_layout
from justicia.report.routes import cross_check_text
from justicia.report.scores import rule_lines, rule_text, score_table, stated_rule
from justicia.shifting import METHODS, SUPPORT
from justicia.solvers.external import EXTERNAL, NAMES
from justicia.tables.weights import WEIGHT_KINDS
from justicia.words import counted, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import ConsoleRenderable, RenderableType

    from justicia.audited import Audit
    from justicia.comparison import Extreme, GroupingAudit
    from justicia.judging import RequirementAudit
    from justicia.measuring import MeasureAudit
    from justicia.remaining import Remaining
    from justicia.shifting import Change

__all__ = ["DEFINITIONS", "FURTHER", "audit_to_text", "render", "requirements_table"]

_SYMBOLS = {"met": ("✓", "green"), "breached": ("✗", "bold red"), "undecided": ("?", "yellow")}

DEFINITIONS = {
    "disparate_impact": "smallest rate / largest rate; 1 when all rates are equal",
    "statistical_parity_difference": "largest rate - smallest rate; 0 when all rates are equal",
    "equal_opportunity_difference": "largest TPR - smallest TPR",
    "equalized_odds_difference": "the larger of the ranges of TPR and of FPR",
    "equalized_odds_ratio": "the smaller of smallest / largest TPR and smallest / largest FPR",
    "average_odds_difference": "mean of the ranges of TPR and of FPR",
    "equal_opportunity_ratio": "smallest TPR / largest TPR",
    "predictive_parity_difference": "largest precision - smallest: favorable outcomes among the selected",
    "predictive_parity_ratio": "smallest precision / largest precision",
}


FURTHER = ("equal_opportunity_ratio", "predictive_parity_ratio")
"""Measures that are shown when they are asked for."""


def audit_to_text(audit: Audit, width: int = 100, *, all_groups: bool = False, all_measures: bool = False) -> str:
    """The audit as plain text, `width` characters wide."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(render(audit, width=width, all_groups=all_groups, all_measures=all_measures))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def render(audit: Audit, *, width: int = 100, all_groups: bool = False, all_measures: bool = False) -> RenderableType:
    """The audit as something that a rich console prints.

    Long tables are shown in part unless `all_groups` is set, and measures between groups unless `all_measures` is.
    """
    parts: list[RenderableType] = [_heading(audit)]
    scores = score_table(audit, every=all_groups)
    if scores is not None:
        parts += [Text(""), Padding(scores, (0, 0, 0, 2))]
    parts += [_grouping(grouping, audit.confidence, width, all_groups, all_measures) for grouping in audit.groupings]
    if audit.layout is not None:
        parts.append(render_layout(audit.layout))
    if audit.requirements:
        parts.append(requirements_table(audit.requirements))
    parts.append(_definitions(audit, all_measures))
    for warning in audit.warnings:
        parts.append(Text.assemble(("! ", "yellow"), shown(warning, 1000)))
    return Group(*parts)


def _heading(audit: Audit) -> RenderableType:
    model, table, check = audit.model, audit.table, audit.self_check
    truth, favorable = audit.roles.truth, audit.roles.favorable_text
    if truth is not None:
        same = truth.words == favorable
        favorable += f" of {truth.name}" if same else f", the model's class ({truth.words} in column {truth.name})"
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    name = audit.fitted.class_name
    grid.add_row("model", _text(name if model.source is None else f"{model.source} ({name})"))
    rows = counted(table.n_rows, "person", "people")
    grid.add_row("people", _text(rows if table.source is None else f"{table.source}, {rows}"))
    if audit.weights is not None:
        grid.add_row("weights", _text(f"{audit.weights.name}: {WEIGHT_KINDS[audit.weights.kind]}"))
    grid.add_row("favorable", _text(favorable))
    grid.add_row("depends on", Text(shown(", ".join(audit.features) or "nothing", 5000)))
    solution = audit.groupings[0].solution
    if isinstance(audit.decision, LinearThreshold):
        grid.add_row("rule", Text(rule_text(audit.decision)))
    stated = stated_rule(audit)
    if stated is not None:
        first, *lines = rule_lines(audit, stated)
        grid.add_row("rule", Text("\n".join([first, *(f"  {shown(line, 10_000)}" for line in lines)])))
    grid.add_row("population", Text(shown(_population(audit), 500)))
    grid.add_row("fit", Text(_fit(audit)))
    grid.add_row("engine", Text(f"{solution.engine}, {_guarantee(audit)}"))
    grid.add_row(
        "self-check",
        Text(
            f"0 mismatches with predict on {counted(check.rows, 'row')} and "
            f"{counted(check.boundary_points, 'boundary point')}"
            + (f"; {counted(check.ties, 'tie')}, which rounding may flip either way" if check.ties else "")
        ),
    )
    return Group(Text("Audit by justicia", style="bold"), grid)


def _population(audit: Audit) -> str:
    population, given = audit.groupings[0].population, audit.given_population
    meaning = {
        "tree": "each feature depends on the group and at most one other feature",
        "independent": "features independent given the group",
        "empirical": "the rows themselves",
    }
    structure = population.structure
    source = "" if given is None else f"{given.name or 'given'}, "
    return f"{source}{structure}: {population.description or meaning.get(structure, 'given')}"


def _fit(audit: Audit) -> str:
    """How far the population's rates are from those of the rows."""
    fit, held_out = audit.groupings[0].fit, audit.groupings[0].held_out
    text = (
        f"verified rates differ from the rows' by {fit.max_abs_error:.4f} at most and "
        f"{fit.mean_abs_error:.4f} on average over the groups"
    )
    if held_out is not None:
        text += (
            f"; from those of rows held out by {held_out.max_abs_error:.4f} at most and "
            f"{held_out.mean_abs_error:.4f} on average, in {counted(len(held_out.off), 'group')} by more than the "
            "sampling error"
        )
    return text


def _guarantee(audit: Audit) -> str:
    kinds = {grouping.solution.guarantee for grouping in audit.groupings}
    outside = audit.groupings[0].solution.engine in (EXTERNAL, *NAMES)
    if kinds == {"exact"}:
        return "exact, as that program says" if outside else "exact"
    if any(grouping.solution.search == "learn" for grouping in audit.groupings):
        return "bounds: the true rate certainly lies between them"
    enclosures = [held for grouping in audit.groupings for held in grouping.solution.enclosures]
    widest = max(float(held.hi) - float(held.lo) for held in enclosures)
    says = f"bounds at most {widest:.2g} apart: the true rate certainly lies between them"
    if outside:
        says = f"bounds at most {widest:.2g} apart, which that program's answers and digits leave"
    inner = [one for grouping in audit.groupings for one in grouping.solution.intervals if one is not None]
    if inner:
        widest = max(float(one.hi) - float(one.lo) for one in inner)
        says += f"; statistical bounds at most {widest:.2g} apart"
    return says


def _grouping(
    grouping: GroupingAudit, confidence: float, width: int, all_groups: bool, all_measures: bool
) -> RenderableType:
    empty = sum(group.selection_rate is None for group in grouping.reported)
    title = Text.assemble(
        (shown(" x ".join(grouping.sensitive), 200), "bold"),
        f": {_counted_groups(grouping)}" + (f" and {empty} without people" if empty else ""),
    )
    table = group_table(grouping, confidence, width - 2, all_groups)
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column()
    facts.add_row("most favored", _extreme(grouping.most_favored))
    facts.add_row("least favored", _extreme(grouping.least_favored))
    facts.add_row("errors", _errors(grouping))
    few = [group for group in grouping.groups if is_left_out(group.note, group.n)]
    if few:
        why = (few[0].note or "").partition(":")[0]
        facts.add_row(
            f"left out ({LEFT_OUT})", _text(f"{counted(len(few), 'group')} of {why}, in no extreme, measure or test")
        )
    if grouping.uncertainty.bounds:
        for name in CLAIMS:
            facts.add_row(name.replace("_", " "), Text(_bound(grouping, name)))
    if grouping.remaining is not None:
        facts.add_row("mediators", _text(_mediators(grouping.remaining)))
    if grouping.shift is not None:
        for title_, extreme, way in (
            ("raised by", grouping.most_favored, "highest"),
            ("lowered by", grouping.least_favored, "lowest"),
        ):
            held = grouping.shifted(extreme)
            if held is not None:
                facts.add_row(title_, _text(f"{', '.join(extreme.group.values())}: {_moved(getattr(held, way))}"))
    if grouping.cross_check is not None:
        facts.add_row("cross-check", cross_check_text(grouping.cross_check))
    measures = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    inner = any(measure.statistical is not None for measure in grouping.measures.values())
    drawn = grouping.uncertainty.bootstrap is not None
    more = [*([STATISTICAL] if inner else []), *([BOOTSTRAP] if drawn else [])]
    more += [SHIFTED] if grouping.shift is not None else []
    more += [REMAINING] if grouping.remaining is not None else []
    for heading in ("measure", "verified", *more, "rows", percent(confidence)):
        measures.add_column(heading, no_wrap=True)
    measures.add_column("")
    for name in _shown_measures(grouping, all_measures):
        measures.add_row(*_measure(name, grouping.measures[name], inner, drawn, _remaining(grouping, name)))
    parts: list[ConsoleRenderable] = [table, Text(""), measures, Text(""), facts]
    if all_measures:
        parts += [Text(""), _against("to_overall", "all people together", grouping)]
    beside = reference_table(grouping, all_groups)
    if beside is not None:
        name = ", ".join(shown(value) for value in (grouping.reference or {}).values())
        parts += [Text(""), Text(f"beside the reference group {name}"), beside]
        parts += [Text(""), _against("to_reference", f"the reference group {name}", grouping)]
    strata = strata_table(grouping, all_groups)
    if strata is not None and grouping.conditional is not None:
        factors = " x ".join(shown(name) for name in grouping.conditional.factors)
        alone = len(grouping.conditional.alone)
        note = f"; {counted(alone, 'stratum', 'strata')} of one group only, with nothing to compare" if alone else ""
        parts += [Text(""), Text(f"inside each stratum of {factors}{note}"), strata]
    parts += render_impact(grouping.adverse_impact, grouping.group_names, confidence, all_groups)
    parts += render_ranges(grouping.missing, grouping.possible, all_groups)
    return Group(Text(""), title, *(Padding(part, (0, 0, 0, 2)) for part in parts))


def _counted_groups(grouping: GroupingAudit) -> str:
    total = counted(grouping.population.n_groups, "group")
    if grouping.solution.search == "enumerate":
        return total
    return f"{total}, the extremes learned by evaluating {grouping.solution.groups_evaluated:,}"


def _text(value: str) -> Text:
    return Text(shown(value, 200))


def _extreme(extreme: Extreme) -> Text:
    text = _text(f"{', '.join(extreme.group.values())} ({number(extreme.selection_rate)})")
    others = len(extreme.candidates) - 1
    if others:
        tied = extreme.selection_rate.exact and extreme.tied
        says = "tied with" if tied else "the bounds do not tell it from"
        text.append(f"; {says} {counted(others, 'other group')}", style="dim")
    return text


def _errors(grouping: GroupingAudit) -> Table:
    """The three sources of error, each with its size for the most and the least favored group and disparate impact."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    sizes = grouping.errors
    for heading in ("of", *next(iter(sizes.values()))):
        table.add_column(heading.replace("_", " "), no_wrap=True)
    for kind, held in sizes.items():
        table.add_row(kind, *("-" if size is None else _size(size) for size in held.values()))
    return table


def _size(size: float) -> str:
    return "0" if size <= EXACT else f"{size:.4f}" if size >= 1e-4 else f"{size:.0e}"


def _bound(grouping: GroupingAudit, name: str) -> str:
    """One bound by the rows, of the extreme groups and the disparate impact."""
    by_values = {tuple(group.group.values()): group for group in grouping.groups}
    ends = [by_values[tuple(end.group.values())] for end in (grouping.most_favored, grouping.least_favored)]
    held = [group.bounds.get("selection_rate", {}).get(name) for group in ends]
    held.append(grouping.measures["disparate_impact"].bounds.get(name))
    if all(one is None for one in held):
        return f"none: {grouping.uncertainty.bounds['selection_rate'][name].reason}"
    return ", ".join("none" if one is None else number(one) for one in held)


def _moved(changes: tuple[Change, ...] | None) -> str:
    """The parts of a shift by what they change."""
    if changes is None:
        return "not known: no worst population was looked for"
    names = {"rows": "(the rows)", "weights": "(share of the rows and of each class)"}
    return ", ".join(f"{one.feature or names[one.part]} {one.change:+.4f}" for one in changes) or "nothing"


def _mediators(remaining: Remaining) -> str:
    """Mediators, what each is drawn given, and as in which group."""
    names = [
        f"{name} (given {', '.join(remaining.parents[name])})" if name in remaining.parents else name
        for name in remaining.mediators
    ]
    groups = " or ".join(", ".join(group.values()) for group in remaining.favored)
    return f"{', '.join(names)}, drawn as in {groups}" + ("" if remaining.certain else ", which may not be the one")


def _remaining(grouping: GroupingAudit, name: str) -> list[Text]:
    """The cell of what remains of a measure, where mediators are named."""
    if grouping.remaining is None:
        return []
    held = grouping.remaining.statistical.get(name, grouping.remaining.measures.get(name))
    if held is None:
        return [Text("-")]
    return [Text("undefined" if held.value is None else number(held.value))]


def _measure(name: str, measure: MeasureAudit, inner: bool, drawn: bool, remaining: list[Text]) -> list[RenderableType]:
    ranged, sample, interval = measure.verified, measure.sample, measure.interval
    verified = ranged if measure.unshifted is None else measure.unshifted
    value = "undefined" if verified.value is None else number(verified.value)
    between = "" if interval is None else f"{float(interval.lo):.4f} to {float(interval.hi):.4f}"
    narrowed = verified if measure.statistical is None else measure.statistical
    return [
        Text(name.replace("_", " ")),
        Text(value, style="bold"),
        *([Text("undefined" if narrowed.value is None else number(narrowed.value), style="bold")] if inner else []),
        *([Text("-" if measure.bootstrap is None else number(measure.bootstrap))] if drawn else []),
        *([] if measure.unshifted is None else [Text("undefined" if ranged.value is None else number(ranged.value))]),
        *remaining,
        Text("undefined" if sample.value is None else number(sample.value)),
        between,
        Text(measure.note, style="yellow"),
    ]


def _shown_measures(grouping: GroupingAudit, all_measures: bool) -> list[str]:
    return [name for name in grouping.measures if all_measures or name not in FURTHER]


def _against(comparison: str, words: str, grouping: GroupingAudit) -> Table:
    """Every measure with the groups compared with something else than each other."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in (f"farthest from {words}", "verified", "rows", "interval", ""):
        table.add_column(heading, no_wrap=bool(heading))
    for name, measure in grouping.measures.items():
        held = measure.compared.get(comparison)
        if held is None or name in FURTHER:
            continue
        between = held.interval
        table.add_row(
            Text(name.replace("_", " ")),
            Text(undefined_or(held.verified), style="bold"),
            Text(undefined_or(held.sample)),
            "" if between is None else f"{float(between.lo):.4f} to {float(between.hi):.4f}",
            Text(held.note, style="yellow"),
        )
    return table


def _definitions(audit: Audit, all_measures: bool) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(style="dim")
    grid.add_row("verified", "selection rate, or measure of selection rates, under the population")
    grid.add_row("rows", "the same among the rows; intervals of measures hold for all groups together")
    methods = interval_methods(audit.groupings)
    if methods:
        grid.add_row(percent(audit.confidence), methods)
    grid.add_row(
        "errors",
        "verification: width of the bounds; sampling: how far the clopper-pearson interval reaches from the rows' "
        f"value, at confidence {audit.confidence:g} for all compared groups together, for a model not fitted on the "
        "rows; structure: verified value against the rows'",
    )
    if any(grouping.uncertainty.bounds for grouping in audit.groupings):
        for name, claim in CLAIMS.items():
            grid.add_row(name.replace("_", " "), f"{claim}; at confidence {audit.confidence:g} for all groups together")
    impacts = [grouping.adverse_impact for grouping in audit.groupings if grouping.adverse_impact is not None]
    for name, says in impact_definitions(impacts[0].effective).items() if impacts else ():
        grid.add_row(name, says)
    made = {held.method for grouping in audit.groupings if (held := grouping.uncertainty.bootstrap) is not None}
    if made:
        says = "sampling error of verified values; measures for all groups together, rates one by one"
        grid.add_row(BOOTSTRAP, f"{says}; {', '.join(sorted(made))} at confidence {audit.confidence:g}")
    shifts = [shift for grouping in audit.groupings for shift in grouping.shifts.values()]
    if shifts:
        ways = "; ".join(METHODS[name] for name in METHODS if name in {shift.method for shift in shifts})
        grid.add_row(
            SHIFTED,
            f"certain range over all populations whose table rows each move by {shifts[0].radius:g} in total variation "
            f"at most, inside {SUPPORT}; found by {ways}",
        )
    if any(grouping.remaining is not None for grouping in audit.groupings):
        grid.add_row(
            REMAINING,
            "the same when each mediator is drawn, given what it depends on in the population, as in the most favored "
            "group, and all else as before: what remains of a gap does not go through the mediators",
        )
    deltas = [grouping.delta(*RATES_OF[name]) for grouping in audit.groupings for name in grouping.measures]
    if any(deltas):
        grid.add_row(
            STATISTICAL,
            "people drawn from what the bounds leave open; all intervals of a row hold together but for a probability "
            f"of {max(deltas):.1g} at most",
        )
    if any(outside(group) for grouping in audit.groupings for group in grouping.reported):
        grid.add_row("*", "outside the interval of the rows: the population's structure misses something in this group")
    if any(len(grouping.reported) > MOST_GROUPS for grouping in audit.groupings):
        grid.add_row("more", "long tables show both ends and the smallest groups; --all-groups shows all")
    if audit.roles.truth is not None:
        outcome = f"{audit.roles.truth.words} in column {audit.roles.truth.name}"
        says = f"verified selection rate of the people with {shown(outcome)}, and of the others"
        if any(
            group.narrowest(kind) is not group.unshifted(kind)
            for grouping in audit.groupings for group in grouping.reported for kind in ("tpr", "fpr")
        ):  # fmt: skip
            says += "; statistical, where that is narrower"
        if _fitted_apart(audit):
            says += (
                "; each under a population fitted to these people alone, so that the two together do not quite make up "
                "the group's verified rate"
            )
        grid.add_row("TPR, FPR", Text(says))
    for name in _shown_measures(audit.groupings[0], all_measures):
        grid.add_row(name.replace("_", " "), DEFINITIONS[name])
    if any(grouping.reference is not None for grouping in audit.groupings):
        grid.add_row("ratio, difference", "selection rate / that of the reference group, and minus it, with its sign")
        if audit.roles.truth is not None:
            grid.add_row(
                "signed average odds",
                "mean of the differences of TPR and of FPR from the reference group's; opposite ones cancel, so that 0 "
                "does not mean equal rates",
            )
    if any(grouping.conditional is not None for grouping in audit.groupings):
        grid.add_row("strata", "ratio and difference of selection rates among the groups of one stratum")
    return Group(Text(""), grid)


def _fitted_apart(audit: Audit) -> bool:
    """Whether rates by true outcome are under populations of their own, which are not the rows themselves."""
    return audit.groupings[0].population.structure in ("auto", "independent", "tree")


def requirements_table(requirements: Sequence[RequirementAudit]) -> RenderableType:
    """The requirements with their status and reason."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column()
    for requirement in requirements:
        symbol, style = _SYMBOLS[requirement.status]
        grid.add_row(
            Text(f"{symbol} {requirement.status}", style=style),
            _text(requirement.text),
            Text("\n".join(shown(part, 500) for part in requirement.reason.split("; "))),
        )
    return Group(Text(""), Text("Requirements", style="bold"), Padding(grid, (0, 0, 0, 2)))
