"""The groups of a grouping as a picture by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from justicia.report.groups import is_left_out, middle, percent
from justicia.words import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from justicia.comparison import GroupingAudit

__all__ = ["plot_groups"]

_LONGEST = 40


def plot_groups(grouping: GroupingAudit, confidence: float, *, ax: Axes | None = None, most: int = 40) -> Axes:
    """A dot a group for its verified selection rate, and the rows' rate with its interval below it, largest first.

    Parameters
    ----------
    grouping : GroupingAudit
    confidence : float
        Of the intervals, for the legend.
    ax : matplotlib.axes.Axes, optional
        Where to draw; left out, on a new figure as high as the groups need.
    most : int
        Where there are more groups, as many from both ends are drawn together.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        When `most` is less than 2.
    """
    if most < 2:
        raise ValueError(f"most={most}: draw 2 groups at least")
    held = [group for group in grouping.groups if group.selection_rate is not None]
    held.sort(key=lambda group: (-middle(group), tuple(group.group.values())))
    left_out = max(0, len(held) - most)
    if left_out:
        held = [*held[: most - most // 2], *held[len(held) - most // 2 :]]
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(7.5, 1.3 + 0.33 * len(held)), layout="constrained")
    height = {id(group): len(held) - position for position, group in enumerate(held)}
    for group in held:
        rate = group.unshifted("selection_rate")
        if rate is not None:
            ax.plot(
                [float(rate.lo), float(rate.hi)], [height[id(group)] + 0.13] * 2, color="C0", linewidth=5, alpha=0.5
            )
    verified = [(middle(group), height[id(group)] + 0.13) for group in held]
    drawn = any(group.narrowest("selection_rate") is not group.unshifted("selection_rate") for group in held)
    label = "verified: certain, the dot statistical" if drawn else "verified"
    ax.plot(*zip(*verified, strict=True), "o", color="C0", label=label)
    samples = [(group.sample_rate, height[id(group)] - 0.13) for group in held if group.sample_rate is not None]
    if samples:
        values = [float(rate.value) for rate, _ in samples]
        errors = [[value - rate.lo for value, (rate, _) in zip(values, samples, strict=True)]]
        errors.append([rate.hi - value for value, (rate, _) in zip(values, samples, strict=True)])
        label = f"rows, {percent(confidence)}"
        places = [place for _, place in samples]
        ax.errorbar(
            values, places, xerr=errors, fmt="o", mfc="white", color="C1", capsize=2.5, markersize=5, label=label
        )
    names = [
        ", ".join(shown(value, _LONGEST) for value in group.group.values())
        + (" (left out)" if is_left_out(group.note, group.n) else "")
        for group in held
    ]
    ax.set_yticks(range(len(held), 0, -1), names, parse_math=False)
    ax.set_ylim(0.4, len(held) + 0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel("selection rate" + (f" ({left_out:,} groups between are left out)" if left_out else ""))
    ax.set_title(shown(" x ".join(grouping.sensitive), 80), parse_math=False)
    ax.grid(axis="x", alpha=0.3)
    ax.legend(loc="best")
    return ax
