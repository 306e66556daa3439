"""One model in a comparison: its audit, and what other tools say of the same decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia import tables
from justicia.audit import verify
from justicia.peers import PEERS, PeerAnswer, People, own_answer, run_peer
from justicia.peers.running import measured

if TYPE_CHECKING:
    from justicia.audited import Audit
    from justicia.comparison import GroupingAudit

__all__ = ["Side", "people_of", "side_of"]


@dataclass(frozen=True)
class Side:
    """One model.

    Attributes
    ----------
    name : str
    audit : Audit
    seconds : float
        Of the processor, for the whole audit: encoding, self-check, populations, rates and measures.
    memory : int or None
        Bytes by which the process grew at most.
    tools : tuple of tuple of PeerAnswer
        For each grouping, what the rows' own numbers take here, and what each tool says.
    accuracy : Fraction or float or None
        Share of the rows, or of their weights, that the model classifies as their true outcome, favorable or not.
    """

    name: str
    audit: Audit
    seconds: float
    memory: int | None
    tools: tuple[tuple[PeerAnswer, ...], ...]
    accuracy: float | None

    @property
    def unexplained(self) -> int:
        """Numbers of other tools that are neither equal nor explained."""
        return sum(
            number.agreement == "unexplained"
            for answers in self.tools
            for answer in answers
            for number in answer.numbers
        )


def side_of(
    name: str, model: Any, data: Any, options: dict[str, Any], tools: Sequence[str], first: Audit | None = None
) -> Side:
    """Audit a model, and ask the tools about its decisions.

    Parameters
    ----------
    name : str
        What the model is called.
    model, data
        As `justicia.verify` has them.
    options : dict
        Of `justicia.verify`.
    tools : sequence of str
        Of `justicia.peers.PEERS`.
    first : Audit, optional
        The first model's, whose privileged groups AIF360 is told.
    """
    audit, seconds, memory = measured(lambda: verify(model, data, **options))
    answers = []
    for position, grouping in enumerate(audit.groupings):
        people = people_of(audit, grouping, None if first is None else _privileged(first, first.groupings[position]))
        peers = (run_peer(PEERS[tool], people) for tool in tools)
        answers.append((own_answer(people, audit.confidence), *peers))
    return Side(name, audit, seconds, memory, tuple(answers), _accuracy(audit))


def people_of(audit: Audit, grouping: GroupingAudit, privileged: tuple[str, ...] | None = None) -> People:
    """The rows of an audit with their decisions, as tools get them."""
    held = tables.group_rows(audit.table.people, grouping.sensitive, bins=audit.bins, missing=audit.missing)
    truth = audit.roles.truth
    chosen = _privileged(audit, grouping) if privileged is None else privileged
    return People(
        held.sensitive, held.groups, held.codes, audit.self_check.selected,
        None if truth is None else truth.positive, None if truth is None else truth.known,
        None if audit.weights is None else audit.weights.values, held.groups.index(chosen),
    )  # fmt: skip


def _privileged(audit: Audit, grouping: GroupingAudit) -> tuple[str, ...]:
    """The reference group, or the one with the highest selection rate of the rows."""
    if grouping.reference is not None:
        return tuple(grouping.reference.values())
    held = [group for group in grouping.groups if group.sample_rate is not None]
    best = max(held, key=lambda group: group.sample_rate.value if group.sample_rate is not None else 0)
    return tuple(best.group.values())


def _accuracy(audit: Audit) -> float | None:
    """Share of the rows with known outcome, or of their weights, that the model gets right."""
    truth = audit.roles.truth
    if truth is None or not truth.known.any():
        return None
    right = audit.self_check.selected[truth.known] == truth.positive[truth.known]
    weights = None if audit.weights is None or audit.weights.values is None else audit.weights.values[truth.known]
    return float(np.average(right, weights=weights))
