"""Random networks, and all that they say, by listing every combination of states."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from justicia.population.networks import Network, Variable, checked_network

__all__ = ["joint", "random_network", "random_people"]


def random_network(seed: int, n_variables: int = 7, most_parents: int = 3) -> Network:
    """Variables v0, v1, … of two to four numbers each, in any order, with some probabilities of 0."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4 if n_variables > 6 else 5, size=n_variables)
    variables = []
    for i in range(n_variables):
        n_parents = int(rng.integers(0, min(i, most_parents) + 1))
        parents = rng.choice(i, size=n_parents, replace=False).tolist() if i else []
        table = rng.dirichlet(np.full(sizes[i], 0.7), size=tuple(int(sizes[parent]) for parent in parents))
        if rng.random() < 0.3:
            table = np.where(table < 0.1, 0.0, table)
            table /= table.sum(axis=-1, keepdims=True)
        states = tuple(range(int(sizes[i])))
        variables.append(Variable(f"v{i}", states, tuple(f"v{parent}" for parent in parents), table))
    return checked_network([variables[i] for i in rng.permutation(n_variables)])


def joint(network: Network) -> tuple[pd.DataFrame, np.ndarray]:
    """Every combination of states, and its probability: the product of one number of each table."""
    names = list(network.variables)
    points = np.array(list(product(*(range(len(network[name].states)) for name in names))))
    at = {name: points[:, i] for i, name in enumerate(names)}
    masses = np.ones(len(points))
    for variable in network.variables.values():
        masses *= variable.table[(*(at[parent] for parent in variable.parents), at[variable.name])]
    return pd.DataFrame({name: [network[name].states[i] for i in at[name]] for name in names}), masses


def random_people(network: Network, rng: np.random.Generator, n: int = 150) -> pd.DataFrame:
    """Rows that know nothing of the tables, with an outcome y that goes with the columns."""
    frame = pd.DataFrame(
        {name: rng.integers(0, len(variable.states), size=n) for name, variable in network.variables.items()}
    )
    score = frame @ rng.normal(size=frame.shape[1]) + rng.normal(scale=0.5, size=n)
    return frame.assign(y=(score > score.median()).astype(int))
