"""Results of diversity across contexts: attributes, contexts, the noise floor, and the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from justicia.generations.entropies import Rule
from justicia.generations.estimates import Band, Estimate, chosen, judge
from justicia.generations.results import exit_code

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from justicia.generations.table import Generations

__all__ = ["AttributeDiversity", "ContextDiversity", "DiversityReport", "NoiseFloor"]


@dataclass(frozen=True)
class AttributeDiversity:
    """One attribute in one context.

    Attributes
    ----------
    attribute : str
    counts : dict of str to int
        Outputs by value; all values of the domain.
    unknown : int
        Outputs whose label is not known; they are not counted.
    entropy : Estimate
        The normalised entropy, from 0 (one value alone) to 1 (equal shares).
    """

    attribute: str
    counts: dict[str, int]
    unknown: int
    entropy: Estimate

    @property
    def n(self) -> int:
        """Labels that are counted."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class ContextDiversity:
    """All attributes in one context.

    Attributes
    ----------
    name : str
        As the context column has it.
    neutral : bool
    rows : int
    attributes : tuple of AttributeDiversity
    score : Estimate
        The geometric mean of the attributes' entropies.
    """

    name: str
    neutral: bool
    rows: int
    attributes: tuple[AttributeDiversity, ...]
    score: Estimate


@dataclass(frozen=True)
class NoiseFloor:
    """What a generator without any preference scores with as many labels.

    Attributes
    ----------
    simulations : int
    intrinsic : Band
    conditional, mgbi : Band or None
        None when there is no context besides the neutral one.
    """

    simulations: int
    intrinsic: Band
    conditional: Band | None
    mgbi: Band | None


@dataclass(frozen=True)
class DiversityReport:
    """Diversity of a table, with its floor.

    Attributes
    ----------
    attributes : tuple of str
    contexts : tuple of ContextDiversity
        The neutral one first, then as they come in the table.
    intrinsic : Estimate
        ID, of the neutral outputs.
    conditional, conditional_mean : Estimate
        CA_q, the quantile over the other contexts, and the mean over them.
    mgbi : Estimate
        The root of ID times CA_q.
    floor : NoiseFloor or None
    rule : Rule
    confidence : float
    replicates : int
    seed : int
    least : float or None
        The MGBI that is asked for.
    context : str or None
        The context column.
    generations : Generations
    warnings : tuple of str
    command : tuple of str or None
    """

    attributes: tuple[str, ...]
    contexts: tuple[ContextDiversity, ...]
    intrinsic: Estimate
    conditional: Estimate
    conditional_mean: Estimate
    mgbi: Estimate
    floor: NoiseFloor | None
    rule: Rule
    confidence: float
    replicates: int
    seed: int
    least: float | None
    context: str | None
    generations: Generations
    warnings: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None

    @property
    def verdict(self) -> str | None:
        """Whether MGBI is at least what is asked: "holds", "fails" or "undecided"; None when nothing is asked."""
        return None if self.least is None else judge(self.mgbi, self.least, at_least=True)

    @property
    def exit_code(self) -> int:
        """0 when nothing is asked or it holds, 1 when it fails, 3 when the interval holds the limit."""
        return 0 if self.verdict is None else exit_code(self.verdict)

    @property
    def within_floor(self) -> bool | None:
        """Whether MGBI (ID, when there is no other context) is what chance alone explains; None: not known."""
        held = None if self.floor is None else self.floor.mgbi or self.floor.intrinsic
        value = (self.intrinsic if self.floor is None or self.floor.mgbi is None else self.mgbi).value
        return None if held is None or value is None else value >= held.lo

    def to_dict(self) -> dict[str, Any]:
        """The report by the contract ``justicia.generations.diversity/1``."""
        from justicia.report.generations_diversity import diversity_to_dict

        return diversity_to_dict(self)

    def to_json(self, path: Any = None) -> str | None:
        """The report as JSON text, or written to a file."""
        from justicia.report.generations_json import to_json

        return to_json(self.to_dict(), path)

    def to_text(self, width: int = 100) -> str:
        """The report as plain text."""
        from justicia.report.generations_diversity import diversity_to_text

        return diversity_to_text(self, width)

    def plot(self, kind: str = "entropies") -> Figure:
        """A picture by matplotlib.

        Parameters
        ----------
        kind : {"entropies", "indices"}
            Entropies by context, or ID, CA and MGBI with the noise floor.
        """
        from justicia.report.generations_plot import entropy_bars, index_bars

        return chosen({"entropies": entropy_bars, "indices": index_bars}, kind)(self)

    def to_frame(self) -> pd.DataFrame:
        """One row a context and attribute."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "context": held.name,
                    "neutral": held.neutral,
                    "attribute": one.attribute,
                    "n": one.n,
                    "unknown": one.unknown,
                    "entropy": one.entropy.value,
                    "lo": one.entropy.lo,
                    "hi": one.entropy.hi,
                    "score": held.score.value,
                }
                for held in self.contexts
                for one in held.attributes
            ]
        )
