"""Runs read as infinite sequences: a prefix, and a loop that is repeated for ever (definition 4).

The prefix and the loop twice hold every gap between two occurrences of the infinite sequence: no gap is longer than the
loop once the loop has begun.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import SpecError
from justicia.generations.results import RunResult, Witness
from justicia.words import shown

if TYPE_CHECKING:
    from justicia.generations.labels import Labels
    from justicia.generations.table import Generations

__all__ = ["infinite_gaps", "infinite_results"]


def infinite_gaps(labels: Labels, prefix: int, *, possible: bool = False) -> list[tuple[int, int, int] | None]:
    """The widest gap of every value: its width and the positions of its ends in the unrolled sequence, from 1.

    Parameters
    ----------
    labels : Labels
        Of prefix and loop.
    prefix : int
        Generations before the loop.
    possible : bool
        Whether an unknown label counts as the value.

    Returns
    -------
    list of (gap, after, before) or None
        `after` is 0 for the beginning; None: the loop lacks the value, which therefore stays away for ever.
    """
    n = len(labels)
    unrolled = labels.part(np.concatenate([np.arange(n), np.arange(prefix, n)]))
    found: list[tuple[int, int, int] | None] = []
    for value in range(len(labels.values)):
        places = np.flatnonzero(unrolled.shown(value, possible=possible)) + 1
        if not len(places) or places[-1] <= prefix:
            found.append(None)
            continue
        marks = np.concatenate([[0], places])
        gaps = np.diff(marks)
        widest = int(np.argmax(gaps))
        found.append((int(gaps[widest]), int(marks[widest]), int(marks[widest + 1])))
    return found


def infinite_results(
    generations: Generations,
    attributes: tuple[str, ...],
    labels: Labels,
    beta: int | None,
    loop_from: float,
    unknown: np.ndarray,
) -> tuple[RunResult, ...]:
    """Judge every run as prefix and loop; see `judge_runs`."""
    results = []
    for run, name in enumerate(generations.runs):
        start, end = int(generations.starts[run]), int(generations.starts[run + 1])
        steps = np.arange(1, end - start + 1) if generations.steps is None else generations.steps[start:end]
        prefix = int(np.searchsorted(steps, loop_from))
        if prefix >= end - start:
            of_run = "the table" if name is None else f"run {shown(name)}"
            raise SpecError(f"{of_run} has no generation from step {loop_from:g} on: its loop would be empty")
        part = labels.part(slice(start, end))
        results.append(_result(generations, attributes, part, name, start, prefix, beta, int(unknown[run])))
    return tuple(results)


def _result(
    generations: Generations,
    attributes: tuple[str, ...],
    labels: Labels,
    name: str | None,
    start: int,
    prefix: int,
    beta: int | None,
    unknown: int,
) -> RunResult:
    n, values = len(labels), range(len(labels.values))
    sure, open_ = infinite_gaps(labels, prefix), infinite_gaps(labels, prefix, possible=True)
    lo = None if None in open_ else max(gap[0] for gap in open_ if gap is not None)
    hi = None if None in sure else max(gap[0] for gap in sure if gap is not None)
    shows, may = ([labels.shown(value, possible=kind).any() for value in values] for kind in (False, True))
    eventual = "holds" if all(shows) else "undecided" if all(may) else "fails"
    if beta is None:
        verdict = eventual
    elif lo is None or lo > beta:
        verdict = "fails"
    else:
        verdict = "holds" if hi is not None and hi <= beta else "undecided"
    certain = beta is not None and verdict == "fails"
    witness = _witness(generations, labels, open_ if certain else sure, open_, start, prefix)
    absent = tuple(labels.values[value] for value in values if (sure[value] is None if beta else not shows[value]))
    reason = {
        "holds": "every value occurs"
        if beta is None
        else f"every {beta} generations in a row have every value, for ever",
        "fails": f"{shown(witness.value)} is not in the loop"
        if lo is None
        else f"{beta} generations in a row lack a value",
        "undecided": "unknown labels leave it open",
    }[verdict]
    if beta is None and verdict == "fails":
        reason = f"no occurrence of {', '.join(shown(value) for value in absent[:5])}"
    star = hi if lo == hi else None
    return RunResult(
        attributes,
        name,
        n,
        unknown,
        beta,
        star,
        (lo, hi),
        verdict,
        reason,
        witness,
        eventual,
        absent,
        None,
        infinite=True,
    )


def _witness(
    generations: Generations,
    labels: Labels,
    gaps: list[tuple[int, int, int] | None],
    least: list[tuple[int, int, int] | None],
    start: int,
    prefix: int,
) -> Witness:
    n = len(labels)
    if None in gaps:
        value = gaps.index(None)
        return Witness(labels.values[value], None, None, None, None, None, least[value] is None)
    held = [gap for gap in gaps if gap is not None]
    value = int(np.argmax([gap[0] for gap in held]))
    width, after, before = held[value]
    sure = least[value]
    wrapped = [place if place <= n else place - (n - prefix) for place in (after, before)]
    ends = [None if place == 0 else place for place in wrapped]
    steps = [None if place is None else generations.step(start + place - 1) for place in ends]
    certain = sure is None or sure[0] == width
    return Witness(labels.values[value], width, ends[0], ends[1], steps[0], steps[1], certain)
