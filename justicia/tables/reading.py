"""Read a table: a bundled data set, a CSV or Parquet file, or a DataFrame."""

from __future__ import annotations

import io
import logging
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from justicia.errors import InputError, MissingDependencyError, TableError
from justicia.tables.content import COMPRESSED, Hash, uncompressed
from justicia.tables.csv_text import first_line, parse_csv
from justicia.tables.dask_source import is_dask_frame
from justicia.tables.integers import with_finite_integers
from justicia.tables.repeats import of_rows
from justicia.tables.sources import BROKEN, check_names
from justicia.words import did_you_mean, listed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np
    import pandas as pd

    from justicia.datasets import Description
    from justicia.population.pair_counts import PairCounts

__all__ = ["Table", "read_table"]

logger = logging.getLogger(__name__)

_PARQUET = (".parquet", ".pq")
_TABLE = {".csv", ".tsv", ".txt", *_PARQUET}


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
    repeats : int64 array of shape (n_rows,), or None
        Rows of the source that each row stands for, where it was read in batches; None when each is one.
    checked : tuple of (int, int), or None
        Rows of such a source about which `predict` was asked while it was read, and how many of the rows here, which
        are the first, stand for them.
    sampled : float64 array of shape (n_rows,), or None
        Where people were counted by decision alone: rows of the source that each row stands for in the tables of a
        population; 0 for rows that were not drawn for them.
    by_decision : bool
        People were counted by decision alone.
    paired : tuple of (PairCounts, int64 array of shape (n_rows,)), or None
        Where they were counted in pairs of features beside that: by kind, and the kind of each row, -1 for none.
    """

    frame: pd.DataFrame
    source: str | None = None
    sha256: str | None = None
    description: Description | None = None
    dropped: dict[str, int] = field(default_factory=dict)
    beside: dict[str, pd.Series[Any]] = field(default_factory=dict)
    repeats: np.ndarray | None = None
    checked: tuple[int, int] | None = None
    sampled: np.ndarray | None = None
    by_decision: bool = False
    paired: tuple[PairCounts, np.ndarray] | None = None

    @property
    def n_rows(self) -> int:
        """Rows of the source that are used."""
        return len(self.frame) if self.repeats is None else int(self.repeats.sum())

    @property
    def n_checked(self) -> int:
        """Rows of the source about which `predict` is asked, if it is asked about all rows here."""
        rows, people = self.checked or (0, 0)
        return rows + len(self.frame) - people

    def of_rows(self, kept: np.ndarray, **changed: Any) -> Table:
        """Some rows of the table.

        Parameters
        ----------
        kept : int array of shape (n_kept,)
            Their positions; one may occur several times.
        **changed
            Other attributes.
        """
        held = replace(
            self,
            frame=self.frame.iloc[kept].reset_index(drop=True),
            beside={name: column.iloc[kept].reset_index(drop=True) for name, column in self.beside.items()},
            repeats=of_rows(self.repeats, kept),
            sampled=of_rows(self.sampled, kept),
            paired=None if self.paired is None else (self.paired[0], self.paired[1][kept]),
            checked=None if self.checked is None else (self.checked[0], int((kept < self.checked[1]).sum())),
        )
        return replace(held, **changed)

    @property
    def n_read(self) -> int:
        """Rows of the source, also those that were left out."""
        return self.n_rows + sum(self.dropped.values())

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
    texts: Collection[str] = (),
) -> Table:
    """Read `data`, whatever it is.

    Parameters
    ----------
    data : str, path, DataFrame or Table
        Name of a bundled data set, path of a CSV or Parquet file, or a frame; a table that was read is kept as it is.
    na : sequence of str
        Words that mean "missing" besides the empty cell.
    delimiter : str, optional
        Column separator of a CSV file; a comma unless given.
    encoding : str
        Of a CSV file.
    strip : bool
        Remove blanks around names and values of a CSV file.
    texts : collection of str
        Columns of a CSV file whose values are text even where they look like numbers.

    Raises
    ------
    TableError
        When the table cannot be read, has no rows, or names a column twice.
    """
    from justicia import datasets

    if isinstance(data, Table):
        return data
    if isinstance(data, (str, os.PathLike)):
        table = _read_source(data, na, delimiter, encoding, strip, texts)
    else:
        table = Table(_as_frame(data))
    frame = table.frame
    if len(frame) == 0:
        raise TableError(f"{table.source or 'the table'} has no rows")
    if any(not isinstance(name, str) for name in frame.columns):
        frame = frame.set_axis([str(name) for name in frame.columns], axis="columns")
    check_names(frame.columns)
    frame = with_finite_integers(frame)
    description = table.description or datasets.recognise(frame.columns)
    if description is not None and table.description is None:
        logger.info("the columns are those of the bundled data set %s: its description is used", description.name)
    return Table(frame, table.source, table.sha256, description, table.dropped)


def _as_frame(data: Any) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    if isinstance(data, pd.DataFrame):
        return data.reset_index(drop=True)
    if is_dask_frame(data):
        return _as_frame(data.compute())
    if isinstance(data, np.ndarray) and data.ndim == 2:
        return pd.DataFrame(data, columns=[f"x{i}" for i in range(data.shape[1])])
    raise TableError(f"a table is a file, a data set name or a DataFrame, not {type(data).__name__}")


def _read_source(
    data: str | os.PathLike[str],
    na: Sequence[str],
    delimiter: str | None,
    encoding: str,
    strip: bool,
    texts: Collection[str],
) -> Table:
    from justicia import datasets

    path = Path(data)
    text = os.fspath(data)
    if not text.strip():
        raise TableError("the table's name is empty: name a file or a bundled data set")
    if isinstance(data, str) and data in datasets.names() and not path.exists():
        content = datasets.csv_bytes(data)
        frame = parse_csv(io.BytesIO(content), na=na, strip=strip, as_text=texts)
        return Table(frame, text, Hash(content).hexdigest(), datasets.describe(data))
    if not path.exists():
        names = listed(datasets.names())
        near = did_you_mean(path.name, [*datasets.names(), *_tables_in(path.parent)]).partition(" (there are")[0]
        raise TableError(f"{text}: there is no such file{near} (bundled data sets are {names})")
    if not path.is_file():
        raise TableError(f"{text} is not a file")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TableError(f"{text} cannot be read: {error.strerror}") from error
    hashing = Hash(content)
    try:
        if path.suffix.lower() in _PARQUET:
            frame = _parse_parquet(content)
        else:
            content_plain = uncompressed(content, path.suffix.lower())
            suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in COMPRESSED]
            frame = parse_csv(
                io.BytesIO(content_plain),
                na=na,
                delimiter=delimiter,
                encoding=encoding,
                strip=strip,
                as_text=texts,
                suffix=suffixes[-1] if suffixes else "",
            )
    except InputError as error:
        raise type(error)(f"{path.name}: {error}") from error
    return Table(frame, path.name, hashing.hexdigest())


def _tables_in(folder: Path) -> list[str]:
    """Names of the files in a folder that may be tables."""
    try:
        return sorted(path.name for path in folder.iterdir() if _TABLE & {suffix.lower() for suffix in path.suffixes})
    except OSError:
        return []


def _parse_parquet(content: bytes) -> pd.DataFrame:
    import pandas as pd

    try:
        import pyarrow
    except ImportError as error:
        raise MissingDependencyError("Parquet files need pyarrow: pip install pyarrow") from error
    try:
        frame = pd.read_parquet(io.BytesIO(content), engine="pyarrow").reset_index(drop=True)
        for position in range(frame.shape[1]):
            column = frame.iloc[:, position]
            texts = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
            if isinstance(texts.dtype, pd.StringDtype):
                # Bytes that are no text would be found wherever they are first looked at.
                pyarrow.array(texts).validate(full=True)
        return frame
    except (pyarrow.ArrowException, *BROKEN) as error:
        raise TableError(f"is not a Parquet file that can be read: {first_line(error)}") from error
