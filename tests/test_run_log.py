"""The log of a run."""

from __future__ import annotations

import errno
import json
import logging
import os

import pytest

from justicia import _version
from justicia.errors import InputError
from justicia.progress import is_told, stage, told
from justicia.run_log import SCHEMA, RunLog
from justicia.writing import write_whole


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_is_done_stands_in_order(tmp_path):
    path = tmp_path / "run.jsonl"
    with RunLog(str(path), ["justicia", "verify"], {"time": 5.0, "memory": None}) as log:
        stage("reading %s", "t.csv")
        # It is there at once, for whoever looks while the command runs.
        assert [line["event"] for line in lines(path)] == ["begin", "stage"]
        assert log.stage == "reading t.csv"
        told("rows", rows=5, used=4, dropped={"no value": 1})
        logging.getLogger("justicia.tables").warning("a column of %s", "ü")
        logging.getLogger("justicia.tables").warning("a column of %s", "ü")
        logging.getLogger("justicia.tables").info("found")
        logging.getLogger("justicia.tables").debug("not said")
        stage("writing")
        write_whole(tmp_path / "a", "abc")
        log.end("failed", 2, "why")
    held = lines(path)
    events = ["begin", "stage", "rows", "warning", "note", "staged", "stage", "written", "staged", "end"]
    assert [line["event"] for line in held] == events
    assert len({line["run"] for line in held}) == 1
    begin, end = held[0], held[-1]
    assert (begin["schema"], begin["version"]) == (SCHEMA, _version.__version__)
    assert (begin["command"], begin["limits"]) == (["justicia", "verify"], {"time": 5.0, "memory": None})
    assert {"numpy", "pandas", "scikit-learn"} <= set(begin["libraries"])
    assert (held[2]["rows"], held[2]["dropped"]) == (5, {"no value": 1})
    assert held[3]["text"] == "a column of ü"
    assert held[5]["stage"] == "reading t.csv"
    assert held[5]["peak_memory"] > 1_000_000
    # The SHA-256 of "abc", from FIPS 180-2.
    assert held[7]["sha256"] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert held[7]["bytes"] == 3
    assert (end["outcome"], end["exit_code"], end["error"]) == ("failed", 2, "why")
    assert end["seconds"] >= held[5]["seconds"]


def test_afterwards_nothing_is_kept(tmp_path):
    with RunLog(str(tmp_path / "run.jsonl")):
        assert is_told()
    assert not is_told()
    assert logging.getLogger("justicia.stages").level == logging.NOTSET
    stage("later")
    assert len(lines(tmp_path / "run.jsonl")) == 1


def test_without_a_file_the_stage_is_known(tmp_path):
    with RunLog(None) as log:
        stage("reading")
        assert log.stage == "reading"
        assert not is_told()
        log.end("done", 0, None)


def test_runs_are_added_and_a_line_that_was_cut_off_is_ended(tmp_path):
    path = tmp_path / "run.jsonl"
    with RunLog(str(path)) as first:
        first.end("done", 0, None)
    with path.open("a") as file:
        file.write('{"run": "killed", "eve')
    with RunLog(str(path)) as second:
        second.end("done", 0, None)
    held = path.read_text().splitlines()
    assert held[2] == '{"run": "killed", "eve'
    assert [json.loads(held[place])["run"] for place in (0, 1, 3, 4)] == [first.run] * 2 + [second.run] * 2


@pytest.mark.parametrize("content", ["a text\n", '{"schema": "justicia.audit/1"}\n', '{"schema"'])
def test_other_files_are_not_added_to(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(InputError, match="no log of runs"), RunLog(str(path)):
        pass
    assert path.read_text() == content


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot be written: No such file"), RunLog(str(tmp_path / "no" / "a")):
        pass
    if os.path.exists("/dev/full"):
        with pytest.raises(InputError, match="/dev/full cannot be written: No space"), RunLog("/dev/full"):
            pass


def test_a_log_that_cannot_be_written_any_further_is_warned_of(tmp_path, monkeypatch, caplog):
    real = os.write

    def full(descriptor, content):
        if b"later" in content:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, content)

    monkeypatch.setattr(os, "write", full)
    path = tmp_path / "run.jsonl"
    with RunLog(str(path)) as log:
        stage("first")
        stage("later")
        stage("third")
        log.end("done", 0, None)
    assert [line["event"] for line in lines(path)] == ["begin", "stage", "staged"]
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == [
        f"{path} cannot be written any further: No space left on device; the run goes on"
    ]
