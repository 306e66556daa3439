"""The road from a table and a model to an audit, readable top to bottom."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from justicia import encoders, models, solvers, tables
from justicia.audited import Audit
from justicia.bootstrap import check_replicates
from justicia.cautions import (
    announce_time,
    warn_of_fit,
    warn_of_many,
    warn_of_programs,
    warn_of_weakness,
    warn_of_width,
)
from justicia.choices import ROWS_MISSING_WAYS, check_choices, check_numbers, check_seed
from justicia.collecting import Announcements
from justicia.comparison import compare
from justicia.conditional import conditional_audit, settle_factors, strata_groupings
from justicia.cross_checking import cross_check as check_by_another_route
from justicia.errors import InputError
from justicia.few_people import warn_of_few_counted
from justicia.fitting import held_out_fit
from justicia.given import Given, encode_under, given_bins, given_groupings, label_of, settle_population
from justicia.inputs import (
    Asking,
    as_names,
    as_requirements,
    collapse_one_hot,
    columns_for_model,
    drop_missing,
    settle_inputs,
)
from justicia.metrics import check_filters, parse_reference, reference_positions
from justicia.progress import stage
from justicia.questions import Question
from justicia.ranges import judge_with_ranges
from justicia.remaining import as_mediators, check_mediators, remaining_rates
from justicia.roles import settle_roles
from justicia.rows import RowOptions, decided, layout_of, with_ranges
from justicia.shifting import check_shift, shift_rates
from justicia.speaking import offers_decisions, speaks_keywords
from justicia.uncertainty import uncertainty_of
from justicia.words import counted, listed

if TYPE_CHECKING:
    import os

    from justicia.population.networks import Network
    from justicia.population.stored import PopulationFile
    from justicia.watching import Progress

__all__ = ["Audit", "verify"]

logger = logging.getLogger(__name__)


@speaks_keywords
@offers_decisions
def verify(
    model: Any,
    data: Any,
    *,
    sensitive_features: Any = None,
    y: Any = None,
    label: str | None = None,
    favorable: Any = None,
    population: str | os.PathLike[str] | PopulationFile | Network = "auto",
    search: str = "enumerate",
    solver: str = "auto",
    solver_command: str | None = None,
    solver_pattern: str | None = None,
    solver_digits: int | None = None,
    cross_check: bool = False,
    time_limit: float | None = None,
    tolerance: float | None = None,
    delta: float = solvers.DELTA,
    confidence: float = 0.95,
    require: str | Sequence[str] = (),
    reference: str | Mapping[str, Any] | None = None,
    given: str | Sequence[str] | None = None,
    check_fit: bool = False,
    bounds: bool = False,
    bootstrap: int = 0,
    shift: float | None = None,
    mediators: str | Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    one_hot: Mapping[str, Sequence[str]] | bool | None = None,
    missing: str = "error",
    bins: Mapping[str, Sequence[Any]] | None = None,
    weight: str | None = None,
    weight_kind: str = "sampling",
    tests: bool = False,
    layout: str | None = None,
    min_group: int = 0,
    suppress_below: int = 0,
    na: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str = "utf-8",
    seed: int = 0,
    trust_model: bool = False,
    command: Sequence[str] | None = None,
    progress: Progress | None = None,
    stream: bool | None = None,
) -> Audit:
    """How often the model says yes to every group, which groups fare best and worst, and whether limits are met.

    Parameters
    ----------
    model : fitted classifier, path, or name
        A scikit-learn model, a file that holds one, or the name of a model to train on the table: "tree", "logistic",
        "forest", "boosting" or "cnf".
    data : DataFrame, path, or name
        One row a person: a frame, a CSV or Parquet file, or a bundled data set.
    sensitive_features : str, list of str, list of list of str, Series, DataFrame or array, optional
        A list of columns is one compound grouping, a list of lists several. Left out, the columns are found.
    y : array of shape (n_rows,), optional
        The true outcomes, when the table does not hold them.
    label : str, optional
        Column of the true outcomes.
    favorable : class or list of classes, optional
        What is good for the person. Left out, it is found.
    population : str, path, PopulationFile or Network
        "auto", "tree", "independent" or "empirical"; or a population file, whose groups and true outcome are the
        default then; or a Bayesian network over the columns, in BIF or JSON.
    search : str
        "enumerate": every group; "learn": the most and least favored, found by branch and bound.
    solver : str
        "auto", the name of an engine, or an outside solver: "abc", "sharpssat", "pyganak", "d4", or "external", which
        is `solver_command` or the first of them that is found.
    solver_command : str, optional
        A program that solves SDIMACS formulas, such as "mysolver {file}"; no shell reads it.
    solver_pattern : str, optional
        A regular expression for the line that it prints the value in, the value in parentheses. Without it the closing
        lines of reSSAT, erSSAT and SharpSSAT are looked for.
    solver_digits : int, optional
        Decimals of a probability that it reads, 6 unless told; 0: all of them.
    cross_check : bool
        Take a second route to every rate, and compare; see `justicia.cross_checking`.
    time_limit : float, optional
        Seconds for the engine; bounds reached so far are the answer then.
    tolerance : float
        Width of the bounds that an engine has to reach when it approaches the answer. Left out, it is the engine's
        own: 1e-4 for linear models, 2e-3 for tree ensembles.
    delta : float
        Probability that statistical intervals of an answer may miss, where a tree ensemble is too large to be bounded
        within the tolerance in time.
    confidence : float
        Of everything that is said about the sampling of the rows: their intervals, `bounds` and `bootstrap`.
    require : str or sequence of str
        Requirements such as "disparate_impact>=0.8"; see `justicia.metrics.requirements`.
    reference : str or mapping of str to value, optional
        The group that the others are compared with, too: "race=White,sex=Male".
    given : str or sequence of str, optional
        Columns of lawful factors, inside whose strata selection rates are compared; see `justicia.conditional`. A
        numeric one needs `bins`.
    check_fit : bool
        Compare the population's rates also with rows that were held out when it was fitted, in 5 folds. One that is
        given is compared with all rows as it is.
    bounds : bool
        Bound each rate of the people's projection on the structure by the rows; see `justicia.bounding`.
    bootstrap : int
        Number of times that people are drawn from the population and audited anew, for intervals of verified rates and
        measures; see `justicia.bootstrap`. It gets the time limit once more.
    shift : float in [0, 1], optional
        Verified rates and measures are ranges over all populations whose tables are within this total variation
        distance of the population's, row by row; see `justicia.shifting`.
    mediators : str or sequence of str, optional
        Columns by way of which groups may differ: rates and measures are also verified with these drawn as in the most
        favored group, in `GroupingAudit.remaining`; see `justicia.remaining`.
    features : sequence of str, optional
        The columns that a model fitted without column names takes, in its order.
    one_hot : mapping of str to sequence of str, or False, optional
        Columns that were one-hot encoded, by the name of their feature. Others are found; False: there are none.
    missing : str
        What happens to people without a value in a sensitive column: "error", "group" (they are a group), "drop", or
        "bounds": they are dropped, and the rows' rates and ratios have ranges over all groups that they may be in.
    bins : mapping of str to sequence of float, optional
        Edges at which numeric sensitive columns are cut; a value on an edge belongs to the class below it.
    weight : str, optional
        Column of row weights, at least 0, which the model is not trained on: in the population's counts, and in every
        rate and measure of the rows. Rows of weight 0 are left out.
    weight_kind : str
        "sampling": a row stands for that many people; intervals and tests count by Kish's effective sample size.
        Whole-number weights count in the population as that many rows, others are scaled to a mean of 1. "frequency": a
        row is that many equal rows, in all that is computed.
    tests : bool
        Test every group of the rows against the one with the highest rate; see `justicia.metrics.adverse_impact`.
    layout : str, optional
        "ll144": the rows in the layout of New York City's Local Law 144; see `justicia.ll144`.
    min_group : int
        Groups with fewer rows are listed, and left out of extremes, measures and tests.
    suppress_below : int
        Not for models: verified rates follow from the counts that would be suppressed. See `audit_decisions`.
    na, delimiter, encoding
        How a CSV file is read; see `justicia.tables.read_table`.
    seed : int
        For a model trained on the spot, what `check_fit` holds out, and whom the bootstrap draws.
    trust_model : bool
        Load whatever a model file holds.
    command : sequence of str, optional
        The command line, to stand in the report.
    progress : callable, optional
        Called a few times a second while bounds are narrowed, with what is known so far, and how much of the way is
        done.
    stream : bool, optional
        Read a file in batches, and hold distinct people only. Left out, this is done with large files; answers are the
        same.

    Returns
    -------
    Audit

    Raises
    ------
    InputError
        When something in the call or the input is wrong; the message says what to do.
    EncodingMismatchError
        When the encoded model differs from its own `predict`.

    Examples
    --------
    >>> import justicia
    >>> audit = justicia.verify("tree", "ricci")
    >>> audit.most_favored, audit.least_favored
    ({'race': 'White'}, {'race': 'Hispanic'})
    """
    check_numbers(confidence, time_limit, tolerance, delta)
    check_seed(seed)
    replicates = check_replicates(bootstrap, confidence)
    check_choices(search, missing, ROWS_MISSING_WAYS)
    radius = check_shift(shift, search, bounds=bounds, bootstrap=replicates)
    rows = RowOptions(weight, weight_kind, tests, layout, min_group, missing)
    rows.check(
        search,
        suppress_below,
        mediators,
        {"given": given, "check_fit": check_fit, "bounds": bounds, "bootstrap": bootstrap},
    )

    with Announcements() as said:
        requirements = as_requirements(require)
        between = as_mediators(mediators, requirements, radius)
        named_reference, factors = parse_reference(reference), tuple(as_names(given) or ())
        of_rows = "bounds" if bounds else "bootstrap" if replicates else None
        structure, file = settle_population(population, of_rows)
        if bounds and structure in ("auto", "empirical"):
            logger.info(
                "bounds by the rows are for --population tree and independent: under the %s population there are none, "
                "and the intervals of the rows say what chance leaves open",
                structure,
            )
        if factors and file is not None:
            raise InputError("given needs a population of every stratum, and a file has none: leave --population out")
        inputs = settle_inputs(
            model, data, y, sensitive_features,
            label=label, na=na, delimiter=delimiter, encoding=encoding, seed=seed, trust=trust_model,
            progress=progress, weight=weight, weight_kind=weight_kind, stream=stream,
            asked=Asking(favorable, features, one_hot, bins, factors, tuple(between), rows.drops, file, structure),
        )  # fmt: skip
        fitted = models.unwrap(inputs.file.predictor)
        columns = inputs.columns or columns_for_model(fitted, inputs.table, as_names(features), inputs.label, weight)
        seen = collapse_one_hot(fitted, inputs.table, columns, one_hot, inputs.label)
        named = inputs.groupings
        if file is not None:
            file, named = given_groupings(file, named, seen.table)
        found = tables.find_groupings(seen.table, named)
        factors = settle_factors(factors, found, list(seen.table.people.columns))
        used = [name for names in (*found, factors, columns, between) for name in names]
        outcomes = [one.label for one in (seen.table.description,) if one is not None]
        outcomes += [file.label.column] if file is not None and file.label is not None else []
        tables.check_plain(seen.table.people, [*used, inputs.label, *outcomes])
        cut = [*found, factors] if factors else found
        edges = tables.check_bins(given_bins(file, bins, found) if file is not None else bins or {}, cut)
        everyone, kept = seen, None
        if rows.drops:
            seen, kept = drop_missing(seen, cut)
        table, frame = seen.table, seen.frame
        outcome = inputs.label if inputs.label is not None or file is None else label_of(file, table)
        fitted, roles = settle_roles(seen, found, columns, outcome, favorable)

        stage("encoding the model, and comparing it with its own predict")
        frame, decision, domain = encode_under(file, fitted, frame, roles.favorable)
        engine = solvers.pick(solver, decision, solver_command, solver_pattern, solver_digits)
        points = domain.points(frame, table.repeats)
        check = encoders.check_encoding(
            fitted, decision, domain, frame, points, roles.favorable, table.repeats, table.n_checked
        )
        unseen = domain.unseen(frame, points, table.repeats)
        added = encoders.contributions(decision, domain, points)
        _announce_features(domain.names, table, unseen)

        tolerance = engine.tolerance if tolerance is None else tolerance
        weights = inputs.weights if kept is None or inputs.weights is None else inputs.weights.of_rows(kept)
        groups = [
            tables.group_rows(table.people, names, bins=edges, missing=missing, repeats=table.repeats)
            for names in roles.groupings
        ]
        warn_of_many(groups)
        strata_of = strata_groupings(table.people, roles.groupings, factors, edges, missing, table.repeats)
        stored = None
        if file is not None:
            named_label = inputs.label is not None
            if check_fit:
                logger.info("the population is given, so nothing is held out: all rows are compared with it as it is")
            stored, roles = Given.settle(
                file, decision, domain, frame, roles, seen.expansion,
                asked=named_label, people=table.people, groups=groups, search=search, time_limit=time_limit,
            )  # fmt: skip
            stored.check_solver(solver)
            file = stored.file
            groups = [one.beside(file.grouping(one.sensitive).everybody.groups) for one in groups]
        if between:
            check_mediators(between, file, domain, table, roles, seen.one_hot)
        references = reference_positions(named_reference, [(one.sensitive, one.groups) for one in groups])
        check_filters(requirements, [list(map(one.named, one.groups)) for one in (*groups, *strata_of.values())])
        question = Question(
            decision, domain, points, frame, [*groups, *strata_of.values()], roles.strata,
            structure, engine, solvers.Effort(search, time_limit, tolerance, delta),
            () if radius or between or min_group else requirements, progress,
            seen.one_hot, seen.expansion, stored, frozenset(edges),
            table.repeats if weights is None or weights.values is None else weights.of_population, table.repeats,
            table.sampled, table.paired,
        )  # fmt: skip
        parts = len(roles.strata) + 1
        further = bool(factors) + bool(between) * parts + bool(replicates) + (5 if check_fit and file is None else 0)
        announce_time(time_limit, len(groups), (2 if radius else 1) * parts + further)
        groupings, first = [], None
        for grouping, position in zip(groups, references, strict=True):
            asked = question.ask(grouping)
            first = asked.looked_at if first is None else first
            strata = {kind: question.ask_stratum(grouping, kind) for kind in roles.strata}
            held_out = None
            if check_fit and file is None:
                stage("comparing with rows held out")
                held_out = held_out_fit(question, grouping, check.selected, confidence, seed, min_group=min_group)
            answers = {"selection_rate": asked} | {kind: held.asked for kind, held in strata.items() if held.asked}
            uncertainty = uncertainty_of(
                question, grouping, answers, check.selected, confidence,
                bounds=bounds, replicates=replicates, seed=seed, min_group=min_group,
            )  # fmt: skip
            checked = None
            if cross_check:
                checked = check_by_another_route(
                    question, grouping, answers, lambda people: encoders.predictions(fitted, people, roles.favorable),
                    check.selected, seed,
                )  # fmt: skip
            if radius:
                stage("finding ranges over shifts")
            shifts = {
                kind: shift_rates(held, radius, len(grouping.groups), time_limit)
                for kind, held in answers.items()
                if radius
            }
            remaining = remaining_rates(question, grouping, answers, between) if between else None
            compared = compare(
                grouping, asked.people, asked.solution, check.selected, strata, confidence, held_out, uncertainty,
                shifts, position,
                conditional_audit(
                    question, grouping, strata_of, check.selected, confidence, position, radius, min_group
                ),
                None if weights is None else weights.values, min_group, tests, remaining,
            )  # fmt: skip
            groupings.append(replace(compared, cross_check=checked))
        warn_of_weakness(
            groupings, roles, check, asked=inputs.label is not None, repeats=table.repeats, min_group=min_group
        )
        warn_of_few_counted(groupings)
        warn_of_programs(groupings)
        warn_of_width(groupings, tolerance, time_limit, interruption=question.effort.interruption)
        warn_of_fit(groupings, given=file is not None)
        laid_out = None
        if missing == "bounds" or layout is not None:
            rule = decided(everyone, fitted, roles.favorable, roles.favorable_text)
            if missing == "bounds":
                groupings = [with_ranges(one, everyone.table, rule, edges, min_group) for one in groupings]
            if layout is not None:
                laid_out = layout_of(everyone.table, named, rule, edges)
        verdicts = judge_with_ranges(requirements, groupings)

    return Audit(
        inputs.file, fitted, table, roles, domain.names, unseen, decision, added, check, tuple(groupings), verdicts,
        search, tolerance, confidence, said.announcements, said.warnings, None if command is None else tuple(command),
        file, edges, tuple(seen.one_hot), first, tuple(columns), domain, getattr(engine, "unanswered", 0),
        missing, weights, min_group, laid_out,
    )  # fmt: skip


def _announce_features(names: tuple[str, ...], table: tables.Table, unseen: dict[str, dict[str, int]]) -> None:
    described = table.description.not_features if table.description is not None else {}
    for name in names:
        if name in described:
            logger.info("column %s (%s) is a feature of this model, so it stays one", name, described[name])
    for name, values in unseen.items():
        shown = listed((f"{value} ({n:,})" for value, n in values.items()), 5)
        logger.warning(
            "column %s holds %s that the model was not fitted on, in %s: %s",
            *(name, counted(len(values), "value"), counted(sum(values.values()), "row"), shown),
        )
    if not names:
        logger.warning("the model depends on no column: everybody gets the same outcome")
