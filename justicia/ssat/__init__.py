"""The question as a stochastic satisfiability problem."""

from __future__ import annotations

from justicia.ssat.clauses import EXISTS, FORALL, RANDOM, Block, ClauseFormula
from justicia.ssat.formula import Formula
from justicia.ssat.sdimacs import from_sdimacs, rounded, to_sdimacs

__all__ = [
    "EXISTS",
    "FORALL",
    "RANDOM",
    "Block",
    "ClauseFormula",
    "Formula",
    "from_sdimacs",
    "rounded",
    "to_sdimacs",
]
