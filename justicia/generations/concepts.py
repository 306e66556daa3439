"""Concepts of generated images: words of captions, lists of concepts, or a number a concept, as one matrix.

A caption's concepts are its words, in lower case and without punctuation, but for `STOP_WORDS`. The weight of a concept
in a set of images is the share of the images that show it, so that a word said twice of one image counts once.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import SpecError, TableError
from justicia.generations.labels import label_text
from justicia.numeric import floats_of
from justicia.words import counted, shown

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from justicia.generations.table import Generations

__all__ = ["STOP_WORDS", "Concepts", "concept_words", "read_concepts", "read_synonyms"]

STOP_WORDS = frozenset(
    """
    a an the this that these those such some any each every either neither both all another other others own same
    i me my mine we us our ours you your yours it its they them their theirs one ones who whom whose which what
    am is are was were be been being do does did doing done have has had having can could may might must shall should
    will would cannot isnt arent wasnt werent dont doesnt didnt hasnt havent hadnt cant couldnt wont wouldnt shouldnt
    im ive youre youve hes shes theyre weve thats theres whats
    and or but nor so yet if then else because as until while although though unless whether than
    of at by for with without within about against between among into onto through during before after above below to
    from up down in out on off over under upon across along around behind beside besides near next toward towards via
    per like
    here there where when why how again further once ever never always often also too very just only quite rather
    almost much many more most less least few several enough
    no not none yes nothing something anything everything
    seem seems appear appears look looks show shows shown showing depict depicts depicted depicting
    image images picture pictures photo photos photograph photographs
    """.split()
)
"""Words that name nothing in an image. He, she, his and her are none of them: they say what an audit asks."""

_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_JOINED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]{4}")
_TRUTH = {"true": 1, "false": 0, "yes": 1, "no": 0}
_APOSTROPHES = {ord(character): "'" for character in "\u2019\u02bc\uff07`"}


@dataclass(frozen=True)
class Concepts:
    """What every image shows.

    Attributes
    ----------
    names : tuple of str
    shows : sparse matrix of shape (n_rows, n_names)
        1 where a concept is shown, or its number where numbers are given.
    known : bool array of shape (n_rows,)
        False: the row has no caption, or no list, at all.
    """

    names: tuple[str, ...]
    shows: csr_matrix
    known: np.ndarray


def concept_words(
    text: str, stop_words: frozenset[str] = STOP_WORDS, synonyms: Mapping[str, str] | None = None
) -> set[str]:
    """The concepts of a caption.

    >>> sorted(concept_words("The doctor's white coat; a doctor in an image!"))
    ['coat', 'doctor', 'white']
    """
    text = unicodedata.normalize("NFC", text).translate(_APOSTROPHES).lower()
    if not text.isascii():
        # Letters, figures and the marks on them; anything else parts words.
        words = "".join(
            one if one == "'" or one.isalnum() or unicodedata.category(one)[0] == "M" else " " for one in text
        ).split()
    else:
        words = _WORD.findall(text)
    found = set()
    for word in words:
        plain = word.strip("'")
        plain = (plain[:-2] if plain.endswith("'s") else plain).replace("'", "")
        plain = plain if synonyms is None else synonyms.get(plain, plain)
        if plain and plain not in stop_words:
            found.add(plain)
    return found


def read_concepts(
    generations: Generations,
    text: Sequence[str] = (),
    listed: str | None = None,
    numbers: Sequence[str] = (),
    *,
    stop_words: Iterable[str] = (),
    synonyms: Mapping[str, str] | None = None,
    separator: str = "|",
) -> tuple[Concepts, list[str]]:
    """The concepts of every row, and what is odd about them.

    Parameters
    ----------
    generations : Generations
    text : sequence of str
        Columns of captions, or of answers to questions about the image; together they are one caption.
    listed : str, optional
        A column of concepts: lists, mappings of concept to number, or text between separators.
    numbers : sequence of str
        Columns of numbers, one a concept.
    stop_words : iterable of str
        Besides `STOP_WORDS`, for captions.
    synonyms : mapping of str to str, optional
        Words, and the concept that each is taken for.
    separator : str

    Raises
    ------
    SpecError, TableError
    """
    from scipy.sparse import csr_matrix

    if (bool(text) + (listed is not None) + bool(numbers)) != 1:
        raise SpecError(
            "concepts come from captions, or from a column of lists, or from columns of numbers: name one of these "
            "(--text, --concepts, --counts)"
        )
    source, rows = generations.source, generations.rows
    if numbers:
        return _of_numbers(generations, list(dict.fromkeys(numbers)))
    said: list[str] = []
    place: dict[str, int] = {}
    columns, amounts, ends = [], [], [0]
    known = np.zeros(len(rows), dtype=bool)
    names = list(dict.fromkeys(text)) if listed is None else [listed]
    held = [source.column(name, "column of captions" if text else "column of concepts").iloc[rows] for name in names]
    stops = STOP_WORDS | {label_text(word).lower() for word in stop_words}
    joined = False
    one_row: Callable[[Any], Mapping[str, float]]
    if listed is None:
        merged = {label_text(word).lower(): label_text(to).lower() for word, to in (synonyms or {}).items()}

        def one_row(value: Any) -> Mapping[str, float]:
            return dict.fromkeys(concept_words(label_text(value), stops, merged), 1.0)
    else:

        def one_row(value: Any) -> Mapping[str, float]:
            return _of_list(value, separator)

    for row, values in enumerate(zip(*(column.tolist() for column in held), strict=True)):
        found: dict[str, float] = {}
        for name, value in zip(names, values, strict=True):
            if _blank(value):
                continue
            known[row] = True
            joined |= listed is None and isinstance(value, str) and bool(_JOINED.search(value))
            try:
                found.update(one_row(value))
            except (TypeError, ValueError):
                raise TableError(
                    f"{source.name or 'the table'}: {shown(name)} of row {int(rows[row]) + 1} is no list of concepts: "
                    f"{shown(repr(value))}"
                ) from None
        for concept in sorted(found):
            columns.append(place.setdefault(concept, len(place)))
            amounts.append(found[concept])
        ends.append(len(columns))
    if joined:
        said.append(
            f"{listed_names(names)} has text without blanks between words, which are not told apart: give concepts "
            "(--concepts, --counts)"
        )
    matrix = csr_matrix(
        (np.array(amounts, dtype=np.float64), np.array(columns, dtype=np.int64), np.array(ends, dtype=np.int64)),
        shape=(len(rows), max(len(place), 1)),
    )
    return Concepts(tuple(place) or ("",), matrix, known), said


def listed_names(names: Sequence[str]) -> str:
    """Columns in words."""
    return ", ".join(shown(name) for name in names)


def _blank(value: Any) -> bool:
    """Whether a cell says nothing; an empty list says that there is no concept."""
    if isinstance(value, (list, tuple, set, np.ndarray, Mapping)):
        return False
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _of_list(value: Any, separator: str) -> dict[str, float]:
    if isinstance(value, Mapping):
        # Parquet gives every key of any row a place in all of them.
        found = {
            label_text(concept).lower(): float(number)
            for concept, number in value.items()
            # A number that is none is that of a key which another row has.
            if number is not None and number == number and float(number) != 0
        }
        if any(not number > 0 or number == float("inf") for number in found.values()):
            raise ValueError
        return found
    parts = value.split(separator) if isinstance(value, str) else value
    if isinstance(parts, (int, float, bool)):
        parts = [parts]
    parts = list(parts)
    if any(isinstance(part, (list, tuple, set, np.ndarray, Mapping)) for part in parts):
        raise ValueError
    texts = [label_text(part).lower() for part in parts if not _blank(part)]
    return dict.fromkeys((text for text in texts if text), 1.0)


def _of_numbers(generations: Generations, names: list[str]) -> tuple[Concepts, list[str]]:
    import pandas as pd
    from scipy.sparse import csr_matrix

    source, rows = generations.source, generations.rows
    held = np.empty((len(rows), len(names)))
    for place, name in enumerate(names):
        column = source.column(name, "column of a concept").iloc[rows]
        said = [_TRUTH.get(str(value).strip().lower(), value) for value in column.tolist()]
        numbers = floats_of(pd.Series(said))
        blank = np.array([_blank(value) for value in column.tolist()], dtype=bool)
        bad = ~blank & ~((numbers >= 0) & np.isfinite(numbers))
        if bad.any():
            row = int(np.argmax(bad))
            raise TableError(
                f"{source.name or 'the table'}: {shown(name)} of row {int(rows[row]) + 1} is no number from 0 on: "
                f"{shown(str(column.iloc[row]))!r}; {counted(int(bad.sum()), 'such row')}"
            )
        numbers[blank] = np.nan
        held[:, place] = numbers
    known = np.asarray(~np.isnan(held).any(axis=1))
    return Concepts(tuple(names), csr_matrix(np.nan_to_num(held)), known), []


def read_synonyms(path: str | os.PathLike[str]) -> dict[str, str]:
    """Words, and the concept each is taken for, from a JSON file: a mapping of word to concept, or of concept to words.

    Raises
    ------
    SpecError
    """
    name = os.fspath(path)
    try:
        held = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SpecError(f"{name} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        raise SpecError(f"{name} is no JSON in UTF-8") from None
    if not isinstance(held, dict):
        raise SpecError(f"{name}: synonyms are a mapping of word to concept")
    found: dict[str, str] = {}
    for first, second in held.items():
        pairs = [(word, first) for word in second] if isinstance(second, list) else [(first, second)]
        for word, concept in pairs:
            if not isinstance(word, str) or not isinstance(concept, str) or not word.strip() or not concept.strip():
                raise SpecError(f"{name}: {shown(first)}: synonyms are words, not {shown(repr(second))}")
            if found.setdefault(word, concept) != concept:
                raise SpecError(f"{name}: {shown(word)} is taken for {shown(found[word])} and for {shown(concept)}")
    return found
