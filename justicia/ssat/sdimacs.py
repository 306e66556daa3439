"""Formulas as text: SDIMACS, which is QDIMACS with lines for random variables.

::

    c comment
    p cnf VARIABLES CLAUSES
    e 1 2 0          exists
    r 0.3 3 4 0      each is true with probability 0.3
    a 5 0            for all
    1 -3 0           a clause
    c variable 1: race = Black      what a variable means; a comment to other programs

Prefix lines stand outermost first. Probabilities are decimals and are kept exactly; one that no decimal writes, such as
1/3, is written as a fraction, which other programs do not read unless it is rounded (`digits`).
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from justicia.errors import FormulaError
from justicia.ssat.clauses import RANDOM, Block, ClauseFormula
from justicia.words import counted, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MOST_DIGITS", "MOST_VARIABLES", "from_sdimacs", "rounded", "to_sdimacs"]

MOST_VARIABLES = 20_000_000
"""Larger numbers of variables are refused."""
MOST_DIGITS = 1_100
"""Digits of a probability; every float64 has fewer after its point."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,12}", re.ASCII)
_DECIMAL = re.compile(r"\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE](?P<exponent>[+-]?[0-9]{1,4}))?", re.ASCII)
_RATIO = re.compile(r"\+?[0-9]+/[0-9]+", re.ASCII)
_NAMED = re.compile(r"variable ([0-9]{1,8}): (.*)", re.ASCII)
_QUANTIFIERS = frozenset("ear")


def from_sdimacs(text: str) -> ClauseFormula:
    """Read a formula.

    Parameters
    ----------
    text : str
        Lines end with any line break; words are separated by blanks or tabs. A clause may go over several lines.

    Raises
    ------
    FormulaError
        When the text is no formula; the message names the line.

    Examples
    --------
    >>> formula = from_sdimacs(chr(10).join(("p cnf 2 1", "e 1 0", "r 0.3 2 0", "1 2 0")))
    >>> formula.prefix[1].probability, formula.clauses
    (Fraction(3, 10), ((1, 2),))
    """
    return _Reader().read(text)


class _Reader:
    def __init__(self) -> None:
        self.header: tuple[int, int, int] | None = None
        self.prefix: list[Block] = []
        self.bound: set[int] = set()
        self.clauses: list[tuple[int, ...]] = []
        self.names: dict[int, str] = {}
        self.comments: list[str] = []
        self.pending: list[int] = []
        self.began = 0
        self.long: tuple[int, int] | None = None

    def read(self, text: str) -> ClauseFormula:
        for number, line in enumerate(re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff")), 1):
            words = line.split()
            if not words:
                continue
            kind = words[0]
            if kind == "c" or (kind[0] == "c" and self.header is None):
                self._comment(line.lstrip()[1:].strip())
            elif kind == "p":
                self._header(words, number)
            elif self.header is None:
                raise FormulaError(f"line {number}: {_quoted(line)} stands before the line 'p cnf VARIABLES CLAUSES'")
            elif kind in _QUANTIFIERS:
                self._block(words, number)
            else:
                self._literals(words, number)
        return self._finished()

    def _finished(self) -> ClauseFormula:
        if self.header is None:
            raise FormulaError("there is no line 'p cnf VARIABLES CLAUSES': this is no SDIMACS file")
        _, wanted, at = self.header
        if self.pending:
            raise FormulaError(f"line {self.began}: the clause has no final 0")
        if len(self.clauses) != wanted:
            hint = ""
            if self.long is not None:
                hint = f"; lines {self.long[0]} to {self.long[1]} were read as one clause: is a final 0 missing?"
            raise FormulaError(
                f"line {at}: the header says {counted(wanted, 'clause')}, the file holds {len(self.clauses):,}{hint}"
            )
        return ClauseFormula(tuple(self.prefix), tuple(self.clauses), self.names, tuple(self.comments))

    def _comment(self, text: str) -> None:
        found = _NAMED.fullmatch(text)
        if found:
            self.names[int(found[1])] = found[2]
        elif text:
            self.comments.append(text)

    def _header(self, words: list[str], number: int) -> None:
        if self.header is not None:
            raise FormulaError(f"line {number}: a second header; the first is in line {self.header[2]}")
        sizes = words[2:]
        if words[1:2] != ["cnf"] or len(sizes) != 2 or not all(size.isascii() and size.isdigit() for size in sizes):
            raise FormulaError(f"line {number}: {_quoted(' '.join(words))} is not 'p cnf VARIABLES CLAUSES'")
        if max(map(len, sizes)) > 12 or int(sizes[0]) > MOST_VARIABLES:
            raise FormulaError(f"line {number}: more than {MOST_VARIABLES:,} variables are not supported")
        self.header = int(sizes[0]), int(sizes[1]), number

    def _block(self, words: list[str], number: int) -> None:
        if self.pending or self.clauses:
            raise FormulaError(f"line {number}: a line of the prefix after the first clause")
        kind, rest = words[0], words[1:]
        probability = None
        if kind == RANDOM:
            if not rest:
                raise FormulaError(f"line {number}: the random block has no probability")
            probability = _probability(rest[0], number)
            rest = rest[1:]
        if not rest or rest[-1] != "0":
            raise FormulaError(f"line {number}: the line of the prefix has no final 0")
        variables = tuple(self._number(word, number) for word in rest[:-1])
        for variable in variables:
            if variable < 1:
                raise FormulaError(f"line {number}: {variable} is no variable: the prefix holds positive numbers")
            if variable in self.bound:
                raise FormulaError(f"line {number}: variable {variable} stands in the prefix twice")
            self.bound.add(variable)
        self.prefix.append(Block(kind, variables, probability))

    def _literals(self, words: list[str], number: int) -> None:
        for word in words:
            literal = self._number(word, number)
            if not self.pending:
                self.began = number
            if literal:
                if abs(literal) not in self.bound:
                    raise FormulaError(f"line {number}: variable {abs(literal)} has no line in the prefix")
                self.pending.append(literal)
                continue
            if self.pending and number > self.began and self.long is None:
                self.long = self.began, number
            self.clauses.append(tuple(self.pending))
            self.pending = []

    def _number(self, word: str, line: int) -> int:
        if not _INTEGER.fullmatch(word):
            raise FormulaError(f"line {line}: {_quoted(word)} is not a whole number")
        number = int(word)
        if self.header is not None and abs(number) > self.header[0]:
            raise FormulaError(f"line {line}: variable {abs(number)} is larger than the {self.header[0]} of the header")
        return number


def _quoted(text: str) -> str:
    return f"'{shown(text.strip(), 40)}'"


def _probability(word: str, line: int) -> Fraction:
    # The expression takes the square of a length.
    found = None if len(word) > 2 * MOST_DIGITS else _DECIMAL.fullmatch(word)
    if len(word) > 2 * MOST_DIGITS or not (found or _RATIO.fullmatch(word)):
        raise FormulaError(f"line {line}: {_quoted(word)} is no probability")
    if found and abs(int(found["exponent"] or 0)) > MOST_DIGITS:
        raise FormulaError(f"line {line}: the exponent of the probability {_quoted(word)} is too large")
    try:
        value = Fraction(word)
    except ZeroDivisionError:
        raise FormulaError(f"line {line}: {_quoted(word)} is no probability") from None
    if value > 1:
        raise FormulaError(f"line {line}: probability {_quoted(word)} does not lie between 0 and 1")
    return value


def rounded(formula: ClauseFormula, digits: int) -> ClauseFormula:
    """The same formula with every probability rounded to `digits` decimals, which some programs cut off unasked."""
    blocks = tuple(
        block
        if block.probability is None
        else Block(block.quantifier, block.variables, round(block.probability, digits))
        for block in formula.prefix
    )
    return ClauseFormula(blocks, formula.clauses, formula.names, formula.comments)


def to_sdimacs(formula: ClauseFormula, digits: int | None = None) -> str:
    """A formula as text, which `from_sdimacs` reads back as the same formula.

    Parameters
    ----------
    formula : ClauseFormula
    digits : int, optional
        Round probabilities to so many decimals.

    Examples
    --------
    >>> block = Block("r", (1,), Fraction(2, 3))
    >>> to_sdimacs(ClauseFormula((block,), ((1,),), {1: "rain"}), digits=6).splitlines()
    ['c variable 1: rain', 'p cnf 1 1', 'r 0.666667 1 0', '1 0']
    """
    if digits is not None:
        formula = rounded(formula, digits)
    return "\n".join(_lines(formula)) + "\n"


def _lines(formula: ClauseFormula) -> Iterator[str]:
    for comment in formula.comments:
        yield f"c {_one_line(comment)}"
    for variable, name in formula.names.items():
        yield f"c variable {variable}: {_one_line(name)}"
    yield f"p cnf {formula.n_variables} {len(formula.clauses)}"
    for block in formula.prefix:
        numbers = " ".join(map(str, (*block.variables, 0)))
        if block.probability is None:
            yield f"{block.quantifier} {numbers}"
        else:
            yield f"{block.quantifier} {_decimal(block.probability)} {numbers}"
    for clause in formula.clauses:
        yield " ".join(map(str, (*clause, 0)))


def _one_line(text: str) -> str:
    return " ".join(shown(text, 2000).split())


def _decimal(value: Fraction) -> str:
    """The decimal that is equal to a fraction, never with an exponent; the fraction itself where there is none."""
    rest, places = value.denominator, 0
    twos = (rest & -rest).bit_length() - 1
    rest >>= twos
    fives = 0
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    places = max(twos, fives)
    if rest != 1 or places > MOST_DIGITS:
        return f"{value.numerator}/{value.denominator}"
    digits = str(value.numerator * 10**places // value.denominator).rjust(places + 1, "0")
    return digits if not places else f"{digits[:-places]}.{digits[-places:]}"
