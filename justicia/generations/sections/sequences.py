"""Sequences: whether every value turns up in every so many generations in a row, and where it stays away longest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from justicia.errors import SpecError
from justicia.generations.asking import evidence_over
from justicia.generations.gaps import widest_gaps, widest_stretch
from justicia.generations.labels import Labels, product
from justicia.generations.requiring import Measured, Quantity
from justicia.generations.results import VERDICTS, together
from justicia.generations.sections import Json, Lack, Material, Section, formulas_of
from justicia.generations.sequences import judge_runs
from justicia.generations.table import prepare
from justicia.report.document import Cell, Details, Formula, Heading, Paragraph, Table, of_verdict
from justicia.report.generations_json import evidence_result, run_result
from justicia.report.strips import strip_figure
from justicia.words import counted, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from justicia.generations.results import Question, RunResult
    from justicia.report.document import Block

__all__ = ["SECTION"]

_MOST_RUNS = 500
_MOST_STRIPS = 12
_LONGEST_STRIP = 2000
_WORST_FIRST = {"fails": 0, "undecided": 1, "too short": 2, "holds": 3}
_YES = frozenset({"1", "true", "yes", "y", "enforced"})

_CAPTION = (
    "Difference: the share of the most frequent value less that of the least frequent; allowed: what it cannot exceed "
    "in as many generations under the bound."
)

MEASURES = (
    Measured(
        "least_beta",
        "the least B such that every B generations in a row have every value",
        "largest over the values of max(p₁, pⱼ₊₁ − pⱼ, n + 1 − pᵣ), for a value at the positions p₁ < … < pᵣ of n",
        ("attribute", "run"),
    ),
    Measured(
        "frequency_difference",
        "share of the most frequent value less that of the least frequent",
        "(largest count − smallest count) ÷ n",
        ("attribute", "run"),
    ),
    Measured(
        "values_seen",
        "share of the declared values that occur",
        "values with an occurrence ÷ declared values",
        ("attribute", "run"),
    ),
)


def _lacks(material: Material) -> Lack | None:
    if material.generations.labels:
        spec = material.spec
        asked = any(one.beta is not None for one in spec.attributes.values()) or "together" in material.settings
        if asked or spec.step is not None or spec.run is not None:
            return None
        return Lack(
            "nothing says that the rows are in the order in which they were generated",
            "a column step or run, or a beta under an attribute in the spec",
        )
    return Lack(
        "no attribute has a declared domain", "a column of labels, with its values under attributes in the spec"
    )


def _questions(material: Material) -> list[tuple[tuple[str, ...], int | None]]:
    spec = material.spec
    asked: list[tuple[tuple[str, ...], int | None]] = [((name,), one.beta) for name, one in spec.attributes.items()]
    for names in _together(material.settings.get("together", ())):
        for name in names:
            spec.named(name)
        if len(set(names)) < max(2, len(names)):
            raise SpecError(f"settings: sequences: together is a list of lists of attributes, not {shown(names)}")
        asked.append((names, None))
    return asked


def _together(said: Any) -> list[tuple[str, ...]]:
    if isinstance(said, (str, bytes, Mapping)) or not hasattr(said, "__iter__"):
        raise SpecError("settings: sequences: together is a list of lists of attributes, as in [[gender, age]]")
    return [
        tuple(part.strip() for part in one.split(",")) if isinstance(one, str) else tuple(map(str, one)) for one in said
    ]


def _compute(material: Material) -> tuple[Json, list[Quantity]]:
    generations = material.generations
    asked = _questions(material)
    judged = [judge_runs(generations, names, beta) for names, beta in asked]
    evidence = []
    if material.spec.neutral:
        spec = material.spec
        tagged = prepare(generations.source, spec.changed(where={**spec.where, **spec.neutral}), generations.labels)
        for names, beta in asked:
            evidence.append(evidence_result(evidence_over(tagged, names, judge_runs(tagged, names, beta))))
    quantities = [quantity for question in judged for quantity in _quantities(question, generations.labels)]
    held = {"questions": [_question(material, question) for question in judged], "evidence": evidence}
    return held, quantities


def _quantities(question: Question, labels: Mapping[str, Labels]) -> Iterable[Quantity]:
    held = product([labels[name] for name in question.attribute])
    values = len(held.values)
    for one in question:
        where = {"attribute": ",".join(one.attribute)} | ({} if one.run is None else {"run": one.run})
        lo, hi = one.interval
        yield Quantity("least_beta", where, lo, hi, below=one.n)
        seen = values - len(one.missing)
        # An unknown label adds one value at most, where a generation shows one.
        most = min(values, seen + one.unknown * (1 if held.single else values))
        yield Quantity("values_seen", where, Fraction(seen, values), Fraction(most, values))
        if one.frequency is not None:
            yield Quantity("frequency_difference", where, one.frequency.lo, one.frequency.hi)


def _question(material: Material, question: Question) -> Json:
    generations = material.generations
    labels = product([generations.labels[name] for name in question.attribute])
    order = np.argsort([_WORST_FIRST[VERDICTS[code]] for code in question.verdicts.tolist()], kind="stable")
    kept = np.sort(order[:_MOST_RUNS]).tolist()
    results = {place: question.result(place) for place in kept}
    runs = []
    for place, result in results.items():
        part = labels.part(slice(int(generations.starts[place]), int(generations.starts[place + 1])))
        runs.append({**run_result(result), "values": _values(part)})
    drawn = sorted(kept, key=lambda place: (_WORST_FIRST[results[place].verdict], -_reach(results[place]), place))
    return {
        "attribute": list(question.attribute),
        "domain": list(labels.values),
        "beta": question.beta,
        "verdict": together([name for name, count in question.counts.items() if count]),
        "verdicts": question.counts,
        "runs": runs,
        "runs_left_out": len(question) - len(kept),
        "strips": [_strip(material, labels, place, results[place]) for place in drawn[:_MOST_STRIPS]],
    }


def _reach(result: RunResult) -> int:
    hi = result.interval[1]
    return result.n + 1 if hi is None else hi


def _values(labels: Labels) -> list[Json]:
    """Counts and widest gaps of every value of one run."""
    gaps = widest_gaps(labels, np.array([0, len(labels)]))
    found = []
    for place, value in enumerate(labels.values):
        stretch = widest_stretch(labels, 0, len(labels), place)
        found.append(
            {
                "value": value,
                "count": int(gaps.counts[0, place]),
                "possible": int(gaps.possible[0, place]),
                "gap": {"lo": int(gaps.lo[0, place]), "hi": int(gaps.hi[0, place])},
                "after": stretch.after,
                "before": stretch.before,
            }
        )
    return found


def _strip(material: Material, labels: Labels, place: int, result: RunResult) -> Json:
    """The labels of a run as they are drawn; of a long run, those around its widest gap."""
    generations = material.generations
    start, end = int(generations.starts[place]), int(generations.starts[place + 1])
    first = 0
    if end - start > _LONGEST_STRIP and result.witness is not None:
        middle = ((result.witness.after or 0) + (result.witness.before or end - start)) // 2
        first = min(max(0, middle - _LONGEST_STRIP // 2), end - start - _LONGEST_STRIP)
    part = labels.part(slice(start + first, min(end, start + first + _LONGEST_STRIP)))
    uncertain = part.uncertain
    kinds: list[Any] = []
    for kind in range(len(part.shows)):
        values: list[str | None] = [labels.values[value] for value in np.flatnonzero(part.shows[kind])]
        values += [None] if uncertain[kind] else []
        kinds.append(values[0] if len(values) == 1 else values)
    enforced = []
    if "enforced" in material.roles:
        said = material.column("enforced").iloc[start + first : start + first + len(part)]
        enforced = [position + first + 1 for position, one in enumerate(said) if _is_yes(one)]
    return {
        "run": result.run,
        "n": end - start,
        "first": first + 1,
        "labels": [kinds[code] for code in part.codes.tolist()],
        "enforced": enforced,
        "steps": [generations.step(start + first), generations.step(start + first + len(part) - 1)],
    }


def _is_yes(value: Any) -> bool:
    """Whether a cell of the column of enforced generations says so."""
    text = str(value).strip().lower()
    return text in _YES or text == "1.0"


def _says(held: Json) -> list[str]:
    parts = []
    for question in held["questions"]:
        name = shown(" × ".join(question["attribute"]), 80)
        counts, beta = question["verdicts"], question["beta"]
        total = sum(counts.values())
        what = "every value occurs" if beta is None else f"every {beta} generations in a row have every value"
        if counts["holds"] == total:
            where = "" if total == 1 else f"in all {total} runs "
            parts.append(f"{name}: {where}{what}.")
            continue
        worst = _worst(question)
        gap = f": {worst['witness']['text']}" if worst["witness"] else ""
        run = "" if worst["run"] is None else f" (run {shown(worst['run'])})"
        open_ = counts["too short"] + counts["undecided"]
        split = f"{counts['holds']} of {counted(total, 'run')}"
        rest = f", {counts['fails']} {'fails' if counts['fails'] == 1 else 'fail'}" if counts["fails"] else ""
        rest += f", {open_} cannot be decided" if open_ else ""
        parts.append(f"{name}: {what} in {split}{rest}{gap}{run}.")
    return parts


def _worst(question: Json) -> Json:
    def key(one: Json) -> tuple[int, float]:
        hi = one["interval"]["hi"]
        return _WORST_FIRST[one["verdict"]], -(one["n"] + 1 if hi is None else hi)

    return min(question["runs"], key=key)


def _blocks(held: Json) -> Sequence[Block]:
    blocks: list[Block] = []
    for question in held["questions"]:
        blocks += _question_blocks(question)
    for one in held["evidence"]:
        blocks.append(
            Paragraph(f"Prompts tagged {one['tag']}, {shown(' × '.join(one['attribute']))}: {one['statement']}.")
        )
    formulas = formulas_of(MEASURES)
    formulas += [
        Formula(
            "bound in n generations",
            "what the largest frequency less the smallest cannot exceed when the bound B holds for N values",
            "1 − N⌊n/B⌋/n; in the limit 1 − N/B",
        ),
        Formula(
            "interval",
            "an unknown label may show any value: the upper end takes it for none, the lower end, value by value, for "
            "that value",
        ),
    ]
    blocks.append(Details("How these are computed", tuple(formulas)))
    return blocks


def _asked(question: Json) -> str:
    beta = question["beta"]
    return "every value occurs" if beta is None else f"every value in every {beta} generations in a row"


def _question_blocks(question: Json) -> list[Block]:
    name = shown(" × ".join(question["attribute"]), 80)
    blocks: list[Block] = [Heading(f"{name}: {_asked(question)}")]
    rows = [_run_row(one) for one in question["runs"]]
    rest = question["runs_left_out"]
    blocks.append(
        Table(
            f"Runs of {name}",
            (
                "run",
                "generations",
                "unknown",
                "least beta",
                "verdict",
                "widest gap",
                "difference",
                "allowed",
            ),
            tuple(rows),
            _CAPTION + (f" {counted(rest, 'other run')} of no worse verdict left out." if rest else ""),
            short=True,
        )
    )
    drawn = [strip_figure(question, strip, name) for strip in question["strips"]]
    if drawn:
        blocks.append(drawn[0])
    if drawn[1:]:
        blocks.append(Details(f"The other runs drawn ({len(drawn) - 1})", tuple(drawn[1:])))
    blocks.append(_value_table(question, name))
    return blocks


def _run_row(one: Json) -> tuple[str | Cell, ...]:
    lo, hi = one["interval"]["lo"], one["interval"]["hi"]
    beta = str(lo) if lo == hi else f"{lo} or more" if hi is None else f"{lo} to {hi}"
    frequency = one["frequency"]
    differ = bound = "–"
    if frequency is not None:
        low, high = frequency["difference"]["lo"], frequency["difference"]["hi"]
        differ = f"{low:.3f}" if low == high else f"{low:.3f} to {high:.3f}"
        if frequency["finite_bound"] is not None:
            bound = f"{frequency['finite_bound']:.3f}"
    gap = "–" if one["witness"] is None else one["witness"]["text"]
    run = "the table" if one["run"] is None else shown(one["run"])
    return run, f"{one['n']:,}", f"{one['unknown']:,}", beta, of_verdict(one["verdict"]), Cell(gap), differ, bound


def _gap(lo: int, hi: int, count: int) -> str:
    """A widest gap; of a value without a certain occurrence, what follows can only make it wider."""
    return f"{lo:,} or more" if not count else f"{hi:,}" if lo == hi else f"{lo:,} to {hi:,}"


def _value_table(question: Json, name: str) -> Block:
    rows = []
    for one in question["runs"]:
        run = "the table" if one["run"] is None else shown(one["run"])
        for value in one["values"]:
            count, possible = value["count"], value["possible"]
            lo, hi = value["gap"]["lo"], value["gap"]["hi"]
            where = f"{value['after'] or 'start'} → {value['before'] or 'end'}"
            rows.append(
                (
                    run,
                    shown(value["value"]),
                    f"{count:,}" if count == possible else f"{count:,} to {possible:,}",
                    f"{count / one['n']:.3f}",
                    _gap(lo, hi, count),
                    where,
                )
            )
    table = Table(
        f"Values of {name}, run by run",
        ("run", "value", "generations", "share", "widest gap", "between positions"),
        tuple(rows),
        "The least beta of a run is the largest of its widest gaps; positions count from 1.",
        left=2,
    )
    return Details(f"Counts and gaps of {name}, value by value", (table,))


SECTION = Section(
    name="sequences",
    title="Sequences",
    about="Does every value turn up again and again, or does it stay away for long?",
    measures=MEASURES,
    settings=("together",),
    roles=(),
    lacks=_lacks,
    compute=_compute,
    says=_says,
    blocks=_blocks,
)
