"""The Justicia paper's comparison with FairSquare and VeriFair: its synthetic example, and models of its four tables.

    JUSTICIA_FAIRSQUARE=… JUSTICIA_VERIFAIR=… python -m experiments.paper_tables --out docs/results

Populations are those that the other two can state: given the sensitive column, numbers are normal, 0/1 columns have a
frequency, and all are independent. Trees have depth 4; logistic regressions take the numbers and the sensitive column.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import click

from experiments.fairsquare_programs import COLUMNS, KEY, OURS, TRUTH, ask_draws, ask_ours, words_of
from experiments.published_tool import PUBLISHED_NUMBERS, estimator, numbers, paper_seconds
from experiments.rivals.asking import Answer, ask_fairsquare, ask_verifair
from experiments.rivals.places import FAIRSQUARE, VERIFAIR, found
from experiments.rivals.written_programs import as_sampler, program_of
from experiments.running import Reporter, Rows, command, read_rows, table

NAME = "paper_tables"
TITLE = "The Justicia paper's comparison"

LIMIT = 300.0
DEPTH = 4
SENSITIVE = {"ricci": "race", "titanic": "gender", "compas": "sex", "adult": "sex"}
EXAMPLE = "synthetic"
EXAMPLE_PROGRAM = """def popModel():
    age = step([(0,1,0.5), (1,2,0.5)])
    if age < 1:
        income = gaussian(0.6, 0.01)
        fitness = gaussian(0.3, 0.01)
    else:
        income = gaussian(0.4, 0.01)
        fitness = gaussian(0.7, 0.01)
    sensitiveAttribute(age < 1)

def F():
    if fitness >= 0.61:
        if income >= 0.29:
            t = 1
        else:
            t = 0
    else:
        if income >= 0.69:
            t = 1
        else:
            t = 0
    fairnessTarget(t > 0.5)
"""


def programs(quick: bool) -> dict[str, str]:
    """Programs by name."""
    held = {EXAMPLE: EXAMPLE_PROGRAM}
    for data, sensitive in SENSITIVE.items():
        if quick and data != "ricci":
            continue
        frame, label = numbers(data, (sensitive,))
        if sensitive not in frame.columns:
            # Of three values, the last one against the others.
            columns = [name for name in frame.columns if name.startswith(f"{sensitive}_")]
            frame = frame.drop(columns=columns).assign(**{sensitive: frame[columns[-1]]})
        if label[frame[sensitive] == 0].mean() > label[frame[sensitive] == 1].mean():
            # Who fares worse is protected.
            frame = frame.assign(**{sensitive: 1 - frame[sensitive]})
        held[f"{data}, decision tree"] = program_of(estimator("tree", DEPTH).fit(frame, label), frame, sensitive)
        kept = [name for name in frame.columns if name == sensitive or not set(frame[name].unique()) <= {0, 1}]
        model = estimator("logistic", None).fit(frame[kept], label)
        held[f"{data}, logistic regression"] = program_of(model, frame[kept], sensitive)
    return held


def run(out: Path, *, quick: bool, progress: Reporter, seed: int = 0, limit: float = LIMIT) -> None:
    """Ask each tool about each program."""
    warnings.filterwarnings("ignore")
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    there = {place.name: found(place, progress) for place in (FAIRSQUARE, VERIFAIR)}
    held = programs(quick)
    with tempfile.TemporaryDirectory() as name:
        paths = {}
        for at, (title, program) in enumerate(held.items()):
            paths[title] = Path(name) / f"program_{at}.fr"
            paths[title].write_text(program, encoding="utf-8")
            paths[title].with_suffix(".py").write_text(as_sampler(program), encoding="utf-8")
        tools: dict[str, Callable[[Path], Answer]] = {
            TRUTH: lambda path: ask_draws(path, seed),
            OURS: ask_ours,
            "VeriFair": lambda path: ask_verifair(str(path.with_suffix(".py")), limit, seed),
            "FairSquare": lambda path: ask_fairsquare(str(path), limit),
        }
        for tool, ask in tools.items():
            if not there.get(tool, True):
                continue
            named = [{"program": title, "tool": tool, "limit": limit, "seed": seed} for title in held]
            for one in progress.track([one for one in named if one not in rows], tool):
                rows.add({**one, **vars(ask(paths[str(one["program"])]))})


def section(folder: Path) -> str:
    """What the CSV file says."""
    held: dict[str, dict[str, dict[str, str]]] = {}
    for row in read_rows(folder / f"{NAME}.csv"):
        held.setdefault(row["program"], {})[row["tool"]] = row
    tools = [OURS, "FairSquare", "VeriFair"]
    header = ["model", "draws"]
    for tool in tools:
        header += [tool, "ratio", "CPU s"]
    lines = []
    for name, of in held.items():
        truth = of.get(TRUTH)
        drawn = "-" if truth is None else f"{float(truth['lo']):.4f} to {float(truth['hi']):.4f}"
        lines.append([name, drawn, *(cell for tool in tools for cell in words_of(of.get(tool)))])
    parts = [
        "The paper's synthetic example (people of 40 and more, who are protected, and younger ones, with normal "
        "incomes and fitness), and models of its four tables, as programs that all three take. The verdict says "
        "whether the protected people's rate is above .85 of the others'.\n",
        table(header, lines),
    ]
    example = held.get(EXAMPLE, {}).get(OURS)
    paper = read_rows(folder / PUBLISHED_NUMBERS)
    stated = {row["quantity"]: row for row in paper if row["data"] == EXAMPLE}
    if example is not None and "disparate impact" in stated:
        printed, exact = stated["disparate impact"]["value"], float(example["value"])
        parts.append(
            f"\nThe paper's disparate impact of the synthetic example is {printed}; exactly it is {exact:.6f}."
        )
    if paper:
        parts.append("\n" + paper_seconds(paper))
    return "\n".join(parts)


main = command(
    NAME, run, __doc__,
    click.option("--limit", type=click.FloatRange(min=0, min_open=True), default=LIMIT, show_default=True,
                 help="Seconds of the processor for each answer."),
)  # fmt: skip

if __name__ == "__main__":
    main()
