"""Random rules over random tables, and what they say, in plain Python."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from justicia.learners import CNF, DNF, Condition, Rule
from justicia.models import RuleClassifier


@dataclass
class RuleCase:
    """A stated rule, a table, and how to audit it."""

    model: RuleClassifier
    frame: pd.DataFrame
    sensitive: list[str]
    favorable: list[Any]
    label: np.ndarray


def random_rule_case(seed: int) -> RuleCase:
    """Few cells a feature, so that the domain can be enumerated; sensitive columns may be features."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 140))
    frame: dict[str, Any] = {}
    for i in range(int(rng.integers(1, 4))):
        kind = rng.integers(3)
        values = rng.integers(int(rng.integers(2, 4)), size=n)
        frame[f"s {i}"] = values if kind == 0 else np.array([["m", "f", "x y"], ["no", "<b>", "ü"]][kind - 1])[values]
    for i in range(int(rng.integers(1, 5))):
        kind = rng.integers(5)
        if kind == 0:
            frame[f"n{i}"] = rng.integers(0, 4, size=n)
        elif kind == 1:
            numbers = rng.choice(np.array([-2.5, 0.1, 0.30000000000000004, 1e6, np.nan]), size=n)
            frame[f"n{i}"] = numbers
        elif kind == 2:
            words = np.array(["red", "green", "and", "4"], dtype=object)[rng.integers(0, 4, size=n)]
            frame[f"w {i}"] = np.where(rng.random(n) < 0.15, np.nan, words)
        elif kind == 3:
            frame[f"w{i}"] = pd.Categorical(np.array(["a", "b", "c"])[rng.integers(0, 3, size=n)])
        else:
            frame[f"b{i}"] = rng.random(n) < 0.5
    table = pd.DataFrame(frame)
    form = CNF if rng.random() < 0.5 else DNF
    parts = tuple(
        tuple(_condition(rng, table) for _ in range(int(rng.integers(1, 5)))) for _ in range(int(rng.integers(1, 7)))
    )
    model = RuleClassifier(Rule(form, parts), "yes", "no")
    sensitive = [name for name in table.columns if name.startswith("s ")]
    favorable = ["yes"] if rng.random() < 0.7 else ["no"]
    return RuleCase(model, table, sensitive, favorable, np.array(["no", "yes"])[rng.integers(0, 2, size=n)])


def _condition(rng: np.random.Generator, table: pd.DataFrame) -> Condition:
    name = str(rng.choice(table.columns))
    column = table[name]
    negated = bool(rng.random() < 0.3)
    if rng.random() < 0.1:
        return Condition(name, "missing", negated=negated)
    present = column.dropna()
    if column.dtype.kind in "iuf" and rng.random() < 0.8 and len(present):
        number = float(rng.choice(present)) + float(rng.choice([0.0, 0.5]))
        return Condition(name, str(rng.choice(["<=", "<", ">", ">="])), number=number, negated=negated)
    known = np.array(present, dtype=object) if len(present) else np.array(["q"], dtype=object)
    values = {text_of(value) for value in rng.choice(known, size=int(rng.integers(1, 3)))}
    return Condition(name, "in", values=tuple(sorted(values)), negated=negated)


def text_of(value: Any) -> str:
    """A value as a rule's text has it."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, float, np.integer, np.floating)):
        return str(int(value)) if float(value) == int(value) else repr(float(value))
    return str(value)


def says(rule: Rule, person: dict[str, Any]) -> bool:
    """The rule of one person, by its definition."""

    def holds(condition: Condition) -> bool:
        value = person[condition.column]
        absent = value is None or (isinstance(value, float) and math.isnan(value))
        if condition.test == "missing":
            found = absent
        elif absent:
            found = False
        elif condition.test == "in":
            found = text_of(value) in condition.values
        else:
            number = float(value)
            found = {
                "<=": number <= condition.number,
                "<": number < condition.number,
                ">": number > condition.number,
                ">=": number >= condition.number,
            }[condition.test]
        return found != condition.negated

    if rule.form == CNF:
        return all(any(holds(one) for one in part) for part in rule.parts)
    return any(all(holds(one) for one in part) for part in rule.parts)
