"""Run a program that nobody vouches for: no shell, a folder of its own, and an end that it cannot refuse.

The program is the leader of a process group, which is killed when the program ends, at the limit, and whenever this
process stops waiting: a request to end would not do, ABC answers it by computing on. Children that have left the group
are found by a mark in their environment, where the system shows it (Linux), and killed as well. When this process is
killed itself, its guard does both. Output is read while the program runs and kept up to a limit. Nothing waits for the
end of the output, which a child that was left behind may hold open.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from justicia._guard import MARK, end_marked
from justicia.errors import InputError
from justicia.guarding import guard
from justicia.words import shown

if TYPE_CHECKING:
    from justicia.solvers.interruption import Interruption

__all__ = ["MOST_OUTPUT", "MOST_WRITTEN", "Run", "run_program"]

MOST_OUTPUT = 16 * 2**20
"""Bytes that a program may print."""
MOST_WRITTEN = 2 * 2**30
"""Bytes that it may write into its folder."""

_TICK = 0.05
"""Seconds between two looks at what no pipe tells."""
_FOLDER_TICK = 0.5
_GRACE = 0.2
"""Seconds in which output that is still on its way arrives after the program has ended."""


@dataclass(frozen=True)
class Run:
    """How a program ended.

    Attributes
    ----------
    ended : str
        "itself", "time", "flooded" (too much output), "disk" (too much written) or "interrupted".
    code : int or None
        Exit code, negative for the signal that ended it; None when it was killed here.
    out, err : str
        What it printed; bytes that are no UTF-8 are replaced.
    seconds : float
    """

    ended: str
    code: int | None
    out: str
    err: str
    seconds: float


def run_program(
    arguments: Sequence[str],
    folder: Path,
    time_limit: float | None = None,
    interruption: Interruption | None = None,
) -> Run:
    """Run a program to its end, or to the limit.

    Parameters
    ----------
    arguments : sequence of str
        The program and its arguments; no shell reads them.
    folder : Path
        Where it runs, and what it may fill up to a limit.
    time_limit : float, optional
        Seconds; then its process group is killed.
    interruption : Interruption, optional
        When the user presses Ctrl-C, the program is killed as well.

    Raises
    ------
    InputError
        When the program cannot be started.
    """
    if os.name != "posix":
        raise InputError("outside solvers are run on Linux and macOS: this system has no process groups to end them by")
    start = time.perf_counter()
    keeper = guard()
    mark = keeper.new_mark()
    try:
        process = subprocess.Popen(  # noqa: S603 (a program that the user names, without a shell)
            list(arguments),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            # Decimals with a point, whatever the user's language.
            env={**os.environ, "LC_ALL": "C", "LANG": "C", "TMPDIR": str(folder), MARK: mark},
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{shown(arguments[0], 200)} cannot be started: {why}") from error
    try:
        keeper.add(group=process.pid)
        with _ended_with_us():
            _limit(process.pid)
            ended, held = _watched(process, folder, start, time_limit, interruption)
    finally:
        _kill(process)
        end_marked(mark)
        keeper.drop(process.pid)
    code = process.returncode if ended == "itself" else None
    texts = [bytes(one).decode("utf-8", errors="replace") for one in held]
    return Run(ended, code, texts[0], texts[1], time.perf_counter() - start)


@contextlib.contextmanager
def _ended_with_us() -> Iterator[None]:
    """A request to end this process is an exception meanwhile, so that the program is ended as well."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, _leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _limit(pid: int) -> None:
    """No core files, and no single file larger than all may be together; where the system knows such limits."""
    try:
        from resource import RLIMIT_CORE, RLIMIT_FSIZE, prlimit
    except ImportError:
        return
    with contextlib.suppress(OSError, ValueError):
        prlimit(pid, RLIMIT_CORE, (0, 0))
        prlimit(pid, RLIMIT_FSIZE, (MOST_WRITTEN, MOST_WRITTEN))


def _watched(
    process: subprocess.Popen[bytes],
    folder: Path,
    start: float,
    time_limit: float | None,
    interruption: Interruption | None,
) -> tuple[str, tuple[bytearray, bytearray]]:
    """Why the watch ended, and what was printed until then."""
    held = (bytearray(), bytearray())
    deadline = None if time_limit is None else start + time_limit
    look_at_folder = start + _FOLDER_TICK
    with selectors.DefaultSelector() as selector:
        for pipe, into in zip((process.stdout, process.stderr), held, strict=True):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ, into)
        while True:
            now = time.perf_counter()
            if deadline is not None and now >= deadline:
                return "time", held
            if interruption is not None and interruption.pressed:
                return "interrupted", held
            if now >= look_at_folder:
                if _written(folder) > MOST_WRITTEN:
                    return "disk", held
                look_at_folder = time.perf_counter() + _FOLDER_TICK
            wait = _TICK if deadline is None else min(_TICK, deadline - now)
            if not selector.get_map():
                # It prints nothing any more, and may run on.
                time.sleep(min(wait, _TICK / 10))
            elif not _read(selector, wait, sum(map(len, held))):
                return "flooded", held
            if _has_ended(process):
                return _rest(selector, held), held


def _read(selector: selectors.BaseSelector, wait: float, already: int) -> bool:
    """Take what is there; false when it is more than may be printed."""
    for key, _ in selector.select(wait):
        try:
            block = os.read(key.fd, 2**16)
        except BlockingIOError:
            continue
        if block:
            already += len(block)
            if already > MOST_OUTPUT:
                return False
            key.data.extend(block)
        else:
            selector.unregister(key.fileobj)
    return True


def _rest(selector: selectors.BaseSelector, held: tuple[bytearray, bytearray]) -> str:
    """Take what was printed before the end; a child that holds the pipe is not waited for."""
    until = time.perf_counter() + _GRACE
    while selector.get_map() and time.perf_counter() < until:
        before = sum(map(len, held))
        if not _read(selector, 0.0, before):
            return "flooded"
        if sum(map(len, held)) == before:
            # What the program itself has printed is in the pipe when it has ended.
            break
    return "itself"


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the leader has ended; it is left unreaped, so that its number still names its group."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    except ChildProcessError:
        return True


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the whole group, at once, and close what was read from."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    process.wait()


def _written(folder: Path) -> int:
    """Bytes in a folder, whatever is being written or deleted there."""
    total, stack = 0, [folder]
    while stack:
        try:
            with os.scandir(stack.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        if entry.is_dir(follow_symlinks=False):
                            stack.append(Path(entry.path))
                        else:
                            total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total
