"""Small programs that do what solvers do, and what they should not."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

ABC_LINE = "  > Satisfying probability: 7.200000e-01"
SHARP_LINE = "# satisfying probability = 0.72"


def script(folder: Path, body: str, name: str = "solver.py") -> str:
    """A template that runs a Python program."""
    file = folder / name
    file.write_text(textwrap.dedent(body), encoding="utf-8")
    return f"{sys.executable} -S {file} {{file}}"


def says(folder: Path, text: str, code: int = 0, errors: str = "") -> str:
    """A template of a program that prints a text and ends."""
    return script(
        folder,
        f"""
        import os, sys
        sys.stdout.buffer.write({text.encode()!r})
        sys.stderr.buffer.write({errors.encode()!r})
        sys.stdout.flush()
        sys.exit({code})
        """,
    )
