"""Write down the question that `verify` answers, for any solver to check."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from justicia.errors import GroupingError, InputError
from justicia.progress import stage
from justicia.speaking import speaks_keywords, speaks_options
from justicia.ssat import ClauseFormula, Formula, to_sdimacs
from justicia.ssat.lowering import MOST_FAVORED, QUESTIONS, GroupFormula, lower
from justicia.words import did_you_mean, listed

__all__ = ["Encoded", "encode"]

logger = logging.getLogger(__name__)

_NAMED = re.compile(r"(?:^|,)\s*([^=,]+?)\s*=")
_ANY = 1.0
"""Width of the bounds of the rates: they come with the audit, and nobody looks at them here."""


@dataclass(frozen=True)
class Encoded:
    """A question in clauses.

    Attributes
    ----------
    asked : GroupFormula
        The formula, and what its choices mean.
    """

    asked: GroupFormula

    @property
    def formula(self) -> ClauseFormula:
        """Prefix, clauses and names."""
        return self.asked.formula

    def to_sdimacs(self, digits: int | None = None) -> str:
        """The formula as text; with probabilities rounded to `digits` decimals when these are given."""
        return to_sdimacs(self.formula, digits)


@speaks_keywords
def encode(
    model: Any,
    data: Any,
    *,
    group: str | Mapping[str, Any] | None = None,
    question: str = MOST_FAVORED,
    **options: Any,
) -> Encoded:
    """Write the question how often a model says yes as a stochastic satisfiability problem.

    Parameters
    ----------
    model, data
        As for `justicia.verify`.
    group : str or mapping, optional
        A group, such as "race=Black,sex=Female": the value of the formula is its rate.
    question : str
        Unless there is a group: "most favored" (largest rate), "least favored" (smallest rate), or "dual" (1 - smallest
        rate, without ∀).
    **options
        Those of `justicia.verify` that say how model and table are read, and `population`.

    Raises
    ------
    InputError
        When something in the call or the input is wrong, or the question cannot be written in clauses.

    Examples
    --------
    >>> import justicia
    >>> encoded = justicia.encode("tree", "ricci", group="race=Black", population="independent")
    >>> encoded.to_sdimacs().splitlines()[0]
    'c value: the selection rate of race = Black'
    """
    from justicia.audit import verify
    from justicia.population import STRUCTURES

    if question not in QUESTIONS:
        raise GroupingError(f"no question is called {question!r}{did_you_mean(question, QUESTIONS)}")
    columns = _columns_of(group)
    if columns and options.get("sensitive_features") is None and options.get("population", "auto") in STRUCTURES:
        logger.info("sensitive: %s, the columns of the group; override with --sensitive", ", ".join(columns))
        options["sensitive_features"] = columns
    audit = verify(model, data, tolerance=_ANY, **options)
    seen = audit.seen
    if seen is None or seen.least is not seen.most:
        raise InputError(
            "some cells of the population hold values that the model tells apart, so that the rates are bounds and no "
            "formula has them: fit the population with more --cells, or name a structure instead of a file"
        )
    population = seen.population
    asked: str | int = question
    if group is not None:
        named = group_of(group, population.sensitive) if isinstance(group, str) else group
        asked = population.index(named)
    stage("writing the formula")
    encoded = Encoded(lower(Formula(population, seen.least), asked))
    words = "--group, --most-favored, --least-favored or --dual" if speaks_options() else "group= or question="
    how = "" if group is not None else f"; ask for another with {words}"
    logger.info("the formula's %s%s", encoded.formula.comments[0].replace("value:", "value is", 1), how)
    return encoded


def _columns_of(group: str | Mapping[str, Any] | None) -> list[str]:
    """The columns that a group names, as they are written; none where it names none."""
    if isinstance(group, Mapping):
        return [str(name) for name in group]
    return list(dict.fromkeys(_NAMED.findall(group or "")))


def group_of(text: str, sensitive: tuple[str, ...]) -> dict[str, str]:
    """A group in words, such as race=Black,sex=Female; values may hold commas.

    >>> group_of("age=(25, 40],sex=Female", ("age", "sex"))
    {'age': '(25, 40]', 'sex': 'Female'}
    """
    longest = sorted(sensitive, key=len, reverse=True)
    names = re.compile(rf"(?:^|,)\s*({'|'.join(map(re.escape, longest))})\s*=")
    found = list(names.finditer(text))
    if not found or text[: found[0].start()].strip() or len({one[1] for one in found}) < len(found):
        raise GroupingError(f"group {text!r} is not of the form {','.join(f'{name}=VALUE' for name in sensitive)}")
    ends = [one.start() for one in found[1:]] + [len(text)]
    group = {one[1]: text[one.end() : end].strip() for one, end in zip(found, ends, strict=True)}
    absent = [name for name in sensitive if name not in group]
    if absent:
        raise GroupingError(f"group {text!r} has no value of {listed(absent)}")
    return group
