"""Programs that misbehave are ended, and nothing of them is left."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import pytest

from justicia.errors import InputError
from justicia.solvers.external import running
from justicia.solvers.external.running import run_program
from justicia.solvers.interruption import Interruption

LONG = 60.0
"""Seconds that no test takes unless something hangs."""


def run(tmp_path, body, limit=LONG, interruption=None):
    return run_program([sys.executable, "-S", "-c", body], tmp_path, limit, interruption)


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet collected does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def gone(pid: int) -> bool:
    until = time.monotonic() + 10
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not alive(pid)


def test_output_code_and_streams(tmp_path):
    held = run(tmp_path, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    assert (held.ended, held.code, held.out, held.err) == ("itself", 7, "out\n", "err\n")


def test_no_shell_reads_the_words(tmp_path):
    held = run_program(
        [sys.executable, "-S", "-c", "import sys; print(sys.argv[1:])", "$(touch x)", "; rm *"], tmp_path
    )
    assert held.out == "['$(touch x)', '; rm *']\n"
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_are_no_text_are_replaced(tmp_path):
    held = run(tmp_path, "import os; os.write(1, b'\\xff\\x00ok\\n')")
    assert held.out == "\ufffd\x00ok\n"


def test_it_runs_in_its_folder_with_points_and_no_input(tmp_path):
    held = run(tmp_path, "import os, sys; print(os.getcwd(), os.environ['LC_ALL'], len(sys.stdin.read()))")
    assert held.out == f"{os.path.realpath(tmp_path)} C 0\n"


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "import time; time.sleep(1000)",
        "import signal, time\nfor s in (15, 2, 1): signal.signal(s, signal.SIG_IGN)\nprint('x', flush=True)\n"
        "while True: time.sleep(1)",
        "import os, time\nos.close(1); os.close(2)\nwhile True: time.sleep(1)",
    ],
)
def test_it_is_killed_when_its_time_is_up(tmp_path, body):
    held = run(tmp_path, f"import os; open('pid', 'w').write(str(os.getpid()))\n{body}", 1.0)
    assert (held.ended, held.code) == ("time", None)
    assert gone(int((tmp_path / "pid").read_text()))


_FORKS = """
import os, sys, time
pid = os.fork()
if pid == 0:
    while True:
        time.sleep(1)
open('pid', 'w').write(str(pid))
print('done', flush=True)
"""


@pytest.mark.parametrize(("more", "ended"), [("", "itself"), ("time.sleep(1000)", "time")])
def test_children_are_killed_and_not_waited_for(tmp_path, more, ended):
    held = run(tmp_path, _FORKS + more, 2.0 if more else LONG)
    assert held.ended == ended
    assert held.out == "done\n"
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_child_that_has_left_the_group_is_not_waited_for(tmp_path):
    body = _FORKS.replace("while True", "os.setsid()\n    while True")
    held = run(tmp_path, body)
    try:
        assert (held.ended, held.out) == ("itself", "done\n")
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


@pytest.mark.parametrize("stream", [1, 2])
def test_a_flood_of_output_is_ended(tmp_path, stream, monkeypatch):
    monkeypatch.setattr(running, "MOST_OUTPUT", 2**20)
    held = run(tmp_path, f"import os\nwhile True: os.write({stream}, b'x' * 65536)")
    assert held.ended == "flooded"
    assert len(held.out) + len(held.err) <= 2**20


def test_a_flood_of_files_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "MOST_WRITTEN", 2**20)
    body = "i = 0\nwhile True:\n    open(str(i), 'wb').write(b'x' * 1000); i += 1"
    assert run(tmp_path, body).ended == "disk"


def test_one_file_cannot_become_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "MOST_WRITTEN", 2**20)
    body = "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nf = open('f', 'wb', 0)\n"
    held = run(tmp_path, body + "while True: f.write(b'x' * 65536)")
    assert held.ended == "disk" or held.code == -signal.SIGXFSZ
    assert (tmp_path / "f").stat().st_size <= 2**20


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV, signal.SIGKILL])
def test_signals_are_told(tmp_path, number):
    held = run(tmp_path, f"import os; print('x', flush=True); os.kill(os.getpid(), {int(number)})")
    assert (held.ended, held.code) == ("itself", -number)
    assert not list(tmp_path.glob("core*"))


def test_an_interruption_ends_it(tmp_path):
    interruption = Interruption()
    threading.Timer(0.3, lambda: setattr(interruption, "pressed", True)).start()
    assert run(tmp_path, "import time; time.sleep(1000)", interruption=interruption).ended == "interrupted"


@pytest.mark.parametrize("make", ["absent", "not executable", "no interpreter", "folder"])
def test_what_cannot_be_started_is_refused(tmp_path, make):
    place = tmp_path / "solver"
    if make == "folder":
        place.mkdir()
    elif make != "absent":
        place.write_text("#!/no/such/interpreter\n")
        place.chmod(0o644 if make == "not executable" else 0o755)
    with pytest.raises(InputError, match="cannot be started"):
        run_program([str(place)], tmp_path)


def test_a_word_with_a_null_character_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be started"):
        run_program([sys.executable, "a\0b"], tmp_path)


def test_a_request_to_end_ends_the_program_too(tmp_path):
    body = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(1000)"
    ours = f"""
import sys
from pathlib import Path
from justicia.solvers.external.running import run_program
run_program([sys.executable, "-S", "-c", {body!r}], Path({str(tmp_path)!r}))
"""
    process = run_in_background(ours)
    pid = tmp_path / "pid"
    until = time.monotonic() + LONG
    while not (pid.exists() and pid.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(LONG) == 128 + signal.SIGTERM
    assert gone(int(pid.read_text()))


def run_in_background(code: str):
    import subprocess

    return subprocess.Popen([sys.executable, "-c", code])
