"""Conditional parity: selection rates inside each stratum of a lawful factor, such as education.

The people of every group are split by the factor, and a population is fitted to each group within each stratum, as it
is to each group of a larger grouping. So a rate is exact about the people of a group who have that value of the factor,
whether the model depends on the factor or not; the population of a whole group, conditioned on cells of a feature,
would say nothing about a factor that is no feature, and less about one whose values share a cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.enclosure import Enclosure
from justicia.errors import GroupingError
from justicia.measuring import Evidence, verified_rates
from justicia.metrics import (
    CONDITIONAL,
    Measure,
    OutcomeCounts,
    SampleMeasure,
    measure,
    sample_measures,
    worst_of,
)
from justicia.shifting import shift_rates
from justicia.tables import group_rows
from justicia.words import did_you_mean, shown

if TYPE_CHECKING:
    import pandas as pd

    from justicia.questions import Asked, Question
    from justicia.shifting import Shift
    from justicia.tables import Grouping

__all__ = ["ConditionalAudit", "StratumAudit", "conditional_audit", "settle_factors", "strata_groupings"]


@dataclass(frozen=True)
class StratumAudit:
    """One stratum of a lawful factor.

    Attributes
    ----------
    stratum : dict of str to str
        Value of each factor.
    sensitive : tuple of str
    groups : tuple of dict of str to str
        Groups that have people here, by the values of their sensitive columns.
    evidence : Evidence
        Their selection rates.
    conditional : None
        A stratum has no strata.
    """

    stratum: dict[str, str]
    sensitive: tuple[str, ...]
    groups: tuple[dict[str, str], ...]
    evidence: Evidence
    conditional: None = None

    @property
    def group_names(self) -> list[dict[str, str]]:
        """The groups, with the values of the factors."""
        return [{**group, **self.stratum} for group in self.groups]

    @property
    def n(self) -> int:
        """People."""
        return int(self.evidence.samples.counts.n.sum())

    def verified(self, name: str) -> Measure:
        """A measure of selection rates inside the stratum, under the population."""
        held = self.evidence.verified
        return Measure(None, "there is no model") if held is None else measure(name, held)

    def sample(self, name: str) -> SampleMeasure:
        """The same among the rows."""
        return self.evidence.samples.of(name)


@dataclass(frozen=True)
class ConditionalAudit:
    """A grouping inside each stratum of a lawful factor.

    Attributes
    ----------
    factors : tuple of str
    strata : tuple of StratumAudit
        Those with people of two groups or more; in the others there is nothing to compare.
    alone : tuple of dict of str to str
        The other strata that have people: of one group, or of one at most that has enough of them.
    delta : float
        Probability that some statistical interval misses.
    """

    factors: tuple[str, ...]
    strata: tuple[StratumAudit, ...]
    alone: tuple[dict[str, str], ...] = ()
    delta: float = 0.0

    def verified(self, name: str) -> Measure:
        """The worst over all strata, one of `justicia.metrics.CONDITIONAL`, under the population."""
        inner = CONDITIONAL[name]
        return self._worst([one.verified(inner) for one in self.strata], name)

    def sample(self, name: str) -> Measure:
        """The same among the rows."""
        inner = CONDITIONAL[name]
        return self._worst([one.sample(inner).measure for one in self.strata], name)

    def worst(self, name: str) -> StratumAudit | None:
        """The stratum with the worst value under the population; None where it is undefined in all."""
        held = [(one.verified(CONDITIONAL[name]).value, one) for one in self.strata]
        defined = [(value, one) for value, one in held if value is not None]
        if not defined:
            return None
        ratio = name.endswith("_ratio")
        return min(defined, key=lambda pair: pair[0].middle if ratio else -pair[0].middle)[1]

    def _worst(self, parts: Sequence[Measure], name: str) -> Measure:
        return worst_of(parts, smallest=name.endswith("_ratio"))


def settle_factors(
    factors: Sequence[str] | None, groupings: Sequence[Sequence[str]], columns: Sequence[str]
) -> tuple[str, ...]:
    """The columns of lawful factors, as they were named; none when they were not.

    Raises
    ------
    GroupingError
        When one is not in the table, named twice, or sensitive in every grouping.
    """
    names = tuple(factors or ())
    for name in names:
        if name not in columns:
            raise GroupingError(f"--given {shown(name)!r} is not in the table{did_you_mean(name, columns)}")
    if len(set(names)) < len(names):
        raise GroupingError(f"--given names a column twice: {','.join(names)}")
    if names and all(set(names) & set(held) for held in groupings):
        raise GroupingError(
            f"--given {','.join(names)}: a column is a lawful factor or sensitive, not both; name others with "
            "--sensitive"
        )
    return names


def strata_groupings(
    people: pd.DataFrame,
    groupings: Sequence[Sequence[str]],
    factors: Sequence[str],
    bins: Mapping[str, Sequence[float]],
    missing: str,
    repeats: np.ndarray | None = None,
) -> dict[tuple[str, ...], Grouping]:
    """The people by factors and sensitive columns, for every grouping that has none of the factors."""
    return {
        tuple(names): group_rows(
            people, [*factors, *names], bins=bins, missing=missing, factors=factors, repeats=repeats
        )
        for names in groupings
        if factors and not set(factors) & set(names)
    }


def conditional_audit(
    question: Question,
    grouping: Grouping,
    strata_of: Mapping[tuple[str, ...], Grouping],
    selected: np.ndarray,
    confidence: float,
    reference: int | None,
    radius: float | None,
    min_group: int = 0,
) -> ConditionalAudit | None:
    """The strata of one grouping; None where no factor was named for it.

    Parameters
    ----------
    question : Question
    grouping : Grouping
        By sensitive columns.
    strata_of : mapping of tuple of str to Grouping
        The people by the factors and then these columns, by these columns.
    selected : bool array of shape (n_rows,)
        What `predict` says.
    confidence : float
    reference : int or None
        Position of the reference group in `grouping`.
    radius : float or None
        Of shifts of the population.
    min_group : int
        Groups with fewer rows in a stratum are left out of it.
    """
    together = strata_of.get(grouping.sensitive)
    if together is None:
        return None
    # Every stratum is looked at, and requirements on all people together do not end the search here.
    every = replace(question, requirements=(), effort=replace(question.effort, search="enumerate"))
    asked = every.ask(together)
    shift = shift_rates(asked, radius, len(together.groups)) if radius else None
    return _audit(grouping, together, asked, selected, confidence, reference, shift, min_group)


def _audit(
    grouping: Grouping,
    together: Grouping,
    asked: Asked,
    selected: np.ndarray,
    confidence: float,
    reference: int | None,
    shift: Shift | None,
    min_group: int,
) -> ConditionalAudit:
    """Strata from the selection rates of their groups; factors come first, so that strata keep their natural order."""
    depth, n_groups = len(together.sensitive) - len(grouping.sensitive), len(together.groups)
    k, n = together.tally(selected), together.tally()
    sizes = np.zeros(n_groups, dtype=np.int64)
    sizes[asked.kept] = asked.people.sizes
    plain: list[Enclosure | None] = [None] * n_groups
    inner: list[Enclosure | None] = [None] * n_groups
    for position, rate, narrow in zip(
        asked.kept.tolist(), asked.solution.enclosures, asked.solution.intervals, strict=True
    ):  # fmt: skip
        plain[position], inner[position] = rate, narrow
    rates = plain
    if shift is not None:
        rates = [None if one is None else one.within for one in shift.rates]
        inner = [None if one is None else one.interval for one in shift.rates]
    narrowed = [b or a for a, b in zip(rates, inner, strict=True)] if any(inner) else None
    by_stratum: dict[tuple[str, ...], list[int]] = {}
    kept = together.compared(min_group)
    for position, group in enumerate(together.groups):
        members = by_stratum.setdefault(group[:depth], [])
        if position in kept:
            members.append(position)
    named = None if reference is None else grouping.groups[reference]
    strata, alone = [], []
    for values, members in by_stratum.items():
        stratum = dict(zip(together.sensitive[:depth], values, strict=True))
        if len(members) < 2:
            alone.append(stratum)
            continue
        groups = [together.groups[position][depth:] for position in members]
        at = groups.index(named) if named in groups else None
        weights = {"selection_rate": sizes[members]}

        def held(
            values: Sequence[Enclosure | None], members: list[int] = members
        ) -> Mapping[str, list[Enclosure | None]]:
            return {"selection_rate": [values[position] for position in members]}

        evidence = Evidence(
            verified_rates(held(rates), weights, at),
            sample_measures(OutcomeCounts(n[members], k[members]), reference=at, confidence=confidence),
            None if narrowed is None else verified_rates(held(narrowed), weights, at),
            None if shift is None else verified_rates(held(plain), weights, at),
        )
        strata.append(StratumAudit(stratum, grouping.sensitive, tuple(map(grouping.named, groups)), evidence))
    return ConditionalAudit(together.sensitive[:depth], tuple(strata), tuple(alone), asked.solution.delta or 0.0)
