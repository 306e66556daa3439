"""CSV files that are read in batches, under the two rules of `justicia.tables.csv_text`.

The parser guesses the type of each column batch by batch, and reading the whole file it guesses once. So a first
reading settles the types: numbers and empty cells are as good as numbers, and a column that holds a word anywhere is
text everywhere, which the second reading is told.
"""

from __future__ import annotations

import io
import logging
import lzma
import warnings
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from justicia.errors import TableError
from justicia.tables.content import COMPRESSED
from justicia.tables.csv_text import (
    check_beginning,
    check_delimiter,
    first_line,
    has_header_rows,
    has_outer_blanks,
    holds_words,
    names_in,
    refuse_header,
)
from justicia.tables.file_kinds import NO_TEXT
from justicia.tables.integers import with_finite_integers
from justicia.tables.sources import FileHash, Survey, batch_rows, head_rows, with_types
from justicia.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from justicia.watching import Progress

__all__ = ["CsvSource", "LineLengths"]

logger = logging.getLogger(__name__)

_BLOCK = 1 << 20
_MOST_KEPT = 20_000_000
"""Cells of a first reading that are kept, so that there is no second one."""
_LONG_LINES = 300
_BATCH_BYTES = 32 << 20
"""The parser holds all values of a batch, also of columns that are not asked for."""
_COMPRESSION_ERRORS = (zlib.error, lzma.LZMAError)
_PARSER_ERRORS = (ValueError, OverflowError, TypeError, LookupError, EOFError, OSError)
"""What the parser raises; its own errors are ValueErrors."""


class LineLengths:
    """Refuses lines that have fewer or more values than the header has names.

    Parameters
    ----------
    width : int
        Names of the header.
    delimiter : bytes
    """

    def __init__(self, width: int, delimiter: bytes) -> None:
        self._width = width
        self._mark = delimiter[0]
        self._line = 1
        self._values = 0
        self._bytes = 0
        self._quoted = False
        self._returns = 0

    def look(self, block: bytes) -> None:
        """Look at the next bytes of the file.

        Raises
        ------
        TableError
        """
        n_lines = block.count(b"\n")
        if not self._quoted and b'"' not in block and b"\r" not in block and len(block) > _LONG_LINES * n_lines:
            self._look_at_long(block)
            return
        held = np.frombuffer(block, dtype=np.uint8)
        marks, at = np.flatnonzero(held == self._mark), np.flatnonzero(held == 10)
        if self._quoted or b'"' in block:
            quotes = np.flatnonzero(held == 34)
            marks, at = self._outside(marks, quotes), self._outside(at, quotes)
            self._quoted = bool((len(quotes) + self._quoted) % 2)
        returns = np.flatnonzero(held == 13) if b"\r" in block else at[:0]
        marks_before, returns_before = np.searchsorted(marks, at), np.searchsorted(returns, at)
        counts = np.diff(marks_before, prepend=-self._values)
        lengths = np.diff(at, prepend=-1 - self._bytes)
        blank = lengths - 1 - np.diff(returns_before, prepend=-self._returns) == 0
        wrong = np.flatnonzero((counts != self._width - 1) & ~blank)
        if len(wrong):
            self._refuse(self._line + int(wrong[0]), int(counts[wrong[0]]) + 1)
        self._line += len(at)
        if len(at):
            self._values = self._returns = self._bytes = 0
        last = int(at[-1]) if len(at) else -1
        self._values += len(marks) - int(np.searchsorted(marks, last))
        self._returns += len(returns) - int(np.searchsorted(returns, last))
        self._bytes += len(held) - last - 1

    def _outside(self, places: np.ndarray, quotes: np.ndarray) -> np.ndarray:
        """Those with an even number of quotes before them."""
        return places[(np.searchsorted(quotes, places) + self._quoted) % 2 == 0]

    def _look_at_long(self, block: bytes) -> None:
        """The same, line by line, which is faster where they are long."""
        begin, mark = 0, bytes([self._mark])
        while (end := block.find(b"\n", begin)) >= 0:
            values = self._values + block.count(mark, begin, end)
            if values != self._width - 1 and self._bytes + end - begin - self._returns > 0:
                self._refuse(self._line, values + 1)
            self._line += 1
            self._values = self._bytes = self._returns = 0
            begin = end + 1
        self._values += block.count(mark, begin)
        self._bytes += len(block) - begin

    def end(self) -> None:
        """Look at a last line that does not end.

        Raises
        ------
        TableError
        """
        if self._bytes - self._returns > 0 and self._values != self._width - 1:
            self._refuse(self._line, self._values + 1)

    def _refuse(self, line: int, values: int) -> None:
        if values > self._width:
            raise TableError("rows have more values than the header has names")
        raise TableError(f"line {line} has {values} values, and the header {self._width} names")


class _Watched(io.RawIOBase):
    """A file that is looked at while it is read."""

    def __init__(self, file: IO[bytes], size: Any, delimiter: str, lengths: LineLengths | None, wide: bool) -> None:
        self._file = file
        self._size = size
        self._delimiter = delimiter
        self._lengths = lengths
        self._wide = wide
        self._last = b"\n"
        self.blanks = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._file.read(len(buffer))
        self._look(block)
        buffer[: len(block)] = block
        return len(block)

    def _look(self, block: bytes) -> None:
        if not block:
            if self._lengths is not None:
                self._lengths.end()
            return
        if b"\x00" in block and not self._wide:
            raise TableError(NO_TEXT)
        self.blanks = self.blanks or has_outer_blanks(self._last + block, self._delimiter)
        self._last = block[-1:]
        if self._lengths is not None:
            self._lengths.look(block)

    def close(self) -> None:
        self._file.close()
        super().close()


class CsvSource:
    """A CSV file, which may be compressed.

    Parameters
    ----------
    path : Path
    na, delimiter, encoding, strip, texts
        As `justicia.tables.read_table` takes them.

    Raises
    ------
    TableError
        When the file is no such table.
    """

    def __init__(
        self, path: Path, na: Sequence[str] = (), delimiter: str | None = None, encoding: str = "utf-8",
        strip: bool = True, texts: Collection[str] = (),
    ) -> None:  # fmt: skip
        self._path = path
        self._na = ["", *na]
        self._delimiter = "," if delimiter is None else delimiter
        self._encoding = encoding
        self._wide = "16" in encoding or "32" in encoding
        self._strip = strip
        self.columns: list[str] = []
        self._as_text = {name.strip() if strip else name for name in texts}
        self.name: str | None = path.name
        if len(self._delimiter) != 1 or not self._delimiter.isascii() or self._delimiter in '"\n\r':
            raise TableError(f"{path.name}: delimiter {delimiter!r} is not one ASCII character")
        try:
            with self._open() as file:
                beginning = file.read(_BLOCK)
        except (*_COMPRESSION_ERRORS, EOFError) as error:
            raise TableError(f"{path.name}: cannot be decompressed: {first_line(error)}") from error
        except OSError as error:
            raise TableError(f"{path.name} cannot be read: {error.strerror or error}") from error
        try:
            header = self._header(beginning, asked=delimiter is not None)
            names = [str(name) for name in self._head(beginning, blanks=False).columns]
            self._blanks = strip and any(name != name.strip() for name in names)
        except TableError as error:
            raise TableError(f"{path.name}: {error}") from error
        self.columns = [name.strip() for name in names] if strip else names
        self._renamed = sum(a != b for a, b in zip(names, self.columns, strict=True))
        fields = [name.strip().lstrip("\ufeff") for name in header]
        # A name may go on in the next line, of which the header's line alone says nothing.
        repeated = next(
            (name for held in (fields, self.columns) for i, name in enumerate(held) if name in held[:i]), None
        )
        if repeated is not None:
            raise TableError(f"{path.name}: two columns are named {repeated!r}: rename one")
        self._beginning = beginning
        self._dtypes: dict[str, Any] = {}
        self._hash: FileHash | None = None
        self._kept = _Kept()
        self._looked_through = False

    def _open(self) -> IO[bytes]:
        import bz2
        import gzip

        kind = COMPRESSED.get(self._path.suffix.lower())
        openers: dict[str | None, Any] = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}
        held: IO[bytes] = openers[kind](self._path, "rb") if kind is not None else self._path.open("rb")
        return held

    def _header(self, beginning: bytes, *, asked: bool) -> list[str]:
        suffixes = [suffix.lower() for suffix in self._path.suffixes if suffix.lower() not in COMPRESSED]
        check_beginning(beginning, self._encoding, suffixes[-1] if suffixes else "")
        if b"\r" in beginning and b"\n" not in beginning:
            raise TableError("ends its lines with \\r alone: write \\n, or read it whole (--no-stream)")
        try:
            line = beginning.partition(b"\n")[0].decode(self._encoding, "replace")
        except (LookupError, ValueError) as error:
            raise TableError(
                f"encoding {self._encoding!r} is not known: usual ones are utf-8, latin-1, cp1252 and utf-16"
            ) from error
        if not asked:
            check_delimiter(line)
        return names_in(line, self._delimiter)

    def _head(self, beginning: bytes, *, blanks: bool) -> pd.DataFrame:
        cut = beginning
        if len(beginning) == _BLOCK and not self._wide:
            cut = beginning[: beginning.rfind(b"\n") + 1] or beginning
        try:
            return next(
                self._parsed(io.BytesIO(cut), None, head_rows(beginning.count(self._delimiter.encode())), blanks)
            )
        except StopIteration:
            raise TableError("has no rows") from None

    def head(self) -> pd.DataFrame:
        """The first rows, all columns."""
        found = self._head(self._beginning, blanks=self._strip)
        frame = self._cleaned(found.set_axis(self.columns, axis="columns"))
        try:
            self._check_headers(frame)
        except TableError as error:
            raise TableError(f"{self.name}: {error}") from error
        return frame

    def _check_headers(self, frame: pd.DataFrame) -> None:
        """Refuse a file with a line that repeats the header; `frame` is a part of it, and may lack columns."""
        if self._looked_through or not has_header_rows(frame, self._na):
            return
        self._looked_through = True
        with self._open() as file, io.TextIOWrapper(file, self._encoding, "replace", newline="") as lines:
            refuse_header(lines, self._delimiter)

    def _parsed(self, file: IO[bytes], places: Sequence[int] | None, rows: int, blanks: bool) -> Iterator[pd.DataFrame]:
        """The file in frames of so many rows."""
        import pandas as pd

        dtype = None
        if self.columns:
            shown = range(len(self.columns)) if places is None else places
            dtype = {i: self._type_of(self.columns[i]) for i in shown}
            dtype = {i: kind for i, kind in dtype.items() if kind is not None}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)
                reader = pd.read_csv(
                    file,
                    sep=self._delimiter,
                    encoding=self._encoding,
                    keep_default_na=False,
                    na_values=self._na,
                    index_col=False,
                    skipinitialspace=blanks,
                    low_memory=False,
                    usecols=None if places is None else list(places),
                    dtype=dtype,
                    chunksize=rows,
                )
            while True:
                with warnings.catch_warnings():
                    warnings.simplefilter("error", pd.errors.ParserWarning)
                    frame = next(reader, None)
                if frame is None:
                    return
                yield with_finite_integers(frame.reset_index(drop=True))
        except pd.errors.EmptyDataError:
            raise TableError("is empty") from None
        except UnicodeDecodeError as error:
            raise TableError(self._not_decoded()) from error
        except pd.errors.ParserWarning as error:
            raise TableError("rows have more values than the header has names") from error
        except (*_PARSER_ERRORS, *_COMPRESSION_ERRORS) as error:
            if isinstance(error, TableError):
                raise
            raise TableError(f"cannot be parsed: {first_line(error)}") from error

    def _type_of(self, name: str) -> Any:
        """What the parser is told of a column."""
        if name in self._as_text:
            return str
        kind = self._dtypes.get(name)
        return kind if kind is not None and kind.kind in "iuf" else None

    def _not_decoded(self) -> str:
        """Which byte is no text in the encoding, by line."""
        with self._open() as file:
            for number, line in enumerate(file, start=1):
                try:
                    line.decode(self._encoding)
                except UnicodeDecodeError as error:
                    byte = f"{line[error.start]:#04x}"
                    return (
                        f"is not {self._encoding} text (byte {byte} in line {number}): convert it, or pass "
                        "--encoding latin-1"
                    )
        return f"is not {self._encoding} text: pass --encoding, or convert it"

    def survey(self, columns: Sequence[str], wanted: Collection[str], progress: Progress | None) -> Survey:
        """Settle types of some columns, and collect all values of those that are `wanted`."""
        self._hash = self._hash or FileHash(self._path)
        if self._renamed:
            logger.info("blanks around %s were removed", counted(self._renamed, "column name"))
        lengths: LineLengths | None = None
        if not self._wide and len(self.columns) > 1:
            lengths = LineLengths(len(self.columns), self._delimiter.encode())
        while True:
            survey, kept = Survey(), _Kept()
            kinds: dict[str, set[str]] = {name: set() for name in columns}
            again = False
            for frame, blanks in self._read(columns, lengths, progress, "types"):
                if self._strip and blanks and not self._blanks:
                    self._blanks, again = True, True
                for name in columns:
                    column = frame[name]
                    kinds[name].add("empty" if column.isna().all() else _kind(column))
                    if name not in self._as_text and _is_text(kinds[name]):
                        self._as_text.add(name)
                        again = True
                if again:
                    break
                survey.add(frame[[name for name in columns if name in wanted]])
                kept.add(frame)
            lengths = (
                None if not again else LineLengths(len(self.columns), self._delimiter.encode()) if lengths else None
            )
            if not again:
                break
        self._kept = kept
        for name in columns:
            self._dtypes[name] = _settled(kinds[name], name in self._as_text)
        survey.values = {
            name: with_types(column.to_frame(), {name: self._dtypes[name]})[name]
            for name, column in survey.values.items()
        }
        return survey

    def _read(
        self, columns: Sequence[str], lengths: LineLengths | None, progress: Progress | None, what: str
    ) -> Iterator[tuple[pd.DataFrame, bool]]:
        """Some columns, and whether a value so far may begin or end with a blank."""
        places = [self.columns.index(name) for name in columns]
        size = max(self._path.stat().st_size, 1)
        file = self._open()
        watched = _Watched(file, size, self._delimiter, lengths, self._wide)
        raw = getattr(file, "fileobj", None) or getattr(file, "_fp", None) or file
        done = 0
        try:
            with io.BufferedReader(watched, _BLOCK) as stream:
                for frame in self._parsed(stream, places, self._batch_rows(len(columns)), self._blanks):
                    done += len(frame)
                    if progress is not None:
                        progress(f"{self.name}: {what} of {done:,} rows", min(raw.tell() / size, 1.0))
                    names = [self.columns[i] for i in sorted(places)]
                    cleaned = self._cleaned(frame.set_axis(names, axis="columns")[list(columns)])
                    self._check_headers(cleaned)
                    yield cleaned, watched.blanks
        except TableError as error:
            raise TableError(f"{self.name}: {error}") from error

    def _batch_rows(self, n_columns: int) -> int:
        """Rows of a batch of so many columns."""
        a_line = len(self._beginning) / (self._beginning.count(b"\n") + 1)
        return max(min(batch_rows(n_columns), int(_BATCH_BYTES / a_line)), 1)

    def _cleaned(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Without blanks around words."""
        if not self._strip or not self._blanks:
            return frame
        for name in frame.columns:
            if holds_words(frame[name]):
                stripped = frame[name].str.strip()
                frame[name] = stripped.mask(stripped == "")
        return frame

    def batches(self, columns: Sequence[str], progress: Progress | None) -> Iterator[pd.DataFrame]:
        """Some columns, batch by batch."""
        if self._kept.frames and set(columns) <= set(self._kept.frames[0].columns):
            for frame in self._kept.frames:
                yield self.restore(frame[list(columns)])
            return
        for frame, _ in self._read(columns, None, progress, "people"):
            yield self.restore(frame)

    def restore(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Rows of batches, in the types that the whole table has."""
        return with_types(frame, self._dtypes)

    def sha256(self) -> str | None:
        """Hash of the file's bytes."""
        self._hash = self._hash or FileHash(self._path)
        return self._hash.hexdigest()


class _Kept:
    """Frames of a reading, none where they are too many cells."""

    def __init__(self) -> None:
        self.frames: list[pd.DataFrame] = []
        self._cells = 0

    def add(self, frame: pd.DataFrame) -> None:
        self._cells += frame.size
        self.frames = [*self.frames, frame] if self._cells <= _MOST_KEPT else []


def _kind(column: pd.Series[Any]) -> str:
    """What a batch makes of a column: "int", "float", "bool" (with empty cells "object"), or "text"."""
    kind = column.dtype.kind
    if kind in "iufb":
        return {"i": "int", "u": "unsigned", "f": "float", "b": "bool"}[kind]
    held = column.dropna()
    return "object" if all(isinstance(value, (bool, np.bool_)) for value in held.unique().tolist()) else "text"


def _is_text(kinds: set[str]) -> bool:
    """Whether a whole column is text that was taken for something else in some batch."""
    truth = bool(kinds & {"bool", "object"})
    numbers = bool(kinds & {"int", "unsigned", "float"})
    return ("text" in kinds and (truth or numbers)) or (truth and numbers)


def _settled(kinds: set[str], as_text: bool) -> Any:
    """The type that the whole column has."""
    import pandas as pd

    held = kinds - {"empty"}
    if as_text or held == {"text"}:
        return pd.Series(["a"]).dtype
    if "object" in held or (held == {"bool"} and "empty" in kinds):
        return np.dtype(object)
    if held == {"bool"}:
        return np.dtype(bool)
    if held == {"int"} and "empty" not in kinds:
        return np.dtype(np.int64)
    if held == {"unsigned"} and "empty" not in kinds:
        return np.dtype(np.uint64)
    return np.dtype(np.float64)
