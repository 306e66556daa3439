"""The question as a stochastic satisfiability problem."""

from __future__ import annotations

from justicia.ssat.formula import Formula

__all__ = ["Formula"]
