"""An audit under a network that somebody states: the groups that are asked for, and the true outcome."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.encoders.lifting import lift
from justicia.errors import InputError, PopulationFileError
from justicia.population.networks import MOST_GROUPS, Network, States, Variable, for_columns
from justicia.population.networks.elimination import given_sensitive
from justicia.population.networks.mediators import changed_network
from justicia.population.networks.states import Interval, State, feature_of, group_texts, with_both_ends
from justicia.population.reach import reach
from justicia.solvers.extreme_groups import extreme_groups
from justicia.words import counted, listed, value_text

if TYPE_CHECKING:
    import pandas as pd

    from justicia.enclosure import Enclosure
    from justicia.encoders import Decision
    from justicia.population import Domain
    from justicia.population.stored import PopulationFile
    from justicia.tables import Grouping, Roles

__all__ = ["outcome_of", "restated", "stated"]

logger = logging.getLogger(__name__)

_WITHOUT_LABEL = "groups are searched by their selection rates alone, true and false positive rates are left out: %s"


def stated(
    file: PopulationFile,
    decision: Decision,
    domain: Domain,
    people: pd.DataFrame,
    roles: Roles,
    groupings: Sequence[Grouping],
    search: str,
    time_limit: float | None = None,
) -> PopulationFile:
    """The populations of a network that a model is asked about.

    Parameters
    ----------
    file : PopulationFile
        Of a network.
    decision : Decision
    domain : Domain
        Of the model.
    people : DataFrame
        The table.
    roles : Roles
    groupings : sequence of Grouping
        Groups of the rows.
    search : str
    time_limit : float, optional
        Seconds for each search among the groups.

    Raises
    ------
    PopulationFileError
        When there are too many groups, or the network's variables hang together too closely.
    """
    if file.network is None:
        return file
    cells = _with_edges_of(file.network, domain, people)
    outcome = outcome_of(file, people, roles)
    searches = {}
    for grouping in groupings if search == "learn" else ():
        states = States(file.network, grouping.sensitive, people)
        if states.n_groups > MOST_GROUPS:
            found = _all_searched(file, cells, states, decision, domain, people, grouping, outcome, time_limit)
            searches[grouping.sensitive] = found
            outcome = outcome if found.label else None
    file = _with_groups(file, domain, people, searches, outcome, cells)
    for grouping in groupings:
        held = set(file.grouping(grouping.sensitive).everybody.groups)
        lost = [", ".join(group) for group in grouping.groups if group not in held]
        if lost:
            logger.warning(
                "%s of the rows, %s, %s probability 0 in the network or no state there: no verified rate",
                *(counted(len(lost), "group"), listed(lost, 5), "has" if len(lost) == 1 else "have"),
            )
    return file


def restated(
    file: PopulationFile,
    mediators: Sequence[str],
    favored: tuple[str, ...],
    decision: Decision,
    domain: Domain,
    people: pd.DataFrame | None,
    grouping: Grouping,
    search: str,
    time_limit: float | None = None,
) -> PopulationFile:
    """The populations of one grouping with the mediators of one of its groups.

    Parameters
    ----------
    file : PopulationFile
        As `stated` made it.
    mediators : sequence of str
        Variables; columns that the network lacks change nothing.
    favored : tuple of str
        The group.
    decision : Decision
    domain : Domain
        Of the model.
    people : DataFrame
        The table.
    grouping : Grouping
        Groups of the rows, and those of the file.
    search : str
    time_limit : float, optional
        Seconds for each search among the groups.

    Raises
    ------
    PopulationFileError
        When a sensitive column depends on a mediator.
    """
    if file.network is None or people is None:
        raise TypeError("a network is stated anew, for a table")
    held = file.grouping(grouping.sensitive)
    states = States(file.network, held.sensitive, people)
    code = {name: int(at[0]) for name, at in states.codes([favored]).items()}
    network = changed_network(file.network, [name for name in mediators if name in file.network.variables], code)
    file = replace(file, network=network, groupings=(held,))
    cells = _with_edges_of(network, domain, people)
    label = file.label
    outcome = None if label is None else (label.column, label.favorable, label.unfavorable)
    searches = {}
    if search == "learn" and states.n_groups > MOST_GROUPS:
        found = _all_searched(file, cells, states, decision, domain, people, grouping, outcome, time_limit)
        groups = tuple(dict.fromkeys([*held.everybody.groups, *found.groups]))
        searches[held.sensitive] = replace(found, groups=groups)
    return _with_groups(file, domain, people, searches, outcome, cells)


@dataclass(frozen=True)
class _Groups:
    """Groups that were searched for.

    Attributes
    ----------
    groups : tuple of group
        Those that may be extreme by some rate, and those of the rows.
    rests : dict of str to Enclosure
        For "everybody" and each true outcome whose search time ended: the rates of all other groups.
    label : bool
        Rates by true outcome were searched for, too.
    """

    groups: tuple[tuple[str, ...], ...]
    rests: Mapping[str, Enclosure]
    label: bool


def _with_groups(
    file: PopulationFile,
    domain: Domain,
    people: pd.DataFrame,
    searches: Mapping[tuple[str, ...], _Groups],
    outcome: tuple[str, tuple[str, ...], tuple[str, ...]] | None,
    cells: Network,
) -> PopulationFile:
    """The populations of the groups that were searched for, where they were, and of all groups elsewhere."""
    only = {sensitive: held.groups for sensitive, held in searches.items()}
    try:
        file = for_columns(file, set(domain.names), people, only, outcome, cells)
    except PopulationFileError as error:
        if not searches or outcome is None:
            raise
        logger.warning(_WITHOUT_LABEL, error)
        file = for_columns(file, set(domain.names), people, only, None, cells)
    for sensitive, held in searches.items():
        for kind, population in file.grouping(sensitive).populations.items():
            if population is not None:
                population.rest = held.rests.get(kind)
    return file


def _all_searched(
    file: PopulationFile,
    cells: Network,
    states: States,
    decision: Decision,
    domain: Domain,
    people: pd.DataFrame,
    grouping: Grouping,
    outcome: tuple[str, tuple[str, ...], tuple[str, ...]] | None,
    time_limit: float | None,
) -> _Groups:
    """Groups that may be extreme by their selection rates, and by their rates given each true outcome."""
    named, rest = _searched(file, cells, states, decision, domain, people, time_limit)
    rests = {} if rest is None else {"everybody": rest}
    label = outcome is not None and outcome[0] not in states.sensitive
    for kind, values in zip(("favorable", "unfavorable"), outcome[1:] if outcome is not None else (), strict=False):
        column = outcome[0] if outcome is not None else ""
        texts = group_texts(column, cells[column].states, people.get(column))
        if not label or len(values) != 1 or values[0] not in texts:
            continue
        try:
            found, rest = _searched(
                file, cells, states, decision, domain, people, time_limit, (column, texts.index(values[0]))
            )
        except InputError as error:
            logger.warning(_WITHOUT_LABEL, error)
            label = False
        else:
            named += found
            rests |= {} if rest is None else {kind: rest}
    groups = tuple(dict.fromkeys(named))
    names = " x ".join(grouping.sensitive)
    logger.info(
        "%s of %s: those that may fare best or worst are found by a search, and %s with those of the rows looked at",
        *(counted(states.n_groups, "group"), names, counted(len(groups), "group")),
    )
    if rests:
        held = rests.get("everybody") or next(iter(rests.values()))
        logger.warning(
            "%s: time ran out in the search among %s: others than those looked at may have rates from %.4f to %.4f; "
            "pass --time-limit to give more time",
            *(names, counted(states.n_groups, "group"), held.lo, held.hi),
        )
    known = [group for group in grouping.groups if states.knows(group)]
    return _Groups(tuple(dict.fromkeys([*groups, *known])), rests, label)


def _searched(
    file: PopulationFile,
    cells: Network,
    states: States,
    decision: Decision,
    domain: Domain,
    people: pd.DataFrame,
    time_limit: float | None,
    outcome: tuple[str, int] | None = None,
) -> tuple[list[tuple[str, ...]], Enclosure | None]:
    """Groups among which the extreme ones are, and the rates of others where time ran out.

    Parameters
    ----------
    outcome : (str, int), optional
        Variable and state of the true outcome that people have.
    """
    network = file.network
    if network is None:
        raise TypeError("groups of a network are searched")
    absent = [name for name in domain.names if name not in network.variables]
    if absent:
        return [], None
    columns = {name: feature_of(name, cells[name].states, people.get(name)) for name in domain.names}
    touched = {}
    for position, (feature, _) in enumerate(columns.values()):
        touched[position] = reach(feature, domain.features[position], np.ones(len(feature), dtype=bool))
    lifted = lift(decision, [len(held) for held, _ in columns.values()], {at: at for at in touched}, touched)
    if lifted.least is not lifted.most:
        raise PopulationFileError(
            f"thresholds of the model cut ranges of the network {network.name or 'given'}, and of "
            f"{counted(states.n_groups, 'group')} the extreme ones are not searched then: state ranges with these edges"
        )
    fixed = () if outcome is None else (outcome[0],)
    conditionals = given_sensitive(network, (*states.sensitive, *fixed), domain.names)
    if outcome is not None:
        conditionals = conditionals.where(*outcome)
    found = extreme_groups(conditionals, columns, states.sensitive, lifted.least, time_limit)
    texts = [states.texts[name] for name in states.sensitive]
    named = [tuple(held[state] for held, state in zip(texts, group, strict=True)) for group in found.groups.tolist()]
    return named, found.rest


def _with_edges_of(network: Network, domain: Domain, people: pd.DataFrame) -> Network:
    """The same network; edges of ranges that no number of the column tells from a threshold are the threshold.

    Models round numbers to single precision before they compare them, so their own edges lie a rounding beside the
    threshold; and of whole numbers, an edge anywhere between two is the same.
    """
    variables = dict(network.variables)
    for feature in domain.features:
        variable = variables.get(feature.name)
        if variable is None or feature.edges is None or not isinstance(variable.states[0], Interval):
            continue
        if feature.by_value:
            variables[feature.name] = replace(variable, states=tuple(_bounded(variable, network)))
            continue
        whole = feature.name in people.columns and people[feature.name].dtype.kind in "iu"
        alike: Callable[[float], float] = math.floor if whole else _in_single_precision
        edges = {alike(edge): edge for edge in feature.edges.tolist() if math.isfinite(edge)}
        edges |= {edge: edge for edge in feature.edges.tolist()}

        def moved(edge: float, alike: Callable[[float], float] = alike, edges: dict[float, float] = edges) -> float:
            return edges.get(edge, edges.get(alike(edge), edge)) if math.isfinite(edge) else edge

        states = [
            Interval(moved(state.low), moved(state.high)) if isinstance(state, Interval) and not state.closed else state
            for state in variable.states
        ]
        variables[feature.name] = replace(variable, states=tuple(states))
    return replace(network, variables=variables)


def _bounded(variable: Variable, network: Network) -> list[State]:
    """Ranges with both ends, between which a score lies; whoever is on the lower end may be in either of two."""
    for state in variable.states:
        if isinstance(state, Interval) and not math.isfinite(state.high - state.low):
            raise PopulationFileError(
                f"the model's score has no bound over the range {state} of column {variable.name!r} in the network "
                f"{network.name or 'given'}: state ranges with both ends, or numbers"
            )
    return with_both_ends(variable.states)


def _in_single_precision(number: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def outcome_of(
    file: PopulationFile, people: pd.DataFrame, roles: Roles
) -> tuple[str, tuple[str, ...], tuple[str, ...]] | None:
    """Column of the true outcome, favorable values and others, where the network has such a variable."""
    truth, network = roles.truth, file.network
    if truth is None or network is None or truth.name not in network.variables:
        return None
    column = people[truth.name]
    good = {value_text(value) for value in column[truth.known & truth.positive].unique()} or {truth.words}
    bad = {value_text(value) for value in column[truth.known & ~truth.positive].unique()}
    return truth.name, tuple(sorted(good)), tuple(sorted(bad))
