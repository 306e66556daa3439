"""Rates that only a few people are counted for, said as a caution: the denominator counts, not the group's size."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from justicia.words import groups_listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from justicia.judging import Judged

__all__ = ["FEWEST", "few_counted", "warn_of_few_counted"]

logger = logging.getLogger(__name__)

FEWEST = 30
"""Groups and rates of fewer people are named in warnings."""

_COUNTED = {
    "tpr": ("true positive rate", "whose true outcome is favorable"),
    "fpr": ("false positive rate", "whose true outcome is unfavorable"),
    "precision": ("precision", "who are selected"),
}


def few_counted(grouping: Judged, kind: str) -> list[tuple[str, float]]:
    """Groups whose rate enters measures though it is one of few people among the rows.

    A group without any is among them where it has a verified rate all the same: the population has such people.

    Parameters
    ----------
    grouping : Judged
    kind : str
        "tpr", "fpr" or "precision".

    Returns
    -------
    list of (str, float)
        Their names, and how many people each rate is of; with weights, by Kish's effective sample size. The fewest
        first.
    """
    samples, verified = grouping.evidence.samples, grouping.evidence.verified
    if kind not in samples.counts.kinds:
        return []
    _, people = samples.counts.effective(kind)
    held: Sequence[object] = verified.of(kind) if verified is not None else ()
    found = [
        (", ".join(group.values()), float(people[i]))
        for i, group in enumerate(grouping.group_names)
        if (samples.compared is None or i in samples.compared)
        and people[i] < FEWEST
        and (people[i] > 0 or (i < len(held) and held[i] is not None))
    ]
    return sorted(found, key=lambda pair: pair[1])


def warn_of_few_counted(groupings: Iterable[Judged]) -> None:
    """Name the groups of which few people are counted for a rate by true outcome, or a precision."""
    for grouping in groupings:
        parts = []
        for kind, (rate, who) in _COUNTED.items():
            held = few_counted(grouping, kind)
            if held:
                names = groups_listed(f"{name} ({people:.3g})" for name, people in held)
                parts.append(f"{rate}, of people {who}: {names}")
        if parts:
            logger.warning(
                "%s: some rates are those of fewer than %d people of the table, and count in measures all the same: %s",
                *(" x ".join(grouping.sensitive), FEWEST, "; ".join(parts)),
            )
