"""How a command ends: its exit code, and the one line that says why there is no answer."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from dataclasses import dataclass

import click

from justicia.errors import JusticiaError
from justicia.words import shown

__all__ = ["Ending", "Stop", "ending_of", "gone", "interrupted", "pacify", "say_line"]


@dataclass(frozen=True)
class Ending:
    """What became of a command.

    Attributes
    ----------
    outcome : str
        "done", "failed", "interrupted", "time" or "memory", for the log of the run.
    code : int
        Exit code.
    line : str or None
        For standard error.
    """

    outcome: str
    code: int
    line: str | None = None


class Stop(BaseException):
    """Raised wherever the command is when it has to end; no error, so that nobody who mends errors catches it."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.line)
        self.ending = ending


def interrupted(number: int) -> Ending:
    """The end by a signal, with the exit code that shells give it."""
    name = signal.Signals(number).name
    how = "interrupted" if number == signal.SIGINT else f"interrupted by {name}"
    return Ending("interrupted", 128 + number, how)


def ending_of(error: BaseException) -> Ending:
    """The end by an exception."""
    if isinstance(error, Stop):
        return error.ending
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else 0 if error.code is None else 2
        return Ending("failed" if code else "done", code, error.code if isinstance(error.code, str) else None)
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        return interrupted(signal.SIGINT)
    if isinstance(error, JusticiaError):
        return Ending("failed", error.exit_code, str(error))
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        return Ending("failed", 2, f"{error.format_message()}{hint}")
    if isinstance(error, BrokenPipeError):
        return Ending("failed", 2, "the reader of what is written has gone")
    if isinstance(error, OSError):
        where = f" {error.filename}" if error.filename else ""
        return Ending("failed", 2, f"cannot read or write{where}: {error.strerror or error}")
    if isinstance(error, MemoryError):
        return Ending("failed", 2, "out of memory: audit fewer rows or columns at a time")
    if isinstance(error, RecursionError):
        return Ending("failed", 2, "something in the input is nested too deeply to be read")
    said = f"unexpected {type(error).__name__}: {error}; please report it with the output of --debug"
    return Ending("failed", 2, said)


def say_line(message: str) -> None:
    """One line on standard error; when nobody reads that, nothing."""
    line = shown(" ".join(message.split()), 2000)
    try:
        click.echo(f"justicia: {line}", err=True)
    except (OSError, ValueError):
        pacify(2)


def pacify(descriptor: int) -> None:
    """Let what is still to be written to standard output (1) or standard error (2) go nowhere.

    Otherwise Python complains when it ends and cannot write what is left, and ends with a code of its own.
    """
    stream = sys.stdout if descriptor == 1 else sys.stderr
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if stream.fileno() == descriptor:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)


def gone(error: OSError) -> bool:
    """Whether the reader of a pipe or a terminal has gone away."""
    return error.errno in (errno.EPIPE, errno.ESHUTDOWN, errno.EIO)
