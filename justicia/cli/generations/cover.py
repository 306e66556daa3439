"""``justicia generations cover``: which combinations of values have been generated."""

from __future__ import annotations

from typing import Any

import click

from justicia.cli.generations.options import asked, command_words, domains, show, spec_options
from justicia.cli.options import announcing, names_of
from justicia.cli.running import running

__all__ = ["cover"]


@click.command()
@click.argument("data")
@click.option("--attrs", metavar="COLUMN,COLUMN", help="Attributes.  [default: all of the spec]")
@click.option("--t", type=int, default=2, show_default=True, help="Attributes in a combination.")
@click.option("--least", default="1", show_default=True, metavar="SHARE", help="The coverage asked for, as in .4")
@click.option("--suggest", type=int, default=0, metavar="NUMBER", help="Propose what to ask for next.")
@spec_options
@click.option("--all-runs", is_flag=True, help="Print every run, however many there are.")
@click.pass_context
@running
def cover(context: click.Context, /, data: str, **options: Any) -> int:
    """Coverage of value combinations of --t attributes in DATA, run by run.

    Exit code 0 when every run has the coverage asked for, 1 when one has not, 3 when runs are too short or labels
    unknown.
    """
    from justicia.generations import coverage
    from justicia.writing import check_targets

    check_targets([options["json_file"]], [data, options["spec"]])
    names = tuple(names_of(options["attrs"]) or ())
    with announcing(options["quiet"]):
        report = coverage(
            data,
            names or None,
            t=options["t"],
            least=options["least"],
            suggest=options["suggest"],
            domain=domains(options["domain"], names),
            command=command_words(context),
            **asked(options),
        )
        show(report, options["json_file"], all_runs=options["all_runs"])
    return report.exit_code
