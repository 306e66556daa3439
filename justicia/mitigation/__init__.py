"""Mitigation before training: weights of rows, under which the outcome does not depend on the group.

>>> reweigh([1, 0, 0, 1], ["f", "f", "m", "m"]).tolist()
[1.0, 1.0, 1.0, 1.0]
"""

from __future__ import annotations

from justicia.mitigation.refitting import refit
from justicia.mitigation.reweighing import reweigh, reweighing_cells

__all__ = ["refit", "reweigh", "reweighing_cells"]
