"""Tables on which parsers stumble, or that tell libraries to stumble: one line each, and nothing beside it."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from justicia.cli import main
from justicia.errors import InputError, TableError
from justicia.metrics.adverse_impact import ratio_interval
from justicia.tables import read_table
from justicia.tables.csv_stream import CsvSource
from justicia.tables.integers import with_finite_integers


def told(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert "unexpected" not in captured.err
    return stopped.value.code, captured.err


def answered(capsys, *words):
    """Exit code and errors of a command that may end well."""
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    err = capsys.readouterr().err
    assert "unexpected" not in err
    assert "Traceback" not in err
    return stopped.value.code, err


def test_lines_that_end_in_carriage_returns(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"sex,x\rf,1\rm,2\r")
    assert read_table(tmp_path / "t.csv").frame["x"].tolist() == [1, 2]
    with pytest.raises(TableError, match="ends its lines with"):
        CsvSource(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_bytes(b"sex,x,y\rf,1\rm,2,3\r")
    with pytest.raises(TableError, match="line 2 has 2 values, and the header 3 names"):
        read_table(tmp_path / "t.csv")


def test_names_longer_than_the_parser_takes(tmp_path):
    (tmp_path / "t.csv").write_text("sex," + "x" * 200_000 + "\nf,1\nm,2\n")
    for read in (read_table, CsvSource):
        with pytest.raises(TableError, match="the header line cannot be parsed: field larger than field limit"):
            read(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text('sex,x\n"f",' + "x" * 200_000 + "\nm,\n")
    with pytest.raises(TableError, match="line 2 cannot be parsed: field larger than field limit"):
        read_table(tmp_path / "t.csv")


def test_rows_that_are_too_long_in_batches(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("sex,out\n" + "f,yes,more\nm,no,more\n" * 5)
    words = [
        "--decisions",
        "t.csv",
        "--decision",
        "out",
        "--favorable",
        "yes",
        "--sensitive",
        "sex",
        "--quiet",
        "--stream",
    ]
    code, err = told(capsys, "verify", *words)
    assert code == 2
    assert "more values than the header has names" in err


@pytest.mark.parametrize(
    "content",
    [gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], gzip.compress(b"a,b\n1,2\n", mtime=0)[:10] + b"\xff" * 30, b"x"],
    ids=["cut short", "broken data", "no gzip"],
)
def test_broken_compressed_tables_in_batches(tmp_path, content):
    (tmp_path / "t.csv.gz").write_bytes(content)
    with pytest.raises(InputError, match=r"t\.csv\.gz"):
        read_table(tmp_path / "t.csv.gz")
    with pytest.raises(InputError, match=r"t\.csv\.gz"):
        CsvSource(tmp_path / "t.csv.gz")


@pytest.mark.parametrize(
    "notes",
    [
        b"[]",
        b"{}",
        b"null",
        b'{"columns": 3}',
        b'{"index_columns": ["zz"], "columns": [], "column_indexes": []}',
        b'{"index_columns": [{"kind": "range", "start": "x", "stop": 2, "step": 1, "name": null}], "columns": []}',
    ],
)
def test_notes_for_pandas_that_contradict_the_columns(tmp_path, notes):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")

    from justicia.tables.sources import ParquetSource

    table = pa.table({"sex": ["f", "m"], "x": [1, 2]}).replace_schema_metadata({"pandas": notes})
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    (tmp_path / "t.parquet").write_bytes(buffer.getvalue())
    for read in (read_table, ParquetSource):
        with contextlib.suppress(TableError):
            held = read(tmp_path / "t.parquet")
            assert "x" in list(held.columns if read is ParquetSource else held.frame.columns)


def test_ratios_of_hardly_anybody():
    # The logarithm's error is about 1.96 / sqrt(1e-99), beyond what any number can hold.
    assert ratio_interval(1e-99, 2e-99, 3e-99, 4e-99) == (None, None)
    held, method = ratio_interval(12, 40, 48, 80)
    assert (round(held.lo, 3), round(held.hi, 3), method) == (0.301, 0.829, "log-ratio")


def test_weights_that_leave_hardly_anybody(tmp_path):
    import justicia

    table = pd.DataFrame({"sex": ["f", "f", "m", "m"] * 20, "out": ["yes", "no"] * 40, "w": 1e-90})
    table.loc[[0, 1, 2, 3], "w"] = [1.0, 1e-90, 1.0, 1e90]
    audit = justicia.audit_decisions(
        table, decision="out", favorable="yes", sensitive_features="sex", weight="w", tests=True
    )
    assert json.loads(audit.to_json())["groupings"]


def test_what_libraries_warn_of_is_not_shown(capsys, tmp_path, monkeypatch):
    import warnings

    import justicia.decisions

    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("sex,out\nf,yes\nm,no\n")
    real = justicia.decisions.audit_decisions

    def noisy(*given, **named):
        warnings.warn("a library says something", RuntimeWarning, stacklevel=1)
        np.log(np.zeros(1))
        return real(*given, **named)

    monkeypatch.setattr("justicia.decisions.audit_decisions", noisy)
    words = "verify --decisions t.csv --decision out --favorable yes --sensitive sex --quiet".split()
    with warnings.catch_warnings():
        warnings.resetwarnings()
        with pytest.raises(SystemExit) as stopped:
            main(words)
    assert stopped.value.code == 0
    assert "library" not in capsys.readouterr().err


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_integers_that_no_float_holds(tmp_path, monkeypatch, capsys, stream):
    """Long ones are numbers like any other; endless ones are as infinite as `1e400` is."""
    monkeypatch.chdir(tmp_path)
    said = []
    for name, number in (("long", "1" + "0" * 400), ("written", "1e400"), ("negative", "-1" + "0" * 400)):
        lines = ["sex,age,out"]
        lines += [f"{'fm'[i % 2]},{number if i == 3 else i % 50},{'yes' if i % 3 else 'no'}" for i in range(80)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
        (tmp_path / "who.rule").write_text("age > 25\n")
        words = [
            "verify",
            "--model",
            "who.rule",
            "--data",
            f"{name}.csv",
            "--sensitive",
            "sex",
            "--json",
            "a.json",
            *stream,
        ]
        code, err = answered(capsys, *words)
        said.append((code, json.loads(Path("a.json").read_text())["groupings"] if code == 0 else err.replace(name, "")))
    assert said[0] == said[1]
    assert said[2][0] == said[0][0]


def test_integers_longer_than_a_word_stay_as_they_are():
    frame = pd.DataFrame(
        {"long": [10**30, 5, None], "endless": [10**400, 5, None], "words": ["a", "b", None]}, dtype=object
    )
    held = with_finite_integers(frame)
    assert held["long"].tolist()[:2] == [10**30, 5]
    assert held["endless"].dtype == np.float64
    assert held["endless"].tolist()[:2] == [np.inf, 5]
    assert frame["endless"].tolist()[0] == 10**400


def test_columns_of_one_name_in_parquet(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table(
        [pa.array(["f", "m"] * 20), pa.array([1, 2] * 20), pa.array([0, 1] * 20)], names=["sex", "age", "age"]
    )
    parquet.write_table(table, "twice.parquet")
    (tmp_path / "who.rule").write_text("age > 1\n")
    for stream in ((), ("--stream",)):
        code, err = told(
            capsys, "verify", "--model", "who.rule", "--data", "twice.parquet", "--sensitive", "sex", *stream
        )
        assert code == 2
        assert "columns named more than once: age" in err


@pytest.mark.parametrize(
    "notes", ["[" * 100_000, '{"columns": [{"name": "' + "9" * 5000 + '"}]}', "{'a': " + "9" * 5000]
)
def test_notes_for_pandas_that_are_nested_or_numbers_without_end(tmp_path, monkeypatch, capsys, notes):
    monkeypatch.chdir(tmp_path)
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"sex": ["f", "m"] * 20, "age": [1, 2] * 20}).replace_schema_metadata({"pandas": notes})
    parquet.write_table(table, "t.parquet")
    (tmp_path / "who.rule").write_text("age > 1\n")
    for stream in ((), ("--stream",)):
        code, err = answered(
            capsys, "verify", "--model", "who.rule", "--data", "t.parquet", "--sensitive", "sex", *stream
        )
        assert code == 0 or (code == 2 and "is not a Parquet file that can be read" in err)


def not_text(place, *, words):
    """A Parquet file with a column of words that are no UTF-8."""
    import pyarrow as pa
    from pyarrow import parquet

    held = pa.array([0, 2, 4, 6, 8], pa.int32()).buffers()[1]
    texts = pa.Array.from_buffers(pa.string(), 4, [None, held, pa.py_buffer(b"\xf9a\xf9bcdef")])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), texts) if words == "categories" else texts
    parquet.write_table(pa.table({"sex": list("fmfm"), "hired": [0, 1, 1, 0], "note": column}), place)


@pytest.mark.parametrize("words", ["strings", "categories"])
@pytest.mark.parametrize("stream", [True, False])
def test_words_in_parquet_that_are_no_text(tmp_path, words, stream):
    import justicia

    not_text(tmp_path / "t.parquet", words=words)
    with pytest.raises(TableError, match=r"t.parquet: is not a Parquet file that can be read: .*UTF8"):
        justicia.audit_decisions(
            tmp_path / "t.parquet", decision="hired", sensitive_features=["sex", "note"], stream=stream
        )


def test_names_that_go_on_in_the_next_line_and_are_none(tmp_path):
    import justicia

    (tmp_path / "t.csv").write_text('sex,hired,"\n", ,#\nf,1,,,\nm,0,,,\n')
    with pytest.raises(TableError, match="two columns are named ''"):
        justicia.audit_decisions(tmp_path / "t.csv", decision="hired", sensitive_features="sex", stream=True)


@pytest.mark.parametrize("digits", [400, 5000])
@pytest.mark.parametrize("sign", [1, -1])
def test_integers_beyond_any_float_in_frames(digits, sign):
    """They are as infinite as 1e400, wherever a column is one of numbers."""
    import justicia
    from justicia import generations
    from justicia.errors import InputError
    from justicia.learners.rules import Condition

    huge = sign * 10**digits
    table = pd.DataFrame({"sex": list("fmfm"), "hired": [0, 1, 1, 0]})
    table["pay"] = pd.Series([huge, 1, 2, 3], dtype=object)
    asked = {"decision": "hired", "sensitive_features": "sex"}
    with pytest.raises(TableError, match="weight"):
        justicia.audit_decisions(table, weight="pay", **asked)
    audit = justicia.audit_decisions(table, decision="hired", sensitive_features="pay", bins={"pay": [1.5]})
    assert sorted(group.n for group in audit.groupings[0].groups) == ([2, 2] if sign < 0 else [1, 3])
    assert Condition("pay", ">", 1.5).holds(table["pay"]).tolist() == [sign > 0, False, True, True]
    with pytest.raises(InputError, match="step"):
        generations.sequence(table, "sex", domain=["f", "m"], beta=4, step="pay")
