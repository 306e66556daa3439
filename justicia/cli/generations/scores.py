"""``justicia generations scores``: whether a number that every answer has depends on the group."""

from __future__ import annotations

from typing import Any

import click

from justicia.cli.generations.language_options import (
    judged,
    judging_options,
    output_options,
    reading_options,
    show_language,
)
from justicia.cli.generations.options import check_files
from justicia.cli.options import announcing
from justicia.cli.running import running

__all__ = ["scores"]


@click.command()
@click.argument("data")
@click.option("--score", required=True, metavar="COLUMN", help="The numbers, such as toxicity, sentiment or a salary.")
@click.option("--group", required=True, metavar="COLUMN", help="The groups to compare.")
@click.option("--model", metavar="COLUMN", help="Tells models apart; none: the table is of one.  [default: model]")
@click.option("--cluster", metavar="COLUMN", help="Rows that belong together: their mean is compared.")
@click.option("--pair", metavar="COLUMN,COLUMN", help="What prompts share that differ in the group cue alone.")
@click.option("--at-most", type=float, metavar="NUMBER", help="The largest size of Cohen's d asked for; no tests then.")
@judging_options
@reading_options
@output_options
@click.pass_context
@running
def scores(context: click.Context, /, data: str, **options: Any) -> int:
    """Compare groups in DATA (CSV, JSON lines, Parquet) by a number that every answer has.

    Exit code 0 when no test rejects (with --at-most: every d is that small), 1 when one does, 3 when the rows do not
    decide.

    \b
    justicia generations scores t.csv --score toxicity --group group --pair pair,sample
    """  # noqa: D301 (click reads the escape)
    from justicia.generations import group_scores

    check_files([options["json_file"]], [options["plot_file"]], [data])
    with announcing(options["quiet"]):
        report = group_scores(
            data,
            options["score"],
            options["group"],
            **judged(context, options),
        )
        show_language(report, options["json_file"], options["plot_file"])
    return report.exit_code
