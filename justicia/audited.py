"""The result of an audit: what was asked, what was found, and its forms as text, JSON, HTML, frame and picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from justicia import encoders, models, tables
from justicia.comparison import GroupingAudit
from justicia.enclosure import Enclosure
from justicia.errors import InputError
from justicia.judging import RequirementAudit, exit_code_of
from justicia.metrics import REMAINING, measure, measure_name
from justicia.words import counted

if TYPE_CHECKING:
    import os

    import pandas as pd
    from matplotlib.axes import Axes

    from justicia.given import Seen
    from justicia.ll144 import Layout
    from justicia.population import Population
    from justicia.population.domain import Domain
    from justicia.population.stored import PopulationFile
    from justicia.tables.one_hot import OneHot
    from justicia.tables.weights import Weights

__all__ = ["Audit"]


@dataclass(frozen=True, repr=False)
class Audit:
    """The result of `verify`.

    Attributes
    ----------
    model : models.ModelFile
    fitted : models.FittedModel
    table : tables.Table
    roles : tables.Roles
    features : tuple of str
        Source columns that the model depends on.
    unseen : dict of str to dict of str to int
        Values that the model was not fitted on, with their rows.
    decision : encoders.Decision
        The encoded model.
    contributions : tuple of encoders.Contribution
        What each feature adds to the score of a linear or additive model; empty for others.
    self_check : encoders.SelfCheck
    groupings : tuple of GroupingAudit
        One a grouping, the compound one first.
    requirements : tuple of RequirementAudit
    search : str
    tolerance : float
    confidence : float
    announcements, warnings : tuple of str
    command : tuple of str or None
        The command line, when there was one.
    given_population : PopulationFile or None
        Where the populations come from; None when they were fitted on the rows.
    bins : dict of str to list of float
        Edges at which numeric sensitive columns were cut.
    one_hot : tuple of tables.OneHot
        Features that are several columns of the table.
    seen : Seen or None
        What an engine was asked about the selection rates of the first grouping.
    columns : tuple of str
        Columns that the model takes, in its order.
    domain : Domain or None
        The features that the decision is over, cut into cells.
    unanswered : int
        Questions that an outside solver gave no answer to.
    missing : str
        What happened to people without a value in a sensitive column.
    weights : Weights or None
        Of the rows.
    min_group : int
        0 where it was not asked for.
    layout : Layout or None
    """

    model: models.ModelFile
    fitted: models.FittedModel
    table: tables.Table
    roles: tables.Roles
    features: tuple[str, ...]
    unseen: dict[str, dict[str, int]]
    decision: encoders.Decision
    contributions: tuple[encoders.Contribution, ...]
    self_check: encoders.SelfCheck
    groupings: tuple[GroupingAudit, ...]
    requirements: tuple[RequirementAudit, ...]
    search: str
    tolerance: float
    confidence: float
    announcements: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    command: tuple[str, ...] | None = field(default=None)
    given_population: PopulationFile | None = None
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    one_hot: tuple[OneHot, ...] = ()
    seen: Seen | None = None
    columns: tuple[str, ...] = ()
    domain: Domain | None = None
    unanswered: int = 0
    missing: str = "error"
    weights: Weights | None = None
    min_group: int = 0
    layout: Layout | None = None

    @property
    def by_group(self) -> pd.DataFrame:
        """The first grouping as a frame, one row a group, indexed by the sensitive columns."""
        return self.groupings[0].by_group

    @property
    def population(self) -> Population:
        """The population of the first grouping."""
        return self.groupings[0].population

    def population_file(self) -> PopulationFile:
        """The populations that the rates were found under, to be written with its `to_json`.

        Raises
        ------
        InputError
            When they hold rows of people, and these have weights that are no whole numbers.
        """
        from justicia.population_files import population_of_audit

        if self.table.by_decision and self.given_population is None:
            raise InputError(
                f"people of {self.table.source or 'the table'} were counted by decision, which is no population of "
                "other models: pass --population tree or independent"
            )
        if self.weights is not None:
            self.weights.check_whole(self.population.structure)
        return population_of_audit(self)

    def measure(self, name: str, comparison: str = "between_groups") -> Enclosure | None:
        """A verified measure of the first grouping; None when undefined.

        Parameters
        ----------
        name : str
            One of `justicia.metrics.MEASURES`; with ``"remaining_"`` before it, what remains of it with the mediators
            of the most favored group.
        comparison : str
            What the groups are compared with, one of `justicia.metrics.COMPARISONS`.
        """
        plain = name.strip().lower().replace("-", "_")
        if plain.startswith(REMAINING):
            remaining = self.groupings[0].remaining
            found = None if remaining is None else remaining.measures.get(measure_name(plain.removeprefix(REMAINING)))
            return None if found is None else found.value
        name, rates = measure_name(name), self.groupings[0].evidence.verified
        return (
            None if name not in self.groupings[0].measures or rates is None else measure(name, rates, comparison).value
        )

    @property
    def disparate_impact(self) -> Enclosure | None:
        """Smallest over largest verified selection rate of the first grouping; None when undefined."""
        return self.measure("disparate_impact")

    @property
    def statistical_parity_difference(self) -> Enclosure | None:
        """Largest minus smallest verified selection rate of the first grouping; None when undefined."""
        return self.measure("statistical_parity_difference")

    @property
    def demographic_parity_ratio(self) -> Enclosure | None:
        """Fairlearn's name of `disparate_impact`."""
        return self.disparate_impact

    @property
    def demographic_parity_difference(self) -> Enclosure | None:
        """Fairlearn's name of `statistical_parity_difference`."""
        return self.statistical_parity_difference

    @property
    def equal_opportunity_difference(self) -> Enclosure | None:
        """Largest minus smallest verified true positive rate of the first grouping; None when undefined."""
        return self.measure("equal_opportunity_difference")

    @property
    def equalized_odds_difference(self) -> Enclosure | None:
        """The larger range of true and of false positive rates of the first grouping; None when undefined."""
        return self.measure("equalized_odds_difference")

    @property
    def equalized_odds_ratio(self) -> Enclosure | None:
        """The smaller ratio of true and of false positive rates of the first grouping; None when undefined."""
        return self.measure("equalized_odds_ratio")

    @property
    def average_odds_difference(self) -> Enclosure | None:
        """Mean range of true and of false positive rates of the first grouping; None when undefined."""
        return self.measure("average_odds_difference")

    @property
    def equal_opportunity_ratio(self) -> Enclosure | None:
        """Smallest over largest verified true positive rate of the first grouping; None when undefined."""
        return self.measure("equal_opportunity_ratio")

    @property
    def predictive_parity_difference(self) -> Enclosure | None:
        """Largest minus smallest verified precision of the first grouping; None when undefined."""
        return self.measure("predictive_parity_difference")

    @property
    def by_stratum(self) -> pd.DataFrame:
        """The strata of the lawful factors that were given, one row a stratum; empty without."""
        return self.groupings[0].by_stratum

    def __repr__(self) -> str:
        first = self.groupings[0]
        held = ", ".join(f"{name} {self.measure(name)}" for name in first.measures)
        return f"<Audit of {' x '.join(first.sensitive)}, {counted(len(first.groups), 'group')}: {held}>"

    @property
    def most_favored(self) -> dict[str, str]:
        """The group of the first grouping with the largest verified selection rate."""
        return self.groupings[0].most_favored.group

    @property
    def least_favored(self) -> dict[str, str]:
        """The group of the first grouping with the smallest verified selection rate."""
        return self.groupings[0].least_favored.group

    @property
    def exit_code(self) -> int:
        """The gravest that holds, by the command line's numbers.

        4 when a cross-check disagrees; 1 when a requirement is breached; 3 when one is undecided, an outside solver
        gave no answer, or some group has no second route; else 0.
        """
        checks = {grouping.cross_check.status for grouping in self.groupings if grouping.cross_check is not None}
        if "disagrees" in checks:
            return 4
        return exit_code_of(self.requirements) or (3 if "incomplete" in checks or self.unanswered else 0)

    def to_dict(self) -> dict[str, Any]:
        """The audit as the JSON contract ``justicia.audit/1`` has it."""
        from justicia.report.json import audit_to_dict

        return audit_to_dict(self)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The audit as JSON text; when `path` is given, written there, whole or not at all, and not returned."""
        from justicia.report.json import audit_to_json
        from justicia.writing import written

        return written(audit_to_json(self), path)

    def to_junit(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The requirements as test cases in JUnit's XML; when `path` is given, written there and not returned."""
        from justicia.report.junit import junit_xml
        from justicia.writing import written

        return written(junit_xml(self.requirements, self.table.source, self.model.source), path)

    def to_text(self, width: int = 100, *, all_groups: bool = False, all_measures: bool = False) -> str:
        """The audit as plain text tables, `width` characters wide.

        Long tables are shown in part unless `all_groups` is set; `all_measures` adds ratios of true positive rates and
        of precision, and the distance of the groups from all people together.
        """
        from justicia.report.text import audit_to_text

        return audit_to_text(self, width, all_groups=all_groups, all_measures=all_measures)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The audit as one HTML file that needs nothing else; when `path` is given, written there and not returned."""
        from justicia.report.html import audit_to_html
        from justicia.writing import written

        return written(audit_to_html(self), path)

    def to_frame(self) -> pd.DataFrame:
        """Every group of every grouping as one frame, indexed by grouping and group."""
        from justicia.frames import audit_frame

        return audit_frame(self.groupings)

    def plot(self, grouping: int = 0, *, ax: Axes | None = None, most: int = 40) -> Axes:
        """Draw the selection rates of a grouping; see `justicia.report.plot.plot_groups`."""
        from justicia.report.plot import plot_groups

        return plot_groups(self.groupings[grouping], self.confidence, ax=ax, most=most)

    def _repr_html_(self) -> str:
        from justicia.report.html import audit_to_fragment

        return audit_to_fragment(self)
