"""Features in clauses: order encoding, with random bits that break a stick.

The cells of a feature are put in a row, and a variable says "this cell or one before it". A random bit decides at each
place whether to stop there; its probability is that of the cell divided by what is left of the stick. So every value of
the bits gives exactly one cell, and each cell has exactly its probability. Where the probabilities depend on the group,
a latent class or the state of another feature, these choose which bits are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from justicia.ssat.building import FALSE, TRUE, Builder, Literal, as_probability, negated
from justicia.words import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.population import Feature, Node

__all__ = ["Condition", "FeatureCode", "encode_feature", "encode_row"]


@dataclass(frozen=True)
class Condition:
    """When some probabilities hold.

    Attributes
    ----------
    literals : tuple of Literal
        All true exactly then; the conditions of one feature exclude each other, and one of them holds.
    words : str
    """

    literals: tuple[Literal, ...]
    words: str

    def and_also(self, other: Condition) -> Condition:
        """When both hold."""
        words = ", ".join(text for text in (self.words, other.words) if text)
        return Condition((*self.literals, *other.literals), words)


@dataclass(frozen=True)
class FeatureCode:
    """The variables of one feature.

    Attributes
    ----------
    item_of_cell : int array of shape (n_cells,)
        Position of each cell in the row; cells that nothing tells apart share one.
    below : list of Literal
        For each position, "this one or one before"; the last is always true.
    states : tuple of Condition
        When the feature is in each state; empty unless other features depend on it.
    """

    item_of_cell: np.ndarray
    below: list[Literal]
    states: tuple[Condition, ...]

    def runs(self, cells: np.ndarray) -> list[tuple[Literal, Literal]]:
        """Runs of positions that a set of cells takes up: each is "not before" and "not after"; all are true inside."""
        chosen = np.zeros(len(self.below), dtype=bool)
        chosen[self.item_of_cell[cells]] = True
        edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
        runs = []
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            runs.append((negated(self.below[begin - 1]) if begin else TRUE, self.below[end - 1]))
        return runs


def encode_feature(
    builder: Builder,
    feature: Feature,
    node: Node,
    kinds: np.ndarray,
    contexts: Sequence[tuple[Condition, int]],
    parent: FeatureCode | None,
    *,
    is_parent: bool,
) -> FeatureCode:
    """Add a feature's variables and clauses.

    Parameters
    ----------
    builder : Builder
    feature : Feature
    node : Node
        Its tables.
    kinds : int array of shape (n_cells,)
        Cells of one kind are never told apart by the decision.
    contexts : sequence of (Condition, int)
        Groups of the tables, and when each is meant.
    parent : FeatureCode, optional
        Code of the feature that it depends on.
    is_parent : bool
        Whether other features depend on it.
    """
    n_above = node.table.shape[1] if parent is not None else 1
    n_states, n_kinds = node.table.shape[2], int(kinds.max()) + 1
    flat = len(contexts) * n_above * n_kinds
    two_levels = len(contexts) * (n_above * n_states + len(np.unique(node.states * n_kinds + kinds)))
    if is_parent or (n_kinds > n_states and two_levels < flat):
        return _in_two_levels(builder, feature, node, kinds, contexts, parent)
    return _flat(builder, feature, node, kinds, contexts, parent)


def _flat(
    builder: Builder,
    feature: Feature,
    node: Node,
    kinds: np.ndarray,
    contexts: Sequence[tuple[Condition, int]],
    parent: FeatureCode | None,
) -> FeatureCode:
    """One row of kinds of cells."""
    sums = np.zeros((len(kinds), int(kinds.max()) + 1))
    sums[np.arange(len(kinds)), kinds] = 1.0
    shares = []
    for _, group in contexts:
        table = node.table[group][:, node.states]
        if node.within is not None:
            table = table * node.within[group]
        shares.append(table @ sums)
    texts = [_words(feature, np.flatnonzero(kinds == kind)) for kind in range(sums.shape[1])]
    below_texts = [_words(feature, np.flatnonzero(kinds <= kind)) for kind in range(sums.shape[1])]
    below = encode_row(builder, _by_condition(shares, contexts, parent), texts, below_texts)
    return FeatureCode(kinds, below, ())


def _in_two_levels(
    builder: Builder,
    feature: Feature,
    node: Node,
    kinds: np.ndarray,
    contexts: Sequence[tuple[Condition, int]],
    parent: FeatureCode | None,
) -> FeatureCode:
    """A row of states, and in each state a row of kinds of cells."""
    n_states, n_kinds = node.table.shape[2], int(kinds.max()) + 1
    state_words = [_words(feature, np.flatnonzero(node.states == state)) for state in range(n_states)]
    state_below_words = [_words(feature, np.flatnonzero(node.states <= state)) for state in range(n_states)]
    shares = [node.table[group] for _, group in contexts]
    of_states = encode_row(builder, _by_condition(shares, contexts, parent), state_words, state_below_words)
    items, item_of_cell = np.unique(node.states * n_kinds + kinds, return_inverse=True)
    below: list[Literal] = []
    states = []
    for state in range(n_states):
        before = of_states[state - 1] if state else FALSE
        states.append(Condition((negated(before), of_states[state]), state_words[state]))
        held = np.flatnonzero(items // n_kinds == state)
        if len(held) > 1:
            below += _inside(builder, feature, node, item_of_cell, held, contexts, before, of_states[state])
        below += [of_states[state]] if len(held) else []
    return FeatureCode(item_of_cell, below, tuple(states))


def _inside(
    builder: Builder,
    feature: Feature,
    node: Node,
    item_of_cell: np.ndarray,
    held: np.ndarray,
    contexts: Sequence[tuple[Condition, int]],
    before: Literal,
    upto: Literal,
) -> list[Literal]:
    """For each item of one state but the last, "this one or one before it, or a state before"."""
    cells = [np.flatnonzero(item_of_cell == item) for item in held]
    texts = [_words(feature, one) for one in cells]
    below_texts = [_words(feature, np.flatnonzero(item_of_cell <= item)) for item in held]
    shares = []
    for _, group in contexts:
        within = np.ones(len(node.states)) if node.within is None else node.within[group]
        shares.append(np.array([[within[one].sum() for one in cells]]))
    inside = encode_row(
        builder, _by_condition(shares, contexts, None), texts, [f"{text}, if there" for text in below_texts]
    )
    joined: list[Literal] = []
    for literal, text in zip(inside[:-1], below_texts, strict=False):
        made = builder.defined(text)
        builder.add((negated(before), made))
        builder.add((upto, -made))
        builder.add((before, negated(upto), negated(literal), made))
        builder.add((before, negated(upto), literal, -made))
        joined.append(made)
    return joined


def _by_condition(
    shares: Sequence[np.ndarray], contexts: Sequence[tuple[Condition, int]], parent: FeatureCode | None
) -> list[tuple[Condition, np.ndarray]]:
    """Each condition with its probabilities; conditions that make no difference are left out."""
    if all(np.array_equal(shares[0], share) for share in shares[1:]):
        shares, contexts = shares[:1], [(Condition((), ""), 0)]
    found = []
    for share, (context, _) in zip(shares, contexts, strict=True):
        if parent is None or (share == share[0]).all():
            found.append((context, share[0]))
        else:
            found += [(context.and_also(state), row) for state, row in zip(parent.states, share, strict=True)]
    return found


def encode_row(
    builder: Builder, shares: Sequence[tuple[Condition, np.ndarray]], texts: Sequence[str], below_texts: Sequence[str]
) -> list[Literal]:
    """Break the stick: for each item "this one or one before", the last always true."""
    shares = [(condition, share) for condition, share in shares if FALSE not in map(_constant, condition.literals)]
    reached = np.any([share.cumsum() > 0.0 for _, share in shares], axis=0)
    unfinished = np.any([share[::-1].cumsum()[::-1] > 0.0 for _, share in shares], axis=0)[1:]
    below: list[Literal] = [
        (builder.defined(text) if begun else FALSE) if going_on else TRUE
        for text, begun, going_on in zip(below_texts[:-1], reached[:-1], unfinished, strict=True)
    ]
    below.append(TRUE)
    for first, second in pairwise(below):
        builder.add((negated(first), second))
    bits: dict[tuple[int, float], Literal] = {}
    for condition, share in shares:
        unless = [negated(literal) for literal in condition.literals]
        left = share[::-1].cumsum()[::-1].tolist()
        before: Literal = FALSE
        for item, (part, rest) in enumerate(zip(share.tolist()[:-1], left, strict=False)):
            chance = min(part / rest, 1.0) if rest > 0.0 else 0.0
            if isinstance(below[item], bool):
                before = below[item]
                continue
            if (item, chance) not in bits:
                given = f" given {condition.words}" if condition.words else ""
                bits[item, chance] = builder.random(as_probability(chance), f"stop at {texts[item]}{given}")
            bit = bits[item, chance]
            builder.add((*unless, negated(bit), below[item]))
            builder.add((*unless, before, bit, negated(below[item])))
            before = below[item]
    return below


def _constant(literal: Literal) -> bool | None:
    """A literal that is always true or false; numbers compare equal to these."""
    return literal if isinstance(literal, bool) else None


def _words(feature: Feature, cells: np.ndarray) -> str:
    """A set of cells for a person to read."""
    last = int(cells[-1]) if len(cells) else -1
    if feature.edges is not None and len(cells) == last + 1 <= len(feature.edges):
        return f"{feature.name} <= {feature.edges[last]:.12g}"
    if len(cells) == 1:
        return f"{feature.name} = {feature.labels[last]}"
    return f"{feature.name} in {{{listed((feature.labels[cell] for cell in cells), 4)}}}"
