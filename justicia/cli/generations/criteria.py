"""``justicia generations criteria``: independence, separation and sufficiency of a language model's answers."""

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
from justicia.cli.options import announcing, names_of
from justicia.cli.running import running

__all__ = ["criteria"]


@click.command()
@click.argument("data")
@click.option("--group", required=True, metavar="COLUMN", help="The group that the prompt speaks of.")
@click.option("--response", required=True, metavar="COLUMN", help="The label of the answer.")
@click.option("--truth", metavar="COLUMN", help="The right answer: adds separation, sufficiency and accuracy.")
@click.option("--strata", metavar="COLUMN,COLUMN", help="Ask in each part of the table, and in all pooled.")
@click.option("--model", metavar="COLUMN", help="Tells models apart; none: the table is of one.  [default: model]")
@click.option("--cluster", metavar="COLUMN", help="Rows that belong together, such as those of one template.")
@click.option("--pair", metavar="COLUMN,COLUMN", help="What prompts share that differ in the group cue alone.")
@click.option(
    "--refusal", multiple=True, metavar="WORD", help="A label that means a refusal. Repeatable.  [default: refusal]"
)
@click.option("--unknown", default="unknown", show_default=True, metavar="WORD", help="The label of what no rule fits.")
@click.option("--answered", is_flag=True, help="Leave refusals and unknown answers out of the criteria.")
@click.option(
    "--at-most", type=float, metavar="SHARE", help="The largest difference of rates asked for, as in .1; no tests then."
)
@judging_options
@reading_options
@click.option("--all-strata", is_flag=True, help="Print every stratum, however many there are.")
@output_options
@click.pass_context
@running
def criteria(context: click.Context, /, data: str, **options: Any) -> int:
    """Judge labelled answers in DATA (CSV, JSON lines, Parquet): whether they depend on the group.

    Exit code 0 when no criterion is rejected (with --at-most: every difference is that small), 1 when one is, 3 when
    the rows do not decide.

    \b
    justicia generations criteria t.csv --group pronoun --response label --truth correct --cluster template
    """  # noqa: D301 (click reads the escape)
    from justicia.generations import criteria as run

    check_files([options["json_file"]], [options["plot_file"]], [data])
    with announcing(options["quiet"]):
        report = run(
            data,
            options["group"],
            options["response"],
            options["truth"],
            strata=names_of(options["strata"]) or (),
            refusals=options["refusal"] or ("refusal",),
            unknown=options["unknown"],
            answered=options["answered"],
            **judged(context, options),
        )
        show_language(report, options["json_file"], options["plot_file"], every=options["all_strata"])
    return report.exit_code
