"""Bundled public data sets and how each is read.

Every table is a compressed CSV file inside the package, so nothing needs the network. Sources, licences as far as
they are stated, and what was taken out are in ``data/PROVENANCE.md``; ``data/SHA256SUMS`` holds the hashes.

>>> from justicia import datasets
>>> datasets.names()
['adult', 'compas', 'german', 'ricci', 'titanic']
>>> frame, description = datasets.load("ricci")
>>> len(frame), description.label, description.favorable
(118, 'passed', 'yes')
"""

from __future__ import annotations

import gzip
from importlib import resources
from typing import TYPE_CHECKING

from justicia.datasets._descriptions import DESCRIPTIONS, Description
from justicia.errors import TableError
from justicia.words import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

__all__ = ["Description", "csv_bytes", "describe", "load", "names", "recognise"]


def names() -> list[str]:
    """Names of the bundled data sets, sorted."""
    return sorted(DESCRIPTIONS)


def describe(name: str) -> Description:
    """How the data set `name` is read.

    Raises
    ------
    TableError
        When no bundled data set has that name.
    """
    try:
        return DESCRIPTIONS[name]
    except KeyError:
        raise TableError(f"no bundled data set is called {name!r}{did_you_mean(name, names())}") from None


def csv_bytes(name: str) -> bytes:
    """The table `name` as UTF-8 CSV text with a header line."""
    describe(name)
    path = resources.files(__package__) / "data" / f"{name}.csv.gz"
    return gzip.decompress(path.read_bytes())


def load(name: str) -> tuple[pd.DataFrame, Description]:
    """The table `name` as a frame, and its description.

    Only empty cells are missing; words such as ``?`` or ``None`` are kept as text.

    Returns
    -------
    frame : DataFrame of shape (n_rows, n_columns)
    description : Description
    """
    import io

    from justicia.tables.csv_text import parse_csv

    return parse_csv(io.BytesIO(csv_bytes(name))), describe(name)


def recognise(columns: Iterable[str]) -> Description | None:
    """The bundled data set that has exactly these columns, in any order, if there is one."""
    wanted = frozenset(columns)
    for description in DESCRIPTIONS.values():
        if wanted == frozenset(description.columns):
            return description
    return None
