"""Pictures of answers of language models: differences by stratum, and polarity by group."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.words import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from justicia.generations.language_results import LanguageReport
    from justicia.generations.polarity_results import ScoreReport

__all__ = ["plot_differences", "plot_polarity"]

_LONGEST = 44
_MOST = 60


def plot_differences(report: LanguageReport, *, most: int = _MOST) -> Figure:
    """A forest plot: the largest difference of rates in every stratum with its interval, and of the paired prompts.

    Parameters
    ----------
    report : LanguageReport
    most : int
        Of more strata, those with the largest differences are drawn.
    """
    from matplotlib.figure import Figure

    rows: list[tuple[str, float, float | None, float | None, bool]] = []
    for one in report.criteria:
        for stratum in one.strata:
            effect = stratum.difference
            if effect is None:
                continue
            name = ": ".join([*([] if one.model is None else [shown(one.model, 20)]), one.name])
            if stratum.where:
                name += f", {shown(stratum.name, _LONGEST)}"
            what = f"{name}\n{shown(effect.outcome, 20)}: {shown(effect.group, 16)} - {shown(effect.other, 16)}"
            rejected = stratum.test.rejected(report.settings.alpha)
            rows.append((what, effect.value, effect.lo, effect.hi, rejected))
    for pair in report.pairs:
        largest = pair.largest
        if largest is None:
            continue
        sign = -1 if largest.value < 0 else 1
        names = (pair.group, pair.other) if sign > 0 else (pair.other, pair.group)
        ends: tuple[float | None, float | None] = (None, None)
        if largest.lo is not None and largest.hi is not None:
            ends = (largest.lo, largest.hi) if sign > 0 else (-largest.hi, -largest.lo)
        model = "" if pair.model is None else f"{shown(pair.model, 20)}: "
        what = f"{model}pairs\n{shown(largest.response, 20)}: {shown(names[0], 16)} - {shown(names[1], 16)}"
        rows.append((what, abs(largest.value), *ends, pair.test.rejected(report.settings.alpha)))
    left_out = max(0, len(rows) - most)
    if left_out:
        kept = sorted(range(len(rows)), key=lambda place: -rows[place][1])[:most]
        rows = [rows[place] for place in sorted(kept)]
    figure = Figure(figsize=(7.5, 1.3 + 0.45 * max(1, len(rows))), layout="constrained")
    ax = figure.subplots()
    for place, (_, value, lo, hi, rejected) in enumerate(rows):
        height = len(rows) - place
        color = "C3" if rejected else "C0"
        if lo is not None and hi is not None:
            ax.plot([lo, hi], [height, height], color=color, linewidth=2)
        ax.plot([value], [height], "o", color=color)
    ax.axvline(0, color="black", linewidth=0.8)
    if report.settings.at_most is not None:
        ax.axvline(report.settings.at_most, color="black", linewidth=0.8, linestyle="--")
    ax.set_yticks(range(len(rows), 0, -1), [row[0] for row in rows], fontsize=8, parse_math=False)
    ax.set_ylim(0.4, max(1, len(rows)) + 0.6)
    more = f" ({left_out:,} smaller ones are left out)" if left_out else ""
    ax.set_xlabel(f"difference of rates, {100 * report.settings.confidence:g} % interval{more}")
    ax.set_title("red: a test rejects the criterion (Holm)", fontsize=9)
    ax.grid(axis="x", alpha=0.3)
    return figure


def _lying(boxplot: Callable[..., Any]) -> dict[str, Any]:
    """Boxes that lie, as this version of matplotlib calls them."""
    return {"orientation": "horizontal"} if "orientation" in signature(boxplot).parameters else {"vert": False}


def _axis(report: ScoreReport) -> str:
    from justicia.generations.polarity_results import PolarityReport

    if not isinstance(report, PolarityReport):
        return shown(report.column, 40)
    first, second = ("|".join(pole) for pole in report.poles)
    return f"{shown(second, 20)}  <-  score  ->  {shown(first, 20)}"


def plot_polarity(report: ScoreReport, *, bins: int = 30) -> Figure:
    """A histogram and a box of the scores of every group, one column a model.

    Parameters
    ----------
    report : ScoreReport
    bins : int
    """
    from matplotlib.figure import Figure

    models = list(dict.fromkeys(one.model for one in report.groups))
    groups = list(dict.fromkeys(one.group for one in report.groups))
    figure = Figure(figsize=(2 + 4.5 * len(models), 3.2 + 0.35 * len(groups)), layout="constrained")
    axes = figure.subplots(
        2, len(models), sharex=True, squeeze=False, height_ratios=[3, max(1.0, 0.5 * len(groups))]
    )  # fmt: skip
    known = report.scores[~np.isnan(report.scores)]
    edges = np.histogram_bin_edges(known, bins) if len(known) else np.array([0.0, 1.0])
    of_model, of_group = (np.array(names, dtype=object) for names in (report.models_of, report.groups_of))
    for column, model in enumerate(models):
        parts = []
        for group in groups:
            mask = ~np.isnan(report.scores)
            if model is not None:
                mask = mask & (of_model == model)
            if group is not None:
                mask = mask & (of_group == group)
            parts.append(report.scores[mask])
        top, bottom = axes[0][column], axes[1][column]
        for place, (group, part) in enumerate(zip(groups, parts, strict=True)):
            label = "all" if group is None else shown(group, 24)
            top.hist(part, bins=edges, histtype="stepfilled", alpha=0.4, color=f"C{place % 10}", label=label)
        held = [(place, part) for place, part in enumerate(parts) if len(part)]
        if held:
            bottom.boxplot(
                [part for _, part in held],
                positions=[-place for place, _ in held],
                widths=0.6,
                **_lying(bottom.boxplot),
            )
        names = ["all" if group is None else shown(group, 24) for group in groups]
        bottom.set_yticks([-place for place in range(len(groups))], names, parse_math=False)
        bottom.set_ylim(-len(groups) + 0.4, 0.6)
        if len(known) and known.min() <= 0 <= known.max():
            top.axvline(0, color="black", linewidth=0.8)
            bottom.axvline(0, color="black", linewidth=0.8)
        top.legend(loc="best", fontsize=8)
        if model is not None:
            top.set_title(shown(model, 40), parse_math=False)
        bottom.set_xlabel(_axis(report), parse_math=False)
    return figure
