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

from justicia.words import did_you_mean

if TYPE_CHECKING:
    from justicia.generations.answer_rules import AnswerRules, read_rules
    from justicia.generations.answers import Answers, label_answers
    from justicia.generations.asking import CheckReport, check, coverage, sequence
    from justicia.generations.association_results import AssociationReport
    from justicia.generations.associations import association
    from justicia.generations.auditing import GenerationAudit, audit
    from justicia.generations.covering import CoverageReport, CoverageResult
    from justicia.generations.diversities import diversity
    from justicia.generations.diversity_results import DiversityReport
    from justicia.generations.games import ShieldProof, verify_shield
    from justicia.generations.labellers import AgeAndGender
    from justicia.generations.labelling import Labelling, label_images
    from justicia.generations.language import criteria
    from justicia.generations.language_results import LanguageReport
    from justicia.generations.plans import PromptPlan, read_plan
    from justicia.generations.polarity import text_polarity
    from justicia.generations.polarity_results import PolarityReport, ScoreReport
    from justicia.generations.results import RunResult, SequenceReport, Witness
    from justicia.generations.rewards import FairnessReward
    from justicia.generations.scores import group_scores
    from justicia.generations.shield import Enforce, Shield
    from justicia.generations.shielding import shielded
    from justicia.generations.simulation import Simulation, simulate
    from justicia.generations.spec import Attribute, Spec, read_spec
    from justicia.generations.templates import Prompts, expand_prompts
    from justicia.generations.vectors import WordVectors, load_vectors

__all__ = [
    "AgeAndGender",
    "AnswerRules",
    "Answers",
    "AssociationReport",
    "Attribute",
    "CheckReport",
    "CoverageReport",
    "CoverageResult",
    "DiversityReport",
    "Enforce",
    "FairnessReward",
    "GenerationAudit",
    "Labelling",
    "LanguageReport",
    "PolarityReport",
    "PromptPlan",
    "Prompts",
    "RunResult",
    "ScoreReport",
    "SequenceReport",
    "Shield",
    "ShieldProof",
    "Simulation",
    "Spec",
    "Witness",
    "WordVectors",
    "association",
    "audit",
    "check",
    "coverage",
    "criteria",
    "diversity",
    "expand_prompts",
    "group_scores",
    "label_answers",
    "label_images",
    "load_vectors",
    "read_plan",
    "read_rules",
    "read_spec",
    "sequence",
    "shielded",
    "simulate",
    "text_polarity",
    "verify_shield",
]

_MODULES = {
    "answer_rules": ("AnswerRules", "read_rules"),
    "answers": ("Answers", "label_answers"),
    "asking": ("CheckReport", "check", "coverage", "sequence"),
    "auditing": ("GenerationAudit", "audit"),
    "associations": ("association",),
    "association_results": ("AssociationReport",),
    "covering": ("CoverageReport", "CoverageResult"),
    "diversities": ("diversity",),
    "diversity_results": ("DiversityReport",),
    "games": ("ShieldProof", "verify_shield"),
    "labellers": ("AgeAndGender",),
    "labelling": ("Labelling", "label_images"),
    "language": ("criteria",),
    "language_results": ("LanguageReport",),
    "plans": ("PromptPlan", "read_plan"),
    "polarity": ("text_polarity",),
    "rewards": ("FairnessReward",),
    "polarity_results": ("PolarityReport", "ScoreReport"),
    "results": ("RunResult", "SequenceReport", "Witness"),
    "scores": ("group_scores",),
    "shield": ("Enforce", "Shield"),
    "shielding": ("shielded",),
    "simulation": ("Simulation", "simulate"),
    "spec": ("Attribute", "Spec", "read_spec"),
    "templates": ("Prompts", "expand_prompts"),
    "vectors": ("WordVectors", "load_vectors"),
}


def __getattr__(name: str) -> Any:
    """Load what needs heavy libraries when it is first used."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    near = "" if name.startswith("_") else did_you_mean(name, __all__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{near}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
