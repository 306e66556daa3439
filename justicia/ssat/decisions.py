"""Decisions in clauses, and their complements.

- A tree: a point is rejected when it lies in the box of a rejecting leaf, so every such box is a clause that forbids
  it; the complement forbids the accepting boxes.
- A linear threshold: whole weights are found that accept the very same points, and the constraint on their sum is
  written as a decision diagram over the features (`justicia.ssat.thresholds`); the complement is the strict inequality
  the other way. Its variables are under ∃, and several of their values may do.
- Clauses: as they are; the complement by Tseitin's transformation, both implications, so that every value of the
  features leaves one value for its variables.
"""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Protocol

import numpy as np

from justicia.encoders.clauses import Clauses
from justicia.encoders.decisions import Tree
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.errors import FormulaError
from justicia.ssat.building import FALSE, TRUE, Builder, Literal
from justicia.ssat.thresholds import at_least
from justicia.ssat.whole_weights import whole_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.encoders.decisions import Decision
    from justicia.ssat.features import FeatureCode

__all__ = ["DecisionCode", "decision_code"]


class DecisionCode(Protocol):
    """A decision, ready to be written in clauses.

    Attributes
    ----------
    kinds : list of int arrays of shape (n_cells,)
        For each feature, cells of one kind are not told apart, in a convenient order.
    """

    kinds: list[np.ndarray]

    def clauses(
        self, builder: Builder, codes: dict[int, FeatureCode], *, complement: bool
    ) -> list[tuple[Literal, ...]]:
        """Clauses that hold exactly for the points that are accepted, or are not.

        Parameters
        ----------
        builder : Builder
            Takes further variables, and clauses that define them.
        codes : dict of int to FeatureCode
            Of every feature with more than one kind of cells.
        complement : bool
        """
        ...


@singledispatch
def decision_code(decision: Decision) -> DecisionCode:
    """Make a decision ready to be written in clauses.

    Raises
    ------
    FormulaError
        When that is not affordable; the message says why.
    """
    raise FormulaError(
        f"a model of this kind ({type(decision).__name__}) is not written in clauses: decision trees, rules and small "
        "linear models are"
    )


def _outside(builder: Builder, code: FeatureCode, cells: np.ndarray, words: str) -> list[Literal]:
    """Literals of which one is true exactly when the feature lies outside of a set of cells."""
    runs = code.runs(~cells)
    return [builder.all_of(run, words) for run in runs]


def _by_first_cell(signatures: np.ndarray) -> np.ndarray:
    """Number equal rows by their first appearance."""
    _, first, inverse = np.unique(signatures, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.ravel()]


class _SetsCode:
    """Boxes or clauses: sets of cells, each written by its runs."""

    def __init__(self, sizes: Sequence[int], used: Sequence[tuple[int, np.ndarray]]) -> None:
        sets: dict[int, dict[bytes, np.ndarray]] = {}
        for feature, cells in used:
            sets.setdefault(feature, {})[cells.tobytes()] = cells
        self.kinds = [
            _by_first_cell(np.stack(list(sets[feature].values()), axis=1))
            if feature in sets
            else np.zeros(size, dtype=np.int64)
            for feature, size in enumerate(sizes)
        ]
        self._written: dict[tuple[int, bytes], list[Literal]] = {}

    def outside(
        self, builder: Builder, codes: dict[int, FeatureCode], feature: int, cells: np.ndarray
    ) -> list[Literal]:
        if cells.all() or not cells.any():
            return [not cells.any()]
        key = feature, cells.tobytes()
        if key not in self._written:
            self._written[key] = _outside(builder, codes[feature], cells, f"a run of cells of feature {feature}")
        return self._written[key]


class _TreeCode(_SetsCode):
    def __init__(self, tree: Tree) -> None:
        self._boxes = [
            (box, bool(tree.outcomes[node])) for node, box in tree.walk(whole=True) if tree.outcomes[node] >= 0
        ]
        super().__init__(tree.sizes, [item for box, _ in self._boxes for item in box.items()])

    def clauses(
        self, builder: Builder, codes: dict[int, FeatureCode], *, complement: bool
    ) -> list[tuple[Literal, ...]]:
        return [
            tuple(literal for feature, cells in box.items() for literal in self.outside(builder, codes, feature, cells))
            for box, accepts in self._boxes
            if accepts == complement
        ]


class _ClausesCode(_SetsCode):
    def __init__(self, decision: Clauses) -> None:
        self._decision = decision
        super().__init__(decision.sizes, [item for clause in decision.clauses for item in clause.items()])

    def clauses(
        self, builder: Builder, codes: dict[int, FeatureCode], *, complement: bool
    ) -> list[tuple[Literal, ...]]:
        written = [
            tuple(
                literal
                for feature, cells in clause.items()
                for literal in self.outside(builder, codes, feature, ~cells)
            )
            for clause in self._decision.clauses
        ]
        return written if complement != self._decision.accepts else _opposite(builder, written)


class _LinearCode:
    def __init__(self, decision: LinearThreshold) -> None:
        self._weights, self._bound = whole_weights(decision)
        self._accepts_above = decision.accepts_above
        self.kinds = [np.unique(weights, return_inverse=True)[1] for weights in self._weights]

    def clauses(
        self, builder: Builder, codes: dict[int, FeatureCode], *, complement: bool
    ) -> list[tuple[Literal, ...]]:
        features, bound = [], self._bound
        for feature, code in codes.items():
            weights = np.zeros(len(code.below), dtype=np.int64)
            weights[code.item_of_cell] = self._weights[feature]
            features.append((code, weights))
        bound -= sum(int(weights[0]) for feature, weights in enumerate(self._weights) if feature not in codes)
        if self._accepts_above == complement:
            # Less than the bound is as much of what each feature lacks.
            most = [int(weights.max()) for _, weights in features]
            features = [(code, one - weights) for (code, weights), one in zip(features, most, strict=True)]
            bound = sum(most) - bound + 1
        return at_least(builder, features, bound)


decision_code.register(Tree, _TreeCode)
decision_code.register(Clauses, _ClausesCode)
decision_code.register(LinearThreshold, _LinearCode)


def _opposite(builder: Builder, clauses: list[tuple[Literal, ...]]) -> list[tuple[Literal, ...]]:
    """Clauses of "one of these clauses is false"."""
    from pysat.formula import CNF

    kept = [
        [literal for literal in clause if literal is not FALSE]
        for clause in clauses
        if TRUE not in map(_constant, clause)
    ]
    if any(not clause for clause in kept):
        return []
    if not kept:
        return [()]
    opposite = CNF(from_clauses=kept).negate(topv=builder.n_variables)
    builder.defined_upto(opposite.nv, "a clause is false")
    return [tuple(clause) for clause in opposite.clauses]


def _constant(literal: Literal) -> bool | None:
    return literal if isinstance(literal, bool) else None
