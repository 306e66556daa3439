"""The audit as one HTML file that needs nothing else: no network, no script, no other file.

It is made from the audit's JSON alone, so that `justicia report` makes the same file from an audit that was kept, and
never opens a model.
"""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

from justicia.report.impact_views import layout_of
from justicia.report.json import SCHEMA, audit_to_dict
from justicia.report.views import groupings_of, headline, title_of
from justicia.report.wording import ERRORS, STRUCTURES, command_of, facts_of, glossary_of, method_of, unseen_of
from justicia.words import counted, shown

if TYPE_CHECKING:
    from jinja2 import Environment

    from justicia.audited import Audit

__all__ = [
    "audit_to_fragment",
    "audit_to_html",
    "created_text",
    "embedded",
    "environment",
    "render_fragment",
    "render_html",
    "style",
]

_SYMBOLS = {"met": "✓", "breached": "✗", "undecided": "?"}

_LONGEST = 2000


def audit_to_html(audit: Audit) -> str:
    """The audit as the text of an HTML file."""
    return render_html(audit_to_dict(audit))


def render_html(held: dict[str, Any]) -> str:
    """An audit's JSON as the text of an HTML file.

    Parameters
    ----------
    held : dict
        By the schema ``justicia.audit/1``; see `justicia.report.json`.
    """
    if held.get("schema") != SCHEMA:
        raise ValueError(f"not an audit by {SCHEMA}")
    groupings = groupings_of(held)
    score = (held.get("model") or {}).get("score")
    confidence = f"{100 * held['confidence']:.6g} %"
    return (
        environment()
        .get_template("audit.html")
        .render(
            audit=held,
            title=title_of(held),
            created=created_text(held["created"]),
            style=style(),
            headline=headline(held),
            verdict=_verdict(held["requirements"]),
            symbols=_SYMBOLS,
            groupings=groupings,
            structures=STRUCTURES,
            error_words=ERRORS,
            score=score,
            layout=layout_of(held),
            rule=(held.get("model") or {}).get("rule"),
            confidence=confidence,
            facts=facts_of(held),
            unseen=unseen_of(held),
            method=method_of(held),
            command=command_of(held),
            glossary=glossary_of(held, confidence),
            json=embedded(held),
        )
    )


def audit_to_fragment(audit: Audit) -> str:
    """The answer and the groups of the first grouping, for a notebook."""
    return render_fragment(audit_to_dict(audit))


def render_fragment(held: dict[str, Any]) -> str:
    """The same from an audit's JSON."""
    groupings = groupings_of({**held, "groupings": held["groupings"][:1]})
    return (
        environment()
        .get_template("fragment.html")
        .render(audit=held, title=title_of(held), headline=headline(held), view=groupings[0], symbols=_SYMBOLS)
    )


def environment() -> Environment:
    """Templates whose values are escaped, and written without control characters."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def plain(value: Any) -> Any:
        return shown(value, _LONGEST) if isinstance(value, str) and not isinstance(value, Markup) else value

    return Environment(
        loader=PackageLoader("justicia.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=plain,
        trim_blocks=True,
    )


def style() -> Any:
    """The style sheet."""
    from markupsafe import Markup

    return Markup((resources.files(__package__) / "templates" / "audit.css").read_text(encoding="utf-8"))  # noqa: S704


def embedded(held: dict[str, Any]) -> Any:
    """The JSON such that nothing in it ends the element, whatever the names of columns and values are."""
    from markupsafe import Markup

    text = json.dumps(held, ensure_ascii=True, allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704


def created_text(time: str) -> str:
    """A time of ISO 8601 in words."""
    return re.sub(r"T(\d\d:\d\d)(:\d\d)?Z$", r", \1 UTC", time)


def _verdict(requirements: list[dict[str, Any]]) -> str:
    """How many requirements are met, breached and undecided."""
    by_status = {status: sum(one["status"] == status for one in requirements) for status in _SYMBOLS}
    parts = [f"{number} {status}" for status, number in by_status.items() if number]
    return f"Of {counted(len(requirements), 'requirement')}: {', '.join(parts)}."
