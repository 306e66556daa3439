"""Circuits in decomposable negation normal form, as d4 writes them, and their weighted counts.

::

    o 1 0            a node, with its kind: o or, a and, t true, f false
    1 2 -3 4 0       from node 1 to node 2, with literals that hold on the way

The children of an and-node share no variable, and those of an or-node exclude each other (Darwiche and Marquis, A
knowledge compilation map, 2002): the weight of the one is a product, of the other a sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from justicia.errors import FormulaError
from justicia.words import shown

__all__ = ["Circuit", "from_nnf"]

_KINDS = frozenset("oatf")


@dataclass(frozen=True)
class Circuit:
    """A circuit.

    Attributes
    ----------
    kinds : dict of int to str
        Of each node: "o", "a", "t" or "f".
    edges : dict of int to list of (int, tuple of int)
        Children of each node, and the literals on the way.
    order : tuple of int
        Nodes, children first; the last one is the root.
    """

    kinds: Mapping[int, str]
    edges: Mapping[int, list[tuple[int, tuple[int, ...]]]]
    order: tuple[int, ...]

    def count(self, weights: Mapping[int, float]) -> float:
        """The sum over all models of the products of their literals' weights.

        Parameters
        ----------
        weights : mapping of int to float
            Of literals; 1 where there is none. A variable's two weights must add up to 1, or the variable must be
            settled by the others in every model.

        Examples
        --------
        x1 or x2, with probabilities 0.3 and 0.4:

        >>> lines = ("o 1 0", "t 2 0", "1 2 1 0", "1 2 -1 2 0")
        >>> circuit = from_nnf(chr(10).join(lines))
        >>> round(circuit.count({1: 0.3, -1: 0.7, 2: 0.4, -2: 0.6}), 12)
        0.58
        """
        values: dict[int, float] = {}
        for node in self.order:
            kind = self.kinds[node]
            if kind in "tf":
                values[node] = 1.0 if kind == "t" else 0.0
                continue
            total = 1.0 if kind == "a" else 0.0
            for child, literals in self.edges.get(node, []):
                one = values[child]
                for literal in literals:
                    one *= weights.get(literal, 1.0)
                total = total * one if kind == "a" else total + one
            values[node] = total
        return values[self.order[-1]]


def from_nnf(text: str) -> Circuit:
    """Read a circuit.

    Raises
    ------
    FormulaError
        When the text is none: an unknown line, a node that is not there, a circle.
    """
    kinds: dict[int, str] = {}
    edges: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words:
            continue
        try:
            if words[-1] != "0":
                raise ValueError
            if words[0] in _KINDS:
                kinds[int(words[1])] = words[0]
            else:
                parent, child, *literals = map(int, words[:-1])
                edges.setdefault(parent, []).append((child, tuple(literals)))
        except (ValueError, IndexError):
            raise FormulaError(f"line {number} of the circuit: {shown(line.strip(), 40)!r}") from None
    if not kinds:
        raise FormulaError("the circuit has no nodes")
    children = {child for below in edges.values() for child, _ in below}
    if not (children | set(edges)) <= set(kinds):
        raise FormulaError("the circuit speaks of a node that it does not have")
    roots = [node for node in kinds if node not in children]
    # d4 writes nodes that nothing leads to, and the root first.
    root = next(iter(kinds)) if next(iter(kinds)) in roots else None
    if root is None:
        raise FormulaError("the circuit has no root")
    return Circuit(kinds, edges, _ordered(root, edges))


def _ordered(root: int, edges: Mapping[int, list[tuple[int, tuple[int, ...]]]]) -> tuple[int, ...]:
    """Nodes below a root, children first."""
    order: list[int] = []
    done: set[int] = set()
    open_nodes: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, finished = stack.pop()
        if finished:
            open_nodes.discard(node)
            if node not in done:
                done.add(node)
                order.append(node)
            continue
        if node in done:
            continue
        if node in open_nodes:
            raise FormulaError("the circuit has a circle")
        open_nodes.add(node)
        stack.append((node, True))
        stack += [(child, False) for child, _ in edges.get(node, []) if child not in done]
    return tuple(order)
