"""``justicia report``: an audit that was kept as JSON, as a report."""

from __future__ import annotations

import click

from justicia.cli.outputs import answer
from justicia.cli.running import running
from justicia.progress import stage

__all__ = ["report"]


@click.command()
@click.argument("audit", metavar="AUDIT.json")
@click.option(
    "--html", "html_file", required=True, metavar="FILE", help="Write the report as HTML; - for standard output."
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@running
def report(audit: str, html_file: str, debug: bool) -> int:
    """Make the HTML report of an audit that justicia verify --json or justicia generations audit --json wrote.

    No model and no table is opened.

    \b
    justicia verify --model tree.pkl --data adult.csv --json audit.json
    justicia report audit.json --html audit.html
    """  # noqa: D301 (click reads the escape)
    from justicia.report.generations_html import render_read
    from justicia.report.html import render_html
    from justicia.report.json import SCHEMA
    from justicia.report.reading import read_audit
    from justicia.writing import check_target, write_whole

    check_target(html_file, inputs=(audit,))
    stage("reading the audit")
    held = read_audit(audit)
    stage("writing the report")
    text = render_html(held) if held["schema"] == SCHEMA else render_read(held)
    if html_file == "-":
        answer(text)
    else:
        write_whole(html_file, text)
    return 0
