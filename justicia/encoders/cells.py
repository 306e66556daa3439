"""Cut source columns into cells, given what a model looks at in its matrix.

A numeric column is cut where one of a model's tests changes, found by bisection through the fitted transformers; where
the value itself matters, or rises and falls, every value of the table is a cell, and neighbours that the model cannot
tell apart are joined. A column that goes through an encoder has one cell a category. What each cell looks like in the
matrix is then read off by sending one value of each cell through the transformers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.encoders.bisection import last_true
from justicia.encoders.columns import Column, as_column, fills_of, outputs_of, probe_frame, settle_values, wires_of
from justicia.errors import UnsupportedModelError
from justicia.population.domain import Domain, Feature
from justicia.words import value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from justicia.encoders.preprocessing import Block, Kink

__all__ = ["Layout", "cut_into_cells", "interval_values"]

_LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Layout:
    """The domain, and what its cells look like in the estimator's matrix.

    Attributes
    ----------
    domain : Domain
    feature_of : dict of int to int
        For each tested column of the matrix, the feature that it depends on.
    values_of : dict of int to float64 array of shape (n_cells,)
        For each tested column of the matrix, its value in each cell of that feature.
    """

    domain: Domain
    feature_of: dict[int, int]
    values_of: dict[int, np.ndarray]


def cut_into_cells(
    blocks: list[Block],
    frame: pd.DataFrame,
    tests: Mapping[int, np.ndarray],
    *,
    cast: type[np.floating[Any]] = np.float32,
    allow_nan: bool = True,
    terms: Callable[[int, np.ndarray], np.ndarray] | None = None,
    monotone: bool = False,
) -> Layout:
    """Find the cells of every source column that a test depends on.

    Parameters
    ----------
    blocks : list of Block
    frame : DataFrame of shape (n_rows, n_columns)
        The source columns; only types, missing values and distinct values of encoded numbers are looked at.
    tests : mapping of int to float64 array
        For each tested column of the matrix, the thresholds: a value passes when its `cast` is at most the threshold.
        They are not looked at when there are `terms`.
    cast : float type
        The model compares in this type.
    allow_nan : bool
        Whether the estimator takes NaN.
    terms : callable, optional
        What an additive model makes of values of a column of the matrix; NaN where it takes none.
    monotone : bool
        Whether every term never falls, or never rises, as its value grows.

    Returns
    -------
    Layout
    """
    columns = _tested_columns(blocks, frame, tests)
    for column in columns.values():
        column.by_value = terms is not None or any(
            output in tests and not wire.stepped and not wire.monotone
            for wire, (_, _, output) in zip(wires_of(column), column.outputs, strict=True)
        )
        settle_values(column, frame[column.name])
    fills = fills_of(blocks, columns, frame)
    for block in blocks:
        _add_edges(block, columns, tests, fills, frame, cast)
    for column in columns.values():
        if column.edges is not None and not column.by_value:
            column.edges = np.unique(column.edges)
            column.values = interval_values(column.edges)
    _settle_specials(blocks, columns, fills, frame, allow_nan, tests, terms)
    values = _outputs(blocks, columns, fills, frame)
    features, values = _features(columns, values, tests, cast, terms, monotone)
    feature_of = {
        output: position for position, column in enumerate(columns.values()) for _, _, output in column.outputs
    }
    return Layout(
        Domain(tuple(features)),
        {output: feature for output, feature in feature_of.items() if output in tests},
        {output: values[output] for output in tests},
    )


def _tested_columns(blocks: list[Block], frame: pd.DataFrame, tests: Mapping[int, np.ndarray]) -> dict[str, Column]:
    outputs: dict[str, list[tuple[Block, int, int]]] = {}
    for block in blocks:
        for position, (wire, output) in enumerate(zip(block.wires, block.outputs, strict=True)):
            outputs.setdefault(block.columns[wire.source], []).append((block, position, int(output)))
    tested = {name for name, held in outputs.items() if any(output in tests for _, _, output in held)}
    return {name: Column(name, outputs[name], [], None) for name in frame.columns if name in tested}


def _add_edges(
    block: Block,
    columns: Mapping[str, Column],
    tests: Mapping[int, np.ndarray],
    fills: Mapping[str, Any],
    frame: pd.DataFrame,
    cast: type[np.floating[Any]],
) -> None:
    """Add to each numeric column the values at which a test on the block's outputs changes."""
    wanted: list[tuple[str, int, np.ndarray]] = []
    for position, (wire, output) in enumerate(zip(block.wires, block.outputs, strict=True)):
        name = block.columns[wire.source]
        if int(output) in tests and not wire.stepped and _is_cut(columns.get(name)):
            wanted.append((name, position, tests[int(output)]))

    def compare(outputs: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.asarray(outputs.astype(cast).astype(np.float64) <= thresholds)

    _bisect(block, None, wanted, compare, columns, fills, frame)
    for name, kinks in block.kinks.items():
        if not _is_cut(columns.get(name)):
            continue
        for kink in kinks:
            if kink.block is None:
                edges = _raw_kinks(kink, frame[name])
                columns[name].edges = np.concatenate([columns[name].edges, edges])
            else:
                wanted = [(name, kink.position, kink.edges)]
                _bisect(kink.block, kink.n_steps, wanted, kink.below, columns, fills, frame)


def _is_cut(column: Column | None) -> bool:
    """Whether edges of a column are looked for."""
    return column is not None and column.edges is not None and not column.by_value


def _raw_kinks(kink: Kink, like: pd.Series[Any]) -> np.ndarray:
    """The largest values below each edge of the kink, for a column of the type of `like`."""

    def test(values: np.ndarray) -> np.ndarray:
        return kink.below(as_column(values, like), kink.edges[:, None])

    found = last_true(test, len(kink.edges))
    return found[~np.isnan(found)]


def _bisect(
    block: Block,
    n_steps: int | None,
    wanted: list[tuple[str, int, np.ndarray]],
    compare: Callable[[np.ndarray, np.ndarray], np.ndarray],
    columns: Mapping[str, Column],
    fills: Mapping[str, Any],
    frame: pd.DataFrame,
) -> None:
    """Add the values at which an output of the first `n_steps` steps crosses its thresholds."""
    if not wanted:
        return
    names = [name for name, _, thresholds in wanted for _ in thresholds]
    positions = np.array([position for _, position, thresholds in wanted for _ in thresholds], dtype=np.int64)
    levels = np.concatenate([thresholds for _, _, thresholds in wanted])
    # Tests of different columns share rows: test i asks the rows of slot[i].
    slots: dict[str, int] = {}
    slot = np.zeros(len(names), dtype=np.int64)
    for i, name in enumerate(names):
        slot[i] = slots.get(name, 0)
        slots[name] = int(slot[i]) + 1
    n_slots = max(slots.values())
    of_column = {name: np.flatnonzero(np.array([other == name for other in names])) for name in slots}
    passes = block.passes(n_steps) and all(block.wires[position].raw for position in positions)
    # Columns of wide numbers get them as they are.
    narrow = {name: like for name in of_column if (like := frame[name]).dtype in (np.float32, np.float16)}

    def test(values: np.ndarray) -> np.ndarray:
        if passes:
            # What goes through no step needs no table.
            outputs = values.copy() if narrow else values
            for name, like in narrow.items():
                outputs[of_column[name]] = as_column(values[of_column[name]], like)
            return compare(outputs, levels[:, None])
        n_probes = values.shape[1]
        candidates = {name: values[rows].ravel() for name, rows in of_column.items()}
        outputs = block.apply(probe_frame(block, candidates, fills, frame, n_slots * n_probes), n_steps)
        rows = slot[:, None] * n_probes + np.arange(n_probes)
        return compare(outputs[rows, positions[:, None]], levels[:, None])

    found = last_true(test, len(levels))
    for name, rows in of_column.items():
        edges = found[rows]
        columns[name].edges = np.concatenate([columns[name].edges, edges[~np.isnan(edges)]])


def interval_values(edges: np.ndarray) -> list[Any]:
    """One value of each interval: its largest, and for the last one something above."""
    if not len(edges):
        return [0.0]
    last = float(edges[-1])
    above = last + max(1.0, abs(last) / 8)
    if above > _LARGEST_FLOAT32 or above == last:
        above = float(np.nextafter(last, np.inf))
    return [*edges.tolist(), above]


def _settle_specials(
    blocks: list[Block],
    columns: Mapping[str, Column],
    fills: Mapping[str, Any],
    frame: pd.DataFrame,
    allow_nan: bool,
    tests: Mapping[int, np.ndarray],
    terms: Callable[[int, np.ndarray], np.ndarray] | None,
) -> None:
    """Find which columns take missing values and unseen categories: those that every transformer lets through."""
    by_value = {name for name, column in columns.items() if column.by_value}

    def passes(block: Block, candidates: dict[str, Any]) -> bool:
        rows = max(len(values) for values in candidates.values())
        try:
            outputs = outputs_of(block, candidates, fills, frame, rows, by_value)
        except (ValueError, TypeError):
            return False
        if not allow_nan and np.isnan(outputs).any():
            return False
        return terms is None or not any(
            np.isnan(terms(int(output), outputs[:, position])).any()
            for position, (wire, output) in enumerate(zip(block.wires, block.outputs, strict=True))
            if int(output) in tests and block.columns[wire.source] in candidates
        )

    for special in ("missing", "unseen"):
        asked = [column for column in columns.values() if special == "missing" or column.unseen is not None]
        # Beside NaN integers would become floats, which not every step takes for the same numbers.
        refused = {
            column.name
            for column in asked
            if special == "missing" and (column.whole or (column.by_value and frame[column.name].dtype.kind in "iub"))
        }
        for block in blocks:
            here = [column for column in asked if column.name in block.columns]
            candidates = {column.name: [getattr(column, special)] for column in here}
            if here and not passes(block, candidates):
                refused |= {name for name, value in candidates.items() if not passes(block, {name: value})}
        for column in asked:
            setattr(column, f"takes_{special}", column.name not in refused)


def _outputs(
    blocks: list[Block], columns: Mapping[str, Column], fills: Mapping[str, Any], frame: pd.DataFrame
) -> dict[int, np.ndarray]:
    """For each matrix column of a cut source column, its value in each cell."""
    values: dict[int, np.ndarray] = {}
    by_value = {name for name, column in columns.items() if column.by_value}
    for block in blocks:
        candidates: dict[str, Any] = {}
        for name in block.columns:
            if name in columns:
                column = columns[name]
                held = column.candidates()
                candidates[name] = np.array(held, dtype=np.float64) if column.edges is not None else held
        if not candidates:
            continue
        n_rows = max(len(held) for held in candidates.values())
        try:
            outputs = outputs_of(block, candidates, fills, frame, n_rows, by_value)
        except (ValueError, TypeError) as error:
            raise UnsupportedModelError(f"a preprocessing step refuses its own categories: {error}") from error
        if outputs.shape[1] != len(block.wires):
            raise UnsupportedModelError(
                f"the steps before the classifier give {outputs.shape[1]} columns where {len(block.wires)} are expected"
            )
        for position, (wire, output) in enumerate(zip(block.wires, block.outputs, strict=True)):
            name = block.columns[wire.source]
            if name in columns:
                values[int(output)] = outputs[: len(candidates[name]), position]
    return values


def _features(
    columns: Mapping[str, Column],
    values: dict[int, np.ndarray],
    tests: Mapping[int, np.ndarray],
    cast: type[np.floating[Any]],
    terms: Callable[[int, np.ndarray], np.ndarray] | None,
    monotone: bool,
) -> tuple[list[Feature], dict[int, np.ndarray]]:
    """Features from the cut columns; neighbouring intervals that the model cannot tell apart become one cell."""
    features = []
    for column in columns.values():
        edges = column.edges
        if edges is None:
            features.append(_categorical(column))
            continue
        n_intervals = len(edges) + 1
        differs = np.zeros(n_intervals - 1, dtype=bool)
        for _, _, output in column.outputs:
            if output in tests and terms is not None:
                made = terms(output, values[output][:n_intervals])
                differs |= made[1:] != made[:-1]
            elif output in tests:
                with np.errstate(over="ignore"):
                    numbers = values[output][:n_intervals].astype(cast).astype(np.float64)
                ranks = np.searchsorted(tests[output], numbers, side="left")
                differs |= (ranks[1:] != ranks[:-1]) | (np.isnan(numbers[1:]) != np.isnan(numbers[:-1]))
        kept = edges[differs]
        last = np.append(differs, True)
        keep = np.flatnonzero(np.append(last, [True] * (len(column.candidates()) - n_intervals)))
        for _, _, output in column.outputs:
            values[output] = values[output][keep]
        candidates = column.candidates()
        held = [float(candidates[position]) for position in keep]
        labels = _run_labels(column.values, differs) if column.by_value else _interval_labels(kept)
        labels += ["(missing)"] if column.takes_missing else []
        missing = len(kept) + 1 if column.takes_missing else None
        ranges = members = None
        if column.by_value:
            runs = np.split(np.array(column.values, dtype=np.float64), np.flatnonzero(differs) + 1)
            ranges = np.array([[run[0], run[-1]] for run in runs])
            if not (monotone and _is_one_curve(column, tests)):
                members = tuple(tuple(run.tolist()) for run in runs)
        features.append(
            Feature(
                column.name,
                tuple(labels),
                tuple(held),
                kept,
                missing=missing,
                by_value=column.by_value,
                ranges=ranges,
                members=members,
                affine=monotone and column.by_value and _is_affine(column, tests, values, len(kept) + 1),
            )
        )
    return features, values


def _is_one_curve(column: Column, tests: Mapping[int, np.ndarray]) -> bool:
    """Whether the model sees one number that only rises, or only falls, with the column's value."""
    wires = [wire for wire, (_, _, output) in zip(wires_of(column), column.outputs, strict=True) if output in tests]
    return len(wires) == 1 and wires[0].monotone


def _is_affine(column: Column, tests: Mapping[int, np.ndarray], values: dict[int, np.ndarray], n: int) -> bool:
    """Whether the model sees nothing but multiples of the column's value plus constants, in its first `n` cells."""
    for wire, (_, _, output) in zip(wires_of(column), column.outputs, strict=True):
        # What tells missing values apart is the same for all numbers.
        indicates = wire.stepped and len(np.unique(values[output][:n])) == 1 if output in tests else True
        if not (indicates or (wire.affine and not wire.stepped)):
            return False
    return True


def _categorical(column: Column) -> Feature:
    labels = [value_text(value) for value in column.values]
    cells = {value: position for position, value in enumerate(column.values)}
    unseen = missing = None
    if column.takes_unseen:
        unseen = len(labels)
        labels.append("(unseen)")
    if column.takes_missing:
        missing = len(labels)
        labels.append("(missing)")
    return Feature(column.name, tuple(labels), tuple(column.candidates()), cells=cells, unseen=unseen, missing=missing)


def _run_labels(values: list[Any], differs: np.ndarray) -> list[str]:
    """Runs of values as text: the value, or the first and the last."""
    ends = np.flatnonzero(np.append(differs, True))
    starts = np.concatenate([[0], ends[:-1] + 1])
    texts = [(value_text(values[start]), value_text(values[end])) for start, end in zip(starts, ends, strict=True)]
    return [first if first == last else f"{first} to {last}" for first, last in texts]


def _interval_labels(edges: np.ndarray) -> list[str]:
    """Intervals as text, with as many digits as tell the edges apart."""
    if not len(edges):
        return ["any number"]
    for digits in (6, 9, 12, 17):
        texts = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(texts)) == len(texts):
            break
    middle = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return [f"<= {texts[0]}", *middle, f"> {texts[-1]}"]
