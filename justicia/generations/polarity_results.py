"""Scores of answers and polarity of texts by group: results."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.generations.contingency import Test
from justicia.generations.results import exit_code, together

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["PolarityComparison", "PolarityGroup", "PolarityReport", "ScoreReport"]


@dataclass(frozen=True)
class PolarityGroup:
    """Scores of one group's texts.

    Attributes
    ----------
    model, group : str or None
    texts : int
    missing : int
        Texts without a score: none of their words has a vector. They are counted and take part in nothing else.
    mean, median, deviation : float or None
    lo, hi : float or None
        Student's interval of the mean.
    words : int
        Words that count, of all texts.
    without_vector : int
        Words left out for want of a vector.
    first, second : tuple of (str, int, float)
        Words that draw most towards each pole: word, times, score.
    """

    model: str | None
    group: str | None
    texts: int
    missing: int
    mean: float | None
    median: float | None
    deviation: float | None
    lo: float | None
    hi: float | None
    words: int = 0
    without_vector: int = 0
    first: tuple[tuple[str, int, float], ...] = ()
    second: tuple[tuple[str, int, float], ...] = ()


@dataclass(frozen=True)
class PolarityComparison:
    """Two groups' scores beside each other.

    Attributes
    ----------
    model : str or None
    group, other : str
    n, n_other : int
        Scores that are compared; of clusters their means, of pairs the pairs.
    difference : float or None
        Mean of `group` minus mean of `other`.
    lo, hi : float or None
        Welch's interval, or Student's over the pairs.
    d : float or None
        Cohen's d with the pooled standard deviation; None where that is 0.
    d_lo, d_hi : float or None
        By the normal approximation of Hedges and Olkin (1985); None for pairs, whose d is that of unpaired scores.
    larger : float or None
        Probability that a score of `group` is above one of `other`, ties half: U / (n n').
    test : Test
        Mann and Whitney's U, two-sided; of pairs, signs flipped.
    verdict : {"holds", "fails", "undecided"}
    reason : str
    notes : tuple of str
    """

    model: str | None
    group: str
    other: str
    n: int
    n_other: int
    difference: float | None
    lo: float | None
    hi: float | None
    d: float | None
    d_lo: float | None
    d_hi: float | None
    larger: float | None
    test: Test
    verdict: str = "undecided"
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ScoreReport:
    """Scores of answers by group.

    Attributes
    ----------
    column : str
        Of the scores, or of the texts that are scored.
    group, model, cluster : str or None
        Columns.
    pair : tuple of str
    where : dict of str to tuple of str
    confidence, alpha : float
    at_most : float or None
        The largest size of d that is asked for.
    seed : int
    rows : int array of shape (n_texts,)
        Places in the table, from 0.
    scores : float64 array of shape (n_texts,)
        NaN where missing.
    groups_of, models_of : tuple of (str or None)
        Of each text.
    groups : tuple of PolarityGroup
    comparisons : tuple of PolarityComparison
    source, sha256 : str or None
    warnings : tuple of str
    command : tuple of str or None
    """

    column: str
    group: str | None
    model: str | None
    cluster: str | None
    pair: tuple[str, ...]
    where: dict[str, tuple[str, ...]]
    confidence: float
    alpha: float
    at_most: float | None
    seed: int
    rows: np.ndarray
    scores: np.ndarray
    groups_of: tuple[str | None, ...]
    models_of: tuple[str | None, ...]
    groups: tuple[PolarityGroup, ...]
    comparisons: tuple[PolarityComparison, ...]
    source: str | None = None
    sha256: str | None = None
    warnings: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None

    @property
    def requirement(self) -> str:
        """What makes a verdict, in words."""
        if self.at_most is None:
            return f"no test rejects at {self.alpha:g} (Holm's correction over all tests)"
        return f"Cohen's d is {self.at_most:g} at most, either way (confidence {self.confidence:g})"

    @cached_property
    def verdict(self) -> str:
        """Of all comparisons together; undecided when there is none."""
        return together([one.verdict for one in self.comparisons]) if self.comparisons else "undecided"

    @property
    def exit_code(self) -> int:
        """0 when everything holds or no groups are compared, 1 when something fails, 3 otherwise."""
        return exit_code(self.verdict) if self.group is not None else 0

    def to_dict(self) -> dict[str, Any]:
        """The report by the contract ``justicia.generations.scores/1``, or ``polarity/1``."""
        from justicia.report.language_json import scores_to_dict

        return scores_to_dict(self)

    def to_json(self, path: Any = None) -> str | None:
        """The report as JSON text, or written to a file."""
        from justicia.report.generations_json import to_json

        return to_json(self.to_dict(), path)

    def to_text(self, width: int = 120) -> str:
        """The report as plain text."""
        from justicia.report.language_text import language_to_text

        return language_to_text(self, width)

    def to_frame(self) -> pd.DataFrame:
        """One row a text: its row in the table (from 1), model, group and score, NaN where missing."""
        import pandas as pd

        return pd.DataFrame(
            {
                "row": self.rows + 1,
                "model": pd.Series(self.models_of, dtype=object),
                "group": pd.Series(self.groups_of, dtype=object),
                "score": self.scores,
            }
        )

    def plot(self, **options: Any) -> Figure:
        """Histogram and box of the scores by group: see `justicia.report.language_plot.plot_polarity`."""
        from justicia.report.language_plot import plot_polarity

        return plot_polarity(self, **options)


@dataclass(frozen=True, kw_only=True)
class PolarityReport(ScoreReport):
    """Polarity of texts, a `ScoreReport` with its scale.

    Attributes
    ----------
    poles : tuple of tuple of str
    half : float
        Score of the first pole; minus it is that of the second.
    vectors : str
    dimensions : int
    """

    poles: tuple[tuple[str, ...], tuple[str, ...]]
    half: float
    vectors: str
    dimensions: int

    @property
    def text(self) -> str:
        """Column of the texts."""
        return self.column
