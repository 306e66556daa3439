"""Precision under the population, and parity inside strata, against brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.errors import GroupingError, InputError
from justicia.report.json import schema

N_CASES = 200


def random_case(seed):
    """A table of small whole numbers, and a tree or a linear model on some of its columns."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 160))
    frame = pd.DataFrame({name: rng.integers(0, int(rng.integers(2, 4)), n) for name in "uvw"})
    frame["g"] = rng.choice(["p", "q", "r"], n)
    frame["s"] = rng.choice(["x", "y"], n)
    frame["edu"] = rng.choice(["low", "mid", "high"][: int(rng.integers(2, 4))], n)
    frame["y"] = (rng.random(n) < 0.2 + 0.25 * frame["u"]).astype(int)
    # The factor is a feature of some models and unknown to others.
    frame["level"] = frame["edu"].map({"low": 0, "mid": 1, "high": 2})
    columns = ["u", "v", "w"] + (["level"] if rng.random() < 0.5 else [])
    model = DecisionTreeClassifier(max_depth=4, random_state=0) if rng.random() < 0.7 else LogisticRegression()
    target = np.where(rng.random(n) < 0.85, frame["y"], 1 - frame["y"])
    target[:2] = 0, 1
    return model.fit(frame[columns], target), frame, columns


def rate_by_hand(model, rows, columns, structure):
    """Probability that the model says yes to people drawn from the rows, features independent or as they are."""
    if not len(rows):
        return None
    if structure == "empirical":
        return Fraction(int(model.predict(rows[columns]).sum()), len(rows))
    shares = {name: rows[name].value_counts() for name in columns}
    total = Fraction(0)
    points = list(product(*(shares[name].index for name in columns)))
    said = model.predict(pd.DataFrame(points, columns=columns))
    for point, yes in zip(points, said, strict=True):
        if yes:
            mass = Fraction(1)
            for name, value in zip(columns, point, strict=True):
                mass *= Fraction(int(shares[name][value]), len(rows))
            total += mass
    return total


def check_case(seed):
    model, frame, columns = random_case(seed)
    structure = ("independent", "empirical")[seed % 2]
    audit = justicia.verify(
        model, frame, sensitive_features=["g", "s"], label="y", favorable=1, population=structure, given="edu",
        reference={"g": "p", "s": "x"},
    )  # fmt: skip
    grouping = audit.groupings[0]
    wide = 2e-4 if isinstance(model, LogisticRegression) else 1e-9
    precisions = []
    for group in grouping.groups:
        here = frame[(frame["g"] == group.group["g"]) & (frame["s"] == group.group["s"])]
        if not len(here):
            continue
        good, bad = here[here["y"] == 1], here[here["y"] == 0]
        true, false = (rate_by_hand(model, rows, columns, structure) for rows in (good, bad))
        share = Fraction(len(good), len(here))
        right, wrong = share * (true or 0), (1 - share) * (false or 0)
        if right + wrong == 0:
            assert group.precision is None or group.precision.lo == 0
            continue
        precisions.append(float(right / (right + wrong)))
        assert group.precision.lo - 1e-9 <= precisions[-1] <= group.precision.hi + 1e-9, seed
        if right + wrong > Fraction(1, 20):
            assert group.precision.hi - group.precision.lo < 40 * wide
    found = grouping.measures["predictive_parity_difference"].verified.value
    if found is not None:
        assert found.lo - 1e-9 <= max(precisions) - min(precisions) <= found.hi + 1e-9, seed

    worst = {}
    for edu in frame["edu"].unique():
        rates = []
        for g, s in product("pqr", "xy"):
            rows = frame[(frame["g"] == g) & (frame["s"] == s) & (frame["edu"] == edu)]
            rate = rate_by_hand(model, rows, columns, structure)
            if rate is not None:
                rates.append(float(rate))
        if len(rates) > 1:
            worst[edu] = max(rates) - min(rates), min(rates) / max(rates) if max(rates) else None
    strata = {one.stratum["edu"]: one for one in grouping.conditional.strata}
    assert set(strata) == set(worst), seed
    for edu, (difference, ratio) in worst.items():
        value = strata[edu].verified("statistical_parity_difference").value
        assert value.lo - 1e-9 <= difference <= value.hi + 1e-9, (seed, edu)
        value = strata[edu].verified("disparate_impact").value
        if ratio is not None:
            assert value.lo - 1e-9 <= ratio <= value.hi + 1e-9, (seed, edu)
    value = grouping.conditional.verified("conditional_parity_difference").value
    largest = max(difference for difference, _ in worst.values())
    assert value.lo - 1e-9 <= largest <= value.hi + 1e-9
    assert value.hi - value.lo < 4 * wide
    return audit


@pytest.mark.parametrize("seed", range(6))
def test_precision_and_strata_by_brute_force(seed):
    check_case(seed)


@pytest.mark.slow
def test_precision_and_strata_by_brute_force_on_many_cases():
    for seed in range(N_CASES):
        check_case(seed)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    n = 400
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "education": rng.choice(["school", "college"], n),
            "age": rng.integers(18, 70, n),
            "x": rng.integers(0, 5, n),
        }
    )
    frame["y"] = (frame["x"] > 1).astype(int)
    return DecisionTreeClassifier(max_depth=3).fit(frame[["x", "age"]], frame["y"]), frame


def test_strata_of_a_number_need_bins_and_stand_in_order(people):
    model, frame = people
    with pytest.raises(GroupingError, match=r"factor 'age' is numeric .* bins=\{'age': \[25, 40, 60\]\}"):
        justicia.verify(model, frame, sensitive_features="sex", label="y", given="age")
    audit = justicia.verify(model, frame, sensitive_features="sex", label="y", given="age", bins={"age": [25, 40]})
    assert list(audit.by_stratum.index) == ["<= 25", "(25, 40]", "> 40"]
    assert audit.by_stratum["n"].sum() == 400


def test_requirements_on_strata(people):
    model, frame = people
    wanted = ["conditional_parity_difference<=0.5", "sample.conditional-parity-ratio>=1", "conditional_parity_ratio>=0"]
    audit = justicia.verify(
        model, frame, sensitive_features="sex", label="y", given=["education"], population="empirical",
        require=[*wanted, "conditional_parity_difference[education=school]<=1"],
    )  # fmt: skip
    assert [held.status for held in audit.requirements] == ["met", "breached", "met", "met"]
    shares = frame.assign(said=model.predict(frame[["x", "age"]])).groupby(["education", "sex"])["said"].mean()
    gaps = [abs(shares[edu]["f"] - shares[edu]["m"]) for edu in ("school", "college")]
    assert float(audit.groupings[0].conditional.sample("conditional_parity_difference").value) == max(gaps)
    jsonschema.Draft202012Validator(schema()).validate(audit.to_dict())
    text = audit.to_text(120)
    assert "inside each stratum of education" in text
    absent = justicia.verify(model, frame, sensitive_features="sex", label="y", require=wanted[0])
    assert absent.requirements[0].status == "undecided"
    assert "--given" in absent.requirements[0].reason


def test_what_cannot_be_a_factor(people):
    model, frame = people
    with pytest.raises(GroupingError, match="'eduction' is not in the table; did you mean education"):
        justicia.verify(model, frame, sensitive_features="sex", given="eduction")
    with pytest.raises(GroupingError, match="a lawful factor or sensitive, not both"):
        justicia.verify(model, frame, sensitive_features="sex", given="sex")
    with pytest.raises(GroupingError, match="names a column twice"):
        justicia.verify(model, frame, sensitive_features="sex", given="education,education")
    holes = frame.assign(education=frame["education"].where(frame["x"] > 0, None))
    with pytest.raises(GroupingError, match="factor 'education' has no value in"):
        justicia.verify(model, holes, sensitive_features="sex", given="education")
    audit = justicia.verify(model, holes, sensitive_features="sex", given="education", missing="group")
    assert "(missing)" in audit.by_stratum.index
    audit = justicia.verify(model, holes, sensitive_features="sex", given="education", missing="drop")
    assert audit.by_stratum["n"].sum() == (frame["x"] > 0).sum()
    file = justicia.fit_population(frame.drop(columns="y"), sensitive_features="sex")
    with pytest.raises(InputError, match=r"leave population=\.\.\. out"):
        justicia.verify(model, frame, population=file, given="education")


def test_a_stratum_of_one_group_compares_nothing(people):
    model, frame = people
    alone = frame[(frame["education"] == "school") | (frame["sex"] == "f")]
    audit = justicia.verify(model, alone, sensitive_features="sex", label="y", given="education")
    assert list(audit.by_stratum.index) == ["school"]
    assert audit.groupings[0].conditional.alone == ({"education": "college"},)
    assert audit.to_dict()["groupings"][0]["conditional"]["one_group_only"] == [{"education": "college"}]


def test_strata_over_shifts_of_the_population_hold_those_without(people):
    model, frame = people
    given = {"sensitive_features": "sex", "label": "y", "given": "education", "population": "independent"}
    plain, moved = justicia.verify(model, frame, **given), justicia.verify(model, frame, shift=0.05, **given)
    for name in ("conditional_parity_difference", "conditional_parity_ratio"):
        inner, outer = (audit.groupings[0].conditional.verified(name).value for audit in (plain, moved))
        assert outer.lo <= inner.lo <= inner.hi <= outer.hi
        assert outer.hi - outer.lo > 0.01
