"""``justicia solve``: the value of an SDIMACS formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from justicia.cli.options import outside_options
from justicia.cli.outputs import answer
from justicia.cli.running import running
from justicia.progress import stage

if TYPE_CHECKING:
    from justicia.ssat import ClauseFormula

__all__ = ["solve"]


@click.command()
@click.argument("file", default="-")
@click.option(
    "--solver",
    default="clauses",
    show_default=True,
    metavar="NAME",
    help="clauses, the engine here; or outside: abc, sharpssat, d4, pyganak, external.",
)
@outside_options
@click.option(
    "--time-limit", type=click.FloatRange(min=0), metavar="SECONDS", help="Of the search; then bounds are the answer."
)
@click.option(
    "--json",
    "json_file",
    metavar="FILE",
    help="Write value, lo, hi, assignment and status as JSON; - for standard output, in place of the text.",
)
@click.option("--compatible", is_flag=True, help="Print the closing lines of reSSAT and erSSAT.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@running
def solve(
    file: str, solver: str, solver_command: str | None, solver_pattern: str | None, solver_digits: int | None,
    time_limit: float | None, json_file: str | None, compatible: bool, debug: bool,
) -> int:  # fmt: skip
    """Solve the SDIMACS formula in FILE (- for standard input) exactly: e takes the maximum, a the minimum, r the mean.

    Exit code 0 with the value, 3 when only bounds are known (the time did not suffice, or Ctrl-C or SIGTERM came) or an
    outside solver gave no value.
    """
    from justicia.report.solution import solution_to_compatible_text, solution_to_json, solution_to_text
    from justicia.solvers.clause_search import solve_clauses
    from justicia.solvers.interruption import Interruption
    from justicia.ssat import from_sdimacs
    from justicia.writing import check_target, write_whole

    check_target(json_file, inputs=(file,))
    stage("reading the formula")
    with click.open_file(file, "rb") as stream:
        formula = from_sdimacs(stream.read().decode("utf-8", errors="replace"))
    if solver != "clauses" or solver_command is not None or solver_pattern is not None or solver_digits is not None:
        if compatible:
            raise click.UsageError("--compatible is about the engine here: leave out the other solver")
        name = "auto" if solver == "clauses" else solver
        return _outside(formula, (name, solver_command, solver_pattern, solver_digits), time_limit, json_file)
    # A second signal ends the program at once.
    with Interruption() as interruption:
        solution = solve_clauses(formula, time_limit, interruption)
    text = solution_to_compatible_text(solution) if compatible else solution_to_text(formula, solution)
    if json_file == "-":
        text = solution_to_json(solution)
    elif json_file is not None:
        write_whole(json_file, solution_to_json(solution))
    answer(text)
    return 0 if solution.stopped is None else 3


def _outside(
    formula: ClauseFormula,
    asked: tuple[str, str | None, str | None, int | None],
    time_limit: float | None,
    json_file: str | None,
) -> int:
    """Ask another program."""
    from justicia.report.solution import reply_to_json, reply_to_text
    from justicia.solvers.external import LONGEST, outside_solver
    from justicia.solvers.interruption import Interruption
    from justicia.writing import write_whole

    program = outside_solver(*asked)
    with Interruption() as interruption:
        stage("asking %s", program.name)
        reply = program.ask(formula, LONGEST if time_limit is None else time_limit, interruption)
    if json_file not in (None, "-"):
        write_whole(json_file, reply_to_json(reply))
    answer(reply_to_json(reply) if json_file == "-" else reply_to_text(formula, program.name, reply))
    return 0 if reply.answered else 3
