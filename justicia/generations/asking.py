"""Questions about a table of generations: `check`, `sequence` and `coverage`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from justicia.collecting import Announcements
from justicia.errors import SpecError
from justicia.generations.covering import CoverageReport, cover_runs
from justicia.generations.labels import label_text
from justicia.generations.reading import Source, read_generations
from justicia.generations.results import Evidence, Question, SequenceReport
from justicia.generations.sequences import judge_runs
from justicia.generations.spec import Spec, attribute, read_spec, whole_number
from justicia.generations.table import Generations, columns_needed, prepare
from justicia.progress import stage
from justicia.words import counted, listed, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["CheckReport", "check", "coverage", "evidence_over", "sequence", "share_of", "spec_of"]


@dataclass(frozen=True)
class CheckReport:
    """What a table holds, and what is wrong with it.

    Attributes
    ----------
    generations : Generations
        Its `findings` are the answer.
    warnings : tuple of str
    command : tuple of str or None
    """

    generations: Generations
    warnings: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None

    @property
    def exit_code(self) -> int:
        """0 when there is no fault, 1 otherwise."""
        return 1 if self.generations.faults else 0

    def to_dict(self) -> dict[str, Any]:
        """The report by the contract ``justicia.generations.check/1``."""
        from justicia.report.generations_json import check_to_dict

        return check_to_dict(self)

    def to_json(self, path: Any = None) -> str | None:
        """The report as JSON text, or written to a file."""
        from justicia.report.generations_json import to_json

        return to_json(self.to_dict(), path)

    def to_text(self, width: int = 100) -> str:
        """The report as plain text."""
        from justicia.report.generations_text import check_to_text

        return check_to_text(self, width)


def spec_of(
    spec: Any = None,
    *,
    domain: Mapping[str, Iterable[Any]] | None = None,
    beta: Mapping[str, int] | None = None,
    by: str | None = None,
    step: str | None = None,
    prompt: str | None = None,
    where: Mapping[str, Any] | None = None,
    neutral: Mapping[str, Any] | None = None,
    unknown: Sequence[Any] | None = None,
    separator: str | None = None,
    off_domain: str | None = None,
) -> Spec:
    """A spec from a file or mapping, with what the other arguments say in its place.

    Raises
    ------
    SpecError
    """
    held = Spec({}) if spec is None else read_spec(spec)
    for key, column in (("by", by), ("step", step), ("prompt", prompt)):
        if column is not None and not isinstance(column, str):
            raise SpecError(f"{key} is the name of one column, not {shown(column)}")
    for key, held_mapping in (("domain", domain), ("beta", beta), ("where", where), ("neutral", neutral)):
        if held_mapping is not None and not isinstance(held_mapping, Mapping):
            raise SpecError(f"{key} is a mapping by name, not {shown(held_mapping)}")
    if off_domain is not None and not isinstance(off_domain, str):
        raise SpecError(f"off_domain is a word, not {shown(off_domain)}")
    attributes = dict(held.attributes)
    for name in [*(domain or {}), *(beta or {})]:
        if name not in attributes and name not in (domain or {}):
            raise SpecError(f"attribute {shown(name)!r} has a beta and no domain: declare its values")
    for name in dict.fromkeys([*attributes, *(domain or {})]):
        old = attributes.get(name)
        values = (domain or {}).get(name, () if old is None else old.domain)
        own_beta = (beta or {}).get(name, None if old is None else old.beta)
        words = unknown if unknown is not None else () if old is None else old.unknown
        mark = separator if separator is not None else None if old is None else old.separator
        attributes[name] = attribute(name, values, own_beta, words, mark)
    return held.changed(
        attributes=attributes,
        run=by,
        step=step,
        prompt=prompt,
        where=None if where is None else _condition(where),
        neutral=None if neutral is None else _condition(neutral),
        off_domain=off_domain,
    )


def _condition(said: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {
        str(name): tuple(
            label_text(value) for value in ([values] if isinstance(values, str) or not _several(values) else values)
        )
        for name, values in said.items()
    }


def _several(values: Any) -> bool:
    return hasattr(values, "__iter__")


def check(
    data: Any,
    attributes: Sequence[str] | None = None,
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    **asked: Any,
) -> CheckReport:
    """Check a table of generations against what is declared.

    Parameters
    ----------
    data : path or DataFrame
        CSV, JSON lines or Parquet; one row a generation.
    attributes : sequence of str, optional
        All that have a domain by default.
    delimiter, encoding : str
        Of a CSV file.
    **asked
        As of `spec_of`: `spec`, `domain`, `by`, `step`, `where`, `unknown`, …

    Raises
    ------
    InputError
        When the table cannot be read, or a column is missing. Labels outside a domain, repeated steps and the like are
        findings, not errors.
    """
    with Announcements() as said:
        spec = spec_of(**asked)
        names = list(attributes or spec.attributes)
        generations, _ = _read(data, spec, names, delimiter, encoding)
        generations = replace(generations, findings=(*generations.findings, *_shape(generations, names)))
    return CheckReport(generations, said.warnings)


def _shape(generations: Generations, names: Sequence[str]) -> list[Any]:
    """Findings about domains and lengths of runs."""
    from justicia.generations.columns import Finding
    from justicia.generations.gaps import widest_gaps

    found = []
    for name in names:
        counts = widest_gaps(generations.labels[name], generations.starts).counts.sum(axis=0)
        never = [value for value, count in zip(generations.labels[name].values, counts, strict=True) if not count]
        if never:
            text = f"{shown(name)}: never generated in any run: {listed(never)}"
            found.append(Finding("never_seen", "warning", name, len(never), text))
        beta = generations.spec.named(name).beta
        if beta is None:
            continue
        if beta < len(counts):
            text = f"{shown(name)}: no sequence of {counted(len(counts), 'value')} can have a beta of {beta}"
            found.append(Finding("beta_too_small", "warning", name, 1, text))
        lengths = generations.starts[1:] - generations.starts[:-1]
        short = int((lengths <= beta).sum())
        if short:
            text = f"{shown(name)}: {counted(short, 'run')} of {len(lengths)} too short for a beta of {beta}"
            found.append(Finding("too_short", "warning", name, short, text))
    return found


def _read(
    data: Any, spec: Spec, names: Sequence[str], delimiter: str | None, encoding: str
) -> tuple[Generations, Source]:
    if not names:
        raise SpecError("no attribute is named: name its column and its domain (--attr, --domain), or a spec (--spec)")
    for name in names:
        spec.named(name)
    source = read_generations(data, columns_needed(spec, names), delimiter=delimiter, encoding=encoding)
    stage("judging the labels")
    return prepare(source, spec, names), source


def sequence(
    data: Any,
    attr: str | Sequence[str] | Sequence[Sequence[str]] | Mapping[str, Sequence[Any]] | None = None,
    *,
    domain: Any = None,
    beta: Any = None,
    loop_from: float | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    command: Sequence[str] | None = None,
    **asked: Any,
) -> SequenceReport:
    """Judge the sequences of every run.

    Parameters
    ----------
    data : path or DataFrame
        CSV, JSON lines or Parquet; one row a generation.
    attr : str, sequence of str or of sequences of str, or mapping of str to sequence, optional
        Attributes, each by itself, a mapping with their domains; a sequence inside is several attributes together,
        whose combinations of values are asked about. All attributes of the spec by default.
    domain : sequence, or mapping of attribute to sequence
        The declared values.
    beta : int, or mapping of attribute to int, optional
        Every value is to occur in every `beta` generations in a row. A number is for every question. None, and none in
        the spec: every value is to occur at all.
    loop_from : number, optional
        Read each run as infinite: from this step on it repeats for ever.
    delimiter, encoding : str
        Of a CSV file.
    **asked
        `spec`, a file or mapping; `by` and `step`, columns ("none": there is none); `where` and `neutral`, mappings of
        column to value or values; `prompt`, a column; `unknown`, words; `separator`; `off_domain`.

    Raises
    ------
    InputError
        When the table cannot be read, or has a fault that `check` lists.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"colour": list("WYWWWWWYWWW")})
    >>> report = sequence(table, "colour", domain=["W", "Y"], beta=6)
    >>> report.results[0].beta_star, report.verdict
    (6, 'holds')
    """
    with Announcements() as said:
        if isinstance(attr, Mapping):
            if domain is not None:
                raise SpecError("attributes come with their domains: leave the other domain out")
            domain = dict(attr)
            attr = list(domain)
        questions = _questions(attr)
        first = questions[0][0] if questions else None
        if domain is not None and not isinstance(domain, Mapping):
            if len(questions) != 1 or len(questions[0]) != 1:
                raise SpecError("a domain without a name is for one attribute: name the attribute of each")
            domain = {first: domain}
        everywhere = None if isinstance(beta, Mapping) else beta
        together = (
            {tuple(str(name).split(",")): value for name, value in (beta or {}).items()}
            if isinstance(beta, Mapping)
            else {}
        )
        single = {names[0]: value for names, value in together.items() if len(names) == 1}
        spec = spec_of(domain=domain, beta=single or None, **asked)
        questions = questions or [(name,) for name in spec.attributes]
        betas = [_beta(names, spec, everywhere, together) for names in questions]
        generations, source = _read(data, spec, [name for names in questions for name in names], delimiter, encoding)
        generations.require_sound()
        evidence: list[Evidence] = []
        judged = tuple(
            judge_runs(generations, names, bound, loop_from) for names, bound in zip(questions, betas, strict=True)
        )
        if spec.neutral:
            tagged = prepare(source, spec.changed(where={**spec.where, **spec.neutral}), generations.labels)
            tagged.require_sound()
            for names, bound in zip(questions, betas, strict=True):
                evidence.append(evidence_over(tagged, names, judge_runs(tagged, names, bound, loop_from)))
    return SequenceReport(
        judged, tuple(evidence), generations, said.warnings, None if command is None else tuple(command)
    )


def _questions(attr: Any) -> list[tuple[str, ...]]:
    if attr is None:
        return []
    listed_ = [attr] if isinstance(attr, str) else list(attr)
    made = [(one,) if isinstance(one, str) else tuple(one) for one in listed_]
    for names in made:
        if not names or len(set(names)) < len(names):
            raise SpecError(f"attributes to be judged together are named once each, not {shown(names)}")
    return list(dict.fromkeys(made))


def _beta(names: tuple[str, ...], spec: Spec, everywhere: Any, together: Mapping[tuple[str, ...], Any]) -> int | None:
    bound = together.get(names, everywhere)
    if bound is None:
        return spec.named(names[0]).beta if len(names) == 1 else None
    return whole_number(bound, "beta")


def evidence_over(tagged: Generations, names: tuple[str, ...], judged: Question) -> Evidence:
    """What the tagged runs show; a table cannot speak of all prompts, so it can refute, and else is evidence alone."""
    spec = tagged.spec
    tag = ", ".join(f"{name}={'|'.join(values)}" for name, values in spec.neutral.items())
    verdicts, beta = judged.counts, judged.beta
    prompts = None
    if spec.prompt is not None:
        column = tagged.source.column(spec.prompt, "prompt column")
        prompts = int(column.iloc[tagged.rows].nunique())
    asked = "that every value occurs" if beta is None else f"of beta {beta}"
    over = f"{counted(len(judged), 'run')} under prompts tagged {tag}"
    if verdicts["fails"]:
        statement = (
            f"{verdicts['fails']} of {over} fail the requirement {asked}: counterexamples to inherent fairness of the "
            "generator at this bound"
        )
    elif verdicts["holds"]:
        statement = (
            f"evidence, not proof: {verdicts['holds']} of {over} hold the requirement {asked} and none fails; inherent "
            "fairness is about all neutral prompts, which no table decides"
        )
    else:
        statement = f"no evidence either way: none of {over} decides the requirement {asked}"
    return Evidence(names, tag, len(tagged), prompts, verdicts, statement)


def coverage(
    data: Any,
    attrs: Sequence[str] | None = None,
    *,
    t: int = 2,
    least: Any = 1,
    suggest: int = 0,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    command: Sequence[str] | None = None,
    **asked: Any,
) -> CoverageReport:
    """Which combinations of values of t attributes each run has generated.

    Parameters
    ----------
    data : path or DataFrame
    attrs : sequence of str, optional
        All attributes of the spec by default.
    t : int
        Attributes in a combination: 2 for all pairs, their number for whole tuples.
    least : number or str
        The share of combinations that has to occur, such as ``"0.4"``.
    suggest : int
        How many generations to propose for what is asked next.
    **asked
        As of `sequence`, with `domain` a mapping.

    Raises
    ------
    InputError
    """
    with Announcements() as said:
        share = share_of(least)
        spec = spec_of(**asked)
        names = tuple(dict.fromkeys(attrs or spec.attributes))
        size = whole_number(t, "t")
        if names and size > len(names):
            raise SpecError(
                f"t is {size}, and {counted(len(names), 'attribute')} {'is' if len(names) == 1 else 'are'} named"
            )
        generations, _ = _read(data, spec, names, delimiter, encoding)
        generations.require_sound()
        results = cover_runs(generations, names, size, share, whole_number(suggest, "suggest", 0))
    return CoverageReport(
        names, size, share, results, generations, said.warnings, None if command is None else tuple(command)
    )


def share_of(least: Any) -> Fraction:
    """A share between 0 and 1, as a number, a fraction or in percent.

    Raises
    ------
    SpecError
    """
    text = str(least).strip()
    if re.fullmatch(r"(\d{1,9}(\.\d{0,18})?|\.\d{1,18})%?|\d{1,9}/\d{1,9}", text):
        try:
            share = Fraction(text.rstrip("%")) / (100 if text.endswith("%") else 1)
        except ZeroDivisionError:
            share = Fraction(-1)
        if 0 <= share <= 1:
            return share
    raise SpecError(f"the least coverage is a share between 0 and 1, not {shown(repr(least))}")
