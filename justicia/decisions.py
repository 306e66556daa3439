"""Audit a file of decisions in place of a model: the same tables of groups, sample measures, tests and requirements."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from justicia import tables
from justicia.cautions import warn_of_few, warn_of_many
from justicia.choices import check_numbers, check_rows
from justicia.collecting import Announcements
from justicia.decision_groups import DecisionGrouping, audit_groups
from justicia.decision_inputs import (
    check_columns,
    check_sources,
    drop_unknown,
    group_people,
    hidden_groups,
    read_outcomes,
    with_decision,
)
from justicia.errors import InputError
from justicia.few_people import warn_of_few_counted
from justicia.inputs import are_names, as_list, as_requirements, settle_table
from justicia.judging import RequirementAudit, exit_code_of
from justicia.ll144 import Layout, layout_groupings, layout_tables
from justicia.metrics import (
    Measure,
    Requirement,
    check_filters,
    matching,
    measure_name,
    parse_reference,
    reference_positions,
)
from justicia.progress import stage, told
from justicia.ranges import judge_with_ranges
from justicia.solvers import DELTA
from justicia.speaking import speaks_keywords
from justicia.streaming_decisions import condense_decisions
from justicia.tables.outcomes import possible_labels, read_truth
from justicia.tables.roles import Truth
from justicia.tables.weights import Weights, without_weightless
from justicia.words import counted

if TYPE_CHECKING:
    import os

    import pandas as pd

    from justicia.enclosure import Enclosure
    from justicia.watching import Progress

__all__ = ["DecisionsAudit", "audit_decisions"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, repr=False)
class DecisionsAudit:
    """The result of `audit_decisions`.

    Attributes
    ----------
    table : tables.Table
    column : str
        Of the decisions, or of the score.
    scored : bool
        Whether it is a score.
    truth : Truth or None
    favorable_text : str
    weights : Weights or None
    groupings : tuple of DecisionGrouping
        The first rule of decision in every grouping, the compound one first; then the next rule.
    requirements : tuple of RequirementAudit
    confidence : float
    missing : str
    min_group, suppress_below : int
        0 where they were not asked for.
    layout : Layout or None
    announcements, warnings : tuple of str
    command : tuple of str or None
        The command line, when there was one.
    """

    table: tables.Table
    column: str
    scored: bool
    truth: Truth | None
    favorable_text: str
    weights: Weights | None
    groupings: tuple[DecisionGrouping, ...]
    requirements: tuple[RequirementAudit, ...]
    confidence: float
    missing: str
    min_group: int
    suppress_below: int
    layout: Layout | None
    announcements: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None

    @property
    def by_group(self) -> pd.DataFrame:
        """The first grouping as a frame, one row a group, indexed by the sensitive columns."""
        return self.groupings[0].by_group

    def measure(self, name: str) -> Enclosure | None:
        """A measure of the rows of the first grouping, one of `justicia.metrics.MEASURES`; None when undefined."""
        held = self.groupings[0].measures.get(measure_name(name))
        return None if held is None else held.sample.value

    @property
    def most_favored(self) -> dict[str, str] | None:
        """The group of the first grouping with the highest selection rate; None where nobody is compared."""
        return self.groupings[0].most_favored

    @property
    def least_favored(self) -> dict[str, str] | None:
        """The group of the first grouping with the lowest selection rate; None where nobody is compared."""
        return self.groupings[0].least_favored

    def __repr__(self) -> str:
        first = self.groupings[0]
        held = ", ".join(f"{name} {self.measure(name)}" for name in first.measures)
        return f"<DecisionsAudit of {' x '.join(first.sensitive)}, {counted(len(first.groups), 'group')}: {held}>"

    @property
    def exit_code(self) -> int:
        """0 when every requirement is met, 1 when one is breached, 3 when one is undecided."""
        return exit_code_of(self.requirements)

    def to_dict(self) -> dict[str, Any]:
        """The audit as the JSON contract ``justicia.audit/1`` has it, null where it takes a model."""
        from justicia.report.decisions import decisions_to_dict

        return decisions_to_dict(self)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The audit as JSON text; when `path` is given, written there, whole or not at all, and not returned."""
        from justicia.writing import json_text, written

        return written(json_text(self.to_dict()), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The audit as one HTML file that needs nothing else; when `path` is given, written there and not returned."""
        from justicia.report.html import render_html
        from justicia.writing import written

        return written(render_html(self.to_dict()), path)

    def _repr_html_(self) -> str:
        from justicia.report.html import render_fragment

        return render_fragment(self.to_dict())

    def to_text(self, width: int = 100, *, all_groups: bool = False, all_measures: bool = False) -> str:
        """The audit as plain text tables, `width` characters wide.

        Long tables are shown in part unless `all_groups` is set; `all_measures` adds ratios of true positive rates and
        of precision.
        """
        from justicia.report.decisions import decisions_to_text

        return decisions_to_text(self, width, all_groups=all_groups, all_measures=all_measures)

    def to_junit(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The requirements as test cases in JUnit's XML; when `path` is given, written there and not returned."""
        from justicia.report.junit import junit_xml
        from justicia.writing import written

        return written(junit_xml(self.requirements, self.table.source, None), path)


@speaks_keywords
def audit_decisions(
    data: Any,
    *,
    decision: Any = None,
    score: str | None = None,
    threshold: Any = None,
    sensitive_features: Any = None,
    label: str | None = None,
    y: Any = None,
    favorable: Any = None,
    weight: str | None = None,
    weight_kind: str = "sampling",
    confidence: float = 0.95,
    require: str | Sequence[str] = (),
    reference: str | Mapping[str, Any] | None = None,
    tests: bool = False,
    layout: str | None = None,
    min_group: int = 0,
    suppress_below: int = 0,
    missing: str = "error",
    bins: Mapping[str, Sequence[Any]] | None = None,
    na: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str = "utf-8",
    command: Sequence[str] | None = None,
    progress: Progress | None = None,
    stream: bool | None = None,
) -> DecisionsAudit:
    """How often every group got the favorable outcome, by decisions that were made, and whether limits are met.

    Parameters
    ----------
    data : DataFrame, path, or name
        One row a person: a frame, a CSV or Parquet file, or a bundled data set.
    decision : str, or array of shape (n_rows,)
        Column of the decisions, or the decisions themselves.
    score : str, optional
        Column of a score, in place of decisions.
    threshold : number, text, or sequence of them, optional
        Of the score: 0.3 and ">=0.3" select whoever has at least 0.3, ">0.3" who has more, "<5" and "<=5" the others.
        Each has its own groups and measures, and a requirement is judged by all. Left out under the layout "ll144",
        people above the median are counted.
    sensitive_features : str, list of str, list of list of str, Series, DataFrame or array, optional
        A list of columns is one compound grouping, a list of lists several. Left out, the columns are found.
    label : str, optional
        Column of the true outcomes, for true and false positive rates and precision.
    y : array of shape (n_rows,), optional
        The true outcomes, when the table does not hold them.
    favorable : value or list of values, optional
        Favorable decisions, and favorable true outcomes where these are written in other words.
    weight : str, optional
        Column of row weights, at least 0; rows of weight 0 are left out.
    weight_kind : str
        "sampling": a row stands for that many people of the population. Rates and measures are weighted, and those of
        whole-number weights equal those of repeated rows; intervals and tests count people by Kish's effective sample
        size. "frequency": a row is that many equal rows, in all that is computed.
    confidence : float
        Of all intervals.
    require : str or sequence of str
        Requirements on the rows, such as "sample.disparate_impact>=0.8".
    reference : str or mapping of str to value, optional
        The group that the others are compared with, too: "race=White,sex=Male".
    tests : bool
        Test every group against the one with the highest rate; see `justicia.metrics.adverse_impact`.
    layout : str, optional
        "ll144": tables in the layout of New York City's Local Law 144; see `justicia.ll144`.
    min_group : int
        Groups with fewer rows are listed, and left out of extremes, measures and tests.
    suppress_below : int
        Numbers of groups with a count below this are not published, nor those that would give it away; see
        `justicia.publishing`. Suppressed groups are in no extreme, measure or test.
    missing : str
        What happens to people without a value in a sensitive column: "error", "group" (they are a group), "drop", or
        "bounds": measures are of the others, with the range over all groups that these people may be in.
    bins : mapping of str to sequence of float, optional
        Edges at which numeric sensitive columns are cut; a value on an edge belongs to the class below it.
    na, delimiter, encoding
        How a CSV file is read; see `justicia.tables.read_table`.
    command : sequence of str, optional
        The command line, to stand in the report.
    progress : callable, optional
        Called while a large file is read, with what is done so far, and how much of the way that is.
    stream : bool, optional
        Read a file in batches, and hold distinct people only. Left out, this is done with large files; answers are the
        same.

    Returns
    -------
    DecisionsAudit

    Raises
    ------
    InputError
        When something in the call or the input is wrong; the message says what to do.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"sex": ["f"] * 5 + ["m"] * 4, "hired": [1, 1, 1, 0, 0, 1, 1, 1, 0]})
    >>> audit = audit_decisions(people, decision="hired", require="sample.disparate_impact>=0.8")
    >>> audit.measure("disparate_impact"), audit.requirements[0].status
    (Enclosure(lo=Fraction(4, 5), hi=Fraction(4, 5)), 'met')
    """
    check_numbers(confidence, None, None, DELTA)
    check_rows(missing, layout, min_group, suppress_below, weighted=weight is not None)
    with Announcements() as said:
        requirements = as_requirements(require)
        check_sources(requirements)
        named_reference = parse_reference(reference)
        held = None
        if y is None and are_names(sensitive_features) and (decision is None or isinstance(decision, str)):
            held = condense_decisions(
                data, decision=decision, score=score, threshold=threshold,
                sensitive_features=sensitive_features, label=label, weight=weight, bins=bins or {},
                layout=layout, progress=progress, stream=stream, na=na, delimiter=delimiter, encoding=encoding,
            )  # fmt: skip
            data = data if held is None else held
        elif stream:
            raise InputError("a table is read in batches with columns that are named in it: leave stream out")
        table, groupings, label = settle_table(
            data, y, sensitive_features, label=label, na=na, delimiter=delimiter, encoding=encoding, strip=True
        )
        named = [name for names in groupings or () for name in names]
        tables.check_plain(
            table.people, [*named, decision if isinstance(decision, str) else None, score, label, weight]
        )
        table, decision = with_decision(table, decision, score)
        weights = None
        if weight is not None:
            table, weights = without_weightless(table, weight, weight_kind)
        found = tables.find_groupings(table, groupings) if layout is None else layout_groupings(table, groupings)
        check_columns(found, {"decision": decision, "score": score, "label": label, "weight": weight})
        edges = tables.check_bins(bins or {}, found)
        if missing == "drop":
            table, weights = drop_unknown(table, weights, found, suppress_below)
        told("rows", table=table.source, rows=table.n_read, used=table.n_rows, dropped=table.dropped)
        stage("measuring the decisions")
        rules, median_of = read_outcomes(table, decision, score, threshold, favorable, label, layout)
        truth = None
        if label is not None:
            words = [] if favorable is None else [str(word) for word in as_list(favorable) or []]
            several = [part.strip() for word in words for part in (word, *word.split(","))]
            truth = read_truth(table, label, [*rules[0].words, *several] or None)
        elif data is not held:
            possible_labels(table, found, {decision, score, weight}, rules[0])
        partial = [
            group_people(table, names, edges, missing if layout is None or missing != "error" else "bounds")
            for names in found
        ]
        warn_of_many([one.grouping for one in partial])
        reference_positions(named_reference, [(one.grouping.sensitive, one.grouping.groups) for one in partial])
        hidden = hidden_groups(partial, rules, truth, suppress_below, table.repeats)
        values = None if weights is None else weights.values
        audits = tuple(
            audit_groups(
                part, rule, truth, values, confidence,
                reference=named_reference, min_group=min_group, hidden=concealed, tests=tests,
                bounds=missing == "bounds", repeats=table.repeats,
            )
            for rule in rules
            for part, concealed in zip(partial, hidden, strict=True)
        )  # fmt: skip
        _warn(audits, min_group, suppress_below)
        if not suppress_below:
            warn_of_few_counted(audits)
        verdicts = _judged(requirements, audits)
        laid_out = None
        if layout is not None:
            scored = table.n_rows if median_of is not None else None
            laid_out = Layout(layout_tables(partial, rules, hidden, table.repeats), median_of, scored)

    return DecisionsAudit(
        table, rules[0].name, score is not None, truth, "; ".join(rule.rule for rule in rules), weights, audits,
        verdicts, confidence, missing, min_group, suppress_below, laid_out, said.announcements, said.warnings,
        None if command is None else tuple(command),
    )  # fmt: skip


def _judged(requirements: Sequence[Requirement], audits: Sequence[DecisionGrouping]) -> tuple[RequirementAudit, ...]:
    """Judge requirements; one on groups that are all left out or suppressed is undecided."""
    check_filters(requirements, [[group.group for group in audit.groups if group.n] for audit in audits])
    verdicts: list[RequirementAudit] = []
    for requirement in requirements:
        if any(matching(requirement.where, audit.group_names) for audit in audits):
            verdicts += judge_with_ranges([requirement], audits)
        else:
            held = requirement.judge(Measure(None, "no group that it is about enters a measure"))
            verdicts.append(RequirementAudit(requirement.text, held.status, held.reason))
    return tuple(verdicts)


def _warn(audits: Sequence[DecisionGrouping], min_group: int, suppress_below: int) -> None:
    """Say which groups are in no measure, and which have few people."""
    alone = {one.sensitive: one for one in audits}
    warn_of_few([(names, one.compared) for names, one in alone.items()], "rates of so few people are mostly chance")
    for audit in alone.values():
        names = " x ".join(audit.sensitive)
        few = [group for group in audit.left_out if group.note and group.n < min_group]
        if few and not suppress_below:
            logger.warning(
                "%s: %s of fewer than %d rows left out of extremes, measures and tests",
                *(names, counted(len(few), "group"), min_group),
            )
        if suppress_below and audit.left_out:
            logger.warning(
                "%s: the numbers of %s are suppressed, and enter no extreme, measure, test or requirement",
                *(names, counted(len(audit.left_out), "group")),
            )
        if audit.unknown and audit.missing is not None:
            logger.warning(
                "%s: the group of %s is not known; rates and measures are of the others, beside ranges over all groups "
                "that these may be in",
                *(names, counted(audit.unknown, "person", "people")),
            )
