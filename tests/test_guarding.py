"""Nothing outlives a process that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from justicia import _guard
from justicia._guard import descendants, end_marked, marked, memory_of, size_text
from justicia.guarding import guard, private_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no process groups")

_LINUX = sys.platform == "linux"


def gone(process, seconds=20.0):
    """Whether a process that is no child of this one has ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        if _LINUX:
            try:
                if Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
            except FileNotFoundError:
                return True
        time.sleep(0.02)
    return False


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Start a script, and give what it prints first."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    held = []

    def start(text, *words):
        process = subprocess.Popen(
            [sys.executable, "-c", text, *words], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        held.append(process)
        return process, process.stdout.readline().split()

    yield start
    for process in held:
        process.kill()
        process.wait()
        process.stdout.close()


_SOLVER = """
import subprocess, sys, time, os
from pathlib import Path
# One child in the group, and one in a session of its own.
code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
children = [subprocess.Popen([sys.executable, "-S", "-c", code], start_new_session=one) for one in (False, True)]
Path(sys.argv[1]).write_text(" ".join(map(str, [os.getpid(), *(one.pid for one in children)])) + " .")
time.sleep(600)
"""

_PARENT = """
import sys, threading, time
from pathlib import Path
from justicia.guarding import private_folder
from justicia.solvers.external.running import run_program

def tell():
    while not Path(sys.argv[2]).exists() or not Path(sys.argv[2]).read_text().endswith("."):
        time.sleep(0.02)
    print(folder, Path(sys.argv[2]).read_text(), flush=True)

with private_folder() as folder:
    (folder / "problem").write_text("x")
    threading.Thread(target=tell, daemon=True).start()
    run_program([sys.executable, "-S", "-c", sys.argv[1], sys.argv[2]], folder, 500.0)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_programs_and_folders_go_with_the_process(script, tmp_path, number):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("whoever started the tests lets programs ignore this signal")
    process, said = script(_PARENT, _SOLVER, str(tmp_path / "told"))
    folder, solvers = Path(said[0]), list(map(int, said[1:4]))
    assert (folder / "problem").exists()
    process.send_signal(number)
    process.wait(20)
    left = solvers if _LINUX else solvers[:2]
    assert [one for one in left if not gone(one)] == []
    until = time.monotonic() + 10
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not folder.exists()


def test_a_child_in_a_session_of_its_own_is_ended_with_the_program(tmp_path):
    if not _LINUX:
        pytest.skip("this system does not show the environment of processes")
    from justicia.solvers.external.running import run_program

    body = (
        "import subprocess, sys\n"
        "one = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "print(one.pid)\n"
    )
    run = run_program([sys.executable, "-S", "-c", body], tmp_path, 60.0)
    assert run.ended == "itself"
    assert gone(int(run.out))


def test_a_line_that_was_cut_off_says_nothing(tmp_path):
    place = tmp_path / "folder"
    place.mkdir()
    said = b'{"folder": "/no\n{"folder": "' + os.fsencode(place) + b'"}\nx\n'
    done = subprocess.run(
        [sys.executable, "-I", "-S", _guard.__file__, str(os.getpid())], input=said, capture_output=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not place.exists()


def test_a_folder_is_gone_after_its_context():
    with private_folder() as folder:
        assert folder.is_dir()
    assert not folder.exists()


def test_marks_are_inherited_and_end_what_has_them():
    if not _LINUX:
        pytest.skip("this system does not show the environment of processes")
    mark = guard().new_mark()
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(600)"], env={**os.environ, _guard.MARK: mark}
    )
    try:
        until = time.monotonic() + 20
        while list(marked(mark)) != [process.pid] and time.monotonic() < until:
            time.sleep(0.02)
        assert list(marked(mark)) == [process.pid]
        assert list(marked(mark + "1")) == []
        end_marked(mark)
        assert process.wait(20) == -signal.SIGKILL
    finally:
        process.kill()
        process.wait()


def test_children_are_found_and_their_memory_is_counted():
    held = 150_000_000
    code = f"import subprocess, sys, time; held = bytearray({held}); print('there', flush=True); time.sleep(600)"
    before = memory_of(os.getpid())
    process = subprocess.Popen([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "there\n"
        assert process.pid in descendants(os.getpid())
        # Pages that processes share are counted once, so that this process counts for less than before.
        assert memory_of(process.pid) > held
        assert memory_of(os.getpid()) - held > 0.5 * before
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_children_are_found_without_linux(monkeypatch):
    process = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
    try:
        known = _guard._table()
        if not known:
            pytest.skip("there is no ps")
        monkeypatch.setattr(_guard, "_children", lambda process: None)
        assert process.pid in descendants(os.getpid())
        assert known[process.pid][0] == os.getpid()
        assert known[os.getpid()][1] > 10_000_000
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2e9, "2 GB"), (123_456_789, "123 MB")]
)
def test_sizes_are_readable(size, text):
    assert size_text(size) == text


_STUCK = """
import ctypes, json, sys, time
from justicia.guarding import guard
limits = json.loads(sys.argv[1])
lines = {"time": "over", "memory": "full: {used}"}
guard().limit({**limits, "lines": lines, "log": sys.argv[2], "end": {"event": "end"}})
print("there", flush=True)
held = bytearray(int(sys.argv[3]))
# The interpreter is held all along: PyDLL does not let go of it.
ctypes.PyDLL(None).sleep(600)
"""


@pytest.mark.parametrize(
    ("limits", "size", "line"),
    [('{"last": 0.5}', 0, "over"), ('{"memory": 200000000}', 400_000_000, "full: ")],
)
def test_a_process_that_does_not_react_is_killed(script, tmp_path, capfd, limits, size, line):
    process, _ = script(_STUCK, limits, str(tmp_path / "log"), str(size))
    assert process.wait(30) == -signal.SIGKILL
    until = time.monotonic() + 10
    while not (tmp_path / "log").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert capfd.readouterr().err.startswith(line)
    assert f'"error": "{line}' in (tmp_path / "log").read_text()
