"""Every command shows on a terminal what it does when that takes long, and nothing elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals are those of POSIX")

ROOT = Path(__file__).parents[2]

_AT_ONCE = """
import sys
from justicia import progress
progress.PATIENCE = 0.0
from justicia.__main__ import main
sys.argv = ["justicia", *sys.argv[1:]]
main()
"""
"""The command, with what takes long shown at once."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("terminal")
    rng = np.random.default_rng(0)
    n = 200
    (path / "f.sdimacs").write_text("p cnf 2 1\nr 0.5 1 2 0\n1 2 0\n")
    (path / "spec.json").write_text('{"attributes": {"g": {"domain": ["a", "b"], "beta": 9}}}')
    (path / "labels.jsonl").write_text("".join(f'{{"g": "{one}"}}\n' for one in "ab" * 100))
    table = pd.DataFrame(
        {
            "g": rng.choice(["a", "b"], n),
            "context": rng.choice(["neutral", "job"], n),
            "text": rng.choice(["a cat", "a dog", "she ran"], n),
            "axis": "animal",
            "counterfactual": rng.choice(["", "cat", "dog"], n),
            "label": rng.choice(["yes", "no"], n),
            "score": rng.random(n),
        }
    )
    table.to_csv(path / "t.csv", index=False)
    words = ("she", "he", "cat", "dog", "ran")
    (path / "glove.txt").write_text("".join(f"{word} {number} 1 0.5\n" for number, word in enumerate(words)))
    return path


_COMMANDS = {
    "verify": ("verify --model tree --data ricci", "encoding the model"),
    "compare": ("compare --model tree --data ricci --tool none", "encoding the model"),
    "encode": ("encode --model tree --data ricci --population tree", "writing the formula"),
    "solve": ("solve f.sdimacs", "reading the formula"),
    "selftest": ("selftest --seconds 0.2", "question"),
    "fit": ("population fit ricci --out p.json", "fitting the people"),
    "check": ("generations check t.csv --spec spec.json", "judging the labels"),
    "seq": ("generations seq t.csv --spec spec.json", "judging the labels"),
    "cover": ("generations cover t.csv --spec spec.json --t 1", "judging the labels"),
    "diversity": ("generations diversity t.csv --spec spec.json", "measuring diversity"),
    "association": ("generations association t.csv --text text", "scoring axes"),
    "audit": ("generations audit t.csv --spec spec.json", "reading the table"),
    "enforce": ("generations enforce labels.jsonl --spec spec.json --out d.jsonl", "deciding about labels.jsonl"),
    "simulate": ("generations simulate --values 3 --beta 9 --steps 2000", "simulating 2,000 generations"),
    "answers": ("generations answers t.csv --gender --text text --column said --out l.csv", "labelling the answers"),
    "criteria": ("generations criteria t.csv --group g --response label", "testing the answers"),
    "scores": ("generations scores t.csv --score score --group g", "comparing groups"),
    "polarity": ("generations polarity t.csv --text text --vectors glove.txt", "reading word vectors"),
}


def on_terminal(folder, words):
    """Exit code, standard output, and what a terminal gets as standard error."""
    ours, theirs = os.openpty()
    held = bytearray()

    def read():
        while True:
            try:
                block = os.read(ours, 65536)
            except OSError:
                return
            if not block:
                return
            held.extend(block)

    process = subprocess.Popen(
        [sys.executable, "-c", _AT_ONCE, *words], cwd=folder, stdout=subprocess.PIPE, stderr=theirs,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "160"},
    )  # fmt: skip
    os.close(theirs)
    reader = threading.Thread(target=read)
    reader.start()
    out, _ = process.communicate(timeout=600)
    reader.join(60)
    os.close(ours)
    return process.returncode, out.decode(), held.decode()


@pytest.mark.slow
@pytest.mark.parametrize("name", list(_COMMANDS))
def test_a_terminal_shows_it_and_a_file_does_not(folder, name):
    line, shown = _COMMANDS[name]
    words = line.split()
    code, out, err = on_terminal(folder, words)
    assert code in (0, 1, 3), err
    assert shown in err
    # The cursor that was hidden is shown again.
    assert err.rfind("\x1b[?25h") > err.rfind("\x1b[?25l") >= 0
    assert "\x1b[?25" not in out
    silent = subprocess.run(
        [sys.executable, "-c", _AT_ONCE, *words], cwd=folder, capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert silent.returncode == code
    assert "\x1b" not in silent.stderr
    rest = [one for one in silent.stderr.splitlines() if not re.match(r"(note|warning): ", one)]
    assert rest == []
