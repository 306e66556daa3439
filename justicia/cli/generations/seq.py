"""``justicia generations seq``: whether every value occurs, and how long each is missing."""

from __future__ import annotations

from typing import Any

import click

from justicia.cli.generations.options import asked, betas, command_words, conditions, domains, show, spec_options
from justicia.cli.options import announcing, names_of
from justicia.cli.running import running

__all__ = ["seq"]


@click.command()
@click.argument("data")
@click.option(
    "--attr",
    multiple=True,
    metavar="COLUMN[,COLUMN]",
    help="An attribute, or several whose combinations are asked about. Repeatable.  [default: all of the spec]",
)
@click.option(
    "--beta",
    multiple=True,
    metavar="[ATTR=]NUMBER",
    help="Every value in every so many generations in a row. Repeatable.  [default: every value at all]",
)
@click.option("--loop-from", type=float, metavar="STEP", help="Read a run as infinite: from this step on it repeats.")
@click.option("--neutral", multiple=True, metavar="COLUMN=VALUE", help="Tags neutral prompts: evidence over them.")
@click.option("--prompt", metavar="COLUMN", help="What was asked for, to count prompts.")
@spec_options
@click.option("--all-runs", is_flag=True, help="Print every run, however many there are.")
@click.pass_context
@running
def seq(context: click.Context, /, data: str, attr: tuple[str, ...], **options: Any) -> int:
    """Judge the sequences in DATA (CSV, JSON lines, Parquet), run by run: least beta, verdict, widest gap.

    Exit code 0 when the requirement holds in every run, 1 when it fails in one, 3 when runs are too short or labels
    unknown.

    \b
    justicia generations seq t.csv --attr gender --domain female,male --beta 20 --by run
    """  # noqa: D301 (click reads the escape)
    from justicia.generations import sequence
    from justicia.writing import check_targets

    check_targets([options["json_file"]], [data, options["spec"]])
    questions = [tuple(names_of(text) or ()) for text in attr]
    names = tuple(dict.fromkeys(name for question in questions for name in question))
    with announcing(options["quiet"]):
        report = sequence(
            data,
            questions or None,
            domain=domains(options["domain"], names),
            beta=betas(options["beta"]),
            loop_from=options["loop_from"],
            neutral=conditions(options["neutral"], "--neutral"),
            prompt=options["prompt"],
            command=command_words(context),
            **asked(options),
        )
        show(report, options["json_file"], all_runs=options["all_runs"])
    return report.exit_code
