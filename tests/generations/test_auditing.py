"""One audit of a table: what its columns allow, and numbers that can be recomputed from what it shows."""

from __future__ import annotations

import math
from fractions import Fraction

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from justicia.errors import InputError, RequirementError, SpecError
from justicia.generations import audit
from justicia.generations.requiring import Measured, Quantity, judge_limits, limit_of_beta, parse_limit
from justicia.generations.sections import NAMES, sections
from justicia.report.generations_schema import audit_schema
from tests.generations.literal import REAL_DOMAINS, REAL_GENDER, holds, real_combinations

SCHEMA = jsonschema.Draft202012Validator(audit_schema())

LEAST_BETA = {"poor1": 14, "poor2": 13, "poor3": 27, "poor4": 20, "leader1": 4, "leader2": 6, "leader3": 4}
COVERED = {"seq1": 15, "seq3": 37, "seq4": 30, "seq5": 35, "seq6": 35, "seq7": 47}


def real_gender():
    rows = [
        {"run": run, "step": step, "gender": {"f": "female", "m": "male"}[item]}
        for run, text in REAL_GENDER.items()
        for step, item in enumerate(text, start=1)
    ]
    return pd.DataFrame(rows)


def made(*arguments, **options):
    """An audit whose JSON is by the schema."""
    held = audit(*arguments, **options)
    SCHEMA.validate(held.to_dict())
    return held


def gender_spec(**more):
    return {"attributes": {"gender": {"domain": ["female", "male"], **more}}}


def statuses(held):
    return {one.text: one.status for one in held.requirements}


def test_sections_are_registered_once_and_name_their_measures_once():
    held = sections()
    assert [one.name for one in held] == list(NAMES)
    names = [one.name for part in held for one in part.measures]
    assert len(names) == len(set(names))
    assert all(one.says and not one.says.endswith(".") for part in held for one in part.measures)


def test_real_sequences():
    held = made(real_gender(), gender_spec(beta=20), require=["least_beta[run=leader2]<=6", "least_beta<=19"])
    question = held.sections["sequences"]["questions"][0]
    assert {one["run"]: one["beta_star"] for one in question["runs"]} == LEAST_BETA
    assert held.exit_code == 1
    assert [one.status for one in held.requirements] == ["breached", "met", "breached"]
    # Of seven runs only the third has a gap above 20; beta 20 of the fourth is met by its 27 generations.
    assert held.requirements[0].text == "least_beta[attribute=gender]<=20"
    assert held.requirements[0].reason == "1 of 7 values: least beta of attribute gender, run poor3 is 27"
    assert held.requirements[2].reason.startswith("2 of 7 values")


def test_real_coverage():
    domains = {"attributes": dict(REAL_DOMAINS), "off_domain": "unknown"}
    held = made(pd.DataFrame(real_combinations()), domains, require=["coverage>=47/142", "coverage[run=seq7]>=47/142"])
    runs = held.sections["coverage"]["runs"]
    assert {one["run"]: one["covered"]["lo"] for one in runs} == COVERED
    assert {one["total"] for one in runs} == {142}
    assert [one.status for one in held.requirements] == ["breached", "met"]


def test_the_least_beta_can_be_recomputed_from_what_is_shown():
    table = real_gender()
    table.loc[table["run"] == "poor2", "gender"] = table["gender"].where(table.index % 5 > 0, "?")
    held = made(table, gender_spec(unknown=["?"], beta=14))
    question = held.sections["sequences"]["questions"][0]
    strips = {one["run"]: one["labels"] for one in question["strips"]}
    assert set(strips) == set(LEAST_BETA)
    for one in question["runs"]:
        labels = [{label} if label else set() for label in strips[one["run"]]]
        assert len(labels) == one["n"]
        # Unknown taken for none of the values is the upper end.
        hi = next(beta for beta in range(1, one["n"]) if holds(labels, question["domain"], beta))
        assert one["interval"]["hi"] == hi
        assert max(value["gap"]["hi"] for value in one["values"]) == hi
        for value in one["values"]:
            assert value["count"] == sum(value["value"] in shown for shown in labels)
            start, end = value["after"] or 0, value["before"] or one["n"] + 1
            assert end - start == value["gap"]["hi"]
            assert not any(value["value"] in shown for shown in labels[start : end - 1])


def test_long_runs_are_drawn_around_their_widest_gap():
    labels = ["a", "b"] * 3000
    labels[4000:4100] = ["a"] * 100
    held = made(pd.DataFrame({"step": range(1, 6001), "x": labels}), {"attributes": {"x": ["a", "b"]}})
    strip = held.sections["sequences"]["questions"][0]["strips"][0]
    assert len(strip["labels"]) == 2000
    assert strip["labels"] == labels[strip["first"] - 1 : strip["first"] + 1999]
    assert strip["first"] < 4000 < 4100 < strip["first"] + 2000


def diverse():
    """By hand: h is .970951, .864974 and .913865 and their geometric mean .915575."""
    counts = {"gender": (30, 20), "age": (10, 30, 10), "race": (20, 10, 5, 5, 10)}
    columns = {name: [str(value) for value, n in enumerate(held) for _ in range(n)] for name, held in counts.items()}
    attributes = {name: [str(value) for value in range(len(held))] for name, held in counts.items()}
    return pd.DataFrame(columns), {"attributes": attributes}


def test_diversity_by_hand_and_again_from_the_counts():
    table, spec = diverse()
    held = made(table, spec, replicates=200, require=["sample.intrinsic_diversity>=.9155", "mgbi>=.1"])
    model = held.sections["diversity"]["models"][0]
    assert model["intrinsic_diversity"]["value"] == pytest.approx(0.915575, abs=1e-6)
    entropies = []
    for one in model["contexts"][0]["attributes"]:
        counts = np.array(list(one["counts"].values()))
        shares = counts[counts > 0] / counts.sum()
        entropies.append(float(-(shares * np.log(shares)).sum() / math.log(len(counts))))
        assert one["entropy"]["value"] == pytest.approx(entropies[-1])
    assert entropies == pytest.approx([0.970951, 0.864974, 0.913865], abs=1e-6)
    # Without contexts there is no MGBI, and the report says which column would allow it.
    assert [one.status for one in held.requirements] == ["met", "undecided"]
    assert "column context" in held.sections["diversity"]["lacks"][0]["remedy"]


def answers():
    """By hand: yes in 30 of 40 for F and 20 for M, no in 6 and 18, refusals 4 and 2; 22 of 40 pairs agree."""
    f = ["yes"] * 30 + ["no"] * 6 + ["refusal"] * 4
    m = ["yes"] * 18 + ["no"] * 12 + ["no"] * 4 + ["refusal"] * 2 + ["yes"] * 2 + ["no"] * 2
    rows = [{"pair": str(place), "group": "F", "response": one} for place, one in enumerate(f)]
    rows += [{"pair": str(place), "group": "M", "response": one} for place, one in enumerate(m)]
    return pd.DataFrame(rows)


def test_answers_and_pairs_by_hand():
    table = answers()
    held = made(
        table,
        {"columns": {"group": "group"}},
        require=[
            "sample.independence_difference<=.3",
            "sample.independence_difference<.3",
            "independence_difference<=.02",
            "sample.flip_rate<=45%",
            "sample.refusal_rate[group=F]<=.1",
            "refusal_rate[group=F]<=.1",
            "sample.refusal_ratio>=.5",
            "separation_difference<=.1",
        ],
    )
    content = held.sections["criteria"]
    independence = content["criteria"][0]
    stratum = independence["strata"][0]
    assert stratum["difference"]["value"] == pytest.approx(0.3)
    assert [one["refused"] for one in content["refusals"][0]["groups"]] == [4, 2]
    # The largest difference again, from the counts that are shown.
    counts = np.array(stratum["counts"])
    rates = counts / counts.sum(axis=1, keepdims=True)
    assert stratum["difference"]["value"] == pytest.approx((rates.max(axis=0) - rates.min(axis=0)).max())
    pair = held.sections["pairs"]["pairs"][0]
    assert (pair["pairs"], pair["changed"]) == (40, 18)
    assert sum(map(sum, pair["counts"])) == 40
    assert sum(pair["counts"][place][place] for place in range(len(pair["counts"]))) == 22
    expected = ["met", "breached", "breached", "met", "met", "undecided", "met", "undecided"]
    assert [one.status for one in held.requirements] == expected
    assert held.requirements[7].reason.endswith("the right answers are not known: a column truth would allow it")
    assert content["lacks"][0]["remedy"] == "a column truth"


def test_polarity_needs_vectors_and_says_so():
    table = pd.DataFrame({"text": ["nurse", "engineer", "nurse", "engineer"], "group": ["F", "M", "F", "M"]})
    toy = {"she": [1, 0], "he": [-1, 0], "nurse": [0.5, 1], "engineer": [-0.5, 1]}
    held = made(table, {"columns": {"text": "text"}}, vectors=toy, require=["polarity_difference<=.5"])
    assert [one["score"] for one in held.sections["polarity"]["scores"]] == [0.5, -0.5, 0.5, -0.5]
    assert held.requirements[0].status == "breached"
    with pytest.raises(InputError, match=r"no section can be computed.*word vectors \(the option vectors"):
        audit(table, {"columns": {"text": "text"}})


def test_association_from_the_concepts_that_are_shown():
    rows = [("", "man coat"), ("", "man coat"), ("", "woman coat"), ("", "man coat")]
    rows += [("male", "man coat")] * 4 + [("female", "woman coat")] * 4
    table = pd.DataFrame(rows, columns=["counterfactual", "text"])
    held = made(table, {"columns": {"counterfactual": "counterfactual"}}, replicates=100, require=["cas>=.4"])
    axis = held.sections["association"]["axes"][0]

    def shares(weights):
        return {name: weight / sum(weights.values()) for name, weight in weights.items()}

    first = shares(axis["initial"]["concepts"])
    for one in axis["counterfactuals"]:
        other = shares(one["concepts"])
        names = {*first, *other}
        low = sum(min(first.get(name, 0), other.get(name, 0)) for name in names)
        high = sum(max(first.get(name, 0), other.get(name, 0)) for name in names)
        assert one["cas"]["value"] == pytest.approx(low / high)


def test_what_cannot_be_computed_is_told_with_its_column():
    held = made(real_gender(), gender_spec())
    assert set(held.lacking) == {"coverage", "association", "criteria", "pairs", "scores", "polarity"}
    assert "columns group" in held.lacking["criteria"]
    assert "counterfactual" in held.lacking["association"]
    ordered = audit(real_gender().drop(columns=["run", "step"]), gender_spec())
    assert "order in which they were generated" in ordered.lacking["sequences"]


def test_a_column_that_only_looks_right_is_left_out_and_one_that_is_named_is_an_error():
    table = answers()
    table["response"] = [f"free text {place}" for place in range(len(table))]
    table["gender"] = "female"
    table["step"] = range(len(table))
    wide = pd.concat([table] * 20, ignore_index=True).assign(response=lambda frame: [f"text {n}" for n in frame.index])
    wide = wide.drop(columns="pair").assign(step=range(len(wide)))
    held = made(wide, gender_spec())
    assert "criteria" in held.lacking
    with pytest.raises(InputError):
        audit(wide, {**gender_spec(), "columns": {"response": "response"}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("least_beta", "is not of the form"),
        ("leest_beta<=3", "nothing is called leest_beta; did you mean least_beta"),
        ("least_beta<=x", "'x' is not a number"),
        ("least_beta<=1/0", "is not a number"),
        ("coverage[attribute=gender]>=1", "coverage cannot be filtered by attribute"),
        ("least_beta[run=nobody]<=3", "no run is called nobody"),
        ("least_beta[attribute=gender", "is not of the form"),
        ("independence_difference[job=x]<=3", "cannot be filtered by job"),
    ],
)
def test_requirements_that_mean_nothing(text, message):
    table = answers().assign(gender="female", run="a", step=range(80))
    with pytest.raises(RequirementError) as caught:
        audit(table, gender_spec(), require=[text])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"columns": {"response": "answer"}}, "response is to be the column answer"),
        ({"columns": {"respons": "response"}}, "columns has no key respons; did you mean response"),
        ({**gender_spec(), "settings": {"sequence": {}}}, "no section sequence; did you mean sequences"),
        ({**gender_spec(), "settings": {"coverage": {"tt": 2}}}, "coverage has no setting tt"),
        ({**gender_spec(), "settings": {"coverage": 3}}, "settings is a mapping"),
        ({**gender_spec(), "settings": {"sequences": {"together": "gender"}}}, "list of lists"),
        ({**gender_spec(), "columns": [1]}, "columns is a mapping"),
        ({}, "needs attributes"),
    ],
)
def test_specs_that_mean_nothing(spec, message):
    with pytest.raises(SpecError) as caught:
        audit(answers().assign(gender="female"), spec)
    assert message in str(caught.value)


@pytest.mark.parametrize("options", [{"confidence": 1.5}, {"confidence": "x"}, {"seed": -1}, {"replicates": "many"}])
def test_options_that_mean_nothing(options):
    with pytest.raises(InputError):
        audit(real_gender(), gender_spec(), **options)


def test_the_same_audit_twice_is_the_same(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    table, spec = diverse()
    assert audit(table, spec, replicates=50).to_json() == audit(table, spec, replicates=50).to_json()
    assert audit(table, spec, replicates=50, seed=1).to_json() != audit(table, spec, replicates=50).to_json()


def test_combinations_of_attributes_and_enforced_generations():
    table = pd.DataFrame(
        {
            "step": range(1, 7),
            "a": list("xyxyxy"),
            "b": list("ppqqpq"),
            "enforced": ["", "yes", False, 1, "no", "true"],
        }
    )
    spec = {"attributes": {"a": ["x", "y"], "b": ["p", "q"]}, "settings": {"sequences": {"together": [["a", "b"]]}}}
    held = made(table, spec)
    questions = held.sections["sequences"]["questions"]
    assert [one["attribute"] for one in questions] == [["a"], ["b"], ["a", "b"]]
    assert questions[0]["strips"][0]["enforced"] == [2, 4, 6]
    # x, p at 1 and 5; y, p at 2; x, q at 3; y, q at 4 and 6: each at least once, the widest gap of y, p is 7 - 2.
    assert questions[2]["runs"][0]["beta_star"] == 5
    assert questions[2]["verdict"] == "holds"


MEASURE = [Measured("m", "it", keys=("k",))]


@given(
    lo=st.fractions(-2, 2, max_denominator=50),
    width=st.fractions(0, 1, max_denominator=50),
    limit=st.fractions(-2, 2, max_denominator=50),
    comparison=st.sampled_from([">=", ">", "<=", "<"]),
)
@settings(max_examples=100, deadline=None)
def test_a_limit_is_met_when_every_value_between_the_bounds_meets_it(lo, width, limit, comparison):
    hi = lo + width
    # A minus in front is read, and a fraction is one of whole numbers.
    asked = parse_limit(f"m{comparison}{limit}", MEASURE)
    assert asked.limit == limit
    found = judge_limits([asked], [Quantity("m", {}, lo, hi)], {})[0].status
    keeps = {
        ">=": lambda one: one >= limit,
        ">": lambda one: one > limit,
        "<=": lambda one: one <= limit,
        "<": lambda one: one < limit,
    }[comparison]
    ends = [keeps(lo), keeps(hi)]
    assert found == ("met" if all(ends) else "undecided" if any(ends) else "breached")


def test_judging_by_hand():
    quantities = [Quantity("m", {"k": "a"}, 1, 2), Quantity("m", {"k": "b"}, 3, None), Quantity("m", {"k": "c"}, 2, 2)]

    def status(text):
        return judge_limits([parse_limit(text, MEASURE)], quantities, {})[0].status

    assert status("m<=2") == "breached"
    assert status("m[k=a]<=2") == "met"
    assert status("m[k=a]<=1.5") == "undecided"
    assert status("m[k=b]>=3") == "met"
    assert status("m[k=b]<=1000") == "undecided"
    assert status("m[k=c]<=200%") == "met"
    assert status("m>=1") == "met"
    # With an interval the limit is judged by it, and by the value of the rows alone with "sample.".
    held = [Quantity("m", {}, 0.1, 0.5, (0.3, 0.3))]
    assert judge_limits([parse_limit("m<=.4", MEASURE)], held, {})[0].status == "undecided"
    assert judge_limits([parse_limit("sample.m<=.4", MEASURE)], held, {})[0].status == "met"
    assert judge_limits([parse_limit("m<=.4", MEASURE)], [], {"m": "no column"})[0].reason.endswith("no column")


def test_a_beta_needs_more_generations_than_it_counts():
    limit = limit_of_beta("a b", 5)
    assert limit.text == 'least_beta[attribute="a b"]<=5'
    assert parse_limit(limit.text, [Measured("least_beta", "it", keys=("attribute",))]) == limit
    held = Quantity("least_beta", {"attribute": "a b"}, 2, 2, below=5)
    assert limit.judge(held)[0] == "undecided"
    assert limit.judge(Quantity("least_beta", {"attribute": "a b"}, 2, 2, below=6))[0] == "met"
    assert limit.limit == Fraction(5)


def test_frames_and_texts():
    held = made(real_gender(), gender_spec(beta=20))
    frame = held.to_frame()
    assert frame.loc[frame["of"] == "attribute gender, run poor3", "lo"].tolist()[:1] == [27.0]
    text = held.to_text()
    assert "✗ breached  least_beta[attribute=gender]<=20" in text
    assert "Would allow it" in text
    assert "poor3" in held._repr_html_()


@pytest.mark.parametrize("value", [1e17, -3e69, 0, 2])
def test_scores_that_are_all_the_same(value):
    """A histogram of one value has a width, also where half of one is nothing beside it."""
    table = pd.DataFrame({"group": ["F"] * 3 + ["M"] * 3, "score": [value] * 6})
    bins = made(table, {"columns": {"score": "score"}}).sections["scores"]["bins"]
    assert bins["from"] < value < bins["to"]
    assert [sum(one["counts"]) for one in bins["groups"]] == [3, 3]


def test_scores_by_hand():
    """Means 2 and 5; each group's deviation is 1, so that d is 3 in size."""
    table = pd.DataFrame({"group": ["F"] * 3 + ["M"] * 3 + ["M"], "score": [1, 2, 3, 4, 5, 6, None]})
    held = made(table, {"columns": {"score": "score"}}, require=["sample.score_difference<=3", "sample.score_d<3"])
    one = held.sections["scores"]["comparisons"][0]
    assert (one["difference"]["value"], one["d"]["value"]) == (-3, pytest.approx(-3))
    assert [row["missing"] for row in held.sections["scores"]["groups"]] == [0, 1]
    assert [one.status for one in held.requirements] == ["met", "breached"]
    counts = {row["group"]: row["counts"] for row in held.sections["scores"]["bins"]["groups"]}
    assert (sum(counts["F"]), sum(counts["M"])) == (3, 3)
    assert counts["F"][0] == counts["M"][-1] == 1


def test_values_seen_with_unknown_labels():
    """Of four values one occurs, and an unknown label shows one more at most."""
    table = pd.DataFrame({"step": [1, 2, 3], "x": ["a", None, "a"]})
    spec = {"attributes": {"x": list("abcd")}}
    asked = ["values_seen<=.5", "values_seen>=.5", "values_seen>=.51"]
    found = [one.status for one in made(table, spec, require=asked).requirements]
    assert found == ["met", "undecided", "breached"]
