"""Tables on which parsers stumble, or that tell libraries to stumble: one line each, and nothing beside it."""

from __future__ import annotations

import contextlib
import gzip
import io
import json

import numpy as np
import pandas as pd
import pytest

from justicia.cli import main
from justicia.errors import InputError, TableError
from justicia.metrics.adverse_impact import ratio_interval
from justicia.tables import read_table
from justicia.tables.csv_stream import CsvSource


def told(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert "unexpected" not in captured.err
    return stopped.value.code, captured.err


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
