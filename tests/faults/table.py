"""The page that tells what was injected and what came of it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.faults.injecting import Seen

_BEGIN, _END = "<!-- made by python -m tests.faults -->", "<!-- end -->"


def write_page(page: Path, seen: list[Seen]) -> None:
    """Replace the table of a page."""
    text = page.read_text()
    before, rest = text.split(_BEGIN)
    _, after = rest.split(_END)
    page.write_text(f"{before}{_BEGIN}\n\n{table_of(seen)}\n{_END}{after}")


def table_of(seen: list[Seen]) -> str:
    """One row a kind of fault: commands, how many were injected, exit codes, and how many were as they should be."""
    groups: dict[str, list[Seen]] = {}
    for one in seen:
        groups.setdefault(kind_of(one.fault), []).append(one)
    commands = Counter(one.scene for one in seen)
    lines = [
        f"{len(seen)} faults in {len(commands)} commands, {sum(bool(one.faults) for one in seen)} of them not as they "
        "should be: " + ", ".join(f"*{name}* {count}" for name, count in commands.items()) + ".",
        "",
        "| fault | commands | injected | exit codes | as it should be |",
        "|---|---:|---:|---|---:|",
    ]
    for kind, held in groups.items():
        codes = Counter(one.code if one.code is not None else "none" for one in held)
        said = ", ".join(f"{code}" if count == 1 else f"{code} ({count} times)" for code, count in codes.items())
        right = sum(not one.faults for one in held)
        lines.append(f"| {kind} | {len({one.scene for one in held})} | {len(held)} | {said} | {right} |")
    return "\n".join(lines) + "\n"


def kind_of(fault: str) -> str:
    """A fault without its moment."""
    fault = re.sub(r" at \d+%$", ", at a random moment", fault)
    fault = re.sub(r"^[\d,]+ bytes left", "few bytes left", fault)
    return re.sub(r"^(E[A-Z]+|kill -9|SIG[A-Z]+) in (\w+) \d+$", r"\1 in a call of \2", fault)
