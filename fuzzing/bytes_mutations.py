"""Mutations of bytes and of text, whatever they mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

__all__ = ["NUMBERS", "WORDS", "mutated_bytes", "mutated_text", "several"]

NUMBERS = (
    *("0", "-0.0", "1", "-1", "2", "0.5", "1e400", "-1e400", "1e-400", "nan", "NaN", "inf", "-inf", "Infinity"),
    *("2147483648", "-2147483649", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808"),
    *("18446744073709551616", "1e308", "1.7976931348623157e309", "5e-324", "0x10", "1_000", "٣", "1/3", "1" * 400),
    *("9" * 5000, "0." + "3" * 2000, "1e999999999", "+1", "00012", "1.", ".5", "1e", "1,5", "99999999999"),
)
"""Numbers on which readers stumble."""

WORDS = (
    *("", " ", "\t", "\x00", "\r\n", "\r", "\n", "\ufeff", "\u202e", "\x1b[2J", "é", "日本", "\U0001f600", "a\u0301"),
    *('"', "'", '""', "\\", "\\u0000", "null", "None", "true", "NA", "-", "--", "=", ",", ";", ":", "#", "%", "*"),
    *("[", "]", "{", "}", "(", ")", "<", ">", ">=", "[" * 3000, "(" * 3000, "{" * 2000, "not " * 2000, '{"a":' * 2000),
    *("x" * 70000, "a,b", "../x", "/", "&a [*a, *a]", "!!python/object:os.system", "!!binary x", "<<: *a", "\u2028"),
    *("__class__", "1e5", "yes", "NaT", "2020-01-01", "\x85", "\x0b", "\x7f", "ﬀ", "İ", "ẞ"),
)
"""Texts on which readers stumble."""

_NUMBER = re.compile(rb"(?<![A-Za-z_])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9.]*")
_MOST = 1 << 20


def several(
    rng: Random,
    data: bytes,
    others: Sequence[bytes],
    mutations: Sequence[Callable[[Random, bytes, Sequence[bytes]], bytes]],
) -> bytes:
    """A few of the mutations, one after another; one is the most frequent number."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        data = rng.choice(mutations)(rng, data, others)[:_MOST]
    return data


def mutated_bytes(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Flips, cuts, repetitions and splices."""
    return several(rng, data, others, _OF_BYTES)


def mutated_text(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Odd numbers and words in place of others, lines moved about, other line ends; bytes, now and then."""
    return several(rng, data, others, _OF_TEXT)


def _place(rng: Random, data: bytes) -> tuple[int, int]:
    """A short span."""
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((0, 1, 1, 2, 4, 8, 16, 64, 256)))


def _flip(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    if not data:
        return b"\x00"
    held = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        held[rng.randrange(len(held))] ^= 1 << rng.randrange(8)
    return bytes(held)


def _byte(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    if not data:
        return b"\xff"
    held = bytearray(data)
    held[rng.randrange(len(held))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, 10, 13, 34, 44, rng.randrange(256)))
    return bytes(held)


def _cut(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _place(rng, data)
    return data[:start] + data[end:]


def _end(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _repeat(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _place(rng, data)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 50, 1000)) + data[end:]


def _splice(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others) if others else data
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _insert(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _place(rng, data)
    return data[:start] + _odd(rng) + data[rng.choice((start, end)) :]


def _integer(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """A whole number of the machine in place of what is there."""
    width = rng.choice((1, 2, 4, 8))
    value = rng.choice((0, 1, -1, 1 << (8 * width - 1), (1 << (8 * width - 1)) - 1, rng.getrandbits(8 * width)))
    start = rng.randrange(len(data) + 1)
    raw = (value % (1 << (8 * width))).to_bytes(width, rng.choice(("little", "big")))
    return data[:start] + raw + data[start + width :]


def _odd(rng: Random) -> bytes:
    text = rng.choice(NUMBERS if rng.random() < 0.5 else WORDS)
    return text.encode("utf-8", "surrogatepass") if rng.random() < 0.95 else b"\xed\xa0\x80"


def _number(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(data[:200_000]))
    if not found:
        return data
    at = rng.choice(found)
    near = rng.random() < 0.3 and at[0].lstrip(b"-").isdigit() and len(at[0]) < 15
    new = str(int(at[0]) + rng.choice((-1, 1, 7))).encode() if near else rng.choice(NUMBERS).encode()
    return data[: at.start()] + new + data[at.end() :]


def _word(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    found = list(_WORD.finditer(data[:200_000]))
    if not found:
        return data
    at, other = rng.choice(found), rng.choice(found)
    new = other[0] if rng.random() < 0.6 else _odd(rng)
    return data[: at.start()] + new + data[at.end() :]


def _lines(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    way = rng.randrange(5)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines.insert(rng.randrange(len(lines) + 1), lines[at])
    elif way == 2:
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif way == 3:
        lines[at:at] = [lines[at]] * rng.choice((2, 20, 300))
    elif others:
        lines.insert(at, rng.choice(rng.choice(others).split(b"\n")))
    return b"\n".join(lines)


def _ends(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Other line ends, a byte order mark, another encoding."""
    way = rng.randrange(5)
    if way == 0:
        return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"\n\r", b"\x0c")))
    if way == 1:
        half = rng.randrange(len(data) + 1)
        return data[:half] + data[half:].replace(b"\n", b"\r\n")
    if way == 2:
        return b"\xef\xbb\xbf" + data
    if way == 3:
        return data.decode("utf-8", "replace").encode(rng.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig")))
    return data.rstrip(b"\n") + rng.choice((b"", b" ", b"\x00", b"\x1a", b"\n" * 50))


_OF_BYTES = (_flip, _flip, _byte, _cut, _end, _repeat, _splice, _insert, _integer, _integer)
_OF_TEXT = (_number, _number, _number, _word, _word, _lines, _lines, _ends, _insert, _cut, _splice, mutated_bytes)
