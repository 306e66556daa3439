"""What came of one input, and whether that is a fault."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

__all__ = ["FAULTS", "Outcome", "judged", "key_of"]

FAULTS = ("traceback", "lines", "output", "written", "forbidden", "memory", "hang", "crash")
"""Kinds of outcomes that no input may lead to.

traceback: an exception that no reader raises on purpose. lines: bad input that is not told in exactly one line. output:
bad input, and yet something on standard output. written: a file that nobody named. forbidden: a program, a socket.
memory: far more of it than the input asks for. hang: more than 20 s of computing. crash: the process died.
"""

_LEVELS = ("note: ", "warning: ")
_NO_MEMORY = re.compile(r"out of memory|MemoryError|[Uu]nable to allocate|malloc of size|bad_alloc", re.ASCII)


@dataclass(frozen=True)
class Outcome:
    """What came of one input.

    Attributes
    ----------
    kind : str
        "read" (exit code 0, 1 or 3), "refused" (2), "mismatch" (4), or one of `FAULTS`.
    text : str
        What was said.
    trace : str
        Of an exception: where it came from.
    """

    kind: str
    text: str = ""
    trace: str = ""

    @property
    def is_fault(self) -> bool:
        """Whether this may not be."""
        return self.kind in FAULTS

    @property
    def key(self) -> str:
        """Equal for outcomes that differ in names and numbers alone."""
        return key_of(self.kind, self.trace or self.text)


def key_of(kind: str, text: str) -> str:
    """The kind, and a text without its numbers and quoted words; short, and fit for a file's name."""
    plain = re.sub(r"'[^']*'|\"[^\"]*\"", "'", text)
    plain = re.sub(r"[-+]?(\d[\d_,.]*|nan|inf)(e[-+]?\d+)?", "0", plain)
    plain = re.sub(r"[^\x20-\x7e]+", "?", plain)[:300]
    return f"{kind}-{hashlib.sha256(plain.encode()).hexdigest()[:10]}"


def judged(code: int, out: str, err: str) -> Outcome:
    """The outcome of a command, by its exit code and what it wrote."""
    lines = [line for line in err.splitlines() if not line.startswith(_LEVELS)]
    text = "\n".join(lines)
    if "unexpected " in text and "please report it" in text:
        return Outcome("traceback", text)
    if _NO_MEMORY.search(text):
        return Outcome("memory", text)
    if code == 2:
        if len(lines) != 1 or not lines[0].startswith("justicia: "):
            return Outcome("lines", text or "nothing was said")
        return Outcome("output", f"{text} BESIDE {out[:200]!r}") if out else Outcome("refused", text)
    if code == 4:
        return Outcome("mismatch", text)
    if code not in (0, 1, 3):
        return Outcome("lines", f"exit code {code}: {text}")
    return Outcome("lines", text) if lines and code != 3 else Outcome("read", f"{code} {_shape(err)}")


def _shape(err: str) -> str:
    """Warnings, one of each sort."""
    return " ".join(sorted({key_of("w", line) for line in err.splitlines() if line.startswith("warning: ")}))
