"""Sequence fairness of labelled generations: eventual, beta-bounded, of single attributes and of several together.

Definitions 3, 4, 7 and 8 of Cheng, Wang, Sun, Zhou, Cheng and Tian, *Formal Specification, Assessment, and Enforcement
of Fairness for Generative AIs*, arXiv 2404.16663. The words here are plainer: a requirement *holds*, *fails*, or the
sequence is *too short* to say; where unknown labels leave it open, it is *undecided*.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from justicia.generations.gaps import Gaps, widest_gaps, widest_stretch
from justicia.generations.labels import Labels, product
from justicia.generations.lasso import infinite_results
from justicia.generations.results import VERDICTS, Frequency, Question, RunResult, Witness
from justicia.words import counted, shown

if TYPE_CHECKING:
    from justicia.generations.table import Generations

__all__ = ["finite_bound", "judge", "judge_runs", "least_beta", "limit_bound"]


def judge(n: int, beta: int, lo: int, hi: int) -> str:
    """The verdict on a sequence of n generations.

    Parameters
    ----------
    n, beta : int
    lo, hi : int
        Bounds of the least beta, where a value that never occurs counts as n + 1.

    It holds iff the literal definition 7 does. It fails when some beta generations in a row lack a value, which nothing
    that follows can mend. Otherwise the sequence is too short: definition 7 needs more than beta generations.

    >>> judge(11, 6, 6, 6), judge(11, 5, 6, 6), judge(11, 11, 6, 6), judge(11, 6, 4, 9)
    ('holds', 'fails', 'too short', 'undecided')
    """
    if lo > beta:
        return "fails"
    if hi > beta:
        return "undecided"
    return "holds" if beta < n else "too short"


def limit_bound(values: int, beta: int) -> float:
    """What the limits of two frequencies differ by at most (lemma 1): 1 - N / beta."""
    return (beta - values) / beta


def finite_bound(values: int, beta: int, n: int) -> float:
    """What two frequencies differ by at most among n generations: 1 - N floor(n / beta) / n.

    Lemma 1 is about limits and can be exceeded in a short sequence; every window of beta generations holds every value,
    hence each occurs floor(n / beta) times at least.

    >>> finite_bound(3, 6, 12), round(finite_bound(3, 6, 11), 4)
    (0.5, 0.7273)
    """
    return (n - values * (n // beta)) / n


def least_beta(labels: Labels) -> tuple[int, int | None]:
    """Bounds of the least beta of one sequence; None above when a value does not occur for certain."""
    gaps = widest_gaps(labels, np.array([0, len(labels)]))
    return int(gaps.lo.max()), None if (gaps.counts == 0).any() else int(gaps.hi.max())


def judge_runs(
    generations: Generations, attributes: tuple[str, ...], beta: int | None, loop_from: float | None = None
) -> Question:
    """Judge every run.

    Parameters
    ----------
    generations : Generations
    attributes : tuple of str
        One attribute, or several whose combinations of values are asked about.
    beta : int or None
        None: every value is to occur, no matter when.
    loop_from : number, optional
        The step from which a run repeats for ever (definition 4 on the infinite sequence): what comes before is the
        prefix, the rest the loop.

    Raises
    ------
    SpecError
        When a run has no generation from `loop_from` on.
    """
    labels = product([generations.labels[name] for name in attributes])
    starts = generations.starts
    unknown = _per_run(labels.unknown(), starts) if labels.kinds_uncertain else np.zeros(len(starts) - 1, dtype=int)
    if loop_from is not None:
        results = infinite_results(generations, attributes, labels, beta, loop_from, unknown)
        codes = np.array([VERDICTS.index(one.verdict) for one in results])
        return Question(attributes, beta, True, codes, results.__getitem__)
    gaps = widest_gaps(labels, starts)
    verdicts = _verdicts(np.diff(starts), beta, gaps)
    make = partial(_result, generations, attributes, labels, beta, gaps, unknown, verdicts)
    return Question(attributes, beta, False, verdicts, make)


def _verdicts(n: np.ndarray, beta: int | None, gaps: Gaps) -> np.ndarray:
    """The verdict on every run, as places in `VERDICTS`; `judge` says why."""
    if beta is None:
        here, possible = (gaps.counts > 0).all(axis=1), (gaps.possible > 0).all(axis=1)
        names = [(here, "holds"), (n < gaps.counts.shape[1], "too short"), (~possible, "fails")]
    else:
        names = [(gaps.lo.max(axis=1) > beta, "fails"), (gaps.hi.max(axis=1) > beta, "undecided"), (n > beta, "holds")]
    last = "undecided" if beta is None else "too short"
    return np.select([mask for mask, _ in names], [VERDICTS.index(name) for _, name in names], VERDICTS.index(last))


def _per_run(mask: np.ndarray, starts: np.ndarray) -> np.ndarray:
    sums = np.concatenate([[0], np.cumsum(mask, dtype=np.int64)])
    return np.diff(sums[starts])


def _result(
    generations: Generations,
    attributes: tuple[str, ...],
    labels: Labels,
    beta: int | None,
    gaps: Gaps,
    unknowns: np.ndarray,
    verdicts: np.ndarray,
    run: int,
) -> RunResult:
    start, end = int(generations.starts[run]), int(generations.starts[run + 1])
    n, unknown = end - start, int(unknowns[run])
    lo, hi = int(gaps.lo[run].max()), int(gaps.hi[run].max())
    missing = tuple(labels.values[value] for value in np.flatnonzero(gaps.counts[run] == 0))
    eventual = _eventual(n, len(labels.values), gaps.counts[run], gaps.possible[run])
    verdict = VERDICTS[int(verdicts[run])]
    # When it fails for certain, the gap that is there whatever the unknown labels are is the one to show.
    possible = verdict == "fails" and beta is not None
    shown_gaps = gaps.lo[run] if possible else gaps.hi[run]
    value = int(np.argmax(shown_gaps))
    stretch = widest_stretch(labels, start, end, value, possible=possible)
    certain = int(gaps.lo[run, value]) == int(shown_gaps[value])
    edges = (stretch.after, stretch.before)
    steps = [None if place is None else generations.step(start + place - 1) for place in edges]
    witness = Witness(labels.values[value], int(shown_gaps[value]), edges[0], edges[1], steps[0], steps[1], certain)
    star = None if missing or lo != hi else hi
    asked = beta if beta is not None and verdict == "holds" else None if missing else hi
    return RunResult(
        attributes,
        generations.runs[run],
        n,
        unknown,
        beta,
        star,
        (lo, None if missing else hi),
        verdict,
        _reason(verdict, n, beta, lo, hi, missing, len(labels.values)),
        witness,
        eventual,
        missing,
        _frequency(gaps, run, n, unknown, asked, labels.single),
    )


def _eventual(n: int, values: int, counts: np.ndarray, possible: np.ndarray) -> str:
    if (counts > 0).all():
        return "holds"
    if n < values:
        return "too short"
    return "fails" if (possible == 0).any() else "undecided"


def _reason(verdict: str, n: int, beta: int | None, lo: int, hi: int, missing: tuple[str, ...], values: int) -> str:
    if beta is None:
        if verdict == "holds":
            return "every value occurs"
        some = ", ".join(shown(value) for value in missing[:5]) + (
            f" and {len(missing) - 5} more" if missing[5:] else ""
        )
        short = f"; {counted(n, 'generation')} cannot hold {counted(values, 'value')}" if verdict == "too short" else ""
        return f"no certain occurrence of {some}{short}"
    if verdict == "holds":
        return f"every {beta} generations in a row have every value"
    if verdict == "fails":
        return f"{beta} generations in a row lack a value"
    if verdict == "undecided":
        return f"unknown labels leave the least beta between {lo} and {'no bound' if missing else hi}"
    return f"a bound of {beta} needs more than {counted(beta, 'generation')}; there {'is' if n == 1 else 'are'} {n}"


def _frequency(gaps: Gaps, run: int, n: int, unknown: int, beta: int | None, single: bool) -> Frequency | None:
    if n == 0:
        return None
    counts, possible = gaps.counts[run], gaps.possible[run]
    lo, hi = _spread(counts, possible, unknown * (1 if single else len(counts)))
    if beta is None:
        return Frequency(lo / n, hi / n, None, None, None)
    # A generation that shows several values counts for each: then the frequencies do not share a sum of 1.
    values = len(counts) if single else 1
    return Frequency(lo / n, hi / n, beta, finite_bound(values, beta, n), limit_bound(values, beta))


def _spread(counts: np.ndarray, possible: np.ndarray, room: int) -> tuple[int, int]:
    """Bounds of the largest count less the smallest, when `room` occurrences more may go to any values."""
    least, most = int(counts.min()), int(counts.max())
    if not room:
        return most - least, most - least
    others = [int(np.delete(counts, value).min(initial=most)) for value in range(len(counts))]
    hi = max(int(possible[value]) - others[value] for value in range(len(counts))) if len(counts) > 1 else 0
    level = least
    while level < most and int(np.maximum(level + 1 - counts, 0).sum()) <= room:
        level += 1
    return most - level, max(hi, most - least)
