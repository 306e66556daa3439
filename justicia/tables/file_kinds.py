"""Files that are no CSV text, told by their first bytes, or by the end of their name: what they are, and what helps."""

from __future__ import annotations

import re

__all__ = ["NO_TEXT", "other_kind"]

NO_TEXT = "is not a text file: a table is CSV text or a Parquet file that ends in .parquet"

_SAVE = "save the table as CSV (UTF-8) or as Parquet"
_WORKBOOK = "a workbook of a spreadsheet program"
_PARQUET = "is a Parquet file whose name does not end in .parquet: rename it"

_BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", f"{_WORKBOOK}, or another Office document"),
    (b"$FL2", "a data set of SPSS"),
    (b"$FL3", "a data set of SPSS"),
    (b"<stata_dta>", "a data set of Stata"),
    (b"HEADER RECORD*******", "a transport file of SAS"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"ARROW1", "a Feather or Arrow file"),
    (b"FEA1", "a Feather file"),
    (b"\x89HDF\r\n", "an HDF5 file"),
    (b"Obj\x01", "an Avro file"),
    (b"ORC", "an ORC file"),
    (b"RDX", "a data file of R"),
    (b"\x93NUMPY", "an array of numpy"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture (PNG)"),
)
_SUFFIXES = {
    ".xlsx": _WORKBOOK, ".xlsm": _WORKBOOK, ".xlsb": _WORKBOOK, ".xls": _WORKBOOK, ".ods": _WORKBOOK,
    ".numbers": _WORKBOOK, ".sav": "a data set of SPSS", ".zsav": "a data set of SPSS", ".por": "a data set of SPSS",
    ".dta": "a data set of Stata", ".sas7bdat": "a data set of SAS", ".xpt": "a transport file of SAS",
    ".rds": "a data file of R", ".rda": "a data file of R", ".rdata": "a data file of R", ".feather": "a Feather file",
    ".arrow": "an Arrow file", ".ipc": "an Arrow file", ".h5": "an HDF5 file", ".hdf": "an HDF5 file",
    ".hdf5": "an HDF5 file", ".avro": "an Avro file", ".orc": "an ORC file", ".sqlite": "an SQLite database",
    ".sqlite3": "an SQLite database", ".db": "a database", ".npy": "an array of numpy", ".npz": "arrays of numpy",
    ".pkl": "a pickle", ".pickle": "a pickle", ".joblib": "a file of joblib", ".pdf": "a PDF document",
    ".docx": "a text document", ".odt": "a text document", ".zip": "an archive",
}  # fmt: skip
_LONG = 10
_JSON = (".json", ".jsonl", ".ndjson", ".geojson")
_TEXT = re.compile(rb"[^\x00-\x08\x0e-\x1a\x1c-\x1f]*")


def other_kind(content: bytes, suffix: str = "") -> str | None:
    """What the content of a file is when it is no CSV text, and what to do; None when it may be CSV text.

    Parameters
    ----------
    content : bytes
        Of the whole file, or its beginning.
    suffix : str
        The end of its name in small letters, without that of a compression.

    >>> other_kind(b"SQLite format 3" + bytes(85))
    'is an SQLite database: save the table as CSV (UTF-8) or as Parquet'
    >>> other_kind(b"age,sex", ".xls") is None
    True
    """
    if content.startswith(b"PAR1"):
        return _PARQUET
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        # UTF-16 text.
        return None
    kind = _archive(content) if content.startswith(b"PK\x03\x04") else None
    binary = not _TEXT.fullmatch(content[:4000])
    for beginning, says in _BEGINNINGS:
        # A column may have a name such as ORC.
        if kind is None and content.startswith(beginning) and (binary or len(beginning) >= _LONG):
            kind = says
    if kind is None and binary:
        kind = _SUFFIXES.get(suffix)
    start = content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if kind is None and (start.startswith((b'{"', b'[{"')) or (suffix in _JSON and start[:1] in b"{[")):
        kind = "JSON"
    if kind is None and start[:15].lower().startswith((b"<!doctype html", b"<html")):
        return "is a web page (HTML), not the table itself: download the file behind it"
    return None if kind is None else f"is {kind}: {_unpacked(kind)}{_SAVE}"


def _archive(content: bytes) -> str:
    """What a zip archive is by the names in its beginning."""
    start = content[:4000]
    if b"opendocument.spreadsheet" in start or any(name in content for name in (b"xl/", b"_rels/.rels")):
        return _WORKBOOK if b"word/" not in content else "a text document"
    return "an archive (zip)"


def _unpacked(kind: str) -> str:
    return "take the table out of it, or " if "archive" in kind else ""
