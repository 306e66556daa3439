"""The model as its reader sees it: the score of a linear or additive one, the clauses of a rule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from justicia.encoders.clauses import Clauses
from justicia.encoders.linear_threshold import LinearThreshold
from justicia.encoders.rule_words import rule_over
from justicia.learners.rules import CNF, Rule
from justicia.words import shown

if TYPE_CHECKING:
    from justicia.audited import Audit
    from justicia.models.rule_text import RuleSource

__all__ = ["favorable_of", "rule_lines", "rule_text", "score_table", "stated_rule"]

MOST_FEATURES = 20
_LONGEST = 32


def rule_text(decision: LinearThreshold) -> str:
    """The decision rule in words."""
    if decision.threshold == float.fromhex("-0x0.0000000000001p-1022"):
        comparison = "at least 0" if decision.accepts_above else "below 0"
    else:
        comparison = f"{'above' if decision.accepts_above else 'not above'} {decision.threshold:.6g}"
    return f"favorable when the score is {comparison}; score = {decision.base:.6g} + what each feature adds"


def stated_rule(audit: Audit) -> RuleSource | None:
    """The rule that the model is, with its classes as text; None for other models."""
    from justicia.models.rule_files import rule_source

    estimator = audit.fitted.estimator
    if not isinstance(getattr(estimator, "rule_", None), Rule):
        return None
    source = rule_source(estimator)
    held = tuple(estimator.column_names_)
    steps = [step for step in audit.fitted.steps if type(step).__name__ != "OneHotExpansion"]
    if steps and audit.domain is not None and isinstance(audit.decision, Clauses):
        # What the steps before the rule give has no names that a reader knows.
        said = rule_over(audit.decision, audit.domain, source.rule.form)
        return source if said is None else replace(source, rule=said)
    if steps or len(audit.columns) != len(held):
        return source
    # Fitted without names: the table has some.
    return replace(source, rule=source.rule.renamed(dict(zip(held, audit.columns, strict=True))))


def rule_lines(audit: Audit, source: RuleSource) -> list[str]:
    """The rule in words: what it gives, then one clause or term a line, all digits kept."""
    rule, (holds, fails) = source.rule, favorable_of(audit)
    if source.holds is None or holds == fails:
        return [f"everybody gets {'a' if holds else 'no'} favorable outcome"]
    if not rule.parts:
        always = rule.form == CNF
        return [f"{source.holds if always else source.fails} for everybody"]
    how = "all of these hold" if rule.form == CNF else "one of these holds"
    kind = "favorable" if holds else "unfavorable"
    return [f"{kind} ({shown(source.holds)}) when {how}, otherwise {shown(source.fails or '')}:", *rule.lines()]


def favorable_of(audit: Audit) -> tuple[bool, bool]:
    """Whether the outcome is favorable where the model's rule holds, and where it does not."""
    from justicia.encoders.rules import outcome

    return outcome(audit.fitted, audit.roles.favorable)


def score_table(audit: Audit, *, every: bool) -> Table | None:
    """Features by the range of what they add, widest first; None for other models, and when nothing is added.

    Parameters
    ----------
    audit : Audit
    every : bool
        Show every feature, however many there are.
    """
    if not isinstance(audit.decision, LinearThreshold) or not audit.contributions:
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("feature", no_wrap=True)
    for heading in ("adds least", "most"):
        table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("at", style="dim", no_wrap=True)
    held = audit.contributions
    few = held if every or len(held) <= MOST_FEATURES else held[:MOST_FEATURES]
    for one in few:
        cells = (one.feature, f"{one.lo:+.4g}", one.lo_at, f"{one.hi:+.4g}", one.hi_at)
        table.add_row(*(Text(shown(cell, _LONGEST)) for cell in cells))
    if len(few) < len(held):
        table.add_row(Text(f"… {len(held) - len(few):,} more, each in a narrower range", style="dim"))
    return table
