"""Scores of two groups beside each other: Mann and Whitney's U, Cohen's d, signs of paired differences flipped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from justicia.errors import SpecError
from justicia.generations.contingency import Test
from justicia.generations.language_tables import Coded
from justicia.generations.polarity_results import PolarityComparison
from justicia.generations.resampling import sign_flip_test
from justicia.generations.verdicts import corrected
from justicia.words import counted, shown

__all__ = ["compare_groups", "compare_scores", "judge_comparisons", "parts_of", "student_interval"]


def parts_of(column: Coded | None, n: int) -> list[tuple[str | None, np.ndarray]]:
    """The values of a column, each with its rows; None with all rows where there is no column."""
    if column is None:
        return [(None, np.ones(n, dtype=bool))]
    return [(value, column.codes == code) for code, value in enumerate(column.values)]


def student_interval(values: np.ndarray, confidence: float) -> tuple[float | None, float | None]:
    """Student's interval of a mean; None and None of fewer than two values."""
    from scipy.stats import t

    if len(values) < 2:
        return None, None
    half = float(t.ppf(0.5 + confidence / 2, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values)))
    return float(values.mean()) - half, float(values.mean()) + half


def compare_groups(
    scores: np.ndarray,
    groups: Coded,
    models: Coded | None,
    clusters: Coded | None,
    pairs: Coded | None,
    confidence: float,
    seed: int,
) -> list[PolarityComparison]:
    """Every two groups of every model: by pairs, by means of clusters, or as they are.

    Parameters
    ----------
    scores : float64 array of shape (n_rows,)
        NaN where missing.
    groups, models, clusters, pairs : Coded
    confidence : float in (0, 1)
    seed : int

    Raises
    ------
    SpecError
        When a cluster has rows of both groups.
    """
    found = []
    known = ~np.isnan(scores)
    for model, in_model in parts_of(models, len(scores)):
        for a, b in combinations(range(len(groups.values)), 2):
            first, other = (np.flatnonzero(known & in_model & (groups.codes == code)) for code in (a, b))
            names = groups.values[a], groups.values[b]
            if pairs is not None:
                left, right = (_means(scores, pairs.codes, here) for here in (first, other))
                both = sorted(left.keys() & right.keys())
                made = compare_scores(
                    np.array([left[one] for one in both]),
                    np.array([right[one] for one in both]),
                    names,
                    paired=True,
                    confidence=confidence,
                    seed=seed,
                )
                alone = len(left.keys() ^ right.keys())
                if alone:
                    made = replace(made, notes=(*made.notes, f"{counted(alone, 'pair')} without a partner left out"))
            elif clusters is not None:
                means = [_means(scores, clusters.codes, here) for here in (first, other)]
                if means[0].keys() & means[1].keys():
                    raise SpecError(
                        f"a cluster ({shown(clusters.name)}) has texts of {shown(names[0])} and of {shown(names[1])}: "
                        f"compare them as pairs (--pair)"
                    )
                made = compare_scores(
                    np.array(list(means[0].values())), np.array(list(means[1].values())), names, confidence=confidence
                )
            else:
                made = compare_scores(scores[first], scores[other], names, confidence=confidence)
            found.append(replace(made, model=model))
    return found


def _means(scores: np.ndarray, codes: np.ndarray, here: np.ndarray) -> dict[int, float]:
    here = here[codes[here] >= 0]
    kinds, which = np.unique(codes[here], return_inverse=True)
    totals = np.bincount(which, weights=scores[here], minlength=len(kinds)) / np.bincount(which, minlength=len(kinds))
    return dict(zip(kinds.tolist(), totals.tolist(), strict=True))


def compare_scores(
    first: np.ndarray,
    other: np.ndarray,
    names: tuple[str, str],
    *,
    paired: bool = False,
    confidence: float = 0.95,
    seed: int = 0,
) -> PolarityComparison:
    """Two groups' scores: Mann and Whitney's U and Cohen's d; of pairs, signs flipped.

    Parameters
    ----------
    first, other : float64 array of shape (n,)
    names : (group, other group)
    paired : bool
        Whether the scores at one place belong together.
    confidence : float in (0, 1)
    seed : int

    >>> made = compare_scores(np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0]), ("a", "b"))
    >>> made.d, round(made.larger, 3)
    (1.0, 0.778)
    """
    n, n_other = len(first), len(other)
    if not n or not n_other:
        empty = [name for name, size in zip(names, (n, n_other), strict=True) if not size]
        why = "there is no complete pair" if paired else f"no text of {' or '.join(empty)} has a score"
        none = Test("none", None, None, None, undefined=why)
        return PolarityComparison(None, *names, n, n_other, None, None, None, None, None, None, None, none)
    difference = float(first.mean() - other.mean())
    variance = ((first - first.mean()) ** 2).sum() + ((other - other.mean()) ** 2).sum()
    free = n + n_other - 2
    # Scores that are all alike but for rounding have no spread to measure a difference with.
    scale = max(float(np.abs(first).max()), float(np.abs(other).max()), 1e-300)
    pooled = math.sqrt(variance / free) if free else 0.0
    d = difference / pooled if pooled > 1e-12 * scale else None
    notes = () if d is not None else ("the scores of each group are all the same: Cohen's d is undefined",)
    ranked = _mann_whitney(first, other)
    larger = None if ranked.statistic is None else ranked.statistic / (n * n_other)
    if paired:
        lo, hi = student_interval(first - other, confidence)
        test = sign_flip_test(first - other, seed)
        return PolarityComparison(
            None, *names, n, n_other, difference, lo, hi, d, None, None, larger, test, notes=notes
        )
    lo, hi = _welch(first, other, difference, confidence)
    d_lo = d_hi = None
    if d is not None:
        from statistics import NormalDist

        error = math.sqrt((n + n_other) / (n * n_other) + d * d / (2 * (n + n_other)))
        half = NormalDist().inv_cdf(0.5 + confidence / 2) * error
        d_lo, d_hi = d - half, d + half
    return PolarityComparison(None, *names, n, n_other, difference, lo, hi, d, d_lo, d_hi, larger, ranked, notes=notes)


def _mann_whitney(first: np.ndarray, other: np.ndarray) -> Test:
    from scipy.stats import mannwhitneyu

    together = np.concatenate([first, other])
    if np.ptp(together) == 0:
        return Test("Mann-Whitney U", len(first) * len(other) / 2, None, 1.0)
    ties = len(np.unique(together)) < len(together)
    exact = not ties and min(len(first), len(other)) <= 8 and max(len(first), len(other)) <= 200
    found = mannwhitneyu(first, other, alternative="two-sided", method="exact" if exact else "asymptotic")
    how = "Mann-Whitney U, exact" if exact else "Mann-Whitney U"
    return Test(how, float(found.statistic), None, min(1.0, float(found.pvalue)))


def _welch(
    first: np.ndarray, other: np.ndarray, difference: float, confidence: float
) -> tuple[float | None, float | None]:
    from scipy.stats import t

    if len(first) < 2 or len(other) < 2:
        return None, None
    parts = first.var(ddof=1) / len(first), other.var(ddof=1) / len(other)
    error = sum(parts)
    if not error:
        return None, None
    free = error**2 / (parts[0] ** 2 / (len(first) - 1) + parts[1] ** 2 / (len(other) - 1))
    half = float(t.ppf(0.5 + confidence / 2, free)) * math.sqrt(error)
    return difference - half, difference + half


def judge_comparisons(
    compared: Sequence[PolarityComparison], alpha: float, at_most: float | None
) -> list[PolarityComparison]:  # fmt: skip
    """Correct all p-values together, and judge each comparison."""
    tests = corrected([one.test for one in compared])
    found = []
    for one, test in zip(compared, tests, strict=True):
        made = replace(one, test=test)
        verdict, reason = _verdict(made, alpha, at_most)
        found.append(replace(made, verdict=verdict, reason=reason))
    return found


def _verdict(one: PolarityComparison, alpha: float, at_most: float | None) -> tuple[str, str]:
    if one.test.undefined:
        return "undecided", one.test.undefined
    if at_most is None:
        rejected = one.test.rejected(alpha)
        return ("fails", "the test rejects it") if rejected else ("holds", "the test does not reject it")
    if one.d_lo is None or one.d_hi is None:
        return "undecided", "Cohen's d has no interval here"
    if max(one.d_lo, -one.d_hi) > at_most:
        return "fails", f"d is {max(one.d_lo, -one.d_hi):.3f} at least, either way"
    if max(one.d_hi, -one.d_lo) <= at_most:
        return "holds", f"d is {max(one.d_hi, -one.d_lo):.3f} at most, either way"
    return "undecided", f"d may be {max(one.d_hi, -one.d_lo):.3f}"
