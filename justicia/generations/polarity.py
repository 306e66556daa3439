"""Polarity of free texts by group: whether those of one group lean to a pole more than those of another."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from justicia.collecting import Announcements
from justicia.generations.polarity_results import PolarityGroup, PolarityReport
from justicia.generations.score_comparisons import parts_of
from justicia.generations.scores import ScoreRows, column_texts, read_score_rows, summary
from justicia.generations.scoring import PolarityScale, TextScore, make_scale, tokens
from justicia.speaking import speaks_keywords
from justicia.words import counted

__all__ = ["text_polarity"]

logger = logging.getLogger(__name__)

_WORDS = 5


@speaks_keywords
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
    trust_vectors: bool = False,
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
    trust_vectors : bool
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
    with Announcements() as said:
        held = read_score_rows(
            data,
            text,
            group,
            model=model,
            cluster=cluster,
            pair=pair,
            where=where,
            confidence=confidence,
            alpha=alpha,
            at_most=at_most,
            seed=seed,
            delimiter=delimiter,
            encoding=encoding,
            others=() if name_column is None else (name_column,),
        )
        texts = column_texts(held.source, text, "text column", held.rows)
        own = None if name_column is None else column_texts(held.source, name_column, "name column", held.rows)
        scale = make_scale(vectors, texts, poles=poles, stopwords=stopwords, names=names, trust_vectors=trust_vectors)
        scored = [_scored(scale, one, None if own is None else own[place]) for place, one in enumerate(texts)]
        scores = np.array([np.nan if one.score is None else one.score for one in scored])
        missing = int(np.isnan(scores).sum())
        if missing:
            logger.warning(
                "%s no word that counts and has a vector: no score", counted(missing, "text has", "texts have")
            )
        groups = _groups(scale, scored, scores, held)
        fields = held.report(scores)
    return PolarityReport(
        **fields,
        poles=scale.poles,
        half=scale.half,
        vectors=scale.vectors,
        dimensions=scale.dimensions,
        groups=groups,
        warnings=said.warnings,
        command=None if command is None else tuple(command),
    )


def _scored(scale: PolarityScale, text: str, name: str | None) -> TextScore:
    if name is None or not name:
        return scale.text(text)
    own = scale.names | {token.lower() for token in tokens(name)}
    return replace(scale, names=own).text(text)


def _groups(
    scale: PolarityScale, scored: Sequence[TextScore], scores: np.ndarray, held: ScoreRows
) -> tuple[PolarityGroup, ...]:
    found = []
    for model, in_model in parts_of(held.models, len(scores)):
        for group, in_group in parts_of(held.groups, len(scores)):
            here = np.flatnonzero(in_model & in_group)
            used = Counter(word for place in here.tolist() for word in scored[place].used)
            drawn = [(word, times, score) for word, times in used.items() if (score := scale.word(word)) is not None]
            drawn.sort(key=lambda one: (-one[1] * one[2], one[0]))
            found.append(
                summary(
                    model,
                    group,
                    scores[here],
                    held.asked["confidence"],
                    words=sum(used.values()),
                    without_vector=sum(len(scored[place].without_vector) for place in here.tolist()),
                    first=tuple(one for one in drawn[:_WORDS] if one[2] > 0),
                    second=tuple(one for one in drawn[: -_WORDS - 1 : -1] if one[2] < 0),
                )
            )
    return tuple(found)
