"""Reads what the pages of the documentation show: commands, their output, and Python."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("**/*.md")))

_FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """What stands between two fences.

    Attributes
    ----------
    page : str
    line : int
        Of the page, from 1.
    info : str
        What follows the first fence, such as "python".
    text : str
    """

    page: str
    line: int
    info: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found["info"].strip(), found["text"])
        for found in _FENCE.finditer(text)
    ]


def is_shell(block: Block) -> bool:
    """Whether a block holds commands of ours."""
    lines = block.text.splitlines()
    return block.info in ("", "bash") and any(line.startswith(("justicia ", "$ justicia ")) for line in lines)


def commands(block: Block) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the lines of output that follow it.

    A block with prompts shows output; one without holds commands alone. A line that ends in a backslash goes on, and so
    does one that is followed by a second prompt (">").
    """
    lines = block.text.splitlines()
    prompts = any(line.startswith("$ ") for line in lines)
    found: list[tuple[str, list[str]]] = []
    open_command = False
    for line in lines:
        if open_command:
            found[-1] = found[-1][0] + "\n" + line.strip(), []
        elif prompts and line.startswith("> ") and found:
            found[-1] = found[-1][0] + "\n" + line[2:], []
        elif line.startswith("$ ") or (not prompts and line.strip()):
            found.append((line[2:] if prompts else line, []))
        elif prompts:
            found[-1][1].append(line)
            continue
        open_command = found[-1][0].endswith("\\") if found else False
    return found


def words(command: str) -> list[str] | None:
    """Arguments of a call of justicia alone; None for what needs a shell."""
    parts = shlex.split(command.replace("\\\n", " "), comments=True)
    if parts[0] != "justicia" or set(parts) & {">", "|", "<", ";", "&&"}:
        return None
    return parts[1:]
