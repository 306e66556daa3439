"""What experiments share: one command line, CSV files that a later run goes on with, and seconds of the processor.

An experiment is a module with

- `NAME`: of its files, `NAME.csv` and, if there is one, the figure `NAME.svg`;
- `TITLE`: of its section on the results page;
- `run(out, *, quick, progress, seed)`: computes what is not in `out / NAME.csv` yet, and writes it there row by row;
- `section(folder)`: Markdown from the CSV files of a folder alone, without any number that is typed by hand.

Its last lines are ``if __name__ == "__main__": command(NAME, run, __doc__)()``.
"""

from __future__ import annotations

import contextlib
import csv
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

from justicia.errors import InputError, JusticiaError

__all__ = [
    "Ran",
    "Reporter",
    "Rows",
    "command",
    "cpu_seconds",
    "new_figure",
    "of_children",
    "of_one",
    "read_rows",
    "run_program",
    "save_figure",
    "table",
    "wrapped",
]

T = TypeVar("T")

DEFAULT_OUT = Path("experiments/results")


class Reporter:
    """Tells on standard error how far an experiment is; a bar where that is a terminal.

    Parameters
    ----------
    wanted : bool
        Nothing is shown otherwise.
    """

    def __init__(self, wanted: bool = True) -> None:
        self._console = Console(stderr=True, quiet=not wanted, highlight=False)
        columns = (TextColumn("{task.description}", markup=False), BarColumn(20), MofNCompleteColumn())
        self._bars = RichProgress(*columns, TimeElapsedColumn(), console=self._console, disable=not wanted)

    def __enter__(self) -> Self:
        """Show the bar."""
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the bar as it is."""
        self._bars.stop()

    def track(self, items: Iterable[T], words: str) -> Iterator[T]:
        """The items one by one, counted as they are done."""
        held = list(items)
        bar = self._bars.add_task(words, total=len(held))
        for item in held:
            yield item
            self._bars.advance(bar)

    def note(self, text: str) -> None:
        """A line for the person who waits, such as what is left out and why."""
        self._console.print(text, markup=False, soft_wrap=True)


class Rows:
    """A CSV file that rows are added to; the rows that an earlier run wrote are kept.

    Parameters
    ----------
    path : Path
        Made with its header when it does not exist.
    columns : sequence of str
    key : sequence of str
        Columns that name a row: every setting that its numbers depend on, so that no other row passes for it.

    Raises
    ------
    InputError
        When the file has other columns: it comes from another version of the experiment.
    """

    def __init__(self, path: Path, columns: Sequence[str], key: Sequence[str]) -> None:
        self.path, self._columns, self._key = path, list(columns), list(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.held: list[dict[str, str]] = []
        if not path.exists():
            self._write([self._columns], "w")
            return
        text = path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            # A run was stopped in the middle of a line: the others are whole.
            path.write_text(whole, encoding="utf-8")
        read = list(csv.reader(whole.splitlines()))
        if not read or read[0] != self._columns:
            raise InputError(
                f"{path} has other columns than this experiment writes: move it away, or name another --out"
            )
        self.held = [dict(zip(self._columns, row, strict=True)) for row in read[1:]]

    def __contains__(self, named: Mapping[str, Any]) -> bool:
        """Whether there is a row with these values of the key's columns."""
        return self._of(named) in {self._of(row) for row in self.held}

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a row; None is an empty cell.

        Raises
        ------
        ValueError
            When it has other columns, or is there already.
        """
        if set(row) != set(self._columns):
            raise ValueError(f"a row with columns {sorted(row)}, not {sorted(self._columns)}")
        if row in self:
            raise ValueError(f"there is a row for {self._of(row)} already")
        cells = {name: _cell(row[name]) for name in self._columns}
        self._write([[cells[name] for name in self._columns]], "a")
        self.held.append(cells)

    def todo(self, cases: Iterable[T], key: Callable[[T], Mapping[str, Any]]) -> list[T]:
        """Those of the cases that have no row yet."""
        return [case for case in cases if key(case) not in self]

    def _of(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(_cell(row[name]) for name in self._key)

    def _write(self, rows: list[list[str]], mode: str) -> None:
        with self.path.open(mode, newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


def _cell(value: Any) -> str:
    """A number as text that gives the same number again."""
    if value is None:
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(text.replace('|', chr(92) + '|') for text in line)} |" for line in lines)


def wrapped(text: str) -> str:
    """A paragraph in lines that are as long as those of the pages."""
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def of_one(value: float, digits: int) -> str:
    """A probability or share with so many digits, and no 0 before the point; `-` where there is none."""
    if math.isnan(value):
        return "-"
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else text


def cpu_seconds() -> float:
    """Seconds of the processor so far, of this process and of those that it has started and that have ended."""
    return time.process_time() + of_children()


def of_children() -> float:
    """Seconds of the processor so far of the programs that this process has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class Ran:
    """A program that has ended.

    Attributes
    ----------
    status : str
        "done", "time" (its seconds, or ten times as many of the clock, were over) or "failed".
    seconds : float
        Of the processor, with all that it started and waited for.
    output, errors : str
        What it wrote.
    """

    status: str
    seconds: float
    output: str
    errors: str


def run_program(
    arguments: Sequence[str | Path],
    limit: float,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """Run a program to its end, for so many seconds of the processor at most.

    Parameters
    ----------
    arguments : sequence of str or Path
        The program and its arguments; no shell reads them.
    limit : float
        Seconds of the processor; by the clock it gets ten times as long, for it may have to wait for others.
    folder : Path, optional
        Where it runs.
    environment : mapping of str to str, optional
        Variables beside those of this process. One thread is the default, so that seconds are of one core.
    """
    seconds = math.ceil(limit)
    words = ["/bin/sh", "-c", f'ulimit -t {seconds}; exec "$@"', "sh", *map(str, arguments)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    # Another Python must not find what is meant for this one.
    inherited = {name: held for name, held in os.environ.items() if not name.startswith("PYTHON")}
    variables = {**inherited, **threads, **(environment or {})}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        program = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            cwd=folder,
            env=variables,
            start_new_session=True,
        )
        deadline = time.monotonic() + 10 * seconds
        used, ended, pause, stopped = 0.0, None, 0.01, False
        try:
            while ended is None:
                pid, status, usage = os.wait4(program.pid, os.WNOHANG)
                if pid:
                    # What was ended before it was waited for counts in the session alone.
                    ended, used = os.waitstatus_to_exitcode(status), max(used, usage.ru_utime + usage.ru_stime)
                elif time.monotonic() > deadline or _of_session(program.pid) > limit + 1:
                    used, stopped = max(used, _of_session(program.pid)), True
                    _end_session(program.pid)
                else:
                    time.sleep(pause)
                    pause = min(1.5 * pause, 0.5)
        finally:
            program.returncode = ended
            # What it has started may have a process group of its own, and must not outlive it.
            _end_session(program.pid)
            if ended is None:
                os.waitpid(program.pid, 0)
                program.returncode = -9
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    # On a machine that has other work, the clock may end it before its seconds are used; and the system, which counts
    # in ticks, may end it a little before they seem used.
    ended_by_system = ended == -signal.SIGXCPU or (ended == -signal.SIGKILL and used > 0.5 * limit)
    over = stopped or ended_by_system or used > 0.95 * limit
    return Ran("done" if ended == 0 else "time" if over else "failed", used, *texts)


def _members(session: int) -> Iterator[tuple[int, list[str]]]:
    """Processes of a session, and what the system counts of each."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[3]) == session:
            yield int(place.name), words


def _of_session(session: int) -> float:
    """Seconds of the processor of all processes of a session, and of those that they have waited for."""
    ticks = sum(sum(map(int, words[11:15])) for _, words in _members(session))
    return ticks / os.sysconf("SC_CLK_TCK")


def _end_session(session: int) -> None:
    """End all processes of a session that still run."""
    for process, words in list(_members(session)):
        if words[0] != "Z":
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def new_figure(*grid: int, **options: Any) -> tuple[Any, Any]:
    """A figure of matplotlib and its axes, as `subplots` takes them, that needs no display."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    return plt.subplots(*grid, **options)


def save_figure(figure: Any, path: Path) -> None:
    """Lay out a figure of matplotlib, write it as SVG, the same bytes for the same figure, and close it."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    figure.tight_layout()
    with mpl.rc_context({"svg.hashsalt": path.stem}):
        figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def command(name: str, run: Callable[..., None], words: str | None, *options: Callable[[Any], Any]) -> click.Command:
    """The command line of an experiment.

    Parameters
    ----------
    name : str
    run : callable
    words : str or None
        What the experiment asks.
    *options : decorators
        More options of click, which `run` takes as keywords.
    """

    @click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=DEFAULT_OUT, show_default=True)
    @click.option("--quick", is_flag=True, help="A small part, to see that everything runs.")
    @click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
    def main(out: Path, quick: bool, seed: int, **more: Any) -> None:
        try:
            with Reporter() as progress:
                run(out, quick=quick, progress=progress, seed=seed, **more)
        except JusticiaError as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(2)

    main.__doc__ = f"\b\n{words or name}\n\nRows that are in the CSV file of --out already are not computed again."
    wrapped: Any = main
    for option in reversed(options):
        wrapped = option(wrapped)
    return click.command(name)(wrapped)
