"""Pictures of diversity and association by matplotlib; every function returns a figure of its own."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

from justicia.errors import InputError
from justicia.words import counted, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from justicia.generations.association_results import AssociationReport, AxisAssociation
    from justicia.generations.diversity_results import DiversityReport
    from justicia.generations.estimates import Estimate

__all__ = [
    "PICTURE_FORMATS",
    "association_heatmap",
    "association_radar",
    "entropy_bars",
    "index_bars",
    "mad_bars",
    "picture_bytes",
]

PICTURE_FORMATS = ("svg", "png", "pdf")
_LONGEST = 32
_MOST = 40


def entropy_bars(report: DiversityReport, *, most: int = _MOST) -> Figure:
    """Normalised entropies of every attribute by context, with intervals, and the contexts' scores as diamonds.

    Parameters
    ----------
    report : DiversityReport
    most : int
        Contexts to draw at most; the neutral one, and those with the lowest scores.
    """
    contexts = list(report.contexts)
    left_out = max(0, len(contexts) - most)
    if left_out:
        lowest = sorted(contexts[1:], key=lambda one: math.inf if one.score.value is None else one.score.value)
        contexts = [contexts[0], *lowest[: most - 1]]
    n, width = len(contexts), 0.8 / len(report.attributes)
    figure = _figure(7.5, 1.4 + max(0.35, 0.16 * len(report.attributes)) * n)
    axes = figure.subplots()
    for place, name in enumerate(report.attributes):
        heights = [n - row + 0.4 - width * (place + 0.5) for row in range(n)]
        held = [one.attributes[place].entropy for one in contexts]
        axes.barh(
            heights, [one.value or 0.0 for one in held], width * 0.9, color=f"C{place}", label=shown(name, _LONGEST)
        )
        _intervals(axes, held, heights)
    scores = [(one.score.value, n - row) for row, one in enumerate(contexts) if one.score.value is not None]
    if scores:
        axes.plot(*zip(*scores, strict=True), "D", color="black", markersize=5, label="geometric mean")
    names = [
        shown(one.name, _LONGEST) + (" (neutral)" if one.neutral and report.context is not None else "")
        for one in contexts
    ]
    axes.set_yticks(range(n, 0, -1), names, parse_math=False)
    axes.set_ylim(0.4, n + 0.6)
    axes.set_xlim(0, 1.02)
    rest = f" ({counted(left_out, 'context')} of higher score left out)" if left_out else ""
    axes.set_xlabel(f"normalised entropy, 1 for equal shares{rest}")
    axes.grid(axis="x", alpha=0.3)
    _legend(figure, axes)
    return figure


def index_bars(report: DiversityReport) -> Figure:
    """ID, CA and MGBI with their intervals, and in grey what a generator without any preference scores."""
    figure = _figure(7.5, 2.4)
    axes = figure.subplots()
    floor = report.floor
    bands = (None, None, None) if floor is None else (floor.intrinsic, floor.conditional, floor.mgbi)
    held = (report.intrinsic, report.conditional, report.mgbi)
    names = ("ID", f"CA {report.rule.q:g}", "MGBI")
    heights = [3.0, 2.0, 1.0]
    axes.barh(heights, [one.value or 0.0 for one in held], 0.5, color="C0")
    _intervals(axes, held, heights)
    _bands(
        axes,
        [None if one is None else (one.lo, 1.0) for one in bands],
        heights,
        "without any preference, 95 % of tables",
    )
    if report.least is not None:
        axes.axvline(report.least, color="C3", linestyle="--", label=f"asked for: {report.least:g}")
    axes.set_yticks(heights, [name if one.value is not None else f"{name} (not defined)" for name, one in
                              zip(names, held, strict=True)])  # fmt: skip
    axes.set_xlim(0, 1.02)
    axes.grid(axis="x", alpha=0.3)
    _legend(figure, axes)
    return figure


def association_heatmap(report: AssociationReport) -> Figure:
    """CAS of every counterfactual, a row an axis; colours are from 0 to 1, whatever the largest score is."""
    import numpy as np

    axes_held = _worst(report.axes)
    most = max(len(one.counterfactuals) for one in axes_held)
    values = np.full((len(axes_held), most), np.nan)
    for row, one in enumerate(axes_held):
        for place, held in enumerate(one.counterfactuals):
            values[row, place] = np.nan if held.cas.value is None else held.cas.value
    figure = _figure(2.5 + 1.5 * most, 1.2 + 0.55 * len(axes_held))
    axes = figure.subplots()
    image = axes.imshow(values, vmin=0, vmax=1, cmap="viridis", aspect="auto")
    for row, one in enumerate(axes_held):
        for place, held in enumerate(one.counterfactuals):
            value = held.cas.value
            text = f"{shown(held.name, 18)}\n{'-' if value is None else f'{value:.2f}'}"
            colour = "black" if value is None or value > 0.6 else "white"
            axes.text(place, row, text, ha="center", va="center", color=colour, fontsize=8, parse_math=False)
    axes.set_yticks(range(len(axes_held)), [shown(one.name, _LONGEST) for one in axes_held], parse_math=False)
    axes.set_xticks([])
    figure.colorbar(image, ax=axes, label="concept association score")
    return figure


def association_radar(report: AssociationReport) -> Figure:
    """CAS of all counterfactuals around a circle, a line a prompt.

    Raises
    ------
    InputError
        When there are not three counterfactuals with a score.
    """
    lines: dict[str | None, dict[str, float]] = {}
    several = len({one.axis for one in report.axes}) > 1
    for one in report.axes:
        for held in one.counterfactuals:
            if held.cas.value is not None:
                name = f"{one.axis}: {held.name}" if several else held.name
                lines.setdefault(one.by, {})[name] = held.cas.value
    spokes = list(dict.fromkeys(name for line in lines.values() for name in line))
    if len(spokes) < 3:
        raise InputError(f"a radar needs 3 counterfactuals with a score, and there are {len(spokes)}: draw bars")
    figure = _figure(6.5, 6.0)
    axes = figure.add_subplot(projection="polar")
    angles = [2 * math.pi * place / len(spokes) for place in range(len(spokes))]
    for number, (by, line) in enumerate(list(lines.items())[:_MOST]):
        radii = [line.get(name, math.nan) for name in spokes]
        axes.plot(
            [*angles, angles[0]],
            [*radii, radii[0]],
            "o-",
            color=f"C{number % 10}",
            markersize=4,
            label=None if by is None else shown(by, _LONGEST),
        )
    axes.set_xticks(angles, [shown(name, _LONGEST) for name in spokes], parse_math=False)
    axes.set_ylim(0, 1)
    axes.tick_params(axis="x", pad=14)
    axes.set_title("concept association score")
    if any(by is not None for by in lines):
        _legend(figure, axes)
    return figure


def mad_bars(report: AssociationReport) -> Figure:
    """Normalised MAD of every axis with its interval, and in grey what even mixtures have; the scale is 0 to 1."""
    held = _worst(report.axes)
    figure = _figure(7.5, 1.5 + 0.4 * len(held))
    axes = figure.subplots()
    heights = [float(len(held) - row) for row in range(len(held))]
    values = [one.mad_normalised for one in held]
    axes.barh(heights, [one.value or 0.0 for one in values], 0.5, color="C0")
    _intervals(axes, values, heights)
    _bands(
        axes,
        [None if one.null is None else (0.0, one.null.hi) for one in held],
        heights,
        "even mixtures, 95 % of tables",
    )
    if report.most is not None:
        axes.axvline(report.most, color="C3", linestyle="--", label=f"asked for at most: {report.most:g}")
    names = [shown(one.name, _LONGEST) + ("" if one.mad.value is not None else " (not defined)") for one in held]
    axes.set_yticks(heights, names, parse_math=False)
    axes.set_xlim(0, 1.02 if report.normalise == "sum" else None)
    left_out = len(report.axes) - len(held)
    axes.set_xlabel("normalised MAD" + (f" ({left_out:,} axes of less are left out)" if left_out else ""))
    axes.grid(axis="x", alpha=0.3)
    _legend(figure, axes)
    return figure


def picture_bytes(figure: Figure, kind: str) -> bytes:
    """A figure as a file of a kind of `PICTURE_FORMATS`; equal figures give equal bytes."""
    import matplotlib

    buffer = io.BytesIO()
    metadata: dict[str, Any] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with matplotlib.rc_context({"svg.hashsalt": "justicia"}):
        figure.savefig(buffer, format=kind, metadata=metadata, dpi=150)
    return buffer.getvalue()


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    # Not by pyplot, which keeps what it makes.
    return Figure(figsize=(width, min(height, 60.0)), layout="constrained")


def _worst(axes: Sequence[AxisAssociation]) -> list[AxisAssociation]:
    """All, or the most uneven where there are many."""
    if len(axes) <= _MOST:
        return list(axes)
    return sorted(axes, key=lambda one: -(one.mad_normalised.value or 0.0))[:_MOST]


def _intervals(axes: Axes, held: Sequence[Estimate], heights: Sequence[float]) -> None:
    """Intervals as lines."""
    for one, height in zip(held, heights, strict=True):
        if one.value is not None and one.lo is not None and one.hi is not None:
            axes.plot([one.lo, one.hi], [height, height], "|-", color="black", linewidth=1, markersize=5)


def _bands(axes: Axes, bands: Sequence[tuple[float, float] | None], heights: Sequence[float], label: str) -> None:
    said = False
    for one, height in zip(bands, heights, strict=True):
        if one is not None:
            lo, hi = one
            axes.barh([height], [hi - lo], 0.7, left=lo, color="0.6", alpha=0.6, label=None if said else label)
            said = True


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(handles)))
