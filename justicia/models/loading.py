"""Load a model file without running what is inside it.

A pickle is a program. It is read here by an unpickler that looks up nothing but the exact pairs of `_allowed`, sets
state on instances only, and reads joblib's arrays itself, because joblib reads arrays of objects with the plain
unpickler. ``trust`` switches all of that off.
"""

from __future__ import annotations

import io
import logging
import os
import pickle
import re
import types
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from justicia.errors import ModelFileError
from justicia.models._allowed import ALLOWED, RENAMED
from justicia.words import listed

__all__ = ["ModelFile", "load_model"]

logger = logging.getLogger(__name__)

_TRUST = "if you trust whoever made the file, pass --trust-model"
_SUFFIXES = (".pkl", ".pickle", ".joblib", ".skops")


@dataclass(frozen=True)
class ModelFile:
    """A model and where it comes from.

    Attributes
    ----------
    predictor : object
        The model as it was saved.
    source : str or None
        File name; None for a model in memory.
    sha256 : str or None
        Hash of the file's bytes.
    trained : str or None
        Version of scikit-learn that fitted the model.
    """

    predictor: Any
    source: str | None = None
    sha256: str | None = None
    trained: str | None = None


def load_model(path: str | os.PathLike[str], *, trust: bool = False) -> ModelFile:
    """Load the model in the file `path`.

    Parameters
    ----------
    path : str or path
        Ends in ``.pkl``, ``.pickle``, ``.joblib`` or ``.skops``.
    trust : bool
        Load whatever the file holds. Loading a foreign pickle runs the code of whoever made it.

    Raises
    ------
    ModelFileError
        When there is no such file, when it holds something that is not on the list, or when it cannot be loaded.
    """
    import hashlib

    file = Path(path)
    if file.suffix.lower() not in _SUFFIXES:
        raise ModelFileError(f"{file.name}: a model file ends in {', '.join(_SUFFIXES)}")
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"{os.fspath(path)}: there is no such file") from None
    except OSError as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be read: {error.strerror}") from error
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if file.suffix.lower() == ".skops":
            predictor = _load_skops(content, file.name, trust)
        else:
            predictor = _load_pickle(content, file.name, trust)
    trained = _trained_with(predictor, [warning.message for warning in caught])
    _announce_version(file.name, trained)
    return ModelFile(predictor, file.name, hashlib.sha256(content).hexdigest(), trained)


def _announce_version(name: str, trained: str | None) -> None:
    import sklearn

    if trained is not None and trained != sklearn.__version__:
        logger.warning(
            "%s was fitted with scikit-learn %s and is audited with %s: the self-check below holds for this version; "
            "to audit with the other, pip install scikit-learn==%s",
            *(name, trained, sklearn.__version__, trained),
        )


def _trained_with(predictor: Any, warned: list[Warning | str]) -> str | None:
    """The version that scikit-learn warned about while it loaded; without a warning it is the present one."""
    import sklearn
    from sklearn.base import BaseEstimator

    for warning in warned:
        version = getattr(warning, "original_sklearn_version", None)
        if version is not None:
            return str(version)
    return str(sklearn.__version__) if isinstance(predictor, BaseEstimator) else None


def _load_skops(content: bytes, name: str, trust: bool) -> Any:
    from skops import io as skops_io

    try:
        untrusted = skops_io.get_untrusted_types(data=content)
        refused = [kind for kind in untrusted if tuple(kind.rsplit(".", 1)) not in ALLOWED]
        if refused and not trust:
            raise ModelFileError(f"{name} holds {listed(refused)}, which no model file needs: {_TRUST}")
        return skops_io.loads(content, trusted=untrusted)
    except ModelFileError:
        raise
    except Exception as error:  # skops raises whatever the file's content leads to
        raise ModelFileError(f"{name} is not a skops file that can be loaded: {_said(error)}") from error


def _load_pickle(content: bytes, name: str, trust: bool) -> Any:
    try:
        plain = _decompressed(content)
        if trust:
            import joblib

            return joblib.load(io.BytesIO(content))
        return _Unpickler(io.BytesIO(plain), name).load()
    except ModelFileError:
        raise
    except Exception as error:  # a broken pickle raises whatever its opcodes lead to
        versions = _version_hint(content)
        raise ModelFileError(f"{name} cannot be loaded: {_said(error)}{versions}") from error


def _said(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def _version_hint(content: bytes) -> str:
    """A clause with both versions of scikit-learn, when the file says which one it was made with."""
    import sklearn

    try:
        plain = _decompressed(content)
    except (OSError, EOFError, ValueError):
        return ""
    memo = rb"(?:\x94|q.|r....)?"
    found = re.search(rb"_sklearn_version" + memo + rb"(?:\x8c.|X....)(\d+\.\d+[0-9A-Za-z.+]*)", plain, re.DOTALL)
    if found is None or found[1].decode() == sklearn.__version__:
        return ""
    trained = found[1].decode()
    return (
        f"; it was made with scikit-learn {trained} and this is {sklearn.__version__}: "
        f"pip install scikit-learn=={trained}, or save the model again with this version"
    )


def _decompressed(content: bytes) -> bytes:
    import bz2
    import gzip
    import lzma
    import zlib

    try:
        if content[:2] == b"\x1f\x8b":
            return gzip.decompress(content)
        if content[:1] == b"x" and content[1:2] in (b"\x01", b"\x5e", b"\x9c", b"\xda"):
            return zlib.decompress(content)
        if content[:3] == b"BZh":
            return bz2.decompress(content)
        if content[:6] == b"\xfd7zXZ\x00" or content[:3] == b"\x5d\x00\x00":
            return lzma.decompress(content)
    except (zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"compressed data is broken ({error})") from error
    return content


class _JoblibArray:
    """Stands in for joblib's array wrapper: its state says how the array's bytes follow in the stream."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: str
    numpy_array_alignment_bytes: int | None = None

    def read(self, unpickler: _Unpickler) -> Any:
        if not isinstance(self.dtype, np.dtype) or not all(isinstance(n, int) and n >= 0 for n in self.shape):
            raise pickle.UnpicklingError("an array's header is malformed")
        file = unpickler.file
        if self.dtype.hasobject:
            return _Unpickler(file, unpickler.name).load()
        if self.numpy_array_alignment_bytes is not None:
            padding = file.read(1)
            file.read(padding[0] if padding else 0)
        count = int(np.prod(self.shape, dtype=object)) if self.shape else 1
        data = file.read(count * self.dtype.itemsize)
        if len(data) != count * self.dtype.itemsize:
            raise pickle.UnpicklingError("the file ends inside an array")
        flat = np.frombuffer(bytearray(data), dtype=self.dtype)
        if self.order == "F":
            return flat.reshape(self.shape[::-1]).transpose()
        return flat.reshape(self.shape)


def _encode(text: str, encoding: str = "latin1") -> bytes:
    if encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError(f"encoding {encoding!r}")
    return text.encode("latin1")


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


_REPLACED: dict[tuple[str, str], Any] = {
    ("_codecs", "encode"): _encode,
    ("joblib.numpy_pickle", "NumpyArrayWrapper"): _JoblibArray,
    ("pyarrow.lib", "_restore_array"): _restore_arrow,
    ("pyarrow.lib", "py_buffer"): _arrow_buffer,
    ("pyarrow.lib", "type_for_alias"): _arrow_type,
}

_STATELESS = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc)


class _Unpickler(pickle._Unpickler):
    """The pure Python unpickler, which lets lookups and state be checked."""

    dispatch: ClassVar[dict[int, Any]] = dict(pickle._Unpickler.dispatch)
    stack: list[Any]

    def __init__(self, file: io.BytesIO, name: str) -> None:
        super().__init__(file)
        self.file = file
        self.name = name

    def find_class(self, module: str, name: str) -> Any:
        pair = (RENAMED.get(module, module), name)
        if pair in _REPLACED:
            return _REPLACED[pair]
        if pair not in ALLOWED:
            raise ModelFileError(f"{self.name} holds {module}.{name}, which no model file needs: {_TRUST}")
        if pair[0].startswith("sklearn.model_selection"):
            # Halving searches are importable only after this switch.
            from sklearn.experimental import enable_halving_search_cv  # noqa: F401
        return super().find_class(*pair)

    def load_build(self) -> None:
        if isinstance(self.stack[-2], _STATELESS):
            raise ModelFileError(f"{self.name} changes {self.stack[-2]!r} while it loads: {_TRUST}")
        super().load_build()  # type: ignore[misc]
        if isinstance(self.stack[-1], _JoblibArray):
            self.stack[-1] = self.stack[-1].read(self)

    dispatch[pickle.BUILD[0]] = load_build
