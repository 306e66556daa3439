"""Answers read back: joined to the prompts that they answer, and labelled by rules."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.collecting import Announcements
from justicia.errors import TableError
from justicia.generations.answer_rules import AnswerRules, read_rules
from justicia.generations.columns import coded
from justicia.generations.labels import label_text
from justicia.generations.reading import Source, read_generations
from justicia.progress import stage
from justicia.speaking import speaks_keywords
from justicia.words import counted, listed, shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Answers", "label_answers"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answers:
    """Labelled answers.

    Attributes
    ----------
    frame : DataFrame
        The table with two columns more: the label, and in `matched` every label that fits, joined by |.
    label : str
        Name of the column of labels.
    counts : dict of str to int
        Answers by label.
    overlapping : int
        Answers that several labels fit.
    unanswered : int
        Prompts without an answer, which are unknown.
    warnings : tuple of str
    """

    frame: pd.DataFrame
    label: str
    counts: dict[str, int]
    overlapping: int
    unanswered: int
    warnings: tuple[str, ...] = ()

    def to_text(self, path: Any = None) -> str | None:
        """The table as CSV, or as JSON lines where the file's name ends in .jsonl; written there if one is named."""
        from justicia.tables.text import table_text
        from justicia.writing import written

        return written(table_text(self.frame, path), path)


@speaks_keywords
def label_answers(
    answers: Any,
    rules: Any,
    *,
    prompts: Any = None,
    text: str = "answer",
    key: str = "prompt_id",
    label: str = "label",
    delimiter: str | None = None,
    encoding: str = "utf-8",
    **asked: Any,
) -> Answers:
    """Label free-text answers; no row is left out.

    Parameters
    ----------
    answers : path or DataFrame
        One row an answer; several to one prompt, such as those of several models, are welcome.
    rules : AnswerRules, mapping, or "gender"
        As `justicia.generations.answer_rules.read_rules`.
    prompts : path or DataFrame, optional
        The table of prompts; its columns are joined to the answers by `key`. A prompt without an answer stays, blank.
    text : str
        Column of the answers.
    key : str
        Column that both tables have.
    label : str
        Name of the new column.
    delimiter, encoding : str
        Of CSV files.
    **asked
        As `read_rules`.

    Raises
    ------
    TableError
        When a column is missing, a new one is there already, or an answer names no prompt.

    >>> import pandas as pd
    >>> held = label_answers(pd.DataFrame({"answer": ["Yes.", "I cannot answer that.", "Hm"]}), {"yes": [], "no": []})
    >>> held.frame["label"].tolist()
    ['yes', 'refusal', 'unknown']
    """
    import pandas as pd

    with Announcements() as said:
        held = rules if isinstance(rules, AnswerRules) else read_rules(rules, **asked)
        source = read_generations(answers, delimiter=delimiter, encoding=encoding)
        source.column(text, "text column")
        frame, unanswered = source.frame.copy(), 0
        if prompts is not None:
            table = read_generations(prompts, delimiter=delimiter, encoding=encoding)
            frame, unanswered = _joined(source, table, key, text)
        for name in (label, "matched"):
            if name in frame.columns:
                raise TableError(
                    f"{source.name or 'the table'} has a column {shown(name)} already: name another for the labels "
                    "of this table, or drop it"
                )
        stage("labelling the answers")
        found = [held.label(one) for one in _as_texts(frame[text])]
        # What a pattern extracts may be broken text, which pandas' own strings cannot hold.
        frame[label] = pd.Series([one.label for one in found], index=frame.index, dtype=object)
        frame["matched"] = pd.Series(["|".join(one.matched) for one in found], index=frame.index, dtype=object)
        values, numbers = np.unique([one.label for one in found], return_counts=True)
        counts = dict(zip(values.tolist(), numbers.tolist(), strict=True))
        overlapping = sum(len(one.matched) > 1 for one in found)
        _say(counts, overlapping, unanswered, held, len(found))
    return Answers(frame, label, counts, overlapping, unanswered, said.warnings)


def _as_texts(column: Any) -> list[str]:
    import pandas as pd

    return [
        " ".join(map(str, value))
        if isinstance(value, (tuple, list))
        else ""
        if value is None or pd.isna(value)
        else str(value)
        for value in column
    ]


def _say(counts: dict[str, int], overlapping: int, unanswered: int, rules: AnswerRules, n: int) -> None:
    if unanswered:
        logger.warning(
            "%s no answer: kept, blank, and labelled %s",
            counted(unanswered, "prompt has", "prompts have"),
            rules.unknown,
        )
    if overlapping:
        what = "the first in the order of the rules is taken" if rules.several == "first" else "they are unknown"
        logger.warning("%s fit several labels: %s (column matched has all)", counted(overlapping, "answer"), what)
    unknown = counts.get(rules.unknown, 0)
    if unknown:
        logger.warning("%s of %s fit no rule: %s", f"{unknown:,}", counted(n, "answer"), rules.unknown)
    never = [one for one in rules.labels if not counts.get(one) and one != rules.refusal]
    if never:
        logger.warning("no answer has the label %s", listed(never))


def _joined(source: Source, table: Source, key: str, text: str) -> tuple[pd.DataFrame, int]:
    """Prompts with their answers, in the order of the prompts; those without an answer last in their place, blank."""
    import pandas as pd

    keys, answered = (_keys(one, key) for one in (table, source))
    place: dict[str, int] = {}
    for row, name in enumerate(keys):
        if name in place:
            raise TableError(
                f"{table.name or 'the table of prompts'}: {shown(key)} {shown(name)!r} stands in rows "
                f"{place[name] + 1} and {row + 1}: a prompt has a name of its own"
            )
        place[name] = row
    for row, name in enumerate(answered):
        if name not in place:
            raise TableError(
                f"{source.name or 'the table of answers'}: row {row + 1} answers {shown(name)!r}, and there is no such "
                f"{shown(key)} in {table.name or 'the table of prompts'}"
            )
    both = [name for name in source.columns if name in table.columns and name != key]
    for name in both:
        theirs, ours = ([label_text(value) for value in held.frame[name]] for held in (table, source))
        unlike = next((row for row, one in enumerate(answered) if theirs[place[one]] != ours[row]), None)
        if unlike is not None:
            raise TableError(
                f"both tables have a column {shown(name)}, and row {unlike + 1} of {source.name or 'the answers'} has "
                "another value: rename one of them"
            )
    if text in table.columns:
        raise TableError(
            f"{table.name or 'the table of prompts'} has a column {shown(text)} itself: name another (--text)"
        )
    own = [name for name in source.columns if name not in both and name != key]
    order = np.argsort([place[name] for name in answered], kind="stable")
    lacking = sorted(set(range(len(keys))) - {place[name] for name in answered})
    left = [place[answered[row]] for row in order.tolist()]
    parts = table.frame.iloc[[*left, *lacking]].reset_index(drop=True)
    added = source.frame[own].astype(object).iloc[order].reset_index(drop=True)
    if lacking:
        blank = pd.DataFrame("", index=range(len(lacking)), columns=own, dtype=object)
        added = pd.concat([added, blank], ignore_index=True)
    joined = pd.concat([parts, added], axis=1)
    final = np.argsort([*left, *lacking], kind="stable")
    return joined.iloc[final].reset_index(drop=True), len(lacking)


def _keys(source: Source, key: str) -> list[str]:
    codes, values = coded(source.column(key, "column"))
    texts = ["" if value is None else label_text(value) for value in values]
    names = [texts[code] if code >= 0 else "" for code in codes.tolist()]
    if "" in names:
        raise TableError(f"{source.name or 'the table'}: {shown(key)} is blank in row {names.index('') + 1}")
    return names
