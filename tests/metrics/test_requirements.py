"""The grammar of requirements, and what they are judged by."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from justicia.enclosure import Enclosure
from justicia.errors import GroupingError, RequirementError
from justicia.metrics import (
    Rates,
    check_filters,
    filter_pairs,
    measured,
    parse_reference,
    parse_requirement,
    precision_of,
    reference_positions,
)


def exact(*rates):
    return [Enclosure(Fraction(rate), Fraction(rate)) for rate in rates]


GROUPS = [{"race": "Black", "sex": "f"}, {"race": "Black", "sex": "m"}, {"race": "White", "sex": "f"}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("disparate_impact>=0.8", ("verified", "disparate_impact", "between_groups", ())),
        ("sample.disparate_impact >= 4/5", ("sample", "disparate_impact", "between_groups", ())),
        ("verified.Demographic-Parity-Ratio≥80%", ("verified", "disparate_impact", "between_groups", ())),
        ("selection_rate[race=Black]>=0.1", ("verified", "selection_rate", "between_groups", (("race", "Black"),))),
        (
            "tpr[race=Black, sex=f] >= .5",
            ("verified", "true_positive_rate", "between_groups", (("race", "Black"), ("sex", "f"))),
        ),
        ("FPR<=0.1", ("verified", "false_positive_rate", "between_groups", ())),
        ("equalized_odds_difference_to_overall<=0.1", ("verified", "equalized_odds_difference", "to_overall", ())),
        (
            "sample.disparate_impact_to_reference[sex=Female]>=.8",
            ("sample", "disparate_impact", "to_reference", (("sex", "Female"),)),
        ),
        (
            "precision[\"marital status\"=\"Never, ever\", 'a]b'='it\\'s = <=50K']>=0.5",
            ("verified", "precision", "between_groups", (("marital status", "Never, ever"), ("a]b", "it's = <=50K"))),
        ),
        (
            "selection_rate[native country=Viet Nam]>=0.1",
            ("verified", "selection_rate", "between_groups", (("native country", "Viet Nam"),)),
        ),
        ("conditional_disparate_impact>=0.8", ("verified", "conditional_parity_ratio", "between_groups", ())),
    ],
)
def test_what_a_requirement_says(text, expected):
    held = parse_requirement(text)
    assert (held.source, held.measure, held.against, held.where) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("smaple.disparate_impact>=0.8", "verified or sample, not 'smaple'"),
        ("selection_rat[race=Black]>=0.1", "did you mean selection_rate"),
        ("selection_rate[race]>=0.1", "column=value"),
        ("selection_rate[]>=0.1", "column=value"),
        ("selection_rate[race=Black,]>=0.1", "column=value"),
        ("selection_rate[race=a,race=b]>=0.1", "named twice"),
        ("selection_rate[race=it's]>=0.1", "form"),
        ("selection_rate[race=Black>=0.1", "form"),
        ("selection_rate_to_overall>=0.1", "a rate is compared with nothing"),
        ("selection_rate[race=Black]==0.1", "never asked to equal"),
        ("selection_rate[race=Black]>=1.1", "between 0 and 1"),
        ("[race=Black]>=0.1", "form"),
        (".disparate_impact>=0.1", "form"),
        ("", "form"),
    ],
)
def test_requirements_that_cannot_be_read(text, says):
    with pytest.raises(RequirementError, match=says):
        parse_requirement(text)


@settings(deadline=None)
@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=12))
def test_quoted_names_hold_any_character(column, value):
    quote = lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'  # noqa: E731
    if "\n" in column + value or "\r" in column + value:
        return
    held = parse_requirement(f"selection_rate[{quote(column)}={quote(value)}]>=0.1")
    assert held.where == ((column, value),)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    for whole in (text, f"selection_rate[{text}]>=0.1"):
        with contextlib.suppress(RequirementError):
            parse_requirement(whole)


def value_of(text, rates):
    requirement = parse_requirement(text)
    return requirement.judge(measured(requirement, GROUPS, rates)).status


def test_filters_choose_the_groups():
    rates = Rates(exact("1/2", "1/4", "1/10"), weights={"selection_rate": [10, 10, 10]}, reference=2)
    assert value_of("selection_rate[race=Black]>=0.25", rates) == "met"
    assert value_of("selection_rate[race=Black]>=0.26", rates) == "breached"
    assert value_of("selection_rate>=0.25", rates) == "breached"
    assert value_of("selection_rate[sex=f]<=0.5", rates) == "met"
    assert value_of("selection_rate[sex=f]<0.5", rates) == "breached"
    assert value_of("disparate_impact[race=Black]>=0.5", rates) == "met"
    assert value_of("disparate_impact>=0.5", rates) == "breached"
    assert value_of("disparate_impact_to_reference[sex=m]>=0.4", rates) == "met"
    assert value_of("disparate_impact_to_reference[race=Black]>=0.4", rates) == "breached"
    # 17/60 together: 1/4 is nearer than 1/2.
    assert value_of("statistical_parity_difference_to_overall[sex=m]<=1/30", rates) == "met"
    assert value_of("statistical_parity_difference_to_overall<=1/30", rates) == "breached"
    # One group of this filter is nothing to compare.
    assert value_of("disparate_impact[race=White]>=0.5", rates) == "undecided"


def test_rates_by_true_outcome():
    tpr, fpr = exact("1/2", "3/4", "1"), exact("0", "1/4", "1/2")
    rates = Rates(exact(0, 0, 0), tpr, fpr, precision_of(tpr, fpr, [Fraction(1, 2)] * 3))
    assert value_of("true_positive_rate>=0.5", rates) == "met"
    assert value_of("false_negative_rate<=0.5", rates) == "met"
    assert value_of("false_negative_rate<0.5", rates) == "breached"
    assert value_of("true_negative_rate>=0.5", rates) == "met"
    assert value_of("false_positive_rate[race=Black]<=0.25", rates) == "met"
    # 1, 3/4 and 2/3.
    assert value_of("precision>=2/3", rates) == "met"
    assert value_of("predictive_parity_difference<=1/3", rates) == "met"
    assert value_of("predictive_parity_difference<1/3", rates) == "breached"


def test_groups_without_a_rate_leave_a_requirement_open_on_one_side():
    rates = Rates(exact(0, 0, 0), [*exact("1/2", "3/4"), None], exact(0, 0, 0))
    assert value_of("true_positive_rate>=0.5", rates) == "undecided"
    assert value_of("true_positive_rate>=0.6", rates) == "breached"
    assert value_of("true_positive_rate[race=Black]>=0.5", rates) == "met"
    assert value_of("equal_opportunity_difference<=0.2", rates) == "breached"
    assert value_of("equal_opportunity_difference<=0.3", rates) == "undecided"


def test_filters_on_nobody():
    names = [GROUPS]
    check_filters([parse_requirement("selection_rate[race=Black,sex=m]>=0")], names)
    for text, says in (
        ("selection_rate[rac=Black]>=0", "'rac' is not among the sensitive columns; did you mean race"),
        ("selection_rate[race=black]>=0", "nobody has 'black' in 'race'; did you mean Black"),
        ("selection_rate[race=White,sex=m]>=0", "no group has all of these values"),
    ):
        with pytest.raises(RequirementError, match=says):
            check_filters([parse_requirement(text)], names)


def test_reference_groups():
    assert parse_reference("race=White, sex='m'") == {"race": "White", "sex": "m"}
    assert parse_reference({"age": 1.0}) == {"age": "1"}
    assert parse_reference(None) is None
    groupings = [(("race", "sex"), [("Black", "f"), ("White", "f"), ("White", "m")]), (("sex",), [("f",), ("m",)])]
    assert reference_positions({"race": "White", "sex": "f"}, groupings) == [1, 0]
    assert reference_positions({"sex": "m"}, groupings) == [None, 1]
    assert reference_positions(None, groupings) == [None, None]
    for reference, says in (
        ({"race": "White"}, "has no value of sex"),
        ({"race": "white", "sex": "f"}, "nobody has 'white' in 'race'; did you mean White"),
        ({"race": "Black", "sex": "m"}, "nobody is Black, m"),
        ({"sex": "m", "age": "1"}, "'age' is not among the sensitive columns"),
    ):
        with pytest.raises(GroupingError, match=says):
            reference_positions(reference, groupings)
    for text in ("race", "race=", "=White", "", "race=a,race=b", 3):
        with pytest.raises(GroupingError):
            parse_reference(text)


def test_filter_pairs_of_names_without_quotes():
    assert filter_pairs(" a b = c d ,e=f") == (("a b", "c d"), ("e", "f"))
