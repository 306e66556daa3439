"""Put a formula in clauses together, variable by variable."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from justicia.ssat.clauses import EXISTS, RANDOM, Block, ClauseFormula

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["FALSE", "TRUE", "Builder", "Literal", "as_probability", "negated"]

Literal = int | bool
"""A variable's number, negative when it is negated; or what is always true or false."""

TRUE, FALSE = True, False


def as_probability(number: float) -> Fraction:
    """The shortest decimal that is this float64.

    >>> as_probability(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(float(number)))


class Builder:
    """Variables, clauses and names.

    The prefix is choices, then random variables, then variables that others define, under ∃.
    """

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.clauses: list[tuple[int, ...]] = []
        self._choices: list[int] = []
        self._random: dict[Fraction, list[int]] = {}
        self._defined: list[int] = []

    @property
    def n_variables(self) -> int:
        """Variables so far; the last one has this number."""
        return len(self.names)

    def choice(self, name: str) -> int:
        """A variable of the outermost block."""
        return self._new(self._choices, name)

    def random(self, probability: Fraction, name: str) -> Literal:
        """A variable that is true with this probability; no variable when that is 0 or 1."""
        if probability in (0, 1):
            return bool(probability)
        return self._new(self._random.setdefault(probability, []), name)

    def defined(self, name: str) -> int:
        """A variable of the innermost block, which clauses to come define."""
        return self._new(self._defined, name)

    def defined_upto(self, number: int, name: str) -> None:
        """All variables up to a number, made elsewhere, belong to the innermost block."""
        while self.n_variables < number:
            self._new(self._defined, name)

    def _new(self, block: list[int], name: str) -> int:
        number = self.n_variables + 1
        block.append(number)
        self.names[number] = name
        return number

    def add(self, literals: Iterable[Literal]) -> None:
        """Add a clause; not when a literal of it is always true."""
        clause = []
        for literal in literals:
            if literal is TRUE:
                return
            if literal is not FALSE:
                clause.append(literal)
        self.clauses.append(tuple(dict.fromkeys(clause)))

    def all_of(self, literals: Sequence[Literal], name: str) -> Literal:
        """A literal that is true exactly when all of these are."""
        if any(literal is FALSE for literal in literals):
            return FALSE
        kept = [literal for literal in literals if literal is not TRUE]
        if not kept:
            return TRUE
        if len(kept) == 1:
            return kept[0]
        made = self.defined(name)
        for literal in kept:
            self.add((-made, literal))
        self.add((made, *map(negated, kept)))
        return made

    def formula(self, outermost: str = EXISTS, comments: Sequence[str] = ()) -> ClauseFormula:
        """All of it."""
        blocks = [Block(outermost, tuple(self._choices))] if self._choices else []
        blocks += [Block(RANDOM, tuple(held), probability) for probability, held in self._random.items()]
        if self._defined:
            blocks.append(Block(EXISTS, tuple(self._defined)))
        return ClauseFormula(tuple(blocks), tuple(self.clauses), self.names, tuple(comments))


def negated(literal: Literal) -> Literal:
    """The opposite of a literal."""
    return not literal if isinstance(literal, bool) else -literal
