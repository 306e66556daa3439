"""Answers of language models: results of the criteria."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from justicia.generations.contingency import Pooled, Test
from justicia.generations.pairing import PairedResult
from justicia.generations.results import exit_code, together
from justicia.generations.strata import Effect, Stratum

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["CRITERIA", "Criterion", "LanguageReport", "ModelContrast", "Refusals", "Settings"]

CRITERIA = {
    "independence": "the response does not depend on the group",
    "separation": "given the truth, the response does not depend on the group",
    "sufficiency": "given the response, the truth does not depend on the group",
    "accuracy": "how often the response is the truth does not depend on the group",
    "refusals": "how often the model refuses does not depend on the group",
    "pairs": "the response does not change when the group cue alone does",
}
"""What each criterion says."""


@dataclass(frozen=True)
class Settings:
    """What was asked.

    Attributes
    ----------
    group, response : str
        Columns.
    truth, model, cluster : str or None
    strata, pair : tuple of str
    refusals, unknown : tuple of str
        Labels of refusals, and of responses that no pattern fits; the last also stands for blanks.
    answered : bool
        Whether refusals and unknown responses are left out of the criteria.
    where : dict of str to tuple of str
    confidence, alpha : float
    at_most : float or None
        The largest difference of rates that is asked for.
    seed : int
    """

    group: str
    response: str
    truth: str | None = None
    model: str | None = None
    cluster: str | None = None
    strata: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ("refusal",)
    unknown: str = "unknown"
    answered: bool = False
    where: dict[str, tuple[str, ...]] = field(default_factory=dict)
    confidence: float = 0.95
    alpha: float = 0.05
    at_most: float | None = None
    seed: int = 0

    @property
    def requirement(self) -> str:
        """What makes a verdict, in words."""
        if self.at_most is None:
            return f"no test rejects at {self.alpha:g} (Holm's correction over all tests)"
        return f"rates differ by {self.at_most:g} at most (confidence {self.confidence:g})"


@dataclass(frozen=True)
class Criterion:
    """One criterion for one model, stratum by stratum.

    Attributes
    ----------
    name : str
        One of `CRITERIA`.
    model : str or None
    strata : tuple of Stratum
    pooled : Pooled or None
        All strata together, where there are several.
    verdict : {"holds", "fails", "undecided"}
        On the requirement of the settings.
    reason : str
    """

    name: str
    model: str | None
    strata: tuple[Stratum, ...]
    pooled: Pooled | None
    verdict: str = "undecided"
    reason: str = ""

    @property
    def means(self) -> str:
        """What it says."""
        return CRITERIA[self.name]

    @property
    def tests(self) -> tuple[Test, ...]:
        """Of the strata, and of all pooled."""
        return (*(one.test for one in self.strata), *(() if self.pooled is None else (self.pooled.test,)))

    @property
    def worst(self) -> Stratum | None:
        """The stratum with the largest difference."""
        held = [one for one in self.strata if one.difference is not None]
        return max(held, key=lambda one: one.difference.value if one.difference else 0.0, default=None)

    @property
    def difference(self) -> Effect | None:
        """The largest difference of all strata."""
        return None if self.worst is None else self.worst.difference


@dataclass(frozen=True)
class Refusals:
    """What one model left unanswered.

    Attributes
    ----------
    model : str or None
    groups : tuple of str
    n, refused, unknown : tuple of int
        Rows of each group, and how many are refusals and unknown responses.
    lo, hi : tuple of (float or None)
        Wilson's interval of each group's share of refusals.
    """

    model: str | None
    groups: tuple[str, ...]
    n: tuple[int, ...]
    refused: tuple[int, ...]
    unknown: tuple[int, ...]
    lo: tuple[float | None, ...]
    hi: tuple[float | None, ...]

    @property
    def rates(self) -> tuple[float | None, ...]:
        """Each group's share of refusals."""
        return tuple(k / n if n else None for k, n in zip(self.refused, self.n, strict=True))


@dataclass(frozen=True)
class ModelContrast:
    """Two models beside each other: where the differences between groups differ most.

    Attributes
    ----------
    model, other : str
    outcome, group, other_group : str
    gap, other_gap : float
        Rate of `group` minus that of `other_group` in each model.
    value : float
        The first gap minus the other.
    lo, hi : float or None
        An interval that holds for all outcomes and pairs of groups together.
    method : str
    """

    model: str
    other: str
    outcome: str
    group: str
    other_group: str
    gap: float
    other_gap: float
    value: float
    lo: float | None
    hi: float | None
    method: str

    @property
    def differs(self) -> bool | None:
        """Whether the interval excludes 0."""
        return None if self.lo is None or self.hi is None else self.lo > 0 or self.hi < 0


@dataclass(frozen=True)
class LanguageReport:
    """Answers of language models, judged by the criteria.

    Attributes
    ----------
    settings : Settings
    groups, responses : tuple of str
        Of all models; refusals and unknown responses last.
    models : tuple of str or None
        (None,) when the table is of one model.
    rows, rows_used : int
    criteria : tuple of Criterion
        By model, in the order of `CRITERIA`.
    refusals : tuple of Refusals
        One a model.
    pairs : tuple of PairedResult
        By model and pair of groups.
    contrasts : tuple of ModelContrast
        One a pair of models.
    source, sha256 : str or None
    warnings : tuple of str
    command : tuple of str or None
    """

    settings: Settings
    groups: tuple[str, ...]
    responses: tuple[str, ...]
    models: tuple[str | None, ...]
    rows: int
    rows_used: int
    criteria: tuple[Criterion, ...]
    refusals: tuple[Refusals, ...]
    pairs: tuple[PairedResult, ...] = ()
    contrasts: tuple[ModelContrast, ...] = ()
    source: str | None = None
    sha256: str | None = None
    warnings: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None

    @cached_property
    def verdict(self) -> str:
        """Of all criteria together: fails when one does, holds when all do."""
        return together([*(one.verdict for one in self.criteria), *(one.verdict for one in self.pairs)])

    @property
    def exit_code(self) -> int:
        """0 when everything holds, 1 when something fails, 3 otherwise."""
        return exit_code(self.verdict)

    def criterion(self, name: str, model: str | None = None) -> Criterion:
        """A criterion by its name, of the only model or of the one named.

        Raises
        ------
        KeyError
        """
        for one in self.criteria:
            if one.name == name and (one.model == model or (model is None and len(self.models) == 1)):
                return one
        raise KeyError(name if model is None else f"{name} of {model}")

    def to_dict(self) -> dict[str, Any]:
        """The report by the contract ``justicia.generations.criteria/1``."""
        from justicia.report.language_json import criteria_to_dict

        return criteria_to_dict(self)

    def to_json(self, path: Any = None) -> str | None:
        """The report as JSON text, or written to a file."""
        from justicia.report.generations_json import to_json

        return to_json(self.to_dict(), path)

    def to_text(self, width: int = 120) -> str:
        """The report as plain text."""
        from justicia.report.language_text import language_to_text

        return language_to_text(self, width)

    def to_frame(self) -> pd.DataFrame:
        """One row a criterion and stratum."""
        import pandas as pd

        rows = []
        for one in self.criteria:
            for held in one.strata:
                effect, ratio = held.difference, held.ratio
                rows.append(
                    {
                        "criterion": one.name,
                        "model": one.model,
                        "stratum": held.name,
                        "n": held.n,
                        "outcome": None if effect is None else effect.outcome,
                        "group": None if effect is None else effect.group,
                        "other": None if effect is None else effect.other,
                        "difference": None if effect is None else effect.value,
                        "lo": None if effect is None else effect.lo,
                        "hi": None if effect is None else effect.hi,
                        "ratio": None if ratio is None else ratio.value,
                        "cramers_v": held.cramers_v,
                        "test": held.test.method,
                        "p": held.test.p,
                        "adjusted": held.test.adjusted,
                        "verdict": one.verdict,
                    }
                )
        return pd.DataFrame(rows)

    def plot(self, **options: Any) -> Figure:
        """A forest plot of the differences: see `justicia.report.language_plot.plot_differences`."""
        from justicia.report.language_plot import plot_differences

        return plot_differences(self, **options)
