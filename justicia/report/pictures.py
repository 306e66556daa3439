"""Geometry of the report's pictures; the template draws them as SVG.

The chart of the groups has a row a group, each its own drawing whose horizontal positions are percentages, so that it
fits a telephone, a screen and a sheet of paper with letters of one size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from justicia.enclosure import Enclosure
from justicia.words import shown

__all__ = ["Bar", "Box", "Chart", "Charted", "Edge", "Graph", "chart", "graph"]

MOST_BARS = 60
"""Longer charts show both ends."""

_ENDS = 20
_LONGEST_NAME = 26
_CHARACTER = 7.4
_BOX_HEIGHT = 30
_COLUMN_GAP = 56
_ROW_GAP = 14
_MOST_BOXES = 60


@dataclass(frozen=True)
class Bar:
    """A group in the chart; positions in percent of the width, None where there is nothing to show."""

    name: str
    mark: str
    says: str
    lo: float | None
    hi: float | None
    middle: float | None
    rows: float | None
    rows_lo: float | None
    rows_hi: float | None


@dataclass(frozen=True)
class Charted:
    """What the chart shows of a group: its certain and its statistical bounds, and the JSON of the rows' rate.

    The last is a mapping with ``value``, ``lo`` and ``hi``.
    """

    name: str
    mark: str
    rate: Enclosure | None
    drawn: Enclosure | None
    sample: Mapping[str, Any] | None


@dataclass(frozen=True)
class Chart:
    """Rates of groups, largest first."""

    ticks: list[tuple[float, str]]
    first: list[Bar]
    left_out: int
    last: list[Bar]


@dataclass(frozen=True)
class Box:
    """A feature in the graph of the population, in pixels."""

    name: str
    full: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Edge:
    """An arrow from a parent to a child, as the path of a curve."""

    path: str
    says: str


@dataclass(frozen=True)
class Graph:
    """Which feature depends on which."""

    width: float
    height: float
    boxes: list[Box]
    edges: list[Edge]
    says: str


def chart(groups: Sequence[Charted]) -> Chart | None:
    """Positions of the groups' verified rates and of those of the rows, with intervals.

    Parameters
    ----------
    groups : sequence of Charted
    """
    ends = [float(group.rate.hi) for group in groups if group.rate is not None]
    ends += [float(_end(group.sample, "hi")) for group in groups if group.sample is not None]
    if not ends:
        return None
    step, top = _scale(max(ends))
    ticks = [(100 * tick * step / top, f"{100 * tick * step:g} %") for tick in range(round(top / step) + 1)]
    held = [group for group in groups if group.rate is not None or group.sample is not None]
    left_out = 0 if len(held) <= MOST_BARS else len(held) - 2 * _ENDS
    drawn = held if not left_out else [*held[:_ENDS], *held[-_ENDS:]]
    bars = [_bar(group, top) for group in drawn]
    return Chart(ticks, bars, 0, []) if not left_out else Chart(ticks, bars[:_ENDS], left_out, bars[_ENDS:])


def _scale(largest: float) -> tuple[float, float]:
    """Distance of the ticks and the end of the axis, at most 1.

    >>> _scale(0.33), _scale(0.002), _scale(1.0)
    ((0.1, 0.4), (0.0005, 0.002), (0.2, 1.0))
    """
    largest = min(1.0, max(largest, 1e-6))
    magnitude = 10.0 ** math.floor(math.log10(largest))
    for part in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 2.5):
        step = part * magnitude
        count = math.ceil(largest / step - 1e-9)
        if count <= 5 and (step * count <= 1 + 1e-9):
            return float(f"{step:.12g}"), float(f"{step * count:.12g}")
    return 0.25, 1.0


def _bar(group: Charted, top: float) -> Bar:
    rate, sample = group.rate, group.sample
    middle = group.drawn or rate

    def place(value: float | None) -> float | None:
        return None if value is None else round(100 * min(1.0, max(0.0, value / top)), 3)

    says = []
    if rate is not None:
        lo, hi = float(rate.lo), float(rate.hi)
        says.append(f"verified {lo:.4f}" if rate.exact else f"verified {lo:.4f} to {hi:.4f}")
    if group.drawn is not None:
        says.append(f"statistical {float(group.drawn.lo):.4f} to {float(group.drawn.hi):.4f}")
    if sample is not None:
        says.append(f"rows {sample['value']:.4f}")
        if sample["lo"] is not None and sample["hi"] is not None:
            says[-1] += f", interval {sample['lo']:.4f} to {sample['hi']:.4f}"
    return Bar(
        name=group.name,
        mark=group.mark,
        says="; ".join(says),
        lo=None if rate is None else place(float(rate.lo)),
        hi=None if rate is None else place(float(rate.hi)),
        middle=None if middle is None else place(middle.middle),
        rows=None if sample is None else place(float(sample["value"])),
        rows_lo=None if sample is None else place(float(_end(sample, "lo"))),
        rows_hi=None if sample is None else place(float(_end(sample, "hi"))),
    )


def _end(sample: Mapping[str, Any], end: str) -> Any:
    """An end of the interval of a rate; the rate itself where there is none."""
    return sample["value"] if sample[end] is None else sample[end]


def graph(parents: Mapping[str, Sequence[str]]) -> Graph | None:
    """The features in columns, parents left of their children; None without arrows or with too many features.

    Parameters
    ----------
    parents : mapping of str to sequence of str
        Parents of every feature that has some.
    """
    names = list(dict.fromkeys([*(one for held in parents.values() for one in held), *parents]))
    if not any(parents.values()) or len(names) > _MOST_BOXES:
        return None
    depth = _depths(names, parents)
    if depth is None:
        return None
    columns: list[list[str]] = [[] for _ in range(1 + max(depth.values()))]
    rows: dict[str, float] = {}
    for column in range(len(columns)):
        held = [name for name in names if depth[name] == column]
        # A child stands near its parents.
        held.sort(key=lambda name: sum(rows[one] for one in parents.get(name, ())) / max(1, len(parents.get(name, ()))))
        columns[column] = held
        rows.update({name: float(row) for row, name in enumerate(held)})
    shorts = {name: shown(name, _LONGEST_NAME) for name in names}
    widths = [max(24 + _CHARACTER * len(shorts[name]) for name in column) for column in columns]
    tallest = max(len(column) for column in columns)
    height = tallest * (_BOX_HEIGHT + _ROW_GAP) - _ROW_GAP
    boxes: dict[str, Box] = {}
    x = 1.0
    for held, width in zip(columns, widths, strict=True):
        used = len(held) * (_BOX_HEIGHT + _ROW_GAP) - _ROW_GAP
        for row, name in enumerate(held):
            y = 1 + (height - used) / 2 + row * (_BOX_HEIGHT + _ROW_GAP)
            boxes[name] = Box(shorts[name], name, round(x, 1), round(y, 1), round(width, 1), _BOX_HEIGHT)
        x += width + _COLUMN_GAP
    edges = [
        Edge(_curve(boxes[one], boxes[name]), f"{one} to {name}") for name in names for one in parents.get(name, ())
    ]
    says = "; ".join(f"{name} depends on {', '.join(parents[name])}" for name in names if parents.get(name))
    return Graph(round(x - _COLUMN_GAP + 1, 1), height + 2, list(boxes.values()), edges, says)


def _depths(names: Sequence[str], parents: Mapping[str, Sequence[str]]) -> dict[str, int] | None:
    """Length of the longest path to each feature; None when the arrows go round in a circle."""
    depth = dict.fromkeys(names, 0)
    for _ in names:
        moved = False
        for name in names:
            least = max((depth[one] + 1 for one in parents.get(name, ())), default=0)
            if least > depth[name]:
                depth[name], moved = least, True
        if not moved:
            return depth
    return None


def _curve(parent: Box, child: Box) -> str:
    start, end = parent.x + parent.width, child.x - 6
    from_y, to_y = parent.y + parent.height / 2, child.y + child.height / 2
    middle = (start + end) / 2
    return f"M{start:.1f} {from_y:.1f} C{middle:.1f} {from_y:.1f} {middle:.1f} {to_y:.1f} {end:.1f} {to_y:.1f}"
