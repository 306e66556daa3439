"""FairSquare's own benchmark programs: the verdict, the ratio, and what they cost FairSquare, VeriFair and us.

JUSTICIA_FAIRSQUARE=fairsquare JUSTICIA_VERIFAIR=verifair python -m experiments.fairsquare_programs --out docs/results
"""

from __future__ import annotations

from pathlib import Path

import click

from experiments.rivals.asking import Answer, ask_fairsquare, ask_verifair
from experiments.rivals.places import FAIRSQUARE, VERIFAIR, found
from experiments.running import Reporter, Rows, command

NAME = "fairsquare_programs"
TITLE = "FairSquare's own programs"

LIMIT = 300.0
COLUMNS = ("program", "tool", "limit", "seed", "status", "verdict", "lo", "hi", "value", "seconds")
KEY = ("program", "tool", "limit", "seed")
POPULATIONS = ("ind", "BN", "BNc")
MODELS = (
    "DT_V2_D2_N4", "DT_V2_D2_N16", "DT_V2_D3_N14", "DT_V3_D2_N44", "DT_A", "SVM_V3", "SVM_V4", "SVM_V5", "SVM_V6", "SVM_A",
)  # fmt: skip


def programs(quick: bool, qualified: bool) -> list[str]:
    """Names of the programs, by population."""
    names = [f"M_{population}_F_{model}" for population in POPULATIONS for model in MODELS]
    return [f"{name}_Q" for name in names] if qualified else names


def row(program: str, tool: str, limit: float, seed: int, answer: Answer) -> dict[str, object]:
    """A line of the CSV file."""
    return {"program": program, "tool": tool, "limit": limit, "seed": seed, **vars(answer)}


def run(
    out: Path, *, quick: bool, progress: Reporter, seed: int = 0, limit: float = LIMIT, qualified: bool = False
) -> None:
    """Ask each tool about each program."""
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    names = programs(quick, qualified)
    tools = []
    if found(FAIRSQUARE, progress):
        folder = "oopsla/qual" if qualified else "oopsla/noqual"
        tools.append(("FairSquare", lambda name: ask_fairsquare(f"{folder}/{name}.fr", limit)))
    if found(VERIFAIR, progress):
        tools.append(("VeriFair", lambda name: ask_verifair(name, limit, seed)))
    for tool, ask in tools:
        todo = rows.todo(names, lambda name, tool=tool: {"program": name, "tool": tool, "limit": limit, "seed": seed})
        for name in progress.track(todo, tool):
            rows.add(row(name, tool, limit, seed, ask(name)))


main = command(
    NAME, run, __doc__,
    click.option("--limit", type=click.FloatRange(min=0, min_open=True), default=LIMIT, show_default=True,
                 help="Seconds of the processor for each answer."),
    click.option("--qualified", is_flag=True, help="Programs that look at qualified people alone."),
)  # fmt: skip

if __name__ == "__main__":
    main()
