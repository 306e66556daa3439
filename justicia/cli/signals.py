"""Signals and limits of a whole command: Ctrl-C, requests to end, a time that is over, memory that has run out.

Whoever narrows bounds listens (`justicia.hearing`), and what is known by then is the answer. Where nobody
listens the command ends, by an exception in the main thread, so that whatever was begun is cleaned up. A thread looks
on: it ends the process when the main thread does not get to Python's signal handler, or does not come to an end. Where
a library holds the interpreter all along, the guard's kill is the last resort, for limits alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from types import FrameType, TracebackType
from typing import Any

from justicia.cli.ending import Ending, Stop, interrupted
from justicia.hearing import heard_elsewhere, is_listening, press

__all__ = ["GRACE", "LEFT", "Signals"]

GRACE = 3.0
"""Seconds in which the main thread has to come to an end."""
LISTENING = 30.0
"""The same where somebody listens, and only has to come to the next look: loops that are being compiled."""
INSISTED = 0.5
"""The same after a second signal."""
LEFT = 5.0
"""Seconds for what is left to do with bounds when the time of the whole command is over, such as writing them."""
_TICK = 0.1
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class Signals:
    """Context manager in which a command hears signals and keeps limits; in the main thread of a POSIX system.

    Attributes
    ----------
    at_end : callable
        Takes the ending before the process is ended without any cleaning up.
    """

    current: Signals | None = None

    def __init__(self) -> None:
        self.at_end: Callable[[Ending], None] | None = None
        self.stop: Stop | None = None
        self._raised_at: float | None = None
        self._before: dict[int, Any] = {}
        self._lost = False
        self._ping: float | None = None
        self._due: float | None = None
        self._timed: Callable[[], Ending] | None = None
        self._memory: Callable[[int], Ending] | None = None
        self._pending: Ending | None = None
        self._reports: int | None = None
        self._asked = interrupted(signal.SIGINT)
        self._ends = 0.0
        self._over = False
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Signals:
        if threading.current_thread() is not threading.main_thread() or Signals.current is not None:
            return self
        Signals.current = self
        self._main = threading.main_thread().ident or 0
        self._stack.enter_context(heard_elsewhere())
        for name in _NAMES:
            number = getattr(signal, name, None)
            # What is ignored stays so: nohup, and what a shell has put into the background.
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._hear)
        if hasattr(signal, "SIGALRM"):
            self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._tick)
            ours, theirs = socket.socketpair()
            for one in (ours, theirs):
                one.setblocking(False)
                self._stack.callback(one.close)
            self._ours, self._theirs = ours, theirs
            woken = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
            self._stack.callback(signal.set_wakeup_fd, woken)
            self._thread = threading.Thread(target=self._look_on, name="signals", daemon=True)
            self._thread.start()
        hook = sys.unraisablehook
        sys.unraisablehook = self._unraisable
        self._hook = hook
        self._stack.callback(setattr, sys, "unraisablehook", hook)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if Signals.current is not self:
            return
        self._over = True
        for number, before in self._before.items():
            signal.signal(number, before)
        if hasattr(self, "_thread"):
            self._wake()
            self._thread.join(1.0)
        self._stack.close()
        Signals.current = None

    def limit(
        self,
        seconds: float | None,
        timed: Callable[[], Ending],
        memory: Callable[[int], Ending] | None = None,
        reports: int | None = None,
    ) -> None:
        """Keep limits from now on.

        Parameters
        ----------
        seconds : float, optional
        timed : callable
            Makes the ending when they are over and nobody listens.
        memory : callable, optional
            From the bytes that were reached to the ending.
        reports : int, optional
            Descriptor of what the guard says.
        """
        self._timed, self._memory, self._reports = timed, memory, reports
        self._due = None if seconds is None else time.monotonic() + seconds
        self._wake()

    def unlimited(self) -> None:
        """Keep no limits any more."""
        self._due, self._reports = None, None
        self._wake()

    # In the main thread.

    def _hear(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 (the handler's signature)
        self._ping = None
        if not self._over and self.stop is None and not press():
            self._raise(interrupted(number))

    def _tick(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 (the handler's signature)
        """The thread asks whether the main thread is there, and has it end."""
        self._ping = None
        if self._over:
            return
        if self._lost and self.stop is not None:
            self._lost = False
            raise self.stop
        pending, self._pending = self._pending, None
        if pending is None or self.stop is not None:
            return
        if pending.outcome == "time" and press("the time of the whole command is over (--max-time)"):
            return
        self._raise(pending)

    def _raise(self, ending: Ending) -> None:
        # Raised once: nobody may interrupt the cleaning up, and the thread ends it when it takes too long.
        self.stop = Stop(ending)
        self._raised_at = time.monotonic()
        raise self.stop

    def _unraisable(self, unraisable: Any) -> None:
        """An exception that came where none can be raised, such as while an object is removed: raise it again."""
        if isinstance(unraisable.exc_value, Stop):
            self._lost = True
        elif self.stop is None:
            self._hook(unraisable)

    # In the thread.

    def _wake(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            self._theirs.send(b"\0")

    def _call(self, ending: Ending | None = None) -> None:
        """Have the main thread look."""
        self._pending = ending if ending is not None else self._pending
        if self._ping is None:
            self._ping = time.monotonic()
            self._ends = self._ping + GRACE
        with contextlib.suppress(OSError, ProcessLookupError):
            signal.pthread_kill(self._main, signal.SIGALRM)

    def _look_on(self) -> None:
        tries = 0
        while not self._over:
            busy = self._ping is not None or self._raised_at is not None
            now = time.monotonic()
            wait = _TICK if busy else None if self._due is None else max(self._due - now, 0.0)
            reports = self._reports
            descriptors = [self._ours.fileno(), *([] if reports is None else [reports])]
            try:
                ready, _, _ = select.select(descriptors, [], [], wait)
            except (OSError, ValueError):
                return
            if self._over:
                return
            if self._ours.fileno() in ready:
                with contextlib.suppress(BlockingIOError):
                    heard = set(self._ours.recv(4096)) & {int(one) for one in self._before} - {signal.SIGALRM}
                    if heard and self.stop is None:
                        patience = INSISTED if self._ping is not None else LISTENING if is_listening() else GRACE
                        self._asked = interrupted(max(heard))
                        self._call()
                        self._ends = time.monotonic() + patience
            if reports is not None and reports in ready:
                self._report(reports)
            now = time.monotonic()
            if self._due is not None and now >= self._due and self._timed is not None:
                # Whoever listens narrows no further; what is left to do then gets some more seconds.
                self._asked = self._timed()
                self._due = now + LEFT if tries == 0 else None
                tries += 1
                self._call(self._asked)
                self._ends = now + GRACE
            if self._lost:
                self._call()
            if self._ping is not None and now > self._ends:
                self._end(self._asked)
            if self._raised_at is not None and now - self._raised_at > GRACE and self.stop is not None:
                self._end(self.stop.ending)

    def _report(self, descriptor: int) -> None:
        block = os.read(descriptor, 65536)
        if not block:
            self._reports = None
            return
        said: Mapping[str, Any] = json.loads(block.splitlines()[0])
        if self._memory is not None:
            self._asked = self._memory(said["memory"])
            self._call(self._asked)

    def _end(self, ending: Ending) -> None:
        """End the process where the main thread does not."""
        from justicia._guard import descendants
        from justicia.guarding import held_guard

        if self.at_end is not None:
            self.at_end(ending)
        keeper = held_guard()
        for process in descendants(os.getpid()):
            if keeper is None or process != keeper.process_id:
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
        shows_cursor = "\x1b[?25h" if sys.stderr is not None and sys.stderr.isatty() else ""
        with contextlib.suppress(OSError):
            os.write(2, f"{shows_cursor}justicia: {ending.line}\n".encode(errors="replace"))
        # Nothing may be flushed: the main thread may be inside of a stream.
        os._exit(ending.code)
