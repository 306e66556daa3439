"""Fit populations before the model is known, and keep those of an audit."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia import tables
from justicia.choices import MISSING_WAYS
from justicia.errors import InputError, LabelError, TableError
from justicia.inputs import are_names, as_list, as_names, settle_sensitive, settle_table, table_with_groups
from justicia.population import STRUCTURES
from justicia.population.domain import Domain, Feature
from justicia.population.fine_cells import MOST_CELLS, fine_domain
from justicia.population.networks import Network, check_possible, file_of_network, for_columns, read_given
from justicia.population.networks.mixed import spelled
from justicia.population.networks.population import GivenNetwork
from justicia.population.stored import PopulationFile, StoredGrouping, StoredLabel, Table
from justicia.population_for_model import KINDS, fit_to_model, now, personal_columns, stored_label
from justicia.progress import stage, told
from justicia.speaking import speaks_keywords
from justicia.streaming import head_table, large_source
from justicia.streaming_fit import Batches
from justicia.tables.labels import NO_LABEL, check_label
from justicia.tables.one_hot import collapse, settle_one_hot
from justicia.tallies import PairTallies, Tallies
from justicia.words import counted, did_you_mean, listed, value_text

if TYPE_CHECKING:
    from justicia.audited import Audit
    from justicia.watching import Progress

__all__ = ["fit_population", "population_of_audit", "population_of_network", "read_population"]

logger = logging.getLogger(__name__)

_MOST_OUTCOMES = 1_000


@speaks_keywords
def read_population(path: str | os.PathLike[str]) -> PopulationFile | Network:
    """Read and check a population file, or a network in BIF or JSON.

    Raises
    ------
    PopulationFileError
        When it cannot be read, or is not what it has to be; the message says where.
    """
    return read_given(path)


def population_of_network(
    network: Network, sensitive: Sequence[str] = (), group: Mapping[str, str] | None = None
) -> PopulationFile:
    """The distribution of all variables of a network in the groups of some.

    Parameters
    ----------
    network : Network
    sensitive : sequence of str
        Left out: those of the group, or else everybody by the states of the first variable.
    group : mapping of str to str, optional
        Values that somebody has to have.

    Raises
    ------
    PopulationFileError
        When there are no such variables, nobody has these values, there are too many groups, or variables hang together
        too closely.
    """
    names = list(sensitive) or list(group or {}) or [next(iter(network.variables))]
    file = file_of_network(network, [names])
    check_possible(file, group or {})
    file = for_columns(file, list(network.variables))
    for held in file.groupings:
        if isinstance(held.everybody, GivenNetwork):
            held.everybody.densities = spelled(network)
    # The tables are of variables with states.
    kept = tuple(feature for feature in file.domain.features if feature.name in network.variables)
    return replace(file, domain=Domain(kept))


@speaks_keywords
def fit_population(
    data: Any,
    *,
    sensitive_features: Any = None,
    y: Any = None,
    label: str | None = None,
    favorable: Any = None,
    structure: str = "auto",
    cells: int = MOST_CELLS,
    list_numbers: bool = False,
    leave_out: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    model: Any = None,
    features: Sequence[str] | None = None,
    trust_model: bool = False,
    one_hot: Mapping[str, Sequence[str]] | bool | None = None,
    missing: str = "error",
    bins: Mapping[str, Sequence[Any]] | None = None,
    na: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str = "utf-8",
    progress: Progress | None = None,
    stream: bool | None = None,
) -> PopulationFile:
    """Fit populations of groups to a table, for models that are not known yet, or to the columns and cells of one.

    Columns whose values are those of single persons (ids, names, dates, free text) are left out, with a warning.

    Parameters
    ----------
    data, sensitive_features, y, label, favorable, one_hot, missing, bins, na, delimiter, encoding
        As `justicia.verify` takes them; without a model the label is described or named, never found by its values.
    structure : str
        "auto", "tree", "independent" or "empirical".
    cells : int
        Cells of a column, at most: columns of numbers with more distinct values have cells of several, inside of which
        a model may tell people apart, and then answers are bounds.
    list_numbers : bool
        Keep all numbers of such cells, for models whose score rises and falls with a column.
    leave_out : str or sequence of str
        Columns that are no features.
    keep : str or sequence of str
        Columns that are features though their values are those of single persons.
    model : fitted classifier, path, or name, optional
        As `justicia.verify` takes it: the columns that it depends on are the features, in its own cells, and the label
        is found by its classes. Its rates under the population are those that `verify` finds without one.
    features, trust_model
        As `justicia.verify` takes them, for the model.
    progress, stream
        As `justicia.verify` takes them. Under "tree" and "independent" features and their pairs are counted, however
        many different people there are.

    Returns
    -------
    PopulationFile
        Its `to_json` writes it; `justicia.verify` takes it as `population`.

    Raises
    ------
    InputError
        When something in the call or the table is wrong; the message says what to do.

    Examples
    --------
    >>> import justicia
    >>> people = justicia.fit_population("ricci", structure="tree")
    >>> people
    <PopulationFile of race, tree: 5 features>
    >>> justicia.verify("tree", "ricci", population=people).disparate_impact.exact
    True
    """
    _check_choices(structure, missing, cells)
    if model is not None:
        if stream:
            raise InputError("a table is read in batches before there is a model: leave --model or --stream out")
        if list_numbers or cells != MOST_CELLS or as_names(leave_out):
            raise InputError(
                "the model's own columns and cells are taken: leave --cells, --list-numbers, --leave-out out"
            )
        return fit_to_model(
            model, data, y, sensitive_features, label=label, favorable=favorable, structure=structure, keep=keep,
            features=features, one_hot=one_hot, missing=missing, bins=bins, na=na, delimiter=delimiter,
            encoding=encoding, trust_model=trust_model,
        )  # fmt: skip
    reading: dict[str, Any] = {"na": na, "delimiter": delimiter, "encoding": encoding, "strip": True}
    batches = None
    if y is None and are_names(sensitive_features):
        batches = large_source(data, stream=stream, **reading)
    elif stream:
        raise InputError("a table is read in batches with columns that are named in it: leave stream out")
    if batches is None:
        table, named, label = settle_table(data, y, sensitive_features, label=label, **reading)
    else:
        stage("reading the first rows")
        table = head_table(batches)
        named, _ = settle_sensitive(sensitive_features, table.frame)
    settled = label == NO_LABEL
    label = _label_column(table, label)
    given = one_hot if isinstance(one_hot, Mapping) else {}
    exclude = [label] if label is not None else []
    held = settle_one_hot(table.frame, given, search=one_hot is not False, exclude=exclude)
    source = [str(name) for name in table.frame.columns if name not in exclude]
    left_out = _named(leave_out, source, "leave-out")
    kept = _named(keep, source, "keep")
    inside = {column for feature in held for column in feature.columns}
    names = [*(name for name in source if name not in inside), *(feature.name for feature in held)]
    table = replace(table, frame=collapse(table.frame, held))
    found = tables.find_groupings(table, named)
    if label is not None and any(label in columns for columns in found):
        raise InputError(f"column {label!r} is the label, and a sensitive column is none: name others with --sensitive")
    edges = tables.check_bins(bins or {}, found)
    tables.check_plain(table.people, [*(name for columns in found for name in columns), label])
    wanted = [name for name in names if name not in left_out]
    options: dict[str, Any] = {"list_numbers": list_numbers, "keep": kept}
    pairs = None
    if batches is not None:
        used = [name for name in source if name not in left_out or any(name in columns for columns in found)]
        used += [label] if label is not None else []
        stage("reading the table in batches")
        rows = Batches(batches, used, held, found, missing == "drop", progress)
        domain, values = rows.cells(wanted, cells, **options)
        table, points, pairs = rows.count(structure, domain, values, label, edges, table.description)
    else:
        if missing == "drop":
            table, _ = table_with_groups(table, found)
        domain = fine_domain(table.frame, wanted, cells, **options)
        points = domain.points(table.frame)
    if not domain.features:
        raise TableError("no column of the table is left to be a feature of the population")
    told("rows", table=table.source, rows=table.n_read, used=table.n_rows, dropped=table.dropped)
    _announce_cells(domain, cells)
    if label is None and not settled:
        own = [feature for feature in domain.features if not any(feature.name in columns for columns in found)]
        _hint_of_label(own, source[-1])
    groups = [
        tables.group_rows(table.people, columns, bins=edges, missing=missing, repeats=table.repeats)
        for columns in found
    ]
    outcome, strata = _strata(table, label, favorable)
    tallies = Tallies(domain, points, groups, strata, held, table.repeats)
    if pairs is not None:
        tallies = PairTallies(domain, points, groups, strata, held, table.repeats, pairs=pairs)
    groupings = []
    for grouping in groups:
        stage("fitting the people of %s", " x ".join(grouping.sensitive))
        populations = {"everybody": tallies.fit(structure, grouping)[0]}
        populations |= {kind: tallies.fit(structure, grouping, rows)[0] for kind, rows in strata.items() if rows.any()}
        groupings.append(StoredGrouping(grouping.sensitive, **populations))
    return PopulationFile(
        domain, tuple(groupings), Table(table.source, table.sha256, table.n_rows, table.dropped),
        tuple(name for name in source if name not in left_out), outcome, edges, tuple(held), now(),
    )  # fmt: skip


def population_of_audit(audit: Audit) -> PopulationFile:
    """The populations that an audit's rates were found under.

    Of populations fitted on the rows, the cells are the model's own; an audit of the same model under the file gives
    the same answer to the last bit.
    """
    names = _names(audit)
    stored = []
    for grouping in audit.groupings:
        held = {"everybody": grouping.population}
        for kind, name in names.items():
            population = grouping.strata[kind].population if kind in grouping.strata else None
            if population is not None:
                held[name] = population
        stored.append(StoredGrouping(grouping.sensitive, **held))
    if audit.given_population is not None:
        return audit.given_population.with_groupings(stored)
    from justicia.population import People

    people = audit.population.people
    if not isinstance(people, People):
        raise TypeError("an audit's population draws people from its rows")
    domain, table = people.observed(), audit.table
    for name, why in personal_columns(domain, table.frame):
        logger.warning("the population's cells of column %s publish values of single persons: %s", name, why)
    return PopulationFile(
        domain, tuple(stored), Table(table.source, table.sha256, len(table.frame), table.dropped), people.columns,
        stored_label(table, audit.roles.truth), audit.bins,
        tuple(one for one in audit.one_hot if one.name in domain.names), now(),
    )  # fmt: skip


def _names(audit: Audit) -> dict[str, str]:
    """Which population of a file belongs to which rate."""
    file, truth = audit.given_population, audit.roles.truth
    swapped = (
        file is not None
        and file.label is not None
        and truth is not None
        and truth.words != ", ".join(sorted(file.label.favorable))
    )
    return {"tpr": "unfavorable", "fpr": "favorable"} if swapped else {kind: name for name, kind in KINDS.items()}


def _check_choices(structure: Any, missing: str, cells: Any) -> None:
    if structure not in STRUCTURES:
        raise InputError(f"no population is called {structure!r}{did_you_mean(structure, STRUCTURES)}")
    if missing not in MISSING_WAYS:
        raise InputError(f"missing cannot be {missing!r}{did_you_mean(missing, MISSING_WAYS)}")
    if isinstance(cells, bool) or not isinstance(cells, int) or cells < 2:
        raise InputError(f"cells is a whole number of 2 or more, not {cells!r}")


def _label_column(table: tables.Table, label: str | None) -> str | None:
    columns = table.people.columns
    if label is not None:
        return check_label(label, columns)
    described = table.description
    if described is not None and described.label in columns:
        logger.info("label %s is the data set description's; override with --label", described.label)
        return described.label
    logger.info("no label is named: the population serves selection rates alone; pass --label for the others")
    return None


_OUTCOMES = frozenset(
    "accepted admitted approval approved class decision default defaulted hire hired income label outcome passed "
    "result selected target y".split()
)


def _hint_of_label(features: Sequence[Feature], last: str) -> None:
    """Say so when a feature looks like the true outcome: of two values, and so called or the last column."""
    for feature in features:
        name = feature.name
        words = {name.casefold(), *re.split(r"[^a-z]+", name.casefold())}
        held = len(feature) - (feature.unseen is not None) - (feature.missing is not None)
        if (words & _OUTCOMES or name == last) and held == 2:
            logger.warning(
                "column %s is taken as a feature, and looks like the true outcome: if it is, name it with --label (or "
                "with --leave-out), for what models are to predict is no feature of theirs",
                name,
            )


def _named(given: str | Sequence[str], columns: Sequence[str], option: str) -> set[str]:
    names = as_names(given) or []
    for name in names:
        if name not in columns:
            raise TableError(f"--{option} {name}: there is no such column{did_you_mean(name, columns)}")
    return set(names)


def _strata(table: tables.Table, label: str | None, favorable: Any) -> tuple[StoredLabel | None, dict[str, np.ndarray]]:
    """The true outcome, and the rows of each kind of it."""
    if label is None:
        if favorable is not None:
            raise LabelError("a favorable outcome is named, and no label: pass --label")
        return None, {}
    column = table.people[label]
    texts = sorted({value_text(value) for value in column.dropna().unique()[:_MOST_OUTCOMES]})
    if not texts or len(texts) == _MOST_OUTCOMES:
        raise LabelError(f"label column {label!r} has {counted(len(texts), 'value')}, which are no outcomes")
    good = [value_text(value) for value in as_list(favorable) or []]
    if len(good) == 1 and good[0] not in texts and "," in good[0]:
        good = [part.strip() for part in good[0].split(",")]
    if not good:
        good = [_favorable_found(table, label, texts)]
    for value in good:
        if value not in texts:
            raise LabelError(f"label column {label!r} never holds {value!r}{did_you_mean(value, texts)}")
    positive = column.map(value_text, na_action="ignore").isin(good).to_numpy(dtype=bool)
    known = column.notna().to_numpy()
    others = tuple(text for text in texts if text not in good)
    return StoredLabel(label, tuple(good), others), {"favorable": known & positive, "unfavorable": known & ~positive}


def _favorable_found(table: tables.Table, label: str, texts: list[str]) -> str:
    described = table.description
    if described is not None and described.label == label and described.favorable in texts:
        logger.info(
            "favorable outcome %s is the data set description's; override with --favorable", described.favorable
        )
        return described.favorable
    if len(texts) > 2:
        raise LabelError(f"which outcome is favorable? pass --favorable with one or more of {listed(texts, 40)}")
    # With two values it does not matter: a model that favors the other one finds the two changed about.
    logger.info("favorable outcome %s is the label's last value; override with --favorable", texts[-1])
    return texts[-1]


def _announce_cells(domain: Any, cells: int) -> None:
    wide = [
        feature.name
        for feature in domain.features
        if (feature.ranges is not None and (feature.ranges[:, 0] < feature.ranges[:, 1]).any())
        or len(set(feature.cells.values())) < len(feature.cells)
    ]
    if wide:
        logger.info(
            "%s: more than %s values, so cells hold several; a model that tells these apart gets bounds; override with "
            "--cells",
            *(listed(wide), f"{cells:,}"),
        )
