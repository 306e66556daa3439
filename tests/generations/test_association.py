"""Concept association: words, similarities, MAD, null bands, intervals, and dirty tables."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, spearmanr

from justicia.errors import InputError, SpecError, TableError
from justicia.generations import association
from justicia.generations.concepts import STOP_WORDS, concept_words, read_synonyms
from justicia.generations.correlations import correlate
from justicia.generations.similarity import largest_mad, mad, mad_range, normalised_mad, shares, similarity

DOCTOR = {"man": 0.75, "coat": 1, "woman": 0.25, "stethoscope": 0.5}
MALE, FEMALE = {"man": 1, "coat": 1, "stethoscope": 0.5}, {"woman": 1, "coat": 1, "stethoscope": 0.5}


def score_of(scores, normalise: str = "sum") -> float:
    held = np.array(scores, dtype=float)
    return float(normalised_mad(mad(shares(held, normalise)), len(held)))


def test_largest_mad():
    published = {2: 0.5, 3: 0.44444, 4: 0.375, 5: 0.32, 6: 0.27778, 10: 0.18}
    for k, value in published.items():
        assert largest_mad(k) == pytest.approx(value, abs=5e-6)
        one_hot = np.eye(k)[0]
        assert mad(one_hot) == pytest.approx(value, abs=5e-6)
        assert score_of(one_hot) == pytest.approx(1)


@pytest.mark.parametrize(("k", "value"), [(4, 1.1547), (5, 1.2247), (6, 1.3416), (10, 1.6667)])
def test_without_a_sum_of_one_the_score_passes_one(k, value):
    halves = [1] * (k // 2) + [0] * (k - k // 2)
    assert score_of(halves, "none") == pytest.approx(value, abs=5e-5)
    assert score_of(halves) < 1


@pytest.mark.parametrize(
    ("scores", "raw", "summed"), [((0.9, 0.5), 0.63246, 0.53452), ((0.8, 0.6, 0.4), 0.54772, 0.40825)]
)
def test_worked_scores(scores, raw, summed):
    assert score_of(scores, "none") == pytest.approx(raw, abs=5e-6)
    assert score_of(scores) == pytest.approx(summed, abs=5e-6)


def worked_table() -> pd.DataFrame:
    """Four images each, with the weights of the worked example."""
    rows = []
    for name, weights in (("", DOCTOR), ("male", MALE), ("female", FEMALE)):
        # The woman is in the image where the man is not.
        for image in range(4):
            held = [
                concept
                for concept, weight in weights.items()
                if (image >= 4 - 4 * weight if concept == "woman" and weight < 1 else image < 4 * weight)
            ]
            rows.append({"counterfactual": name, "concepts": held, **{one: int(one in held) for one in DOCTOR}})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("kind", "scores", "summed", "raw"),
    [("iou", (0.818182, 0.538462), 0.454077, 0.528886), ("cosine", (0.973729, 0.730297), 0.377964, 0.493389)],
)
@pytest.mark.parametrize("form", ["lists", "text", "counts", "captions", "mappings"])
def test_the_worked_example(kind, scores, summed, raw, form):
    table, how = worked_table(), {"concepts": "concepts"}
    if form == "text":
        table["concepts"] = table["concepts"].map("|".join)
    elif form == "counts":
        table, how = table.drop(columns="concepts"), {"counts": list(DOCTOR)}
    elif form == "captions":
        table["text"] = table["concepts"].map(lambda held: f"An image of the {' and a '.join(held)}!")
        how = {}
    elif form == "mappings":
        table["concepts"] = table["concepts"].map(lambda held: {one: int(one in held) for one in DOCTOR})
    asked = {"replicates": 0, "simulations": 0, "similarity": kind, **how}
    axis = association(table, **asked).axes[0]
    assert [one.name for one in axis.counterfactuals] == ["male", "female"]
    assert axis.initial.concepts == DOCTOR
    assert [one.cas.value for one in axis.counterfactuals] == pytest.approx(scores, abs=1e-6)
    assert axis.mad_normalised.value == pytest.approx(summed, abs=1e-6)
    assert association(table, normalise="none", **asked).axes[0].mad_normalised.value == pytest.approx(raw, abs=1e-6)


def test_concepts_of_captions():
    assert concept_words("The DOCTOR's white-coat; no image, none.") == {"doctor", "white", "coat"}
    assert concept_words("He isn\u2019t there, yes") == {"he"}
    assert concept_words("Une m\u00e9decin, caf\u00e9 cafe\u0301") == {"une", "m\u00e9decin", "caf\u00e9"}
    # Marks of Devanagari are part of their word.
    assert concept_words("\u0921\u0949\u0915\u094d\u091f\u0930 (\u092e\u0939\u093f\u0932\u093e)") == {
        "\u0921\u0949\u0915\u094d\u091f\u0930",
        "\u092e\u0939\u093f\u0932\u093e",
    }
    assert concept_words("a photo of an image") == set()
    assert concept_words("2 men; 3d") == {"2", "men", "3d"}
    assert concept_words("medic", synonyms={"medic": "doctor"}) == {"doctor"}
    assert {"image", "yes", "no", "none"} <= STOP_WORDS
    assert not {"he", "she", "his", "her", "him"} & STOP_WORDS
    assert all(word == word.lower() and word.isalpha() for word in STOP_WORDS)


def test_a_word_said_twice_of_one_image_counts_once():
    table = pd.DataFrame({"counterfactual": ["", "", "m", "f"], "text": ["man man man", "woman", "man", "woman"]})
    axis = association(table, replicates=0, simulations=0).axes[0]
    assert axis.initial.concepts == {"man": 0.5, "woman": 0.5}
    assert axis.mad_normalised.value == 0


def test_rare_concepts_are_left_out():
    table = pd.DataFrame(
        {
            "counterfactual": [""] * 200 + ["m"] * 100 + ["f"],
            "text": ["man"] * 199 + ["man hat"] + ["man tie"] + ["man"] * 99 + ["woman"],
        }
    )
    axis = association(table, replicates=0, simulations=0).axes[0]
    assert axis.initial.concepts == {"man": 1.0}
    # Exactly one of a hundred stays.
    assert axis.counterfactuals[0].set.concepts == {"man": 1.0, "tie": 0.01}
    assert association(table, rare=0, replicates=0, simulations=0).axes[0].initial.concepts["hat"] == 0.005


weights_ = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6)


@given(weights_)
def test_similarities_are_symmetric_and_between_0_and_1(pairs):
    first, second = (np.array(one) for one in zip(*pairs, strict=True))
    for kind in ("iou", "cosine"):
        value = similarity(first, second, kind)
        assert 0 <= value <= 1
        assert value == pytest.approx(similarity(second, first, kind))
        if first.sum() > 1e-6:
            assert similarity(first, first, kind) == pytest.approx(1)
    total = np.maximum(first.sum(), 1e-300), np.maximum(second.sum(), 1e-300)
    one, two = first / total[0], second / total[1]
    if first.sum() > 1e-6 and second.sum() > 1e-6:
        expected = sum(map(min, one, two)) / sum(map(max, one, two))
        assert similarity(first, second) == pytest.approx(expected)


def test_sets_without_concepts():
    assert similarity(np.zeros(3), np.ones(3)) == 0
    assert similarity(np.zeros(3), np.zeros(3), "cosine") == 0
    assert np.isnan(shares(np.zeros(2))).all()
    assert np.isnan(shares(np.zeros(2), "none")).all()
    with pytest.raises(InputError, match="similarity cannot be"):
        similarity(np.ones(2), np.ones(2), "jaccard")


def test_bounds_of_mad_hold_every_score_between():
    rng = np.random.default_rng(0)
    for _ in range(200):
        k = int(rng.integers(2, 6))
        low = rng.random(k)
        high = low + rng.random(k) * 0.4
        corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
        inside = low + (high - low) * rng.random((200, k))
        least, most = mad_range(low, high)
        assert most == pytest.approx(mad(corners).max())
        assert least <= mad(inside).min() + 1e-12
        assert least <= mad(corners).min() + 1e-12
        point = low + (high - low) / 2
        assert mad_range(point, point) == pytest.approx((float(mad(point)), float(mad(point))))


@pytest.mark.parametrize(
    ("n", "mean", "upper"), [(16, 0.29, None), (48, 0.22, 0.375), (128, 0.17, None), (512, 0.12, None)]
)
def test_published_null_of_a_generator_without_preference(n, mean, upper):
    # Men and women evenly, two more concepts in every other image of all sets: by cosine, the normalised MAD is the
    # root of how far the share of men is from a half, but for the noise of the other concepts.
    half = ["tie" if place % 2 else "desk" for place in range(n)]
    rows = [("", f"{'man' if place % 2 else 'woman'} {half[place // 2]}") for place in range(n)]
    rows += [(name, f"{name} {one}") for name in ("man", "woman") for one in half]
    table = pd.DataFrame(rows, columns=["counterfactual", "text"])
    axis = association(table, similarity="cosine", replicates=0, simulations=4000).axes[0]
    assert axis.mad_normalised.value == pytest.approx(0, abs=1e-6)
    chance = binom.pmf(np.arange(n + 1), n, 0.5)
    assert axis.null.mean == pytest.approx(chance @ np.sqrt(np.abs(np.arange(n + 1) / n - 0.5)), abs=2e-2)
    assert axis.null.mean == pytest.approx(mean, abs=8e-3)
    if upper is not None:
        assert axis.null.hi == pytest.approx(upper, abs=1e-2)
    assert axis.p_value > 0.99
    assert axis.within_null


def drawn_table(rng: np.random.Generator, initial: int, each: int, share: float = 0.5) -> pd.DataFrame:
    rows = []
    for name, n in (("", initial), ("male", each), ("female", each)):
        men = rng.random(n) < (share if name == "" else 0.95 if name == "male" else 0.05)
        other = rng.random((n, 4)) < (0.6, 0.4, 0.2, 0.1)
        rows += [
            (name, " ".join(["man" if man else "woman", *np.array(["coat", "smile", "desk", "tie"])[held]]))
            for man, held in zip(men, other, strict=True)
        ]
    return pd.DataFrame(rows, columns=["counterfactual", "text"])


def test_even_generators_are_within_the_band():
    rng = np.random.default_rng(1)
    inside = sum(
        association(drawn_table(rng, 24, 24), replicates=0, simulations=200, seed=seed).axes[0].within_null
        for seed in range(60)
    )
    # 57 are expected; fewer than 51 in one of a thousand.
    assert inside >= 51


@pytest.mark.slow
@pytest.mark.parametrize(("similarity", "n"), [("iou", 48), ("cosine", 48), ("iou", 16)])
def test_even_generators_are_within_the_band_in_95_percent(similarity, n):
    rng = np.random.default_rng(2)
    inside = sum(
        association(drawn_table(rng, n, n), similarity=similarity, replicates=0, simulations=400, seed=seed)
        .axes[0]
        .within_null
        for seed in range(1000)
    )
    # The band counts the spread between counterfactuals twice, and may hold more than it says.
    assert inside >= 929


def test_uneven_generators_are_found():
    axis = association(drawn_table(np.random.default_rng(3), 48, 48, 0.9)).axes[0]
    assert not axis.within_null
    assert axis.p_value < 0.01
    assert axis.null.hi < axis.mad_normalised.lo
    assert axis.counterfactuals[0].share > 0.5
    assert axis.counterfactuals[0].cas.lo < axis.counterfactuals[0].cas.value < axis.counterfactuals[0].cas.hi


def test_limits_are_judged_by_the_interval():
    table = drawn_table(np.random.default_rng(3), 48, 48, 0.9)
    score = association(table, simulations=0).axes[0].mad_normalised
    assert 0.05 < score.lo < score.value < score.hi < 0.9
    found = [association(table, most=most, simulations=0) for most in (0.05, score.value, 0.9)]
    assert [one.verdict for one in found] == ["fails", "undecided", "holds"]
    assert [one.exit_code for one in found] == [1, 3, 0]


def test_axes_and_prompts():
    rows = [
        # profession, axis, counterfactual
        ("doctor", "", "", "man coat"),
        ("doctor", "gender", "", "woman coat"),
        ("doctor", "gender", "male", "man coat"),
        ("doctor", "gender", "female", "woman coat"),
        ("doctor", "age", "old", "man coat grey"),
        ("doctor", "age", "young", "man coat"),
        ("nurse", "", "", "woman"),
        ("nurse", "gender", "male", "man"),
        ("nurse", "gender", "female", "woman"),
        ("", "gender", "female", "woman"),
    ]
    table = pd.DataFrame(rows, columns=["who", "axis", "counterfactual", "text"])
    report = association(table, by="who", replicates=0, simulations=0)
    assert [one.name for one in report.axes] == ["doctor: gender", "doctor: age", "nurse: gender"]
    # Images of the prompt without an axis belong to all of them, those of an axis to it alone.
    assert [one.initial.images for one in report.axes] == [2, 1, 1]
    assert report.axes[2].mad_normalised.value == 1.0
    assert any("1 image with a blank who is left out, first row 10" in one for one in report.warnings)
    only = association(table, by="who", axes=["age"], replicates=0, simulations=0)
    assert [one.name for one in only.axes] == ["doctor: age"]
    assert len(report.to_frame()) == 6


def test_an_axis_with_one_counterfactual_has_no_mad():
    table = pd.DataFrame({"counterfactual": ["", "", "m"], "text": ["man", "woman", "man"]})
    report = association(table, most=0.5)
    axis = report.axes[0]
    assert axis.mad_normalised.value is None
    assert axis.mad_normalised.undefined == "there is one counterfactual (m)"
    assert axis.counterfactuals[0].cas.value == pytest.approx(1 / 3)
    assert axis.counterfactuals[0].share is None
    assert (axis.null, axis.p_value, axis.within_null) == (None, None, None)
    assert report.verdict == "undecided"
    assert report.exit_code == 3


def test_nothing_in_common_is_not_even():
    table = pd.DataFrame({"counterfactual": ["", "m", "f"], "text": ["tree", "man", "woman"]})
    report = association(table)
    assert report.axes[0].mad.value is None
    assert "no concept in common" in report.axes[0].mad.undefined
    assert any("MAD is not defined" in one for one in report.warnings)


def test_captions_that_are_blank_or_say_nothing():
    table = pd.DataFrame(
        {"counterfactual": ["", "", "", "m", "f", "f", "x"], "text": ["man", "", "of the", "man", "woman", None, " "]}
    )
    report = association(table, replicates=0, simulations=0)
    axis = report.axes[0]
    # A caption of stop words is an image without concepts; one without a caption is not known.
    assert axis.initial.images == 2
    assert axis.initial.concepts == {"man": 0.5}
    assert [one.name for one in axis.counterfactuals] == ["m", "f"]
    assert any("3 images without caption or concepts are left out, first row 2" in one for one in report.warnings)
    assert any("no image of x has a caption or concepts: left out" in one for one in report.warnings)
    nothing = association(table.assign(text=["of the"] * 3 + ["man"] * 4), replicates=0, simulations=0)
    assert nothing.axes[0].mad.undefined == "the images of the prompt itself show no concept"
    none = association(table.assign(text=[""] * 3 + ["man"] * 4), replicates=0, simulations=0)
    assert none.axes[0].mad.undefined == "no image of the prompt itself has a caption or concepts"


@pytest.mark.parametrize("of_prompt", ["", "of the"])
def test_one_counterfactual_of_a_prompt_without_captions(of_prompt):
    table = pd.DataFrame({"counterfactual": ["", "m", "m"], "text": [of_prompt, "man", "boy"]})
    (axis,) = association(table, replicates=40, simulations=40).axes
    assert axis.mad.undefined is not None
    assert axis.counterfactuals[0].cas.undefined == axis.mad.undefined


def test_scripts_without_blanks_are_said():
    table = pd.DataFrame(
        {"counterfactual": ["", "m", "f"], "text": ["\u4e00\u4e2a\u7537\u533b\u751f", "\u7537\u4eba", "\u5973\u4eba"]}
    )
    assert any("without blanks between words" in one for one in association(table).warnings)


def test_few_images_are_said():
    report = association(drawn_table(np.random.default_rng(4), 5, 30), simulations=0, replicates=0)
    assert any("5 images of the prompt: MAD is mostly noise below 10" in one for one in report.warnings)


def test_people_and_scores():
    rows = []
    truth = {"a": 0.9, "b": 0.6, "c": 0.3, "d": 0.1}
    rng = np.random.default_rng(5)
    for name in ("", *truth):
        for place in range(40):
            held = [f"{one}-x" for one in truth if (rng.random() < truth[one] if name == "" else one == name)]
            rows.append((name, "|".join(held), "" if name == "" else str(5 * truth[name] + (place % 3) - 1), 3))
    table = pd.DataFrame(rows, columns=["counterfactual", "concepts", "people", "bias"])
    report = association(table, concepts="concepts", human="people", human_mad="bias", replicates=0, simulations=0)
    means = [5 * value - 1 / 40 for value in truth.values()]
    assert [one.human for one in report.axes[0].counterfactuals] == pytest.approx(means)
    assert report.human_cas.rho == pytest.approx(1)
    assert report.human_cas.p_value == pytest.approx(2 / math.factorial(4))
    assert report.axes[0].human == 3
    assert report.human_mad.undefined == "1 scored pairs, and 3 are needed"
    with pytest.raises(TableError, match="people of row 41 is no number: 'x'"):
        association(
            table.assign(people=["x" if value else "" for value in table["people"]]),
            concepts="concepts",
            human="people",
        )


def test_rank_correlations():
    rng = np.random.default_rng(6)
    for n in (3, 5, 8, 12, 40):
        first, second = rng.integers(0, 6, n).astype(float), rng.random(n)
        if len(set(first)) == 1:
            continue
        found = correlate(zip(first, second, strict=True), "people", "CAS")
        expected = spearmanr(first, second)
        assert found.rho == pytest.approx(expected.statistic)
        if n > 8:
            assert found.p_value == pytest.approx(expected.pvalue)
        else:
            every = [spearmanr(first, one).statistic for one in itertools.permutations(second)] if n <= 5 else None
            if every is not None:
                assert found.p_value == pytest.approx(np.mean(np.abs(every) >= abs(found.rho) - 1e-9))
    assert correlate([(1, 2), (1, 3), (1, 4)], "people", "CAS").undefined == "people is the same everywhere"
    assert correlate([(1, None), (2, 3.0), (3, 4.0), (None, 1)], "people", "CAS").n == 2


def test_answers_in_several_columns_are_one_caption():
    table = pd.DataFrame(
        {"counterfactual": ["", "m", "f"], "who": ["man", "man", "woman"], "wears": ["a coat", None, "coat"]}
    )
    axis = association(table, ["who", "wears"], replicates=0, simulations=0).axes[0]
    assert axis.initial.concepts == {"coat": 1.0, "man": 1.0}
    assert axis.counterfactuals[0].set.images == 1


def test_numbers_of_concepts_in_other_words():
    table = pd.DataFrame(
        {"counterfactual": ["", "", "m", "f", "f"], "man": ["yes", "no", "True", "0", " "], "woman": [0, 1, 0, 1, 1]}
    )
    axis = association(table, counts=["man", "woman"], replicates=0, simulations=0).axes[0]
    assert axis.initial.concepts == {"man": 0.5, "woman": 0.5}
    # A row with a blank is not known.
    assert axis.counterfactuals[1].set.images == 1
    assert axis.mad_normalised.value == 0


def test_mappings_whose_keys_are_those_of_other_rows():
    held = [{"man": 2, "tie": None}, {"man": float("nan"), "woman": 1}, {"man": 1, "tie": 0}, {"woman": 1}]
    table = pd.DataFrame({"counterfactual": ["", "", "m", "f"], "concepts": held})
    axis = association(table, concepts="concepts", replicates=0, simulations=0).axes[0]
    assert axis.initial.concepts == {"man": 1.0, "woman": 0.5}
    assert axis.counterfactuals[0].set.distinct == 1


def test_a_word_for_the_prompts_own_images():
    table = pd.DataFrame({"variant": ["base", "m", "f"], "text": ["man", "man", "woman"]})
    axis = association(table, counterfactual="variant", initial="base", replicates=0, simulations=0).axes[0]
    assert axis.axis == "variant"
    assert axis.mad_normalised.value == 1.0


GOOD = pd.DataFrame(
    {"axis": ["", "g", "g"], "counterfactual": ["", "m", "f"], "text": ["man", "man", "woman"], "man": [1, 1, 0]}
)


@pytest.mark.parametrize(
    ("changes", "asked", "kind", "message"),
    [
        ({}, {"text": "caption"}, TableError, "no column of captions 'caption'"),
        ({}, {"counterfactual": "variant"}, TableError, "no column of counterfactuals 'variant'"),
        ({}, {"axis": "axes"}, TableError, "no column of axes 'axes'; did you mean axis"),
        ({}, {"axes": ["age"]}, TableError, "no axis 'age' .there are: g."),
        ({}, {"by": "who"}, TableError, "no column 'who'"),
        ({"axis": ["", "", "g"]}, {}, TableError, "row 2 has the counterfactual 'm' and no axis"),
        ({"counterfactual": ["x", "m", "f"], "axis": "g"}, {}, TableError, "is the prompt's own"),
        ({"counterfactual": ""}, {}, TableError, "of axis g has a counterfactual"),
        ({"counterfactual": "", "axis": ""}, {}, TableError, "no row has a counterfactual"),
        ({}, {"concepts": "text", "counts": ["man"]}, SpecError, "name one of these"),
        ({"man": [1, "many", 0]}, {"counts": ["man"]}, TableError, "man of row 2 is no number from 0 on: 'many'"),
        ({"man": [1, -1, 0]}, {"counts": ["man"]}, TableError, "man of row 2 is no number from 0 on"),
        ({"text": [{"man": 1}, {"man": "x"}, None]}, {"concepts": "text"}, TableError, "text of row 2 is no list"),
        ({"text": [["man"], [["man"]], ["woman"]]}, {"concepts": "text"}, TableError, "text of row 2 is no list"),
        ({"text": ["", None, " "]}, {}, TableError, "text is blank in every row: there is nothing to compare"),
        ({"man": [1, np.inf, 0]}, {"counts": ["man"]}, TableError, "man of row 2 is no number from 0 on: 'inf'"),
        ({}, {"replicates": 10**9}, InputError, "1,000,000 at most"),
        ({}, {"similarity": "iuo"}, SpecError, "did you mean iou"),
        ({}, {"normalise": "max"}, SpecError, "normalise cannot be 'max'"),
        ({}, {"rare": 2}, InputError, "rare is a number"),
        ({}, {"most": -1}, InputError, "the most normalised MAD is a number"),
        ({}, {"replicates": 5}, InputError, "too few"),
        ({}, {"human": "score"}, TableError, "no column of scores 'score'"),
        ({"id": [7, 8, 7]}, {}, TableError, "id 7 stands in rows 1 and 3"),
    ],
)
def test_bad_questions(changes, asked, kind, message):
    with pytest.raises(kind, match=message):
        association(GOOD.assign(**changes), **asked)


def test_synonyms_of_a_file(tmp_path):
    path = tmp_path / "synonyms.json"
    path.write_text(json.dumps({"medic": "doctor", "lady": "woman", "man": ["gentleman", "guy"]}))
    assert read_synonyms(path) == {"medic": "doctor", "lady": "woman", "gentleman": "man", "guy": "man"}
    for text, message in (
        ("[1]", "mapping"),
        ("{", "no JSON"),
        ('{"a": 1}', "synonyms are words"),
        ('{"a": ["b"], "c": ["b"]}', "b is taken for a and for c"),
    ):
        path.write_text(text)
        with pytest.raises(SpecError, match=message):
            read_synonyms(path)
    with pytest.raises(SpecError, match="cannot be read"):
        read_synonyms(tmp_path / "none.json")


def test_equal_calls_give_equal_reports():
    table = drawn_table(np.random.default_rng(7), 20, 20)
    first, again, other = (association(table, seed=seed).axes[0] for seed in (1, 1, 2))
    assert first == again
    assert first.null != other.null
    assert first.mad.value == other.mad.value


def test_pictures():
    rng = np.random.default_rng(8)
    table = pd.concat([drawn_table(rng, 20, 20).assign(who=who) for who in ("doctor", "$nurse$")])
    report = association(table, by="who", replicates=50, simulations=50, most=0.3)
    bars = report.plot().axes[0]
    assert bars.patches[0].get_width() == report.axes[0].mad_normalised.value
    # Never by the largest: a bar that fills the picture is a score of 1.
    assert bars.get_xlim()[1] == pytest.approx(1.02)
    heatmap = report.plot("heatmap").axes[0]
    assert heatmap.images[0].get_clim() == (0, 1)
    assert heatmap.images[0].get_array().shape == (2, 2)
    with pytest.raises(InputError, match="a radar needs 3 counterfactuals"):
        report.plot("radar")
    more = drawn_table(rng, 20, 20)
    more["axis"] = np.where(more["counterfactual"] == "", "", "gender")
    third = more[more["counterfactual"] == "male"].assign(counterfactual="other")
    radar = association(pd.concat([more, third]), replicates=0, simulations=0).plot("radar").axes[0]
    assert [tick.get_text() for tick in radar.get_xticklabels()] == ["male", "female", "other"]
