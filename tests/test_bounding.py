"""What bounds by the rows are said of, and where they are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia.bounding import CLAIMS
from justicia.solvers import confidence_box


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "x": rng.integers(0, 3, n), "z": rng.integers(0, 2, n)})
    frame["z"] = np.where(rng.random(n) < 0.8, frame["x"] > 0, frame["z"]).astype(int)
    label = ((frame["x"] + frame["z"] + (frame["sex"] == "m") + rng.integers(0, 2, n)) > 2).astype(int)
    return frame, label


def audit(model, frame, label, columns=("x", "z"), **options):
    model.fit(frame[list(columns)], label)
    given = {"sensitive_features": "sex", "bounds": True, **options}
    return justicia.verify(model, frame, **given)


@pytest.mark.parametrize("structure", ["tree", "independent"])
def test_bounds_of_trees_hold_the_verified_rates_inside_one_another(structure):
    frame, label = table()
    held = audit(DecisionTreeClassifier(max_depth=3), frame, label, population=structure, y=label)
    grouping = held.groupings[0]
    for group in grouping.groups:
        for kind in ("selection_rate", "tpr", "fpr"):
            bounds = group.bounds[kind]
            rate = float(getattr(group, kind).lo)
            box = bounds["confidence_box"]
            assert box.lo <= rate <= box.hi
            around = bounds["total_variation"]
            if around is not None:
                assert around.lo <= box.lo
                assert box.hi <= around.hi
        given = group.bounds["selection_rate"]["given_structure"]
        k, n = group.selected, group.n
        each = (0.05 * 0.75) / 2
        assert given.lo >= beta.ppf(each / 2, k, n - k + 1) - 1e-12
        assert given.hi <= beta.isf(each / 2, k + 1, n - k) + 1e-12
    impact = grouping.measures["disparate_impact"]
    boxes = [group.bounds["selection_rate"]["confidence_box"] for group in grouping.groups]
    assert impact.bounds["confidence_box"].lo == min(box.lo for box in boxes) / max(box.hi for box in boxes)
    assert grouping.measures["equalized_odds_difference"].bounds == {}
    assert {"confidence_box_lo", "given_structure_hi"} <= set(held.by_group.columns)


def test_one_table_is_bounded_by_the_interval_of_its_one_number():
    """A single feature of the cells 0, 1 and missing that decides: the box is Clopper and Pearson's interval of 1."""
    frame = pd.DataFrame({"sex": ["f"] * 30 + ["m"] * 50, "x": [1] * 6 + [0] * 24 + [1] * 20 + [0] * 30})
    held = audit(DecisionTreeClassifier(), frame, frame["x"], columns=("x",), population="independent")
    each = 0.05 * 0.25 / 2 / (2 * 3)
    for group, k, n in zip(held.groupings[0].groups, (6, 20), (30, 50), strict=True):
        box = group.bounds["selection_rate"]["confidence_box"]
        assert box.lo == pytest.approx(beta.ppf(each / 2, k, n - k + 1), abs=1e-11)
        assert box.hi == pytest.approx(beta.isf(each / 2, k + 1, n - k), abs=1e-11)


@pytest.mark.parametrize("small", [True, False])
def test_other_models_are_bounded_by_all_points_or_by_distance(small, monkeypatch):
    if not small:
        monkeypatch.setattr(confidence_box, "MOST_POINTS", 0)
    frame, label = table()
    text = frame.astype({"x": str, "z": str})
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    forest = RandomForestClassifier(5, max_depth=2, random_state=0)
    for held in (
        audit(model, text, label, population="independent"),
        audit(forest, frame, label, population="independent"),
    ):
        for group in held.groupings[0].groups:
            bounds = group.bounds["selection_rate"]
            box, around = bounds["confidence_box"], bounds["total_variation"]
            assert box.lo < group.selection_rate.lo
            assert box.hi > group.selection_rate.hi
            assert (box.hi - box.lo < 0.7 * (around.hi - around.lo)) if small else box == around


@pytest.mark.parametrize("structure", ["auto", "empirical", "tree"])
def test_where_there_is_no_projection_there_is_a_reason(structure):
    frame, label = table()
    frame["x"] = np.random.default_rng(0).normal(size=len(frame)) + label
    model = LogisticRegression() if structure == "tree" else DecisionTreeClassifier(max_depth=2)
    grouping = audit(model, frame, label, population=structure).groupings[0]
    says = {
        "auto": "for --population tree and independent",
        "empirical": "no structure",
        "tree": "of x the model is known at",
    }
    for name in CLAIMS:
        assert says[structure] in grouping.uncertainty.bounds["selection_rate"][name].reason
        assert all(group.bounds["selection_rate"][name] is None for group in grouping.groups)


def test_rows_can_refute_a_structure():
    """Two features that are equal in every row, accepted when they differ: independence says half of the time."""
    x = np.tile([0, 1], 2000)
    frame = pd.DataFrame({"sex": ["f", "f", "m", "m"] * 1000, "x": x, "z": x})
    differ = pd.DataFrame({"x": [0, 0, 1, 1], "z": [0, 1, 0, 1]})
    model = DecisionTreeClassifier(random_state=0).fit(differ, [0, 1, 1, 0])
    options = {"sensitive_features": "sex", "bounds": True, "favorable": 1}
    independent = justicia.verify(model, frame, population="independent", **options).groupings[0]
    bound = independent.uncertainty.bounds["selection_rate"]["given_structure"]
    assert bound.values == (None, None)
    assert "refuted" in bound.reason
    tree = justicia.verify(model, frame, population="tree", **options).groupings[0]
    assert tree.uncertainty.bounds["selection_rate"]["given_structure"].reason is None


def test_sensitive_features_of_the_model_cost_nothing_unless_binned():
    frame, _ = table()
    frame["age"] = np.random.default_rng(1).choice([20, 30, 40, 50], len(frame))
    plain = audit(
        DecisionTreeClassifier(max_depth=1), frame, frame["age"] > 30, ("age",), sensitive_features="age",
        population="independent", favorable=True,
    ).groupings[0]  # fmt: skip
    for group in plain.groups:
        box = group.bounds["selection_rate"]["confidence_box"]
        assert box.hi - box.lo < 1e-11
    binned = audit(
        DecisionTreeClassifier(max_depth=1), frame, frame["age"] > 30, ("age",), sensitive_features="age",
        bins={"age": [35]}, population="independent", favorable=True,
    ).groupings[0]  # fmt: skip
    for group in binned.groups:
        box = group.bounds["selection_rate"]["confidence_box"]
        assert box.hi - box.lo > 1e-3


def test_groups_without_an_outcome_and_a_model_without_features():
    frame, label = table(40)
    label[frame["sex"] == "f"] = 0
    held = audit(DecisionTreeClassifier(max_depth=2), frame, label, population="tree", y=label)
    women = held.groupings[0].groups[0]
    assert women.tpr is None
    assert women.bounds["tpr"]["confidence_box"] is None
    assert held.groupings[0].measures["equal_opportunity_difference"].bounds["confidence_box"] is None
    nothing = DecisionTreeClassifier().fit(frame[["x"]], np.ones(len(frame)))
    held = justicia.verify(
        nothing, frame, sensitive_features="sex", population="tree", favorable=1, bounds=True, bootstrap=40
    )
    for group in held.groupings[0].groups:
        assert group.bounds["selection_rate"]["confidence_box"] == group.selection_rate
        assert group.bootstrap["selection_rate"].lo == pytest.approx(0.025 ** (1 / group.n))
        assert group.bootstrap["selection_rate"].hi == 1.0
