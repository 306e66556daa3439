"""Formulas in clauses against enumeration, and values found by hand."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from justicia.solvers import solve_clauses
from justicia.solvers.clause_cases import Cases
from justicia.solvers.clause_search import ClauseSearch
from justicia.solvers.clause_tables import MAX, SUM, count_defined, definitions_of, tables_of
from justicia.solvers.weighted_clauses import weighted
from justicia.ssat import EXISTS, RANDOM, Block, ClauseFormula, from_sdimacs
from tests.formula_cases import by_enumeration, random_3cnf, random_formula


def check(formula, solution):
    value = by_enumeration(formula)
    assert solution.stopped is None
    assert solution.value.exact
    assert float(solution.value) == pytest.approx(value, abs=1e-12)
    quantifier, variables = formula.outermost
    if quantifier in ("", RANDOM):
        assert solution.assignment is None
    else:
        assert set(solution.assignment) == set(variables)
        assert by_enumeration(formula, solution.assignment) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("part", range(10))
def test_value_and_assignment_are_those_of_enumeration(part):
    for seed in range(110 * part, 110 * (part + 1)):
        formula = random_formula(seed)
        check(formula, solve_clauses(formula))


def test_random_formulas_are_not_all_trivial():
    values = [by_enumeration(random_formula(seed)) for seed in range(300)]
    assert sum(0 < value < 1 for value in values) > 70
    assert sum(len(random_formula(seed).prefix) > 4 for seed in range(300)) > 40


BY_HAND = {
    "innermost exists": ("r 0.3 1 0|r 0.6 2 0|e 3 0|1 3 0|2 -3 0", 3, 0.72, None),
    "choice first": ("e 1 0|r 0.3 2 0|r 0.6 3 0|1 2 0|-1 3 0", 3, 0.6, {1: True}),
    "chance alone": ("r 0.3 1 0|r 0.6 2 0|r 0.5 3 0|1 2 0|-1 3 0", 3, 0.57, None),
    "a defined variable": (
        "e 1 0|r 0.3 2 0|r 0.6 3 0|e 4 0|-4 2 3 0|4 -2 0|4 -3 0|-1 4 0|1 2 0",
        4, 0.72, {1: True},
    ),
    "two choices": ("e 1 2 0|r 0.5 3 4 0|1 3 0|2 4 0|-2 -4 0", 4, 0.5, {1: True}),
    "an empty clause": ("r 0.5 1 0|0", 1, 0.0, None),
    "an empty clause alone": ("0", 0, 0.0, None),
    "no clauses": ("r 0.5 1 0", 1, 1.0, None),
    "nothing at all": ("", 0, 1.0, None),
    "contradictory units": ("r 0.5 1 0|1 0|-1 0", 1, 0.0, None),
    "for all": ("a 1 0|r 0.3 2 0|1 2 0", 2, 0.3, {1: False}),
    "choice last": ("r 0.25 1 0|e 2 3 0|1 -2 0|-1 2 3 0|-1 0", 3, 0.75, None),
    "certain variables": ("r 1 1 0|r 0.0 2 0|r 0.5 3 0|-1 3 0|1 2 0", 3, 0.5, None),
    "a clause under for all alone": ("a 1 0|r 0.5 2 0|1 0", 2, 0.0, {1: False}),
    "a literal under for all that is furthest in": ("r 0.5 1 0|a 2 0|1 2 0", 2, 0.5, None),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_values_found_by_hand(name):
    lines, n_variables, value, assignment = BY_HAND[name]
    held = [line for line in lines.split("|") if line]
    n_clauses = sum(line[0] not in "ear" for line in held)
    formula = from_sdimacs("\n".join([f"p cnf {n_variables} {n_clauses}", *held]))
    solution = solve_clauses(formula)
    assert float(solution.value) == pytest.approx(value, abs=1e-15)
    if assignment is not None:
        assert {one: solution.assignment[one] for one in assignment} == assignment
    assert by_enumeration(formula) == pytest.approx(value, abs=1e-15)


def _classifier(f, i, j):
    """(not F or I) and (F or J), independent of each other."""
    prefix = tuple(Block(RANDOM, (v,), Fraction(p)) for v, p in zip((1, 2, 3), (f, i, j), strict=True))
    return ClauseFormula(prefix, ((-1, 2), (1, 3)))


def test_worked_example_of_the_classifier():
    everybody, old, young = (
        float(solve_clauses(_classifier(*marginals)).value)
        for marginals in ((".41", ".93", ".09"), (".01", ".99", ".18"), (".82", ".88", ".01"))
    )
    assert everybody == pytest.approx(0.4344, abs=1e-12)
    assert old == pytest.approx(0.1881, abs=1e-12)
    assert young == pytest.approx(0.7234, abs=1e-12)
    assert round(old / young, 3) == 0.26
    assert round(young - old, 3) == 0.535


def test_worked_example_with_a_choice():
    """(not F or I or S) and (F or J): largest with S, and the complement by hand-written clauses."""
    chance = tuple(Block(RANDOM, (v,), Fraction(p)) for v, p in ((1, ".41"), (2, ".93"), (3, ".09")))
    solution = solve_clauses(ClauseFormula((Block(EXISTS, (4,)), *chance), ((-1, 2, 4), (1, 3))))
    assert float(solution.value) == pytest.approx(0.4631, abs=1e-12)
    assert solution.assignment == {4: True}
    # T: the first clause is false.
    opposite = ((-5, 1), (-5, -2), (-5, -4), (5, -1, 2, 4), (5, -1), (5, -3))
    dual = solve_clauses(ClauseFormula((Block(EXISTS, (4,)), *chance, Block(EXISTS, (5,))), opposite))
    assert float(dual.value) == pytest.approx(0.5656, abs=1e-12)
    assert dual.assignment == {4: False}


def test_worked_example_of_the_threshold():
    """P + Q + R - S >= 2: with R, one of P and Q at least and not S unless both; else both and not S."""
    chance = tuple(Block(RANDOM, (v,), Fraction(p)) for v, p in ((1, ".4"), (2, ".5"), (4, ".3")))
    clauses = ((1, 2), (1, 3), (2, 3), (1, -4), (2, -4), (3, -4))
    largest = solve_clauses(ClauseFormula((Block(EXISTS, (3,)), *chance), clauses))
    smallest = solve_clauses(ClauseFormula((Block("a", (3,)), *chance), clauses))
    assert float(largest.value) == pytest.approx(0.55, abs=1e-12)
    assert largest.assignment == {3: True}
    assert float(smallest.value) == pytest.approx(0.14, abs=1e-12)
    assert smallest.assignment == {3: False}


def with_definitions(formula):
    tables = tables_of(formula)
    count_defined(tables.kind, tables.level, definitions_of(tables))
    return tables


def _defined(formula):
    tables = with_definitions(formula)
    return {int(number) for number, kind in zip(tables.numbers, tables.kind, strict=True) if kind == SUM}


def test_defined_variables_are_found_and_others_are_not():
    chance, inner = Block(RANDOM, (1, 2), Fraction(1, 2)), Block(EXISTS, (3, 4))
    both = ((-3, 1), (-3, 2), (3, -1, -2))
    # 4 is the exclusive or of 3 and 1.
    other = ((-4, 3, 1), (-4, -3, -1), (4, -3, 1), (4, 3, -1))
    assert _defined(ClauseFormula((chance, inner), (*both, *other))) == {1, 2, 3, 4}
    assert _defined(ClauseFormula((chance, inner), (*both, *other[:3]))) == {1, 2, 3}
    assert _defined(ClauseFormula((chance, inner), (both[0], (2, 1), *other))) == {1, 2}
    # A unit clause defines as well.
    assert _defined(ClauseFormula((chance, inner), ((3,), (-3, 4, 1)))) == {1, 3}


def test_variables_under_the_outermost_exists_stay_choices():
    formula = ClauseFormula((Block(EXISTS, (1, 2)), Block(RANDOM, (3,), Fraction(1, 2))), ((-1, 2), (1, -2), (1, 3)))
    tables = with_definitions(formula)
    assert tables.kind.tolist() == [MAX, MAX, SUM]


def test_one_variable_chosen_by_many_selectors_is_defined():
    """A multiplexer of 12 random bits behind a chain, as encodings of populations have it."""
    n = 12
    chain, bits, out = list(range(1, n)), list(range(n, 2 * n)), 2 * n
    clauses = [(-first, second) for first, second in pairwise(chain)]
    for place, bit in enumerate(bits):
        guard = [*([chain[place - 1]] if place else []), *([-chain[place]] if place < n - 1 else [])]
        clauses += [(*guard, -bit, out), (*guard, bit, -out)]
    prefix = (
        Block(RANDOM, tuple(chain), Fraction(1, 2)), Block(RANDOM, tuple(bits), Fraction(1, 3)), Block(EXISTS, (out,)),
    )  # fmt: skip
    formula = ClauseFormula(prefix, (*clauses, (out,)))
    assert out in _defined(formula)
    # The chain is monotone with probability n / 2^(n - 1), and then one bit of probability 1/3 is read.
    assert float(solve_clauses(formula).value) == pytest.approx(n / 2 ** (n - 1) / 3, abs=1e-15)


def test_time_limit_gives_bounds_that_hold():
    formula = random_3cnf(60, 150, 0)
    exact = float(solve_clauses(formula).value)
    stopped = solve_clauses(formula, time_limit=0.0)
    assert stopped.stopped == "time"
    assert stopped.assignment is None
    assert 0 <= stopped.value.lo <= exact <= stopped.value.hi <= 1
    assert stopped.value.lo < stopped.value.hi


@pytest.mark.parametrize("first", ["e", "a"])
def test_bounds_hold_wherever_a_search_is_stopped(first, monkeypatch):
    """Searches of formulas with choices outside and inside, stopped after a few nodes."""
    monkeypatch.setattr("justicia.solvers.weighted_search._FIRST_NODES", 5)
    met = 0
    for seed in range(60):
        rest = random_3cnf(18, 36, seed)
        prefix = (Block(first, (1, 2, 3)), *rest.prefix[3:15], Block(EXISTS, (16, 17, 18)))
        formula = ClauseFormula(prefix, rest.clauses)
        stopped = solve_clauses(formula, time_limit=0.0)
        value = by_enumeration(formula)
        met += stopped.stopped == "time"
        assert stopped.value.lo - 1e-12 <= value <= stopped.value.hi + 1e-12
    assert met > 40


@pytest.mark.parametrize("first", ["e", "a"])
@pytest.mark.parametrize("together", [True, False])
def test_assignments_of_a_stopped_search_reach_the_bound(first, together, monkeypatch):
    """The best choices known so far: with them the value is at least the lower bound, or at most the upper one."""
    if not together:
        monkeypatch.setattr("justicia.solvers.clause_search.cases_of", lambda *_: None)
    met = 0
    for seed in range(300):
        monkeypatch.setattr("justicia.solvers.weighted_search._FIRST_NODES", 1 + seed % 30)
        rest = random_3cnf(14, 14 + seed % 12, seed)
        prefix = (Block(first, (1, 2, 3, 4, 5)), *rest.prefix[5:12], Block(EXISTS, (13, 14)))
        # Parts of their own, too.
        clauses = tuple(clause for clause in rest.clauses if len({variable % 2 for variable in map(abs, clause)}) == 1)
        formula = ClauseFormula(prefix, clauses if seed % 3 else rest.clauses)
        stopped = solve_clauses(formula, time_limit=0.0)
        if stopped.stopped is None or stopped.assignment is None:
            continue
        met += 1
        assert set(stopped.assignment) == {1, 2, 3, 4, 5}
        value = by_enumeration(formula, stopped.assignment)
        if first == "e":
            assert value >= stopped.value.lo - 1e-12 > 0
        else:
            assert value <= stopped.value.hi + 1e-12 < 1
    assert met > (20 if together else 10)


def test_search_goes_on_after_a_stop():
    formula = random_3cnf(60, 150, 1)
    search = ClauseSearch(formula)
    assert not search.value({}, time.perf_counter()).exact
    assert search.stopped == "time"
    assert float(search.value({})) == pytest.approx(float(solve_clauses(formula).value), rel=1e-12)
    assert search.stopped is None


def test_small_arrays_grow(monkeypatch):
    formula = random_3cnf(40, 100, 3)
    value = float(solve_clauses(formula).value)
    monkeypatch.setattr("justicia.solvers.weighted_search._FIRST_CACHE", 16)
    assert float(solve_clauses(formula).value) == pytest.approx(value, rel=1e-12)
    monkeypatch.setattr("justicia.solvers.weighted_search._MOST_CACHE", 64)
    assert float(solve_clauses(formula).value) == pytest.approx(value, rel=1e-12)


def test_long_chain_needs_no_deep_recursion():
    """x1 implies x2 implies ... x5000: true from some place on."""
    n = 5000
    clauses = tuple((-v, v + 1) for v in range(1, n))
    solution = solve_clauses(ClauseFormula((Block(RANDOM, tuple(range(1, n + 1)), Fraction(999, 1000)),), clauses))
    expected = sum(0.001**k * 0.999 ** (n - k) for k in range(100))
    assert float(solution.value) == pytest.approx(expected, rel=1e-11)


def test_many_independent_parts_multiply():
    prefix = (Block(RANDOM, tuple(range(1, 2001)), Fraction(1, 2)),)
    clauses = tuple((v, v + 1) for v in range(1, 41, 2))
    solution = solve_clauses(ClauseFormula(prefix, clauses))
    assert float(solution.value) == pytest.approx(0.75**20, rel=1e-12)
    assert solution.nodes <= 40


def test_value_does_not_depend_on_the_order_of_clauses_and_literals():
    rng = np.random.default_rng(0)
    for seed in range(20):
        formula = random_3cnf(25, 60, seed)
        clauses = [tuple(int(x) for x in rng.permutation(clause)) for clause in formula.clauses]
        shuffled = ClauseFormula(formula.prefix, tuple(clauses[i] for i in rng.permutation(len(clauses))))
        assert float(solve_clauses(shuffled).value) == pytest.approx(float(solve_clauses(formula).value), rel=1e-10)


def test_branching_on_choices_gives_the_values_of_cases(monkeypatch):
    monkeypatch.setattr("justicia.solvers.clause_search.cases_of", lambda *_: None)
    for seed in range(300):
        formula = random_formula(seed)
        check(formula, solve_clauses(formula))


@pytest.mark.parametrize("at_once", [1, 3])
def test_cases_that_are_searched_apart_give_the_same_values(at_once, monkeypatch):
    monkeypatch.setattr("justicia.solvers.clause_search._AT_ONCE", at_once)
    for seed in range(300, 500):
        formula = random_formula(seed)
        check(formula, solve_clauses(formula))


def test_every_combination_of_choices_has_its_value():
    """Cases cover the choices: what an assignment of them leaves open makes no difference."""
    met = 0
    for seed in range(200):
        formula = random_formula(seed)
        cases = ClauseSearch(formula).cases()
        if cases is None:
            continue
        for case in cases:
            assert by_enumeration(formula, dict(case.assignment)) == pytest.approx(float(case.value), abs=1e-12)
            met += 0 < case.value.lo < 1
    assert met > 60


def test_bits_become_weights_where_at_most_one_of_their_clauses_can_be_false():
    """Two states that exclude each other read one bit; a third clause that may be false beside another keeps it."""
    state, bit, read, other = 1, 2, 3, 4
    prefix = (Block(RANDOM, (state, bit, other), Fraction(1, 3)), Block(EXISTS, (read,)))
    clauses = ((-state, -bit, read), (-state, bit, -read), (state, -bit, -read), (state, bit, read))
    either = ((state, other), (-state, other))
    tables = tables_of(ClauseFormula(prefix, (*clauses, *either)))
    none = Cases(np.zeros(4, dtype=bool), np.full((1, 4), -1, dtype=np.int8), [])
    summed = weighted(tables, none)
    assert tables.numbers[summed.tables.numbers].tolist() == [state, read]
    # A clause that is false counts the probability of what the bit then has to be.
    assert sorted(summed.clause_weight.ravel()) == pytest.approx([1 / 3, 1 / 3, 2 / 3, 2 / 3])
    beside = tables_of(ClauseFormula(prefix, (*clauses, *either, (bit, -state, other))))
    assert bit in beside.numbers[weighted(beside, none).tables.numbers]


def test_twenty_variables_against_enumeration():
    for seed in range(4):
        formula = random_3cnf(20, 40, seed)
        assert float(solve_clauses(formula).value) == pytest.approx(by_enumeration(formula), abs=1e-13)
        choices = ClauseFormula((Block(EXISTS, tuple(range(1, 7))), *formula.prefix[6:]), formula.clauses)
        check(choices, solve_clauses(choices))


@pytest.mark.parametrize("quantifier", ["e", "a"])
def test_assignments_of_many_variables_and_of_forgotten_components(quantifier, monkeypatch):
    """Pairs (choice or bit) beside each other: under ∃ every choice is true, under ∀ false."""
    n = 300
    prefix = (Block(quantifier, tuple(range(1, n + 1))), Block(RANDOM, tuple(range(n + 1, 2 * n + 1)), Fraction(9, 10)))
    formula = ClauseFormula(prefix, tuple((v, v + n) for v in range(1, n + 1)))
    expected = 1.0 if quantifier == "e" else 0.9**n
    for _ in range(2):
        solution = solve_clauses(formula)
        assert float(solution.value) == pytest.approx(expected, rel=1e-12)
        if quantifier == "e":
            assert all(solution.assignment.values())
        else:
            assert not any(solution.assignment.values())
        monkeypatch.setattr("justicia.solvers._clause_kernels.descend", lambda *_: False)
