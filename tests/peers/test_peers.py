"""What other tools say is what their conventions give, on random people, and those by hand."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from justicia.peers import PEERS, People, run_peer
from justicia.peers.base import PeerNumber, same
from justicia.peers.running import measured

pytest.importorskip("fairlearn.metrics")
pytest.importorskip("aif360.sklearn.metrics")


def people_of(codes, selected, positive=None, known=None, weight=None, reference=0):
    groups = tuple((str(code),) for code in range(max(codes) + 1))
    as_array = [None if held is None else np.asarray(held) for held in (codes, selected, positive, known, weight)]
    codes, selected, positive, known, weight = as_array
    return People(
        ("g",), groups, codes, selected.astype(bool), None if positive is None else positive.astype(bool),
        np.ones(len(codes), bool) if known is None and positive is not None else known, weight, reference,
    )  # fmt: skip


@st.composite
def random_people(draw):
    n_groups = draw(st.integers(1, 4))
    n = draw(st.integers(n_groups, 24))
    codes = [
        *range(n_groups),
        *draw(st.lists(st.integers(0, n_groups - 1), min_size=n - n_groups, max_size=n - n_groups)),
    ]
    bits = st.lists(st.booleans(), min_size=n, max_size=n)
    positive = draw(st.none() | bits)
    known = None
    if positive is not None and draw(st.booleans()):
        known = np.array(draw(bits))
        known = known if known.any() else None
    weight = draw(st.none() | st.lists(st.integers(1, 7), min_size=n, max_size=n).map(lambda w: np.array(w) / 2))
    return people_of(codes, draw(bits), positive, known, weight, draw(st.integers(0, n_groups - 1)))


@settings(max_examples=8, deadline=None)
@given(people=random_people())
def test_every_number_is_equal_or_explained(people):
    for tool in PEERS:
        check_numbers(tool, people)


def check_numbers(tool, people):
    answer = run_peer(PEERS[tool], people)
    assert answer.numbers
    for number in answer.numbers:
        assert number.agreement != "unexplained", number
        if number.agreement == "error":
            # Nobody's outcome is known on one side: they raise.
            counts = people.counts
            assert number.measure != "selection_rate"
            assert (counts.positives + counts.negatives == 0).any(), number


@pytest.mark.slow
@pytest.mark.parametrize("tool", PEERS)
@settings(max_examples=150, deadline=None)
@given(people=random_people())
def test_every_number_is_equal_or_explained_on_many_people(tool, people):
    check_numbers(tool, people)


# Two of four selected in group 0, one of four in group 1, none of two in group 2.
CODES = [0] * 4 + [1] * 4 + [2] * 2
SELECTED = [1, 1, 0, 0, 1, 0, 0, 0, 0, 0]
POSITIVE = [1, 0, 0, 1, 1, 1, 0, 0, 0, 0]


def found(tool, people):
    return {(one.function, one.measure, one.group, one.compared): one for one in run_peer(PEERS[tool], people).numbers}


def test_aif360_by_hand():
    numbers = found("aif360", people_of(CODES, SELECTED, POSITIVE))
    rest = "all others together against 0"
    ratio = numbers["disparate_impact_ratio", "disparate_impact", None, rest]
    # 1 of 6 over 2 of 4; here 0 over 1/2.
    assert (ratio.value, ratio.ours, ratio.agreement) == (pytest.approx(1 / 3), 0.0, "explained")
    assert any("all others together" in reason for reason in ratio.reasons)
    pair = numbers["statistical_parity_difference", "statistical_parity_difference", None, "2 against 0"]
    assert (pair.value, pair.ours, pair.agreement) == (-0.5, 0.5, "explained")
    assert len(pair.reasons) == 1
    # Nobody of group 2 has a favorable true outcome: 0 there, undefined here.
    tpr = numbers["recall_score", "tpr", 2, ""]
    assert tpr.value == 0
    assert math.isnan(tpr.ours)
    assert tpr.agreement == "explained"


def test_fairlearn_by_hand():
    numbers = found("fairlearn", people_of(CODES, SELECTED, POSITIVE))
    equal = numbers["demographic_parity_difference", "statistical_parity_difference", None, ""]
    assert (equal.value, equal.agreement) == (0.5, "equal")
    # True positive rates 1/2, 1/2 and none: range 0 here, 1/2 there.
    odds = numbers["equal_opportunity_difference", "equal_opportunity_difference", None, ""]
    assert (odds.value, odds.ours, odds.agreement) == (0.5, 0.0, "explained")


def test_where_outcomes_are_known_in_one_group_alone():
    numbers = found("fairlearn", people_of([0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], np.array([0, 0, 1, 1], bool)))
    odds = numbers["equal_opportunity_difference", "equal_opportunity_difference", None, ""]
    assert (odds.value, odds.agreement) == (0.0, "explained")
    assert math.isnan(odds.ours)
    assert any("with itself" in reason for reason in odds.reasons)


def test_a_group_without_negatives_has_false_positive_rate_one_in_aif360():
    numbers = found("aif360", people_of([0, 0, 1, 1], [1, 0, 1, 0], [1, 1, 1, 0]))
    assert numbers["1 - specificity_score", "fpr", 0, ""].value == 1
    odds = numbers["average_odds_error", "average_odds_difference", None, "1 against 0"]
    # TPR 1/2 and 1; FPR 1 (nobody to count) and 0.
    assert odds.value == pytest.approx((0.5 + 1) / 2)
    assert math.isnan(odds.ours)
    assert odds.agreement == "explained"


def test_a_privileged_group_that_is_never_selected():
    numbers = found("aif360", people_of([0, 0, 1, 1], [0, 0, 1, 0]))
    ratio = numbers["disparate_impact_ratio", "disparate_impact", None, "1 against 0"]
    assert ratio.value == 0
    assert ratio.ours == 0
    nobody = found("aif360", people_of([0, 0, 1, 1], [0, 0, 0, 0]))
    ratio = nobody["disparate_impact_ratio", "disparate_impact", None, "1 against 0"]
    assert (ratio.value, ratio.agreement) == (0, "explained")
    assert math.isnan(ratio.ours)


def test_rounding_of_weights_decides_about_a_side_without_negatives():
    """Found by random people: 1.0 + 2.0 + ... less itself is not 0 in floating point."""
    weight = np.array([3, 6, 6, 7, 5, 4, 5, 5, 1, 2, 4, 6, 4]) / 3
    people = people_of([0, 1, 2, 3, 2, 2, 1, 3, 0, 1, 0, 3, 1], [0] * 13, [1] * 13, weight=weight)
    numbers = run_peer(PEERS["aif360"], people).numbers
    assert {one.agreement for one in numbers} <= {"equal", "explained"}
    odds = [one for one in numbers if one.measure == "average_odds_difference"]
    assert all(any("rounding" in reason for reason in one.reasons) for one in odds)
    whole = people_of([0, 1, 0, 1], [0] * 4, [1] * 4, weight=np.array([1.0, 2.0, 3.0, 4.0]))
    assert not any(one.open for one in run_peer(PEERS["aif360"], whole).numbers)


def test_a_number_of_no_convention_is_unexplained():
    number = PeerNumber("disparate_impact", "f", None, "", 0.7, 0.5, 0.6, ("why",))
    assert number.agreement == "unexplained"
    assert PeerNumber("disparate_impact", "f", None, "", 0.6, 0.5, 0.6).agreement == "unexplained"
    assert PeerNumber("disparate_impact", "f", None, "", 0.6, 0.5, 0.6, ("why",)).agreement == "explained"
    assert PeerNumber("disparate_impact", "f", None, "", 0.5, 0.5, 0.6).agreement == "equal"
    assert same(1e9, 1e9 + 1e-4)
    assert not same(0.5, 0.5 + 1e-11)
    assert same(math.nan, math.nan)
    assert not same(math.nan, 0)


def test_a_tool_that_is_not_installed_says_how_to_install_it(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "fairlearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fairlearn", None)
    answer = run_peer(PEERS["fairlearn"], people_of(CODES, SELECTED))
    assert answer.version is None
    assert answer.numbers == ()
    assert answer.notes == ("it is not installed: pip install 'justicia-verifier[compare]'",)


def test_importing_aif360_leaves_no_handler_of_the_root_logger():
    import subprocess

    code = (
        "import logging\nfrom justicia.peers import PEERS\nPEERS['aif360'].load()\n"
        "print(logging.getLogger().handlers, logging.root.manager.disable)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] 0"
    assert done.stderr == ""


def test_what_a_call_takes():
    held, seconds, memory = measured(lambda: float(np.ones(20_000_000).sum()))
    assert held == 2e7
    assert seconds > 0
    if sys.platform == "linux" and memory is not None:
        assert memory > 100 * 2**20


def test_many_combinations_are_given_to_fairlearn_as_one_column(monkeypatch):
    from justicia.peers import fairlearn

    codes, selected = np.array(CODES), np.array(SELECTED, bool)
    groups = (("a", "x"), ("a", "y"), ("b", "x"))
    people = People(("g", "h"), groups, codes, selected, None, None, None, 0)
    apart = run_peer(PEERS["fairlearn"], people)
    monkeypatch.setattr(fairlearn, "MOST_COMBINATIONS", 3)
    joined = run_peer(PEERS["fairlearn"], people)
    assert not apart.notes
    assert "4 combinations" in joined.notes[0]
    assert [one.value for one in apart.numbers] == [one.value for one in joined.numbers]
