"""The sections of an audit of generations, one module each.

A section says which columns it needs, computes its part of the audit's JSON with the values that requirements may
limit, and makes blocks of that JSON for every kind of report. Adding one is a module with a `SECTION` and a line here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from justicia.errors import SpecError
from justicia.generations.labels import label_text
from justicia.report.document import Formula
from justicia.words import did_you_mean, shown

if TYPE_CHECKING:
    import pandas as pd

    from justicia.generations.estimates import Estimate
    from justicia.generations.requiring import Measured, Quantity
    from justicia.generations.spec import Spec
    from justicia.generations.table import Generations
    from justicia.report.document import Block

__all__ = [
    "NAMES",
    "Json",
    "Lack",
    "Material",
    "Options",
    "Section",
    "check_settings",
    "formulas_of",
    "is_yes",
    "section",
    "sections",
]

Json = dict[str, Any]

_OF_THE_AUDIT = ("schema", "tool", "created", "command", "data", "warnings", "least", "most", "verdict")

NAMES = ("sequences", "coverage", "diversity", "association", "criteria", "pairs", "scores", "polarity")
"""Modules of this package, in the order of the report."""


def formulas_of(measures: Iterable[Measured]) -> list[Formula]:
    """How measures are computed, for the end of a section."""
    return [Formula(one.name.replace("_", " "), one.says, one.formula) for one in measures]


def is_yes(setting: Any) -> bool:
    """Whether a setting of the spec, whose scalars are texts, says yes."""
    return str(setting).lower() in ("true", "yes", "1")


@dataclass(frozen=True)
class Options:
    """What holds for the whole audit.

    Attributes
    ----------
    confidence : float
        Of every interval.
    seed : int
        Of everything that is drawn.
    replicates : int
        Of a bootstrap or a simulated null.
    vectors : Any
        Word vectors: a file, or what `justicia.generations.polarity` takes.
    """

    confidence: float = 0.95
    seed: int = 0
    replicates: int = 500
    vectors: Any = None


@dataclass(frozen=True)
class Material:
    """What a section computes from.

    Attributes
    ----------
    generations : Generations
        Rows in the order of runs and steps, with labels of the attributes of the spec.
    options : Options
    roles : dict of str to str
        Columns of the table by what they are, those that it has.
    settings : dict of str to Any
        Of this section, from the spec.
    shared : dict
        What one section leaves for another of the same audit.
    """

    generations: Generations
    options: Options = field(default_factory=Options)
    roles: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    shared: dict[str, Any] = field(default_factory=dict)

    @property
    def spec(self) -> Spec:
        """What the table declares."""
        return self.generations.spec

    def column(self, role: str) -> pd.Series[Any]:
        """A column by what it is, in the order of runs and steps."""
        return self.generations.source.column(self.roles[role]).iloc[self.generations.rows].reset_index(drop=True)

    def words(self, role: str) -> list[str]:
        """The values of a column by what it is, in the order of their first rows; without blanks."""
        texts = (label_text(value) for value in self.column(role) if not is_blank(value))
        return [text for text in dict.fromkeys(texts) if text]

    def frame(self) -> pd.DataFrame:
        """The rows of the audit in the order of runs and steps, with all columns."""
        return self.generations.source.frame.iloc[self.generations.rows].reset_index(drop=True)


@dataclass(frozen=True)
class Lack:
    """Why a section cannot be computed.

    Attributes
    ----------
    reason : str
        What is not there.
    remedy : str
        What would allow it: a column, or an option.
    """

    reason: str
    remedy: str


@dataclass(frozen=True)
class Section:
    """A part of the audit.

    Attributes
    ----------
    name, title : str
        Name in the JSON, and heading.
    about : str
        What it answers, for somebody who has not met it.
    measures : tuple of Measured
        What requirements may limit.
    settings : tuple of str
        Keys of its settings in the spec.
    roles : tuple of str
        What columns have to be for it. Where the spec names one, or settings, the section is asked for, and an input
        that it cannot take is an error of the call, not a reason to leave it out.
    lacks : callable
        From the material to the reason why it cannot be computed, or None.
    compute : callable
        From the material to its JSON, and the values that requirements limit.
    says : callable
        From its JSON to the answer, a sentence or two for each thing that it is about.
    blocks : callable
        From its JSON to what the report shows.
    """

    name: str
    title: str
    about: str
    measures: tuple[Measured, ...]
    settings: tuple[str, ...]
    roles: tuple[str, ...]
    lacks: Callable[[Material], Lack | None]
    compute: Callable[[Material], tuple[Json, list[Quantity]]]
    says: Callable[[Json], Sequence[str]]
    blocks: Callable[[Json], Sequence[Block]]


def is_blank(value: Any) -> bool:
    """Whether a cell has nothing in it."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or str(value).strip() in ("", "<NA>")


def plain_part(report: Mapping[str, Any]) -> Json:
    """What a report of its own says, without what the audit says for all sections."""
    return {name: held for name, held in report.items() if name not in _OF_THE_AUDIT}


def quantity_of(name: str, where: Mapping[str, str], one: Estimate) -> Quantity:
    """A measure with its interval, and the range that unknown labels leave, as requirements limit it."""
    from justicia.generations.requiring import Quantity

    if one.value is None:
        return Quantity(name, where, undefined=one.undefined or "it is not defined")
    ends = [one.value if end is None else end for end in (one.lo, one.hi)]
    ends += one.possible or ()
    return Quantity(name, where, min(ends), max(ends), one.possible or (one.value, one.value))


def section(name: str) -> Section:
    """A section by its name."""
    held: Section = import_module(f"{__name__}.{name}").SECTION
    return held


def sections() -> list[Section]:
    """All sections, in the order of the report."""
    return [section(name) for name in NAMES]


def check_settings(settings: Mapping[str, Mapping[str, Any]], held: Iterable[Section]) -> None:
    """Refuse settings that no section has.

    Raises
    ------
    SpecError
    """
    known = {one.name: one.settings for one in held}
    for name, said in settings.items():
        if name not in known:
            raise SpecError(f"settings: there is no section {shown(name)}{did_you_mean(name, known)}")
        for key in said:
            if key not in known[name]:
                choices = did_you_mean(key, known[name]) or ": it has none"
                raise SpecError(f"settings: {name} has no setting {shown(key)}{choices}")
