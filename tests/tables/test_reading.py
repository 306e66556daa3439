from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np
import pandas as pd
import pytest

from justicia.collecting import Announcements
from justicia.errors import TableError
from justicia.tables import read_table


def read(tmp_path, text, name="t.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path, **options)


def test_blanks_around_names_and_values_are_removed_and_counted(tmp_path):
    with Announcements() as said:
        frame = read(tmp_path, "age, sex , pay\n39, Male, 1.5\n40, Female , \n 41,Male,2\n").frame
    assert list(frame.columns) == ["age", "sex", "pay"]
    assert frame["sex"].tolist() == ["Male", "Female", "Male"]
    assert frame["age"].tolist() == [39, 40, 41]
    assert frame["pay"].isna().tolist() == [False, True, False]
    assert said.announcements == ("blanks around 4 values and 2 column names were removed",)


def test_blanks_inside_values_stay(tmp_path):
    frame = read(tmp_path, 'name,x\n"Doe, Jane",1\na  b,2\n').frame
    assert frame["name"].tolist() == ["Doe, Jane", "a  b"]


def test_only_empty_cells_are_missing(tmp_path):
    frame = read(tmp_path, "w,x\nNone,1\nNA,2\nnull,3\nnan,4\n,5\n?,6\n").frame
    assert frame["w"].tolist()[:4] == ["None", "NA", "null", "nan"]
    assert frame["w"].isna().tolist() == [False] * 4 + [True, False]
    frame = read(tmp_path, "w,x\nNone,1\nNA,2\n?,3\n", na=["NA", "?"]).frame
    assert frame["w"].isna().tolist() == [False, True, True]


@pytest.mark.parametrize(("mark", "shown"), [(";", "';'"), ("\t", r"'\\t'"), ("|", r"'\|'")])
def test_other_delimiters_are_detected(tmp_path, mark, shown):
    text = f"a{mark}b{mark}c\n1{mark}2{mark}3\n"
    with pytest.raises(TableError, match=f"--delimiter {shown}"):
        read(tmp_path, text)
    assert read(tmp_path, text, delimiter=mark).frame.to_numpy().tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2\n1,2,3,4\n", "Expected 2 fields in line 3, saw 4"),
        (b"a,b\n1,2,3\n4,5,6\n", "more values than the header"),
        (b"a,b\n\xff\xfe,2\n", "--encoding"),
        (b'a,b\n"1,2\n', "EOF inside string"),
    ],
)
def test_broken_files_give_one_line(tmp_path, content, says):
    with pytest.raises(TableError, match=says) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)
    assert "t.csv" in str(caught.value)


def test_byte_order_mark_encodings_and_line_ends(tmp_path):
    assert list(read(tmp_path, b"\xef\xbb\xbfa,b\r\n1,2\r\n").frame.columns) == ["a", "b"]
    assert read(tmp_path, "ä,b\nü,2\n".encode("latin-1"), encoding="latin-1").frame.iloc[0, 0] == "ü"
    with pytest.raises(TableError, match="'nonsense' is not known"):
        read(tmp_path, b"a,b\n1,2\n", encoding="nonsense")


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_compressed_files(tmp_path, suffix, pack):
    assert len(read(tmp_path, pack(b"a,b\n1,2\n"), f"t.csv{suffix}").frame) == 1
    with pytest.raises(TableError, match="decompressed"):
        read(tmp_path, b"no archive", f"u.csv{suffix}")


def test_parquet(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "b": ["None", None]})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.frame["b"].isna().tolist() == [False, True]
    assert len(table.sha256) == 64
    with pytest.raises(TableError, match="not a Parquet file"):
        read(tmp_path, b"PAR1 nonsense", "u.parquet")


def test_missing_file_folder_and_unknown_name(tmp_path):
    for data in (tmp_path / "none.csv", "adlut"):
        with pytest.raises(TableError, match=r"no such file.*adult"):
            read_table(data)
    with pytest.raises(TableError, match="not a file"):
        read_table(tmp_path)


def test_frames_are_taken_as_they_are():
    frame = pd.DataFrame({0: [1, 2], "b": [3, 4]}, index=[7, 7])
    table = read_table(frame)
    assert list(table.frame.columns) == ["0", "b"]
    assert list(table.frame.index) == [0, 1]
    assert list(frame.columns) == [0, "b"]
    with pytest.raises(TableError, match="named more than once: a"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(TableError, match="not list"):
        read_table([1, 2])
    assert read_table(np.ones((2, 3))).frame.shape == (2, 3)


def test_bundled_data_set_by_name_and_by_its_columns(tmp_path, adult):
    table = read_table("adult")
    assert table.description.name == "adult"
    assert len(table.frame) == 32_561
    pd.testing.assert_frame_equal(table.frame, adult)
    with Announcements() as said:
        again = read_table(adult.iloc[:10])
    assert again.description.name == "adult"
    assert "bundled data set adult" in said.announcements[0]
