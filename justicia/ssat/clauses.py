"""Formulas whose matrix is a set of clauses.

A formula is a prefix and a matrix. From the outermost variable inwards, ∃ takes the maximum, ∀ the minimum, and R with
probability p the average ``p * value(true) + (1 - p) * value(false)``; a satisfied matrix is 1, another 0
(Papadimitriou, Games against nature, 1985; Littman, Majercik and Pitassi, Stochastic Boolean satisfiability, 2001).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from justicia.errors import FormulaError

__all__ = ["EXISTS", "FORALL", "RANDOM", "Block", "ClauseFormula"]

EXISTS, FORALL, RANDOM = "e", "a", "r"
"""Quantifiers, by the letters of SDIMACS."""


@dataclass(frozen=True)
class Block:
    """Variables under one quantifier, one line of the prefix.

    Attributes
    ----------
    quantifier : str
        `EXISTS`, `FORALL` or `RANDOM`.
    variables : tuple of int
        Positive numbers.
    probability : Fraction or None
        That each variable is true; of random blocks alone.
    """

    quantifier: str
    variables: tuple[int, ...]
    probability: Fraction | None = None


@dataclass(frozen=True)
class ClauseFormula:
    """A prefix, outermost block first, and clauses.

    Attributes
    ----------
    prefix : tuple of Block
    clauses : tuple of tuple of int
        Literals: a variable's number, negative when it is negated.
    names : mapping of int to str
        What variables mean, of those of which it is known.
    comments : tuple of str
        Lines about the formula as a whole.

    Raises
    ------
    FormulaError
        When a variable is under no quantifier or under two, or a probability does not lie between 0 and 1.

    Examples
    --------
    Somebody picks x1, then x2 is true with probability 0.3: is x1 or x2?

    >>> ClauseFormula((Block("e", (1,)), Block("r", (2,), Fraction(3, 10))), ((1, 2),)).n_variables
    2
    """

    prefix: tuple[Block, ...]
    clauses: tuple[tuple[int, ...], ...]
    names: Mapping[int, str] = field(default_factory=dict)
    comments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        bound: set[int] = set()
        for block in self.prefix:
            _check_block(block)
            for variable in block.variables:
                if variable < 1:
                    raise FormulaError(f"{variable} is no variable: variables are positive numbers")
                if variable in bound:
                    raise FormulaError(f"variable {variable} stands in the prefix twice")
                bound.add(variable)
        for position, clause in enumerate(self.clauses, 1):
            for literal in clause:
                if abs(literal) not in bound:
                    raise FormulaError(f"variable {abs(literal)} of clause {position} is not in the prefix")

    @property
    def n_variables(self) -> int:
        """The largest number of a variable."""
        return max((max(block.variables, default=0) for block in self.prefix), default=0)

    @property
    def outermost(self) -> tuple[str, tuple[int, ...]]:
        """Quantifier and variables of the first lines under one quantifier; empty when there is no prefix."""
        for quantifier, variables in self.levels():
            return quantifier, variables
        return "", ()

    def levels(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Quantifiers and their variables, lines of the same quantifier taken together."""
        pending: list[int] = []
        quantifier = ""
        for block in self.prefix:
            if not block.variables:
                continue
            if block.quantifier != quantifier and pending:
                yield quantifier, tuple(pending)
                pending = []
            quantifier = block.quantifier
            pending += block.variables
        if pending:
            yield quantifier, tuple(pending)

    def name(self, variable: int) -> str:
        """What a variable means, or its number."""
        return self.names.get(variable, f"x{variable}")


def _check_block(block: Block) -> None:
    if block.quantifier not in (EXISTS, FORALL, RANDOM):
        raise FormulaError(f"{block.quantifier!r} is no quantifier: there are e, a and r")
    if block.quantifier != RANDOM:
        if block.probability is not None:
            raise FormulaError(f"a block under {block.quantifier} has no probability")
    elif block.probability is None or not 0 <= block.probability <= 1:
        raise FormulaError(f"probability {block.probability} does not lie between 0 and 1")
