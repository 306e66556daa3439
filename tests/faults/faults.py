"""What can happen to a command."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.faults.injecting import Fault, moments
from tests.faults.scenes import Scene

_DISK = 64_000_000


@contextlib.contextmanager
def small_disk() -> Iterator[Path | None]:
    """A file system in memory; None where this process may not mount one."""
    if os.name != "posix" or os.geteuid() != 0 or shutil.which("mount") is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="faults-disk-") as name:
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", name], capture_output=True, check=False
        )
        if made.returncode:
            yield None
            return
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "-l", name], check=False)


def all_faults(scene: Scene, number: int, seed: int, disk: Path | None) -> Iterator[Fault]:
    """Those that make sense for a command.

    Parameters
    ----------
    scene : Scene
    number : int
        Moments at which each signal is sent.
    seed : int
    disk : Path, optional
        A file system of its own.
    """
    chosen = random.Random(seed)
    for position, (one, code) in enumerate(
        ((signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129))
    ):
        name = one.name.removeprefix("SIG")
        for wait in moments(number if one != signal.SIGHUP else 1, seed * 10 + position):
            # A process that has not come to its own handlers, or has left them, ends by the signal itself.
            yield Fault(f"{name} at {wait:.0%}", (code, -one), wait=wait, signal=one, killed=one == signal.SIGKILL)
    written = [name for name in scene.outputs if name not in scene.grows]
    if written:
        last = len(written)
        for call in ("write", "fsync", "link", "replace"):
            yield Fault(f"kill -9 in {call} {last}", (-9,), at=f"{call} {last} kill", signal=9, killed=True)
        yield Fault("SIGTERM in write 1", (143,), at="write 1 TERM", signal=15)
        yield Fault("SIGINT in replace 1", (130,), at="replace 1 INT", signal=2)
        for what in ("ENOSPC", "EDQUOT", "EIO", "EROFS"):
            place = chosen.randint(1, last)
            yield Fault(f"{what} in write {place}", (2,), at=f"write {place} {what}")
        yield Fault(f"ENOSPC in fsync {last}", (2,), at=f"fsync {last} ENOSPC")
        yield Fault("EACCES in replace 1", (2,), at="replace 1 EACCES")
    if scene.outputs:
        yield Fault("files of 2,000 bytes at most", (2,), limits=((resource.RLIMIT_FSIZE, 2000),))
        yield Fault("a folder in the place of the last output", (2,), spoil=_folder_for_file)
    if disk is not None and not scene.resumes:
        for room in (0, chosen.randrange(1, 12_000), chosen.randrange(12_000, 60_000)):
            yield Fault(f"{room:,} bytes left on the disk", (2,), room=room)
    for stream in ("stdout", "stderr"):
        for kind in ("closed", "broken", "full"):
            code = (2,) if kind == "full" and stream == "stdout" else ()
            yield Fault(f"{stream} {kind}", code, **{stream: kind})
    yield Fault("stdout and stderr broken", (), stdout="broken", stderr="broken")
    yield Fault("--max-time over at half", (3,), words=("--max-time", "1"))
    yield Fault("--max-memory 100MB", (3, 137), words=("--max-memory", "100MB"))
    yield Fault("1.5 GB of addresses", (2,), limits=((resource.RLIMIT_AS, 1_500_000_000),))
    yield Fault("25 open files", (2,), limits=((resource.RLIMIT_NOFILE, 25),))


def _folder_for_file(folder: Path, scene: Scene) -> None:
    last = list(scene.outputs)[-1]
    (folder / last).unlink(missing_ok=True)
    (folder / last).mkdir()
