"""Decompress bytes, within a limit: a small file must not fill the memory."""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import Any

__all__ = ["decompressed", "kind_of", "most_bytes"]

_LEAST = 256 * 2**20
_MOST_TIMES = 200

_MAGIC = {
    "gzip": (b"\x1f\x8b",),
    "bz2": (b"BZh",),
    "xz": (b"\xfd7zXZ\x00",),
    "lzma": (b"\x5d\x00\x00",),
    "zlib": (b"x\x01", b"x\x5e", b"x\x9c", b"x\xda"),
}


def kind_of(content: bytes) -> str | None:
    """How `content` is compressed, by its first bytes; None when it is not."""
    for kind, beginnings in _MAGIC.items():
        if content.startswith(beginnings):
            return kind
    return None


def most_bytes(content: bytes) -> int:
    """Bytes to which `content` may grow: 256 MiB, or 200 times its size."""
    return max(_LEAST, _MOST_TIMES * len(content))


def decompressed(content: bytes, kind: str) -> bytes:
    """`content` decompressed.

    Parameters
    ----------
    content : bytes
    kind : str
        "gzip", "zlib", "bz2", "xz" or "lzma".

    Raises
    ------
    ValueError
        When the data is broken or cut short, or grows beyond 256 MiB and 200 times its size.
    """
    most = most_bytes(content)
    parts: list[bytes] = []
    size = 0
    rest = content
    try:
        while rest:
            reader = _reader(kind)
            part = reader.decompress(rest, most - size + 1)
            size += len(part)
            if size > most:
                raise ValueError(f"it grows beyond {most // 2**20} MiB when it is decompressed")
            if not reader.eof:
                raise ValueError("the compressed data is cut short")
            parts.append(part)
            # Streams may follow one another; zeros may pad the end.
            rest = reader.unused_data.lstrip(b"\x00")
    except (zlib.error, lzma.LZMAError, OSError, EOFError) as error:
        raise ValueError(f"the compressed data is broken ({error})") from error
    return b"".join(parts)


def _reader(kind: str) -> Any:
    if kind in ("gzip", "zlib"):
        return zlib.decompressobj(31 if kind == "gzip" else 15)
    return bz2.BZ2Decompressor() if kind == "bz2" else lzma.LZMADecompressor()
