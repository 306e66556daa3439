"""The results page, and tables of other pages: what the CSV files in docs/results say.

python -m experiments.report            writes docs/results.md, and the marked parts of the other pages
python -m experiments.report --check    fails when a page is not what the files give

A part of a page between ``<!-- from experiments/NAME: PART -->`` and ``<!-- end -->`` is what `parts(folder)` of that
experiment has under this name.
"""

from __future__ import annotations

import difflib
import importlib
import itertools
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from experiments.running import read_rows
from justicia.errors import InputError, JusticiaError
from justicia.words import did_you_mean
from justicia.writing import write_whole

__all__ = ["EXPERIMENTS", "IN_PAGES", "filled", "marked", "page"]

EXPERIMENTS: tuple[str, ...] = (
    "paper_tables",
    "published_tool",
    "fairsquare_programs",
    "common_errors",
    "fairness_algorithms",
    "compound_groups",
    "learn_or_enumerate",
    "robustness",
    "coverage",
    "gaussian_study",
)
"""Modules with a section on the results page, in its order."""

IN_PAGES: tuple[str, ...] = (
    "coverage",
    "ensembles",
    "fairness_reward",
    "formulas",
    "outside_solvers",
    "rules",
    "shifts",
    "simulated_generations",
)
"""Modules with parts of other pages."""

_PART = re.compile(
    r"^<!-- from experiments/(?P<name>[^:\n]*): (?P<part>[^\n]*) -->\n(?P<held>.*?)^<!-- end -->$", re.M | re.S
)
_BEGIN = re.compile(r"^<!-- from experiments/", re.M)

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


def marked(root: Path) -> list[Path]:
    """Pages with marked parts: the README files and those of the documentation."""
    found = [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]
    return [path for path in found if path.exists() and _BEGIN.search(path.read_text(encoding="utf-8"))]


def filled(text: str, parts: Mapping[str, Mapping[str, str]], path: Path | str) -> str:
    """A page with its marked parts put in.

    Parameters
    ----------
    text : str
        The page.
    parts : mapping of str to mapping of str to str
        Markdown by experiment and name of the part.
    path : Path or str
        Of the page, for messages.

    Raises
    ------
    InputError
        When a mark names nothing that there is, or has no end.
    """

    def line(at: int) -> str:
        return f"{path}, line {text.count(chr(10), 0, at) + 1}"

    def put(match: re.Match[str]) -> str:
        name, part, held = match["name"], match["part"], match["held"]
        if _BEGIN.search(held):
            raise InputError(f"{line(match.start())}: the marked part has no end before the next one begins")
        if name not in parts:
            raise InputError(f"{line(match.start())}: no experiment {name!r} has parts{did_you_mean(name, parts)}")
        if part not in parts[name]:
            raise InputError(f"{line(match.start())}: {name} has no part {part!r}{did_you_mean(part, parts[name])}")
        return f"<!-- from experiments/{name}: {part} -->\n\n{parts[name][part].strip()}\n\n<!-- end -->"

    whole = {match.start() for match in _PART.finditer(text)}
    result = _PART.sub(put, text)
    for begin in _BEGIN.finditer(text):
        if begin.start() not in whole:
            raise InputError(f"{line(begin.start())}: the marked part has no end")
    return result


def parts_of(folder: Path, names: Iterable[str] = IN_PAGES) -> dict[str, Mapping[str, str]]:
    """Parts of the experiments that have a CSV file."""
    modules = {name: importlib.import_module(f"experiments.{name}") for name in names}
    return {name: one.parts(folder) for name, one in modules.items() if (folder / f"{one.NAME}.csv").exists()}


def draw(folder: Path, names: Iterable[str] = dict.fromkeys(EXPERIMENTS + IN_PAGES)) -> None:
    """Draw the figures of the pages from the CSV files, beside them."""
    for name in names:
        module = importlib.import_module(f"experiments.{name}")
        path = folder / f"{module.NAME}.csv"
        if path.exists() and hasattr(module, "plot"):
            module.plot(read_rows(path), path.with_suffix(".svg"))


def difference(path: Path, text: str) -> list[str]:
    """Lines in which a page differs from what it should be; the first ones of many."""
    found = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = difflib.unified_diff(found.splitlines(), text.splitlines(), str(path), "the CSV files", lineterm="", n=0)
    return list(itertools.islice(lines, 12))


@click.command("report")
@click.option("--check", is_flag=True, help="Compare with the pages, and fail when one differs.")
@click.option("--results", type=click.Path(file_okay=False, exists=True, path_type=Path), default=FOLDER)
@click.option("--page", "target", type=click.Path(dir_okay=False, path_type=Path), default=PAGE)
@click.option("--root", type=click.Path(file_okay=False, exists=True, path_type=Path), default=HERE)
def main(check: bool, results: Path, target: Path, root: Path) -> None:
    """Write the results page and the marked parts of the others, or check that they are what the CSV files give."""
    try:
        texts = {target: page(results)}
        pages = [path for path in marked(root) if path.resolve() != target.resolve()]
        parts = parts_of(results) if pages else {}
        texts |= {path: filled(path.read_text(encoding="utf-8"), parts, path) for path in pages}
        if not check:
            draw(results)
            for path, text in texts.items():
                write_whole(path, text)
            return
    except JusticiaError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    differs = False
    for path, text in texts.items():
        lines = difference(path, text)
        if lines:
            differs = True
            click.echo("\n".join(lines), err=True)
            click.echo(f"{path} is not what the files of {results} give: run python -m experiments.report", err=True)
    sys.exit(1 if differs else 0)


if __name__ == "__main__":
    main()
