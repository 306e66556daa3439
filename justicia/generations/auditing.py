"""One audit of a table of generations: everything that its columns allow, with requirements that gate it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from justicia.collecting import Announcements
from justicia.errors import InputError, SpecError
from justicia.generations.asking import spec_of
from justicia.generations.reading import Source, read_generations
from justicia.generations.requiring import Limit, Quantity, judge_limits, limit_of_beta, parse_limit
from justicia.generations.sections import Json, Material, Options, Section, check_settings, sections
from justicia.generations.spec import ROLES, Spec, whole_number
from justicia.generations.table import Generations, prepare
from justicia.judging import RequirementAudit, exit_code_of
from justicia.progress import stage
from justicia.speaking import speaks_keywords
from justicia.words import did_you_mean, shown

__all__ = ["GenerationAudit", "audit"]

logger = logging.getLogger(__name__)

_NAMES = {"response": ("label", "response")}
"""Columns that are taken where the spec names none, if not the one of the role's name: labelled answers have a column
label."""

_MEND = "mend it, or say under columns in the spec which column is meant (none: there is none)"


@dataclass(frozen=True)
class GenerationAudit:
    """The audit of a table of generations.

    Attributes
    ----------
    held : dict
        Everything that it says, by the contract ``justicia.generations.audit/1``.
    requirements : tuple of RequirementAudit
        Each met, breached or undecided.
    quantities : tuple of Quantity
        What requirements may limit.
    """

    held: Json = field(repr=False)
    requirements: tuple[RequirementAudit, ...]
    quantities: tuple[Quantity, ...] = field(default=(), repr=False)

    @property
    def exit_code(self) -> int:
        """0 when every requirement is met, 1 when one is breached, 3 when one is undecided."""
        return exit_code_of(self.requirements)

    @property
    def sections(self) -> dict[str, Json]:
        """What was computed, by section."""
        return {one["name"]: one["content"] for one in self.held["sections"] if one["computed"]}

    @property
    def lacking(self) -> dict[str, str]:
        """What could not be computed, by section: why, and what would allow it."""
        return {
            one["name"]: f"{one['reason']}: {one['remedy']}" for one in self.held["sections"] if not one["computed"]
        }

    def to_frame(self) -> Any:
        """What requirements may limit: one row a value, with what it is of."""
        import pandas as pd

        rows = [
            {
                "measure": one.name,
                "of": one.of,
                "lo": None if one.lo is None else float(one.lo),
                "hi": None if one.hi is None else float(one.hi),
                "value": None if one.value is None or one.value[0] != one.value[1] else float(one.value[0]),
                "undefined": one.undefined,
            }
            for one in self.quantities
        ]
        return pd.DataFrame(rows, columns=["measure", "of", "lo", "hi", "value", "undefined"])

    def to_dict(self) -> Json:
        """The audit by the contract ``justicia.generations.audit/1``."""
        return self.held

    def to_json(self, path: Any = None) -> str | None:
        """The audit as JSON text, or written to a file."""
        from justicia.report.generations_json import to_json

        return to_json(self.held, path)

    def to_html(self, path: Any = None) -> str | None:
        """The report as one HTML file that needs nothing else: its text, or written to a file."""
        from justicia.report.generations_html import render_generations
        from justicia.writing import written

        return written(render_generations(self.held), path)

    def to_junit(self, path: Any = None) -> str | None:
        """The requirements as test cases in JUnit's XML: its text, or written to a file."""
        from justicia.report.junit import junit_xml
        from justicia.writing import written

        return written(junit_xml(self.requirements, self.held["data"]["source"], "generations"), path)

    def to_text(self, width: int = 100) -> str:
        """The report as plain text."""
        from justicia.report.generations_pages import audit_to_text

        return audit_to_text(self.held, width)

    def _repr_html_(self) -> str:
        from justicia.report.generations_html import generations_fragment

        return generations_fragment(self.held)


@speaks_keywords
def audit(
    data: Any,
    spec: Any = None,
    *,
    require: Iterable[str] = (),
    vectors: Any = None,
    confidence: float = 0.95,
    replicates: int = 500,
    seed: int = 0,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    command: Sequence[str] | None = None,
    **asked: Any,
) -> GenerationAudit:
    """Audit a table of generations: every section that its columns allow.

    Parameters
    ----------
    data : path or DataFrame
        CSV, JSON lines or Parquet; one row a generation.
    spec : path or mapping
        What the table declares; `docs/generations.md` has every key.
    require : iterable of str
        Requirements such as ``"least_beta[attribute=gender]<=20"``; those of the spec come first, and every beta of an
        attribute is one.
    vectors : path or object, optional
        Word vectors, for the polarity of texts.
    confidence : float
        Of every interval.
    replicates : int
        Of everything that is drawn: bootstrap, simulated nulls.
    seed : int
        Of the same.
    delimiter, encoding : str
        Of a CSV file.
    **asked
        As of `sequence`: `domain` and `beta`, mappings by attribute; `by` and `step`, columns; `where`, `neutral`,
        `unknown`, `separator`, `off_domain`.

    Returns
    -------
    GenerationAudit

    Raises
    ------
    InputError
        When the table or the spec cannot be read, the table has a fault that `check` lists, or a requirement names
        nothing that could be measured.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"colour": list("WYWWWWWYWWW")})
    >>> held = audit(table, {"attributes": {"colour": {"domain": ["W", "Y"], "beta": 5}}})
    >>> held.exit_code, held.requirements[0].reason
    (1, 'least beta of attribute colour is 6')
    """
    options = Options(
        _confidence(confidence), whole_number(seed, "seed", 0), whole_number(replicates, "replicates"), vectors
    )
    parts = sections()
    with Announcements() as said:
        held_spec = spec_of(spec, **asked)
        check_settings(held_spec.settings, parts)
        limits = _limits(held_spec, require, [one for part in parts for one in part.measures])
        source = read_generations(data, delimiter=delimiter, encoding=encoding)
        generations = prepare(source, held_spec, held_spec.attributes).require_sound()
        roles = _roles(source, held_spec)
        made, quantities, lacking = [], [], {}
        shared: dict[str, Any] = {}
        for part in parts:
            material = Material(generations, options, roles, held_spec.settings.get(part.name, {}), shared)
            lack = part.lacks(material)
            one: Json = {"name": part.name, "title": part.title, "computed": lack is None}
            if lack is not None:
                made.append({**one, "reason": lack.reason, "remedy": lack.remedy, "content": None})
                lacking.update({held.name: f"{lack.reason}: {lack.remedy}" for held in part.measures})
                continue
            stage("%s", part.title.lower())
            try:
                with _quiet_tables():
                    content, found = part.compute(material)
            except InputError as error:
                if _is_asked(part, held_spec, limits):
                    raise
                reason = str(error).removesuffix(".")
                made.append({**one, "computed": False, "reason": reason, "remedy": _MEND, "content": None})
                lacking.update({held.name: reason for held in part.measures})
                continue
            quantities += found
            partly = "; ".join(f"{one['reason']}: {one['remedy']} would allow it" for one in content.get("lacks", ()))
            if partly:
                measured = {held.name for held in found}
                lacking.update({held.name: partly for held in part.measures if held.name not in measured})
            made.append({**one, "reason": None, "remedy": None, "content": content})
        if all(not one["computed"] for one in made):
            needs = "; ".join(dict.fromkeys(f"{one['title']}: {one['remedy']}" for one in made))
            raise InputError(f"{source.name or 'the table'}: no section can be computed. {needs}")
        requirements = judge_limits(limits, quantities, lacking)
    return GenerationAudit(
        _audit_dict(generations, roles, options, requirements, made, said.warnings, command),
        requirements,
        tuple(quantities),
    )


@contextmanager
def _quiet_tables() -> Iterator[None]:
    """Nothing is said again about the labels of a table that has been read."""
    quieted = [logging.getLogger(f"justicia.generations.{name}") for name in ("table", "contexts")]
    levels = [one.level for one in quieted]
    for one in quieted:
        one.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for one, level in zip(quieted, levels, strict=True):
            one.setLevel(level)


def _is_asked(part: Section, spec: Spec, limits: Sequence[Limit]) -> bool:
    """Whether a section is asked for by name, not merely allowed by names of columns."""
    names = {one.name for one in part.measures}
    return (
        part.name in spec.settings
        or any(role in spec.columns for role in part.roles)
        or any(limit.name in names for limit in limits)
        or not part.roles
    )


def _confidence(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
        raise InputError(f"the confidence lies between 0 and 1, not {shown(repr(value))}")
    return float(value)


def _limits(spec: Spec, require: Iterable[str], measured: Sequence[Any]) -> list[Limit]:
    texts = [*spec.require, *([require] if isinstance(require, str) else require)]
    held = [limit_of_beta(name, one.beta) for name, one in spec.attributes.items() if one.beta is not None]
    held += [parse_limit(text, measured) for text in texts]
    return list({limit.text: limit for limit in held}.values())


def _roles(source: Source, spec: Spec) -> dict[str, str]:
    """Columns by what they are: those that the spec names, else those of that very name."""
    found: dict[str, str] = {}
    for role in ROLES:
        name = spec.columns.get(role)
        if name is None:
            for default in _NAMES.get(role, (role,)):
                if default in source.columns and default not in spec.attributes:
                    found.setdefault(role, default)
        elif name in source.columns:
            found[role] = name
        elif name != "none":
            raise SpecError(
                f"columns: {role} is to be the column {shown(name)}, which the table does not have"
                f"{did_you_mean(name, source.columns)}"
            )
    if spec.prompt is not None:
        source.column(spec.prompt, "prompt column")
        found["prompt"] = spec.prompt
    elif "prompt" in source.columns:
        found["prompt"] = "prompt"
    return found


def _audit_dict(
    generations: Generations,
    roles: Mapping[str, str],
    options: Options,
    requirements: Sequence[RequirementAudit],
    made: list[Json],
    warnings: Sequence[str],
    command: Sequence[str] | None,
) -> Json:
    from justicia.report.generations_json import data_of, head

    spec = generations.spec
    return {
        **head("audit", command),
        "data": data_of(generations),
        "columns": {role: roles.get(role) for role in ("prompt", *ROLES)},
        "attributes": {
            name: {"domain": list(one.domain), "beta": one.beta, "unknown": sorted(one.unknown)}
            for name, one in spec.attributes.items()
        },
        "neutral": {name: list(values) for name, values in spec.neutral.items()},
        "off_domain": spec.off_domain,
        "confidence": options.confidence,
        "seed": options.seed,
        "replicates": options.replicates,
        "requirements": [{"text": one.text, "status": one.status, "reason": one.reason} for one in requirements],
        "sections": made,
        "findings": [
            {"kind": one.kind, "level": one.level, "column": one.column, "count": one.count, "text": one.text}
            for one in generations.findings
        ],
        "warnings": list(warnings),
    }
