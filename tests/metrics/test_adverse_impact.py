"""Tests against the highest rate: published values, hand computation, brute force."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize_scalar

from justicia.metrics.adverse_impact import adverse_impact, fisher_two_sided, holm, pooled_z, ratio_interval
from justicia.metrics.four_fifths import meets_four_fifths, move_one_selection

# Selected and people of the group with the higher rate, of the other; ratio, z, p, Fisher's p, log-ratio interval.
PUBLISHED = (
    ((48, 80, 12, 40), 0.5, 3.098, 0.00195, 0.00341, (0.301, 0.829), "pooled z"),
    ((48, 255, 52, 395), 0.699, 1.952, 0.0509, 0.0584, (0.488, 1.002), "pooled z"),
    ((6, 10, 2, 10), 0.333, 1.826, 0.068, 0.170, (0.087, 1.27), "fisher"),
    ((5000, 10000, 4850, 10000), 0.97, 2.122, 0.0339, 0.0351, (0.943, 0.998), "pooled z"),
)


@pytest.mark.parametrize(("counts", "ratio", "z", "p", "fisher", "interval", "test"), PUBLISHED)
def test_two_groups_against_known_values(counts, ratio, z, p, fisher, interval, test):
    top_k, top_n, k, n = counts
    held = adverse_impact([top_k, k], [top_n, n])
    (group,) = held.groups
    assert held.reference == 0
    assert float(group.impact_ratio) == pytest.approx(ratio, abs=5e-4)
    assert group.z == pytest.approx(z, abs=5e-4)
    assert pooled_z(k, n, top_k, top_n)[1] == pytest.approx(p, rel=5e-3)
    assert fisher_two_sided(k, n, top_k, top_n) == pytest.approx(fisher, rel=5e-3)
    assert group.test == test
    assert group.p == pytest.approx(fisher if test == "fisher" else p, rel=5e-3)
    assert group.p_holm == group.p
    assert (group.interval.lo, group.interval.hi) == pytest.approx(interval, abs=5e-3)
    assert group.interval_method == "log-ratio"


def test_shortfall_and_odds_by_hand():
    (group,) = adverse_impact([48, 12], [80, 40]).groups
    assert group.shortfall == 8  # half of 40 would be 20
    assert group.odds_ratio == pytest.approx((12 / 28) / (48 / 32))
    assert group.four_fifths is False
    every = adverse_impact([5, 0], [5, 7]).groups[0]
    assert every.odds_ratio == 0.0
    assert every.impact_ratio == 0
    nobody = adverse_impact([0, 0], [5, 7]).groups[0]
    assert (nobody.impact_ratio, nobody.p, nobody.odds_ratio, nobody.four_fifths, nobody.interval) == (None,) * 5


def test_fisher_takes_over_where_counts_are_small():
    # 29 people: Fisher; 30 people with expected counts of 7.5: z; an expected count of 4.5: Fisher.
    assert adverse_impact([8, 7], [14, 15]).groups[0].test == "fisher"
    assert adverse_impact([8, 7], [15, 15]).groups[0].test == "pooled z"
    assert adverse_impact([6, 3], [40, 40]).groups[0].test == "fisher"
    assert adverse_impact([7, 3], [40, 40]).groups[0].test == "pooled z"


def fisher_by_hand(k, n, other_k, other_n):
    """Sum of the probabilities of all tables no more probable than this one."""
    total, chosen = n + other_n, k + other_k
    ways = [math.comb(n, i) * math.comb(other_n, chosen - i) for i in range(chosen + 1) if chosen - i <= other_n]
    offset = 0 if chosen <= other_n else chosen - other_n
    ways = [math.comb(n, i) * math.comb(other_n, chosen - i) for i in range(offset, min(n, chosen) + 1)]
    own = math.comb(n, k) * math.comb(other_n, other_k)
    return Fraction(sum(way for way in ways if way <= own), math.comb(total, chosen))


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_fisher_against_enumeration(n, other_n, data):
    k, other_k = data.draw(st.integers(0, n)), data.draw(st.integers(0, other_n))
    assert fisher_two_sided(k, n, other_k, other_n) == pytest.approx(float(fisher_by_hand(k, n, other_k, other_n)))


def test_holm_by_hand_and_with_ties():
    assert holm([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06]
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []
    three = adverse_impact([50, 30, 20, 44], [100, 100, 100, 100])
    raw = [group.p for group in three.groups]
    assert [group.p_holm for group in three.groups] == pytest.approx([raw[0] * 2, raw[1] * 3, raw[2]])
    # The pooled z test squared is the chi-squared test without correction.
    chi = stats.chi2_contingency([[30, 70], [50, 50]], correction=False)
    assert raw[0] == pytest.approx(chi.pvalue)


def test_four_fifths_is_decided_in_whole_numbers():
    assert meets_four_fifths(3, 5, 3, 4) is True
    assert 3 / 5 / (3 / 4) < 0.8
    assert meets_four_fifths(0, 5, 0, 4) is None
    assert meets_four_fifths(0, 5, 1, 4) is False
    below = 0
    for n in range(1, 40):
        for top_n in range(1, 40):
            if (4 * n) % 5 == 0:
                # Everybody of top_n, and four fifths of n.
                assert meets_four_fifths(4 * n // 5, n, top_n, top_n) is True
                assert meets_four_fifths(4 * n // 5 - 1, n, top_n, top_n) is (n == 0)
    pairs = [(k, n, 5 * i, 4 * i) for n in range(5, 60) for k in range(1, n) for i in (1,) if 5 * k <= 4 * n]
    for k, n, numerator, denominator in pairs:
        # A rate 5/4 as high, as a fraction of whole numbers.
        top = Fraction(k, n) * Fraction(numerator, denominator)
        assert meets_four_fifths(k, n, top.numerator, top.denominator) is True
        below += k / n / (top.numerator / top.denominator) < 0.8
    assert below > 20


def one_person_by_hand(k, n, group, top):
    """Both questions by trying the move on rates as fractions."""

    def rate(counts, i):
        return Fraction(counts[i], n[i])

    up = list(k)
    up[group], up[top] = up[group] + 1, up[top] - 1
    possible = k[top] >= 1 and k[group] < n[group]
    order = possible and rate(up, group) > rate(up, top)
    if not k[top]:
        return order, None
    before = rate(k, group) / rate(k, top) >= Fraction(4, 5)
    if before:
        up = list(k)
        up[group], up[top] = up[group] - 1, up[top] + 1
        possible = k[group] >= 1 and k[top] < n[top]
    if not possible:
        return order, None
    highest = max(rate(up, i) for i in range(len(n)))
    after = highest > 0 and rate(up, group) / highest >= Fraction(4, 5)
    return order, after != before if highest else False


@given(st.lists(st.integers(1, 9), min_size=2, max_size=7), st.data())
def test_one_person_against_trying_it(n, data):
    k = [data.draw(st.integers(0, size)) for size in n]
    held = adverse_impact(k, n)
    rates = [Fraction(a, b) for a, b in zip(k, n, strict=True)]
    assert rates[held.reference] == max(rates)
    for group in held.groups:
        assert (group.reverses_order, group.changes_four_fifths) == one_person_by_hand(
            k, n, group.position, held.reference
        )
        assert move_one_selection(k, n, group.position, held.reference) == one_person_by_hand(
            k, n, group.position, held.reference
        )


def test_one_person_can_turn_the_screen_and_the_order():
    # 5/10 v 4/9: one selection more and one fewer is 5/9 v 4/10.
    assert move_one_selection([5, 4], [10, 9], 1, 0) == (True, True)
    # 3/5 v 3/4 meets four fifths exactly, 2/5 v 4/4 does not.
    assert move_one_selection([3, 3], [4, 5], 1, 0) == (True, True)
    assert move_one_selection([48, 12], [80, 40], 1, 0) == (False, False)


def score_statistic(ratio, k, n, other_k, other_n):
    """Koopman's statistic by maximising the likelihood numerically."""

    def log(count, rate):
        return count * math.log(rate) if count else 0.0

    def minus_likelihood(p):
        own = ratio * p
        return -(log(k, own) + log(n - k, 1 - own) + log(other_k, p) + log(other_n - other_k, 1 - p))

    top = min(1.0, 1.0 / ratio) - 1e-12
    p = minimize_scalar(minus_likelihood, bounds=(1e-12, top), method="bounded", options={"xatol": 1e-12}).x
    own = ratio * p
    return (k - n * own) ** 2 / (n * own * (1 - own)) + (other_k - other_n * p) ** 2 / (other_n * p * (1 - p))


@pytest.mark.parametrize(("n", "other_k", "other_n"), [(20, 10, 20), (5, 3, 40), (100, 30, 50)])
def test_nobody_selected_has_a_score_interval(n, other_k, other_n):
    interval, method = ratio_interval(0, n, other_k, other_n)
    assert method == "score (Koopman)"
    assert interval.lo == 0.0
    quantile = stats.chi2.ppf(0.95, 1)
    assert score_statistic(interval.hi, 0, n, other_k, other_n) == pytest.approx(quantile, rel=1e-4)


@pytest.mark.parametrize(
    ("k", "n", "other_k", "other_n"), [(5, 10, 2, 2), (40, 90, 30, 30), (3, 3, 20, 40), (2, 2, 2, 2), (25, 25, 9, 9)]
)
def test_a_rate_of_one_has_an_error_too(k, n, other_k, other_n):
    interval, method = ratio_interval(k, n, other_k, other_n)
    assert method == "score (Koopman)"
    assert interval.lo < (k / n) / (other_k / other_n) < interval.hi
    quantile = stats.chi2.ppf(0.95, 1)
    for end in (interval.lo, interval.hi):
        assert score_statistic(end, k, n, other_k, other_n) == pytest.approx(quantile, rel=1e-4)
    # Swapped groups have the reciprocal ratio, and the reciprocal interval.
    other, _ = ratio_interval(other_k, other_n, k, n)
    assert (other.lo, other.hi) == (pytest.approx(1 / interval.hi), pytest.approx(1 / interval.lo))


def test_log_ratio_interval_by_hand():
    interval, _ = ratio_interval(12, 40, 48, 80, 0.9)
    error = math.sqrt(1 / 12 - 1 / 40 + 1 / 48 - 1 / 80)
    z = stats.norm.ppf(0.95)
    assert interval.lo == pytest.approx(0.5 * math.exp(-z * error))
    assert interval.hi == pytest.approx(0.5 * math.exp(z * error))


def test_groups_without_people_and_single_groups_are_left_out():
    held = adverse_impact([3, 0, 1], [4, 0, 5])
    assert [group.position for group in held.groups] == [2]
    assert adverse_impact([3], [4]).reference is None
    assert adverse_impact([], []).groups == ()


def test_effective_sizes_widen_tests_and_leave_ratios():
    k, n = [Fraction(48), Fraction(12)], [Fraction(80), Fraction(40)]
    (plain,) = adverse_impact([48, 12], [80, 40]).groups
    (half,) = adverse_impact(k, n, effective=[40.0, 20.0]).groups
    assert half.impact_ratio == plain.impact_ratio
    assert half.z == pytest.approx(plain.z / math.sqrt(2))
    assert half.test == "pooled z"
    assert half.reverses_order is None
    assert half.interval.hi > plain.interval.hi
    assert np.isfinite(half.p)
