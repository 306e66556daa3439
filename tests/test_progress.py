"""What a command shows while it works."""

import io
import logging
import time

import pytest

from justicia import progress
from justicia.progress import Bar, is_told, stage, stop_bar, told


class Terminal(io.StringIO):
    """Remembers what a terminal is sent."""

    def isatty(self):
        return True


def opened(monkeypatch):
    """A terminal, which a fixture cannot open: pytest puts its own standard error back when the test begins."""
    held = Terminal()
    monkeypatch.setattr("sys.stderr", held)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return held


def shown_within(terminal, text, seconds=20):
    end = time.monotonic() + seconds
    while text not in terminal.getvalue() and time.monotonic() < end:
        time.sleep(0.02)
    return text in terminal.getvalue()


def test_what_takes_long_is_shown(monkeypatch):
    terminal = opened(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with Bar():
        stage("fitting %s", "race")
        assert shown_within(terminal, "fitting race")
        stage("answering")
        assert shown_within(terminal, "answering")


def test_what_is_quick_is_not_shown(monkeypatch):
    terminal = opened(monkeypatch)
    with Bar():
        stage("reading the table")
    time.sleep(0.05)
    assert terminal.getvalue() == ""


def test_a_bar_follows_a_stage_and_a_stage_a_bar(monkeypatch):
    terminal = opened(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with Bar() as bar:
        stage("reading [red]")
        assert shown_within(terminal, "reading [red]")
        bar.show("width .5", 0.5)
        assert shown_within(terminal, "width .5")
        stage("writing")
        assert shown_within(terminal, "writing")
        bar.show("width .1", 0.9)
        assert shown_within(terminal, "width .1")


def test_nothing_is_shown_after_the_end(monkeypatch):
    terminal = opened(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.2)
    with Bar() as bar:
        stage("reading")
    bar.show("late", 0.5)
    time.sleep(0.4)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("wanted", [True, False])
def test_where_nobody_looks(monkeypatch, wanted):
    held = io.StringIO() if wanted else Terminal()
    monkeypatch.setattr("sys.stderr", held)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with Bar(wanted) as bar:
        stage("reading")
        bar.show("width", 0.5)
        time.sleep(0.1)
    assert held.getvalue() == ""


def test_stages_stand_in_a_log(caplog):
    with caplog.at_level(logging.DEBUG, logger="justicia.stages"):
        stage("answering %s", "race")
    assert [record.getMessage() for record in caplog.records] == ["answering race"]


def test_an_audit_says_what_it_does(caplog):
    import justicia

    with caplog.at_level(logging.DEBUG, logger="justicia.stages"):
        justicia.verify("tree", "ricci")
    said = [record.getMessage() for record in caplog.records if record.name == "justicia.stages"]
    assert said[0] == "reading the table"
    assert "answering: selection rates of race" in said


def test_a_bar_inside_of_another_one_is_the_other_one(monkeypatch):
    terminal = opened(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with Bar():
        with Bar() as inner:
            inner.show("width .5", 0.5)
            assert shown_within(terminal, "width .5")
        # It is still there when the inner one ends.
        stage("writing")
        assert shown_within(terminal, "writing")
    assert Bar._current is None


def test_what_is_written_takes_the_bar_away_for_good(monkeypatch):
    terminal = opened(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with Bar() as bar:
        stage("reading")
        assert shown_within(terminal, "reading")
        stop_bar()
        length = len(terminal.getvalue())
        stage("later")
        bar.show("later", 0.5)
        with Bar() as inner:
            inner.show("later", 0.5)
        time.sleep(0.1)
        assert terminal.getvalue()[length:] == ""
    stop_bar()


def test_facts_are_told_to_whoever_keeps_them(caplog):
    assert not is_told()
    told("rows", rows=5)
    with caplog.at_level(logging.DEBUG, logger="justicia.facts"):
        assert is_told()
        told("rows", rows=6)
    assert [(record.getMessage(), record.held) for record in caplog.records] == [("rows", {"rows": 6})]
