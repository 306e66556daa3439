"""Read a table of labelled generations: CSV, JSON lines, Parquet or a DataFrame, one row a generation."""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from justicia.errors import InputError, MissingDependencyError, TableError
from justicia.progress import stage, told
from justicia.tables.content import COMPRESSED, Hash, uncompressed
from justicia.tables.csv_text import first_line, parse_csv
from justicia.words import did_you_mean, listed, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

__all__ = ["Source", "read_generations"]

_PARQUET = (".parquet", ".pq")
_LINES = (".jsonl", ".ndjson", ".jsonlines")


@dataclass(frozen=True)
class Source:
    """A table as it was read.

    Attributes
    ----------
    frame : DataFrame
        Of a Parquet file, the columns asked for alone; text of a CSV file is left as it is.
    columns : tuple of str
        Every column of the table.
    name : str or None
        Of the file; None for a frame in memory.
    sha256 : str or None
        Of the file's bytes.
    """

    frame: pd.DataFrame
    columns: tuple[str, ...]
    name: str | None = None
    sha256: str | None = None

    def column(self, name: str, what: str = "column") -> pd.Series[Any]:
        """A column by its name.

        Raises
        ------
        TableError
            When there is no such column.
        """
        if name not in self.columns:
            raise TableError(
                f"{self.name or 'the table'} has no {what} {shown(name)!r}{did_you_mean(name, self.columns)}"
            )
        return self.frame[name]


def read_generations(
    data: Any,
    wanted: Iterable[str] | None = None,
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Source:
    """Read `data`.

    Parameters
    ----------
    data : path or DataFrame
        The name of a file ends in .csv, .jsonl (.ndjson) or .parquet (.pq), also compressed (.gz, .bz2, .xz) but for
        Parquet; any other ending is read as CSV.
    wanted : iterable of str, optional
        Columns that are needed, whether or not they are there; all by default.
    delimiter, encoding : str
        Of a CSV file.

    Raises
    ------
    TableError
        When the table cannot be read, has no rows, or names a column twice.
    """
    import pandas as pd

    if isinstance(data, pd.DataFrame):
        frame = data.reset_index(drop=True)
        return _checked(frame.set_axis([str(name) for name in frame.columns], axis="columns"), None, None)
    if not isinstance(data, (str, os.PathLike)):
        raise TableError(f"a table of generations is a file or a DataFrame, not {type(data).__name__}")
    stage("reading the table")
    path = Path(data)
    if not os.fspath(data).strip():
        raise TableError("the table's name is empty: name a file")
    if not path.is_file():
        raise TableError(f"{path} is not a file" if path.exists() else f"{path}: there is no such file")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}") from error
    hashing = Hash(content)
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]] or [""]
    columns = None
    try:
        if suffixes[-1] in _PARQUET:
            frame, columns = _parse_parquet(content, wanted)
        else:
            if suffixes[-1] in COMPRESSED:
                content = uncompressed(content, suffixes.pop())
            if suffixes and suffixes[-1] in _LINES:
                frame = _parse_lines(content)
            else:
                frame = parse_csv(
                    io.BytesIO(content),
                    delimiter=delimiter,
                    encoding=encoding,
                    as_text=True,
                    suffix="".join(suffixes[-1:]),
                )
        return _checked(frame, path.name, hashing.hexdigest(), columns)
    except InputError as error:
        said = str(error)
        raise type(error)(said if said.startswith(path.name) else f"{path.name}: {said}") from error


def _checked(frame: pd.DataFrame, name: str | None, sha256: str | None, columns: Any = None) -> Source:
    if len(frame) == 0:
        raise TableError(f"{name or 'the table'} has no rows")
    names = tuple(frame.columns) if columns is None else tuple(columns)
    if len(set(names)) < len(names):
        twice = [column for column in dict.fromkeys(names) if names.count(column) > 1]
        raise TableError(f"columns named more than once: {listed(twice)}; rename them")
    told("rows", table=name, rows=len(frame), used=len(frame), dropped={})
    return Source(frame, names, name, sha256)


def _parse_parquet(content: bytes, wanted: Iterable[str] | None) -> tuple[pd.DataFrame, list[str]]:
    """The columns of a Parquet file that are needed; texts as categories, which costs a fraction of the time."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependencyError("Parquet files need pyarrow: pip install pyarrow") from error
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        names = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
        read = names if wanted is None else [name for name in names if name in set(wanted)]
        texts = [
            field.name
            for field in file.schema_arrow
            if field.name in read and (pa.types.is_string(field.type) or pa.types.is_large_string(field.type))
        ]
        if file.metadata.num_rows and not read:
            # Rows without a column that is needed: whoever asks for one says so.
            read = names[:1]
        file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)
        table = file.read(columns=read).unify_dictionaries()
        frame = table.replace_schema_metadata(None).to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(f"is not a Parquet file that can be read: {first_line(error)}") from error
    return frame, names


def _parse_lines(content: bytes) -> pd.DataFrame:
    """JSON lines: an object a line; a key that a line lacks is blank there."""
    import pandas as pd

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = content.count(b"\n", 0, error.start) + 1
        raise TableError(f"is not UTF-8 text (byte {content[error.start]:#04x} in line {place})") from None
    columns: dict[str, list[Any]] = {}
    rows = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        for name, value in _line(line, number).items():
            held = columns.setdefault(name, [])
            held.extend([None] * (rows - len(held)))
            held.append(_cell(value, name, number))
        rows += 1
    for held in columns.values():
        held.extend([None] * (rows - len(held)))
    return pd.DataFrame({name: pd.Series(held, dtype=object) for name, held in columns.items()}, index=range(rows))


def _line(line: str, number: int) -> dict[str, Any]:
    pairs: list[list[tuple[str, Any]]] = []

    def keep(found: list[tuple[str, Any]]) -> dict[str, Any]:
        pairs.append(found)
        return dict(found)

    try:
        held = json.loads(line, object_pairs_hook=keep)
    except json.JSONDecodeError as error:
        raise TableError(f"line {number} is no JSON: {error.msg}") from None
    except (RecursionError, ValueError):
        raise TableError(f"line {number} cannot be read: it is nested too deeply, or a number is too long") from None
    if not isinstance(held, dict):
        raise TableError(f'line {number} is no JSON object: a line is like {{"run": "a", "gender": "female"}}')
    if len(held) < len(pairs[-1]):
        raise TableError(f"line {number} has a key twice")
    return held


def _cell(value: Any, name: str, number: int) -> Any:
    if isinstance(value, list):
        if all(isinstance(item, (str, int, float, bool)) or item is None for item in value):
            return tuple(value)
    elif not isinstance(value, dict):
        return value
    raise TableError(f"line {number}: {shown(name)} is neither one value nor a list of values")
