"""Outside solvers end to end: a real process that solves, small programs that do not, and the counters."""

from __future__ import annotations

import os
import shutil
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import justicia
from justicia.errors import InputError, MissingDependencyError
from justicia.solvers import ENGINES, Effort, external
from justicia.solvers.external import External, outside_solver
from justicia.solvers.external.circuits import from_nnf
from justicia.solvers.external.preparing import prepared, quantifiers, single_precision
from justicia.solvers.external.recognising import recognise
from justicia.solvers.external.running import Run
from justicia.ssat import Block, ClauseFormula, Formula, from_sdimacs
from tests.formula_cases import by_enumeration, random_formula
from tests.solvers.external.misbehaving import SHARP_LINE, says, script
from tests.solvers.external.test_recognising import mutated_outputs

JUSTICIA = f"{sys.executable} -m justicia solve"
OURS = f"{JUSTICIA} --compatible {{file}}"
OURS_WITH_PATTERN = (f"{JUSTICIA} {{file}}", r"^value +(\S+)$", 0)


def formula(*lines: str) -> ClauseFormula:
    return from_sdimacs("\n".join(lines))


# Worked by hand: (1 or 3)(2 or not 3) with 3 chosen last: .3 + .7 * .6 = .72.
CHOSEN_LAST = formula("p cnf 3 2", "r 0.3 1 0", "r 0.6 2 0", "e 3 0", "1 3 0", "2 -3 0")
# (1 or 2)(not 1 or 3): with 1 true .6, with 1 false .3.
CHOSEN_FIRST = formula("p cnf 3 2", "e 1 0", "r 0.3 2 0", "r 0.6 3 0", "1 2 0", "-1 3 0")
# The same with 1 true in .3 of all cases: .3 * .5 + .7 * .6 = .57.
ALL_RANDOM = formula("p cnf 3 2", "r 0.3 1 0", "r 0.6 2 0", "r 0.5 3 0", "1 2 0", "-1 3 0")
FORALL = formula("p cnf 2 1", "a 1 0", "r 0.3 2 0", "1 2 0")
EMPTY_CLAUSE = formula("p cnf 2 2", "r 0.3 1 0", "e 2 0", "1 2 0", "0")
CONTRADICTION = formula("p cnf 2 3", "r 0.3 1 0", "e 2 0", "2 0", "-2 0", "1 0")
NO_CLAUSES = formula("p cnf 1 0", "r 0.3 1 0")
NOTHING = formula("p cnf 0 0")
ALL_CHOSEN = formula("p cnf 2 3", "e 1 2 0", "1 2 0", "-1 2 0", "2 1 0")
TWICE = formula("p cnf 2 2", "r 0.3 1 0", "r 0.5 2 0", "1 0", "1 0")
BY_HAND = [
    (CHOSEN_LAST, 0.72), (CHOSEN_FIRST, 0.6), (ALL_RANDOM, 0.57), (FORALL, 0.3), (EMPTY_CLAUSE, 0.0),
    (CONTRADICTION, 0.0), (NO_CLAUSES, 1.0), (NOTHING, 1.0), (ALL_CHOSEN, 1.0), (TWICE, 0.3),
]  # fmt: skip


def installed() -> list[str]:
    return list(external.available())


@pytest.mark.parametrize(
    ("asked", "value"), [*BY_HAND[:2], *(pytest.param(*one, marks=pytest.mark.slow) for one in BY_HAND[2:])]
)
def test_this_package_as_a_process(asked, value):
    reply = outside_solver("external", OURS).ask(asked, 60)
    assert reply.answered
    assert reply.value == pytest.approx(value, abs=1e-7)
    assert abs(reply.value - value) <= reply.rounding


def test_a_pattern_and_all_digits():
    asked = ClauseFormula((Block("r", (1,), Fraction(1, 3**20)), Block("e", (2,))), ((1, 2), (1, -2)))
    reply = outside_solver("external", *OURS_WITH_PATTERN).ask(asked, 60)
    assert reply.value == pytest.approx(3.0**-20, rel=1e-9)


@pytest.mark.parametrize("name", external.NAMES)
def test_known_solvers_where_they_are_installed(name):
    if name not in installed():
        pytest.skip(f"{name} is not installed")
    solver = outside_solver(name)
    for asked, value in BY_HAND:
        reply = solver.ask(asked, 60)
        refused = solver.refuses(asked)
        assert reply.status == ("answer" if refused is None else "unsupported"), reply
        if refused is None:
            assert abs(reply.value - value) <= reply.rounding
    for seed in range(12):
        asked = random_formula(seed, 9)
        reply = solver.ask(asked, 60)
        # SharpSSAT ends with a segmentation fault on some formulas with a minimum.
        assert reply.answered or reply.status == "unsupported" or "a" in quantifiers(asked), (seed, reply)
        if reply.answered:
            assert abs(reply.value - by_enumeration(asked)) <= reply.rounding + 1e-12, seed


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("wanted", ["", "r", "re"])
def test_prepared_formulas_have_the_same_value(seed, wanted):
    asked = random_formula(seed, 9)
    made = prepared(asked, wanted=wanted)
    assert made.shift == 0.0
    assert by_enumeration(made.formula) == pytest.approx(by_enumeration(asked), abs=1e-12)
    assert all(made.formula.clauses)
    units = {clause[0] for clause in made.formula.clauses if len(clause) == 1}
    assert not any(-unit in units for unit in units)
    assert len({frozenset(clause) for clause in made.formula.clauses}) == len(made.formula.clauses)
    assert set(wanted) <= set(quantifiers(made.formula))


@pytest.mark.parametrize("seed", range(40))
def test_rounded_probabilities_shift_the_value_no_further_than_told(seed):
    asked = random_formula(seed, 9)
    odd = tuple(
        Block(b.quantifier, b.variables, None if b.probability is None else (b.probability * 5 + 1) / 7)
        for b in asked.prefix
    )
    asked = ClauseFormula(odd, asked.clauses)
    for written in (lambda p: round(p, 1), single_precision):
        made = prepared(asked, written=written)
        assert abs(by_enumeration(made.formula) - by_enumeration(asked)) <= made.shift + 1e-12


def test_circuits_by_hand():
    # (1 and 2) or (not 1 and (3 or not 3 and 4)): .3 * .4 + .7 * (.5 + .5 * .6) = .68
    text = "o 1 0\na 2 0\no 3 0\nt 4 0\nf 5 0\n1 2 1 0\n1 3 -1 0\n2 4 2 0\n3 4 3 0\n3 4 -3 4 0\n3 5 0\n"
    weights = {1: 0.3, -1: 0.7, 2: 0.4, -2: 0.6, 3: 0.5, -3: 0.5, 4: 0.6, -4: 0.4}
    assert from_nnf(text).count(weights) == pytest.approx(0.68, abs=1e-12)
    assert from_nnf("f 1 0\n").count({}) == 0.0
    assert from_nnf("t 1 0\n").count({}) == 1.0


@pytest.mark.parametrize(
    "text", ["", "x 1 0\n", "o 1 0\n1 2 0\n", "o 1 0\n2 1 0\n", "o 1 0\n1 1 0\n", "o 1\n", "o 1 0\n1 0\n"]
)
def test_broken_circuits_are_refused(text):
    with pytest.raises(InputError, match="circuit"):
        from_nnf(text)


def test_a_circle_in_a_circuit_is_refused():
    with pytest.raises(InputError, match="circle"):
        from_nnf("o 1 0\no 2 0\no 3 0\n1 2 0\n2 3 0\n3 2 0\n")


MISBEHAVIOUR = {
    "crash": ("import os\nprint('x', flush=True)\nos.kill(os.getpid(), 11)", "failed"),
    "abort after a value": (f"import os\nprint({SHARP_LINE!r}, flush=True)\nos.abort()", "failed"),
    "abort as a code": (f"import sys\nprint({SHARP_LINE!r})\nsys.exit(134)", "failed"),
    "parse error": ("import sys\nprint('PARSE ERROR! Unexpected char: e')\nsys.exit(3)", "failed"),
    "garbage": ("import os\nos.write(1, bytes(range(256)) * 50)", "unreadable"),
    "empty": ("pass", "empty"),
    "above one": ("print('# satisfying probability = 1.2')", "outside"),
    "below zero": ("print('# satisfying probability = -0.2')", "outside"),
    "not a number": ("print('# satisfying probability = nan')", "unreadable"),
    "bounds": ("print('  > Best upper bound: 0.9\\n  > Best lower bound: 0.1')", "bounds"),
    "comma": ("print('# satisfying probability = 0,72')", "unreadable"),
    "two values": ("print('# satisfying probability = 0.3\\n# satisfying probability = 0.4')", "contradictory"),
    "cut off": ("import os\nos.write(1, b'# satisfying probability = 0.7')", "unreadable"),
    "hang": ("import time\ntime.sleep(1000)", "time"),
    "hang after a value": (f"import time\nprint({SHARP_LINE!r}, flush=True)\ntime.sleep(1000)", "time"),
    "deaf": ("import signal, time\nsignal.signal(15, signal.SIG_IGN)\nwhile True: time.sleep(1)", "time"),
    "flood": ("import os\nwhile True: os.write(1, b'x' * 65536)", "flooded"),
}  # fmt: skip


@pytest.mark.parametrize("way", MISBEHAVIOUR)
def test_misbehaving_programs_give_a_status(way, tmp_path):
    body, status = MISBEHAVIOUR[way]
    reply = outside_solver("external", script(tmp_path, body)).ask(CHOSEN_LAST, 1.0 if status == "time" else 60)
    assert (reply.status, reply.value) == (status, None)
    assert reply.message


def test_a_child_that_keeps_the_pipe_does_not_hold_up_the_answer(tmp_path):
    body = f"import os, time\nprint({SHARP_LINE!r}, flush=True)\nif os.fork() == 0:\n    time.sleep(1000)"
    reply = outside_solver("external", script(tmp_path, body)).ask(CHOSEN_LAST, 60)
    assert reply.value == 0.72
    assert reply.seconds < 30


def test_scientific_notation_and_good_codes(tmp_path):
    for code in (0, 10, 20):
        assert (
            outside_solver("external", says(tmp_path, "# satisfying probability = 7.2e-01\n", code))
            .ask(CHOSEN_LAST, 60)
            .value
            == 0.72
        )


def test_the_formula_is_plain_and_the_folder_is_private(tmp_path):
    named = ClauseFormula(CHOSEN_LAST.prefix, CHOSEN_LAST.clauses, {1: "race = Black"}, ("value: a rate",))
    body = f"""
    import os, shutil, sys
    shutil.copy(sys.argv[1], {str(tmp_path / "copy")!r})
    with open({str(tmp_path / "where")!r}, "w") as file:
        file.write(os.getcwd() + " " + oct(os.stat(".").st_mode & 0o777) + " " + os.path.dirname(sys.argv[1]))
    """
    outside_solver("external", script(tmp_path, body)).ask(named, 60)
    assert "Black" not in (tmp_path / "copy").read_text()
    where, mode, of_file = (tmp_path / "where").read_text().split()
    assert (where, mode) == (os.path.realpath(of_file), "0o700")
    assert not Path(where).exists()


def test_probabilities_are_written_with_the_digits_asked_for(tmp_path):
    asked = ClauseFormula((Block("r", (1,), Fraction(1, 3)),), ((1,),))
    body = f"import shutil, sys\nshutil.copy(sys.argv[1], {str(tmp_path / 'copy')!r})"
    for digits, line in ((None, "r 0.333333 1 0"), (3, "r 0.333 1 0")):
        outside_solver("external", script(tmp_path, body), None, digits).ask(asked, 60)
        assert line in (tmp_path / "copy").read_text().splitlines()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("", "empty"), ("   ", "empty"), ("solver", "where the formula goes"), ("{file}", "where the formula goes"),
        ("'solver {file}", "split"), ("no-such-solver-anywhere {file}", "not found"), ("/ {file}", "not found"),
    ],
)  # fmt: skip
def test_bad_commands_are_refused(command, says):
    with pytest.raises(InputError, match=says):
        outside_solver("external", command)


def test_options_that_do_not_go_together():
    with pytest.raises(InputError, match="exclude each other"):
        outside_solver("abc", OURS)
    with pytest.raises(InputError, match="name the command"):
        outside_solver("external", None, r"(\S+)")
    with pytest.raises(InputError, match="did you mean sharpssat"):
        outside_solver("sharpsat")


def test_known_programs_are_found_by_variable_then_by_path(tmp_path, monkeypatch):
    for name in ("JUSTICIA_ABC", "JUSTICIA_SHARPSSAT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependencyError, match="JUSTICIA_ABC"):
        outside_solver("abc")
    fake = tmp_path / "abc"
    fake.write_text(f"#!{sys.executable} -S\nprint('  > Satisfying probability: 7.200000e-01')\n")
    fake.chmod(0o755)
    assert outside_solver("abc").ask(CHOSEN_LAST, 60).value == 0.72
    assert "abc" in external.available()
    other = shutil.move(fake, tmp_path / "other")
    monkeypatch.setenv("JUSTICIA_ABC", str(other))
    assert outside_solver("abc").ask(CHOSEN_LAST, 60).value == 0.72
    monkeypatch.setenv("JUSTICIA_ABC", str(tmp_path / "gone"))
    with pytest.raises(InputError, match="JUSTICIA_ABC"):
        outside_solver("abc")


def test_nothing_installed_is_said(monkeypatch):
    monkeypatch.setattr(external, "available", lambda: ())
    with pytest.raises(MissingDependencyError, match="no outside solver"):
        outside_solver("external")


def test_prefixes_that_abc_does_not_take(tmp_path, monkeypatch):
    fake = tmp_path / "abc"
    fake.write_text("#!/bin/false\n")
    fake.chmod(0o755)
    monkeypatch.setenv("JUSTICIA_ABC", str(fake))
    solver = outside_solver("abc")
    reply = solver.ask(FORALL, 60)
    assert (reply.status, reply.message) == ("unsupported", "abc takes prefixes R∃, ∃R, ∃R∃ and not ∀R")
    assert solver.refuses(ALL_RANDOM) is None
    assert solver.refuses(ALL_CHOSEN) is None
    assert solver.refuses(formula("p cnf 3 1", "r 0.5 1 0", "e 2 0", "r 0.5 3 0", "1 2 3 0")) is not None


@pytest.mark.slow
@given(mutated_outputs(), st.sampled_from([0, 0, 3, 134]))
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_mutated_outputs_of_a_process(tmp_path, out, code):
    reply = outside_solver("external", says(tmp_path, out, code)).ask(CHOSEN_LAST, 60)
    same = recognise(Run("itself", code, out, "", 0.0))
    assert (reply.status, reply.value) == (same.status, same.value)


@pytest.fixture(scope="module")
def audit():
    return justicia.verify("tree", "ricci", population="independent")


def test_the_engine_agrees_with_the_direct_one(audit):
    asked = Formula(audit.population, audit.decision)
    solution = External(outside_solver("external", OURS)).solve(asked, Effort())
    expected = ENGINES["paths"].solve(asked, Effort()).lo
    assert (solution.lo <= expected).all()
    assert (expected <= solution.hi).all()
    assert (solution.hi - solution.lo < 1e-4).all()
    assert (solution.guarantee, solution.stopped, dict(solution.problems)) == ("bounds", None, {})


def test_groups_without_an_answer_are_bounded_by_0_and_1(audit, tmp_path):
    body = f"""
    import os
    n = len(os.listdir({str(tmp_path)!r}))
    open({str(tmp_path)!r} + "/" + str(n), "w").close()
    print("# satisfying probability =", "0.25" if n == 2 else "2")
    """
    asked = Formula(audit.population, audit.decision)
    solution = External(outside_solver("external", script(tmp_path, body))).solve(asked, Effort())
    assert solution.lo == pytest.approx([0, 0.25, 0], abs=1e-4)
    assert solution.hi == pytest.approx([1, 0.25, 1], abs=1e-4)
    assert set(solution.problems) == {0, 2}
    assert solution.stopped == "program"


def test_time_is_shared_by_the_groups(audit, tmp_path):
    asked = Formula(audit.population, audit.decision)
    engine = External(outside_solver("external", script(tmp_path, "import time\ntime.sleep(1000)")))
    solution = engine.solve(asked, Effort(time_limit=1.0))
    assert len(solution.problems) == 3
    assert all(why.startswith("time") for why in solution.problems.values())
    assert solution.seconds < 30
    assert np.array_equal(solution.hi - solution.lo, np.ones(3))
