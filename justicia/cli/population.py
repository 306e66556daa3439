"""``justicia population``: fit a population, look at one, draw people from it."""

from __future__ import annotations

import logging
from typing import Any

import click

from justicia.cli.options import FEATURES, TRUST_MODEL, announcing, delimiter_of, named_lists, names_of, table_options
from justicia.cli.outputs import answer, answering
from justicia.cli.running import running
from justicia.progress import Bar, stage

__all__ = ["population", "write_population"]

logger = logging.getLogger("justicia.cli.population")


@click.group()
def population() -> None:
    """Fit a population to a table before the model is known, look at one, draw people from it.

    \b
    justicia population fit adult.csv --sensitive race,sex --out pop.json
    justicia population show pop.json
    justicia verify --model tree.pkl --data adult.csv --population pop.json
    """  # noqa: D301 (click reads the escape)


def write_population(file: Any, target: str) -> str | None:
    """Write a population file; its text instead when the target is standard output."""
    if file.rows_of_people:
        logger.warning(
            "%s contains rows of people (their cells of every column): share it only as you would share the table; the "
            "structures tree and independent hold tables of frequencies alone",
            "the population" if target == "-" else target,
        )
    text: str | None = file.to_json(None if target == "-" else target)
    return text


@population.command()
@click.argument("data")
@click.option("--out", required=True, metavar="FILE", help="Write the population there; - for standard output.")
@click.option("--sensitive", multiple=True, metavar="COLUMN[,COLUMN]", help="A grouping. Repeatable.  [default: found]")
@click.option(
    "--structure", default="auto", show_default=True, metavar="auto|tree|independent|empirical", help="What is fitted."
)
@click.option("--label", metavar="COLUMN", help="True outcome, for true and false positive rates.")
@click.option("--favorable", metavar="VALUE[,VALUE]", help="Value of the label that is good for the person.")
@click.option(
    "--cells",
    type=int,
    default=512,
    show_default=True,
    help="Cells of a column, at most; with more values, cells hold several, and answers may be bounds.",
)
@click.option("--list-numbers", is_flag=True, help="Keep all numbers of such cells, for scores that rise and fall.")
@click.option("--leave-out", metavar="COLUMN,COLUMN", help="Columns that are no features.")
@click.option(
    "--keep",
    metavar="COLUMN,COLUMN",
    help="Columns that are features though their values are of single persons: ids, names, dates, free text.",
)
@click.option(
    "--model",
    metavar="FILE|NAME",
    help="A model: the columns that it depends on are the features, in its cells, and the label is found as by verify.",
)
@FEATURES
@TRUST_MODEL
@click.option(
    "--stream/--no-stream",
    default=None,
    help="Read the table in batches; tree and independent need no more than counts.  [default: large files]",
)
@table_options
@click.option("--quiet", is_flag=True, help="Do not announce what was found.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@running
def fit(data: str, out: str, quiet: bool, debug: bool, **options: Any) -> None:
    """Fit a population to DATA: a CSV or Parquet file, or a bundled data set."""
    from justicia.population_files import fit_population
    from justicia.writing import check_target

    check_target(out, inputs=[data, *([options["model"]] if options["model"] else [])])
    sensitive = [names_of(names) for names in options.pop("sensitive")]
    one_hot = options.pop("one_hot")
    with announcing(quiet), Bar(not quiet) as bar:
        file = fit_population(
            data,
            sensitive_features=sensitive or None,
            leave_out=names_of(options.pop("leave_out")) or (),
            keep=names_of(options.pop("keep")) or (),
            features=names_of(options.pop("features")),
            one_hot=False if one_hot == ("none",) else named_lists(one_hot, "--one-hot"),
            bins=named_lists(options.pop("bins"), "--bins"),
            delimiter=delimiter_of(options.pop("delimiter")),
            progress=bar.show,
            **options,
        )
        text = write_population(file, out)
    if text is not None:
        answer(text)


@population.command()
@click.argument("file")
@click.option("--sensitive", metavar="COLUMN,COLUMN", help="Of a network: the groups of these columns.")
@click.option("--group", metavar="COLUMN=VALUE,…", help="Tables of these groups alone.")
@click.option("--feature", metavar="COLUMN", help="The tables of one feature, whole.")
@click.option("--of", default="everybody", show_default=True, metavar="everybody|favorable|unfavorable", help="People.")
@click.option("--all", "everything", is_flag=True, help="Whole tables of every feature, however long.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@running
def show(
    file: str, sensitive: str | None, group: str | None, feature: str | None, of: str, everything: bool, debug: bool
) -> None:
    """Show the population or the network in FILE: its groups, and the tables of its features."""
    from rich.console import Console

    from justicia.population.networks import Network
    from justicia.population_files import population_of_network, read_population
    from justicia.report.network import render_network
    from justicia.report.population import render, text_of

    wanted = _group(group)
    console = Console()
    stage("reading the population")
    held = read_population(file)
    width = console.width if console.is_terminal else 120
    if isinstance(held, Network) and not sensitive and not wanted:
        made = render_network(held, width=width, feature=feature, everything=everything)
    else:
        if isinstance(held, Network):
            held = population_of_network(held, names_of(sensitive) or (), wanted)
        elif sensitive:
            raise click.BadParameter("the groups of a population file are those that it has", param_hint="--sensitive")
        made = render(held, width=width, group=wanted, feature=feature, of=of, everything=everything)
    if console.is_terminal:
        with answering():
            console.print(made)
    else:
        answer(text_of(made, width))


@population.command()
@click.argument("file")
@click.option("--rows", required=True, type=int, help="People to draw.")
@click.option("--out", required=True, metavar="FILE", help="CSV file to write; - for standard output.")
@click.option("--group", metavar="COLUMN=VALUE,…", help="Of these groups alone.  [default: everybody]")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same people every time.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@running
def sample(file: str, rows: int, out: str, group: str | None, seed: int, debug: bool) -> None:
    """Draw people from the population in FILE, in the columns of its table."""
    from justicia.population.networks import Network
    from justicia.population_files import population_of_network, read_population
    from justicia.tables.text import table_text
    from justicia.writing import check_target, write_whole

    check_target(out, inputs=(file,))
    wanted = _group(group)
    stage("reading the population")
    held = read_population(file)
    if isinstance(held, Network):
        held = population_of_network(held, group=wanted)
    stage("drawing %s people", f"{rows:,}")
    people = held.sample(rows, wanted, seed)
    stage("writing them")
    text = table_text(people)
    if out == "-":
        answer(text)
    else:
        write_whole(out, text)


def _group(text: str | None) -> dict[str, str]:
    """Values of sensitive columns from a text like race=Black,sex=Female; a value may hold commas."""
    found: dict[str, str] = {}
    last = None
    for part in [] if text is None else text.split(","):
        name, equals, value = part.partition("=")
        if equals and name.strip():
            last = name.strip()
            if last in found:
                raise click.BadParameter(f"{last} is given twice", param_hint="--group")
            found[last] = value.strip()
        elif last is not None:
            found[last] += f",{part}"
        else:
            raise click.BadParameter(f"{text!r} is not of the form column=value,column=value", param_hint="--group")
    return found
