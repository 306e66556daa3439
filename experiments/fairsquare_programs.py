"""FairSquare's own benchmark programs: the verdict, the ratio, and what they cost FairSquare, VeriFair and us.

    JUSTICIA_FAIRSQUARE=… JUSTICIA_VERIFAIR=… python -m experiments.fairsquare_programs --out docs/results

The programs are trees and linear scores over populations of normal and stepwise variables, and ask whether the
protected people's rate is more than .85 of the others'. They are read from FairSquare's checkout.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import click

from experiments.rivals.asking import Answer, ask_fairsquare, ask_verifair
from experiments.rivals.places import FAIRSQUARE, VERIFAIR, found
from experiments.running import Reporter, Rows, command, new_figure, read_rows, save_figure, table

if TYPE_CHECKING:
    from justicia.comparison import GroupAudit

NAME = "fairsquare_programs"
TITLE = "FairSquare's own programs"
CAPTION = "Seconds of the processor of each tool for each program; an open mark: out of time"

LIMIT = 300.0
LEAST_RATIO = 0.85
DRAWS = 4_000_000
COLUMNS = ("program", "tool", "limit", "seed", "status", "verdict", "lo", "hi", "value", "seconds")
KEY = ("program", "tool", "limit", "seed")
OURS, TRUTH = "justicia", "draws"
POPULATIONS = ("ind", "BN", "BNc")
MODELS = (
    "DT_V2_D2_N4", "DT_V2_D2_N16", "DT_V2_D3_N14", "DT_V3_D2_N44", "DT_A",
    "SVM_V3", "SVM_V4", "SVM_V5", "SVM_V6", "SVM_A",
)  # fmt: skip


def programs(*, quick: bool = False, qualified: bool = False) -> list[str]:
    """Names of the programs, by population."""
    names = [f"M_{population}_F_{model}" for population in POPULATIONS for model in MODELS]
    names = [f"{name}_Q" for name in names] if qualified else names
    return [names[0], names[5]] if quick else names


def place_of(program: str) -> str:
    """Where a program is in FairSquare's checkout."""
    return f"oopsla/{'qual' if program.endswith('_Q') else 'noqual'}/{program}.fr"


def ask_ours(path: Path) -> Answer:
    """Our answer: the program read and the population loaded, the median of three audits after one that compiles."""
    import justicia
    from experiments.rivals.as_ours import question
    from experiments.rivals.programs import read_program
    from justicia.population.networks.reading import network_from_text

    asked = question(read_program(path))
    population = network_from_text(asked.network)
    models = [asked.favored] if asked.qualified is None else [asked.favored, asked.qualified]
    seconds = []
    for _ in range(4):
        start = time.process_time()
        rates = []
        for model in models:
            audit = justicia.verify(
                model, asked.table, sensitive_features=asked.sensitive, favorable=1, label=None, population=population
            )
            held = audit.groupings[0].groups
            rates.append({one.group[asked.sensitive]: best_known(one) for one in held})
        lo, hi = ratio(rates, asked.weights, asked.protected)
        seconds.append(time.process_time() - start)
    verdict = True if lo > LEAST_RATIO else False if hi < LEAST_RATIO else None
    return Answer("answer", verdict, lo, hi, (lo + hi) / 2, median(seconds[1:]))


def best_known(group: GroupAudit) -> tuple[float, float]:
    """Lower and upper end of a group's rate: certain, or the statistical interval inside where there is one."""
    held = group.intervals.get("selection_rate", group.selection_rate)
    if held is None:
        raise ValueError(f"{group.group} has no rate")
    return float(held.lo), float(held.hi)


def ratio(
    rates: list[dict[str, tuple[float, float]]], weights: Mapping[str, float], protected: frozenset[str]
) -> tuple[float, float]:
    """Bounds of the protected people's rate by that of the others; the second rates are of the qualified people."""

    def rate(of: dict[str, tuple[float, float]], end: int, inside: bool) -> float:
        held = [name for name in of if (name in protected) == inside]
        return sum(weights[name] * of[name][end] for name in held) / sum(weights[name] for name in held)

    def quotient(one: int, other: int) -> float:
        held = rate(rates[0], one, True) / rate(rates[0], other, False)
        return held if len(rates) == 1 else held * rate(rates[1], one, False) / rate(rates[1], other, True)

    return quotient(0, 1), quotient(1, 0)


def ask_draws(path: Path, seed: int) -> Answer:
    """What people who are drawn say: the ratio, and three standard errors on both sides."""
    from experiments.rivals.as_ours import drawn

    value, error = drawn(path, DRAWS, seed)
    lo, hi = value - 3 * error, value + 3 * error
    verdict = True if lo > LEAST_RATIO else False if hi < LEAST_RATIO else None
    return Answer("answer", verdict, lo, hi, value, 0.0)


def run(
    out: Path, *, quick: bool, progress: Reporter, seed: int = 0, limit: float = LIMIT, qualified: bool = False
) -> None:
    """Ask each tool about each program."""
    warnings.filterwarnings("ignore")
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    folder = FAIRSQUARE.folder()
    if not found(FAIRSQUARE, progress) or folder is None:
        return
    tools: dict[str, Callable[[str], Answer]] = {
        TRUTH: lambda name: ask_draws(folder / place_of(name), seed),
        OURS: lambda name: ask_ours(folder / place_of(name)),
        "FairSquare": lambda name: ask_fairsquare(place_of(name), limit),
    }
    if found(VERIFAIR, progress):
        tools["VeriFair"] = lambda name: ask_verifair(name, limit, seed)
    for tool, ask in tools.items():
        named = [
            {"program": name, "tool": tool, "limit": limit, "seed": seed}
            for name in programs(quick=quick, qualified=qualified)
        ]
        for one in progress.track([one for one in named if one not in rows], tool):
            rows.add({**one, **vars(ask(str(one["program"])))})


def words_of(row: Mapping[str, str] | None) -> list[str]:
    """Verdict, ratio and seconds of one tool, for a line of the table."""
    if row is None:
        return ["-", "-", "-"]
    seconds = float(row["seconds"])
    took = f"{seconds:.3f}" if seconds < 1 else f"{seconds:.1f}"
    verdict = {"True": "above", "False": "below", "": "open"}[row["verdict"]]
    if row["status"] == "time":
        verdict, took = "time", f"> {float(row['limit']):.0f}"
    elif row["status"] != "answer":
        return ["failed", "-", took]
    width = float(row["hi"]) - float(row["lo"]) if row["lo"] and row["hi"] else 0.0
    value = (
        f"{float(row['lo']):.3f} to {float(row['hi']):.3f}" if width > 1e-4 else f"{float(row['value'] or 'nan'):.5f}"
    )
    return [verdict, value if row["value"] or width else "-", took]


def faster(held: Mapping[str, Mapping[str, Mapping[str, str]]], tool: str, names: list[str]) -> list[float]:
    """How many times our seconds a tool takes, for each program that it says something about, or spends its time on."""
    return [
        float(held[name][tool]["seconds"]) / float(held[name][OURS]["seconds"])
        for name in names
        if tool in held[name] and OURS in held[name] and not held[name][tool]["status"].startswith("failed")
    ]


def plot(rows: list[dict[str, str]], path: Path) -> None:
    """Seconds of every tool, a line a program."""
    names = list(dict.fromkeys(row["program"] for row in rows))
    figure, axis = new_figure(figsize=(7, 0.2 * len(names) + 1.2))
    for tool, color, mark in ((OURS, "C0", "o"), ("FairSquare", "C1", "s"), ("VeriFair", "C2", "^")):
        for done, face in ((True, color), (False, "none")):
            here = [row for row in rows if row["tool"] == tool and (row["status"] == "answer") == done]
            here = [row for row in here if done or row["status"] == "time"]
            seconds = [float(row["seconds"] if done else row["limit"]) for row in here]
            places = [names.index(row["program"]) for row in here]
            axis.plot(
                seconds, places, mark, color=color, markerfacecolor=face, markersize=4, label=tool if done else None
            )
    axis.set(xscale="log", xlabel="seconds of the processor")
    axis.set_yticks(range(len(names)), names, fontsize="x-small")
    axis.invert_yaxis()
    axis.grid(axis="x", color="0.9")
    axis.legend(frameon=False, fontsize="x-small", loc="upper center", bbox_to_anchor=(0.5, 1.06), ncols=3)
    save_figure(figure, path)


def section(folder: Path) -> str:
    """What the CSV file says."""
    held: dict[str, dict[str, dict[str, str]]] = {}
    for row in read_rows(folder / f"{NAME}.csv"):
        held.setdefault(row["program"], {})[row["tool"]] = row
    parts = [
        "The tree and linear programs of FairSquare's OOPSLA benchmarks, read from its repository: is the protected "
        f"people's rate more than {LEAST_RATIO} of the others'? Populations are independent normal and stepwise "
        "variables (`ind`), parameters that depend on sex and capital gain (`BN`), and the same with age no less than "
        "the years of education (`BNc`). FairSquare runs with the settings of its `run.sh`, VeriFair with those of its "
        "`main`. Ours is a whole audit: encoding, self-check, exact rates, measures and the rates of the table's rows. "
        f"`draws`: {DRAWS:,} people drawn by the program's own text, and three standard errors. A dash: nothing was "
        "said.\n"
    ]
    tools = ["FairSquare", "VeriFair"]
    header = ["program", "draws", "justicia", "CPU s"]
    for tool in tools:
        header += [tool, "ratio", "CPU s"]
    lines = []
    for name, of in held.items():
        truth = of.get(TRUTH)
        drawn = "-" if truth is None else f"{float(truth['lo']):.4f} to {float(truth['hi']):.4f}"
        line = [name, drawn, *words_of(of.get(OURS))[1:]]
        for tool in tools:
            line += words_of(of.get(tool))
        lines.append(line)
    parts.append(table(header, lines) + "\n")
    summary = []
    names = list(held)
    for kind, chosen in (
        ("trees", [name for name in names if "_DT_" in name]),
        ("linear", [name for name in names if "_SVM_" in name]),
        ("all", names),
    ):
        for tool in tools:
            times = faster(held, tool, chosen)
            if not times:
                continue
            shown = [held[name] for name in chosen if tool in held[name]]
            open_ones = sum(of[tool]["status"] == "time" for of in shown)
            failed = sum(of[tool]["status"].startswith("failed") for of in shown)
            same = sum(
                of[tool]["status"] == "answer" and OURS in of and of[tool]["verdict"] == of[OURS]["verdict"]
                for of in shown
            )
            closer = sum(at_least_as_close(of, tool) for of in shown)
            summary.append(
                [kind, tool, str(len(shown)), str(same), str(open_ones), str(failed), f"{closer} of {len(shown)}",
                 f"{median(times):.0f}", f"{min(times):.0f} to {max(times):.0f}"]
            )  # fmt: skip
    parts.append(
        table(
            [
                "programs",
                "tool",
                "asked",
                "same verdict",
                "out of time",
                "failed",
                "ours at least as close to the draws",
                "its CPU seconds by ours, median",
                "range",
            ],
            summary,
        )
    )
    inside = sum(
        TRUTH in of and OURS in of and float(of[OURS]["lo"]) <= float(of[TRUTH]["hi"])
        and float(of[OURS]["hi"]) >= float(of[TRUTH]["lo"])
        for of in held.values()
    )  # fmt: skip
    parts.append(
        "\nVeriFair draws people, and stops early where the ratio is far from the limit; what is left of ours is the "
        "fixed cost of an audit. Linear programs under `BNc` take ours longest: three normal variables that hang "
        "together are drawn, and their rates have statistical intervals; an exact integral would close that."
    )
    parts.append(f"\nOurs lies within three standard errors of the draws in {inside} of {len(held)} programs.")
    return "\n".join(parts)


def at_least_as_close(of: Mapping[str, Mapping[str, str]], tool: str) -> bool:
    """Whether our value is as close to that of the draws as another's, or within the draws' own error."""
    if TRUTH not in of or OURS not in of:
        return False
    truth, ours, theirs = of[TRUTH], of[OURS], of[tool]
    apart = abs(float(ours["value"]) - float(truth["value"]))
    error = (float(truth["hi"]) - float(truth["lo"])) / 2
    return not theirs["value"] or apart <= max(abs(float(theirs["value"]) - float(truth["value"])), error)


main = command(
    NAME, run, __doc__,
    click.option("--limit", type=click.FloatRange(min=0, min_open=True), default=LIMIT, show_default=True,
                 help="Seconds of the processor for each answer."),
    click.option("--qualified", is_flag=True, help="Programs that look at qualified people alone."),
)  # fmt: skip

if __name__ == "__main__":
    main()
