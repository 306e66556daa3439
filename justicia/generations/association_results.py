"""Results of concept association: sets of concepts, scores of counterfactuals, axes, and the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from justicia.generations.estimates import Band, Estimate, chosen, judge
from justicia.generations.results import exit_code, together

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from justicia.generations.correlations import Correlation
    from justicia.generations.table import Generations

__all__ = ["AssociationReport", "AxisAssociation", "ConceptSet", "Counterfactual"]


@dataclass(frozen=True)
class ConceptSet:
    """Concepts of a set of images.

    Attributes
    ----------
    images : int
        With known concepts.
    concepts : dict of str to float
        Weights of the commonest, largest first.
    distinct : int
        All concepts.
    """

    images: int
    concepts: dict[str, float]
    distinct: int


@dataclass(frozen=True)
class Counterfactual:
    """A counterfactual of an axis.

    Attributes
    ----------
    name : str
    set : ConceptSet
    cas : Estimate
        The concept association score: similarity with the prompt's own images.
    share : float or None
        The score as it enters MAD.
    human : float or None
        The mean of people's scores.
    """

    name: str
    set: ConceptSet
    cas: Estimate
    share: float | None
    human: float | None = None


@dataclass(frozen=True)
class AxisAssociation:
    """One axis of one prompt.

    Attributes
    ----------
    by : str or None
        The prompt, or what else tells sets apart.
    axis : str
    initial : ConceptSet
        Of the prompt's own images.
    counterfactuals : tuple of Counterfactual
    mad : Estimate
        Mean absolute deviation of the scores.
    mad_normalised : Estimate
        The root of MAD by its largest value: 0 when the scores are equal.
    null : Band or None
        `mad_normalised` of even mixtures of the counterfactual images.
    p_value : float or None
        How often an even mixture has as much.
    human : float or None
        The mean of people's scores of how uneven this axis is.
    """

    by: str | None
    axis: str
    initial: ConceptSet
    counterfactuals: tuple[Counterfactual, ...]
    mad: Estimate
    mad_normalised: Estimate
    null: Band | None
    p_value: float | None
    human: float | None = None

    @property
    def name(self) -> str:
        """The axis, and the prompt when there are several."""
        return self.axis if self.by is None else f"{self.by}: {self.axis}"

    @property
    def within_null(self) -> bool | None:
        """Whether chance alone explains its MAD; None: not known."""
        value = self.mad_normalised.value
        return None if self.null is None or value is None else value <= self.null.hi


@dataclass(frozen=True)
class AssociationReport:
    """Concept association of a table.

    Attributes
    ----------
    axes : tuple of AxisAssociation
    similarity : {"iou", "cosine"}
    normalise : {"sum", "none"}
    rare : float
        Concepts of less weight are left out of a set.
    confidence : float
    replicates, simulations : int
        Of the bootstrap, and of the null band.
    seed : int
    most : float or None
        The normalised MAD that is asked for at most.
    human_cas, human_mad : Correlation or None
        Rank correlation of people's scores with CAS of all counterfactuals, and with the normalised MAD of all axes.
    generations : Generations
    warnings : tuple of str
    command : tuple of str or None
    """

    axes: tuple[AxisAssociation, ...]
    similarity: str
    normalise: str
    rare: float
    confidence: float
    replicates: int
    simulations: int
    seed: int
    most: float | None
    human_cas: Correlation | None
    human_mad: Correlation | None
    generations: Generations
    warnings: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None

    def verdict_of(self, axis: AxisAssociation) -> str | None:
        """Whether one axis has no more than what is asked; None when nothing is asked."""
        return None if self.most is None else judge(axis.mad_normalised, self.most, at_least=False)

    @property
    def verdict(self) -> str | None:
        """Whether every axis has no more than what is asked; None when nothing is asked."""
        verdicts = [self.verdict_of(one) for one in self.axes]
        return None if self.most is None else together([one for one in verdicts if one is not None])

    @property
    def exit_code(self) -> int:
        """0 when nothing is asked or it holds, 1 when an axis fails, 3 when an interval holds the limit."""
        return 0 if self.verdict is None else exit_code(self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """The report by the contract ``justicia.generations.association/1``."""
        from justicia.report.generations_association import association_to_dict

        return association_to_dict(self)

    def to_json(self, path: Any = None) -> str | None:
        """The report as JSON text, or written to a file."""
        from justicia.report.generations_json import to_json

        return to_json(self.to_dict(), path)

    def to_text(self, width: int = 100) -> str:
        """The report as plain text."""
        from justicia.report.generations_association import association_to_text

        return association_to_text(self, width)

    def plot(self, kind: str = "bars") -> Figure:
        """A picture by matplotlib.

        Parameters
        ----------
        kind : {"bars", "heatmap", "radar"}
            Normalised MAD of every axis with its null band, or CAS of every counterfactual.
        """
        from justicia.report.generations_plot import association_heatmap, association_radar, mad_bars

        return chosen({"bars": mad_bars, "heatmap": association_heatmap, "radar": association_radar}, kind)(self)

    def to_frame(self) -> pd.DataFrame:
        """One row a counterfactual."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "by": axis.by,
                    "axis": axis.axis,
                    "counterfactual": one.name,
                    "images": one.set.images,
                    "cas": one.cas.value,
                    "share": one.share,
                    "mad_normalised": axis.mad_normalised.value,
                    "null": None if axis.null is None else axis.null.hi,
                    "p_value": axis.p_value,
                }
                for axis in self.axes
                for one in axis.counterfactuals
            ]
        )
