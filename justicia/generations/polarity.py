"""Polarity of free texts by group: whether those of one group lean to a pole more than those of another."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from justicia.collecting import Announcements
from justicia.errors import SpecError
from justicia.generations.asking import _condition
from justicia.generations.contingency import Test
from justicia.generations.language_tables import (
    MOST_VALUES,
    Coded,
    coded_column,
    joined_columns,
    need_filled,
    need_groups,
)
from justicia.generations.polarity_results import PolarityComparison, PolarityGroup, PolarityReport
from justicia.generations.reading import Source, read_generations
from justicia.generations.resampling import sign_flip_test
from justicia.generations.scoring import PolarityScale, TextScore, make_scale
from justicia.generations.table import selected_rows
from justicia.generations.verdicts import corrected
from justicia.words import counted, shown

__all__ = ["compare_scores", "text_polarity"]

logger = logging.getLogger(__name__)

_WORDS = 5


def text_polarity(
    data: Any,
    text: str,
    group: str | None = None,
    *,
    vectors: Any,
    poles: Sequence[str | Sequence[str]] = ("she", "he"),
    stopwords: Collection[str] | None = None,
    names: Iterable[str] = (),
    name_column: str | None = None,
    model: str | None = None,
    cluster: str | None = None,
    pair: str | Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    alpha: float = 0.05,
    at_most: float | None = None,
    seed: int = 0,
    trust: bool = False,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    command: Sequence[str] | None = None,
) -> PolarityReport:
    """Score every text, and compare groups.

    Parameters
    ----------
    data : path or DataFrame
    text : str
        Column of the texts.
    group : str, optional
        Column of the groups; without it texts are scored, and nothing is compared.
    vectors : path, mapping, DataFrame, KeyedVectors, or name of a package
        As `justicia.generations.vectors.load_vectors`.
    poles : (first, second)
        Words; texts near the first have scores above 0, near the second below.
    stopwords : collection of str, optional
        Words that do not count; English function words by default, pronouns among them.
    names : iterable of str
        Names that do not count either, as their score would be the group's.
    name_column : str, optional
        Column of a name that does not count in its own row.
    model : str, optional
        Column; "model" by default when there is one; "none": the table is of one model.
    cluster : str, optional
        Texts that belong together, such as those about one name: their mean is compared.
    pair : str or sequence of str
        What prompts share that differ in the group cue alone: signs of their differences are flipped.
    where, confidence, alpha, seed, delimiter, encoding
        As `criteria`.
    at_most : float, optional
        The largest Cohen's d, either way, that is asked for.
    trust : bool
        Whether a pickle of gensim's may be loaded.

    Raises
    ------
    InputError
        When a pole has no vector, or a column is missing.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"text": ["nurse", "engineer"], "pronoun": ["she", "he"]})
    >>> toy = {"she": [1, 0], "he": [-1, 0], "nurse": [0.5, 1], "engineer": [-0.5, 1]}
    >>> text_polarity(table, "text", "pronoun", vectors=toy).scores
    array([ 0.5, -0.5])
    """
    for value, what in ((confidence, "confidence"), (alpha, "alpha")):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
            raise SpecError(f"{what} is a number between 0 and 1, not {shown(repr(value))}")
    if at_most is not None and not 0 <= at_most < math.inf:
        raise SpecError(f"the largest d asked for is a number from 0 on, not {shown(repr(at_most))}")
    pairs = (pair,) if isinstance(pair, str) else tuple(pair)
    if pairs and cluster is not None:
        raise SpecError("texts are compared by pairs or by clusters, not by both")
    if (pairs or cluster) and group is None:
        raise SpecError("pairs and clusters are for comparing groups: name the group column (--group)")
    with Announcements() as said:
        condition = {} if where is None else _condition(where)
        named = {text, "model", *pairs, *condition}
        named |= {one for one in (group, model, cluster, name_column) if one is not None}
        source = read_generations(data, named, delimiter=delimiter, encoding=encoding)
        if model is None and "model" in source.columns and "model" not in (text, group, cluster, name_column):
            logger.info("models are told apart by the column model (--model)")
            model = "model"
        elif model == "none" and "none" not in source.columns:
            model = None
        rows = selected_rows(source, condition)
        rows = np.arange(len(source.frame)) if rows is None else rows
        groups = None
        if group is not None:
            rows = rows[need_groups(coded_column(source, group, "group column", rows, MOST_VALUES), source)]
            groups = coded_column(source, group, "group column", rows)
        models = None if model is None else coded_column(source, model, "model column", rows, MOST_VALUES)
        clusters = None if cluster is None else coded_column(source, cluster, "cluster column", rows)
        need_filled((models, clusters), source)
        held_pairs = joined_columns(source, pairs, "pair column", rows)
        texts = _texts(source, text, "text column", rows)
        own = None if name_column is None else _texts(source, name_column, "name column", rows)
        scale = make_scale(vectors, texts, poles=poles, stopwords=stopwords, names=names, trust=trust)
        scored = [_scored(scale, one, None if own is None else own[place]) for place, one in enumerate(texts)]
        scores = np.array([np.nan if one.score is None else one.score for one in scored])
        missing = int(np.isnan(scores).sum())
        if missing:
            logger.warning(
                "%s no word that counts and has a vector: no score", counted(missing, "text has", "texts have")
            )
        summaries = _groups(scale, scored, scores, groups, models, confidence)
        compared = [] if groups is None else _compared(scores, groups, models, clusters, held_pairs, confidence, seed)
        compared = _judged(compared, alpha, at_most)
    return PolarityReport(
        text=text,
        group=group,
        model=model,
        cluster=cluster,
        pair=pairs,
        poles=scale.poles,
        half=scale.half,
        vectors=scale.vectors,
        dimensions=scale.dimensions,
        confidence=float(confidence),
        alpha=float(alpha),
        at_most=None if at_most is None else float(at_most),
        rows=rows,
        scores=scores,
        groups_of=_names(groups, len(rows)),
        models_of=_names(models, len(rows)),
        groups=tuple(summaries),
        comparisons=tuple(compared),
        where=condition,
        seed=int(seed),
        source=source.name,
        sha256=source.sha256,
        warnings=said.warnings,
        command=None if command is None else tuple(command),
    )


def _names(column: Coded | None, n: int) -> tuple[str | None, ...]:
    return (None,) * n if column is None else tuple(column.values[code] if code >= 0 else None for code in column.codes)


def _texts(source: Source, name: str, what: str, rows: np.ndarray) -> list[str]:
    import pandas as pd

    column = source.column(name, what).iloc[rows]
    return ["" if value is None or (not isinstance(value, (tuple, list)) and pd.isna(value)) else str(value)
            for value in column]  # fmt: skip


def _scored(scale: PolarityScale, text: str, name: str | None) -> TextScore:
    if name is None or not name:
        return scale.text(text)
    from justicia.generations.scoring import tokens

    own = scale.names | {token.lower() for token in tokens(name)}
    return replace(scale, names=own).text(text)


def _groups(
    scale: PolarityScale,
    scored: Sequence[TextScore],
    scores: np.ndarray,
    groups: Coded | None,
    models: Coded | None,
    confidence: float,
) -> list[PolarityGroup]:
    found = []
    for model, in_model in _parts(models, len(scores)):
        for group, in_group in _parts(groups, len(scores)):
            here = np.flatnonzero(in_model & in_group)
            known = scores[here][~np.isnan(scores[here])]
            used = Counter(word for place in here.tolist() for word in scored[place].used)
            lo, hi = _student(known, confidence)
            drawn = [(word, times, score) for word, times in used.items() if (score := scale.word(word)) is not None]
            drawn.sort(key=lambda one: (-one[1] * one[2], one[0]))
            found.append(
                PolarityGroup(
                    model,
                    group,
                    len(here),
                    len(here) - len(known),
                    float(known.mean()) if len(known) else None,
                    float(np.median(known)) if len(known) else None,
                    float(known.std(ddof=1)) if len(known) > 1 else None,
                    lo,
                    hi,
                    sum(used.values()),
                    sum(len(scored[place].without_vector) for place in here.tolist()),
                    tuple(one for one in drawn[:_WORDS] if one[2] > 0),
                    tuple(one for one in drawn[: -_WORDS - 1 : -1] if one[2] < 0),
                )
            )
    return found


def _parts(column: Coded | None, n: int) -> list[tuple[str | None, np.ndarray]]:
    if column is None:
        return [(None, np.ones(n, dtype=bool))]
    return [(value, column.codes == code) for code, value in enumerate(column.values)]


def _student(values: np.ndarray, confidence: float) -> tuple[float | None, float | None]:
    from scipy.stats import t

    if len(values) < 2:
        return None, None
    half = float(t.ppf(0.5 + confidence / 2, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values)))
    return float(values.mean()) - half, float(values.mean()) + half


def _compared(
    scores: np.ndarray,
    groups: Coded,
    models: Coded | None,
    clusters: Coded | None,
    pairs: Coded | None,
    confidence: float,
    seed: int,
) -> list[PolarityComparison]:
    found = []
    known = ~np.isnan(scores)
    for model, in_model in _parts(models, len(scores)):
        for a, b in combinations(range(len(groups.values)), 2):
            first, other = (np.flatnonzero(known & in_model & (groups.codes == code)) for code in (a, b))
            names = groups.values[a], groups.values[b]
            if pairs is not None:
                left, right = (_means(scores, pairs.codes, here) for here in (first, other))
                both = sorted(left.keys() & right.keys())
                made = compare_scores(
                    np.array([left[one] for one in both]),
                    np.array([right[one] for one in both]),
                    names,
                    paired=True,
                    confidence=confidence,
                    seed=seed,
                )
                alone = len(left.keys() ^ right.keys())
                if alone:
                    made = replace(made, notes=(*made.notes, f"{counted(alone, 'pair')} without a partner left out"))
            elif clusters is not None:
                means = [_means(scores, clusters.codes, here) for here in (first, other)]
                if means[0].keys() & means[1].keys():
                    raise SpecError(
                        f"a cluster ({shown(clusters.name)}) has texts of {shown(names[0])} and of {shown(names[1])}: "
                        f"compare them as pairs (--pair {clusters.name})"
                    )
                made = compare_scores(
                    np.array(list(means[0].values())), np.array(list(means[1].values())), names, confidence=confidence
                )
            else:
                made = compare_scores(scores[first], scores[other], names, confidence=confidence)
            found.append(replace(made, model=model))
    return found


def _means(scores: np.ndarray, codes: np.ndarray, here: np.ndarray) -> dict[int, float]:
    here = here[codes[here] >= 0]
    kinds, which = np.unique(codes[here], return_inverse=True)
    totals = np.bincount(which, weights=scores[here], minlength=len(kinds)) / np.bincount(which, minlength=len(kinds))
    return dict(zip(kinds.tolist(), totals.tolist(), strict=True))


def compare_scores(
    first: np.ndarray,
    other: np.ndarray,
    names: tuple[str, str],
    *,
    paired: bool = False,
    confidence: float = 0.95,
    seed: int = 0,
) -> PolarityComparison:
    """Two groups' scores: Mann and Whitney's U and Cohen's d; of pairs, signs flipped.

    Parameters
    ----------
    first, other : float64 array of shape (n,)
    names : (group, other group)
    paired : bool
        Whether the scores at one place belong together.
    confidence : float in (0, 1)
    seed : int

    >>> made = compare_scores(np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0]), ("a", "b"))
    >>> made.d, round(made.larger, 3)
    (1.0, 0.778)
    """
    n, n_other = len(first), len(other)
    if not n or not n_other:
        empty = [name for name, size in zip(names, (n, n_other), strict=True) if not size]
        why = "there is no complete pair" if paired else f"no text of {' or '.join(empty)} has a score"
        none = Test("none", None, None, None, undefined=why)
        return PolarityComparison(None, *names, n, n_other, None, None, None, None, None, None, None, none)
    difference = float(first.mean() - other.mean())
    variance = ((first - first.mean()) ** 2).sum() + ((other - other.mean()) ** 2).sum()
    free = n + n_other - 2
    # Scores that are all alike but for rounding have no spread to measure a difference with.
    scale = max(float(np.abs(first).max()), float(np.abs(other).max()), 1e-300)
    pooled = math.sqrt(variance / free) if free else 0.0
    d = difference / pooled if pooled > 1e-12 * scale else None
    notes = () if d is not None else ("the scores of each group are all the same: Cohen's d is undefined",)
    ranked = _mann_whitney(first, other)
    larger = None if ranked.statistic is None else ranked.statistic / (n * n_other)
    if paired:
        lo, hi = _student(first - other, confidence)
        test = sign_flip_test(first - other, seed)
        return PolarityComparison(
            None, *names, n, n_other, difference, lo, hi, d, None, None, larger, test, notes=notes
        )
    lo, hi = _welch(first, other, difference, confidence)
    d_lo = d_hi = None
    if d is not None:
        from statistics import NormalDist

        error = math.sqrt((n + n_other) / (n * n_other) + d * d / (2 * (n + n_other)))
        half = NormalDist().inv_cdf(0.5 + confidence / 2) * error
        d_lo, d_hi = d - half, d + half
    return PolarityComparison(None, *names, n, n_other, difference, lo, hi, d, d_lo, d_hi, larger, ranked, notes=notes)


def _mann_whitney(first: np.ndarray, other: np.ndarray) -> Test:
    from scipy.stats import mannwhitneyu

    together = np.concatenate([first, other])
    if np.ptp(together) == 0:
        return Test("Mann-Whitney U", len(first) * len(other) / 2, None, 1.0)
    ties = len(np.unique(together)) < len(together)
    exact = not ties and min(len(first), len(other)) <= 8 and max(len(first), len(other)) <= 200
    found = mannwhitneyu(first, other, alternative="two-sided", method="exact" if exact else "asymptotic")
    how = "Mann-Whitney U, exact" if exact else "Mann-Whitney U"
    return Test(how, float(found.statistic), None, min(1.0, float(found.pvalue)))


def _welch(
    first: np.ndarray, other: np.ndarray, difference: float, confidence: float
) -> tuple[float | None, float | None]:
    from scipy.stats import t

    if len(first) < 2 or len(other) < 2:
        return None, None
    parts = first.var(ddof=1) / len(first), other.var(ddof=1) / len(other)
    error = sum(parts)
    if not error:
        return None, None
    free = error**2 / (parts[0] ** 2 / (len(first) - 1) + parts[1] ** 2 / (len(other) - 1))
    half = float(t.ppf(0.5 + confidence / 2, free)) * math.sqrt(error)
    return difference - half, difference + half


def _judged(
    compared: Sequence[PolarityComparison], alpha: float, at_most: float | None
) -> list[PolarityComparison]:  # fmt: skip
    tests = corrected([one.test for one in compared])
    found = []
    for one, test in zip(compared, tests, strict=True):
        made = replace(one, test=test)
        verdict, reason = _verdict(made, alpha, at_most)
        found.append(replace(made, verdict=verdict, reason=reason))
    return found


def _verdict(one: PolarityComparison, alpha: float, at_most: float | None) -> tuple[str, str]:
    if one.test.undefined:
        return "undecided", one.test.undefined
    if at_most is None:
        rejected = one.test.rejected(alpha)
        return ("fails", "the test rejects it") if rejected else ("holds", "the test does not reject it")
    if one.d_lo is None or one.d_hi is None:
        return "undecided", "Cohen's d has no interval here"
    if max(one.d_lo, -one.d_hi) > at_most:
        return "fails", f"d is {max(one.d_lo, -one.d_hi):.3f} at least, either way"
    if max(one.d_hi, -one.d_lo) <= at_most:
        return "holds", f"d is {max(one.d_hi, -one.d_lo):.3f} at most, either way"
    return "undecided", f"d may be {max(one.d_hi, -one.d_lo):.3f}"
