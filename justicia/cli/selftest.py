"""``justicia selftest``: engines against brute force."""

from __future__ import annotations

import click

from justicia.cli.outputs import answer
from justicia.cli.running import running
from justicia.progress import Bar

__all__ = ["selftest"]


@click.command()
@click.option(
    "--seconds", type=click.FloatRange(min=0, min_open=True), default=30.0, show_default=True, help="How long to ask."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random questions.")
@click.option("--json", "json_file", metavar="FILE", help="Write the counts as JSON; - for standard output.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@running
def selftest(seconds: float, seed: int, json_file: str | None, debug: bool) -> int:
    """Ask every engine random questions that can be enumerated, and count how many answers agree.

    Outside solvers that are installed are asked as well. Exit code 4 when an answer disagrees.
    """
    from justicia.report.selftest import selftest_to_json, selftest_to_text
    from justicia.selftest import run_selftest
    from justicia.writing import check_target, write_whole

    check_target(json_file)
    with Bar() as bar:
        run = run_selftest(seconds, seed, progress=bar.show)
    if json_file not in (None, "-"):
        write_whole(json_file, selftest_to_json(run))
    answer(selftest_to_json(run) if json_file == "-" else selftest_to_text(run))
    return run.exit_code
