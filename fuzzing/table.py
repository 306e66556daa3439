"""Make the table of LOG.md from the lines of runs: ``python -m fuzzing.table runs.jsonl``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

__all__ = ["rows", "table"]


def rows(lines: list[str]) -> dict[str, dict[str, Any]]:
    """What was run of each target: of every run, which begins with a start, its last line counts."""
    runs: list[dict[str, Any]] = []
    for line in lines:
        said = json.loads(line)
        if said["event"] == "start":
            runs.append({"target": said["target"]})
        elif said["event"] in ("progress", "end"):
            place = next((i for i, run in enumerate(runs[::-1]) if run["target"] == said["target"]), None)
            if place is not None:
                runs[len(runs) - 1 - place] = said
    held: dict[str, dict[str, Any]] = {}
    for run in runs:
        if "inputs" in run:
            one = held.setdefault(run["target"], {"inputs": 0, "seconds": 0.0, "outcomes": Counter()})
            one["inputs"] += run["inputs"]
            one["seconds"] += run["computing"]
            one["outcomes"].update(run["outcomes"])
    return held


def table(lines: list[str]) -> str:
    """The table as Markdown."""
    made = [
        "| target | inputs | minutes of computing | read | refused | mismatch | faulty inputs |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in sorted(rows(lines).items()):
        counts = one["outcomes"]
        plain = [counts.pop(kind, 0) for kind in ("read", "refused", "mismatch")]
        faults = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())) or "0"
        cells = [name, f"{one['inputs']:,}", f"{one['seconds'] / 60:.1f}", *(f"{count:,}" for count in plain), faults]
        made.append(f"| {' | '.join(cells)} |")
    return "\n".join(made) + "\n"


if __name__ == "__main__":
    print(table(Path(sys.argv[1]).read_text().splitlines()), end="")
