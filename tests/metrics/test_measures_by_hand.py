"""Measures whose values anyone can check on paper."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import justicia.metrics.aif360 as signed
from justicia import metrics
from justicia.enclosure import Enclosure
from justicia.metrics import OutcomeCounts, Rates, measure, sample_measures


def people(*cells):
    """Sensitive values, decisions and true outcomes of (group, true outcome, decision, number) cells."""
    groups, truth, chosen = [], [], []
    for group, true, decision, number in cells:
        groups += [group] * number
        truth += [true] * number
        chosen += [decision] * number
    return np.array(groups), np.array(truth), np.array(chosen)


def selections(*counts):
    """Groups with so many selected of so many."""
    return OutcomeCounts(np.array([n for _, n in counts]), np.array([k for k, _ in counts]))


def odds(rates):
    """Tables of 1,000 people a cell with given true and false positive rates."""
    cells = []
    for i, (tpr, fpr) in enumerate(rates):
        cells += [(i, 1, 1, round(1000 * tpr)), (i, 1, 0, 1000 - round(1000 * tpr))]
        cells += [(i, 0, 1, round(1000 * fpr)), (i, 0, 0, 1000 - round(1000 * fpr))]
    return people(*cells)


@pytest.mark.parametrize(
    ("counts", "ratio", "lo", "hi"),
    [
        (((48, 80), (12, 40)), 0.5, 0.301, 0.829),
        (((48, 255), (52, 395)), 0.699, 0.488, 1.002),
        (((6, 10), (2, 10)), 0.333, 0.087, 1.27),
        (((5000, 10000), (4850, 10000)), 0.97, 0.943, 0.998),
    ],
)
def test_impact_ratios_of_two_groups_and_their_intervals(counts, ratio, lo, hi):
    found = sample_measures(selections(*counts)).of("disparate_impact")
    assert float(found.measure.value) == pytest.approx(ratio, abs=5e-4)
    (k, n), (other_k, other_n) = counts[1], counts[0]
    low, high = metrics.log_ratio(*map(np.array, ([k], [n], [other_k], [other_n])))
    assert (low[0], high[0]) == pytest.approx((lo, hi), rel=5e-3)
    assert found.method == "logarithm of the ratio"
    # A ratio of the smaller to the larger is at most 1, and whoever is smaller may be the larger among the people.
    assert float(found.interval.lo) == pytest.approx(min(low[0], 1 / high[0]))
    assert float(found.interval.hi) == pytest.approx(min(1, high[0]))


@pytest.mark.parametrize(
    ("counts", "lo"),
    [
        # Of 5 selected of 5 a rate from .0125^(1/5) up would be no surprise at 1 - .05 / 2: Clopper and Pearson.
        (((5, 5), (5, 5)), 0.0125 ** (1 / 5)),
        (((2, 2), (2, 2)), 0.0125 ** (1 / 2)),
    ],
)
def test_a_ratio_of_groups_of_whom_everybody_is_selected_has_an_error(counts, lo):
    found = sample_measures(selections(*counts)).of("disparate_impact")
    assert found.measure.value == Enclosure(1, 1)
    assert (float(found.interval.lo), float(found.interval.hi)) == pytest.approx((lo, 1))
    assert found.method.startswith("clopper-pearson")


def test_newcombe_holds_published_values():
    # Newcombe 1998, table II, method 10, contrasts a, c and e.
    for k, n, other_k, other_n, lo, hi in (
        (56, 70, 48, 80, 0.0524, 0.3339),
        (9, 10, 3, 10, 0.1705, 0.8090),
        (10, 10, 0, 20, 0.6791, 1.0),
    ):
        low, high = metrics.newcombe(*map(np.array, ([k], [n], [other_k], [other_n])))
        assert (low[0], high[0]) == pytest.approx((lo, hi), abs=5e-5)


def test_an_intersection_hides_harm():
    rows = [("male", "H", 30, 60), ("male", "W", 40, 100), ("female", "H", 10, 40), ("female", "W", 45, 90)]
    sex, race, chosen = [], [], []
    for one, other, k, n in rows:
        sex += [one] * n
        race += [other] * n
        chosen += [1] * k + [0] * (n - k)
    both = {"sex": sex, "race": race}
    assert metrics.disparate_impact(None, chosen, sensitive_features=sex) == pytest.approx(0.967, abs=5e-4)
    assert metrics.disparate_impact(None, chosen, sensitive_features=race) == pytest.approx(0.894, abs=5e-4)
    assert metrics.disparate_impact(None, chosen, sensitive_features=both) == 0.5


def test_equalized_odds_of_three_groups():
    groups, truth, chosen = odds([(0.9, 0.1), (0.8, 0.3), (0.5, 0.12)])
    given = {"sensitive_features": groups}
    assert metrics.equalized_odds_difference(truth, chosen, **given) == 0.4
    assert metrics.equalized_odds_difference(truth, chosen, agg="mean", **given) == pytest.approx(0.30, abs=1e-15)
    assert metrics.average_odds_difference(truth, chosen, **given) == pytest.approx(0.30, abs=1e-15)
    assert metrics.equalized_odds_ratio(truth, chosen, **given) == pytest.approx(1 / 3, abs=1e-15)
    assert metrics.equalized_odds_ratio(truth, chosen, agg="mean", **given) == pytest.approx((5 / 9 + 1 / 3) / 2)
    assert metrics.equal_opportunity_difference(truth, chosen, **given) == 0.4


def test_signed_odds_cancel_and_the_worst_case_does_not():
    groups, truth, chosen = odds([(1.0, 0.0), (0.0, 1.0)])
    given = {"sensitive_features": groups, "priv_group": 0}
    assert signed.average_odds_difference(truth, chosen, **given) == 0
    assert signed.average_abs_odds_difference(truth, chosen, **given) == 1
    assert signed.equalized_odds_difference(truth, chosen, **given) == 1
    assert metrics.equalized_odds_difference(truth, chosen, sensitive_features=groups) == 1


def test_exactly_four_fifths_is_four_fifths():
    # 0.6 / 0.75 is 0.7999999999999999 in floats.
    groups, _, chosen = people(("a", 0, 1, 3), ("a", 0, 0, 1), ("b", 0, 1, 3), ("b", 0, 0, 2))
    assert metrics.demographic_parity_ratio(None, chosen, sensitive_features=groups) == 0.8
    assert metrics.demographic_parity_ratio(None, chosen, sensitive_features=groups) >= 0.8
    held = sample_measures(selections((3, 4), (3, 5))).of("disparate_impact")
    assert held.measure.value.lo == Fraction(4, 5)


def test_a_model_that_is_always_right_is_not_unfair_to_a_group_without_positives(caplog):
    groups, truth, chosen = people(("a", 1, 1, 5), ("a", 0, 0, 5), ("b", 1, 1, 3), ("b", 0, 0, 3), ("c", 0, 0, 4))
    given = {"sensitive_features": groups}
    assert metrics.equalized_odds_difference(truth, chosen, **given) == 0
    assert "1 group without positives" in caplog.text
    assert metrics.equal_opportunity_difference(truth, chosen, **given) == 0
    # Of two groups one has no positives: there is no second true positive rate.
    two = groups != "b"
    assert math.isnan(metrics.equal_opportunity_difference(truth[two], chosen[two], sensitive_features=groups[two]))


def test_nobody_selected_and_one_group_of_nobody():
    groups = ["a", "a", "b", "b"]
    assert math.isnan(metrics.demographic_parity_ratio(None, [0, 0, 0, 0], sensitive_features=groups))
    assert metrics.demographic_parity_difference(None, [0, 0, 0, 0], sensitive_features=groups) == 0
    assert metrics.demographic_parity_ratio(None, [0, 0, 0, 1], sensitive_features=groups) == 0


def test_complete_cases_of_people_without_a_group():
    groups = ["a"] * 100 + ["b"] * 100 + [None] * 20
    chosen = [1] * 50 + [0] * 50 + [1] * 45 + [0] * 55 + [1] * 10 + [0] * 10
    found = metrics.GroupMetrics(None, chosen, sensitive_features=groups, missing="drop")
    assert found.ratio()["selection_rate"] == 0.9
    grouped = metrics.GroupMetrics(None, chosen, sensitive_features=groups, missing="group")
    assert grouped.by_group.loc["(missing)", "selection_rate"] == 0.5


def test_to_overall_and_to_a_reference_group():
    # 30 of 60, 40 of 100, 10 of 40: 80 of 200 together.
    counts = selections((30, 60), (40, 100), (10, 40))
    rates = counts.rates(reference=1)
    overall = measure("statistical_parity_difference", rates, "to_overall").value
    assert overall == Enclosure(Fraction(3, 20), Fraction(3, 20))
    assert measure("disparate_impact", rates, "to_overall").value.lo == Fraction(5, 8)
    assert measure("statistical_parity_difference", rates, "to_reference").value.lo == Fraction(3, 20)
    # 1/4 over 2/5, and 2/5 over 1/2 for the group above the reference.
    assert measure("disparate_impact", rates, "to_reference").value.lo == Fraction(5, 8)
    beside = metrics.contrasts(rates, "selection_rate", "to_reference")
    assert [one and one.ratio.lo for one in beside] == [Fraction(5, 4), None, Fraction(5, 8)]
    assert [one and one.difference.lo for one in beside] == [Fraction(1, 10), None, Fraction(-3, 20)]


def test_precision_from_rates_by_true_outcome():
    third, half = Fraction(1, 3), Fraction(1, 2)
    one, zero = Enclosure(1, 1), Enclosure(0, 0)
    assert metrics.precision_of([one], [Enclosure(half, half)], [third]) == (Enclosure(half, half),)
    # Nobody is selected, nobody has a known outcome, and there are no positives or negatives.
    assert metrics.precision_of([zero], [zero], [third]) == (None,)
    assert metrics.precision_of([one], [one], [None]) == (None,)
    assert metrics.precision_of([None], [one], [Fraction(0)]) == (Enclosure(0, 0),)
    assert metrics.precision_of([one], [None], [Fraction(1)]) == (Enclosure(1, 1),)
    assert metrics.precision_of([None], [one], [third]) == (None,)


def test_predictive_parity_of_two_groups():
    groups, truth, chosen = people(
        ("a", 1, 1, 6), ("a", 0, 1, 2), ("a", 0, 0, 2), ("b", 1, 1, 1), ("b", 0, 1, 1), ("b", 1, 0, 8)
    )
    assert metrics.predictive_parity_difference(truth, chosen, sensitive_features=groups) == 0.25
    assert metrics.precision(truth, chosen) == 0.7
    assert signed.average_predictive_value_difference(
        truth, chosen, sensitive_features=groups, priv_group="a"
    ) == pytest.approx((-0.25 + 1.0) / 2)


def test_a_measure_of_bounds_that_perhaps_have_no_precision():
    # One group's true and false positive rates may both be 0: whether it has a precision is open.
    found = metrics.precision_of(
        [Enclosure(0.5, 0.5), Enclosure(0.0, 0.1), Enclosure(0.5, 0.5)],
        [Enclosure(0.5, 0.5), Enclosure(0.0, 0.1), Enclosure(0.25, 0.25)],
        [0.5, 0.5, 0.5],
    )
    held = measure("predictive_parity_difference", Rates(precision=found))
    assert held.undefined == "1 group perhaps without selected people"
    assert held.value.lo == pytest.approx(2 / 3 - 0.5)
    assert held.value.hi == 1.0


def test_a_further_person_at_the_boundary_is_told_from_it():
    just_below = sample_measures(selections((3 * 10**15, 4 * 10**15), (3 * 10**15 - 1, 5 * 10**15)))
    assert metrics.parse_requirement("sample.disparate_impact>=0.8").judge(
        just_below.of("disparate_impact").measure
    ).status == "breached"  # fmt: skip


def test_weights_count_people_several_times():
    groups, truth, chosen = odds([(0.9, 0.1), (0.8, 0.3)])
    rng = np.random.default_rng(0)
    times = rng.integers(0, 4, len(groups))
    often = [np.repeat(held, times) for held in (groups, truth, chosen)]
    for metric in (
        metrics.demographic_parity_ratio,
        metrics.equalized_odds_difference,
        metrics.predictive_parity_ratio,
    ):
        for method in ("between_groups", "to_overall"):
            weighed = metric(truth, chosen, sensitive_features=groups, sample_weight=times, method=method)
            repeated = metric(often[1], often[2], sensitive_features=often[0], method=method)
            assert weighed == pytest.approx(repeated, abs=1e-12)


def test_intervals_of_equal_weights_are_those_of_the_people():
    groups, truth, chosen = odds([(0.9, 0.1), (0.8, 0.3), (0.5, 0.12)])
    plain = metrics.GroupMetrics(truth, chosen, sensitive_features=groups).measures
    heavy = metrics.GroupMetrics(truth, chosen, sensitive_features=groups, sample_weight=np.full(len(groups), 7.0))
    assert np.allclose(plain[["lo", "hi", "exact_lo"]], heavy.measures[["lo", "hi", "exact_lo"]], atol=1e-12)
