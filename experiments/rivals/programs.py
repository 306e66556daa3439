"""Read FairSquare's programs: a population model and a classifier in a small part of Python.

A program draws numbers (`gaussian(mean, variance)`, `step([(from, to, probability), …])`), computes affine scores,
branches, and says who is protected (`sensitiveAttribute`), who counts (`qualified`) and who is favored
(`fairnessTarget`). `read_program` runs it with the draws as unknowns, which gives a decision tree: every test is an affine
function of the draws being negative, or which of its steps a draw is in.

The larger of two numbers, `if b > a: a = b`, stays one thing until it is compared: an affine function that rises with it
is negative when it is so with both numbers in its place, one that falls when it is so with either.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from justicia.errors import InputError

__all__ = ["Affine", "Branch", "Draw", "Leaf", "Program", "Test", "read_program", "tests_of"]


@dataclass(frozen=True)
class Draw:
    """A number that the program draws.

    Attributes
    ----------
    name : str
        Of the variable, with a number where several lines draw it.
    line : int
    mean, variance : float
        Of a normal one.
    steps : tuple of float
        Probabilities of steps, of a stepwise one; step i lies between i and i + 1.
    """

    name: str
    line: int
    mean: float = 0.0
    variance: float = 0.0
    steps: tuple[float, ...] = ()


@dataclass(frozen=True)
class Larger:
    """The larger of two affine functions."""

    one: Affine
    other: Affine


@dataclass(frozen=True)
class Affine:
    """Coefficients of draws, and of larger ones of two, and a constant."""

    terms: tuple[tuple[Draw | Larger, float], ...] = ()
    constant: float = 0.0

    def plus(self, other: Affine, times: float = 1.0) -> Affine:
        """This and so many times the other."""
        held = dict(self.terms)
        for term, weight in other.terms:
            held[term] = held.get(term, 0.0) + times * weight
        terms = tuple((term, weight) for term, weight in held.items() if weight)
        return Affine(terms, self.constant + times * other.constant)

    def replaced(self, term: Larger, by: Affine) -> Affine:
        """The same with something in place of one of its terms."""
        rest = Affine(tuple(held for held in self.terms if held[0] != term), self.constant)
        return rest.plus(by, dict(self.terms)[term])


@dataclass(frozen=True)
class Test:
    """Whether an affine function of normal draws is negative, or a stepwise draw is in one of its first steps."""

    terms: tuple[tuple[Draw, float], ...]
    limit: float

    @property
    def stepwise(self) -> bool:
        """Whether it is about steps: yes when the draw is in a step below the limit."""
        return bool(self.terms[0][0].steps)


@dataclass(frozen=True)
class Leaf:
    """What the program says of a person."""

    protected: bool
    qualified: bool
    favored: bool


@dataclass(frozen=True)
class Branch:
    """A test, and what follows when it holds, and when not."""

    test: Test
    yes: Branch | Leaf
    no: Branch | Leaf


@dataclass(frozen=True)
class Program:
    """A program that was read.

    Attributes
    ----------
    tree : Branch or Leaf
    protected : Draw
        The stepwise draw that says who is protected.
    cells : frozenset of int
        Its steps that are protected.
    """

    tree: Branch | Leaf
    protected: Draw
    cells: frozenset[int]


def read_program(path: Path) -> Program:
    """Read a program.

    Raises
    ------
    InputError
        When it cannot be read, or holds something that a tree of affine tests is not; the message names the line.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as a program: {error}") from error
    bodies = [node.body for node in tree.body if isinstance(node, ast.FunctionDef)]
    if len(bodies) != 2 or len(bodies) != len(tree.body):
        raise InputError(
            f"{path} is no program of a population and a classifier: it has other parts than two functions"
        )
    reader = _Reader(path, _names(bodies[0] + bodies[1]))
    held = reader.run([*bodies[0], *bodies[1]], {}, _Known(), {})
    cells = reader.protected_cells()
    return Program(held, *cells)


def _names(statements: list[ast.stmt]) -> dict[int, str]:
    """Line of each draw, and its name."""
    lines: dict[str, list[int]] = {}
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                lines.setdefault(ast.unparse(node.targets[0]), []).append(node.lineno)
    return {
        line: name if len(held) == 1 else f"{name} {number}"
        for name, held in lines.items()
        for number, line in enumerate(held, 1)
    }


@dataclass(frozen=True)
class _Known:
    """What earlier tests of a path have said.

    Attributes
    ----------
    steps : mapping of Draw to (int, int)
        First and last step that a draw may be in.
    limits : mapping of terms to (float, float)
        What the affine function of these terms lies between.
    """

    steps: Mapping[Draw, tuple[int, int]] = field(default_factory=dict)
    limits: Mapping[Any, tuple[float, float]] = field(default_factory=dict)


_Env = Mapping[str, Affine]
_Next = Callable[[_Known], Branch | Leaf]


class _Reader:
    """Runs statements with draws as unknowns."""

    def __init__(self, path: Path, names: dict[int, str]) -> None:
        self._path, self._names = path, names
        self._protected: dict[Draw, dict[int, bool]] = {}

    def protected_cells(self) -> tuple[Draw, frozenset[int]]:
        """The draw that says who is protected, and its steps that are."""
        if len(self._protected) != 1:
            raise InputError(f"{self._path}: who is protected is not said by the steps of one variable")
        ((draw, cells),) = self._protected.items()
        return draw, frozenset(cell for cell, held in cells.items() if held)

    def run(self, statements: list[ast.stmt], env: _Env, known: _Known, said: Mapping[str, bool]) -> Branch | Leaf:
        """What the statements lead to."""
        if not statements:
            if "sensitiveAttribute" not in said or "fairnessTarget" not in said:
                raise InputError(f"{self._path} does not say who is protected, or who is favored")
            return Leaf(said["sensitiveAttribute"], said.get("qualified", True), said["fairnessTarget"])
        node, rest = statements[0], statements[1:]
        if isinstance(node, ast.Return):
            return self.run(rest, env, known, said)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = self._drawn(node, node.value) if isinstance(node.value, ast.Call) else self._affine(node.value, env)
            return self.run(rest, {**env, node.targets[0].id: value}, known, said)
        if isinstance(node, ast.If):
            larger = self._larger(node, env)
            if larger is not None:
                return self.run(rest, {**env, **larger}, known, said)
            return self._fork(
                node.test, env, known,
                lambda more: self.run([*node.body, *rest], env, more, said),
                lambda more: self.run([*node.orelse, *rest], env, more, said),
            )  # fmt: skip
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name, (condition,) = ast.unparse(node.value.func), node.value.args
            if name == "sensitiveAttribute":
                self._note_protected(node, condition, env)
            if name in ("sensitiveAttribute", "qualified", "fairnessTarget"):
                return self._fork(
                    condition, env, known,
                    lambda more: self.run(rest, env, more, {**said, name: True}),
                    lambda more: self.run(rest, env, more, {**said, name: False}),
                )  # fmt: skip
        raise self._refused(node)

    def _refused(self, node: ast.AST) -> InputError:
        return InputError(f"{self._path}, line {getattr(node, 'lineno', '?')}: {ast.unparse(node)!r} is not understood")

    def _drawn(self, node: ast.Assign, call: ast.Call) -> Affine:
        try:
            numbers = [ast.literal_eval(argument) for argument in call.args]
        except ValueError as error:
            raise self._refused(node) from error
        kind, name = ast.unparse(call.func), self._names[node.lineno]
        if kind == "gaussian" and len(numbers) == 2 and numbers[1] > 0:
            draw = Draw(name, node.lineno, float(numbers[0]), float(numbers[1]))
        elif kind == "step" and all((a, b) == (i, i + 1) for i, (a, b, _) in enumerate(numbers[0])):
            draw = Draw(name, node.lineno, steps=tuple(float(p) for *_, p in numbers[0]))
        else:
            raise self._refused(node)
        return Affine(((draw, 1.0),))

    def _affine(self, node: ast.expr, env: _Env) -> Affine:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return Affine((), float(node.value))
        if isinstance(node, ast.Name) and node.id in env:
            return env[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return Affine().plus(self._affine(node.operand, env), -1.0)
        if isinstance(node, ast.BinOp):
            left, right = self._affine(node.left, env), self._affine(node.right, env)
            if isinstance(node.op, (ast.Add, ast.Sub)):
                return left.plus(right, 1.0 if isinstance(node.op, ast.Add) else -1.0)
            if isinstance(node.op, ast.Mult) and not (left.terms and right.terms):
                scale, scaled = (left, right) if not left.terms else (right, left)
                return Affine().plus(scaled, scale.constant)
            if isinstance(node.op, ast.Div) and not right.terms and right.constant:
                return Affine().plus(left, 1.0 / right.constant)
        raise self._refused(node)

    def _larger(self, node: ast.If, env: _Env) -> dict[str, Affine] | None:
        """The variable that becomes the larger of two, None where the statement does something else."""
        match node:
            case ast.If(
                test=ast.Compare(left=ast.Name(id=b), ops=[ast.Gt() | ast.GtE()], comparators=[ast.Name(id=a)]),
                body=[ast.Assign(targets=[ast.Name(id=set_)], value=ast.Name(id=by))],
                orelse=[],
            ) if set_ == a and by == b:
                return {a: Affine(((Larger(env[a], env[b]), 1.0),))}
        return None

    def _fork(self, node: ast.expr, env: _Env, known: _Known, yes: _Next, no: _Next) -> Branch | Leaf:
        """The tree of a condition."""
        if isinstance(node, ast.BoolOp):
            first, *others = node.values
            rest = others[0] if len(others) == 1 else ast.BoolOp(node.op, others)
            if isinstance(node.op, ast.And):
                return self._fork(first, env, known, lambda more: self._fork(rest, env, more, yes, no), no)
            return self._fork(first, env, known, yes, lambda more: self._fork(rest, env, more, yes, no))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._fork(node.operand, env, known, no, yes)
        match node:
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()], comparators=[right]):
                low, high = left, right
            case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE()], comparators=[right]):
                low, high = right, left
            case _:
                raise self._refused(node)
        return self._negative(self._affine(low, env).plus(self._affine(high, env), -1.0), known, yes, no, node)

    def _negative(self, held: Affine, known: _Known, yes: _Next, no: _Next, node: ast.expr) -> Branch | Leaf:
        """The tree of an affine function being negative; that it is 0 has no probability."""
        if not held.terms:
            return yes(known) if held.constant < 0 else no(known)
        larger = [term for term, _ in held.terms if isinstance(term, Larger)]
        if larger:
            return self._without(larger[0], held, known, yes, no, node)
        terms = [(term, weight) for term, weight in held.terms if isinstance(term, Draw)]
        if any(term.steps for term, _ in terms):
            if len(terms) > 1:
                raise self._refused(node)
            ((draw, weight),) = terms
            return self._steps(draw, weight, -held.constant / weight, known, yes, no, node)
        # One scale for each direction, so that equal tests are known to be equal.
        scale = abs(terms[0][1]) if len(terms) == 1 else 1.0
        sign = 1.0 if terms[0][1] > 0 else -1.0
        key = tuple(sorted(((term, sign * weight / scale) for term, weight in terms), key=lambda held: held[0].line))
        limit = -held.constant / scale * sign
        low, high = known.limits.get(key, (float("-inf"), float("inf")))
        below, above = (yes, no) if sign > 0 else (no, yes)
        if high <= limit:
            return below(known)
        if low >= limit:
            return above(known)
        return _branch(
            Test(key, limit),
            below(_Known(known.steps, {**known.limits, key: (low, limit)})),
            above(_Known(known.steps, {**known.limits, key: (limit, high)})),
        )

    def _without(
        self, larger: Larger, held: Affine, known: _Known, yes: _Next, no: _Next, node: ast.expr
    ) -> Branch | Leaf:
        """The tree of an affine function of the larger of two: with the one and with the other, both or either.

        With a positive weight it is the larger of the two functions, with a negative one the smaller.
        """
        one, other = (held.replaced(larger, by) for by in (larger.one, larger.other))
        if dict(held.terms)[larger] > 0:
            return self._negative(one, known, lambda more: self._negative(other, more, yes, no, node), no, node)
        return self._negative(one, known, yes, lambda more: self._negative(other, more, yes, no, node), node)

    def _steps(
        self, draw: Draw, weight: float, limit: float, known: _Known, yes: _Next, no: _Next, node: ast.expr
    ) -> Branch | Leaf:
        """The tree of a stepwise draw being below a limit, or above when the weight is negative."""
        if limit != int(limit):
            raise self._refused(node)
        below, above = (yes, no) if weight > 0 else (no, yes)
        first, last = known.steps.get(draw, (0, len(draw.steps) - 1))
        edge = int(limit)
        if last < edge:
            return below(known)
        if first >= edge:
            return above(known)
        return _branch(
            Test(((draw, 1.0),), float(edge)),
            below(_Known({**known.steps, draw: (first, edge - 1)}, known.limits)),
            above(_Known({**known.steps, draw: (edge, last)}, known.limits)),
        )

    def _note_protected(self, node: ast.stmt, condition: ast.expr, env: _Env) -> None:
        """Which steps of which draw are protected."""
        names = {held.id for held in ast.walk(condition) if isinstance(held, ast.Name)}
        terms = env[next(iter(names))].terms if len(names) == 1 else ()
        if len(terms) != 1 or not isinstance(terms[0][0], Draw) or not terms[0][0].steps:
            raise self._refused(node)
        draw = terms[0][0]
        said = Leaf(True, True, True), Leaf(False, True, True)
        for cell in range(len(draw.steps)):
            held = self._fork(condition, env, _Known({draw: (cell, cell)}), lambda _: said[0], lambda _: said[1])
            self._protected.setdefault(draw, {})[cell] = held == said[0]


def _branch(test: Test, yes: Branch | Leaf, no: Branch | Leaf) -> Branch | Leaf:
    return yes if yes == no else Branch(test, yes, no)


def tests_of(tree: Branch | Leaf) -> Iterator[Test]:
    """All tests of a tree, from its root on."""
    if isinstance(tree, Branch):
        yield tree.test
        yield from tests_of(tree.yes)
        yield from tests_of(tree.no)
