"""Names of files that are folders, loops, pipes, devices, empty or too long, and names that are odd and good."""

from __future__ import annotations

import json
import os

import pytest

from fuzzing import texts
from justicia.cli import main

PEOPLE = "sex,age,pay,job,out\n" + "".join(
    f"{'MF'[i % 2]},{20 + i},{40 + 3 * i},{'xyz'[i % 3]},{('yes', 'no')[i % 4 == 0]}\n" for i in range(24)
)
GENERATED = "run,step,gender,group,text\n" + "".join(
    f"a,{i + 1},{('female', 'male')[i % 2]},{'FM'[i % 2]},she is kind\n" for i in range(8)
)
SPEC = json.dumps({"run": "run", "step": "step", "attributes": {"gender": {"domain": ["female", "male"], "beta": 6}}})

DECISIONS = "verify --decision out --favorable yes --sensitive sex --quiet --decisions"
RULE = "verify --model good.rule --label out --favorable yes --sensitive sex --quiet"
READERS = {
    "model": ("verify --data good.csv --sensitive sex --label out --favorable yes --quiet --model", ".pkl"),
    "rule": ("verify --data good.csv --sensitive sex --label out --favorable yes --quiet --model", ".rule"),
    "data": (f"{RULE} --data", ".csv"),
    "parquet": (f"{RULE} --data", ".parquet"),
    "stream": (f"{RULE} --stream --data", ".csv"),
    "decisions": (DECISIONS, ".csv"),
    "population": (f"{RULE} --data good.csv --population", ".json"),
    "bif": ("population show", ".bif"),
    "sample": ("population sample --rows 3 --out -", ".json"),
    "fit": ("population fit --out - --sensitive sex --quiet", ".csv"),
    "encode": ("encode --model good.rule --sensitive sex --group sex=M --favorable yes --data", ".csv"),
    "solve": ("solve", ".sdimacs"),
    "report": ("report --html -", ".json"),
    "check": ("generations check --spec good.json", ".csv"),
    "lines": ("generations check --spec good.json", ".jsonl"),
    "spec": ("generations check generated.csv --spec", ".yml"),
    "plan": ("generations prompts", ".json"),
    "answers": ("generations answers --text text --rules", ".yml"),
    "vectors": ("generations polarity generated.csv --text text --quiet --vectors", ".txt"),
    "labels": ("generations enforce --spec good.json --quiet", ".jsonl"),
    "configuration": (f"{DECISIONS} good.csv --config", ".toml"),
}
TAKES_NOTHING = {("labels", "empty"), ("labels", "/dev/null"), ("configuration", "empty")}
WAITS = {"solve", "report", "labels"}
"""Commands that read from a pipe, for which somebody has to write."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "good.csv").write_text(PEOPLE)
    (tmp_path / "good.rule").write_bytes(texts.RULE)
    (tmp_path / "good.json").write_text(SPEC)
    (tmp_path / "generated.csv").write_text(GENERATED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, words):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


def made(kind, suffix):
    """A path of some kind."""
    if kind == "/dev/null":
        return kind
    name = "x" * 300 + suffix if kind == "long" else f"{kind}{suffix}"
    if kind == "folder":
        os.mkdir(name)
    elif kind == "loop":
        os.symlink(name, name)
    elif kind == "pipe":
        os.mkfifo(name)
    elif kind == "empty":
        open(name, "w").close()
    return name


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["missing", "folder", "loop", "long", "empty", "/dev/null", "pipe"])
def test_what_is_no_file_is_told_in_one_line(capsys, folder, reader, kind):
    if (reader, kind) in TAKES_NOTHING or (kind == "pipe" and reader in WAITS):
        pytest.skip("is taken")
    words, suffix = READERS[reader]
    before = set(os.listdir())
    path = made(kind, suffix)
    given = (
        [*words.split(), path]
        if reader != "answers"
        else ["generations", "answers", "generated.csv", *words.split()[2:], path]
    )
    code, out, err = run(capsys, given)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1, err
    assert err.startswith("justicia: ")
    assert "unexpected" not in err
    assert set(os.listdir()) - before <= {path}


@pytest.mark.parametrize("name", ["a b.csv", "ünï-日本.csv", "-x.csv", "--help.csv", "a'b\".csv", "*.csv", "a\tb.csv"])
def test_odd_names_that_are_good(capsys, folder, name):
    (folder / name).write_text(PEOPLE)
    (folder / "-.rule").write_bytes(texts.RULE)
    for data in (name, f"./{name}"):
        code, out, _ = run(capsys, [*DECISIONS.split(), data, "--json", "-"])
        assert code == 0
        assert json.loads(out)["data"]["source"] == name
    code, out, err = run(capsys, ["population", "fit", "--out", "-", "--sensitive", "sex", "--quiet", "--", name])
    assert (code, json.loads(out)["data"]["source"]) == (0, name), err
    code, _, err = run(capsys, [*RULE.replace("good.rule", "-.rule").split(), "--data", name])
    assert code == 0, err


def test_a_name_that_is_no_text(capsys, folder):
    name = os.fsdecode(b"p\xff.csv")
    try:
        (folder / name).write_text(PEOPLE)
    except OSError:
        pytest.skip("such a name is impossible here")
    words = [*DECISIONS.split(), name, "--require", "sample.disparate_impact>=0.1"]
    code, _, err = run(capsys, [*words, "--json", "a.json", "--html", "a.html", "--junit", "a.xml"])
    assert code in (0, 1, 3), err
    assert json.loads((folder / "a.json").read_text("utf-8"))["data"]["source"] == name
    assert r"p\udcff.csv" in (folder / "a.html").read_text("utf-8")
    (folder / "a.xml").read_text("utf-8")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="whoever may read all files is refused none")
def test_files_without_permission(capsys, folder):
    for name in ("good.csv", "good.rule"):
        (folder / name).chmod(0)
    code, out, err = run(capsys, [*DECISIONS.split(), "good.csv"])
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "Permission denied" in err
