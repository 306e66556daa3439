"""People of a population that comes from a file, as the model of an audit takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from justicia.population.networks.mixed import MixedNetwork
from justicia.population.networks.people import NetworkPeople
from justicia.population.networks.population import GivenNetwork
from justicia.population.stored.drawing import StoredPeople

if TYPE_CHECKING:
    import pandas as pd

    from justicia.given import Given
    from justicia.population import Population
    from justicia.population.networks import Network
    from justicia.population.stored import StoredGrouping
    from justicia.tables import Grouping

__all__ = ["GivenPeople"]


@dataclass(frozen=True)
class GivenPeople:
    """Draws people of a file's population as the model takes them; columns that the file lacks come from the table.

    Attributes
    ----------
    given : Given
    stored : StoredGrouping
        Of the file.
    population : Population
        One of its populations.
    grouping : Grouping
        Of the rows.
    """

    given: Given
    stored: StoredGrouping
    population: Population
    grouping: Grouping

    def draw(self, points: np.ndarray, group: int, rng: np.random.Generator) -> pd.DataFrame:
        """One person a point, of the group at position `group`; of densities, people of the group drawn anew."""
        import pandas as pd

        key = self.population.groups[group]
        position = self.stored.everybody.groups.index(key)
        network = self.given.file.network
        if network is not None and network.numeric:
            held = self._of_network(network).columns(key, len(points), rng)
        else:
            held = StoredPeople(self.given.file, self.stored).features(points, position, rng)
        members = np.flatnonzero(self.grouping.codes == self.grouping.groups.index(key))
        members = members if len(members) else np.arange(len(self.grouping.codes))
        columns = {}
        for name in self.given.frame.columns:
            if name in held:
                columns[name] = held[name]
            else:
                rows = rng.choice(members, size=len(points))
                columns[name] = self.given.frame[name].iloc[rows].reset_index(drop=True)
        people = pd.DataFrame(columns)
        return people if self.given.expansion is None else self.given.expansion.transform(people)

    def _of_network(self, network: Network) -> NetworkPeople:
        fixed = self.population.fixed if isinstance(self.population, (GivenNetwork, MixedNetwork)) else {}
        return NetworkPeople(network, self.stored.sensitive, self.population.groups, self.given.people, fixed)
