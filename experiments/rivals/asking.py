"""Ask FairSquare and VeriFair about FairSquare's programs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from experiments.rivals.places import DRIVERS, FAIRSQUARE, VERIFAIR, Place
from experiments.running import Ran, run_program

__all__ = ["Answer", "ask_fairsquare", "ask_verifair", "last_json"]

_BOUNDS = re.compile(r"^ratio bounds: (\S+) (\S+)$", re.MULTILINE)
START_UP = 15.0
"""Seconds of the processor that imports may take beside the limit."""


@dataclass(frozen=True)
class Answer:
    """What a tool says of one program.

    Attributes
    ----------
    status : str
        "answer", "time", or "failed: " with the last line of what went wrong.
    verdict : bool or None
        The ratio of the two rates is above the limit.
    lo, hi : float or None
        What the ratio lies between, as far as the tool knows.
    value : float or None
        Its estimate.
    seconds : float
        Of the processor.
    """

    status: str
    verdict: bool | None
    lo: float | None
    hi: float | None
    value: float | None
    seconds: float


def last_json(ran: Ran) -> dict[str, Any] | None:
    """The object in the last line that a driver printed, None where there is none."""
    lines = ran.output.strip().splitlines()
    try:
        held = json.loads(lines[-1]) if lines else None
    except json.JSONDecodeError:
        return None
    return held if isinstance(held, dict) else None


def failure(ran: Ran) -> str:
    """Why there is no answer."""
    if ran.status == "time":
        return "time"
    lines = ran.errors.strip().splitlines() or ["no output"]
    return f"failed: {lines[-1][:80]}"


def ask_fairsquare(program: str, limit: float) -> Answer:
    """Bounds of the ratio, and the verdict as soon as they say it.

    Parameters
    ----------
    program : str
        Path of the program below the checkout's folder.
    limit : float
        Seconds of the processor.
    """
    ran = run_program(
        [*_called(FAIRSQUARE, "fairsquare_driver.py"), str(FAIRSQUARE.folder() / program)], limit + START_UP
    )
    bounds = [(_number(lo), _number(hi)) for lo, hi in _BOUNDS.findall(ran.output)]
    lo, hi = bounds[-1] if bounds else (None, None)
    held = last_json(ran)
    if held is None or held["seconds"] > limit:
        over = held is not None
        return Answer("time" if over else failure(ran), None, lo, hi, None, min(ran.seconds, limit))
    verdict = "postcondition holds: FAIR" in ran.output
    return Answer("answer", verdict, lo, hi, None if lo is None or hi is None else (lo + hi) / 2, held["seconds"])


def ask_verifair(program: str, limit: float, seed: int) -> Answer:
    """An estimate of the ratio, and a verdict that is wrong with a probability of 1e-10.

    Parameters
    ----------
    program : str
        Its name; with `_Q` at its end, of the qualified people alone.
    limit : float
        Seconds of the processor.
    seed : int
    """
    ran = run_program([*_called(VERIFAIR, "verifair_driver.py"), program, str(seed)], limit + START_UP)
    held = last_json(ran)
    if held is None or held["seconds"] > limit:
        return Answer("time" if held is not None else failure(ran), None, None, None, None, min(ran.seconds, limit))
    status = "answer" if held["verdict"] is not None else "undecided"
    return Answer(status, held["verdict"], None, None, held["ratio"], held["seconds"])


def _called(place: Place, driver: str) -> list[str]:
    folder, python = place.folder(), place.interpreter()
    if folder is None or python is None:
        raise FileNotFoundError(f"{place.name} is not there")
    return [str(python), "-u", str(DRIVERS / driver), str(folder)]


def _number(text: str) -> float | None:
    return None if text == "None" else float(text)
