"""Results of judging sequences: one a run and attribute, with the gap that decides it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.words import counted, shown

if TYPE_CHECKING:
    import pandas as pd

    from justicia.generations.table import Generations

__all__ = [
    "VERDICTS",
    "Evidence",
    "Frequency",
    "Question",
    "RunResult",
    "SequenceReport",
    "Witness",
    "exit_code",
    "together",
]

VERDICTS = ("holds", "fails", "too short", "undecided")


@dataclass(frozen=True)
class Witness:
    """The widest gap of a run: the value that is missing longest, and where.

    Attributes
    ----------
    value : str
    gap : int or None
        From one occurrence to the next, or from and to the edges of the run; one more than the generations between.
        None: it stays away for ever.
    after, before : int or None
        Positions in the run, from 1; None: the run's beginning, or its end.
    after_step, before_step : int, float or None
        The table's own numbers of these generations.
    certain : bool
        Whether the gap is there whatever the unknown labels are.
    """

    value: str
    gap: int | None
    after: int | None
    before: int | None
    after_step: float | None
    before_step: float | None
    certain: bool

    @property
    def text(self) -> str:
        """One line: what is missing, and where."""
        if self.gap is None:
            return f"{shown(self.value)} is not in the loop" + ("" if self.certain else " for certain")
        if self.after is None and self.before is None:
            return f"{shown(self.value)} never occurs" + ("" if self.certain else " for certain")
        value, absent = shown(self.value), counted(self.gap - 1, "generation").removeprefix("1 ")
        if self.gap == 1:
            return f"{value} is never missing"
        if self.after is None:
            return f"{value} is missing from the first {absent}, until step {self.before_step}"
        if self.before is None:
            return f"{value} is missing from the last {absent}, after step {self.after_step}"
        absent = "the generation" if self.gap == 2 else absent
        if self.before <= self.after:
            where = f"between step {self.after_step} and step {self.before_step} of the next round"
            return f"{value} is missing from {absent} {where}"
        return f"{value} is missing from {absent} between steps {self.after_step} and {self.before_step}"


@dataclass(frozen=True)
class Frequency:
    """How far the frequencies of the values are apart, and how far a bound on gaps lets them be.

    Attributes
    ----------
    lo, hi : float
        The largest frequency less the smallest; they differ under unknown labels.
    beta : int or None
        What the bounds are for: the beta asked for when it holds, else the least beta; None when there is none.
    finite : float or None
        What it cannot exceed in n generations: 1 - N floor(n / beta) / n.
    limit : float or None
        What its limit cannot exceed: 1 - N / beta (lemma 1).
    """

    lo: float
    hi: float
    beta: int | None
    finite: float | None
    limit: float | None


@dataclass(frozen=True)
class RunResult:
    """One attribute, or several together, in one run.

    Attributes
    ----------
    attribute : tuple of str
    run : str or None
    n : int
        Generations.
    unknown : int
        Of these, with a label that is unknown.
    beta : int or None
        The bound asked for; None: every value is to occur, no matter when.
    beta_star : int or None
        The least beta; None when it is not known, or a value never occurs.
    interval : tuple of (int or None, int or None)
        Holds the least beta whatever the unknown labels are; None above: there is none unless a value occurs that has
        not occurred for certain; None below: there is none at all, as a loop lacks a value.
    verdict : str
        "holds", "fails", "too short" or "undecided", of beta when it is given and of eventual occurrence otherwise.
    reason : str
    witness : Witness or None
        None for a run without generations.
    eventual : str
        The verdict of eventual occurrence.
    missing : tuple of str
        Values that do not occur for certain.
    frequency : Frequency or None
    infinite : bool
        Whether the run is read as a prefix and a loop that is repeated for ever.
    """

    attribute: tuple[str, ...]
    run: str | None
    n: int
    unknown: int
    beta: int | None
    beta_star: int | None
    interval: tuple[int | None, int | None]
    verdict: str
    reason: str
    witness: Witness | None
    eventual: str
    missing: tuple[str, ...]
    frequency: Frequency | None
    infinite: bool = False

    @property
    def beta_text(self) -> str:
        """The least beta, or what is known of it."""
        if self.beta_star is not None:
            return str(self.beta_star)
        lo, hi = self.interval
        if lo is None:
            return "none"
        return f"{lo} or more" if hi is None else f"{lo} to {hi}"


@dataclass(frozen=True)
class Question:
    """One question, judged in every run; results are made when they are looked at, as runs may be a million.

    Attributes
    ----------
    attribute : tuple of str
    beta : int or None
    infinite : bool
    verdicts : int array of shape (n_runs,)
        Places in `VERDICTS`.
    result : callable
        From a run's place to its result.
    """

    attribute: tuple[str, ...]
    beta: int | None
    infinite: bool
    verdicts: np.ndarray
    result: Callable[[int], RunResult]

    def __len__(self) -> int:
        return len(self.verdicts)

    def __iter__(self) -> Iterator[RunResult]:
        return (self.result(run) for run in range(len(self)))

    @property
    def counts(self) -> dict[str, int]:
        """Runs by verdict."""
        counts = np.bincount(self.verdicts, minlength=len(VERDICTS)).tolist()
        return dict(zip(VERDICTS, counts, strict=True))


@dataclass(frozen=True)
class Evidence:
    """What runs under prompts tagged as neutral say about the generator.

    Attributes
    ----------
    attribute : tuple of str
    tag : str
    rows, prompts : int
        Generations, and distinct prompts (None without a prompt column), with the tag.
    verdicts : dict of str to int
        Runs by verdict.
    statement : str
    """

    attribute: tuple[str, ...]
    tag: str
    rows: int
    prompts: int | None
    verdicts: dict[str, int]
    statement: str


@dataclass(frozen=True)
class SequenceReport:
    """Sequences of all runs, judged.

    Attributes
    ----------
    questions : tuple of Question
        Each over all runs; `results` has them one after another.
    evidence : tuple of Evidence
        Empty unless prompts are tagged as neutral.
    generations : Generations
    warnings : tuple of str
    command : tuple of str or None
    """

    questions: tuple[Question, ...]
    evidence: tuple[Evidence, ...]
    generations: Generations
    warnings: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None

    @cached_property
    def results(self) -> tuple[RunResult, ...]:
        """By question, then run."""
        return tuple(result for question in self.questions for result in question)

    @property
    def verdict(self) -> str:
        """Of all runs together: fails when one does, holds when all do."""
        return together([name for question in self.questions for name, count in question.counts.items() if count])

    @property
    def exit_code(self) -> int:
        """0 when everything holds, 1 when something fails, 3 otherwise."""
        return exit_code(self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """The report by the contract ``justicia.generations.sequences/1``."""
        from justicia.report.generations_json import sequences_to_dict

        return sequences_to_dict(self)

    def to_json(self, path: Any = None) -> str | None:
        """The report as JSON text, or written to a file."""
        from justicia.report.generations_json import to_json

        return to_json(self.to_dict(), path)

    def to_text(self, width: int = 100, *, all_runs: bool = False) -> str:
        """The report as plain text."""
        from justicia.report.generations_text import sequences_to_text

        return sequences_to_text(self, width, all_runs=all_runs)

    def to_frame(self) -> pd.DataFrame:
        """One row a run and attribute."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "attribute": ",".join(one.attribute),
                    "run": one.run,
                    "n": one.n,
                    "unknown": one.unknown,
                    "beta": one.beta,
                    "beta_star": one.beta_star,
                    "lo": one.interval[0],
                    "hi": one.interval[1],
                    "verdict": one.verdict,
                    "witness": None if one.witness is None else one.witness.text,
                }
                for one in self.results
            ]
        ).astype(dict.fromkeys(("n", "unknown", "beta", "beta_star", "lo", "hi"), "Int64"))


def exit_code(verdict: str) -> int:
    """Of a command whose requirement has this verdict."""
    return {"holds": 0, "fails": 1}.get(verdict, 3)


def together(verdicts: list[str]) -> str:
    """The verdict on several requirements at once."""
    for verdict in ("fails", "undecided", "too short"):
        if verdict in verdicts:
            return verdict
    return "holds"
