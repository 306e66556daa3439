"""``justicia solve``: the value of an SDIMACS formula."""

from __future__ import annotations

import click

__all__ = ["solve"]


@click.command()
@click.argument("file")
@click.option("--time-limit", type=click.FloatRange(min=0), metavar="SECONDS", help="Then bounds are the answer.")
@click.option(
    "--json",
    "json_file",
    metavar="FILE",
    help="Write value, lo, hi, assignment and status as JSON; - for standard output, in place of the text.",
)
@click.option("--compatible", is_flag=True, help="Print the closing lines of reSSAT and erSSAT.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def solve(file: str, time_limit: float | None, json_file: str | None, compatible: bool, debug: bool) -> int:
    """Solve the SDIMACS formula in FILE (- for standard input) exactly: e takes the maximum, a the minimum, r the mean.

    Exit code 0 with the value, 3 when only bounds are known: the time did not suffice, or Ctrl-C or SIGTERM came.
    """
    from justicia.report.solution import solution_to_compatible_text, solution_to_json, solution_to_text
    from justicia.solvers.clause_search import solve_clauses
    from justicia.solvers.interruption import Interruption
    from justicia.ssat import from_sdimacs
    from justicia.writing import check_target, write_whole

    check_target(json_file, inputs=(file,))
    with click.open_file(file, "rb") as stream:
        formula = from_sdimacs(stream.read().decode("utf-8", errors="replace"))
    # A second signal ends the program at once.
    with Interruption(terminate=True) as interruption:
        solution = solve_clauses(formula, time_limit, interruption)
    text = solution_to_compatible_text(solution) if compatible else solution_to_text(formula, solution)
    if json_file == "-":
        text = solution_to_json(solution)
    elif json_file is not None:
        write_whole(json_file, solution_to_json(solution))
    click.echo(text, nl=False)
    return 0 if solution.stopped is None else 3
