"""A run: inputs are drawn, read, and kept when they lead somewhere new."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import IO, Any

from fuzzing.outcomes import Outcome
from fuzzing.running import Worker
from fuzzing.targets import Target

__all__ = ["Campaign", "corpus_of"]

_TRACED = 25
"""One input of so many is traced."""
_LARGEST = 60_000
"""Bytes of an input that is kept."""
_EVERY = 30.0
"""Seconds between lines of the log."""


def corpus_of(folder: Path) -> list[bytes]:
    """The inputs in a folder, and those in its folder of faults."""
    return [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]


class _Spent:
    """Seconds of computing since it was made, here and in a reader's process."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._before = worker.seconds + time.process_time()

    @property
    def seconds(self) -> float:
        return self._worker.seconds + time.process_time() - self._before


@dataclass
class Campaign:
    """Inputs of one target.

    Attributes
    ----------
    target : Target
    folder : path
        New inputs are kept there; faults in its folder ``faults``.
    log : text file or None
        Gets lines of JSON.
    seed : int
    """

    target: Target
    folder: Path
    log: IO[str] | None
    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    faults: dict[str, dict[str, Any]] = field(default_factory=dict)

    def run(
        self, worker: Worker, *, seconds: float | None = None, inputs: int | None = None, first: int | None = None
    ) -> None:
        """Read inputs until the time is over, or so many have been read.

        Parameters
        ----------
        worker : Worker
        seconds : float or None
            Of computing, here and in the reader's process, so that a busy machine reads as much.
        inputs : int or None
        first : int or None
            Inputs of the corpus that are read first; all by default.
        """
        rng = Random(f"{self.target.name} {self.seed}")
        known = list(dict.fromkeys([*self.target.seeds(), *corpus_of(self.folder)]))
        held: list[bytes] = []
        good: list[bytes] = []
        seen: set[str] = set()
        lines: set[str] = set()
        worker.start()
        started = said = time.monotonic()
        spent = _Spent(worker)
        self._say("start", seed=self.seed, known=len(known))
        pending = known[:first]
        while (seconds is None or spent.seconds < seconds) and (inputs is None or self.n_read < inputs):
            fresh = not pending
            content = self._new(rng, held, good) if fresh else pending.pop(0)
            traced = fresh and rng.randrange(_TRACED) == 0
            outcome, reached, facts = worker.run(content, traced=traced)
            self.counts[outcome.kind] += 1
            new_lines = [line for line in reached if line not in lines]
            lines.update(new_lines)
            if outcome.is_fault:
                self._fault(content, outcome, facts)
            elif (outcome.key not in seen or new_lines or not fresh) and len(content) <= _LARGEST:
                (good if outcome.kind == "read" else held).append(content)
                if fresh:
                    self._keep(content, self.folder)
            seen.add(outcome.key)
            if time.monotonic() - said > _EVERY:
                said = time.monotonic()
                self._progress(started, len(held) + len(good), seen, lines, worker, spent)
        self._progress(started, len(held) + len(good), seen, lines, worker, spent, kind="end")

    @property
    def n_read(self) -> int:
        """Inputs so far."""
        return sum(self.counts.values())

    def _new(self, rng: Random, held: list[bytes], good: list[bytes]) -> bytes:
        """A mutation of an input that was read, or, one time in five, of one that was refused."""
        good = good or list(self.target.seeds())
        known = held if held and rng.random() < 0.2 else good
        # Seeds, which come first, stay as likely as all that was found later.
        content = known[rng.randrange(len(known) if rng.random() < 0.6 else min(len(known), 30))]
        return self.target.mutate(rng, content, known)

    def _fault(self, content: bytes, outcome: Outcome, facts: dict[str, Any]) -> None:
        known = self.faults.get(outcome.key)
        if known is None or len(content) < known["size"]:
            place = self._keep(content, self.folder / "faults", outcome.key)
            self.faults[outcome.key] = {"size": len(content), "kind": outcome.kind}
            self._say(
                "fault",
                key=outcome.key,
                fault=outcome.kind,
                text=outcome.text,
                trace=outcome.trace,
                file=str(place),
                **facts,
            )

    def _keep(self, content: bytes, folder: Path, name: str | None = None) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"{name or hashlib.sha256(content).hexdigest()[:12]}{self.target.suffix}"
        place.write_bytes(content)
        return place

    def _progress(
        self,
        started: float,
        n_kept: int,
        seen: set[str],
        lines: set[str],
        worker: Worker,
        spent: _Spent,
        kind: str = "progress",
    ) -> None:
        self._say(
            kind,
            seconds=round(time.monotonic() - started, 1),
            computing=round(spent.seconds, 1),
            inputs=self.n_read,
            outcomes=dict(self.counts),
            corpus=n_kept,
            messages=len(seen),
            lines=len(lines),
            workers=worker.n_started,
            faults=len(self.faults),
        )

    def _say(self, event: str, **facts: Any) -> None:
        if self.log is not None:
            now = time.strftime("%Y-%m-%dT%H:%M:%S")
            self.log.write(json.dumps({"event": event, "target": self.target.name, "time": now, **facts}) + "\n")
            self.log.flush()
