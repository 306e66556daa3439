"""The reader and the writer of SDIMACS."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from justicia.errors import FormulaError
from justicia.solvers import solve_clauses
from justicia.ssat import EXISTS, FORALL, RANDOM, Block, ClauseFormula, from_sdimacs, rounded, to_sdimacs
from tests.formula_cases import random_formula

WHOLE = """c asked: the rate
c variable 1: sex = "Male", or so
p cnf 4 3
e 1 0
r 0.1 2 3 0
a 4 0
1 -2 0
0
-3 4 1 0
"""


def test_reads_what_is_there():
    formula = from_sdimacs(WHOLE)
    assert formula.prefix == (Block(EXISTS, (1,)), Block(RANDOM, (2, 3), Fraction(1, 10)), Block(FORALL, (4,)))
    assert formula.clauses == ((1, -2), (), (-3, 4, 1))
    assert formula.names == {1: 'sex = "Male", or so'}
    assert formula.comments == ("asked: the rate",)
    assert to_sdimacs(formula) == WHOLE


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace(" ", "\t  "),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\n\n") + "\n  \n",
        lambda text: text.replace("1 -2 0", "1\n-2\n0"),
        lambda text: text.replace("1 -2 0\n0\n", "1 -2 0 0\n"),
        lambda text: text.replace("0.1", ".1"),
        lambda text: text.replace("0.1", "1e-1"),
        lambda text: text.replace("0.1", "1/10"),
        lambda text: text.removesuffix("\n"),
        lambda text: text.replace("-3 4 1 0", "-3 4 1 0\nc a comment between\nc"),
    ],
)
def test_harmless_differences_are_harmless(change):
    formula, changed = from_sdimacs(WHOLE), from_sdimacs(change(WHOLE))
    assert (changed.prefix, changed.clauses) == (formula.prefix, formula.clauses)


ERRORS = [
    ("", "no line 'p cnf"),
    ("c only comments\n", "no line 'p cnf"),
    ("1 0\np cnf 1 1\n", "line 1: '1 0' stands before the line"),
    ("p cnf 1\n", "line 1: 'p cnf 1' is not 'p cnf"),
    ("p dnf 1 1\ne 1 0\n1 0\n", "line 1: 'p dnf 1 1' is not"),
    ("p cnf x 1\n", "line 1: 'p cnf x 1' is not"),
    ("p cnf -1 1\n", "line 1: 'p cnf -1 1' is not"),
    ("p cnf 1 0\np cnf 1 0\n", "line 2: a second header; the first is in line 1"),
    ("p cnf 99999999999 0\n", "line 1: more than 20,000,000 variables"),
    ("p cnf 1 1\ne 1 0\n1\n", "line 3: the clause has no final 0"),
    ("p cnf 2 2\ne 1 2 0\n1 2\n-1 0\n", "lines 3 to 4 were read as one clause"),
    ("p cnf 2 2\ne 1 2 0\n1 2 0\n", "line 1: the header says 2 clauses, the file holds 1"),
    ("p cnf 1 0\ne 1 0\n1 0\n", "line 1: the header says 0 clauses, the file holds 1"),
    ("p cnf 2 1\ne 1 0\n1 2 0\n", "line 3: variable 2 has no line in the prefix"),
    ("p cnf 2 1\ne 1 2 0\n1 3 0\n", "line 3: variable 3 is larger than the 2 of the header"),
    ("p cnf 2 1\ne 1 2\n1 2 0\n", "line 2: the line of the prefix has no final 0"),
    ("p cnf 2 1\ne 1 2 0\na 2 0\n1 2 0\n", "line 3: variable 2 stands in the prefix twice"),
    ("p cnf 2 1\ne -1 2 0\n1 2 0\n", "line 2: -1 is no variable"),
    ("p cnf 2 1\ne 0 2 0\n1 2 0\n", "line 2: 0 is no variable"),
    ("p cnf 2 1\n1 0\ne 1 0\n", "line 2: variable 1 has no line in the prefix"),
    ("p cnf 2 1\ne 1 0\n1 0\nr 0.5 2 0\n", "line 4: a line of the prefix after the first clause"),
    ("p cnf 1 0\nr\n", "line 2: the random block has no probability"),
    ("p cnf 1 0\nr 1.5 1 0\n", "line 2: probability '1.5' does not lie between 0 and 1"),
    ("p cnf 1 0\nr -0.5 1 0\n", "line 2: '-0.5' is no probability"),
    ("p cnf 1 0\nr nan 1 0\n", "line 2: 'nan' is no probability"),
    ("p cnf 1 0\nr inf 1 0\n", "line 2: 'inf' is no probability"),
    ("p cnf 1 0\nr 1/0 1 0\n", "line 2: '1/0' is no probability"),
    ("p cnf 1 0\nr 1e-9999 1 0\n", "line 2: the exponent of the probability '1e-9999' is too large"),
    ("p cnf 1 0\nr 1e-99999999 1 0\n", "line 2: '1e-99999999' is no probability"),
    (f"p cnf 1 0\nr 0.{'3' * 5000} 1 0\n", "line 2: '0.3333"),
    ("p cnf 1 1\ne 1 0\n1.5 0\n", "line 3: '1.5' is not a whole number"),
    ("p cnf 1 1\ne 1 0\nx 0\n", "line 3: 'x' is not a whole number"),
    ("p cnf 1 1\ne ١ 0\n1 0\n", "is not a whole number"),
    ("p cnf 1 1\ne 1 0\n\x00\x01 0\n", r"line 3: '\x00\x01' is not a whole number"),
    (f"p cnf 1 1\ne 1 0\n{'9' * 10_000} 0\n", "is not a whole number"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_errors_name_line_and_fault(text, message):
    with pytest.raises(FormulaError, match=re.escape(message)) as caught:
        from_sdimacs(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("prefix", "clauses", "message"),
    [
        ((Block("x", (1,)),), (), "'x' is no quantifier"),
        ((Block(EXISTS, (0,)),), (), "0 is no variable"),
        ((Block(EXISTS, (1, 1)),), (), "variable 1 stands in the prefix twice"),
        ((Block(EXISTS, (1,)),), ((1,), (2,)), "variable 2 of clause 2 is not in the prefix"),
        ((Block(RANDOM, (1,)),), (), "probability None does not lie between 0 and 1"),
        ((Block(RANDOM, (1,), Fraction(3, 2)),), (), "probability 3/2 does not lie"),
        ((Block(EXISTS, (1,), Fraction(1, 2)),), (), "a block under e has no probability"),
    ],
)
def test_malformed_formulas_are_refused(prefix, clauses, message):
    with pytest.raises(FormulaError, match=re.escape(message)):
        ClauseFormula(prefix, clauses)


def test_round_trip_is_exact():
    for seed in range(300):
        formula = random_formula(seed)
        assert from_sdimacs(to_sdimacs(formula)) == formula


@given(
    st.fractions(0, 1)
    | st.floats(0, 1).map(Fraction)
    | st.decimals(0, 1, allow_nan=False).map(Fraction)
    | st.sampled_from([Fraction(5e-324), Fraction(0.1), Fraction(1, 3), Fraction(2**-53)])
)
def test_every_probability_comes_back_exactly(probability):
    formula = ClauseFormula((Block(RANDOM, (1,), probability),), ((1,),))
    text = to_sdimacs(formula)
    assert from_sdimacs(text) == formula
    # Other programs do not read exponents.
    assert "e" not in text.split()[5]


@given(st.fractions(0, 1), st.integers(1, 12))
def test_rounded_probabilities_have_that_many_decimals(probability, digits):
    formula = ClauseFormula((Block(RANDOM, (1,), probability),), ((1,),))
    written = to_sdimacs(formula, digits).split()[5]
    assert re.fullmatch(rf"[01](\.[0-9]{{1,{digits}}})?", written)
    assert abs(Fraction(written) - probability) <= Fraction(1, 2 * 10**digits)
    assert rounded(formula, digits).prefix[0].probability == Fraction(written)


def test_names_stay_on_one_line():
    formula = ClauseFormula((Block(EXISTS, (1,)),), ((1,),), {1: "a\nb\r c\tp cnf 1 1"}, ("x\n1 0",))
    again = from_sdimacs(to_sdimacs(formula))
    assert again.clauses == formula.clauses
    assert "\n" not in again.names[1]


def _mutated(text, changes):
    data = bytearray(text.encode())
    for kind, place, piece in changes:
        at = place % (len(data) + 1)
        if kind == 0:
            data[at:at] = piece
        elif kind == 1:
            del data[at : at + len(piece)]
        elif kind == 2:
            data[at : at + len(piece)] = piece
        else:
            data[at:at] = data[at : at + 40]
    return data.decode("utf-8", errors="replace")


PIECES = st.sampled_from(
    [b"0", b" 0\n", b"-", b"\n", b"\r", b"\t", b" ", b"p cnf 3 3\n", b"e 1 0\n", b"r 0.5 2 0\n", b"a 3 0\n",
     b"99999999", b"1e-5", b"0.", b"/", b"c", b"\x00", b"\xff", b"\xd9\xa1", b"nan", b"+1", b"2 -3 0\n"]
) | st.binary(min_size=1, max_size=4)  # fmt: skip
CHANGES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2000), PIECES), min_size=1, max_size=6)


def _read(text):
    """The formula, or the one line that says why there is none."""
    try:
        return from_sdimacs(text)
    except FormulaError as error:
        return str(error)


def _value_or_one_error(text):
    formula = _read(text)
    if isinstance(formula, str):
        assert "\n" not in formula
        return
    solution = solve_clauses(formula, time_limit=5.0)
    assert 0 <= solution.value.lo <= solution.value.hi <= 1
    assert from_sdimacs(to_sdimacs(formula)).clauses == formula.clauses


@given(st.integers(0, 500), CHANGES)
@settings(max_examples=150, deadline=None)
def test_changed_files_give_a_value_or_one_error(seed, changes):
    _value_or_one_error(_mutated(to_sdimacs(random_formula(seed, 8)), changes))


@pytest.mark.slow
@given(st.integers(0, 5000), CHANGES)
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
def test_ten_thousand_changed_files_give_a_value_or_one_error(seed, changes):
    _value_or_one_error(_mutated(to_sdimacs(random_formula(seed, 8)), changes))


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_gives_a_value_or_one_error(text):
    _value_or_one_error(text)


def test_probabilities_of_any_length_are_refused_at_once():
    """A word of 50,000 digits that ends in something else took the square of its length."""
    with pytest.raises(FormulaError, match=r"line 2: .* is no probability"):
        from_sdimacs(f"p cnf 2 1\nr {'9' * 300_000}x 1 0\ne 2 0\n1 2 0\n")
