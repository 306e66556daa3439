"""What several commands do with their reports: files, and standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from justicia.cli.ending import gone, pacify
from justicia.errors import InputError
from justicia.progress import stage, stop_bar
from justicia.writing import together

__all__ = ["answer", "answering", "answering_anyway", "show_made", "write_reports"]


@contextmanager
def answering() -> Iterator[None]:
    """Write to standard output inside; when its reader has gone, the command still ends with its own exit code.

    Raises
    ------
    InputError
        When standard output cannot be written, as on a full disk.
    """
    stop_bar()
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        pacify(1)
        if not gone(error):
            raise InputError(f"standard output cannot be written: {error.strerror}") from error


@contextmanager
def answering_anyway(show: Callable[[], object]) -> Iterator[None]:
    """Write files inside; when one cannot be written, as on a full disk, the answer is shown before that is said.

    Parameters
    ----------
    show : callable
        Writes the answer to standard output.
    """
    try:
        yield
    except (InputError, OSError):
        show()
        raise


def answer(text: str | bytes) -> None:
    """Write the answer to standard output.

    Raises
    ------
    InputError
        When it cannot be written.
    """
    with answering():
        click.echo(text, nl=False)


def write_reports(report: Any, targets: Mapping[str, str | None]) -> str | None:
    """Write a report as "json", "html" or "junit", each to its target; return what standard output gets in place of it.

    Parameters
    ----------
    report : object
        With methods such as `to_json`, which take a path and return the text without one.
    targets : mapping of str to (str or None)
        By kind; "-" is standard output, None is no target.
    """
    texts = []
    with together():
        for kind, target in targets.items():
            if target is not None:
                stage("writing %s", kind)
                texts.append(getattr(report, f"to_{kind}")(None if target == "-" else target))
    return next((text for text in texts if text is not None), None)


def show_made(made: Any, width: int) -> None:
    """Print what rich can show; where standard output is no terminal, as text of some width."""
    from rich.console import Console

    from justicia.report.generations_text import printed

    console = Console()
    if console.is_terminal:
        with answering():
            console.print(made)
    else:
        answer(printed(made, width))
