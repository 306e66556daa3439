"""Mutations of what a pickled model holds: the state of its objects, arrays and trees; and of a pickle's opcodes.

An object is pickled as what rebuilds it and its state. Here both may be changed on the way, so that files come about
that no library would write, and that are whole pickles all the same.
"""

from __future__ import annotations

import copy
import io
import pickle
import pickletools
import struct
import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
from joblib.numpy_pickle import NumpyPickler

from fuzzing.bytes_mutations import mutated_bytes
from justicia.models._allowed import ALLOWED

__all__ = ["mutated_joblib", "mutated_opcodes", "mutated_state"]

_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 10**6, 2**31, 2**63, -(2**63), 10**40, 0.5, float("nan"), float("inf"), 1e308),
    *("", "x", "auto", b"", b"x" * 9, (), (1,), [], [0], {}, {"a": 1}, complex(1, 2), slice(0, 10**9), frozenset("a")),
)
_INTEGERS = (0, 1, -1, -2, -5, 3, 10**6, 2**31 - 1, -(2**31), 2**62, -(2**63))
_FLOATS = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, -1.0, 1e300, -1e300, 5e-324)
_SHAPES = ((10**11,), (2**62, 4), (-1,), (0,), (), (1,) * 40, (3, 10**9), (2**31, 2**31), "x", None, (True,), (1.5,))
_KINDS = ("<f4", ">f8", "<i1", "<i8", "|b1", "O", "<U5", "<f2", "<c16", "<M8[ns]", "V8")


def mutated_state(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A pickle of the same model with another state; what was not made here gets other bytes or opcodes."""
    return _mutated(rng, data, others, _pickled)


def mutated_joblib(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The same in joblib's form, compressed now and then."""
    made = _mutated(rng, data, others, _joblibbed)
    return zlib.compress(made) if rng.random() < 0.1 and made[:1] == b"\x80" else made


def _mutated(rng: Random, data: bytes, others: Sequence[bytes], write: Callable[[Random, Any], bytes]) -> bytes:
    if rng.random() < 0.2:
        return mutated_bytes(rng, data, others)
    if rng.random() < 0.2:
        return mutated_opcodes(rng, data, others)
    model = _seeds.get(data)
    if model is None:
        # Only what was made here is ever loaded in this process.
        model = rng.choice(list(_seeds.values())) if _seeds and rng.random() < 0.7 else None
    return mutated_bytes(rng, data, others) if model is None else write(rng, model)


_seeds: dict[bytes, Any] = {}


def seed_of(model: Any, write: Callable[[Any], bytes]) -> bytes:
    """The bytes of a model that was fitted here; its state can be mutated from now on."""
    data = write(model)
    _seeds[data] = model
    return data


class _Mutating:
    """Counts objects with a state; changes those whose number is chosen."""

    def begin(self, rng: Random, chosen: Sequence[int]) -> None:
        self.rng, self.chosen, self.count = rng, set(chosen), 0
        # The memo knows objects by their addresses, so none may go before the end.
        self.kept: list[Any] = []

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, type) or (callable(value) and not hasattr(value, "__dict__")):
            return NotImplemented
        try:
            reduced = value.__reduce_ex__(self.proto)  # type: ignore[attr-defined]
        except Exception:
            return NotImplemented
        if not isinstance(reduced, tuple):
            return NotImplemented
        self.kept.append(reduced)
        self.count += 1
        if self.count - 1 not in self.chosen:
            return NotImplemented
        self.kept.append(_changed(self.rng, reduced))
        return self.kept[-1]


class _Pickler(_Mutating, pickle._Pickler):  # type: ignore[name-defined]
    pass


class _Joblib(_Mutating, NumpyPickler):
    def save(self, value: Any) -> Any:
        # joblib writes arrays apart from the pickle; a changed one goes with it.
        if type(value) is np.ndarray and self.rng.random() < 0.15:
            self.count += 1
            if self.count - 1 in self.chosen:
                self.kept.append(_array(self.rng, value))
                return super().save(self.kept[-1])
        return super().save(value)


def _written(rng: Random, make: Callable[[io.BytesIO], Any], model: Any) -> bytes:
    counting = make(io.BytesIO())
    counting.begin(Random(0), ())
    counting.dump(model)
    for _ in range(20):
        buffer = io.BytesIO()
        pickler = make(buffer)
        many = rng.choice((1, 1, 1, 2, 2, 4))
        pickler.begin(rng, [rng.randrange(max(counting.count, 1)) for _ in range(many)])
        try:
            pickler.dump(model)
        except Exception:
            continue
        return buffer.getvalue()
    return pickle.dumps(model)


def _pickled(rng: Random, model: Any) -> bytes:
    protocol = rng.choice((4, 4, 3, 2))
    return _written(rng, lambda file: _Pickler(file, protocol), model)


def _joblibbed(rng: Random, model: Any) -> bytes:
    return _written(rng, lambda file: _Joblib(file), model)


def _changed(rng: Random, reduced: tuple[Any, ...]) -> tuple[Any, ...]:
    """Another way to rebuild an object."""
    function, arguments, *rest = reduced
    state = rest[0] if rest else None
    if isinstance(state, tuple) and len(state) == 5 and isinstance(state[1], tuple) and isinstance(state[2], np.dtype):
        return function, arguments, _array_state(rng, state)
    if state is not None and rng.random() < 0.85:
        return (function, arguments, _value(rng, state), *rest[1:])
    if arguments and rng.random() < 0.9:
        held = list(arguments)
        at = rng.randrange(len(held))
        held[at] = _value(rng, held[at])
        return (function, tuple(held), *rest)
    return (function, arguments)


def _array_state(rng: Random, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """The state of an array, of which shape, type and data may contradict one another."""
    version, shape, dtype, fortran, data = state
    way = rng.randrange(6)
    if way == 0:
        return version, rng.choice((*_SHAPES, (*shape, 1), shape[1:], shape[::-1])), dtype, fortran, data
    if way == 1:
        return version, shape, np.dtype(rng.choice(_KINDS)), fortran, data
    if way == 2 and isinstance(data, (bytes, list)):
        return version, shape, dtype, fortran, rng.choice((data[: len(data) // 2], data * 2, data[:0], data + data[:1]))
    try:
        array = np.zeros(0, dtype=np.int8)
        array.__setstate__(state)
        _, _, again = _array(rng, array).__reduce__()
    except (TypeError, ValueError):
        return version, shape, dtype, not fortran, data
    return again


def _value(rng: Random, value: Any) -> Any:
    """Another value in its place: near it, or of another kind."""
    if isinstance(value, np.ndarray) and rng.random() < 0.9:
        return _array(rng, value)
    if isinstance(value, dict) and value and rng.random() < 0.97:
        held = dict(value)
        key = rng.choice(list(held))
        if rng.random() < 0.12:
            del held[key]
        elif rng.random() < 0.1:
            held[key] = held[rng.choice(list(held))]
        else:
            held[key] = _value(rng, held[key])
        return held
    if isinstance(value, (list, tuple)) and value and rng.random() < 0.85:
        items = list(value)
        at = rng.randrange(len(items))
        way = rng.randrange(6)
        if way < 3:
            items[at] = _value(rng, items[at])
        elif way == 3:
            del items[at]
        elif way == 4:
            items.insert(at, items[at])
        else:
            items = items[::-1]
        return type(value)(items) if type(value) in (list, tuple) else items
    if type(value) is int and rng.random() < 0.7:
        return rng.choice((value + 1, value - 1, -value, value * 1000, *_INTEGERS))
    if isinstance(value, (float, np.floating)) and rng.random() < 0.7:
        return rng.choice(_FLOATS)
    if isinstance(value, str) and rng.random() < 0.5:
        return value + rng.choice(("", "x", "\x00", " ", "é"))
    return copy.copy(rng.choice(_VALUES))


def _array(rng: Random, array: np.ndarray) -> np.ndarray:
    """Another array: of another shape or type, or with odd values in it."""
    way = rng.randrange(10)
    try:
        if way == 0:
            return array[: rng.randrange(len(array) + 1)] if array.ndim else array.reshape(1)
        if way == 1:
            return np.concatenate([array, array[: rng.choice((1, 2, len(array)))]])
        if way == 2:
            return array.reshape(rng.choice(((-1,), (1, -1), (-1, 1), array.shape[::-1])))
        if way == 3:
            return array.astype(rng.choice(_KINDS))
    except (TypeError, ValueError, OverflowError):
        return array.reshape(-1)[:0]
    held = array.copy()
    if not held.size:
        return held.astype(object) if rng.random() < 0.3 else np.zeros(3)
    if held.dtype.names:
        field = held[rng.choice(held.dtype.names)]
        field[...] = _values(rng, field.copy())
        return held
    return _values(rng, held)


def _values(rng: Random, held: np.ndarray) -> np.ndarray:
    """Odd values in some places; whole numbers may point to one another, or to themselves."""
    places = [rng.randrange(held.size) for _ in range(rng.choice((1, 1, 1, 3, held.size)))]
    for place in places:
        flat: Any = None
        if held.dtype.kind in "iu":
            flat = rng.choice((place, place - 1, place + 1, held.size, held.size - 1, *_INTEGERS))
            info = np.iinfo(held.dtype)
            flat = min(max(flat, int(info.min)), int(info.max))
        elif held.dtype.kind == "f":
            flat = rng.choice(_FLOATS)
        elif held.dtype.kind == "b":
            flat = not held.flat[place]
        elif held.dtype.kind == "O":
            flat = _value(rng, held.flat[place])
            if isinstance(flat, (list, tuple, np.ndarray, dict)):
                flat = None
        else:
            flat = held.flat[rng.randrange(held.size)]
        with np.errstate(all="ignore"):
            held.flat[place] = flat
    return held


def mutated_opcodes(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A pickle some of whose opcodes are others, gone, or twice; names become other names that are allowed."""
    try:
        starts = [at for _, _, at in pickletools.genops(data)]
        parts = [data[start:end] for start, end in zip(starts, [*starts[1:], len(data)], strict=True)]
    except Exception:  # joblib's arrays stand between opcodes
        return mutated_bytes(rng, data, others)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(parts))
        way = rng.randrange(7)
        if way == 0:
            parts[at] = b""
        elif way == 1:
            parts[at] = parts[at] * rng.choice((2, 3, 1000))
        elif way == 2:
            parts[at] = parts[rng.randrange(len(parts))]
        elif way == 3:
            parts.insert(at, rng.choice(_OPCODES))
        elif way == 4:
            module, name = rng.choice(_PAIRS)
            parts[at] = f"c{module}\n{name}\n".encode()
        elif way == 5:
            end = at + rng.randrange(1, 12)
            parts[at:end] = parts[at:end] * 2
        else:
            parts[at] = rng.choice(_OPCODES)
        if not parts:
            return b""
    return b"".join(parts)


_PAIRS = sorted(ALLOWED | {("os", "system"), ("builtins", "eval"), ("numpy", "load"), ("builtins", "getattr")})
_OPCODES: tuple[bytes, ...] = (
    *(b"N", b"\x88", b"\x89", b"(", b")", b"]", b"}", b"\x8f", b"t", b"l", b"d", b"0", b"2", b"1", b"a", b"e", b"s"),
    *(b"u", b"\x90", b"\x91", b"R", b"b", b"\x81", b"\x92", b"\x93", b"\x94", b".", b"\x85", b"\x86", b"\x87", b"o"),
    *(
        b"K\x00",
        b"K\xff",
        b"M\xff\xff",
        b"J\xff\xff\xff\xff",
        b"J\xff\xff\xff\x7f",
        b"\x8a\x08" + b"\xff" * 7 + b"\x7f",
    ),
    *(
        b"\x8b" + struct.pack("<i", 100000) + b"\x7f" * 100000,
        b"I" + b"9" * 3000 + b"\n",
        b"F1e400\n",
        b"Gx" + b"\xff" * 7,
    ),
    *(b"\x8c\x01x", b"X\xff\xff\xff\xff", b"B\xff\xff\xff\x7f", b"\x8d" + b"\xff" * 8, b"\x96" + b"\xff" * 7 + b"\x7f"),
    *(b"r\xff\xff\xff\xff", b"j\xff\xff\xff\x7f", b"h\x00", b"q\x00", b"h\xff", b"\x95" + b"\xff" * 8, b"\x80\x05"),
    *(b"\x80\xff", b"\x97", b"\x98", b"P1\n", b"Q", b"\x82\x01", b"cbuiltins\nbytearray\n", b"cnumpy\ndtype\n"),
)
