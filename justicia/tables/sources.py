"""Tables that are read in batches: what a source has to tell, and Parquet files.

A batch holds the columns that are asked for, as the whole table would; texts may stand as categories in it, which
`restore` turns back. So whatever is computed of a table in batches is computed of the very values that reading it whole
gives.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from justicia.errors import MissingDependencyError, TableError
from justicia.tables.csv_text import first_line
from justicia.words import listed

if TYPE_CHECKING:
    import pandas as pd

    from justicia.watching import Progress

__all__ = [
    "BROKEN",
    "FileHash",
    "ParquetSource",
    "Source",
    "Survey",
    "batch_rows",
    "check_names",
    "head_rows",
    "with_types",
]

_BATCH_CELLS = 3_000_000
_BATCH_ROWS = 10_000, 1_000_000
_HEAD = 10_000
_BUFFER = 1 << 20
_OPEN_COLUMNS = 500
_HEAD_CELLS = 2_000_000
_MOST_VALUES = 1_000_000
"""Distinct values of a column that are collected."""


class Source(Protocol):
    """A table that is read in batches.

    Attributes
    ----------
    name : str or None
        Of the file.
    columns : list of str
    """

    name: str | None
    columns: list[str]

    def head(self) -> pd.DataFrame:
        """The first rows, all columns."""
        ...

    def survey(self, columns: Sequence[str], wanted: Collection[str], progress: Progress | None) -> Survey:
        """Settle types of some columns, and collect all values of those that are `wanted`."""
        ...

    def batches(self, columns: Sequence[str], progress: Progress | None) -> Iterator[pd.DataFrame]:
        """Some columns, batch by batch."""
        ...

    def restore(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Rows of batches, in the types that the whole table has."""
        ...

    def sha256(self) -> str | None:
        """Hash of the file's bytes."""
        ...


class Survey:
    """Distinct values of some columns, in the order in which they come.

    Attributes
    ----------
    values : dict of str to Series
        The missing value among them, where there is one.
    """

    def __init__(self) -> None:
        self.values: dict[str, pd.Series[Any]] = {}

    def add(self, batch: pd.DataFrame) -> None:
        """Look at one more batch.

        Raises
        ------
        TableError
            When a column has too many values.
        """
        self.add_values({str(name): batch[name].drop_duplicates() for name in batch.columns})

    def add_values(self, values: Mapping[str, pd.Series[Any]]) -> None:
        """Add distinct values of some columns."""
        import pandas as pd

        for name, own in values.items():
            found = own
            if name in self.values:
                held = self.values[name]
                if "b" in {held.dtype.kind, found.dtype.kind} and held.dtype != found.dtype:
                    # Older pandas make 1.0 of True beside empty cells.
                    held, found = held.astype(object), found.astype(object)
                found = pd.concat([held, found], ignore_index=True).drop_duplicates()
            if len(found) > _MOST_VALUES:
                raise TableError(
                    f"column {name!r} has more than {_MOST_VALUES:,} values, and each of them matters: round them, or "
                    "read the table whole with --no-stream"
                )
            self.values[name] = found.reset_index(drop=True)


BROKEN = (
    *(OSError, ValueError, AttributeError, IndexError, KeyError, NotImplementedError, OverflowError, TypeError),
    *(RecursionError, SyntaxError),
)
"""What is raised, besides Arrow's own errors, over a Parquet file whose notes for pandas contradict its columns."""


def check_names(names: Iterable[str]) -> None:
    """Refuse a table that names a column twice.

    Raises
    ------
    TableError
    """
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise TableError(f"columns named more than once: {listed(repeated)}; rename them")


class FileHash:
    """SHA-256 of a file, computed beside what else is done with it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digest = ""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        import hashlib

        with self._path.open("rb") as file:
            self._digest = hashlib.file_digest(file, "sha256").hexdigest()

    def hexdigest(self) -> str:
        """The hash; waits until it is known."""
        self._thread.join()
        return self._digest


class ParquetSource:
    """A Parquet file.

    Parameters
    ----------
    path : Path

    Raises
    ------
    MissingDependencyError
        When pyarrow is not installed.
    TableError
        When it is no Parquet file.
    """

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError as error:
            raise MissingDependencyError("Parquet files need pyarrow: pip install pyarrow") from error
        self._path = path
        self._broken: tuple[type[Exception], ...] = (pa.ArrowException, *BROKEN)
        self.name: str | None = path.name
        try:
            self._file = parquet.ParquetFile(path, pre_buffer=False)
            # As a whole it is seen like this, but for columns of numbers with empty cells.
            empty = self._file.schema_arrow.empty_table().to_pandas().reset_index(drop=True)
        except self._broken as error:
            raise self._unreadable(error) from error
        self.columns = [str(name) for name in empty.columns]
        check_names(self.columns)
        self._dtypes: dict[str, Any] = {str(name): empty.iloc[:, i].dtype for i, name in enumerate(empty.columns)}
        self._texts = [
            field.name
            for field in self._file.schema_arrow
            if field.type in (pa.string(), pa.large_string()) and field.name in self._dtypes
        ]
        self._hash: FileHash | None = None
        self._settled: set[str] = set()

    @property
    def n_rows(self) -> int:
        """Rows of the file."""
        return int(self._file.metadata.num_rows)

    @property
    def size(self) -> int:
        """Bytes of all columns, not compressed."""
        groups = range(self._file.metadata.num_row_groups)
        return sum(self._file.metadata.row_group(i).total_byte_size for i in groups)

    def _unreadable(self, error: Exception) -> TableError:
        return TableError(f"{self.name}: is not a Parquet file that can be read: {first_line(error)}")

    def head(self) -> pd.DataFrame:
        """The first rows, all columns."""
        import pandas as pd

        names, rows = self._file.schema_arrow.names, head_rows(len(self.columns))
        # Every column that is open needs buffers of its own, so a wide table is opened part by part.
        step = _OPEN_COLUMNS if len(set(names)) == len(names) else len(names)
        parts = []
        try:
            for begin in range(0, len(names), step):
                asked = names[begin : begin + step] if step < len(names) else None
                for batch in self._file.iter_batches(batch_size=rows, columns=asked):
                    # The reader takes "a" for "a.b" too.
                    held = batch if asked is None else batch.select(asked)
                    held.validate(full=True)
                    parts.append(held.to_pandas().reset_index(drop=True))
                    break
        except self._broken as error:
            raise self._unreadable(error) from error
        if parts:
            return pd.concat(parts, axis="columns") if len(parts) > 1 else parts[0]
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in self._dtypes.items()})

    def survey(self, columns: Sequence[str], wanted: Collection[str], progress: Progress | None) -> Survey:
        """Settle types of some columns, and collect all values of those that are `wanted`."""
        import pandas as pd

        self._hash = self._hash or FileHash(self._path)
        categories = [name for name in columns if isinstance(self._dtypes[name], pd.CategoricalDtype)]
        unknown = [name for name in columns if self._dtypes[name].kind in "iub" and self._empty_cells(name) is None]
        for name in columns:
            if self._dtypes[name].kind in "iub" and self._empty_cells(name):
                self._dtypes[name] = np.dtype(object if self._dtypes[name].kind == "b" else np.float64)
        survey = Survey()
        looked_at = [name for name in columns if name in wanted or name in categories or name in unknown]
        held: dict[str, list[Any]] = {name: [] for name in categories}
        for batch in self.batches(looked_at, progress, "values"):
            for name in unknown:
                if batch[name].dtype.kind not in "iub":
                    self._dtypes[name] = np.dtype(object if self._dtypes[name].kind == "b" else np.float64)
            for name in categories:
                known = set(held[name])
                held[name] += [value for value in batch[name].cat.categories.tolist() if value not in known]
            survey.add(batch[[name for name in looked_at if name in wanted]])
        for name in categories:
            self._dtypes[name] = pd.CategoricalDtype(held[name], self._dtypes[name].ordered)
        survey.values = {
            name: self.restore(pd.DataFrame({name: column}))[name] for name, column in survey.values.items()
        }
        return survey

    def _empty_cells(self, name: str) -> bool | None:
        """Whether a column has any, by what the file says of its parts; None when it does not."""
        metadata = self._file.metadata
        place = next((i for i in range(metadata.num_columns) if metadata.schema.column(i).path == name), None)
        if place is None:
            return None
        found = False
        for group in range(metadata.num_row_groups):
            statistics = metadata.row_group(group).column(place).statistics
            if statistics is None or not statistics.has_null_count:
                return None
            found = found or statistics.null_count > 0
        return found

    def batches(
        self, columns: Sequence[str], progress: Progress | None, what: str = "people"
    ) -> Iterator[pd.DataFrame]:
        """Some columns, batch by batch; texts as categories."""
        from pyarrow import parquet

        if not columns:
            return
        texts = [name for name in self._texts if name in set(columns)]
        # Buffered ahead, what was read would be held until the end of the file.
        reader = parquet.ParquetFile(self._path, read_dictionary=texts, buffer_size=_BUFFER, pre_buffer=False)
        done = 0
        try:
            for batch in ahead(reader.iter_batches(batch_size=batch_rows(len(columns)), columns=list(columns))):
                for name in texts:
                    # Each text once: they are a dictionary.
                    batch.column(name).validate(full=True)
                frame = batch.to_pandas().reset_index(drop=True)
                done += len(frame)
                if progress is not None:
                    progress(f"{self.name}: {what} of {done:,} of {self.n_rows:,} rows", done / max(self.n_rows, 1))
                yield frame
        except self._broken as error:
            raise self._unreadable(error) from error

    def restore(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Rows of batches, in the types that the whole table has."""
        return with_types(frame, self._dtypes)

    def sha256(self) -> str | None:
        """Hash of the file's bytes."""
        self._hash = self._hash or FileHash(self._path)
        return self._hash.hexdigest()


def head_rows(n_columns: int) -> int:
    """First rows that are looked at, of so many columns."""
    return int(np.clip(_HEAD_CELLS // max(n_columns, 1), min(100, _HEAD), _HEAD))


def batch_rows(n_columns: int) -> int:
    """Rows of a batch of so many columns."""
    return int(np.clip(_BATCH_CELLS // max(n_columns, 1), *_BATCH_ROWS))


def with_types(frame: pd.DataFrame, dtypes: dict[str, Any]) -> pd.DataFrame:
    """Columns in other types, where they have others."""
    changed = {name: dtypes[name] for name in frame.columns if frame[name].dtype != dtypes[name]}
    return frame.astype(changed) if changed else frame


def ahead(items: Iterator[Any], most: int = 2) -> Iterator[Any]:
    """The same items, taken by a thread that is a few ahead."""
    from queue import Queue

    held: Queue[tuple[Any, BaseException | None, bool]] = Queue(most)
    stopped = threading.Event()

    def run() -> None:
        error: BaseException | None = None
        try:
            for item in items:
                held.put((item, None, False))
                if stopped.is_set():
                    break
        except BaseException as raised:
            error = raised
        held.put((None, error, True))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while True:
            item, error, last = held.get()
            if error is not None:
                raise error
            if last:
                return
            yield item
    finally:
        stopped.set()
        while not held.empty():
            held.get_nowait()
