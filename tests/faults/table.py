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
    """One row a command and kind of fault: how many, exit codes, and how many were not as they should be."""
    groups: dict[tuple[str, str], list[Seen]] = {}
    for one in seen:
        groups.setdefault((one.scene, kind_of(one.fault)), []).append(one)
    lines = [
        f"{len(seen)} faults in {len({one.scene for one in seen})} commands, "
        f"{sum(bool(one.faults) for one in seen)} of them not as they should be.",
        "",
        "| command | fault | injected | exit codes | as it should be |",
        "|---|---|---:|---|---:|",
    ]
    for (scene, kind), held in groups.items():
        codes = Counter(str(one.code) for one in held)
        said = ", ".join(code if count == 1 else f"{code} ({count} times)" for code, count in sorted(codes.items()))
        right = sum(not one.faults for one in held)
        lines.append(f"| {scene} | {kind} | {len(held)} | {said} | {right} |")
    return "\n".join(lines) + "\n"


def kind_of(fault: str) -> str:
    """A fault without its moment."""
    fault = re.sub(r" at \d+%$", ", at a random moment", fault)
    fault = re.sub(r"^[\d,]+ bytes left", "few bytes left", fault)
    return re.sub(r"^(E[A-Z]+|kill -9|SIG[A-Z]+) in (\w+) \d+$", r"\1 in a call of \2", fault)
