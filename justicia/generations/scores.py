"""Scores of answers by group: numbers that somebody else has worked out, such as toxicity, sentiment, or a salary."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from justicia.collecting import Announcements
from justicia.errors import SpecError, TableError
from justicia.generations.asking import _condition
from justicia.generations.language_tables import (
    MOST_VALUES,
    Coded,
    coded_column,
    joined_columns,
    need_filled,
    need_groups,
)
from justicia.generations.polarity_results import PolarityComparison, PolarityGroup, ScoreReport
from justicia.generations.reading import Source, read_generations
from justicia.generations.score_comparisons import compare_groups, judge_comparisons, parts_of, student_interval
from justicia.generations.table import selected_rows
from justicia.progress import stage
from justicia.speaking import speaks_keywords
from justicia.words import counted, shown

__all__ = ["ScoreRows", "column_texts", "group_scores", "read_score_rows", "summary"]

logger = logging.getLogger(__name__)

_LARGEST = 1e70
"""Of a score, so that its fourth powers, and their sums, are finite."""


@dataclass(frozen=True)
class ScoreRows:
    """The columns of the rows that have a group.

    Attributes
    ----------
    source : Source
    rows : int array of shape (n_rows,)
        Places in the table, from 0.
    groups, models, clusters, pairs : Coded or None
    asked : dict of str to object
        What a report repeats: the columns, the condition, confidence, alpha, limit and seed.
    """

    source: Source
    rows: np.ndarray
    groups: Coded | None
    models: Coded | None
    clusters: Coded | None
    pairs: Coded | None
    asked: dict[str, Any]

    def compared(self, scores: np.ndarray) -> tuple[PolarityComparison, ...]:
        """Every two groups, judged; none without a group column."""
        if self.groups is None:
            return ()
        asked = self.asked
        found = compare_groups(
            scores, self.groups, self.models, self.clusters, self.pairs, asked["confidence"], asked["seed"]
        )
        return tuple(judge_comparisons(found, asked["alpha"], asked["at_most"]))

    def report(self, scores: np.ndarray) -> dict[str, Any]:
        """What every report about scores holds, but for groups and warnings."""
        return {
            **self.asked,
            "rows": self.rows,
            "scores": scores,
            "groups_of": _names(self.groups, len(self.rows)),
            "models_of": _names(self.models, len(self.rows)),
            "comparisons": self.compared(scores),
            "source": self.source.name,
            "sha256": self.source.sha256,
        }


def _names(column: Coded | None, n: int) -> tuple[str | None, ...]:
    return (None,) * n if column is None else tuple(column.values[code] for code in column.codes.tolist())


def read_score_rows(
    data: Any,
    column: str,
    group: str | None,
    *,
    model: str | None,
    cluster: str | None,
    pair: str | Sequence[str],
    where: Mapping[str, Any] | None,
    confidence: float,
    alpha: float,
    at_most: float | None,
    seed: int,
    delimiter: str | None,
    encoding: str,
    others: Sequence[str] = (),
) -> ScoreRows:
    """Read what is asked about; parameters as `group_scores`, and `others` are columns that are needed besides.

    Raises
    ------
    InputError
    """
    for value, what in ((confidence, "confidence"), (alpha, "alpha")):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
            raise SpecError(f"{what} is a number between 0 and 1, not {shown(repr(value))}")
    if at_most is not None and not 0 <= at_most < math.inf:
        raise SpecError(f"the largest d asked for is a number from 0 on, not {shown(repr(at_most))}")
    pairs = (pair,) if isinstance(pair, str) else tuple(pair)
    if pairs and cluster is not None:
        raise SpecError("groups are compared by pairs or by clusters, not by both")
    if (pairs or cluster) and group is None:
        raise SpecError("pairs and clusters are for comparing groups: name the group column (--group)")
    condition = {} if where is None else _condition(where)
    named = {column, "model", *pairs, *condition, *others}
    named |= {one for one in (group, model, cluster) if one is not None}
    source = read_generations(data, named, delimiter=delimiter, encoding=encoding)
    if model is None and "model" in source.columns and "model" not in (column, group, cluster, *others):
        logger.info("models are told apart by the column model (--model)")
        model = "model"
    elif model == "none" and "none" not in source.columns:
        model = None
    stage("comparing groups")
    selected = selected_rows(source, condition)
    rows = np.arange(len(source.frame)) if selected is None else selected
    groups = None
    if group is not None:
        rows = rows[need_groups(coded_column(source, group, "group column", rows, MOST_VALUES), source)]
        groups = coded_column(source, group, "group column", rows)
    models = None if model is None else coded_column(source, model, "model column", rows, MOST_VALUES)
    clusters = None if cluster is None else coded_column(source, cluster, "cluster column", rows)
    need_filled((models, clusters), source)
    asked = {
        "column": column,
        "group": group,
        "model": model,
        "cluster": cluster,
        "pair": pairs,
        "where": condition,
        "confidence": float(confidence),
        "alpha": float(alpha),
        "at_most": None if at_most is None else float(at_most),
        "seed": int(seed),
    }
    return ScoreRows(
        source, rows, groups, models, clusters, joined_columns(source, pairs, "pair column", rows), asked
    )  # fmt: skip


def column_texts(source: Source, name: str, what: str, rows: np.ndarray) -> list[str]:
    """Cells as texts, blanks as empty ones."""
    import pandas as pd

    return [
        "" if value is None or (not isinstance(value, (tuple, list)) and pd.isna(value)) else str(value)
        for value in source.column(name, what).iloc[rows]
    ]


def summary(
    model: str | None, group: str | None, here: np.ndarray, confidence: float, **words: Any
) -> PolarityGroup:  # fmt: skip
    """Scores of one group, NaN where missing, in figures."""
    known = here[~np.isnan(here)]
    lo, hi = student_interval(known, confidence)
    return PolarityGroup(
        model=model,
        group=group,
        texts=len(here),
        missing=len(here) - len(known),
        mean=float(known.mean()) if len(known) else None,
        median=float(np.median(known)) if len(known) else None,
        deviation=float(known.std(ddof=1)) if len(known) > 1 else None,
        lo=lo,
        hi=hi,
        **words,
    )


@speaks_keywords
def group_scores(
    data: Any,
    score: str,
    group: str,
    *,
    model: str | None = None,
    cluster: str | None = None,
    pair: str | Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    alpha: float = 0.05,
    at_most: float | None = None,
    seed: int = 0,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    command: Sequence[str] | None = None,
) -> ScoreReport:
    """Compare groups by a number that every answer has.

    Parameters
    ----------
    data : path or DataFrame
    score : str
        Column of the numbers; a blank is missing, counted, and takes part in nothing else.
    group : str
        Column of the groups.
    model : str, optional
        Column; "model" by default when there is one; "none": the table is of one model.
    cluster : str, optional
        Rows that belong together: their mean is compared.
    pair : str or sequence of str
        What prompts share that differ in the group cue alone: signs of their differences are flipped.
    where : mapping of str to value or values, optional
        Only these rows.
    confidence, alpha : float in (0, 1)
        Of intervals; and of all tests together, corrected by Holm's method.
    at_most : float, optional
        The largest Cohen's d, either way, that is asked for.
    seed : int
        Where signs are drawn.
    delimiter, encoding : str
        Of a CSV file.

    Raises
    ------
    InputError
        When a column is missing, or a score is no number.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"score": [2, 3, 4, 1, 2, 3], "group": ["F"] * 3 + ["M"] * 3})
    >>> group_scores(table, "score", "group").comparisons[0].d
    1.0
    """
    with Announcements() as said:
        held = read_score_rows(
            data,
            score,
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
        )
        scores = _numbers(held.source, score, held.rows)
        missing = int(np.isnan(scores).sum())
        if missing:
            logger.warning("%s blank in %s: missing", counted(missing, "score is", "scores are"), shown(score))
        groups = [
            summary(one, name, scores[in_model & in_group], confidence)
            for one, in_model in parts_of(held.models, len(scores))
            for name, in_group in parts_of(held.groups, len(scores))
        ]
        fields = held.report(scores)
    return ScoreReport(
        **fields, groups=tuple(groups), warnings=said.warnings, command=None if command is None else tuple(command)
    )


def _numbers(source: Source, name: str, rows: np.ndarray) -> np.ndarray:
    found = np.empty(len(rows))
    for place, text in enumerate(column_texts(source, name, "score column", rows)):
        try:
            found[place] = float(text) if text.strip() else np.nan
        except ValueError:
            found[place] = np.inf
        if abs(found[place]) > _LARGEST:
            problem = (
                "no finite number" if np.isinf(found[place]) else f"beyond {_LARGEST:g}, where sums are not finite"
            )
            raise TableError(
                f"{source.name or 'the table'}: the score ({shown(name)}) of row {int(rows[place]) + 1} is {problem}: "
                f"{shown(text)!r}"
            )
    return found
