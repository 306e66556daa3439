"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from justicia.errors import InputError
from justicia.progress import is_told, told

__all__ = [
    "check_different",
    "check_target",
    "check_targets",
    "has_half_pairs",
    "json_text",
    "together",
    "write_whole",
    "written",
]


def check_target(path: str | None, inputs: Sequence[str] = ()) -> None:
    """Refuse a target before any work is done: none at all, a folder, a missing or unwritable folder, or an input.

    Parameters
    ----------
    path : str or None
        "-" is standard output; None is no target.
    inputs : sequence of str
        Files that are read.

    Raises
    ------
    InputError
    """
    if path is None or path == "-":
        return
    if not path.strip():
        raise InputError("the name of a file to write is empty")
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{path} is a folder: name a file")
    if not target.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {target.parent}")
    for source in inputs:
        if target.exists() and Path(source).exists() and target.samefile(source):
            raise InputError(f"{path} is read as an input and would be written over: name another file")
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        # A device or a pipe is opened when there is something for it.
        return
    with _refusing(path):
        descriptor, temporary = _opened(place)
        os.close(descriptor)
        if temporary is not None:
            temporary.unlink()


def check_targets(targets: Iterable[str | None], inputs: Iterable[str | None] = ()) -> None:
    """Refuse targets before any work is done: those that `check_target` refuses, and two outputs with one target.

    Parameters
    ----------
    targets : iterable of (str or None)
        "-" is standard output; None is no target.
    inputs : iterable of (str or None)
        Files that are read; None and "" are none.

    Raises
    ------
    InputError
    """
    outputs, sources = list(targets), [source for source in inputs if source]
    for target in outputs:
        check_target(target, sources)
    check_different(outputs)


def check_different(paths: Iterable[str | None]) -> None:
    """Refuse two outputs with one target.

    Raises
    ------
    InputError
    """
    named = [path for path in paths if path is not None]
    places = [path if path == "-" else os.path.realpath(path) for path in named]
    for position, place in enumerate(places):
        if place in places[:position]:
            raise InputError(f"two outputs are written to {named[position]}: name different files")


@dataclass
class _Prepared:
    """A file that is written and has no name yet, or one that tells whose it is.

    The descriptor stays open with a lock on it: a file of such a name without a lock was left by a process that was
    killed, and whoever writes to the same target next removes it.
    """

    target: Path
    descriptor: int
    temporary: Path | None
    folder: int
    size: int
    digest: str | None

    def place(self) -> None:
        """Put it in the target's place."""
        if self.temporary is None:
            temporary = self.target.with_name(_own_name(self.target))
            # The file gets a name by way of its descriptor; the folder is named so that the link is followed.
            os.link(f"/proc/self/fd/{self.descriptor}", temporary.name, dst_dir_fd=self.folder, follow_symlinks=True)
            self.temporary = temporary
        if os.name == "nt":
            # An open file cannot be moved there.
            os.close(self.descriptor)
            self.descriptor = -1
        self.temporary.replace(self.target)
        self.temporary = None
        told("written", file=os.fspath(self.target), bytes=self.size, sha256=self.digest)

    def leave(self) -> None:
        """Close it; without a place it is gone."""
        if self.temporary is not None:
            with contextlib.suppress(OSError):
                self.temporary.unlink(missing_ok=True)
            self.temporary = None
        for descriptor in (self.descriptor, self.folder):
            with contextlib.suppress(OSError):
                os.close(descriptor)


_TOGETHER: ContextVar[list[_Prepared] | None] = ContextVar("together", default=None)


@contextmanager
def together() -> Iterator[None]:
    """Put the files that are written inside in their places together at the end, or none when one cannot be written."""
    if _TOGETHER.get() is not None:
        yield
        return
    held: list[_Prepared] = []
    token = _TOGETHER.set(held)
    try:
        yield
        for prepared in held:
            with _refusing(prepared.target):
                prepared.place()
    finally:
        _TOGETHER.reset(token)
        for prepared in held:
            prepared.leave()


def write_whole(path: str | os.PathLike[str], text: str | bytes) -> None:
    """Write `text`, in UTF-8 when it is no bytes, to `path` by way of a temporary file in the same folder.

    A link is followed. Whatever happens meanwhile, the target holds all of the text or what it held before.

    Raises
    ------
    InputError
        When the folder does not exist or cannot be written.
    """
    if Path(path).is_dir():
        raise InputError(f"{os.fspath(path)} is a folder: name a file")
    # Half of a surrogate pair, as in the name of a file that is no UTF-8, becomes an escape.
    content = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    with _refusing(path):
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            # A device or a pipe cannot be replaced.
            target.write_bytes(content)
            return
        waiting = _TOGETHER.get()
        prepared = _prepare(target, content)
        try:
            if waiting is not None:
                waiting.append(prepared)
            else:
                prepared.place()
        finally:
            if waiting is None:
                prepared.leave()


@contextmanager
def _refusing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the system in a line."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{os.fspath(path)} cannot be written: {error.strerror or error}") from error


def _prepare(target: Path, content: bytes) -> _Prepared:
    """Write all of the content to a file that is not in its place yet."""
    _remove_left(target)
    folder = os.open(target.parent, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)) if _LINKS else os.open(os.devnull, 0)
    try:
        descriptor, temporary = _opened(target)
    except BaseException:
        os.close(folder)
        raise
    digest = hashlib.sha256(content).hexdigest() if is_told() else None
    prepared = _Prepared(target, descriptor, temporary, folder, len(content), digest)
    try:
        if target.exists():
            named = temporary if temporary is not None and os.chmod not in os.supports_fd else descriptor
            os.chmod(named, target.stat().st_mode & 0o777)
        left = memoryview(content)
        while left:
            left = left[os.write(descriptor, left) :]
        # A full disk or a quota may be found out as late as here.
        os.fsync(descriptor)
    except BaseException:
        prepared.leave()
        raise
    return prepared


def _opened(target: Path) -> tuple[int, Path | None]:
    """A new file with a lock: without a name where the system has such, so that a kill leaves nothing behind."""
    flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    if _LINKS:
        with contextlib.suppress(OSError):
            # Not every file system has them; whatever else is wrong is found out once more below.
            descriptor = os.open(target.parent, flags | os.O_TMPFILE, 0o666)
            _lock(descriptor)
            return descriptor, None
    while True:
        temporary = target.with_name(_own_name(target))
        descriptor = os.open(temporary, flags | os.O_CREAT | os.O_EXCL, 0o666)
        _lock(descriptor)
        if temporary.exists():
            return descriptor, temporary
        # Another writer took it for one that was left, before it had a lock.
        os.close(descriptor)


_LINKS = hasattr(os, "O_TMPFILE") and os.link in os.supports_dir_fd and Path("/proc/self/fd").is_dir()


def _own_name(target: Path) -> str:
    return f"{_beginning(target)}{secrets.token_hex(4)}"


def _beginning(target: Path) -> str:
    """How the names of temporary files for a target begin."""
    # Names may have 255 bytes.
    name = target.name.encode("utf-8", "surrogateescape")[:200].decode("utf-8", "ignore")
    return f".{name}.justicia-"


def _lock(descriptor: int) -> None:
    """Say that somebody is writing; the lock goes with the process."""
    try:
        import fcntl
    except ImportError:
        return
    with contextlib.suppress(OSError):
        # Whoever looks whether the file was left holds a lock for a moment.
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _remove_left(target: Path) -> None:
    """Remove what killed processes left of this target."""
    try:
        import fcntl
    except ImportError:
        return
    beginning = _beginning(target)
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if not entry.name.startswith(beginning) or not entry.is_file(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError), open(entry.path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                Path(entry.path).unlink()


def written(text: str, path: str | os.PathLike[str] | None) -> str | None:
    """The text itself; when there is a path, None, and the text is written there, whole or not at all.

    Raises
    ------
    InputError
        When it cannot be written.
    """
    if path is None:
        return text
    write_whole(path, text)
    return None


def json_text(held: Any) -> str:
    """Plain lists, dicts, numbers and texts as JSON that has a form in UTF-8."""
    text = _json(held, "\n", json.encoder.encode_basestring) + "\n"
    return _json(held, "\n", json.encoder.encode_basestring_ascii) + "\n" if has_half_pairs(text) else text


def _json(held: Any, margin: str, quoted: Callable[[str], str]) -> str:
    """What `json.dumps` writes with an indent of 1, in a fraction of its time and memory: each part is text at once."""
    if held is None:
        return "null"
    kind = type(held)
    if kind is str:
        return quoted(held)
    if kind is float and math.isfinite(held):
        return repr(held)
    if kind is int:
        return repr(held)
    inner = margin + " "
    if kind is dict and held:
        parts = [
            f"{quoted(key) if isinstance(key, str) else _key(key)}: {_json(value, inner, quoted)}"
            for key, value in held.items()
        ]
        return f"{{{inner}{f',{inner}'.join(parts)}{margin}}}"
    if kind in (list, tuple) and held:
        return f"[{inner}{f',{inner}'.join([_json(value, inner, quoted) for value in held])}{margin}]"
    # Truth values, what is empty or of another type, and errors.
    ascii_only = quoted is json.encoder.encode_basestring_ascii
    return json.dumps(held, indent=1, ensure_ascii=ascii_only, allow_nan=False).replace("\n", margin)


def _key(key: Any) -> str:
    """A key that is no text, as `json.dumps` writes it."""
    return json.dumps({key: None})[1 : -len(": null}")]


def has_half_pairs(text: str) -> bool:
    """Whether there is half of a surrogate pair, which has no UTF-8 form; JSON can write it as an escape."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)
