"""Write a file whole or not at all."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from justicia.errors import InputError

__all__ = ["check_different", "check_target", "check_targets", "has_half_pairs", "json_text", "write_whole", "written"]


def check_target(path: str | None, inputs: Sequence[str] = ()) -> None:
    """Refuse a target before any work is done: none at all, a folder, a missing folder, or an input.

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


def write_whole(path: str | os.PathLike[str], text: str | bytes) -> None:
    """Write `text`, in UTF-8 when it is no bytes, to `path` by way of a temporary file in the same folder.

    Raises
    ------
    InputError
        When the folder does not exist or cannot be written.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{os.fspath(path)} is a folder: name a file")
    content = text if isinstance(text, bytes) else text.encode("utf-8")
    if target.exists() and not target.is_file():
        # A device or a pipe cannot be replaced.
        target.write_bytes(content)
        return
    temporary = None
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        with tempfile.NamedTemporaryFile("wb", dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            temporary = Path(file.name)
            file.write(content)
        temporary.chmod(mode)
        temporary.replace(target)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise InputError(f"{os.fspath(path)} cannot be written: {error.strerror}") from error


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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
