"""What the commands about language models share."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from justicia.errors import InputError

__all__ = ["check_targets", "judging_options", "output_options", "reading_options", "save_picture", "show_language"]

_READING = (
    click.option("--where", multiple=True, metavar="COLUMN=VALUE,VALUE", help="Only these rows. Repeatable."),
    click.option("--delimiter", metavar="CHARACTER", help="Of a CSV file.  [default: ,]"),
    click.option("--encoding", default="utf-8", show_default=True, help="Of a CSV file."),
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
    click.option(
        "--json",
        "json_file",
        metavar="FILE",
        help="Write the report as JSON; - for standard output, in place of the tables.",
    ),
    click.option("--quiet", is_flag=True, help="Do not announce what was found."),
    click.option("--debug", is_flag=True, help="Show the traceback of an error."),
)


def _adding(options: tuple[Any, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


reading_options = _adding(_READING)
judging_options = _adding(_JUDGING)
output_options = _adding(_OUTPUT)


def check_targets(targets: list[str | None], inputs: list[str | None]) -> None:
    """Refuse targets that cannot be written, before any work is done."""
    from justicia.writing import check_different, check_target

    for target in targets:
        check_target(target, inputs=[name for name in inputs if name is not None])
    check_different(targets)


def save_picture(figure: Any, target: str) -> None:
    """Write a picture whole or not at all, the same bytes every time.

    Raises
    ------
    InputError
    """
    kind = Path(target).suffix.lower().lstrip(".")
    if kind not in ("svg", "png", "pdf"):
        raise InputError(f"{target}: a picture ends in .svg, .png or .pdf")
    import matplotlib as mpl

    made = io.BytesIO()
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    with mpl.rc_context({"svg.hashsalt": "justicia"}):
        figure.savefig(made, format=kind, dpi=150, metadata=dates)
    try:
        Path(target).write_bytes(made.getvalue())
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from error


def show_language(report: Any, json_file: str | None, plot_file: str | None, *, every: bool = False) -> None:
    """Write JSON and picture, and print the report unless standard output is the JSON's."""
    if plot_file is not None:
        save_picture(report.plot(), plot_file)
    if json_file == "-":
        click.echo(report.to_json(), nl=False)
        return
    if json_file is not None:
        report.to_json(json_file)
    from rich.console import Console

    from justicia.report.generations_text import printed
    from justicia.report.language_text import render_language

    console = Console()
    made = render_language(report, every=every)
    if console.is_terminal:
        console.print(made)
    else:
        click.echo(printed(made, 160), nl=False)
