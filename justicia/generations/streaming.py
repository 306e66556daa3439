"""Run an enforcement over lines, with a log and a state file that survive a kill at any moment.

The log is written first, then the state, which holds how long the log was; the state replaces its file in one step.
Whatever the log holds beyond that was decided from labels that will be read again: it is cut off, and decided anew, to
the same bytes, as a decision depends on nothing but settings and labels.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from justicia.errors import ShieldError
from justicia.generations.enforcing import Enforcement, parse_line

__all__ = ["Journal", "run_enforcement"]


class Journal:
    """Where decisions and state go; a context manager.

    Parameters
    ----------
    enforcement : Enforcement
        Takes the state back when there is one.
    state : path, optional
    log : path, optional
        None: `write` takes the lines, and those after the last state may be written once more after a kill.
    write : callable, optional
        Takes bytes, and has them delivered when it returns.

    Raises
    ------
    ShieldError
        When state and log do not fit each other, or another process writes to the log.
    """

    def __init__(
        self,
        enforcement: Enforcement,
        state: str | os.PathLike[str] | None = None,
        log: str | os.PathLike[str] | None = None,
        write: Callable[[bytes], None] | None = None,
    ) -> None:
        self._enforcement, self._write = enforcement, write
        self._state = None if state is None else Path(state)
        self._log = None if log is None else Path(log)
        self._file: IO[bytes] | None = None
        self._offset = 0
        self.resumed = False

    def __enter__(self) -> Journal:
        held = self._stored()
        if self._log is None:
            self._put([self._enforcement.reply])
            return self
        there = self._log.exists() and self._log.stat().st_size > 0
        if self._state is not None and held is None and there:
            raise ShieldError(
                f"{self._log} holds decisions, and there is no state {self._state}: name another file, or remove it"
            )
        if held is None:
            # The state comes first: a log without one would be taken for somebody else's.
            self._store()
        try:
            self._file = open(self._log, "r+b" if self._log.exists() else "x+b")
            _lock(self._file, self._log)
            self._cut(held)
            if self._offset == 0:
                self.put([self._enforcement.reply])
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            # What a full disk has not taken is decided anew.
            with suppress(OSError):
                self._file.close()
            self._file = None

    def _stored(self) -> dict[str, Any] | None:
        """The state in the file, taken back; None when there is none."""
        if self._state is None or not self._state.exists():
            return None
        try:
            held = json.loads(self._state.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            said = error.strerror if isinstance(error, OSError) else "it is no JSON"
            raise ShieldError(f"{self._state} cannot be read: {said}") from error
        try:
            self._enforcement.restore(held)
            offset = held.get("offset")
            if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0:
                raise ShieldError("it is broken: the log's length is missing")
            if held.get("log") != (self._log is not None):
                raise ShieldError("it was made " + ("with" if held.get("log") else "without") + " --out: do the same")
        except ShieldError as error:
            raise ShieldError(f"{self._state}: {error}") from None
        self._offset = offset
        self.resumed = True
        return dict(held)

    def _cut(self, held: dict[str, Any] | None) -> None:
        """Cut the log back to where the state left it."""
        if self._file is None:
            return
        length = self._file.seek(0, os.SEEK_END)
        if held is not None and length < self._offset:
            raise ShieldError(
                f"{self._log} has {length} bytes, and {self._state} goes on after {self._offset}: decisions are lost, "
                "or it is another file"
            )
        if held is not None and self._offset:
            self._file.seek(max(0, self._offset - 1_000_000))
            last = self._file.read(min(self._offset, 1_000_000)).splitlines(keepends=True)[-1]
            if last != _line(self._enforcement.reply):
                raise ShieldError(
                    f"{self._log} is not the log of {self._state}: another line stands where that goes on"
                )
        self._file.truncate(self._offset)
        self._file.seek(self._offset)

    def put(self, replies: list[dict[str, Any]]) -> None:
        """Deliver decisions, and store the state after them."""
        self._put(replies)
        self.save()

    def _put(self, replies: list[dict[str, Any]]) -> None:
        content = b"".join(map(_line, replies))
        if self._file is not None:
            try:
                self._file.write(content)
                self._file.flush()
            except OSError as error:
                raise ShieldError(f"{self._log} cannot be written: {error.strerror}") from error
            self._offset += len(content)
        elif self._write is not None:
            self._write(content)

    def save(self) -> None:
        """Store the state."""
        if self._state is not None:
            self._store()

    def _store(self) -> None:
        if self._state is None:
            return
        held = {**self._enforcement.to_dict(), "log": self._log is not None, "offset": self._offset}
        # One name for the new state, so that a kill leaves one such file at most, and the next start writes over it.
        new = self._state.with_name(f".{self._state.name}.new")
        try:
            new.write_bytes(json.dumps(held, ensure_ascii=True).encode() + b"\n")
            new.replace(self._state)
        except OSError as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise ShieldError(f"{self._state} cannot be written: {error.strerror}") from error


def _line(reply: dict[str, Any]) -> bytes:
    return json.dumps(reply, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _lock(file: IO[bytes], path: Path) -> None:
    """Keep a second process off the log; the lock goes with the process."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ShieldError(f"{path} is being written by another process") from None


def run_enforcement(
    enforcement: Enforcement,
    lines: Iterable[bytes],
    journal: Journal,
    *,
    batch: int = 1,
    goes_on: bool = False,
) -> int:
    """Decide line by line.

    Parameters
    ----------
    enforcement : Enforcement
    lines : iterable of bytes
        JSON lines; blank ones are skipped.
    journal : Journal
        Entered.
    batch : int
        Decisions delivered together; 1 where somebody waits for each.
    goes_on : bool
        Whether the first line is the one after the state's last; otherwise lines are those from the beginning, and
        those decided already are skipped. Lines that name their step are placed by it either way.

    Returns
    -------
    int
        Lines that were decided before.

    Raises
    ------
    ShieldError
        When a line cannot be taken; what was decided before it is delivered and stored.
    """
    before = 0 if goes_on else enforcement.lines
    skipped, count = 0, 0
    replies: list[dict[str, Any]] = []
    numbered: bool | None = None
    of_step = (0, 0)
    try:
        for number, text in enumerate(lines, start=1):
            if not text.strip():
                continue
            count += 1
            if numbered is False and count <= before:
                skipped += 1
                continue
            line = parse_line(text, number)
            place = enforcement.place(line, number)
            if numbered is not None and numbered != (place is not None):
                raise ShieldError(f"line {number} {'has a' if place else 'lacks the'} step, unlike those before it")
            numbered = place is not None
            if place is None:
                done = count <= before
            else:
                step, attempt = place
                of_step = (step, of_step[1] + 1 if of_step[0] == step else 0)
                expected = (enforcement.step + 1, enforcement.attempt)
                if attempt is None:
                    # The n-th line of a step is its n-th attempt, unless the lines before it are not in this input.
                    attempt = expected[1] if goes_on and step == expected[0] else of_step[1]
                done = (step, attempt) < expected
                if not done and (step, attempt) != expected:
                    what = f"step {step}" + (f", attempt {attempt}" if enforcement.retries else "")
                    due = f"step {expected[0]}" + (f", attempt {expected[1]}" if enforcement.retries else "")
                    raise ShieldError(f"line {number} is {what}, and {due} is due: lines are missing")
            if done:
                skipped += 1
                continue
            replies.append(enforcement.take(line, number))
            if len(replies) >= batch:
                ready, replies = replies, []
                journal.put(ready)
    except ShieldError:
        # An interruption may come in the middle of a decision; then the state stays as it was stored last.
        if replies:
            journal.put(replies)
        raise
    if replies:
        journal.put(replies)
    if numbered is False and count < before:
        raise ShieldError(
            f"there are {count:,} lines, and {before:,} were decided before: labels are lost, or the input goes on "
            "where the state ends (--continue)"
        )
    return skipped
