"""The command line: one module a command, no logic.

Standard output carries the answer; announcements, warnings and errors go to standard error. Exit codes: 0 done and
every requirement met, 1 a requirement is breached, 2 bad call or bad input, 3 undecided, also when a limit of time or
memory that was set ends the command before there is an answer, 4 the encoding does not reproduce the model, or a
cross-check or the self-test disagrees; 129, 130 and 143 when SIGHUP, Ctrl-C or SIGTERM end it so.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import click

from justicia._version import __version__
from justicia.cli.compare import compare
from justicia.cli.datasets import datasets
from justicia.cli.encode import encode
from justicia.cli.ending import Ending, ending_of, gone, pacify, say_line
from justicia.cli.generations import generations
from justicia.cli.population import population
from justicia.cli.report import report
from justicia.cli.selftest import selftest
from justicia.cli.short_help import with_short_help
from justicia.cli.signals import Signals
from justicia.cli.solve import solve
from justicia.cli.verify import verify
from justicia.speaking import speaking_options

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["cli", "main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="justicia")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Audit classifiers exactly: how often a model says yes to every group of people."""


cli.add_command(verify)
cli.add_command(compare)
cli.add_command(population)
cli.add_command(datasets)
cli.add_command(encode)
cli.add_command(solve)
cli.add_command(selftest)
cli.add_command(report)
cli.add_command(generations)
with_short_help(cli)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _take_closed()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    ending = Ending("done", 0)
    with Signals() as signals:
        try:
            code = _run(words)
            ending = Ending("done", code if isinstance(code, int) else 0)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            ending = Ending("failed", 2)
        except BrokenPipeError:
            # The reader of standard output has gone; nothing is left to say.
            pacify(1)
        except BaseException as error:
            # What is raised while the command is being ended is no fault of its own.
            ending = ending_of(error) if signals.stop is None else signals.stop.ending
            if "--debug" in words and ending.outcome == "failed" and not isinstance(error, click.ClickException):
                raise
        ending = _delivered(ending)
        if ending.line is not None:
            say_line(ending.line)
    sys.exit(ending.code)


def _run(words: list[str]) -> Any:
    """The command's own exit code.

    Click's own `main` would end with 1, which means a breach here, when the reader of standard output has gone.
    """
    with speaking_options(), warnings.catch_warnings():
        asked = sys.warnoptions or any(action == "error" for action, *_ in warnings.filters)
        if "--debug" not in words and not asked:
            # What libraries tell those who write programs is no line for users.
            warnings.simplefilter("ignore")
        if "_JUSTICIA_COMPLETE" in os.environ:
            return cli.main(words, prog_name="justicia")
        try:
            with cli.make_context("justicia", words, obj=words) as context:
                return cli.invoke(context)
        except click.exceptions.Exit as left:
            return left.exit_code


def _delivered(ending: Ending) -> Ending:
    """Write what is left in standard output and standard error, which may be impossible."""
    for descriptor, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError) as error:
            pacify(descriptor)
            if descriptor == 1 and ending.line is None and isinstance(error, OSError) and not gone(error):
                ending = Ending("failed", 2, f"cannot write to standard output: {error.strerror}")
    return ending


def _take_closed() -> None:
    """Open what was closed (0, 1, 2), so that no file of ours gets its number, and what is written for it."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                os.open(os.devnull, os.O_RDWR)
