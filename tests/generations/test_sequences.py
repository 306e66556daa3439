"""Least beta, verdicts and witnesses against the literal definitions."""

from __future__ import annotations

import gc
import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from justicia.errors import SpecError
from justicia.generations import sequence
from justicia.generations.gaps import widest_gaps
from justicia.generations.labels import Labels, product
from justicia.generations.sequences import finite_bound, judge, limit_bound
from tests.generations.literal import REAL_GENDER, holds, holds_for_ever

VALUES = "abcde"


def judged(text, values, beta=None, **asked):
    table = pd.DataFrame({"label": list(text)})
    return sequence(table, "label", domain=list(values), beta=beta, **asked).results[0]


@st.composite
def questions(draw):
    values = VALUES[: draw(st.integers(1, 5))]
    # A shuffled round robin makes least betas that are small as often as large ones.
    if draw(st.booleans()):
        items = draw(st.lists(st.sampled_from(values), max_size=40))
    else:
        items = list(itertools.chain.from_iterable(draw(st.lists(st.permutations(values), max_size=8))))
    return values, "".join(items), draw(st.integers(1, 16))


def closed_form(values, items, beta):
    eye = np.eye(len(values), dtype=bool)
    labels = Labels(tuple(values), np.array([values.index(item) for item in items]), eye, eye)
    gaps = widest_gaps(labels, np.array([0, len(items)]))
    return judge(len(items), beta, int(gaps.lo.max()), int(gaps.hi.max()))


def check_question(question):
    values, text, beta = question
    if not text:
        return
    verdict = closed_form(values, text, beta)
    assert (verdict == "holds") == holds(text, values, beta)
    # It fails exactly when nothing that follows can mend it: some window lacks a value.
    windows = [text[i : i + beta] for i in range(len(text) - beta + 1)]
    assert (verdict == "fails") == any(set(window) != set(values) for window in windows)


@settings(max_examples=200, deadline=None)
@given(questions())
def test_closed_form_is_the_literal_definition(question):
    check_question(question)


@pytest.mark.slow
@settings(max_examples=10_000, deadline=None)
@given(questions())
def test_closed_form_is_the_literal_definition_at_length(question):
    check_question(question)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_every_sequence_of_two_values(n):
    for items in itertools.product("ab", repeat=n):
        for beta in range(1, n + 2):
            check_question(("ab", "".join(items), beta))


@pytest.fixture(scope="module")
def parser():
    with warnings.catch_warnings():
        # flloat leaves its grammar's file to the garbage collector, and its parser imports a renamed module.
        warnings.simplefilter("ignore")
        from flloat.parser.ltlf import LTLfParser

        made = LTLfParser()
        gc.collect()
    return made


def formula(values, beta):
    """Definition 7 as an LTLf formula: strong next where something has to follow, weak next where the end may come."""
    parts = ["X(" * beta + "true" + ")" * beta]
    for value in values:
        first, again = value, value
        for _ in range(beta - 1):
            first, again = f"({value} | X({first}))", f"({value} | WX({again}))"
        parts += [f"({first})", f"(G({value} -> WX({again})))"]
    return " & ".join(parts)


@pytest.mark.parametrize(("values", "most"), [("ab", 6), ("abc", 4)])
def test_closed_form_is_the_temporal_formula(parser, values, most):
    verdicts = []
    for beta in (1, 2, 3, 4):
        held = parser(formula(values, beta))
        for n in range(1, most + 1):
            for items in itertools.product(values, repeat=n):
                trace = [{value: value == item for value in values} for item in items]
                verdicts.append((held.truth(trace, 0), closed_form(values, items, beta) == "holds"))
    assert all(expected == found for expected, found in verdicts)
    assert len(verdicts) == 4 * sum(len(values) ** n for n in range(1, most + 1))
    assert any(expected for expected, _ in verdicts)


def test_real_sequences_have_the_least_betas_of_their_labels():
    rows = [{"run": run, "gender": item} for run, text in REAL_GENDER.items() for item in text]
    report = sequence(pd.DataFrame(rows), "gender", domain=["f", "m"], beta=20)
    assert [one.beta_star for one in report.results] == [14, 13, 27, 20, 4, 6, 4]
    assert [one.n for one in report.results] == [42, 44, 31, 27, 47, 44, 28]
    assert [one.verdict for one in report.results] == ["holds", "holds", "fails", "holds", "holds", "holds", "holds"]
    assert report.verdict == "fails"
    assert report.exit_code == 1
    witness = report.results[2].witness
    assert (witness.value, witness.gap, witness.after, witness.before) == ("f", 27, None, 27)


def test_runs_are_never_joined():
    # Joined, the second run's beginning would hide that the first ends without b.
    table = pd.DataFrame({"run": ["x"] * 6 + ["y"] * 6, "v": list("abaaaa" + "baaaab")})
    apart = sequence(table, "v", domain=["a", "b"], beta=5).results
    assert [one.beta_star for one in apart] == [5, 5]
    joined = sequence(table, "v", domain=["a", "b"], beta=5, by="none").results
    assert [one.beta_star for one in joined] == [5]
    assert joined[0].n == 12
    mixed = table.iloc[np.arange(12).reshape(2, 6).T.ravel()]
    assert [one.beta_star for one in sequence(mixed, "v", domain=["a", "b"]).results] == [5, 5]


def test_example_5_of_the_paper():
    # Eleven images, the last yellow one at 8, beta 6: 8 + 6 > 11, so the tail does not count against it.
    text = "WYWWWWWYWWW"
    assert judged(text, "WY").beta_star == 6
    assert judged(text, "WY", 6).verdict == "holds"
    assert judged(text, "WY", 5).verdict == "fails"
    assert judged(text, "WY", 11).verdict == "too short"


@pytest.mark.parametrize("n", [2, 3, 5])
def test_lemma_2_no_sequence_has_a_beta_below_the_number_of_values(n):
    text = VALUES[:n] * 4
    assert judged(text, VALUES[:n]).beta_star == n
    assert [judged(text, VALUES[:n], beta).verdict for beta in (n - 1, n, n + 1)] == ["fails", "holds", "holds"]


def test_lemma_1_is_tight_in_the_limit_and_exceeded_before_it():
    period = "bcaaaa"
    one = judged(period * 50, "abc", 6)
    assert one.frequency.hi == 0.5 == one.frequency.limit == limit_bound(3, 6)
    exceeded = []
    for n in range(7, 12):
        for items in itertools.product("ab", repeat=n):
            held = judged_fast(items)
            for beta in range(held, n):
                difference = abs(items.count("a") - items.count("b")) / n
                assert difference <= finite_bound(2, beta, n) + 1e-12
                exceeded.append(difference - limit_bound(2, beta))
    # The paper's bound is about limits: aaabaaa has a least beta of 4, and frequencies 5/7 apart instead of 1/2.
    assert max(exceeded) == pytest.approx(5 / 7 - 1 / 2)


def judged_fast(items):
    places = {value: [0, *(i + 1 for i, item in enumerate(items) if item == value), len(items) + 1] for value in "ab"}
    return max(b - a for marks in places.values() for a, b in itertools.pairwise(marks))


def completions(text, values):
    """Every sequence that a text with unknown labels may stand for; an unknown item may show none of the values."""
    return itertools.product(*[[*values, "-"] if item == "?" else [item] for item in text])


@settings(max_examples=150, deadline=None)
@given(st.text("ab?c", min_size=1, max_size=7), st.integers(1, 6))
def test_intervals_under_unknown_labels_hold_every_completion(text, beta):
    values = "ab" if "c" not in text else "abc"
    one = judged(text, values, beta, unknown=["?"])
    stars, verdicts = [], set()
    for items in completions(text, values):
        marks = [[0, *(i + 1 for i, item in enumerate(items) if item == v), len(items) + 1] for v in values]
        stars.append(max(b - a for m in marks for a, b in itertools.pairwise(m)))
        verdicts.add(holds(items, values, beta))
    lo, hi = one.interval
    assert lo <= min(stars)
    # Above, the interval is attained: where all unknown items show nothing that helps.
    assert max(stars) == (len(text) + 1 if hi is None else hi)
    if one.verdict == "holds":
        assert verdicts == {True}
    if one.verdict == "fails":
        assert verdicts == {False}
    assert one.unknown == text.count("?")
    counts = [[items.count(v) for v in values] for items in completions(text, values)]
    spreads = [(max(held) - min(held)) / len(text) for held in counts]
    assert one.frequency.lo <= min(spreads) + 1e-12
    assert max(spreads) <= one.frequency.hi + 1e-12


def test_unknown_labels_are_never_dropped():
    # Dropped, the least beta would be 2; the four unknown images in a row may all be male.
    one = judged("mf????mf", "fm", 4, unknown=["?"])
    assert one.interval == (2, 6)
    assert (one.verdict, one.beta_star, one.unknown) == ("undecided", None, 4)
    assert judged("mf????mf", "fm", 6, unknown=["?"]).verdict == "holds"
    certain = judged("mmmmmf??", "fm", 4, unknown=["?"])
    assert certain.verdict == "fails"
    assert certain.witness.certain
    assert (certain.witness.value, certain.witness.gap) == ("f", 6)


def test_a_value_that_never_occurs():
    one = judged("aaaa", "ab")
    assert (one.beta_star, one.interval, one.verdict, one.missing) == (None, (5, None), "fails", ("b",))
    assert one.witness.text == "b never occurs"
    # Five items might still follow with b among them; four in a row without b are already too many for 4.
    assert judged("aaaa", "ab", 5).verdict == "too short"
    assert judged("aaaa", "ab", 4).verdict == "fails"
    assert judged("aa", "abc").verdict == "too short"
    assert judged("aaa", "a", 2).beta_star == 1


@settings(max_examples=150, deadline=None)
@given(st.text("abc", max_size=5), st.text("abc", min_size=1, max_size=6), st.integers(1, 9))
def test_lassos_against_the_unrolled_sequence(prefix, loop, beta):
    table = pd.DataFrame({"step": range(1, len(prefix + loop) + 1), "v": list(prefix + loop)})
    one = sequence(table, "v", domain=["a", "b", "c"], beta=beta, loop_from=len(prefix) + 1).results[0]
    expected = holds_for_ever(list(prefix), list(loop), "abc", beta)
    assert (one.verdict == "holds") == expected
    assert one.infinite
    if set(loop) == set("abc"):
        assert one.beta_star is not None
        assert holds_for_ever(list(prefix), list(loop), "abc", one.beta_star)
        assert not holds_for_ever(list(prefix), list(loop), "abc", one.beta_star - 1)
    else:
        assert one.beta_star is None
        assert one.verdict == "fails"


def test_lasso_witnesses_and_errors():
    table = pd.DataFrame({"step": range(11, 17), "v": list("abaaab")})
    one = sequence(table, "v", domain=["a", "b"], beta=4, loop_from=13).results[0]
    # For ever a a a b: b is missing three times in a row, from step 12 to 16 the first time.
    assert (one.beta_star, one.verdict) == (4, "holds")
    assert (one.witness.after_step, one.witness.before_step) == (12, 16)
    assert sequence(table, "v", domain=["a", "b"], loop_from=13).results[0].verdict == "holds"
    with pytest.raises(SpecError, match="loop would be empty"):
        sequence(table, "v", domain=["a", "b"], loop_from=17)
    unknown = pd.DataFrame({"v": ["a", "b", "?"]})
    report = sequence(unknown, "v", domain=["a", "b"], unknown=["?"], beta=3, loop_from=1)
    assert report.results[0].interval == (2, 3)
    assert report.exit_code == 0


def test_combinations_of_attributes():
    table = pd.DataFrame({"g": list("fmfmfm"), "e": list("xxyyxy")})
    report = sequence(table, [("g", "e")], domain={"g": ["f", "m"], "e": ["x", "y"]}, beta={"g,e": 5})
    one = report.results[0]
    # f x at 1, 5; m x at 2; f y at 3; m y at 4, 6: m x is missing from 3 to the end, gap 5.
    assert (one.attribute, one.beta_star, one.verdict) == (("g", "e"), 5, "holds")
    assert one.witness.value == "m, x"
    fewer = sequence(table.iloc[:3], [("g", "e")], domain={"g": ["f", "m"], "e": ["x", "y"]})
    assert fewer.results[0].verdict == "too short"
    assert fewer.results[0].missing == ("m, y",)


def test_combinations_with_an_unknown_part_may_be_what_the_other_part_allows():
    table = pd.DataFrame({"g": ["f", None], "e": ["x", "x"]})
    one = sequence(table, [("g", "e")], domain={"g": ["f", "m"], "e": ["x"]}).results[0]
    assert (one.verdict, one.interval, one.unknown) == ("undecided", (2, None), 1)


def test_a_generation_may_show_several_values():
    table = pd.DataFrame({"v": ["a|b", "c", "a", "b|c", "a|b|c"]})
    one = sequence(table, "v", domain=["a", "b", "c"], separator="|", beta=3).results[0]
    # a at 1 3 5, b at 1 4 5, c at 2 4 5.
    assert (one.beta_star, one.verdict) == (3, "holds")
    items = [text.split("|") for text in table["v"]]
    assert holds(items, "abc", 3)
    assert not holds(items, "abc", 2)
    # Shares no longer add up to 1: with each value in every window of 3, the bound is 1 - floor(5 / 3) / 5.
    assert one.frequency.finite == pytest.approx(0.8)


def test_products_of_labels_by_hand():
    a = Labels(
        ("x", "y"),
        np.array([0, 1, 2]),
        np.array([[1, 0], [0, 1], [0, 0]], bool),
        np.array([[1, 0], [0, 1], [1, 1]], bool),
    )
    b = Labels(("u",), np.array([0, 0, 0]), np.array([[1]], bool), np.array([[1]], bool))
    both = product([a, b])
    assert both.values == ("x, u", "y, u")
    assert both.shown(0).tolist() == [True, False, False]
    assert both.shown(1, possible=True).tolist() == [False, True, True]
    assert both.unknown().tolist() == [False, False, True]
    many = Labels(tuple(map(str, range(101))), np.array([0]), np.eye(101, dtype=bool), np.eye(101, dtype=bool))
    with pytest.raises(SpecError, match="combinations"):
        product([many, many])


def test_evidence_over_neutral_prompts_is_worded_as_evidence():
    table = pd.DataFrame(
        {
            "run": ["r"] * 4 + ["s"] * 4 + ["t"] * 4,
            "context": ["neutral"] * 8 + ["kind"] * 4,
            "prompt": ["a person"] * 4 + ["someone"] * 4 + ["a kind person"] * 4,
            "v": list("abab" + "abba" + "aaaa"),
        }
    )
    asked = {"domain": ["a", "b"], "beta": 3, "prompt": "prompt"}
    report = sequence(table, "v", neutral={"context": "neutral"}, **asked)
    assert report.verdict == "fails"
    held = report.evidence[0]
    assert (held.rows, held.prompts, held.verdicts["holds"], held.verdicts["fails"]) == (8, 2, 2, 0)
    assert "evidence, not proof" in held.statement
    broken = sequence(table, "v", neutral={"context": ["neutral", "kind"]}, **asked).evidence[0]
    assert broken.verdicts["fails"] == 1
    assert "counterexamples" in broken.statement
    short = sequence(table, "v", neutral={"context": "neutral"}, domain=["a", "b"], beta=9).evidence[0]
    assert "no evidence either way" in short.statement
    assert sequence(table, "v", **asked).evidence == ()


def test_frames_and_constant_attributes():
    report = sequence(pd.DataFrame({"v": [1, 1, 1]}), "v", domain=[1], beta=1)
    frame = report.to_frame()
    assert frame.loc[0, "beta_star"] == 1
    assert frame.loc[0, "verdict"] == "holds"
    assert report.results[0].frequency.hi == 0


def test_many_values_are_sorted_and_answered_alike():
    rng = np.random.default_rng(2)
    values = [f"v{i}" for i in range(20)]
    table = pd.DataFrame({"run": np.repeat(["r", "s"], 150), "v": rng.choice([*values, "?", "v1|v2", "v3|?"], 300)})
    report = sequence(table, "v", domain=values, unknown=["?"], separator="|")
    for result, (_, rows) in zip(report.results, table.groupby("run"), strict=True):
        items = [set(text.split("|")) for text in rows["v"]]
        widest = []
        for possible in (True, False):
            marks = [
                [0, *(i for i, shown in enumerate(items, 1) if v in shown or (possible and "?" in shown)), 151]
                for v in values
            ]
            widest.append(max(b - a for held in marks for a, b in itertools.pairwise(held)))
        assert (result.interval[0], result.interval[1] or 151) == tuple(widest)
        assert result.unknown == sum("?" in shown for shown in items)


def test_attributes_come_with_their_domains():
    table = pd.DataFrame({"gender": list("fmfm"), "age": list("yyyo")})
    report = sequence(table, {"gender": ["f", "m"], "age": ["y", "o", "c"]}, beta=3)
    assert [(one.attribute, one.beta_star, one.verdict) for one in report.results] == [
        (one.attribute, one.beta_star, one.verdict)
        for attr, domain in (("gender", ["f", "m"]), ("age", ["y", "o", "c"]))
        for one in sequence(table, attr, domain=domain, beta=3).results
    ]
    assert "c" in str(report.to_text())
    with pytest.raises(SpecError, match="leave the other domain out"):
        sequence(table, {"gender": ["f", "m"]}, domain=["f"])
