"""All rates and measures of some people at once, with confidence intervals: `by_group` in the manner of Fairlearn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.enclosure import Enclosure
from justicia.errors import InputError
from justicia.metrics.asking import parse_reference, reference_position
from justicia.metrics.counts import OutcomeCounts
from justicia.metrics.disparities import COMPARISONS, compare_rates
from justicia.metrics.intervals import simultaneous_clopper_pearson, wilson
from justicia.metrics.outcomes import read_outcomes
from justicia.metrics.requirements import RATE_NAMES
from justicia.metrics.sampling import SampleMeasures, sample_measures
from justicia.words import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GroupMetrics"]

_COLUMNS = {kind: name for name, (kind, rest) in RATE_NAMES.items() if not rest}


class GroupMetrics:
    """Rates of every group of some people, and measures between the groups, with confidence intervals.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), or None
        True outcomes; without them there are selection rates alone.
    y_pred : array-like of shape (n_rows,)
        Decisions.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns), or mapping of str to array-like
    control_features : as `sensitive_features`, optional
        Lawful factors: measures are found inside each of their strata.
    reference : str or mapping of str to value, optional
        The group that the others are compared with, too: "race=White,sex=Male".
    pos_label : label or list of labels, optional
        Favorable outcomes; needed unless labels are 0 and 1, -1 and 1, or False and True.
    sample_weight : array-like of shape (n_rows,), optional
        Intervals are those of as many people as give a mean of the same variance, then (Kish 1965).
    confidence : float in (0, 1)
        Of the intervals.
    missing : str
        What happens to people without a value in a feature: "error", "group" or "drop".

    Raises
    ------
    InputError

    Examples
    --------
    >>> people = GroupMetrics([1, 0, 1, 0], [1, 0, 0, 0], sensitive_features=["f", "f", "m", "m"])
    >>> people.by_group["selection_rate"].to_dict()
    {'f': 0.5, 'm': 0.0}
    >>> float(people.difference()["selection_rate"])
    0.5
    """

    def __init__(
        self,
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        control_features: Any = None,
        reference: Any = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        confidence: float = 0.95,
        missing: str = "error",
    ) -> None:
        if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
            raise InputError(f"confidence {confidence!r} does not lie between 0 and 1")
        held = read_outcomes(
            y_true, y_pred, sensitive_features, pos_label=pos_label, sample_weight=sample_weight,
            control_features=control_features, missing=missing, truth=y_true is not None,
        )  # fmt: skip
        self.grouping, self.counts, self.confidence = held.grouping, held.counts, confidence
        self._n_controls = held.n_controls
        named = parse_reference(reference)
        self._strata = self._split(named)

    def _split(self, reference: dict[str, str] | None) -> dict[tuple[str, ...], SampleMeasures]:
        """The groups of each stratum; one stratum without a name when there are no control features."""
        depth = self._n_controls
        by_stratum: dict[tuple[str, ...], list[int]] = {}
        for position, group in enumerate(self.grouping.groups):
            by_stratum.setdefault(group[:depth], []).append(position)
        found = {}
        sensitive = self.grouping.sensitive[depth:]
        for stratum, members in by_stratum.items():
            groups = [self.grouping.groups[position][depth:] for position in members]
            present = reference is not None and tuple(reference.get(name) for name in sensitive) in groups
            at = reference_position(reference, sensitive, groups) if present or not depth else None
            part = _part(self.counts, members)
            found[stratum] = sample_measures(part, reference=at, confidence=self.confidence)
        return found

    @cached_property
    def by_group(self) -> pd.DataFrame:
        """One row a group: its people, and each rate with two intervals.

        `_lo` and `_hi` are Wilson's interval, for that rate alone; `_exact_lo` and `_exact_hi` Clopper and Pearson's,
        which hold together for this rate of all groups.
        """
        import pandas as pd

        counts = self.counts
        columns: dict[str, np.ndarray] = {}
        for kind in counts.kinds:
            k, n = counts.of(kind)
            with np.errstate(invalid="ignore", divide="ignore"):
                columns[_COLUMNS[kind]] = np.where(n > 0, k / n, np.nan)
            columns[f"{_COLUMNS[kind]}_lo"], columns[f"{_COLUMNS[kind]}_hi"] = wilson(
                *counts.effective(kind), self.confidence
            )
            columns[f"{_COLUMNS[kind]}_exact_lo"], columns[f"{_COLUMNS[kind]}_exact_hi"] = simultaneous_clopper_pearson(
                *counts.effective(kind), self.confidence
            )
        groups, names = self.grouping.groups, list(self.grouping.sensitive)
        index = (
            pd.Index([group[0] for group in groups], name=names[0], dtype=object)
            if len(names) == 1
            else _multi_index(groups, names)
        )
        frame = _float_frame(list(columns.values()), list(columns), index)
        frame.insert(0, "count", counts.n)
        frame.insert(1, "selected", counts.selected)
        return frame

    @property
    def overall(self) -> pd.DataFrame | pd.Series[Any]:
        """The rates of all people together, of each stratum where there are control features."""
        return self._by_stratum({stratum: self._rates(held.counts) for stratum, held in self._strata.items()})

    @staticmethod
    def _rates(counts: OutcomeCounts) -> dict[str, float]:
        together = counts.together()
        rates = together.rates()
        found = {"count": float(together.n[0])}
        for kind in together.kinds:
            (rate,) = rates.of(kind)
            found[_COLUMNS[kind]] = np.nan if rate is None else float(rate)
        return found

    def difference(self, method: str = "between_groups") -> pd.DataFrame | pd.Series[Any]:
        """Largest minus smallest of each rate; or the farthest that a group is "to_overall" or "to_reference"."""
        return self._compared(method, ratio=False)

    def ratio(self, method: str = "between_groups") -> pd.DataFrame | pd.Series[Any]:
        """Smallest over largest of each rate; or the ratio farthest from 1 "to_overall" or "to_reference"."""
        return self._compared(method, ratio=True)

    def group_min(self) -> pd.Series[Any]:
        """The smallest of each rate over all groups that have it."""
        return self.by_group[self._rate_columns].min()

    def group_max(self) -> pd.Series[Any]:
        """The largest of each rate over all groups that have it."""
        return self.by_group[self._rate_columns].max()

    @cached_property
    def measures(self) -> pd.DataFrame:
        """One row a measure and comparison (and stratum): value, interval with its method, exact simultaneous interval.

        `lo` and `hi` hold the measure of the people whom the rows were drawn from with the confidence asked for, all
        groups together; `exact_lo` and `exact_hi` do so for any number of rows. `undefined` says what is left out.
        """
        import pandas as pd

        keys: list[tuple[str, ...]] = []
        numbers: list[tuple[float, ...]] = []
        methods: list[str | None] = []
        reasons: list[str | None] = []
        for stratum, held in self._strata.items():
            for name in held.names:
                for comparison in COMPARISONS if held.reference is not None else COMPARISONS[:2]:
                    found = held.of(name, comparison)
                    keys.append((*stratum, name, comparison))
                    numbers.append(
                        (*_ends(found.measure.value)[:1], *_ends(found.interval), *_ends(found.simultaneous))
                    )
                    methods.append(found.method if found.interval is not None else None)
                    reasons.append(found.measure.undefined)
        index = _multi_index(keys, [*self.grouping.sensitive[: self._n_controls], "measure", "comparison"])
        frame = _float_frame(list(zip(*numbers, strict=True)), ["value", "lo", "hi", "exact_lo", "exact_hi"], index)
        frame.insert(3, "method", pd.Series(methods, index=index, dtype=object))
        frame["undefined"] = pd.Series(reasons, index=index, dtype=object)
        return frame

    @property
    def _rate_columns(self) -> list[str]:
        return [_COLUMNS[kind] for kind in self.counts.kinds]

    def _compared(self, method: str, *, ratio: bool) -> pd.DataFrame | pd.Series[Any]:
        if method not in COMPARISONS:
            raise InputError(f"method cannot be {method!r}{did_you_mean(method, COMPARISONS)}")
        found = {}
        for stratum, held in self._strata.items():
            values = {kind: compare_rates(held.rates, kind, method, ratio=ratio).value for kind in self.counts.kinds}
            found[stratum] = {
                _COLUMNS[kind]: np.nan if value is None else float(value) for kind, value in values.items()
            }
        return self._by_stratum(found)

    def _by_stratum(self, found: dict[tuple[str, ...], dict[str, float]]) -> pd.DataFrame | pd.Series[Any]:
        """A series; with control features a frame, one row a stratum."""
        import pandas as pd

        if not self._n_controls:
            return pd.Series(found[()])
        names = list(self.grouping.sensitive[: self._n_controls])
        index = pd.MultiIndex.from_tuples(list(found), names=names)
        return pd.DataFrame(list(found.values()), index=index.get_level_values(0) if len(names) == 1 else index)


def _ends(held: Enclosure | None) -> tuple[float, float]:
    return (np.nan, np.nan) if held is None else (float(held.lo), float(held.hi))


def _float_frame(columns: Sequence[Any], names: list[str], index: pd.Index[Any]) -> pd.DataFrame:
    """Columns of floats in one block, which pandas takes much faster than one by one."""
    import pandas as pd

    return pd.DataFrame(np.array(columns, dtype=np.float64).reshape(len(names), -1).T, columns=names, index=index)


def _part(counts: OutcomeCounts, members: list[int]) -> OutcomeCounts:
    """Some of the groups."""
    if len(members) == len(counts.n):
        return counts

    def chosen(held: np.ndarray | None) -> np.ndarray | None:
        return None if held is None else held[members]

    return OutcomeCounts(
        counts.n[members],
        counts.selected[members],
        chosen(counts.positives),
        chosen(counts.negatives),
        chosen(counts.true_positives),
        chosen(counts.false_positives),
        None if counts.squares is None else tuple(one[members] for one in counts.squares),
    )


def _multi_index(keys: Sequence[Sequence[str]], names: Sequence[str]) -> pd.MultiIndex:
    """An index of words; pandas itself takes longer to find them out again than all measures need."""
    import pandas as pd

    levels, codes = [], []
    for column in zip(*keys, strict=True):
        place = {word: position for position, word in enumerate(dict.fromkeys(column))}
        levels.append(pd.Index(list(place), dtype=object))
        codes.append([place[word] for word in column])
    return pd.MultiIndex(levels=levels, codes=codes, names=list(names), verify_integrity=False)
