"""Paired prompts: two prompts that differ in the group cue alone, and whether the response changes with it.

References: McNemar (Psychometrika 1947), Bowker (Journal of the American Statistical Association 1948), Newcombe
(Statistics in Medicine 1998, paired differences, method 10).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from justicia.generations.contingency import Test
from justicia.generations.resampling import Blocks, cluster_band, sign_flip_p
from justicia.metrics.intervals import wilson

__all__ = ["PairDifference", "PairedResult", "newcombe_paired", "paired_result", "symmetry_test"]

_LEAST_DISCORDANT = 10


@dataclass(frozen=True)
class PairDifference:
    """How much more often one group's prompt has a response than the other group's of the same pair.

    Attributes
    ----------
    response : str
    first_only, other_only : int
        Pairs in which only the first group's prompt, or only the other's, has the response.
    value : float
        Rate of the first group minus that of the other.
    lo, hi : float or None
    method : str
    """

    response: str
    first_only: int
    other_only: int
    value: float
    lo: float | None
    hi: float | None
    method: str


@dataclass(frozen=True)
class PairedResult:
    """Two groups over all pairs that have both.

    Attributes
    ----------
    model : str or None
    group, other : str
    responses : tuple of str
    counts : tuple of tuple of int
        Pairs by response of the first group (rows) and of the other (columns).
    pairs : int
        Complete pairs.
    incomplete : int
        Pairs that lack one of the two, which say nothing here.
    changed : int
        Pairs whose response is not the same.
    changed_lo, changed_hi : float or None
        Wilson's interval of the share of those.
    differences : tuple of PairDifference
        One a response; with two responses, of the first alone, as the other mirrors it.
    test : Test
        McNemar's or Bowker's.
    verdict : {"holds", "fails", "undecided"}
        On the requirement of the report.
    reason : str
    """

    model: str | None
    group: str
    other: str
    responses: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    pairs: int
    incomplete: int
    changed: int
    changed_lo: float | None
    changed_hi: float | None
    differences: tuple[PairDifference, ...]
    test: Test
    verdict: str = "undecided"
    reason: str = ""

    @property
    def flip_rate(self) -> float | None:
        """Share of the pairs whose response changes with the group cue."""
        return self.changed / self.pairs if self.pairs else None

    @property
    def largest(self) -> PairDifference | None:
        """The difference that is farthest from 0."""
        return max(self.differences, key=lambda one: abs(one.value), default=None)


def newcombe_paired(both: int, first: int, other: int, neither: int, confidence: float = 0.95) -> tuple[float, float]:
    """Newcombe's interval of the difference of two paired rates (1998, method 10).

    Parameters
    ----------
    both, first, other, neither : int
        Pairs with both, with the first alone, with the other alone, with neither.
    confidence : float in (0, 1)

    >>> [round(end, 4) for end in newcombe_paired(36, 12, 2, 0)]
    [0.0569, 0.3404]
    """
    n = both + first + other + neither
    k, k_other = both + first, both + other
    (low,), (high,) = (end.tolist() for end in wilson(np.array([k]), np.array([n]), confidence))
    (other_low,), (other_high,) = (end.tolist() for end in wilson(np.array([k_other]), np.array([n]), confidence))
    rate, other_rate = k / n, k_other / n
    product = k * (n - k) * k_other * (n - k_other)
    phi = 0.0
    if product:
        cross = both * neither - first * other
        corrected = cross if cross < 0 else max(cross - n / 2, 0.0)
        phi = corrected / math.sqrt(product)
    down, up = (rate - low, other_high - other_rate), (high - rate, other_rate - other_low)
    below, above = (
        math.sqrt(max(0.0, a * a - 2 * phi * a * b + b * b)) for a, b in (down, up)
    )  # fmt: skip
    return rate - other_rate - below, rate - other_rate + above


def symmetry_test(counts: np.ndarray, clusters: np.ndarray | None = None, seed: int = 0) -> Test:
    """Test whether groups may change places in a pair: McNemar's exact test, or Bowker's with more responses.

    Parameters
    ----------
    counts : int array of shape (n_responses, n_responses)
        Pairs by response of the first group and of the other.
    clusters : int array of shape (n_clusters, n_responses, n_responses), optional
        The same, cluster by cluster: groups then change places in all pairs of a cluster together.
    seed : int
        Where signs are drawn.

    >>> symmetry_test(np.array([[20, 8], [1, 11]])).p
    0.0390625
    """
    if not counts.sum():
        return Test("none", None, None, None, undefined="there is no complete pair")
    rows, columns = np.triu_indices(len(counts), 1)
    total = (counts + counts.T)[rows, columns]
    held = total > 0
    rows, columns, total = rows[held], columns[held], total[held]
    name = "McNemar" if len(total) == 1 else "Bowker"
    if not len(total):
        return Test("McNemar exact", None, None, 1.0)
    if clusters is not None:
        parts = (clusters - clusters.transpose(0, 2, 1))[:, rows, columns]
        value, p, how = sign_flip_p(parts, 1 / total, seed)
        return Test(f"{name}'s statistic, groups swapped cluster by cluster, {how}", value, None, p)
    apart = (counts - counts.T)[rows, columns]
    if len(total) == 1:
        from scipy.stats import binomtest

        k = int(counts[rows[0], columns[0]])
        return Test("McNemar exact", None, None, float(binomtest(k, int(total[0])).pvalue))
    value = float((apart**2 / total).sum())
    if total.min() >= _LEAST_DISCORDANT:
        from scipy.stats import chi2

        return Test("Bowker", value, len(total), float(chi2.sf(value, len(total))))
    return _bowker_exact(value, total, seed)


def _bowker_exact(value: float, total: np.ndarray, seed: int) -> Test:
    """Given how many pairs disagree in which way, each direction is as likely as the other."""
    from scipy.stats import binom

    if float(np.prod(total + 1.0)) <= 200_000:
        # Distribution of the statistic, as a sum of independent parts.
        values, weights = np.zeros(1), np.ones(1)
        for n in total.tolist():
            k = np.arange(n + 1)
            values = np.add.outer(values, (2 * k - n) ** 2 / n).ravel()
            weights = np.multiply.outer(weights, binom.pmf(k, n, 0.5)).ravel()
        p = float(weights[values >= value - 1e-9].sum())
        return Test("Bowker exact", value, None, min(1.0, p))
    from justicia.generations.contingency import DRAWS

    drawn = np.random.default_rng(seed).binomial(total, 0.5, size=(DRAWS, len(total)))
    statistic = ((2 * drawn - total) ** 2 / total).sum(axis=1)
    p = (1 + int((statistic >= value - 1e-9).sum())) / (1 + DRAWS)
    return Test(f"Bowker, {DRAWS:,} draws", value, None, p)


def paired_result(
    first: np.ndarray,
    other: np.ndarray,
    names: tuple[str, str],
    responses: tuple[str, ...],
    *,
    incomplete: int = 0,
    clusters: np.ndarray | None = None,
    model: str | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> PairedResult:
    """Compare two groups over pairs.

    Parameters
    ----------
    first, other : int array of shape (n_pairs,)
        Code of the response to each group's prompt.
    names : (group, other group)
    responses : tuple of str
    incomplete : int
    clusters : int array of shape (n_pairs,), optional
    model : str, optional
    confidence : float in (0, 1)
        Of all differences together.
    seed : int
    """
    size, n = len(responses), len(first)
    counts = np.bincount(first * size + other, minlength=size * size).reshape(size, size)
    by_cluster = blocks = None
    if clusters is not None and n:
        _, codes = np.unique(clusters, return_inverse=True)
        held = int(codes.max()) + 1
        cells = (codes * size + first) * size + other
        by_cluster = np.bincount(cells, minlength=held * size * size).reshape(held, size, size)
        blocks = Blocks(np.stack([by_cluster.sum(axis=2), by_cluster.sum(axis=1)], axis=1))
    changed = n - int(np.trace(counts))
    lo, hi = (float(end[0]) for end in wilson(np.array([changed]), np.array([n]), confidence))
    return PairedResult(
        model,
        *names,
        responses,
        tuple(map(tuple, counts.tolist())),
        n,
        incomplete,
        changed,
        lo if n else None,
        hi if n else None,
        _differences(counts, responses, blocks, confidence, seed) if n else (),
        symmetry_test(counts, by_cluster, seed),
    )


def _differences(
    counts: np.ndarray, responses: tuple[str, ...], blocks: Blocks | None, confidence: float, seed: int
) -> tuple[PairDifference, ...]:
    rows, columns, n = counts.sum(axis=1), counts.sum(axis=0), int(counts.sum())
    present = np.flatnonzero(rows + columns)
    compared = present[:1] if len(present) <= 2 else present
    if blocks is not None:
        ends = cluster_band(blocks, [(int(one), 0, 1) for one in compared], confidence, seed)
        method = "cluster bootstrap"
    else:
        alone = 1 - (1 - confidence) / len(compared)
        table = [
            (int(counts[i, i]), int(rows[i] - counts[i, i]), int(columns[i] - counts[i, i]))
            for i in compared
        ]  # fmt: skip
        pairs = [newcombe_paired(both, one, two, n - both - one - two, alone) for both, one, two in table]
        ends = tuple(np.array(pairs).T)
        method = "newcombe, paired"
    made = []
    for place, i in enumerate(compared.tolist()):
        low, high = float(ends[0][place]), float(ends[1][place])
        made.append(
            PairDifference(
                responses[i],
                int(rows[i] - counts[i, i]),
                int(columns[i] - counts[i, i]),
                float(rows[i] - columns[i]) / n,
                None if math.isnan(low) else low,
                None if math.isnan(high) else high,
                method,
            )
        )
    return tuple(made)
