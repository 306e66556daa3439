"""The audit of generations as one HTML file that needs nothing else, made from the audit's JSON alone."""

from __future__ import annotations

from typing import Any

from justicia.errors import InputError
from justicia.report.document import SYMBOLS, Cell
from justicia.report.generations_pages import page_of
from justicia.report.generations_schema import AUDIT_SCHEMA
from justicia.report.html import environment, write_page

__all__ = ["generations_fragment", "render_generations", "render_read"]


def render_generations(held: dict[str, Any]) -> str:
    """An audit's JSON as the text of an HTML file.

    Parameters
    ----------
    held : dict
        By the schema ``justicia.generations.audit/1``.
    """
    if held.get("schema") != AUDIT_SCHEMA:
        raise ValueError(f"not an audit by {AUDIT_SCHEMA}")
    page = page_of(held)
    return write_page(
        "generations.html",
        held,
        styles=("audit.css", "generations.css"),
        templates=_environment(),
        audit=held,
        page=page,
        symbols=SYMBOLS,
        title=page.title,
        headline=page.headline,
        verdict=page.verdict,
        facts=page.facts,
        method=page.method,
        command=page.command,
        glossary=page.glossary,
    )


def render_read(held: dict[str, Any]) -> str:
    """The same of an audit that was read from a file, and need not be as it was written.

    Raises
    ------
    InputError
        When parts of it contradict each other.
    """
    try:
        return render_generations(held)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, StopIteration) as error:
        raise InputError("no whole audit: its parts contradict each other; write it anew with --json") from error


def generations_fragment(held: dict[str, Any]) -> str:
    """The answer, the requirements and the short tables, for a notebook."""
    return (
        _environment().get_template("generations_fragment.html").render(audit=held, page=page_of(held), symbols=SYMBOLS)
    )


def _environment() -> Any:
    made = environment()
    made.tests["cell"] = lambda value: isinstance(value, Cell)
    made.filters["kind"] = lambda block: type(block).__name__.lower()
    return made
