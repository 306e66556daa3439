"""Diversity across contexts: how evenly a generator's outputs spread over the values, when neutrally asked and not.

The measures are HoloFair's (`entropies`). Values come with a bootstrap interval, and with the noise floor: what a
generator without any preference scores with as many labels.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from justicia.collecting import Announcements
from justicia.errors import SpecError
from justicia.generations.asking import spec_of
from justicia.generations.contexts import (
    UNKNOWN,
    RowsByContext,
    check_identities,
    neutral_context,
    rows_by_context,
    with_domains,
)
from justicia.generations.diversity_results import (
    AttributeDiversity,
    ContextDiversity,
    DiversityReport,
    NoiseFloor,
)
from justicia.generations.entropies import (
    Indices,
    Rule,
    indices,
    noise_floor,
    normalised_entropy,
    possible_indices,
    resampled,
)
from justicia.generations.estimates import (
    Estimate,
    band,
    check_confidence,
    check_number,
    corrected_interval,
    draws,
)
from justicia.generations.reading import read_generations
from justicia.generations.spec import whole_number
from justicia.generations.table import columns_needed, prepare
from justicia.progress import stage
from justicia.speaking import speaks_keywords
from justicia.words import counted, listed, shown

__all__ = ["diversity"]

logger = logging.getLogger(__name__)

_FEW = 10
_NO_LABEL = "no label is known"
_NO_LABELS = "no label of an attribute is known"


@speaks_keywords
def diversity(
    data: Any,
    attrs: Sequence[str] | None = None,
    *,
    context: str | None = None,
    neutral: Any = None,
    triggers: Sequence[str] | None = None,
    cluster: str | None = None,
    identity: str | None = None,
    q: Any = 0.1,
    quantile: str = "linear",
    epsilon: Any = 1e-6,
    correction: str = "none",
    confidence: Any = 0.95,
    replicates: int = 1000,
    simulations: int = 2000,
    least: Any = None,
    seed: int = 0,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    command: Sequence[str] | None = None,
    **asked: Any,
) -> DiversityReport:
    """Normalised entropies of attributes in every context, and what they come to: ID, CA_q and MGBI.

    Parameters
    ----------
    data : path or DataFrame
        CSV, JSON lines or Parquet; one row an output.
    attrs : sequence of str, optional
        All attributes of the spec by default. One without a declared domain gets the values that occur, with a warning.
    context : str, optional
        The column that says in which context an output was asked for; "context" by default, "none": there is none, and
        all outputs are neutral.
    neutral : str, sequence of str, or mapping of column to these
        The neutral context: a value of that column; "neutral" unless the spec says otherwise.
    triggers : sequence of str, optional
        The contexts that count; by default all that are not neutral.
    cluster : str, optional
        A column such as the prompt: outputs with one value there are alike, and the bootstrap draws them together.
    identity : str, optional
        A column that names outputs: one that stands there twice is an error. "id" by default when there is one.
    q, quantile, epsilon, correction
        As of `Rule`.
    confidence : float
        Of intervals.
    replicates : int
        Of the bootstrap; 0: no intervals.
    simulations : int
        Of the noise floor; 0: none.
    least : float, optional
        The MGBI that is asked for.
    seed : int
    **asked
        `spec`, a file or mapping; `domain`, a mapping; `where`, `unknown`, `separator`, `off_domain` as of `sequence`.

    Raises
    ------
    InputError
        When the table cannot be read, a column or context is missing, or an attribute has one value alone.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"context": ["neutral"] * 4 + ["angry"] * 4, "gender": list("fmfmfmmm")})
    >>> report = diversity(table, ["gender"], domain={"gender": ["f", "m"]}, replicates=0, simulations=0)
    >>> round(report.intrinsic.value, 4), round(report.conditional.value, 4), round(report.mgbi.value, 4)
    (1.0, 0.8113, 0.9007)
    """
    with Announcements() as said:
        seed = whole_number(seed, "seed", 0)
        replicates, simulations = draws(replicates, "replicates"), draws(simulations, "simulations")
        rule = Rule(check_number(q, "q", 0, 1), quantile, check_number(epsilon, "epsilon", 0, 0.5), correction)
        level = check_confidence(confidence, replicates)
        limit = None if least is None else check_number(least, "the least MGBI", 0, 1)
        asked.pop("by", None), asked.pop("step", None)
        unknown = asked.get("unknown")
        spec = spec_of(**asked)
        names = tuple(dict.fromkeys(attrs or spec.attributes))
        if not names:
            raise SpecError("no attribute is named: name its column (--attrs), or a spec (--spec)")
        column: str | None
        column, tags = neutral_context(spec, context, neutral)
        wanted = {*columns_needed(spec, names), "id", *(name for name in (column, identity, cluster) if name)}
        source = read_generations(data, wanted, delimiter=delimiter, encoding=encoding)
        spec = with_domains(source, spec, names, unknown, asked.get("separator"))
        # The order of rows means nothing here.
        generations = prepare(source, replace(spec, run="none", step="none"), names).require_sound()
        check_identities(generations, identity)
        if column is not None and column == "none" and "none" not in source.columns:
            column = None
        made = rows_by_context(generations, names, column, tags, triggers, cluster)
        stage("measuring diversity, and what chance alone makes of it")
        report = _measure(made, rule, level, replicates, simulations, seed)
        report = replace(report, least=limit, command=None if command is None else tuple(command))
    return replace(report, warnings=said.warnings)


@dataclass(frozen=True)
class _Measured:
    """Indices of the table, of replicates and of what these are drawn from, and their ends under unknown labels."""

    point: Indices
    drawn: tuple[Indices, Indices] | None
    ends: tuple[Indices, Indices]
    confidence: float

    def estimate(
        self, of: Callable[[Indices], Any], why: str, *, is_open: bool, at_ends: Callable[[Indices], Any] | None = None
    ) -> Estimate:
        """What `of` takes out of indices; `at_ends` takes it out of those that count contexts left out."""
        value = float(of(self.point))
        possible = None
        if is_open:
            low, high = (float((at_ends or of)(one)) for one in self.ends)
            possible = None if np.isnan([low, high]).any() else (low, high)
        if np.isnan(value):
            return Estimate(None, possible=possible, undefined=why)
        lo: float | None = None
        hi: float | None = None
        if self.drawn is not None:
            replicates, truth = self.drawn
            lo, hi = corrected_interval(value, of(replicates), float(of(truth)), self.confidence)
        return Estimate(value, lo, hi, possible)


def _measure(
    made: RowsByContext, rule: Rule, confidence: float, replicates: int, simulations: int, seed: int
) -> DiversityReport:
    contexts, names = made.contexts, made.names
    values = [len(made.generations.labels[name].values) for name in names]
    counts = [
        np.stack([np.bincount(one.codes[one.codes[:, place] >= 0, place], minlength=number) for one in contexts])
        for place, number in enumerate(values)
    ]
    unknown = np.array([(one.codes == UNKNOWN).sum(axis=0) for one in contexts])
    sizes = np.stack([one.sum(axis=1) for one in counts], axis=1)
    kept = _kept(made, sizes)
    # Without a label in the neutral context there is nothing to draw from.
    drawable = bool((sizes[kept] > 0).all())
    drawn, floor = None, None
    if replicates and drawable:
        units = [contexts[place].units(values) for place in kept]
        rng = np.random.default_rng([seed, 1])
        drawn = resampled([one for one, _ in units], [weights for _, weights in units], rule, replicates, rng)
    if simulations and drawable:
        even = noise_floor(sizes[kept], values, rule, simulations, np.random.default_rng([seed, 2]))
        intrinsic = band(even.intrinsic)
        if intrinsic is not None:
            floor = NoiseFloor(simulations, intrinsic, band(even.conditional), band(even.index))
    point = indices([one[kept] for one in counts], rule)
    measured = _Measured(point, drawn, possible_indices(counts, unknown, rule), confidence)
    found = tuple(
        _context(made, place, kept.index(place) if place in kept else None, counts, unknown, measured, rule)
        for place in range(len(contexts))
    )
    alone = "no context besides the neutral one has labels"
    neutral = "no label of an attribute is known in the neutral context"
    is_open = bool(unknown.any())
    return DiversityReport(
        names,
        found,
        measured.estimate(lambda held: held.intrinsic, neutral, is_open=bool(unknown[0].any())),
        measured.estimate(lambda held: held.conditional, alone, is_open=is_open),
        measured.estimate(lambda held: held.mean, alone, is_open=is_open),
        measured.estimate(lambda held: held.index, alone if len(kept) == 1 else neutral, is_open=is_open),
        floor,
        rule,
        confidence,
        replicates,
        seed,
        None,
        made.column,
        made.generations,
    )


def _context(
    made: RowsByContext, place: int, at: int | None, counts: Sequence[np.ndarray], unknown: np.ndarray,
    measured: _Measured, rule: Rule,
) -> ContextDiversity:  # fmt: skip
    """A context; `at` is its place among those that count, None when it is left out."""
    context = made.contexts[place]
    low, high = measured.ends
    attributes = []
    for position, name in enumerate(made.names):
        held, is_open = counts[position][place], bool(unknown[place, position])
        if at is None:
            # Others may lack labels of another attribute: what there is is said, without an interval.
            ends = (float(low.entropies[place, position]), float(high.entropies[place, position]))
            value = float(normalised_entropy(held, rule.correction)) if held.any() else None
            why = None if held.any() else _NO_LABEL
            entropy = Estimate(value, possible=ends if is_open else None, undefined=why)
        else:
            entropy = measured.estimate(
                _entropy(at, position), _NO_LABEL, is_open=is_open, at_ends=_entropy(place, position)
            )
        of_value = dict(zip(made.generations.labels[name].values, map(int, held.tolist()), strict=True))
        attributes.append(AttributeDiversity(name, of_value, int(unknown[place, position]), entropy))
    is_open = bool(unknown[place].any())
    if at is None:
        ends = (float(low.scores[place]), float(high.scores[place]))
        score = Estimate(None, possible=ends if is_open else None, undefined=_NO_LABELS)
    else:
        score = measured.estimate(
            lambda one: one.scores[..., at], _NO_LABELS, is_open=is_open, at_ends=lambda one: one.scores[place]
        )
    return ContextDiversity(context.name, context.neutral, len(context.codes), tuple(attributes), score)


def _entropy(context: int, attribute: int) -> Callable[[Indices], Any]:
    return lambda held: held.entropies[..., context, attribute]


def _kept(made: RowsByContext, sizes: np.ndarray) -> list[int]:
    """The contexts that count: the neutral one, and those where every attribute has a known label."""
    kept = [0]
    for place, one in enumerate(made.contexts):
        lacks = [name for name, size in zip(made.names, sizes[place].tolist(), strict=True) if not size]
        if not lacks:
            kept += [place] if place else []
            continue
        what = "the neutral context" if place == 0 else f"context {shown(one.name)}"
        end = "ID and MGBI are not defined" if place == 0 else "it is left out of CA and MGBI"
        logger.warning("%s has no known label of %s: %s", what, listed(lacks), end)
    few = [made.contexts[place].name for place in kept if 0 < sizes[place].min() < _FEW]
    if few:
        logger.warning(
            "fewer than %d known labels in %s: %s; entropies and intervals of so few mean little",
            _FEW, counted(len(few), "context"), listed(few, 5),
        )  # fmt: skip
    return kept
