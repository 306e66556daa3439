"""The groups of a grouping as a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from justicia.comparison import GroupAudit, GroupingAudit
    from justicia.decision_groups import DecisionGrouping
    from justicia.uncertainty import Uncertainty

__all__ = ["audit_frame", "decision_frame", "group_frame", "stratum_frame"]


def group_frame(grouping: GroupingAudit) -> pd.DataFrame:
    """One row a group, indexed by the sensitive columns; a rate that is only bounded is NaN beside its bounds."""
    import pandas as pd

    rows = []
    for group in grouping.groups:
        verified, sample = group.selection_rate, group.sample_rate
        rows.append(
            {
                "n": group.n,
                "selected": group.selected,
                "selection_rate": float(verified.lo) if verified is not None and verified.exact else np.nan,
                "selection_rate_lo": np.nan if verified is None else float(verified.lo),
                "selection_rate_hi": np.nan if verified is None else float(verified.hi),
                "sample_rate": np.nan if sample is None else float(sample.value),
                "sample_lo": np.nan if sample is None else sample.lo,
                "sample_hi": np.nan if sample is None else sample.hi,
                **(_interval_columns(group) if grouping.solution.interval is not None else {}),
                **_sampling_columns(group, grouping.uncertainty),
                **(_unshifted_columns(group) if grouping.shift is not None else {}),
                **(_remaining_columns(group) if grouping.remaining is not None else {}),
                **(_label_columns(group) if grouping.strata else {}),
                **({"left_out": 0 < group.n < grouping.min_group} if grouping.min_group else {}),
            }
        )
    keys = [tuple(group.group.values()) for group in grouping.groups]
    index = pd.MultiIndex.from_tuples(keys, names=list(grouping.sensitive))
    return pd.DataFrame(rows, index=index.get_level_values(0) if len(grouping.sensitive) == 1 else index)


def audit_frame(groupings: Sequence[GroupingAudit]) -> pd.DataFrame:
    """One row a group of every grouping, indexed by the grouping ("race x sex") and the group ("Black, Female")."""
    import pandas as pd

    frames = []
    for grouping in groupings:
        frame = group_frame(grouping)
        names = [", ".join(str(value) for value in group.group.values()) for group in grouping.groups]
        titles = [" x ".join(grouping.sensitive)] * len(names)
        frame.index = pd.MultiIndex.from_arrays([titles, names], names=["grouping", "group"])
        frames.append(frame)
    return pd.concat(frames)


def _interval_columns(group: GroupAudit) -> dict[str, float]:
    """Statistical bounds of a group's selection rate."""
    held = group.intervals.get("selection_rate")
    return {
        "statistical_lo": np.nan if held is None else float(held.lo),
        "statistical_hi": np.nan if held is None else float(held.hi),
    }


def _sampling_columns(group: GroupAudit, uncertainty: Uncertainty) -> dict[str, float]:
    """Bounds by the rows and bootstrap interval of a group's selection rate, where they were asked for."""
    held = dict(group.bounds.get("selection_rate", {})) if uncertainty.bounds else {}
    if uncertainty.bootstrap is not None:
        held["bootstrap"] = group.bootstrap.get("selection_rate")
    return {
        f"{name}_{end}": np.nan if value is None else float(getattr(value, end))
        for name, value in held.items()
        for end in ("lo", "hi")
    }


def _unshifted_columns(group: GroupAudit) -> dict[str, float]:
    """A group's selection rate under the population itself, where the verified one is a range over its shifts."""
    held = group.unshifted("selection_rate")
    return {f"unshifted_{end}": np.nan if held is None else float(getattr(held, end)) for end in ("lo", "hi")}


def _remaining_columns(group: GroupAudit) -> dict[str, float]:
    """A group's selection rate with the mediators of the most favored group."""
    held = group.remaining.get("selection_rate")
    return {f"remaining_{end}": np.nan if held is None else float(getattr(held, end)) for end in ("lo", "hi")}


def _label_columns(group: GroupAudit) -> dict[str, float]:
    """True and false positive rate and precision of a group, verified with their bounds, and of the rows."""
    columns = {}
    for kind, verified, sample in (
        ("tpr", group.tpr, group.sample_tpr),
        ("fpr", group.fpr, group.sample_fpr),
        ("precision", group.precision, group.sample_precision),
    ):
        columns[kind] = float(verified.lo) if verified is not None and verified.exact else np.nan
        for end in ("lo", "hi"):
            columns[f"{kind}_{end}"] = np.nan if verified is None else float(getattr(verified, end))
        columns[f"sample_{kind}"] = np.nan if sample is None else float(sample.value)
    return columns


def stratum_frame(grouping: GroupingAudit) -> pd.DataFrame:
    """One row a stratum of the lawful factors: people, groups, and parity of selection rates inside it.

    A value that is undefined, or verified values that are only bounded, are NaN; bounds stand beside them.
    """
    import pandas as pd

    held = grouping.conditional
    if held is None:
        return pd.DataFrame()
    rows = []
    for stratum in held.strata:
        row: dict[str, float] = {"n": stratum.n, "groups": len(stratum.groups)}
        for name in ("disparate_impact", "statistical_parity_difference"):
            value, sample = stratum.verified(name).value, stratum.sample(name).measure.value
            row[name] = float(value) if value is not None and value.exact else np.nan
            row[f"{name}_lo"] = np.nan if value is None else float(value.lo)
            row[f"{name}_hi"] = np.nan if value is None else float(value.hi)
            row[f"sample_{name}"] = np.nan if sample is None else float(sample)
        rows.append(row)
    keys = [tuple(stratum.stratum.values()) for stratum in held.strata]
    index = pd.MultiIndex.from_tuples(keys, names=list(held.factors))
    return pd.DataFrame(rows, index=index.get_level_values(0) if len(held.factors) == 1 else index)


def decision_frame(grouping: DecisionGrouping) -> pd.DataFrame:
    """One row a group, indexed by the sensitive columns; NaN where a rate is undefined, or suppressed."""
    import pandas as pd

    from justicia.decision_groups import SUPPRESSED

    rows = []
    for group in grouping.groups:
        hidden = group.note == SUPPRESSED
        sample = None if hidden else group.sample_rate
        row = {
            "n": np.nan if hidden else group.n,
            "selected": np.nan if hidden else group.selected,
            "sample_rate": np.nan if sample is None else float(sample.value),
            "sample_lo": np.nan if sample is None else sample.lo,
            "sample_hi": np.nan if sample is None else sample.hi,
        }
        if group.weight is not None and not hidden:
            row["weight"] = group.weight[0]
        if len(grouping.evidence.samples.counts.kinds) > 1:
            for kind in ("tpr", "fpr", "precision"):
                rate = None if hidden else getattr(group, f"sample_{kind}")
                row[f"sample_{kind}"] = np.nan if rate is None else float(rate.value)
        rows.append({**row, "note": group.note})
    keys = [tuple(group.group.values()) for group in grouping.groups]
    index = pd.MultiIndex.from_tuples(keys, names=list(grouping.sensitive))
    return pd.DataFrame(rows, index=index.get_level_values(0) if len(grouping.sensitive) == 1 else index)
