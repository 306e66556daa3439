"""Sequences of a generative model: labelled generations checked, and fairness of sequences enforced.

>>> from justicia import generations
>>> shield = generations.Shield(["female", "male"], beta=3)
>>> for label in ["male", "male"]:
...     missed = shield.observe(label)
>>> shield.next().value
'female'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from justicia.generations.asking import CheckReport, check, coverage, sequence
    from justicia.generations.association_results import AssociationReport
    from justicia.generations.associations import association
    from justicia.generations.covering import CoverageReport, CoverageResult
    from justicia.generations.diversities import diversity
    from justicia.generations.diversity_results import DiversityReport
    from justicia.generations.games import ShieldProof, verify_shield
    from justicia.generations.results import RunResult, SequenceReport, Witness
    from justicia.generations.rewards import FairnessReward
    from justicia.generations.shield import Enforce, Shield
    from justicia.generations.shielding import shielded
    from justicia.generations.simulation import Simulation, simulate
    from justicia.generations.spec import Attribute, Spec, read_spec

__all__ = [
    "AssociationReport",
    "Attribute",
    "CheckReport",
    "CoverageReport",
    "CoverageResult",
    "DiversityReport",
    "Enforce",
    "FairnessReward",
    "RunResult",
    "SequenceReport",
    "Shield",
    "ShieldProof",
    "Simulation",
    "Spec",
    "Witness",
    "association",
    "check",
    "coverage",
    "diversity",
    "read_spec",
    "sequence",
    "shielded",
    "simulate",
    "verify_shield",
]

_MODULES = {
    "asking": ("CheckReport", "check", "coverage", "sequence"),
    "associations": ("association",),
    "association_results": ("AssociationReport",),
    "covering": ("CoverageReport", "CoverageResult"),
    "diversities": ("diversity",),
    "diversity_results": ("DiversityReport",),
    "games": ("ShieldProof", "verify_shield"),
    "rewards": ("FairnessReward",),
    "results": ("RunResult", "SequenceReport", "Witness"),
    "shield": ("Enforce", "Shield"),
    "shielding": ("shielded",),
    "simulation": ("Simulation", "simulate"),
    "spec": ("Attribute", "Spec", "read_spec"),
}


def __getattr__(name: str) -> Any:
    """Load what needs heavy libraries when it is first used."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
