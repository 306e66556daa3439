"""The audit as one HTML file that needs nothing else: no network, no script, no other file.

It is made from the audit's JSON alone, so that `justicia report` makes the same file from an audit that was kept, and
never opens a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from justicia.report.answers import further_headlines, headline
from justicia.report.document import SYMBOLS
from justicia.report.impact_views import layout_of
from justicia.report.json import SCHEMA, audit_to_dict
from justicia.report.views import groupings_of, title_of
from justicia.report.wording import ERRORS, STRUCTURES, command_of, facts_of, glossary_of, method_of, unseen_of
from justicia.words import counted, shown

if TYPE_CHECKING:
    from jinja2 import Environment

    from justicia.audited import Audit

__all__ = [
    "audit_to_fragment",
    "audit_to_html",
    "environment",
    "render_fragment",
    "render_html",
    "write_page",
]

_LONGEST = 2000
_UNIT = re.compile(r"(?<=\d) (?=%)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*(?: \d[\d.]*)?")


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
    return write_page(
        "audit.html",
        held,
        audit=held,
        title=title_of(held),
        headline=headline(held),
        further=further_headlines(held),
        verdict=_verdict(held["requirements"]),
        symbols=SYMBOLS,
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
        .render(audit=held, title=title_of(held), headline=headline(held), view=groupings[0], symbols=SYMBOLS)
    )


def environment() -> Environment:
    """Where templates come from, and how values are written into them."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def with_options(text: Any) -> Any:
        """A text in which options of the command are not broken across lines."""
        plain_text = str(escape(shown(text, _LONGEST)))
        return Markup(_OPTION.sub(r'<code class="option">\g<0></code>', plain_text))  # noqa: S704 (escaped)

    def plain(value: Any) -> Any:
        if not isinstance(value, str) or isinstance(value, Markup):
            return value
        return _UNIT.sub("\N{NO-BREAK SPACE}", shown(value, _LONGEST))

    made = Environment(
        loader=PackageLoader("justicia.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=plain,
        trim_blocks=True,
    )
    made.filters["with_options"] = with_options
    return made


def write_page(
    template: str, held: dict[str, Any], *, kind: str = "audit", styles: Sequence[str] = ("audit.css",),
    templates: Environment | None = None, **names: Any,
) -> str:  # fmt: skip
    """A whole page by a template that extends ``page.html``.

    Parameters
    ----------
    template : str
    held : dict
        The JSON that the page shows, and carries.
    kind : str
        What it is of, in a word.
    styles : sequence of str
        Style sheets.
    templates : Environment, optional
    **names
        Of the template; `title` is every page's.
    """
    from markupsafe import Markup

    folder = resources.files(__package__) / "templates"
    sheets = "".join((folder / name).read_text(encoding="utf-8") for name in styles)
    return (
        (templates or environment())
        .get_template(template)
        .render(
            tool=held["tool"],
            created=created_text(held["created"]),
            style=Markup(sheets),  # noqa: S704 (ours)
            kind=kind,
            json=embedded(held),
            **names,
        )
    )


def embedded(held: dict[str, Any]) -> Any:
    """The JSON such that nothing in it ends the element, whatever the names of columns and values are."""
    from markupsafe import Markup

    text = json.dumps(held, ensure_ascii=True, allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704


def created_text(time: str) -> str:
    """A time of the JSON as a reader wants it."""
    return re.sub(r"T(\d\d:\d\d)(:\d\d)?Z$", r", \1 UTC", time)


def _verdict(requirements: list[dict[str, Any]]) -> str:
    """How many requirements are met, breached and undecided."""
    by_status = {status: sum(one["status"] == status for one in requirements) for status in SYMBOLS}
    parts = [f"{number} {status}" for status, number in by_status.items() if number]
    return f"Of {counted(len(requirements), 'requirement')}: {', '.join(parts)}."
