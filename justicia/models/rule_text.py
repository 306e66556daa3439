"""Rules as text: ``(sex = Male or age > 40.5) and ("capital gain" > 0)``.

A rule is clauses joined by "and", each of conditions joined by "or"; or terms joined by "or", each of conditions joined
by "and". Conditions are ``age > 40`` (also ``>=``, ``<``, ``<=``), ``sex = Male``, ``sex != Male``, ``job in (clerk,
sales)``, ``job not in (…)``, ``age is missing``, ``age is not missing``, and ``not`` before any of them. Names and
values stand in quotes when they hold blanks or signs, or are words of the rule itself; what follows # is a remark.
Around the rule, ``if … then ">50K" else "<=50K"`` says which class is given where it holds, and where it does not.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass

from justicia.errors import ModelFileError
from justicia.learners.rules import CNF, DNF, KEYWORDS, Condition, Rule, quoted
from justicia.words import shown

__all__ = ["RuleSource", "parse_rule", "rule_text"]

_TOKENS = re.compile(
    r"""(?P<blank>\s+|\#[^\n]*)
      | (?P<quoted>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<sign><=|>=|!=|==|[<>=(),])
      | (?P<word>[^\s()<>=!,"'\#]+)""",
    re.VERBOSE,
)
_COMPARISONS = ("<=", "<", ">", ">=")
_LONGEST = 1_000_000


@dataclass(frozen=True)
class RuleSource:
    """A rule and the classes that it gives.

    Attributes
    ----------
    rule : Rule
    holds, fails : str or None
        The class where the rule holds, and where it does not; None when the text does not say.
    """

    rule: Rule
    holds: str | None = None
    fails: str | None = None


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int

    @property
    def keyword(self) -> str:
        """The word of a rule that it is, or nothing."""
        folded = self.text.casefold()
        return folded if self.kind == "word" and folded in KEYWORDS else ""


def parse_rule(text: str) -> RuleSource:
    """Read a rule.

    Raises
    ------
    ModelFileError
        With line and column of what cannot be read.

    Examples
    --------
    >>> parse_rule('if (sex = Male or age > 40) and hours >= 35.5 then yes else no')
    RuleSource(rule=Rule(form='CNF', parts=(...)), holds='yes', fails='no')
    """
    return _Parser(text).source()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        if len(text) > _LONGEST:
            raise ModelFileError(f"the rule is {len(text):,} characters long, and {_LONGEST:,} are read")
        self._tokens = self._split()
        self._at = 0

    def _split(self) -> list[_Token]:
        tokens = []
        position = 0
        while position < len(self._text):
            found = _TOKENS.match(self._text, position)
            if found is None:
                what = "the quote is not closed" if self._text[position] in "\"'" else "this has no meaning in a rule"
                raise self._error(position, f"{what}: {shown(self._text[position : position + 20])}")
            if found.lastgroup != "blank":
                tokens.append(_Token(str(found.lastgroup), found[0], position))
            position = found.end()
        return [*tokens, _Token("end", "", len(self._text))]

    def _error(self, position: int, what: str) -> ModelFileError:
        before = self._text[:position]
        line = before.count("\n") + 1
        return ModelFileError(f"line {line}, column {position - (before.rfind(chr(10)) + 1) + 1}: {what}")

    def _unexpected(self, wanted: str) -> ModelFileError:
        token = self._tokens[self._at]
        found = "the rule ends" if token.kind == "end" else f"{shown(token.text)} stands"
        return self._error(token.position, f"{found} where {wanted} is expected")

    def _next(self, *wanted: str) -> str | None:
        """The next token, when it is one of these signs or keywords."""
        token = self._tokens[self._at]
        held = token.keyword or (token.text if token.kind == "sign" else "")
        if held in wanted:
            self._at += 1
            return held
        return None

    def _must(self, wanted: str) -> None:
        if self._next(wanted) is None:
            raise self._unexpected(wanted)

    def source(self) -> RuleSource:
        holds = fails = None
        if self._next("if"):
            rule = self._rule()
            self._must("then")
            holds = self._value("the class where the rule holds")
            self._must("else")
            fails = self._value("the class where the rule does not hold")
            if holds == fails:
                raise self._error(self._tokens[self._at - 1].position, "both classes are the same")
        else:
            rule = self._rule()
        if self._tokens[self._at].kind != "end":
            raise self._unexpected("the end, and, or or")
        return RuleSource(rule, holds, fails)

    def _rule(self) -> Rule:
        """Parts in parentheses or single conditions, joined by one word."""
        start = self._at
        parts: list[tuple[str | None, tuple[Condition, ...]]] = [self._part()]
        outer = None
        while (word := self._next("and", "or")) is not None:
            if outer not in (None, word):
                raise self._mixed(self._at - 1)
            outer = word
            parts.append(self._part())
        if len(parts) == 1 and parts[0][1] == _TRUE:
            return Rule(CNF, ())
        if len(parts) == 1 and parts[0][1] == _FALSE:
            return Rule(DNF, ())
        inner = {word for word, _ in parts if word is not None}
        if len(inner) > 1:
            raise self._error(
                self._tokens[start].position,
                'some parentheses hold "and" and others "or": a rule is clauses of "or" joined by "and", or terms of '
                '"and" joined by "or"',
            )
        within = next(iter(inner), None)
        if outer is None:
            # One part: a clause, or a term.
            form = DNF if within == "and" else CNF
        elif within == outer:
            # "(a and b) and c" is "a and b and c".
            parts = [(None, (condition,)) for _, part in parts for condition in part]
            form = CNF if outer == "and" else DNF
        else:
            form = CNF if outer == "and" else DNF
        return Rule(form, tuple(self._plain(part, form) for _, part in parts))

    def _plain(self, part: tuple[Condition, ...], form: str) -> tuple[Condition, ...]:
        """A part; the constants are one without conditions, or one whose condition always decides it."""
        if part in (_TRUE, _FALSE):
            neutral = _FALSE if form == CNF else _TRUE
            if part != neutral:
                raise self._error(0, f'"{"true" if part == _TRUE else "false"}" decides its part: leave the part out')
            return ()
        return part

    def _mixed(self, at: int) -> ModelFileError:
        return self._error(
            self._tokens[at].position, '"and" and "or" are mixed: put what belongs together into parentheses'
        )

    def _part(self) -> tuple[str | None, tuple[Condition, ...]]:
        """What stands in parentheses, or a condition without them; and the word that joins it."""
        if not self._next("("):
            if (constant := self._next("true", "false")) is not None:
                return None, _TRUE if constant == "true" else _FALSE
            return None, (self._condition(),)
        conditions = [self._condition()]
        joined = None
        while (word := self._next("and", "or")) is not None:
            if joined not in (None, word):
                raise self._mixed(self._at - 1)
            joined = word
            conditions.append(self._condition())
        self._must(")")
        return joined, tuple(conditions)

    def _condition(self) -> Condition:
        if self._next("not"):
            return self._condition().opposite
        token = self._tokens[self._at]
        if token.kind == "sign" and token.text == "(":
            raise self._error(
                token.position, 'parentheses stand two deep: a rule has two levels, "and" of "or" or "or" of "and"'
            )
        column = self._value("a column")
        if self._next("is"):
            negated = self._next("not") is not None
            self._must("missing")
            return Condition(column, "missing", negated=negated)
        if (test := self._next(*_COMPARISONS)) is not None:
            return Condition(column, test, number=self._number())
        if (test := self._next("=", "==", "!=")) is not None:
            return Condition(column, "in", values=(self._value("a value"),), negated=test == "!=")
        negated = self._next("not") is not None
        if self._next("in"):
            return Condition(column, "in", values=self._values(), negated=negated)
        raise self._unexpected("=, !=, <, <=, >, >=, in or is")

    def _values(self) -> tuple[str, ...]:
        self._must("(")
        values = [self._value("a value")]
        while self._next(","):
            values.append(self._value("a value"))
        self._must(")")
        return tuple(dict.fromkeys(values))

    def _value(self, what: str) -> str:
        token = self._tokens[self._at]
        if token.kind == "quoted":
            self._at += 1
            return self._unquoted(token)
        if what == "a value" and token.keyword in ("true", "false"):
            self._at += 1
            return token.text
        if token.kind != "word" or token.keyword:
            hint = " (words of the rule itself stand in quotes)" if token.keyword else ""
            raise self._unexpected(f"{what}{hint}")
        self._at += 1
        return token.text

    def _unquoted(self, token: _Token) -> str:
        try:
            if token.text[0] == '"':
                return str(json.loads(token.text))
            return str(ast.literal_eval(token.text))
        except (SyntaxError, ValueError):
            raise self._error(token.position, f"{shown(token.text)} has an escape that is none") from None

    def _number(self) -> float:
        token = self._tokens[self._at]
        try:
            number = float(token.text) if token.kind == "word" else float("nan")
        except ValueError:
            number = float("nan")
        if not abs(number) < float("inf"):
            raise self._unexpected("a number")
        self._at += 1
        return number


_TRUE = (Condition("", "missing", negated=True), Condition("", "missing"))
_FALSE = (Condition("", "missing"),)


def rule_text(source: RuleSource) -> str:
    """The rule as text that `parse_rule` reads back, one part a line."""
    rule = source.rule
    word = "and" if rule.form == CNF else "or"
    lines = rule.lines() or [rule.text()]
    body = f"\n{word} ".join(lines)
    if source.holds is None or source.fails is None:
        return f"{body}\n"
    return f"if {body}\nthen {quoted(source.holds)}\nelse {quoted(source.fails)}\n"
