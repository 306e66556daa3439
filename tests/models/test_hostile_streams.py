"""Pickle streams written by hand: each is refused in one line, in its own process, quickly and without a crash."""

from __future__ import annotations

import bz2
import subprocess
import sys

import pytest


def text(value: str) -> bytes:
    return b"\x8c" + bytes([len(value)]) + value.encode()


def named(module: str, name: str) -> bytes:
    return text(module) + text(name) + b"\x93"


def in_a_tree(value: bytes) -> bytes:
    tree = named("sklearn.tree._classes", "DecisionTreeClassifier") + b")\x81}" + text("classes_") + value + b"s"
    return b"\x80\x04" + tree + text("n_features_in_") + b"K\x01sb."


NDARRAY, DTYPE = named("numpy", "ndarray"), named("numpy", "dtype")
RECONSTRUCT = named("numpy._core.multiarray", "_reconstruct")
OBJECT = DTYPE + text("O") + b"\x85R"
POINTER = b"C\x08AAAAAAAA"


def array(dtype: bytes, data: bytes) -> bytes:
    """An empty array and its state: version, shape (1,), dtype, order, data."""
    return RECONSTRUCT + NDARRAY + b"K\x00\x85C\x01b\x87R(K\x01K\x01\x85" + dtype + b"\x89" + data + b"tb"


def state(size: bytes, flags: bytes = b"K\x00", fields: bytes = b"NN") -> bytes:
    return b"(K\x03" + text("|") + b"N" + fields + size + b"K\x01" + flags + b"tb"


FIELD = text("a") + b"\x85}" + text("a") + OBJECT + b"K\x00\x86s"
BIG = b"J\x00\x00\x00\x40"

STREAMS = {
    "ndarray of pointers": in_a_tree(NDARRAY + b"(K\x01\x85" + OBJECT + POINTER + b"tR"),
    "array state of pointers": in_a_tree(array(OBJECT, POINTER)),
    "dtype with object flags hidden": in_a_tree(
        array(DTYPE + text("V8") + b"\x85R" + state(b"K\x08", b"K\x3f", FIELD), POINTER)
    ),
    "dtype with an object field": in_a_tree(
        array(DTYPE + text("V8") + b"\x85R" + state(b"K\x08", b"K\x00", FIELD), POINTER)
    ),
    "dtype that grows": in_a_tree(DTYPE + text("V8") + b"\x85R" + state(BIG)),
    "dtype of negative size": in_a_tree(DTYPE + text("V8") + b"\x85R" + state(b"J\xff\xff\xff\xff")),
    "dtype of a dictionary": in_a_tree(DTYPE + b"}\x85R"),
    "frombuffer of pointers": in_a_tree(
        named("numpy._core.numeric", "_frombuffer") + b"(" + POINTER + OBJECT + b"K\x01\x85" + text("C") + b"tR"
    ),
    "scalar of pointers": in_a_tree(named("numpy._core.multiarray", "scalar") + OBJECT + POINTER + b"\x86R"),
    "shape too long": in_a_tree(array(DTYPE + text("f8") + b"\x85R", b"C\x04AAAA")),
    "state of a function": b"\x80\x04"
    + named("sklearn.metrics._ranking", "roc_auc_score")
    + b"}"
    + text("zz")
    + text("x")
    + b"sb.",
    "state of a Cython function": b"\x80\x04"
    + named("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked")
    + b"}"
    + text("z")
    + text("x")
    + b"sb.",
    "a gigabyte of zeros": b"\x80\x04" + named("builtins", "bytes") + b"J\x00\x00\x00\x60\x85R.",
    "a matrix of a billion rows": b"\x80\x04"
    + named("scipy.sparse._csr", "csr_matrix")
    + b"J\x00\x00\x00\x40K\x01\x86\x85R.",
    "a tree of a million outputs": b"\x80\x04"
    + named("sklearn.tree._tree", "Tree")
    + b"K\x01"
    + array(DTYPE + text("i8") + b"\x85R", b"C\x08" + b"\x02" + b"\x00" * 7)
    + b"J\x40\x42\x0f\x00\x87R.",
    "a deep key": b"\x80\x04})"
    + b"".join(b"q" + bytes([i]) + b"0(" + (b"h" + bytes([i])) * 10 + b"t" for i in range(12))
    + b"Ns.",
    "extension": b"\x80\x04\x82\x01.",
    "old instance": b"(iposix\nsystem\n.",
    "old object": b"\x80\x02(cposix\nsystem\nX\x02\x00\x00\x00lso.",
    "persistent": b"\x80\x04Pabc\n.",
    "bomb": bz2.compress(b"\x80\x04" + b"N" * 2**29),
}


@pytest.mark.parametrize("kind", STREAMS)
def test_refused_without_a_crash(tmp_path, kind):
    (tmp_path / "m.pkl").write_bytes(STREAMS[kind])
    (tmp_path / "d.csv").write_text("sex,x\nf,1\nm,2\n")
    words = ["verify", "--model", "m.pkl", "--data", "d.csv", "--sensitive", "sex"]
    done = subprocess.run(
        [sys.executable, "-m", "justicia", *words], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2, done
    lines = done.stderr.splitlines()
    assert lines[-1].startswith("justicia: m.pkl")
    assert "Traceback" not in done.stderr
    assert "unexpected" not in done.stderr
