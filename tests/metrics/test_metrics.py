from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from justicia.enclosure import Enclosure
from justicia.errors import RequirementError
from justicia.metrics import Measure, Rates, measure, parse_requirement, simultaneous_wilson, wilson
from tests.strategies import group_counts


def exact(*rates):
    return Rates([Enclosure(rate, rate) for rate in rates])


def odds(tpr, fpr):
    """Rates of groups given by their TPR and FPR; None is undefined."""
    return Rates(*([None if r is None else Enclosure(r, r) for r in rates] for rates in ([0.5] * len(tpr), tpr, fpr)))


def test_equalized_odds_of_three_groups():
    rates = odds([0.9, 0.8, 0.5], [0.1, 0.3, 0.12])
    assert float(measure("equal_opportunity_difference", rates).value) == pytest.approx(0.4)
    assert float(measure("equalized_odds_difference", rates).value) == pytest.approx(0.4)
    assert float(measure("average_odds_difference", rates).value) == pytest.approx(0.3)
    assert float(measure("equalized_odds_ratio", rates).value) == pytest.approx(1 / 3)


def test_groups_without_positives_make_a_measure_incomplete():
    # A classifier that is always right, and a group without positives: no difference of 1.
    always_right = odds([1.0, None, 1.0], [0.0, 0.0, 0.0])
    held = measure("equalized_odds_difference", always_right)
    assert float(held.value) == 0.0
    assert "1 group without positives" in held.undefined
    assert parse_requirement("equalized_odds_difference<=0.1").judge(held).status == "undecided"
    unfair = measure("equalized_odds_difference", odds([1.0, None, 0.2], [0.0, 0.0, 0.0]))
    assert parse_requirement("equalized_odds_difference<=0.1").judge(unfair).status == "breached"
    assert parse_requirement("equalized_odds_difference>=0.1").judge(unfair).status == "met"
    ratio = measure("equalized_odds_ratio", odds([1.0, None, 0.2], [0.5, 0.5, 0.5]))
    assert parse_requirement("equalized_odds_ratio>=0.5").judge(ratio).status == "breached"
    assert parse_requirement("equalized_odds_ratio>=0.1").judge(ratio).status == "undecided"
    nothing = measure("equal_opportunity_difference", odds([None, None], [0.1, 0.2]))
    assert nothing.value is None
    assert measure("average_odds_difference", odds([None, None], [0.1, 0.2])).value is None
    halves = measure("equalized_odds_ratio", odds([0.5, 0.5], [0.0, 0.0]))
    assert float(halves.value) == 1.0
    assert halves.undefined == "every false positive rate is 0"


def test_wilson_against_published_values():
    # Newcombe (1998), Statistics in Medicine 17, table I: score method.
    for k, n, lo, hi in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        low, high = wilson(np.array([k]), np.array([n]))
        assert low[0] == pytest.approx(lo, abs=5e-5)
        assert high[0] == pytest.approx(hi, abs=5e-5)


def test_wilson_at_the_ends_and_without_people():
    lo, hi = wilson(np.array([0, 5, 0]), np.array([5, 5, 0]))
    assert lo[0] == 0.0
    assert hi[1] == 1.0
    assert np.isnan(lo[2])
    assert np.isnan(hi[2])


@given(group_counts())
def test_simultaneous_intervals_are_wider_and_hold_the_rate(counts):
    k, n = counts
    lo, hi = wilson(k, n)
    low, high = simultaneous_wilson(k, n)
    assert ((low <= lo + 1e-15) & (lo <= k / n) & (k / n <= hi) & (hi <= high + 1e-15)).all()


def test_four_fifths_on_the_boundary_is_exact():
    value = measure("disparate_impact", exact(Fraction(3, 4), Fraction(3, 5)))
    assert value.value.lo == Fraction(4, 5)
    assert parse_requirement("disparate_impact>=0.8").judge(value).status == "met"
    assert parse_requirement("disparate_impact>0.8").judge(value).status == "breached"
    assert parse_requirement("disparate_impact>=80%").judge(value).status == "met"
    just_below = measure(
        "disparate_impact", exact(Fraction(3 * 10**15, 4 * 10**15 + 1), Fraction(3, 5) - Fraction(1, 10**14))
    )
    assert parse_requirement("disparate_impact>=0.8").judge(just_below).status == "breached"


def test_floats_on_the_boundary_count_as_on_it():
    value = measure("disparate_impact", exact(0.75, 0.6))
    assert float(value.value.lo) != 0.8 or 0.6 / 0.75 == 0.8
    assert parse_requirement("disparate_impact>=0.8").judge(value).status == "met"
    assert (
        parse_requirement("statistical_parity_difference<=0.15")
        .judge(measure("statistical_parity_difference", exact(0.75, 0.6)))
        .status
        == "met"
    )


def test_zero_rates():
    assert measure("disparate_impact", exact(0.0, 0.5)).value == Enclosure(0.0, 0.0)
    undefined = measure("disparate_impact", exact(0.0, 0.0))
    assert undefined.value is None
    assert undefined.undefined == "every selection rate is 0"
    assert parse_requirement("disparate_impact>=0.8").judge(undefined).status == "undecided"
    assert measure("statistical_parity_difference", exact(0.0, 0.0)).value == Enclosure(0, 0.0)
    assert measure("disparate_impact", Rates()).undefined == "no group has rows"


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6))
def test_measures_of_bounds_hold_the_measure_of_every_rate_inside(triples):
    inside = [sorted(triple)[1] for triple in triples]
    bounds = [Enclosure(min(triple), max(triple)) for triple in triples]
    for name in ("disparate_impact", "statistical_parity_difference"):
        truth, enclosure = measure(name, exact(*inside)), measure(name, Rates(bounds))
        if truth.value is not None:
            assert enclosure.value.lo <= truth.value.lo <= enclosure.value.hi


def test_bounds_decide_only_when_all_inside_agree():
    requirement = parse_requirement("disparate_impact>=0.5")
    assert requirement.judge(Measure(Enclosure(0.6, 0.7))).status == "met"
    assert requirement.judge(Measure(Enclosure(0.1, 0.2))).status == "breached"
    assert requirement.judge(Measure(Enclosure(0.4, 0.6))).status == "undecided"
    upper = parse_requirement("statistical_parity_difference <= 1/10")
    assert upper.judge(Measure(Enclosure(0.01, 0.1))).status == "met"
    assert upper.judge(Measure(Enclosure(0.05, 0.2))).status == "undecided"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("disparate_impact", "form"),
        ("disparate_impct>=0.8", "did you mean disparate_impact"),
        ("disparate_impact>=often", "not a number"),
        ("disparate_impact>=1.5", "between 0 and 1"),
        ("disparate_impact>=nan", "not a number"),
        ("disparate_impact==0.8", "never asked to equal"),
        ("0.8<=disparate_impact", "form"),
        ("disparate_impact>=1/0", "not a number"),
    ],
)
def test_requirements_that_cannot_be_read(text, says):
    with pytest.raises(RequirementError, match=says):
        parse_requirement(text)


def test_names_of_fairlearn_are_known():
    assert parse_requirement("demographic_parity_ratio>=0.8").measure == "disparate_impact"
    assert parse_requirement("demographic_parity_difference<=0.1").measure == "statistical_parity_difference"


def test_an_enclosure_is_a_number_only_when_exact():
    assert float(Enclosure(0.25, 0.25)) == 0.25
    with pytest.raises(ValueError, match="bound, not a number"):
        float(Enclosure(0.2, 0.3))
    assert str(Enclosure(0.2, 0.3)) == "[0.2, 0.3]"
