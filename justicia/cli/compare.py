"""``justicia compare``: a model beside other tools, and beside another model."""

from __future__ import annotations

import sys
from types import MappingProxyType
from typing import Any

import click

from justicia.cli.options import FEATURES, TRUST_MODEL, announcing, delimiter_of, named_lists, names_of, table_options
from justicia.cli.outputs import answer, answering_anyway, write_reports
from justicia.cli.running import RUN_OPTIONS, running
from justicia.cli.sections import SectionedCommand
from justicia.progress import Bar

__all__ = ["compare"]


class _Compare(SectionedCommand):
    sections = MappingProxyType(
        {
            "What is compared": ("models", "data", "test_data", "mitigate", "tools", "features", "trust_model"),
            "People and outcomes": (
                *("sensitive", "label", "favorable", "reference", "missing", "bins", "weight", "weight_kind"),
            ),
            "How it is answered": ("population", "tolerance", "time_limit", "confidence", "seed"),
            "Where the answer goes": ("json_file", "html_file", "all_groups", "quiet"),
            "The run": RUN_OPTIONS,
            "How the table is read": ("one_hot", "na", "delimiter", "encoding"),
        }
    )


@click.command(
    cls=_Compare,
    epilog="Exit codes: 0 every number of the other tools is equal or explained, 2 bad call or bad input, 4 some "
    "number is neither, or the encoding does not reproduce the model.",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    required=True,
    metavar="FILE|NAME",
    help="As justicia verify has it. Twice: two models, such as before and after mitigation; differences are second "
    "less first.",
)
@click.option(
    "--data",
    required=True,
    metavar="FILE|NAME",
    help="What is audited; with --test-data, what models are fitted on, where they are fitted here.",
)
@click.option("--test-data", metavar="FILE|NAME", help="What is audited in place of --data.")
@click.option(
    "--mitigate",
    metavar="reweigh",
    help="The second model is the first, fitted once more to --data with weights under which the label does not "
    "depend on the group (Kamiran and Calders).",
)
@click.option("--tool", "tools", multiple=True, metavar="aif360|fairlearn|none", help="Repeatable.  [default: both]")
@click.option("--sensitive", multiple=True, metavar="COLUMN[,COLUMN]", help="A grouping. Repeatable.  [default: found]")
@click.option("--label", metavar="COLUMN", help="True outcome.  [default: found]")
@click.option("--favorable", metavar="VALUE[,VALUE]", help="Outcome that is good for the person.  [default: found]")
@click.option(
    "--reference",
    metavar="COLUMN=VALUE[,COLUMN=VALUE]",
    help="The group that AIF360 is told is privileged.  [default: the one with the highest rate of the rows]",
)
@click.option(
    "--weight", metavar="COLUMN", help="Row weights, in every rate and measure; no model is fitted with them."
)
@click.option(
    "--weight-kind",
    default="sampling",
    show_default=True,
    metavar="sampling|frequency",
    help="A row stands for so many people, or is so many equal rows.",
)
@click.option(
    "--population",
    default="auto",
    show_default=True,
    metavar="auto|tree|independent|empirical|FILE",
    help="The distribution that verified rates are about; with a FILE, the same one for both models.",
)
@click.option("--tolerance", type=float, metavar="WIDTH", help="Width to which rates are bounded.")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Of one answer, then bounds are it: a grouping has one, and two more with a true outcome. --max-time is of "
    "the whole command.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of intervals of the rows' rates.")
@click.option("--json", "json_file", metavar="FILE", help="Write the comparison as JSON; - for standard output.")
@click.option("--html", "html_file", metavar="FILE", help="Write the comparison as HTML; - for standard output.")
@FEATURES
@table_options
@click.option("--seed", type=int, default=0, show_default=True, help="For models that are fitted here.")
@TRUST_MODEL
@click.option("--all-groups", is_flag=True, help="Print every group, however many there are.")
@click.option("--quiet", is_flag=True, help="Do not announce what was found.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
@running
def compare(context: click.Context, /, **options: Any) -> int:
    """Put a model's audit beside AIF360's and Fairlearn's numbers, or beside another model's.

    \b
    justicia compare --model tree.pkl --data adult.csv
    justicia compare --model before.pkl --model after.pkl --data test.csv
    justicia compare --model logistic --data adult --mitigate reweigh

    Every number of another tool is equal to that of the rows here, or the difference is explained by its convention.
    """  # noqa: D301 (click reads the escape)
    from justicia.comparing import compare as run
    from justicia.errors import InputError
    from justicia.peers import PEERS
    from justicia.writing import check_targets

    quiet, all_groups = options.pop("quiet"), options.pop("all_groups")
    options.pop("debug")
    targets = {"json": options.pop("json_file"), "html": options.pop("html_file")}
    models, tools = options.pop("models"), options.pop("tools")
    if len(models) > 2:
        raise InputError(f"--model is given {len(models)} times: one model is compared with other tools, or two")
    inputs = [*models, options["data"], options["test_data"], options["population"]]
    check_targets(targets.values(), inputs)
    one_hot, sensitive = options.pop("one_hot"), [names_of(names) for names in options.pop("sensitive")]
    with announcing(quiet), Bar(not quiet) as bar:
        found = run(
            models[0],
            options.pop("data"),
            models[1] if len(models) > 1 else None,
            tools=[] if tools == ("none",) else tools or tuple(PEERS),
            sensitive_features=sensitive or None,
            one_hot=False if one_hot == ("none",) else named_lists(one_hot, "--one-hot"),
            bins=named_lists(options.pop("bins"), "--bins"),
            features=names_of(options.pop("features")),
            delimiter=delimiter_of(options.pop("delimiter")),
            command=["justicia", *(sys.argv[1:] if context.obj is None else context.obj)],
            progress=bar.show,
            **options,
        )
        with answering_anyway(lambda: answer(_text(found, all_groups) if "-" not in targets.values() else "")):
            text = write_reports(found, targets)
    answer(_text(found, all_groups) if text is None else text)
    return int(found.exit_code)


def _text(found: Any, all_groups: bool) -> str:
    from rich.console import Console

    console = Console()
    text: str = found.to_text(max(console.width, 80) if console.is_terminal else 140, all_groups=all_groups)
    return text
