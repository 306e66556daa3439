"""Signals and limits of a whole command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from justicia.cli.ending import Ending, Stop, ending_of
from justicia.cli.signals import Signals
from justicia.hearing import is_listening, press
from justicia.solvers.interruption import Interruption

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="signals are those of POSIX")

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


def send(number):
    os.kill(os.getpid(), number)
    # Until the interpreter has called the handler.
    time.sleep(0.01)


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_a_command_that_does_not_listen(name, code):
    number = getattr(signal, name)
    before = signal.getsignal(number)
    with Signals() as signals, pytest.raises(Stop) as stopped:
        send(number)
    assert stopped.value.ending.code == code
    assert signals.stop is stopped.value
    assert ending_of(stopped.value).line == ("interrupted" if name == "SIGINT" else f"interrupted by {name}")
    assert signal.getsignal(number) is before
    assert Signals.current is None


@pytest.mark.parametrize("name", _NAMES)
def test_whoever_listens_is_told_and_a_second_signal_ends(name):
    number = getattr(signal, name)
    interruption = Interruption()
    with Signals(), interruption:
        send(number)
        assert interruption.pressed
        assert not is_listening()
        with pytest.raises(Stop):
            send(signal.SIGTERM)
        # Nobody may interrupt the cleaning up.
        send(signal.SIGINT)


def test_the_innermost_is_told():
    outer, inner = Interruption(), Interruption()
    with Signals(), outer:
        with inner:
            send(signal.SIGTERM)
        assert (outer.pressed, inner.pressed) == (False, True)
        send(signal.SIGTERM)
        assert outer.pressed


def test_what_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Signals():
            send(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_nobody_listens_any_more_after_the_context():
    interruption = Interruption()
    with interruption:
        assert is_listening()
    assert not press()


def wait(seconds=20.0):
    """Work in Python that nobody stops."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.01)


def over():
    return Ending("time", 3, "over")


def test_time_that_is_over_ends_a_command_that_does_not_listen():
    with Signals() as signals:
        signals.limit(0.1, over)
        with pytest.raises(Stop) as stopped:
            wait()
    assert stopped.value.ending == over()


def test_time_that_is_over_is_told_to_whoever_listens(monkeypatch):
    monkeypatch.setattr("justicia.cli.signals.LEFT", 0.3)
    interruption = Interruption()
    with Signals() as signals:
        signals.limit(0.1, over)
        with interruption:
            until = time.monotonic() + 20
            while not interruption.pressed and time.monotonic() < until:
                time.sleep(0.01)
            assert interruption.pressed
            assert "--max-time" in interruption.reason
        # What is left to do gets some time, and no more.
        with pytest.raises(Stop):
            wait()


def test_a_command_that_ends_in_time_is_left_alone():
    with Signals() as signals:
        signals.limit(0.1, over)
        signals.unlimited()
        wait(0.3)
    assert signals.stop is None


def test_memory_that_the_guard_reports_ends_the_command():
    ours, theirs = os.pipe()
    with Signals() as signals:
        signals.limit(None, over, lambda used: Ending("memory", 3, f"{used} bytes"), ours)
        threading.Timer(0.1, os.write, (theirs, b'{"memory": 5}\n')).start()
        with pytest.raises(Stop) as stopped:
            wait()
    os.close(ours)
    os.close(theirs)
    assert stopped.value.ending == Ending("memory", 3, "5 bytes")


def test_an_exception_that_is_lost_is_raised_again():
    class Left:
        def __del__(self):
            # What is raised here goes nowhere.
            send(signal.SIGTERM)

    def lose():
        held = [Left()]
        del held[0]
        wait()

    with Signals(), pytest.raises(Stop):
        lose()


def outcome(body, *, sends=None, after=0.5):
    """Exit code and standard error of a script under Signals, and the seconds that it took."""
    code = (
        "import sys, time, ctypes\n"
        "from justicia.cli import signals as module\n"
        "from justicia.cli.signals import Signals\n"
        "from justicia.cli.ending import Ending, Stop\n"
        "module.GRACE = 0.5\n"
        "with Signals() as signals:\n"
        "    signals.at_end = lambda ending: print('at end:', ending.code, flush=True)\n"
        "    print('there', flush=True)\n" + "".join(f"    {line}\n" for line in body.splitlines())
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert process.stdout.readline() == "there\n"
    if sends is not None:
        time.sleep(after)
        process.send_signal(sends)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


_FOREVER = """
mutex = ctypes.create_string_buffer(256)
lock = ctypes.CDLL(None).pthread_mutex_lock
lock(mutex)
# It goes on waiting when a signal comes, and Python's handlers wait for it.
lock(mutex)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a mutex of zeros is one that is open on Linux")
def test_a_library_that_does_not_come_back_is_ended():
    code, out, err = outcome(_FOREVER, sends=15)
    assert (code, out, err) == (143, "at end: 143\n", "justicia: interrupted by SIGTERM\n")


def test_an_exception_that_is_swallowed_does_not_keep_the_process():
    body = "while True:\n    try:\n        time.sleep(0.05)\n    except BaseException:\n        pass"
    code, out, err = outcome(body, sends=2)
    assert (code, out, err) == (130, "at end: 130\n", "justicia: interrupted\n")


def test_children_go_with_it():
    body = (
        "import subprocess, sys\n"
        "one = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'])\n"
        "signals.limit(0.2, lambda: Ending('time', 3, 'over'))\n"
        "print(one.pid, flush=True)\n"
        "while True:\n    try:\n        time.sleep(0.05)\n    except BaseException:\n        pass"
    )
    code, out, err = outcome(body)
    assert (code, err) == (3, "justicia: over\n")
    child, said = out.splitlines()
    assert said == "at end: 3"
    until = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and time.monotonic() < until:
        # Where it is nobody's child, it waits to be reaped.
        if "Z (zombie)" in Path(f"/proc/{child}/status").read_text():
            break
        time.sleep(0.05)
    else:
        assert not Path(f"/proc/{child}").exists()
