"""A population file as a person reads it."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from justicia.errors import PopulationFileError
from justicia.population.domain import Domain
from justicia.population.mixture import MixturePopulation
from justicia.words import counted, did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from justicia.population import Node, Population
    from justicia.population.stored import PopulationFile, StoredGrouping

__all__ = ["grid", "matrix", "population_to_text", "render", "text_of"]

_MOST_ROWS = 12
"""Of a table, unless everything is shown."""
_MOST_GROUPS = 6
"""Groups side by side, unless everything is shown."""
_LONGEST_NAME = 28
_MEANING = {
    "tree": "each feature depends on the group and at most one other feature",
    "independent": "features independent given the group",
    "empirical": "the rows themselves",
}


def population_to_text(file: PopulationFile, width: int, **options: Any) -> str:
    """The population as plain text, `width` characters wide; options as `render` takes them."""
    return text_of(render(file, width=width, **options), width)


def text_of(rendered: RenderableType, width: int) -> str:
    """Tables as plain text, `width` characters wide."""
    out = StringIO()
    Console(file=out, width=width, color_system=None, legacy_windows=False).print(rendered)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def render(
    file: PopulationFile,
    *,
    width: int,
    group: Mapping[str, str] | None = None,
    feature: str | None = None,
    of: str = "everybody",
    everything: bool = False,
) -> RenderableType:
    """The population as tables.

    Parameters
    ----------
    file : PopulationFile
    width : int
        Characters that a line may take.
    group : mapping of str to str, optional
        Values of sensitive columns: tables of these groups alone.
    feature : str, optional
        The tables of one feature, whole.
    of : str
        "everybody", "favorable" or "unfavorable": whose population.
    everything : bool
        Whole tables of every feature.

    Raises
    ------
    PopulationFileError
        When there is no such group, feature or population.
    """
    names = file.domain.names
    if feature is not None and feature not in names:
        raise PopulationFileError(f"the population has no feature {feature!r}{did_you_mean(feature, names)}")
    grouping = file.having(group or {})
    if of not in grouping.populations:
        raise PopulationFileError(f"there is no population of {of!r}{did_you_mean(of, grouping.populations)}")
    population = grouping.populations[of]
    chosen = _chosen(population, group or {})
    parts: list[RenderableType] = []
    if feature is None:
        parts += [_header(file), *(_groups(one, everything) for one in file.groupings)]
        parts += [Text(""), _features(_columns(file, population), population)]
    wanted = list(names) if everything else [] if feature is None else [feature]
    held = population.domain.names
    for name in wanted:
        parts += [Text(""), *_tables(population, held.index(name), chosen, everything or feature is not None, width)]
    if feature is None and not everything:
        parts += [Text(""), Text("--feature NAME shows the tables of a feature, --all those of all", style="dim")]
    return Group(*parts)


def _text(text: object) -> Text:
    return Text(shown(text, 300))


def grid(*headings: str, right: Sequence[str] = ()) -> Table:
    """A table without lines; columns named in `right` are of numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in headings:
        justify = "right" if heading in right else "left"
        table.add_column(Text(shown(heading, _LONGEST_NAME)), justify=justify, no_wrap=True)  # type: ignore[arg-type]
    return table


def _header(file: PopulationFile) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    population = file.groupings[0].everybody
    table = file.table
    rows = "no rows" if file.network is not None else counted(table.rows, "person", "people")
    structure = population.structure
    grid.add_row("structure", _text(f"{structure}: {population.description or _MEANING.get(structure, 'given')}"))
    grid.add_row(
        "fitted on" if file.network is None else "stated in",
        _text(rows if table.source is None else f"{table.source}, {rows}"),
    )
    label = file.label
    if label is not None:
        outcomes = f"{', '.join(label.favorable)} favorable, {', '.join(label.unfavorable) or 'nothing'} not"
        grid.add_row("true outcome", _text(f"{label.column}: {outcomes}"))
    for name, edges in file.bins.items():
        grid.add_row("cut", _text(f"{name} at {', '.join(f'{edge:g}' for edge in edges)}"))
    if file.rows_of_people:
        grid.add_row("contains", Text("rows of people: their cells of every feature"))
    return Group(Text("Population by justicia", style="bold"), grid)


def _groups(grouping: StoredGrouping, everything: bool) -> RenderableType:
    label = {kind: population for kind, population in grouping.populations.items() if kind != "everybody"}
    stated = not grouping.everybody.sizes.any()
    numbers = ["probability" if stated else "people", *({} if stated else label)]
    mixed = isinstance(grouping.everybody, MixturePopulation)
    table = grid(
        *grouping.sensitive, *numbers, *(["from the rows"] if mixed else []), right=[*numbers, "from the rows"]
    )
    people = grouping.everybody
    order = np.argsort(-people.shares, kind="stable").tolist()
    most = len(order) if everything else 2 * _MOST_ROWS
    for position in order[:most]:
        key = people.groups[position]
        if stated:
            table.add_row(*map(_text, key), Text(f"{people.shares[position]:.6f}"))
            continue
        sizes = [_size(population, key) for population in label.values()]
        cells = [*(_text(value) for value in key), Text(f"{people.sizes[position]:,}"), *map(Text, sizes)]
        if isinstance(people, MixturePopulation):
            cells.append(Text(f"{people.row_weights[position]:.1%}"))
        table.add_row(*cells)
    if len(order) > most:
        table.add_row(Text(f"… {len(order) - most:,} more", style="dim"))
    title = f"{' x '.join(grouping.sensitive)}: {counted(people.n_groups, 'group')}"
    return Group(Text(""), Text(shown(title, 200), style="bold"), table)


def _size(population: Population, key: tuple[str, ...]) -> str:
    return f"{population.sizes[population.groups.index(key)]:,}" if key in population.groups else "0"


def _columns(file: PopulationFile, population: Population) -> Domain:
    """The features that are columns, as the population has them."""
    names = set(file.domain.names)
    return Domain(tuple(feature for feature in population.domain.features if feature.name in names))


def _features(domain: Domain, population: Population) -> RenderableType:
    table = grid("feature", "values", "depends on", right=("values",))
    parents = population.parents
    for feature in domain.features:
        n = len(feature) - (feature.unseen is not None) - (feature.missing is not None)
        causes = ["the group", *parents.get(feature.name, ())]
        if isinstance(population, MixturePopulation) and population.n_classes > 1:
            causes.insert(1, "a latent class")
        held = f"{n:,} cells" if _shared(feature) else f"{n:,}"
        depends = "" if not population.parents and not _nodes(population) else ", ".join(causes)
        table.add_row(_text(feature.name), Text(held), _text(depends))
    return table


def _shared(feature: Any) -> bool:
    """Whether some cell holds several values."""
    if feature.numeric:
        return feature.ranges is None or bool((~(feature.ranges[:, 0] == feature.ranges[:, 1])).any())
    return len(set(feature.cells.values())) < len(feature.cells)


def _nodes(population: Population) -> tuple[Node, ...]:
    return population.network.nodes if isinstance(population, MixturePopulation) else population.nodes


def _chosen(population: Population, group: Mapping[str, str]) -> list[int]:
    at = {name: population.sensitive.index(name) for name in group}
    found = [
        position
        for position, key in enumerate(population.groups)
        if all(key[at[name]] == value for name, value in group.items())
    ]
    if not found:
        name, value = next(iter(group.items()))
        known = sorted({key[at[name]] for key in population.groups})
        raise PopulationFileError(
            f"no group is {', '.join(f'{held} {one}' for held, one in group.items())}{did_you_mean(value, known)}"
        )
    return sorted(found, key=lambda position: -population.shares[position])


def _tables(
    population: Population, feature: int, chosen: Sequence[int], whole: bool, width: int
) -> list[RenderableType]:
    """Probability of each cell by group, then, where there is a parent, of each state by the parent's."""
    held = population.domain.features[feature]
    boxes = [
        None if position != feature else np.eye(len(other), dtype=bool)
        for position, other in enumerate(population.domain.features)
    ]
    masses = population.masses(boxes, len(held))[:, chosen]
    labels = list(held.labels)
    title = f"{held.name}: probability by group"
    parts: list[RenderableType] = [matrix(title, labels, _keys(population, chosen), masses, whole, width)]
    node = next((node for node in _nodes(population) if node.feature == feature), None)
    if node is None or not node.parents or population.structure == "network":
        return parts
    parent = next(one for one in _nodes(population) if one.feature == node.parents[0])
    above = population.domain.features[parent.feature]
    states, given = _state_labels(held.labels, node), _state_labels(above.labels, parent)
    n_classes = population.n_classes if isinstance(population, MixturePopulation) else 1
    shown_groups = chosen if whole and len(chosen) <= _MOST_GROUPS else chosen[:1]
    for group in shown_groups:
        for one in range(n_classes):
            name = ", ".join(population.groups[group]) + (f", class {one + 1}" if n_classes > 1 else "")
            title = f"{held.name} given {above.name}, of {name}"
            table = node.table[group * n_classes + one]
            parts += [Text(""), matrix(title, states, given, table.T, whole, width)]
    if len(chosen) > len(shown_groups):
        parts.append(Text(f"… of {len(chosen) - len(shown_groups)} more groups; --group chooses", style="dim"))
    return parts


def _keys(population: Population, chosen: Sequence[int]) -> list[str]:
    return [", ".join(population.groups[position]) for position in chosen]


def _state_labels(labels: Sequence[str], node: Node) -> list[str]:
    found = []
    for state in range(node.table.shape[2]):
        held = [labels[cell] for cell in np.flatnonzero(node.states == state).tolist()]
        found.append(held[0] if len(held) == 1 else f"{held[0]} … {held[-1]}" if held else "")
    return found


def matrix(
    title: str, rows: Sequence[str], columns: Sequence[str], numbers: np.ndarray, whole: bool, width: int
) -> RenderableType:
    """Probabilities as a table; rows without any are left out, and long tables are cut unless `whole`."""
    held = [row for row in range(len(rows)) if (numbers[row] > 0).any()]
    if not whole and len(held) > _MOST_ROWS:
        held = sorted(sorted(held, key=lambda row: -numbers[row].sum())[:_MOST_ROWS])
    names = [shown(column, _LONGEST_NAME) for column in columns]
    first = max([len(shown(rows[row], _LONGEST_NAME)) for row in held], default=0) + 2
    blocks: list[RenderableType] = [Text(shown(title, 200), style="bold")]
    start = 0
    while start < len(names):
        end, taken = start, first
        while end < len(names) and (end == start or taken + max(len(names[end]), 8) + 2 <= width):
            taken += max(len(names[end]), 8) + 2
            end += 1
        table = grid("", *names[start:end], right=names[start:end])
        for row in held:
            cells = (f"{number:.6f}" if number else "0" for number in numbers[row, start:end])
            table.add_row(Text(shown(rows[row], _LONGEST_NAME)), *map(Text, cells))
        blocks.append(table)
        start = end
    return Group(*blocks)
