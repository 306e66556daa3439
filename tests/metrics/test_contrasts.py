"""Bounds of measures hold the measure of every rate inside, and are reached."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from justicia.enclosure import Enclosure
from justicia.metrics import COMPARISONS, MEASURES, Rates, measure, precision_of

SLACK = 1e-9


def by_hand(name, tpr, fpr, base, sizes, comparison, reference):
    """A measure of exact rates by its definition, with selection rates from those by true outcome."""
    tpr, fpr, base, sizes = (np.array(held, dtype=float) for held in (tpr, fpr, base, sizes))
    selected = base * tpr + (1 - base) * fpr
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = base * tpr / selected
    shares = sizes / sizes.sum()
    positive, negative = sizes * base, sizes * (1 - base)

    def compared(rates, overall):
        if comparison == "between_groups":
            return rates.max() - rates.min(), rates.min() / rates.max() if rates.max() else None
        other = overall if comparison == "to_overall" else rates[reference]
        beside = rates if comparison == "to_overall" else np.delete(rates, reference)
        ratios = [min(one, other) / max(one, other) for one in beside if max(one, other) > 0]
        return np.abs(beside - other).max(), min(ratios, default=None)

    all_tpr, all_fpr = (positive @ tpr) / positive.sum(), (negative @ fpr) / negative.sum()
    all_selected = shares @ selected
    if name in ("disparate_impact", "statistical_parity_difference"):
        difference, ratio = compared(selected, all_selected)
        return ratio if name == "disparate_impact" else difference
    if name.startswith("predictive_parity"):
        if not selected.all():
            return None
        found = compared(precision, (positive @ tpr) / (positive @ tpr + negative @ fpr))
        return found[name.endswith("ratio")]
    true, false = compared(tpr, all_tpr), compared(fpr, all_fpr)
    return {
        "equal_opportunity_difference": true[0],
        "equal_opportunity_ratio": true[1],
        "equalized_odds_difference": max(true[0], false[0]),
        "equalized_odds_ratio": min((one for one in (true[1], false[1]) if one is not None), default=None),
        "average_odds_difference": (true[0] + false[0]) / 2,
    }[name]


def rates_of(tpr, fpr, base, sizes, reference):
    """Rates from bounds of true and false positive rates."""
    base, sizes = np.array(base), np.array(sizes)
    selection = [
        Enclosure(p * t.lo + (1 - p) * f.lo, p * t.hi + (1 - p) * f.hi) for t, f, p in zip(tpr, fpr, base, strict=True)
    ]
    weights = {
        "selection_rate": sizes.tolist(), "tpr": (sizes * base).tolist(), "fpr": (sizes * (1 - base)).tolist(),
    }  # fmt: skip
    return Rates(selection, tpr, fpr, precision_of(tpr, fpr, base.tolist()), weights, reference)


@st.composite
def bounded(draw):
    n = draw(st.integers(2, 4))
    share = st.integers(0, 20).map(lambda i: i / 20)
    ends = st.tuples(share, share).map(sorted)
    return (
        draw(st.lists(ends, min_size=n, max_size=n)),
        draw(st.lists(ends, min_size=n, max_size=n)),
        draw(st.lists(st.integers(1, 9).map(lambda i: i / 10), min_size=n, max_size=n)),
        draw(st.lists(st.integers(1, 50), min_size=n, max_size=n)),
        draw(st.integers(0, n - 1)),
    )


@settings(deadline=None)
@given(bounded(), st.sampled_from(sorted(MEASURES)), st.sampled_from(COMPARISONS))
def test_bounds_hold_every_value_and_exact_rates_give_it(case, name, comparison):
    tpr, fpr, base, sizes, reference = case
    enclosures = [[Enclosure(*ends) for ends in held] for held in (tpr, fpr)]
    found = measure(name, rates_of(*enclosures, base, sizes, reference), comparison)
    n = len(tpr)
    corners = list(product((0, 1), repeat=2 * n))
    rng = np.random.default_rng(n)
    for corner in [corners[i] for i in rng.choice(len(corners), size=min(len(corners), 24), replace=False)]:
        true = [ends[corner[i]] for i, ends in enumerate(tpr)]
        false = [ends[corner[n + i]] for i, ends in enumerate(fpr)]
        value = by_hand(name, true, false, base, sizes, comparison, reference)
        exact = measure(
            name, rates_of([Enclosure(r, r) for r in true], [Enclosure(r, r) for r in false], base, sizes, reference),
            comparison,
        )  # fmt: skip
        if value is None:
            continue
        assert float(exact.value.lo) == pytest.approx(value, abs=SLACK)
        assert float(exact.value.hi) == pytest.approx(value, abs=SLACK)
        assert found.value is not None
        assert found.value.lo - SLACK <= value <= found.value.hi + SLACK


@settings(deadline=None)
@given(bounded(), st.sampled_from(["disparate_impact", "statistical_parity_difference"]))
def test_the_farthest_from_all_people_is_reached_by_some_rates_inside(case, name):
    """A group's distance from all people is bounded as tightly as its own share in them allows."""
    ends, _, _, sizes, _ = case
    rates = [Enclosure(*one) for one in ends]
    found = measure(name, Rates(rates, weights={"selection_rate": sizes}), "to_overall").value
    values = []
    for corner in product((0, 1), repeat=len(ends)):
        exact = np.array([one[end] for one, end in zip(ends, corner, strict=True)])
        overall = np.array(sizes) @ exact / sum(sizes)
        if name == "disparate_impact":
            values += [min(one, overall) / max(one, overall) for one in exact if max(one, overall) > 0]
        else:
            values += list(np.abs(exact - overall))
    if found is not None and values:
        worst = min(values) if name == "disparate_impact" else max(values)
        assert (found.lo if name == "disparate_impact" else found.hi) == pytest.approx(worst, abs=SLACK)


@settings(deadline=None)
@given(bounded())
def test_precision_is_reached_at_the_corners(case):
    tpr, fpr, base, _, _ = case
    found = precision_of([Enclosure(*one) for one in tpr], [Enclosure(*one) for one in fpr], base)
    for true, false, share, held in zip(tpr, fpr, base, found, strict=True):
        values = [
            share * a / (share * a + (1 - share) * b)
            for a, b in product(np.linspace(*true, 5), np.linspace(*false, 5))
            if a or b
        ]
        if not values:
            assert held is None
            continue
        assert held.lo - SLACK <= min(values)
        assert max(values) <= held.hi + SLACK
        if type(held) is Enclosure:
            assert (held.lo, held.hi) == pytest.approx((min(values), max(values)), abs=SLACK)
