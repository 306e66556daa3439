"""A second process that outlives this one by a moment: run as a script, with nothing but the standard library.

It reads lines of JSON from standard input, what there is to end and to remove, and does that when the input ends, which
it does however the first process ends, kill -9 included. It also keeps the limits of a whole command: the memory of
the process with its children is looked at ten times a second. What is reached is said on standard output, so that the
first process can end by itself; when it does not, it is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MARK = "JUSTICIA_RUN"
"""The variable of the environment that tells whose programs and their children are."""

_TICK = 0.1
_ROUNDS = 20
_MORE = 1.5
"""Times the limit of memory: beyond that the process may only end by itself at once."""
_AT_ONCE = 1.0
"""Seconds that it has then."""
_GRACE = 5.0
"""Seconds in which the process may end by itself when memory has run out; it gives itself fewer."""


def main() -> None:
    """Read, watch, and clean up at the end."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    guard = Watcher(int(sys.argv[1]))
    rest = b""
    while True:
        ready, _, _ = select.select([0], [], [], guard.wait)
        if ready:
            block = os.read(0, 65536)
            if not block:
                break
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                # What was cut off says nothing; what comes after it does.
                with contextlib.suppress(ValueError):
                    guard.take(json.loads(line))
        guard.look()
    guard.clean()


class Watcher:
    """What there is to end, to remove and to watch.

    Parameters
    ----------
    parent : int
        The process that is watched.
    """

    def __init__(self, parent: int) -> None:
        self._parent = parent
        self._mark: str | None = None
        self._groups: set[int] = set()
        self._folders: set[str] = set()
        self._limits: dict[str, Any] = {}
        self._reached: float | None = None

    @property
    def wait(self) -> float | None:
        """Seconds until the next look."""
        return _TICK if self._limits else None

    def take(self, said: dict[str, Any]) -> None:
        """One line."""
        if "group" in said:
            self._groups.add(said["group"])
        elif "folder" in said:
            self._folders.add(said["folder"])
        elif "mark" in said:
            self._mark = said["mark"]
        elif "done" in said:
            self._groups.discard(said["done"])
            self._folders.discard(said["done"])
        elif "limits" in said:
            self._limits = said["limits"]
            self._limits["begin"] = time.monotonic()

    def look(self) -> None:
        """Compare with the limits."""
        limits = self._limits
        now = time.monotonic()
        if limits.get("last") is not None and now - limits["begin"] > limits["last"]:
            self._end("time", None)
        most = limits.get("memory")
        if most is None:
            return
        used = memory_of(self._parent)
        if used <= most:
            return
        if self._reached is None:
            self._reached = now
            with contextlib.suppress(OSError):
                os.write(1, json.dumps({"memory": used}).encode() + b"\n")
        if now - self._reached > (_AT_ONCE if used > _MORE * most else _GRACE):
            self._end("memory", used)

    def _end(self, what: str, used: int | None) -> None:
        """Kill the process that did not end by itself, and say so in its place."""
        family = [self._parent, *descendants(self._parent)]
        for process in family:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        line = self._limits["lines"][what].replace("{used}", size_text(used or 0))
        with contextlib.suppress(OSError):
            os.write(2, f"{line}\n".encode())
        log = self._limits.get("log")
        if log is not None:
            end = {**self._limits["end"], "outcome": what, "error": line, "peak_memory": used}
            with contextlib.suppress(OSError), open(log, "ab", buffering=0) as file:
                file.write(json.dumps(end).encode() + b"\n")
        self._limits = {}

    def clean(self) -> None:
        """End programs, and remove folders."""
        for group in self._groups:
            with contextlib.suppress(OSError):
                os.killpg(group, signal.SIGKILL)
        if self._mark is not None and self._groups:
            end_marked(self._mark)
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)


def end_marked(mark: str) -> None:
    """Kill every process that inherited a mark, also one that has left the group; where the system tells."""
    for _ in range(_ROUNDS):
        found = list(marked(mark))
        if not found:
            return
        for process in found:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.005)


def marked(mark: str) -> Iterator[int]:
    """Processes whose environment holds a mark, or one that begins with it."""
    wanted = f"{MARK}={mark}".encode()
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if name.isdigit():
            # Those of others cannot be read, and those that have ended are empty.
            with contextlib.suppress(OSError):
                held = Path(f"/proc/{name}/environ").read_bytes()
                if held.startswith(wanted) or b"\0" + wanted in held:
                    yield int(name)


def descendants(process: int) -> list[int]:
    """Children of a process, and theirs."""
    found, stack = [], [process]
    table = None
    while stack:
        one = stack.pop()
        children = _children(one)
        if children is None:
            table = _table() if table is None else table
            children = [child for child, (parent, _) in table.items() if parent == one]
        # This very process is a child, too.
        children = [child for child in children if child != os.getpid()]
        found += children
        stack += children
    return found


def _children(process: int) -> list[int] | None:
    """What Linux knows at once."""
    try:
        threads = os.listdir(f"/proc/{process}/task")
        texts = [Path(f"/proc/{process}/task/{thread}/children").read_text() for thread in threads]
    except FileNotFoundError:
        return [] if Path("/proc/self/task").is_dir() and not Path(f"/proc/{process}").exists() else None
    except OSError:
        return None
    return [int(word) for text in texts for word in text.split()]


def _table() -> dict[int, tuple[int, int]]:
    """Parent and bytes of every process, by `ps`."""
    try:
        said = subprocess.run(
            ["/bin/ps", "-axo", "pid=,ppid=,rss="], capture_output=True, text=True, timeout=10, check=False
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    rows = [line.split() for line in said.splitlines()]
    return {int(row[0]): (int(row[1]), int(row[2]) * 1024) for row in rows if len(row) == 3}


def memory_of(process: int) -> int:
    """Bytes of memory that a process and its children have in use; pages that several share count once.

    0 where the system does not tell.
    """
    family = [process, *descendants(process)]
    if not Path("/proc/self/statm").exists():
        table = _table()
        return sum(table[one][1] for one in family if one in table)
    return sum(_resident(one, alone=len(family) == 1) for one in family)


def _resident(process: int, *, alone: bool) -> int:
    if not alone:
        with contextlib.suppress(OSError, ValueError, IndexError):
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def size_text(size: float) -> str:
    """Bytes for readers: 1.5 GB."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} bytes"


if __name__ == "__main__":
    main()
