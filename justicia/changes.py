"""Two models on the same people: what changes, group by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia import tables
from justicia.enclosure import Enclosure

if TYPE_CHECKING:
    from justicia.audited import Audit
    from justicia.comparison import GroupAudit, GroupingAudit, SampleRate

__all__ = ["Change", "GroupChange", "GroupingChange", "changes_of"]


@dataclass(frozen=True)
class Change:
    """A value of the first model, of the second, and the second less the first; None where it is undefined.

    Attributes
    ----------
    before, after : Enclosure or None
    difference : Enclosure or None
        Certainly between these bounds, signed.
    """

    before: Enclosure | None
    after: Enclosure | None

    @property
    def difference(self) -> Enclosure | None:
        """Second less first."""
        if self.before is None or self.after is None:
            return None
        return Enclosure(self.after.lo - self.before.hi, self.after.hi - self.before.lo)


@dataclass(frozen=True)
class GroupChange:
    """What becomes of a group.

    Attributes
    ----------
    group : dict of str to str
    n : int
        Rows.
    verified, rows : dict of str to Change
        By kind of rate: "selection_rate", "tpr", "fpr" and "precision".
    gained, lost : int
        Rows that the second model alone selects, and the first alone.
    """

    group: dict[str, str]
    n: int
    verified: dict[str, Change]
    rows: dict[str, Change]
    gained: int
    lost: int


@dataclass(frozen=True)
class GroupingChange:
    """Two models on one grouping.

    Attributes
    ----------
    sensitive : tuple of str
    groups : tuple of GroupChange
    verified, rows : dict of str to Change
        By measure.
    """

    sensitive: tuple[str, ...]
    groups: tuple[GroupChange, ...]
    verified: dict[str, Change]
    rows: dict[str, Change]


def changes_of(first: Audit, second: Audit) -> tuple[GroupingChange, ...]:
    """What changes from one audit to another of the same rows and groupings."""
    return tuple(
        _of_grouping(first, second, *groupings) for groupings in zip(first.groupings, second.groupings, strict=True)
    )


def _of_grouping(first: Audit, second: Audit, one: GroupingAudit, other: GroupingAudit) -> GroupingChange:
    held = tables.group_rows(first.table.people, one.sensitive, bins=first.bins, missing=first.missing)
    before, after = first.self_check.selected, second.self_check.selected
    gained, lost = (
        np.bincount(held.codes[which], minlength=len(held.groups)) for which in (after & ~before, before & ~after)
    )
    place = {group: position for position, group in enumerate(held.groups)}
    of_other = {tuple(group.group.values()): group for group in other.groups}
    groups = []
    for group in one.groups:
        key = tuple(group.group.values())
        at = place.get(key)
        moved = (0, 0) if at is None else (int(gained[at]), int(lost[at]))
        groups.append(
            GroupChange(
                group.group,
                group.n,
                {kind: Change(getattr(group, kind), getattr(of_other[key], kind)) for kind in _SAMPLES},
                {kind: Change(_rows(group, kind), _rows(of_other[key], kind)) for kind in _SAMPLES},
                *moved,
            )
        )
    names = [name for name in one.measures if name in other.measures]
    return GroupingChange(
        one.sensitive,
        tuple(groups),
        {name: Change(one.measures[name].verified.value, other.measures[name].verified.value) for name in names},
        {name: Change(one.measures[name].sample.value, other.measures[name].sample.value) for name in names},
    )


_SAMPLES = {
    "selection_rate": "sample_rate",
    "tpr": "sample_tpr",
    "fpr": "sample_fpr",
    "precision": "sample_precision",
}
"""Attributes of a group's rates of the rows."""


def _rows(group: GroupAudit, kind: str) -> Enclosure | None:
    rate: SampleRate | None = getattr(group, _SAMPLES[kind])
    return None if rate is None else Enclosure(rate.value, rate.value)
