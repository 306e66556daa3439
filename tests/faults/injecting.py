"""Run a command, have something happen to it, and look at what is left."""

from __future__ import annotations

import contextlib
import os
import random
import re
import resource
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.scenes import OLD, Scene

ROOT = Path(__file__).parents[2]
MARK = "JUSTICIA_FAULT"
PATIENCE = 600.0
"""Seconds after which a command that does not end is a fault of its own."""


@dataclass
class Seen:
    """What was left.

    Attributes
    ----------
    scene, fault : str
    code : int or None
        Exit code.
    line : str
        What stood on standard error, after "justicia: ".
    faults : list of str
        What must not be.
    """

    scene: str
    fault: str
    code: int | None
    line: str
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Fault:
    """What happens to a command.

    Attributes
    ----------
    name : str
    codes : tuple of int
        Exit codes that it may end with, besides the command's own.
    wait : float, optional
        Share of the command's usual time after which `signal` is sent, to the process alone.
    signal : int, optional
    at : str, optional
        A call and the number of the one at which it happens, and what happens: "write 3 ENOSPC", "replace 1 kill".
    room : int, optional
        Bytes that are left on the disk of the outputs.
    stdout, stderr : str
        "pipe", "closed", "broken" (a pipe that nobody reads any more), "full" (/dev/full).
    limits : tuple of (int, int)
        Resource limits of the process.
    words : tuple of str
        More options.
    spoil : callable, optional
        Done to the folder before.
    killed : bool
        Nothing can be cleaned up by the process itself.
    """

    name: str
    codes: tuple[int, ...] = ()
    wait: float | None = None
    signal: int | None = None
    at: str | None = None
    room: int | None = None
    stdout: str = "pipe"
    stderr: str = "pipe"
    limits: tuple[tuple[int, int], ...] = ()
    words: tuple[str, ...] = ()
    spoil: Callable[[Path, Scene], None] | None = None
    killed: bool = False


def begin(scene: Scene, folder: Path, fault: Fault, mark: str) -> subprocess.Popen[bytes]:
    """Start the command."""
    module = ["-m", "justicia"] if fault.at is None else ["-m", "tests.faults.broken", *fault.at.split(), "--"]
    environment = {
        **os.environ, MARK: mark, "TMPDIR": str(folder / "tmp"), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "",
    }  # fmt: skip
    ends = [_end(fault.stdout), _end(fault.stderr)]

    def ready() -> None:
        for number, most in fault.limits:
            resource.setrlimit(number, (most, most))
        for descriptor, end in ((1, fault.stdout), (2, fault.stderr)):
            if end == "closed":
                os.close(descriptor)

    process = subprocess.Popen(
        [sys.executable, *module, *scene.words, *fault.words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=ends[0], stderr=ends[1], preexec_fn=ready, start_new_session=True,
    )  # fmt: skip
    for end, pipe in ((fault.stdout, process.stdout), (fault.stderr, process.stderr)):
        if end == "broken" and pipe is not None:
            pipe.close()
    for end in ends:
        if end not in (subprocess.PIPE, subprocess.DEVNULL):
            os.close(end)
    if fault.stdout == "broken":
        process.stdout = None
    if fault.stderr == "broken":
        process.stderr = None
    return process


def _end(kind: str) -> int:
    return os.open("/dev/full", os.O_WRONLY) if kind == "full" else subprocess.PIPE


def processes(mark: str) -> list[int]:
    """Processes that the command, or what it began, has left."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if wanted in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                    found.append(int(name))
    return found


def inject(scene: Scene, inputs: Path, fault: Fault, usual: float, disk: Path | None = None) -> Seen:
    """One command and one fault.

    Parameters
    ----------
    scene : Scene
    inputs : Path
        A folder that `prepare` has filled.
    fault : Fault
    usual : float
        Seconds that the command takes when nothing happens to it.
    disk : Path, optional
        A file system of its own that faults of room need.
    """
    base = disk if fault.room is not None else None
    with tempfile.TemporaryDirectory(prefix="faults-", dir=base) as name:
        folder = Path(name) / "here"
        if base is None:
            shutil.copytree(inputs, folder)
        else:
            folder.mkdir()
            for one in inputs.iterdir():
                (folder / one.name).symlink_to(one)
        (folder / "tmp").mkdir(exist_ok=True)
        for output in scene.outputs:
            if output not in scene.grows:
                (folder / output).write_bytes(OLD)
        if fault.spoil is not None:
            fault.spoil(folder, scene)
        before = set(os.listdir(folder))
        with _filled(base, fault.room):
            seen = _run(scene, folder, fault, usual)
        _look(seen, scene, folder, fault, before)
        if scene.resumes and fault.spoil is None:
            _resume(seen, scene, folder, inputs)
        return seen


@contextlib.contextmanager
def _filled(disk: Path | None, room: int | None) -> Iterator[None]:
    """Leave that many bytes on a disk."""
    if disk is None or room is None:
        yield
        return
    held = os.statvfs(disk)
    filling = disk / "filling"
    left = max(held.f_bavail * held.f_frsize - room, 0)
    filling.write_bytes(b"\0" * left)
    try:
        yield
    finally:
        filling.unlink()


def _run(scene: Scene, folder: Path, fault: Fault, usual: float) -> Seen:
    mark = secrets.token_hex(8)
    process = begin(scene, folder, fault, mark)
    if fault.wait is not None and fault.signal is not None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(fault.wait * usual)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(fault.signal)
    faults = []
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        faults.append("it does not end")
        process.kill()
        out, err = process.communicate()
    until = time.monotonic() + 30.0
    while (left := processes(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    if left:
        faults.append(f"{len(left)} processes are left")
        for one in left:
            with contextlib.suppress(OSError):
                os.kill(one, signal.SIGKILL)
    text = (err or b"").decode(errors="replace")
    said = re.findall(r"^justicia: (.*)$", text, flags=re.MULTILINE)
    if "Traceback" in text or "Exception ignored" in text:
        faults.append(f"a traceback: {text[-2000:]}")
    if len(said) > 1:
        faults.append(f"{len(said)} lines say why it ended")
    allowed = {*scene.codes, *fault.codes}
    if process.returncode not in allowed:
        faults.append(f"exit code {process.returncode}: {text[-500:]}")
    if process.returncode == 2 and not said and fault.stderr == "pipe":
        faults.append("exit code 2 without a line")
    # A line says why there is no answer, also with the exit code of a question that is undecided.
    if scene.stdout is not None and process.returncode in scene.codes and not said and fault.stdout == "pipe":
        _whole(faults, "standard output", scene.stdout, out)
    return Seen(scene.name, fault.name, process.returncode, said[0] if said else "", faults)


def _look(seen: Seen, scene: Scene, folder: Path, fault: Fault, before: set[str]) -> None:
    """Every output is the old one or a whole new one, all together; and nothing else is there."""
    for output, whole in scene.outputs.items():
        path = folder / output
        if path.is_dir():
            continue
        if not path.exists():
            if output not in scene.grows and output in before:
                seen.faults.append(f"{output} is gone")
            continue
        content = path.read_bytes()
        if content != OLD:
            _whole(seen.faults, output, whole, content)
        elif seen.code in scene.codes and not seen.line and fault.signal is None and output in before:
            seen.faults.append(f"exit code {seen.code}, and {output} is the old one")
    strange = set(os.listdir(folder)) - before - set(scene.outputs) - {"__pycache__"}
    own = {name for name in strange if re.fullmatch(r"\.(.+)\.(justicia-[0-9a-f]{8}|new)", name)}
    if strange - (own if fault.killed else set()):
        seen.faults.append(f"left behind: {sorted(strange)}")
    until = time.monotonic() + 30.0
    while (rest := os.listdir(folder / "tmp")) and time.monotonic() < until:
        time.sleep(0.05)
    if rest:
        seen.faults.append(f"left in the temporary folder: {sorted(rest)}")


def _whole(faults: list[str], name: str, whole: Callable[[bytes], object], content: bytes) -> None:
    try:
        whole(content)
    except Exception as error:
        faults.append(f"{name} is no whole output: {type(error).__name__} {str(error)[:200]}")


def _resume(seen: Seen, scene: Scene, folder: Path, inputs: Path) -> None:
    """Run the command once more, and compare with one that nothing happened to."""
    again = subprocess.run(
        [sys.executable, "-m", "justicia", *scene.words], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=900, check=False,
    )  # fmt: skip
    if again.returncode not in scene.codes:
        seen.faults.append(f"it does not go on: {again.stderr[-300:]}")
        return
    expected = inputs.parent / "expected" / scene.name.replace(" ", "-")
    for output in scene.outputs:
        if (folder / output).read_bytes() != (expected / output).read_bytes():
            seen.faults.append(f"{output} differs from that of a run without a fault")


def expect(scene: Scene, inputs: Path) -> float:
    """Run a command that nothing happens to, keep its outputs, and tell the seconds that it takes."""
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        folder = Path(name) / "here"
        shutil.copytree(inputs, folder)
        start = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "justicia", *scene.words], cwd=folder, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=600, check=False,
        )  # fmt: skip
        seconds = time.monotonic() - start
        if done.returncode not in scene.codes:
            raise RuntimeError(f"{scene.name}: exit code {done.returncode}: {done.stderr[-1000:]}")
        kept = inputs.parent / "expected" / scene.name.replace(" ", "-")
        kept.mkdir(parents=True, exist_ok=True)
        for output in scene.outputs:
            shutil.copy(folder / output, kept / output)
        return seconds


def moments(number: int, seed: int) -> Iterator[float]:
    """Random shares of a command's time, spread evenly, a little beyond its end."""
    chosen = random.Random(seed)
    for step in range(number):
        yield (step + chosen.random()) / number * 1.1
