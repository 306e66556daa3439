"""Populations in the columns and cells of one model: what its audit finds its rates under, before there is an audit."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia import encoders, models, population, tables
from justicia.errors import TableError
from justicia.inputs import as_names, collapse_one_hot, columns_for_model, drop_missing, settle_inputs
from justicia.population.fine_cells import number_of_values
from justicia.population.personal import why_personal
from justicia.population.stored import PopulationFile, StoredGrouping, StoredLabel, Table
from justicia.progress import stage
from justicia.report.times import fixed_time
from justicia.roles import settle_roles
from justicia.tallies import Tallies
from justicia.words import shown, value_text

if TYPE_CHECKING:
    import pandas as pd

    from justicia.population import Domain
    from justicia.tables.roles import Truth

__all__ = ["KINDS", "fit_to_model", "now", "personal_columns", "stored_label"]

logger = logging.getLogger(__name__)

KINDS = {"favorable": "tpr", "unfavorable": "fpr"}
"""Which rate each population by true outcome is about."""


def fit_to_model(
    model: Any,
    data: Any,
    y: Any,
    sensitive_features: Any,
    *,
    label: str | None,
    favorable: Any,
    structure: str,
    keep: str | Sequence[str],
    features: Sequence[str] | None,
    one_hot: Mapping[str, Sequence[str]] | bool | None,
    missing: str,
    bins: Mapping[str, Sequence[Any]] | None,
    na: Sequence[str],
    delimiter: str | None,
    encoding: str,
    trust_model: bool,
) -> PopulationFile:
    """Fit populations as an audit of a model does; parameters as `justicia.fit_population` takes them.

    Raises
    ------
    InputError
        When something in the call, the model or the table is wrong; a column whose values are those of single persons
        has to be named in `keep`.
    """
    inputs = settle_inputs(
        model, data, y, sensitive_features, label=label, na=na, delimiter=delimiter, encoding=encoding, seed=0,
        trust=trust_model,
    )  # fmt: skip
    fitted = models.unwrap(inputs.file.predictor)
    columns = columns_for_model(fitted, inputs.table, as_names(features), inputs.label)
    seen = collapse_one_hot(fitted, inputs.table, columns, one_hot, inputs.label)
    found = tables.find_groupings(seen.table, inputs.groupings)
    described = seen.table.description
    used = [name for names in (*found, columns) for name in names]
    tables.check_plain(seen.table.people, [*used, inputs.label, None if described is None else described.label])
    edges = tables.check_bins(bins or {}, found)
    if missing == "drop":
        seen, _ = drop_missing(seen, found)
    table, frame = seen.table, seen.frame
    fitted, roles = settle_roles(seen, found, columns, inputs.label, favorable)
    stage("encoding the model, and comparing it with its own predict")
    decision, domain = encoders.encode(fitted, frame, roles.favorable)
    if not domain.features:
        raise TableError("the model depends on no column, so there is nothing to be a feature of the population")
    points = domain.points(frame)
    encoders.check_encoding(fitted, decision, domain, frame, points, roles.favorable)
    for name, why in personal_columns(domain, frame):
        if name not in (as_names(keep) or []):
            raise TableError(
                f"the model reads column {shown(name)!r}, which tells people apart, not kinds of people: {why}; its "
                f"cells in a population would publish these values: if they may, name it with --keep"
            )
    groups = [tables.group_rows(table.people, names, bins=edges, missing=missing) for names in roles.groupings]
    tallies = Tallies(domain, points, groups, roles.strata, seen.one_hot)
    stored = []
    for grouping in groups:
        stage("fitting the people of %s", " x ".join(grouping.sensitive))
        populations = {"everybody": tallies.fit(structure, grouping)[0]}
        for name, kind in KINDS.items():
            rows = roles.strata.get(kind)
            if rows is not None and rows.any():
                populations[name] = tallies.fit(structure, grouping, rows)[0]
        stored.append(StoredGrouping(grouping.sensitive, **populations))
    people = population.People(frame, domain, points, lambda _: np.arange(len(frame)), seen.expansion)
    return PopulationFile(
        people.observed(), tuple(stored), Table(table.source, table.sha256, len(table.frame), table.dropped),
        people.columns, stored_label(table, roles.truth), edges,
        tuple(one for one in seen.one_hot if one.name in domain.names), now(),
    )  # fmt: skip


def stored_label(table: tables.Table, truth: Truth | None) -> StoredLabel | None:
    """The true outcome of an audit, as a file has it."""
    if truth is None:
        return None
    values = {value_text(value) for value in table.people[truth.name].dropna().unique()}
    favorable = {value_text(value) for value in table.people[truth.name][truth.strata["tpr"]].unique()}
    favorable = favorable or {truth.words}
    return StoredLabel(truth.name, tuple(sorted(favorable)), tuple(sorted(values - favorable)))


def personal_columns(domain: Domain, frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Columns whose cells publish values of single persons, and why; cells of several values, as of a tree, do not."""
    found = []
    for feature in domain.features:
        if feature.name not in frame.columns:
            continue
        counts = number_of_values(frame[feature.name])
        why = why_personal(counts, len(frame))
        cells = len(feature) if feature.numeric else len(feature.cells)
        if why is not None and 2 * cells > len(counts):
            found.append((feature.name, why))
    return found


def now() -> str:
    """The time that a file says it was made at."""
    fixed = fixed_time()
    time = datetime.now(UTC).replace(microsecond=0) if fixed is None else fixed
    return time.isoformat().replace("+00:00", "Z")
