"""Files that were padded, renamed or written over; texts that reached the terminal as commands."""

from __future__ import annotations

import gzip
import json
import pickle

import pandas as pd
import pytest

from justicia.cli import main
from justicia.errors import TableError
from justicia.tables import read_table
from tests.regressions.common import people, pipeline


@pytest.fixture
def folder(tmp_path, monkeypatch):
    table, out = people()
    table.assign(out=out).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "tree.pkl").write_bytes(pickle.dumps(pipeline()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main(["verify", "--model", "tree.pkl", "--data", "people.csv", *words])
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


@pytest.mark.parametrize("target", ["people.csv", "tree.pkl", "./people.csv"])
def test_inputs_are_never_written_over(capsys, folder, target):
    before = (folder / target).read_bytes()
    code, out, err = run(capsys, "--json", target)
    assert (code, out) == (2, "")
    assert "read as an input" in err
    assert (folder / target).read_bytes() == before


def test_columns_named_twice(folder):
    (folder / "t.csv").write_text("sex,x,sex\nf,1,m\nm,2,m\n")
    with pytest.raises(TableError, match="two columns are named 'sex' and differ"):
        read_table("t.csv")
    (folder / "t.csv").write_text("sex,x,sex\nf,1,f\nm,2,m\n")
    assert list(read_table("t.csv").frame.columns) == ["sex", "x", "sex.1"]


@pytest.mark.parametrize("quoted", [False, True])
def test_short_rows_are_named(folder, quoted):
    first = '"a b",1,2' if quoted else "a,1,2"
    (folder / "t.csv").write_text(f"s,x,y\n{first}\nb,3\n\nc,4,5\n")
    with pytest.raises(TableError, match=r"line 3 has 2 values, and the header 3 names"):
        read_table("t.csv")
    (folder / "t.csv").write_text(f"s,x,y\n{first}\nb,3,\n\nc,4,5\n")
    assert read_table("t.csv").frame["y"].isna().sum() == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "is compressed"),
        (b"PK\x03\x04zip", r"is an archive \(zip\): take the table out of it"),
        ("a,b\n1,2\n".encode("utf-16"), "--encoding utf-16"),
        (b"a,b\n1,\x002\n", "not a text file"),
    ],
)
def test_files_that_are_no_text(folder, content, says):
    (folder / "t.csv").write_bytes(content)
    with pytest.raises(TableError, match=says):
        read_table("t.csv")


def test_utf16_is_read_when_asked(folder):
    (folder / "t.csv").write_bytes("a,b\n1,ü\n".encode("utf-16"))
    assert read_table("t.csv", encoding="utf-16").frame["b"].tolist() == ["ü"]


@pytest.mark.parametrize("delimiter", ["", ",,", "é", '"'])
def test_odd_delimiters(folder, delimiter):
    with pytest.raises(TableError, match="not one ASCII character"):
        read_table("people.csv", delimiter=delimiter)


def test_names_one_and_text_one():
    with pytest.raises(TableError, match="named more than once: 1"):
        read_table(pd.DataFrame([[1, 2]], columns=[1, "1"]))


def test_control_characters_do_not_reach_the_terminal(capsys, folder):
    table = pd.read_csv("people.csv")
    table.loc[:9, "job"] = "\x1b]0;pwn\x07\x1b[2JM" + "x" * 5000
    table["sex"] = table["sex"].replace("M", "\x1b[2JM")
    table.to_csv("people.csv", index=False)
    _, out, err = run(capsys, "--sensitive", "sex,job")
    for text in (out, err):
        assert "\x1b" not in text
        assert "\x07" not in text
        assert max(map(len, text.splitlines())) < 2500
    assert r"\x1b[2JM" in out


@pytest.mark.parametrize("number", ["1e-999999999", "0." + "1" * 5000, "٠.٨"])
def test_limits_that_would_take_for_ever(capsys, folder, number):
    code, _, err = run(capsys, "--require", f"disparate_impact>={number}")
    assert code == 2
    assert "not a number" in err


@pytest.mark.parametrize("text", ["disparate-impact>=10%", "Disparate_Impact >= 10 %", "disparate_impact≥.1"])
def test_ways_to_write_a_requirement(capsys, folder, text):
    assert run(capsys, "--sensitive", "sex", "--require", text)[0] == 0


@pytest.mark.parametrize("epoch", ["99999999999999999", "253402300800", "-1", "soon"])
def test_times_that_are_none(capsys, folder, monkeypatch, epoch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    code, out, err = run(capsys, "--json", "-")
    assert (code, out) == (2, "")
    assert "SOURCE_DATE_EPOCH" in err


def test_a_confidence_next_to_one(capsys, folder):
    assert run(capsys, "--confidence", "0.9999999999999999")[0] == 0


@pytest.mark.parametrize("words", [("--json", ""), ("--data", ""), ("--model", "."), ("--encoding", "idna")])
def test_empty_and_odd_names(capsys, folder, words):
    code, _, err = run(capsys, *words)
    assert code == 2
    assert "unexpected" not in err


def test_half_a_surrogate_pair_is_written_as_an_escape(folder):
    import justicia

    table, _ = people()
    held = justicia.verify(
        pipeline(),
        table.assign(sex=pd.Series(["F\ud800" if value == "F" else value for value in table["sex"]], dtype=object)),
        sensitive_features="sex",
    )
    held.to_json("a.json")
    groups = json.loads((folder / "a.json").read_text())["groupings"][0]["groups"]
    assert [group["group"]["sex"] for group in groups] == ["F\ud800", "M"]


def test_a_continuous_label_cannot_be_learnt(capsys, folder):
    code, _, err = run(capsys, "--model", "tree", "--label", "pay", "--sensitive", "sex")
    assert code == 2
    assert "no model can be trained" in err


@pytest.mark.parametrize("content", [b"hello", b'{"a": 1}', b""])
def test_files_that_are_no_pickles(capsys, folder, content):
    (folder / "tree.pkl").write_bytes(content)
    code, _, err = run(capsys)
    assert code == 2
    assert "not a pickle" in err


def test_half_a_surrogate_pair_in_people_who_are_drawn(capsys, folder):
    """A column of strings cannot hold it, nor a file in UTF-8; JSON can write it."""
    import justicia

    justicia.fit_population("people.csv", sensitive_features="sex", label="none").to_json("p.json")
    place = folder / "p.json"
    place.write_text(place.read_text().replace('"M"', r'"M\ud800"'))
    with pytest.raises(SystemExit) as stopped:
        main(["population", "sample", "p.json", "--rows", "20", "--out", "-"])
    captured = capsys.readouterr()
    assert stopped.value.code == 0
    assert "M\ufffd" in captured.out
    assert captured.err.startswith("warning: ")
    assert "half of a surrogate pair is written as U+FFFD" in captured.err
