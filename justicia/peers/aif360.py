"""AIF360: signed measures of everybody outside one privileged group, compared with that group.

`aif360.sklearn.metrics` is asked, whose groups may have any names: once about the privileged group and all others
together, as its users do, and once about the two groups between which a measure lies here.

Reference: R. K. E. Bellamy et al., *AI Fairness 360* (2018); `aif360.sklearn.metrics`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from justicia.metrics import OutcomeCounts
from justicia.peers.base import Call, Peer, People, same

__all__ = ["AIF360"]

SIGN = "AIF360 has unprivileged minus privileged, with its sign; here it is the largest minus the smallest"
REST = "AIF360 compares one privileged group with all others together; here every group is compared with every other"
ABOVE = "AIF360 has unprivileged over privileged, which may exceed 1; here it is the smallest over the largest"
ZERO = "AIF360 takes a rate, or a ratio, with denominator 0 for 0; here it is undefined"
SPECIFICITY = "AIF360 takes the specificity of a side without negatives for 0, so its false positive rate for 1"
ROUNDING = (
    "AIF360 gets weights of negatives by subtraction: where a side has none, what rounding leaves decides about its "
    "false positive rate"
)
CANCEL = "AIF360 takes the mean of signed differences, of which opposite ones cancel"

MOST_GROUPS = 100
"""Rates by group are asked for so many groups at most, the largest: every call goes through the whole table."""


def _load() -> Any:
    root = logging.getLogger()
    disabled, handlers = root.manager.disable, list(root.handlers)
    # It warns of every package that is not installed, by way of the root logger, which gets a handler then.
    logging.disable(logging.WARNING)
    try:
        import aif360.sklearn.metrics as metrics
    finally:
        logging.disable(disabled)
        for handler in set(root.handlers) - set(handlers):
            root.removeHandler(handler)
    return metrics


def _side(counts: OutcomeCounts, which: np.ndarray, kind: str) -> float:
    """A rate of some groups together by AIF360's convention."""
    part, whole = (float(held[which].sum()) for held in counts.of(kind))
    if whole:
        return part / whole
    return 1.0 if kind == "fpr" else 0.0


def _sides(people: People, privileged: int, kind: str) -> tuple[float, float]:
    """The rates of the unprivileged and of the privileged."""
    which = np.arange(len(people.groups)) == privileged
    return _side(people.counts, ~which, kind), _side(people.counts, which, kind)


def _minus(people: People, privileged: int, kind: str) -> float:
    unprivileged, of_privileged = _sides(people, privileged, kind)
    return unprivileged - of_privileged


def _over(people: People, privileged: int, kind: str) -> float:
    unprivileged, of_privileged = _sides(people, privileged, kind)
    return unprivileged / of_privileged if of_privileged else 0.0


def _mean(people: People, privileged: int) -> float:
    return (_minus(people, privileged, "tpr") + _minus(people, privileged, "fpr")) / 2


def _error(people: People, privileged: int) -> float:
    return (abs(_minus(people, privileged, "tpr")) + abs(_minus(people, privileged, "fpr"))) / 2


Expected = Callable[[People, int], float]

_MEASURES: dict[str, tuple[str, tuple[str, ...], Expected]] = {
    "disparate_impact_ratio": (
        "disparate_impact",
        ("selection_rate",),
        lambda people, privileged: _over(people, privileged, "selection_rate"),
    ),
    "statistical_parity_difference": (
        "statistical_parity_difference",
        ("selection_rate",),
        lambda people, privileged: _minus(people, privileged, "selection_rate"),
    ),
    "equal_opportunity_difference": (
        "equal_opportunity_difference",
        ("tpr",),
        lambda people, privileged: _minus(people, privileged, "tpr"),
    ),
    "average_odds_difference": ("average_odds_difference", ("tpr", "fpr"), _mean),
    "average_odds_error": ("average_odds_difference", ("tpr", "fpr"), _error),
}
"""By their name: ours, the rates that it is made of, and what their convention gives."""

_RATES = {
    "selection_rate": "selection_rate",
    "tpr": "recall_score",
    "fpr": "1 - specificity_score",
    "precision": "precision_score",
}


def _calls(metrics: Any, people: People) -> tuple[list[Call], tuple[str, ...]]:
    sizes = people.counts.n
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    notes = []
    if len(order) > MOST_GROUPS:
        notes.append(f"AIF360 is asked for the rates of the {MOST_GROUPS} largest groups of {len(order):,}")
    if len(order) < 2:
        notes.append("AIF360 compares two sides, and there is one group")
    calls = [
        _rate_call(metrics, people, group, kind) for group in order[:MOST_GROUPS].tolist() for kind in people.kinds
    ]
    if len(order) < 2:
        return calls, tuple(notes)
    for function, (name, kinds, expected) in _MEASURES.items():
        if kinds != ("selection_rate",) and people.positive is None:
            continue
        rows = people if kinds == ("selection_rate",) else people.labelled
        rest = [group for group in order.tolist() if group != people.reference]
        others = people.name(rest[0]) if len(rest) == 1 else "all others together"
        against = f"{others} against {people.name(people.reference)}"
        calls.append(_measure_call(metrics, function, name, kinds, expected, people, rows, people.reference, against))
        ends = people.samples.rates.spread(kinds[0]).ends
        if len(order) > 2 and len(kinds) == 1 and ends and ends[0] != ends[1]:
            best, worst = ends
            against = f"{people.name(worst)} against {people.name(best)}"
            pair = rows.among(ends)
            calls.append(_measure_call(metrics, function, name, kinds, expected, people, pair, best, against))
    return calls, tuple(notes)


def _rounds(people: People, *sides: np.ndarray) -> bool:
    """Whether some side has no negatives, and weights whose sums are rounded."""
    weight, negatives = people.weight, people.counts.negatives
    if weight is None or negatives is None or (weight == np.rint(weight)).all():
        return False
    return any(not negatives[side].sum() for side in sides)


def _labels(people: People) -> tuple[Any, Any]:
    """True outcomes and decisions, with the groups in their index."""
    import pandas as pd

    index = pd.Index(people.codes, name="group")
    truth = people.selected if people.positive is None else people.positive
    return pd.Series(truth.astype(int), index=index), pd.Series(people.selected.astype(int), index=index)


def _rate_call(metrics: Any, people: People, group: int, kind: str) -> Call:
    rows = people if kind == "selection_rate" else people.labelled

    def run() -> float:
        held = rows.codes == group
        truth, decided = (column[held] for column in _labels(rows))
        weight = {} if rows.weight is None else {"sample_weight": rows.weight[held]}
        if kind == "fpr":
            return 1 - float(metrics.specificity_score(truth, decided, **weight))
        return float(getattr(metrics, _RATES[kind])(truth, decided, **weight))

    def expected() -> float:
        return _side(rows.counts, np.arange(len(rows.groups)) == group, kind)

    def reasons() -> tuple[str, ...]:
        if rows.counts.of(kind)[1][group]:
            return ()
        return (ROUNDING if rounds else SPECIFICITY if kind == "fpr" else ZERO,)

    rounds = kind == "fpr" and _rounds(rows, np.arange(len(rows.groups)) == group)
    return Call(
        kind, _RATES[kind], run, lambda: people.own_rate(kind, group), expected, reasons, group, open=rounds
    )  # fmt: skip


def _measure_call(
    metrics: Any,
    function: str,
    name: str,
    kinds: tuple[str, ...],
    expected: Expected,
    people: People,
    rows: People,
    privileged: int,
    compared: str,
) -> Call:
    def run() -> float:
        truth, decided = _labels(rows)
        return float(
            getattr(metrics, function)(
                truth, decided, prot_attr="group", priv_group=privileged, sample_weight=rows.weight
            )
        )

    def reasons() -> tuple[str, ...]:
        found = []
        if (rows.counts.n > 0).sum() > 2:
            found.append(REST)
        if function == "disparate_impact_ratio":
            if expected(rows, privileged) > 1:
                found.append(ABOVE)
        elif function != "average_odds_error" and expected(rows, privileged) < 0:
            found.append(SIGN)
        if function == "average_odds_difference" and not same(abs(_mean(rows, privileged)), _error(rows, privileged)):
            found.append(CANCEL)
        found += _undefined(rows, privileged, kinds, ratio=function == "disparate_impact_ratio")
        return tuple(ROUNDING if rounds and one == SPECIFICITY else one for one in found)

    side = np.arange(len(rows.groups)) == privileged
    rounds = "fpr" in kinds and _rounds(rows, side, ~side)

    return Call(
        name, function, run, lambda: people.own_measure(name), lambda: expected(rows, privileged), reasons,
        compared=compared, open=rounds,
    )  # fmt: skip


def _undefined(people: People, privileged: int, kinds: tuple[str, ...], *, ratio: bool) -> list[str]:
    """What becomes of rates without anybody to count."""
    which = np.arange(len(people.groups)) == privileged
    found = [
        SPECIFICITY if kind == "fpr" else ZERO
        for kind in kinds
        if any(not people.counts.of(kind)[1][side].sum() for side in (which, ~which))
    ]
    if ratio and not _sides(people, privileged, kinds[0])[1] and ZERO not in found:
        found.append(ZERO)
    return found


AIF360 = Peer("aif360", "AIF360", _load, _calls)
