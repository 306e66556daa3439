"""Outside solvers and cross-checks from the command line: exit codes, what is said, and JSON."""

from __future__ import annotations

import json
import sys

import pytest

from justicia.cli import main
from tests.solvers.external.misbehaving import SHARP_LINE, says, script

OURS = f"{sys.executable} -m justicia solve --compatible {{file}}"
RICCI = ["verify", "--model", "tree", "--data", "ricci", "--population", "independent", "--quiet"]
ONE = "p cnf 3 2\nr 0.3 1 0\nr 0.6 2 0\ne 3 0\n1 3 0\n2 -3 0\n"


def run(*words):
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return ended.value.code


@pytest.fixture
def problem(tmp_path):
    file = tmp_path / "problem.sdimacs"
    file.write_text(ONE)
    return str(file)


def test_solve_by_a_command(problem, tmp_path, capsys):
    assert run("solve", problem, "--solver-command", says(tmp_path, SHARP_LINE + "\n"), "--json", "-") == 0
    held = json.loads(capsys.readouterr().out)
    assert (held["value"], held["status"], held["assignment"]) == (0.72, "answer", None)
    assert held["lo"] < 0.72 < held["hi"]
    assert run("solve", problem, "--solver-command", says(tmp_path, "p=0.5\n"), "--solver-pattern", "p=(.*)") == 0
    assert capsys.readouterr().out.startswith("value       0.5\nby          external, to within ")


@pytest.mark.parametrize(
    ("text", "code", "status"),
    [
        ("", 0, "empty"), ("x\n", 0, "unreadable"), (SHARP_LINE + "\n", 134, "failed"),
        ("# satisfying probability = 7\n", 0, "outside"),
        ("  > Best upper bound: 0.5\n  > Best lower bound: 0.25\n", 0, "bounds"),
    ],
)  # fmt: skip
def test_solve_without_an_answer_exits_3(problem, tmp_path, capsys, text, code, status):
    target = tmp_path / "a.json"
    assert run("solve", problem, "--solver-command", says(tmp_path, text, code), "--json", str(target)) == 3
    assert f"no value    external: {status} (" in capsys.readouterr().out
    held = json.loads(target.read_text())
    assert [held[key] for key in ("value", "lo", "hi", "status")] == [None, None, None, status]


def test_solve_with_a_program_that_cannot_be_started_exits_2(problem, tmp_path, capsys):
    broken = tmp_path / "solver"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    for words in (["--solver-command", f"{broken} {{file}}"], ["--solver-command", "no-such-program {file}"],
                  ["--solver", "nobody"], ["--solver-command", "cat {file}", "--compatible"]):  # fmt: skip
        assert run("solve", problem, *words) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert len(err.splitlines()) == 1


@pytest.mark.slow
def test_verify_by_a_command(capsys, tmp_path):
    target = tmp_path / "a.json"
    assert run(*RICCI, "--solver-command", OURS, "--json", str(target)) == 0
    assert "engine      external, bounds" in capsys.readouterr().out
    outside = json.loads(target.read_text())
    assert run(*RICCI, "--json", str(target)) == 0
    direct = json.loads(target.read_text())
    assert outside["solver"]["engine"] == "external"
    for one, other in zip(outside["groupings"][0]["groups"], direct["groupings"][0]["groups"], strict=True):
        for kind in ("selection_rate", "tpr", "fpr"):
            assert one[kind]["lo"] <= other[kind]["lo"] <= other[kind]["hi"] <= one[kind]["hi"]


@pytest.mark.parametrize("require", [[], ["--require", "disparate_impact>=0.8"]])
@pytest.mark.parametrize(
    "body", ["print('  > Best upper bound: 1\\n  > Best lower bound: 0')", "import os\nos.abort()"]
)
def test_verify_without_an_answer_exits_3(tmp_path, capsys, require, body):
    assert run(*RICCI, "--solver-command", script(tmp_path, body), *require) == 3
    out, err = capsys.readouterr()
    assert "gave no answer to the selection_rate of 3 groups of race" in err
    assert "gave no answer" in out


def test_verify_with_a_program_that_cannot_be_started_exits_2(capsys):
    assert run(*RICCI, "--solver-command", "no-such-program {file}") == 2
    assert "not found" in capsys.readouterr().err
    assert run(*RICCI, "--solver", "paths", "--solver-command", "cat {file}") == 2
    assert "exclude each other" in capsys.readouterr().err


def test_a_model_without_clauses_is_refused(capsys):
    words = ["verify", "--model", "boosting", "--data", "ricci", "--quiet", "--solver-command", "cat {file}"]
    assert run(*words) == 2
    assert "pass --solver auto" in capsys.readouterr().err


def test_cross_check_is_printed_and_in_json(capsys, tmp_path):
    target = tmp_path / "a.json"
    assert run(*RICCI, "--cross-check", "--json", str(target)) == 0
    assert "selection rates by the formula and engine clauses: 3 of 3 groups agree" in capsys.readouterr().out
    held = json.loads(target.read_text())["groupings"][0]["cross_check"]
    assert held["status"] == "agrees"
    assert [route["rate"] for route in held["routes"]] == ["selection_rate", "tpr", "fpr"]
    assert held["unchecked"] == {"selection_rate": 0, "tpr": 0, "fpr": 0}
