"""Condensed rows are sums, whatever the batches; types of CSV columns are those of the whole file."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from justicia.errors import TableError
from justicia.ll144 import median
from justicia.population.domain import Feature
from justicia.tables import csv_stream, sources
from justicia.tables.condensing import Condenser, Condition, condensed
from justicia.tables.csv_stream import CsvSource, LineLengths
from justicia.tables.csv_text import parse_csv
from justicia.tables.repeats import correlation, tally, value_counts
from justicia.tables.sources import ParquetSource

AGE = Feature("age", ("<= 3", "(3, 6]", "> 6", "missing"), (3, 6, 7, None), np.array([3.0, 6.0]), missing=3)
JOB = Feature("job", ("x", "y", "unseen"), ("x", "y", "?"), cells={"x": 0, "y": 1}, unseen=2)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([1, 3, 4, 6, 9]), st.sampled_from(["x", "y", "q", "r", None]), st.sampled_from("fm")),
        min_size=1,
        max_size=30,
    ),
    st.integers(1, 7),
    st.booleans(),
)
def test_batches_add_up(rows, size, as_categories):
    frame = pd.DataFrame(rows, columns=["age", "job", "sex"])
    condition = Condition((AGE, JOB), ("sex",))
    condenser = Condenser(condition, lambda batch: batch.astype(frame.dtypes.to_dict()))
    for begin in range(0, len(frame), size):
        batch = frame.iloc[begin : begin + size]
        condenser.add(batch.astype({"job": "category"}) if as_categories else batch)
    people, numbers = condenser.result()
    wanted: dict[tuple, list] = {}
    for age, job, sex in rows:
        cell = 0 if age <= 3 else 1 if age <= 6 else 2
        wanted.setdefault((cell, job, sex), [(age, job, sex), 0])[1] += 1
    found = [tuple(None if pd.isna(value) else value for value in row) for row in people.itertuples(index=False)]
    assert found == [first for first, _ in wanted.values()]
    assert numbers.tolist() == [number for _, number in wanted.values()]


def test_places_between_thresholds():
    frame = pd.DataFrame({"score": [0.4, 0.5, 0.6, 0.5, np.nan, 0.45]})
    people, numbers = condensed(frame, None, Condition(thresholds={"score": (0.5,)}))
    assert people["score"].tolist()[:3] == [0.4, 0.5, 0.6]
    assert numbers.tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32])
def test_cells_of_every_type_of_number(dtype):
    frame = pd.DataFrame({"age": np.array([1, 100, 5, 3], dtype=dtype)})
    people, numbers = condensed(frame, np.array([1, 2, 3, 4]), Condition((AGE,)))
    assert people["age"].tolist() == [1, 100, 5]
    assert numbers.tolist() == [5, 2, 3]


def test_so_many_columns_that_keys_have_to_be_numbered_anew():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (500, 70)), columns=[f"c{i}" for i in range(70)])
    frame = pd.concat([frame, frame.iloc[::-1]], ignore_index=True)
    people, numbers = condensed(frame, None, Condition(values=tuple(frame.columns)))
    assert len(people) == 500
    assert (numbers == 2).all()


def test_numbers_of_repeated_rows():
    repeats = np.array([3, 1, 2])
    assert tally(np.array([1, 0, 1]), 2, repeats).tolist() == [1, 5]
    assert tally(np.array([1, 0, 1]), 2, repeats, np.array([True, True, False])).tolist() == [1, 3]
    assert value_counts(pd.Series(["a", "b", "a"]), repeats).to_dict() == {"a": 5, "b": 1}
    one, other = np.array([0.0, 1.0, 1.0]), np.array([1.0, 0.0, 3.0])
    assert correlation(one, other, repeats) == pytest.approx(
        np.corrcoef(one.repeat(repeats), other.repeat(repeats))[0, 1]
    )


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=8))
def test_median_of_repeated_scores(pairs):
    scores, repeats = (np.array(one) for one in zip(*pairs, strict=True))
    assert median(scores.astype(float), repeats) == np.median(np.repeat(scores, repeats))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["a", "", 'b"c', "d,e", "f\ng"]), min_size=1, max_size=4), max_size=6),
       st.integers(1, 9), st.booleans(), st.booleans(), st.sampled_from(["\n", "\r\n"]))  # fmt: skip
def test_lengths_of_lines_do_not_depend_on_blocks(rows, size, ends, long, end):
    import csv

    csv_stream._LONG_LINES = -1 if long else 300

    text = io.StringIO()
    csv.writer(text, lineterminator=end).writerows([["x", "y", "z"], *rows])
    content = text.getvalue()[: None if ends else -len(end)].encode()
    wrong = any(len(row) != 3 for row in rows)
    lengths = LineLengths(3, b",")
    try:
        for begin in range(0, len(content), size):
            lengths.look(content[begin : begin + size])
        lengths.end()
    except TableError:
        assert wrong
    else:
        assert not wrong


COLUMNS = {
    "whole": ["1", "2", "-3", "40"],
    "halves": ["1", "2.5", "3", "4"],
    "gaps": ["1", "", "3", "4"],
    "late word": ["1", "2", "03", "x"],
    "truth": ["True", "False", "True", "True"],
    "gaps in truth": ["True", "", "True", "False"],
    "late truth": ["1", "0", "True", "False"],
    "words": ["a", "b", "", "None"],
    "nothing": ["", "", "", ""],
    "blanks": ["a", " b", "a ", "c"],
    "blank numbers": ["1", "2", " 3", "4"],
    "large": ["1", "2", "9223372036854775807", "4"],
    "quoted": ['"a,b"', '"c""d"', "e", "f"],
}


@pytest.mark.parametrize(("rows", "kept"), [(1, 0), (2, 0), (3, 10_000)])
def test_types_are_those_of_the_whole_file(tmp_path, rows, kept, monkeypatch):
    monkeypatch.setattr("justicia.tables.csv_stream._MOST_KEPT", kept)
    monkeypatch.setattr("justicia.tables.csv_stream.batch_rows", lambda _: rows)
    lines = [",".join(COLUMNS), *(",".join(values) for values in zip(*COLUMNS.values(), strict=True))]
    text = "\n".join(lines) + "\n"
    path = tmp_path / "a.csv"
    path.write_text(text)
    whole = parse_csv(io.BytesIO(text.encode()))
    source = CsvSource(path)
    survey = source.survey(list(COLUMNS), set(COLUMNS), None)
    again = pd.concat(list(source.batches(list(COLUMNS), None)), ignore_index=True)
    pd.testing.assert_frame_equal(again, whole)
    pd.testing.assert_frame_equal(source.restore(source.head()), whole)
    for name in COLUMNS:
        assert survey.values[name].tolist() == pytest.approx(whole[name].drop_duplicates().tolist(), nan_ok=True)
    few = ["words", "whole"]
    assert list(next(iter(source.batches(few, None))).columns) == few


def test_batches_of_wide_files_are_short(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    frame = pd.DataFrame({f"x{i}": ["1.25"] * 300 for i in range(200)})
    frame.to_csv(path, index=False)
    source = CsvSource(path)
    source.survey(["x0", "x7"], set(), None)
    source._kept = csv_stream._Kept()
    assert [len(batch) for batch in source.batches(["x0", "x7"], None)] == [300]
    # A line has 1,000 bytes.
    monkeypatch.setattr(csv_stream, "_BATCH_BYTES", 100_000)
    lengths = [len(batch) for batch in source.batches(["x0", "x7"], None)]
    assert sum(lengths) == 300
    assert max(lengths) <= 101
    monkeypatch.setattr(csv_stream, "_BATCH_BYTES", 10)
    assert len(next(iter(source.batches(["x0"], None)))) == 1


@pytest.mark.parametrize("index", [None, [4, 7, 9]])
def test_first_rows_of_wide_parquet_files(tmp_path, monkeypatch, index):
    frame = pd.DataFrame({"a": [1, 2, 3], "a.b": ["x", None, "z"], "b": [0.5, np.nan, 1.0], "c": [True, False, True]})
    path = tmp_path / "a.parquet"
    (frame if index is None else frame.set_axis(index)).to_parquet(path)
    for step in (1, 2, 3, 500):
        monkeypatch.setattr(sources, "_OPEN_COLUMNS", step)
        pd.testing.assert_frame_equal(ParquetSource(path).head(), frame)


def test_what_was_read_of_a_parquet_file_is_not_held(tmp_path, monkeypatch):
    import pyarrow as pa

    monkeypatch.setattr(sources, "_BATCH_ROWS", (5_000, 5_000))
    monkeypatch.setattr(sources, "_BUFFER", 1 << 14)
    path = tmp_path / "a.parquet"
    numbers = np.random.default_rng(0).normal(size=(400_000, 4))
    pd.DataFrame(numbers, columns=list("abcd")).to_parquet(path, row_group_size=10_000)
    assert path.stat().st_size > 12_000_000
    before, most, rows = pa.total_allocated_bytes(), 0, 0
    for batch in ParquetSource(path).batches(list("abcd"), None):
        rows += len(batch)
        most = max(most, pa.total_allocated_bytes() - before)
    assert rows == 400_000
    # Four batches at once, of 160,000 bytes each, and what their pages need.
    assert most < 4_000_000


def surveyed(path, **options):
    source = CsvSource(path, **options)
    source.survey(source.columns, set(), None)


def test_bad_files_are_one_line(tmp_path):
    def refused(content, words, **options):
        path = tmp_path / "a.csv"
        path.write_bytes(content)
        with pytest.raises(TableError, match=words) as error:
            surveyed(path, **options)
        assert "\n" not in str(error.value)

    refused(b"", "a.csv: is empty")
    refused(b"a,b\n1,2\n3\n", "line 3 has 1 values, and the header 2 names")
    refused(b"a,b\n1,2\n3,4,5\n", "cannot be parsed: Expected 2 fields in line 3, saw 3")
    refused(b"a,b\n" + b"1,2\n" * 300_000 + b"3,4,5\n", "rows have more values than the header has names")
    refused(b"a;b\n1;2\n", "separated by ';'")
    refused(b"a,a\n1,2\n", "two columns are named 'a'")
    refused(b"a,b\n1,\xff\n", "byte 0xff in line 2")
    refused(b"a,b\n1,\x00\n", "is not a text file")
    refused(b"PAR1", "is a Parquet file whose name does not end in .parquet")
    refused(b"a,b\n1,2\n", "encoding 'nonsense' is not known", encoding="nonsense")
