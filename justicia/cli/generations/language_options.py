"""What the commands about language models share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from justicia.cli.generations.options import REPORT_OPTIONS, command_words, conditions, picture_format
from justicia.cli.options import CSV_OPTIONS, delimiter_of, names_of, with_options
from justicia.cli.outputs import answer, show_made, write_reports
from justicia.progress import stage

__all__ = ["judged", "judging_options", "output_options", "reading_options", "show_language"]

_READING = (
    click.option("--where", multiple=True, metavar="COLUMN=VALUE,VALUE", help="Only these rows. Repeatable."),
    *CSV_OPTIONS,
)
_JUDGING = (
    click.option("--confidence", type=float, default=0.95, show_default=True, help="Of intervals."),
    click.option(
        "--alpha", type=float, default=0.05, show_default=True, help="Of all tests together, by Holm's correction."
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Where tables, signs or clusters are drawn."),
)
_OUTPUT = (
    click.option("--plot", "plot_file", metavar="FILE", help="Write a picture: .svg, .png or .pdf."),
    *REPORT_OPTIONS,
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which rows of which file are read."""
    return with_options(command, _READING)


def judging_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of intervals and tests."""
    return with_options(command, _JUDGING)


def judged(context: click.Context, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that commands with intervals and tests share, as keywords of the package's functions."""
    return {
        "model": options["model"],
        "cluster": options["cluster"],
        "pair": names_of(options["pair"]) or (),
        "where": conditions(options["where"], "--where"),
        "confidence": options["confidence"],
        "alpha": options["alpha"],
        "at_most": options["at_most"],
        "seed": options["seed"],
        "delimiter": delimiter_of(options["delimiter"]),
        "encoding": options["encoding"],
        "command": command_words(context),
    }


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where the report goes."""
    return with_options(command, _OUTPUT)


def show_language(report: Any, json_file: str | None, plot_file: str | None, *, every: bool = False) -> None:
    """Write JSON and picture, and print the report unless standard output is the JSON's."""
    from justicia.report.generations_plot import picture_bytes
    from justicia.report.language_text import render_language
    from justicia.writing import together, write_whole

    with together():
        if plot_file is not None:
            stage("drawing")
            write_whole(plot_file, picture_bytes(report.plot(), picture_format(plot_file)))
        text = write_reports(report, {"json": json_file})
    if text is None:
        show_made(render_language(report, every=every), 160)
    else:
        answer(text)
