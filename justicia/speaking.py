"""Messages in the words of whoever called: options for the command line, keywords for Python.

Messages are written with the options of the command. Functions that Python calls turn them into keywords.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from justicia.errors import JusticiaError, UnsupportedModelError
from justicia.words import did_you_mean

__all__ = [
    "WRITE_PREDICTIONS",
    "as_keywords",
    "offers_decisions",
    "speaking_options",
    "speaks_keywords",
    "speaks_options",
]

_OPTIONS: ContextVar[bool] = ContextVar("options", default=False)

_NAMES = {"sensitive": "sensitive_features", "id": "identity"}
_FLAGS = frozenset(
    {"trust-model", "check-fit", "bounds", "tests", "cross-check", "list-numbers", "trust-vectors", "answered"}
)
_CUT = re.compile(r"--sensitive (\S+) (?=--bins)")
_MAPPINGS = re.compile(r"--(bins|one-hot) ([^\s=]+|(\w+ ?)+)=([^\s;:]*[^\s;:,])")
_VALUES = re.compile(
    r"--(missing|search|solver|population|weight-kind|layout|config) "
    r"(error|group|drop|bounds|enumerate|learn|auto|clauses|tree|independent|empirical|sampling|frequency|ll144|none)\b"
)
_NA = re.compile(r"pass --na (\w+)")
_QUOTED = re.compile(r"--(delimiter|encoding|label) ('[^']*'|\"[^\"]*\")")
_NUMBER = re.compile(r"--([a-z][a-z0-9-]*) (\d+(?:\.\d+)?)\b")
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*)(?: (?:(none)\b|([A-Z]{3,}\b(?!=))))?")

_P = ParamSpec("_P")
_T = TypeVar("_T")


@contextmanager
def speaking_options() -> Iterator[None]:
    """Let messages stay as they are, for the command line."""
    token = _OPTIONS.set(True)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


def speaks_options() -> bool:
    """Whether the command line asks."""
    return _OPTIONS.get()


def as_keywords(text: str) -> str:
    """A message with keywords in place of options.

    >>> as_keywords("sensitive: sex, found by name; override with --sensitive")
    'sensitive: sex, found by name; override with sensitive_features=...'
    >>> as_keywords("cut it into classes with --bins age=EDGE,EDGE")
    "cut it into classes with bins={'age': [EDGE, EDGE]}"
    >>> as_keywords("pass --bins age=25,40, or name another column")
    "pass bins={'age': [25, 40]}, or name another column"
    >>> as_keywords("--sensitive age --bins age=25,40")
    "sensitive_features='age', bins={'age': [25, 40]}"
    >>> as_keywords("pass --missing group")
    "pass missing='group'"
    >>> as_keywords("justicia verify --min-group 30 leaves them out")
    'min_group=30 leaves them out'
    >>> as_keywords("pass --label COLUMN"), as_keywords("pass --label 'hired'")
    ('pass label=COLUMN', "pass label='hired'")
    >>> as_keywords("load it with --trust-model if you trust who made it")
    'load it with trust_model=True if you trust who made it'
    >>> as_keywords("read the table whole with --no-stream")
    'read the table whole with stream=False'
    """
    text = text.replace("justicia verify --", "--")
    text = _CUT.sub(lambda found: f"sensitive_features={found[1]!r}, ", text)
    text = _MAPPINGS.sub(_mapping, text)
    text = _VALUES.sub(lambda found: f"{found[1].replace('-', '_')}={found[2]!r}", text)
    text = _QUOTED.sub(lambda found: f"{found[1]}={found[2]}", text)
    text = _NA.sub(lambda found: f"pass na=[{found[1]!r}]", text)
    text = _NUMBER.sub(lambda found: f"{found[1].replace('-', '_')}={found[2]}", text)
    return _OPTION.sub(_keyword, text)


def _mapping(found: re.Match[str]) -> str:
    edges = found[4].replace(",", ", ")
    return f"{found[1].replace('-', '_')}={{{found[2]!r}: [{edges}]}}"


def _keyword(found: re.Match[str]) -> str:
    name = found[1]
    if found[2]:
        return f"{name.replace('-', '_')}=False"
    if name.startswith("no-"):
        return f"{name[3:]}=False"
    if name in _FLAGS:
        return f"{name.replace('-', '_')}=True"
    if name == "population-out":
        return "population_file()"
    keyword = _NAMES.get(name, name.replace("-", "_"))
    if found[3]:
        return f"{keyword}={found[3]}"
    return keyword if found.start() == 0 else f"{keyword}=..."


WRITE_PREDICTIONS = "write its predictions into a column of the table, and pass --decisions FILE --decision COLUMN"
"""How a model that is not encoded is audited on the command line."""
_BY_DECISIONS = f"; a model of any kind is audited by its decisions: {WRITE_PREDICTIONS} in place of the model"
_IN_PYTHON = (
    "; a model of any kind is audited by its decisions: justicia.audit_decisions(table, decision=model.predict(X))"
)


def offers_decisions(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Make a function that refuses a model say how it is audited without being encoded."""

    @wraps(function)
    def asked(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return function(*args, **kwargs)
        except UnsupportedModelError as error:
            error.args = (f"{error}{_BY_DECISIONS if speaks_options() else _IN_PYTHON}",)
            raise

    return asked


def _check_keywords(function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Refuse keywords that the function does not have, as Python does, with what was meant."""
    parameters = signature(function).parameters.values()
    if any(one.kind is Parameter.VAR_KEYWORD for one in parameters):
        return
    names = [one.name for one in parameters if one.kind is not Parameter.POSITIONAL_ONLY]
    strange = next((name for name in given if name not in names), None)
    if strange is not None:
        near = did_you_mean(strange, names)
        name = getattr(function, "__name__", "function")
        raise TypeError(f"{name}() got an unexpected keyword argument {strange!r}{near}")


def speaks_keywords(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Make a function's errors name keywords, unless the command line calls it; a misspelt one gets a proposal."""

    @wraps(function)
    def asked(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        _check_keywords(function, kwargs)
        try:
            return function(*args, **kwargs)
        except JusticiaError as error:
            if not speaks_options():
                error.args = tuple(as_keywords(one) if isinstance(one, str) else one for one in error.args)
            raise

    return asked
