"""What an audit asks of a table that is read in batches, and the model over what its first rows say.

Which columns matter, which of them have every value as a cell, and whether `predict` and the encoding agree on a batch.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia import encoders, models
from justicia.errors import LabelError, TableError
from justicia.given import given_groupings
from justicia.inputs import Collapsed, collapse_one_hot
from justicia.tables import Table, assign_roles, find_groupings
from justicia.tables.condensing import cells_of_rows
from justicia.tables.labels import check_label, folded
from justicia.tables.one_hot import collapse
from justicia.tables.plain import is_plain
from justicia.tables.yes_no import may_say_yes_no, read_yes_no
from justicia.words import value_text

if TYPE_CHECKING:
    import pandas as pd

    from justicia.encoders import Decision
    from justicia.population.domain import Domain, Feature
    from justicia.population.stored import PopulationFile

__all__ = [
    "Columns",
    "Ready",
    "columns_by_value",
    "encoded",
    "groupings_of",
    "kept_rows",
    "labels_of",
    "may_be_label",
    "one_hot_columns",
    "sources_of",
    "unsaid",
]


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


def groupings_of(asked: Columns, seen: Collapsed) -> tuple[tuple[str, ...], ...]:
    """The groupings that are named, that a population file has, or that are found."""
    named = asked.groupings
    if asked.file is not None:
        _, named = given_groupings(asked.file, named, seen.table)
    return find_groupings(seen.table, named)


def sources_of(names: Sequence[str], seen: Collapsed) -> list[str]:
    """Columns of the source that features are made of."""
    found: list[str] = []
    for name in names:
        made_of = [one.columns for one in seen.one_hot if name in (one.name, *one.aliases)]
        found += made_of[0] if made_of else [name]
    return list(dict.fromkeys(found))


def one_hot_columns(seen: Collapsed, matter: set[str]) -> list[str]:
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


def labels_of(
    first: Table, fitted: models.FittedModel, asked: Columns, taken: set[str | None]
) -> tuple[str | None, list[str]]:
    """The column of the true outcome, None where it is not known yet; and those that it may be."""
    columns = list(first.frame.columns)
    label = asked.label
    if label is not None:
        if check_label(label, columns) is None:
            return None, []
    elif asked.file is not None and asked.file.label is not None and asked.file.label.column in columns:
        label = asked.file.label.column
    elif first.description is not None and first.description.label in columns:
        label = first.description.label
    if label is not None:
        return label, [label]
    return None, [name for name in columns if name not in taken and may_be_label(first.frame[name], fitted)]


def may_be_label(column: pd.Series[Any], fitted: models.FittedModel) -> bool:
    """Whether all values so far may be classes of the model, nearly, or say yes and no in other words."""
    wanted = {folded(value_text(value)) for value in fitted.classes}
    if not is_plain(column):
        return False
    says = read_yes_no(wanted) is not None

    def may(values: Iterable[Any]) -> bool:
        texts = {folded(value_text(value)) for value in values}
        return texts <= wanted or (says and may_say_yes_no(texts))

    return may(column.iloc[:50].dropna().unique()) and may(column.dropna().unique()[:1000])


def _favorable(
    seen: Collapsed, asked: Columns, label: str | None, favorable: Sequence[Any] | None, columns: Sequence[str]
) -> tuple[models.FittedModel, Sequence[Any]]:
    """The model as it takes the rows, and its favorable classes as far as the first rows say."""
    fitted = models.with_native_categories(seen.fitted, seen.frame)
    try:
        roles = assign_roles(
            seen.table,
            sensitive=groupings_of(asked, seen),
            label=label,
            favorable=favorable,
            classes=fitted.classes,
            model_columns=columns,
            classify=lambda: encoders.predict(fitted, seen.frame),
        )
    except (LabelError, TableError):
        return fitted, tuple(fitted.classes[-1:])
    return fitted, roles.favorable


def columns_by_value(
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


def encoded(
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


def kept_rows(batch: pd.DataFrame, asked: Columns, sensitive: Sequence[str]) -> np.ndarray:
    """How many rows of the audit each row of a batch is: 0 where it is left out."""
    counting = np.ones(len(batch), dtype=np.int64)
    if asked.drops:
        for name in sensitive:
            counting[batch[name].isna().to_numpy()] = 0
    if asked.weight is not None and batch[asked.weight].dtype.kind in "biuf":
        weights = batch[asked.weight].to_numpy(dtype=np.float64, na_value=1.0)
        counting *= weights.astype(np.int64) if asked.frequency else weights > 0
    return counting
