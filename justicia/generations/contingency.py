"""Contingency tables of groups and responses: tests of independence, their strength, and strata pooled.

References: Cramér (1946); Bergsma (Journal of the Korean Statistical Society 2013) for the corrected V; Freeman and
Halton (Biometrika 1951); Landis, Heyman and Koch (International Statistical Review 1978) for strata pooled; Robins,
Breslow and Greenland (Biometrics 1986) for the interval of the common odds ratio.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from justicia.metrics.adverse_impact import fisher_two_sided

__all__ = ["DRAWS", "Pooled", "Test", "chi_square", "cramers_v", "independence_test", "pooled_test", "without_empty"]

DRAWS = 9_999
"""Tables drawn where a p-value is simulated: it is right to about .004 near .05, and valid however few they are."""

_LEAST_EXPECTED = 5
_MOST_TABLES = 20_000


@dataclass(frozen=True)
class Test:
    """A test of the null hypothesis that the response does not depend on the group.

    Attributes
    ----------
    method : str
    statistic : float or None
        None where the p-value is all there is.
    df : int or None
        Degrees of freedom.
    p : float or None
        None where there is nothing to test.
    adjusted : float or None
        By Holm's correction over all tests of the report.
    undefined : str or None
        Why there is nothing to test.
    """

    method: str
    statistic: float | None
    df: int | None
    p: float | None
    adjusted: float | None = None
    undefined: str | None = None

    __test__ = False

    def rejected(self, alpha: float) -> bool:
        """Whether the null hypothesis is rejected, when all tests together err with probability `alpha` at most."""
        return self.adjusted is not None and self.adjusted <= alpha


@dataclass(frozen=True)
class Pooled:
    """Strata pooled.

    Attributes
    ----------
    test : Test
        Cochran, Mantel and Haenszel's, without continuity correction.
    strata : int
        Strata that say something.
    odds_ratio, lo, hi : float or None
        Mantel and Haenszel's common odds ratio of two responses and two groups with its interval.
    groups, responses : tuple of str
        The odds ratio is that of the first response, first group over second.
    note : str or None
        Why the normal approximation may not hold.
    """

    test: Test
    strata: int
    odds_ratio: float | None = None
    lo: float | None = None
    hi: float | None = None
    groups: tuple[str, ...] = ()
    responses: tuple[str, ...] = ()
    note: str | None = None


def without_empty(counts: np.ndarray) -> np.ndarray:
    """The table without rows and columns that hold nothing."""
    counts = np.asarray(counts)
    return counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]


def chi_square(counts: np.ndarray) -> tuple[float, int]:
    """Pearson's statistic, without continuity correction, and its degrees of freedom.

    >>> value, df = chi_square(np.array([[10, 20], [20, 10]]))
    >>> round(value, 4), df
    (6.6667, 1)
    """
    held = without_empty(counts).astype(np.float64)
    if min(held.shape) < 2:
        return 0.0, 0
    expected = held.sum(axis=1, keepdims=True) * held.sum(axis=0) / held.sum()
    return float(((held - expected) ** 2 / expected).sum()), (held.shape[0] - 1) * (held.shape[1] - 1)


def cramers_v(counts: np.ndarray) -> tuple[float | None, float | None]:
    """Cramér's V, and Bergsma's, which is not biased upwards in small tables; None with one row or column.

    >>> [round(value, 4) for value in cramers_v(np.array([[10, 20], [20, 10]]))]
    [0.3333, 0.3095]
    """
    held = without_empty(counts)
    if min(held.shape, default=0) < 2:
        return None, None
    n, (rows, columns) = int(held.sum()), held.shape
    share = chi_square(held)[0] / n
    plain = math.sqrt(min(1.0, share / (min(rows, columns) - 1)))
    if n < 2:
        return plain, None
    free = (rows - 1) * (columns - 1) / (n - 1)
    fewer = min(rows - (rows - 1) ** 2 / (n - 1), columns - (columns - 1) ** 2 / (n - 1)) - 1
    return plain, None if fewer <= 0 else math.sqrt(min(1.0, max(0.0, share - free) / fewer))


def independence_test(counts: np.ndarray, seed: int = 0) -> Test:
    """Test independence of rows and columns: chi-square where all expected counts are 5 at least, Fisher's else.

    Parameters
    ----------
    counts : int array of shape (n_groups, n_responses)
    seed : int
        Of the tables that are drawn where there are too many to enumerate.

    >>> independence_test(np.array([[8, 2], [1, 5]])).method
    'Fisher exact'
    """
    held = without_empty(counts)
    if held.shape[0] < 2:
        return Test("none", None, None, None, undefined="there are fewer than two groups with rows")
    if held.shape[1] < 2:
        return Test("none", None, None, None, undefined="every response is the same")
    rows, columns = held.sum(axis=1), held.sum(axis=0)
    if rows.min() * columns.min() >= _LEAST_EXPECTED * held.sum():
        from scipy.stats import chi2

        value, df = chi_square(held)
        return Test("chi-square", value, df, float(chi2.sf(value, df)))
    if held.shape == (2, 2):
        first, second = held.tolist()
        p = fisher_two_sided(first[0], sum(first), second[0], sum(second))
        return Test("Fisher exact", None, None, min(1.0, p))
    return _freeman_halton(held, seed)


def _freeman_halton(held: np.ndarray, seed: int) -> Test:
    """Fisher's test of larger tables: the probability of all tables of these margins that are no more probable."""
    from scipy.special import gammaln
    from scipy.stats import random_table

    rows, columns = held.sum(axis=1), held.sum(axis=0)
    # Which tables are as probable is decided with room for rounding.
    least = -gammaln(held + 1.0).sum() + 1e-7
    tables = _tables(rows.tolist(), columns.tolist())
    if tables is not None:
        weights = -gammaln(tables + 1.0).sum(axis=(1, 2))
        scaled = np.exp(weights - weights.max())
        return Test(
            "Fisher-Freeman-Halton exact", None, None, min(1.0, float(scaled[weights <= least].sum() / scaled.sum()))
        )
    drawn = random_table(rows, columns).rvs(DRAWS, random_state=np.random.default_rng(seed))
    extreme = int((-gammaln(drawn + 1.0).sum(axis=(1, 2)) <= least).sum())
    return Test(f"Fisher-Freeman-Halton, {DRAWS:,} tables drawn", None, None, (1 + extreme) / (1 + DRAWS))


def _tables(rows: list[int], columns: list[int]) -> np.ndarray | None:
    """All tables of these margins, or None when there are too many."""
    if len(rows) < len(columns):
        turned = _tables(columns, rows)
        return None if turned is None else turned.transpose(0, 2, 1)
    # Row by row: what is left of the columns, and the rows so far.
    partial = [((), tuple(columns))]
    for position, total in enumerate(rows):
        grown: list[tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]] = []
        for before, left in partial:
            if position == len(rows) - 1:
                grown.append(((*before, left), (0,) * len(left)))
                continue
            for row in _fillings(total, left):
                grown.append(((*before, row), tuple(a - b for a, b in zip(left, row, strict=True))))
                if len(grown) > _MOST_TABLES:
                    return None
        partial = grown  # type: ignore[assignment]
    return np.array([before for before, _ in partial])


def _fillings(total: int, left: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Ways to put `total` into columns that take so much each, one after another: there may be very many."""
    if len(left) == 1:
        yield (total,)
        return
    rest = sum(left[1:])
    for first in range(max(0, total - rest), min(total, left[0]) + 1):
        for more in _fillings(total - first, left[1:]):
            yield (first, *more)


def pooled_test(
    tables: list[np.ndarray],
    groups: tuple[str, ...] = (),
    responses: tuple[str, ...] = (),
    confidence: float = 0.95,
) -> Pooled:
    """Whether groups and responses are independent inside strata, all strata pooled.

    The general association test of Landis, Heyman and Koch; with two groups and two responses it is Mantel and
    Haenszel's, and a common odds ratio goes with it.

    Parameters
    ----------
    tables : list of int arrays of shape (n_groups, n_responses)
        One a stratum.
    groups, responses : tuple of str
        Names for the result.
    confidence : float in (0, 1)

    >>> held = pooled_test([np.array([[10, 20], [20, 10]]), np.array([[5, 15], [9, 11]])])
    >>> round(held.test.statistic, 4), round(held.odds_ratio, 4)
    (7.9715, 0.3029)
    """
    from scipy.stats import chi2

    method = "Cochran-Mantel-Haenszel"
    held = [table.astype(np.float64) for table in map(np.asarray, tables) if min(without_empty(table).shape) >= 2]
    if not held:
        return Pooled(Test(method, None, None, None, undefined="no stratum has two groups and two responses"), 0)
    shape = held[0].shape
    apart = np.zeros((shape[0] - 1) * (shape[1] - 1))
    spread = np.zeros((len(apart), len(apart)))
    for table in held:
        n, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
        apart += (table - np.outer(rows, columns) / n)[:-1, :-1].ravel()
        row_part = (np.diag(rows) * n - np.outer(rows, rows))[:-1, :-1] / n
        column_part = (np.diag(columns) * n - np.outer(columns, columns))[:-1, :-1] / n
        spread += np.kron(row_part, column_part) / (n - 1)
    # Groups or responses that no stratum has leave directions without variance.
    rank = int(np.linalg.matrix_rank(spread, hermitian=True))
    value = float(apart @ np.linalg.pinv(spread, hermitian=True) @ apart)
    test = Test(method, value, rank, float(chi2.sf(value, rank)))
    if shape != (2, 2):
        return Pooled(test, len(held), groups=groups, responses=responses)
    return Pooled(test, len(held), *_common_odds(held, confidence), groups, responses, _small(held))


def _common_odds(held: list[np.ndarray], confidence: float) -> tuple[float | None, float | None, float | None]:
    table = np.stack(held)
    n = table.sum(axis=(1, 2))
    for_ = table[:, 0, 0] * table[:, 1, 1] / n
    against = table[:, 0, 1] * table[:, 1, 0] / n
    above, below = float(for_.sum()), float(against.sum())
    if not above or not below:
        return (0.0 if below else None), None, None
    agree = (table[:, 0, 0] + table[:, 1, 1]) / n
    variance = (
        (agree * for_).sum() / (2 * above**2)
        + ((agree * against) + (1 - agree) * for_).sum() / (2 * above * below)
        + ((1 - agree) * against).sum() / (2 * below**2)
    )
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * math.sqrt(variance)
    middle = above / below
    return middle, middle * math.exp(-half), middle * math.exp(half)


def _small(held: list[np.ndarray]) -> str | None:
    """Mantel and Fleiss's rule (American Journal of Epidemiology 1980)."""
    table = np.stack(held)
    n, rows, columns = table.sum(axis=(1, 2)), table.sum(axis=2)[:, 0], table.sum(axis=1)[:, 0]
    expected = float((rows * columns / n).sum())
    least = float(np.maximum(0, rows + columns - n).sum())
    most = float(np.minimum(rows, columns).sum())
    if min(expected - least, most - expected) >= _LEAST_EXPECTED:
        return None
    return "few rows: the chi-square approximation of the pooled test may be off"
