"""Label images by a labeller, row by row, into a table that can be audited; what stops goes on where it was.

A labeller is a callable from an image's path to a mapping of attribute to label: a value, several values in a list, or
None where it cannot tell. If it has an attribute `domains`, a mapping of attribute to its values, every row has all
of these, and other values are refused. Nothing is dropped: an image without a face is a row with unknown labels, and
one that cannot be read is such a row with its error.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from justicia.errors import InputError, JusticiaError, TableError
from justicia.generations.labels import label_text
from justicia.speaking import speaks_keywords
from justicia.words import counted, shown

__all__ = ["IMAGES", "Labeller", "Labelling", "label_images"]

Labeller = Callable[[Path], Mapping[str, Any]]
"""From the path of an image to its labels."""

IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")
"""Names of files that are taken from a folder."""

_OWN = ("image", "run", "step", "error", "labeller")


@dataclass(frozen=True)
class Labelling:
    """What became of the images.

    Attributes
    ----------
    path : Path
        The table, JSON lines.
    images : int
    known : int
        Images with every label known.
    skipped : int
        Images that the table had before.
    errors : dict of str to str
        Images that could not be labelled, and why; they are rows with unknown labels.
    labels : dict of str to dict of str to int
        Rows by attribute and label; unknown is "".
    """

    path: Path
    images: int
    known: int
    skipped: int
    errors: dict[str, str] = field(default_factory=dict)
    labels: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 when every image could be read, 3 when not."""
        return 3 if self.errors else 0

    @property
    def text(self) -> str:
        """What became of the images, a line each."""
        lines = [f"{counted(self.images, 'image')} in {self.path}, {self.known:,} with every label known"]
        if self.skipped:
            lines.append(f"{counted(self.skipped, 'image')} had been labelled before")
        for name, held in self.labels.items():
            said = ", ".join(f"{shown(value) or 'unknown'} {count:,}" for value, count in sorted(held.items()))
            lines.append(f"{shown(name)}: {said}")
        lines += [f"{shown(image, 200)}: {shown(error, 500)}" for image, error in self.errors.items()]
        return "\n".join(lines)

    def frame(self) -> Any:
        """The table as a DataFrame."""
        from justicia.generations.reading import read_generations

        return read_generations(self.path).frame


@dataclass(frozen=True)
class _Item:
    """An image, and what its row has besides labels."""

    name: str
    path: Path
    row: dict[str, Any]


@speaks_keywords
def label_images(
    images: Any,
    labeller: Labeller,
    out: Any,
    *,
    column: str = "image",
    retry: bool = False,
    progress: Callable[[str, float], None] | None = None,
) -> Labelling:
    """Label every image of a folder, or of a table's column.

    Parameters
    ----------
    images : path or DataFrame
        A folder: each folder inside is a run of its own, and images are steps in the order of their names, in which
        10 comes after 9. Or a table (CSV, JSON lines, Parquet) with a column of paths, relative to the table's folder;
        its other columns are kept.
    labeller : callable
        From a path to a mapping of attribute to label.
    out : path
        The table that is written, JSON lines (.jsonl). When it is there already, images that it has are not labelled
        again; a line that was cut off half-way is.
    column : str
        Of the paths.
    retry : bool
        Label images with an error again; their rows are replaced.
    progress : callable, optional
        Called with a text and a share from 0 to 1.

    Returns
    -------
    Labelling

    Raises
    ------
    InputError
        When there are no images, the table that is there was made by another labeller, or a label is outside the
        labeller's own domain.
    """
    path = Path(out)
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        raise InputError(f"{path}: labels are written as JSON lines: end the name in .jsonl")
    items = _items(images, column, path)
    name = _name(labeller)
    domains = {str(key): tuple(map(label_text, values)) for key, values in dict(_domains(labeller)).items()}
    done = _done(path, name)
    kept = {key: row for key, row in done.items() if not (retry and row.get("error"))}
    if len(kept) < len(done) or path.exists():
        # Half a line, and rows that are to be replaced, go first.
        _rewrite(path, list(kept.values()))
    skipped = sum(item.name in kept for item in items)
    rows = dict(kept)
    with _added_to(path) as file:
        for place, item in enumerate(items):
            if item.name in kept:
                continue
            row = _labelled(item, labeller, name, domains)
            rows[item.name] = row
            _put(file, row)
            if progress is not None:
                progress(f"{place + 1:,} of {len(items):,} images", (place + 1) / len(items))
    if _order(path) != [item.name for item in items if item.name in rows]:
        # After a retry, rows stand in the order of the images again.
        others = [row for key, row in rows.items() if key not in {item.name for item in items}]
        _rewrite(path, [*others, *(rows[item.name] for item in items)])
    given = {*_OWN, *(key for item in items for key in item.row)}
    found = [rows[item.name] for item in items]
    names = list(domains) or [key for key in dict.fromkeys(key for row in found for key in row) if key not in given]
    return _summary(path, found, skipped, names)


def _name(labeller: Any) -> str:
    held = getattr(labeller, "name", None) or getattr(labeller, "__qualname__", None) or type(labeller).__qualname__
    return str(held)


def _domains(labeller: Any) -> Mapping[str, Any]:
    held = getattr(labeller, "domains", None)
    return held if isinstance(held, Mapping) else {}


def _items(images: Any, column: str, out: Path) -> list[_Item]:
    if isinstance(images, (str, os.PathLike)) and Path(images).is_dir():
        items = list(_of_folder(Path(images)))
        if not items:
            raise InputError(f"{images} has no image: names that end in {', '.join(IMAGES)}")
        return items
    from justicia.generations.reading import read_generations

    source = read_generations(images)
    folder = Path(images).parent if isinstance(images, (str, os.PathLike)) else Path()
    if isinstance(images, (str, os.PathLike)) and out.exists() and out.samefile(images):
        raise InputError(f"{out} is read as an input and would be written over: name another file")
    column_of_paths = source.column(column, "column of images")
    items = []
    for number, (value, record) in enumerate(zip(column_of_paths, source.frame.to_dict("records"), strict=True), 1):
        if value is None or not str(value).strip() or str(value) == "nan":
            raise TableError(f"{source.name or 'the table'}: {shown(column)} of row {number} is blank: name its image")
        row = {str(key): _plain(one) for key, one in record.items() if key not in (column, "error", "labeller")}
        items.append(_Item(str(value), folder / str(value), row))
    names = [item.name for item in items]
    if len(set(names)) < len(names):
        twice = next(one for one in names if names.count(one) > 1)
        raise TableError(f"{source.name or 'the table'}: the image {shown(twice)} stands in more than one row")
    return items


def _of_folder(folder: Path) -> Iterator[_Item]:
    """Images of a folder: those in it, and those of each folder inside, in the order of their names."""
    here: dict[Path, list[Path]] = {}
    for path in sorted(folder.rglob("*"), key=lambda one: [_natural(part) for part in one.relative_to(folder).parts]):
        if path.is_file() and path.suffix.lower() in IMAGES and not path.name.startswith("."):
            here.setdefault(path.parent, []).append(path)
    for parent, paths in here.items():
        run = parent.relative_to(folder).as_posix()
        for step, path in enumerate(paths, start=1):
            name = path.relative_to(folder).as_posix()
            yield _Item(name, path, {"run": folder.name if run == "." else run, "step": step})


def _natural(name: str) -> list[tuple[int, int, str]]:
    """For sorting: numbers inside a name by their value."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name) if part]


def _plain(value: Any) -> Any:
    """A cell as JSON has it."""
    import numpy as np

    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, list, tuple)) or value is None else str(value)


def _labelled(item: _Item, labeller: Labeller, name: str, domains: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """The row of an image; an error of the labeller is in it, with every label unknown."""
    labels: dict[str, Any] = dict.fromkeys(domains)
    error = None
    try:
        if not item.path.is_file():
            raise FileNotFoundError(f"there is no file {item.path}")
        labels.update({str(key): _label(value) for key, value in labeller(item.path).items()})
    except JusticiaError:
        raise
    except Exception as caught:
        # Whatever a labeller raises about one image must not stop those that follow; it stands in the table.
        labels, error = dict.fromkeys(domains), f"{type(caught).__name__}: {' '.join(str(caught).split())}"
    for key, value in labels.items():
        if key in _OWN:
            raise InputError(
                f"the labeller {shown(name)} names an attribute {shown(key)}, which the table needs itself"
            )
        for one in value if isinstance(value, list) else [value]:
            if one is not None and key in domains and one not in domains[key]:
                raise InputError(
                    f"{shown(item.name)}: {shown(name)} says {shown(key)}={shown(one)}, which is not in its own "
                    f"domain: {', '.join(map(shown, domains[key]))}"
                )
    return {"image": item.name, **item.row, **labels, "labeller": name, "error": error}


def _label(value: Any) -> Any:
    if isinstance(value, (list, tuple, set, frozenset)):
        return [label_text(one) for one in value]
    if value is None or value != value:
        return None
    return label_text(value) or None


@contextmanager
def _added_to(path: Path) -> Iterator[IO[bytes]]:
    """The table, to add rows to; nothing is held back, so that what a full disk does not take is told at once."""
    try:
        with open(path, "ab", buffering=0) as file:
            yield file
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}; the next run goes on there") from error


def _put(file: IO[bytes], row: Mapping[str, Any]) -> None:
    content = memoryview((json.dumps(row, ensure_ascii=True, allow_nan=False) + "\n").encode("ascii"))
    while content:
        content = content[file.write(content) :]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a table; the last may have been cut off."""
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            row = json.loads(line)
        except (RecursionError, ValueError):
            raise TableError(f"{path}: line {number} is no JSON: name another file for the labels") from None
        if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("image", "labeller")):
            raise TableError(f"{path}: line {number} is no row of labels: name another file for them")
        yield row


def _done(path: Path, name: str) -> dict[str, dict[str, Any]]:
    """Rows that the table has already, by image."""
    if not path.exists():
        return {}
    rows = {}
    for row in _lines(path):
        if row["labeller"] != name:
            raise InputError(
                f"{path} was labelled by {shown(row['labeller'])}, and this is {shown(name)}: name another file"
            )
        rows[row["image"]] = row
    return rows


def _order(path: Path) -> list[str]:
    return [row["image"] for row in _lines(path)]


def _rewrite(path: Path, rows: list[dict[str, Any]]) -> None:
    from justicia.writing import write_whole

    write_whole(path, "".join(json.dumps(row, ensure_ascii=True, allow_nan=False) + "\n" for row in rows))


def _summary(path: Path, rows: list[dict[str, Any]], skipped: int, names: list[str]) -> Labelling:
    labels: dict[str, dict[str, int]] = {name: {} for name in names}
    known = 0
    for row in rows:
        whole = row.get("error") is None
        for name in names:
            value = row.get(name)
            text = "" if value in (None, []) else "|".join(map(str, value)) if isinstance(value, list) else str(value)
            labels[name][text] = labels[name].get(text, 0) + 1
            whole = whole and text != ""
        known += whole
    errors = {row["image"]: row["error"] for row in rows if row.get("error")}
    return Labelling(path, len(rows), known, skipped, errors, labels)
