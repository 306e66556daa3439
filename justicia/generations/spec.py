"""The spec: what a table of generations declares, and what is asked of it.

Domains are declared, never found in the table: a value that was never generated is the finding. A spec file is YAML
or JSON; `docs/generations.md` has an example with every key.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from justicia.errors import MissingDependencyError, SpecError
from justicia.generations.labels import MOST_VALUES, label_text
from justicia.words import did_you_mean, listed, shown

__all__ = [
    "OFF_DOMAIN",
    "ROLES",
    "SPEC_SCHEMA",
    "Attribute",
    "Spec",
    "attribute",
    "read_mapping",
    "read_spec",
    "whole_number",
]

SPEC_SCHEMA = "justicia.generations.spec/1"

OFF_DOMAIN = ("error", "none", "unknown")
"""What a label outside its domain may be taken for: an error, an item that shows none of the values, or unknown."""

ROLES = (
    "context",
    "axis",
    "counterfactual",
    "text",
    "response",
    "group",
    "truth",
    "score",
    "model",
    "pair",
    "enforced",
)
"""What columns beside the attributes may be, for an audit; each is the column of its own name unless `columns` names
another. docs/generations.md says what each is for."""

_KEYS = (
    *("schema", "run", "step", "prompt", "where", "neutral", "unknown", "off_domain", "attributes"),
    *("columns", "settings", "require"),
)
_ATTRIBUTE_KEYS = ("domain", "beta", "unknown", "separator")
_LARGEST = 10**12
_MOST_UNFOLDED = 20_000_000


@dataclass(frozen=True)
class Attribute:
    """One labelled attribute.

    Attributes
    ----------
    name : str
        Its column.
    domain : tuple of str
        Its values, all of them, in the order of the report.
    beta : int or None
        Every value is to occur in every `beta` consecutive generations; None: no bound is asked.
    unknown : frozenset of str
        Words that mean "unknown", besides the blank.
    separator : str or None
        Between several values of one generation.
    """

    name: str
    domain: tuple[str, ...]
    beta: int | None = None
    unknown: frozenset[str] = frozenset()
    separator: str | None = None


@dataclass(frozen=True)
class Spec:
    """What a table declares; see the module's text for the file.

    Attributes
    ----------
    attributes : dict of str to Attribute
    run, step, prompt : str or None
        Columns: which run a generation belongs to, its place in the run, and what was asked for.
    where : dict of str to tuple of str
        The condition: columns and the values that count.
    neutral : dict of str to tuple of str
        What tags a prompt as neutral.
    off_domain : {"error", "none", "unknown"}
        What a label outside its domain is taken for.
    columns : dict of str to str
        For an audit: columns by what they are, one of `ROLES`; "none" where there is none.
    settings : dict of str to dict of str to Any
        For an audit: what a section of it asks, by the section's name.
    require : tuple of str
        Requirements of an audit.
    """

    attributes: dict[str, Attribute]
    run: str | None = None
    step: str | None = None
    prompt: str | None = None
    where: dict[str, tuple[str, ...]] = field(default_factory=dict)
    neutral: dict[str, tuple[str, ...]] = field(default_factory=dict)
    off_domain: str = "error"
    columns: dict[str, str] = field(default_factory=dict)
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    require: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.off_domain not in OFF_DOMAIN:
            raise SpecError(f"off_domain cannot be {self.off_domain!r}{did_you_mean(self.off_domain, OFF_DOMAIN)}")

    def named(self, name: str) -> Attribute:
        """An attribute by its name.

        Raises
        ------
        SpecError
        """
        if name not in self.attributes:
            raise SpecError(
                f"attribute {shown(name)!r} has no declared domain{did_you_mean(name, self.attributes)}: declare its "
                "values (domain in the spec, or --domain), those that were never generated, too"
            )
        return self.attributes[name]

    def changed(self, **changes: Any) -> Spec:
        """The spec with those of `changes` that are not None."""
        return replace(self, **{name: value for name, value in changes.items() if value is not None})


def attribute(
    name: str,
    domain: Any,
    beta: Any = None,
    unknown: Any = (),
    separator: Any = None,
    where: str = "",
) -> Attribute:
    """An attribute, checked.

    Raises
    ------
    SpecError
        When the domain is empty or names a value twice, or beta is no whole number from 1 on.
    """
    place = f"{where}attribute {shown(name)}: "
    if isinstance(domain, (str, bytes)) or not hasattr(domain, "__iter__"):
        raise SpecError(f"{place}a domain is a list of values, not {shown(repr(domain))}")
    values = [_scalar(value, f"{place}a value of the domain") for value in domain]
    if not values:
        raise SpecError(f"{place}the domain has no values")
    if len(values) > MOST_VALUES:
        raise SpecError(f"{place}the domain has more than {MOST_VALUES:,} values")
    twice = (
        list(dict.fromkeys(value for value in values if values.count(value) > 1))
        if len(set(values)) < len(values)
        else []
    )
    if twice:
        raise SpecError(f"{place}the domain has {listed(twice)} more than once")
    if "" in values:
        raise SpecError(f"{place}a value of the domain is blank; a blank label is an unknown one")
    words = frozenset(_list_of(unknown, f"{place}unknown"))
    both = [value for value in values if value in words]
    if both:
        raise SpecError(f"{place}{listed(both)} cannot be both a value and a word for unknown")
    if separator is not None:
        separator = str(separator)
        if not separator.strip():
            raise SpecError(f"{place}the separator of several values is blank")
        holding = [value for value in values if separator in value]
        if holding:
            raise SpecError(f"{place}the value {shown(holding[0])} holds the separator {separator}")
    return Attribute(
        name, tuple(values), None if beta is None else whole_number(beta, f"{place}beta"), words, separator
    )


def whole_number(value: Any, what: str, least: int = 1) -> int:
    """A whole number from `least` on, also when it is written as text.

    Raises
    ------
    SpecError
    """
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 15:
        text = int(text)
    if isinstance(text, float) and text.is_integer():
        text = int(text)
    if isinstance(text, bool) or not hasattr(text, "__index__") or not least <= int(text) <= _LARGEST:
        raise SpecError(f"{what} is a whole number from {least} on, not {shown(repr(value))}")
    return int(text)


def read_spec(source: Any) -> Spec:
    """Read a spec from a YAML or JSON file, or from a mapping of the same form.

    Raises
    ------
    SpecError
        When it cannot be read, or holds a key or a value that means nothing.
    """
    if isinstance(source, Spec):
        return source
    if isinstance(source, Mapping):
        return _from_mapping(source, "")
    if not isinstance(source, (str, os.PathLike)):
        raise SpecError(f"a spec is a file or a mapping, not {type(source).__name__}")
    path = Path(source)
    held = read_mapping(path, "spec")
    where = f"{path.name}: "
    if not isinstance(held, Mapping):
        raise SpecError(f"{where}a spec is a mapping with a key attributes")
    return _from_mapping(held, where)


def read_mapping(path: Path, what: str) -> Any:
    """What a YAML or JSON file holds, every scalar of YAML as text.

    Raises
    ------
    SpecError
        When it cannot be read, or has a key twice.
    """
    if not path.is_file():
        raise SpecError(f"{path}: there is no such {what} file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SpecError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise SpecError(f"{path} is not UTF-8 text") from None
    where = f"{path.name}: "
    return _parse_json(text, where) if path.suffix.lower() == ".json" else _parse_yaml(text, where)


def _parse_json(text: str, where: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                raise SpecError(f"{where}the key {shown(name)} stands there twice")
            found[name] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise SpecError(f"{where}line {error.lineno} is no JSON: {error.msg}") from None
    except SpecError:
        raise
    except (RecursionError, ValueError):
        raise SpecError(f"{where}is nested too deeply, or a number in it is too long") from None


def _parse_yaml(text: str, where: str) -> Any:
    """YAML with every scalar as text, so that `no` stays a word and `01` keeps its zero."""
    try:
        import yaml
    except ImportError as error:
        raise MissingDependencyError(
            "specs in YAML need PyYAML: pip install pyyaml, or write the spec in JSON (a file that ends in .json)"
        ) from error

    class Loader(yaml.BaseLoader):
        def get_single_node(self) -> Any:
            node = super().get_single_node()
            _check_unfolded(node, where)
            return node

    def once(loader: Any, node: Any) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise SpecError(f"{where}line {key_node.start_mark.line + 1}: a key is a word")
            if key in found:
                raise SpecError(f"{where}line {key_node.start_mark.line + 1}: the key {shown(key)} stands there twice")
            found[key] = loader.construct_object(value_node, deep=True)
        return found

    Loader.add_constructor("tag:yaml.org,2002:map", once)
    try:
        return yaml.load(text, Loader=Loader)  # noqa: S506 (a BaseLoader makes texts, lists and mappings alone)
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f"line {error.problem_mark.line + 1} "
        raise SpecError(f"{where}{line}is no YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise SpecError(f"{where}is no YAML: {' '.join(str(error).split())[:200]}") from None
    except RecursionError:
        raise SpecError(f"{where}is nested too deeply") from None


def _check_unfolded(root: Any, where: str) -> None:
    """Refuse a document that stands for far more than is written: names (*name) of lists that hold names of lists."""
    sizes: dict[int, int] = {}
    stack = [] if root is None else [(root, False)]
    while stack:
        node, done = stack.pop()
        inner = node.value if isinstance(node.value, list) else []
        parts = [part for one in inner for part in (one if isinstance(one, tuple) else (one,))]
        if done:
            # What holds itself is counted as nothing here, and refused by the loader.
            sizes[id(node)] = 1 + (0 if inner else len(node.value)) + sum(sizes.get(id(part), 0) for part in parts)
            if sizes[id(node)] > _MOST_UNFOLDED:
                raise SpecError(f"{where}unfolds to more than {_MOST_UNFOLDED:,} characters and parts: write it out")
        elif id(node) not in sizes:
            sizes[id(node)] = 0
            stack.append((node, True))
            stack += [(part, False) for part in parts]


def _from_mapping(held: Mapping[Any, Any], where: str) -> Spec:
    _known(held, _KEYS, f"{where}the spec")
    version = held.get("schema", SPEC_SCHEMA)
    if version != SPEC_SCHEMA:
        raise SpecError(f"{where}schema {shown(version)} is not known: this version reads {SPEC_SCHEMA}")
    columns = held.get("columns", {})
    attributes = held.get("attributes", {} if columns else None)
    if not isinstance(attributes, Mapping) or not (attributes or columns):
        raise SpecError(f"{where}the spec needs attributes, a mapping of column to its domain")
    if not isinstance(columns, Mapping):
        raise SpecError(f"{where}columns is a mapping of what a column is to its name, not {shown(repr(columns))}")
    _known(columns, ROLES, f"{where}columns")
    settings = held.get("settings", {})
    if not isinstance(settings, Mapping) or not all(isinstance(one, Mapping) for one in settings.values()):
        raise SpecError(f"{where}settings is a mapping of section to a mapping, not {shown(repr(settings))}")
    unknown = _list_of(held.get("unknown", ()), f"{where}unknown")
    made = {}
    for key, said in attributes.items():
        name = str(key)
        if not isinstance(said, Mapping):
            said = {"domain": said}
        _known(said, _ATTRIBUTE_KEYS, f"{where}attribute {shown(name)}")
        if "domain" not in said:
            raise SpecError(f"{where}attribute {shown(name)} needs a domain: the list of its values")
        own = _list_of(said.get("unknown", unknown), f"{where}attribute {shown(name)}: unknown")
        made[name] = attribute(name, said["domain"], said.get("beta"), own, said.get("separator"), where)
    return Spec(
        made,
        **{key: _scalar(held[key], f"{where}{key}") for key in ("run", "step", "prompt") if held.get(key) is not None},
        where=_condition(held.get("where", {}), f"{where}where"),
        neutral=_condition(held.get("neutral", {}), f"{where}neutral"),
        off_domain=_scalar(held.get("off_domain", "error"), f"{where}off_domain"),
        columns={str(role): _scalar(name, f"{where}columns: {role}") for role, name in columns.items()},
        settings={str(name): dict(one) for name, one in settings.items()},
        require=tuple(_list_of(held.get("require", ()), f"{where}require")),
    )


def _known(held: Mapping[Any, Any], keys: tuple[str, ...], what: str) -> None:
    for key in held:
        if key not in keys:
            raise SpecError(f"{what} has no key {shown(key)}{did_you_mean(key, keys)}")


def _scalar(value: Any, what: str) -> str:
    if value is None or isinstance(value, (Mapping, list, tuple, set)):
        raise SpecError(f"{what} is one word or number, not {shown(repr(value))}")
    return label_text(value)


def _list_of(value: Any, what: str) -> list[str]:
    if isinstance(value, (str, int, float, bool)):
        value = [value]
    if value is None or isinstance(value, Mapping) or not hasattr(value, "__iter__"):
        raise SpecError(f"{what} is a list of words, not {shown(repr(value))}")
    return [_scalar(item, what) for item in value]


def _condition(value: Any, what: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise SpecError(f"{what} is a mapping of column to value, not {shown(repr(value))}")
    return {str(name): tuple(_list_of(said, f"{what}: {shown(name)}")) for name, said in value.items()}
