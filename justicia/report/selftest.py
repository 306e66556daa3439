"""A self-test as text and as JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from justicia._version import __version__

if TYPE_CHECKING:
    from justicia.selftest import SelfTest

__all__ = ["selftest_to_json", "selftest_to_text"]

_MOST = 20


def selftest_to_text(run: SelfTest) -> str:
    """One line an engine, then what disagrees."""
    widest = max(map(len, run.tallies))
    lines = [f"{'engine':{widest}}  questions  agreed  open  largest difference"]
    for name, tally in run.tallies.items():
        difference = f"{tally.largest_difference:.1e}" if tally.agreed else "-"
        lines.append(f"{name:{widest}}  {tally.questions:9,}  {tally.agreed:6,}  {tally.open:4,}  {difference}")
    if run.absent:
        lines.append(f"not installed: {', '.join(run.absent)}")
    lines += [f"DISAGREES: {one}" for one in run.mismatches[:_MOST]]
    if len(run.mismatches) > _MOST:
        lines.append(f"DISAGREES in {len(run.mismatches) - _MOST:,} more")
    questions = sum(tally.questions for tally in run.tallies.values())
    agreed = sum(tally.agreed for tally in run.tallies.values())
    open_ones = sum(tally.open for tally in run.tallies.values())
    lines.append(
        f"{agreed:,} of {questions:,} answers agree with enumeration, {len(run.mismatches):,} disagree, "
        f"{open_ones:,} left open; seed {run.seed}, {run.seconds:.0f} s"
    )
    return "\n".join(lines) + "\n"


def selftest_to_json(run: SelfTest) -> str:
    """JSON with the tallies by engine, and the disagreements."""
    held = {
        "schema": "justicia.selftest/1",
        "tool": {"name": "justicia", "version": __version__},
        "seed": run.seed,
        "seconds": round(run.seconds, 3),
        "engines": {name: dataclasses.asdict(tally) for name, tally in run.tallies.items()},
        "absent": list(run.absent),
        "mismatches": [dataclasses.asdict(one) for one in run.mismatches],
    }
    return json.dumps(held, indent=1) + "\n"
