"""Write a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from justicia.errors import InputError

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` to `path` by way of a temporary file in the same folder.

    Raises
    ------
    InputError
        When the folder does not exist or cannot be written.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{os.fspath(path)} is a folder: name a file")
    if target.exists() and not target.is_file():
        # A device or a pipe cannot be replaced.
        target.write_text(text, encoding="utf-8")
        return
    temporary = None
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as file:
            temporary = Path(file.name)
            file.write(text)
        temporary.chmod(mode)
        temporary.replace(target)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise InputError(f"{os.fspath(path)} cannot be written: {error.strerror}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
