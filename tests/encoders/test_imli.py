"""Rules of pyrulelearn, recorded from version 1.1.1 and as stand-ins with the same attributes; it is not imported."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pandas as pd
import pytest

import justicia
from justicia.errors import TableError, UnsupportedModelError
from justicia.models.pyrulelearn import ImliClassifier

RECORDED = {
    # Fitted on 60 rows of four columns; what its predict says of all 16 rows of 0 and 1, and its get_rule.
    "CNF": {
        "numClause": 2,
        "numFeatures": 8,
        "_xhat": np.array([[1.0, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 1, 0]]),
        "threshold_literal_learned": [1, 1],
        "threshold_clause_learned": 2,
    },
    "DNF": {
        "numClause": 2,
        "numFeatures": 8,
        "_xhat": np.array([[1.0, 0, 0, 0, 0, 0, 1, 0], [0, 0, 1, 1, 0, 0, 0, 0]]),
        "threshold_literal_learned": [2, 2],
        "threshold_clause_learned": 1,
    },
}
SAYS = {
    "CNF": [0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1],
    "DNF": [0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1],
}
WORDS = {
    "CNF": ["(0 = 1 or 1 = 1 or 2 = 1)", "(3 = 1 or 2 = 0)"],
    "DNF": ["(0 = 1 and 2 = 0)", "(2 = 1 and 3 = 1)"],
}


class imli:
    """Predicts as the package does: how many literals of each clause hold, and of how many clauses enough do."""

    def __init__(self, kind, **held):
        self.ruleType = kind
        self.__dict__.update(held)

    def predict(self, X):
        X = np.array(X)
        assert np.array_equal(X, X.astype(bool)), "Feature array is not binary."
        X = np.hstack((X, 1 - X)).astype(bool)
        enough = X.dot(self._xhat.T.astype(int)) >= np.array(self.threshold_literal_learned)
        return (enough.sum(axis=1) >= self.threshold_clause_learned).astype(int)


imli.__module__ = "pyrulelearn.imli"


def fitted(kind: str) -> imli:
    return imli(kind, **RECORDED[kind])


@pytest.mark.parametrize("kind", ["CNF", "DNF"])
def test_recorded_rules(kind):
    model = fitted(kind)
    points = np.array(list(product([0, 1], repeat=4)))
    assert model.predict(points).tolist() == SAYS[kind]
    held = ImliClassifier(model)
    assert held.predict(points).tolist() == SAYS[kind]
    assert held.get_rules() == WORDS[kind]
    frame = pd.DataFrame(points, columns=list("0123"))
    assert held.rule_.holds(frame.__getitem__, 16).astype(int).tolist() == SAYS[kind]
    assert "pyrulelearn" not in sys.modules


@pytest.mark.parametrize("kind", ["CNF", "DNF"])
@pytest.mark.parametrize("structure", ["independent", "empirical", "tree"])
@pytest.mark.parametrize("favorable", [0, 1])
def test_rates_by_hand(kind, structure, favorable):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2, size=(80, 4))
    frame = pd.DataFrame(values, columns=["a", "b c", "d", "e"])
    sex = pd.Series(np.array(["f", "m"])[rng.integers(0, 2, size=80)], name="sex")
    audit = justicia.verify(
        fitted(kind), frame, sensitive_features=sex, favorable=favorable, population=structure, features=list(frame)
    )
    points = np.array(list(product([0, 1], repeat=4)))
    for group in audit.groupings[0].groups:
        rows = values[sex == group.group["sex"]]
        if structure == "independent":
            shares = rows.mean(axis=0)
            masses = np.prod(np.where(points == 1, shares, 1 - shares), axis=1)
            expected = masses[np.array(SAYS[kind]) == favorable].sum()
        else:
            said = [SAYS[kind][int("".join(map(str, row)), 2)] for row in rows.tolist()]
            expected = np.mean(np.array(said) == favorable)
        tolerance = 1e-12 if structure != "tree" else 0.15
        assert float(group.selection_rate.lo) == pytest.approx(expected, abs=tolerance)
    text = audit.to_text(120)
    assert '"b c" = 1' in text or kind == "DNF"
    assert audit.groupings[0].solution.engine == "satisfied_clauses"


def test_what_is_refused():
    with pytest.raises(UnsupportedModelError, match=r"lacks numFeatures: an audit needs a fitted model"):
        ImliClassifier(imli("CNF", numClause=2))
    for kind in ("relaxed_CNF", "decision lists"):
        with pytest.raises(UnsupportedModelError, match=f"type '{kind}' is not supported: CNF and DNF are"):
            ImliClassifier(imli(kind, **RECORDED["CNF"]))
    with pytest.raises(UnsupportedModelError, match=r"asks for \[2.0, 1.0\] conditions in 2 of 2 clauses"):
        ImliClassifier(imli("CNF", **{**RECORDED["CNF"], "threshold_literal_learned": [2, 1]}))
    with pytest.raises(TableError, match="row 2 holds 2 in column 1, and an imli takes 0 and 1 alone"):
        ImliClassifier(fitted("CNF")).predict(np.array([[0, 0, 0, 0], [2, 0, 0, 0]]))


def test_a_table_that_is_not_binary_is_refused():
    frame = pd.DataFrame([[0, 1, 2, 1], [1, 1, 0, 0]], columns=list("abcd"))
    sex = pd.Series(["f", "m"], name="sex")
    with pytest.raises(TableError, match="takes 0 and 1 alone"):
        justicia.verify(fitted("CNF"), frame, sensitive_features=sex, favorable=1, features=list("abcd"))
