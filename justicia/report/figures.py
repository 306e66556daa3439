"""Pictures of the reports about generations: rows of shapes, and curves in a plane.

Horizontal positions are percentages of the width and vertical ones pixels, so that a picture fits a telephone, a screen
and a sheet of paper with letters of one size. The template draws them as SVG; each picture says in words what it shows,
and stands beside a table that has its numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = [
    "Curve",
    "Figure",
    "Key",
    "Plane",
    "Row",
    "Shape",
    "circle",
    "line",
    "path",
    "rect",
    "scale",
    "share_ticks",
    "step_ticks",
    "whisker",
    "word",
]


@dataclass(frozen=True)
class Shape:
    """One thing that is drawn.

    Attributes
    ----------
    kind : {"rect", "line", "circle", "word", "path"}
    look : str
        Class of the style sheet.
    x, x2 : float
        Percent of the width.
    y, y2 : float
        Pixels; of a circle, `y2` is the radius.
    text : str
        Of a word, itself; of a path, its description in the units of `box`.
    anchor : {"start", "middle", "end"}
        Of a word.
    box : tuple of (float, float)
        Width and height that a path is stretched from.
    """

    kind: str
    look: str
    x: float = 0.0
    y: float = 0.0
    x2: float = 0.0
    y2: float = 0.0
    text: str = ""
    anchor: str = "middle"
    box: tuple[float, float] = (100.0, 100.0)


@dataclass(frozen=True)
class Row:
    """A row of a picture, with its name on the left.

    Attributes
    ----------
    name : str
    says : str
        What the row shows, for those who do not see it.
    shapes : tuple of Shape
    height : int
        Pixels.
    mark : str
        A word in a frame behind the name; may be empty.
    status : {"", "met", "breached", "undecided"}
        Colour of the mark.
    """

    name: str
    says: str
    shapes: tuple[Shape, ...]
    height: int = 24
    mark: str = ""
    status: str = ""


@dataclass(frozen=True)
class Key:
    """An entry of a legend; positions are pixels in a drawing of 34 by 16."""

    shapes: tuple[Shape, ...]
    text: str


@dataclass(frozen=True)
class Figure:
    """A picture of rows over one axis.

    Attributes
    ----------
    title, caption : str
    rows : tuple of Row
    ticks : tuple of (float, str)
        Positions in percent, and what stands there.
    axis : str
        What is on the axis.
    keys : tuple of Key
    left_out : str
        What is not drawn; may be empty.
    dense : bool
        Whether rows stand close together, as the lines of one thing.
    """

    title: str
    caption: str
    rows: tuple[Row, ...]
    ticks: tuple[tuple[float, str], ...] = ()
    axis: str = ""
    keys: tuple[Key, ...] = ()
    left_out: str = ""
    dense: bool = False


@dataclass(frozen=True)
class Curve:
    """A line in a plane, or points.

    Attributes
    ----------
    name, says : str
    look : str
        Class of the style sheet.
    points : tuple of (float, float)
        Percent of the width and of the height, from the lower left.
    joined : bool
        Whether a line joins the points; else each is a dot with its `labels`.
    labels : tuple of str
    """

    name: str
    says: str
    look: str
    points: tuple[tuple[float, float], ...]
    joined: bool = True
    labels: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The line, in a box of 100 by 100 from the upper left."""
        return "M" + "L".join(f"{x:.2f} {100 - y:.2f}" for x, y in self.points)


@dataclass(frozen=True)
class Plane:
    """A picture with two axes; fields as of `Figure`."""

    title: str
    caption: str
    curves: tuple[Curve, ...]
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    across_name: str
    up_name: str
    height: int = 260
    diagonals: tuple[Curve, ...] = field(default=())


def rect(look: str, x: float, x2: float, y: float, y2: float) -> Shape:
    """A rectangle from one corner to the other."""
    return Shape("rect", look, round(x, 3), y, round(max(x2, x), 3), y2)


def line(look: str, x: float, x2: float, y: float, y2: float) -> Shape:
    """A straight line."""
    return Shape("line", look, round(x, 3), y, round(x2, 3), y2)


def circle(look: str, x: float, y: float, radius: float) -> Shape:
    """A dot."""
    return Shape("circle", look, round(x, 3), y, 0, radius)


def word(look: str, x: float, y: float, text: str, anchor: str = "middle") -> Shape:
    """A text."""
    return Shape("word", look, round(x, 3), y, text=text, anchor=anchor)


def whisker(lo: float, hi: float, y: float = 12.0, half: float = 4.0) -> tuple[Shape, ...]:
    """An interval, with a stroke across at either end."""
    ends = [line("whisker", end, end, y - half, y + half) for end in (lo, hi)]
    return line("whisker", lo, hi, y, y), *ends


def path(look: str, text: str, box: tuple[float, float], y: float, y2: float) -> Shape:
    """A path in its own units, stretched over the row's width and from `y` to `y2`."""
    return Shape("path", look, 0, y, 100, y2, text, box=box)


def scale(largest: float, most: int = 5) -> tuple[float, float]:
    """Distance of the ticks and the end of an axis that begins at 0.

    >>> scale(0.33), scale(27), scale(0)
    ((0.1, 0.4), (10.0, 30.0), (0.2, 1.0))
    """
    if not largest > 0 or not math.isfinite(largest):
        return 0.2, 1.0
    magnitude = 10.0 ** math.floor(math.log10(largest))
    for part in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 2.5, 5.0):
        step = part * magnitude
        count = math.ceil(largest / step - 1e-9)
        if count <= most:
            return float(f"{step:.12g}"), float(f"{step * count:.12g}")
    return 10 * magnitude, 10 * magnitude


def share_ticks(top: float = 1.0, step: float = 0.25) -> tuple[tuple[float, str], ...]:
    """Ticks of an axis of shares from 0 to `top`, in percent."""
    count = round(top / step)
    return tuple((100 * one / count, f"{100 * one * step:g} %") for one in range(count + 1))


def step_ticks(n: int, most: int = 6) -> tuple[tuple[float, str], ...]:
    """Ticks over the middles of n places in a row, numbered from 1."""
    steps = (part * 10**power for power in range(16) for part in (1, 2, 5))
    step = next(one for one in steps if n <= most * one)
    places: Sequence[int] = range(1, n + 1, step) if step < 5 else [1, *range(step, n + 1, step)]
    return tuple((100 * (place - 0.5) / n, f"{place:,}") for place in places)
