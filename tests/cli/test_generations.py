"""``justicia generations`` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys

import jsonschema
import pandas as pd
import pytest

from justicia.cli import main
from justicia.report.generations_json import schema
from tests.generations.literal import REAL_DOMAINS, REAL_GENDER, real_combinations


def run(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main(["generations", *[str(word) for word in words]])
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


def valid(text):
    held = json.loads(text)
    validator = jsonschema.Draft202012Validator(schema())
    validator.check_schema(schema())
    validator.validate(held)
    return held


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with real labels, and that folder as the current one."""
    rows = [
        {"run": run_name, "topic": run_name.rstrip("1234"), "gender": {"f": "female", "m": "male"}[item]}
        for run_name, text in REAL_GENDER.items()
        for item in text
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    pd.DataFrame(real_combinations()).to_csv(tmp_path / "real.csv", index=False)
    spec = "attributes:\n" + "".join(f"  {name}: {json.dumps(domain)}\n" for name, domain in REAL_DOMAINS.items())
    (tmp_path / "s.yml").write_text(spec)
    monkeypatch.chdir(tmp_path)
    return tmp_path


SMALL = ("--attr", "gender", "--domain", "female,male", "--by", "run")


def test_a_small_question_needs_no_spec(capsys, folder):
    code, out, err = run(capsys, "seq", "t.csv", *SMALL, "--beta", "20", "--json", "r.json")
    assert code == 1
    assert "poor3" in out
    assert "female is missing from the first 26 generations, until step 27" in out
    assert "all together: fails" in out
    assert err == "note: generations are in table order (--step)\n"
    held = valid((folder / "r.json").read_text())
    assert [one["beta_star"] for one in held["results"]] == [14, 13, 27, 20, 4, 6, 4]
    assert [one["verdict"] for one in held["results"]].count("fails") == 1
    assert held["results"][2]["witness"]["gap"] == 27
    assert held["results"][2]["interval"] == {"lo": 27, "hi": 27}
    assert held["command"][:3] == ["justicia", "generations", "seq"]
    assert len(held["data"]["sha256"]) == 64


def test_verdicts_are_exit_codes(capsys, folder):
    where = ("--where", "topic=leader")
    assert run(capsys, "seq", "t.csv", *SMALL, *where, "--beta", "6")[0] == 0
    assert run(capsys, "seq", "t.csv", *SMALL, *where, "--beta", "5")[0] == 1
    assert run(capsys, "seq", "t.csv", *SMALL, *where, "--beta", "40")[0] == 3
    assert run(capsys, "seq", "t.csv", *SMALL, *where)[0] == 0
    assert run(capsys, "seq", "t.csv", *SMALL, "--where", "topic=leder")[0] == 2


def test_json_alone_on_standard_output(capsys, folder, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    texts = [run(capsys, "seq", "t.csv", *SMALL, "--json", "-", "--quiet") for _ in range(2)]
    assert texts[0] == texts[1]
    code, out, err = texts[0]
    assert (code, err) == (0, "")
    held = valid(out)
    assert held["created"] == "1970-01-01T00:00:00Z"
    assert held["results"][0]["beta"] is None


def test_unknown_labels_open_an_interval(capsys, folder):
    (folder / "u.csv").write_text("gender\nmale\nfemale\n?\n?\n?\n?\nmale\nfemale\n")
    asked = ("seq", "u.csv", "--attr", "gender", "--domain", "female,male", "--unknown", "?", "--json", "-")
    code, out, err = run(capsys, *asked, "--beta", "4")
    held = valid(out)["results"][0]
    assert (code, held["beta_star"], held["interval"], held["verdict"]) == (3, None, {"lo": 2, "hi": 6}, "undecided")
    assert "4 labels of gender are unknown" in err
    text = run(capsys, *asked[:-2], "--beta", "4")[1]
    assert "2 to 6" in text
    assert "undecided" in text


def test_several_questions_lassos_and_evidence(capsys, folder):
    words = [
        "seq",
        "real.csv",
        "--spec",
        "s.yml",
        "--off-domain",
        "none",
        "--attr",
        "gender",
        "--attr",
        "gender,body_type",
    ]
    code, out, _ = run(capsys, *words, "--beta", "gender=3", "--beta", "gender,body_type=30", "--json", "-")
    held = valid(out)
    assert code == 1
    assert {tuple(one["attribute"]): one["beta"] for one in held["results"]} == {
        ("gender",): 3,
        ("gender", "body_type"): 30,
    }
    (folder / "l.csv").write_text("context,v\nneutral,a\nneutral,b\nneutral,a\nneutral,a\n")
    asked = ("seq", "l.csv", "--attr", "v", "--domain", "a,b", "--loop-from", "2", "--beta", "3")
    code, out, _ = run(capsys, *asked, "--neutral", "context=neutral", "--json", "-")
    held = valid(out)
    assert (code, held["results"][0]["infinite"], held["results"][0]["beta_star"]) == (0, True, 3)
    assert held["evidence"][0]["verdicts"]["holds"] == 1
    assert "evidence, not proof" in run(capsys, *asked, "--neutral", "context=neutral")[1]


def test_check_lists_what_is_wrong(capsys, folder):
    code, out, _ = run(capsys, "check", "real.csv", "--spec", "s.yml", "--json", "c.json")
    assert code == 1
    assert "1 label of occupation outside its domain: 'others' (row 13)" in out
    assert "1 label of ethnicity is blank" in out
    assert "never generated in any run: armed_forces" in out
    assert "1 fault to mend" in out
    kinds = [one["kind"] for one in valid((folder / "c.json").read_text())["findings"]]
    assert {"off_domain", "blank", "never_seen", "missing_steps"} == set(kinds)
    assert run(capsys, "check", "t.csv", *SMALL)[0] == 0


def test_coverage_with_suggestions(capsys, folder):
    words = ("cover", "real.csv", "--spec", "s.yml", "--off-domain", "none")
    code, out, _ = run(capsys, *words, "--suggest", "2", "--least", ".4", "--json", "-")
    held = valid(out)
    assert code == 1
    assert [one["covered"]["lo"] for one in held["results"]] == [15, 37, 30, 35, 35, 47]
    assert held["results"][0]["suggestions"][0]["new"] == 6
    assert held["results"][0]["curve"] == [[1, 6], [2, 9], [3, 12], [4, 15]]
    text = run(capsys, *words, "--suggest", "1")[1]
    assert "ask next (1)" in text
    assert "0.331" in text
    assert run(capsys, *words, "--attrs", "gender,body_type", "--least", "1/4")[0] == 0


def test_bad_calls_are_one_line(capsys, folder):
    (folder / "no.csv").write_text("gender\n")
    for words, said in (
        (("seq", "none.csv", *SMALL), "there is no such file"),
        (("seq", "no.csv", *SMALL), "no.csv has no rows"),
        (("seq", "t.csv", "--attr", "gender", "--attr", "run", "--domain", "a,b"), "names no attribute"),
        (("seq", "t.csv", *SMALL, "--beta", "0"), "beta is a whole number from 1 on"),
        (("seq", "t.csv", *SMALL, "--beta", "a=b=c", "--beta", "x"), "not of the form"),
        (("seq", "t.csv", *SMALL, "--json", "t.csv"), "would be written over"),
        (("seq", "t.csv", "--attr", "gendr", "--domain", "female,male"), "did you mean gender?"),
        (("seq", "t.csv", "--attr", "gender", "--domain", "fem,male"), "outside its domain: 'female'"),
        (("seq", "t.csv"), "no attribute is named"),
        (("cover", "t.csv", "--attrs", "gender", "--domain", "gender=female,male"), "t is 2"),
        (("check", "t.csv", "--spec", "none.yml"), "no such spec file"),
        (("simulate", "--values", "4", "--beta", "3"), "beta 3 is less than the number of values, 4"),
        (("enforce", "--attr", "g", "--domain", "a,b"), "attribute g needs a beta"),
        (("enforce", "none.jsonl", "--attr", "g", "--domain", "a,b", "--beta", "3"), "none.jsonl"),
        (("enforce", "--spec", "s.yml", "--state", "x", "--out", "x"), "two outputs are written to x"),
    ):
        code, out, err = run(capsys, *words, *(() if words[0] in ("simulate", "enforce") else ("--quiet",)))
        assert code == 2, words
        assert said in err, (words, err)
        assert err.count("\n") == 1
        assert out == ""
    assert sorted(path.name for path in folder.iterdir()) == ["no.csv", "real.csv", "s.yml", "t.csv"]


def test_simulations(capsys, folder):
    words = ("simulate", "--values", "4", "--beta", "12", "--generator", "constant", "--steps", "12000")
    code, out, _ = run(capsys, *words, "--json", "-")
    held = valid(out)
    assert (code, held["interference"], held["misses"], held["beta_star"]) == (0, 0.25, 0, 12)
    code, out, _ = run(capsys, *words, "--fail", ".2")
    assert code == 1
    assert "misses" in out


def test_enforcement_on_a_file(capsys, folder):
    (folder / "labels.jsonl").write_text('"male"\n"male"\n"female"\n')
    asked = ("enforce", "labels.jsonl", "--attr", "gender", "--domain", "female,male", "--beta", "3")
    code, out, err = run(capsys, *asked, "--state", "s.json", "--out", "log")
    assert (code, out) == (0, "")
    assert err == "note: 3 generations, 1 enforced, 0 of these failed, 0 values missed\n"
    steps = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    assert [one["step"] for one in steps] == [0, 1, 2, 3]
    assert steps[2]["next"]["gender"]["value"] == "female"
    err = run(capsys, *asked, "--state", "s.json", "--out", "log")[2]
    assert "(3 lines were decided before)" in err
    (folder / "labels.jsonl").write_text('"male"\n"male"\n"female"\n"male"\n"male"\n"male"\n')
    assert run(capsys, *asked, "--state", "s.json", "--out", "log")[0] == 1
    assert len((folder / "log").read_text().splitlines()) == 7


def test_enforcement_answers_each_line_of_a_pipe_at_once(folder):
    words = ["generations", "enforce", "--attr", "v", "--domain", "a,b", "--beta", "2", "--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-m", "justicia", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    with process:
        shown = []
        # The first reply comes before any label: with beta = 2, the first place may not be wasted either.
        reply = json.loads(process.stdout.readline())
        for _ in range(5):
            value = reply["next"]["v"]["value"]
            shown.append(value)
            process.stdin.write(json.dumps({"v": value}) + "\n")
            process.stdin.flush()
            reply = json.loads(process.stdout.readline())
        process.stdin.close()
    assert shown == ["a", "b", "a", "b", "a"]
    assert process.returncode == 0


def test_the_group_is_light_to_import():
    heavy = "('numpy', 'pandas', 'rich', 'yaml')"
    code = f"import sys, justicia.cli.generations; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
