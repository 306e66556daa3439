"""Find where monotone tests change, exactly to the last float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["LARGEST", "last_true"]

LARGEST = 1e150
"""Ends of the search: larger numbers would become infinite in a scaler, and the next step refuses infinity."""
_PROBES = 32
_SIGN = np.int64(np.iinfo(np.int64).max)


def _to_key(values: np.ndarray) -> np.ndarray:
    """Map float64 to int64 so that the order is kept and neighbours differ by 1."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, -(bits & _SIGN), bits)


def _from_key(keys: np.ndarray) -> np.ndarray:
    bits = np.where(keys < 0, (-keys) | np.int64(np.iinfo(np.int64).min), keys)
    return np.ascontiguousarray(bits).view(np.float64)


def last_true(test: Callable[[np.ndarray], np.ndarray], n_tests: int) -> np.ndarray:
    """For each test, the largest float64 before its answer changes.

    Each test must change its answer at most once; one that never does has no such value.

    Parameters
    ----------
    test : callable
        Takes values of shape (n_tests, n_probes), returns bools of the same shape; row i asks test i.
    n_tests : int

    Returns
    -------
    float64 array of shape (n_tests,)
        NaN where the answer never changes.

    >>> last_true(lambda values: values <= 0.1, 1)
    array([0.1])
    """
    low = np.full(n_tests, _to_key(np.array([-LARGEST]))[0])
    high = np.full(n_tests, _to_key(np.array([LARGEST]))[0])
    ends = test(np.stack([_from_key(low), _from_key(high)], axis=1))
    constant = ends[:, 0] == ends[:, 1]
    steps = np.arange(1, _PROBES + 1, dtype=np.uint64)
    while True:
        # Keys lie between -2**63 and 2**63, so their distance fits an unsigned 64-bit number.
        distance = high.view(np.uint64) - low.view(np.uint64)
        if (distance <= 1).all():
            break
        stride = np.maximum(distance // np.uint64(_PROBES + 1), np.uint64(1))
        inside = np.minimum(stride[:, None] * steps, (distance - np.uint64(1))[:, None])
        inside = np.maximum(inside, np.uint64(0))
        keys = (low.view(np.uint64)[:, None] + inside).view(np.int64)
        held = test(_from_key(keys)) == ends[:, :1]
        count = held.sum(axis=1)
        rows = np.arange(n_tests)
        low = np.where(count > 0, keys[rows, np.maximum(count - 1, 0)], low)
        high = np.where(count < _PROBES, keys[rows, np.minimum(count, _PROBES - 1)], high)
    return np.where(constant, np.nan, _from_key(low))
