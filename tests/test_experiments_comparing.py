"""Experiments that compare tools, mitigations and searches: what is true on small inputs, and pages from files."""

from __future__ import annotations

import csv
import math

import numpy as np
import pandas as pd
import pytest

from experiments import common_errors, compound_groups, fairness_algorithms, learn_or_enumerate
from experiments.running import Reporter
from justicia.enclosure import Enclosure

pytest.importorskip("fairlearn.metrics")
pytest.importorskip("aif360.sklearn.metrics")


def run(experiment, folder, **more):
    with Reporter(wanted=False) as progress:
        experiment.run(folder, quick=True, progress=progress, **more)
    with (folder / f"{experiment.NAME}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    folder = tmp_path_factory.mktemp("errors")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("JUSTICIA_PUBLISHED_PYTHON", raising=False)
        rows = run(common_errors, folder)
        assert run(common_errors, folder) == rows
    return folder, {(row["case"], row["tool"]): row for row in rows}


def test_truths_of_small_inputs_follow_by_counting(errors):
    """Counted here once more, without the code of the experiment."""
    _, rows = errors
    truths = {case: row["truth"] for (case, _), row in rows.items()}
    people = [(s, a, b, c) for s in (0, 1) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    small = [sum(1000 * a + 4 * b + 4 * c + 3 * s > 1006 for s, a, b, c in people if s == side) for side in (0, 1)]
    by_hand = {
        "threshold order": 1.0,
        "rare probability": (2 / 5000) / (10 / 5000),
        "small weights": min(small) / max(small),
        "group without rows": 1.0,
        "time-out taken for an answer": (1 / 4) / (1 / 2),
        "group without positives": 0.0,
        "opposite gaps": (1 + 1) / 2,
    }
    for case, value in by_hand.items():
        assert float(truths[case]) == pytest.approx(value, abs=1e-6)
    assert truths["never-positive model"] == "undefined"
    assert truths["misspelt column"] == truths["text labels with a dot"] == "refused"


def test_what_each_tool_says_of_small_inputs(errors):
    _, rows = errors
    assert all(row["right"] == "True" for (_, tool), row in rows.items() if tool == "justicia")
    wrong = {key for key, row in rows.items() if row["right"] == "False"}
    assert wrong == {
        ("never-positive model", "AIF360"),
        ("text labels, favorable one not named", "AIF360"),
        ("text labels, favorable one not named", "Fairlearn"),
        ("group without positives", "AIF360"),
        ("group without positives", "Fairlearn"),
        ("opposite gaps", "AIF360"),
    }
    assert rows["group without positives", "Fairlearn"]["says"] == "1"
    assert rows["time-out taken for an answer", "justicia"]["says"] == "0.0000 to 1.0000, undecided"


def test_answers_are_judged():
    right = common_errors.is_right
    assert right(0.5, 0.5 + 1e-9)
    assert not right(0.5, 0.51)
    assert right(0.5, Enclosure(0.4, 0.6))
    assert not right(0.7, Enclosure(0.4, 0.6))
    assert right("undefined", "undefined")
    assert not right("undefined", 0.0)
    assert not right("refused", "undefined")
    assert not right(0.5, "refused")
    assert common_errors.says(lambda: math.nan) == ("undefined", "undefined")
    assert common_errors.says(lambda: None) == ("undefined", "undefined")
    assert common_errors.says(lambda: {}["sxe"]) == ("KeyError: 'sxe'", "refused")
    assert common_errors.says(lambda: Enclosure(0.1, 0.2)) == ("0.1000 to 0.2000, undecided", Enclosure(0.1, 0.2))


def test_the_page_says_what_the_file_does(errors, tmp_path):
    folder, _ = errors
    held = (folder / "common_errors.csv").read_text(encoding="utf-8")
    assert "✗ 0 " in common_errors.section(folder)
    changed = held.replace(",0.2,0.2,True", ",0.2,0.77,False")
    (tmp_path / "common_errors.csv").write_text(changed, encoding="utf-8")
    assert "✗ 0.77" in common_errors.section(tmp_path)


def test_few_features_are_classes_of_the_table():
    split = fairness_algorithms.split_table("german", "sex", "few", 0)
    assert len(split.train) == 700
    assert len(split.test) == 300
    for name, levels in split.levels.items():
        assert set(split.train[name]) | set(split.test[name]) == set(levels)
    assert set(split.train["sensitive"]) == {"male", "female"}
    for sensitive in ("race", "sex", "age"):
        one = fairness_algorithms.split_table("adult", sensitive, "few", 0)
        assert ("decade" in one.levels) == (sensitive != "age")
        assert all(set(one.train[name]) <= set(levels) for name, levels in one.levels.items())
    ages = pd.Series([17, 19, 20, 29, 30, 69, 70, 90])
    decades = fairness_algorithms.TABLES["adult"].features["decade"][1](ages)
    assert decades.tolist() == ["10s", "10s", "20s", "20s", "30s", "60s", "70 or more", "70 or more"]
    years = fairness_algorithms.TABLES["adult"].features["education"][1](pd.Series([1, 5, 6, 12, 13, 16]))
    assert years.tolist() == ["5 or less", "5 or less", "6", "12", "13 or more", "13 or more"]


@pytest.mark.slow
def test_optimised_rows_keep_to_the_bounds():
    pytest.importorskip("cvxpy")
    split = fairness_algorithms.split_table("compas", "race", "few", 0)
    drawn = fairness_algorithms.optimised(split, 0)
    again = fairness_algorithms.optimised(split, 0)
    pd.testing.assert_frame_equal(drawn, again)
    assert (drawn["sensitive"] == split.train["sensitive"]).all()
    moved = np.zeros(len(drawn), bool)
    for name, levels in split.levels.items():
        steps = np.abs(drawn[name].map(levels.index) - split.train[name].map(levels.index))
        assert steps.max() <= 1
        moved |= steps > 0
    # A feature moves with a probability of .05 at most, whatever a person is.
    assert moved.mean() < 0.06
    gaps = [
        (rows["outcome"] == split.favorable).groupby(rows["sensitive"]).mean().agg(np.ptp)
        for rows in (split.train, drawn)
    ]
    # The gap is .05 at most in expectation; 5,000 draws are off by .03 at most but for one time in a hundred.
    assert gaps[1] < 0.08 < gaps[0]


@pytest.mark.slow
def test_fairness_algorithms(tmp_path):
    pytest.importorskip("cvxpy")
    rows = run(fairness_algorithms, tmp_path)
    assert run(fairness_algorithms, tmp_path) == rows
    held = {(row["model"], row["features"], row["algorithm"]): row for row in rows}
    ours, theirs = (held["logistic", "few", name] for name in ("reweighing", "reweighing (AIF360)"))
    for name in ("accuracy", "disparate_impact_lo", "rows_disparate_impact"):
        assert ours[name] == theirs[name]
    assert float(theirs["weights_apart"]) <= 1e-12
    assert float(ours["disparate_impact_lo"]) > float(held["logistic", "few", "none"]["disparate_impact_lo"]) + 0.1
    page = fairness_algorithms.section(tmp_path)
    assert f"{float(ours['rows_disparate_impact']):.3f}" in page
    assert (tmp_path / "fairness_algorithms.svg").read_text().startswith("<?xml")


@pytest.mark.slow
def test_compound_groups(tmp_path):
    rows = run(compound_groups, tmp_path)
    assert run(compound_groups, tmp_path) == rows
    assert [int(row["groups"]) for row in rows if row["population"] == "auto"] == [2, 5, 10, 20]
    for population in compound_groups.POPULATIONS:
        # Every grouping parts groups of the one before but the first: the ratio can only fall, on the rows.
        of_rows = [float(row["rows_disparate_impact"]) for row in rows if row["population"] == population]
        assert of_rows[1] >= of_rows[2] >= of_rows[3]
    assert "0.934" in compound_groups.section(tmp_path)


@pytest.mark.slow
def test_learn_or_enumerate(tmp_path):
    rows = run(learn_or_enumerate, tmp_path)
    assert len(rows) == 3 * 2 * 2
    by_case = {}
    for row in rows:
        by_case.setdefault((row["model"], row["grouping"]), []).append(row)
    for one, other in by_case.values():
        assert learn_or_enumerate.agrees(one, other)
        assert one["groups"] == other["groups"]
    assert "in 6 of 6 cases" in learn_or_enumerate.section(tmp_path)


def test_bounds_that_do_not_overlap_do_not_agree():
    def row(lo, hi):
        return {"disparate_impact_lo": lo, "disparate_impact_hi": hi}

    assert learn_or_enumerate.agrees(row("0.1", "0.2"), row("0.2", "0.3"))
    assert not learn_or_enumerate.agrees(row("0.1", "0.2"), row("0.21", "0.3"))
    assert learn_or_enumerate.agrees(row("", ""), row("", ""))
    assert not learn_or_enumerate.agrees(row("", ""), row("0.1", "0.2"))
