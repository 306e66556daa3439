"""An audit under a network that somebody states: the groups that are asked for, and the true outcome."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from justicia.encoders.lifting import lift
from justicia.errors import PopulationFileError
from justicia.population.networks import MOST_GROUPS, Network, States, Variable, for_columns
from justicia.population.networks.elimination import given_sensitive
from justicia.population.networks.states import Interval, State, feature_of, with_both_ends
from justicia.population.reach import reach
from justicia.solvers.extreme_groups import extreme_groups
from justicia.words import counted, listed, value_text

if TYPE_CHECKING:
    import pandas as pd

    from justicia.encoders import Decision
    from justicia.population import Domain
    from justicia.population.stored import PopulationFile
    from justicia.tables import Grouping, Roles

__all__ = ["outcome_of", "stated"]

logger = logging.getLogger(__name__)


def stated(
    file: PopulationFile,
    decision: Decision,
    domain: Domain,
    people: pd.DataFrame,
    roles: Roles,
    groupings: Sequence[Grouping],
    search: str,
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

    Raises
    ------
    PopulationFileError
        When there are too many groups, or the network's variables hang together too closely.
    """
    if file.network is None:
        return file
    cells = _with_edges_of(file.network, domain, people)
    only = {}
    if search == "learn":
        for grouping in groupings:
            states = States(file.network, grouping.sensitive, people)
            if states.n_groups > MOST_GROUPS:
                only[grouping.sensitive] = _searched(file, cells, states, decision, domain, people, grouping)
    outcome = outcome_of(file, people, roles)
    if only and outcome is not None:
        logger.warning("groups are searched by their selection rates: true and false positive rates are left out")
        outcome = None
    file = for_columns(file, set(domain.names), people, only, outcome, cells)
    for grouping in groupings:
        held = set(file.grouping(grouping.sensitive).everybody.groups)
        lost = [", ".join(group) for group in grouping.groups if group not in held]
        if lost:
            logger.warning(
                "%s of the rows, %s, %s probability 0 in the network or no state there: no verified rate",
                *(counted(len(lost), "group"), listed(lost, 5), "has" if len(lost) == 1 else "have"),
            )
    return file


def _searched(
    file: PopulationFile,
    cells: Network,
    states: States,
    decision: Decision,
    domain: Domain,
    people: pd.DataFrame,
    grouping: Grouping,
) -> list[tuple[str, ...]]:
    """Groups among which the extreme ones are, and those of the rows."""
    network = file.network
    if network is None:
        raise TypeError("groups of a network are searched")
    absent = [name for name in domain.names if name not in network.variables]
    if absent:
        return []
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
    conditionals = given_sensitive(network, states.sensitive, domain.names)
    found = extreme_groups(conditionals, columns, states.sensitive, lifted.least)
    texts = [states.texts[name] for name in states.sensitive]
    named = [tuple(held[state] for held, state in zip(texts, group, strict=True)) for group in found.tolist()]
    logger.info(
        "%s of %s: those that may fare best or worst are found by a search, and %s with those of the rows looked at",
        *(counted(states.n_groups, "group"), " x ".join(states.sensitive), counted(len(named), "group")),
    )
    return list(dict.fromkeys([*named, *(group for group in grouping.groups if states.knows(group))]))


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
