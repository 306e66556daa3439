"""Load a model file without running what is inside it.

A pickle is a program; `_unpickling` reads it under a list of what it may do. ``trust`` switches that off.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from justicia.compressed import decompressed, kind_of, most_bytes
from justicia.errors import JusticiaError, ModelFileError
from justicia.models._allowed import ALLOWED
from justicia.models._unpickling import Unpickler, why_refused
from justicia.models.native_files import INSTALL, load_lightgbm, load_xgboost
from justicia.models.rule_files import is_rule_document, load_rule
from justicia.models.soundness import check_sound, silence
from justicia.words import listed

__all__ = ["SUFFIXES", "ModelFile", "load_model"]

logger = logging.getLogger(__name__)

SUFFIXES = (".pkl", ".pickle", ".joblib", ".skops", ".json", ".txt", ".rule")


def _load_json(content: bytes, name: str) -> Any:
    """A rule, where the document says that it is one, or a model of XGBoost."""
    try:
        document = json.loads(content)
    except (RecursionError, UnicodeDecodeError, ValueError) as error:
        raise ModelFileError(f"{name} is not JSON, as a rule or a model of XGBoost is: {error}") from error
    return load_rule(content, name) if is_rule_document(document) else load_xgboost(content, name)


def _load_text(content: bytes, name: str) -> Any:
    """A model of LightGBM, which begins with a line of its own, or a rule."""
    return load_lightgbm(content, name) if re.match(rb"\s*tree\s*\r?\n", content) else load_rule(content, name)


_NATIVE = {".json": _load_json, ".txt": _load_text, ".rule": load_rule}


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
        Ends in ``.pkl``, ``.pickle``, ``.joblib`` or ``.skops``; XGBoost's own files in ``.json``, LightGBM's in
        ``.txt``; rules in ``.rule``, ``.txt`` or ``.json``.
    trust : bool
        Load whatever the file holds. Loading a foreign pickle runs the code of whoever made it.

    Raises
    ------
    ModelFileError
        When there is no such file, when it holds something that is not on the list, or when it cannot be loaded.
    """
    import hashlib

    file = Path(path)
    if not file.exists():
        raise ModelFileError(f"{os.fspath(path)}: there is no such file")
    if not file.is_file() and not file.is_dir():
        # Nobody may ever write to a pipe.
        raise ModelFileError(f"{os.fspath(path)} is not a file")
    suffix = file.suffix.lower()
    if suffix == ".ubj":
        raise ModelFileError(f"{file.name}: XGBoost's binary files are not read; save_model with a name in .json is")
    if suffix not in SUFFIXES:
        raise ModelFileError(f"{file.name}: a model file ends in {', '.join(SUFFIXES)}")
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be read: {error.strerror}") from error
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if suffix in _NATIVE:
            predictor = _NATIVE[suffix](content, file.name)
        elif suffix == ".skops":
            predictor = _load_skops(content, file.name, trust)
        else:
            predictor = _load_pickle(content, file.name, trust)
    if suffix not in _NATIVE and not trust:
        silence(check_sound(predictor, file.name, len(content)))
    # A library's own file says nothing of scikit-learn.
    trained = None if suffix in _NATIVE else _trained_with(predictor, [warning.message for warning in caught])
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

    _check_archive(content, name)
    try:
        untrusted = skops_io.get_untrusted_types(data=content)
        refused = [kind for kind in untrusted if tuple(kind.rsplit(".", 1)) not in ALLOWED]
        if refused and not trust:
            raise ModelFileError(f"{name} holds {listed(refused)}, {why_refused(refused[0])}")
        return skops_io.loads(content, trusted=untrusted)
    except ModelFileError:
        raise
    except Exception as error:  # skops raises whatever the file's content leads to
        raise ModelFileError(f"{name} is not a skops file that can be loaded: {_said(error)}") from error


def _check_archive(content: bytes, name: str) -> None:
    """Refuse an archive whose files would fill the memory."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except Exception as error:  # a broken archive raises whatever its bytes lead to
        raise ModelFileError(f"{name} is not a skops file that can be loaded: {_said(error)}") from error
    if size > most_bytes(content):
        raise ModelFileError(f"{name} is not a skops file that can be loaded: it grows beyond {size // 2**20:,} MiB")


def _load_pickle(content: bytes, name: str, trust: bool) -> Any:
    plain = None
    try:
        plain = _plain(content)
        if trust:
            import joblib

            return joblib.load(io.BytesIO(content))
        return Unpickler(io.BytesIO(plain), name).load()
    except JusticiaError:
        raise
    except Exception as error:  # a broken pickle raises whatever its opcodes lead to
        if plain is not None and not plain.startswith(b"\x80"):
            raise ModelFileError(f"{name} is not a pickle that can be read: it does not begin as one") from error
        if isinstance(error, EOFError) or any(words in str(error) for words in _CUT):
            raise ModelFileError(
                f"{name} is not complete: it ends too early; copy it again, or save it again"
            ) from error
        absent = str(getattr(error, "name", None)).partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and absent in ("lightgbm", "xgboost"):
            raise ModelFileError(f"{name} holds a model of {absent}, which is not installed: {INSTALL}") from error
        if trust and isinstance(error, (AttributeError, ImportError)):
            raise ModelFileError(
                f"{name} cannot be loaded: {_said(error)}; classes and functions that the model was made with must be "
                f"importable: {_where(error)}, or call justicia.verify in Python where they are defined"
            ) from error
        versions = _version_hint(content)
        raise ModelFileError(f"{name} cannot be loaded: {_said(error)}{versions}") from error


_CUT = ("pickle exhausted", "pickle data was truncated", "the file ends inside", "Ran out of input")
"""What is said of a pickle that ends too early."""


def _where(error: BaseException) -> str:
    """What makes the classes and functions of a file importable."""
    absent = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
    if absent is None:
        return "put those of your own into a module on PYTHONPATH and save the model again"
    return f"install {absent.partition('.')[0]}, or put your module of that name on PYTHONPATH"


def _said(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def _version_hint(content: bytes) -> str:
    """A clause with both versions of scikit-learn, when the file says which one it was made with."""
    import sklearn

    try:
        plain = _plain(content)
    except ValueError:
        return ""
    memo = rb"(?:\x94|q.|r....)?"
    found = re.search(
        rb"_sklearn_version" + memo + rb"(?:\x8c.|X....)(\d+\.\d+(?:\.\d+)?(?:\.?(?:a|b|rc|dev|post)\d+)*)",
        plain,
        re.DOTALL,
    )
    if found is None or found[1].decode() == sklearn.__version__:
        return ""
    trained = found[1].decode()
    return (
        f"; it was made with scikit-learn {trained} and this is {sklearn.__version__}: "
        f"pip install scikit-learn=={trained}, or save the model again with this version"
    )


def _plain(content: bytes) -> bytes:
    kind = kind_of(content)
    return content if kind is None else decompressed(content, kind)
