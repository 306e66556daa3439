"""Exact audits of classifiers: how often a model says yes to every intersection of sensitive groups.

>>> import justicia
>>> audit = justicia.verify("tree", "titanic")
>>> audit.disparate_impact.exact
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from justicia._version import __version__
from justicia.errors import EncodingMismatchError, InputError, JusticiaError
from justicia.words import did_you_mean

if TYPE_CHECKING:
    from justicia.audit import verify
    from justicia.audited import Audit
    from justicia.comparing import Comparison, compare
    from justicia.decisions import DecisionsAudit, audit_decisions
    from justicia.enclosure import Enclosure
    from justicia.encoding import encode
    from justicia.population.stored import PopulationFile
    from justicia.population_files import fit_population, read_population

__all__ = [
    "Audit",
    "Comparison",
    "DecisionsAudit",
    "Enclosure",
    "EncodingMismatchError",
    "InputError",
    "JusticiaError",
    "PopulationFile",
    "__version__",
    "audit_decisions",
    "compare",
    "encode",
    "fit_population",
    "read_population",
    "verify",
]

_LAZY = {
    "Audit": "justicia.audited",
    "Comparison": "justicia.comparing",
    "compare": "justicia.comparing",
    "DecisionsAudit": "justicia.decisions",
    "audit_decisions": "justicia.decisions",
    "Enclosure": "justicia.enclosure",
    "PopulationFile": "justicia.population.stored",
    "fit_population": "justicia.population_files",
    "read_population": "justicia.population_files",
    "encode": "justicia.encoding",
    "verify": "justicia.audit",
}


_PACKAGES = ("datasets", "generations", "learners", "metrics", "mitigation", "testing")
"""Found as attributes, too, whether or not they were imported."""


def __getattr__(name: str) -> Any:
    """Load what needs heavy libraries when it is first used."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    near = "" if name.startswith("_") else did_you_mean(name, [*__all__, *_PACKAGES])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{near}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
