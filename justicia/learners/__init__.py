"""Learners of models that people can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from justicia.learners.cnf import CNFClassifier
    from justicia.learners.rules import CNF, DNF, Condition, Rule

__all__ = ["CNF", "DNF", "CNFClassifier", "Condition", "Rule"]

_HOMES = {
    "CNF": "justicia.learners.rules",
    "CNFClassifier": "justicia.learners.cnf",
    "Condition": "justicia.learners.rules",
    "DNF": "justicia.learners.rules",
    "Rule": "justicia.learners.rules",
}


def __getattr__(name: str) -> Any:
    """Load a name when it is asked for: scikit-learn takes a second."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
