"""Enforcement over a stream: replies, resumption, and kills at any moment."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from justicia.errors import ShieldError
from justicia.generations.asking import spec_of
from justicia.generations.enforcing import Enforcement
from justicia.generations.streaming import Journal, run_enforcement

DOMAIN = {"gender": ["f", "m"], "age": ["child", "adult", "old"]}
BETA = {"gender": 3, "age": 5}


def made(names=("gender",), **asked):
    options = {name: asked.pop(name) for name in ("margin", "choice", "retries", "assume", "seed") if name in asked}
    spec = spec_of(domain={name: DOMAIN[name] for name in names}, beta={name: BETA[name] for name in names}, **asked)
    return Enforcement(spec, **options)


def replies(enforcement, lines):
    return [enforcement.take(line, number) for number, line in enumerate(lines, start=1)]


def test_a_label_in_a_decision_out():
    enforcement = made()
    assert enforcement.reply == {"step": 0, "attempt": 0, "next": {}}
    one, two, three = replies(enforcement, [{"gender": "m"}, "m", {"gender": "f", "step": 3, "image": "3.png"}])
    assert one == {"step": 1, "attempt": 0, "taken": True, "next": {}}
    wanted = {"value": "f", "allowed": ["f"], "reason": "1 value due within 1 generation"}
    assert two == {"step": 2, "attempt": 0, "taken": True, "next": {"gender": wanted}}
    assert three["next"] == {}
    assert enforcement.text == "3 generations, 1 enforced, 0 of these failed, 0 values missed"


def test_what_is_asked_for_and_not_delivered():
    enforcement = made()
    three = replies(enforcement, ["m", "m", "m"])[-1]
    assert (three["failed"], three["missed"]) == (["gender"], {"gender": ["f"]})
    assert three["next"]["gender"]["value"] == "f"


def test_drafts_are_refused_and_made_again():
    enforcement = made(retries=2)
    held = replies(enforcement, ["m", "m", "m", "m", "f", "m", "m", "m", "m", "m"])
    assert [(one["step"], one["attempt"], one["taken"]) for one in held] == [
        (1, 0, True),
        (2, 0, True),
        (3, 1, False),
        (3, 2, False),
        (3, 2, True),
        (4, 0, True),
        (5, 0, True),
        (6, 1, False),
        (6, 2, False),
        (6, 2, True),
    ]
    assert held[2]["next"]["gender"]["value"] == "f"
    assert held[-1]["failed"] == ["gender"]
    assert held[-1]["missed"] == {"gender": ["f"]}


def test_what_is_asked_for_may_be_taken_as_delivered():
    enforcement = made(assume=True)
    held = replies(enforcement, ["m"] * 9)
    assert [one["step"] for one in held if "assumed" in one] == [3, 6, 9]
    assert enforcement.missed == 0


def test_attributes_side_by_side():
    enforcement = made(("gender", "age"))
    line = {"gender": "m", "age": "adult"}
    held = replies(enforcement, [line] * 4)
    assert set(held[1]["next"]) == {"gender"}
    # Two ages are due within two; both are allowed, the first of the domain is asked for.
    assert held[2]["next"]["age"] == {
        "value": "child",
        "allowed": ["child", "old"],
        "reason": "2 values due within 2 generations",
    }
    assert held[2]["missed"] == {"gender": ["f"]}
    several = made(("gender", "age"), separator="|", unknown=["?"], off_domain="none")
    several.take({"gender": "f|m", "age": ["child", None]}, 1)
    assert several.shields["gender"].counters == {"f": 3, "m": 3}
    several.take({"gender": "?", "age": "robot"}, 2)
    assert several.shields["age"].counters == {"child": 4, "adult": 3, "old": 3}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"gender": "femal"}, "line 7: 'femal' is no value of gender"),
        ({"gendre": "f"}, "line 7 lacks gender; did you mean gendre?"),
        ({}, "line 7 lacks gender; write null for an unknown label"),
        ({"gender": {"a": 1}}, "neither one value nor a list of values"),
        ({"gender": "f", "run": "b"}, "line 7 is of run b, those before of a: keep one state a run"),
    ],
)
def test_lines_that_mean_nothing_change_nothing(line, said):
    enforcement = made(by="run")
    enforcement.take({"gender": "m", "run": "a"}, 1)
    before = enforcement.to_dict()
    with pytest.raises(ShieldError, match=said.replace("?", r"\?")):
        enforcement.take(line, 7)
    assert enforcement.to_dict() == before


def test_questions_that_cannot_be_enforced():
    with pytest.raises(ShieldError, match="attribute gender needs a beta"):
        Enforcement(spec_of(domain={"gender": ["f", "m"]}))
    with pytest.raises(ShieldError, match="attribute gender: beta 1 is less"):
        Enforcement(spec_of(domain={"gender": ["f", "m"]}, beta={"gender": 1}))
    with pytest.raises(ShieldError, match="no attribute"):
        Enforcement(spec_of())
    with pytest.raises(ShieldError, match="label alone"):
        made(("gender", "age")).take("f", 1)


def run(folder, lines, *, batch=1, log=True, goes_on=False, wrote=None, **asked):
    """One process' worth of enforcement."""
    enforcement = made(**asked)
    with Journal(enforcement, folder / "s.json", folder / "log" if log else None, wrote) as journal:
        skipped = run_enforcement(enforcement, io.BytesIO(lines), journal, batch=batch, goes_on=goes_on)
    return enforcement, skipped


def labels(n, seed=0, numbered=False):
    rng = random.Random(seed)
    made_lines = []
    for step in range(1, n + 1):
        line = {"gender": rng.choice(["f", "m", "m", None])}
        made_lines.append(json.dumps({"step": step, **line} if numbered else line))
    return "".join(f"{line}\n" for line in made_lines).encode()


@pytest.mark.parametrize("numbered", [True, False])
def test_a_second_start_goes_on_where_the_first_ended(tmp_path, numbered):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    lines = labels(50, numbered=numbered)
    run(whole, lines)
    run(parts, b"".join(lines.splitlines(keepends=True)[:20]))
    enforcement, skipped = run(parts, lines)
    assert (skipped, enforcement.step) == (20, 50)
    assert (parts / "log").read_bytes() == (whole / "log").read_bytes()
    assert (parts / "s.json").read_bytes() == (whole / "s.json").read_bytes()
    # Nothing more to do: nothing is said twice.
    assert run(parts, lines)[1] == 50
    assert (parts / "log").read_bytes() == (whole / "log").read_bytes()
    steps = [json.loads(line)["step"] for line in (parts / "log").read_bytes().splitlines()]
    assert steps == list(range(51))


def test_input_that_goes_on_after_the_state(tmp_path):
    lines = labels(30)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    run(whole, lines)
    run(parts, b"".join(lines.splitlines(keepends=True)[:10]))
    run(parts, b"".join(lines.splitlines(keepends=True)[10:]), goes_on=True)
    assert (parts / "log").read_bytes() == (whole / "log").read_bytes()
    with pytest.raises(ShieldError, match="there are 3 lines, and 30 were decided before"):
        run(parts, b'"m"\n' * 3)


def test_lines_that_are_missing_or_numbered_otherwise(tmp_path):
    for text, said in (
        (b'{"gender": "m", "step": 2}\n', "line 1 is step 2, and step 1 is due: lines are missing"),
        (b'{"gender": "m", "step": 1}\n"m"\n', "line 2 lacks the step"),
        (b'"m"\n{"gender": "m", "step": 2}\n', "line 2 has a step"),
        (b'{"gender": "m", "step": 0}\n', "step is a whole number from 1 on, not 0"),
        (b'"m"\n"m', "line 2 is no JSON"),
        (b'"m"\n"\xff"\n', "line 2 is not UTF-8 text"),
        (b"[" * 100_000, "line 1 cannot be read"),
    ):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        with pytest.raises(ShieldError, match=said):
            run(folder, text, batch=1000)
        # What came before the bad line is decided and kept.
        kept = (folder / "log").read_bytes().count(b"\n")
        assert (
            kept
            == json.loads((folder / "s.json").read_text())["step"] + 1
            == 1 + text.startswith((b'"m"', b'{"gender": "m", "step": 1}'))
        )


@pytest.mark.parametrize("numbered", [True, False])
def test_retries_are_resumed_between_attempts(tmp_path, numbered):
    steps = [1, 2, 3, 3, 4, 5, 6, 6, 7, 7]
    lines = b"".join(
        json.dumps({"gender": shows, **({"step": step} if numbered else {})}).encode() + b"\n"
        for step, shows in zip(steps, "mmmfmmmmmf", strict=True)
    )
    whole = tmp_path / "whole"
    whole.mkdir()
    run(whole, lines, retries=1)
    for cut in range(len(steps) + 1):
        parts = tmp_path / str(cut)
        parts.mkdir()
        run(parts, b"".join(lines.splitlines(keepends=True)[:cut]), retries=1)
        run(parts, lines, retries=1)
        assert (parts / "log").read_bytes() == (whole / "log").read_bytes()


def test_states_and_logs_that_do_not_fit(tmp_path):
    lines = labels(10)
    run(tmp_path, lines)
    with pytest.raises(ShieldError, match=r"made with other settings \(shields\)"):
        run(tmp_path, lines, seed=1)
    with pytest.raises(ShieldError, match=r"made with other settings \(unknown\)"):
        run(tmp_path, lines, unknown=["?"])
    with pytest.raises(ShieldError, match="it was made with --out"):
        run(tmp_path, lines, log=False)
    log = (tmp_path / "log").read_bytes()
    (tmp_path / "log").write_bytes(log[:-30])
    with pytest.raises(ShieldError, match="decisions are lost, or it is another file"):
        run(tmp_path, lines)
    (tmp_path / "log").write_bytes(b"x" * len(log) + b"\n")
    with pytest.raises(ShieldError, match="is not the log of"):
        run(tmp_path, lines)
    (tmp_path / "log").write_bytes(log)
    state = (tmp_path / "s.json").read_text()
    for broken, said in (
        ("", "it is no JSON"),
        ("[]", "its schema is not"),
        (state.replace('"step": 10', '"step": 9', 1), "it is broken: gender stands at step 10, not 9"),
        (state.replace('"lines": 10', '"lines": -1'), "it is broken"),
        (state.replace('"offset"', '"ofset"'), "length is missing"),
    ):
        (tmp_path / "s.json").write_text(broken)
        with pytest.raises(ShieldError, match=said):
            run(tmp_path, lines)
    (tmp_path / "s.json").unlink()
    with pytest.raises(ShieldError, match="holds decisions, and there is no state"):
        run(tmp_path, lines)
    assert (tmp_path / "log").read_bytes() == log


def test_two_processes_do_not_share_a_log(tmp_path):
    enforcement = made()
    with (
        Journal(enforcement, tmp_path / "s.json", tmp_path / "log"),
        pytest.raises(ShieldError, match="another process"),
    ):
        run(tmp_path, labels(3))
    run(tmp_path, labels(3))


def test_pipes_may_repeat_a_decision_and_say_which(tmp_path):
    lines = labels(10, numbered=True)
    first, second = [], []
    run(tmp_path, b"".join(lines.splitlines(keepends=True)[:4]), log=False, wrote=first.append)
    run(tmp_path, lines, log=False, wrote=second.append)
    steps = [[json.loads(line)["step"] for line in b"".join(parts).splitlines()] for parts in (first, second)]
    # The second process begins by saying where things stand.
    assert steps == [[0, 1, 2, 3, 4], [4, 5, 6, 7, 8, 9, 10]]
    assert first[-1] == second[0]


class Crash(BaseException):
    """As a kill: nothing catches it."""


class Crashing:
    """Ends the process, as it were, at its n-th write, flush or replacement; writes are torn."""

    def __init__(self, monkeypatch, at):
        self.count, self.at = 0, at
        plain_bytes, plain_replace, plain_put = Path.write_bytes, Path.replace, Journal._put

        def write_bytes(path, content):
            if self.now():
                plain_bytes(path, content[: len(content) // 2])
                raise Crash
            return plain_bytes(path, content)

        def replace(path, target):
            if self.now():
                raise Crash
            made_path = plain_replace(path, target)
            if self.now():
                raise Crash
            return made_path

        def put(journal, held):
            if self.now():
                content = b"".join(json.dumps(one).encode() + b"\n" for one in held)
                journal._file.write(content[: len(content) // 2])
                journal._file.flush()
                raise Crash
            plain_put(journal, held)

        monkeypatch.setattr(Path, "write_bytes", write_bytes)
        monkeypatch.setattr(Path, "replace", replace)
        monkeypatch.setattr(Journal, "_put", put)

    def now(self):
        self.count += 1
        return self.count == self.at


@pytest.mark.parametrize("batch", [1, 4])
def test_a_crash_at_every_single_operation(tmp_path, monkeypatch, batch):
    lines = labels(11)
    whole = tmp_path / "whole"
    whole.mkdir()
    run(whole, lines, batch=batch)
    expected = (whole / "log").read_bytes(), (whole / "s.json").read_bytes()
    at, crashed = 0, True
    while crashed:
        at += 1
        folder = tmp_path / str(at)
        folder.mkdir()
        with monkeypatch.context() as patches:
            Crashing(patches, at)
            try:
                run(folder, lines, batch=batch)
                crashed = False
            except Crash:
                pass
        run(folder, lines, batch=batch)
        assert ((folder / "log").read_bytes(), (folder / "s.json").read_bytes()) == expected
        assert sorted(path.name for path in folder.iterdir()) == ["log", "s.json"]
    assert at > 4 * 11 / batch


def kill_at_random(tmp_path, kills, n, piped, numbered):
    """Kill the command again and again; then let it end, and compare with one that was never killed."""
    folder = tmp_path / f"{piped} {numbered}"
    folder.mkdir()
    (folder / "labels.jsonl").write_bytes(labels(n, numbered=numbered))
    (folder / "spec.json").write_text(json.dumps({"attributes": {"gender": {"domain": ["f", "m"], "beta": 3}}}))
    rng = random.Random(kills)

    def start(log):
        words = ["generations", "enforce", "--spec", "spec.json", "--state", f"{log}.state", "--out", log, "--quiet"]
        command = [sys.executable, "-m", "justicia", *words, *([] if piped else ["labels.jsonl"])]
        source = subprocess.Popen(["cat", "labels.jsonl"], cwd=folder, stdout=subprocess.PIPE) if piped else None
        stdin = source.stdout if source else subprocess.DEVNULL
        process = subprocess.Popen(command, cwd=folder, stdin=stdin, stderr=subprocess.PIPE)
        if source:
            source.stdout.close()
        return process, source

    def finish(log):
        process, source = start(log)
        error = process.communicate()[1]
        if source:
            source.wait()
        # Nobody obeyed, so values were missed.
        assert process.returncode == 1, error

    progress = set()
    for _ in range(kills):
        process, source = start("log")
        state = folder / "log.state"
        before = state.stat().st_mtime_ns if state.exists() else 0
        # Kill in the midst of work, not before it: wait for a sign of life, then a random while.
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if state.exists() and state.stat().st_mtime_ns != before:
                break
            time.sleep(0.001)
        time.sleep(rng.random() * 0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        if source:
            source.wait()
        progress.add(json.loads(state.read_text())["step"])
    finish("log")
    finish("whole")
    assert (folder / "log").read_bytes() == (folder / "whole").read_bytes()
    steps = [json.loads(line)["step"] for line in (folder / "log").read_bytes().splitlines()]
    assert steps == list(range(n + 1))
    return len(progress - {n})


@pytest.mark.skipif(os.name != "posix", reason="kills are of POSIX")
@pytest.mark.parametrize("piped", [True, False])
def test_killed_a_few_times_no_decision_is_lost_or_repeated(tmp_path, piped):
    # Hits in the midst of the labels differ from run to run; that some were hit shows that the kills were real.
    assert kill_at_random(tmp_path, 2, 500 if piped else 8_000, piped, numbered=not piped) >= 1


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills are of POSIX")
@pytest.mark.parametrize("piped", [True, False])
def test_killed_50_times_no_decision_is_lost_or_repeated(tmp_path, piped):
    """Together, 100 kills: 50 while each decision is stored, 50 while 1,000 are stored at a time."""
    n = 5_000 if piped else 300_000
    assert kill_at_random(tmp_path, 50, n, piped, numbered=False) >= 40
