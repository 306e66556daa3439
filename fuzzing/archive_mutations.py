"""Mutations of files that hold other files or arrays: skops' archives, Parquet, numpy's arrays."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np

from fuzzing.bytes_mutations import NUMBERS, WORDS, mutated_bytes
from fuzzing.json_mutations import change, dumped, mutated_json
from fuzzing.table_mutations import mutated_table

__all__ = ["mutated_arrays", "mutated_gzip", "mutated_parquet", "mutated_skops"]


def mutated_skops(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Another schema, other arrays, members gone, twice or huge; bytes, now and then."""
    if rng.random() < 0.15:
        return mutated_bytes(rng, data, others)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            held = {info.filename: archive.read(info) for info in archive.infolist()[:500] if info.file_size < 1 << 22}
    except Exception:  # a broken archive raises whatever its bytes lead to
        return mutated_bytes(rng, data, others)
    names = sorted(held)
    arrays = [name for name in names if name.endswith(".npy")]
    for _ in range(rng.choice((1, 1, 2))):
        way = rng.randrange(10)
        if way < 6 and "schema.json" in held:
            held["schema.json"] = mutated_json(rng, held["schema.json"], ())
        elif arrays and way < 9:
            name = rng.choice([other for other in arrays if other in held] or names)
            held[name] = mutated_arrays(rng, held.get(name, b""), [held[other] for other in arrays if other in held])
        elif names:
            held.pop(rng.choice(names), None)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, content in held.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def mutated_gzip(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A compressed table with another one inside, or with broken bytes outside; several of them, now and then."""
    if rng.random() < 0.6:
        return mutated_bytes(rng, data, others)
    try:
        plain = gzip.decompress(data)
    except (EOFError, OSError, zlib.error):
        return mutated_bytes(rng, data, others)
    made = gzip.compress(mutated_table(rng, plain, ()), 1, mtime=0)
    return rng.choice((made, made, made + made, made + b"\x00" * 9, made[:-4], bz2.compress(plain)))


_HEADERS = (
    *("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,), }", "{'descr': '|O', 'shape': (1,)}"),
    *("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", "{'descr': 'V9', 'fortran_order': 1, 'shape': ()}"),
    *("[" * 200, "{'descr': '<f4', 'fortran_order': True, 'shape': (0,), }", "__import__('os')", "", "{}", "(" * 5000),
    "{'descr': [('a', '<f8'), ('b', '<i4')], 'fortran_order': False, 'shape': (2,), }",
)


def mutated_arrays(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """An array of numpy with other values, or a header that lies; bytes where it is none."""
    way = rng.randrange(4)
    if not data.startswith(b"\x93NUMPY") or way == 0:
        return mutated_bytes(rng, data, others)
    if way == 1:
        header = rng.choice(_HEADERS).encode()
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) % 65536) + header + data[-64:]
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception:  # a broken array raises whatever its bytes lead to
        return mutated_bytes(rng, data, others)
    if array.size and array.dtype.kind in "fiub":
        flat = array.reshape(-1)
        for _ in range(rng.choice((1, 1, 5))):
            odd = (float("nan"), float("inf"), -1, 0, 1e30, 7) if array.dtype.kind == "f" else (0, 1, -1, 120, 7)
            with np.errstate(all="ignore"):
                flat[rng.randrange(flat.size)] = np.array(rng.choice(odd)).astype(array.dtype)
    kinds = ("<f4", "<f8", "<i8", "<i4", "|b1", "<U3", "<c16", ">f8", "<M8[s]")
    try:
        if rng.random() < 0.3:
            with np.errstate(all="ignore"):
                array = array.astype(rng.choice(kinds))
        if rng.random() < 0.3:
            array = rng.choice((array[:0], array[:1], array.reshape(-1), array.reshape(1, *array.shape), array.T))
    except (TypeError, ValueError, IndexError):
        return mutated_bytes(rng, data, others)
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def mutated_parquet(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Columns of other types, names and metadata; bytes, as often."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if rng.random() < 0.5:
        # The footer says what is where.
        footer = rng.random() < 0.5
        head = data[:-1500] if footer else b""
        return head + mutated_bytes(rng, data[len(head) :], others)
    table = pq.read_table(io.BytesIO(rng.choice(_good())))
    try:
        for _ in range(rng.choice((1, 1, 2, 3))):
            table = _changed(rng, table)
        if not table.num_columns:
            table = table.append_column("sex", pa.array(["M"] * table.num_rows))
        buffer = io.BytesIO()
        pq.write_table(table, buffer, row_group_size=rng.choice((1, 7, 1000)), compression=rng.choice(("none", "zstd")))
    except Exception:  # not every table can be written
        return mutated_bytes(rng, data, others)
    return buffer.getvalue()


@cache
def _good() -> list[bytes]:
    from fuzzing.seeds import parquet_files

    return parquet_files()


def _changed(rng: Random, table: Any) -> Any:
    import pyarrow as pa

    at = rng.randrange(table.num_columns)
    name, n = table.column_names[at], table.num_rows
    way = rng.randrange(8)
    if way == 0:
        return table.remove_column(at)
    if way == 1:
        new = [rng.choice(WORDS) if other == at else held for other, held in enumerate(table.column_names)]
        return table.rename_columns(new)
    if way == 2:
        return table.append_column(name, table.column(at))
    if way == 3:
        return table.slice(rng.randrange(n + 1), rng.choice((0, 1, n)))
    if way == 4:
        raw = (table.schema.metadata or {}).get(b"pandas", b"{}")
        held = json.loads(raw)
        return table.replace_schema_metadata({"pandas": dumped(change(rng, held, held))})
    values = _columns(rng, n)
    if way == 5:
        mask = [rng.random() < 0.5 for _ in range(n)]
        held = table.column(at).to_pylist()
        values = pa.array([None if gone else value for value, gone in zip(held, mask, strict=True)])
    return table.set_column(at, name, values)


def _columns(rng: Random, n: int) -> Any:
    """A column of some type that Parquet has."""
    import decimal

    import pyarrow as pa

    words = [rng.choice(WORDS[:30]) for _ in range(n)]
    return rng.choice(
        (
            lambda: pa.array(words),
            lambda: pa.array([word.encode() for word in words]),
            lambda: pa.array([float(rng.choice(NUMBERS[:10])) for _ in range(n)]),
            lambda: pa.array([rng.choice((0, 1, 2**63 - 1, -(2**63))) for _ in range(n)]),
            lambda: pa.array([rng.choice((0, 2**64 - 1)) for _ in range(n)], pa.uint64()),
            lambda: pa.array([decimal.Decimal("1e30")] * n),
            lambda: pa.array([rng.choice((0, 2**62, -(2**62))) for _ in range(n)], pa.timestamp("us")),
            lambda: pa.array([0] * n, pa.time64("us")),
            lambda: pa.array([rng.choice((0, 2**31 - 1)) for _ in range(n)], pa.date32()),
            lambda: pa.array([1] * n, pa.duration("ns")),
            lambda: pa.array([{"a": 1, "b": [1]}] * n),
            lambda: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int64())),
            lambda: pa.array([None] * n),
            lambda: pa.array([True, None] * (n // 2) + [False] * (n % 2)),
            lambda: pa.array(words).dictionary_encode(),
            lambda: pa.array([1.5] * n, pa.float16()),
            lambda: pa.array(words, pa.large_string()),
        )
    )()
