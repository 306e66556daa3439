"""`justicia encode` and `justicia solve`."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from fractions import Fraction

import pytest

import justicia
from justicia.enclosure import Enclosure
from justicia.hearing import is_listening
from justicia.report.solution import solution_to_compatible_text, solution_to_text
from justicia.solvers import ClauseSolution
from justicia.ssat import Block, ClauseFormula, from_sdimacs, to_sdimacs
from tests.cli.test_cli import run
from tests.formula_cases import random_3cnf

SMALL = "p cnf 3 2\ne 1 0\nr 0.3 2 0\nr 0.6 3 0\n1 2 0\n-1 3 0\n"


@pytest.fixture
def problem(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problem.sdimacs").write_text(SMALL)
    return tmp_path


def test_solve_prints_value_and_assignment(problem, capsys):
    assert run(capsys, "solve", "problem.sdimacs") == (0, "value       0.6\ntrue        x1\n", "")


def test_solve_writes_json(problem, capsys):
    code, out, err = run(capsys, "solve", "problem.sdimacs", "--json", "-")
    expected = {"value": 0.6, "lo": 0.6, "hi": 0.6, "assignment": {"1": True}, "status": "exact"}
    assert (code, json.loads(out), err) == (0, expected, "")
    code, out, _ = run(capsys, "solve", "problem.sdimacs", "--json", "out.json")
    assert code == 0
    assert out.startswith("value")
    assert json.loads((problem / "out.json").read_text()) == expected


def test_solve_prints_the_closing_lines_of_others(problem, capsys):
    code, out, _ = run(capsys, "solve", "problem.sdimacs", "--compatible")
    assert code == 0
    assert out == (
        "  > Satisfying probability: 6.000000e-01\n"
        "  > Found an optimizing assignment to exist vars:\n"
        "\t1 0\n"
    )  # fmt: skip
    (problem / "random.sdimacs").write_text("p cnf 1 1\nr 0.25 1 0\n1 0\n")
    assert run(capsys, "solve", "random.sdimacs", "--compatible")[1] == "  > Satisfying probability: 2.500000e-01\n"


def test_solve_reads_standard_input(problem, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SMALL.encode())))
    assert run(capsys, "solve", "-")[1].startswith("value       0.6\n")


def test_solve_with_too_little_time_gives_bounds_and_code_3(problem, capsys):
    (problem / "hard.sdimacs").write_text(to_sdimacs(random_3cnf(60, 150, 0)))
    code, out, _ = run(capsys, "solve", "hard.sdimacs", "--time-limit", "0", "--json", "-")
    found = json.loads(out)
    assert code == 3
    assert found["value"] is None
    assert found["status"] == "bounds"
    assert found["assignment"] is None
    assert 0 <= found["lo"] < found["hi"] <= 1
    out = run(capsys, "solve", "hard.sdimacs", "--time-limit", "0")[1]
    assert out.startswith("bounds      ")
    out = run(capsys, "solve", "hard.sdimacs", "--time-limit", "0", "--compatible")[1]
    assert [line.split(":")[0] for line in out.splitlines()] == ["  > Best upper bound", "  > Best lower bound"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p cnf 1 1\ne 1 0\n1\n", "justicia: line 3: the clause has no final 0"),
        ("", "justicia: there is no line 'p cnf VARIABLES CLAUSES'"),
        ("p cnf 2 1\n1 0\n", "justicia: line 2: variable 1 has no line in the prefix"),
    ],
)
def test_solve_says_what_is_wrong_in_one_line(problem, capsys, text, message):
    (problem / "bad.sdimacs").write_text(text)
    code, out, err = run(capsys, "solve", "bad.sdimacs", "--json", "out.json")
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 1
    assert not (problem / "out.json").exists()


def test_solve_names_a_file_that_is_not_there(problem, capsys):
    code, _, err = run(capsys, "solve", "none.sdimacs")
    assert code == 2
    assert "none.sdimacs" in err
    assert err.count("\n") == 1
    assert run(capsys, "solve", "problem.sdimacs", "--json", "problem.sdimacs")[0] == 2
    assert (problem / "problem.sdimacs").read_text() == SMALL


def rate(capsys, problem, *words):
    code, out, _ = run(capsys, "encode", "--model", "tree", "--data", "ricci", "--population", "tree", *words)
    assert code == 0
    (problem / "ricci.sdimacs").write_text(out)
    code, out, _ = run(capsys, "solve", "ricci.sdimacs", "--json", "-")
    assert code == 0
    return json.loads(out)


def test_encoded_questions_have_the_values_that_verify_finds(problem, capsys):
    audit = justicia.verify("tree", "ricci", population="tree")
    rates = {group.group["race"]: float(group.selection_rate) for group in audit.groupings[0].groups}
    for race, expected in rates.items():
        assert rate(capsys, problem, "--group", f"race={race}")["value"] == pytest.approx(expected, abs=1e-9)
    most, least = max(rates.values()), min(rates.values())
    assert rate(capsys, problem)["value"] == pytest.approx(most, abs=1e-9)
    assert rate(capsys, problem, "--most-favored")["value"] == pytest.approx(most, abs=1e-9)
    assert rate(capsys, problem, "--least-favored")["value"] == pytest.approx(least, abs=1e-9)
    assert rate(capsys, problem, "--dual")["value"] == pytest.approx(1 - least, abs=1e-9)
    out = run(capsys, "solve", "ricci.sdimacs")[1]
    assert f"race = {audit.least_favored['race']}" in out


def test_encode_says_what_variables_mean_and_rounds_when_asked(problem, capsys):
    words = ["encode", "--model", "tree", "--data", "ricci", "--population", "independent", "--quiet"]
    exact = run(capsys, *words)[1]
    code, out, err = run(capsys, *words, "--digits", "6")
    assert code == 0
    assert err.startswith("warning: 2 groups of race: fewer than 30 people (Hispanic (23); Black (27))")
    assert err.count("\n") == 2
    formula = from_sdimacs(out)
    assert formula.comments[0] == "value: the largest selection rate of a group"
    assert set(formula.names) == {variable for block in formula.prefix for variable in block.variables}
    assert {block.quantifier for block in formula.prefix} == {"e", "r"}
    assert all(len(line.split()[1]) <= 8 for line in out.splitlines() if line.startswith("r "))
    assert any(len(line.split()[1]) > 12 for line in exact.splitlines() if line.startswith("r "))
    run(capsys, *words, "--out", "there.sdimacs")
    assert (problem / "there.sdimacs").read_text() == exact


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--group", "race=Black", "--dual"], "exclude each other"),
        (["--group", "race=Blck"], "no group Blck; did you mean Black?"),
        (["--group", "Black"], "group 'Black' is not of the form race=VALUE"),
        (["--group", "race=Black,race=White"], "is not of the form race=VALUE"),
        (["--population", "tre"], "no population is called 'tre', and there is no such file; did you mean tree?"),
        (["--out", "no/such/folder"], "there is no folder"),
    ],
)
def test_encode_refuses_in_one_line(problem, capsys, words, message):
    code, out, err = run(capsys, "encode", "--model", "tree", "--data", "ricci", "--quiet", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("justicia:") == 1


def test_encode_refuses_ensembles(problem, capsys):
    code, out, err = run(capsys, "encode", "--model", "boosting", "--data", "ricci", "--quiet")
    assert (code, out) == (2, "")
    assert "(AdditiveTrees) is not written in clauses" in err


def test_verify_by_formula_gives_the_same_audit(capsys):
    for search in ("enumerate", "learn"):
        words = ["verify", "--model", "tree", "--data", "titanic", "--search", search, "--quiet", "--json", "-"]
        direct = json.loads(run(capsys, *words)[1])
        formula = json.loads(run(capsys, *words, "--solver", "clauses")[1])
        assert formula["solver"]["engine"] == "clauses"
        assert formula["solver"]["guarantee"] == "exact"
        for first, second in zip(direct["groupings"], formula["groupings"], strict=True):
            for extreme in ("most_favored", "least_favored"):
                assert first[extreme]["group"] == second[extreme]["group"]
                assert first[extreme]["candidates"] == second[extreme]["candidates"]
                low, high = (one[extreme]["selection_rate"]["lo"] for one in (first, second))
                assert low == pytest.approx(high, abs=1e-9)


def test_solve_runs_as_a_process_that_a_wrapper_can_call(problem):
    command = [sys.executable, "-m", "justicia", "solve", "problem.sdimacs", "--compatible"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "  > Satisfying probability: 6.000000e-01"


def test_groups_in_words_may_hold_commas(problem, capsys):
    lines = ["age,sex,x,hired"]
    lines += [f"{20 + i % 40},{'fm'[i % 2]},{i % 3},{'yes' if i % 3 else 'no'}" for i in range(120)]
    (problem / "people.csv").write_text("\n".join(lines))
    code, out, err = run(
        capsys, "encode", "--model", "tree", "--data", "people.csv", "--label", "hired", "--sensitive", "age,sex",
        "--bins", "age=25,40", "--group", "age=(25, 40],sex=m", "--favorable", "yes",
    )  # fmt: skip
    assert code == 0, err
    assert "c value: the selection rate of age = (25, 40], sex = m" in out


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("first", ["r", "e"])
def test_a_stopped_search_says_what_is_known_and_that_it_is_no_answer(problem, capsys, stop, first):
    """Weeks of work, and a part of its own that is known at once."""
    hard = random_3cnf(150, 380, 0)
    choices = Block(first, (151, 152), Fraction(1, 2) if first == "r" else None)
    formula = ClauseFormula((choices, *hard.prefix), (*hard.clauses, (151, 152)))
    (problem / "hard.sdimacs").write_text(to_sdimacs(formula))
    before = signal.getsignal(stop)

    def press():
        while not is_listening():
            time.sleep(0.01)
        time.sleep(0.3)
        os.kill(os.getpid(), stop)

    presser = threading.Thread(target=press)
    presser.start()
    code, out, err = run(capsys, "solve", "hard.sdimacs", "--json", "out.json")
    presser.join()
    assert signal.getsignal(stop) is before
    assert (code, err) == (3, "")
    assert out.startswith("bounds      ")
    assert "(stopped: interrupted)" in out
    held = json.loads((problem / "out.json").read_text())
    assert (held["value"], held["status"]) == (None, "bounds")
    assert 0 <= held["lo"] < held["hi"] <= 1
    if held["assignment"] is None:
        assert "best so far" not in out
    else:
        assert first == "e"
        assert f"best so far at least {held['lo']:.12g}, not known to be optimal" in out


def test_the_best_choices_so_far_are_said_to_be_that():
    formula = from_sdimacs(SMALL)
    solution = ClauseSolution(Enclosure(0.3, 0.9), {1: True}, 5, 1.0, "time")
    assert solution_to_text(formula, solution) == (
        "bounds      0.3 to 0.9 (stopped: time)\n"
        "best so far at least 0.3, not known to be optimal, with\n"
        "true        x1\n"
    )  # fmt: skip
    assert "assignment" not in solution_to_compatible_text(solution)


def test_ensembles_are_refused_before_they_are_compared_with_the_model(monkeypatch, capsys):
    monkeypatch.setattr("justicia.encoders.check_encoding", lambda *_: pytest.fail("compared"))
    code, out, err = run(capsys, "verify", "--model", "boosting", "--data", "ricci", "--solver", "clauses")
    assert (code, out) == (2, "")
    assert "solver clauses does not take" in err
