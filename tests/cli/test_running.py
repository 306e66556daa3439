"""Options that all commands share about the run, and streams that cannot be written."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from justicia.cli import cli, main
from justicia.cli.running import RUN_OPTIONS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "labels.jsonl").write_text("".join(f'{{"g": "{one}"}}\n' for one in "abab" * 500))
    (tmp_path / "spec.json").write_text('{"attributes": {"g": {"domain": ["a", "b"], "beta": 2}}}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


def shell(script, **options):
    """Run a line of the shell, in which justicia is the command."""
    text = f'justicia() {{ "{sys.executable}" -m justicia "$@"; }}\n{script}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", text], capture_output=True, text=True, env=environment, timeout=120, check=False, **options
    )


def events(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def commands(group=cli, path=()):
    for name, one in group.commands.items():
        if isinstance(one, click.Group):
            yield from commands(one, (*path, name))
        else:
            yield (*path, name), one


def test_every_command_that_works_has_the_options():
    without = [" ".join(path) for path, one in commands() if not {p.name for p in one.params} >= set(RUN_OPTIONS)]
    assert without == ["datasets export"]


_SIMULATE = ("generations", "simulate", "--values", "3", "--beta", "9", "--steps", "500")


def test_a_log_tells_what_was_done(capsys, folder):
    code, out, _ = run(capsys, *_SIMULATE, "--json", "s.json", "--log", "run.jsonl")
    assert (code, out) != (2, "")
    held = events("run.jsonl")
    assert held[0]["command"] == ["justicia", *_SIMULATE, "--json", "s.json", "--log", "run.jsonl"]
    assert [line["stage"] for line in held if line["event"] == "stage"] == [
        "simulating 500 generations",
        "writing json",
    ]
    (written,) = [line for line in held if line["event"] == "written"]
    assert written["bytes"] == (folder / "s.json").stat().st_size
    assert (held[-1]["event"], held[-1]["outcome"], held[-1]["exit_code"]) == ("end", "done", code)
    assert held[-1]["error"] is None


def test_a_log_tells_of_a_failure_and_the_next_run_is_added(capsys, folder):
    code, _, err = run(capsys, "verify", "--model", "nix.pkl", "--data", "ricci", "--log", "run.jsonl")
    assert code == 2
    (line,) = [line for line in err.splitlines() if line.startswith("justicia: ")]
    first = events("run.jsonl")
    assert (first[-1]["outcome"], first[-1]["exit_code"]) == ("failed", 2)
    assert line == f"justicia: {first[-1]['error']}"
    run(capsys, *_SIMULATE, "--log", "run.jsonl")
    assert events("run.jsonl")[: len(first)] == first
    assert len({line["run"] for line in events("run.jsonl")}) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--log", "labels.jsonl"), "labels.jsonl is named for something else, too"),
        (("--log", "spec.json"), "spec.json is named for something else, too"),
        (("--log", "out.jsonl", "--out", "out.jsonl"), "out.jsonl is named for something else, too"),
        (("--log", "."), ". is a folder"),
        (("--log", "no/where"), "there is no folder no"),
        (("--log", "-"), "standard output carries the answer"),
        (("--max-memory", "lots"), "'lots' is no size: write 500MB"),
        (("--max-memory", "0"), "is no size"),
        (("--max-time", "0"), "0.0 is not in the range"),
    ],
)
def test_what_makes_no_sense_is_refused(capsys, folder, words, says):
    before = (folder / "labels.jsonl").read_text()
    code, out, err = run(capsys, "generations", "enforce", "labels.jsonl", "--spec", "spec.json", *words)
    assert (code, out) == (2, "")
    assert says in err
    assert (folder / "labels.jsonl").read_text() == before


@pytest.mark.parametrize(
    ("text", "size"), [("2GB", 2 * 10**9), ("1.5 GiB", 3 * 2**29), ("500m", 5 * 10**8), ("64", 64), (".5kb", 500)]
)
def test_sizes(text, size):
    from justicia.cli.running import _size

    context = click.Context(click.Command("verify"))
    assert _size(context, click.Option(["--max-memory"]), text) == size


def test_time_that_is_over_while_nothing_comes(folder):
    reader, writer = os.pipe()
    done = shell("justicia solve - --max-time 4 --log run.jsonl", stdin=reader)
    os.close(reader)
    os.close(writer)
    assert (done.returncode, done.stdout) == (3, "")
    # On a busy machine the time may be over before anything is read.
    line = r"the time limit of the whole command, 4 s \(--max-time\), is over( while reading the formula)?"
    assert re.fullmatch(f"justicia: {line}: there is no answer yet, allow more time\n", done.stderr)
    end = events("run.jsonl")[-1]
    assert (end["event"], end["outcome"], end["exit_code"]) == ("end", "time", 3)
    assert done.stderr == f"justicia: {end['error']}\n"


def test_memory_that_is_used_up(folder):
    (folder / "large.sdimacs").write_text("p cnf 2 1\nr 0.5 1 2 0\n1 2 0\n" + "c x\n" * 6_000_000)
    assert shell("justicia solve large.sdimacs --log before.jsonl").returncode == 0
    # Less than what it needs, and not so much less that it is killed after a second, which a busy machine may take.
    megabytes = int(0.75 * events("before.jsonl")[-1]["peak_memory"] / 1e6)
    done = shell(f"justicia solve large.sdimacs --max-memory {megabytes}MB --log run.jsonl")
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith(f"justicia: the memory limit of {megabytes} MB (--max-memory) is reached while ")
    assert " MB are in use: allow more" in done.stderr
    assert done.stderr.count("\n") == 1
    assert events("run.jsonl")[-1]["outcome"] == "memory"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_while_a_table_is_read(folder, number, code):
    process = subprocess.Popen(
        [sys.executable, "-m", "justicia", "solve", "-", "--log", "run.jsonl"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    until = time.monotonic() + 60
    while time.monotonic() < until and not (
        Path("run.jsonl").exists() and "reading the formula" in Path("run.jsonl").read_text()
    ):
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    how = "" if number == signal.SIGINT else f" by {number.name}"
    assert (process.returncode, out, err) == (code, "", f"justicia: interrupted{how}\n")
    assert (events("run.jsonl")[-1]["outcome"], events("run.jsonl")[-1]["exit_code"]) == ("interrupted", code)


_BREACH = "justicia generations simulate --values 3 --beta 9 --generator constant --steps 200 --fail .9"


@pytest.mark.parametrize(
    ("where", "code", "says"),
    [
        ("> out", 1, ""),
        (">&-", 1, ""),
        ("2>&-", 1, ""),
        ("| true", 1, ""),
        ("2>&1 | true", 1, ""),
        ("> /dev/full", 2, "justicia: standard output cannot be written: No space left on device\n"),
        ("2> /dev/full", 1, ""),
        ("< /dev/null > /dev/full 2> /dev/full", 2, ""),
    ],
)
def test_streams_that_cannot_be_written_change_no_exit_code(folder, where, code, says):
    done = shell(f"{_BREACH} {where}; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout.splitlines()[-1], done.stderr) == (str(code), says)


def test_help_whose_reader_has_gone(folder):
    done = shell("justicia verify --help | true; echo ${PIPESTATUS[0]}")
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_no_file_of_ours_gets_the_number_of_a_stream_that_was_closed(folder):
    done = shell(f"{_BREACH} --json out.json 0<&- 1>&- 2>&-")
    assert done.returncode == 1
    assert json.loads(Path("out.json").read_text())


def test_decisions_that_cannot_be_delivered_are_not_in_the_state(folder):
    command = "justicia generations enforce labels.jsonl --spec spec.json --state state.json"
    done = shell(f"{command} | head -1; echo ${{PIPESTATUS[0]}}")
    first, code = done.stdout.splitlines()
    assert (json.loads(first)["step"], code) == (0, "2")
    assert done.stderr.splitlines()[-1].startswith("justicia: decisions cannot be delivered: their reader has gone")
    again = shell(command)
    assert [json.loads(line)["step"] for line in again.stdout.splitlines()] == list(range(2001))


@pytest.mark.parametrize("target", ["state.json", "decisions.jsonl"])
def test_enforcement_on_a_full_disk_goes_on_where_it_was(folder, target):
    command = "justicia generations enforce labels.jsonl --spec spec.json --state state.json --out decisions.jsonl"
    whole = folder / "whole"
    whole.mkdir()
    shell(f"cd whole && for file in labels.jsonl spec.json; do cp ../$file .; done; {command}")
    # Blocks of 1,024 bytes, as bash counts.
    done = shell(f"ulimit -f {0 if target == 'state.json' else 20}; {command}")
    assert done.returncode == 2
    assert done.stderr.startswith("justicia: ")
    assert done.stderr.count("\n") == 1
    assert [name for name in os.listdir(folder) if name.startswith(".")] == []
    shell(command)
    for name in ("state.json", "decisions.jsonl"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes()
