"""Coverage of combinations: which value combinations of t attributes a run has generated, and which not.

With t = 2, coverage 1 is all-paired eventual fairness; with t the number of attributes, K-tuple eventual fairness
(definitions 9 and 8 of arXiv 2404.16663). The denominator is the number of value combinations over all sets of t
attributes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import SpecError
from justicia.generations.labels import Labels, product
from justicia.generations.results import exit_code, together
from justicia.generations.suggestions import Suggestion, suggest
from justicia.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from justicia.generations.table import Generations

__all__ = ["CoverageReport", "CoverageResult", "cover_runs"]

_MOST_COMBINATIONS = 1_000_000


@dataclass(frozen=True)
class CoverageResult:
    """Coverage in one run.

    Attributes
    ----------
    run : str or None
    n : int
    unknown : int
        Generations with an unknown label of one of the attributes.
    covered : tuple of (int, int)
        Combinations that occur for certain, and an upper bound of those that occur if unknown labels fall well.
    total : int
    verdict : {"holds", "fails", "too short", "undecided"}
        Of "the coverage is `least` at least".
    reason : str
    curve : tuple of (int, int)
        Positions in the run, from 1, at which combinations are new, and how many have occurred by then.
    missing : tuple of dict of str to str
        Combinations without certain occurrence.
    suggestions : tuple of Suggestion
        What to ask for next.
    """

    run: str | None
    n: int
    unknown: int
    covered: tuple[int, int]
    total: int
    verdict: str
    reason: str
    curve: tuple[tuple[int, int], ...]
    missing: tuple[dict[str, str], ...]
    suggestions: tuple[Suggestion, ...]

    @property
    def coverage(self) -> tuple[float, float]:
        """Bounds of the share of combinations that occur; equal without unknown labels."""
        return self.covered[0] / self.total, self.covered[1] / self.total


@dataclass(frozen=True)
class CoverageReport:
    """Coverage of every run.

    Attributes
    ----------
    attributes : tuple of str
    t : int
        Attributes in a combination.
    least : Fraction
        The coverage that is asked for.
    results : tuple of CoverageResult
    generations : Generations
    warnings : tuple of str
    command : tuple of str or None
    """

    attributes: tuple[str, ...]
    t: int
    least: Fraction
    results: tuple[CoverageResult, ...]
    generations: Generations
    warnings: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None

    @property
    def verdict(self) -> str:
        """Of all runs together."""
        return together([result.verdict for result in self.results])

    @property
    def exit_code(self) -> int:
        """0 when every run has the coverage asked for, 1 when one has not, 3 otherwise."""
        return exit_code(self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """The report by the contract ``justicia.generations.coverage/1``."""
        from justicia.report.generations_json import coverage_to_dict

        return coverage_to_dict(self)

    def to_json(self, path: Any = None) -> str | None:
        """The report as JSON text, or written to a file."""
        from justicia.report.generations_json import to_json

        return to_json(self.to_dict(), path)

    def to_text(self, width: int = 100, *, all_runs: bool = False) -> str:
        """The report as plain text."""
        from justicia.report.generations_text import coverage_to_text

        return coverage_to_text(self, width, all_runs=all_runs)

    def to_frame(self) -> pd.DataFrame:
        """The curves: one row where a run has something new."""
        import pandas as pd

        rows = [(one.run, place, count, count / one.total) for one in self.results for place, count in one.curve]
        return pd.DataFrame(rows, columns=["run", "position", "covered", "coverage"])


def cover_runs(
    generations: Generations, attributes: Sequence[str], t: int, least: Fraction, suggestions: int
) -> tuple[CoverageResult, ...]:
    """Coverage of every run.

    Parameters
    ----------
    generations : Generations
    attributes : sequence of str
    t : int
        Attributes in a combination.
    least : Fraction
        The share of combinations that has to occur.
    suggestions : int
        How many combinations to propose for what is generated next.

    Raises
    ------
    SpecError
        When `t` is no number of the attributes, or there are too many combinations.
    """
    if not 1 <= t <= len(attributes):
        raise SpecError(f"{counted(len(attributes), 'attribute')} cannot be combined by {t}: t lies between 1 and that")
    sizes = [len(generations.labels[name].values) for name in attributes]
    sets = list(combinations(range(len(attributes)), t))
    total = sum(math.prod(sizes[place] for place in one) for one in sets)
    if total > _MOST_COMBINATIONS:
        raise SpecError(f"there are {total:,} combinations: ask about fewer attributes, or a smaller t")
    held = [(one, product([generations.labels[attributes[place]] for place in one])) for one in sets]
    results = []
    for run in range(len(generations.runs)):
        rows = slice(int(generations.starts[run]), int(generations.starts[run + 1]))
        results.append(_result(generations, attributes, held, rows, run, total, least, suggestions))
    return tuple(results)


def _result(
    generations: Generations,
    attributes: Sequence[str],
    held: Sequence[tuple[tuple[int, ...], Labels]],
    rows: slice,
    run: int,
    total: int,
    least: Fraction,
    suggestions: int,
) -> CoverageResult:
    n = rows.stop - rows.start
    firsts, more, reachable = [], 0, 0
    open_rows = np.zeros(n, dtype=bool)
    for _, labels in held:
        part = labels.part(rows)
        first, possible = _first_places(part)
        firsts.append(first)
        seen = first >= 0
        reachable += n * len(labels.values) if not labels.single else min(n, len(labels.values))
        if part.kinds_uncertain:
            unknown = part.unknown()
            open_rows |= unknown
            # An unknown label adds one combination at most, where a generation shows one value of each attribute.
            each = int(unknown.sum()) * (1 if labels.single else len(labels.values))
            more += min(int((possible & ~seen).sum()), each)
    places = np.sort(np.concatenate(firsts))
    places = places[places >= 0] + 1
    steps, counts = np.unique(places, return_counts=True)
    covered = len(places)
    curve = tuple(zip(steps.tolist(), np.cumsum(counts).tolist(), strict=True))
    needed = math.ceil(least * total)
    verdict, reason = _judge(covered, covered + more, needed, total, min(reachable, total), n)
    sets = [one for one, _ in held]
    sizes = [len(generations.labels[name].values) for name in attributes]
    absent = [(first < 0).reshape([sizes[place] for place in one]) for one, first in zip(sets, firsts, strict=True)]
    domains = [generations.labels[name].values for name in attributes]
    missing = tuple(
        {attributes[place]: domains[place][value] for place, value in zip(one, values, strict=True)}
        for one, mask in zip(sets, absent, strict=True)
        for values in np.argwhere(mask).tolist()
    )
    proposed = suggest(sizes, sets, absent, suggestions)
    named = tuple(
        Suggestion({name: domain[value] for name, domain, value in zip(attributes, domains, values, strict=True)}, new)
        for values, new in proposed
    )
    return CoverageResult(
        generations.runs[run],
        n,
        int(open_rows.sum()),
        (covered, covered + more),
        total,
        verdict,
        reason,
        curve,
        missing,
        named,
    )


def _first_places(labels: Labels) -> tuple[np.ndarray, np.ndarray]:
    """Where each combination occurs first, -1 when it does not for certain; and which may occur."""
    first = np.full(len(labels.values), len(labels), dtype=np.int64)
    of_kind = np.full(len(labels.shows), -1, dtype=np.int64)
    # Of several rows of a kind the one written last stays: the first.
    of_kind[labels.codes[::-1]] = np.arange(len(labels) - 1, -1, -1)
    kinds = np.flatnonzero(of_kind >= 0)
    places = of_kind[kinds]
    possible = np.zeros(len(labels.values), dtype=bool)
    for kind, place in zip(kinds.tolist(), places.tolist(), strict=True):
        shows = labels.shows[kind]
        first[shows] = np.minimum(first[shows], place)
        possible |= labels.may[kind]
    return np.where(first == len(labels), -1, first), possible


def _judge(lo: int, hi: int, needed: int, total: int, reachable: int, n: int) -> tuple[str, str]:
    said = f"{lo} of {total} combinations occur"
    if lo >= needed:
        return "holds", said
    if reachable < needed:
        return "too short", f"{said}; {counted(n, 'generation')} cannot show the {needed} asked for"
    if hi >= needed:
        return "undecided", f"{said} for certain, and up to {hi} if unknown labels fall well; {needed} are asked for"
    return "fails", f"{said}; {needed} are asked for"
