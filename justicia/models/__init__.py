"""Models in: safe loading, unwrapping of pipelines, searches and threshold wrappers, training on the spot."""

from __future__ import annotations

from justicia.models.expansion import OneHotExpansion, expanded
from justicia.models.loading import SUFFIXES, ModelFile, load_model
from justicia.models.native_categories import with_native_categories
from justicia.models.rule_files import RuleClassifier, load_rule, read_rule, save_rule
from justicia.models.training import TRAINABLE, train
from justicia.models.unwrapping import FittedModel, ThresholdRule, unwrap

__all__ = [
    "SUFFIXES",
    "TRAINABLE",
    "FittedModel",
    "ModelFile",
    "OneHotExpansion",
    "RuleClassifier",
    "ThresholdRule",
    "expanded",
    "load_model",
    "load_rule",
    "read_rule",
    "save_rule",
    "train",
    "unwrap",
    "with_native_categories",
]
