"""Audits under populations that come from a file."""

from __future__ import annotations

import json
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.errors import PopulationFileError, TableError
from justicia.population import STRUCTURES
from justicia.population.stored import population_from_json
from tests.linear_cases import random_linear_case
from tests.population.by_hand import probability, values_in
from tests.strategies import random_case

MOST_POINTS = 6_000


def enclosures(audit, grouping=0):
    return [(float(one.lo), float(one.hi)) for one in audit.groupings[grouping].solution.enclosures]


def ensemble_case(seed):
    """The tables of `random_case`, with a small ensemble at the end of the pipeline."""
    case = random_case(seed)
    kinds = (RandomForestClassifier(4, max_depth=4, random_state=0), GradientBoostingClassifier(n_estimators=5))
    label = np.asarray(pd.factorize(case.label)[0] % 2)
    case.model.steps[-1] = ("tree", kinds[seed % 2])
    case.model.fit(case.features(), label)
    case.favorable = [int(label.max())]
    return case


def people_at(points, features, case, rng):
    """People whose values lie in the cells: at either end, or anywhere."""
    columns = {}
    for position, feature in enumerate(features):
        like = case.frame[feature["name"]]
        values = []
        for cell in range(len(feature["cells"])):
            held = values_in(feature["cells"][cell], feature["integers"]) or [None]
            values.append(held[int(rng.integers(len(held)))])
        chosen = [values[cell] for cell in points[:, position]]
        text = any(isinstance(value, str) for value in values)
        columns[feature["name"]] = pd.Series(chosen, dtype=object if text else None)
        if like.dtype == np.float32:
            columns[feature["name"]] = columns[feature["name"]].astype(np.float32)
    return pd.DataFrame(columns)[case.columns]


def selected(case, people):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.isin(case.model.predict(people), case.favorable)


FAMILIES = {"tree": random_case, "linear": random_linear_case, "ensemble": ensemble_case}
CASES = [
    pytest.param(family, seed, marks=[] if seed < 6 else pytest.mark.slow)
    for family in FAMILIES
    for seed in range(40 if family != "ensemble" else 20)
]


@pytest.mark.parametrize(("family", "seed"), CASES)
def test_rates_of_all_people_that_a_file_allows_lie_between_the_bounds(family, seed):
    case = FAMILIES[family](seed)
    rng = np.random.default_rng(seed)
    for structure in STRUCTURES:
        held = justicia.fit_population(
            case.frame, sensitive_features=case.sensitive, structure=structure, cells=3, one_hot=False,
            list_numbers=seed % 2 == 0,
        )  # fmt: skip
        read = json.loads(held.to_json())
        try:
            audit = justicia.verify(
                case.model, case.frame, sensitive_features=case.sensitive, favorable=case.favorable, one_hot=False,
                population=population_from_json(held.to_json()),
            )  # fmt: skip
        except PopulationFileError as error:
            # A score that rises and falls between numbers that are not listed.
            assert "share a cell" in str(error)  # noqa: PT017 (most cases are answered)
            assert seed % 2
            continue
        places = [i for i, name in enumerate(held.domain.names) if name in case.columns]
        features = [read["features"][i] for i in places]
        population = held.groupings[0].everybody
        points = np.array(list(product(*(range(held.domain.sizes[i]) for i in places))))
        if len(points) > MOST_POINTS:
            continue
        boxes = [None] * len(held.domain.sizes)
        for position, place in enumerate(places):
            boxes[place] = np.eye(held.domain.sizes[place], dtype=bool)[points[:, position]]
        masses = population.masses(boxes, len(points))
        kept = masses.any(axis=1)
        points, masses = points[kept], masses[kept]
        for _ in range(3):
            try:
                yes = selected(case, people_at(points, features, case, rng))
            except ValueError:
                # An encoder that refuses numbers between those that it knows.
                continue
            for (lo, hi), rate in zip(enclosures(audit), masses[yes].sum(axis=0), strict=True):
                assert lo - 1e-9 <= rate <= hi + 1e-9


@pytest.mark.parametrize("structure", ["independent", "empirical"])
@pytest.mark.parametrize("seed", range(6))
def test_coarser_cells_enclose_what_fine_ones_give(structure, seed):
    case = random_case(seed)
    options = {"sensitive_features": case.sensitive, "favorable": case.favorable}
    exact = enclosures(justicia.verify(case.model, case.frame, population=structure, **options))
    for cells in (2, 4, 1000):
        held = justicia.fit_population(
            case.frame, sensitive_features=case.sensitive, structure=structure, cells=cells, one_hot=False
        )
        found = enclosures(justicia.verify(case.model, case.frame, population=held, **options))
        for (lo, hi), (rate, _) in zip(found, exact, strict=True):
            assert lo - 1e-12 <= rate <= hi + 1e-12
            if cells == 1000:
                assert hi - lo < 1e-12


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    n = 400
    frame = pd.DataFrame(
        {
            "race": rng.choice(["A", "B"], n, p=[0.8, 0.2]),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(18, 80, n),
            "pay": np.round(rng.lognormal(3, 1, n), 2),
            "job": rng.choice(["x", "y", "z"], n),
        }
    )
    score = frame["pay"] / 40 + (frame["sex"] == "m") + rng.normal(size=n)
    frame["hired"] = np.where(score > 1.2, "yes", "no")
    return frame


FEATURES = ["age", "pay"]
MODELS = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "logistic": LogisticRegression(max_iter=1000),
    "boosting": GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0),
    "bayes": GaussianNB(),
}


@pytest.fixture(scope="module")
def models(people):
    return {name: model.fit(people[FEATURES], people["hired"]) for name, model in MODELS.items()}


def ask(model, people, **options):
    given = {"sensitive_features": ["race", "sex"], "label": "hired", "favorable": "yes", **options}
    return justicia.verify(model, people, **given)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_an_audits_own_populations_give_its_answer_to_the_last_bit(models, people, name, structure):
    audit = ask(models[name], people, population=structure)
    held = population_from_json(audit.population_file().to_json())
    again = ask(models[name], people, population=held)
    assert enclosures(again) == enclosures(audit)
    one, other = audit.to_dict(), again.to_dict()
    assert one["groupings"][0]["measures"] == other["groupings"][0]["measures"]
    assert one["groupings"][0]["groups"] == other["groupings"][0]["groups"]
    assert one["groupings"][0]["population"].pop("file") is None
    assert other["groupings"][0]["population"].pop("file") == {"name": None, "sha256": None}
    assert one["groupings"][0]["population"] == other["groupings"][0]["population"]
    # And so does what the second audit writes.
    assert again.population_file().to_json() == held.to_json()


@pytest.mark.parametrize("structure", ["tree", "auto"])
def test_a_trees_rates_are_recomputed_by_hand_from_what_the_audit_wrote(models, people, structure):
    tree = models["tree"]
    audit = ask(tree, people, population=structure)
    read = json.loads(audit.population_file().to_json())
    features = read["features"]
    by_kind = read["groupings"][0]["populations"]
    for kind, population in (("selection_rate", by_kind["everybody"]), ("tpr", by_kind["favorable"])):
        rates = {}
        for group, held in enumerate(population["groups"]):
            rate = 0.0
            for point in product(*(range(len(feature["cells"])) for feature in features)):
                row = {}
                for feature, cell in zip(features, point, strict=True):
                    row[feature["name"]] = [values_in(feature["cells"][cell], feature["integers"])[0]]
                if tree.predict(pd.DataFrame(row)[FEATURES])[0] == "yes":
                    rate += probability(population, features, group, point)
            rates[tuple(held["group"].values())] = rate
        for group in audit.groupings[0].groups:
            assert float(getattr(group, kind).lo) == pytest.approx(rates[tuple(group.group.values())], abs=1e-12)


def test_a_threshold_inside_a_cell_makes_the_answer_a_bound(people):
    # Half of the people in the only cell around 50 may lie on either side: by hand, 100 people aged 0..99 in 4 cells.
    frame = pd.DataFrame({"sex": ["f"] * 100 + ["m"] * 100, "age": [*range(100)] * 2})
    frame["y"] = np.where(frame["age"] > 55, "yes", "no")
    tree = DecisionTreeClassifier().fit(frame[["age"]], frame["y"])
    held = justicia.fit_population(frame, sensitive_features="sex", structure="independent", cells=4)
    assert [feature.labels for feature in held.domain.features if feature.name == "age"] == [
        ("0 to 24", "25 to 49", "50 to 74", "75 to 99")
    ]
    audit = justicia.verify(tree, frame, favorable="yes", label="y", population=held)
    assert enclosures(audit) == [(0.25, 0.5)] * 2
    assert audit.groupings[0].solution.guarantee == "bounds"
    assert audit.groupings[0].solution.stopped == "cells"
    assert any("more cells=..." in warning for warning in audit.warnings)
    with pytest.raises(ValueError, match="bound"):
        float(audit.disparate_impact)
    finer = justicia.fit_population(frame, sensitive_features="sex", structure="independent", cells=100)
    found = justicia.verify(tree, frame, favorable="yes", label="y", population=finer)
    assert float(found.groupings[0].groups[0].selection_rate) == pytest.approx(0.44, abs=1e-12)


def test_a_linear_score_is_bounded_between_the_ends_of_a_cell(people):
    frame = pd.DataFrame({"sex": ["f", "m"] * 100, "x": np.repeat(np.arange(100.0), 2)})
    y = (frame["x"] > 49.5).astype(int)
    model = LogisticRegression(C=1e6).fit(frame[["x"]], y)
    cut = float(-model.intercept_[0] / model.coef_[0, 0])
    for cells, expected in ((10, (0.5, 0.5)), (3, (0.33, 0.67))):
        held = justicia.fit_population(frame, sensitive_features="sex", structure="empirical", cells=cells)
        assert 49 < cut < 50
        assert enclosures(justicia.verify(model, frame, favorable=1, population=held))[0] == pytest.approx(
            expected, abs=0.011
        )


def test_values_that_the_table_of_the_audit_lacks_are_looked_at_all_the_same(models, people):
    held = justicia.fit_population(people, sensitive_features=["race", "sex"], structure="independent", cells=1000)
    # Few rows, other numbers: the rates are those of the population.
    some = people.iloc[:60]
    for name in ("logistic", "bayes", "tree"):
        full = ask(models[name], people, population="independent")
        part = ask(models[name], some, population=held)
        expected = {tuple(group.group.values()): group.selection_rate for group in full.groupings[0].groups}
        for group in part.groupings[0].groups:
            rate = expected[tuple(group.group.values())]
            assert group.selection_rate.lo - 1e-9 <= rate.hi
            assert group.selection_rate.hi + 1e-9 >= rate.lo
            assert group.selection_rate.hi - group.selection_rate.lo < 2e-4


def test_a_curve_says_nothing_between_two_numbers(models, people):
    held = justicia.fit_population(people, sensitive_features=["race", "sex"], structure="tree", cells=20)
    with pytest.raises(PopulationFileError, match=r"the score rises and falls with column '.*more cells=\.\.\."):
        ask(models["bayes"], people, population=held, label=None, favorable="yes")
    options = {"sensitive_features": ["race", "sex"], "structure": "independent"}
    listed = justicia.fit_population(people, cells=20, list_numbers=True, **options)
    wide = ask(models["bayes"], people, population=population_from_json(listed.to_json()), label=None)
    exact = ask(models["bayes"], people, population="independent", label=None)
    for (lo, hi), (low, high) in zip(enclosures(wide), enclosures(exact), strict=True):
        assert lo <= low + 1e-12
        assert high <= hi + 1e-12
        assert hi - lo < 0.3


def test_groupings_and_label_come_from_the_file(models, people):
    held = justicia.fit_population(people, sensitive_features=[["sex", "race"], ["sex"]], label="hired", cells=1000)
    audit = justicia.verify(models["tree"], people, population=held)
    assert [grouping.sensitive for grouping in audit.groupings] == [("sex", "race"), ("sex",)]
    assert audit.roles.truth.name == "hired"
    assert audit.groupings[0].strata["tpr"].population.sizes.sum() == (people["hired"] == "yes").sum()
    # Named in another order, they are the same groups.
    named = justicia.verify(models["tree"], people, population=held, sensitive_features=["race", "sex"])
    assert named.groupings[0].sensitive == ("sex", "race")


def test_true_and_false_positive_rates_change_about_with_the_favorable_outcome(models, people):
    held = justicia.fit_population(people, sensitive_features="sex", label="hired", favorable="yes", cells=1000)
    one = justicia.verify(models["tree"], people, population=held, favorable="yes").groupings[0]
    other = justicia.verify(models["tree"], people, population=held, favorable="no").groupings[0]
    for first, second in zip(one.groups, other.groups, strict=True):
        assert float(first.tpr.lo) == pytest.approx(1 - float(second.fpr.lo), abs=1e-12)
        assert float(first.fpr.lo) == pytest.approx(1 - float(second.tpr.lo), abs=1e-12)


def test_a_population_without_label_leaves_these_rates_out(models, people):
    held = justicia.fit_population(people.drop(columns="hired"), sensitive_features="sex", cells=1000)
    audit = justicia.verify(models["tree"], people, population=held)
    assert audit.groupings[0].groups[0].tpr is None
    assert any("fitted without a true outcome" in warning for warning in audit.warnings)


def test_groups_that_only_one_side_knows(models, people):
    women = people[people["sex"] == "f"]
    held = justicia.fit_population(women, sensitive_features=["race", "sex"], structure="tree", cells=1000)
    audit = ask(models["tree"], people, population=held, label=None)
    by_group = {tuple(group.group.values()): group for group in audit.groupings[0].groups}
    assert by_group["A", "f"].selection_rate.exact
    unknown = by_group["A", "m"]
    assert unknown.selection_rate is None
    assert unknown.sample_rate is not None
    assert "nobody of this group" in unknown.note
    assert audit.most_favored["sex"] == audit.least_favored["sex"] == "f"
    text = audit.to_text()
    assert "A" in text
    undecided = ask(models["tree"], people, population=held, label=None, require="disparate_impact>=0.01")
    assert undecided.requirements[0].status == "undecided"
    assert "2 groups without people in the population" in undecided.requirements[0].reason
    # The other way about: the rows lack a group that the population has.
    held = justicia.fit_population(people, sensitive_features=["race", "sex"], structure="tree", cells=1000)
    audit = ask(models["tree"], women, population=held, label=None)
    alone = {tuple(group.group.values()): group for group in audit.groupings[0].groups}["A", "m"]
    assert alone.selection_rate.exact
    assert alone.sample_rate is None
    assert (alone.n, alone.note) == (0, "no rows: the rate is that of the population alone")
    assert "A" in audit.to_text()
    assert len(audit.by_group) == 4


def test_the_rows_stay_what_sample_rates_and_fit_come_from(models, people):
    held = justicia.fit_population(people, sensitive_features="sex", structure="tree", cells=1000)
    some = people.iloc[::3]
    audit = justicia.verify(models["tree"], some, population=held, check_fit=True)
    chosen = models["tree"].predict(some[FEATURES]) == "yes"
    for group in audit.groupings[0].groups:
        rows = (some["sex"] == group.group["sex"]).to_numpy()
        assert float(group.sample_rate.value) == chosen[rows].mean()
    fit = audit.groupings[0].fit
    assert [one.rows for one in fit.groups] == [float(g.sample_rate.value) for g in audit.groupings[0].groups]
    assert audit.groupings[0].held_out is None
    assert any("nothing is held out" in said for said in audit.announcements)


def test_what_does_not_fit_together_is_refused_in_one_line(models, people):
    lacking = justicia.fit_population(people.drop(columns="pay"), sensitive_features="sex", structure="tree")
    with pytest.raises(PopulationFileError, match="lacks pay, which the model depends on"):
        justicia.verify(models["tree"], people, population=lacking)
    of_sex = justicia.fit_population(people, sensitive_features="sex", label="hired", structure="tree")
    with pytest.raises(PopulationFileError, match="has the groups of sex, not of race"):
        justicia.verify(models["tree"], people, population=of_sex, sensitive_features="race")
    with pytest.raises(PopulationFileError, match="groups by 'sex', and the table has no such column"):
        justicia.verify(models["tree"], people.drop(columns="sex"), population=of_sex)
    with pytest.raises(PopulationFileError, match="bins age: in the population given the column is not cut"):
        justicia.verify(models["tree"], people, population=of_sex, bins={"age": [3]})
    words = people.assign(pay=np.where(people["pay"] > 20, "much", "little"))
    of_words = justicia.fit_population(words, sensitive_features="sex", structure="tree")
    with pytest.raises(
        PopulationFileError, match="holds 'little' in the population, and the model takes it as a number"
    ):
        justicia.verify(models["tree"], people, population=of_words)
    holes = people.assign(pay=people["pay"].where(people["pay"] > 10))
    with_holes = justicia.fit_population(holes, sensitive_features="sex", structure="tree", cells=1000)
    with pytest.raises(PopulationFileError, match=r"column 'pay' holds \(missing\) in the population"):
        justicia.verify(models["logistic"], people, population=with_holes)
    with pytest.raises(justicia.InputError, match="no population is called 'tre', and there is no such file"):
        justicia.verify(models["tree"], people, population="tre")
    with pytest.raises(justicia.InputError, match="not int"):
        justicia.verify(models["tree"], people, population=3)
    renamed = people.assign(outcome=people["hired"])
    with pytest.raises(PopulationFileError, match="true outcome in column 'hired', not 'outcome'"):
        justicia.verify(models["tree"], renamed, population=of_sex, label="outcome", sensitive_features="sex")


def test_bins_and_missing_groups_come_along(models, people):
    held = justicia.fit_population(
        people, sensitive_features="age", bins={"age": [30, 50]}, structure="tree", cells=1000
    )
    assert held.groupings[0].everybody.groups == (("<= 30",), ("(30, 50]",), ("> 50",))
    again = population_from_json(held.to_json())
    one = justicia.verify(models["tree"], people, population=again)
    assert [group.group["age"] for group in one.groupings[0].groups] == ["<= 30", "(30, 50]", "> 50"]
    justicia.verify(models["tree"], people, population=again, bins={"age": ["30", 50.0]})
    with pytest.raises(PopulationFileError, match=r"cut at 30\.0, 50\.0"):
        justicia.verify(models["tree"], people, population=again, bins={"age": [30, 60]})
    drawn = again.sample(500, {"age": "> 50"}, random_state=0)
    assert drawn["age"].min() > 50
    gaps = people.assign(race=people["race"].where(people.index % 7 > 0))
    with_gaps = justicia.fit_population(gaps, sensitive_features="race", missing="group", structure="tree", cells=1000)
    audit = justicia.verify(models["tree"], gaps, population=with_gaps, missing="group")
    assert [group.group["race"] for group in audit.groupings[0].groups] == ["A", "B", "(missing)"]
    left_out = justicia.fit_population(gaps, sensitive_features="race", missing="drop", structure="tree")
    assert left_out.table.rows == int(gaps["race"].notna().sum())


def test_one_hot_tables_are_one_feature_in_the_file_and_columns_again_in_samples(people):
    wide = pd.get_dummies(people.drop(columns="hired"), columns=["job"], dtype=int)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(wide.drop(columns=["race", "sex"]), people["hired"])
    held = population_from_json(
        justicia.fit_population(wide, sensitive_features="sex", structure="independent", cells=1000).to_json()
    )
    assert "job" in held.domain.names
    assert not any(name.startswith("job_") for name in held.domain.names)
    audit = justicia.verify(model, wide, favorable="yes", population=held)
    expected = justicia.verify(model, wide, favorable="yes", sensitive_features="sex", population="independent")
    np.testing.assert_allclose(enclosures(audit), enclosures(expected), atol=1e-12)
    drawn = held.sample(300, random_state=1)
    assert list(drawn.columns) == list(wide.columns)
    assert (drawn[["job_x", "job_y", "job_z"]].sum(axis=1) == 1).all()
    assert set(audit.population.sample({"sex": "f"}, 5, random_state=0).columns) == set(model.feature_names_in_)


@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_people_drawn_from_a_file_are_selected_as_often_as_its_bounds_say(models, people, structure):
    held = justicia.fit_population(people, sensitive_features=["race", "sex"], structure=structure, cells=30)
    audit = ask(models["tree"], people, population=held, label=None)
    n = 4_000
    for group, (lo, hi) in zip(held.groupings[0].everybody.groups, enclosures(audit), strict=True):
        named = dict(zip(("race", "sex"), group, strict=True))
        drawn = held.sample(n, named, random_state=5)
        assert (drawn["race"] == named["race"]).all()
        assert (drawn["sex"] == named["sex"]).all()
        assert list(drawn.columns) == list(people.columns)
        assert drawn["age"].dtype == np.int64
        rate = (models["tree"].predict(drawn[FEATURES]) == "yes").mean()
        slack = 4.5 * np.sqrt(0.25 / n)
        assert lo - slack < rate < hi + slack
        pd.testing.assert_frame_equal(drawn, held.sample(n, named, random_state=5))


def test_everybody_is_drawn_by_the_rows_of_the_groups(people):
    held = justicia.fit_population(people, sensitive_features=["race", "sex"], structure="tree")
    drawn = held.sample(20_000, random_state=0)
    share = (people["race"] == "B").mean()
    assert (drawn["race"] == "B").mean() == pytest.approx(share, abs=0.02)
    # Some of the columns choose several groups, by their rows.
    women = held.sample(8_000, {"sex": "f"}, random_state=0)
    assert (women["sex"] == "f").all()
    of_women = people[people["sex"] == "f"]
    assert (women["race"] == "B").mean() == pytest.approx((of_women["race"] == "B").mean(), abs=0.03)
    assert len(held.sample(0)) == 0
    with pytest.raises(PopulationFileError, match="no group has race 'C'"):
        held.sample(3, {"race": "C"})
    with pytest.raises(PopulationFileError, match="job is no sensitive column"):
        held.sample(3, {"job": "x"})
    with pytest.raises(PopulationFileError, match="cannot be drawn"):
        held.sample(-1)


def test_fitting_says_what_is_wrong(people):
    with pytest.raises(justicia.InputError, match="no population is called 'tre'; did you mean tree"):
        justicia.fit_population(people, structure="tre")
    with pytest.raises(justicia.InputError, match="2 or more"):
        justicia.fit_population(people, cells=1)
    with pytest.raises(TableError, match="label column 'hird' is not in the table; did you mean hired"):
        justicia.fit_population(people, label="hird")
    with pytest.raises(justicia.InputError, match="never holds 'maybe'"):
        justicia.fit_population(people, label="hired", favorable="maybe")
    with pytest.raises(justicia.InputError, match="which outcome is favorable"):
        justicia.fit_population(people, label="job")
    with pytest.raises(justicia.InputError, match="the label, and a sensitive column is none"):
        justicia.fit_population(people, label="sex", sensitive_features="sex")
    with pytest.raises(TableError, match="leave_out py: there is no such column; did you mean pay"):
        justicia.fit_population(people, leave_out="py")
    with pytest.raises(justicia.InputError, match="and no label"):
        justicia.fit_population(people, favorable="yes")


@pytest.mark.parametrize("option", ["bounds", "bootstrap"])
def test_what_rows_leave_open_of_a_given_population_is_no_question(tmp_path, option):
    path = tmp_path / "pop.json"
    justicia.verify("tree", "ricci", population="tree").population_file().to_json(path)
    with pytest.raises(justicia.InputError, match=f"^{option} says what finite rows leave open"):
        justicia.verify("tree", "ricci", population=path, **{option: 200 if option == "bootstrap" else True})
