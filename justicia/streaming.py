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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia import datasets, encoders, models
from justicia.conditional import settle_factors
from justicia.errors import InputError, LabelError, TableError
from justicia.given import given_bins, given_groupings
from justicia.inputs import Collapsed, collapse_one_hot, columns_for_model
from justicia.streaming_rates import ByDecision, FirstOfCells, Sample
from justicia.tables import Table, assign_roles, check_bins, find_groupings, group_rows
from justicia.tables.condensing import Condenser, Condition, TooManyPeopleError, cells_of_rows, condensed
from justicia.tables.content import COMPRESSED
from justicia.tables.csv_stream import CsvSource
from justicia.tables.dask_source import DaskSource, is_dask_frame
from justicia.tables.one_hot import collapse
from justicia.tables.roles import find_label, folded
from justicia.tables.sources import ParquetSource, Source
from justicia.tables.weights import read_weights
from justicia.words import counted, value_text

if TYPE_CHECKING:
    import pandas as pd

    from justicia.encoders import Decision
    from justicia.population.domain import Domain, Feature
    from justicia.population.stored import PopulationFile
    from justicia.watching import Progress

__all__ = [
    "CHECKED_ROWS",
    "Columns",
    "Ready",
    "condense_for_model",
    "head_table",
    "large_source",
    "read_condensed",
    "unsaid",
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


@dataclass(frozen=True)
class Columns:
    """What an audit asks of the columns by name.

    Attributes
    ----------
    groupings : list of list of str, or None
        Sensitive ones; None: to be found.
    label, weight : str or None
    factors : tuple of str
        Lawful factors.
    others : tuple of str
        That have to be in the table, and tell nobody apart.
    bins : mapping of str to sequence
        Edges of those that are cut.
    frequency : bool
        A row of some weight is that many rows.
    drops : bool
        People without a value in a sensitive column are left out.
    file : PopulationFile or None
        Where the populations come from.
    structure : str
        Of the populations.
    seed : int
        Of what is drawn.
    """

    groupings: list[list[str]] | None
    label: str | None = None
    weight: str | None = None
    factors: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    bins: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    frequency: bool = False
    drops: bool = False
    file: PopulationFile | None = None
    structure: str = "auto"
    seed: int = 0


def large_source(
    data: Any,
    *,
    na: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str = "utf-8",
    strip: bool = True,
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
    return CsvSource(path, na, delimiter, encoding, strip) if stream or size > _LARGE_TEXT else None


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
    first = head_table(source)
    columns = columns_for_model(fitted, first, features, asked.label, asked.weight)
    with unsaid():
        seen = collapse_one_hot(fitted, first, columns, one_hot, asked.label)
        groupings = _groupings(asked, seen)
    factors = settle_factors(asked.factors, groupings, list(seen.table.frame.columns))
    if asked.weight is not None and asked.weight not in source.columns:
        read_weights(first, asked.weight)
    sensitive = _sources_of([name for names in groupings for name in names], seen)
    apart = [*sensitive, *_sources_of(factors, seen), *_one_hot_columns(seen, {*columns, *sensitive})]
    label, possible = _labels(first, fitted, asked, {*columns, *apart, asked.weight})
    every = _by_value(seen, asked, label, favorable, columns)
    others = [name for name in (*asked.others, asked.weight) if name in source.columns]
    wanted = {*columns, *apart, *possible, *others}
    used = [name for name in source.columns if name in wanted]
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
        possible = [name for name in possible if _may_be_label(survey.values[name], fitted)]
    ready = _encoded(
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
        if asked.weight is not None or (asked.file is None and asked.structure in ("tree", "independent")):
            raise
    logger.info(
        "%s has more different people than are held: they are counted by group and decision",
        source.name or "the table",
    )
    plain = tuple(name for name in values if name not in ready.one_hot_columns)
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
            counting = _kept_rows(batch, asked, sensitive)
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
    condenser = Condenser(condition, source.restore, advice=_ADVICE)
    first, kept_first = FirstOfCells(ready), []
    sample = None
    if asked.file is None and asked.structure == "auto":
        sample = Sample([*condition.values, *condition.edges], asked.seed)
    rows = 0
    for batch in source.batches(used, progress):
        if rows < CHECKED_ROWS:
            counting = _kept_rows(batch, asked, sensitive)
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
    return Table(
        pd_concat(parts),
        source.name,
        source.sha256(),
        description,
        repeats=repeats,
        checked=checked,
        sampled=counts,
        by_decision=True,
    )


def pd_concat(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Frames one below the other."""
    import pandas as pd

    return pd.concat(list(parts), ignore_index=True)


@dataclass(frozen=True)
class Ready:
    """A model, encoded over what is known of a table.

    Attributes
    ----------
    seen : Collapsed
        Its features.
    fitted : FittedModel
    decision : Decision
    domain : Domain
    favorable : sequence
    """

    seen: Collapsed
    fitted: models.FittedModel
    decision: Decision
    domain: Domain
    favorable: Sequence[Any]
    last: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def without_rows(self) -> Ready:
        """The same, to be sent elsewhere."""
        seen = replace(
            self.seen, table=replace(self.seen.table, frame=self.seen.table.frame[:0]), frame=self.seen.frame[:0]
        )
        return replace(self, seen=seen, last={})

    @property
    def one_hot_columns(self) -> set[str]:
        """Columns that are one feature with others."""
        return {name for one in self.seen.one_hot for name in one.columns}

    def points_of(self, batch: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
        """The columns that the model takes, and the domain points of the rows.

        Raises
        ------
        TableError
            When a value has no cell, or columns are no one feature as it seemed.
        """
        frame, expansion = batch, self.seen.expansion
        if expansion is not None:
            inside = [one for one in self.seen.one_hot if one.name in expansion.inputs]
            frame = collapse(batch, inside)
            again = expansion.transform(frame[list(expansion.inputs)])
            if not all((again[name] == batch[name]).all() for name in again.columns if name in batch.columns):
                raise TableError(
                    "0/1 columns that exclude each other in the first rows do not in all: pass --one-hot none"
                )
        frame = frame[list(self.seen.frame.columns)]
        # What was asked last is asked again: one batch is looked at for several things.
        if self.last.get("batch") is not batch:
            self.last.update(batch=batch, points=cells_of_rows(self.domain, frame))
        return frame, self.last["points"]

    def agrees(self, batch: pd.DataFrame) -> bool:
        """Compare `predict` with the decision on all rows of a batch; False where they cannot be compared yet.

        Raises
        ------
        EncodingMismatchError
            When they differ.
        """
        try:
            frame, points = self.points_of(batch)
            selected = encoders.predictions(self.fitted, frame.astype(self.seen.frame.dtypes.to_dict()), self.favorable)
        except TableError:
            # The audit of the condensed table says what is wrong, and in how many rows.
            return False
        encoders.compare_rows(self.decision, selected, self.domain, points, "row")
        return True


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
        counting = _kept_rows(frame, self.asked, self.sensitive)
        return people, numbers, int(counting.sum()), self.ready.agrees(frame[counting > 0])


@contextmanager
def unsaid() -> Iterator[None]:
    """Announcements of what the first rows alone say are not made."""
    root = logging.getLogger("justicia")
    level = root.level
    root.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        root.setLevel(level)


def head_table(source: Source) -> Table:
    """The first rows of a source."""
    frame = source.head()
    if not len(frame):
        raise TableError(f"{source.name or 'the table'} has no rows")
    return Table(frame, source.name, description=datasets.recognise(source.columns))


def _groupings(asked: Columns, seen: Collapsed) -> tuple[tuple[str, ...], ...]:
    named = asked.groupings
    if asked.file is not None:
        _, named = given_groupings(asked.file, named, seen.table)
    return find_groupings(seen.table, named)


def _sources_of(names: Sequence[str], seen: Collapsed) -> list[str]:
    """Columns of the source that features are made of."""
    found: list[str] = []
    for name in names:
        made_of = [one.columns for one in seen.one_hot if name in (one.name, *one.aliases)]
        found += made_of[0] if made_of else [name]
    return list(dict.fromkeys(found))


def _one_hot_columns(seen: Collapsed, matter: set[str]) -> list[str]:
    """0/1 columns that may be one feature with some that matter."""
    prefixes = {name.split("_")[0] for name in matter if "_" in name}
    frame = seen.table.frame
    made = {name for one in seen.one_hot for name in (one.name, *one.aliases)}
    found = [name for one in seen.one_hot if matter & set(one.columns) for name in one.columns]
    if seen.one_hot:
        for name in frame.columns:
            alike = "_" in name and name.split("_")[0] in prefixes and name not in made
            if alike and frame[name].dtype.kind in "biuf" and frame[name].isin([0, 1]).all():
                found.append(name)
    return list(dict.fromkeys(found))


def _labels(
    first: Table, fitted: models.FittedModel, asked: Columns, taken: set[str | None]
) -> tuple[str | None, list[str]]:
    """The column of the true outcome, None where it is not known yet; and those that it may be."""
    columns = list(first.frame.columns)
    label = asked.label
    if label is not None:
        find_label(first, label, fitted.classes, [], set())
    elif asked.file is not None and asked.file.label is not None and asked.file.label.column in columns:
        label = asked.file.label.column
    elif first.description is not None and first.description.label in columns:
        label = first.description.label
    if label is not None:
        return label, [label]
    return None, [name for name in columns if name not in taken and _may_be_label(first.frame[name], fitted)]


def _may_be_label(column: pd.Series[Any], fitted: models.FittedModel) -> bool:
    """Whether all values so far may be classes of the model, or nearly."""
    wanted = {folded(value_text(value)) for value in fitted.classes}
    few = column.iloc[:50].dropna().unique()
    if not {folded(value_text(value)) for value in few} <= wanted:
        return False
    return {folded(value_text(value)) for value in column.dropna().unique()[:1000]} <= wanted


def _favorable(
    seen: Collapsed, asked: Columns, label: str | None, favorable: Sequence[Any] | None, columns: Sequence[str]
) -> tuple[models.FittedModel, Sequence[Any]]:
    """The model as it takes the rows, and its favorable classes as far as the first rows say."""
    fitted = models.with_native_categories(seen.fitted, seen.frame)
    try:
        roles = assign_roles(
            seen.table,
            sensitive=_groupings(asked, seen),
            label=label,
            favorable=favorable,
            classes=fitted.classes,
            model_columns=columns,
            classify=lambda: encoders.predict(fitted, seen.frame),
        )
    except (LabelError, TableError):
        return fitted, tuple(fitted.classes[-1:])
    return fitted, roles.favorable


def _by_value(
    seen: Collapsed, asked: Columns, label: str | None, favorable: Sequence[Any] | None, columns: Sequence[str]
) -> list[str]:
    """Columns of which every value is a cell of its own, so that all have to be known before there are cells."""
    with unsaid():
        fitted, chosen = _favorable(seen, asked, label, favorable, columns)
        _, domain = encoders.encode(fitted, seen.frame, chosen)
    held = {feature.name: feature for feature in domain.features if feature.name in columns}
    return [name for name, feature in held.items() if _lists_values(feature, seen.frame[name])]


def _lists_values(feature: Feature, column: pd.Series[Any]) -> bool:
    if feature.numeric:
        return feature.by_value
    return feature.unseen is None or column.dtype.kind in "biuf"


def _encoded(
    head: pd.DataFrame,
    first: Table,
    values: Mapping[str, pd.Series[Any]],
    every: Sequence[str],
    fitted: models.FittedModel,
    asked: Columns,
    label: str | None,
    favorable: Sequence[Any] | None,
    columns: Sequence[str],
    one_hot: Mapping[str, Sequence[str]] | bool | None,
) -> Ready:
    """The model over the first rows and over all values of some columns."""
    with unsaid():
        seen = collapse_one_hot(fitted, Table(head, description=first.description), list(columns), one_hot, asked.label)
        ready, chosen = _favorable(seen, asked, label, favorable, columns)
        more = max((len(values[name]) for name in every), default=0)
        frame = seen.frame.iloc[np.arange(max(len(head), more)) % len(head)].reset_index(drop=True)
        for name in every:
            held = values[name].iloc[np.minimum(np.arange(len(frame)), len(values[name]) - 1)].reset_index(drop=True)
            frame[name] = held.astype(seen.frame[name].dtype)
        ready = models.with_native_categories(seen.fitted, frame)
        decision, domain = encoders.encode(ready, frame, chosen)
    return Ready(seen, ready, decision, domain, chosen)


def _kept_rows(batch: pd.DataFrame, asked: Columns, sensitive: Sequence[str]) -> np.ndarray:
    """How many rows of the audit each row of a batch is: 0 where it is left out."""
    counting = np.ones(len(batch), dtype=np.int64)
    if asked.drops:
        for name in sensitive:
            counting[batch[name].isna().to_numpy()] = 0
    if asked.weight is not None and batch[asked.weight].dtype.kind in "biuf":
        weights = batch[asked.weight].to_numpy(dtype=np.float64, na_value=1.0)
        counting *= weights.astype(np.int64) if asked.frequency else weights > 0
    return counting
