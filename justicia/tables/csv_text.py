"""Parse CSV text.

Two rules keep the audit's table the one that the user sees in the file: only empty cells are missing (words such as
``None`` or ``NA`` are text unless `na` names them), and blanks around values and names are removed and counted. What
the parser would mend without a word (short rows, repeated names) is refused.
"""

from __future__ import annotations

import csv
import io
import logging
import warnings
from typing import IO, TYPE_CHECKING, Any

from justicia.compressed import kind_of
from justicia.errors import TableError
from justicia.tables.file_kinds import NO_TEXT, other_kind
from justicia.words import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pandas as pd

__all__ = [
    "check_beginning",
    "check_delimiter",
    "first_line",
    "has_header_rows",
    "has_outer_blanks",
    "holds_words",
    "names_in",
    "parse_csv",
    "refuse_header",
]

logger = logging.getLogger(__name__)

_DELIMITERS = {";": "';'", "\t": r"'\t'", "|": "'|'"}


def parse_csv(
    source: IO[bytes],
    *,
    na: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str = "utf-8",
    strip: bool = True,
    as_text: bool | Collection[str] = False,
    suffix: str = "",
) -> pd.DataFrame:
    """Parse CSV bytes under the two rules of this module; with `as_text`, no value is read as a number.

    It may name the columns of which this is so.

    `suffix` is the end of the file's name, which may say what else it is.

    Raises
    ------
    TableError
        When the text is no such table; the message says which line or which delimiter.
    """
    content = source.read()
    separator = "," if delimiter is None else delimiter
    if len(separator) != 1 or not separator.isascii() or separator in '"\n\r':
        raise TableError(f"delimiter {separator!r} is not one ASCII character")
    check_beginning(content, encoding, suffix)
    if b"\x00" in content and "16" not in encoding and "32" not in encoding:
        raise TableError(NO_TEXT)
    try:
        header = content.partition(b"\n")[0].decode(encoding, "replace")
    except (LookupError, ValueError) as error:
        raise TableError(
            f"encoding {encoding!r} is not known: usual ones are utf-8, latin-1, cp1252 and utf-16"
        ) from error
    if delimiter is None:
        check_delimiter(header)
    kinds = _types(as_text, header, separator)
    frame = _parse(content, separator, encoding, na, False, kinds)
    if strip and (header[:1].isspace() or has_outer_blanks(content, separator)):
        frame = _stripped(frame, _parse(content, separator, encoding, na, True, kinds))
    if has_header_rows(frame, na):
        refuse_header(io.TextIOWrapper(io.BytesIO(content), encoding, "replace", newline=""), separator)
    _check_repeats(frame, header, separator)
    if len(frame.columns) > 1 and frame.iloc[:, -1].isna().any():
        _check_lengths(content, encoding, separator, len(frame.columns))
    return frame


def _types(as_text: bool | Collection[str], header: str, delimiter: str) -> Any:
    """What the parser is told of the columns."""
    if isinstance(as_text, bool):
        return str if as_text else None
    names = [name.strip().lstrip("\ufeff") for name in names_in(header, delimiter)] if as_text else []
    held = {name.strip() for name in as_text}
    return {position: str for position, name in enumerate(names) if name in held} or None


def has_outer_blanks(content: bytes, delimiter: str) -> bool:
    """Whether a value may begin or end with a blank."""
    mark = delimiter.encode()
    return any(
        blank in content
        and any(edge in content for edge in (mark + blank, blank + mark, blank + b"\n", blank + b"\r", b"\n" + blank))
        for blank in (b" ", b"\t")
        if blank != mark
    )


def check_beginning(content: bytes, encoding: str, suffix: str = "") -> None:
    """Refuse what is no text by its first bytes, or by the end of its name, with what it is."""
    kind = other_kind(content, suffix)
    if kind is not None:
        raise TableError(kind)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) and "16" not in encoding:
        raise TableError("is UTF-16 text: pass --encoding utf-16")
    if kind_of(content) not in (None, "zlib"):
        raise TableError(f"is compressed ({kind_of(content)}), but its name does not end in .gz, .bz2 or .xz")


def _check_repeats(frame: pd.DataFrame, header: str, delimiter: str) -> None:
    """Refuse two columns of one name that differ; the parser would rename the second without a word."""
    names = [name.strip().lstrip("\ufeff") for name in names_in(header, delimiter)]
    if len(set(names)) == len(names) or len(names) != len(frame.columns):
        return
    for position, name in enumerate(names):
        first = names.index(name)
        if first != position and not frame.iloc[:, first].equals(frame.iloc[:, position]):
            raise TableError(f"two columns are named {name!r} and differ: rename one")


def has_header_rows(frame: pd.DataFrame, na: Sequence[str] = ()) -> bool:
    """Whether some row holds the names of all columns, as files that were put together have it."""
    names = [str(name).strip() for name in frame.columns]
    # The parser's own name of a column whose name is empty.
    missing = [name in na or name.startswith("Unnamed: ") for name in names]
    if len(names) < 2 or any(frame.dtypes.iloc[i].kind in "biuf" and not missing[i] for i in range(len(names))):
        return False
    found = frame
    for position, name in enumerate(names):
        column = found.iloc[:, position]
        found = found[column.isin([name, f"\ufeff{name}"]) | (column.isna() & missing[position])]
        if not len(found):
            return False
    return True


def refuse_header(lines: IO[str], delimiter: str) -> None:
    """Refuse a text in which a line repeats the header, and say which.

    Raises
    ------
    TableError
    """
    rows = csv.reader(lines, delimiter=delimiter)
    names: list[str] | None = None
    try:
        for row in rows:
            own = [value.strip().lstrip("\ufeff") for value in row]
            if names is not None and own == names:
                raise TableError(f"line {rows.line_num} repeats the header: remove it")
            names = names or own
    except csv.Error:
        return


def names_in(header: str, delimiter: str) -> list[str]:
    """The names in a header line, which may be followed by other lines.

    Raises
    ------
    TableError
        When the line cannot be parsed.
    """
    # The parser takes \r alone for the end of a line, too.
    line = header.strip("\r\n").partition("\r")[0]
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as error:
        raise TableError(f"the header line cannot be parsed: {first_line(error)}") from error


def _check_lengths(content: bytes, encoding: str, delimiter: str, width: int) -> None:
    """Refuse a row with fewer values than the header has names; the parser would fill it up."""
    if b'"' not in content and content.count(b"\r") == content.count(b"\r\n"):
        mark = delimiter.encode(encoding)[-1:] if "16" not in encoding and "32" not in encoding else None
        if mark is not None:
            for number, line in enumerate(content.split(b"\n"), start=1):
                if line.count(mark) < width - 1 and line.strip(b"\r"):
                    raise TableError(f"line {number} has {line.count(mark) + 1} values, and the header {width} names")
            return
    text = io.StringIO(content.decode(encoding, "replace"), newline="")
    rows = csv.reader(text, delimiter=delimiter)
    try:
        for row in rows:
            if row and len(row) < width:
                raise TableError(f"line {rows.line_num} has {len(row)} values, and the header {width} names")
    except csv.Error as error:
        raise TableError(f"line {rows.line_num} cannot be parsed: {first_line(error)}") from error


def check_delimiter(header: str) -> None:
    """Refuse a header that is separated by something else than commas."""
    for mark, shown in _DELIMITERS.items():
        if header.count(mark) > header.count(","):
            raise TableError(f"the header line is separated by {shown}, not by commas: pass --delimiter {shown}")


def _parse(content: bytes, delimiter: str, encoding: str, na: Sequence[str], blanks: bool, kinds: Any) -> pd.DataFrame:
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            return pd.read_csv(
                io.BytesIO(content),
                sep=delimiter,
                encoding=encoding,
                keep_default_na=False,
                na_values=["", *na],
                index_col=False,
                skipinitialspace=blanks,
                low_memory=False,
                dtype=kinds,
            )
        except pd.errors.EmptyDataError:
            raise TableError("is empty") from None
        except UnicodeDecodeError as error:
            raise TableError(_not_decoded(content, encoding)) from error
        except pd.errors.ParserWarning as error:
            raise TableError("rows have more values than the header has names") from error
        except (pd.errors.ParserError, ValueError, OverflowError, TypeError, LookupError) as error:
            raise TableError(f"cannot be parsed: {first_line(error)}") from error


def _not_decoded(content: bytes, encoding: str) -> str:
    """Which byte is no text in the encoding, by line."""
    try:
        content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = f"{content[error.start]:#04x}"
        return f"is not {encoding} text (byte {byte} in line {line}): convert it, or pass --encoding latin-1"
    return f"is not {encoding} text: pass --encoding, or convert it"


def first_line(error: BaseException) -> str:
    """What an error of a parser says, without its preamble."""
    text = str(error).strip().splitlines()
    return (text[0] if text else type(error).__name__).removeprefix("Error tokenizing data. C error: ")


def holds_words(column: pd.Series[Any]) -> bool:
    """Whether a parsed column is text; truth values with empty cells are none."""
    import pandas as pd

    if column.dtype == object:
        return pd.api.types.infer_dtype(column, skipna=True) == "string"
    return column.dtype.kind not in "biuf"


def _stripped(kept: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """`frame` with blanks around names and text values removed, announcing how many there were in `kept`."""
    import pandas as pd

    names = [str(name).strip() for name in frame.columns]
    changed_names = sum(str(name) != name_stripped for name, name_stripped in zip(kept.columns, names, strict=True))
    frame = frame.set_axis(names, axis="columns")
    changed = 0
    for position in range(len(names)):
        before = kept.iloc[:, position]
        if pd.api.types.is_numeric_dtype(before.dtype) or before.dtype == bool:
            continue
        codes, uniques = pd.factorize(before)
        counts = pd.Series(codes[codes >= 0]).value_counts()
        changed += int(sum(counts.get(i, 0) for i, value in enumerate(uniques) if str(value) != str(value).strip()))
        after = frame.iloc[:, position]
        if holds_words(after):
            stripped = after.str.strip()
            frame.isetitem(position, stripped.mask(stripped == "").array)
    if changed or changed_names:
        parts = [counted(changed, "value"), counted(changed_names, "column name")]
        logger.info("blanks around %s were removed", " and ".join(part for part in parts if not part.startswith("0 ")))
    return frame
