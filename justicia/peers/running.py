"""Ask a tool, and measure what it takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from justicia._version import __version__
from justicia.metrics import GroupMetrics
from justicia.peers.base import Call, Peer, PeerAnswer, PeerNumber, People, quiet_call

__all__ = ["INSTALL", "measured", "own_answer", "run_peer"]

INSTALL = "pip install 'justicia-verifier[compare]'"


def measured(run: Callable[[], Any]) -> tuple[Any, float, int | None]:
    """What a call gives, its seconds of the processor, and by how many bytes it made the process grow at most.

    The seconds are those of all threads. Memory is the largest resident set during the call less that at its start,
    which Linux alone tells; None elsewhere. Memory that was freed before and is used again does not count.
    """
    before = _restart_peak()
    start = time.process_time()
    held = run()
    seconds = time.process_time() - start
    peak = None if before is None else _status("VmHWM")
    return held, seconds, None if before is None or peak is None else max(0, peak - before)


def _restart_peak() -> int | None:
    """Make the largest resident set the present one, and return it in bytes; None where that is not possible."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    return None


def _status(name: str) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return None


def run_peer(peer: Peer, people: People) -> PeerAnswer:
    """What a tool says about some people; when it is not installed, how to install it."""
    try:
        module, problem = quiet_import(peer)
    except ImportError as error:
        name = error.name or peer.package
        lacking = "it" if name.partition(".")[0] == peer.package else f"{name}, which it needs,"
        return PeerAnswer(peer.package, peer.title, None, notes=(f"{lacking} is not installed: {INSTALL}",))
    if problem is not None:
        return PeerAnswer(peer.package, peer.title, None, notes=(f"it cannot be imported: {problem}",))
    calls, notes = peer.calls(module, people)
    values, seconds, memory = measured(lambda: [quiet_call(call.run) for call in calls])
    numbers = tuple(_number(call, *held) for call, held in zip(calls, values, strict=True))
    return PeerAnswer(peer.package, peer.title, metadata.version(peer.package), numbers, seconds, memory, notes)


def _number(call: Call, value: Any, problem: str | None) -> PeerNumber:
    """What a call gave, beside what it should have given."""
    given = math.nan if value is None else float(value)
    ours, expected, reasons = call.ours(), call.expected(), call.reasons()
    return PeerNumber(
        call.measure, call.function, call.group, call.compared, given, ours, expected, reasons, problem, call.open
    )  # fmt: skip


def quiet_import(peer: Peer) -> tuple[Any, str | None]:
    """The module that a tool is asked by, without what it says while it is imported."""
    held: list[ImportError] = []

    def load() -> Any:
        try:
            return peer.load()
        except ImportError as error:
            held.append(error)
            raise

    found = quiet_call(load)
    if held:
        raise held[0]
    return found


def own_answer(people: People, confidence: float) -> PeerAnswer:
    """What it takes here to say the same about the rows, with the intervals of all rates and measures."""

    def run() -> None:
        for rows in [people] if people.labelled is people else [people, people.labelled]:
            truth = rows.positive if rows is people.labelled else None
            asked = GroupMetrics(
                None if truth is None else truth.astype(int),
                rows.selected.astype(int),
                sensitive_features=rows.columns(),
                sample_weight=rows.weight,
                confidence=confidence,
            )
            _ = asked.by_group, asked.measures

    _, seconds, memory = measured(run)
    return PeerAnswer("justicia", "justicia, rows", __version__, (), seconds, memory)
