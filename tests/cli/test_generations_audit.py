"""``justicia generations audit`` and ``label`` as a user runs them."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import html5lib
import jsonschema
import pandas as pd
import pytest

from justicia.report.generations_schema import audit_schema
from tests.cli.test_cli import run
from tests.generations.literal import REAL_GENDER

SPEC = "attributes:\n  gender: {domain: [female, male], beta: 20}\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with real labels, and that folder as the current one."""
    rows = [
        {"run": name, "gender": {"f": "female", "m": "male"}[item]}
        for name, text in REAL_GENDER.items()
        for item in text
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "s.yml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    return tmp_path


AUDIT = ("generations", "audit", "t.csv", "--spec", "s.yml", "--replicates", "50")


def test_everything_is_written_and_the_gate_closes(capsys, folder):
    code, out, err = run(capsys, *AUDIT, "--html", "r.html", "--json", "r.json", "--junit", "r.xml")
    assert code == 1
    assert "✗ breached  least_beta[attribute=gender]<=20  1 of 7 values" in out
    assert "note: runs are told apart by the column run (--by)" in err
    held = json.loads((folder / "r.json").read_text())
    jsonschema.Draft202012Validator(audit_schema()).validate(held)
    assert held["command"][:3] == ["justicia", "generations", "audit"]
    html5lib.HTMLParser(strict=True).parse((folder / "r.html").read_text())
    suite = ElementTree.parse(folder / "r.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    case = next(suite.iter("testcase"))
    assert case.get("name") == "least_beta[attribute=gender]<=20"
    assert "run poor3 is 27" in case.find("failure").get("message")


def test_report_makes_the_same_file(capsys, folder):
    run(capsys, *AUDIT, "--html", "r.html", "--json", "r.json")
    code, out, err = run(capsys, "report", "r.json", "--html", "again.html")
    assert (code, out, err) == (0, "", "")
    assert (folder / "again.html").read_bytes() == (folder / "r.html").read_bytes()


def test_an_audit_that_contradicts_itself_is_refused(capsys, folder):
    run(capsys, *AUDIT, "--json", "r.json")
    held = json.loads((folder / "r.json").read_text())
    held["sections"][0]["content"]["questions"][0]["runs"][0]["values"] = []
    (folder / "r.json").write_text(json.dumps(held))
    code, _, err = run(capsys, "report", "r.json", "--html", "again.html")
    assert code == 2
    assert "its parts contradict each other" in err
    held["sections"][0]["content"]["questions"][0]["beta"] = "many"
    (folder / "r.json").write_text(json.dumps(held))
    code, _, err = run(capsys, "report", "r.json", "--html", "again.html")
    assert code == 2
    assert "no whole audit: sections" in err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--beta", "27"), 3),  # Held by six runs; the fourth has 27 generations alone, which is too short.
        (("--beta", "30", "--where", "run=poor1,poor2,leader1,leader2"), 0),
        (("--require", "least_beta[run=leader1]<=3", "--beta", "30"), 1),
        (("--require", "mgbi>=.5", "--beta", "30", "--where", "run=leader1"), 3),
        (("--require", "coverage>=1", "--beta", "30", "--where", "run=leader1"), 3),
    ],
)
def test_exit_codes(capsys, folder, words, code):
    found, out, _ = run(capsys, *AUDIT, "--quiet", *words)
    assert found == code, out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--require", "nonsense>=1"), "nothing is called nonsense"),
        (("--spec", "none.yml"), "none.yml: there is no such spec file"),
        (("--attr", "colour"), "'colour' has no declared domain"),
        (("--json", "x", "--html", "x"), "two outputs are written to x"),
        (("--json", "t.csv"), "is read as an input"),
        (("--confidence", "2"), "the confidence lies between 0 and 1"),
        (("--where", "run=poor9"), "no row has run=poor9"),
        (("--neutral", "topic=x"), "topic"),
        (("--replicates", "0"), "replicates is a whole number from 1 on"),
    ],
)
def test_bad_calls_are_one_line(capsys, folder, words, message):
    code, out, err = run(capsys, *AUDIT, "--quiet", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (folder / "x").exists()


def test_a_table_with_a_fault_is_refused(capsys, folder):
    (folder / "t.csv").write_text("run,gender\na,female\na,robot\n")
    code, _, err = run(capsys, *AUDIT, "--quiet", "--html", "r.html")
    assert code == 2
    assert "outside its domain: 'robot' (row 2)" in err
    assert not (folder / "r.html").exists()


def test_one_of_the_files_to_standard_output(capsys, folder):
    code, out, _ = run(capsys, *AUDIT, "--json", "-")
    assert code == 1
    assert json.loads(out)["schema"] == "justicia.generations.audit/1"
    _, out, _ = run(capsys, *AUDIT, "--junit", "-")
    assert out.startswith("<?xml")


def test_junit_without_requirement_warns(capsys, folder):
    (folder / "s.yml").write_text("attributes:\n  gender: [female, male]\n")
    code, _, err = run(capsys, *AUDIT, "--junit", "r.xml")
    assert code == 0
    assert "r.xml has no test case" in err


def test_label_and_audit(capsys, folder, monkeypatch):
    (folder / "sizes.py").write_text("def label(path):\n    return {'size': path.read_text().strip() or None}\n")
    for name, text in (("a/1.png", "big"), ("a/10.png", "small"), ("a/2.png", ""), ("b/1.jpg", "big")):
        (folder / "images" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "images" / name).write_text(text)
    (folder / "images" / "b" / "2.jpg").write_bytes(b"\xff\xfe")
    words = ("generations", "label", "images", "--labeller", "sizes:label", "--out", "l.jsonl")
    code, out, _ = run(capsys, *words)
    assert code == 3
    assert "5 images in l.jsonl, 3 with every label known" in out
    assert "b/2.jpg: UnicodeDecodeError" in out
    rows = [json.loads(line) for line in (folder / "l.jsonl").read_text().splitlines()]
    assert [(row["image"], row["run"], row["step"]) for row in rows][:3] == [
        ("a/1.png", "a", 1),
        ("a/2.png", "a", 2),
        ("a/10.png", "a", 3),
    ]
    (folder / "s.yml").write_text("attributes:\n  size: [big, small]\n")
    code, out, _ = run(capsys, "generations", "audit", "l.jsonl", "--spec", "s.yml", "--quiet", "--replicates", "50")
    assert code == 0
    assert "ID" in out


def test_labellers_that_are_none(capsys, folder):
    for name, message in (("ages", "no labeller is called 'ages'"), ("no_module:x", "cannot be imported")):
        code, _, err = run(capsys, "generations", "label", ".", "--labeller", name, "--out", "l.jsonl")
        assert code == 2
        assert message in err
