"""The process that reads inputs: one line of JSON in, one line of JSON out.

Run by `fuzzing.running`; what a command writes to its standard output and error is judged as a user would see it.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fuzzing.outcomes import Outcome, judged
from fuzzing.targets import Target, target_of

__all__ = ["Reader"]

_MOST_VIRTUAL = 6 * 2**30
"""Bytes of address space beyond what the process has when it begins."""

_FORBIDDEN = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect", "socket.bind")
_CHANGING = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.chmod", "os.symlink", "os.link", "os.truncate")


class Reader:
    """Gives inputs to a target in a folder of its own, and judges what comes of it.

    Parameters
    ----------
    target : Target
    folder : path
        Where the target's own files are made, and where commands run.
    """

    def __init__(self, target: Target, folder: Path) -> None:
        self.target, self.folder = target, folder
        self._told: list[tuple[str, str]] | None = None
        self._allowed = {str(folder), str(folder.parent / "temporary"), os.devnull, "/proc/self/clear_refs"}
        for name, content in target.files().items():
            (folder / name).write_bytes(content)
        os.chdir(folder)
        self._before = self._listed()
        sys.addaudithook(self._hear)

    def read(self, content: bytes) -> Outcome:
        """What came of an input."""
        path = self.folder / f"input{self.target.suffix}"
        path.write_bytes(content)
        self._told = []
        try:
            outcome = self._outcome(path, content)
        finally:
            told, self._told = self._told, None
        forbidden = [what for kind, what in told if kind == "forbidden"]
        path.unlink(missing_ok=True)
        strange = [name for name, stamp in self._listed().items() if self._before.get(name) != stamp]
        for name in strange:
            if name not in self._before:
                (self.folder / name).unlink()
        outside = [what for kind, what in told if kind == "written"]
        left = [name for name in strange if not name.startswith("made")] + outside
        if forbidden:
            return Outcome("forbidden", f"{forbidden[0]}; after: {outcome.text}")
        if left and not outcome.is_fault:
            return Outcome("written", f"{left[0]}; after: {outcome.text}")
        return outcome

    def read_by_all(self, content: bytes) -> None:
        """Read a good input with every command."""
        path = self.folder / f"input{self.target.suffix}"
        for words in self.target.commands or self.target.chosen(content):
            path.write_bytes(content)
            _command(words, path)
        path.unlink(missing_ok=True)
        self._before = self._listed()

    def _outcome(self, path: Path, content: bytes) -> Outcome:
        direct = self.target.read
        if direct is not None:
            try:
                direct(path)
            except Exception as error:
                told = replace(_error_outcome(error), trace=_where(error))
                # Every eighth refusal is seen through the command as well.
                if told.is_fault or sum(content[-64:]) % 8:
                    return told
        outcome = Outcome("read")
        for words in self.target.chosen(content):
            outcome = _command(words, path)
            if outcome.kind == "output" and self.target.streams:
                outcome = Outcome("refused", outcome.text.partition(" BESIDE ")[0])
            if outcome.kind == "traceback":
                return Outcome("traceback", outcome.text, _traced(words, path))
            if outcome.is_fault or outcome.kind == "mismatch":
                return Outcome(outcome.kind, f"{outcome.text} AFTER {' '.join(words)[:300]}", outcome.text)
            if outcome.kind == "refused":
                return Outcome(outcome.kind, outcome.text, _without(outcome.text, content))
        return outcome

    def _listed(self) -> dict[str, tuple[int, int]]:
        held = {}
        for entry in os.scandir(self.folder):
            facts = entry.stat(follow_symlinks=False)
            held[entry.name] = (facts.st_size, facts.st_mtime_ns)
        return held

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Notes what a reader does beside reading."""
        told = self._told
        if told is None:
            return
        if event == "open":
            path, _, flags = arguments
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if writes and isinstance(path, (str, bytes)) and not self._inside(os.fsdecode(path)):
                told.append(("written", os.fsdecode(path)))
        elif event in _FORBIDDEN:
            told.append(("forbidden", f"{event} {str(arguments)[:200]}"))
        elif event in _CHANGING:
            # A link changes the folder of its second name.
            path = arguments[1] if event == "os.link" else arguments[0]
            if isinstance(path, (str, bytes)) and not self._inside(os.fsdecode(path)):
                told.append(("written", f"{event} {os.fsdecode(path)}"))

    def _inside(self, path: str) -> bool:
        whole = os.path.abspath(path)
        # Kernels that are compiled are kept beside their modules.
        return any(whole == place or whole.startswith(f"{place}/") for place in self._allowed) or "__pycache__" in whole


def _without(text: str, content: bytes) -> str:
    """A message without the words that it has from the input, so that two of one sort are the same."""
    held = set(re.findall(r"\w+", content[:20_000].decode("utf-8", "replace")))
    return " ".join(word for word in re.findall(r"\w+", text) if word not in held)


def _error_outcome(error: Exception) -> Outcome:
    from justicia.errors import JusticiaError

    if isinstance(error, JusticiaError):
        said = f"{type(error).__name__}: {error}"
        if error.exit_code == 4:
            return Outcome("mismatch", said)
        return judged(2, "", f"justicia: {said}\n")
    if isinstance(error, OSError) and error.filename is not None:
        return Outcome("refused", f"{type(error).__name__}")
    said = f"{type(error).__name__}: {error}"
    return Outcome("memory" if isinstance(error, MemoryError) else "traceback", said, _where(error))


def _where(error: BaseException) -> str:
    """Kind of an exception and the last places of the package that it went through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/justicia/" in frame.filename]
    places = [f"{frame.filename.rpartition('/justicia/')[2]}:{frame.name}: {frame.line}" for frame in frames[-3:]]
    return " < ".join([type(error).__name__, *places[::-1]])


def _command(words: tuple[str, ...], path: Path, *, debug: bool = False) -> Outcome:
    """Run the command as a user would, and look at what it prints."""
    from justicia.cli import main

    code = 0
    arguments = [word.replace("{input}", path.name) for word in words]
    with _captured() as said:
        try:
            main([*arguments, "--debug"] if debug else arguments)
        except SystemExit as stopped:
            code = stopped.code if isinstance(stopped.code, int) else 1
    return judged(code, *said)


def _traced(words: tuple[str, ...], path: Path) -> str:
    try:
        with _captured():
            from justicia.cli import main

            main([*(word.replace("{input}", path.name) for word in words), "--debug"])
    except SystemExit:
        return ""
    except Exception as error:
        return _where(error)
    return ""


@contextmanager
def _captured() -> Iterator[list[str]]:
    """Standard output and error of Python and of compiled code go to files, whose content is there at the end."""
    import tempfile

    said: list[str] = []
    with tempfile.TemporaryFile("w+b") as out, tempfile.TemporaryFile("w+b") as err:
        kept = [(number, os.dup(number)) for number in (1, 2)]
        streams = sys.stdout, sys.stderr
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")
        sys.stderr = os.fdopen(os.dup(2), "w", encoding="utf-8")
        try:
            yield said
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.close()
            sys.stdout, sys.stderr = streams
            for number, copy in kept:
                os.dup2(copy, number)
                os.close(copy)
            said += [_content(out), _content(err)]


def _content(file: Any) -> str:
    file.seek(0)
    return str(file.read(200_000).decode("utf-8", "replace"))


class _Lines:
    """Lines of the package that were reached and not seen before."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.new: list[str] = []
        self._codes: dict[Any, str | None] = {}

    def trace(self, frame: Any, _event: str, _: Any) -> Any:
        code = frame.f_code
        if code not in self._codes:
            inside = "/justicia/" in code.co_filename
            self._codes[code] = code.co_filename.rpartition("/justicia/")[2] if inside else None
        return self._line if self._codes[code] is not None else None

    def _line(self, frame: Any, event: str, _: Any) -> Any:
        if event == "line":
            place = f"{self._codes[frame.f_code]}:{frame.f_lineno}"
            if place not in self.seen:
                self.seen.add(place)
                self.new.append(place)
        return self._line


def _memory(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0


def main() -> None:
    """Answer until there are no more inputs."""
    name, folder, warm = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    warnings.simplefilter("always")
    for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", kind)
    target = target_of(name)
    reader = Reader(target, Path(folder))
    if warm == "all":
        reader.read_by_all(target.seeds()[0])
    lines = _Lines()
    limit = _memory("VmSize") + _MOST_VIRTUAL
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers.write(b"{}\n")
    first = _memory("VmRSS")
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        content = Path(asked["path"]).read_bytes()
        Path("/proc/self/clear_refs").write_text("5")
        before, started = _memory("VmRSS"), time.perf_counter()
        lines.new = []
        if asked["traced"]:
            sys.settrace(lines.trace)
        try:
            outcome = reader.read(content)
        finally:
            sys.settrace(None)
        reply = {
            "outcome": {"kind": outcome.kind, "text": outcome.text[:2000], "trace": outcome.trace[:2000]},
            "lines": lines.new,
            "seconds": time.perf_counter() - started,
            "grown": _memory("VmHWM") - before,
            "kept": _memory("VmRSS") - first,
        }
        answers.write(json.dumps(reply).encode() + b"\n")


if __name__ == "__main__":
    main()
