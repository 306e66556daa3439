"""Broken and hostile input: what was found by `fuzzing` once, and a few hundred fresh inputs for each reader."""

from __future__ import annotations

import os
import random
import warnings
from pathlib import Path

import pytest

import fuzzing
from fuzzing.campaign import Campaign, corpus_of
from fuzzing.outcomes import judged, key_of
from fuzzing.running import Worker
from fuzzing.targets import TARGETS
from justicia.errors import JusticiaError

CORPUS = Path(fuzzing.__file__).parent / "corpus"
COMPILED = ("pickle", "joblib", "skops", "xgboost", "lightgbm")
"""Readers in front of compiled code, which are given to another process."""
DIRECT = [name for name, target in TARGETS.items() if target.read is not None and name not in COMPILED]


def read(name, path, content):
    """Whether a reader takes an input; it may only refuse it, in one line."""
    path.write_bytes(content)
    said = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TARGETS[name].read(path)
    except JusticiaError as error:
        said = str(error)
    except OSError as error:
        said = str(error.filename or "")
    assert said is None or len(said.splitlines()) == 1, said
    return said is None


@pytest.mark.parametrize("name", DIRECT)
def test_readers_take_or_refuse(tmp_path, name):
    target = TARGETS[name]
    path = tmp_path / f"input{target.suffix}"
    good = list(target.seeds())
    assert all(read(name, path, content) for content in good)
    for content in corpus_of(CORPUS / name):
        read(name, path, content)
    rng = random.Random(20)
    taken = [read(name, path, target.mutate(rng, rng.choice(good), good)) for _ in range(25)]
    assert not all(taken)


@pytest.mark.slow
@pytest.mark.skipif("JUSTICIA_FUZZ" not in os.environ, reason="campaigns of commands run with JUSTICIA_FUZZ=1")
@pytest.mark.parametrize("name", TARGETS)
def test_commands_and_compiled_code_take_or_refuse(tmp_path, name):
    campaign = Campaign(TARGETS[name], tmp_path / "corpus", None, seed=20)
    known = corpus_of(CORPUS / name)
    with Worker(name, tmp_path) as worker:
        for content in known:
            outcome, _, _ = worker.run(content)
            assert not outcome.is_fault, outcome
        campaign.run(worker, inputs=300)
    assert campaign.n_read == 300
    assert not campaign.faults, campaign.faults
    assert campaign.counts["refused"] > 30


@pytest.mark.parametrize(
    ("code", "out", "err", "kind"),
    [
        (0, "table", "", "read"),
        (1, "table", "warning: few people\nnote: found\n", "read"),
        (2, "", "justicia: t.csv: is empty\n", "refused"),
        (2, "", "warning: odd\njusticia: t.csv: is empty\n", "refused"),
        (2, "", "", "lines"),
        (2, "", "justicia: one\njusticia: two\n", "lines"),
        (2, "", "Traceback (most recent call last):\n", "lines"),
        (2, "half a table", "justicia: t.csv: is empty\n", "output"),
        (2, "", "justicia: unexpected KeyError: 'x'; please report it with the output of --debug\n", "traceback"),
        (2, "", "justicia: out of memory: audit fewer rows or columns at a time\n", "memory"),
        (0, "table", "lib.py:3: RuntimeWarning: overflow\n", "lines"),
        (4, "", "justicia: the encoding does not reproduce predict\n", "mismatch"),
        (139, "", "", "lines"),
    ],
)
def test_what_a_user_sees_is_judged(code, out, err, kind):
    assert judged(code, out, err).kind == kind


def test_messages_that_differ_in_names_and_numbers_are_one():
    assert key_of("refused", "line 3 has 'x'") == key_of("refused", "line 1,777 has 'yy'")
    assert key_of("refused", "line 3 has 'x'") != key_of("refused", "line 3 lacks 'x'")


@pytest.mark.slow
def test_every_kind_of_fault_is_seen(tmp_path):
    told = {}
    with Worker("faulty", tmp_path, most=3.0) as worker:
        for content in ("nothing", "refuse", "raise", "lines", "die", "fill", "write", "run", "spin", "nothing"):
            told[content] = worker.run(content.encode())[0].kind
        # Each of two deaths and of two hangs, and what filled the memory, took a process.
        assert worker.n_started == 6
    assert told == {
        "nothing": "read",
        "refuse": "refused",
        "raise": "traceback",
        "lines": "lines",
        "die": "crash",
        "fill": "memory",
        "write": "written",
        "run": "forbidden",
        "spin": "hang",
    }


def test_mutations_are_the_same_for_a_seed():
    for name in ("rules", "network", "decisions", "options"):
        target = TARGETS[name]
        good = list(target.seeds())
        first, second = (
            [target.mutate(rng, good[0], good) for _ in range(20)] for rng in (random.Random(1), random.Random(1))
        )
        assert first == second
        assert len(set(first)) > 10
