"""Rules in files: as text (`justicia.models.rule_text`) or JSON by the contract ``justicia.rule/1``.

In JSON, ``form`` is "CNF" or "DNF", ``parts`` holds its clauses or terms, lists of conditions such as
``{"column": "age", "test": ">", "number": 40.5}``, ``{"column": "sex", "test": "in", "values": ["Male"]}`` or
``{"column": "age", "test": "missing"}``, each with ``"not": true`` where it is turned into its opposite; ``holds`` and
``fails`` are the classes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import ModelFileError, TableError
from justicia.learners.rules import CNF, DNF, Condition, Rule
from justicia.models.rule_text import RuleSource, parse_rule, rule_text
from justicia.words import did_you_mean, shown, value_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "SCHEMA",
    "RuleClassifier",
    "is_rule_document",
    "load_rule",
    "read_rule",
    "rule_json",
    "rule_source",
    "save_rule",
    "source_of",
]

SCHEMA = "justicia.rule/1"

_TESTS = ("<=", "<", ">", ">=", "in", "missing")


class RuleClassifier:
    """A rule that somebody states, as a classifier.

    Parameters
    ----------
    rule : Rule or str
        As `justicia.models.rule_text` has it when it is text.
    holds, fails : class, optional
        What is given where the rule holds, and where it does not. Left out, they are those of the text, or True and
        False.

    Attributes
    ----------
    rule_ : Rule
    classes_ : array of shape (2,)
        `fails` and `holds`.
    positive_ : class
        `holds`.
    column_names_ : tuple of str
    feature_names_in_ : array of str
    n_features_in_ : int

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"sex": ["Male", "Female"], "age": [30, 41]})
    >>> RuleClassifier("sex = Male and age > 40", "yes", "no").predict(people).tolist()
    ['no', 'no']
    >>> RuleClassifier("sex = Male or age > 40").predict(people).tolist()
    [True, True]
    """

    def __init__(self, rule: Rule | str, holds: Any = None, fails: Any = None) -> None:
        source = RuleSource(rule) if isinstance(rule, Rule) else parse_rule(rule)
        if (holds is None) != (fails is None):
            raise ModelFileError("a rule names both classes, the one where it holds and the other, or none")
        named = (source.fails, source.holds) if holds is None else (fails, holds)
        given: tuple[Any, Any] = (False, True) if named[0] is None else named
        if given[0] == given[1]:
            raise ModelFileError(f"the rule gives {given[0]!r} whether it holds or not")
        self.rule_ = source.rule
        same = isinstance(given[0], (bool, np.bool_)) and isinstance(given[1], (bool, np.bool_))
        self.classes_ = np.array(given, dtype=bool if same else object)
        self.positive_ = given[1]
        self.column_names_ = self.rule_.columns
        self.feature_names_in_ = np.array(self.rule_.columns, dtype=object)
        self.n_features_in_ = len(self.rule_.columns)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """The class of each row, array of shape (n_rows,).

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)
            With the columns of the rule, and maybe others.
        """
        for name in self.column_names_:
            if name not in X.columns:
                raise TableError(f"the table lacks {name!r}, which the rule asks for{did_you_mean(name, X.columns)}")
        return np.asarray(self.classes_[self.rule_.holds(X.__getitem__, len(X)).astype(np.int64)])

    def get_rules(self) -> list[str]:
        """The rule in words, one clause or term each."""
        return self.rule_.lines() or [self.rule_.text()]


def is_rule_document(document: Any) -> bool:
    """Whether what a JSON file holds says that it is a rule."""
    return isinstance(document, dict) and (
        str(document.get("schema", "")).startswith("justicia.rule/") or {"form", "parts"} <= set(document)
    )


def read_rule(path: str | os.PathLike[str]) -> RuleClassifier:
    """The rule in a file, JSON when its name ends in ``.json`` and text otherwise.

    Raises
    ------
    ModelFileError
        When it cannot be read; the message says where.
    """
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be read: {error.strerror}") from error
    return load_rule(content, file.name)


def load_rule(content: bytes, name: str) -> RuleClassifier:
    """The rule in the bytes of a file called `name`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelFileError(f"{name} is not UTF-8 text, as a rule is") from error
    try:
        source = _of_json(text) if name.lower().endswith(".json") else parse_rule(text)
    except ModelFileError as error:
        raise ModelFileError(f"{name}: {error}") from error
    return RuleClassifier(source.rule, source.holds, source.fails)


def _of_json(text: str) -> RuleSource:
    try:
        document = json.loads(text)
    except (RecursionError, ValueError) as error:
        raise ModelFileError(f"this is not JSON: {error}") from error
    return source_of(document)


def source_of(document: Any) -> RuleSource:
    """The rule that a JSON document states.

    Raises
    ------
    ModelFileError
        When it is malformed; the message says where.
    """
    _keys(document, "the rule", {"schema", "form", "parts", "holds", "fails"}, {"form", "parts"})
    schema = document.get("schema", SCHEMA)
    if schema != SCHEMA:
        raise ModelFileError(f"schema is {shown(schema)!r}, and {SCHEMA} is read")
    form = document["form"]
    if form not in (CNF, DNF):
        raise ModelFileError(f"form is {shown(form)!r}, and {CNF} or {DNF} is meant")
    parts = _list(document["parts"], "parts")
    held = tuple(
        tuple(_condition(item, f"parts[{i}][{j}]") for j, item in enumerate(_list(part, f"parts[{i}]")))
        for i, part in enumerate(parts)
    )
    classes = []
    for key in ("holds", "fails"):
        value = document.get(key)
        if value is not None and not isinstance(value, (str, int, float)):
            raise ModelFileError(f"{key} is {shown(value)!r}, and a class is text or a number")
        classes.append(None if value is None else value_text(value))
    if (classes[0] is None) != (classes[1] is None) or (classes[0] is not None and classes[0] == classes[1]):
        raise ModelFileError("holds and fails name two classes, or neither stands there")
    return RuleSource(Rule(form, held), *classes)


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ModelFileError(f"{where} is no list")
    return value


def _keys(value: Any, where: str, known: set[str], needed: set[str]) -> None:
    if not isinstance(value, dict):
        raise ModelFileError(f"{where} is no object with names and values")
    for name in value:
        if name not in known:
            raise ModelFileError(f"{where} has a strange key {shown(name)!r}{did_you_mean(name, sorted(known))}")
    for name in sorted(needed):
        if name not in value:
            raise ModelFileError(f"{where} lacks {name!r}")


def _condition(item: Any, where: str) -> Condition:
    _keys(item, where, {"column", "test", "number", "values", "not"}, {"column", "test"})
    column, test, negated = item["column"], item["test"], item.get("not", False)
    if not isinstance(column, str):
        raise ModelFileError(f"{where}: column is {shown(column)!r}, and a name is text")
    if test not in _TESTS:
        raise ModelFileError(f"{where}: no test is called {shown(test)!r}{did_you_mean(test, _TESTS)}")
    if not isinstance(negated, bool):
        raise ModelFileError(f'{where}: "not" is {shown(negated)!r}, and true or false is meant')
    wanted = {"in": "values", "missing": None}.get(test, "number")
    for key in ("number", "values"):
        if (key in item) != (key == wanted):
            raise ModelFileError(f"{where}: test {test} {'lacks' if key == wanted else 'takes no'} {key!r}")
    if wanted == "number":
        number = item["number"]
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not np.isfinite(float(number)):
            raise ModelFileError(f"{where}: number is {shown(number)!r}, and a finite number is meant")
        return Condition(column, test, number=float(number), negated=negated)
    if wanted == "values":
        values = _list(item["values"], f"{where}: values")
        for value in values:
            if not isinstance(value, (str, int, float)) or value != value:
                raise ModelFileError(f"{where}: {shown(value)!r} among the values is no text or number")
        if not values:
            raise ModelFileError(f"{where}: values is empty")
        return Condition(column, test, values=tuple(dict.fromkeys(map(value_text, values))), negated=negated)
    return Condition(column, test, negated=negated)


def rule_source(model: Any) -> RuleSource:
    """The rule of a fitted `CNFClassifier` or a `RuleClassifier`, and its classes as text."""
    others = [value for value in model.classes_.tolist() if value != model.positive_]
    if not others:
        return RuleSource(model.rule_)
    return RuleSource(model.rule_, value_text(model.positive_), value_text(others[0]))


def rule_json(source: RuleSource) -> dict[str, Any]:
    """The rule as a JSON document by the contract ``justicia.rule/1``, all digits kept."""
    return {
        "schema": SCHEMA,
        "form": source.rule.form,
        "parts": [[_document(condition) for condition in part] for part in source.rule.parts],
        "holds": source.holds,
        "fails": source.fails,
    }


def _document(condition: Condition) -> dict[str, Any]:
    held: dict[str, Any] = {"column": condition.column, "test": condition.test}
    if condition.compares:
        held["number"] = condition.number
    if condition.test == "in":
        held["values"] = list(condition.values)
    if condition.negated:
        held["not"] = True
    return held


def save_rule(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the rule of a model, as JSON when the name ends in ``.json`` and as text otherwise.

    Parameters
    ----------
    model : CNFClassifier or RuleClassifier
    path : str or path
    """
    from justicia.writing import write_whole

    source = rule_source(model)
    if os.fspath(path).lower().endswith(".json"):
        write_whole(path, json.dumps(rule_json(source), indent=1, ensure_ascii=False) + "\n")
    else:
        write_whole(path, rule_text(source))
