"""Tables read in batches give the audits of tables read whole."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import justicia
from justicia import streaming, streaming_rates
from justicia.cli import main
from justicia.errors import InputError, TableError
from justicia.tables import condensing, csv_stream, sources


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"race": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]), "sex": rng.choice(["f", "m"], n)})
    table["age"] = rng.integers(18, 80, n)
    table["job"] = rng.choice(["x", "y", "z", "new"], n, p=[0.5, 0.3, 0.18, 0.02])
    table["pay"] = (rng.normal(size=n) + (table["sex"] == "m") * 0.4).round(1)
    table["noise"] = rng.normal(size=n)
    table["note"] = rng.choice(["u", "v", "w"], n)
    merit = table["pay"] + 2 * (table["job"] == "x") + rng.normal(size=n)
    table["good"] = (merit > 1.2).map({True: "yes", False: "no"})
    return table


FEATURES = ["age", "job", "pay"]


def fitted(estimator, table):
    known = table[table["job"] != "new"]
    words = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["job"]), remainder="passthrough")
    return make_pipeline(words, estimator).fit(known[FEATURES], known["good"])


@pytest.fixture(scope="module")
def table():
    return people()


@pytest.fixture(scope="module")
def tree(table):
    return fitted(DecisionTreeClassifier(max_depth=4, random_state=0), table)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(sources, "_BATCH_ROWS", (7, 97))
    monkeypatch.setattr(condensing, "_AT_ONCE", 50)
    monkeypatch.setattr(sources, "_HEAD", 40)
    monkeypatch.setattr(csv_stream, "_MOST_KEPT", 1000)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")


def written(table, folder, suffix):
    path = folder / f"people{suffix}"
    if suffix == ".parquet":
        table.to_parquet(path, row_group_size=100)
    else:
        table.to_csv(path, index=False)
    return path


def same(model, path, **options):
    whole = justicia.verify(model, path, stream=False, **options)
    streamed = justicia.verify(model, path, stream=True, **options)
    assert streamed.table.repeats is not None
    assert whole.table.repeats is None
    assert streamed.to_json() == whole.to_json()
    assert streamed.to_text() == whole.to_text()
    return streamed


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".csv.gz"])
@pytest.mark.parametrize("population", ["auto", "tree", "independent", "empirical"])
def test_audit_is_that_of_the_whole_table(table, tree, tmp_path, suffix, population):
    if suffix == ".csv.gz" and population != "auto":
        pytest.skip("once is enough")
    path = written(table, tmp_path, suffix)
    audit = same(
        tree, path, sensitive_features=[["race", "sex"], ["sex"]], population=population, tests=True, min_group=20,
        require=["disparate_impact>=0.8", "sample.disparate_impact>=.5"], reference="sex=f,race=a",
        cross_check=population == "empirical",
    )  # fmt: skip
    assert len(audit.table.frame) < 600
    assert list(audit.table.frame.columns) == ["race", "sex", "age", "job", "pay", "good"]
    assert audit.unseen["job"] == {"new": int((table["job"] == "new").sum())}
    assert audit.self_check.rows == 600


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(max_iter=2000), GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0)],
)
def test_values_that_are_cells_are_all_known(table, estimator, tmp_path):
    same(fitted(estimator, table), written(table, tmp_path, ".parquet"), sensitive_features=["race"], label="good")


def test_missing_values_bins_factors_and_weights(table, tmp_path):
    table = table.assign(w=np.arange(600) % 3)
    table.loc[::9, "race"] = None
    table.loc[::7, "pay"] = np.nan
    table.loc[::11, "good"] = None
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(
        table[table["good"].notna()][["pay", "age"]], table["good"].dropna()
    )
    for suffix in (".csv", ".parquet"):
        path = written(table, tmp_path, suffix)
        for missing in ("drop", "group", "bounds"):
            same(model, path, sensitive_features=[["race", "age"]], bins={"age": [30, 50]}, missing=missing)
        same(model, path, sensitive_features=["sex"], given=["job"])
        for kind in ("frequency", "sampling"):
            same(model, path, sensitive_features=["sex"], weight="w", weight_kind=kind, population="tree")
        with pytest.raises(InputError, match=r"'race' has no value in 67 rows of 600"):
            justicia.verify(model, path, sensitive_features=["race"], stream=True)


def test_one_hot_columns_are_one_feature(table, tmp_path):
    wide = table.drop(columns="race").join(pd.get_dummies(table["race"], prefix="race", dtype=int))
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(wide[["pay", "race_a", "race_b"]], wide["good"])
    same(model, written(wide, tmp_path, ".csv"), sensitive_features=["race"])


def test_columns_without_names_and_labels_by_their_values(table, tmp_path):
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(table[["pay", "age"]].to_numpy(), table["good"])
    same(model, written(table, tmp_path, ".csv"), sensitive_features=["sex"], features=["pay", "age"])


def test_only_used_columns_are_held(table, tree, tmp_path):
    rng = np.random.default_rng(0)
    more = pd.DataFrame(rng.normal(size=(600, 200)), columns=[f"extra{i}" for i in range(200)])
    wide = pd.concat([more.iloc[:, :100], table, more.iloc[:, 100:]], axis=1)
    for suffix in (".csv", ".parquet"):
        audit = same(tree, written(wide, tmp_path, suffix), sensitive_features=["sex"])
        assert list(audit.table.frame.columns) == ["sex", "age", "job", "pay", "good"]


def test_large_files_are_streamed_by_themselves(table, tree, tmp_path, monkeypatch):
    path, large = written(table, tmp_path, ".parquet"), written(table, tmp_path, ".csv")
    assert justicia.verify(tree, path, sensitive_features=["sex"]).table.repeats is None
    monkeypatch.setattr(streaming, "_LARGE_ROWS", 599)
    monkeypatch.setattr(streaming, "_LARGE_TEXT", large.stat().st_size - 1)
    seen = []
    for one in (path, large):
        audit = justicia.verify(tree, one, sensitive_features=["sex"], progress=lambda text, done: seen.append(done))
        assert audit.table.repeats is not None
        assert any("is read in batches, 5 of 8 columns" in text for text in audit.announcements)
    assert min(seen) > 0
    assert max(seen) == 1


def test_command(table, tree, tmp_path):
    path, model = written(table, tmp_path, ".csv"), tmp_path / "tree.pkl"
    model.write_bytes(pickle.dumps(tree))
    texts = []
    for way in ("--stream", "--no-stream"):
        out = tmp_path / f"out{way}.json"
        call = ["verify", "--model", str(model), "--data", str(path), "--sensitive", "race", way, "--json", str(out)]
        with pytest.raises(SystemExit) as ended:
            main(call)
        assert ended.value.code == 0
        texts.append({**json.loads(out.read_text()), "command": None})
    assert texts[0] == texts[1]


def test_too_many_people_is_one_line(table, tree, tmp_path, monkeypatch):
    monkeypatch.setattr(condensing, "MOST_PEOPLE", 20)
    path = written(table.assign(w=np.arange(600)), tmp_path, ".csv")
    with pytest.raises(TableError, match=r"more than 20 different people .* w \(\d+\)") as error:
        justicia.verify(tree, path, sensitive_features=["sex"], weight="w", stream=True)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(max_depth=4), LogisticRegression(max_iter=2000)])
@pytest.mark.parametrize("population", ["empirical", "auto"])
def test_more_people_than_are_held_are_counted_by_decision(table, estimator, population, tmp_path, monkeypatch):
    model = fitted(estimator, table)
    path = written(table.assign(good=table["good"].mask(np.arange(600) % 10 == 0)), tmp_path, ".parquet")
    options = {"sensitive_features": [["race", "sex"]], "population": population, "require": "disparate_impact>=0.7"}
    whole = justicia.verify(model, path, **options)
    monkeypatch.setattr(condensing, "MOST_PEOPLE", 60)
    streamed = justicia.verify(model, path, **options, stream=True)
    assert streamed.table.by_decision
    assert streamed.unseen == whole.unseen
    one, other = whole.to_dict(), streamed.to_dict()
    assert one["data"] == other["data"]
    assert one["requirements"][0]["status"] == other["requirements"][0]["status"]
    for a, b in zip(one["groupings"][0]["groups"], other["groupings"][0]["groups"], strict=True):
        # All rows are in the sample, so nothing differs but the order in which they are added up.
        for name in ("n", "selected", "positives", "negatives", "sample_rate", "sample_tpr", "sample_fpr"):
            assert a[name] == b[name]
        for name in ("selection_rate", "tpr", "fpr"):
            if a[name] is None:
                assert b[name] is None
            else:
                assert b[name]["lo"] == pytest.approx(a[name]["lo"], abs=1e-9)
                assert b[name]["hi"] == pytest.approx(a[name]["hi"], abs=1e-9)
    if estimator.__class__ is LogisticRegression:
        assert one["model"]["score"] == other["model"]["score"]
    with pytest.raises(InputError, match="counted by decision"):
        streamed.population_file()


@pytest.mark.parametrize("population", ["auto", "tree", "independent"])
def test_one_hot_groups_of_more_people_than_are_held(table, population, tmp_path, monkeypatch):
    """Columns that are one feature make the groups, too, and may not be given up with the features."""
    wide = table.drop(columns="race").join(pd.get_dummies(table["race"], prefix="race", dtype=int))
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(wide[["pay", "race_a", "race_b"]], wide["good"])
    path = written(wide, tmp_path, ".parquet")
    whole = justicia.verify(model, path, sensitive_features=["race"], population=population)
    monkeypatch.setattr(condensing, "MOST_PEOPLE", 20)
    streamed = justicia.verify(model, path, sensitive_features=["race"], population=population, stream=True)
    assert streamed.table.by_decision
    assert len(whole.groupings[0].groups) == 3
    for a, b in zip(whole.groupings[0].groups, streamed.groupings[0].groups, strict=True):
        assert a.group == b.group
        assert a.sample_rate == b.sample_rate
        assert a.selection_rate.middle == pytest.approx(b.selection_rate.middle, abs=1e-12)


def rates_of(audit):
    """Every number of groups and measures."""
    found = {}
    for grouping in audit.to_dict()["groupings"]:
        named = "x".join(grouping["sensitive"])
        for group in grouping["groups"]:
            for kind in ("selection_rate", "tpr", "fpr", "sample_rate", "n", "selected"):
                found[named, *group["group"].values(), kind] = group[kind]
        found[named, "measures"] = grouping["measures"]
        found[named, "rest"] = {name: grouping.get(name) for name in ("conditional", "remaining", "fit")}
    return found


def near(one, other):
    """Equal but for rounding."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            near(one[name], other[name])
    elif isinstance(one, list):
        for a, b in zip(one, other, strict=True):
            near(a, b)
    elif isinstance(one, float):
        assert other == pytest.approx(one, abs=1e-9)
    else:
        assert one == other


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("population", ["tree", "independent"])
@pytest.mark.parametrize(
    "options",
    [
        {"sensitive_features": [["race", "sex"], ["age"]], "bins": {"age": [30, 50]}, "missing": "drop"},
        {"sensitive_features": ["race"], "given": "note", "missing": "group"},
        {"sensitive_features": ["sex"], "mediators": "job"},
        {"sensitive_features": ["sex"], "shift": 0.05},
        {"sensitive_features": ["sex"], "bounds": True, "label": "none"},
        {"sensitive_features": ["sex"], "reference": "sex=m", "min_group": 10, "cross_check": True},
    ],
)
def test_tables_of_more_people_than_are_held(table, population, suffix, options, tmp_path, monkeypatch):
    """Trees and independent features are fitted from counts of the whole table."""
    rng = np.random.default_rng(1)
    model = fitted(DecisionTreeClassifier(max_depth=4), table)
    some = table["race"].mask(rng.random(600) < 0.1) if "missing" in options else table["race"]
    path = written(table.assign(race=some, good=table["good"].mask(rng.random(600) < 0.1)), tmp_path, suffix)
    whole = justicia.verify(model, path, population=population, **options)
    monkeypatch.setattr(condensing, "MOST_PEOPLE", 150)
    streamed = justicia.verify(model, path, population=population, stream=True, **options)
    assert streamed.table.by_decision
    near(rates_of(whole), rates_of(streamed))
    if options.get("cross_check"):
        assert not streamed.groupings[0].cross_check.disagreements
    with pytest.raises(InputError, match="leave check_fit=True out"):
        justicia.verify(model, path, population=population, stream=True, check_fit=True, **options)


def test_replicates_of_more_people_than_are_held(table, tree, tmp_path, monkeypatch):
    path = written(table, tmp_path, ".parquet")
    options = {"sensitive_features": "sex", "population": "tree", "bootstrap": 60, "stream": True}
    held = justicia.verify(tree, path, **options)
    monkeypatch.setattr(condensing, "MOST_PEOPLE", 60)
    streamed = justicia.verify(tree, path, **options)
    for a, b in zip(held.groupings[0].groups, streamed.groupings[0].groups, strict=True):
        # The same people are drawn, from the same tables.
        near(a.bootstrap["selection_rate"].lo, b.bootstrap["selection_rate"].lo)


def test_a_sample_holds_rows_of_every_kind_and_stands_for_all(monkeypatch):
    monkeypatch.setattr(streaming_rates, "SAMPLE_OF_GROUP", 50)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"g": rng.choice(["a", "b"], 3000, p=[0.99, 0.01]), "x": rng.integers(0, 5, 3000)})
    sample = streaming_rates.Sample(["g"], 0)
    for begin in range(0, 3000, 100):
        sample.add(frame.iloc[begin : begin + 100].astype({"g": "category"}), lambda batch: batch.astype({"g": "str"}))
    sizes = frame["g"].value_counts()
    drawn, numbers = sample.result(pd.DataFrame({"g": ["b", "a"]}), np.array([sizes["b"], sizes["a"]]))
    assert drawn["g"].value_counts().to_dict() == {"a": 50, "b": min(50, sizes["b"])}
    assert numbers.sum() == pytest.approx(3000)
    assert set(numbers[drawn["g"] == "a"]) == {sizes["a"] / 50}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_decisions(table, tmp_path, suffix):
    table = table.assign(hired=(table["pay"] > 0).astype(int), race=table["race"].mask(np.arange(600) % 13 == 0))
    path = written(table, tmp_path, suffix)
    for options in (
        {"decision": "hired", "label": "good", "favorable": ["1", "yes"], "missing": "group", "tests": True},
        {"decision": "hired", "missing": "drop", "suppress_below": 10},
        {"decision": "hired", "missing": "bounds"},
        {"score": "pay", "threshold": [">0.5", ">=0.5", "<1"], "missing": "drop"},
        {"score": "pay", "layout": "ll144", "sensitive_features": ["sex", "race"]},
        {"decision": "hired", "sensitive_features": ["age"], "bins": {"age": [30, 50]}, "weight": "age2"},
    ):
        if "weight" in options:
            path = written(table.assign(age2=table["age"] % 3), tmp_path, suffix)
        options = {"sensitive_features": [["race", "sex"], ["race"]], **options}
        whole = justicia.audit_decisions(path, **options, stream=False)
        streamed = justicia.audit_decisions(path, **options, stream=True)
        assert len(streamed.table.frame) < len(whole.table.frame)
        assert streamed.to_json() == whole.to_json()
    with pytest.raises(TableError, match="decision column 'fired' is not in the table"):
        justicia.audit_decisions(path, decision="fired", sensitive_features="sex", stream=True)


def test_folds_and_replicates_are_drawn_from_counts(table, tree, tmp_path):
    path = written(table, tmp_path, ".csv")
    whole, streamed = (
        justicia.verify(
            tree, path, sensitive_features=["sex"], check_fit=True, bootstrap=60, population=population, stream=stream
        )
        for population in ("empirical",)
        for stream in (False, True)
    )
    # Of the rows as they are, every held-out rate is that of about 240 others of 300 people of the group.
    for one, other in zip(whole.groupings[0].groups, streamed.groupings[0].groups, strict=True):
        a, b = one.bootstrap["selection_rate"], other.bootstrap["selection_rate"]
        assert abs(float(a.lo) - float(b.lo)) < 0.03
        assert abs(float(a.hi) - float(b.hi)) < 0.03
    held = streamed.groupings[0].held_out
    assert sum(group.n for group in held.groups) == 600
    assert held.max_abs_error < 0.03


def test_bad_calls_are_refused_as_for_the_whole_table(table, tree, tmp_path):
    path = written(table, tmp_path, ".csv")
    for words, options in {
        "'old' is not a list of numbers|old is not a list": {"bins": {"age": ["old"]}, "sensitive_features": ["age"]},
        "numeric with 6\\d distinct values": {"sensitive_features": ["age"]},
        "sensitive column 'rase' is not in the table": {"sensitive_features": ["rase"]},
        "label column 'god' is not in the table": {"sensitive_features": ["sex"], "label": "god"},
        "weight column 'w' is not in the table": {"sensitive_features": ["sex"], "weight": "w"},
        "named in it": {"sensitive_features": table["sex"]},
    }.items():
        with pytest.raises(InputError, match=words):
            justicia.verify(tree, path, stream=True, **options)
    with pytest.raises(InputError, match="from a CSV or Parquet file"):
        justicia.verify(tree, table, sensitive_features=["sex"], stream=True)
