"""The results page: what the CSV files in docs/results say, in words and tables.

python -m experiments.report            writes docs/results.md
python -m experiments.report --check    fails when the page is not what the files give
"""

from __future__ import annotations

import difflib
import importlib
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from experiments.running import read_rows
from justicia.errors import JusticiaError
from justicia.writing import write_whole

__all__ = ["EXPERIMENTS", "page"]

EXPERIMENTS: tuple[str, ...] = (
    "paper_tables",
    "published_tool",
    "fairsquare_programs",
    "common_errors",
    "fairness_algorithms",
    "compound_groups",
    "learn_or_enumerate",
    "robustness",
)
"""Modules in the order of their sections."""

HERE = Path(__file__).parent.parent
FOLDER = HERE / "docs" / "results"
PAGE = HERE / "docs" / "results.md"

INTRODUCTION = """# Results of the experiments

Every number of this page is worked out from the CSV files in `docs/results`, which the experiments wrote
(`experiments/README.md` says how to run them again); `python -m experiments.report` writes it, and a test compares it
with the files. Seconds are of the processor, not of the clock, on one machine with two cores that had other work; what
is compared was run in turn there. Published numbers come from other machines, and stand beside ours for orientation
alone.
"""


def page(folder: Path, names: Sequence[str] = EXPERIMENTS) -> str:
    """The whole page, without the experiments that have no CSV file."""
    parts = [INTRODUCTION]
    for name in names:
        module = importlib.import_module(f"experiments.{name}")
        if (folder / f"{module.NAME}.csv").exists():
            parts.append(f"## {module.TITLE}\n\n{module.section(folder).strip()}\n")
            if hasattr(module, "plot"):
                parts.append(f"![{module.CAPTION}]({FOLDER.name}/{module.NAME}.svg)\n")
    return "\n".join(parts)


def draw(folder: Path, names: Sequence[str] = EXPERIMENTS) -> None:
    """Draw the figures of the page from the CSV files, beside them."""
    for name in names:
        module = importlib.import_module(f"experiments.{name}")
        path = folder / f"{module.NAME}.csv"
        if path.exists() and hasattr(module, "plot"):
            module.plot(read_rows(path), path.with_suffix(".svg"))


@click.command("report")
@click.option("--check", is_flag=True, help="Compare with the page, and fail when it differs.")
@click.option("--results", type=click.Path(file_okay=False, exists=True, path_type=Path), default=FOLDER)
@click.option("--page", "target", type=click.Path(dir_okay=False, path_type=Path), default=PAGE)
def main(check: bool, results: Path, target: Path) -> None:
    """Write the results page from the CSV files, or check that it is what they give."""
    try:
        text = page(results)
        if not check:
            draw(results)
            write_whole(target, text)
            return
    except JusticiaError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    found = target.read_text(encoding="utf-8") if target.exists() else ""
    if found != text:
        lines = difflib.unified_diff(
            found.splitlines(), text.splitlines(), str(target), "the CSV files", lineterm="", n=0
        )
        click.echo("\n".join(itertools.islice(lines, 12)), err=True)
        click.echo(f"{target} is not what the files of {results} give: run python -m experiments.report", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
