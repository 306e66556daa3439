"""What an audit of generations says, from its JSON: the answer, the sections in blocks, what was not computed."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from justicia.generations.sections import section
from justicia.generations.spec import ROLES
from justicia.report.document import SYMBOLS, Cell, Heading, Paragraph, Table
from justicia.words import counted, listed, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from justicia.report.document import Block

__all__ = ["Page", "audit_to_text", "page_of", "render_audit"]

Json = dict[str, Any]

_MOST_ROWS = 40
"""Of a table in the terminal."""

_ROLE_WORDS = {
    "prompt": "what was asked for",
    "context": "neutral, or the word that may trigger a bias",
    "axis": "along which a prompt was changed",
    "counterfactual": "what it was changed to; blank for the prompt as it was",
    "text": "words about the generation, or the generated text",
    "response": "what a language model answered",
    "group": "who the question was about",
    "truth": "the right answer",
    "score": "a number of the answer",
    "model": "which model generated it",
    "pair": "which generations belong together",
    "enforced": "whether a shield forced it",
}

_GLOSSARY = (
    ("generation", "One output of the generative model: a row of the table."),
    ("run", "Generations in the order in which they came; runs are never joined."),
    ("attribute", "Something that every generation was labelled with, such as the gender that an image shows."),
    ("domain", "All values of an attribute. They are declared, as a value that never occurs is the finding."),
    ("unknown", "A label that is blank or means “not known”: it may be any value, so that answers become intervals."),
    ("least beta", "The least B such that every B generations in a row have every value; smaller is better."),
    (
        "met, breached, undecided",
        "A requirement is met or breached when all that is known of its value lies on one side of the limit; undecided "
        "when the limit lies inside an interval, the sequence is too short, or the value could not be computed.",
    ),
)


@dataclass(frozen=True)
class SectionPage:
    """A section as it is shown."""

    name: str
    title: str
    about: str
    says: Sequence[str]
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """The whole report."""

    title: str
    headline: str
    verdict: str
    sections: list[SectionPage]
    lacking: list[tuple[str, str, str]]
    facts: list[tuple[str, str]]
    findings: list[tuple[str, str]]
    command: str
    glossary: Sequence[tuple[str, str]]
    method: list[str]


def page_of(held: Json) -> Page:
    """An audit's JSON as what the reports show."""
    made = []
    for one in held["sections"]:
        if one["computed"]:
            part = section(one["name"])
            content = {**one["content"], "confidence": held["confidence"]}
            made.append(SectionPage(part.name, part.title, part.about, part.says(content), part.blocks(content)))
    lacking = []
    for one in held["sections"]:
        if not one["computed"]:
            lacking.append((one["title"], one["reason"], one["remedy"]))
            continue
        lacking += [
            (f"{one['title']}: {part['what']}", part["reason"], part["remedy"])
            for part in one["content"].get("lacks", ())
        ]
    words = held["command"]
    return Page(
        title=title_of(held),
        headline=_headline(held),
        verdict=_verdict(held["requirements"]),
        sections=made,
        lacking=lacking,
        facts=_facts(held),
        findings=[(one["level"], one["text"]) for one in held["findings"]],
        command=" ".join(shlex.quote(word) for word in words) if words else "",
        glossary=_GLOSSARY,
        method=_method(held),
    )


def title_of(held: Json) -> str:
    """What was audited."""
    return f"Audit of generations in {shown(held['data']['source'] or 'a table', 80)}"


def _headline(held: Json) -> str:
    data = held["data"]
    says = f"{counted(data['rows_used'], 'generation')} in {counted(data['runs'], 'run')}"
    names = list(held["attributes"])
    if names:
        says += f", labelled with {listed(names, 8)}"
    done = [one["title"].lower() for one in held["sections"] if one["computed"]]
    return f"{says}. Its columns allow {counted(len(done), 'section')}: {', '.join(done)}."


def _verdict(requirements: Sequence[Json]) -> str:
    parts = [
        f"{number} {status}"
        for status in ("breached", "undecided", "met")
        if (number := sum(one["status"] == status for one in requirements))
    ]
    return f"Of {counted(len(requirements), 'requirement')}: {', '.join(parts)}." if requirements else ""


def _facts(held: Json) -> list[tuple[str, str]]:
    data = held["data"]
    facts = [("table", data["source"] or "given in Python")]
    if data["sha256"]:
        facts.append(("SHA-256 of the table", data["sha256"]))
    facts.append(("rows", f"{data['rows']:,} read, {data['rows_used']:,} used"))
    facts.append(("runs", f"{data['runs']:,}" + (f", told apart by {data['run']}" if data["run"] else "")))
    facts.append(("order", f"by the column {data['step']}" if data["step"] else "that of the table"))
    for name, values in data["where"].items():
        facts.append((f"only {shown(name)}", listed(values, 20)))
    for name, one in held["attributes"].items():
        beta = "" if one["beta"] is None else f"; beta {one['beta']}"
        unknown = f"; unknown: {listed(one['unknown'])}" if one["unknown"] else ""
        facts.append((f"attribute {shown(name)}", f"{listed(one['domain'], 30)}{beta}{unknown}"))
    if held["neutral"]:
        facts.append(
            ("neutral prompts", ", ".join(f"{name}={'|'.join(values)}" for name, values in held["neutral"].items()))
        )
    if held["off_domain"] != "error":
        taken = {"none": "show none of the values"}.get(held["off_domain"], "unknown")
        facts.append(("labels outside a domain", taken))
    columns = held["columns"]
    facts += [
        (f"{role} column", f"{columns[role]}: {_ROLE_WORDS[role]}") for role in ("prompt", *ROLES) if columns[role]
    ]
    facts.append(("confidence", f"{100 * held['confidence']:.6g} %"))
    facts.append(("seed, replicates", f"{held['seed']}, {held['replicates']:,}"))
    return facts


def _method(held: Json) -> list[str]:
    lines = [
        "Everything here is computed from the table alone: no model was asked, and no label was guessed. What labels "
        "leave unknown makes an answer an interval; rows with unknown labels are kept.",
        "What is said of a sequence or of coverage is a fact about this log, and exact. What is said of a generator, "
        "such as a diversity, is an estimate from a sample; its interval says how far it may be off, if generations "
        "under the same prompt are independent draws. Labels are taken as they are: a labeller's errors are not in any "
        "interval.",
    ]
    if held["command"]:
        lines.append("A table of the same SHA-256 and the command below give the same numbers.")
    return lines


def audit_to_text(held: Json, width: int = 100) -> str:
    """The audit as plain text."""
    from justicia.report.generations_text import printed

    return printed(render_audit(held), width)


def render_audit(held: Json) -> RenderableType:
    """The audit as something that a rich console prints: the answer, and the short tables of every section."""
    from rich.console import Group
    from rich.text import Text

    page = page_of(held)
    styles = {"met": "green", "breached": "bold red", "undecided": "yellow"}
    parts: list[RenderableType] = [Text(f"{page.title} by justicia", style="bold"), Text(page.headline)]
    for part in page.sections:
        parts += [Text(""), Text(part.title, style="bold underline")]
        parts += [Text(shown(says, 5000)) for says in part.says]
        heading: Heading | None = None
        for block in part.blocks:
            if isinstance(block, Table) and block.short:
                parts += [Text(""), Text(block.label if heading is None else heading.text, style="bold")]
                parts.append(_rich_table(block.shortened))
            elif isinstance(block, Paragraph) and block.warning:
                parts.append(Text.assemble(("! ", "yellow"), shown(block.text, 1000)))
            # A heading is of the block that follows it.
            heading = block if isinstance(block, Heading) else None
    if page.lacking:
        parts += [Text(""), Text("Not computed", style="bold underline")]
        parts += [Text(f"{title}: {reason}. Would allow it: {remedy}") for title, reason, remedy in page.lacking]
    if held["requirements"]:
        parts += [Text(""), Text("Requirements", style="bold underline"), Text(page.verdict)]
        for one in held["requirements"]:
            mark = f"{SYMBOLS[one['status']]} {one['status']}"
            reason = shown(one["reason"], 2000)
            parts.append(Text.assemble((mark, styles[one["status"]]), f"  {shown(one['text'], 200)}  {reason}"))
    if held["warnings"]:
        parts.append(Text(""))
        parts += [Text.assemble(("! ", "yellow"), shown(warning, 1000)) for warning in held["warnings"]]
    return Group(*parts)


def _rich_table(block: Table) -> RenderableType:
    from rich.padding import Padding
    from rich.table import Table as RichTable
    from rich.text import Text

    styles = {"met": "green", "breached": "bold red", "undecided": "yellow", "": ""}
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, name in enumerate(block.columns):
        words = place < block.left or any(
            isinstance(row[place], Cell) and row[place].shade is None  # type: ignore[union-attr]
            for row in block.rows
        )
        table.add_column(Text(name), justify="left" if words else "right", overflow="fold")
    for row in block.rows[:_MOST_ROWS]:
        cells = [cell if isinstance(cell, Cell) else Cell(cell) for cell in row]
        table.add_row(*(Text(shown(cell.text, 300), style=styles[cell.status]) for cell in cells))
    if len(block.rows) > _MOST_ROWS:
        table.add_row(Text(f"and {len(block.rows) - _MOST_ROWS:,} more", style="dim"))
    return Padding(table, (0, 0, 0, 2))
