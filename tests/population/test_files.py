"""Population files: what is written is read again, and whatever else is refused in one line."""

from __future__ import annotations

import copy
import json
from functools import cache

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import justicia
from justicia.errors import PopulationFileError
from justicia.population import STRUCTURES
from justicia.population.stored import population_from_json, read_population_file, schema
from tests.population.by_hand import probability
from tests.strategies import small_tables

VALIDATOR = jsonschema.Draft202012Validator(schema())


def boxes_of(domain, rng, n):
    return [rng.random((n, size)) < 0.6 if rng.random() < 0.8 else None for size in domain.sizes]


def same_population(one, other, rng) -> None:
    assert one.groups == other.groups
    assert one.sizes.tolist() == other.sizes.tolist()
    assert one.parents == other.parents
    boxes = boxes_of(one.domain, rng, 5)
    np.testing.assert_array_equal(one.masses(boxes, 5), other.masses(boxes, 5))


@settings(max_examples=40, deadline=None)
@given(small_tables(), st.sampled_from(sorted(STRUCTURES)))
def test_what_is_written_is_read_again_to_the_last_bit(case, structure):
    frame, cells, rng = case
    held = justicia.fit_population(
        frame, sensitive_features=[["sex"]], label="y", favorable="yes", structure=structure, cells=cells
    )
    text = held.to_json()
    VALIDATOR.validate(json.loads(text))
    again = population_from_json(text.encode("utf-8"))
    assert again.to_json() == text
    for one, other in zip(held.groupings, again.groupings, strict=True):
        assert one.populations.keys() == other.populations.keys()
        for kind, population in one.populations.items():
            same_population(population, other.populations[kind], rng)
    # Every row of the table lies in the same cell of both.
    np.testing.assert_array_equal(held.domain.points(frame), again.domain.points(frame))


@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_the_tables_give_every_probability_by_hand(structure):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 60), "x": rng.integers(0, 9, 60), "z": rng.integers(0, 9, 60)})
    frame["z"] = np.where(rng.random(60) < 0.6, frame["x"], frame["z"])
    held = justicia.fit_population(frame, sensitive_features=["sex"], structure=structure, cells=4)
    read = json.loads(held.to_json())
    population = read["groupings"][0]["populations"]["everybody"]
    fitted = held.groupings[0].everybody
    for _ in range(30):
        point = [int(rng.integers(size)) for size in held.domain.sizes]
        box = [np.arange(size) == cell for size, cell in zip(held.domain.sizes, point, strict=True)]
        for group in range(2):
            expected = fitted.mass(box)[0][group]
            assert probability(population, read["features"], group, point) == pytest.approx(expected, abs=1e-14)


@cache
def written(structure: str) -> str:
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(18, 90, n),
            "pay": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "job": rng.choice(["a", "b", "c"], n),
            "y": rng.choice([0, 1], n),
        }
    )
    frame["job"] = np.where(frame["age"] > 50, "a", frame["job"])
    return justicia.fit_population(
        frame, sensitive_features=["sex"], label="y", structure=structure, cells=20
    ).to_json()


def table_of(read, feature):
    tables = read["groupings"][0]["populations"]["everybody"]["tables"]
    return next(table for table in tables if table["feature"] == feature)


def everybody(read):
    return read["groupings"][0]["populations"]["everybody"]


def edit(structure, change):
    read = json.loads(written(structure))
    change(read)
    return json.dumps(read)


def put(read, path, value):
    *steps, last = path
    for step in steps:
        read = read[step]
    read[last] = value


def scale(read):
    table_of(read, "job")["probabilities"][1][0][0] += 0.01


def negative(read):
    row = table_of(read, "job")["probabilities"][0][0]
    row[0], row[1] = row[0] + row[1] + 0.25, -0.25


HOSTILE = [
    ("tree", scale, "the table of 'job'.*does not sum to 1 in group m"),
    ("tree", negative, "probabilities of the table of 'job'.*no probability"),
    ("tree", lambda read: table_of(read, "age")["within"][0].__setitem__(0, 0.9), "within of the table of 'age'.*sum"),
    ("tree", lambda read: everybody(read)["tables"].pop(), "lacks the table of"),
    ("tree", lambda read: everybody(read)["tables"].append(everybody(read)["tables"][0]), "is given twice"),
    ("tree", lambda read: everybody(read)["tables"].reverse(), "comes before that of its parent"),
    ("tree", lambda read: table_of(read, "age")["states"].__setitem__(0, 99), "largest possible"),
    ("tree", lambda read: table_of(read, "age").update(within=None), "no shares of the cells"),
    ("tree", lambda read: table_of(read, "job")["probabilities"].pop(), "shape"),
    ("tree", lambda read: table_of(read, "job")["probabilities"][0][0].append(0.0), "different lengths"),
    ("tree", lambda read: table_of(read, "job")["probabilities"][0][0].__setitem__(0, "0.5"), "no number"),
    ("tree", lambda read: read.update(schema="justicia.population/2"), "this version reads justicia.population/1"),
    ("tree", lambda read: read.pop("schema"), "names no schema"),
    ("tree", lambda read: read.pop("features"), "lacks features"),
    ("tree", lambda read: read.update(extra=1), "'extra', which means nothing here"),
    ("tree", lambda read: everybody(read).update(structure="forest"), "'forest', which is not known"),
    ("tree", lambda read: everybody(read)["groups"].__setitem__(1, everybody(read)["groups"][0]), "twice"),
    ("tree", lambda read: everybody(read)["groups"][0].update(rows=0), "whole number of 1 or more"),
    ("tree", lambda read: everybody(read)["groups"][0]["group"].update(race="x"), "'race'"),
    ("tree", lambda read: read["features"].append(read["features"][0]), "names 'sex' twice"),
    ("tree", lambda read: read["features"][1]["cells"].reverse(), "feature 'age' is empty, or does not lie above"),
    ("tree", lambda read: put(read, ["features", 1, "cells", 0, "from"], 1e999), "Infinity, which is no number"),
    ("tree", lambda read: put(read, ["features", 1, "cells", 0, "to"], float("nan")), "NaN, which is no number"),
    ("tree", lambda read: put(read, ["features", 3, "cells", 0, "values"], ["b"]), "two cells for 'b'"),
    ("tree", lambda read: put(read, ["features", 3, "cells", 0, "values"], [[]]), "no text, number or truth value"),
    ("tree", lambda read: put(read, ["features", 1, "kind"], "words"), "neither 'numbers' nor 'values'"),
    ("tree", lambda read: read["groupings"].clear(), "needs 1 or more"),
    ("tree", lambda read: read["groupings"].append(read["groupings"][0]), "same sensitive columns twice"),
    ("tree", lambda read: read["groupings"][0]["populations"].pop("everybody"), "lacks everybody"),
    ("tree", lambda read: read.update(label=None), "names no label"),
    ("tree", lambda read: read["label"].update(unfavorable=["1"]), "both favorable and unfavorable"),
    ("tree", lambda read: read.update(contains_rows_of_people=True), "says wrongly"),
    ("tree", lambda read: read["data"].update(rows=-1), "whole number"),
    ("tree", lambda read: read.update(bins={"age": [3, 1]}), "does not rise"),
    ("auto", lambda read: everybody(read)["class_weights"][0].__setitem__(0, 0.4), "class_weights.*1 in group f"),
    ("auto", lambda read: everybody(read)["row_weights"].__setitem__(0, 1.5), "row_weights.*no probability"),
    ("auto", lambda read: everybody(read)["people"]["counts"].__setitem__(0, 7), "people of group f, and the"),
    ("auto", lambda read: everybody(read)["people"]["cells"][0].__setitem__(0, 40), "holds cell 40 of 'sex'"),
    ("auto", lambda read: everybody(read)["tables"][0]["probabilities"].pop(), "2 groups and 1 classes"),
    ("empirical", lambda read: everybody(read)["people"]["counts"].__setitem__(0, 0.5), "no whole number"),
    ("empirical", lambda read: everybody(read)["people"]["groups"].__setitem__(0, -1), "no whole number"),
    ("empirical", lambda read: everybody(read).pop("people"), "lacks people"),
    ("independent", lambda read: table_of(read, "pay").update(parents=["age", "sex"]), "more than one parent"),
    ("independent", lambda read: table_of(read, "pay").update(parents=["pay"]), "its parent 'pay'"),
]  # fmt: skip


@pytest.mark.parametrize(("structure", "change", "message"), HOSTILE)
def test_edited_files_are_refused_by_the_name_of_the_place(structure, change, message):
    with pytest.raises(PopulationFileError, match=message) as caught:
        population_from_json(edit(structure, change))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe\x00", "no text in UTF-8"),
        (b"[" * 100_000, "more than 12 deep"),
        (b'{"a": ' * 5_000 + b"1" + b"}" * 5_000, "more than 12 deep"),
        (b'{"schema": "justicia.audit/1"}', "schema justicia.audit/1"),
        (b'{"schema": "justicia.population/1", "schema": "justicia.population/1"}', "'schema' twice"),
        (b'{"schema": 1e400}', "names no schema"),
        (b"[]", "names no schema"),
        (b"1" * 10_000, "no JSON that can be read"),
        (b'{"schema": "justicia.population/1"}', "lacks tool"),
        (b"NaN", "NaN, which is no number"),
    ],
)
def test_files_that_are_something_else(tmp_path, content, message):
    path = tmp_path / "pop.json"
    path.write_bytes(content)
    with pytest.raises(PopulationFileError, match=message) as caught:
        read_population_file(path)
    assert str(caught.value).startswith("pop.json: ")
    assert len(str(caught.value)) < 500


def test_brackets_inside_of_texts_nest_nothing():
    # Also behind escaped quotes and backslashes.
    text = written("tree").replace('"values": ["a"]', '"values": ["\\"' + "[{" * 50 + '\\\\"]')
    assert population_from_json(text).domain.features[3].cells['"' + "[{" * 50 + "\\"] == 0


def test_depth_and_numbers_of_lists_are_told_across_chunks(monkeypatch):
    from justicia.population.stored import reading

    for chunk in (1, 2, 3, 7, 64):
        monkeypatch.setattr(reading, "_CHUNK", chunk)
        for text in ('{"a\\\\": "[[[[", "b": [1, [2, "\\"]"]]}', '["x]]", {"y": "\\\\\\"[["}]'):
            monkeypatch.setattr(reading, "_MOST_DEPTH", 3)
            reading._check_size(text)
            monkeypatch.setattr(reading, "_MOST_DEPTH", 1)
            with pytest.raises(PopulationFileError, match="more than 1 deep"):
                reading._check_size(text)
    monkeypatch.setattr(reading, "_MOST_DEPTH", 12)
    monkeypatch.setattr(reading, "_MOST_PARTS", 5)
    with pytest.raises(PopulationFileError, match="more than 5 lists"):
        reading._check_size("[" + "[]," * 6 + "]")


def test_a_table_that_is_off_by_its_last_digits_is_made_to_sum_to_1():
    read = json.loads(written("tree"))
    table = table_of(read, "job")
    table["probabilities"] = [[[round(p, 11) for p in row] for row in group] for group in table["probabilities"]]
    population = population_from_json(json.dumps(read)).groupings[0].everybody
    assert population.masses([None] * 3 + [np.ones((1, population.domain.sizes[3]), bool)], 1) == pytest.approx(
        1, abs=1e-15
    )


def _places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _places(inner, (*path, key))


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=3),
    st.lists(st.one_of(st.integers(-1, 3), st.text(max_size=1), st.lists(st.floats(0, 1), max_size=2)), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["auto", "tree", "empirical"]), st.data())
def test_junk_anywhere_is_refused_or_read_and_nothing_else(structure, data):
    read = copy.deepcopy(json.loads(written(structure)))
    places = [place for place in _places(read) if place]
    put(read, data.draw(st.sampled_from(places)), data.draw(JUNK))
    try:
        held = population_from_json(json.dumps(read))
    except PopulationFileError as error:
        assert "\n" not in str(error)  # noqa: PT017 (either way is right)
    else:
        held.sample(3, random_state=0)
        assert population_from_json(held.to_json()).to_json() == held.to_json()


def test_a_missing_file_and_a_folder(tmp_path):
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(PopulationFileError, match="no such population file"):
            read_population_file(path)


def test_sizes_are_bounded_before_reading(tmp_path, monkeypatch):
    from justicia.population.stored import reading

    monkeypatch.setattr(reading, "_MOST_BYTES", 100)
    (tmp_path / "pop.json").write_text(written("tree"))
    with pytest.raises(PopulationFileError, match="is larger than"):
        read_population_file(tmp_path / "pop.json")


def test_only_rows_are_called_rows():
    for structure in STRUCTURES:
        read = json.loads(written(structure))
        assert read["contains_rows_of_people"] == (structure in ("auto", "empirical"))
        assert ("people" in everybody(read)) == read["contains_rows_of_people"]
