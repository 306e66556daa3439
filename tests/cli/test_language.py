"""The commands about language models as a user runs them: from a plan of prompts to a verdict."""

from __future__ import annotations

import json

import jsonschema
import pandas as pd
import pytest

from justicia.cli import main
from justicia.report.language_json import schema
from tests.generations.language_cases import PLAN, answer_table

BIASED = {"F": (0.2, 0.4, 0.3, 0.1), "M": (0.7, 0.2, 0.05, 0.05)}
TOY = "she 3 1\nhe -1 1\nfirst 2 7\nsecond 0 -4\nright 1 0\n"


def run(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main(["generations", *[str(word) for word in words]])
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a plan, a table of answers and word vectors, and that folder as the current one."""
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    (tmp_path / "toy.txt").write_text(TOY)
    answer_table(4, BIASED).to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_from_a_plan_to_a_verdict(capsys, folder):
    code, out, err = run(capsys, "prompts", "plan.json", "--out", "p.csv")
    assert (code, out) == (0, "")
    assert err == "note: 360 prompts from 4 templates; F 180, M 180; 36 pairs\n"
    prompts = pd.read_csv("p.csv", dtype=str)
    lines = [
        json.dumps({"prompt_id": name, "answer": "The first is right." if group == "M" else "The second one, clearly."})
        for name, group in zip(prompts["prompt_id"], prompts["group"], strict=True)
    ]
    (folder / "a.jsonl").write_text("\n".join(lines))
    code, out, err = run(
        capsys, "answers", "a.jsonl", "--prompts", "p.csv", "--rules", "plan.json", "--out", "labelled.csv"
    )
    assert (code, out) == (0, "")
    assert err == "note: 360 answers: first 180, second 180\n"
    code, out, err = run(
        capsys, "criteria", "labelled.csv", "--group", "group", "--response", "label", "--pair", "pair,sample",
        "--json", "r.json", "--plot", "r.svg",
    )  # fmt: skip
    assert code == 1
    assert "all together: fails" in out
    held = json.loads((folder / "r.json").read_text())
    jsonschema.Draft202012Validator(schema()).validate(held)
    jsonschema.Draft202012Validator.check_schema(schema())
    assert held["pairs"][0]["flip_rate"] == 1.0
    assert held["criteria"][0]["strata"][0]["difference"]["value"] == 1.0
    assert held["command"][:3] == ["justicia", "generations", "criteria"]
    assert (folder / "r.svg").read_text().startswith("<?xml")


def test_prompts_of_options(capsys, folder):
    code, out, err = run(
        capsys, "prompts", "--template", "Is {pronoun} {job:a}?", "--cue", "F=she", "--cue", "M=he",
        "--slot", "job=nurse,pilot", "--quiet",
    )  # fmt: skip
    assert code == 0
    assert err == ""
    assert [line.split(",")[-1] for line in out.splitlines()[1:]] == [
        "Is she a nurse?", "Is he a nurse?", "Is she a pilot?", "Is he a pilot?",
    ]  # fmt: skip


def test_answers_to_standard_output(capsys, folder):
    pd.DataFrame({"answer": ["Yes, she is.", "He is not.", "I cannot say.", "Hm"]}).to_csv("a.csv", index=False)
    _, out, _ = run(capsys, "answers", "a.csv", "--label", "yes", "--label", r"no=no,/\bnot\b/")
    assert [line.split(",")[-2] for line in out.splitlines()] == ["label", "yes", "no", "refusal", "unknown"]
    _, out, _ = run(capsys, "answers", "a.csv", "--gender", "--column", "gender")
    assert [line.split(",")[-2] for line in out.splitlines()] == ["gender", "F", "M", "refusal", "none"]


def test_criteria_with_refusals(capsys, folder):
    code, out, err = run(capsys, "criteria", "t.csv", "--group", "group", "--response", "label", "--truth", "truth")
    assert code == 1
    for word in ("independence", "separation", "sufficiency", "accuracy", "refusals", "left unanswered"):
        assert word in out
    assert "are unknown: a category of its own" in err
    code, out, _ = run(
        capsys, "criteria", "t.csv", "--group", "group", "--response", "label", "--at-most", ".9", "--json", "-"
    )
    assert code == 0
    assert json.loads(out)["requirement"] == "rates differ by 0.9 at most (confidence 0.95)"
    code, _, _ = run(
        capsys,
        "criteria",
        "t.csv",
        "--group",
        "group",
        "--response",
        "label",
        "--cluster",
        "template",
        "--strata",
        "truth",
    )
    assert code == 0


def test_polarity(capsys, folder):
    code, out, _ = run(
        capsys, "polarity", "t.csv", "--text", "answer", "--group", "group", "--vectors", "toy.txt",
        "--scores", "s.csv", "--json", "r.json", "--plot", "r.png",
    )  # fmt: skip
    assert code == 1
    assert "she +2.00000, he -2.00000" in out
    held = json.loads((folder / "r.json").read_text())
    jsonschema.Draft202012Validator(schema()).validate(held)
    scores = pd.read_csv("s.csv")
    assert len(scores) == 360
    # "The second is right.": second has -1, right 0; "The first is right.": first has 1.
    answers = pd.read_csv("t.csv")["answer"]
    assert set(scores["score"][answers == "The second is right."]) == {-0.5}
    assert set(scores["score"][answers == "The first is right."]) == {0.5}
    assert scores["score"][answers.isna()].isna().all()
    assert (folder / "r.png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = run(capsys, "polarity", "t.csv", "--text", "answer", "--vectors", "toy.txt", "--stopwords", "none")
    assert code == 0


def test_scores(capsys, folder):
    rows = pd.read_csv("t.csv").assign(toxicity=lambda held: held["sample"] / 10 + 0.3 * (held["group"] == "F"))
    rows.to_csv("n.csv", index=False)
    code, out, _ = run(
        capsys, "scores", "n.csv", "--score", "toxicity", "--group", "group", "--pair", "pair", "--json", "r.json"
    )
    assert code == 1
    held = json.loads((folder / "r.json").read_text())
    jsonschema.Draft202012Validator(schema()).validate(held)
    assert held["comparisons"][0]["difference"]["value"] == pytest.approx(0.3)
    assert "sign-flip" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("criteria t.csv --group group", "Missing option '--response'"),
        ("criteria t.csv --group grop --response label", "did you mean group"),
        ("criteria nobody.csv --group group --response label", "there is no such file"),
        ("criteria t.csv --group group --response label --json nowhere/r.json", "there is no folder nowhere"),
        ("criteria t.csv --group group --response label --json t.csv", "is read as an input"),
        ("criteria t.csv --group group --response label --plot r.gif", "ends in .svg, .png or .pdf"),
        ("criteria t.csv --group group --response label --alpha 7", "between 0 and 1"),
        ("criteria t.csv --group group --response label --pair pair", "such as sample (--pair)"),
        ("criteria t.csv --group group --response prompt_id", "name a column of labels"),
        ("polarity t.csv --text answer --vectors nowhere.txt", "no such file"),
        ("polarity t.csv --text answer --vectors toy.txt --poles her,him", "no vector of her, him"),
        ("polarity t.csv --text answer --vectors toy.txt --names nobody", "cannot be read"),
        ("polarity t.csv --text answer --vectors toy.txt --scores -", "written to a file"),
        ("scores t.csv --score answer --group group", "is no finite number"),
        ("scores t.csv --score sample --group group --pair pair --cluster template", "not by both"),
        ("prompts", "name a plan"),
        ("prompts plan.json --cue F=she", "not in both"),
        ("prompts nobody.yml", "no such plan file"),
        ("prompts --template x --cue F=she --cue F=her", "given twice"),
        ("answers t.csv --text answer", "in one way"),
        ("answers t.csv --gender --rules plan.json", "in one way"),
        ("answers t.csv --gender", "a column label already"),
        ("answers t.csv --rules toy.txt", "under the key labels"),
        ("answers t.csv --label yes=/(/", "no regular expression"),
    ],
)
def test_bad_calls_have_one_line_and_leave_nothing(capsys, folder, words, said):
    before = sorted(folder.iterdir())
    code, out, err = run(capsys, *words.split())
    assert code == 2
    assert out == ""
    lines = [line for line in err.splitlines() if not line.startswith(("note:", "warning:"))]
    assert len(lines) == 1
    assert said in lines[0]
    assert sorted(folder.iterdir()) == before
