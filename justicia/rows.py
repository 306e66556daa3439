"""What an audit of a model says about the rows' own decisions, beside what is verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia import encoders
from justicia.choices import check_rows
from justicia.decision_groups import ranges_of
from justicia.errors import InputError
from justicia.ll144 import Layout, layout_groupings, layout_tables
from justicia.tables.outcomes import Outcomes
from justicia.tables.unknown import group_known

if TYPE_CHECKING:
    from justicia import models, tables
    from justicia.comparison import GroupingAudit
    from justicia.inputs import Collapsed

__all__ = ["RowOptions", "decided", "layout_of", "with_ranges"]


@dataclass(frozen=True)
class RowOptions:
    """What is asked about the rows, as `justicia.verify` describes it."""

    weight: str | None
    weight_kind: str
    tests: bool
    layout: str | None
    min_group: int
    missing: str

    @property
    def drops(self) -> bool:
        """Whether people without a value in a sensitive column are in no population."""
        return self.missing in ("drop", "bounds") or (self.layout is not None and self.missing == "error")

    def check(self, search: str, suppress_below: Any, mediators: Any, others: Mapping[str, Any]) -> None:
        """Refuse what means nothing, and what does not go together.

        Parameters
        ----------
        search : str
        suppress_below : int
        mediators : str or sequence of str, or None
        others : mapping of str to value
            Options that take every row for one person.
        """
        check_rows(self.missing, self.layout, self.min_group, suppress_below, weighted=self.weight is not None)
        if suppress_below:
            raise InputError(
                "verified rates follow from the counts that suppress_below would hide: publish the decisions alone, as "
                "a column of a table of --decisions"
            )
        if self.min_group and search == "learn":
            raise InputError("a search for extremes evaluates few groups: leave min_group out, or search by enumerate")
        if self.min_group and mediators:
            raise InputError(
                "mediators are drawn as in the most favored group of all: leave min_group or mediators out"
            )
        asked = [name for name, value in others.items() if value]
        if self.weight is not None and self.weight_kind == "sampling" and asked:
            raise InputError(
                f"{asked[0]} takes every row for one person: leave the weights out, or call them frequency"
            )


def decided(everyone: Collapsed, fitted: models.FittedModel, favorable: Sequence[Any], words: str) -> Outcomes:
    """Whom the model selects among all rows, also those that are in no population."""
    selected = np.isin(encoders.predict(fitted, everyone.frame), list(favorable))
    return Outcomes("predict", f"predict gives {words}", np.asarray(selected, dtype=bool))


def with_ranges(
    grouping: GroupingAudit, table: tables.Table, rule: Outcomes, bins: Mapping[str, Sequence[float]], min_group: int
) -> GroupingAudit:
    """The grouping with the ranges of the rows' rates over people of unknown group."""
    partial = group_known(table.people, grouping.sensitive, bins=bins, repeats=table.repeats)
    rows = partial.grouping.tally()
    kept = [i for i, number in enumerate(rows.tolist()) if number and number >= min_group]
    possible = tuple(partial.grouping.named(group) for group in partial.grouping.groups)
    return replace(grouping, missing=ranges_of(partial, rule.selected, kept, table.repeats), possible=possible)


def layout_of(
    table: tables.Table, named: Sequence[Sequence[str]] | None, rule: Outcomes, bins: Mapping[str, Sequence[float]]
) -> Layout:
    """The rows in the layout of Local Law 144."""
    parts = [
        group_known(table.people, names, bins=bins, repeats=table.repeats) for names in layout_groupings(table, named)
    ]
    return Layout(layout_tables(parts, [rule], [frozenset()] * len(parts), table.repeats))
