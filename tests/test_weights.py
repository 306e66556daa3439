"""Row weights: whole ones equal repeated rows, others scaled ones; bad ones are one line."""

from __future__ import annotations

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.report.json import schema

RATES = ("sample_rate", "sample_tpr", "sample_fpr", "sample_precision")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    n = 400
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "race": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])})
    table["x"] = rng.normal(size=n).round(1) + (table["sex"] == "m") * 0.4
    table["z"] = rng.integers(0, 5, n)
    table["good"] = (table["x"] + rng.normal(size=n) > 0.3).astype(int)
    table["hired"] = (table["x"] > 0.2).astype(int)
    table["w"] = rng.integers(0, 4, n)
    return table


def repeated(table):
    return table.loc[table.index.repeat(table["w"])].reset_index(drop=True)


def measures_of(audit):
    return [{name: held.sample for name, held in grouping.measures.items()} for grouping in audit.groupings]


def rates_of(audit):
    return [
        (group.group, *(None if (rate := getattr(group, name)) is None else rate.value for name in RATES))
        for grouping in audit.groupings
        for group in grouping.groups
    ]


def test_whole_weights_of_decisions_equal_repeated_rows(people):
    options = {
        "decision": "hired",
        "label": "good",
        "sensitive_features": [["race", "sex"], ["sex"]],
        "reference": "sex=f",
    }
    weighted = justicia.audit_decisions(people, **options, weight="w")
    rows = justicia.audit_decisions(repeated(people), **options)
    assert rates_of(weighted) == rates_of(rows)
    assert measures_of(weighted) == measures_of(rows)
    frequency = justicia.audit_decisions(people, **options, weight="w", weight_kind="frequency", tests=True)
    same = justicia.audit_decisions(repeated(people), **options, tests=True).to_dict()
    held = frequency.to_dict()
    jsonschema.Draft202012Validator(schema()).validate(weighted.to_dict())
    assert held["groupings"] == same["groupings"]  # intervals and tests, too
    assert held["weight"]["kind"] == "frequency"


def test_intervals_of_weighted_rows_count_effective_people(people):
    # Kish: (sum w)^2 / sum w^2, and Wilson's interval of so many people.
    audit = justicia.audit_decisions(people, decision="hired", sensitive_features="sex", weight="w", tests=True)
    for group in audit.groupings[0].groups:
        own = people[people["sex"] == group.group["sex"]]
        w = own["w"].to_numpy()
        size = w.sum() ** 2 / (w**2).sum()
        rate = w[own["hired"] == 1].sum() / w.sum()
        z = 1.959963984540054
        middle = (rate + z * z / (2 * size)) / (1 + z * z / size)
        half = z / (1 + z * z / size) * np.sqrt(rate * (1 - rate) / size + z * z / (4 * size * size))
        assert float(group.sample_rate.value) == rate
        assert (group.sample_rate.lo, group.sample_rate.hi) == pytest.approx((middle - half, middle + half))
        assert group.weight == (w.sum(), w[own["hired"] == 1].sum())
        assert "effective" in group.sample_rate.method
    assert audit.groupings[0].adverse_impact.effective
    assert "Kish" in audit.to_text()


def test_equal_weights_change_nothing_but_the_name(people):
    plain = justicia.audit_decisions(people, decision="hired", sensitive_features="sex")
    thirds = justicia.audit_decisions(people.assign(w=1 / 3), decision="hired", sensitive_features="sex", weight="w")
    for one, other in zip(plain.groupings[0].groups, thirds.groupings[0].groups, strict=True):
        assert float(one.sample_rate.value) == pytest.approx(float(other.sample_rate.value), abs=1e-12)
        assert one.sample_rate.lo == pytest.approx(other.sample_rate.lo)


@pytest.fixture(scope="module")
def model(people):
    return DecisionTreeClassifier(max_depth=4, random_state=0).fit(people[["x", "z"]], people["good"])


@pytest.mark.parametrize("population", ["auto", "tree", "independent", "empirical"])
def test_whole_weights_in_the_population_equal_repeated_rows(people, model, population):
    options = {"sensitive_features": ["race", "sex"], "label": "good", "population": population}
    weighted = justicia.verify(model, people, **options, weight="w")
    rows = justicia.verify(model, repeated(people), **options)
    jsonschema.Draft202012Validator(schema()).validate(weighted.to_dict())
    for name, held in rows.groupings[0].measures.items():
        assert weighted.groupings[0].measures[name].verified == held.verified
        assert weighted.groupings[0].measures[name].sample == held.sample
    for one, other in zip(weighted.groupings[0].groups, rows.groupings[0].groups, strict=True):
        assert (one.group, one.selection_rate, one.tpr, one.fpr) == (
            other.group,
            other.selection_rate,
            other.tpr,
            other.fpr,
        )
    assert weighted.most_favored == rows.most_favored
    frequency = justicia.verify(model, people, **options, weight="w", weight_kind="frequency").to_dict()
    assert frequency["groupings"] == rows.to_dict()["groupings"]


@pytest.mark.parametrize("population", ["auto", "tree", "independent", "empirical"])
def test_halved_weights_in_the_population(people, model, population):
    table = people[people["w"] > 0].assign(w=people["w"] / 2)
    audit = justicia.verify(model, table, sensitive_features="sex", label="good", population=population, weight="w")
    rows = justicia.verify(model, repeated(people), sensitive_features="sex", label="good", population=population)
    tolerance = 1e-12 if population in ("independent", "empirical") else 0.05
    for one, other in zip(audit.groupings[0].groups, rows.groupings[0].groups, strict=True):
        for kind in ("selection_rate", "tpr", "fpr"):
            assert getattr(one, kind).middle == pytest.approx(getattr(other, kind).middle, abs=tolerance)
        assert float(one.sample_rate.value) == pytest.approx(float(other.sample_rate.value), abs=1e-12)
    assert audit.population.sample({"sex": "f"}, 10, random_state=0).shape == (10, 2)
    jsonschema.Draft202012Validator(schema()).validate(audit.to_dict())


def test_a_model_without_names_and_one_trained_here_never_see_the_weights(people):
    numbers = people[["x", "z", "w", "sex"]].assign(sex=(people["sex"] == "m").astype(int), good=people["good"])
    bare = DecisionTreeClassifier(max_depth=2).fit(numbers[["x", "z", "sex"]].to_numpy(), numbers["good"])
    audit = justicia.verify(bare, numbers, sensitive_features="sex", label="good", weight="w")
    assert "w" not in audit.features
    trained = justicia.verify("tree", people, sensitive_features="sex", label="good", weight="w")
    assert "w" not in trained.features


@pytest.mark.parametrize(
    ("values", "kind", "says"),
    [
        ([1, -2, 1, 1], "sampling", "'-2', and a weight is never negative .in 1 row, the first in row 2"),
        ([1, None, 1, 1], "sampling", "has no value in 1 row of 4"),
        ([1, np.inf, 1, 1], "sampling", "no finite number"),
        ([1, "two", 1, 1], "sampling", "'two', which is no number"),
        ([0, 0, 0, 0], "sampling", "is 0 in every row"),
        ([1, 1e300, 1, 1], "sampling", "too far from 1"),
        ([1, 1e-300, 1, 1], "sampling", "too far from 1"),
        ([1, 0.5, 1, 1], "frequency", "a frequency weight is a whole number"),
        ([1, 10**9, 1, 1], "frequency", "are they sampling weights"),
        ([1, 1, 1, 1], "counts", "weight_kind cannot be 'counts'"),
    ],
)
def test_bad_weights_are_one_line(values, kind, says):
    table = pd.DataFrame({"sex": list("ffmm"), "hired": [1, 0, 1, 0], "w": values})
    with pytest.raises(justicia.InputError, match=says) as raised:
        justicia.audit_decisions(table, decision="hired", weight="w", weight_kind=kind)
    assert "\n" not in str(raised.value)


def test_rows_of_weight_zero_are_nobody():
    table = pd.DataFrame({"sex": list("ffmmx"), "hired": [1, 0, 1, 1, 1], "w": [1, 2, 1, 1, 0]})
    audit = justicia.audit_decisions(table, decision="hired", weight="w")
    assert [group.group["sex"] for group in audit.groupings[0].groups] == ["f", "m"]
    assert audit.to_dict()["data"]["dropped"] == {"weight 0 in w": 1}
    assert audit.measure("disparate_impact").lo * 3 == 1


def test_population_files_hold_whole_people(people, model, tmp_path):
    table = people[people["w"] > 0].assign(w=people["w"] / 2)
    for structure in ("auto", "empirical"):
        audit = justicia.verify(model, table, sensitive_features="sex", label="good", population=structure, weight="w")
        with pytest.raises(justicia.InputError, match="write one of --population tree"):
            audit.population_file()
    whole = justicia.verify(model, people, sensitive_features="sex", label="good", population="empirical", weight="w")
    whole.population_file().to_json(tmp_path / "p.json")
    again = justicia.verify(model, people, population=tmp_path / "p.json")
    assert again.disparate_impact == whole.disparate_impact


def test_what_counts_every_row_as_a_person_is_refused(people, model):
    for options in ({"bootstrap": 39}, {"bounds": True, "population": "tree"}, {"check_fit": True}):
        with pytest.raises(justicia.InputError, match="takes every row for one person"):
            justicia.verify(model, people, sensitive_features="sex", weight="w", **options)
    with pytest.raises(justicia.InputError, match="LL144 layout counts people"):
        justicia.audit_decisions(people, decision="hired", weight="w", layout="ll144")
    with pytest.raises(justicia.InputError, match="leave the weights out"):
        justicia.audit_decisions(people, decision="hired", weight="w", missing="bounds")


@pytest.mark.parametrize("scale", [10**8, 10**12, 10**15, 1e12])
def test_weights_whose_squares_no_integer_holds(scale):
    """What is said of weighted rows does not depend on the unit of the weights."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], 300), "hired": rng.choice([0, 1], 300)})
    weights = rng.integers(1, 50, 300)

    def audited(weight):
        asked = {"decision": "hired", "sensitive_features": "sex", "weight": "w", "tests": True}
        return justicia.audit_decisions(table.assign(w=weight), **asked).groupings[0]

    small, large = audited(weights), audited(weights * scale)
    for one, other in zip(small.groups, large.groups, strict=True):
        assert other.sample_rate.lo == pytest.approx(one.sample_rate.lo, abs=1e-12)
        assert other.sample_rate.hi == pytest.approx(one.sample_rate.hi, abs=1e-12)
    for one, other in zip(small.adverse_impact.groups, large.adverse_impact.groups, strict=True):
        assert other.p == pytest.approx(one.p, abs=1e-12)
