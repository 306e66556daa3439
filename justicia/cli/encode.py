"""``justicia encode``: write the question as a formula that other solvers read."""

from __future__ import annotations

from typing import Any

import click

from justicia.cli.options import FEATURES, TRUST_MODEL, announcing, delimiter_of, named_lists, names_of, table_options
from justicia.cli.outputs import answer
from justicia.cli.running import running

__all__ = ["encode"]

_QUESTIONS = {"most_favored": "most favored", "least_favored": "least favored", "dual": "dual"}


@click.command()
@click.option("--model", required=True, metavar="FILE|NAME", help="As for `justicia verify`.")
@click.option("--data", required=True, metavar="FILE|NAME", help="A CSV or Parquet file, or a bundled data set.")
@click.option("--group", metavar="COLUMN=VALUE,...", help="Ask for the rate of one group: race=Black,sex=Female.")
@click.option("--most-favored", is_flag=True, help="Ask for the largest rate: exists a group.  [default]")
@click.option("--least-favored", is_flag=True, help="Ask for the smallest rate: for all groups.")
@click.option("--dual", is_flag=True, help="Ask for 1 - the smallest rate: exists a group that the model says no to.")
@click.option("--digits", type=click.IntRange(1, 1000), metavar="N", help="Round probabilities to N decimals.")
@click.option("--out", metavar="FILE", help="Write the formula there, whole or not at all.  [default: standard output]")
@click.option("--sensitive", metavar="COLUMN[,COLUMN]", help="The grouping.  [default: found]")
@click.option("--label", metavar="COLUMN", help="True outcome.  [default: found]")
@click.option("--favorable", metavar="VALUE[,VALUE]", help="Outcome that is good for the person.  [default: found]")
@click.option(
    "--population",
    default="auto",
    show_default=True,
    metavar="auto|tree|independent|empirical|FILE",
    help="The distribution that goes into the formula.",
)
@FEATURES
@table_options
@click.option("--seed", type=int, default=0, show_default=True, help="For a model trained here.")
@TRUST_MODEL
@click.option("--quiet", is_flag=True, help="Do not announce what was found.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@running
def encode(**options: Any) -> int:
    """Write how often MODEL says yes to the groups of people in DATA as an SDIMACS formula.

    \b
    justicia encode --model tree --data adult --population tree --group race=Black,sex=Female > problem.sdimacs
    justicia encode --model tree --data adult --population tree --dual > problem.sdimacs
    justicia solve problem.sdimacs
    """  # noqa: D301 (click reads the escape)
    from justicia.encoding import encode as run
    from justicia.writing import check_target, write_whole

    asked = [question for flag, question in _QUESTIONS.items() if options.pop(flag)]
    group = options.pop("group")
    if len(asked) + (group is not None) > 1:
        raise click.UsageError("--group, --most-favored, --least-favored and --dual exclude each other")
    out, digits = options.pop("out"), options.pop("digits")
    check_target(out, inputs=(options["model"], options["data"]))
    options.pop("debug")
    sensitive, one_hot = options.pop("sensitive"), options.pop("one_hot")
    quiet = options.pop("quiet")
    with announcing(quiet):
        encoded = run(
            options.pop("model"),
            options.pop("data"),
            group=group,
            question=asked[0] if asked else "most favored",
            sensitive_features=None if sensitive is None else [names_of(sensitive)],
            one_hot=False if one_hot == ("none",) else named_lists(one_hot, "--one-hot"),
            bins=named_lists(options.pop("bins"), "--bins"),
            features=names_of(options.pop("features")),
            delimiter=delimiter_of(options.pop("delimiter")),
            **options,
        )
        text = encoded.to_sdimacs(digits)
    if out in (None, "-"):
        answer(text)
    else:
        write_whole(out, text)
    return 0
