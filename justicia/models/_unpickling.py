"""An unpickler for files that nobody vouches for.

It looks up nothing but the exact pairs of `_allowed`, calls only those that are marked callable, sets state only on
instances of listed classes, and checks what numpy would believe: the shape of a dtype's state, the length of an array's
data. It reads joblib's arrays itself, because joblib reads arrays of objects with the plain unpickler.
"""

from __future__ import annotations

import pickle
import re
from typing import IO, Any, ClassVar

import numpy as np

from justicia.errors import ModelFileError
from justicia.models._allowed import ALLOWED, CALLABLE, RENAMED, STATEFUL
from justicia.speaking import WRITE_PREDICTIONS

__all__ = ["TRUST", "Unpickler", "why_refused"]

TRUST = "if you trust whoever made the file, pass --trust-model"

_PLAIN_DTYPE = re.compile(r"[<>|=]?[?bBhHiIlLqQefdgFDGiufcSUVO]\d{0,9}")
_REFERENCES = 0x07
"""Flags of a dtype that holds references: counted, pickled as a list, pointers."""
_OBJECT_FLAGS = 0x3F
_LONGEST_RANGE = 10_000_000


_FUNCTIONS = {"cloudpickle", "dill", "_dill", "__main__"}
"""Modules, or parts of their names, that stand for functions and classes of one's own."""
_SCIENTIFIC = {"sklearn", "keras", "tensorflow", "torch", "catboost", "imblearn", "skorch", "mlxtend", "statsmodels"}


def why_refused(name: str) -> str:
    """Why a file may not hold the thing of this module or full name, and what to do."""
    parts = name.split(".")
    own = {"xgboost": "model.json", "lightgbm": "model.txt"}.get(parts[0])
    if own is not None:
        return (
            f"and {parts[0]}'s compiled code reads such a model unchecked: save the model alone with {parts[0]}'s "
            f"save_model({own!r}) and audit that file, or, {TRUST}"
        )
    if _FUNCTIONS & set(parts):
        return (
            "which stands for functions or classes of somebody's own, code that would run when the file is loaded: "
            f"{TRUST}; or save the model without them"
        )
    if parts[0] in _SCIENTIFIC:
        return (
            f"which is part of no model that can be encoded, or not known to be harmless: {TRUST}; a model of another "
            f"kind is audited by its decisions: {WRITE_PREDICTIONS}"
        )
    return f"which no model that can be encoded holds: {TRUST}"


class _Name:
    """Stands in for a class that a file may name and not call."""

    def __init__(self, name: str) -> None:
        self.name = name


_NDARRAY = _Name("numpy.ndarray")


def _malformed(what: str) -> pickle.UnpicklingError:
    return pickle.UnpicklingError(f"{what} is malformed")


def _dtype(text: Any, *_: Any) -> np.dtype[Any]:
    """A dtype of its own, never one that numpy shares."""
    if not isinstance(text, str) or not _PLAIN_DTYPE.fullmatch(text):
        raise _malformed("a dtype")
    return np.dtype(text, copy=True)


def _reconstruct(kind: Any, *_: Any) -> np.ndarray:
    """An empty array, whose state follows."""
    if kind is not _NDARRAY:
        raise _malformed("an array's class")
    return np.zeros(0, dtype=np.int8)


def _mareconstruct(*_: Any) -> Any:
    return np.ma.MaskedArray(np.zeros(0))


def _frombuffer(data: Any, dtype: Any, shape: Any, order: Any, *_: Any) -> np.ndarray:
    if not isinstance(dtype, np.dtype) or dtype.hasobject or not isinstance(data, (bytes, bytearray)):
        raise _malformed("an array's buffer")
    return np.frombuffer(bytearray(data), dtype=dtype).reshape(_shape(shape), order="F" if order == "F" else "C")


def _scalar(dtype: Any, data: Any = b"") -> Any:
    if not isinstance(dtype, np.dtype) or dtype.hasobject or not isinstance(data, (bytes, str)):
        raise _malformed("a number")
    raw = data.encode("latin1") if isinstance(data, str) else data
    if len(raw) != dtype.itemsize or not raw:
        raise _malformed("a number")
    return np.frombuffer(raw, dtype=dtype)[0]


def _shape(shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape) or len(shape) > 32:
        raise _malformed("an array's shape")
    return shape


def _bytes(*arguments: Any) -> bytes:
    if arguments and not (len(arguments) == 1 and isinstance(arguments[0], (bytes, bytearray, list))):
        raise _malformed("a run of bytes")
    return bytes(*arguments)


def _bytearray(*arguments: Any) -> bytearray:
    if len(arguments) == 2 and isinstance(arguments[0], str):
        return bytearray(_encode(*arguments))
    return bytearray(_bytes(*arguments))


def _encode(text: str, encoding: str = "latin1") -> bytes:
    if encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError(f"encoding {encoding!r}")
    return text.encode("latin1")


def _index(kind: Any, state: Any) -> Any:
    """An index of pandas; one that stands for a range could be of any length."""
    from pandas.core.indexes.base import _new_Index  # type: ignore[attr-defined]

    if not isinstance(kind, type) or not isinstance(state, dict):
        raise _malformed("an index")
    if kind.__name__ == "RangeIndex":
        ends = [state.get(part) for part in ("start", "stop", "step")]
        if any(type(end) is not int or abs(end) > _LONGEST_RANGE for end in ends):
            raise _malformed("an index")
    return _new_Index(kind, state)


def _tree(n_features: Any, n_classes: Any, n_outputs: Any) -> Any:
    """scikit-learn's tree, which believes the number of outputs."""
    from sklearn.tree._tree import Tree

    classes = np.asarray(n_classes)
    if type(n_features) is not int or type(n_outputs) is not int or classes.shape != (n_outputs,) or n_outputs < 1:
        raise _malformed("a tree")
    if n_features < 0 or classes.dtype.kind not in "iu" or classes.min() < 1 or classes.max() > 1_000_000:
        raise _malformed("a tree")
    return Tree(n_features, classes.astype(np.intp), n_outputs)


def _restore_arrow(data: Any) -> Any:
    from pyarrow import lib

    array = lib._restore_array(data)
    array.validate(full=True)
    return array


def _arrow_type(name: str) -> Any:
    from pyarrow import lib

    return lib.type_for_alias(name)


def _arrow_buffer(data: bytes) -> Any:
    from pyarrow import lib

    return lib.py_buffer(bytes(data))


class _JoblibArray:
    """Stands in for joblib's array wrapper: its state says how the array's bytes follow in the stream."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: str
    numpy_array_alignment_bytes: int | None = None

    def read(self, unpickler: Unpickler) -> Any:
        if not isinstance(self.dtype, np.dtype):
            raise _malformed("an array's header")
        file = unpickler.file
        if self.dtype.hasobject:
            return Unpickler(file, unpickler.name).load()
        if self.numpy_array_alignment_bytes is not None:
            padding = file.read(1)
            file.read(padding[0] if padding else 0)
        shape = _shape(self.shape)
        size = int(np.prod(shape, dtype=object)) * self.dtype.itemsize if shape else self.dtype.itemsize
        data = file.read(size)
        if len(data) != size:
            raise pickle.UnpicklingError("the file ends inside an array")
        flat = np.frombuffer(bytearray(data), dtype=self.dtype)
        return flat.reshape(shape[::-1]).transpose() if self.order == "F" else flat.reshape(shape)


_REPLACED: dict[tuple[str, str], Any] = {
    ("_codecs", "encode"): _encode,
    ("builtins", "bytes"): _bytes,
    ("builtins", "bytearray"): _bytearray,
    ("joblib.numpy_pickle", "NumpyArrayWrapper"): _JoblibArray,
    ("numpy", "dtype"): _dtype,
    ("numpy", "ndarray"): _NDARRAY,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "scalar"): _scalar,
    ("numpy._core.numeric", "_frombuffer"): _frombuffer,
    ("numpy.ma.core", "_mareconstruct"): _mareconstruct,
    ("pandas.core.indexes.base", "_new_Index"): _index,
    ("pyarrow.lib", "_restore_array"): _restore_arrow,
    ("pyarrow.lib", "py_buffer"): _arrow_buffer,
    ("pyarrow.lib", "type_for_alias"): _arrow_type,
    ("sklearn.tree._tree", "Tree"): _tree,
}

_OLD_NAMES: dict[tuple[str, str], Any] = {("builtins", "long"): int, ("builtins", "unicode"): str}

_ATOMS = (str, int, float, bytes, type(None))


def _check_key(key: Any) -> None:
    """Keys are atoms or flat tuples of them: the hash of a deep tuple can take for ever."""
    if not isinstance(key, _ATOMS) and not (isinstance(key, tuple) and all(isinstance(item, _ATOMS) for item in key)):
        raise _malformed("a key")


def _check_dtype_state(dtype: np.dtype[Any], state: Any) -> None:
    """A dtype's state may name fields inside its size; it may not change size, or add or hide references."""
    if not isinstance(state, tuple) or len(state) < 7 or dtype.kind in "mM":
        raise _malformed("a dtype's state")
    _, _, base, names, fields, size, alignment, *more = state
    flexible = dtype.kind in "SUV"
    flags = more[0] if more else 0
    sized = size == (dtype.itemsize if flexible else -1) and (
        (type(alignment) is int and 1 <= alignment <= 16) if flexible else alignment == -1
    )
    flagged = type(flags) is int and (flags == _OBJECT_FLAGS if dtype.kind == "O" else not flags & _REFERENCES)
    if base is not None or not sized or not flagged or len(more) > 1:
        raise _malformed("a dtype's state")
    if fields is None and names is None:
        return
    if dtype.kind != "V" or not isinstance(fields, dict) or not isinstance(names, tuple) or set(names) != set(fields):
        raise _malformed("a dtype's fields")
    for field in fields.values():
        inner, offset = (*field, None)[:2] if isinstance(field, tuple) and len(field) == 2 else (None, None)
        if not isinstance(inner, np.dtype) or inner.hasobject or type(offset) is not int:
            raise _malformed("a dtype's field")
        if offset < 0 or offset + inner.itemsize > dtype.itemsize:
            raise _malformed("a dtype's field")


def _check_array_state(state: Any) -> None:
    """An array's data is as long as its shape says, and references come as a list."""
    if not isinstance(state, tuple) or len(state) not in (4, 5, 7):
        raise _malformed("an array's state")
    shape, dtype, _, data = state[-4:] if len(state) < 7 else state[1:5]
    count = int(np.prod(_shape(shape), dtype=object))
    if not isinstance(dtype, np.dtype):
        raise _malformed("an array's dtype")
    held = isinstance(data, list) if dtype.hasobject else isinstance(data, (bytes, bytearray))
    if isinstance(data, str) and not dtype.hasobject:
        held, data = True, data.encode("latin1")
    if not held or len(data) != count * (1 if dtype.hasobject else dtype.itemsize):
        raise _malformed("an array's data")


def _check_tree_state(state: Any) -> None:
    """A tree has as many nodes as it says: compiled code would read on behind them."""
    nodes = state.get("nodes") if isinstance(state, dict) else None
    if not isinstance(nodes, np.ndarray) or nodes.ndim != 1 or type(state.get("node_count")) is not int:
        raise _malformed("a tree")
    if state["node_count"] != len(nodes) or not isinstance(state.get("values"), np.ndarray):
        raise _malformed("a tree")


class Unpickler(pickle._Unpickler):
    """The pure Python unpickler, which lets lookups, calls, keys and state be checked.

    Parameters
    ----------
    file : binary file
    name : str
        Of the file, for messages.
    """

    dispatch: ClassVar[dict[int, Any]] = dict(pickle._Unpickler.dispatch)
    stack: list[Any]

    def __init__(self, file: IO[bytes], name: str) -> None:
        super().__init__(file)
        self.file = file
        self.name = name
        self._callable = {id(_REPLACED[pair]) for pair in _REPLACED if pair[0] != "numpy" or pair[1] == "dtype"}

    def find_class(self, module: str, name: str) -> Any:
        """Look up a listed pair; anything else is refused by name."""
        pair = (RENAMED.get(module, module), name)
        if pair in _REPLACED:
            return _REPLACED[pair]
        if pair in _OLD_NAMES:
            return _OLD_NAMES[pair]
        if pair not in ALLOWED:
            raise ModelFileError(f"{self.name} holds {module}.{name}, {why_refused(module)}")
        if pair[0].startswith("sklearn.model_selection"):
            # Halving searches are importable only after this switch.
            from sklearn.experimental import enable_halving_search_cv  # noqa: F401
        found = super().find_class(*pair)
        if pair in CALLABLE:
            self._callable.add(id(found))
        return found

    def load_reduce(self) -> None:
        """Call what is marked callable."""
        function = self.stack[-2]
        if id(function) not in self._callable:
            shown = getattr(function, "name", None) or getattr(function, "__name__", type(function).__name__)
            raise ModelFileError(f"{self.name} calls {shown}, which no model that can be encoded does: {TRUST}")
        super().load_reduce()  # type: ignore[misc]

    def load_build(self) -> None:
        """Set state on an instance of a listed class."""
        instance, state = self.stack[-2], self.stack[-1]
        kind = type(instance)
        pair = (RENAMED.get(kind.__module__, kind.__module__), kind.__name__)
        if pair == ("sklearn.tree._tree", "Tree"):
            _check_tree_state(state)
        elif isinstance(instance, np.dtype):
            _check_dtype_state(instance, state)
        elif isinstance(instance, np.ndarray):
            _check_array_state(state)
        elif isinstance(instance, type) or (pair not in STATEFUL and kind is not _JoblibArray):
            shown = getattr(instance, "__name__", kind.__name__)
            raise ModelFileError(f"{self.name} changes {shown} while it loads: {TRUST}")
        super().load_build()  # type: ignore[misc]
        if isinstance(self.stack[-1], _JoblibArray):
            self.stack[-1] = self.stack[-1].read(self)

    def load_setitem(self) -> None:
        """Set a key that is quick to hash."""
        _check_key(self.stack[-2])
        super().load_setitem()  # type: ignore[misc]

    def load_setitems(self) -> None:
        """Set keys that are quick to hash."""
        for key in self.stack[::2]:
            _check_key(key)
        super().load_setitems()  # type: ignore[misc]

    def load_additems(self) -> None:
        """Add items that are quick to hash."""
        for item in self.stack:
            _check_key(item)
        super().load_additems()  # type: ignore[misc]

    def load_frozenset(self) -> None:
        """Make a set of items that are quick to hash."""
        for item in self.stack:
            _check_key(item)
        super().load_frozenset()  # type: ignore[misc]

    def refuse(self) -> None:
        """Refuse an opcode that real files do not use."""
        raise ModelFileError(
            f"{self.name} uses a form of pickle that no model that can be encoded is saved in: {TRUST}"
        )

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.BUILD[0]] = load_build
    dispatch[pickle.SETITEM[0]] = load_setitem
    dispatch[pickle.SETITEMS[0]] = load_setitems
    dispatch[pickle.ADDITEMS[0]] = load_additems
    dispatch[pickle.FROZENSET[0]] = load_frozenset
    for _opcode in (pickle.INST, pickle.OBJ, pickle.EXT1, pickle.EXT2, pickle.EXT4, pickle.DICT, pickle.PERSID):
        dispatch[_opcode[0]] = refuse
