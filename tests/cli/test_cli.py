"""The command as a user runs it."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import subprocess
import sys

import jsonschema
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from justicia.cli import cli, main
from justicia.report.json import schema


def run(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder with people.csv and tree.pkl, and that folder as the current one."""
    frame = pd.DataFrame({"sex": list("fm") * 20, "x": [0, 0, 1, 1] * 10, "hired": ["no", "yes"] * 20})
    frame.to_csv(tmp_path / "people.csv", index=False)
    label = ["no" if x == 0 else "yes" for x in frame["x"]]
    (tmp_path / "tree.pkl").write_bytes(pickle.dumps(DecisionTreeClassifier().fit(frame[["x"]], label)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_road_on_adult_with_no_option(capsys, adult_files):
    code, out, err = run(capsys, "verify", "--model", adult_files / "tree.pkl", "--data", adult_files / "adult.csv")
    assert code == 0
    assert "race x sex: 10 groups" in out
    assert "0 mismatches with predict on 32,561 rows" in out
    assert "override with --sensitive" in err
    code, out, err = run(
        capsys, "verify", "--model", adult_files / "tree.pkl", "--data", adult_files / "adult.csv", "--json", "-"
    )
    audit = json.loads(out)
    jsonschema.Draft202012Validator(schema()).validate(audit)
    assert audit["self_check"]["mismatches"] == 0
    assert audit["self_check"]["rows"] == 32_561
    assert [grouping["sensitive"] for grouping in audit["groupings"]] == [["race", "sex"], ["race"], ["sex"]]
    assert len(audit["groupings"][0]["groups"]) == 10
    assert audit["label"] == "income"
    assert audit["favorable"] == ">50K"
    assert audit["command"][:2] == ["justicia", "verify"]
    assert audit["data"]["source"] == "adult.csv"


def test_names_and_values_alone_settle_label_and_sensitive_columns(capsys, small):
    code, out, err = run(capsys, "verify", "--model", "tree.pkl", "--data", "people.csv", "--json", "-")
    audit = json.loads(out)
    assert code == 0
    assert audit["sensitive"] == ["sex"]
    assert audit["label"] == "hired"
    assert audit["favorable"] == "yes"
    assert audit["groupings"][0]["groups"][0]["positives"] == 0
    for option in ("--sensitive", "--label", "--favorable"):
        assert option in err


def test_exit_codes_of_requirements(capsys, small):
    verify = ("verify", "--model", "tree.pkl", "--data", "people.csv")
    assert run(capsys, *verify, "--require", "disparate_impact>=0.8")[0] == 0
    code, out, _ = run(capsys, *verify, "--require", "disparate_impact>=0.8", "--require", "disparate_impact<=0.5")
    assert code == 1
    assert "✓ met" in out
    assert "✗ breached" in out
    nobody = DecisionTreeClassifier().fit([[0], [1]], ["no", "no"])
    (small / "none.pkl").write_bytes(pickle.dumps(nobody))
    options = ("--features", "x", "--label", "hired", "--favorable", "yes", "--require", "disparate_impact>=0.8")
    code, out, _ = run(capsys, "verify", "--model", "none.pkl", "--data", "people.csv", *options)
    assert code == 3
    assert "every selection rate is 0" in out


BAD = {
    "no such table": (("--data", "none.csv"), "none.csv: there is no such file"),
    "no such model": (("--model", "none.pkl"), "none.pkl: there is no such file"),
    "model name": (("--model", "tre"), "did you mean tree"),
    "sensitive": (("--sensitive", "sx"), "did you mean sex"),
    "empty sensitive": (("--sensitive", ""), "sensitive column"),
    "label": (("--label", "hird"), "did you mean hired"),
    "favorable": (("--favorable", "Yes"), "did you mean yes"),
    "population": (("--population", "treee"), "did you mean tree"),
    "requirement": (("--require", "disparate_impact=>0.8"), "measure>=number"),
    "measure": (("--require", "disparate>=0.8"), "disparate_impact"),
    "confidence": (("--confidence", "95"), "between 0 and 1"),
    "option": (("--sensitve", "sex"), "--sensitive"),
    "solver": (("--solver", "sat"), "there are: auto, paths"),
    "json folder": (("--json", "."), "is a folder"),
    "json nowhere": (("--json", "no/where.json"), "no/where.json cannot be written"),
    "search": (("--search", "find"), "enumerate"),
    "few replicates": (("--bootstrap", "38"), "39 at least"),
    "fewer than none": (("--bootstrap", "-1"), "number of replicates"),
    "too many replicates": (("--bootstrap", "1000000000"), "number of replicates"),
    "replicates": (("--bootstrap", "many"), "many"),
    "no confidence": (("--confidence", "0"), "confidence 0 does not lie between 0 and 1"),
    "certainty": (("--confidence", "1"), "confidence 1 does not lie between 0 and 1"),
    "percent": (("--confidence", "95"), "confidence 95 does not lie between 0 and 1"),
    "confidence unknown": (("--confidence", "nan"), "confidence nan does not lie between 0 and 1"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_calls_give_one_line_and_exit_code_two(capsys, small, kind):
    words, says = BAD[kind]
    options = {"--model": "tree.pkl", "--data": "people.csv", words[0]: words[1]}
    code, _, err = run(capsys, "verify", *(word for pair in options.items() for word in pair))
    assert code == 2
    last = [line for line in err.splitlines() if line.startswith("justicia: ")]
    assert len(last) == 1
    assert says in last[0]
    assert "Traceback" not in err


def test_unknown_command_and_no_command(capsys):
    code, _, err = run(capsys, "verfy")
    assert code == 2
    assert "verfy" in err
    code, out, err = run(capsys)
    assert code == 2
    assert "Usage" in out + err
    code, out, _ = run(capsys, "--version")
    assert code == 0
    assert "justicia" in out


def test_a_mismatch_exits_with_four(capsys, small, monkeypatch):
    from justicia import encoders

    original = encoders.encode

    def sabotage(*arguments):
        decision, domain = original(*arguments)
        decision.accepts[:] = ~decision.accepts
        return decision, domain

    monkeypatch.setattr(encoders, "encode", sabotage)
    code, out, err = run(capsys, "verify", "--model", "tree.pkl", "--data", "people.csv", "--json", "out.json")
    assert code == 4
    assert out == ""
    assert "the first is row 1" in err
    assert not (small / "out.json").exists()


def test_debug_shows_the_traceback(small):
    with pytest.raises(Exception, match="no such file"):
        main(["verify", "--model", "tree.pkl", "--data", "none.csv", "--debug"])


def test_equal_inputs_give_equal_bytes(capsys, small, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    texts = [run(capsys, "verify", "--model", "tree.pkl", "--data", "people.csv", "--json", "-")[1] for _ in range(2)]
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["created"] == "2023-11-14T22:13:20Z"


def test_json_file_is_written_whole_beside_the_table(capsys, small):
    code, out, _ = run(capsys, "verify", "--model", "tree.pkl", "--data", "people.csv", "--json", "a b.json")
    assert code == 0
    assert "Audit by justicia" in out
    jsonschema.validate(json.loads((small / "a b.json").read_text()), schema())
    assert sorted(path.name for path in small.iterdir()) == ["a b.json", "people.csv", "tree.pkl"]


def test_bounds_and_bootstrap(capsys, small):
    options = ("--population", "tree", "--bounds", "--bootstrap", "60", "--confidence", "0.9", "--json", "a.json")
    verify = ("verify", "--model", "tree.pkl", "--data", "people.csv", *options)
    code, out, _ = run(capsys, *verify, "--require", "disparate_impact>=0.8")
    assert code == 0
    for says in ("confidence box", "given structure", "parametric bootstrap, 60 replicates at confidence 0.9"):
        assert says in out
    assert "on both sides of the limit" in " ".join(out.split())
    held = json.loads((small / "a.json").read_text())
    jsonschema.validate(held, schema())
    (grouping,) = held["groupings"]
    for group in grouping["groups"]:
        rate, sample = group["selection_rate"], group["sample_rate"]
        assert rate["interval"]["confidence"] == 0.9
        assert rate["confidence_box"]["lo"] < rate["interval"]["lo"] < rate["lo"] < rate["interval"]["hi"]
        assert rate["confidence_box"]["hi"] > rate["interval"]["hi"]
        assert sample["simultaneous"]["lo"] < sample["lo"]
        assert sample["simultaneous"]["hi"] > sample["hi"]
    assert grouping["bootstrap"] == {"replicates": 60, "reached": 60, "stopped": None}
    assert grouping["measures"]["disparate_impact"]["interval"]["lo"] < 0.8
    again = (*verify, "--require", "disparate_impact>=0.8")
    run(capsys, *again)
    assert json.loads((small / "a.json").read_text())["groupings"] == held["groupings"]
    run(capsys, *again, "--seed", "7")
    assert json.loads((small / "a.json").read_text())["groupings"] != held["groupings"]


def test_without_options_the_three_errors_are_named(capsys, small):
    code, out, _ = run(capsys, "verify", "--model", "tree.pkl", "--data", "people.csv", "--json", "a.json")
    assert code == 0
    lines = [line.strip() for line in out.splitlines()]
    (first,) = [place for place, line in enumerate(lines) if line.startswith("errors ") and "most favored" in line]
    assert lines[first].split("  ")[-3:] == ["most favored", "least favored", "disparate impact"]
    assert lines[first + 1].split() == ["verification", "0", "0", "0"]
    assert [line.split()[0] for line in lines[first + 2 : first + 4]] == ["sampling", "structure"]
    assert all(len(line.split()) == 4 for line in lines[first + 2 : first + 4])
    (grouping,) = json.loads((small / "a.json").read_text())["groupings"]
    assert grouping["bootstrap"] is None
    assert grouping["bounds"]["confidence_box"]["reason"]["tpr"] == "not asked for: pass --bounds"
    assert grouping["groups"][0]["selection_rate"]["confidence_box"] is None


def test_markup_in_values_is_shown_as_it_is(capsys, small):
    frame = pd.read_csv("people.csv")
    frame["sex"] = frame["sex"].map({"f": "[bold red]", "m": "<script>"})
    frame.to_csv("people.csv", index=False)
    _, out, _ = run(capsys, "verify", "--model", "tree.pkl", "--data", "people.csv")
    assert "[bold red]" in out
    assert "<script>" in out


def test_semicolons_blanks_and_words(capsys, small):
    text = (small / "people.csv").read_text()
    (small / "s.csv").write_text(text.replace(",", ";"))
    code, _, err = run(capsys, "verify", "--model", "tree.pkl", "--data", "s.csv")
    assert code == 2
    assert "pass --delimiter ';'" in err
    code, out, _ = run(capsys, "verify", "--model", "tree.pkl", "--data", "s.csv", "--delimiter", ";", "--json", "-")
    assert code == 0
    (small / "b.csv").write_text(text.replace(",", ", "))
    code, blank, err = run(capsys, "verify", "--model", "tree.pkl", "--data", "b.csv", "--json", "-")
    assert "blanks around" in err
    assert json.loads(blank)["groupings"] == json.loads(out)["groupings"]


def test_the_intersection_fixture(capsys, tmp_path, monkeypatch):
    # Selected of total: male-H 30/60, male-W 40/100, female-H 10/40, female-W 45/90.
    monkeypatch.chdir(tmp_path)
    cells = {("male", "H"): (30, 60), ("male", "W"): (40, 100), ("female", "H"): (10, 40), ("female", "W"): (45, 90)}
    rows = [(sex, race, int(i < k)) for (sex, race), (k, n) in cells.items() for i in range(n)]
    frame = pd.DataFrame(rows, columns=["sex", "race", "x"])
    frame.to_csv("d.csv", index=False)
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(DecisionTreeClassifier().fit(frame[["x"]], frame["x"])))
    sensitive = ("--sensitive", "sex", "--sensitive", "race", "--sensitive", "sex,race")
    model = ("verify", "--model", "m.pkl", "--data", "d.csv", "--population", "empirical")
    _, out, _ = run(capsys, *model, *sensitive, "--json", "-")
    groupings = json.loads(out)["groupings"]
    assert [round(held["measures"]["disparate_impact"]["lo"], 3) for held in groupings] == [0.967, 0.894, 0.5]


def test_bins_and_missing_on_the_command_line(capsys, small):
    frame = pd.read_csv("people.csv")
    frame["age"] = range(20, 60)
    frame.loc[0, "age"] = None
    frame.to_csv("people.csv", index=False)
    verify = ("verify", "--model", "tree.pkl", "--data", "people.csv", "--sensitive", "age")
    assert "--missing group" in run(capsys, *verify)[2]
    assert "--bins age=25,40\n" in run(capsys, *verify, "--missing", "drop")[2]
    code, out, _ = run(capsys, *verify, "--missing", "group", "--bins", "age=30,45", "--json", "-")
    assert code == 0
    groups = [held["group"]["age"] for held in json.loads(out)["groupings"][0]["groups"]]
    assert groups == ["<= 30", "(30, 45]", "> 45", "(missing)"]
    assert run(capsys, *verify, "--bins", "age")[0] == 2


def test_datasets_are_listed_and_exported(capsys):
    code, out, _ = run(capsys, "datasets")
    assert code == 0
    assert all(name in out for name in ("adult", "compas", "german", "ricci", "titanic"))
    assert run(capsys, "datasets", "export", "adlut")[2].count("did you mean adult") == 1


def command(*words, **options):
    return subprocess.run([sys.executable, "-m", "justicia", *words], capture_output=True, text=True, **options)


def test_the_process_itself(small):
    done = command("datasets", "export", "ricci")
    assert done.returncode == 0
    assert done.stdout.startswith("position,oral,written,race,combine,passed\n")
    assert len(done.stdout.splitlines()) == 119
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    done = command("verify", "--model", "tree.pkl", "--data", "people.csv", env=environment)
    assert done.returncode == 0, done.stderr


def test_a_reader_that_leaves_early_is_no_error():
    line = f"{sys.executable} -m justicia datasets export adult | head -1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert done.stdout.startswith("age,")
    assert done.stderr == ""


def test_every_option_of_verify_has_its_section_in_the_help(capsys):
    code, out, _ = run(capsys, "verify", "--help")
    assert code == 0
    sections = re.split(r"^([A-Z][^\n]*):$", out, flags=re.MULTILINE)
    assert "Requirements" in sections
    other = sections[sections.index("Other") + 1]
    assert re.findall(r"^ +(?:-h, )?(--[a-z-]+)", other, flags=re.MULTILINE) == ["--debug", "--help"]
    listed = re.findall(r"^  (?:-h, )?(--[a-z-]+)", out, flags=re.MULTILINE)
    assert len(listed) == len(set(listed)) == len(cli.commands["verify"].params) + 1
    assert "Exit codes: 0 done" in " ".join(out.split())


def test_names_with_commas_and_blanks_stand_between_quotes(capsys, small):
    frame = pd.read_csv("people.csv").rename(columns={"sex": "sex, self-reported"})
    frame.to_csv("quoted.csv", index=False)
    words = ("verify", "--model", "tree.pkl", "--data", "quoted.csv", "--json", "-")
    code, out, err = run(capsys, *words, "--sensitive", '"sex, self-reported"')
    assert code == 0, err
    assert json.loads(out)["sensitive"] == ["sex, self-reported"]
    code, _, err = run(capsys, *words, "--sensitive", "sex self-reported")
    assert code == 2
    assert 'did you mean "sex, self-reported"?' in err


def test_solve_reads_standard_input(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"p cnf 1 1\nr 0.25 1 0\n1 0\n")))
    code, out, _ = run(capsys, "solve")
    assert code == 0
    assert "0.25" in out
