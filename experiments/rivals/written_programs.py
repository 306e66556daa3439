"""Fitted models on tables as programs that FairSquare, VeriFair and the reader here take.

The population is that of the Justicia paper's comparison: given the sensitive column, numbers are normal with the mean
and the variance of the rows, 0/1 columns are drawn by their frequency, and all are independent.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from justicia.errors import InputError

__all__ = ["as_sampler", "program_of"]

_INDENT = "    "


def program_of(model: Any, frame: pd.DataFrame, sensitive: str) -> str:
    """A fitted tree, or a logistic regression over numbers, as a program.

    Parameters
    ----------
    model : fitted DecisionTreeClassifier or LogisticRegression of the classes 0 and 1
    frame : DataFrame
        Its rows, numbers alone.
    sensitive : str
        A 0/1 column; 0 is protected.

    Raises
    ------
    InputError
        When a score weighs a 0/1 column that is not the sensitive one: a stepwise draw lies anywhere in its step.
    """
    names = {column: f"x{position}" for position, column in enumerate(frame.columns)}
    if hasattr(model, "tree_"):
        used = sorted({int(at) for at in model.tree_.feature if at >= 0})
        body = _tree(model.tree_, [names[column] for column in frame.columns], frame, 0)
        target = "t > 0.5"
    else:
        used = [at for at, weight in enumerate(model.coef_[0]) if weight]
        body, target = _score(model, frame, names, sensitive), "t > 0"
    columns = [frame.columns[at] for at in used if frame.columns[at] != sensitive]
    share = float((frame[sensitive] == 1).mean())
    lines = ["def popModel():", f"{_INDENT}{names[sensitive]} = {_step(share)}", f"{_INDENT}if {names[sensitive]} < 1:"]
    for value, last in ((0, "else:"), (1, None)):
        rows = frame[frame[sensitive] == value]
        lines += [f"{_INDENT * 2}{names[column]} = {_drawn(rows[column], frame[column])}" for column in columns]
        lines += [f"{_INDENT}{last}"] if last else []
    if not columns:
        raise InputError("the model looks at the sensitive column alone")
    lines += [f"{_INDENT}sensitiveAttribute({names[sensitive]} < 1)", "", "def F():"]
    return "\n".join([*lines, *(_INDENT + line for line in body), f"{_INDENT}fairnessTarget({target})", ""])


def _is_binary(column: pd.Series[Any]) -> bool:
    return set(column.unique()) <= {0, 1}


def _step(share: float) -> str:
    share = min(max(round(share, 6), 1e-6), 1 - 1e-6)
    return f"step([(0,1,{1 - share:.6f}), (1,2,{share:.6f})])"


def _drawn(rows: pd.Series[Any], everybody: pd.Series[Any]) -> str:
    if _is_binary(everybody):
        return _step(float(rows.mean()))
    # Where all rows of a group have one number, a narrow density stands for it.
    return f"gaussian({rows.mean():.8f}, {max(float(rows.var()), 1e-6):.8f})"


def _tree(tree: Any, names: Sequence[str], frame: pd.DataFrame, node: int) -> list[str]:
    if tree.children_left[node] < 0:
        return [f"t = {int(np.argmax(tree.value[node, 0]))}"]
    at = int(tree.feature[node])
    limit = "1" if _is_binary(frame.iloc[:, at]) else f"{tree.threshold[node]:.10f}"
    left = _tree(tree, names, frame, tree.children_left[node])
    right = _tree(tree, names, frame, tree.children_right[node])
    return [
        f"if {names[at]} < {limit}:", *(_INDENT + line for line in left), "else:", *(_INDENT + line for line in right)
    ]  # fmt: skip


def _score(model: Any, frame: pd.DataFrame, names: dict[str, str], sensitive: str) -> list[str]:
    terms, last = [], []
    for column, weight in zip(frame.columns, model.coef_[0], strict=True):
        if column == sensitive:
            last = [f"if {names[column]} > 1:", f"{_INDENT}t = t + {weight:.10f}"]
        elif weight and _is_binary(frame[column]):
            raise InputError(f"column {column!r} is 0 or 1, and a stepwise draw in a score is no such thing")
        elif weight:
            terms.append(f"{weight:.10f} * {names[column]}")
    return [f"t = {' + '.join([*terms, f'{float(model.intercept_[0]):.10f}'])}", *last]


def as_sampler(program: str) -> str:
    """The same program as VeriFair takes it: a function that draws one person, and says whether she is favored."""
    lines = ["def sample(flag):"]
    for function in ast.parse(program).body:
        if not isinstance(function, ast.FunctionDef):
            raise InputError("a program has functions alone")
        for statement in function.body:
            text = ast.unparse(statement)
            if text.startswith("sensitiveAttribute("):
                text = f"{text[:-1]}, flag)"
            elif text.startswith("fairnessTarget("):
                text = f"return int({text[len('fairnessTarget(') : -1]})"
            # Its steps are their numbers, and not what lies between.
            lines += [_INDENT + line.replace("> 1:", ">= 1:") for line in text.splitlines()]
    return "\n".join([*lines, ""])
