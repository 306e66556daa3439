"""Characteristic functions of the score on a circle: phi(k) = mean of exp(2 pi i k x), x = score / length.

Frequencies come in blocks of `BLOCK`: e((k0 + w) x) = e(k0 x) e(w x), so a block costs one complex product a value.
A feature with thousands of values is cut into bins so narrow that e(w x) is a polynomial in x there, to rounding: the
values are replaced by a few Chebyshev nodes with complex weights, found once a block for all groups by one matrix
product.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from justicia.solvers.parts import Part, product, upward

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["BLOCK", "INTERPOLATION", "NEGLIGIBLE", "PANEL", "Spectrum", "turns"]

BLOCK = 256
"""Frequencies in a block."""
PANEL = 16
"""Blocks that are prepared together."""
_CENTRE = BLOCK // 2
_NODES = 16
_ANGLE = 2.0
"""Half the angle that e(w x) runs through in a bin, at most."""
_FEW_VALUES = 4 * _NODES
_GRID = 2.0**28
NEGLIGIBLE = 1e-13
"""Moduli below it count as 0 and are charged to the rounding."""

INTERPOLATION = 4.0 * _ANGLE**_NODES / (2.0 ** (_NODES - 1) * 20922789888000.0) + 64 * _NODES * 2.0**-53
"""Error of a mean over interpolated values: the remainder at Chebyshev nodes, a^n / (2^(n-1) n!) for e(a t) on [-1, 1]
(Trefethen 2013, chapter 8), real and imaginary part, doubled; and rounding times Lebesgue's constant, below 3."""


def turns(k: float | np.ndarray, x: np.ndarray) -> np.ndarray:
    """exp(2 pi i k x), accurate to a few units however large k is.

    Parameters
    ----------
    k : integer below 2^24, or array of them
    x : float64 array
        In turns; broadcast against k.
    """
    x = x - np.floor(x)
    high = np.floor(x * _GRID) / _GRID
    phase = k * high
    phase -= np.rint(phase)
    phase = 2.0 * np.pi * (phase + k * (x - high))
    out = np.empty(phase.shape, dtype=np.complex128)
    np.cos(phase, out=out.real)
    np.sin(phase, out=out.imag)
    return out


@dataclass(frozen=True)
class _Values:
    """A part whose values stand for themselves.

    Attributes
    ----------
    x : float64 array of shape (n_cells,)
        Values in turns.
    fine : complex array of shape (n_cells, BLOCK)
        e(w x).
    """

    x: np.ndarray
    fine: np.ndarray

    def prepared(self, starts: np.ndarray, n_groups: int) -> np.ndarray:  # noqa: ARG002 (the same for all)
        """e(k0 x) of each block, of shape (n_blocks, n_cells)."""
        return turns(starts[:, None] + _CENTRE, self.x)

    def averaged(self, part: Part, prepared: np.ndarray) -> np.ndarray:
        return part.averaged(prepared[:, None] * self.fine)


@dataclass(frozen=True)
class _Bins:
    """A part whose values are interpolated.

    Attributes
    ----------
    x : float64 array of shape (n_cells,)
    bins : list of (start, end)
        Cells of each bin.
    basis : list of float64 arrays of shape (n_groups * _NODES, n_cells of the bin)
        Probability of each cell times each Lagrange polynomial at it, by bin.
    fine : complex array of shape (n_bins * _NODES, BLOCK)
        e(w x) at the nodes.
    of_state : int array of shape (n_states + 1,)
        First bin of each state.
    strides : complex array of shape (n_cells, PANEL)
        e(BLOCK j x) of the blocks in a panel.
    """

    x: np.ndarray
    bins: list[tuple[int, int]]
    basis: list[np.ndarray]
    fine: np.ndarray
    of_state: np.ndarray
    strides: np.ndarray

    def prepared(self, starts: np.ndarray, n_groups: int) -> np.ndarray:
        """Weights of the nodes in each block, of shape (n_blocks, n_groups, n_bins * _NODES)."""
        coarse = turns(starts[0] + _CENTRE, self.x)[:, None] * self.strides[:, : len(starts)]
        weights = np.empty((len(starts), n_groups, len(self.bins) * _NODES), dtype=np.complex128)
        for i, (first, end) in enumerate(self.bins):
            made = product(self.basis[i][: n_groups * _NODES], coarse[first:end])
            weights[:, :, i * _NODES : (i + 1) * _NODES] = made.T.reshape(len(starts), n_groups, _NODES)
        return weights

    def averaged(self, part: Part, prepared: np.ndarray) -> np.ndarray:
        out = np.empty((len(prepared), part.n_states, BLOCK), dtype=np.complex128)
        for state, (first, end) in enumerate(pairwise(self.of_state.tolist())):
            chosen = slice(first * _NODES, end * _NODES)
            np.matmul(prepared[:, chosen], self.fine[chosen], out=out[:, state])
        return out


class Spectrum:
    """phi(k) of some groups, block by block.

    Parameters
    ----------
    parts : sequence of Part
        In upward order.
    length : float
        Of the circle.
    """

    def __init__(self, parts: Sequence[Part], length: float) -> None:
        self._parts = parts
        self._ways = [_way(part, length) for part in parts]
        self.n_interpolated = sum(isinstance(way, _Bins) for way in self._ways)

    def blocks(self, starts: np.ndarray, n_groups: int) -> Iterator[np.ndarray]:
        """phi(k) of the first groups for k = start, ..., start + BLOCK - 1, for up to `PANEL` neighbouring blocks.

        Yields
        ------
        complex array of shape (n_groups, BLOCK)
        """
        parts = [part.of(slice(0, n_groups)) for part in self._parts]
        prepared = [way.prepared(starts, n_groups) for way in self._ways]
        for block in range(len(starts)):

            def averaged(position: int, part: Part, block: int = block) -> np.ndarray:
                return self._ways[position].averaged(part, prepared[position][block])

            total = np.ones((n_groups, BLOCK), dtype=np.complex128)
            yield upward(parts, averaged, total, NEGLIGIBLE)


def _way(part: Part, length: float) -> _Values | _Bins:
    x = part.values / length
    x = x - np.floor(x.min(initial=0.0))
    w = np.arange(BLOCK, dtype=np.float64) - _CENTRE
    if part.within is not None and len(x) > _FEW_VALUES:
        bins, of_state = _cut(x, part.starts)
        if len(bins) * _NODES * 2 < len(x):
            return _interpolated(part, x, bins, of_state, w)
    return _Values(x, turns(w, x[:, None]))


def _cut(x: np.ndarray, starts: np.ndarray) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Bins of cells inside the states, each narrow enough to interpolate in, and the first bin of each state."""
    width = _ANGLE / (np.pi * _CENTRE)
    bins: list[tuple[int, int]] = []
    of_state = [0]
    for start, end in pairwise(starts.tolist()):
        while start < end:
            stop = int(np.searchsorted(x[start:end], x[start] + width, side="right")) + start
            bins.append((start, stop))
            start = stop
        of_state.append(len(bins))
    return bins, np.array(of_state)


def _interpolated(part: Part, x: np.ndarray, bins: list[tuple[int, int]], of_state: np.ndarray, w: np.ndarray) -> _Bins:
    angles = (2 * np.arange(_NODES) + 1) * np.pi / (2 * _NODES)
    reference = np.cos(angles)
    barycentric = (-1.0) ** np.arange(_NODES) * np.sin(angles)
    basis, nodes = [], []
    for first, end in bins:
        low, high = x[first], x[end - 1]
        middle, half = (low + high) / 2, max((high - low) / 2, 1e-300)
        at = middle + half * reference
        nodes.append(at)
        away = (x[first:end] - middle)[:, None] / half - reference
        hit = away == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            share = barycentric / away
            share = np.where(hit.any(axis=1, keepdims=True), hit, share / share.sum(axis=1, keepdims=True))
        if half == 1e-300:
            share = np.zeros_like(share)
            share[:, 0] = 1.0
            nodes[-1] = np.full(_NODES, middle)
        within = part.within[:, first:end]  # type: ignore[index]
        weighted = within[:, None, :] * share.T[None]
        basis.append(weighted.reshape(-1, end - first))
    strides = turns(np.arange(PANEL) * float(BLOCK), x[:, None])
    return _Bins(x, bins, basis, turns(w, np.concatenate(nodes)[:, None]), of_state, strides)
