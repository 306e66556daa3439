"""Readers that are called without a command around them, which is faster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = [
    "audit",
    "faulty",
    "formula",
    "generations",
    "load",
    "plan",
    "population",
    "requirements",
    "rule",
    "spec",
    "synonyms",
    "table",
    "vectors",
]


def load(path: Path) -> Any:
    """A model."""
    from justicia.models import load_model

    return load_model(path)


def rule(path: Path) -> Any:
    """A rule, as text or JSON."""
    from justicia.models import read_rule

    return read_rule(path)


def population(path: Path) -> Any:
    """A population file, a network in BIF or JSON."""
    import justicia

    return justicia.read_population(path)


def table(path: Path) -> Any:
    """A table of people."""
    from justicia.tables import read_table

    return read_table(path)


def generations(path: Path) -> Any:
    """A table of generations."""
    from justicia.generations.reading import read_generations

    return read_generations(path)


def spec(path: Path) -> Any:
    """What a table of generations declares."""
    from justicia.generations.spec import read_spec

    return read_spec(path)


def synonyms(path: Path) -> Any:
    """Words, and the concept each is taken for."""
    from justicia.generations.concepts import read_synonyms

    return read_synonyms(path)


def requirements(path: Path) -> Any:
    """Requirements of a configuration file."""
    from justicia.configuration import requirements_of

    return requirements_of(str(path))


def audit(path: Path) -> Any:
    """An audit that was kept as JSON."""
    from justicia.report.reading import read_audit

    return read_audit(path)


def formula(path: Path) -> Any:
    """An SDIMACS formula."""
    from justicia.ssat import from_sdimacs

    return from_sdimacs(path.read_bytes().decode("utf-8", errors="replace"))


def plan(path: Path) -> Any:
    """A plan of prompts."""
    from justicia.generations.plans import read_plan

    return read_plan(path)


def vectors(path: Path) -> Any:
    """Word vectors."""
    from justicia.generations.vectors import load_vectors

    return load_vectors(path)


def faulty(path: Path) -> Any:
    """Does what the file says."""
    import os
    import signal
    import subprocess
    import sys

    from justicia.errors import InputError

    class OfTwoLinesError(InputError):
        def __str__(self) -> str:
            return "one line\nand another"

    said = path.read_text()
    if said == "refuse":
        raise InputError("this is refused")
    if said == "raise":
        raise ZeroDivisionError("nobody expected this")
    if said == "lines":
        raise OfTwoLinesError
    if said == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if said == "fill":
        return len(b"x" * 900_000_000)
    if said == "write":
        return (path.parent / "strange.txt").write_text("strange")
    if said == "run":
        return subprocess.run([sys.executable, "-c", ""], check=True)
    while said == "spin":
        pass
    return None
