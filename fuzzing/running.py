"""Runs inputs one by one in a worker process that is watched: its time, its memory, whether it lives."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from fuzzing.outcomes import Outcome

__all__ = ["MOST_MEMORY", "MOST_SECONDS", "Worker"]

MOST_SECONDS = 20.0
"""Of computing, for one input."""

MOST_MEMORY = 700 * 2**20
"""Bytes that the process may grow by for one input, beside 100 times the input's size."""

_LONGEST = 400.0
"""Seconds by the clock, for one input that computes nothing."""
_FIRST = 1800.0
"""Seconds that the first inputs may take, which compile kernels."""
_TICKS = os.sysconf("SC_CLK_TCK")


class Worker:
    """One process that reads inputs; a new one takes its place when it died or was stopped.

    Parameters
    ----------
    target : str
    folder : path
        Where it may write.
    most : float
        Seconds of computing for one input.
    """

    def __init__(self, target: str, folder: Path, most: float = MOST_SECONDS) -> None:
        self.target, self.folder, self.most = target, folder, most
        self.n_started = 0
        self.computed = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self.computed += _seconds(self._process.pid)
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process = None

    @property
    def seconds(self) -> float:
        """Seconds of computing of all processes so far."""
        return self.computed + (0.0 if self._process is None else _seconds(self._process.pid))

    def start(self) -> None:
        """Begin a process, unless there is one; the first one reads a good input by every command."""
        if self._process is None:
            self._start()

    def run(self, content: bytes, *, traced: bool = False) -> tuple[Outcome, list[str], dict[str, Any]]:
        """What came of an input, lines that it reached (when it was traced), and seconds and bytes that it took.

        What ends the process, or takes too long, is read once more by a new one.
        """
        found = self._run(content, traced=traced)
        return self._run(content, traced=False) if found[0].kind in ("hang", "crash") else found

    def _run(self, content: bytes, *, traced: bool) -> tuple[Outcome, list[str], dict[str, Any]]:
        self.start()
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("the worker could not be started")
        path = self.folder / "content"
        path.write_bytes(content)
        before = _seconds(process.pid)
        try:
            process.stdin.write(json.dumps({"path": str(path), "traced": traced}).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            self.stop()
            return Outcome("crash", "the process had ended"), [], {}
        reply = self._reply(before)
        if isinstance(reply, Outcome):
            self.stop()
            return reply, [], {}
        outcome = Outcome(**reply["outcome"])
        grown = reply["grown"]
        if not outcome.is_fault and grown > MOST_MEMORY + 100 * len(content):
            outcome = Outcome("memory", f"grew by {grown // 2**20} MiB, after: {outcome.text}")
        if outcome.kind == "memory" or reply["kept"] > 1500 * 2**20:
            self.stop()
        return outcome, reply["lines"], {"seconds": reply["seconds"], "grown": grown}

    def _start(self) -> None:
        self.n_started += 1
        scratch = self.folder / "scratch"
        scratch.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "HOME": str(scratch), "TMPDIR": str(self.folder / "temporary")}
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
            environment[name] = "1"
        Path(environment["TMPDIR"]).mkdir(exist_ok=True)
        with (self.folder / "worker.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "fuzzing.worker",
                    self.target,
                    str(scratch),
                    "all" if self.n_started == 1 else "none",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
            )
        first = self._reply(None, most=_FIRST)
        if isinstance(first, Outcome):
            self.stop()
            raise RuntimeError(f"the worker of {self.target} does not start: {first.text}")

    def _reply(self, before: float | None, most: float = _LONGEST) -> Any:
        """A line of the worker's, or the outcome that there is none."""
        process = self._process
        if process is None or process.stdout is None:
            raise RuntimeError("there is no worker")
        started = time.monotonic()
        held = b""
        while not held.endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], 0.5)
            if ready:
                part = os.read(process.stdout.fileno(), 1 << 20)
                if not part:
                    code = process.wait()
                    name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
                    said = (self.folder / "worker.log").read_bytes()[-1500:].decode("utf-8", "replace").strip()
                    last = " ".join(said.split("\n")[-3:])
                    return Outcome("crash", f"the process ended: {name}: {last}", f"{name} {last[-80:]}")
                held += part
                continue
            if before is not None and _seconds(process.pid) - before > self.most:
                return Outcome("hang", f"more than {self.most:.0f} seconds of computing")
            if time.monotonic() - started > most:
                return Outcome("hang", f"more than {most:.0f} seconds without an end")
        return json.loads(held)


def _seconds(pid: int) -> float:
    """Seconds of computing of a process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS
