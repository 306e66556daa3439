"""Populations that somebody states: Bayesian networks over the columns, in BIF or JSON."""

from __future__ import annotations

from justicia.population.networks.declared import Network, Variable, checked_network
from justicia.population.networks.groups import (
    MOST_GROUPS,
    States,
    check_possible,
    file_of_network,
    for_columns,
    numbers_of,
)
from justicia.population.networks.json_form import network_to_json
from justicia.population.networks.reading import network_from_text, read_given

__all__ = [
    "MOST_GROUPS",
    "Network",
    "States",
    "Variable",
    "check_possible",
    "checked_network",
    "file_of_network",
    "for_columns",
    "network_from_text",
    "network_to_json",
    "numbers_of",
    "read_given",
]
