"""Criteria for answers of language models: independence, separation and sufficiency, refusals, and paired prompts.

With A the group that a prompt speaks of, R the labelled response and Y the truth (Sterlie, Weng and Feragen, arXiv
2403.08564):

- independence, R ⟂ A: Pr(R = r | A = a) is the same for all groups a;
- separation, R ⟂ A | Y: the same for every truth y;
- sufficiency, Y ⟂ A | R: Pr(Y = y | R = r, A = a) is the same for all groups a.

A refusal is a response like any other, and one that no pattern fits is "unknown": neither is left out.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from justicia.collecting import Announcements
from justicia.errors import SpecError, TableError
from justicia.generations.asking import _condition
from justicia.generations.contingency import Pooled, Test, pooled_test
from justicia.generations.language_results import (
    Criterion,
    LanguageReport,
    ModelContrast,
    Refusals,
    Settings,
)
from justicia.generations.language_rows import LanguageRows
from justicia.generations.language_tables import (
    Coded,
    pair_places,
)
from justicia.generations.model_contrasts import contrast_models
from justicia.generations.pairing import PairedResult, paired_result
from justicia.generations.reading import Source, read_generations
from justicia.generations.resampling import make_blocks
from justicia.generations.strata import Stratum, make_stratum
from justicia.generations.verdicts import judge
from justicia.metrics.intervals import wilson
from justicia.progress import stage
from justicia.speaking import speaks_keywords
from justicia.words import counted, shown

__all__ = ["criteria"]

logger = logging.getLogger(__name__)

_MOST_STRATA = 1_000


@speaks_keywords
def criteria(
    data: Any,
    group: str,
    response: str,
    truth: str | None = None,
    *,
    strata: str | Sequence[str] = (),
    model: str | None = None,
    cluster: str | None = None,
    pair: str | Sequence[str] = (),
    refusals: str | Sequence[str] = ("refusal",),
    unknown: str = "unknown",
    answered: bool = False,
    where: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    alpha: float = 0.05,
    at_most: float | None = None,
    seed: int = 0,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    command: Sequence[str] | None = None,
) -> LanguageReport:
    """Judge labelled answers by the criteria that the columns allow.

    Parameters
    ----------
    data : path or DataFrame
        CSV, JSON lines or Parquet; one row an answer.
    group, response : str
        Columns: the group that the prompt speaks of, and the label of the answer.
    truth : str, optional
        The right answer. Without it there is neither separation nor sufficiency.
    strata : str or sequence of str
        Columns that split the table, such as the task: the criteria are asked in each part, and in all pooled.
    model : str, optional
        Tells models apart. The column model by default, when there is one; "none": the table is of one model.
    cluster : str, optional
        Rows that belong together, such as those of one template: intervals draw whole clusters, tests permute them.
    pair : str or sequence of str
        What prompts share that differ in the group cue alone.
    refusals : str or sequence of str
        Labels that mean a refusal.
    unknown : str
        Label of responses that no pattern fits, and of blank ones.
    answered : bool
        Leave refusals and unknown responses out of the criteria; they are still counted and compared by themselves.
    where : mapping of str to value or values, optional
        Only these rows.
    confidence, alpha : float in (0, 1)
        Of intervals; and of all tests together, corrected by Holm's method.
    at_most : float in [0, 1], optional
        The largest difference of rates that is asked for; without it a criterion fails when a test rejects it.
    seed : int
        Where tables, signs or clusters are drawn.
    delimiter, encoding : str
        Of a CSV file.

    Returns
    -------
    LanguageReport

    Raises
    ------
    TableError, SpecError
        When a column is missing, there are fewer than two groups, or responses are no labels.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"pronoun": ["he", "she"] * 40, "answer": (["yes", "no"] * 30) + ["yes"] * 20})
    >>> report = criteria(table, "pronoun", "answer")
    >>> effect = report.criterion("independence").difference
    >>> effect.outcome, effect.group, effect.value, report.verdict
    ('no', 'she', 0.75, 'fails')
    """
    with Announcements() as said:
        settings = _settings(
            group, response, truth, strata, model, cluster, pair, refusals, unknown, answered, where, confidence, alpha,
            at_most, seed,
        )  # fmt: skip
        source = read_generations(data, _columns(settings), delimiter=delimiter, encoding=encoding)
        report = _report(source, settings)
    return replace(report, warnings=said.warnings, command=None if command is None else tuple(command))


def _settings(
    group: str, response: str, truth: str | None, strata: Any, model: str | None, cluster: str | None, pair: Any,
    refusals: Any, unknown: str, answered: bool, where: Mapping[str, Any] | None, confidence: float, alpha: float,
    at_most: float | None, seed: int,
) -> Settings:  # fmt: skip
    for value, what in ((confidence, "confidence"), (alpha, "alpha")):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
            raise SpecError(f"{what} is a number between 0 and 1, not {shown(repr(value))}")
    if at_most is not None and (isinstance(at_most, bool) or not 0 <= at_most <= 1):
        raise SpecError(f"the largest difference asked for lies between 0 and 1, not {shown(repr(at_most))}")
    words, columns, pairs = (
        tuple(str(one) for one in ([held] if isinstance(held, str) else held)) for held in (refusals, strata, pair)
    )
    if unknown in words:
        raise SpecError(f"{shown(unknown)} cannot mean both a refusal and an unknown response")
    roles = [("group", group), ("response", response), ("truth", truth), ("cluster", cluster), ("model", model)]
    roles += [("strata", name) for name in columns]
    held: dict[str, str] = {}
    for role, name in roles:
        if name is None:
            continue
        if name in held:
            raise SpecError(f"the column {shown(name)} cannot be both {held[name]} and {role}")
        held[name] = role
    if group in pairs or response in pairs:
        raise SpecError("a pair is named by what its prompts share, and not by the group or the response")
    condition = {} if where is None else _condition(where)
    return Settings(
        group, response, truth, model, cluster, columns, pairs, words, unknown, answered, condition, float(confidence),
        float(alpha), None if at_most is None else float(at_most), int(seed),
    )  # fmt: skip


def _columns(settings: Settings) -> set[str]:
    named = {settings.group, settings.response, "model", *settings.strata, *settings.pair, *settings.where}
    return named | {one for one in (settings.truth, settings.model, settings.cluster) if one is not None}


def _report(source: Source, settings: Settings) -> LanguageReport:
    taken = (settings.group, settings.response, settings.truth, settings.cluster, *settings.strata)
    if settings.model is None and "model" in source.columns and "model" not in taken:
        logger.info("models are told apart by the column model (--model)")
        settings = replace(settings, model="model")
    elif settings.model == "none" and "none" not in source.columns:
        settings = replace(settings, model=None)
    rows = LanguageRows(source, settings)
    settings = rows.settings
    n_models = 1 if rows.models is None else len(rows.models.values)
    names: tuple[str | None, ...] = (None,) if rows.models is None else rows.models.values
    of_model = np.zeros(len(rows), dtype=np.int64) if rows.models is None else rows.models.codes
    last = {*settings.refusals, settings.unknown}
    answers = np.array([value not in last for value in rows.responses.values], dtype=bool)
    is_answer = answers[rows.responses.codes]
    _say(rows, is_answer, settings)
    found: list[Criterion] = []
    refused: list[Refusals] = []
    for code in range(n_models):
        stage("testing the answers%s", "" if names[code] is None else f" of {names[code]}")
        here = np.flatnonzero(of_model == code)
        asked = here[is_answer[here]] if settings.answered else here
        found += _criteria(rows, asked, here, names[code], settings)
        refused.append(_refusals(rows, here, names[code], settings))
    pairs = _pairs(rows, names, settings) if rows.pairs is not None else []
    found, pairs = judge(found, pairs, settings)
    contrasts: tuple[ModelContrast, ...] = ()
    if n_models > 1:
        used = is_answer if settings.answered else np.ones(len(rows), dtype=bool)
        clusters = None if rows.clusters is None else rows.clusters.part(used)
        contrasts = contrast_models(
            rows.models.part(used) if rows.models else None,
            rows.groups.part(used),
            rows.responses.part(used),
            clusters,
            settings.confidence,
            settings.seed,
        )
    return LanguageReport(
        settings,
        rows.groups.values,
        rows.responses.values,
        names,
        len(source.frame),
        len(rows),
        tuple(found),
        tuple(refused),
        tuple(pairs),
        contrasts,
        source.name,
        source.sha256,
    )


def _say(rows: LanguageRows, is_answer: np.ndarray, settings: Settings) -> None:
    left = int((~is_answer).sum())
    if left and settings.answered:
        logger.warning(
            "%s no answer: left out of the criteria (--answered); refusals are compared by themselves",
            counted(left, "response is", "responses are"),
        )
    if not is_answer.any():
        logger.warning("no response is an answer: all are refusals or unknown")
    unknown = [place for place, value in enumerate(rows.responses.values) if value == settings.unknown]
    count = int(np.isin(rows.responses.codes, unknown).sum())
    if count:
        share = count / len(rows)
        logger.log(
            logging.WARNING if share > 0.05 else logging.INFO,
            "%s (%.1f %%) are %s: a category of its own; better patterns make it smaller",
            counted(count, "response"),
            100 * share,
            settings.unknown,
        )


def _criteria(
    rows: LanguageRows, asked: np.ndarray, here: np.ndarray, model: str | None, settings: Settings
) -> list[Criterion]:
    """The criteria of one model; `asked` are the rows that they rest on, `here` all its rows."""
    responses, truth = rows.responses, rows.truth
    found = [_criterion("independence", rows, asked, responses, None, model, settings)]
    if truth is not None:
        known = asked[truth.codes[asked] >= 0]
        blank = len(asked) - len(known)
        if blank:
            logger.warning(
                "%s without a truth (%s is blank): not in separation, sufficiency and accuracy",
                counted(blank, "row"),
                shown(truth.name),
            )
        found.append(_criterion("separation", rows, known, responses, truth, model, settings))
        found.append(_criterion("sufficiency", rows, known, truth, responses, model, settings))
        if set(truth.values) & set(responses.values):
            right = np.array([value in truth.values for value in responses.values])
            place = np.array([truth.values.index(value) if value in truth.values else -1 for value in responses.values])
            correct = right[responses.codes] & (place[responses.codes] == truth.codes)
            outcome = Coded("accuracy", np.where(correct, 0, 1), ("correct", "not correct"))
            found.append(_criterion("accuracy", rows, known, outcome, None, model, settings))
        else:
            logger.info("no response is a value of %s: there is no accuracy", shown(truth.name))
    refusing = np.array([value in settings.refusals for value in responses.values], dtype=bool)
    if refusing.any():
        outcome = Coded("refusals", np.where(refusing[responses.codes], 0, 1), ("refused", "not refused"))
        found.append(_criterion("refusals", rows, here, outcome, None, model, settings))
    return found


def _criterion(
    name: str,
    rows: LanguageRows,
    chosen: np.ndarray,
    outcome: Coded,
    given: Coded | None,
    model: str | None,
    settings: Settings,
) -> Criterion:
    """Strata of one criterion, those without rows left out."""
    by = [*rows.strata, *([] if given is None else [given])]
    keys = np.stack([one.codes[chosen] for one in by], axis=1) if by else np.zeros((len(chosen), 0), dtype=np.int64)
    found, which = np.unique(keys, axis=0, return_inverse=True)
    which = which.reshape(-1)
    if len(found) > _MOST_STRATA:
        raise SpecError(f"there are {len(found):,} strata: name columns with fewer values")
    shape = len(rows.groups.values), len(outcome.values)
    strata: list[Stratum] = []
    for place, key in enumerate(found.tolist()):
        inside = chosen[which == place]
        cells = rows.groups.codes[inside] * shape[1] + outcome.codes[inside]
        counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
        blocks = None
        if rows.clusters is not None:
            blocks = make_blocks(rows.clusters.codes[inside], rows.groups.codes[inside], outcome.codes[inside], shape)
        strata.append(
            make_stratum(
                counts,
                rows.groups.values,
                outcome.values,
                {one.name: one.values[code] for one, code in zip(by, key, strict=True)},
                blocks=blocks,
                confidence=settings.confidence,
                strata=len(found),
                seed=settings.seed,
            )
        )
    return Criterion(name, model, tuple(strata), _pool(strata, rows, settings))


def _pool(strata: list[Stratum], rows: LanguageRows, settings: Settings) -> Pooled | None:
    if len(strata) < 2:
        return None
    if rows.clusters is not None:
        why = "rows of one cluster stand in several strata: there is no pooled test of clusters"
        return Pooled(Test("none", None, None, None, undefined=why), 0)
    tables = np.array([one.counts for one in strata])
    total = tables.sum(axis=0)
    held, seen = np.flatnonzero(total.sum(axis=1)), np.flatnonzero(total.sum(axis=0))
    return pooled_test(
        list(tables[:, held][:, :, seen]),
        tuple(strata[0].groups[place] for place in held),
        tuple(strata[0].outcomes[place] for place in seen),
        settings.confidence,
    )


def _refusals(rows: LanguageRows, here: np.ndarray, model: str | None, settings: Settings) -> Refusals:
    values = rows.responses.values
    size = len(rows.groups.values)
    groups = rows.groups.codes[here]

    def of(words: Sequence[str]) -> np.ndarray:
        inside = np.isin(rows.responses.codes[here], [place for place, value in enumerate(values) if value in words])
        return np.bincount(groups[inside], minlength=size)

    n, refused = np.bincount(groups, minlength=size), of(settings.refusals)
    lo, hi = (
        tuple(None if math.isnan(end) else end for end in ends.tolist())
        for ends in wilson(refused, n, settings.confidence)
    )
    counts = [tuple(one.tolist()) for one in (n, refused, of([settings.unknown]))]
    return Refusals(model, rows.groups.values, counts[0], counts[1], counts[2], lo, hi)


def _pairs(rows: LanguageRows, names: tuple[str | None, ...], settings: Settings) -> list[PairedResult]:
    if rows.pairs is None:
        return []
    places, models = pair_places(rows.pairs, rows.groups, rows.models)
    found = []
    # The largest of all pairs of groups is looked at.
    size = len(rows.groups.values)
    confidence = 1 - (1 - settings.confidence) / (size * (size - 1) // 2)
    for code, model in enumerate(names):
        held = places[models == code]
        for a, b in combinations(range(len(rows.groups.values)), 2):
            both = held[(held[:, a] >= 0) & (held[:, b] >= 0)]
            incomplete = int(((held[:, a] >= 0) ^ (held[:, b] >= 0)).sum())
            first, other = both[:, a], both[:, b]
            clusters = None
            if rows.clusters is not None:
                clusters = rows.clusters.codes[first]
                if (clusters != rows.clusters.codes[other]).any():
                    raise TableError(f"the two prompts of a pair are in one cluster ({shown(rows.clusters.name)})")
            found.append(
                paired_result(
                    rows.responses.codes[first],
                    rows.responses.codes[other],
                    (rows.groups.values[a], rows.groups.values[b]),
                    rows.responses.values,
                    incomplete=incomplete,
                    clusters=clusters,
                    model=model,
                    confidence=confidence,
                    seed=settings.seed,
                )
            )
    incomplete = sum(one.incomplete for one in found)
    if incomplete:
        logger.warning("%s without a partner: not in the paired tests", counted(incomplete, "paired prompt"))
    return found
