"""``justicia generations check``: labels, steps and runs of a table, against what is declared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from justicia.cli.generations.options import asked, command_words, domains, show, spec_options
from justicia.cli.options import announcing
from justicia.cli.running import running

__all__ = ["check"]


@click.command()
@click.argument("data")
@click.option("--attr", multiple=True, metavar="COLUMN", help="An attribute. Repeatable.  [default: all of the spec]")
@spec_options
@click.pass_context
@running
def check(context: click.Context, /, data: str, attr: tuple[str, ...], **options: Any) -> int:
    """Check the table in DATA (CSV, JSON lines, Parquet): labels outside their domains, blanks, steps, runs.

    Exit code 1 when a fault has to be mended before sequences can be judged.
    """
    from justicia.generations import check as run
    from justicia.writing import check_targets

    check_targets([options["json_file"]], [data, options["spec"]])
    with announcing(options["quiet"]):
        report = run(data, attr or None, domain=domains(options["domain"], attr), **asked(options))
        report = replace(report, command=tuple(command_words(context)))
        show(report, options["json_file"])
    return report.exit_code
