"""An audit under a stated network with numeric variables: seen as ranges where that is exact, else as what they are.

Trees and ensembles compare numbers with thresholds: variables that stand alone, and two that hang together, become
ranges between the thresholds, and every engine answers. A linear score is normal given the states of the other
variables, or has a characteristic function in closed form. What is left is answered by boxes of the multivariate normal
distribution, or by people who are drawn.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.decisions import Tree
from justicia.encoders.lifting import lift
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.errors import PopulationFileError
from justicia.population.coarsening import possible_cells
from justicia.population.networks import MOST_GROUPS, Network, States, for_columns
from justicia.population.networks.gaussians import Component, Single, components_of, scope_of
from justicia.population.networks.mixed import MixedNetwork, spelled
from justicia.population.networks.population import GivenNetwork
from justicia.population.networks.ranges import grids_of, with_ranges, without_densities
from justicia.population.networks.states import feature_of
from justicia.population.reach import reach
from justicia.solvers.drawn_people import DrawnPeople
from justicia.solvers.normal_boxes import NormalBoxes
from justicia.solvers.normal_scores import NormalScores
from justicia.stating import outcome_of, stated
from justicia.words import counted, listed

if TYPE_CHECKING:
    import pandas as pd

    from justicia.encoders import Decision
    from justicia.population import Domain, Feature
    from justicia.population.stored import PopulationFile
    from justicia.solvers import Solver
    from justicia.tables import Grouping, Roles

__all__ = ["asked_over", "certainly_few", "stated_densities"]

logger = logging.getLogger(__name__)

_MOST_TOGETHER = 1 << 18
"""Choices of states that a linear score is looked at for, one by one."""
_MOST_MASSES = 1 << 24
"""These times groups."""
_MOST_PAIRS = 1 << 22
"""Rectangles of two variables times choices of states that they depend on."""


def stated_densities(
    file: PopulationFile,
    decision: Decision,
    domain: Domain,
    people: pd.DataFrame,
    roles: Roles,
    groupings: Sequence[Grouping],
    search: str,
    time_limit: float | None = None,
) -> PopulationFile:
    """The populations of a network with numeric variables that a model is asked about; as `justicia.stating.stated`.

    Raises
    ------
    PopulationFileError
        When the model takes a numeric variable in a way that its density says nothing about, or too much hangs
        together.
    """
    network = file.network
    if network is None:
        return file
    numeric = [feature for feature in domain.features if feature.name in network.numeric]
    for feature in numeric:
        _check(feature, network)
    components = components_of(network, [feature.name for feature in numeric])
    linear = isinstance(decision, LinearThreshold)
    affine = linear and bool(numeric) and all(feature.affine for feature in numeric)
    _check_number_of_groups(network, people, groupings, search, linear=linear and bool(numeric))
    few = _few(network, domain, components, people, groupings, sensitive_only=not linear)
    if affine and few:
        return _mixed(file, domain, components, people, roles, groupings)
    cuts, ends = {}, {}
    for feature in numeric:
        cuts[feature.name] = np.zeros(0) if feature.edges is None else feature.edges
    if linear:
        grids = grids_of(network, [feature.name for feature in numeric])
        cuts = {name: grid[1:-1] for name, grid in grids.items()}
        ends = {name: (float(grid[0]), float(grid[-1])) for name, grid in grids.items()}
        if any(len(one.names) > 1 for one in components):
            curved = [feature.name for feature in numeric if not feature.affine]
            why = (
                f"the score is no straight line over {listed(curved)}"
                if curved
                else f"more than {_MOST_TOGETHER:,} choices of other variables' states matter"
            )
            tied = next(one.names for one in components if len(one.names) > 1)
            raise PopulationFileError(
                f"{listed(tied)} hang together in the network {network.name or 'given'}, and {why}: nothing "
                "certain can be said of the sum; state them without coefficients on each other, or in ranges"
            )
    elif not all(_as_ranges(network, one, cuts) for one in components):
        return _mixed(file, domain, components, people, roles, groupings)
    made = stated(
        replace(file, network=with_ranges(network, cuts, components, ends)),
        decision, domain, people, roles, groupings, search, time_limit,
    )  # fmt: skip
    declared = {feature.name: list(network.numeric[feature.name].parents) for feature in numeric}
    for grouping in made.groupings:
        for population in grouping.populations.values():
            if isinstance(population, GivenNetwork):
                population.densities = spelled(network)
                population.state_parents(declared)
    return replace(made, network=network)


def _check(feature: Feature, network: Network) -> None:
    """Refuse a feature of which a density says nothing."""
    if not feature.numeric:
        raise PopulationFileError(
            f"the model takes column {feature.name!r} as categories, and a density gives none of them any people: "
            f"state its values in the network {network.name or 'given'}"
        )
    if feature.members is not None and not feature.affine:
        raise PopulationFileError(
            f"the score rises and falls with column {feature.name!r}, so that nothing is known of it between two "
            f"numbers: state values in the network {network.name or 'given'} in place of a density"
        )


def _check_number_of_groups(
    network: Network, people: pd.DataFrame, groupings: Sequence[Grouping], search: str, *, linear: bool
) -> None:
    """Refuse a search among groups that have to be looked at one by one."""
    for grouping in groupings if linear and search == "learn" else ():
        states = States(without_densities(network), grouping.sensitive, people)
        if states.n_groups > MOST_GROUPS:
            raise PopulationFileError(
                f"{counted(states.n_groups, 'group')} of {' x '.join(grouping.sensitive)} are too many to look at one "
                "by one, and those where a score of densities is extreme are not searched: name fewer sensitive columns"
            )


def _as_ranges(network: Network, one: Component | Single, cuts: Mapping[str, np.ndarray]) -> bool:
    """Whether ranges of a component are found exactly, and are not too many."""
    if len(one.names) > 2:
        return False
    n_states = math.prod(len(network[name].states) for name in one.scope)
    return len(one.names) < 2 or n_states * math.prod(len(cuts[name]) + 1 for name in one.names) <= _MOST_PAIRS


def certainly_few(network: Network) -> bool:
    """Whether few choices of states matter to any straight score, whoever is asked about."""
    n = math.prod(len(variable.states) for variable in network.variables.values())
    return n <= min(_MOST_TOGETHER, MOST_GROUPS) and n * n <= _MOST_MASSES


def _few(
    network: Network,
    domain: Domain,
    components: Sequence[Component | Single],
    people: pd.DataFrame,
    groupings: Sequence[Grouping],
    *,
    sensitive_only: bool,
) -> bool:
    """Whether few choices of states matter to the score."""
    names = set(scope_of(components))
    if not sensitive_only:
        names |= {name for name in domain.names if name in network.variables}
    n = math.prod(len(network[name].states) for name in names)
    plain = without_densities(network)
    most = max(States(plain, grouping.sensitive, people).n_groups for grouping in groupings)
    return n <= _MOST_TOGETHER and n * most <= _MOST_MASSES and most <= MOST_GROUPS


def _mixed(
    file: PopulationFile,
    domain: Domain,
    components: Sequence[Component | Single],
    people: pd.DataFrame,
    roles: Roles,
    groupings: Sequence[Grouping],
) -> PopulationFile:
    """Populations whose numeric variables stay densities."""
    network = file.network
    if network is None:
        raise TypeError("a network states densities")
    if not _few(network, domain, components, people, groupings, sensitive_only=True):
        names = [name for one in components for name in one.names]
        raise PopulationFileError(
            f"{listed(names)} depend on more choices of other variables' states than can be looked at one by one: give "
            "the network fewer states or parents, or name fewer sensitive columns"
        )
    plain = without_densities(network)
    wanted = {*scope_of(components), *(name for name in domain.names if name in network.variables)}
    features = {feature.name: feature for feature in domain.features if feature.name in network.numeric}
    columns = {
        name: feature_of(name, network[name].states, people.get(name)) for name in plain.variables if name in wanted
    }
    made = stated_with(replace(file, network=plain), wanted, people, roles, groupings)
    held = []
    for grouping in made.groupings:
        of_kinds: dict[str, Any] = {}
        for kind, population in grouping.populations.items():
            if not isinstance(population, GivenNetwork):
                raise TypeError("groups of a network are stated")
            of_kinds[kind] = MixedNetwork(population, network, components, features, columns)
        held.append(replace(grouping, **of_kinds))
    return replace(made, groupings=tuple(held), network=network)


def stated_with(
    file: PopulationFile,
    wanted: set[str],
    people: pd.DataFrame,
    roles: Roles,
    groupings: Sequence[Grouping],
) -> PopulationFile:
    """Populations of the variables with states, and of those with one true outcome."""
    made = for_columns(file, wanted, people, None, outcome_of(file, people, roles))
    for grouping in groupings:
        known = set(made.grouping(grouping.sensitive).everybody.groups)
        lost = [", ".join(group) for group in grouping.groups if group not in known]
        if lost:
            logger.warning(
                "%s of the rows, %s, %s probability 0 in the network or no state there: no verified rate",
                *(counted(len(lost), "group"), listed(lost, 5), "has" if len(lost) == 1 else "have"),
            )
    return made


def asked_over(population: MixedNetwork, decision: Decision, domain: Domain) -> tuple[Decision, Decision, Solver]:
    """What is asked of which engine: decisions over the population's cells that enclose the model's.

    Numbers of a linear model are the engine's; their features are no part of its decision.
    """
    linear = isinstance(decision, LinearThreshold)
    names = population.domain.names
    possible = possible_cells(population)
    position, touched = {}, {}
    for at, feature in enumerate(domain.features):
        place = names.index(feature.name)
        if feature.name in population.network.numeric:
            touched[at] = np.eye(1 if linear else len(feature), dtype=bool)
        else:
            touched[at] = reach(population.domain.features[place], feature, possible[place])
        position[at] = place
    if not isinstance(decision, LinearThreshold):
        if isinstance(decision, Tree):
            lifted = lift(decision, population.domain.sizes, position, touched)
            return lifted.least, lifted.most, NormalBoxes()
        if all(np.array_equal(held, np.eye(len(held), dtype=bool)) for held in touched.values()):
            # The model's own cells, in another order.
            return decision, decision, DrawnPeople([position[at] for at in range(len(position))])
        lifted = lift(decision, population.domain.sizes, position, touched)
        return lifted.least, lifted.most, DrawnPeople()
    lines = {
        feature.name: _line(feature, values)
        for feature, values in zip(domain.features, decision.contributions, strict=True)
        if feature.name in population.network.numeric
    }
    kept = [at for at, feature in enumerate(domain.features) if feature.name not in lines]
    rest = replace(decision, contributions=tuple(decision.contributions[at] for at in kept))
    n_base = population.base.n_columns
    lifted = lift(
        rest,
        population.domain.sizes[:n_base],
        {new: position[at] for new, at in enumerate(kept)},
        {new: touched[at] for new, at in enumerate(kept)},
    )
    slopes = [np.array([lines[name][0] for name in one.names]) for one in population.components]
    intercept, size, extent = (sum(line[at] for line in lines.values()) for at in (1, 2, 3))
    return lifted.least, lifted.most, NormalScores(slopes, intercept, size, extent)


def _line(feature: Feature, values: np.ndarray) -> tuple[float, float, float, float]:
    """Slope and intercept of what a feature adds, by the numbers that are farthest apart; and two sizes.

    They are those of what is added there, and of the slope times the larger number.
    """
    if feature.ranges is None:
        raise TypeError(f"nothing is known of the numbers of {feature.name}")
    n = len(feature.ranges)
    low, high = float(feature.ranges[0, 0]), float(feature.ranges[n - 1, 1])
    first, last = float(values[0]), float(values[n - 1])
    slope = (last - first) / (high - low)
    return slope, first - slope * low, abs(first) + abs(last), abs(slope) * max(abs(low), abs(high))
