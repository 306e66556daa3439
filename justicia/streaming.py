"""Tables that do not fit in memory: read in batches, condensed to distinct people, audited as any table.

What tells people apart is known once the model's cells are, and these hardly depend on the table: the first rows say
what kind of columns it has, and where every value of a column is a cell, all values are collected in a first reading.
The second reading condenses (`justicia.tables.condensing`), and asks `predict` about every one of the first rows; about
further ones it is asked once they are condensed, so once for each distinct person.

The audit of the condensed table is that of the whole one, to the last digit.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia import datasets, models
from justicia.conditional import settle_factors
from justicia.errors import InputError, TableError
from justicia.given import given_bins
from justicia.inputs import collapse_one_hot, columns_for_model
from justicia.progress import stage
from justicia.streaming_models import (
    Columns,
    Ready,
    columns_by_value,
    encoded,
    groupings_of,
    kept_rows,
    labels_of,
    may_be_label,
    one_hot_columns,
    sources_of,
    unsaid,
)
from justicia.streaming_pairs import PairsOfKinds, cell_totals
from justicia.streaming_rates import ByDecision, FirstOfCells, Sample
from justicia.tables import Table, check_bins, check_plain, group_rows
from justicia.tables.condensing import Condenser, Condition, TooManyPeopleError, condensed
from justicia.tables.content import COMPRESSED
from justicia.tables.csv_stream import CsvSource
from justicia.tables.dask_source import DaskSource, is_dask_frame
from justicia.tables.sources import ParquetSource, Source
from justicia.tables.weights import read_weights
from justicia.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from justicia.watching import Progress

__all__ = [
    "CHECKED_ROWS",
    "condense_for_model",
    "head_table",
    "large_source",
    "read_condensed",
]

logger = logging.getLogger(__name__)

CHECKED_ROWS = 1_000_000
"""First rows of a table about every one of which `predict` is asked."""

_LARGE_ROWS = 5_000_000
_LARGE_BYTES = 512 * 2**20
_LARGE_TEXT = 256 * 2**20
_COMPRESSION = 4
"""A compressed CSV file is about so many times as long as it seems."""
_ADVICE = ", leave columns out, or read the table whole with --no-stream"


def large_source(
    data: Any,
    *,
    na: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str = "utf-8",
    strip: bool = True,
    texts: Collection[str] = (),
    stream: bool | None = None,
) -> Source | None:
    """The table as a source of batches, where it is too large to be read at once, or this is asked for; else None.

    Raises
    ------
    InputError
        When batches are asked for of what is no file.
    """
    if is_dask_frame(data):
        return None if stream is False else DaskSource(data)
    path = Path(data) if isinstance(data, (str, os.PathLike)) else None
    if stream is False or path is None or not path.is_file():
        if stream and (path is None or os.fspath(data) in datasets.names()):
            raise InputError("a table is read in batches from a CSV or Parquet file: leave stream out")
        return None
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        found = ParquetSource(path)
        return found if stream or found.n_rows > _LARGE_ROWS or found.size > _LARGE_BYTES else None
    size = path.stat().st_size * (_COMPRESSION if suffix in COMPRESSED else 1)
    return CsvSource(path, na, delimiter, encoding, strip, texts) if stream or size > _LARGE_TEXT else None


def condense_for_model(
    source: Source,
    fitted: models.FittedModel,
    asked: Columns,
    *,
    favorable: Sequence[Any] | None = None,
    features: Sequence[str] | None = None,
    one_hot: Mapping[str, Sequence[str]] | bool | None = None,
    progress: Progress | None = None,
) -> tuple[Table, list[str]]:
    """The distinct people of a table that an audit of a model can tell apart, and the columns that the model takes.

    Parameters
    ----------
    source : Source
    fitted : FittedModel
    asked : Columns
    favorable, features, one_hot
        As `justicia.verify` takes them.
    progress : callable, optional

    Raises
    ------
    InputError
        When the table lacks a column, or has too many distinct people.
    """
    stage("reading the table in batches")
    first = head_table(source)
    columns = columns_for_model(fitted, first, features, asked.label, asked.weight)
    check_plain(first.frame, [*columns, asked.label, asked.weight])
    with unsaid():
        seen = collapse_one_hot(fitted, first, columns, one_hot, asked.label)
        groupings = groupings_of(asked, seen)
    factors = settle_factors(asked.factors, groupings, list(seen.table.frame.columns))
    if asked.weight is not None and asked.weight not in source.columns:
        read_weights(first, asked.weight)
    sensitive = sources_of([name for names in groupings for name in names], seen)
    apart = [*sensitive, *sources_of(factors, seen), *one_hot_columns(seen, {*columns, *sensitive})]
    label, possible = labels_of(first, fitted, asked, {*columns, *apart, asked.weight})
    every = columns_by_value(seen, asked, label, favorable, columns)
    others = [name for name in (*asked.others, asked.weight) if name in source.columns]
    wanted = {*columns, *apart, *possible, *others}
    used = [name for name in source.columns if name in wanted]
    check_plain(first.frame, [*sensitive, *factors])
    logger.info(
        "%s is read in batches, %s of %s; people whom the audit cannot tell apart are counted together; override with "
        "--no-stream",
        *(source.name or "the table", len(used), counted(len(source.columns), "column")),
    )
    bins = asked.bins if asked.file is None else given_bins(asked.file, asked.bins, groupings)
    edges = check_bins(bins, [*groupings, factors] if factors else groupings)
    cut = {name: tuple(held) for name, held in edges.items() if name in apart}
    survey = source.survey(used, {*(name for name in apart if name not in cut), *possible, *every}, progress)
    for name in dict.fromkeys([*sensitive, *factors]):
        if name in survey.values:
            group_rows(survey.values[name].to_frame(), [name], missing="group")
    if label is None:
        possible = [name for name in possible if may_be_label(survey.values[name], fitted)]
    ready = encoded(
        source.restore(first.frame[used]),
        first,
        survey.values,
        every,
        fitted,
        asked,
        label,
        favorable,
        columns,
        one_hot,
    )
    by_value = [*apart, *possible, *([asked.weight] if asked.weight is not None else [])]
    values = tuple(name for name in dict.fromkeys(by_value) if name not in cut)
    condition = Condition(tuple(feature for feature in ready.domain.features if feature.name in columns), values, cut)
    try:
        return read_condensed(source, used, condition, progress, asked, sensitive, ready), columns
    except TooManyPeopleError:
        if asked.weight is not None:
            raise
    logger.info(
        "%s has more different people than are held: they are counted by group and decision",
        source.name or "the table",
    )
    # Columns that are one feature tell people apart by its cell, and by themselves where they make the groups.
    grouping = {*sensitive, *sources_of(factors, seen)}
    plain = tuple(name for name in values if name in grouping or name not in ready.one_hot_columns)
    by_decision = ByDecision(values=plain, edges=cut, ready=ready)
    return read_by_decision(source, used, by_decision, progress, asked, sensitive, ready), columns


def read_condensed(
    source: Source,
    used: Sequence[str],
    condition: Condition,
    progress: Progress | None,
    asked: Columns,
    sensitive: Sequence[str],
    ready: Ready | None = None,
) -> Table:
    """Read a source batch by batch, and condense it.

    Parameters
    ----------
    source : Source
        Surveyed.
    used : sequence of str
        Columns that are read.
    condition : Condition
        When two rows are the same.
    progress : callable, optional
    asked : Columns
    sensitive : sequence of str
        Columns of the groups.
    ready : Ready, optional
        The model, when there is one.
    """
    condenser = Condenser(condition, source.restore, advice=_ADVICE)
    rows, people, looking = 0, 0, ready is not None
    parts: Iterator[Any] = source.batches(used, progress)
    if isinstance(source, DaskSource):
        work = _Part(condition, asked, tuple(sensitive), None if ready is None else ready.without_rows())
        parts = source.mapped(used, work, progress, asked=lambda: (rows < CHECKED_ROWS and looking,))
    for batch in parts:
        if isinstance(source, DaskSource):
            frame, repeats, kept, agreed = batch
            condenser.add(frame, repeats)
            if kept and agreed is False:
                rows, people, looking = 0, 0, False
            elif looking and agreed:
                rows, people = rows + kept, len(condenser.result()[0])
            continue
        condenser.add(batch)
        if ready is not None and looking:
            counting = kept_rows(batch, asked, sensitive)
            looking = ready.agrees(source.restore(batch[counting > 0]))
            if looking:
                rows += int(counting.sum())
                people = len(condenser.result()[0])
                looking = rows < CHECKED_ROWS
            else:
                rows, people = 0, 0
    frame, repeats = condenser.result()
    description = datasets.recognise(source.columns)
    if description is not None:
        logger.info("the columns are those of the bundled data set %s: its description is used", description.name)
    checked = None if ready is None else (rows, people)
    return Table(frame, source.name, source.sha256(), description, repeats=repeats, checked=checked)


def read_by_decision(
    source: Source,
    used: Sequence[str],
    condition: ByDecision,
    progress: Progress | None,
    asked: Columns,
    sensitive: Sequence[str],
    ready: Ready,
) -> Table:
    """Read a source batch by batch, and count people by group, true outcome and decision.

    Parameters
    ----------
    source, used, condition, progress, asked, sensitive, ready
        As `read_condensed` takes them.
    """

    def kept_points(batch: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
        kept = kept_rows(batch, asked, sensitive) > 0
        return batch[kept], ready.points_of(batch)[1][kept]

    condenser = Condenser(condition, source.restore, advice=_ADVICE)
    first, kept_first = FirstOfCells(ready), []
    sample = pairs = None
    if asked.file is None and asked.structure == "auto":
        sample = Sample([*condition.values, *condition.edges], asked.seed)
    if asked.file is None and asked.structure in ("tree", "independent"):
        totals = []
        if asked.structure == "tree":
            # What a tree's states are made of is known after a reading of its own.
            totals = cell_totals(ready.domain, (kept_points(batch)[1] for batch in source.batches(used, progress)))
        kinds = Condition((), condition.values, condition.edges)
        pairs = PairsOfKinds(asked.structure, ready.domain, totals, kinds, source.restore)
    rows = 0
    for batch in source.batches(used, progress):
        if pairs is not None:
            pairs.add(*kept_points(batch))
        if rows < CHECKED_ROWS:
            counting = kept_rows(batch, asked, sensitive)
            rows += int(counting.sum()) if ready.agrees(source.restore(batch[counting > 0])) else CHECKED_ROWS
        new = first.take(batch)
        kept_first.append(source.restore(batch[new]))
        condenser.add(batch, (~new).astype(np.int64))
        if sample is not None:
            sample.add(batch, source.restore)
    frame, repeats = condenser.result()
    frame, repeats = frame[repeats > 0], repeats[repeats > 0]
    parts = [*kept_first, frame]
    repeats = np.concatenate([np.ones(sum(map(len, kept_first)), dtype=np.int64), repeats])
    counts = None
    if sample is not None:
        drawn, numbers = sample.result(pd_concat(parts), repeats)
        parts.append(drawn)
        counts = np.concatenate([np.zeros(len(repeats)), numbers])
        repeats = np.concatenate([repeats, np.zeros(len(drawn), dtype=np.int64)])
    description = datasets.recognise(source.columns)
    checked = (rows, 0)
    people, paired = pd_concat(parts), None if pairs is None else pairs.result()
    return Table(
        people,
        source.name,
        source.sha256(),
        description,
        repeats=repeats,
        checked=checked,
        sampled=counts,
        by_decision=True,
        paired=None if paired is None else (paired.counts, paired.kinds(people)),
    )


def pd_concat(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Frames one below the other."""
    import pandas as pd

    return pd.concat(list(parts), ignore_index=True)


@dataclass(frozen=True)
class _Part:
    """Condenses a partition where it lies, and asks `predict` about its rows."""

    condition: Condition
    asked: Columns
    sensitive: tuple[str, ...]
    ready: Ready | None

    def __call__(self, frame: pd.DataFrame, checked: bool) -> tuple[pd.DataFrame, np.ndarray, int, bool | None]:
        """Distinct people, how many rows each stands for, rows asked about, and whether they could be compared."""
        people, numbers = condensed(frame, None, self.condition)
        if self.ready is None or not checked or not len(frame):
            return people, numbers, 0, None
        counting = kept_rows(frame, self.asked, self.sensitive)
        return people, numbers, int(counting.sum()), self.ready.agrees(frame[counting > 0])


def head_table(source: Source) -> Table:
    """The first rows of a source."""
    frame = source.head()
    if not len(frame):
        raise TableError(f"{source.name or 'the table'} has no rows")
    return Table(frame, source.name, description=datasets.recognise(source.columns))
