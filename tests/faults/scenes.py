"""Commands that faults are injected into, with all the files that each writes, and what makes a file a whole one."""

from __future__ import annotations

import csv
import io
import json
import pickle
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

OLD = b"what stood here before\n"
"""Content of every output before a command runs."""


@dataclass(frozen=True)
class Scene:
    """A command.

    Attributes
    ----------
    name : str
    words : tuple of str
    outputs : dict of str to callable
        Files, by what raises when their bytes are no whole output.
    stdout : callable, optional
        The same for what it prints, where that is kept.
    grows : tuple of str
        Outputs that are added to, line by line; a last line may be cut off, and the next run mends that.
    resumes : bool
        The same command, run again, has to end with the outputs of one that nothing happened to.
    codes : tuple of int
        Exit codes of a command that nothing happens to, or that ends with bounds.
    """

    name: str
    words: tuple[str, ...]
    outputs: dict[str, Callable[[bytes], object]] = field(default_factory=dict)
    stdout: Callable[[bytes], object] | None = None
    grows: tuple[str, ...] = ()
    resumes: bool = False
    codes: tuple[int, ...] = (0, 1, 3)


def _json(content: bytes) -> object:
    held = json.loads(content)
    assert held
    return held


def _schema(name: str) -> Callable[[bytes], object]:
    def read(content: bytes) -> object:
        held = json.loads(content)
        assert held["schema"] == name, held["schema"]
        return held

    return read


def _html(content: bytes) -> None:
    import html5lib

    text = content.decode()
    assert text.rstrip().endswith("</html>")
    html5lib.HTMLParser(strict=False).parse(text)


def _xml(content: bytes) -> None:
    assert ElementTree.fromstring(content).tag == "testsuites"


def _sdimacs(content: bytes) -> None:
    from justicia.ssat import from_sdimacs

    assert from_sdimacs(content.decode()).clauses


def _csv(rows: int) -> Callable[[bytes], object]:
    def read(content: bytes) -> None:
        held = list(csv.reader(io.StringIO(content.decode())))
        assert len(held) == rows + 1, len(held)
        assert content.endswith(b"\n")

    return read


def _lines(content: bytes) -> None:
    """Whole JSON lines, but for a last one."""
    for line in content.split(b"\n")[:-1]:
        json.loads(line)


def log_lines(content: bytes) -> None:
    """Lines of a run log, whole but for a last one."""
    _lines(content)


_HANGING = """
import os, subprocess, sys, time
# Ignores requests to end, leaves a child in a session of its own, and another one that holds its output open.
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
subprocess.Popen([sys.executable, "-S", "-c", code], start_new_session=True)
subprocess.Popen([sys.executable, "-S", "-c", code])
with open("filling", "wb") as file:
    for _ in range(6000):
        file.write(b"x" * 1000)
        file.flush()
        time.sleep(0.1)
"""


def prepare(folder: Path) -> None:
    """Inputs of all scenes."""
    rng = np.random.default_rng(0)
    n = 3000
    people = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice(["a", "b", "c"], n),
            "age": rng.integers(18, 80, n),
            "hours": rng.integers(1, 60, n),
            "job": rng.choice(["clerk", "cook", "nurse", "pilot"], n),
        }
    )
    chance = 0.2 + 0.3 * (people["sex"] == "m") + 0.004 * people["hours"]
    people["hired"] = np.where(rng.random(n) < chance, "yes", "no")
    people["score"] = rng.integers(0, 100, n)
    people.to_csv(folder / "people.csv", index=False)
    X, y = people[["sex", "race", "age", "hours", "job"]], people["hired"]
    steps = make_column_transformer((OneHotEncoder(), ["sex", "race", "job"]), remainder="passthrough")
    for name, model in (
        ("tree", DecisionTreeClassifier(max_depth=5, random_state=0)),
        ("boosting", GradientBoostingClassifier(n_estimators=80, max_depth=4, random_state=0)),
    ):
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(make_pipeline(steps, model).fit(X, y)))
    spec = {"run": "run", "attributes": {"gender": {"domain": ["female", "male"], "beta": 20}}}
    (folder / "spec.json").write_text(json.dumps(spec))
    labels = pd.DataFrame(
        {
            "run": np.repeat([1, 2, 3], 300),
            "step": np.tile(np.arange(300), 3),
            "gender": rng.choice(["female", "male"], 900),
        }
    )
    labels.to_csv(folder / "t.csv", index=False)
    genders = rng.choice(["female", "male"], 40_000, p=[0.1, 0.9]).tolist()
    (folder / "labels.jsonl").write_text("".join(json.dumps({"gender": one}) + "\n" for one in genders))
    (folder / "hanging.py").write_text(_HANGING)
    (folder / "images").mkdir()
    for number in range(300):
        (folder / "images" / f"{number}.png").write_bytes(b"no picture")
    (folder / "labelling.py").write_text(
        "import time\n\n\ndef gender(path):\n    time.sleep(0.002)\n"
        "    return {'gender': 'f' if int(path.stem) % 2 else 'm'}\n"
    )
    answers = pd.DataFrame(
        {"prompt_id": range(2000), "answer": rng.choice(["yes, she is", "no", "I cannot say"], 2000)}
    )
    answers.to_csv(folder / "answers.csv", index=False)


_PEOPLE = ("--data", "people.csv", "--sensitive", "sex,race", "--label", "hired", "--favorable", "yes")
_ONE_GROUPING = ("--data", "people.csv", "--sensitive", "sex", "--label", "hired", "--favorable", "yes")
_REQUIRE = ("--require", "disparate_impact>=0.5", "--require", "equal_opportunity_difference<=0.5")
_AUDIT = {"a.json": _schema("justicia.audit/1"), "a.html": _html, "a.xml": _xml, "a.log": log_lines}

SCENES = (
    Scene(
        "verify, every output",
        ("verify", "--model", "tree.pkl", *_PEOPLE, *_REQUIRE, "--json", "a.json", "--html", "a.html", "--junit",
         "a.xml", "--population-out", "p.json", "--log", "a.log"),
        {**_AUDIT, "p.json": _schema("justicia.population/1")}, grows=("a.log",),
    ),
    Scene(
        "verify, bounds",
        ("verify", "--model", "boosting.pkl", *_PEOPLE, "--population", "tree", "--tolerance", "1e-12", "--time-limit",
         "1", "--json", "a.json", "--html", "a.html", "--log", "a.log"),
        {name: _AUDIT[name] for name in ("a.json", "a.html", "a.log")},
        grows=("a.log",),
    ),
    Scene(
        "verify, an outside solver that hangs",
        ("verify", "--model", "tree.pkl", *_ONE_GROUPING, "--population", "independent", "--solver-command",
         f"{sys.executable} -S hanging.py {{file}}", "--time-limit", "0.5", "--json", "a.json"),
        {"a.json": _AUDIT["a.json"]},
    ),
    Scene(
        "verify, decisions",
        ("verify", "--decisions", "people.csv", "--decision", "hired", "--favorable", "yes", "--sensitive", "sex,race",
         "--require", "sample.disparate_impact>=0.5", "--json", "a.json", "--junit", "a.xml"),
        {name: _AUDIT[name] for name in ("a.json", "a.xml")},
    ),
    Scene(
        "compare",
        ("compare", "--model", "tree.pkl", *_PEOPLE, "--tool", "none", "--json", "c.json", "--html", "c.html"),
        {"c.json": _schema("justicia.comparison/1"), "c.html": _html},
    ),
    Scene(
        "encode", ("encode", "--model", "tree.pkl", *_PEOPLE, "--population", "tree", "--out", "f.sdimacs"),
        {"f.sdimacs": _sdimacs},
    ),
    Scene(
        "encode > FILE", ("encode", "--model", "tree.pkl", *_PEOPLE, "--population", "tree"), stdout=_sdimacs,
    ),
    Scene("solve", ("solve", "given.sdimacs", "--json", "s.json"), {"s.json": _json}),
    Scene(
        "population fit", ("population", "fit", *_PEOPLE[1:], "--out", "p.json"),
        {"p.json": _schema("justicia.population/1")},
    ),
    Scene(
        "population sample", ("population", "sample", "given.json", "--rows", "20000", "--out", "drawn.csv"),
        {"drawn.csv": _csv(20000)},
    ),
    Scene("report", ("report", "audit.json", "--html", "r.html"), {"r.html": _html}),
    Scene("selftest", ("selftest", "--seconds", "4", "--json", "s.json"), {"s.json": _json}),
    Scene(
        "generations audit",
        ("generations", "audit", "t.csv", "--spec", "spec.json", "--json", "a.json", "--html", "a.html", "--junit",
         "a.xml"),
        {"a.json": _schema("justicia.generations.audit/1"), "a.html": _html, "a.xml": _xml},
    ),
    Scene(
        "generations enforce",
        ("generations", "enforce", "labels.jsonl", "--spec", "spec.json", "--state", "state.json", "--out",
         "decisions.jsonl"),
        {"state.json": _json, "decisions.jsonl": _lines}, grows=("state.json", "decisions.jsonl"), resumes=True,
    ),
    Scene(
        "generations label",
        ("generations", "label", "images", "--labeller", "labelling:gender", "--out", "rows.jsonl"),
        {"rows.jsonl": _lines}, grows=("rows.jsonl",), resumes=True,
    ),
    Scene(
        "generations answers",
        ("generations", "answers", "answers.csv", "--gender", "--out", "labelled.csv"), {"labelled.csv": _csv(2000)},
    ),
)  # fmt: skip
