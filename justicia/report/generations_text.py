"""Reports about generations as tables for the terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from justicia.generations.asking import CheckReport
from justicia.generations.association_results import AssociationReport
from justicia.generations.covering import CoverageReport
from justicia.generations.diversity_results import DiversityReport
from justicia.generations.results import VERDICTS, SequenceReport
from justicia.words import counted, listed, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from justicia.generations.results import RunResult
    from justicia.generations.simulation import Simulation
    from justicia.generations.table import Generations

__all__ = [
    "check_to_text",
    "coverage_to_text",
    "printed",
    "render",
    "render_facts",
    "render_head",
    "sequences_to_text",
    "simulation_to_text",
]

_MOST_RUNS = 40
_MOST_MISSING = 4
_WORST_FIRST = {"fails": 0, "undecided": 1, "too short": 2, "holds": 3}
_STYLES = {"holds": "green", "fails": "bold red", "too short": "yellow", "undecided": "yellow"}
_LEVELS = {"fault": ("✗", "bold red"), "warning": ("!", "yellow"), "note": ("·", "dim")}


def printed(made: RenderableType, width: int) -> str:
    """Something that rich prints as plain text."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(made)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def render(
    report: SequenceReport | CoverageReport | CheckReport | Simulation | DiversityReport | AssociationReport,
    *,
    all_runs: bool = False,
) -> RenderableType:
    """A report as something that a rich console prints; of many runs, the worst unless `all_runs` is set."""
    if isinstance(report, DiversityReport):
        from justicia.report.generations_diversity import render_diversity

        return render_diversity(report)
    if isinstance(report, AssociationReport):
        from justicia.report.generations_association import render_association

        return render_association(report)
    if isinstance(report, SequenceReport):
        return _sequences(report, all_runs)
    if isinstance(report, CoverageReport):
        return _coverage(report, all_runs)
    return _check(report) if isinstance(report, CheckReport) else _simulation(report)


def sequences_to_text(report: SequenceReport, width: int = 100, *, all_runs: bool = False) -> str:
    """Sequences of all runs as plain text."""
    return printed(_sequences(report, all_runs), width)


def coverage_to_text(report: CoverageReport, width: int = 100, *, all_runs: bool = False) -> str:
    """Coverage of all runs as plain text."""
    return printed(_coverage(report, all_runs), width)


def check_to_text(report: CheckReport, width: int = 100) -> str:
    """What a table holds, as plain text."""
    return printed(_check(report), width)


def simulation_to_text(report: Simulation, width: int = 100) -> str:
    """A simulation as plain text."""
    return printed(_simulation(report), width)


def _table(*columns: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return table


def render_facts(rows: Sequence[tuple[str, str]]) -> Table:
    """Names with what they are."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for name, text in rows:
        grid.add_row(name, Text(text))
    return grid


def render_head(title: str, generations: Generations) -> RenderableType:
    """The title, the table and its attributes."""
    spec, source = generations.spec, generations.source
    used, rows = len(generations), len(source.frame)
    held = counted(used, "generation") + (f" of {rows:,}" if used < rows else "")
    runs = counted(len(generations.runs), "run") + (f" by {shown(spec.run)}" if spec.run else "")
    facts = [("table", f"{shown(source.name or 'in memory', 200)}, {held}, {runs}")]
    if spec.where:
        facts.append(
            ("where", ", ".join(f"{shown(name)}={'|'.join(map(shown, held))}" for name, held in spec.where.items()))
        )
    for name, labels in generations.labels.items():
        facts.append((shown(name), f"{counted(len(labels.values), 'value')}: {listed(labels.values, 20)}"))
    return Group(Text(f"{title} by justicia", style="bold"), render_facts(facts))


def _verdict(verdict: str) -> Text:
    return Text(verdict, style=_STYLES[verdict])


def _run(name: str | None) -> str:
    return "-" if name is None else shown(name)


def _some(verdicts: Sequence[str], every: bool) -> tuple[list[int], str | None]:
    """Which results to show, and what is left out."""
    if every or len(verdicts) <= _MOST_RUNS:
        return list(range(len(verdicts))), None
    order = sorted(range(len(verdicts)), key=lambda place: _WORST_FIRST[verdicts[place]])
    rest = len(verdicts) - _MOST_RUNS
    return order[:_MOST_RUNS], f"and {counted(rest, 'other run')}, none of a worse verdict (--all-runs shows them)"


def _sequences(report: SequenceReport, all_runs: bool) -> RenderableType:
    parts: list[RenderableType] = [render_head("Sequences", report.generations)]
    for question in report.questions:
        beta = question.beta
        asked = "every value occurs" if beta is None else f"every value in every {beta} generations in a row"
        for_ever = ", for ever" if question.infinite else ""
        title = Text.assemble((shown(" x ".join(question.attribute), 200), "bold"), f": {asked}{for_ever}")
        table = _table("run", "n", "unknown", "least beta", "verdict", "widest gap", right=("n", "unknown"))
        places, rest = _some([VERDICTS[code] for code in question.verdicts.tolist()], all_runs)
        results = [question.result(place) for place in places]
        for one in results:
            gap = "" if one.witness is None else one.witness.text
            table.add_row(
                Text(_run(one.run)), f"{one.n:,}", f"{one.unknown:,}", one.beta_text, _verdict(one.verdict), Text(gap)
            )
        parts += [Text(""), title, Padding(table, (0, 0, 0, 2))]
        if rest:
            counts = ", ".join(f"{count:,} {name}" for name, count in question.counts.items() if count)
            parts.append(Text(f"  {rest}: {counts} in all", style="dim"))
        spread = None if rest else _spread(results)
        if spread:
            parts.append(Text(f"  {spread}", style="dim"))
    for held in report.evidence:
        parts += [Text(""), Text(f"{shown(' x '.join(held.attribute), 200)}: {held.statement}")]
    parts += [Text(""), Text.assemble("all together: ", _verdict(report.verdict))]
    return Group(*parts)


def _spread(results: Sequence[RunResult]) -> str | None:
    """The run whose frequencies are furthest apart."""
    held = [one for one in results if one.frequency is not None]
    if not held:
        return None
    worst = max(held, key=lambda one: 0 if one.frequency is None else one.frequency.hi)
    frequency = worst.frequency
    if frequency is None:
        return None
    value = f"{frequency.hi:.3f}" if frequency.lo == frequency.hi else f"{frequency.lo:.3f} to {frequency.hi:.3f}"
    where = "" if worst.run is None else f" (run {shown(worst.run)})"
    text = f"frequencies differ by {value} at most{where}"
    if frequency.finite is None or frequency.limit is None:
        return text
    allowed = f"{frequency.finite:.3f} in {worst.n:,} generations, {frequency.limit:.3f} in the limit"
    return f"{text}; beta {frequency.beta} allows {allowed}"


def _coverage(report: CoverageReport, all_runs: bool) -> RenderableType:
    parts: list[RenderableType] = [render_head("Coverage", report.generations)]
    what = {1: "values", 2: "pairs of values"}.get(report.t, f"combinations of {report.t} values")
    title = Text.assemble(
        (shown(" x ".join(report.attributes), 200), "bold"), f": {what}, at least {float(report.least):g}"
    )
    table = _table(
        "run", "n", "unknown", "occur", "of", "coverage", "verdict", "last new", right=("n", "unknown", "of")
    )
    places, rest = _some([one.verdict for one in report.results], all_runs)
    for place in places:
        one = report.results[place]
        lo, hi = one.covered
        shares = [f"{share:.3f}" for share in one.coverage]
        table.add_row(
            Text(_run(one.run)),
            f"{one.n:,}",
            f"{one.unknown:,}",
            str(lo) if lo == hi else f"{lo} to {hi}",
            str(one.total),
            shares[0] if lo == hi else f"{shares[0]} to {shares[1]}",
            _verdict(one.verdict),
            f"generation {one.curve[-1][0]}" if one.curve else "-",
        )
    parts += [Text(""), title, Padding(table, (0, 0, 0, 2))]
    if rest:
        parts.append(Text(f"  {rest}", style="dim"))
    for place in places:
        one = report.results[place]
        if one.missing and len(places) <= _MOST_RUNS:
            said = [", ".join(f"{shown(name)}={shown(value)}" for name, value in held.items()) for held in one.missing]
            more = len(said) - _MOST_MISSING
            some = "; ".join(said[:_MOST_MISSING]) + (f"; and {more} more" if more > 0 else "")
            parts.append(Text(f"  {_run(one.run)} lacks {some}", style="dim"))
    for place in places:
        one = report.results[place]
        for number, next_ in enumerate(one.suggestions, start=1):
            said_ = ", ".join(f"{shown(name)}={shown(value)}" for name, value in next_.values.items())
            of_run = "" if one.run is None else f"{shown(one.run)}: "
            parts.append(Text(f"  {of_run}ask next ({number}): {said_} ({next_.new} new)"))
    parts += [Text(""), Text.assemble("all together: ", _verdict(report.verdict))]
    return Group(*parts)


def _check(report: CheckReport) -> RenderableType:
    generations = report.generations
    lengths = generations.starts[1:] - generations.starts[:-1]
    parts: list[RenderableType] = [render_head("Check of a table of generations", generations)]
    parts.append(render_facts([("run lengths", f"{int(lengths.min()):,} to {int(lengths.max()):,}")]))
    parts.append(Text(""))
    order = sorted(generations.findings, key=lambda one: list(_LEVELS).index(one.level))
    for one in order:
        symbol, style = _LEVELS[one.level]
        parts.append(Text.assemble((f"{symbol} ", style), shown(one.text, 1000)))
    faults = len(generations.faults)
    parts.append(
        Text("no fault" if not faults else f"{counted(faults, 'fault')} to mend", style="" if faults else "green")
    )
    return Group(*parts)


def _simulation(report: Simulation) -> RenderableType:
    facts = [(name.replace("_", " "), str(value)) for name, value in report.parameters.items()]
    numbers = [
        ("enforced", f"{report.enforced:,} of {report.steps:,} ({report.interference:.4f})"),
        ("changed", f"{report.changed:,}: would have been outside what was allowed"),
        ("failed", f"{report.failed:,} enforcements that did not take effect"),
        ("misses", f"{report.misses:,} ({report.misses_per_1000:.3f} in 1,000)"),
        ("least beta", "-" if report.beta_star is None else str(report.beta_star)),
        ("frequencies", f"differ by {report.difference:.4f}; the bound in the limit is {report.limit_bound:.4f}"),
    ]
    return Group(
        Text("Simulation of a shield by justicia", style="bold"),
        render_facts(facts),
        Text(""),
        render_facts(numbers),
        Text(""),
        Text.assemble("least beta within beta: ", _verdict(report.verdict)),
    )
