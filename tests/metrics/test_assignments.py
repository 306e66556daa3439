"""Ranges over people of unknown group, against going through every assignment."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from justicia.metrics import assignments
from justicia.metrics.assignments import Unknown, assignment_ranges


def splits(total, parts):
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in splits(total - first, parts - 1):
            yield (first, *rest)


def every_assignment(k, n, unknown):
    """Rates by group under each assignment; groups that nobody is in are left out."""
    ways = [
        itertools.product(splits(one.selected, len(one.groups)), splits(one.rejected, len(one.groups)))
        for one in unknown
    ]
    for choice in itertools.product(*map(list, ways)):
        selected, people = list(k), list(n)
        for one, (chosen, rejected) in zip(unknown, choice, strict=True):
            for group, a, b in zip(one.groups, chosen, rejected, strict=True):
                selected[group] += a
                people[group] += a + b
        yield {i: Fraction(a, b) for i, (a, b) in enumerate(zip(selected, people, strict=True)) if b}


def brute_force(k, n, unknown, compared):
    impact, difference, rates, ratios = [], [], {}, {}
    for held in every_assignment(k, n, unknown):
        for group, rate in held.items():
            rates.setdefault(group, []).append(rate)
        among = {group: rate for group, rate in held.items() if group in compared}
        if len(among) < 2:
            continue
        top, low = max(among.values()), min(among.values())
        difference.append(top - low)
        if top:
            impact.append(low / top)
            for group, rate in among.items():
                ratios.setdefault(group, []).append(rate / top)
    return impact, difference, rates, ratios


def ends(enclosure):
    return None if enclosure is None else (enclosure.lo, enclosure.hi)


def extremes(values):
    return (min(values), max(values)) if values else None


@st.composite
def problems(draw):
    size = draw(st.integers(2, 4))
    n = [draw(st.integers(0, 9)) for _ in range(size)]
    k = [draw(st.integers(0, people)) for people in n]
    unknown = []
    for _ in range(draw(st.integers(1, 2))):
        groups = draw(st.sets(st.integers(0, size - 1), min_size=1))
        most = 3 if len(groups) < 4 else 2
        unknown.append(Unknown(tuple(sorted(groups)), draw(st.integers(0, most)), draw(st.integers(0, most))))
    return k, n, unknown


@settings(max_examples=40, deadline=None)
@given(problems(), st.booleans())
@example(([0, 0], [0, 0], [Unknown((0, 1), 1, 0)]), False)
@example(([0, 0], [0, 0], [Unknown((0, 1), 0, 1)]), False)
@example(([0, 0, 1], [0, 0, 2], [Unknown((0, 1), 1, 0)]), True)
def test_ranges_against_every_assignment(problem, one_less):
    k, n, unknown = problem
    compared = list(range(len(k) - (1 if one_less and len(k) > 2 else 0)))
    held = assignment_ranges(k, n, unknown, compared)
    impact, difference, rates, ratios = brute_force(k, n, unknown, compared)
    assert held.exact
    assert ends(held.disparate_impact) == extremes(impact)
    assert ends(held.statistical_parity_difference) == extremes(difference)
    for group in range(len(k)):
        assert ends(held.rates[group]) == extremes(rates.get(group))
        assert ends(held.ratios[group]) == extremes(ratios.get(group))


def test_two_groups_with_twenty_unknown_people():
    # 50/100 v 45/100; complete cases say .90.
    held = assignment_ranges([50, 45], [100, 100], [Unknown((0, 1), 10, 10)])
    assert held.disparate_impact.lo == Fraction(3, 4)
    assert float(held.disparate_impact.hi) == pytest.approx(0.999, abs=5e-4)
    best = max(
        min(a, b) / max(a, b)
        for x in range(11)
        for y in range(11)
        for a, b in [(Fraction(50 + x, 100 + x + y), Fraction(55 - x, 120 - x - y))]
    )
    assert held.disparate_impact.hi == best
    assert (held.people, held.selected, held.exact) == (20, 10, True)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(problems())
@example(([0, 0, 0, 1], [0, 0, 1, 2], [Unknown((0, 1, 2), 2, 0)]))
@example(([0, 0, 0, 0], [0, 0, 1, 1], [Unknown((0, 1, 2), 2, 0)]))
@example(([0, 0, 0, 1], [0, 0, 0, 5], [Unknown((0, 1, 2, 3), 0, 1), Unknown((1, 2, 3), 1, 3)]))
def test_with_people_in_parts_no_assignment_is_outside(problem):
    k, n, unknown = problem
    # One person alone cannot be in two groups, in parts he can: assignments are few then, and are gone through.
    assume(sum(one.selected + one.rejected for one in unknown) > 1)
    whole = assignment_ranges(k, n, unknown)
    most = assignments.MOST_ASSIGNMENTS
    try:
        assignments.MOST_ASSIGNMENTS = 0
        bound = assignment_ranges(k, n, unknown)
    finally:
        assignments.MOST_ASSIGNMENTS = most
    for exact, outer in [
        (whole.disparate_impact, bound.disparate_impact),
        *zip(whole.ratios, bound.ratios, strict=True),
    ]:
        assert (exact is None) == (outer is None)
        assert exact is None or (exact.lo == outer.lo and exact.hi <= outer.hi)
    exact, outer = whole.statistical_parity_difference, bound.statistical_parity_difference
    assert (exact is None) == (outer is None)
    assert exact is None or (exact.hi == outer.hi and outer.lo <= exact.lo)


def test_an_empty_group_with_people_in_parts(monkeypatch):
    monkeypatch.setattr(assignments, "MOST_ASSIGNMENTS", 0)
    held = assignment_ranges([2, 1, 0], [5, 5, 0], [Unknown((0, 1, 2), 1, 1)])
    # Two of five, one of five, and a group that nobody needs to be in.
    assert held.disparate_impact.lo == 0
    assert held.disparate_impact.hi == 1  # 2/6 twice, and nobody in the third


def test_with_people_in_parts_large_groups_are_off_by_little(monkeypatch):
    k, n, unknown = [400, 250, 90], [1000, 1000, 300], [Unknown((0, 1, 2), 20, 10), Unknown((0, 1), 5, 5)]
    whole = assignment_ranges(k, n, unknown)
    monkeypatch.setattr(assignments, "MOST_ASSIGNMENTS", 0)
    bound = assignment_ranges(k, n, unknown)
    assert (whole.exact, bound.exact) == (True, False)
    for exact, outer in [
        (whole.disparate_impact, bound.disparate_impact),
        *zip(whole.ratios, bound.ratios, strict=True),
    ]:
        assert exact.hi <= outer.hi <= exact.hi + Fraction(1, 1000)


def test_nobody_unknown_and_nobody_selected():
    held = assignment_ranges([3, 3], [4, 5], [])
    assert ends(held.disparate_impact) == (Fraction(4, 5), Fraction(4, 5))
    nobody = assignment_ranges([0, 0], [4, 5], [Unknown((0, 1), 0, 3)])
    assert nobody.disparate_impact is None
    assert ends(nobody.statistical_parity_difference) == (0, 0)
    assert assignment_ranges([3], [4], [Unknown((0,), 1, 0)]).disparate_impact is None
