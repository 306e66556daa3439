"""Concept association: what the images of a prompt have in common with those of its counterfactuals, and how unevenly.

The measures are TIBET's (`similarity`). Every MAD comes with its null band, the MAD of even mixtures of the
counterfactual images of as many images, and with a bootstrap interval: the root in it makes much of small differences,
and without them two values cannot be compared.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.collecting import Announcements
from justicia.errors import SpecError, TableError
from justicia.generations.asking import spec_of
from justicia.generations.association_draws import Sets, bootstrap_scores, even_scores, set_scores, set_weights
from justicia.generations.association_results import (
    AssociationReport,
    AxisAssociation,
    ConceptSet,
    Counterfactual,
)
from justicia.generations.axes import Axis, axes_of
from justicia.generations.concepts import Concepts, read_concepts
from justicia.generations.contexts import check_identities
from justicia.generations.correlations import correlate
from justicia.generations.estimates import Estimate, band, check_confidence, check_number, corrected_interval, draws
from justicia.generations.reading import read_generations
from justicia.generations.similarity import NORMALISATIONS, SIMILARITIES, mad, mad_range, normalised_mad, shares
from justicia.generations.spec import whole_number
from justicia.generations.table import columns_needed, prepare
from justicia.numeric import floats_of
from justicia.progress import stage
from justicia.speaking import speaks_keywords
from justicia.words import counted, did_you_mean, shown

if TYPE_CHECKING:
    from justicia.generations.table import Generations

__all__ = ["AssociationReport", "AxisAssociation", "ConceptSet", "Counterfactual", "association"]

logger = logging.getLogger(__name__)

_FEW = 10
_MOST_CONCEPTS = 500


@speaks_keywords
def association(
    data: Any,
    text: str | Sequence[str] | None = None,
    *,
    concepts: str | None = None,
    counts: str | Sequence[str] | None = None,
    axis: str | None = None,
    counterfactual: str | None = None,
    axes: Sequence[str] | None = None,
    by: str | None = None,
    initial: str | None = None,
    identity: str | None = None,
    similarity: str = "iou",
    normalise: str = "sum",
    rare: Any = 0.01,
    stop_words: Sequence[str] = (),
    synonyms: Mapping[str, str] | None = None,
    separator: str = "|",
    human: str | None = None,
    human_mad: str | None = None,
    confidence: Any = 0.95,
    replicates: int = 1000,
    simulations: int = 2000,
    most: Any = None,
    seed: int = 0,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    command: Sequence[str] | None = None,
    **asked: Any,
) -> AssociationReport:
    """Concept association scores of every axis of counterfactuals, and their mean absolute deviation.

    Parameters
    ----------
    data : path or DataFrame
        CSV, JSON lines or Parquet; one row an image.
    text : str or sequence of str, optional
        Columns of captions, or of answers about the image; "text" by default.
    concepts : str, optional
        In their place, a column of concepts: lists, mappings of concept to number, or text between separators.
    counts : str or sequence of str, optional
        In their place, columns of numbers, one a concept.
    axis, counterfactual : str, optional
        Columns: what is varied, and to which value; "axis" and "counterfactual" by default. The prompt's own images
        have a blank counterfactual; with a blank axis they belong to every axis. Without a column of axes there is one.
    axes : sequence of str, optional
        Those that are asked for; all by default.
    by : str, optional
        A column that tells prompts apart; each has its own images and counterfactuals.
    initial : str, optional
        A counterfactual that means none, besides the blank.
    identity : str, optional
        As of `diversity`.
    similarity : {"iou", "cosine"}
    normalise : {"sum", "none"}
    rare : float
        Concepts of less weight are left out of a set.
    stop_words : sequence of str
        Words of captions that are no concepts, besides `STOP_WORDS`.
    synonyms : mapping of str to str, optional
        Words of captions, and the concept each is taken for.
    separator : str
        Of concepts in text.
    human : str, optional
        A column of people's scores of how near a counterfactual is to the prompt: compared with CAS by ranks.
    human_mad : str, optional
        A column of people's scores of how uneven an axis is: compared with MAD by ranks.
    confidence, replicates, simulations, seed
        Of intervals, of the bootstrap (0: none), and of the null band (0: none).
    most : float, optional
        The normalised MAD that is asked for at most.
    **asked
        `spec`, a file or mapping, and `where`.

    Raises
    ------
    InputError

    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {
    ...         "counterfactual": [""] * 4 + ["male", "female"],
    ...         "text": ["man coat"] * 3 + ["woman coat"] + ["man coat", "woman coat"],
    ...     }
    ... )
    >>> report = association(table, replicates=0, simulations=0)
    >>> [round(one.cas.value, 4) for one in report.axes[0].counterfactuals]
    [0.7778, 0.4545]
    """
    with Announcements() as said:
        for word, known, what in (
            (similarity, SIMILARITIES, "similarity"),
            (normalise, NORMALISATIONS, "normalise"),
        ):
            if word not in known:
                raise SpecError(f"{what} cannot be {shown(word)!r}{did_you_mean(word, known)}")
        seed = whole_number(seed, "seed", 0)
        replicates, simulations = draws(replicates, "replicates"), draws(simulations, "simulations")
        least_weight = check_number(rare, "rare", 0, 1)
        level = check_confidence(confidence, replicates)
        limit = None if most is None else check_number(most, "the most normalised MAD", 0, 2)
        captions = [text] if isinstance(text, str) else list(text or ())
        numbers = [counts] if isinstance(counts, str) else list(counts or ())
        if not captions and concepts is None and not numbers:
            captions = ["text"]
        asked.pop("step", None)
        spec = spec_of(**asked)
        used = {axis or "axis", counterfactual or "counterfactual", "id", *captions, *numbers}
        used |= {name for name in (concepts, by, identity, human, human_mad) if name}
        source = read_generations(data, {*columns_needed(spec, ()), *used}, delimiter=delimiter, encoding=encoding)
        # The order of rows means nothing here.
        generations = prepare(source, replace(spec, run="none", step="none"), ()).require_sound()
        check_identities(generations, identity)
        stage("reading concepts")
        # Axes first: a table without counterfactuals needs no reading of captions.
        held = axes_of(generations, axis, counterfactual, by, initial, axes)
        read, odd = read_concepts(
            generations, captions, concepts, numbers, stop_words=stop_words, synonyms=synonyms, separator=separator
        )
        for one in odd:
            logger.warning("%s", one)
        unknown = int((~read.known).sum())
        if unknown == len(read.known):
            what = shown(concepts) if concepts is not None else ", ".join(map(shown, captions or numbers))
            raise TableError(f"{source.name or 'the table'}: {what} is blank in every row: there is nothing to compare")
        if unknown:
            row = int(generations.rows[int(np.argmax(~read.known))]) + 1
            are = "is" if unknown == 1 else "are"
            logger.warning(
                "%s without caption or concepts %s left out, first row %d", counted(unknown, "image"), are, row
            )
        scores = None if human is None else _scores(generations, human)
        bias = None if human_mad is None else _scores(generations, human_mad)
        rng = np.random.default_rng([seed, 3])
        settings = (similarity, normalise, least_weight, level, replicates, simulations)
        stage("scoring axes, and what chance alone makes of them")
        made = tuple(_judged(one, read, settings, scores, bias, rng) for one in held)
        pairs = [(one.human, one.cas.value) for each in made for one in each.counterfactuals]
        uneven = [(one.human, one.mad_normalised.value) for one in made]
        report = AssociationReport(
            made, similarity, normalise, least_weight, level, replicates, simulations, seed, limit,
            None if scores is None else correlate(pairs, shown(human), "CAS"),
            None if bias is None else correlate(uneven, shown(human_mad), "MAD"),
            generations, command=None if command is None else tuple(command),
        )  # fmt: skip
    return replace(report, warnings=said.warnings)


def _scores(generations: Generations, name: str) -> np.ndarray:
    """A column of numbers; NaN where it is blank."""
    import pandas as pd

    column = generations.source.column(name, "column of scores").iloc[generations.rows]
    numbers = floats_of(column)
    bad = ~np.isfinite(numbers) & ~np.array([pd.isna(value) or not str(value).strip() for value in column], dtype=bool)
    if bad.any():
        row = int(np.argmax(bad))
        raise TableError(
            f"{generations.source.name or 'the table'}: {shown(name)} of row {int(generations.rows[row]) + 1} is no "
            f"number: {shown(repr(column.iloc[row]))}"
        )
    return numbers


def _mean(scores: np.ndarray | None, rows: np.ndarray) -> float | None:
    if scores is None or np.isnan(scores[rows]).all():
        return None
    return float(np.nanmean(scores[rows]))


def _concept_set(read: Concepts, rows: np.ndarray, rare: float) -> ConceptSet:
    weights = set_weights(read.shows[rows], rare)
    order = np.lexsort((np.array(read.names), -weights))
    held = [place for place in order[:_MOST_CONCEPTS].tolist() if weights[place] > 0]
    return ConceptSet(len(rows), {read.names[place]: float(weights[place]) for place in held}, int((weights > 0).sum()))


def _judged(
    axis: Axis, read: Concepts, settings: tuple[str, str, float, float, int, int], scores: np.ndarray | None,
    bias: np.ndarray | None, rng: np.random.Generator,
) -> AxisAssociation:  # fmt: skip
    """One axis."""
    kind, normalise, rare, confidence, replicates, simulations = settings
    name = axis.axis if axis.by is None else f"{axis.by}: {axis.axis}"
    initial = axis.initial[read.known[axis.initial]]
    others = {one: rows[read.known[rows]] for one, rows in axis.counterfactuals.items()}
    without = [one for one, rows in others.items() if not len(rows)]
    if without:
        logger.warning(
            "%s: no image of %s has a caption or concepts: left out", shown(name), ", ".join(map(shown, without))
        )
    held = {one: rows for one, rows in others.items() if len(rows)}
    sets: dict[str | None, ConceptSet] = {None: _concept_set(read, initial, rare)}
    sets.update({one: _concept_set(read, rows, rare) for one, rows in held.items()})
    k = len(held)
    everything = np.concatenate([initial, *held.values()])
    columns = np.flatnonzero(np.asarray(read.shows[everything].sum(axis=0)).ravel())
    images = Sets(
        read.shows[initial][:, columns], tuple(read.shows[rows][:, columns] for rows in held.values()), kind, rare
    )
    why = _why_not(axis, sets, k)
    # One counterfactual has a score, and shares of one are no shares.
    point = set_scores(images) if k and sets[None].distinct else np.full(k, np.nan)
    share = shares(point, normalise) if k else point
    if why is None and np.isnan(share).any():
        why = "the prompt's images have no concept in common with any counterfactual"
    if why is not None:
        logger.warning("%s: MAD is not defined: %s", shown(name), why)
    elif min(len(rows) for rows in (initial, *held.values())) < _FEW:
        few = {("the prompt" if one is None else shown(one)): held_set.images for one, held_set in sets.items()}
        fewest = min(few, key=lambda one: few[one])
        logger.warning(
            "%s: %s of %s: MAD is mostly noise below %d", shown(name), counted(few[fewest], "image"), fewest, _FEW
        )
    drawn = bootstrap_scores(images, replicates, rng) if replicates and k and not np.isnan(point).any() else None
    made = []
    for place, (one, rows) in enumerate(held.items()):
        value = float(point[place])
        ends: tuple[float | None, float | None] = (None, None)
        if drawn is not None:
            ends = corrected_interval(value, drawn[:, place], value, confidence)
        cas = Estimate(None, undefined=why) if np.isnan(value) else Estimate(value, *ends)
        own = None if np.isnan(share[place]) or k == 1 else float(share[place])
        made.append(Counterfactual(one, sets[one], cas, own, _mean(scores, rows)))
    rows = np.concatenate([axis.initial, *axis.counterfactuals.values()])
    if why is not None:
        none = Estimate(None, undefined=why)
        return AxisAssociation(
            axis.by, axis.axis, sets[None], tuple(made), none, none, None, None, _mean(bias, rows)
        )  # fmt: skip
    deviation = float(mad(share))
    lo, hi = (None, None) if drawn is None else _mad_interval(share, shares(drawn, normalise), confidence)
    value = float(normalised_mad(deviation, k))
    low, high = (None if end is None else float(normalised_mad(end, k)) for end in (lo, hi))
    scaled = Estimate(value, low, high)
    null, p_value = None, None
    if simulations:
        even = normalised_mad(mad(shares(even_scores(images, simulations, rng), normalise)), k)
        even = even[~np.isnan(even)]
        null = band(even)
        p_value = float((1 + (even >= value - 1e-12).sum()) / (1 + len(even)))
    return AxisAssociation(
        axis.by, axis.axis, sets[None], tuple(made), Estimate(deviation, lo, hi), scaled, null,
        p_value, _mean(bias, rows),
    )  # fmt: skip


def _why_not(axis: Axis, sets: Mapping[str | None, ConceptSet], k: int) -> str | None:
    if not sets[None].images:
        return "no image of the prompt itself has a caption or concepts"
    if not sets[None].distinct:
        return "the images of the prompt itself show no concept"
    if k == 0:
        return "no counterfactual has images with concepts"
    return f"there is one counterfactual ({shown(next(one for one in sets if one))})" if k == 1 else None


def _mad_interval(point: np.ndarray, drawn: np.ndarray, confidence: float) -> tuple[float | None, float | None]:
    """What MAD can be while all scores lie in bands that hold together.

    Quantiles of MAD itself would be biased: it is never negative, and noise makes it larger.
    """
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    if not len(drawn):
        return None, None
    off = drawn - point
    # Noise takes off more of a larger similarity: bands are around the scores, and around these less their bias.
    bias, unit = off.mean(axis=0), off.std(axis=0)
    largest = (np.abs(off - bias) / np.where(unit > 0, unit, 1.0)).max(axis=1)
    width = float(np.quantile(largest, round(confidence, 12), method="higher")) * unit
    low, high = np.minimum(point, point - bias) - width, np.maximum(point, point - bias) + width
    return mad_range(np.maximum(low, 0.0), np.minimum(high, 1.0))
