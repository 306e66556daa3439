"""Mutations of tables that stay tables: CSV, and JSON lines, of odd cells, columns and rows."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from random import Random
from typing import Any

from fuzzing.bytes_mutations import NUMBERS, WORDS, mutated_text
from fuzzing.json_mutations import change, dumped

__all__ = ["mutated_lines", "mutated_table"]

_SHORT = tuple(word for word in WORDS if len(word) < 100)


def mutated_table(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """CSV text with other cells, columns or rows; any text, now and then."""
    if rng.random() < 0.4:
        return mutated_text(rng, data, others)
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error):
        return mutated_text(rng, data, others)
    rows = [row for row in rows if row][:2000]
    width = min(map(len, rows), default=0)
    rows = [row[:width] for row in rows] if rng.random() < 0.9 else rows
    if len(rows) < 2:
        return mutated_text(rng, data, others)
    for _ in range(rng.choice((1, 1, 2, 2, 3, 5))):
        if len(rows) > 1 and all(rows):
            rows = rng.choice(_CHANGES)(rng, rows)
    text = io.StringIO()
    csv.writer(text, lineterminator=rng.choice(("\n", "\n", "\n", "\r\n"))).writerows(rows)
    return text.getvalue().encode("utf-8", "surrogatepass")


Rows = list[list[str]]


def _odd(rng: Random) -> str:
    return rng.choice(NUMBERS if rng.random() < 0.6 else _SHORT)


def _column(rng: Random, rows: Rows) -> int:
    return rng.randrange(min(map(len, rows)))


def _cell(rng: Random, rows: Rows) -> Rows:
    at = _column(rng, rows)
    for _ in range(rng.choice((1, 1, 3, 10))):
        rows[rng.randrange(1, len(rows))][at] = _odd(rng)
    return rows


def _values(rng: Random, rows: Rows) -> Rows:
    """A column of one odd value, of a few, of as many as there are rows, or blank."""
    at = _column(rng, rows)
    few = [_odd(rng) for _ in range(rng.choice((1, 1, 2, 3)))]
    way = rng.randrange(4)
    for number, row in enumerate(rows[1:]):
        row[at] = rng.choice(few) if way < 2 else "" if way == 2 else f"{row[at]}{number}"
    return rows


def _scaled(rng: Random, rows: Rows) -> Rows:
    """Numbers so large or so small that sums of them go astray."""
    at, factor = _column(rng, rows), rng.choice(("e300", "e-300", "e308", "e18", "00000000000000000000"))
    for row in rows[1:]:
        if rng.random() < 0.8 and row[at][:1].isdigit():
            row[at] += factor
    return rows


def _exchanged(rng: Random, rows: Rows) -> Rows:
    at, other = _column(rng, rows), _column(rng, rows)
    for row in rows[rng.choice((0, 1)) :]:
        row[at], row[other] = row[other], row[at]
    return rows


def _named(rng: Random, rows: Rows) -> Rows:
    rows[0][_column(rng, rows)] = rng.choice((*_SHORT, *rows[0]))
    return rows


def _without(rng: Random, rows: Rows) -> Rows:
    at = _column(rng, rows)
    held = [row[:at] + row[at + 1 :] for row in rows]
    return held if held[0] else rows


def _twice(rng: Random, rows: Rows) -> Rows:
    at = _column(rng, rows)
    many = rng.choice((1, 1, 1, 200))
    return [[*row, *[row[at] if number else f"{row[at]}{i}" for i in range(many)]] for number, row in enumerate(rows)]


def _fewer(rng: Random, rows: Rows) -> Rows:
    return (
        rows[: rng.choice((1, 2, 2, 3, 4, 8, len(rows)))] if rng.random() < 0.5 else [rows[0], *rows[len(rows) // 2 :]]
    )


def _more(rng: Random, rows: Rows) -> Rows:
    at = rng.randrange(1, len(rows)) if len(rows) > 1 else 0
    return rows + [list(rows[at]) for _ in range(rng.choice((1, 20, 400)))]


_CHANGES = (_cell, _cell, _cell, _values, _values, _scaled, _exchanged, _named, _without, _twice, _fewer, _more)


def mutated_lines(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """JSON lines some of whose objects are others; any text, now and then."""
    if rng.random() < 0.3:
        return mutated_text(rng, data, others)
    lines = data.split(b"\n")
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(lines))
        try:
            held: Any = json.loads(lines[at])
            strange: Any = json.loads(rng.choice(lines))
        except (RecursionError, ValueError):
            continue
        lines[at] = dumped(change(rng, held, strange)).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)
