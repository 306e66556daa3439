"""``justicia report``: an audit that was kept as JSON, as a report."""

from __future__ import annotations

import click

from justicia.progress import Bar

__all__ = ["report"]


@click.command()
@click.argument("audit", metavar="AUDIT.json")
@click.option(
    "--html", "html_file", required=True, metavar="FILE", help="Write the report as HTML; - for standard output."
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def report(audit: str, html_file: str, debug: bool) -> int:
    """Make the HTML report of an audit that justicia verify --json wrote; no model and no table is opened.

    \b
    justicia verify --model tree.pkl --data adult.csv --json audit.json
    justicia report audit.json --html audit.html
    """  # noqa: D301 (click reads the escape)
    from justicia.report.html import render_html
    from justicia.report.reading import read_audit
    from justicia.writing import check_target, write_whole

    check_target(html_file, inputs=(audit,))
    with Bar():
        text = render_html(read_audit(audit))
    if html_file == "-":
        click.echo(text, nl=False)
    else:
        write_whole(html_file, text)
    return 0
