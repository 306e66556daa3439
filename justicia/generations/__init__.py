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
    from justicia.generations.answer_rules import AnswerRules, read_rules
    from justicia.generations.answers import Answers, label_answers
    from justicia.generations.asking import CheckReport, check, coverage, sequence
    from justicia.generations.covering import CoverageReport, CoverageResult
    from justicia.generations.games import ShieldProof, verify_shield
    from justicia.generations.language import criteria
    from justicia.generations.language_results import LanguageReport
    from justicia.generations.plans import PromptPlan, read_plan
    from justicia.generations.polarity import text_polarity
    from justicia.generations.polarity_results import PolarityReport, ScoreReport
    from justicia.generations.results import RunResult, SequenceReport, Witness
    from justicia.generations.scores import group_scores
    from justicia.generations.shield import Enforce, Shield
    from justicia.generations.shielding import shielded
    from justicia.generations.simulation import Simulation, simulate
    from justicia.generations.spec import Attribute, Spec, read_spec
    from justicia.generations.templates import Prompts, expand_prompts
    from justicia.generations.vectors import WordVectors, load_vectors

__all__ = [
    "AnswerRules",
    "Answers",
    "Attribute",
    "CheckReport",
    "CoverageReport",
    "CoverageResult",
    "Enforce",
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
    "check",
    "coverage",
    "criteria",
    "expand_prompts",
    "group_scores",
    "label_answers",
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
    "covering": ("CoverageReport", "CoverageResult"),
    "games": ("ShieldProof", "verify_shield"),
    "language": ("criteria",),
    "language_results": ("LanguageReport",),
    "plans": ("PromptPlan", "read_plan"),
    "polarity": ("text_polarity",),
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
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
