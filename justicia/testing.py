"""Requirements in a test suite.

::

    def test_the_model_meets_the_screen():
        audit = justicia.verify("model.skops", "people.csv")
        assert_requirement(audit, "disparate_impact>=0.8")

"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from justicia.judging import judge_all
from justicia.metrics import parse_requirement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from justicia.judging import Judged, RequirementAudit

__all__ = ["assert_requirement"]


class _Audit(Protocol):
    @property
    def groupings(self) -> Sequence[Judged]: ...

    @property
    def requirements(self) -> Sequence[RequirementAudit]: ...


def assert_requirement(audit: _Audit, *requirements: str) -> None:
    """Fail unless an audit meets requirements; one that is undecided fails, too.

    They are judged as the command does with ``--require``.

    Parameters
    ----------
    audit : Audit
        Of `justicia.verify`.
    *requirements : str
        Such as "disparate_impact>=0.8"; left out, those that the audit was made with.

    Raises
    ------
    AssertionError
        The message has every requirement that is not met, whether it is breached or undecided, and the values.
    RequirementError
        When a requirement cannot be read, or is on groups that there are none of.

    Examples
    --------
    >>> import justicia
    >>> from justicia.testing import assert_requirement
    >>> assert_requirement(justicia.verify("tree", "titanic"), "disparate_impact>=0.05")
    """
    __tracebackhide__ = True
    judged = judge_all([parse_requirement(text) for text in requirements], audit.groupings)
    if not requirements:
        judged = tuple(audit.requirements)
        if not judged:
            raise TypeError("the audit was made without requirements: name one or more")
    failed = [held for held in judged if held.status != "met"]
    if failed:
        raise AssertionError("\n".join(f"{held.text} is {held.status}: {held.reason}" for held in failed))
