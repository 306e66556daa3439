"""What a program's output says: a value, or why there is none.

Everything that is not plainly an answer is none: a program that crashed after it had printed a value, two values, a
number outside of [0, 1], a line that was cut off, or bounds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from justicia.errors import InputError
from justicia.solvers.external.running import MOST_OUTPUT, MOST_WRITTEN
from justicia.words import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from justicia.solvers.external.running import Run

__all__ = ["ANSWER", "STATUSES", "Reply", "compiled", "recognise"]

ANSWER = "answer"
STATUSES = {
    ANSWER: "it printed a value",
    "bounds": "it printed bounds of the value, not the value",
    "time": "its time was up",
    "interrupted": "the user ended it",
    "failed": "it crashed, or ended with an exit code that says so",
    "empty": "it printed nothing",
    "unreadable": "no line says the value as it should",
    "outside": "the value does not lie between 0 and 1",
    "contradictory": "it says two things",
    "flooded": "it printed or wrote more than it may",
    "unsupported": "the formula is none of its kind, and it was not asked",
}
"""How a program may end."""

_SUCCESS = (0, 10, 20)
"""Exit codes of an answer; 10 and 20 are those of satisfiability solvers."""
_DIGITS = 6
"""Trailing zeros are left out by some programs: a value has so many digits at least."""
_LONGEST_LINE = 10_000

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?", re.ASCII)
_BLANKS = r"[ \t\f\v]*"
"""Within a line; a carriage return begins it anew."""
_VALUES = (
    # reSSAT and erSSAT; SharpSSAT.
    re.compile(rf"{_BLANKS}>{_BLANKS}Satisfying probability{_BLANKS}:(?P<value>.*)", re.ASCII),
    re.compile(rf"{_BLANKS}#{_BLANKS}satisfying probability{_BLANKS}=(?P<value>.*)", re.ASCII),
)
_BOUND = re.compile(rf"{_BLANKS}>{_BLANKS}Best (?P<end>upper|lower) bound{_BLANKS}:(?P<value>.*)", re.ASCII)
_ERROR = re.compile(r"\s*(?:\[ERROR\]|PARSE ERROR!|\*\* cmd error:)", re.ASCII)
_ASSIGNMENT = re.compile(r"\s*>\s*Found an optimizing assignment to exist vars\s*:\s*", re.ASCII)
_LITERALS = re.compile(r"\s*(?:-?[1-9][0-9]{0,8}\s+)*0\s*", re.ASCII)


@dataclass(frozen=True)
class Reply:
    """What a program says about a formula.

    Attributes
    ----------
    status : str
        One of `STATUSES`.
    value : float or None
        Of an answer.
    rounding : float
        How far the printed digits may be from the number that the program found.
    bounds : (float, float) or None
        What it says of the value's bounds; nobody vouches for them.
    message : str
        Why there is no answer, in words.
    assignment : dict of int to bool, or None
        Of variables under ∃, as far as it was printed.
    seconds : float
    """

    status: str
    value: float | None = None
    rounding: float = 0.0
    bounds: tuple[float, float] | None = None
    message: str = ""
    assignment: dict[int, bool] | None = None
    seconds: float = 0.0

    @property
    def answered(self) -> bool:
        """Whether there is a value."""
        return self.status == ANSWER


def compiled(pattern: str) -> re.Pattern[str]:
    r"""A user's pattern of the line with the value.

    Raises
    ------
    InputError
        When it is no regular expression, or has no group that holds the value.

    >>> compiled(r"probability is (\S+)").search("probability is 0.5")[1]
    '0.5'
    """
    try:
        made = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise InputError(f"pattern {shown(pattern)!r} is no regular expression: {error}") from error
    if not made.groups:
        raise InputError(
            rf"pattern {shown(pattern)!r} does not say where the value is: put it in parentheses, as in 'value (\S+)'"
        )
    return made


def recognise(run: Run, pattern: re.Pattern[str] | None = None) -> Reply:
    """What a program has said.

    Parameters
    ----------
    run : Run
    pattern : re.Pattern, optional
        Finds the value in a line, in its group `value` or its first one; without it, the closing lines of reSSAT,
        erSSAT and SharpSSAT are looked for.
    """
    ended = _ended(run)
    if ended is not None:
        return Reply(ended[0], message=ended[1], bounds=_sound(_bounds(run.out)), seconds=run.seconds)
    found = _of_pattern(run.out, pattern) if pattern is not None else _of_closing_lines(run)
    return Reply(found.status, found.value, found.rounding, found.bounds, found.message, found.assignment, run.seconds)


def _ended(run: Run) -> tuple[str, str] | None:
    """Status and words of an end that leaves no answer, whatever was printed."""
    if run.ended == "time":
        return "time", "its time was up, and it was killed"
    if run.ended == "interrupted":
        return "interrupted", "it was interrupted"
    if run.ended == "flooded":
        return "flooded", f"it printed more than {MOST_OUTPUT // 2**20:,} MiB, and was killed"
    if run.ended == "disk":
        return "flooded", f"it wrote more than {MOST_WRITTEN // 2**20:,} MiB, and was killed"
    if run.code not in _SUCCESS:
        code = run.code or 0
        how = f"signal {-code} ended it" if code < 0 else f"it ended with exit code {code}"
        return "failed", how + _last_words(run)
    return None


def _last_words(run: Run) -> str:
    """The last line that a program printed, of errors first."""
    for text in (run.err, run.out):
        lines = [line for line in text[-_LONGEST_LINE:].splitlines() if line.strip()]
        if lines:
            return f": {shown(lines[-1].strip(), 200)}"
    return ""


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Lines, and whether each has an end."""
    *whole, last = text.split("\n")
    for line in whole:
        yield line.removesuffix("\r")[:_LONGEST_LINE], True
    if last:
        yield last[:_LONGEST_LINE], False


def _of_pattern(text: str, pattern: re.Pattern[str]) -> Reply:
    name = "value" if "value" in pattern.groupindex else 1
    words = []
    for line, _ in _lines(text):
        words += [match[name] for match in pattern.finditer(line)]
    if not text.strip():
        return Reply("empty", message="it printed nothing")
    if not words:
        return Reply("unreadable", message=f"no line has the pattern {shown(pattern.pattern)!r}")
    return _value(["" if word is None else word for word in words])


def _of_closing_lines(run: Run) -> Reply:
    if not run.out.strip() and not run.err.strip():
        return Reply("empty", message="it printed nothing")
    words, assignment, expected = [], None, False
    for line, whole in _lines(run.out):
        if expected:
            expected = False
            if whole and _LITERALS.fullmatch(line):
                assignment = {abs(literal): literal > 0 for literal in map(int, line.split()) if literal}
        expected = bool(_ASSIGNMENT.fullmatch(line))
        for kind in _VALUES:
            match = kind.match(line)
            if match is not None and not whole:
                return Reply("unreadable", message=f"the line with the value is cut off: {shown(line.strip())}")
            words += [] if match is None else [match["value"]]
    bounds = _bounds(run.out)
    for line, _ in (*_lines(run.err), *_lines(run.out)):
        if _ERROR.match(line):
            return Reply("failed", message=f"it refused the formula: {shown(line.strip(), 200)}")
    if not words:
        if bounds == (0.0, 0.0) and set(_ends(run.out)) == {"lower", "upper"}:
            # Of a formula that nothing satisfies, reSSAT prints both bounds and no value.
            return Reply(ANSWER, 0.0, 0.5 * 10.0**-_DIGITS, bounds)
        if isinstance(bounds, tuple):
            says = " to ".join(f"{end:g}" for end in bounds)
            return Reply("bounds", bounds=bounds, message=f"it printed bounds, {says}, and no value")
        return Reply("unreadable", message="no line says the value" + (_last_words(run) if run.err.strip() else ""))
    reply = _value(words)
    if not reply.answered or reply.value is None or bounds is None:
        return Reply(reply.status, reply.value, reply.rounding, None, reply.message, assignment)
    slack = 2 * reply.rounding
    if isinstance(bounds, str) or not bounds[0] - slack <= reply.value <= bounds[1] + slack:
        return Reply("contradictory", message="it printed a value, and bounds that do not hold it")
    return Reply(ANSWER, reply.value, reply.rounding, bounds, "", assignment)


def _sound(bounds: tuple[float, float] | str | None) -> tuple[float, float] | None:
    return bounds if isinstance(bounds, tuple) else None


def _ends(text: str) -> dict[str, float | None]:
    """The last lower and the last upper bound that a program printed; None for one that is no number in [0, 1]."""
    held: dict[str, float | None] = {}
    for line, whole in _lines(text):
        match = _BOUND.match(line)
        if match is not None:
            number = match["value"].strip()
            sound = whole and _NUMBER.fullmatch(number) and 0 <= Decimal(number) <= 1
            held[match["end"]] = float(number) if sound else None
    return held


def _bounds(text: str) -> tuple[float, float] | str | None:
    """The last bounds that a program printed; "unreadable" when they are none, None when there are no such lines."""
    held = _ends(text)
    if not held:
        return None
    low, high = held.get("lower", 0.0), held.get("upper", 1.0)
    return (low, high) if low is not None and high is not None and low <= high else "unreadable"


def _value(words: list[str]) -> Reply:
    """The value that all of the words say."""
    words = [word.strip() for word in words]
    for word in words:
        if not _NUMBER.fullmatch(word):
            return Reply("unreadable", message=f"{shown(word)!r} is no decimal number")
    numbers = [Decimal(word) for word in words]
    for number, word in zip(numbers, words, strict=True):
        if not 0 <= number <= 1:
            return Reply("outside", message=f"the value {shown(word)} does not lie between 0 and 1")
    if len(set(numbers)) > 1:
        return Reply("contradictory", message=f"it printed several values: {shown(', '.join(words), 100)}")
    return Reply(ANSWER, abs(float(numbers[0])), max(map(_rounding, numbers)))


def _rounding(number: Decimal) -> float:
    """Half a unit of the last digit, of six at least."""
    _, digits, exponent = number.as_tuple()
    if not number:
        return 0.5 * 10.0**-_DIGITS
    printed = int(exponent)
    # Below 1 the digits are closer together.
    least = min(number.adjusted(), -1) - _DIGITS + 1
    return 0.5 * 10.0 ** min(printed, least) if len(digits) else 0.0
