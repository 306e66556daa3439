"""What every command has that does work: a log of the run, and limits of time and memory for all of it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from justicia.cli.ending import Ending, ending_of
from justicia.cli.options import announcing, with_options
from justicia.cli.signals import GRACE, LEFT, Signals
from justicia.progress import Bar

if TYPE_CHECKING:
    from justicia.run_log import RunLog

__all__ = ["RUN_OPTIONS", "running"]

_LAST = LEFT + 2 * GRACE
"""Seconds after its time in which a command has ended at the latest."""

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]i?)?b?\s*", re.IGNORECASE)


def _size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """A size such as 500MB, 2GB or 1.5GiB, in bytes."""
    if value is None:
        return None
    found = _SIZE.fullmatch(value)
    size = None if found is None else int(float(found[1]) * _UNITS[(found[2] or "").lower()])
    if not size:
        raise click.BadParameter(f"{value!r} is no size: write 500MB, 2GB or 1.5GiB", context, parameter)
    return size


_OPTIONS = (
    click.option(
        "--max-time",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Of the whole command, reading and writing included: then bounds are the answer where they are being "
        "narrowed, and the command ends with exit code 3 elsewhere.",
    ),
    click.option(
        "--max-memory",
        callback=_size,
        metavar="SIZE",
        help="Of the whole command with its helpers and outside solvers, as in 2GB: when more is used it ends with "
        "exit code 3.",
    ),
    click.option(
        "--log",
        "log_file",
        metavar="FILE",
        help="Add what is done, how long it takes and how it ends to FILE, as JSON lines, while it is done.",
    ),
)

RUN_OPTIONS = ("max_time", "max_memory", "log_file")
"""Their names."""


def running(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options --max-time, --max-memory and --log to a command, and run it under them.

    The command itself gets none of them; it stands closest to the function.
    """

    @wraps(command)
    def run(*arguments: Any, max_time: float | None, max_memory: int | None, log_file: str | None, **rest: Any) -> Any:
        # Commands with --quiet announce what they find themselves.
        with nullcontext() if "quiet" in rest else announcing(quiet=False), Bar(not rest.get("quiet")):
            if max_time is None and max_memory is None and log_file is None:
                return command(*arguments, **rest)
            return _run(lambda: command(*arguments, **rest), max_time, max_memory, log_file)

    return with_options(run, _OPTIONS)


def _run(command: Callable[[], Any], max_time: float | None, max_memory: int | None, log_file: str | None) -> Any:
    from justicia.errors import InputError
    from justicia.run_log import RunLog
    from justicia.writing import check_target

    context = click.get_current_context()
    if log_file is not None:
        # Whatever else is named is read, or written by somebody else.
        rest = [value for name, value in context.params.items() if name != "log_file"]
        named = [one for value in rest for one in (value if isinstance(value, tuple) else [value])]
        for one in named:
            if isinstance(one, str) and os.path.realpath(one) == os.path.realpath(log_file):
                raise InputError(f"{log_file} is named for something else, too: name another file for --log")
        if log_file == "-":
            raise InputError("standard output carries the answer: name a file for --log, such as /dev/stderr")
        check_target(log_file)
    words = ["justicia", *(sys.argv[1:] if context.find_root().obj is None else context.find_root().obj)]
    with (
        Signals() as signals,
        RunLog(log_file, words, {"time": max_time, "memory": max_memory}) as log,
    ):
        signals = Signals.current or signals
        before, signals.at_end = signals.at_end, lambda ending: log.end(ending.outcome, ending.code, ending.line)
        try:
            with _limits(signals, log, max_time, max_memory, log_file):
                code = command()
        except BaseException as error:
            # What is raised while the command is being ended is no fault of its own.
            ending = signals.stop.ending if signals.stop is not None else ending_of(error)
            log.end(ending.outcome, ending.code, ending.line)
            raise
        finally:
            signals.at_end = before
        log.end("done", code if isinstance(code, int) else 0, None)
    return code


@contextmanager
def _limits(
    signals: Signals, log: RunLog, max_time: float | None, max_memory: int | None, log_file: str | None
) -> Iterator[None]:
    """Keep the limits meanwhile."""
    if max_time is None and max_memory is None:
        yield
        return
    from justicia._guard import memory_of, size_text
    from justicia.errors import InputError
    from justicia.guarding import guard

    if os.name != "posix":
        raise InputError("--max-time and --max-memory are kept on Linux and macOS: this system lacks the signals")
    if max_memory is not None and not memory_of(os.getpid()):
        raise InputError("--max-memory cannot be kept: this system does not tell how much memory a process uses")
    context = click.get_current_context()
    streams = any(parameter.name == "stream" for parameter in context.command.params)
    advice = "allow more, or audit fewer rows, columns or groups at a time"
    if streams and not context.params.get("stream"):
        advice = f"read the table in batches (--stream), {advice}"

    def where() -> str:
        return "" if log.stage is None else f" while {log.stage}"

    def timed() -> Ending:
        limit = f"the time limit of the whole command, {max_time:g} s (--max-time), is over"
        return Ending("time", 3, f"{limit}{where()}: there is no answer yet, allow more time")

    def full(used: int) -> Ending:
        return Ending("memory", 3, _full(size_text(used), where()))

    def _full(used: str, where: str) -> str:
        limit = f"the memory limit of {size_text(max_memory or 0)} (--max-memory) is reached{where}"
        return f"{limit}, {used} are in use: {advice}"

    keeper = guard()
    if keeper.process_id is None:
        raise InputError("limits cannot be kept: the process that watches them cannot be started")
    killed = {"memory": f"justicia: {_full('{used}', '')}"}
    if max_time is not None:
        killed["time"] = f"justicia: {timed().line}"
    keeper.limit(
        {
            "last": None if max_time is None else max_time + _LAST,
            "memory": max_memory,
            "lines": killed,
            "log": log_file,
            "end": {**log.line_for("end"), "exit_code": 137},
        }
    )
    signals.limit(max_time, timed, full, keeper.reports)
    try:
        yield
    finally:
        signals.unlimited()
        keeper.limit(None)
