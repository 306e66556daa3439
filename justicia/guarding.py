"""A guard beside this process: it ends programs and removes folders that a killed process would leave behind.

It is a process of its own (`justicia._guard`), begun when there is something to guard, and ends with this one. Where
there are no process groups (Windows) there is none.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from justicia import _guard

__all__ = ["Guard", "guard", "held_guard", "private_folder"]


class Guard:
    """The guard of one process.

    Attributes
    ----------
    mark : str
        How the marks of this process's programs begin.
    """

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.mark = f"{self.owner}-{secrets.token_hex(6)}"
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._runs = 0
        if os.name != "posix":
            return
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(  # noqa: S603 (this very interpreter, and a file of this package)
                [sys.executable, "-I", "-S", _guard.__file__, str(self.owner)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                cwd="/",
            )
        self._tell(mark=self.mark)

    @property
    def reports(self) -> int | None:
        """Descriptor of what it says about limits."""
        held = None if self._process is None else self._process.stdout
        return None if held is None else held.fileno()

    @property
    def process_id(self) -> int | None:
        """Its own number."""
        return None if self._process is None else self._process.pid

    def new_mark(self) -> str:
        """A mark for one program and its children."""
        with self._lock:
            self._runs += 1
            return f"{self.mark}-{self._runs}-"

    def add(self, *, group: int | None = None, folder: Path | None = None) -> None:
        """Name a process group that is to be killed, or a folder that is to be removed, at the end of this process."""
        if group is not None:
            self._tell(group=group)
        if folder is not None:
            self._tell(folder=str(folder))

    def drop(self, held: int | Path) -> None:
        """It has ended, or is gone."""
        self._tell(done=held if isinstance(held, int) else str(held))

    def limit(self, limits: Mapping[str, Any] | None) -> None:
        """Watch limits, or none any more."""
        self._tell(limits={} if limits is None else dict(limits))

    def _tell(self, **said: Any) -> None:
        if self._process is None or self._process.stdin is None:
            return
        with self._lock, contextlib.suppress(OSError, ValueError):
            os.write(self._process.stdin.fileno(), json.dumps(said).encode() + b"\n")

    def close(self) -> None:
        """Let it end."""
        process, self._process = self._process, None
        if process is None or os.getpid() != self.owner:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)


_HELD: Guard | None = None


def guard() -> Guard:
    """The guard of this process, begun when it is asked for first."""
    global _HELD
    if _HELD is None or _HELD.owner != os.getpid():
        _HELD = Guard()
        atexit.register(_HELD.close)
    return _HELD


def held_guard() -> Guard | None:
    """The guard of this process, if there is one."""
    return _HELD if _HELD is not None and _HELD.owner == os.getpid() else None


@contextmanager
def private_folder() -> Iterator[Path]:
    """A temporary folder that is removed also when this process is killed."""
    keeper = guard()
    with tempfile.TemporaryDirectory(prefix="justicia-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        keeper.add(folder=folder)
        try:
            yield folder
        finally:
            # The guard would remove what has been removed.
            keeper.drop(folder)
