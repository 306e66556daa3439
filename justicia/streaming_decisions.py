"""Tables of decisions that do not fit in memory: read in batches, condensed by all columns that are named."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from justicia.inputs import as_list, settle_sensitive
from justicia.ll144 import layout_groupings
from justicia.progress import stage
from justicia.streaming import head_table, large_source, read_condensed
from justicia.streaming_models import Columns, unsaid
from justicia.tables import check_bins, check_plain, find_groupings, group_rows
from justicia.tables.condensing import Condition
from justicia.tables.outcomes import parse_threshold
from justicia.words import counted

if TYPE_CHECKING:
    from justicia.tables import Table
    from justicia.watching import Progress

__all__ = ["condense_decisions"]

logger = logging.getLogger(__name__)


def condense_decisions(
    data: Any,
    *,
    decision: str | None,
    score: str | None,
    threshold: Any,
    sensitive_features: Any,
    label: str | None,
    weight: str | None,
    bins: Mapping[str, Sequence[Any]],
    layout: str | None,
    progress: Progress | None,
    stream: bool | None,
    **reading: Any,
) -> Table | None:
    """The distinct people of a large table of decisions; None where it is read whole.

    Parameters
    ----------
    data, decision, score, threshold, sensitive_features, label, weight, bins, layout, stream
        As `justicia.audit_decisions` takes them.
    progress : callable, optional
    **reading
        How a CSV file is read.

    Raises
    ------
    InputError
    """
    source = large_source(data, stream=stream, **reading)
    if source is None:
        return None
    stage("reading the table in batches")
    first = head_table(source)
    groupings, _ = settle_sensitive(sensitive_features, first.frame)
    with unsaid():
        found = find_groupings(first, groupings) if layout is None else layout_groupings(first, groupings)
    sensitive = list(dict.fromkeys(name for names in found for name in names))
    named = [name for name in (decision, score, label, weight) if name is not None]
    if any(name not in source.columns for name in named):
        # The audit says which, and what there is.
        return first
    used = [name for name in source.columns if name in {*sensitive, *named}]
    check_plain(first.frame, used)
    logger.info(
        "%s is read in batches, %s of %s; people with the same values are counted together; override with --no-stream",
        *(source.name or "the table", len(used), counted(len(source.columns), "column")),
    )
    cut = {name: tuple(edges) for name, edges in check_bins(bins, found).items()}
    survey = source.survey(used, {name for name in sensitive if name not in cut}, progress)
    for name, values in survey.values.items():
        group_rows(values.to_frame(), [name], missing="group")
    cuts = threshold.split(",") if isinstance(threshold, str) else as_list(threshold)
    thresholds = {}
    if score is not None and cuts:
        thresholds[score] = tuple(parse_threshold(text).threshold for text in cuts)
    condition = Condition(
        values=tuple(name for name in dict.fromkeys([*sensitive, *named]) if name not in (*cut, *thresholds)),
        edges=cut,
        thresholds=thresholds,
    )
    return read_condensed(source, used, condition, progress, Columns(groupings), sensitive)
