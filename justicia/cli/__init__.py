"""The command line: one module a command, no logic.

Standard output carries the answer; announcements, warnings and errors go to standard error. Exit codes: 0 done and
every requirement met, 1 a requirement is breached, 2 bad call or bad input, 3 undecided or interrupted, 4 the encoding
does not reproduce the model, or a cross-check or the self-test disagrees.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING

import click

from justicia._version import __version__
from justicia.cli.compare import compare
from justicia.cli.datasets import datasets
from justicia.cli.encode import encode
from justicia.cli.generations import generations
from justicia.cli.population import population
from justicia.cli.report import report
from justicia.cli.selftest import selftest
from justicia.cli.solve import solve
from justicia.cli.verify import verify
from justicia.errors import JusticiaError
from justicia.speaking import speaking_options
from justicia.words import shown

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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        with speaking_options(), warnings.catch_warnings():
            asked = sys.warnoptions or any(action == "error" for action, *_ in warnings.filters)
            if not debug and not asked:
                # What libraries tell those who write programs is no line for users.
                warnings.simplefilter("ignore")
            code = cli.main(words, prog_name="justicia", standalone_mode=False, obj=words)
        if sys.stdout is not None:
            sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except JusticiaError as error:
        if debug:
            raise
        _fail(str(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        _fail(f"{error.format_message()}{hint}", 2)
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", 3)
    except BrokenPipeError:
        # The reader of standard output has gone; nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(0)
    except OSError as error:
        if debug:
            raise
        where = f" {error.filename}" if error.filename else ""
        _fail(f"cannot read or write{where}: {error.strerror or error}", 2)
    except MemoryError:
        _fail("out of memory: audit fewer rows or columns at a time", 2)
    except RecursionError:
        if debug:
            raise
        _fail("something in the input is nested too deeply to be read", 2)
    except Exception as error:
        if debug:
            raise
        _fail(f"unexpected {type(error).__name__}: {error}; please report it with the output of --debug", 2)


def _fail(message: str, code: int) -> None:
    line = shown(" ".join(message.split()), 2000)
    click.echo(f"justicia: {line}", err=True)
    sys.exit(code)
