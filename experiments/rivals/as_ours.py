"""FairSquare's programs as models and populations of ours, and as people that are drawn.

A tree of a program's tests becomes a fitted scikit-learn tree whose columns are the draws. A test of several normal draws
becomes a column of its own, their weighted sum, which is normal given the columns before it. Where all that the program
does is to compare one affine score with a number for each protected group, it becomes a logistic regression.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.rivals.programs import Affine, Branch, Draw, Leaf, Program, Test, tests_of
from justicia.errors import InputError

__all__ = ["Question", "drawn", "question"]

_DEGENERATE = 1e-10
_ROUNDING = 1e-12

Terms = tuple[tuple[Draw, float], ...]


@dataclass(frozen=True)
class Question:
    """A program as something to verify.

    Attributes
    ----------
    favored : fitted classifier
        Says 1 to those who are favored and qualified.
    qualified : fitted classifier or None
        Says 1 to the qualified; None when all are.
    network : str
        The population, as JSON.
    table : DataFrame
        A few people of it.
    sensitive : str
        Column that says who is protected.
    weights : dict of str to float
        Probability of each of its values.
    protected : set of str
        Its values that are protected.
    """

    favored: Any
    qualified: Any
    network: str
    table: pd.DataFrame
    sensitive: str
    weights: dict[str, float]
    protected: frozenset[str]


def question(program: Program, n_rows: int = 200, seed: int = 0) -> Question:
    """The model and the population of a program.

    Raises
    ------
    InputError
        When sums of normal draws that are compared depend on one another wholly.
    """
    tree, draw = program.tree, program.protected
    favored, qualified = (
        _mapped(tree, lambda leaf: leaf.favored and leaf.qualified),
        _mapped(tree, lambda leaf: leaf.qualified),
    )
    columns = list(dict.fromkeys([((draw, 1.0),), *(test.terms for test in tests_of(favored))]))
    columns += [terms for terms in dict.fromkeys(test.terms for test in tests_of(qualified)) if terms not in columns]
    score = _single_score(favored, draw) if qualified is True else None
    if score is not None:
        terms, constants = score
        columns = [((draw, 1.0),), *(((one, 1.0),) for one, _ in terms)]
    names = {terms: _name(terms, at) for at, terms in enumerate(columns)}
    table = _rows(columns, names, n_rows, seed)
    if score is not None:
        model = _logistic([0.0, *(weight for _, weight in terms)], constants, [names[one] for one in columns])
    else:
        model = _sklearn_tree(favored, columns, names)
    return Question(
        model,
        None if qualified is True else _sklearn_tree(qualified, columns, names),
        json.dumps({"schema": "justicia.network/1", "variables": _variables(columns, names)}),
        table,
        draw.name,
        {str(at): probability for at, probability in enumerate(draw.steps)},
        frozenset(map(str, program.cells)),
    )


def _mapped(tree: Branch | Leaf, value: Any) -> Any:
    """The tree with truth values for leaves, without tests that do not matter."""
    if isinstance(tree, Leaf):
        return bool(value(tree))
    yes, no = _mapped(tree.yes, value), _mapped(tree.no, value)
    return yes if yes == no else Branch(tree.test, yes, no)


def _name(terms: Terms, at: int) -> str:
    return terms[0][0].name if len(terms) == 1 else f"score {at}"


def _single_score(tree: Any, draw: Draw) -> tuple[Terms, list[float]] | None:
    """Weights of one score whose sign decides in every step of a draw, and its constant in each; None: there is none."""
    constants: list[float] = []
    found: set[Any] = set()
    for cell in range(len(draw.steps)):
        held = tree
        while isinstance(held, Branch) and held.test.terms == ((draw, 1.0),):
            held = held.yes if cell < held.test.limit else held.no
        if not isinstance(held, Branch) or isinstance(held.yes, Branch) or isinstance(held.no, Branch):
            return None
        if held.test.stepwise:
            return None
        # Yes says that the sum is below the limit.
        sign = -1.0 if held.yes else 1.0
        found.add(tuple((one, sign * weight) for one, weight in held.test.terms))
        constants.append(-sign * held.test.limit)
    if len(found) != 1 or len(draw.steps) != 2:
        return None
    return found.pop(), constants


def _logistic(weights: list[float], constants: list[float], names: list[str]) -> Any:
    """A fitted logistic regression; its first column is 0 or 1 and chooses the constant."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression()
    model.classes_ = np.array([0, 1])
    model.coef_ = np.array([[constants[1] - constants[0], *weights[1:]]])
    model.intercept_ = np.array([constants[0]])
    model.n_features_in_, model.n_iter_ = len(names), np.array([1])
    model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _sklearn_tree(tree: Any, columns: list[Terms], names: dict[Terms, str]) -> Any:
    """A fitted tree with exactly these tests."""
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.tree._tree import Tree

    # What is fitted is of no matter: another tree takes its place.
    model = DecisionTreeClassifier(max_depth=1).fit(
        pd.DataFrame(np.arange(2.0)[:, None].repeat(len(columns), axis=1), columns=[names[one] for one in columns]),
        [0, 1],
    )
    nodes: list[tuple[Any, ...]] = []
    values: list[list[float]] = []

    def add(held: Any) -> int:
        at = len(nodes)
        nodes.append(())
        values.append([0.5, 0.5])
        if not isinstance(held, Branch):
            nodes[at] = (-1, -1, -2, -2.0, 0.0, 1, 1.0, 0)
            values[at] = [0.0, 1.0] if held else [1.0, 0.0]
            return at
        limit = held.test.limit - 0.5 if held.test.stepwise else held.test.limit
        left, right = add(held.yes), add(held.no)
        nodes[at] = (left, right, columns.index(held.test.terms), limit, 0.5, 2, 2.0, 0)
        return at

    add(tree)
    state = model.tree_.__getstate__()
    state["nodes"] = np.array(nodes, dtype=state["nodes"].dtype)
    state["values"] = np.array(values)[:, None, :]
    state["node_count"] = len(nodes)
    state["max_depth"] = len(nodes)
    model.tree_ = Tree(len(columns), np.array([2], dtype=np.intp), 1)
    model.tree_.__setstate__(state)
    return model


def _variables(columns: list[Terms], names: dict[Terms, str]) -> list[dict[str, Any]]:
    """Variables of the network: the columns in their order, each given those before it."""
    held: list[dict[str, Any]] = []
    normal: list[Terms] = []
    for terms in columns:
        draw = terms[0][0]
        if draw.steps:
            total = sum(draw.steps)
            held.append(
                {"name": names[terms], "values": list(range(len(draw.steps))),
                 "probabilities": [p / total for p in draw.steps]}
            )  # fmt: skip
            continue
        mean = sum(weight * one.mean for one, weight in terms)
        variance = sum(weight**2 * one.variance for one, weight in terms)
        before = _connected(terms, normal)
        coefficients: dict[str, float] = {}
        if before:
            among = np.array([[_covariance(a, b) for b in before] for a in before])
            across = np.array([_covariance(terms, b) for b in before])
            scale = np.sqrt(np.diag(among))
            solved = np.linalg.solve(among / np.outer(scale, scale), across / scale)
            left = variance - solved @ (across / scale)
            if left <= _DEGENERATE * variance:
                raise InputError(f"{names[terms]} depends wholly on {', '.join(names[one] for one in before)}")
            for one, weight, size in zip(before, solved, scale, strict=True):
                if abs(weight) > _ROUNDING * np.sqrt(variance):
                    coefficients[names[one]] = float(weight / size)
                    mean -= weight / size * sum(share * of.mean for of, share in one)
            variance = left
        density: dict[str, Any] = {"mean": float(mean), "variance": float(variance)}
        if coefficients:
            density["coefficients"] = coefficients
        held.append({"name": names[terms], "parents": list(coefficients), "normal": density})
        if not coefficients:
            del held[-1]["parents"]
        normal.append(terms)
    return held


def _covariance(one: Terms, other: Terms) -> float:
    weights = dict(other)
    return sum(weight * weights.get(draw, 0.0) * draw.variance for draw, weight in one)


def _connected(terms: Terms, among: list[Terms]) -> list[Terms]:
    """Those that hang together with some, directly or by others of them, in their order."""
    reached = {draw for draw, _ in terms}
    kept: set[Terms] = set()
    while True:
        more = {one for one in among if one not in kept and any(draw in reached for draw, _ in one)}
        if not more:
            return [one for one in among if one in kept]
        kept |= more
        reached |= {draw for one in more for draw, _ in one}


def _rows(columns: list[Terms], names: dict[Terms, str], n: int, seed: int) -> pd.DataFrame:
    """People of the population."""
    rng = np.random.default_rng(seed)
    draws = {}
    for terms in columns:
        for draw, _ in terms:
            if draw not in draws and draw.steps:
                weights = np.array(draw.steps)
                draws[draw] = rng.choice(len(weights), size=n, p=weights / weights.sum())
            elif draw not in draws:
                draws[draw] = rng.normal(draw.mean, draw.variance**0.5, size=n)
    held = {names[terms]: sum(weight * draws[draw] for draw, weight in terms) for terms in columns}
    held |= {names[terms]: draws[terms[0][0]] for terms in columns if terms[0][0].steps}
    return pd.DataFrame(held)


def drawn(path: Path, n: int, seed: int) -> tuple[float, float]:
    """The ratio of the two rates by people who are drawn, and its standard error; straight from the program's text."""
    rng = np.random.default_rng(seed)
    env: dict[str, np.ndarray] = {}
    said: dict[str, np.ndarray] = {}

    def value(node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}}, env)

    def truth(node: ast.expr) -> np.ndarray:
        if isinstance(node, ast.BoolOp):
            held = [truth(one) for one in node.values]
            return np.logical_and.reduce(held) if isinstance(node.op, ast.And) else np.logical_or.reduce(held)
        return np.broadcast_to(value(node), n)

    def call(node: ast.Call) -> np.ndarray:
        numbers = [ast.literal_eval(one) for one in node.args]
        if ast.unparse(node.func) == "gaussian":
            return rng.normal(numbers[0], numbers[1] ** 0.5, size=n)
        chances = np.array([p for *_, p in numbers[0]])
        return rng.choice(len(chances), size=n, p=chances / chances.sum()) + rng.random(n)

    def run(statements: list[ast.stmt], where: np.ndarray) -> None:
        for node in statements:
            if isinstance(node, ast.Assign):
                name = ast.unparse(node.targets[0])
                new = call(node.value) if isinstance(node.value, ast.Call) else value(node.value)
                env[name] = np.where(where, new, env.get(name, np.nan))
            elif isinstance(node, ast.If):
                held = truth(node.test)
                run(node.body, where & held)
                run(node.orelse, where & ~held)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                said[ast.unparse(node.value.func)] = truth(node.value.args[0])

    with np.errstate(invalid="ignore"):
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(function, ast.FunctionDef):
                run(function.body, np.ones(n, dtype=bool))
    counted = said.get("qualified", np.ones(n, dtype=bool))
    rates, parts = [], 0.0
    for group in (said["sensitiveAttribute"], ~said["sensitiveAttribute"]):
        held = said["fairnessTarget"][group & counted]
        rates.append(float(held.mean()))
        parts += (1 - rates[-1]) / (rates[-1] * len(held))
    ratio = rates[0] / rates[1]
    return ratio, ratio * parts**0.5
