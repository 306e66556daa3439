"""From a population and a decision to a formula in clauses.

==================  =================  ===========================================
question            prefix             matrix
==================  =================  ===========================================
one group           R X, ∃ T           population and decision
most favored        ∃ A, R X, ∃ T      legal group, population and decision
least favored       ∀ A, R X, ∃ T      population, and legal group implies decision
its dual            ∃ A, R X, ∃ T      legal group, population and not decision
==================  =================  ===========================================

A are the sensitive columns, X random bits, T variables that A and X define. The value is the group's rate, the largest
and the smallest of all groups, and 1 minus the smallest. Every group's own tables are inside of the formula, so that
the value of a group is the same in all four.

Of a population with rows, whether a row that is drawn says yes is one random bit: its probability is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.errors import FormulaError
from justicia.population import EmpiricalPopulation, MixturePopulation, NetworkPopulation
from justicia.ssat.building import Builder, Literal, as_probability, negated
from justicia.ssat.clauses import EXISTS, FORALL, ClauseFormula
from justicia.ssat.decisions import DecisionCode, decision_code
from justicia.ssat.features import Condition, FeatureCode, encode_feature, encode_row
from justicia.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from justicia.encoders.decisions import Decision
    from justicia.population import Population
    from justicia.ssat.formula import Formula

__all__ = ["DUAL", "LEAST_FAVORED", "MOST_FAVORED", "QUESTIONS", "GroupFormula", "lower"]

MOST_FAVORED, LEAST_FAVORED, DUAL = "most favored", "least favored", "dual"
QUESTIONS = (MOST_FAVORED, LEAST_FAVORED, DUAL)
"""What may be asked about all groups."""

_MOST_BITS = 5_000_000
"""Probabilities of a formula; larger ones would fill the memory."""


@dataclass(frozen=True)
class GroupFormula:
    """A formula about groups.

    Attributes
    ----------
    formula : ClauseFormula
    groups : tuple of tuple of str
        The groups that may be chosen.
    selectors : tuple of Literal
        True when the group at the same position is chosen.
    choices : mapping of int to (str, str)
        Sensitive column and value of each variable that chooses.
    sensitive : tuple of str
        Sensitive columns of the groups.
    """

    formula: ClauseFormula
    groups: tuple[tuple[str, ...], ...]
    selectors: tuple[Literal, ...]
    choices: Mapping[int, tuple[str, str]]
    sensitive: tuple[str, ...]

    def chosen(self, assignment: Mapping[int, bool]) -> int | None:
        """Position of the group that an assignment of the choices means; None when it means no group.

        That is as good as a group only where all are equal: under ∃ with value 0, under ∀ with value 1.
        """
        wanted = {item for variable, item in self.choices.items() if assignment[variable]}
        columns = {column for column, _ in self.choices.values()}
        for position, group in enumerate(self.groups):
            if {item for item in zip(self.sensitive, group, strict=True) if item[0] in columns} == wanted:
                return position
        return None


def lower(formula: Formula, question: str | int) -> GroupFormula:
    """Write a question in clauses.

    Parameters
    ----------
    formula : Formula
        Population and decision.
    question : str or int
        One of `QUESTIONS`, or the position of a group.

    Raises
    ------
    FormulaError
        When decision or population cannot be written in clauses; the message says which can.
    """
    return _Lowering(formula.population, formula.decision, question).lowered()


class _Lowering:
    def __init__(self, population: Population, decision: Decision, question: str | int) -> None:
        self.population = population
        self.decision = decision
        self.question = question
        self.complement = question == DUAL
        self.positions = [question] if isinstance(question, int) else list(range(population.n_groups))
        self.builder = Builder()
        self.choices: dict[int, tuple[str, str]] = {}

    def lowered(self) -> GroupFormula:
        code = decision_code(self.decision)
        network, rows = self._parts(code)
        builder = self.builder
        selectors, legal = self._groups()
        groups = [Condition((selector,), self._words(i)) for i, selector in zip(self.positions, selectors, strict=True)]
        guard: list[Literal] = [negated(legal)]
        if rows is not None:
            guard.append(self._rows(groups, legal, *rows))
        if network is not None:
            codes = self._features(network, code, self._contexts(groups))
            for clause in code.clauses(builder, codes, complement=self.complement):
                builder.add((*guard, *clause))
        outermost = FORALL if self.question == LEAST_FAVORED else EXISTS
        return GroupFormula(
            builder.formula(outermost, self._comments()),
            tuple(self.population.groups[i] for i in self.positions),
            tuple(selectors),
            self.choices,
            self.population.sensitive,
        )

    def _words(self, position: int) -> str:
        if len(self.positions) == 1:
            return ""
        return ", ".join(
            f"{name} = {value}"
            for name, value in zip(self.population.sensitive, self.population.groups[position], strict=True)
        )

    def _comments(self) -> list[str]:
        population = self.population
        if isinstance(self.question, int):
            group = population.groups[self.question]
            who = ", ".join(f"{name} = {value}" for name, value in zip(population.sensitive, group, strict=True))
            asked = f"the selection rate of {who}"
        else:
            asked = {
                MOST_FAVORED: "the largest selection rate of a group",
                LEAST_FAVORED: "the smallest selection rate of a group",
                DUAL: "1 - the smallest selection rate of a group",
            }[self.question]
        return [
            f"value: {asked}",
            f"groups: {' x '.join(population.sensitive)}, {counted(len(self.positions), 'group')}",
            f"population: {population.structure}; decision: {type(self.decision).__name__}",
        ]

    def _parts(self, code: DecisionCode) -> tuple[NetworkPopulation | None, tuple[np.ndarray, np.ndarray] | None]:
        """The network of a population, if any, and how likely a row is in each group, and that a row says yes."""
        population = self.population
        if isinstance(population, NetworkPopulation):
            network, rows, weights = population, None, None
        elif isinstance(population, MixturePopulation):
            network, rows, weights = population.network, population.rows, population.row_weights
        elif isinstance(population, EmpiricalPopulation):
            network, rows, weights = None, population, np.ones(population.n_groups)
        else:
            raise FormulaError(
                f"a population of structure {population.structure!r} is not written in clauses: "
                "auto, tree, independent and empirical are"
            )
        if network is not None:
            size = sum(node.table.size for node in network.nodes if len(set(code.kinds[node.feature].tolist())) > 1)
            if len(self.positions) * size / network.n_groups > _MOST_BITS:
                raise FormulaError(
                    f"the tables of {counted(len(self.positions), 'group')} hold {size:,} probabilities, too many for "
                    "a formula: ask for one group, or for fewer sensitive columns"
                )
        if rows is None or weights is None:
            return network, None
        groups, points, numbers = rows.support
        if self.decision.undecided(points).any():
            raise FormulaError(
                "for some rows the rounding of the model's own sum decides, and no clauses can say that: "
                "pass --population tree or independent"
            )
        yes = self.decision.evaluate(points)
        selected = np.bincount(groups[yes], weights=numbers[yes], minlength=rows.n_groups) / np.maximum(rows.sizes, 1)
        return network, (weights, 1.0 - selected if self.complement else selected)

    def _groups(self) -> tuple[list[Literal], Literal]:
        """A literal that is true when each group is chosen, and one that is true when some group is."""
        builder, population = self.builder, self.population
        if len(self.positions) == 1:
            return [True], True
        values: list[dict[str, int]] = []
        for column, name in enumerate(population.sensitive):
            distinct = list(dict.fromkeys(population.groups[i][column] for i in self.positions))
            made = {value: builder.choice(f"{name} = {value}") for value in distinct} if len(distinct) > 1 else {}
            self.choices.update({variable: (name, value) for value, variable in made.items()})
            values.append(made)
        implied = self.question == LEAST_FAVORED
        selectors: list[Literal] = []
        for i in self.positions:
            literals: list[Literal] = []
            for made, value in zip(values, population.groups[i], strict=True):
                literals += [variable for other, variable in made.items() if other == value]
                if implied:
                    literals += [-variable for other, variable in made.items() if other != value]
            selectors.append(builder.all_of(literals, f"group: {self._words(i)}"))
        if not implied:
            for made in values:
                variables = list(made.values())
                builder.add(variables or [True])
                for i, first in enumerate(variables):
                    for second in variables[:i]:
                        builder.add((-first, -second))
            builder.add(selectors)
            return selectors, True
        legal = builder.defined("some group is chosen")
        builder.add((-legal, *selectors))
        for selector in selectors:
            builder.add((legal, negated(selector)))
        # The tables of the last group hold also where no group is chosen, so that all else stays defined.
        last = builder.defined(f"group: {self._words(self.positions[-1])}, or none")
        for selector in selectors[:-1]:
            builder.add((negated(selector), -last))
        builder.add((*selectors[:-1], last))
        return [*selectors[:-1], last], legal

    def _rows(self, groups: Sequence[Condition], legal: Literal, weights: np.ndarray, selected: np.ndarray) -> Literal:
        """Whether the person is one of the rows; then one that says yes."""
        builder = self.builder
        is_row = self._by_group(groups, weights[self.positions], "the person is a row")
        yes = self._by_group(
            groups, selected[self.positions], "a row that is drawn says " + ("no" if self.complement else "yes")
        )
        builder.add((negated(legal), negated(is_row), yes))
        return is_row

    def _by_group(self, groups: Sequence[Condition], chances: np.ndarray, words: str) -> Literal:
        """A literal whose probability depends on the group."""
        builder = self.builder
        if (chances == chances[0]).all():
            return builder.random(as_probability(chances[0]), words)
        made = builder.defined(words)
        for group, chance in zip(groups, chances.tolist(), strict=True):
            bit = builder.random(as_probability(chance), f"{words} given {group.words}")
            unless = [negated(literal) for literal in group.literals]
            builder.add((*unless, negated(bit), made))
            builder.add((*unless, bit, -made))
        return made

    def _contexts(self, groups: Sequence[Condition]) -> list[tuple[Condition, int]]:
        """Groups of the network, and when each is meant: the group is chosen, and the latent class is drawn."""
        population = self.population
        if not isinstance(population, MixturePopulation) or population.n_classes == 1:
            return [(condition, i) for condition, i in zip(groups, self.positions, strict=True)]
        n_classes = population.n_classes
        shares = population.weights / np.maximum(population.weights.sum(axis=1, keepdims=True), 1e-300)
        words = [f"class {one + 1} of {n_classes}" for one in range(n_classes)]
        below = encode_row(
            self.builder,
            [(condition, shares[i]) for condition, i in zip(groups, self.positions, strict=True)],
            words,
            [f"one of the first {one + 1} of {n_classes} classes" for one in range(n_classes)],
        )
        classes = [
            Condition((negated(below[one - 1] if one else False), below[one]), words[one]) for one in range(n_classes)
        ]
        return [
            (condition.and_also(one), i * n_classes + position)
            for condition, i in zip(groups, self.positions, strict=True)
            for position, one in enumerate(classes)
        ]

    def _features(
        self, network: NetworkPopulation, code: DecisionCode, contexts: Sequence[tuple[Condition, int]]
    ) -> dict[int, FeatureCode]:
        """Codes of the features that the decision depends on; others on which these depend are encoded as well."""
        wanted = {feature for feature, kinds in enumerate(code.kinds) if kinds.max(initial=0) > 0}
        needed, parents = set(wanted), set[int]()
        for node in reversed(network.nodes):
            if node.feature in needed and node.parents:
                needed.update(node.parents)
                parents.update(node.parents)
        codes: dict[int, FeatureCode] = {}
        for node in network.nodes:
            if node.feature in needed:
                codes[node.feature] = encode_feature(
                    self.builder,
                    network.domain.features[node.feature],
                    node,
                    code.kinds[node.feature],
                    contexts,
                    codes[node.parents[0]] if node.parents else None,
                    is_parent=node.feature in parents,
                )
        return {feature: codes[feature] for feature in sorted(wanted)}
