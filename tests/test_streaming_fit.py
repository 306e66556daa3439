"""Populations of tables that are read in batches are those of the tables as a whole."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import justicia
from justicia.population import Counts
from justicia.population.pair_counts import PairCounter
from justicia.tables import condensing, sources


def people(n=900, seed=2):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice(["a", "b", "c"], n, p=[0.6, 0.37, 0.03]),
            "age": rng.integers(18, 80, n),
            "score": np.round(rng.normal(50, 15, n), 2),
            "city": rng.choice(["Ulm", "Bonn", None], n, p=[0.5, 0.4, 0.1]),
            "owner_yes": 0,
            "owner_no": 0,
            "number": np.arange(n) + 5_000,
        }
    )
    frame["job"] = np.where(frame["age"] + rng.normal(0, 9, n) > 50, "desk", "shop")
    frame["owner_yes"] = (frame["score"] > 55).astype(int)
    frame["owner_no"] = 1 - frame["owner_yes"]
    frame["hired"] = np.where(frame["score"] + rng.normal(0, 10, n) > 52, "yes", "no")
    frame.loc[frame.index[5], "hired"] = None
    return frame


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    frame = people()
    frame.to_csv(folder / "p.csv", index=False)
    frame.to_parquet(folder / "p.parquet")
    frame.loc[frame.index[::50], "race"] = None
    frame.to_csv(folder / "holes.csv", index=False)
    return folder


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(sources, "_BATCH_ROWS", (100, 100))
    monkeypatch.setattr(sources, "_HEAD", 120)


def same(one, other):
    """Two files but for the time, numbers within rounding."""
    one, other = (json.loads(held.to_json()) for held in (one, other))

    def compare(a, b, path):
        if isinstance(a, dict):
            assert a.keys() == b.keys(), path
            for key in a:
                if key not in ("created",):
                    compare(a[key], b[key], f"{path}.{key}")
        elif isinstance(a, list):
            assert len(a) == len(b), path
            for i, pair in enumerate(zip(a, b, strict=True)):
                compare(*pair, f"{path}[{i}]")
        elif isinstance(a, float) and not isinstance(a, bool):
            assert a == pytest.approx(b, abs=1e-9), path
        else:
            assert a == b, path

    compare(one, other, "")


@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
@pytest.mark.parametrize("structure", ["tree", "independent", "empirical"])
def test_batches_give_the_file_of_the_whole_table(files, name, structure):
    options = {"sensitive_features": [["race", "sex"], ["sex"]], "label": "hired", "structure": structure, "cells": 40}
    whole = justicia.fit_population(files / name, **options, stream=False)
    same(justicia.fit_population(files / name, **options, stream=True), whole)
    assert whole.domain.names == ("sex", "race", "age", "score", "city", "job", "owner")


def test_rates_under_auto_are_those_of_the_whole_table(files):
    options = {"sensitive_features": ["race", "sex"], "label": "hired"}
    model = "(age > 40 and job = desk) or score > 60"
    (files / "m.rule").write_text(model, encoding="utf-8")
    found = []
    for stream in (False, True):
        held = justicia.fit_population(files / "p.csv", **options, stream=stream)
        audit = justicia.verify(files / "m.rule", files / "p.csv", population=held, favorable="yes")
        found.append([float(group.selection_rate.middle) for group in audit.groupings[0].groups])
    assert found[0] == pytest.approx(found[1], abs=1e-9)


@pytest.mark.parametrize("missing", ["drop", "group"])
@pytest.mark.parametrize("structure", ["tree", "empirical"])
def test_people_of_unknown_group_and_classes_of_numbers(files, missing, structure):
    options = {
        "sensitive_features": [["race", "age"]], "label": "hired", "structure": structure, "missing": missing,
        "bins": {"age": [30, 50]}, "cells": 30,
    }  # fmt: skip
    whole = justicia.fit_population(files / "holes.csv", **options, stream=False)
    same(justicia.fit_population(files / "holes.csv", **options, stream=True), whole)


def test_any_number_of_different_people_under_a_tree(files, monkeypatch):
    monkeypatch.setattr(condensing, "MOST_PEOPLE", 50)
    monkeypatch.setattr(condensing, "_AT_ONCE", 20)
    options = {"sensitive_features": "sex", "label": "hired", "stream": True}
    whole = justicia.fit_population(files / "p.csv", **{**options, "stream": False}, structure="tree")
    same(justicia.fit_population(files / "p.csv", **options, structure="tree"), whole)
    with pytest.raises(justicia.InputError, match="fit the structure tree or independent"):
        justicia.fit_population(files / "p.csv", **options, structure="auto")


def test_an_audit_of_any_number_of_people_under_the_fitted_tree(files, monkeypatch):
    options = {"sensitive_features": "sex", "label": "hired", "favorable": "yes"}
    (files / "n.rule").write_text("(age > 40 and job = desk) or score > 60", encoding="utf-8")
    held = justicia.fit_population(
        files / "p.csv", sensitive_features="sex", label="hired", structure="tree", stream=True
    )
    whole = justicia.verify(files / "n.rule", files / "p.csv", population=held, favorable="yes", stream=False)
    monkeypatch.setattr(condensing, "MOST_PEOPLE", 20)
    monkeypatch.setattr(condensing, "_AT_ONCE", 5)
    # A tree over the cells of the model, from counts of pairs.
    fitted = justicia.verify(files / "n.rule", files / "p.csv", population="tree", stream=True, **options)
    assert fitted.table.paired is not None
    found = justicia.verify(files / "n.rule", files / "p.csv", population=held, favorable="yes", stream=True)
    for one, other in zip(found.groupings[0].groups, whole.groupings[0].groups, strict=True):
        assert (one.n, one.selected, one.selection_rate) == (other.n, other.selected, other.selection_rate)
    # Decisions of two sexes and three outcomes are too many kinds of people here, and no column.
    monkeypatch.setattr(condensing, "MOST_PEOPLE", 5)
    with pytest.raises(justicia.InputError, match=r"more than 5 different people .* hired \(3\), sex \(2\)"):
        justicia.verify(files / "n.rule", files / "p.csv", population=held, favorable="yes", stream=True)


def test_a_dask_frame_is_read_part_by_part():
    dask = pytest.importorskip("dask.dataframe")
    frame = people(300)
    options = {"sensitive_features": ["race", "sex"], "label": "hired", "structure": "tree"}
    parts = justicia.fit_population(dask.from_pandas(frame, npartitions=4), **options)
    whole = justicia.fit_population(frame, **options)
    for one, other in zip(parts.groupings, whole.groupings, strict=True):
        for kind, held in other.populations.items():
            assert one.populations[kind].groups == held.groups
            for node, same_node in zip(one.populations[kind].nodes, held.nodes, strict=True):
                assert node.table == pytest.approx(same_node.table, abs=1e-12)


def test_columns_of_more_values_than_are_counted(files, monkeypatch, caplog):
    from justicia import streaming_fit

    options = {"sensitive_features": "sex", "label": "hired", "stream": True, "structure": "tree"}
    monkeypatch.setattr(streaming_fit, "_MOST_VALUES", 870)
    assert "number" not in justicia.fit_population(files / "p.csv", **options).domain.names
    assert "column number is left out, for it tells people apart" in caplog.text
    with pytest.raises(justicia.InputError, match="column 'number' has more than 870 different values"):
        justicia.fit_population(files / "p.csv", **options, keep="number")
    monkeypatch.setattr(streaming_fit, "_MOST_VALUES", 300)
    with pytest.raises(justicia.InputError, match="column 'score' has more than 300 different values"):
        justicia.fit_population(files / "p.csv", **options)


def test_what_cannot_be_read_in_batches_is_refused(files):
    frame = people(50)
    for options in ({"y": frame["hired"]}, {"sensitive_features": frame["sex"]}):
        with pytest.raises(justicia.InputError, match="leave stream out"):
            justicia.fit_population(files / "p.csv", stream=True, **options)


@pytest.mark.parametrize("seed", range(5))
def test_pairs_that_are_counted_in_parts_are_those_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    sizes, n = (3, 30, 2, 26), 400
    points = np.stack([rng.integers(0, size, n) for size in sizes], axis=1).astype(np.int32)
    groups = rng.integers(0, 5, n)
    names = tuple((str(group),) for group in range(5))
    counts = Counts(names, sizes, groups, points)
    states = [np.minimum(np.arange(size), 9) for size in sizes]
    counter = PairCounter(sizes, [states])
    for part in np.array_split(np.arange(n), 7):
        # Groups come one after another, as the batches have them.
        counter.add(groups[part], 5, points[part])
    held = counter.result()
    target = np.array([0, 1, 0, -1, 1])
    for one, other in (
        (held, counts),
        (held.regrouped((("x",), ("y",)), target), counts.regrouped((("x",), ("y",)), target)),
    ):
        assert one.rows().tolist() == other.rows().tolist()
        for first in range(4):
            assert np.array_equal(one.of_feature(first), other.of_feature(first))
            assert np.array_equal(one.of_feature(first, states[first]), other.of_feature(first, states[first]))
            assert np.array_equal(one.totals(first), other.totals(first))
            for second in range(4):
                if first != second:
                    assert np.array_equal(one.of_pair(first, second, states), other.of_pair(first, second, states))
    with pytest.raises(ValueError, match="by other states"):
        held.of_pair(1, 3, [np.arange(size) for size in sizes])
