"""A rule behind other steps, said in the table's own columns: its encoding, read back as conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.learners.rules import CNF, Condition, Rule
from justicia.words import value_text

if TYPE_CHECKING:
    from justicia.encoders.clauses import Clauses
    from justicia.population.domain import Domain, Feature

__all__ = ["rule_over"]


def rule_over(decision: Clauses, domain: Domain, form: str) -> Rule | None:
    """The rule that an encoded one is, over source columns; None when its sets of cells are no conditions.

    Parameters
    ----------
    decision : Clauses
        Satisfied where a rule in CNF holds, and not satisfied where one in DNF does.
    domain : Domain
    form : str
        "CNF" or "DNF".
    """
    parts = []
    for clause in decision.clauses:
        part: list[Condition] = []
        for position, cells in clause.items():
            feature = domain.features[position]
            made = _numbers(feature, cells) if feature.numeric else _words(feature, cells)
            if made is None:
                return None
            part += made if form == CNF else [_plain(one.opposite, feature) for one in made]
        if not part:
            return None
        parts.append(tuple(part))
    return Rule(form, tuple(parts)) if parts else None


def _plain(condition: Condition, feature: Feature) -> Condition:
    """Without "not" where no value is missing."""
    opposites = {"<=": ">", ">": "<="}
    if condition.negated and feature.missing is None and condition.test in opposites:
        return replace(condition, test=opposites[condition.test], negated=False)
    return condition


def _numbers(feature: Feature, cells: np.ndarray) -> list[Condition] | None:
    """Conditions of which one holds in exactly these intervals."""
    edges = np.zeros(0) if feature.edges is None else feature.edges
    inside = cells[: feature.n_intervals]
    missing = feature.missing is not None and bool(cells[feature.missing])
    absent = Condition(feature.name, "missing")
    if inside.all():
        return None if missing or feature.missing is None else [absent.opposite]
    # Where the outcome changes, from an interval to the next.
    changes = np.flatnonzero(inside[1:] != inside[:-1])
    runs = [Condition(feature.name, "<=", number=float(edges[changes[0]]))] if inside[0] else []
    if inside[-1]:
        runs.append(Condition(feature.name, ">", number=float(edges[changes[-1]])))
    if len(changes) != len(runs):
        return None
    if missing and len(runs) == 1:
        other = "<=" if runs[0].test == ">" else ">"
        return [replace(runs[0], test=other, negated=True)]
    return [*runs, absent] if missing else runs


def _words(feature: Feature, cells: np.ndarray) -> list[Condition] | None:
    """Conditions of which one holds for exactly these categories."""
    known = [(value_text(value), bool(cells[cell])) for value, cell in feature.cells.items()]
    missing = feature.missing is not None and bool(cells[feature.missing])
    absent = Condition(feature.name, "missing")
    if feature.unseen is None or not cells[feature.unseen]:
        named = tuple(text for text, held in known if held)
        made = [Condition(feature.name, "in", values=named)] if named else []
        return [*made, absent] if missing else made
    others = tuple(text for text, held in known if not held)
    if not others:
        return [absent.opposite]
    if feature.missing is not None and not missing:
        return None
    return [Condition(feature.name, "in", values=others, negated=True)]
