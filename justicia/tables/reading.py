"""Read a table: a bundled data set, a CSV or Parquet file, or a DataFrame.

Two rules keep the audit's table the one that the user sees in the file: only empty cells are missing (words such as
``None`` or ``NA`` are text unless `na` names them), and blanks around values and names are removed and counted.
"""

from __future__ import annotations

import csv
import io
import logging
import os
import threading
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from justicia.compressed import decompressed, kind_of
from justicia.errors import InputError, MissingDependencyError, TableError
from justicia.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from justicia.datasets import Description

__all__ = ["Table", "parse_csv", "read_table"]

logger = logging.getLogger(__name__)

_PARQUET = (".parquet", ".pq")
_DELIMITERS = {";": "';'", "\t": r"'\t'", "|": "'|'"}


@dataclass(frozen=True)
class Table:
    """One row a person, columns as in the user's file.

    Attributes
    ----------
    frame : DataFrame of shape (n_rows, n_columns)
    source : str or None
        File name or data set name; None for a frame in memory.
    sha256 : str or None
        Hash of the file's bytes.
    description : Description or None
        Set when the columns are those of a bundled data set.
    dropped : dict of str to int
        Rows left out before the audit, by reason.
    beside : dict of str to Series
        Columns given beside the table: sensitive features and labels, never seen by the model.
    """

    frame: pd.DataFrame
    source: str | None = None
    sha256: str | None = None
    description: Description | None = None
    dropped: dict[str, int] = field(default_factory=dict)
    beside: dict[str, pd.Series[Any]] = field(default_factory=dict)

    @property
    def people(self) -> pd.DataFrame:
        """All that is known of the people: the frame, and the columns beside it in place of those of the same name."""
        return self.frame.assign(**self.beside) if self.beside else self.frame


def read_table(
    data: Any,
    *,
    na: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str = "utf-8",
    strip: bool = True,
) -> Table:
    """Read `data`, whatever it is.

    Parameters
    ----------
    data : str, path or DataFrame
        Name of a bundled data set, path of a CSV or Parquet file, or a frame.
    na : sequence of str
        Words that mean "missing" besides the empty cell.
    delimiter : str, optional
        Column separator of a CSV file; a comma unless given.
    encoding : str
        Of a CSV file.
    strip : bool
        Remove blanks around names and values of a CSV file.

    Raises
    ------
    TableError
        When the table cannot be read, has no rows, or names a column twice.
    """
    from justicia import datasets

    if isinstance(data, (str, os.PathLike)):
        table = _read_source(data, na, delimiter, encoding, strip)
    else:
        table = Table(_as_frame(data))
    frame = table.frame
    if len(frame) == 0:
        raise TableError(f"{table.source or 'the table'} has no rows")
    if any(not isinstance(name, str) for name in frame.columns):
        frame = frame.set_axis([str(name) for name in frame.columns], axis="columns")
    repeated = frame.columns[frame.columns.duplicated()].unique().tolist()
    if repeated:
        raise TableError(f"columns named more than once: {listed(repeated)}; rename them")
    description = table.description or datasets.recognise(frame.columns)
    if description is not None and table.description is None:
        logger.info("the columns are those of the bundled data set %s: its description is used", description.name)
    return Table(frame, table.source, table.sha256, description, table.dropped)


def _as_frame(data: Any) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    if isinstance(data, pd.DataFrame):
        return data.reset_index(drop=True)
    if isinstance(data, np.ndarray) and data.ndim == 2:
        return pd.DataFrame(data, columns=[f"x{i}" for i in range(data.shape[1])])
    raise TableError(f"a table is a file, a data set name or a DataFrame, not {type(data).__name__}")


def _read_source(
    data: str | os.PathLike[str], na: Sequence[str], delimiter: str | None, encoding: str, strip: bool
) -> Table:
    from justicia import datasets

    path = Path(data)
    text = os.fspath(data)
    if not text.strip():
        raise TableError("the table's name is empty: name a file or a bundled data set")
    if isinstance(data, str) and data in datasets.names() and not path.exists():
        content = datasets.csv_bytes(data)
        frame = parse_csv(io.BytesIO(content), na=na, strip=strip)
        return Table(frame, text, _Hash(content).hexdigest(), datasets.describe(data))
    if not path.exists():
        names = listed(datasets.names())
        raise TableError(f"{text}: there is no such file (bundled data sets are {names})")
    if not path.is_file():
        raise TableError(f"{text} is not a file")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TableError(f"{text} cannot be read: {error.strerror}") from error
    hashing = _Hash(content)
    try:
        if path.suffix.lower() in _PARQUET:
            frame = _parse_parquet(content)
        else:
            content_plain = _decompressed(content, path.suffix.lower())
            frame = parse_csv(io.BytesIO(content_plain), na=na, delimiter=delimiter, encoding=encoding, strip=strip)
    except InputError as error:
        raise type(error)(f"{path.name}: {error}") from error
    return Table(frame, path.name, hashing.hexdigest())


class _Hash:
    """SHA-256 of bytes, computed while the table is parsed."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        import hashlib

        self._digest = hashlib.sha256(self._content).hexdigest()

    def hexdigest(self) -> str:
        self._thread.join()
        return self._digest


_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz"}


def _decompressed(content: bytes, suffix: str) -> bytes:
    if suffix not in _COMPRESSED:
        return content
    try:
        return decompressed(content, _COMPRESSED[suffix])
    except ValueError as error:
        raise TableError(f"cannot be decompressed: {error}") from error


def _parse_parquet(content: bytes) -> pd.DataFrame:
    import pandas as pd

    try:
        import pyarrow
    except ImportError as error:
        raise MissingDependencyError("Parquet files need pyarrow: pip install 'justicia-verifier[parquet]'") from error
    try:
        return pd.read_parquet(io.BytesIO(content), engine="pyarrow").reset_index(drop=True)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise TableError(f"is not a Parquet file that can be read: {_first_line(error)}") from error


def parse_csv(
    source: IO[bytes],
    *,
    na: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str = "utf-8",
    strip: bool = True,
) -> pd.DataFrame:
    """Parse CSV bytes under the two rules of this module.

    Raises
    ------
    TableError
        When the text is no such table; the message says which line or which delimiter.
    """
    content = source.read()
    separator = "," if delimiter is None else delimiter
    if len(separator) != 1 or not separator.isascii() or separator in '"\n\r':
        raise TableError(f"delimiter {separator!r} is not one ASCII character")
    _check_text(content, encoding)
    try:
        header = content.partition(b"\n")[0].decode(encoding, "replace")
    except (LookupError, ValueError) as error:
        raise TableError(f"encoding {encoding!r} is not known") from error
    if delimiter is None:
        _check_delimiter(header)
    frame = _parse(content, separator, encoding, na, blanks=False)
    if strip and (header[:1].isspace() or _has_outer_blanks(content, separator)):
        frame = _stripped(frame, _parse(content, separator, encoding, na, blanks=True))
    _check_repeats(frame, header, separator)
    if len(frame.columns) > 1 and frame.iloc[:, -1].isna().any():
        _check_lengths(content, encoding, separator, len(frame.columns))
    return frame


def _has_outer_blanks(content: bytes, delimiter: str) -> bool:
    """Whether a value may begin or end with a blank."""
    mark = delimiter.encode()
    return any(
        blank in content
        and any(edge in content for edge in (mark + blank, blank + mark, blank + b"\n", blank + b"\r", b"\n" + blank))
        for blank in (b" ", b"\t")
        if blank != mark
    )


def _check_text(content: bytes, encoding: str) -> None:
    """Refuse what is no text, with what it is."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) and "16" not in encoding:
        raise TableError("is UTF-16 text: pass --encoding utf-16")
    if kind_of(content) not in (None, "zlib"):
        raise TableError(f"is compressed ({kind_of(content)}), but its name does not end in .gz, .bz2 or .xz")
    if content.startswith((b"PK\x03\x04", b"PAR1", b"\x89PNG", b"%PDF")) or (
        b"\x00" in content and "16" not in encoding and "32" not in encoding
    ):
        raise TableError("is not a text file: a table is CSV text or a Parquet file that ends in .parquet")


def _check_repeats(frame: pd.DataFrame, header: str, delimiter: str) -> None:
    """Refuse two columns of one name that differ; the parser would rename the second without a word."""
    fields = next(csv.reader([header.strip("\r\n")], delimiter=delimiter), [])
    names = [name.strip().lstrip("\ufeff") for name in fields]
    if len(set(names)) == len(names) or len(names) != len(frame.columns):
        return
    for position, name in enumerate(names):
        first = names.index(name)
        if first != position and not frame.iloc[:, first].equals(frame.iloc[:, position]):
            raise TableError(f"two columns are named {name!r} and differ: rename one")


def _check_lengths(content: bytes, encoding: str, delimiter: str, width: int) -> None:
    """Refuse a row with fewer values than the header has names; the parser would fill it up."""
    if b'"' not in content:
        mark = delimiter.encode(encoding)[-1:] if "16" not in encoding and "32" not in encoding else None
        if mark is not None:
            for number, line in enumerate(content.split(b"\n"), start=1):
                if line.count(mark) < width - 1 and line.strip(b"\r"):
                    raise TableError(f"line {number} has {line.count(mark) + 1} values, and the header {width} names")
            return
    text = io.StringIO(content.decode(encoding, "replace"), newline="")
    rows = csv.reader(text, delimiter=delimiter)
    for row in rows:
        if row and len(row) < width:
            raise TableError(f"line {rows.line_num} has {len(row)} values, and the header {width} names")


def _check_delimiter(header: str) -> None:
    for mark, shown in _DELIMITERS.items():
        if header.count(mark) > header.count(","):
            raise TableError(f"the header line is separated by {shown}, not by commas: pass --delimiter {shown}")


def _parse(content: bytes, delimiter: str, encoding: str, na: Sequence[str], blanks: bool) -> pd.DataFrame:
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            return pd.read_csv(
                io.BytesIO(content),
                sep=delimiter,
                encoding=encoding,
                keep_default_na=False,
                na_values=["", *na],
                index_col=False,
                skipinitialspace=blanks,
                low_memory=False,
            )
        except pd.errors.EmptyDataError:
            raise TableError("is empty") from None
        except UnicodeDecodeError as error:
            raise TableError(
                f"is not {encoding} text (byte {error.object[error.start]:#04x} at {error.start}): "
                "convert it, or pass --encoding latin-1"
            ) from error
        except pd.errors.ParserWarning as error:
            raise TableError("rows have more values than the header has names") from error
        except (pd.errors.ParserError, ValueError, OverflowError, TypeError, LookupError) as error:
            raise TableError(f"cannot be parsed: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return (text[0] if text else type(error).__name__).removeprefix("Error tokenizing data. C error: ")


def _stripped(kept: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """`frame` with blanks around names and text values removed, announcing how many there were in `kept`."""
    import pandas as pd

    names = [str(name).strip() for name in frame.columns]
    changed_names = sum(str(name) != name_stripped for name, name_stripped in zip(kept.columns, names, strict=True))
    frame = frame.set_axis(names, axis="columns")
    changed = 0
    for position in range(len(names)):
        before = kept.iloc[:, position]
        if pd.api.types.is_numeric_dtype(before.dtype) or before.dtype == bool:
            continue
        codes, uniques = pd.factorize(before)
        counts = pd.Series(codes[codes >= 0]).value_counts()
        changed += int(sum(counts.get(i, 0) for i, value in enumerate(uniques) if str(value) != str(value).strip()))
        after = frame.iloc[:, position]
        if not pd.api.types.is_numeric_dtype(after.dtype) and after.dtype != bool:
            stripped = after.str.strip()
            frame.isetitem(position, stripped.mask(stripped == "").array)
    if changed or changed_names:
        logger.info(
            "blanks around %s and %s were removed",
            counted(changed, "value"),
            counted(changed_names, "column name"),
        )
    return frame
