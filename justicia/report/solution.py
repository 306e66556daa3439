"""The value of a formula as text and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from justicia.ssat.clauses import EXISTS
from justicia.words import shown

if TYPE_CHECKING:
    from justicia.solvers.clause_search import ClauseSolution
    from justicia.ssat import ClauseFormula

__all__ = ["solution_to_compatible_text", "solution_to_json", "solution_to_text"]


def solution_to_text(formula: ClauseFormula, solution: ClauseSolution) -> str:
    """Value or bounds, and the assignment by the variables' names."""
    value = solution.value
    if solution.stopped is None:
        lines = [f"value       {float(value.lo):.12g}"]
    else:
        lines = [f"bounds      {float(value.lo):.12g} to {float(value.hi):.12g} (stopped: {solution.stopped})"]
    if solution.assignment:
        held = [shown(formula.name(variable)) for variable, true in solution.assignment.items() if true]
        rest = len(solution.assignment) - len(held)
        if solution.stopped is not None:
            side = (
                f"at least {float(value.lo):.12g}"
                if formula.outermost[0] == EXISTS
                else f"at most {float(value.hi):.12g}"
            )
            lines.append(f"best so far {side}, not known to be optimal, with")
        if held:
            lines.append(f"true        {', '.join(held)}")
        if rest:
            lines.append(f"false       {f'the other {rest}' if held else f'all {rest}'} of the outermost variables")
    return "\n".join(lines) + "\n"


def solution_to_json(solution: ClauseSolution) -> str:
    """JSON with the keys value (null when only bounds were reached), lo, hi, assignment and status.

    With status "bounds", the assignment is the best one known so far.
    """
    value, exact = solution.value, solution.stopped is None
    assignment = solution.assignment
    return (
        json.dumps(
            {
                "value": float(value.lo) if exact else None,
                "lo": float(value.lo),
                "hi": float(value.hi),
                "assignment": None
                if assignment is None
                else {str(number): held for number, held in assignment.items()},
                "status": "exact" if exact else "bounds",
            },
            indent=2,
        )
        + "\n"
    )


def solution_to_compatible_text(solution: ClauseSolution) -> str:
    """The closing lines of the solvers that are built on ABC (reSSAT, erSSAT), so that what reads these reads it."""
    value = solution.value
    if solution.stopped is not None:
        return f"  > Best upper bound: {float(value.hi):e}\n  > Best lower bound: {float(value.lo):e}\n"
    lines = [f"  > Satisfying probability: {float(value.lo):e}"]
    if solution.assignment:
        literals = [number if held else -number for number, held in solution.assignment.items()]
        lines += ["  > Found an optimizing assignment to exist vars:", f"\t{' '.join(map(str, [*literals, 0]))}"]
    return "\n".join(lines) + "\n"
