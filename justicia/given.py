"""An audit under populations that come from a file: what the model makes of their cells, and whose groups they know."""

from __future__ import annotations

import copy
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.lifting import lift
from justicia.errors import InputError, PopulationFileError
from justicia.given_people import GivenPeople
from justicia.population import STRUCTURES, Domain
from justicia.population.coarsening import coarsened, possible_cells
from justicia.population.networks import Network, file_of_network, numbers_of, read_given
from justicia.population.networks.mixed import MixedNetwork
from justicia.population.reach import known_values, reach
from justicia.population.stored import PopulationFile
from justicia.stating import stated
from justicia.stating_densities import asked_over, certainly_few, stated_densities
from justicia.tables import find_groupings
from justicia.words import counted, did_you_mean, listed

if TYPE_CHECKING:
    import pandas as pd

    from justicia.encoders import Decision
    from justicia.models import FittedModel, OneHotExpansion
    from justicia.population import Population
    from justicia.solvers import Solver
    from justicia.tables import Grouping, Roles, Table

__all__ = ["Given", "Seen", "encode_under", "given_bins", "given_groupings", "label_of", "settle_population"]

logger = logging.getLogger(__name__)

_LARGEST_WHOLE = 2**53
"""Larger whole numbers cannot be told apart as floats."""


def settle_population(population: Any, of_rows: str | None = None) -> tuple[str, PopulationFile | Network | None]:
    """The structure to fit, and the file or network that stands in its place.

    Parameters
    ----------
    population : str, path, PopulationFile or Network
    of_rows : str, optional
        An option that asks what finite rows leave open of a population that is fitted to them.

    Raises
    ------
    InputError
        When there is no such structure, and no such file, or the option has no meaning for what is given.
    """
    if isinstance(population, str) and population in STRUCTURES:
        return population, None
    if not isinstance(population, (str, Path, PopulationFile, Network)):
        raise InputError(f"a population is a structure, a file or a PopulationFile, not {type(population).__name__}")
    if isinstance(population, (str, Path)) and not Path(population).exists():
        raise InputError(
            f"no population is called {str(population)!r}, and there is no such file"
            f"{did_you_mean(population, STRUCTURES)}"
        )
    if of_rows is not None:
        raise InputError(
            f"{of_rows} says what finite rows leave open of a population fitted to them, and this one is given: "
            "leave it out"
        )
    held = read_given(population) if isinstance(population, (str, Path)) else population
    if isinstance(held, PopulationFile) and held.network is not None:
        held = held.network
    return ("network" if isinstance(held, Network) else held.structure), held


def given_groupings(
    file: PopulationFile | Network, named: list[list[str]] | None, table: Table
) -> tuple[PopulationFile, list[list[str]]]:
    """The groupings that are named, each in the file's order of columns, or all of the file's.

    A network has groups of whatever variables are named, or of the sensitive columns that are found.

    Raises
    ------
    PopulationFileError
        When the file has no population of one of them.
    """
    if isinstance(file, Network):
        found = find_groupings(table, named)
        return file_of_network(file, found, table.people), [list(names) for names in found]
    if named is not None:
        return file, [list(file.grouping(names).sensitive) for names in named]
    columns = list(table.people.columns)
    held = [list(grouping.sensitive) for grouping in file.groupings]
    absent = [name for names in held for name in names if name not in columns]
    if absent:
        raise PopulationFileError(
            f"the population {file.name or 'given'} has groups by {absent[0]!r}, and the table has no such column"
            f"{did_you_mean(absent[0], columns)}"
        )
    logger.info("sensitive: %s, as in the population; override with --sensitive", listed(map(" x ".join, held)))
    return file, held


def label_of(file: PopulationFile, table: Table) -> str | None:
    """The file's column of the true outcome, where the table has it."""
    if file.label is None or file.label.column not in table.people.columns:
        return None
    logger.info("label %s is that of the population; override with --label", file.label.column)
    return file.label.column


def given_bins(
    file: PopulationFile, bins: Mapping[str, Sequence[Any]] | None, groupings: Sequence[Sequence[str]]
) -> dict[str, Sequence[Any]]:
    """Edges of numeric sensitive columns: those of the file, which others have to agree with.

    Raises
    ------
    PopulationFileError
        When they do not.
    """
    sensitive = {name for names in groupings for name in names}
    held: dict[str, Sequence[Any]] = {name: edges for name, edges in file.bins.items() if name in sensitive}
    for name, edges in (bins or {}).items():
        try:
            same = name in held and [float(edge) for edge in edges] == list(held[name])
        except (TypeError, ValueError):
            same = False
        if not same:
            cut = f"cut at {listed(held[name])}" if name in held else "not cut"
            raise PopulationFileError(f"--bins {name}: in the population {file.name or 'given'} the column is {cut}")
    return held


def encode_under(
    file: PopulationFile | Network | None, fitted: FittedModel, frame: pd.DataFrame, favorable: Collection[Any]
) -> tuple[pd.DataFrame, Decision, Domain]:
    """Encode a model for a table, and for a population that is given.

    Of a column with a density, a tree finds its thresholds by itself, and a straight score is known by the ends: few
    numbers serve. Only a score that bends is asked about many.

    Returns
    -------
    frame : DataFrame of shape (n_rows, n_columns)
        The same rows, in types that hold the population's values.
    decision : Decision
    domain : Domain
    """
    from justicia import encoders

    if not isinstance(file, PopulationFile):
        return (frame, *encoders.encode(fitted, frame, favorable))
    network = file.network
    if network is None or not network.numeric:
        frame, looked_at = with_values(frame, file.domain)
        return (frame, *encoders.encode(fitted, looked_at, favorable))
    if certainly_few(network):
        widened, looked_at = with_values(frame, file.domain)
        decision, domain = encoders.encode(fitted, looked_at, favorable)
        held = [feature for feature in domain.features if feature.name in network.numeric]
        if all(feature.affine or not feature.by_value for feature in held):
            return widened, decision, domain
    many = {
        feature.name: feature for feature in numbers_of(network, set(network.numeric) & set(frame.columns), few=False)
    }
    features = tuple(many.get(feature.name, feature) for feature in file.domain.features)
    frame, looked_at = with_values(frame, Domain(features))
    return (frame, *encoders.encode(fitted, looked_at, favorable))


def with_values(frame: pd.DataFrame, domain: Domain) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table for the encoder, which looks at the values of numbers: with those that the population's cells have.

    Returns
    -------
    frame : DataFrame of shape (n_rows, n_columns)
        The same rows; in a wider type where a column cannot hold a value of the population.
    extended : DataFrame
        These rows and further ones.
    """
    import pandas as pd

    position = {name: index for index, name in enumerate(domain.names)}
    added: dict[str, list[Any]] = {}
    for name in frame.columns:
        if name not in position or frame[name].dtype.kind not in "iuf":
            continue
        feature = domain.features[position[name]]
        held = set(frame[name].dropna().tolist())
        values = [
            value
            for value in known_values(feature)
            if not isinstance(value, str) and abs(value) <= _LARGEST_WHOLE and value not in held
        ]
        if feature.missing is not None and not frame[name].isna().any():
            values.append(np.nan)
        if values:
            added[name] = values
    if not added:
        return frame, frame
    n_more = max(map(len, added.values()))
    columns: dict[str, Any] = {}
    for name in frame.columns:
        values = added.get(name, [])
        column = frame[name]
        padded = np.array([*values, *(values[:1] * (n_more - len(values)))], dtype=np.float64)
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
            numbers = column.to_numpy()
            if values and not _holds(column, padded):
                numbers = numbers.astype(np.float64)
            more = padded.astype(numbers.dtype) if values else np.repeat(numbers[:1], n_more)
            columns[name] = np.concatenate([numbers, more])
            continue
        tail = column.iloc[np.zeros(n_more, dtype=np.int64)].reset_index(drop=True)
        if values:
            if not _holds(column, padded):
                column = column.astype(np.float64)
            tail = pd.Series(padded).where(~np.isnan(padded), None) if column.dtype.kind != "f" else pd.Series(padded)
            tail = tail.astype(column.dtype)
        columns[name] = pd.concat([column, tail], ignore_index=True)
    extended = pd.DataFrame(columns)
    return extended.iloc[: len(frame)].reset_index(drop=True), extended


def _holds(column: pd.Series[Any], values: np.ndarray) -> bool:
    """Whether a column's type can hold some numbers as they are."""
    if isinstance(column.dtype, np.dtype):
        with np.errstate(all="ignore"):
            cast = values.astype(column.dtype)
        if column.dtype.kind in "iu":
            return not np.isnan(values).any() and bool((cast == values).all())
        return bool(np.array_equal(cast.astype(np.float64), values, equal_nan=True))
    return str(column.dtype).lower() == "float64" or (
        column.dtype.kind in "iu" and bool((values[~np.isnan(values)] == np.rint(values[~np.isnan(values)])).all())
    )


@dataclass(frozen=True)
class Seen:
    """What an engine is asked: decisions over the cells of a population that enclose the model's.

    Attributes
    ----------
    population : Population
    least, most : Decision
        One and the same where no cell is in doubt.
    engine : Solver or None
        That alone takes this population.
    """

    population: Population
    least: Decision
    most: Decision
    engine: Solver | None = None


@dataclass(frozen=True)
class Given:
    """Populations of a file, and a model.

    Attributes
    ----------
    file : PopulationFile
    decision : Decision
    domain : Domain
        Of the model.
    frame : DataFrame of shape (n_rows, n_columns)
        The columns that the model takes, for those that the file lacks.
    kinds : dict of str to str
        For each rate by true outcome, the population of the file that it is taken under.
    expansion : OneHotExpansion or None
    people : DataFrame or None
        The table.
    """

    file: PopulationFile
    decision: Decision
    domain: Domain
    frame: pd.DataFrame
    kinds: Mapping[str, str] = field(default_factory=dict)
    expansion: OneHotExpansion | None = None
    people: pd.DataFrame | None = None

    @classmethod
    def settle(
        cls,
        file: PopulationFile,
        decision: Decision,
        domain: Domain,
        frame: pd.DataFrame,
        roles: Roles,
        expansion: OneHotExpansion | None,
        *,
        asked: bool,
        people: pd.DataFrame,
        groups: Sequence[Grouping],
        search: str,
        time_limit: float | None = None,
    ) -> tuple[Given, Roles]:
        """Bring file and model together; the roles lose the true outcome where the file's is another.

        Raises
        ------
        PopulationFileError
            When the file lacks a feature of the model, or the true outcome that was `asked` for is another.
        """
        absent = [name for name in domain.names if name not in file.domain.names]
        if absent:
            raise PopulationFileError(
                f"the population {file.name or 'given'} lacks {listed(absent)}, which the model depends on"
                f"{did_you_mean(absent[0], file.domain.names)}"
                + ("" if file.network is not None else "; a column that was left out of it is named with --keep")
            )
        if file.network is not None:
            state = stated_densities if file.network.numeric else stated
            file = state(file, decision, domain, people, roles, groups, search, time_limit)
        kinds = _kinds(file, roles, asked)
        if not kinds:
            roles = replace(roles, truth=None)
        given = cls(file, decision, domain, frame, kinds, expansion, people)
        given._say_what_is_unseen()
        return given, roles

    def check_solver(self, solver: str) -> None:
        """Refuse an engine that is named where another one alone can answer.

        Raises
        ------
        PopulationFileError
        """
        held = [one for grouping in self.file.groupings for one in grouping.populations.values()]
        if solver != "auto" and any(isinstance(one, MixedNetwork) for one in held):
            raise PopulationFileError(
                f"solver {solver} takes cells, and columns of the population {self.file.name or 'given'} have "
                "densities here: pass --solver auto"
            )

    def has(self, grouping: Grouping, kind: str) -> bool:
        """Whether the file has a population for such a rate."""
        return self._stored(grouping, kind) is not None

    def population(self, grouping: Grouping, kind: str) -> tuple[Population, np.ndarray]:
        """The population for a rate, and the positions of its groups in the grouping.

        Parameters
        ----------
        grouping : Grouping
            With the groups of the file's population of everybody among its own.
        kind : str
            "selection_rate", "tpr" or "fpr".
        """
        population = self._stored(grouping, kind)
        if population is None:
            raise PopulationFileError(f"the population {self.file.name or 'given'} has nobody with such a true outcome")
        index = {group: position for position, group in enumerate(grouping.groups)}
        population = copy.copy(population)
        population.people = GivenPeople(self, self.file.grouping(grouping.sensitive), population, grouping)
        return population, np.array([index[group] for group in population.groups], dtype=np.int64)

    def _stored(self, grouping: Grouping, kind: str) -> Population | None:
        stored = self.file.grouping(grouping.sensitive)
        return stored.populations.get("everybody" if kind == "selection_rate" else self.kinds[kind])

    def _reach(self, population: Population) -> dict[int, tuple[int, np.ndarray]]:
        """For each feature of the model, its place in the file and the cells that each cell there may hold."""
        possible = possible_cells(population)
        found = {}
        for position, feature in enumerate(self.domain.features):
            place = population.domain.names.index(feature.name)
            try:
                touched = reach(population.domain.features[place], feature, possible[place])
            except InputError as error:
                raise PopulationFileError(f"the population {self.file.name or 'given'}: {error}") from None
            found[position] = place, touched
        return found

    def seen(self, population: Population) -> Seen:
        """What is asked of an engine.

        The population and the decision themselves, where their cells are the same; else the population with fewer
        cells, and decisions over them.
        """
        if isinstance(population, MixedNetwork):
            return Seen(population, *asked_over(population, self.decision, self.domain))
        found = self._reach(population)
        if population.domain.names == self.domain.names and all(
            touched.shape[0] == touched.shape[1] and _same(touched, possible)
            for (_, touched), possible in zip(found.values(), possible_cells(population), strict=True)
        ):
            return Seen(population, self.decision, self.decision)
        kinds = {}
        for place, touched in found.values():
            kinds[place] = _kinds_of(touched)
        coarse = coarsened(population, kinds)
        position, touched_by = {}, {}
        for feature, (place, touched) in found.items():
            new = coarse.feature.index(place)
            position[feature] = new
            _, first = np.unique(coarse.cells[new], return_index=True)
            touched_by[feature] = touched[first]
        lifted = lift(self.decision, coarse.population.domain.sizes, position, touched_by)
        return Seen(coarse.population, lifted.least, lifted.most)

    def _say_what_is_unseen(self) -> None:
        """Warn of values of the population that the model was not fitted on."""
        people = self.file.groupings[0].everybody
        possible = possible_cells(people)
        for feature in self.domain.features:
            fine = people.domain.features[place := people.domain.names.index(feature.name)]
            if feature.numeric or feature.unseen is None:
                continue
            values = known_values(fine) if fine.numeric else [v for v, c in fine.cells.items() if possible[place][c]]
            strange = [value for value in values if feature.cells.get(value, feature.unseen) == feature.unseen]
            if strange:
                logger.warning(
                    "column %s holds %s in the population that the model was not fitted on: %s",
                    *(feature.name, counted(len(strange), "value"), listed(strange, 5)),
                )


def _kinds_of(touched: np.ndarray) -> np.ndarray:
    """A number for each row, the same for rows that are the same; as bits, thousands of rows are soon told apart."""
    packed = np.ascontiguousarray(np.packbits(touched, axis=1))
    return np.unique(packed.view([("", np.void, packed.shape[1])]).ravel(), return_inverse=True)[1].ravel()


def _same(touched: np.ndarray, possible: np.ndarray) -> bool:
    """Whether every cell that has people is the model's cell of the same number."""
    return bool((touched == np.eye(len(touched), dtype=bool))[possible].all())


def _kinds(file: PopulationFile, roles: Roles, asked: bool) -> dict[str, str]:
    """Which population of the file each rate by true outcome is taken under; none where the outcomes are others."""
    truth, label = roles.truth, file.label
    if truth is None:
        return {}
    if label is None:
        problem = (
            "was fitted without a true outcome: pass --label to justicia population fit"
            if file.network is None
            else f"has no variable {truth.name!r} with one state for each true outcome"
        )
    elif label.column != truth.name:
        problem = f"was fitted for the true outcome in column {label.column!r}, not {truth.name!r}"
    elif truth.words == ", ".join(sorted(label.favorable)):
        return {"tpr": "favorable", "fpr": "unfavorable"}
    elif truth.words == ", ".join(sorted(label.unfavorable)):
        return {"tpr": "unfavorable", "fpr": "favorable"}
    else:
        problem = f"was fitted with {listed(label.favorable)} as the favorable outcome, not {truth.words}"
    message = f"the population {file.name or 'given'} {problem}"
    if asked and label is not None:
        raise PopulationFileError(f"{message}; leave --label out for selection rates alone")
    logger.warning("%s; true and false positive rates are left out", message)
    return {}
