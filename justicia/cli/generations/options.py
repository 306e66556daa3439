"""What the commands about tables of generations share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import click

from justicia.cli.options import CSV_OPTIONS, delimiter_of, named_list, with_options
from justicia.cli.outputs import answer, answering_anyway, show_made, write_reports
from justicia.progress import stage

__all__ = [
    "REPORT_OPTIONS",
    "asked",
    "betas",
    "check_files",
    "command_words",
    "conditions",
    "domains",
    "file_options",
    "label_options",
    "picture_format",
    "pictures",
    "show",
    "spec_options",
]

_DECLARED = (
    click.option("--spec", metavar="FILE", help="YAML or JSON: domains, unknown words, condition, columns, betas."),
)
_DOMAIN = (
    click.option(
        "--domain",
        multiple=True,
        metavar="[ATTR=]VALUE,VALUE",
        help="The values of an attribute, those never generated, too. Repeatable.",
    ),
)
_ORDER = (
    click.option("--by", metavar="COLUMN", help="Tells runs apart; none: the table is one run.  [default: run]"),
    click.option("--step", metavar="COLUMN", help="Orders a run; none: the table's order.  [default: step]"),
)
_WHERE = (
    click.option("--where", multiple=True, metavar="COLUMN=VALUE,VALUE", help="Only these generations. Repeatable."),
)
_LABELS = (
    click.option("--unknown", multiple=True, metavar="WORD", help="A label that means unknown, besides the blank."),
    click.option("--split", metavar="TEXT", help="Separates several values of one generation, as in a|b."),
    click.option(
        "--off-domain",
        metavar="error|none|unknown",
        help="What a label outside its domain is: an error, none of the values, or unknown.  [default: error]",
    ),
)
REPORT_OPTIONS = (
    click.option(
        "--json",
        "json_file",
        metavar="FILE",
        help="Write the report as JSON; - for standard output, in place of the tables.",
    ),
    click.option("--quiet", is_flag=True, help="Do not announce what was found."),
    click.option("--debug", is_flag=True, help="Show the traceback of an error."),
)
"""Where a report goes."""

_FILE = (*CSV_OPTIONS, *REPORT_OPTIONS)
_SPEC = (*_DECLARED, *_DOMAIN, *_ORDER, *_WHERE, *_LABELS, *_FILE)


def spec_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what a table of generations declares, and where the report goes."""
    return with_options(command, _SPEC)


def label_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of `spec_options` but for runs and steps, where the order of rows means nothing."""
    return with_options(command, (*_DECLARED, *_DOMAIN, *_WHERE, *_LABELS, *_FILE))


def file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of `spec_options` for tables that need no labels."""
    return with_options(command, (*_DECLARED, *_WHERE, *_FILE))


def command_words(context: click.Context) -> list[str]:
    """The command as it was called."""
    return ["justicia", *(sys.argv[1:] if context.obj is None else context.obj)]


def domains(texts: tuple[str, ...], attributes: tuple[str, ...]) -> dict[str, list[str]] | None:
    """Domains by attribute; one without a name is that of the only attribute."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, _ = text.partition("=")
        if equals and (len(attributes) != 1 or name.strip() in attributes):
            key, values = named_list(text, "--domain")
        elif len(attributes) == 1:
            key, values = attributes[0], [item.strip() for item in text.split(",")]
        else:
            raise click.BadParameter(f"{text!r} names no attribute: write name=value,value", param_hint="--domain")
        if key in found:
            raise click.BadParameter(f"the domain of {key} is given twice", param_hint="--domain")
        found[key] = values
    return found or None


def betas(texts: tuple[str, ...]) -> Any:
    """One beta for all, or betas by attribute; attributes together are joined by commas."""
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{text!r} is not of the form attribute=number", param_hint="--beta")
        if name.strip() in found:
            raise click.BadParameter(f"the beta of {name} is given twice", param_hint="--beta")
        found[name.strip()] = value
    return found or None


def conditions(texts: tuple[str, ...], option: str) -> dict[str, list[str]] | None:
    """Values by column."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, values = named_list(text, option)
        if name in found:
            raise click.BadParameter(f"{name} is given twice: write {name}=value,value", param_hint=option)
        found[name] = values
    return found or None


def asked(options: dict[str, Any]) -> dict[str, Any]:
    """The options of `spec_options`, those that a command has, as keywords of the package's functions."""
    held = {"by": options["by"], "step": options["step"]} if "step" in options else {}
    if "unknown" in options:
        held |= {
            "unknown": list(options["unknown"]) or None,
            "separator": options["split"],
            "off_domain": options["off_domain"],
        }
    return {
        "spec": options["spec"],
        **held,
        "where": conditions(options["where"], "--where"),
        "delimiter": delimiter_of(options["delimiter"]),
        "encoding": options["encoding"],
    }


def show(report: Any, json_file: str | None, *, all_runs: bool = False) -> None:
    """Write the JSON, and print the report unless standard output is the JSON's."""
    from justicia.report.generations_text import render

    with answering_anyway(lambda: show_made(render(report, all_runs=all_runs), 120)):
        text = write_reports(report, {"json": json_file})
    if text is None:
        show_made(render(report, all_runs=all_runs), 120)
    else:
        answer(text)


def pictures(report: Any, files: dict[str, str | None]) -> None:
    """Write pictures of a report, by their kind."""
    from justicia.report.generations_plot import picture_bytes
    from justicia.writing import together, write_whole

    # All are drawn before any is written.
    if any(path is not None for path in files.values()):
        stage("drawing")
    drawn = {
        path: picture_bytes(report.plot(kind), picture_format(path)) for kind, path in files.items() if path is not None
    }
    with together():
        for path, content in drawn.items():
            write_whole(path, content)


def check_files(targets: Iterable[str | None], drawn: Iterable[str | None], inputs: Iterable[str | None]) -> None:
    """What `check_targets` refuses, and pictures of no known kind, before any work is done."""
    from justicia.writing import check_targets

    paths = list(drawn)
    check_targets([*targets, *paths], inputs)
    for path in paths:
        if path is not None:
            picture_format(path)


def picture_format(path: str) -> str:
    """The kind of picture that a file's name asks for."""
    from justicia.report.generations_plot import PICTURE_FORMATS

    ending = path.rpartition(".")[2].lower()
    if ending not in PICTURE_FORMATS:
        *first, last = (f".{kind}" for kind in PICTURE_FORMATS)
        raise click.UsageError(f"{path}: a picture's name ends in {', '.join(first)} or {last}")
    return ending
