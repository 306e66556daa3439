"""Follow source columns through fitted preprocessing steps.

`trace` cuts the steps before an estimator into blocks: fitted transformers that act on some source columns, where
every output depends on exactly one of them. Values always go through the fitted transformers themselves; nothing of
their arithmetic is repeated here.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import MALFORMED, UnsupportedModelError
from justicia.models.unwrapping import flattened
from justicia.words import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

__all__ = ["SUPPORTED_STEPS", "Block", "Wire", "gives_sparse", "trace"]


@dataclass(frozen=True)
class Wire:
    """One column on its way through the steps.

    Attributes
    ----------
    source : int
        Position of the source column among the block's columns.
    raw : bool
        The value is still the source's own (missing values may have been filled).
    stepped : bool
        The value is constant between the source's `kinks`, or depends on categories only.
    monotone : bool
        Every number is taken, and the value never falls, or never rises, as the source's number grows.
    affine : bool
        The value is a multiple of the source's number plus a constant.
    """

    source: int
    raw: bool = True
    stepped: bool = False
    monotone: bool = True
    affine: bool = True


@dataclass(frozen=True)
class Kink:
    """Where a discretizer's value changes: where what it takes reaches `edges`.

    Attributes
    ----------
    block : Block or None
        What it takes is an output of this block's first steps; None when it takes the source's own value.
    n_steps, position : int
        How many steps, and which of their outputs.
    edges : float64 array of shape (n_edges,)
    cast : float type
        The discretizer compares in this type.
    """

    block: Block | None
    n_steps: int
    position: int
    edges: np.ndarray
    cast: type[np.floating[Any]]

    def below(self, values: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Whether values lie below edges, as the discretizer compares them."""
        with np.errstate(over="ignore"):
            return np.asarray(values.astype(self.cast).astype(np.float64) < edges)


@dataclass
class Block:
    """Fitted transformers that act on some source columns.

    Attributes
    ----------
    columns : tuple of str
        Source columns, in the order in which the first transformer takes them.
    steps : tuple
        Fitted transformers; none means that columns pass through.
    wires : list of Wire
        One an output.
    outputs : int array of shape (n_outputs,)
        Positions of the outputs in the estimator's matrix.
    categories : dict of str to list of arrays
        Categories that encoders hold for a source column.
    kinks : dict of str to list of Kink
        Where a discretizer's value changes.
    weight : float
        Factor of the outputs, in a ColumnTransformer with weights.
    """

    columns: tuple[str, ...]
    steps: tuple[Any, ...]
    wires: list[Wire] = field(default_factory=list)
    outputs: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    categories: dict[str, list[np.ndarray]] = field(default_factory=dict)
    kinks: dict[str, list[Kink]] = field(default_factory=dict)
    weight: float = 1.0

    def passes(self, n_steps: int | None = None) -> bool:
        """Whether the first `n_steps` steps, or all, do nothing to the numbers whose wires are raw."""
        made = self.steps[:n_steps]
        plain = all(type(step).__name__ == "OneHotExpansion" for step in made)
        return plain and (n_steps is not None or self.weight == 1.0)

    def apply(self, frame: pd.DataFrame, n_steps: int | None = None) -> np.ndarray:
        """Send rows through the transformers (through the first `n_steps` of them).

        Parameters
        ----------
        frame : DataFrame of shape (n_rows, n_columns)
            The block's source columns.

        Returns
        -------
        float64 array of shape (n_rows, n_outputs)

        Raises
        ------
        ValueError
            When a transformer refuses a value.
        """
        values: Any = frame[list(self.columns)]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for step in self.steps[:n_steps]:
                try:
                    values = step.transform(values)
                except (TypeError, ValueError):
                    raise
                except MALFORMED as error:
                    said = f"{type(error).__name__}: {error}"
                    raise ValueError(f"{type(step).__name__} cannot transform ({said})") from error
        if hasattr(values, "toarray"):
            values = values.toarray()
        outputs = np.asarray(values)
        if n_steps is None and self.weight != 1.0:
            # In the type of the step's own output, as a ColumnTransformer multiplies.
            outputs = outputs * self.weight
        return np.asarray(outputs, dtype=np.float64)


def trace(steps: Sequence[Any], columns: Sequence[str]) -> list[Block]:
    """Cut the steps before an estimator into blocks that cover its matrix.

    Parameters
    ----------
    steps : sequence of fitted transformers
    columns : sequence of str
        Source columns, in the order in which the first step takes them.

    Raises
    ------
    UnsupportedModelError
        When a step is not supported, or an output depends on more than one source column.
    """
    chain = _flattened(steps)
    if len(chain) != 1 or type(chain[0]).__name__ != "ColumnTransformer":
        block = _block(columns, chain)
        block.outputs = np.arange(len(block.wires))
        return [block]
    blocks = []
    width = 0
    for transformer, positions, weight in _branches(chain[0], columns):
        block = _block([columns[position] for position in positions], _flattened([transformer]))
        block.weight = weight
        block.outputs = np.arange(width, width + len(block.wires))
        width += len(block.wires)
        blocks.append(block)
    return blocks


def _flattened(steps: Sequence[Any]) -> tuple[Any, ...]:
    """Steps one after another, without what passes through."""
    return tuple(step for step in flattened(steps) if not _is_identity(step))


def gives_sparse(steps: Sequence[Any]) -> bool:
    """Whether the estimator gets a sparse matrix, in which scikit-learn's trees take no NaN."""
    for step in reversed(_flattened(steps)):
        name = type(step).__name__
        if name == "ColumnTransformer":
            return bool(step.sparse_output_)
        if name == "NativeCategories":
            return False
        if name in ("OneHotEncoder", "SplineTransformer"):
            return bool(step.sparse_output)
        if name == "KBinsDiscretizer":
            return bool(step.encode == "onehot")
        if name == "OrdinalEncoder":
            return False
    return False


def _is_identity(step: Any) -> bool:
    if type(step).__name__ != "FunctionTransformer":
        return False
    # HistGradientBoostingClassifier checks its own numbers in such a step.
    inner = getattr(step.func, "func", None)
    return step.func is None or getattr(inner, "__name__", "") == "check_array"


def _block(columns: Sequence[str], chain: tuple[Any, ...]) -> Block:
    block = Block(tuple(columns), chain)
    wires = [Wire(position) for position in range(len(columns))]
    for depth, step in enumerate(chain):
        wires = _follow(step, wires, block, depth)
    block.wires = wires
    return block


def _follow(step: Any, wires: list[Wire], block: Block, depth: int | None) -> list[Wire]:
    """Wires after `step`, the block's step number `depth`; None where the block cannot stop before the step."""
    kind = type(step)
    name = kind.__name__
    if name == "OneHotExpansion":
        return _expansion(step, wires, block)
    if name == "NativeCategories":
        return _native(step, wires, block)
    if name == "ColumnTransformer" and kind.__module__.startswith("sklearn."):
        out: list[Wire] = []
        if depth != 0:
            for transformer, positions, _ in _branches(step, [str(i) for i in range(len(wires))]):
                inner_wires = [wires[position] for position in positions]
                for part in _flattened([transformer]):
                    inner_wires = _follow(part, inner_wires, block, None)
                out += inner_wires
            return out
        for transformer, positions, _ in _branches(step, block.columns):
            inner = _block([block.columns[position] for position in positions], _flattened([transformer]))
            out += [replace(wire, source=positions[wire.source]) for wire in inner.wires]
            for name, arrays in inner.categories.items():
                block.categories.setdefault(name, []).extend(arrays)
            for name, kinks in inner.kinks.items():
                block.kinks.setdefault(name, []).extend(kinks)
        return out
    if name not in _FOLLOW or not kind.__module__.startswith("sklearn."):
        full = f"{kind.__module__}.{name}"
        why = f" ({_MIXING[name]})" if name in _MIXING else ""
        raise UnsupportedModelError(
            f"step {full} before the classifier is not supported{why}; supported steps are "
            f"{listed(SUPPORTED_STEPS, 40)}, in a Pipeline or ColumnTransformer"
        )
    return _FOLLOW[name](step, wires, block, depth)


def _branches(transformer: Any, names: Sequence[str]) -> list[tuple[Any, list[int], float]]:
    """Fitted transformers of a ColumnTransformer that give output, with the positions of their columns and weights."""
    known = getattr(transformer, "feature_names_in_", None)
    order = [str(name) for name in known] if known is not None else list(names)
    branches = []
    weights = transformer.transformer_weights or {}
    for name, inner, selection in transformer.transformers_:
        if isinstance(inner, str) and inner == "drop":
            continue
        positions = _positions(selection, order)
        if positions:
            branches.append((inner, positions, float(weights.get(name, 1.0))))
    return branches


def _positions(selection: Any, names: Sequence[str]) -> list[int]:
    """Positions of the columns that a ColumnTransformer's branch selects, in its order."""
    index = {name: position for position, name in enumerate(names)}
    if isinstance(selection, slice):
        if isinstance(selection.start, str) or isinstance(selection.stop, str):
            start = 0 if selection.start is None else index[selection.start]
            stop = len(names) if selection.stop is None else index[selection.stop] + 1
            return list(range(start, stop, selection.step or 1))
        return list(range(*selection.indices(len(names))))
    if isinstance(selection, (str, int, np.integer)):
        selection = [selection]
    items = list(selection)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        return [position for position, chosen in enumerate(items) if chosen]
    return [index[item] if isinstance(item, str) else int(item) % len(names) for item in items]


def _expansion(step: Any, wires: list[Wire], block: Block) -> list[Wire]:
    for name, values in step.categories.items():
        block.categories[name] = [np.array(values, dtype=object)]
    return [
        Wire(source, value is None, value is not None) for source, value in zip(step.source, step.value, strict=True)
    ]


def _native(step: Any, wires: list[Wire], block: Block) -> list[Wire]:
    out = []
    for wire, name in zip(wires, step.columns, strict=True):
        if name in step.categories:
            block.categories.setdefault(block.columns[wire.source], []).append(
                np.array(step.categories[name], dtype=object)
            )
        out.append(Wire(wire.source, False, True) if name in step.categories else wire)
    return out


def _same(step: Any, wires: list[Wire], block: Block, depth: int | None) -> list[Wire]:
    straight = type(step).__name__ in _STRAIGHT and not getattr(step, "clip", False)
    return [replace(wire, raw=False, affine=wire.affine and straight) for wire in wires]


_STRAIGHT = frozenset({"MaxAbsScaler", "MinMaxScaler", "RobustScaler", "StandardScaler"})


def _curved(step: Any, wires: list[Wire], block: Block, depth: int | None) -> list[Wire]:
    """Steps that refuse some numbers, or make infinity of large ones: the table's values alone are sent through."""
    return [replace(wire, raw=False, monotone=False, affine=False) for wire in wires]


def _selected(step: Any, wires: list[Wire], block: Block, depth: int | None) -> list[Wire]:
    return [wire for wire, kept in zip(wires, step.get_support(), strict=True) if kept]


def _splined(step: Any, wires: list[Wire], block: Block, depth: int | None) -> list[Wire]:
    width = step.n_features_out_ // len(wires)
    return [Wire(wire.source, False, wire.stepped, False, False) for wire in wires for _ in range(width)]


def _powers(step: Any, wires: list[Wire], block: Block, depth: int | None) -> list[Wire]:
    out = []
    for powers in step.powers_:
        taken = {wires[position].source for position in np.flatnonzero(powers)}
        if len(taken) > 1:
            names = listed(sorted(block.columns[source] for source in taken))
            raise UnsupportedModelError(
                f"step PolynomialFeatures gives cross terms ({names} multiplied): an output depends on more than one "
                "column, which is not supported; powers of single columns are"
            )
        power = int(powers.max())
        wire = wires[int(np.argmax(powers))]
        held = wire.monotone and power % 2 == 1
        out.append(Wire(wire.source, False, wire.stepped or power == 0, held, wire.affine and power == 1))
    return out


def _function(step: Any, wires: list[Wire], block: Block, depth: int | None) -> list[Wire]:
    ufunc = isinstance(step.func, np.ufunc) and not step.kw_args
    if not ufunc and not _is_elementwise(step, len(wires)):
        name = getattr(step.func, "__name__", str(step.func))
        raise UnsupportedModelError(
            f"step FunctionTransformer({name}) is not supported: its function must give each number a number of its "
            "own, whatever stands in other rows and columns"
        )
    return _curved(step, wires, block, depth)


_PROBES = (0.05, -7.0, 1e3)


def _is_elementwise(step: Any, width: int) -> bool:
    """Whether each output depends on the number in its place alone, as far as probing with numbers tells."""
    import pandas as pd

    numbers = np.random.default_rng(0).uniform(0.1, 0.9, size=(6, width))
    for form in (np.array, pd.DataFrame):
        before = _called(step, form(numbers))
        if before is None or before.shape != numbers.shape:
            continue
        for column in range(min(width, 50)):
            for probe in _PROBES:
                changed = numbers.copy()
                changed[column % 6, column] = probe
                after = _called(step, form(changed))
                if after is None:
                    # It does not take every number; those of the table it took.
                    continue
                after[column % 6, column] = before[column % 6, column]
                if not np.array_equal(before, after, equal_nan=True):
                    return False
        return True
    return False


def _called(step: Any, numbers: Any) -> np.ndarray | None:
    """What a step's function gives; None when it refuses, or gives no numbers."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = np.array(step.func(numbers, **(step.kw_args or {})), dtype=np.float64)
        except Exception:
            return None
    return made if made.ndim == 2 else None


def _imputed(step: Any, wires: list[Wire], block: Block, depth: int | None) -> list[Wire]:
    if not _is_missing(step.missing_values):
        for wire in wires:
            if wire.raw:
                # What stands for "missing" is a value of its own.
                sentinel = np.array([step.missing_values], dtype=object)
                block.categories.setdefault(block.columns[wire.source], []).append(sentinel)
            elif not wire.stepped:
                raise UnsupportedModelError(
                    f"SimpleImputer(missing_values={step.missing_values!r}) after a scaler is not supported"
                )
    statistics = step.statistics_
    keep = getattr(step, "keep_empty_features", False)
    # A column that was empty in fit has the statistic NaN and is dropped; None is a value like another.
    empty = [isinstance(value, float) and value != value for value in statistics]
    kept = [wire for wire, gone in zip(wires, empty, strict=True) if keep or not gone]
    if step.indicator_ is not None:
        kept += [Wire(wires[position].source, False, True) for position in step.indicator_.features_]
    return kept


def _is_missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.isna(value))


def _encoded(step: Any, wires: list[Wire], block: Block, depth: int | None) -> list[Wire]:
    out = []
    for wire, categories, width in zip(wires, step.categories_, _widths(step), strict=True):
        if wire.raw:
            block.categories.setdefault(block.columns[wire.source], []).append(np.asarray(categories))
        elif not wire.stepped:
            raise UnsupportedModelError(
                f"{type(step).__name__} takes column {block.columns[wire.source]!r} after it was scaled: not supported"
            )
        out += [Wire(wire.source, False, True)] * width
    return out


def _widths(encoder: Any) -> list[int]:
    """Number of outputs of each column of a fitted one-hot or ordinal encoder."""
    if type(encoder).__name__ == "OrdinalEncoder":
        return [1] * len(encoder.categories_)
    infrequent = getattr(encoder, "infrequent_categories_", [None] * len(encoder.categories_))
    dropped = encoder.drop_idx_ if encoder.drop_idx_ is not None else [None] * len(encoder.categories_)
    widths = []
    for categories, rare, drop in zip(encoder.categories_, infrequent, dropped, strict=True):
        width = len(categories) if rare is None else len(categories) - len(rare) + 1
        widths.append(width - (drop is not None))
    return widths


def _discretized(step: Any, wires: list[Wire], block: Block, depth: int | None) -> list[Wire]:
    out = []
    for position, (wire, edges, n_bins) in enumerate(zip(wires, step.bin_edges_, step.n_bins_, strict=True)):
        width = 1 if step.encode == "ordinal" else int(n_bins)
        if not wire.monotone:
            out += [Wire(wire.source, False, wire.stepped, False)] * width
            continue
        if not wire.stepped:
            if depth is None and not wire.raw:
                raise UnsupportedModelError(
                    "KBinsDiscretizer after a scaler is not supported in a ColumnTransformer that is not the first step"
                )
            cast = np.float64 if step.dtype is None else np.dtype(step.dtype).type
            inner_edges = np.asarray(edges[1:-1], dtype=np.float64)
            kink = Kink(None if wire.raw else block, depth or 0, position, inner_edges, cast)
            block.kinks.setdefault(block.columns[wire.source], []).append(kink)
        out += [Wire(wire.source, False, True)] * width
    return out


_FOLLOW: Mapping[str, Callable[[Any, list[Wire], Block, int | None], list[Wire]]] = {
    "FunctionTransformer": _function,
    "KBinsDiscretizer": _discretized,
    "MaxAbsScaler": _same,
    "MinMaxScaler": _same,
    "OneHotEncoder": _encoded,
    "OrdinalEncoder": _encoded,
    "PolynomialFeatures": _powers,
    "PowerTransformer": _curved,
    "QuantileTransformer": _same,
    "RobustScaler": _same,
    "SelectKBest": _selected,
    "SelectPercentile": _selected,
    "SimpleImputer": _imputed,
    "SplineTransformer": _splined,
    "StandardScaler": _same,
    "VarianceThreshold": _selected,
}
"""How each supported step passes columns on; a new step is one function and one line here."""

SUPPORTED_STEPS = tuple(sorted(_FOLLOW))

_MIXING = {
    "KNNImputer": "it fills a column from all others",
    "Normalizer": "it divides every column by the length of the row",
    "PCA": "every output mixes all columns",
    "TruncatedSVD": "every output mixes all columns",
}
"""Why some steps cannot be supported: an output depends on more than one source column."""
