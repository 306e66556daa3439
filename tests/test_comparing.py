"""`justicia.compare`: other tools' numbers on the bundled tables, two models, a model fitted again with weights."""

from __future__ import annotations

import json
import logging
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia import datasets
from justicia.errors import InputError, LabelError, UnsupportedModelError
from justicia.report.json import schema
from justicia.report.side_by_side_json import comparison_schema
from justicia.sides import people_of

pytest.importorskip("fairlearn.metrics")
pytest.importorskip("aif360.sklearn.metrics")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.slow) if name in ("adult", "compas") else name for name in datasets.names()
    ],
)
def compared(request):
    return request.param, justicia.compare("tree", request.param)


def test_every_number_agrees_with_the_rows_or_is_explained(compared):
    _, found = compared
    numbers = found.numbers
    assert set(numbers["tool"]) == {"aif360", "fairlearn"}
    assert set(numbers["agreement"]) <= {"equal", "explained"}, numbers[~numbers["agreement"].eq("equal")]
    assert found.exit_code == 0
    equal = numbers[numbers["agreement"] == "equal"]
    both = equal["value"].notna() | equal["rows"].notna()
    assert (equal["value"] - equal["rows"])[both].abs().max() <= 1e-12
    assert numbers.loc[numbers["agreement"] == "explained", "why"].str.len().min() > 20
    # Fairlearn's definitions are ours: they part only where a rate has nobody to count.
    of_fairlearn = numbers[(numbers["tool"] == "fairlearn") & (numbers["agreement"] == "explained")]
    assert of_fairlearn["why"].str.contains("Fairlearn").all()


def test_rates_of_every_group_are_those_that_pandas_counts(compared):
    name, found = compared
    frame, description = datasets.load(name)
    side = found.sides[0]
    decided = side.audit.fitted.predictor.predict(frame[list(side.audit.columns)])
    selected = pd.Series(decided).astype(str).eq(description.favorable)
    truth = frame[description.label].astype(str).eq(description.favorable)
    keys = frame[list(description.sensitive)].astype(str).agg(", ".join, axis=1)
    by_hand = {
        "selection_rate": selected.groupby(keys).mean(),
        "tpr": selected[truth].groupby(keys[truth]).mean(),
        "fpr": selected[~truth].groupby(keys[~truth]).mean(),
        "precision": truth[selected].groupby(keys[selected]).mean(),
    }
    numbers = found.numbers
    rates = numbers[numbers["group"].notna() & (numbers["grouping"] == " x ".join(description.sensitive))]
    assert set(rates["measure"]) == set(by_hand)
    for row in rates.itertuples():
        expected = by_hand[row.measure].get(row.group, math.nan)
        assert row.rows == pytest.approx(expected, abs=1e-12, nan_ok=True)
        if not math.isnan(expected):
            assert row.value == pytest.approx(expected, abs=1e-12)


def test_reports_hold_what_was_found(compared, tmp_path):
    _, found = compared
    text = found.to_text()
    assert "Why numbers differ" in text
    assert "What it took" in text
    held = json.loads(found.to_json())
    Draft202012Validator(comparison_schema()).validate(held)
    Draft202012Validator(schema()).validate(held["models"][0]["audit"])
    numbers = [one for tool in held["models"][0]["groupings"][0]["tools"] for one in tool["numbers"]]
    assert {one["agreement"] for one in numbers} <= {"equal", "explained"}
    found.to_html(tmp_path / "c.html")
    assert "demographic_parity_ratio" in (tmp_path / "c.html").read_text(encoding="utf-8")


def people(seed=0, n=400):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice(["<b>", "w", "other, or none"], n),
            "x": rng.integers(0, 6, n),
            "z": rng.integers(0, 6, n),
            "w": rng.integers(1, 5, n) / 2,
        }
    )
    frame["hired"] = (frame["x"] + (frame["sex"] == "m") * 2 + rng.normal(size=n) > 3.5).astype(int)
    return frame


FRAME = people()
FIRST = DecisionTreeClassifier(max_depth=3, random_state=0).fit(FRAME[["x", "z"]], FRAME["hired"])
SECOND = LogisticRegression().fit(FRAME[["x", "z"]], FRAME["hired"])


def compare(*models, data=FRAME, **options):
    options = {"sensitive_features": ["sex", "race"], "label": "hired", "favorable": 1, **options}
    return justicia.compare(models[0], data, *models[1:], **options)


def test_two_models_side_by_side():
    found = compare(FIRST, SECOND, population="empirical", tools=[])
    (change,) = found.changes
    one, other = (model.predict(FRAME[["x", "z"]]) for model in (FIRST, SECOND))
    for group in change.groups:
        rows = (FRAME["sex"] == group.group["sex"]) & (FRAME["race"] == group.group["race"])
        assert group.n == rows.sum()
        assert group.gained == ((other == 1) & (one == 0))[rows].sum()
        assert group.lost == ((one == 1) & (other == 0))[rows].sum()
        held = group.rows["selection_rate"]
        assert float(held.before.lo) == pytest.approx(one[rows].mean())
        assert float(held.difference.lo) == pytest.approx(other[rows].mean() - one[rows].mean())
        verified = group.verified["selection_rate"].difference
        assert float(verified.lo) - 1e-9 <= float(held.difference.lo) <= float(verified.hi) + 1e-9
    rates = [pd.Series(model).groupby([FRAME["sex"], FRAME["race"]]).mean() for model in (one, other)]
    impact = change.rows["disparate_impact"]
    assert float(impact.before.lo) == pytest.approx(rates[0].min() / rates[0].max())
    assert float(impact.difference.lo) == pytest.approx(
        rates[1].min() / rates[1].max() - rates[0].min() / rates[0].max()
    )
    assert [side.accuracy for side in found.sides] == pytest.approx(
        [(one == FRAME["hired"]).mean(), (other == FRAME["hired"]).mean()]
    )
    assert "from DecisionTreeClassifier to LogisticRegression" in found.to_text()


@pytest.mark.parametrize("width", [80, 100, 120, 140])
@pytest.mark.parametrize("models", [(FIRST,), (FIRST, SECOND)])
def test_tables_hold_every_number_at_any_width(models, width):
    found = compare(*models, sensitive_features=[["race", "sex"], ["sex"]], population="empirical")
    text = found.to_text(width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for change, grouping in zip(found.changes, found.audits[0].groupings, strict=False):
        title = " x ".join(change.sensitive)
        block = text[text.index(f"\n{title}: measures") :].split(f"\n{title}: other tools")[0]
        for name, verified in change.verified.items():
            both = [f"{float(one.lo):.4f}" for one in (verified.before, verified.after)]
            rows = [f"{float(one.lo):.4f}" for one in (change.rows[name].before, change.rows[name].after)]
            lines = [line for line in block.splitlines() if line.startswith(f"{name.replace('_', ' ')} ")]
            words = " ".join(lines).split()
            assert [word for word in words if word in {*both, *rows}] == [*both, *rows], name
        assert len(grouping.groups) == len(change.groups)
    numbers = found.numbers
    listed = numbers[numbers["group"].isna() & numbers["value"].notna()]
    assert set(listed["model"]) == {side.name for side in found.sides}
    assert all(f"{value:.4f}" in text for value in listed["value"])


@pytest.mark.parametrize("models", [(FIRST,), (FIRST, SECOND)])
def test_measures_that_leave_out_groups_are_named(models):
    # Nobody of race w has a favorable outcome, for either model.
    few = FRAME[(FRAME["race"] != "w") | (FRAME["hired"] == 0)]
    text = " ".join(compare(*models, data=few, sensitive_features=["race"]).to_text(200).split())
    says = (
        "incomplete: 1 group without positives (w): equal opportunity difference, equal opportunity ratio, equalized "
        "odds difference, equalized odds ratio, average odds difference"
    )
    assert text.count(says) == 1


def test_what_is_said_of_both_models_stands_there_once():
    few = FRAME.copy()
    few.loc[few.index[:3], "race"] = "rare"
    text = compare(FIRST, SECOND, data=few, sensitive_features=["race"]).to_text(200)
    assert text.count("favorable") - text.count("true outcome is favorable") == 1
    assert text.count("400 people") == 1
    warnings = [line for line in text.splitlines() if line.startswith("! ")]
    # The same people, so the same sizes; other people selected, so other counts of them.
    assert sum("1 group of race: fewer than 30 people" in line for line in warnings) == 1
    counts = [line for line in warnings if "fewer than 30 people of the table" in line]
    assert len(counts) in (1, 2)
    assert len(counts) == 1 or {line.split()[1] for line in counts} == {
        "DecisionTreeClassifier:", "LogisticRegression:",
    }  # fmt: skip


def test_differences_of_bounds_hold_whatever_the_rates_are():
    found = compare(SECOND, LogisticRegression(C=0.01).fit(FRAME[["x", "z"]], FRAME["hired"]), tools=[], tolerance=0.05)
    for group in found.changes[0].groups:
        change = group.verified["selection_rate"]
        assert change.difference.lo == change.after.lo - change.before.hi
        assert change.difference.hi == change.after.hi - change.before.lo
    assert [side.name for side in found.sides] == ["LogisticRegression, the first", "LogisticRegression, the second"]


def test_a_model_fitted_again_with_weights():
    model = LogisticRegression().fit(FRAME[["x", "z"]].assign(m=FRAME["sex"] == "m"), FRAME["hired"])
    data = FRAME.assign(m=FRAME["sex"] == "m")
    found = compare(model, data=data, mitigate="reweigh", sensitive_features=["sex"], population="empirical", tools=[])
    weights = np.empty(len(data))
    for sex in ("f", "m"):
        for hired in (0, 1):
            cell = (data["sex"] == sex) & (data["hired"] == hired)
            weights[cell] = (data["sex"] == sex).mean() * (data["hired"] == hired).mean() / cell.mean()
    own = LogisticRegression().fit(data[["x", "z", "m"]], data["hired"], sample_weight=weights)
    again = found.sides[1].audit.fitted.predictor
    np.testing.assert_allclose(again.coef_, own.coef_)
    impact = found.changes[0].rows["disparate_impact"]
    assert float(impact.after.lo) > float(impact.before.lo) + 0.1
    assert found.sides[1].name == "LogisticRegression, reweighed"


def test_models_are_fitted_to_data_and_audited_on_test_data():
    train, test = people(1), people(2)
    found = compare("tree", data=train, test_data=test, mitigate="reweigh", tools=[])
    assert len(found.sides[0].audit.table.frame) == len(test)
    own = justicia.verify("tree", train, sensitive_features=["sex", "race"], label="hired", favorable=1)
    columns = list(own.columns)
    np.testing.assert_array_equal(
        found.sides[0].audit.fitted.predictor.predict(test[columns]), own.fitted.predictor.predict(test[columns])
    )
    decided = found.sides[1].audit.fitted.predictor.predict(train[columns])
    assert (decided != own.fitted.predictor.predict(train[columns])).any()


def test_data_that_nothing_is_fitted_to_is_told(caplog):
    with caplog.at_level(logging.WARNING, logger="justicia"):
        found = compare(FIRST, data="no such file.csv", test_data=FRAME, tools=[])
    assert "left unread" in caplog.text
    assert any("left unread" in warning for warning in found.warnings)


def test_labels_in_other_words_than_the_classes():
    frame = FRAME.assign(hired=FRAME["hired"].map({0: "no", 1: "yes"}))
    found = compare(FIRST, data=frame, mitigate="reweigh", favorable="yes", tools=[])
    assert list(found.sides[1].audit.fitted.classes) == [0, 1]
    assert found.sides[1].accuracy == pytest.approx(compare(FIRST, mitigate="reweigh", tools=[]).sides[1].accuracy)


def test_sensitive_columns_that_were_one_hot_encoded():
    frame = pd.get_dummies(FRAME.drop(columns=["sex", "w"]), columns=["race"], dtype=int)
    columns = [name for name in frame.columns if name != "hired"]
    model = LogisticRegression().fit(frame[columns], frame["hired"])
    found = compare(model, data=frame, sensitive_features="race", mitigate="reweigh", tools=["fairlearn"])
    assert set(found.numbers["agreement"]) == {"equal"}
    sizes = FRAME["race"].value_counts()
    assert {group.group["race"]: group.n for group in found.changes[0].groups if group.n} == sizes.to_dict()
    before, after = (side.audit.fitted.predictor for side in found.sides)
    assert type(before) is type(after)


def test_weights_missing_values_and_bins_are_those_of_the_audit():
    frame = FRAME.assign(age=np.arange(len(FRAME)) % 60)
    frame.loc[:30, "race"] = None
    frame.loc[50:90, "hired"] = None
    options = {"bins": {"age": [20, 40]}, "missing": "drop", "weight": "w", "sensitive_features": ["race", "age"]}
    found = compare(FIRST, data=frame, population="independent", tools="fairlearn", **options)
    assert set(found.numbers["agreement"]) <= {"equal", "explained"}
    kept = frame[frame["race"].notna()].reset_index(drop=True)
    row = found.numbers.query("measure == 'selection_rate' and tool == 'fairlearn'").iloc[0]
    race, _ = row["group"].rsplit(", ", 1)
    mine = kept[(kept["race"] == race) & (pd.cut(kept["age"], [-1, 20, 40, 99]).cat.codes == 0)]
    chosen = FIRST.predict(mine[["x", "z"]])
    assert row["value"] == pytest.approx((chosen * mine["w"]).sum() / mine["w"].sum(), abs=1e-12)
    people_ = people_of(found.audits[0], found.audits[0].groupings[0])
    assert people_.known.sum() == kept["hired"].notna().sum()


def test_aif360_is_told_the_reference_group():
    found = compare(FIRST, tools="aif360", reference="sex=f,race=w", population="empirical")
    compared = found.numbers["compared"].dropna()
    assert compared.str.endswith("against f, w").any()
    assert set(found.numbers["agreement"]) <= {"equal", "explained"}


def test_tools_that_are_absent_are_said(monkeypatch):
    import sys

    for name in [name for name in sys.modules if name.split(".")[0] == "fairlearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fairlearn", None)
    found = compare(FIRST, tools=["fairlearn"])
    assert "left out: it is not installed: pip install 'justicia-verifier[compare]'" in found.to_text()
    held = json.loads(found.to_json())
    assert held["models"][0]["groupings"][0]["tools"][1]["version"] is None
    Draft202012Validator(comparison_schema()).validate(held)


def test_equal_inputs_give_equal_bytes(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    texts = [
        (found.to_json(), found.to_html(), found.to_text())
        for found in (
            compare(FIRST, mitigate="reweigh", tools=["aif360"], sensitive_features=["sex"]) for _ in range(2)
        )
    ]
    assert texts[0] == texts[1]


def test_an_unexplained_number_ends_with_four(monkeypatch):
    from justicia.peers import PEERS, base

    peer = PEERS["fairlearn"]

    def wrong(module, people_):
        calls, notes = peer.calls(module, people_)
        return [replace(one, run=lambda: 0.123) for one in calls[:2]], notes

    monkeypatch.setitem(PEERS, "fairlearn", base.Peer("fairlearn", "Fairlearn", peer.load, wrong))
    found = compare(FIRST, tools=["fairlearn"])
    assert found.exit_code == 4
    assert found.sides[0].unexplained == 2
    assert any("2 numbers of other tools are neither equal nor explained" in one for one in found.warnings)


@pytest.fixture(scope="module")
def two():
    return compare(FIRST, SECOND, sensitive_features=["race"])


def test_html_escapes_what_tables_hold(two):
    import html5lib

    page = two.to_html()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    html5lib.HTMLParser(strict=True).parse(page)
    ids = [part.split('"')[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))


def test_frames(two):
    frame = two.by_group
    assert list(frame.index.names) == ["race"]
    assert set(frame.columns.get_level_values("source")) == {
        *("verified_lo", "verified_hi", "rows", "aif360", "fairlearn"),
    }
    rows = frame["DecisionTreeClassifier"]
    pd.testing.assert_series_equal(rows["rows"], rows["fairlearn"], check_names=False)
    assert repr(two).startswith("<Comparison of DecisionTreeClassifier and LogisticRegression")


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: compare(FIRST, tools=["fairlern"]), InputError, "did you mean fairlearn"),
        (lambda: compare(FIRST, mitigate="reweight"), InputError, "did you mean reweigh"),
        (lambda: compare(FIRST, SECOND, mitigate="reweigh"), InputError, "leave one of them out"),
        (lambda: compare(FIRST, missing="bounds"), InputError, "missing cannot be"),
        (lambda: compare("tree", test_data=FRAME, label=None, y=FRAME["hired"]), InputError, "columns of both"),
        (
            lambda: compare(GaussianNB().fit(FRAME[["x", "z"]], FRAME["hired"]), label="x", favorable=None),
            LabelError,
            "x",
        ),
        (
            lambda: justicia.compare(
                FIRST, FRAME.drop(columns="hired"), sensitive_features=["sex"], mitigate="reweigh", favorable=1
            ),
            LabelError,
            "name the column of the true outcome",
        ),
        (
            lambda: compare(KNeighborsClassifier().fit(FRAME[["x", "z"]], FRAME["hired"])),
            UnsupportedModelError,
            "KNeighbors",
        ),
        (
            lambda: compare(
                FIRST, DecisionTreeClassifier().fit(FRAME[["x"]], 1 - FRAME["hired"] + 5), favorable=None, tools=[]
            ),
            InputError,
            "1 is favorable for the first model and 6 for the second",
        ),
    ],
)
def test_bad_calls(call, error, says):
    with pytest.raises(error, match=says):
        call()
