"""What several commands share: options that say how a table is read, and announcements."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, overload

import click

from justicia.words import shown

__all__ = [
    "CSV_OPTIONS",
    "FEATURES",
    "STREAM",
    "TRUST_MODEL",
    "announcing",
    "delimiter_of",
    "named_list",
    "named_lists",
    "names_of",
    "note",
    "outside_options",
    "table_options",
    "with_options",
]

CSV_OPTIONS = (
    click.option("--delimiter", metavar="CHARACTER", help="Of a CSV file.  [default: ,]"),
    click.option("--encoding", default="utf-8", show_default=True, help="Of a CSV file."),
)
"""How a CSV file is read."""

_TABLE = (
    click.option(
        "--one-hot",
        multiple=True,
        metavar="NAME=COLUMN,COLUMN",
        help="0/1 columns that are one feature; none: there are none. Repeatable.  [default: found]",
    ),
    click.option(
        "--bins",
        multiple=True,
        metavar="COLUMN=EDGE,EDGE",
        help="Cut a numeric sensitive column, as in age=25,40,60; an edge belongs to the class below. Repeatable.",
    ),
    click.option("--na", multiple=True, metavar="WORD", help="A word that means missing, besides the empty cell."),
    *CSV_OPTIONS,
)

FEATURES = click.option("--features", metavar="COLUMN,COLUMN", help="Columns of a model fitted without column names.")
TRUST_MODEL = click.option(
    "--trust-model", is_flag=True, help="Load whatever a model file holds; runs code of whoever made it."
)
STREAM = click.option(
    "--stream/--no-stream",
    default=None,
    help="Read the table in batches, and hold distinct people only.  [default: large files]",
)


def with_options(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """Add options to a command, in the order in which help shows them."""
    for option in reversed(options):
        command = option(command)
    return command


def table_options(command: Callable[..., Any], ways: str = "error|group|drop") -> Callable[..., Any]:
    """Add the options that say what the columns of a table are, and how a CSV file is read.

    Parameters
    ----------
    command : callable
    ways : str
        What may happen to people without a value in a sensitive column.
    """
    says = "People without sensitive value."
    if "bounds" in ways.split("|"):
        says += " bounds: they stay apart, and every rate gets the range that their groups, whichever, leave open."
    missing = click.option("--missing", default="error", show_default=True, metavar=ways, help=says)
    return with_options(command, (_TABLE[0], missing, *_TABLE[1:]))


_OUTSIDE = (
    click.option(
        "--solver-command",
        metavar="'PROGRAM {file}'",
        help="Ask this program, which reads SDIMACS; implies --solver external. No shell reads it.",
    ),
    click.option(
        "--solver-pattern",
        metavar="REGEX",
        help="Of the line in which the program prints the value, the value in parentheses.  [default: the closing "
        "lines of reSSAT, erSSAT and SharpSSAT]",
    ),
    click.option(
        "--solver-digits",
        type=click.IntRange(0, 1000),
        metavar="N",
        help="Decimals of a probability that the program reads; 0: all.  [default: 6]",
    ),
)


def outside_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which other program is asked, and how."""
    return with_options(command, _OUTSIDE)


def note(text: str) -> None:
    """Say something on standard error; when nobody reads that, nothing."""
    with suppress(OSError, ValueError):
        click.echo(f"note: {text}", err=True)


class _Announcer(logging.Handler):
    """Writes each announcement and warning once, to standard error."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(logging.WARNING if quiet else logging.INFO)
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text not in self._said:
            self._said.add(text)
            kind = "warning" if record.levelno >= logging.WARNING else "note"
            # Nobody may read them; the answer is what is asked for.
            with suppress(OSError, ValueError):
                click.echo(f"{kind}: {shown(text, 1000)}", err=True)


@contextmanager
def announcing(quiet: bool) -> Iterator[None]:
    """Say on standard error what the package finds, or its warnings alone."""
    handler = _Announcer(quiet)
    logger = logging.getLogger("justicia")
    level = logger.level
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@overload
def names_of(text: str) -> list[str]: ...


@overload
def names_of(text: None) -> None: ...


def names_of(text: str | None) -> list[str] | None:
    """Names in a text with commas; one that holds a comma, or blanks around it, stands between quotes.

    >>> names_of('race, "Gender, self"')
    ['race', 'Gender, self']
    """
    return None if text is None else [_unquoted(name) for name in _PART.findall(text)]


_PART = re.compile(r'(?:^|(?<=,))(\s*"[^"]*"\s*(?=,|$)|[^,]*)')
"""What stands between commas, outside quotes."""


def _unquoted(name: str) -> str:
    name = name.strip()
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


def named_list(text: str, option: str) -> tuple[str, list[str]]:
    """A text of the form name=one,two."""
    name, equals, items = text.partition("=")
    if not equals or not name.strip():
        raise click.BadParameter(f"{text!r} is not of the form name=one,two", param_hint=option)
    return name.strip(), names_of(items)


def named_lists(texts: Sequence[str], option: str) -> dict[str, list[str]]:
    """Several of them by name."""
    return dict(named_list(text, option) for text in texts)


def delimiter_of(word: str | None) -> str | None:
    r"""A delimiter; a tab may be written as ``\t`` or ``tab``."""
    return "\t" if word in ("\\t", "tab") else word
