"""The same question in a form that a program survives, and how much its digits may change the answer.

What was measured: SharpSSAT aborts on an empty clause and on two unit clauses that contradict each other, counts a unit
clause that stands there twice twice, takes probabilities in single precision, and says 0 of a formula without
variables; reSSAT and erSSAT keep six decimals, read
no exponents, and refuse prefixes of one quantifier alone. Each has an equivalent formula without the trouble.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from justicia.ssat.clauses import EXISTS, RANDOM, Block, ClauseFormula

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Prepared", "decimals", "plain", "prepared", "quantifiers", "single_precision"]


@dataclass(frozen=True)
class Prepared:
    """A formula to hand out.

    Attributes
    ----------
    formula : ClauseFormula
        Without names and comments.
    shift : float
        The value of the question may differ from that of this formula by so much, because of rounded probabilities.
    """

    formula: ClauseFormula
    shift: float


def quantifiers(formula: ClauseFormula) -> str:
    """One letter a level, outermost first.

    >>> quantifiers(ClauseFormula((Block("e", (1,)), Block("r", (2,), Fraction(1, 2))), ((1, 2),)))
    'er'
    """
    return "".join(quantifier for quantifier, _ in formula.levels())


def decimals(digits: int) -> Callable[[Fraction], Fraction]:
    """Probabilities as a program keeps them that reads so many decimals."""
    return lambda probability: round(probability, digits)


def single_precision(probability: Fraction) -> Fraction:
    """A probability as a program keeps it that reads it in single precision."""
    return Fraction(float(np.float32(float(probability))))


def plain(formula: ClauseFormula) -> ClauseFormula:
    """The formula without names and comments, which are no business of another program."""
    return ClauseFormula(formula.prefix, formula.clauses)


def prepared(
    formula: ClauseFormula,
    *,
    written: Callable[[Fraction], Fraction] | None = None,
    wanted: Iterable[str] = (),
) -> Prepared:
    """A formula of the same value for a program.

    Parameters
    ----------
    formula : ClauseFormula
    written : callable, optional
        Takes a probability and gives the one that the program keeps; without it, they stay what they are.
    wanted : iterable of str
        Quantifiers that the prefix must have; where one is missing, a variable without influence gets it.
    """
    shift = Fraction(0)
    prefix = []
    for block in formula.prefix:
        probability = block.probability
        if probability is not None and written is not None:
            kept = min(max(written(probability), Fraction(0)), Fraction(1))
            # Whatever the clauses are, the value is linear in each probability, with a slope of 1 at most.
            shift += abs(kept - probability) * len(block.variables)
            probability = kept
        if block.variables:
            prefix.append(Block(block.quantifier, block.variables, probability))
    distinct = (clause for clause in map(_without_repetition, formula.clauses) if clause is not None)
    clauses = list({frozenset(clause): clause for clause in distinct}.values())
    units = {clause[0] for clause in clauses if len(clause) == 1}
    fresh = formula.n_variables
    if any(not clause for clause in clauses) or any(-unit in units for unit in units):
        first, second = fresh + 1, fresh + 2
        fresh += 2
        # Contradictory as well, and neither empty nor two units.
        clauses = [(first, second), (first, -second), (-first, second), (-first, -second)]
        prefix.append(Block(EXISTS, (first, second)))
    held = {block.quantifier for block in prefix}
    for quantifier in wanted:
        if quantifier in held:
            continue
        fresh += 1
        if quantifier == RANDOM:
            # Outermost, where it keeps the number of levels small: R∃ is what every program takes.
            prefix.insert(0, Block(RANDOM, (fresh,), Fraction(1, 2)))
            helper = fresh + 1
            prefix.append(Block(EXISTS, (helper,)))
            clauses.append((fresh, helper))
            fresh = helper
        else:
            prefix.append(Block(EXISTS, (fresh,)))
            clauses.append((fresh, -1 * _some_random(prefix)))
    return Prepared(ClauseFormula(tuple(prefix), tuple(clauses)), float(shift))


def _some_random(prefix: list[Block]) -> int:
    """A variable to put beside one that nothing else speaks of."""
    return next(block.variables[0] for block in prefix if block.quantifier == RANDOM)


def _without_repetition(clause: tuple[int, ...]) -> tuple[int, ...] | None:
    """Each literal once; None for a clause that is always true."""
    distinct = tuple(dict.fromkeys(clause))
    return None if any(-literal in distinct for literal in distinct) else distinct
