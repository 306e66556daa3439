"""What does not depend on names, on the order of rows, or on who asks."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from justicia import generations
from justicia.generations.contingency import cramers_v, independence_test, pooled_test
from justicia.generations.pairing import symmetry_test
from justicia.generations.strata import make_stratum

small = hnp.arrays(np.int64, st.tuples(st.integers(2, 3), st.integers(2, 3)), elements=st.integers(0, 4))
square = hnp.arrays(np.int64, st.integers(2, 4).map(lambda n: (n, n)), elements=st.integers(0, 4))


@settings(max_examples=60, deadline=None)
@given(small, st.randoms(use_true_random=False))
def test_a_test_does_not_depend_on_the_order_of_groups_and_responses(counts, random):
    rows, columns = list(range(len(counts))), list(range(counts.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    one, two, three = (independence_test(made) for made in (counts, counts[rows][:, columns], counts.T))
    if one.p is None:
        assert two.p is None
        return
    assert one.p == pytest.approx(two.p)
    assert one.p == pytest.approx(three.p)
    assert 0 < one.p <= 1
    plain, corrected = cramers_v(counts)
    assert 0 <= plain <= 1
    assert corrected is None or 0 <= corrected <= plain + 1e-12


@settings(max_examples=60, deadline=None)
@given(square)
def test_a_paired_test_does_not_depend_on_which_group_is_first(counts):
    one, two = symmetry_test(counts), symmetry_test(counts.T)
    assert one.method == two.method
    assert one.p == two.p or one.p == pytest.approx(two.p)


@settings(max_examples=60, deadline=None)
@given(small)
def test_effects_lie_in_their_intervals_and_are_those_of_the_rates(counts):
    groups, outcomes = tuple("abc"[: len(counts)]), tuple("xyz"[: counts.shape[1]])
    held = make_stratum(counts, groups, outcomes)
    sizes = counts.sum(axis=1)
    rates = [[counts[i, j] / sizes[i] if sizes[i] else None for j in range(len(outcomes))] for i in range(len(groups))]
    gaps = [
        abs(rates[i][j] - rates[k][j])
        for i in range(len(groups))
        for k in range(i)
        for j in range(len(outcomes))
        if sizes[i] and sizes[k]
    ]
    if not gaps:
        assert held.difference is None
        return
    assert held.difference.value == pytest.approx(max(gaps))
    assert held.difference.lo <= held.difference.value + 1e-12
    assert held.difference.value <= held.difference.hi + 1e-12
    assert held.largest[0] <= max(gaps) + 1e-12
    assert max(gaps) <= held.largest[1] + 1e-12
    if held.ratio is not None:
        assert 0 <= held.ratio.value <= 1


@settings(max_examples=40, deadline=None)
@given(st.lists(hnp.arrays(np.int64, (2, 2), elements=st.integers(0, 6)), min_size=1, max_size=4))
def test_the_pooled_test_of_two_by_two_tables_is_mantel_and_haenszels(tables):
    held = pooled_test(tables)
    apart = variance = 0.0
    for (a, b), (c, d) in (table.tolist() for table in tables):
        n = a + b + c + d
        if min(a + b, c + d, a + c, b + d) == 0:
            continue
        apart += a - (a + b) * (a + c) / n
        variance += (a + b) * (c + d) * (a + c) * (b + d) / (n * n * (n - 1))
    if not variance:
        assert held.test.undefined
    else:
        assert held.test.statistic == pytest.approx(apart**2 / variance)


def test_the_order_of_rows_and_the_names_of_groups_do_not_matter():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {name: rng.choice(list(values), 300) for name, values in (("g", "ab"), ("r", "xyz"), ("t", "xy"))}
    )
    one = generations.criteria(frame, "g", "r", "t")
    two = generations.criteria(frame.sample(frac=1, random_state=1), "g", "r", "t")
    assert one.to_frame().equals(two.to_frame())
    named = generations.criteria(frame.replace({"g": {"a": "z", "b": "q"}}), "g", "r", "t")
    assert [one.p for held in named.criteria for one in held.tests] == pytest.approx(
        [one.p for held in one.criteria for one in held.tests]
    )


def test_occupations_as_the_cue_and_gender_read_from_the_answer():
    # The first experiment of the paper: people of stereotyped occupations, and the pronouns of a short anecdote.
    plan = {
        "templates": {"anecdote": "Write thirty words about {job:a}."},
        "groups": {
            "female jobs": {"job": ["nurse", "nanny", "usher"]},
            "male jobs": {"job": ["engineer", "pilot", "judge"]},
        },
        "samples": 10,
    }
    prompts = generations.expand_prompts(plan).frame
    assert sorted(set(prompts["prompt"]))[0] == "Write thirty words about a judge."
    assert "Write thirty words about an usher." in set(prompts["prompt"])
    texts = {"female jobs": ["She sang.", "Mary took her hat."], "male jobs": ["He ate his lunch.", "Nobody came."]}
    answers = [texts[group][place % 2] for place, group in enumerate(prompts["group"])]
    labelled = generations.label_answers(
        prompts[["prompt_id"]].assign(answer=answers), "gender", prompts=prompts
    ).frame  # fmt: skip
    report = generations.criteria(labelled, "group", "label", cluster="job")
    stratum = report.criterion("independence").strata[0]
    assert stratum.outcomes == ("F", "M", "none")
    assert stratum.counts == ((30, 0, 0), (0, 15, 15))
    # Six occupations, three and three: of 20 ways to deal them out two are as far.
    assert stratum.test.p == pytest.approx(0.1, abs=0.015)
    assert generations.criteria(labelled, "group", "label").verdict == "fails"
