"""Read networks in the interchange format BIF, as bnlearn's repository, GeNIe, pyAgrum and pgmpy write it.

::

    network people { }
    variable sex { type discrete [ 2 ] { Female, Male }; }
    variable degree { type discrete [ 2 ] { no, yes }; }
    probability ( sex ) { table 0.4, 0.6; }
    probability ( degree | sex ) { (Female) 0.7, 0.3; (Male) 0.8, 0.2; }

A table of a variable with parents that is written in one run names the variable's states slowest and the last parent's
fastest; rows that are not written are those of ``default``. Names may stand in quotes, and have to where they hold
spaces or brackets. Properties are passed over.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from justicia.errors import PopulationFileError
from justicia.population.networks.declared import Network, Variable, checked_network, checked_table
from justicia.population.networks.states import State, as_interval, check_states
from justicia.words import did_you_mean, shown

__all__ = ["MOST_NUMBERS", "network_from_bif"]

MOST_NUMBERS = 1 << 24
"""In one table."""
_TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"([^"\n]*)"|([{}()\[\],;|])|([^\s{}()\[\],;|"]+)|(\S)', re.DOTALL)
_ORDER_HINT = "a table of {} numbers is expected, one a state for each choice of the parents' states"


@dataclass(frozen=True)
class _Token:
    text: str
    line: int
    quoted: bool = False


@dataclass(frozen=True)
class _Block:
    """A probability block as it is written."""

    line: int
    parents: tuple[str, ...]
    rows: list[tuple[tuple[str, ...], list[float], int]]
    table: list[float] | None
    default: list[float] | None


def network_from_bif(text: str) -> Network:
    """Read and check the text of a BIF file.

    Raises
    ------
    PopulationFileError
        When it is no such text, or no network; the message names the line or the variable.
    """
    reader = _Reader(_tokens(text))
    states: dict[str, tuple[State, ...]] = {}
    blocks: dict[str, _Block] = {}
    while not reader.done:
        word = reader.take()
        if word.text == "network" and not word.quoted:
            reader.name_until_brace()
            reader.skip_block()
        elif word.text == "variable" and not word.quoted:
            name, listed = reader.variable()
            if name in states:
                reader.fail(f"declares variable {shown(repr(name))} twice", word)
            states[name] = check_states(name, listed)
        elif word.text == "probability" and not word.quoted:
            name, block = reader.probability(word.line)
            if name in blocks:
                reader.fail(f"gives the probabilities of {shown(repr(name))} twice", word)
            blocks[name] = block
        else:
            reader.fail(f"has {shown(repr(word.text))} where network, variable or probability is expected", word)
    if not states:
        raise PopulationFileError("the file declares no variable: it is no network in BIF")
    texts = {name: [_text(state) for state in held] for name, held in states.items()}
    for name in blocks:
        if name not in states:
            raise PopulationFileError(
                f"line {blocks[name].line} gives the probabilities of {shown(repr(name))}, which is no variable"
                f"{did_you_mean(name, states)}"
            )
    variables = []
    for name, held in states.items():
        if name not in blocks:
            raise PopulationFileError(f"variable {shown(repr(name))} has no probabilities")
        variables.append(Variable(name, held, blocks[name].parents, _table(name, texts, blocks[name])))
    return checked_network(variables)


def _state(text: str) -> State:
    held = as_interval(text)
    return text if held is None else held


def _text(state: State) -> str:
    return str(state)


def _tokens(text: str) -> list[_Token]:
    tokens, line, last = [], 1, 0
    for match in _TOKENS.finditer(text):
        line += text.count("\n", last, match.start())
        last = match.start()
        quoted, mark, word, strange = match.groups()
        if quoted is not None:
            tokens.append(_Token(quoted, line, True))
        elif mark or word:
            tokens.append(_Token(mark or word, line))
        elif strange:
            raise PopulationFileError(f"line {line} has a {shown(repr(strange))} that nothing ends")
    return tokens


class _Reader:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def done(self) -> bool:
        return self._at == len(self._tokens)

    def fail(self, problem: str, token: _Token | None = None) -> NoReturn:
        line = token.line if token is not None else self._tokens[-1].line if self._tokens else 1
        raise PopulationFileError(f"line {line} {problem}")

    def take(self) -> _Token:
        if self.done:
            self.fail("ends the file in the middle of a block")
        self._at += 1
        return self._tokens[self._at - 1]

    def _sees(self, mark: str) -> bool:
        if self.done:
            return False
        token = self._tokens[self._at]
        return token.text == mark and not token.quoted

    def _expect(self, mark: str) -> None:
        token = self.take()
        if token.text != mark or token.quoted:
            self.fail(f"has {shown(repr(token.text))} where {mark!r} is expected", token)

    def _name(self) -> str:
        token = self.take()
        if not token.quoted and token.text in "{}()[],;|":
            self.fail(f"has {shown(repr(token.text))} where a name is expected", token)
        return token.text

    def name_until_brace(self) -> None:
        while not self._sees("{"):
            self.take()

    def skip_block(self) -> None:
        self._expect("{")
        depth = 1
        while depth:
            token = self.take()
            if not token.quoted:
                depth += {"{": 1, "}": -1}.get(token.text, 0)

    def _skip_statement(self) -> None:
        while not self._sees(";"):
            self.take()
        self.take()

    def _names(self, end: str) -> list[str]:
        found = []
        while not self._sees(end):
            found.append(self._name())
            if self._sees(","):
                self.take()
        self.take()
        return found

    def _numbers(self) -> list[float]:
        found = []
        while not self._sees(";"):
            token = self.take()
            if token.text == "," and not token.quoted:
                continue
            try:
                number = float(token.text)
            except ValueError:
                number = math.nan
            if not math.isfinite(number):
                self.fail(f"has {shown(repr(token.text))} where a number is expected", token)
            found.append(number)
        self.take()
        return found

    def variable(self) -> tuple[str, list[State]]:
        name = self._name()
        self._expect("{")
        states: list[State] = []
        while not self._sees("}"):
            word = self.take()
            if word.text == "property":
                self._skip_statement()
            elif word.text == "type":
                kind = self._name()
                if kind != "discrete":
                    self.fail(f"has variable {shown(repr(name))} of type {shown(kind)}, and discrete is read", word)
                self._expect("[")
                count = self.take()
                self._expect("]")
                self._expect("{")
                states = [_state(text) for text in self._names("}")]
                self._expect(";")
                if count.text != str(len(states)):
                    self.fail(f"says {shown(count.text)} states of {shown(repr(name))}, and lists {len(states)}", count)
            else:
                self.fail(f"has {shown(repr(word.text))} in variable {shown(repr(name))}, where type is expected", word)
        self.take()
        return name, states

    def probability(self, line: int) -> tuple[str, _Block]:
        self._expect("(")
        name = self._name()
        parents: list[str] = []
        if self._sees("|"):
            self.take()
            parents = self._names(")")
        else:
            self._expect(")")
        if len(set(parents)) < len(parents):
            self.fail(f"names a parent of {shown(repr(name))} twice", self._tokens[self._at - 1])
        self._expect("{")
        rows: list[tuple[tuple[str, ...], list[float], int]] = []
        table: list[float] | None = None
        default: list[float] | None = None
        while not self._sees("}"):
            word = self.take()
            if word.text == "(" and not word.quoted:
                key = tuple(self._names(")"))
                rows.append((key, self._numbers(), word.line))
            elif word.text == "table":
                table = self._numbers()
            elif word.text == "default":
                default = self._numbers()
            elif word.text == "property":
                self._skip_statement()
            else:
                self.fail(f"has {shown(repr(word.text))} among the probabilities of {shown(repr(name))}", word)
        self.take()
        return name, _Block(line, tuple(parents), rows, table, default)


def _table(name: str, texts: dict[str, list[str]], block: _Block) -> np.ndarray:
    named = shown(repr(name))
    for parent in block.parents:
        if parent not in texts:
            raise PopulationFileError(
                f"line {block.line}: {named} has the parent {shown(repr(parent))}, which is no variable"
                f"{did_you_mean(parent, texts)}"
            )
    n_states = len(texts[name])
    shape = (*(len(texts[parent]) for parent in block.parents), n_states)
    if math.prod(shape) > MOST_NUMBERS:
        raise PopulationFileError(f"the table of {named} has more than {MOST_NUMBERS:,} numbers")
    found = np.full(shape, np.nan)
    if block.default is not None:
        if len(block.default) != n_states:
            raise PopulationFileError(f"the default of {named} has {len(block.default)} numbers for {n_states} states")
        found[...] = block.default
    if block.table is not None:
        if len(block.table) != math.prod(shape):
            expected = _ORDER_HINT.format(math.prod(shape))
            raise PopulationFileError(f"the table of {named} has {len(block.table)} numbers: {expected}")
        # The variable's own states are the slowest.
        found = np.moveaxis(np.array(block.table).reshape(n_states, *shape[:-1]), 0, -1).copy()
    for key, numbers, line in block.rows:
        if len(key) != len(block.parents):
            raise PopulationFileError(
                f"line {line} names {len(key)} states for {len(block.parents)} parents of {named}"
            )
        place = []
        for parent, state in zip(block.parents, key, strict=True):
            text = _text(_state(state))
            if text not in texts[parent]:
                raise PopulationFileError(
                    f"line {line}: {shown(repr(parent))} has no state {shown(repr(state))}"
                    f"{did_you_mean(state, texts[parent])}"
                )
            place.append(texts[parent].index(text))
        if len(numbers) != n_states:
            raise PopulationFileError(f"line {line} has {len(numbers)} numbers for {n_states} states of {named}")
        found[tuple(place)] = numbers
    if np.isnan(found).any():
        at = np.argwhere(np.isnan(found[..., 0]))[0]
        given = ", ".join(f"{parent} {texts[parent][one]}" for parent, one in zip(block.parents, at, strict=True))
        raise PopulationFileError(f"the probabilities of {named} are not given for {given or 'anything'}")
    return checked_table(name, texts[name], {parent: texts[parent] for parent in block.parents}, found)
