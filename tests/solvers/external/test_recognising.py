"""What a program's output says: by hand, and mutated."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from justicia.errors import InputError
from justicia.solvers.external.recognising import ANSWER, STATUSES, compiled, recognise
from justicia.solvers.external.running import Run

RESSAT = """ABC command line: "ssat -v problem.sdimacs".

[INFO] Input sdimacs file: problem.sdimacs
[INFO] Invoking reSSAT solver with the following configuration:
  > Counting engine: BDD
  > Tolerable gap between the derived upper and lower bounds: 0.000000
[INFO] # of UNSAT cubes: 1

==== Solving results ====

  > Satisfying probability: 7.200000e-01
  > Time =     0.02 sec
"""
ERSSAT = """[INFO] Invoking erSSAT solver with the following configuration:
  > Found a better solution , value = 0.300000
	-1 0
  > Time consumed =     0.01 sec
  > Found an optimizing assignment to exist vars:
	1 -4 0

==== Solving results ====

  > Satisfying probability: 6.000000e-01
"""
UNSATISFIABLE = """
==== Solving results ====

  > Best upper bound: 0.000000e+00
  > Best lower bound: 0.000000e+00
  > Time elapsed for best lower bound  =     0.00 sec
"""
REFUSED = """
==== Solving results ====

  > Best upper bound: 1.000000e+00
  > Best lower bound: 0.000000e+00
"""
SHARPSSAT = """Solving problem.sdimacs
cache miss rate 0%
number of nodes in trace 	0

# satisfying probability = 0.72

# END

time: 0.003872s

"""


def of(out: str, code: int | None = 0, err: str = "", ended: str = "itself", pattern: str | None = None):
    return recognise(Run(ended, code, out, err, 0.1), None if pattern is None else compiled(pattern))


@pytest.mark.parametrize(
    ("out", "value"),
    [
        (RESSAT, 0.72),
        (ERSSAT, 0.6),
        (UNSATISFIABLE, 0.0),
        (SHARPSSAT, 0.72),
        ("# satisfying probability = 3e-06\n", 3e-6),
        ("# satisfying probability = 1\n", 1.0),
        ("# satisfying probability = 0\n", 0.0),
        ("# satisfying probability = -0.0\n", 0.0),
        ("# satisfying probability =.5\r\n", 0.5),
        (SHARPSSAT + SHARPSSAT, 0.72),
        ("  > Satisfying probability: 1.000000e+00\n  > Satisfying probability: 1\n", 1.0),
    ],
)
def test_values_of_closing_lines(out, value):
    reply = of(out)
    assert (reply.status, reply.value) == (ANSWER, value)
    assert 0 < reply.rounding < 1e-6


def test_an_assignment_is_read():
    assert of(ERSSAT).assignment == {1: True, 4: False}
    assert of(ERSSAT.replace("1 -4 0", "1 -4")).assignment is None
    assert of(RESSAT).assignment is None


@pytest.mark.parametrize(
    ("out", "status"),
    [
        ("", "empty"),
        (" \n\n", "empty"),
        ("hello\n", "unreadable"),
        ("SATISFYING 0.5\n", "unreadable"),
        ("# satisfying probability = 0,72\n", "unreadable"),
        ("# satisfying probability = 0.72 0.3\n", "unreadable"),
        ("# satisfying probability = 0.72%\n", "unreadable"),
        ("# satisfying probability = nan\n", "unreadable"),
        ("# satisfying probability = inf\n", "unreadable"),
        ("# satisfying probability = 1/2\n", "unreadable"),
        ("# satisfying probability = ٠.٥\n", "unreadable"),
        ("# satisfying probability = 0x1p-1\n", "unreadable"),
        ("# satisfying probability = \n", "unreadable"),
        ("# satisfying probability = 0.7", "unreadable"),
        ("# satisfying probability = 1.5\n", "outside"),
        ("# satisfying probability = -0.1\n", "outside"),
        ("# satisfying probability = 7.2e1\n", "outside"),
        ("# satisfying probability = 1e9999\n", "outside"),
        ("# satisfying probability = 1.000001\n", "outside"),
        ("# satisfying probability = 0.3\n# satisfying probability = 0.4\n", "contradictory"),
        (SHARPSSAT + RESSAT.replace("7.2", "7.3"), "contradictory"),
        (REFUSED, "bounds"),
        (REFUSED.replace("1.000000e+00", "5.000000e-01").replace("0.000000e+00", "5.000000e-01"), "bounds"),
        (UNSATISFIABLE.replace("upper bound: 0.0", "upper bound: 0,0"), "unreadable"),
        (UNSATISFIABLE.replace("lower bound: 0.0", "lower bound: 2.0"), "unreadable"),
        ('[ERROR] Currently only support "{RE,ER}-2SSAT"!\n' + REFUSED, "failed"),
        ('[ERROR] Currently only support "{RE,ER}-2SSAT"!\n' + UNSATISFIABLE, "failed"),
        ("[ERROR] x\n" + RESSAT, "failed"),
        (RESSAT + "  > Best upper bound: 5.000000e-01\n  > Best lower bound: 1.000000e-01\n", "contradictory"),
    ],
)
def test_everything_else_is_no_answer(out, status):
    reply = of(out)
    assert (reply.status, reply.value) == (status, None)
    assert reply.message


def test_an_error_on_the_other_stream_counts():
    assert of(REFUSED, err='[ERROR] Currently only support "{RE,ER}-2SSAT"!\n').status == "failed"
    assert of("", err="out of memory\n").status == "unreadable"


@pytest.mark.parametrize(
    ("code", "ended", "status"),
    [
        (134, "itself", "failed"),
        (-6, "itself", "failed"),
        (-11, "itself", "failed"),
        (1, "itself", "failed"),
        (3, "itself", "failed"),
        (127, "itself", "failed"),
        (None, "time", "time"),
        (None, "flooded", "flooded"),
        (None, "disk", "flooded"),
        (None, "interrupted", "interrupted"),
        (0, "itself", ANSWER),
        (10, "itself", ANSWER),
        (20, "itself", ANSWER),
    ],
)
def test_a_value_counts_only_after_a_good_end(code, ended, status):
    reply = of(RESSAT, code, ended=ended)
    assert reply.status == status
    assert reply.status in STATUSES
    assert (reply.value is None) == (status != ANSWER)


def test_bounds_are_told_when_time_is_up():
    reply = of("  > Best upper bound: 8.000000e-01\n  > Best lower bound: 2.000000e-01\n", None, ended="time")
    assert (reply.status, reply.bounds) == ("time", (0.2, 0.8))


@pytest.mark.parametrize(
    ("printed", "rounding"),
    # By hand: half a unit of the last digit; of six digits where fewer are printed.
    [("0.7234567", 5e-8), ("7.200000e-01", 5e-8), ("0.72", 5e-7), ("0.012", 5e-8), ("0.5", 5e-7), ("0", 5e-7)],
)
def test_digits_leave_a_margin(printed, rounding):
    assert of(f"# satisfying probability = {printed}\n").rounding == pytest.approx(rounding)


def test_a_line_that_begins_anew_is_no_value():
    assert of("# satisfying probability\r = 0.72\n").status == "unreadable"
    assert of("# satisfying probability = 0.72\r\n").value == 0.72


def test_patterns():
    assert of("s value is 0.25 ok", pattern=r"value is (\S+)").value == 0.25
    assert of("p=0.25;q=0.5\n", pattern=r"(q)=(?P<value>[^;]*)").value == 0.5
    assert of("value 0.25\nvalue 0.26\n", pattern=r"value (\S+)").status == "contradictory"
    assert of("value 0.25\n# satisfying probability = 0.3\n", pattern=r"value (\S+)").value == 0.25
    assert of("value\n", pattern=r"value( \S+)?").status == "unreadable"
    assert of("# satisfying probability = 0.3\n", pattern=r"value (\S+)").status == "unreadable"
    assert of("", pattern=r"value (\S+)").status == "empty"
    assert of("value 1e-3\n", pattern=r"value (\S+)").value == 1e-3
    assert of("value 0,5\n", pattern=r"value (\S+)").status == "unreadable"


@pytest.mark.parametrize(("pattern", "says"), [("(", "regular expression"), (r"value \S+", "parentheses")])
def test_bad_patterns_are_refused(pattern, says):
    with pytest.raises(InputError, match=says):
        compiled(pattern)


# What a value line may look like, written down apart from the code that reads it.
_STATED = re.compile(
    r"^[ \t\f\v]*(?:>[ \t\f\v]*Satisfying probability[ \t\f\v]*:|#[ \t\f\v]*satisfying probability[ \t\f\v]*=)"
    r"[ \t\f\v]*([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)[ \t\f\v]*\r?$",
    re.ASCII,
)


def stated_values(out: str) -> set[Decimal]:
    lines = out.split("\n")[:-1]
    return {Decimal(match[1]) for match in map(_STATED.match, lines) if match}


def check_mutated(out: str, code: int) -> str:
    reply = of(out, code)
    assert reply.status in STATUSES
    if reply.status != ANSWER:
        assert reply.value is None
        return reply.status
    assert code in (0, 10, 20)
    values = stated_values(out)
    if values:
        assert len(values) == 1
        assert 0 <= values.pop() <= 1
        assert Decimal(str(reply.value)) in {Decimal(str(abs(float(value)))) for value in stated_values(out)}
    else:
        # Both bounds are 0, and say so.
        assert reply.value == 0.0
        assert re.search(r"Best upper bound\s*:\s*[+-]?0*\.?0*([eE]|\s)", out)
        assert re.search(r"Best lower bound\s*:\s*[+-]?0*\.?0*([eE]|\s)", out)
    return reply.status


@st.composite
def mutated_outputs(draw: st.DrawFn) -> str:
    """An output of a solver with pieces deleted, doubled, moved, replaced, or mixed with that of another one."""
    whole = [RESSAT, ERSSAT, UNSATISFIABLE, REFUSED, SHARPSSAT]
    text = draw(st.sampled_from(whole))
    for _ in range(draw(st.integers(1, 5))):
        way = draw(st.integers(0, 7))
        at = draw(st.integers(0, len(text)))
        to = min(len(text), at + draw(st.integers(0, 40)))
        piece = draw(st.sampled_from(["0", "1", "9", ".", ",", "-", "e", "e-", "+", " ", "\n", "\r", "\0", "é", "inf"]))
        if way == 0:
            text = text[:at] + text[to:]
        elif way == 1:
            text = text[:at] + piece + text[at:]
        elif way == 2:
            text = text[:at]
        elif way == 3:
            text = text[:to] + text[at:]
        elif way == 4:
            text = text[:at] + draw(st.text(max_size=5)) + text[to:]
        elif way == 5:
            other = draw(st.sampled_from(whole))
            text = text[:at] + other + text[at:]
        elif way == 6:
            lines = draw(st.permutations(text.split("\n")))
            text = "\n".join(lines)
        else:
            text = text.replace("e-01", draw(st.sampled_from(["e+01", "E-1", "e-400", "e99999", ""])))
    return text


@given(mutated_outputs(), st.sampled_from([0, 0, 0, 0, 0, 10, 1, 3, 134, -6, -11]))
@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
def test_mutated_outputs_give_a_status_and_never_another_value(out, code):
    check_mutated(out, code)


@pytest.mark.slow
@given(mutated_outputs(), st.sampled_from([0, 0, 0, 0, 0, 10, 1, 3, 134, -6, -11]))
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
def test_ten_thousand_mutated_outputs(out, code):
    check_mutated(out, code)


@given(mutated_outputs())
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_mutated_outputs_and_a_pattern(out):
    reply = of(out, pattern=r"probability\s*[:=]\s*(\S+)")
    assert reply.status in STATUSES
    assert (reply.value is None) == (reply.status != ANSWER)
    assert reply.value is None or 0 <= reply.value <= 1
