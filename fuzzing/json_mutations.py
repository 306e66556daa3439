"""Mutations of JSON documents: types, keys, lengths, depth, what no writer writes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from fuzzing.bytes_mutations import NUMBERS, WORDS, mutated_text

__all__ = ["Raw", "Twice", "change", "dumped", "mutated_json"]


class Raw(str):
    """Text that stands in the document as it is."""

    __slots__ = ()


class Twice(dict[str, Any]):
    """An object whose keys all stand there twice."""


_PLAIN: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 10**6, 2**31, 2**63, -(2**63), 2**64, 10**30, 0.5, -0.5, 1e308, 5e-324, 1e-17),
    *("", "x", "0", "nan", [], {}, [[]], [{}], [None], {"": None}, [1, 2, 3], ["a", "b"], {"a": 1}),
    *(Raw("NaN"), Raw("Infinity"), Raw("-Infinity"), Raw("1e400"), Raw("-0"), Raw("1" * 5000), Raw('"\\ud800"')),
    *(Raw("[" * 400 + "]" * 400), Raw("[" * 100000), Raw('{"a":' * 400 + "1" + "}" * 400)),
)


def mutated_json(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A document changed in one or a few places; text is mutated now and then, and where it is no JSON."""
    if rng.random() < 0.15:
        return mutated_text(rng, data, others)
    try:
        held = json.loads(data)
        strange = json.loads(rng.choice(others)) if others else held
    except (RecursionError, ValueError):
        return mutated_text(rng, data, others)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        held = change(rng, held, strange)
    return dumped(held).encode("utf-8", "surrogatepass")


def change(rng: Random, held: Any, strange: Any) -> Any:
    """One change somewhere inside; what is replaced may become a part of `strange`."""
    places = [((), held), *_places(held, ())]
    path, value = rng.choice(places[1:] if len(places) > 1 and rng.random() < 0.98 else places)
    new = rng.choice(_WAYS)(rng, copy.deepcopy(value), strange)
    return _with(held, path, new)


def _places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    for key, part in inner:
        yield (*path, key), part
        if len(path) < 60:
            yield from _places(part, (*path, key))


def _with(held: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The document with another value at a place; `_GONE` takes it out."""
    if not path:
        return None if new is _GONE else new
    inside = held
    for key in path[:-1]:
        inside = inside[key]
    if new is _GONE:
        del inside[path[-1]]
    else:
        inside[path[-1]] = new
    return held


_GONE = object()


def _plain(rng: Random, value: Any, _: Any) -> Any:
    return copy.deepcopy(rng.choice(_PLAIN))


def _gone(rng: Random, value: Any, _: Any) -> Any:
    return _GONE


def _elsewhere(rng: Random, value: Any, strange: Any) -> Any:
    places = list(_places(strange, ()))
    return copy.deepcopy(rng.choice(places)[1]) if places else strange


def _near(rng: Random, value: Any, strange: Any) -> Any:
    """A value of the same sort, where there is one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        if rng.random() < 0.5 and abs(value) < 1e300:
            return rng.choice((value + 1, value - 1, -value, value * 2, value / 3, 0, 1, float(value) + 1e-9))
        return Raw(rng.choice(NUMBERS[:12])) if rng.random() < 0.7 else Raw(rng.choice(NUMBERS))
    if isinstance(value, str):
        words = [part for _, part in _places(strange, ()) if isinstance(part, str)]
        return rng.choice(
            (rng.choice(words or ["x"]), value + rng.choice(WORDS), rng.choice(WORDS), rng.choice(NUMBERS))
        )
    if isinstance(value, list):
        return _length(rng, value, strange)
    if isinstance(value, dict):
        return _keys(rng, value, strange)
    return 0


def _length(rng: Random, value: Any, strange: Any) -> Any:
    if not isinstance(value, list) or not value:
        return [value]
    at = rng.randrange(len(value))
    way = rng.randrange(6)
    if way == 0:
        return value[:at]
    if way == 1:
        return [*value, *[copy.deepcopy(value[at])] * rng.choice((1, 2, 100))]
    if way == 2:
        return rng.sample(value, len(value))
    if way == 3:
        return [value]
    if way == 4:
        return [part for part in value if part is not value[at]]
    return [*value[:at], copy.deepcopy(rng.choice(_PLAIN)), *value[at:]]


def _keys(rng: Random, value: Any, strange: Any) -> Any:
    if not isinstance(value, dict) or not value:
        return {"x": value}
    held = dict(value)
    key = rng.choice(list(held))
    way = rng.randrange(5)
    if way == 0:
        return Twice(held)
    if way == 1:
        held[rng.choice(WORDS)] = held.pop(key)
    elif way == 2:
        held[rng.choice(WORDS[:60])] = copy.deepcopy(rng.choice(_PLAIN))
    elif way == 3:
        held[key] = _elsewhere(rng, value, strange)
    else:
        return list(held.values())
    return held


_WAYS: tuple[Callable[[Random, Any, Any], Any], ...] = (
    _plain,
    _plain,
    _gone,
    _elsewhere,
    _near,
    _near,
    _near,
    _length,
    _keys,
)


def dumped(value: Any) -> str:
    """The document as text."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        items = [f"{json.dumps(str(key))}: {dumped(part)}" for key, part in value.items()]
        return "{" + ", ".join(items * 2 if isinstance(value, Twice) else items) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(dumped, value)) + "]"
    return json.dumps(value)
