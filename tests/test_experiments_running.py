"""What experiments share, and the results page."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from experiments import report
from experiments.running import Reporter, Rows, command, cpu_seconds, read_rows, run_program, table
from justicia.errors import InputError

COLUMNS = ("tool", "case", "seconds")


def rows(path):
    return Rows(path, COLUMNS, ("tool", "case"))


def test_rows_of_an_earlier_run_are_kept_and_not_asked_for_again(tmp_path):
    held = rows(tmp_path / "new" / "a.csv")
    held.add({"tool": "ours", "case": 1, "seconds": 0.1})
    held.add({"tool": "ours", "case": 2, "seconds": None})
    again = rows(tmp_path / "new" / "a.csv")
    assert {"tool": "ours", "case": 1} in again
    assert again.todo([1, 2, 3], lambda case: {"tool": "ours", "case": case}) == [3]
    again.add({"tool": "ours", "case": 3, "seconds": 1e-17})
    assert (tmp_path / "new" / "a.csv").read_text() == "tool,case,seconds\nours,1,0.1\nours,2,\nours,3,1e-17\n"
    with pytest.raises(ValueError, match="already"):
        again.add({"tool": "ours", "case": 3, "seconds": 2.0})
    with pytest.raises(ValueError, match="columns"):
        again.add({"tool": "ours", "case": 4})


def test_a_line_that_a_stopped_run_left_half_written_is_computed_again(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("tool,case,seconds\nours,1,0.5\nours,2,0.", encoding="utf-8")
    held = rows(path)
    assert held.todo([1, 2], lambda case: {"tool": "ours", "case": case}) == [2]
    held.add({"tool": "ours", "case": 2, "seconds": 0.25})
    assert [row["seconds"] for row in read_rows(path)] == ["0.5", "0.25"]


@pytest.mark.parametrize("text", ["tool,case\nours,1\n", "", "tool,case,sec"])
def test_a_file_with_other_columns_is_not_added_to(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.csv has other columns"):
        rows(path)


def test_no_file_has_no_rows(tmp_path):
    assert read_rows(tmp_path / "none.csv") == []


def test_table_escapes_what_would_end_a_cell():
    assert table(["a", "b"], [["x|y", "2"]]) == "| a | b |\n| --- | --- |\n| x\\|y | 2 |"


BUSY = "import time\nwhile time.process_time() < {}: pass\nprint('there')"


def test_seconds_of_a_program_are_its_own_and_those_of_what_it_starts():
    alone = run_program([sys.executable, "-c", BUSY.format(0.3)], 20)
    assert (alone.status, alone.output) == ("done", "there\n")
    assert 0.3 <= alone.seconds < 1.5
    outer = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', sys.argv[1]])"
    both = run_program([sys.executable, "-c", outer, BUSY.format(0.6)], 20)
    assert 0.6 <= both.seconds < 2.5


def test_a_program_is_ended_when_its_seconds_are_over():
    ran = run_program([sys.executable, "-c", BUSY.format(50)], 1)
    assert ran.status == "time"
    assert 0.5 < ran.seconds < 2.5


def test_a_program_that_starts_one_after_the_other_is_ended_too():
    outer = "import subprocess, sys\nfor _ in range(50): subprocess.run([sys.executable, '-c', sys.argv[1]])"
    ran = run_program([sys.executable, "-c", outer, BUSY.format(0.7)], 1)
    assert ran.status == "time"
    assert ran.seconds < 5


@pytest.mark.slow
def test_a_program_that_only_waits_is_ended_by_the_clock():
    ran = run_program([sys.executable, "-c", "import time; time.sleep(100)"], 1)
    assert ran.status == "time"
    assert ran.seconds < 1


def test_what_a_program_has_started_does_not_outlive_it(tmp_path):
    # In a process group of its own, as programs under `timeout` are.
    left = "import os, time\nos.setpgid(0, 0)\nopen('started', 'w').write(str(os.getpid()))\ntime.sleep(60)"
    outer = f"import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', {left!r}])\ntime.sleep(1)"
    assert run_program([sys.executable, "-c", outer], 20, folder=tmp_path).status == "done"
    process = int((tmp_path / "started").read_text())
    stat = Path(f"/proc/{process}/stat")
    deadline = time.monotonic() + 20
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < deadline, "it still runs"
        time.sleep(0.05)


def test_a_program_that_fails_says_why():
    ran = run_program([sys.executable, "-c", "raise SystemExit('no such thing')"], 5)
    assert ran.status == "failed"
    assert ran.errors == "no such thing\n"


def test_arguments_pass_through_no_shell(tmp_path):
    ran = run_program([sys.executable, "-c", "import sys; print(sys.argv[1:])", "$HOME; ls", "a b"], 5, folder=tmp_path)
    assert ran.output == "['$HOME; ls', 'a b']\n"


def test_seconds_count_up():
    before = cpu_seconds()
    run_program([sys.executable, "-c", BUSY.format(0.2)], 5)
    assert cpu_seconds() - before >= 0.2


def test_command_passes_what_it_is_given_and_says_what_is_wrong(tmp_path):
    seen = {}

    def run(out, *, quick, progress, seed, checkout):
        seen.update(out=out, quick=quick, seed=seed, checkout=checkout)
        assert list(progress.track([1, 2], "counting")) == [1, 2]
        if checkout == "wrong":
            raise InputError("there is no checkout")

    asked = command("ask", run, "What is asked.", click.option("--checkout"))
    ran = CliRunner().invoke(asked, ["--out", str(tmp_path), "--quick", "--seed", "7", "--checkout", "here"])
    assert ran.exit_code == 0, ran.output
    assert seen == {"out": tmp_path, "quick": True, "seed": 7, "checkout": "here"}
    ran = CliRunner().invoke(asked, ["--checkout", "wrong"])
    assert ran.exit_code == 2
    assert ran.stderr.splitlines()[-1] == "Error: there is no checkout"
    assert "What is asked." in CliRunner().invoke(asked, ["--help"]).output


class Sums:
    """An experiment of two lines."""

    NAME, TITLE = "sums", "Sums"

    @staticmethod
    def section(folder):
        return f"Together {sum(int(row['n']) for row in read_rows(folder / 'sums.csv'))}."

    @staticmethod
    def parts(folder):
        return {"largest": f"At most {max(int(row['n']) for row in read_rows(folder / 'sums.csv'))}."}


@pytest.fixture
def sums(monkeypatch):
    monkeypatch.setitem(sys.modules, "experiments.sums", Sums)
    monkeypatch.setattr(report, "page", lambda folder, page=report.page: page(folder, ["sums"]))
    monkeypatch.setattr(report, "parts_of", lambda folder, parts_of=report.parts_of: parts_of(folder, ["sums"]))
    monkeypatch.setattr(report, "draw", lambda folder: None)


def test_page_is_checked_against_the_files(tmp_path, sums):
    (tmp_path / "sums.csv").write_text("n\n1\n2\n", encoding="utf-8")
    options = ["--results", str(tmp_path), "--page", str(tmp_path / "page.md"), "--root", str(tmp_path)]
    ran = CliRunner().invoke(report.main, [*options, "--check"])
    assert ran.exit_code == 1
    assert CliRunner().invoke(report.main, options).exit_code == 0
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert text == f"{report.INTRODUCTION}\n## Sums\n\nTogether 3.\n"
    assert CliRunner().invoke(report.main, [*options, "--check"]).exit_code == 0
    (tmp_path / "sums.csv").write_text("n\n1\n3\n", encoding="utf-8")
    ran = CliRunner().invoke(report.main, [*options, "--check"])
    assert ran.exit_code == 1
    assert "-Together 3." in ran.stderr
    assert "+Together 4." in ran.stderr
    (tmp_path / "sums.csv").unlink()
    assert "Sums" not in report.page(tmp_path)


PAGE = "# A page\n\n<!-- from experiments/sums: largest -->\n<!-- end -->\n\nThe end.\n"


def test_marked_parts_of_pages_are_checked_against_the_files(tmp_path, sums):
    (tmp_path / "sums.csv").write_text("n\n1\n2\n", encoding="utf-8")
    (tmp_path / "docs" / "howto").mkdir(parents=True)
    pages = [tmp_path / "README.md", tmp_path / "docs" / "a.md", tmp_path / "docs" / "howto" / "b.md"]
    for path in pages:
        path.write_text(PAGE, encoding="utf-8")
    untouched = tmp_path / "docs" / "c.md"
    untouched.write_text("Nothing is marked here.\n", encoding="utf-8")
    options = ["--results", str(tmp_path), "--page", str(tmp_path / "page.md"), "--root", str(tmp_path)]
    assert CliRunner().invoke(report.main, [*options, "--check"]).exit_code == 1
    assert CliRunner().invoke(report.main, options).exit_code == 0
    whole = PAGE.replace("-->\n<!-- end", "-->\n\nAt most 2.\n\n<!-- end")
    assert [path.read_text(encoding="utf-8") for path in pages] == [whole] * 3
    assert untouched.read_text(encoding="utf-8") == "Nothing is marked here.\n"
    assert CliRunner().invoke(report.main, [*options, "--check"]).exit_code == 0
    pages[1].write_text(whole.replace("At most 2.", "At most 3."), encoding="utf-8")
    ran = CliRunner().invoke(report.main, [*options, "--check"])
    assert ran.exit_code == 1
    assert "-At most 3." in ran.stderr
    assert "+At most 2." in ran.stderr
    assert "a.md is not what the files" in ran.stderr
    assert "b.md" not in ran.stderr


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (PAGE.replace("sums", "sms"), r"page\.md, line 3: no experiment 'sms' has parts; did you mean sums\?"),
        (PAGE.replace("largest", "large"), r"page\.md, line 3: sums has no part 'large'; did you mean largest\?"),
        (PAGE.replace("<!-- end -->", ""), r"page\.md, line 3: the marked part has no end"),
        (PAGE.replace("<!-- end -->", "") + PAGE, r"page\.md, line 3: the marked part has no end"),
    ],
)
def test_marks_that_mean_nothing_are_told(text, wrong):
    with pytest.raises(InputError, match=wrong):
        report.filled(text, {"sums": {"largest": "At most 2."}}, "page.md")


def test_every_part_of_an_experiment_is_on_a_page():
    marks = [found for path in report.marked(report.HERE) for found in path.read_text(encoding="utf-8").splitlines()]
    for name, parts in report.parts_of(report.FOLDER).items():
        for part in parts:
            assert f"<!-- from experiments/{name}: {part} -->" in marks


def test_pages_are_what_their_files_give():
    ran = CliRunner().invoke(report.main, ["--check"])
    assert ran.exit_code == 0, ran.output


NEEDS = ("fairsquare_programs",)
"""Whose cases come from another tool's repository."""


@pytest.mark.slow
@pytest.mark.parametrize("name", dict.fromkeys(report.EXPERIMENTS + report.IN_PAGES))
def test_each_experiment_runs_quickly_and_goes_on_where_it_stopped(name, tmp_path):
    if name == "fairness_algorithms":
        pytest.importorskip("cvxpy")
    module = importlib.import_module(f"experiments.{name}")
    with Reporter(False) as progress:
        module.run(tmp_path, quick=True, progress=progress, seed=0)
        path = tmp_path / f"{module.NAME}.csv"
        first = path.read_text(encoding="utf-8")
        if name in NEEDS and len(first.splitlines()) == 1:
            pytest.skip("what it asks about is not on this machine")
        assert len(first.splitlines()) > 1
        module.run(tmp_path, quick=True, progress=progress, seed=0)
    assert path.read_text(encoding="utf-8") == first
    if name in report.EXPERIMENTS:
        assert module.section(tmp_path).strip()
    if name in report.IN_PAGES:
        assert all(part.strip() for part in module.parts(tmp_path).values())
    if hasattr(module, "plot"):
        figure = tmp_path / "drawn.svg"
        module.plot(read_rows(path), figure)
        assert figure.read_text(encoding="utf-8").startswith("<?xml")
