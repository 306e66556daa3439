"""The bytes of a file of rows: their hash, and what is compressed in them."""

from __future__ import annotations

import threading

from justicia.compressed import decompressed
from justicia.errors import TableError

__all__ = ["COMPRESSED", "Hash", "uncompressed"]

COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz"}
"""Kinds of compression by the end of a file's name."""


class Hash:
    """SHA-256 of bytes, computed while the table is parsed."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        import hashlib

        self._digest = hashlib.sha256(self._content).hexdigest()

    def hexdigest(self) -> str:
        """The hash; waits until it is known."""
        self._thread.join()
        return self._digest


def uncompressed(content: bytes, suffix: str) -> bytes:
    """The content of a file whose name ends in `suffix`.

    Raises
    ------
    TableError
        When it is not what the name says.
    """
    if suffix not in COMPRESSED:
        return content
    try:
        return decompressed(content, COMPRESSED[suffix])
    except ValueError as error:
        raise TableError(f"cannot be decompressed: {error}") from error
