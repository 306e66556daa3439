"""Fairlearn: unsigned measures between all groups, as they are here; rates without people are 0 there.

Reference: S. Bird et al., *Fairlearn: a toolkit for assessing and improving fairness in AI* (2020);
`fairlearn.metrics`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from justicia.peers.base import Call, Peer, People

__all__ = ["FAIRLEARN"]

UNDEFINED = "Fairlearn takes a rate without anybody to count for 0; here its group is left out"
ONE_KIND = (
    "Fairlearn takes the ratio that is undefined, or leaves it out, by its place; here the other one is the measure"
)
ONE_GROUP = "Fairlearn compares a group with itself where there is no other; here there is nothing to compare"

MOST_COMBINATIONS = 100_000
"""Several sensitive columns are given as one when their values have more combinations, of which it makes a table."""

_RATES = {
    "selection_rate": "selection_rate",
    "tpr": "true_positive_rate",
    "fpr": "false_positive_rate",
    "precision": "precision",
}


def _load() -> Any:
    import fairlearn.metrics

    return fairlearn.metrics


def _rates(people: People, kind: str) -> np.ndarray:
    """Rates of the groups with rows, 0 where there is nobody to count."""
    part, whole = people.counts.of(kind)
    held = people.counts.n > 0
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)[held]


def _difference(people: People, kind: str) -> float:
    rates = _rates(people, kind)
    return float(rates.max() - rates.min())


def _ratio(people: People, kind: str) -> float:
    rates = _rates(people, kind)
    return float(rates.min() / rates.max()) if rates.max() else math.nan


_MEASURES: dict[str, tuple[str, str, Callable[[People], float]]] = {
    "demographic_parity_ratio": ("disparate_impact", "", lambda people: _ratio(people, "selection_rate")),
    "demographic_parity_difference": (
        "statistical_parity_difference",
        "",
        lambda people: _difference(people, "selection_rate"),
    ),
    "equal_opportunity_difference": ("equal_opportunity_difference", "", lambda people: _difference(people, "tpr")),
    "equal_opportunity_ratio": ("equal_opportunity_ratio", "", lambda people: _ratio(people, "tpr")),
    "equalized_odds_difference": (
        "equalized_odds_difference",
        "",
        lambda people: max(_difference(people, "tpr"), _difference(people, "fpr")),
    ),
    # min() in the order of theirs: a NaN stays when it is first, and is passed over when it is second.
    "equalized_odds_ratio": (
        "equalized_odds_ratio",
        "",
        lambda people: min(_ratio(people, "tpr"), _ratio(people, "fpr")),
    ),
    'equalized_odds_difference(agg="mean")': (
        "average_odds_difference",
        "mean",
        lambda people: (_difference(people, "tpr") + _difference(people, "fpr")) / 2,
    ),
}
"""By their name: ours, the aggregation, and what their convention gives."""


def _calls(metrics: Any, people: People) -> tuple[list[Call], tuple[str, ...]]:
    combinations = math.prod(len({group[i] for group in people.groups}) for i in range(len(people.sensitive)))
    joined = combinations > MOST_COMBINATIONS
    notes: tuple[str, ...] = ()
    if joined:
        notes = (
            f"the sensitive columns are given to Fairlearn as one: it makes a table of all {combinations:,} "
            "combinations of their values",
        )
    calls = []
    for kind in people.kinds:
        rows = people if kind == "selection_rate" else people.labelled
        calls += _rate_calls(metrics, people, rows, kind, joined)
    for function, (name, agg, expected) in _MEASURES.items():
        labelled = name not in ("disparate_impact", "statistical_parity_difference")
        if labelled and people.positive is None:
            continue
        rows = people.labelled if labelled else people
        calls.append(_measure_call(metrics, function, name, agg, expected, people, rows, joined))
    return calls, notes


def _features(people: People, joined: bool) -> Any:
    return people.codes if joined else people.columns()


def _truth(people: People) -> Any:
    return people.selected.astype(int) if people.positive is None else people.positive.astype(int)


def _rate_calls(metrics: Any, people: People, rows: People, kind: str, joined: bool) -> list[Call]:
    """One call that gives the rates of all groups, shared out among them."""

    def precision(y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
        from sklearn.metrics import precision_score

        return float(precision_score(y_true, y_pred, sample_weight=sample_weight, zero_division=0))

    metric = precision if kind == "precision" else getattr(metrics, _RATES[kind])

    @cache
    def frame() -> Any:
        weights = {} if rows.weight is None else {"sample_params": {"sample_weight": rows.weight}}
        held = metrics.MetricFrame(
            metrics=metric, y_true=_truth(rows), y_pred=rows.selected.astype(int),
            sensitive_features=_features(rows, joined), **weights,
        )  # fmt: skip
        return held.by_group.to_dict()

    def of_group(group: int) -> float:
        key = group if joined else people.groups[group] if len(people.sensitive) > 1 else people.groups[group][0]
        return float(frame()[key])

    def reasons() -> tuple[str, ...]:
        return (UNDEFINED,)

    def expected(group: int) -> float:
        part, whole = rows.counts.of(kind)
        return float(part[group] / whole[group]) if whole[group] else 0.0

    function = "MetricFrame(precision_score)" if kind == "precision" else f"MetricFrame({_RATES[kind]})"

    def call(group: int) -> Call:
        return Call(
            kind, function, lambda: of_group(group), lambda: people.own_rate(kind, group), lambda: expected(group),
            reasons, group,
        )  # fmt: skip

    return [call(group) for group in np.flatnonzero(rows.counts.n > 0).tolist()]


def _measure_call(
    metrics: Any,
    function: str,
    name: str,
    agg: str,
    expected: Callable[[People], float],
    people: People,
    rows: People,
    joined: bool,
) -> Call:
    def run() -> Any:
        more = {"agg": agg} if agg else {}
        return getattr(metrics, function.partition("(")[0])(
            _truth(rows), rows.selected.astype(int), sensitive_features=_features(rows, joined),
            sample_weight=rows.weight, **more,
        )  # fmt: skip

    def reasons() -> tuple[str, ...]:
        found = []
        if (rows.counts.n > 0).sum() < 2:
            found.append(ONE_GROUP)
        kinds = [kind for kind in ("tpr", "fpr") if kind in people.kinds]
        held = rows.counts.n > 0
        if any((rows.counts.of(kind)[1][held] == 0).any() for kind in kinds):
            found.append(UNDEFINED)
        if name == "equalized_odds_ratio" and any(math.isnan(_ratio(rows, kind)) for kind in kinds):
            found.append(ONE_KIND)
        return tuple(found)

    return Call(name, function, run, lambda: people.own_measure(name), lambda: expected(rows), reasons)


FAIRLEARN = Peer("fairlearn", "Fairlearn", _load, _calls)
