"""``justicia generations simulate``: how often a shield interferes, and what it misses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from justicia.cli.generations.options import command_words, show
from justicia.cli.options import announcing
from justicia.cli.running import running
from justicia.progress import stage

__all__ = ["simulate"]


@click.command()
@click.option("--values", required=True, metavar="NUMBER", help="Of values.")
@click.option("--beta", required=True, type=int, help="Every value in every so many generations in a row.")
@click.option(
    "--generator",
    default="uniform",
    show_default=True,
    metavar="uniform|zipf|skewed|constant|sticky",
    help="What generates.",
)
@click.option("--steps", type=int, default=20_000, show_default=True, help="Generations.")
@click.option("--fail", type=float, default=0.0, show_default=True, help="Share of enforcements without effect.")
@click.option("--unknown", type=float, default=0.0, show_default=True, help="Share of labels that are unknown.")
@click.option("--margin", type=int, default=0, show_default=True, help="Work towards a smaller beta.")
@click.option("--choice", default="edf", show_default=True, metavar="edf|random", help="Of the values allowed.")
@click.option("--rule", default="maximal", show_default=True, metavar="maximal|printed|…", help="When to force.")
@click.option("--mode", default="ahead", show_default=True, metavar="ahead|draft", help="Force first, or regenerate.")
@click.option("--retries", type=int, default=0, show_default=True, help="Of enforcements without effect.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same simulation every time.")
@click.option("--json", "json_file", metavar="FILE", help="Write the report as JSON; - for standard output.")
@click.option("--quiet", is_flag=True, help="Do not announce what was found.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
@running
def simulate(context: click.Context, /, json_file: str | None, quiet: bool, debug: bool, **options: Any) -> int:
    """Run a shield on a simulated generator: interference, misses, least beta.

    Exit code 1 when a value was missed, 3 when there are too few generations to tell.
    """
    from justicia.generations import simulate as run
    from justicia.writing import check_target

    check_target(json_file)
    with announcing(quiet):
        stage("simulating %s generations", f"{options['steps']:,}")
        report = replace(run(**options), command=tuple(command_words(context)))
        show(report, json_file)
    return report.exit_code
