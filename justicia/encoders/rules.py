"""Encode rules: the learned ones of `CNFClassifier`, and those that somebody states.

A rule in disjunctive normal form is the complement of one in conjunctive normal form, so both are clauses over sets of
cells. A numeric column is cut where one of the rule's conditions changes; a column of words has a cell for every value
of the table, of the rule and of the model's fit, one for any other value, and one for missing ones.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.cells import cut_into_cells, interval_values
from justicia.encoders.clauses import Clauses
from justicia.encoders.preprocessing import trace
from justicia.errors import ModelFileError, UnsupportedModelError
from justicia.learners.rules import CNF, Condition, Rule, as_numbers, is_numeric, number_text
from justicia.population.domain import Domain, Feature
from justicia.words import did_you_mean, shown, value_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import pandas as pd

    from justicia.models import FittedModel

__all__ = ["clauses_over", "encode", "outcome"]

logger = logging.getLogger(__name__)


def encode(model: FittedModel, frame: pd.DataFrame, favorable: Collection[Any]) -> tuple[Clauses, Domain]:
    """Encode a rule as a decision over source columns.

    Parameters
    ----------
    model : FittedModel
        With a `CNFClassifier` or a `RuleClassifier` inside.
    frame : DataFrame
        The columns that the model takes.
    favorable : collection
        Favorable classes.

    Raises
    ------
    UnsupportedModelError
        When a step is not supported, or gives categories.
    ModelFileError
        When fitted attributes are malformed.
    """
    rule: Rule = model.estimator.rule_
    if not isinstance(rule, Rule):
        raise ModelFileError(f"the fitted {model.class_name} holds no rule: fit and save it again")
    holds, fails = outcome(model, favorable)
    if holds == fails:
        return Clauses((), (), holds), Domain(())
    cnf, accepts = (rule, holds) if rule.form == CNF else (rule.opposite, fails)
    names = tuple(model.estimator.column_names_)
    if len(model.steps) == 1 and type(model.steps[0]).__name__ == "OneHotExpansion":
        expansion = model.steps[0]
        sources = {
            name: (expansion.inputs[place], value)
            for name, place, value in zip(names, expansion.source, expansion.value, strict=True)
        }
        features, held = _of_columns(cnf, sources, frame, expansion.categories, model)
    elif model.steps:
        features, held = _of_matrix(cnf, names, frame, model)
    else:
        sources = {name: (str(column), None) for name, column in zip(names, frame.columns, strict=True)}
        features, held = _of_columns(cnf, sources, frame, {}, model)
    return clauses_over(features, [[held[condition] for condition in part] for part in cnf.parts], accepts)


def outcome(model: FittedModel, favorable: Collection[Any]) -> tuple[bool, bool]:
    """Whether the outcome is favorable where a rule holds, and where it does not."""
    if model.rule is not None or model.calibration is not None:
        raise UnsupportedModelError(f"{model.class_name} behind a threshold or a calibration is not supported")
    estimator = model.estimator
    classes = estimator.classes_.tolist()
    wanted = set(favorable)
    if len(classes) == 1:
        return classes[0] in wanted, classes[0] in wanted
    others = [value for value in classes if value != estimator.positive_]
    if len(classes) != 2 or len(others) != 1:
        raise ModelFileError(f"the fitted {model.class_name} is malformed: its rule gives none of its classes")
    return estimator.positive_ in wanted, others[0] in wanted


def clauses_over(
    features: Sequence[Feature], clauses: Sequence[Sequence[tuple[int, np.ndarray]]], accepts: bool
) -> tuple[Clauses, Domain]:
    """Clauses over the features that matter; clauses that always hold, and sets without cells, are left out.

    Parameters
    ----------
    features : sequence of Feature
    clauses : sequence of sequences of (feature, bool array of shape (n_cells,))
        Conditions of each clause: the cells in which one holds.
    accepts : bool
    """
    joined: list[dict[int, np.ndarray]] = []
    for clause in clauses:
        sets: dict[int, np.ndarray] = {}
        for feature, cells in clause:
            sets[feature] = sets[feature] | cells if feature in sets else cells
        if not any(cells.all() for cells in sets.values()):
            joined.append({feature: cells for feature, cells in sets.items() if cells.any()})
    if any(not sets for sets in joined):
        # A clause that never holds: nothing else matters.
        joined = [{}]
    used = sorted({feature for sets in joined for feature in sets})
    place = {feature: position for position, feature in enumerate(used)}
    domain = Domain(tuple(features[feature] for feature in used))
    made = tuple({place[feature]: cells for feature, cells in sorted(sets.items())} for sets in joined)
    return Clauses(domain.sizes, made, accepts), domain


def _of_columns(
    rule: Rule,
    sources: Mapping[str, tuple[str, Any]],
    frame: pd.DataFrame,
    one_hot: Mapping[str, Sequence[Any]],
    model: FittedModel,
) -> tuple[list[Feature], dict[Condition, tuple[int, np.ndarray]]]:
    """Features of the table's own columns, and the cells of each condition.

    Parameters
    ----------
    sources : mapping of str to (str, value)
        For each column of the rule, the one of the frame, and the value for which it is 1 where it is one of several.
    one_hot : mapping of str to sequence
        Values of the features that are several columns.
    """
    asked: dict[str, list[tuple[Condition, Any]]] = {}
    for part in rule.parts:
        for condition in part:
            name, value = sources[condition.column]
            asked.setdefault(name, []).append((condition, value))
    features: list[Feature] = []
    held: dict[Condition, tuple[int, np.ndarray]] = {}
    for name in frame.columns:
        if name not in asked:
            continue
        conditions = list(dict.fromkeys(condition for condition, _ in asked[name]))
        if name in one_hot:
            feature = _categories(name, list(one_hot[name]), [])
            values = np.array(list(feature.representatives), dtype=object)
            of_condition = {
                condition: condition.of_numbers(np.array([float(known == value) for known in values]))
                for condition, value in asked[name]
            }
        elif is_numeric(frame[name]) or any(condition.compares for condition in conditions):
            as_numbers(frame[name])
            feature = _numbers(name, conditions)
            numbers = np.array(feature.representatives, dtype=np.float64)
            of_condition = {condition: condition.of_numbers(numbers) for condition in conditions}
        else:
            fitted = getattr(model.estimator, "categories_", {}).get(conditions[0].column, ())
            feature = _words(name, frame[name], conditions, fitted)
            texts = [None if cell == feature.missing else label for cell, label in enumerate(_texts(feature))]
            of_condition = {
                condition: np.array([condition.of_text(text) for text in texts]) for condition in conditions
            }
        held.update((condition, (len(features), cells)) for condition, cells in of_condition.items())
        features.append(feature)
    return features, held


def _texts(feature: Feature) -> list[str]:
    """What a condition compares, by cell: the value itself as text."""
    return [value_text(value) for value in feature.representatives]


def _numbers(name: str, conditions: Sequence[Condition]) -> Feature:
    """A column of numbers, cut where a condition changes."""
    edges = np.unique(np.array([edge for condition in conditions for edge in condition.cuts], dtype=np.float64))
    values = np.array(interval_values(edges), dtype=np.float64)
    states = np.stack([condition.of_numbers(values) for condition in conditions])
    differs = (states[:, 1:] != states[:, :-1]).any(axis=0)
    edges = edges[differs]
    values = values[np.append(differs, True)]
    below = {float(np.nextafter(number, -np.inf)): number for number in _named(conditions)}
    labels = (*_intervals([(below.get(edge, edge), edge in below) for edge in edges.tolist()]), "(missing)")
    return Feature(name, labels, (*values.tolist(), np.nan), edges, missing=len(values))


def _named(conditions: Sequence[Condition]) -> list[float]:
    """Numbers that conditions compare with, or ask for."""
    return [
        number
        for condition in conditions
        for number in ((condition.number,) if condition.compares else condition.cuts[1::2])
    ]


def _intervals(edges: Sequence[tuple[float, bool]]) -> list[str]:
    """Intervals as text, all digits kept; each edge with whether it belongs to the interval above it."""
    if not edges:
        return ["any number"]
    labels = [f"{'<' if edges[0][1] else '<='} {number_text(edges[0][0])}"]
    for (low, opens), (high, closes) in pairwise(edges):
        if low == high:
            labels.append(number_text(low))
        else:
            start, end = "[" if opens else "(", ")" if closes else "]"
            labels.append(f"{start}{number_text(low)}, {number_text(high)}{end}")
    return [*labels, f"{'>=' if edges[-1][1] else '>'} {number_text(edges[-1][0])}"]


def _words(name: str, column: pd.Series[Any], conditions: Sequence[Condition], fitted: Collection[str]) -> Feature:
    """A column of words: one cell a value."""
    known = list(column.dropna().unique())
    texts = {value_text(value) for value in known}
    named = dict.fromkeys(text for condition in conditions for text in condition.values)
    for text in named:
        if text not in texts and text not in fitted:
            logger.warning(
                "no row has %s = %s, which the rule asks for%s", name, shown(text), did_you_mean(text, sorted(texts))
            )
    more = [text for text in dict.fromkeys([*fitted, *named]) if text not in texts]
    # Only what the model was fitted on is known to it, where that is known.
    values = sorted(known, key=value_text) if not fitted else [v for v in known if value_text(v) in set(fitted)]
    return _categories(name, sorted([*values, *more], key=value_text), known)


def _categories(name: str, values: Sequence[Any], taken: Sequence[Any]) -> Feature:
    other = "(unseen)"
    texts = {value_text(value) for value in (*values, *taken)}
    while other in texts:
        other += "'"
    labels = (*map(value_text, values), other, "(missing)")
    cells = {value: place for place, value in enumerate(values)}
    return Feature(name, labels, (*values, other, np.nan), cells=cells, unseen=len(values), missing=len(values) + 1)


def _of_matrix(
    rule: Rule, names: Sequence[str], frame: pd.DataFrame, model: FittedModel
) -> tuple[list[Feature], dict[Condition, tuple[int, np.ndarray]]]:
    """Features behind the steps before the rule, and the cells of each condition on what they give."""
    for part in rule.parts:
        for condition in part:
            if condition.test == "in" and not condition.cuts:
                raise UnsupportedModelError(
                    f"the rule asks for {condition.text()}, a category that comes out of another step, which is not "
                    "supported: leave the step out, or encode the categories in it"
                )
    conditions = list(dict.fromkeys(condition for part in rule.parts for condition in part))
    output = {condition: names.index(condition.column) for condition in conditions}
    blocks = trace(model.steps, list(frame.columns))
    if sum(len(block.outputs) for block in blocks) != len(names):
        raise ModelFileError(f"the steps before the rule do not give the {len(names)} columns that it takes")
    tests: dict[int, np.ndarray] = {}
    for condition in conditions:
        before = tests.get(output[condition], np.zeros(0))
        tests[output[condition]] = np.unique(np.concatenate([before, condition.cuts]))
    layout = cut_into_cells(blocks, frame, tests, cast=np.float64)
    held = {
        condition: (layout.feature_of[place], condition.of_numbers(layout.values_of[place]))
        for condition, place in output.items()
    }
    return list(layout.domain.features), held
