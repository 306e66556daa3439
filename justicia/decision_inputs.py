"""Bring the arguments of `audit_decisions` into one form: the table, who is selected, whose group is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia import tables
from justicia.errors import GroupingError, InputError, RequirementError
from justicia.inputs import as_list, beside, table_with_groups
from justicia.ll144 import median
from justicia.publishing import suppressed_groups
from justicia.tables.outcomes import Outcomes, cut_scores, parse_threshold, read_decisions, read_scores
from justicia.tables.unknown import PartialGrouping, group_known
from justicia.words import counted, listed, value_text

if TYPE_CHECKING:
    from justicia.metrics import Requirement
    from justicia.tables.roles import Truth
    from justicia.tables.weights import Weights

__all__ = [
    "check_columns",
    "check_sources",
    "drop_unknown",
    "group_people",
    "hidden_groups",
    "read_outcomes",
    "with_decision",
]


def check_sources(requirements: Sequence[Requirement]) -> None:
    """Refuse requirements on verified values: there are none."""
    for requirement in requirements:
        if requirement.source != "sample":
            raise RequirementError(
                f"requirement {requirement.text!r} is about verified values, and decisions have no model to verify: "
                f"write sample.{requirement.text}"
            )


def with_decision(table: tables.Table, decision: Any, score: str | None) -> tuple[tables.Table, str | None]:
    """The table with decisions that were given as values, and the name of their column."""
    if (decision is None) == (score is None):
        names = listed(table.people.columns, 60)
        if decision is None:
            raise InputError(
                f"name the column of the decisions (--decision) or of a score (--score); there are {names}"
            )
        raise InputError("decision and score are both given: people are selected by one or the other")
    if decision is None or isinstance(decision, str):
        return table, decision
    name = getattr(decision, "name", None)
    name = "decision" if name is None else str(name)
    return replace(table, beside={**table.beside, name: beside(name, decision, table.frame)}), name


def check_columns(found: Sequence[Sequence[str]], roles: Mapping[str, str | None]) -> None:
    """Refuse a column that is sensitive and something else, or two things."""
    sensitive = {name for names in found for name in names}
    taken: dict[str, str] = {}
    for role, name in roles.items():
        if name is None:
            continue
        if name in sensitive:
            raise GroupingError(f"column {name!r} is the {role}, and a sensitive column is none: pass --sensitive")
        if name in taken:
            raise InputError(f"column {name!r} is named as {taken[name]} and as {role}")
        taken[name] = role


def drop_unknown(
    table: tables.Table, weights: Weights | None, found: Sequence[Sequence[str]], suppress_below: int
) -> tuple[tables.Table, Weights | None]:
    """Leave out the people who have no value in a sensitive column."""
    cut, kept = table_with_groups(table, found, say=not suppress_below)
    return cut, None if weights is None else weights.of_rows(kept)


def read_outcomes(
    table: tables.Table,
    decision: str | None,
    score: str | None,
    threshold: Any,
    favorable: Any,
    label: str | None,
    layout: str | None,
) -> tuple[list[Outcomes], float | None]:
    """Who is selected under each rule, and the median that is the threshold."""
    cuts = as_list(threshold)
    if isinstance(threshold, str):
        cuts = [part.strip() for part in threshold.split(",")]
    if score is None:
        if cuts is not None:
            raise InputError("a threshold is for a score: name its column with --score")
        column = str(decision)
        words = _label_words(table, label)
        return [read_decisions(table, column, as_list(favorable), words)], None
    scores = read_scores(table, score)
    if cuts:
        parsed = list(dict.fromkeys(parse_threshold(cut) for cut in cuts))
        return [cut_scores(scores, score, cut) for cut in parsed], None
    if layout is None:
        raise InputError(f"a score selects nobody without a threshold: pass --threshold, or --layout ll144 ({score})")
    middle = median(scores, table.repeats)
    says = (
        f"{score} > {value_text(middle)}, the median of the full sample of {counted(table.n_rows, 'person', 'people')}"
    )
    return [Outcomes(score, says, scores > middle, middle)], middle


def _label_words(table: tables.Table, label: str | None) -> list[str]:
    """Values of the true outcome, which favorable ones may be named by."""
    if label is None or label not in table.people.columns:
        return []
    return [value_text(value).strip() for value in table.people[label].dropna().unique()[:1000]]


def group_people(
    table: tables.Table, names: Sequence[str], edges: Mapping[str, Sequence[float]], missing: str
) -> PartialGrouping:
    """A grouping; people of unknown group are in none under "bounds" alone."""
    if missing == "bounds":
        return group_known(table.people, names, bins=edges, repeats=table.repeats)
    grouping = tables.group_rows(table.people, names, bins=edges, missing=missing, repeats=table.repeats)
    return PartialGrouping(grouping, np.ones(len(table.frame), dtype=bool), ())


def hidden_groups(
    partial: Sequence[PartialGrouping],
    rules: Sequence[Outcomes],
    truth: Truth | None,
    least: int,
    repeats: np.ndarray | None = None,
) -> list[frozenset[int]]:
    """Groups of each grouping whose numbers are not published."""
    if not least:
        return [frozenset()] * len(partial)
    codes = []
    for part in partial:
        own = np.full(len(part.known), len(part.grouping.groups), dtype=np.int64)
        own[part.known] = part.grouping.codes
        codes.append(own)
    kinds = [np.ones(len(codes[0]), dtype=bool)]
    strata = kinds if truth is None else [*kinds, truth.known & truth.positive, truth.known & ~truth.positive]
    kinds = [*strata]
    for rule in rules:
        kinds += [rows & held for rows in strata for held in (rule.selected, ~rule.selected)]
    for first, second in pairwise(rules):
        # Those whom one threshold selects and the next does not are the difference of two published counts.
        kinds += [first.selected & ~second.selected, second.selected & ~first.selected]
    return suppressed_groups(codes, kinds, least, repeats)
