"""Ask the published Justicia about a tree or a logistic regression on a table of numbers."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.rivals.asking import START_UP, failure, last_json
from experiments.rivals.places import DRIVERS, PUBLISHED
from experiments.running import run_program

__all__ = ["Published", "ask_published"]


@dataclass(frozen=True)
class Published:
    """What it says.

    Attributes
    ----------
    status : str
    disparate_impact, parity : float or None
        Smallest rate by largest, and their difference.
    rates : int
        How many groups it gives a rate of.
    seconds : float
        Of the processor, with its solver's.
    """

    status: str
    disparate_impact: float | None
    parity: float | None
    rates: int
    seconds: float


def ask_published(
    model: Any, table: pd.DataFrame, sensitive: Sequence[str], encoding: str, limit: float, **options: Any
) -> Published:
    """Ask for the rates of all groups, or the most and the least favored.

    Parameters
    ----------
    model : fitted DecisionTreeClassifier or LogisticRegression
    table : DataFrame
        What it takes, numbers alone.
    sensitive : sequence of str
    encoding : str
        "Enum", "Enum-correlation", "Learn-efficient", "Learn-efficient-dependency", …
    limit : float
        Seconds of the processor.
    **options
        More of its own, such as `dag_threshold`.
    """
    python = PUBLISHED.interpreter()
    if python is None:
        raise FileNotFoundError(f"{PUBLISHED.name} is not there")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table.to_csv(folder / "table.csv", index=False)
        question = {
            "table": str(folder / "table.csv"), "sensitive": list(sensitive), "encoding": encoding,
            # It gives each solver's run a share of this, by the clock, which others' work slows down.
            "options": {"timeout": 10 * limit, **options}, "predictions": [int(one) for one in model.predict(table)],
        }  # fmt: skip
        if hasattr(model, "tree_"):
            held = model.tree_
            question["nodes"] = list(
                zip(held.children_left.tolist(), held.children_right.tolist(), held.feature.tolist(),
                    held.threshold.tolist(), strict=True)
            )  # fmt: skip
            question |= {"values": held.value[:, 0, :].tolist(), "depth": int(held.max_depth)}
        else:
            question |= {"coefficients": model.coef_[0].tolist(), "intercept": float(model.intercept_[0])}
        (folder / "question.json").write_text(json.dumps(question), encoding="utf-8")
        path = os.pathsep.join([*filter(None, [_solver_folder()]), os.environ["PATH"]])
        ran = run_program(
            [python, "-u", DRIVERS / "published_driver.py", folder / "question.json"], limit + START_UP,
            folder=folder, environment={"PATH": path},
        )  # fmt: skip
    answer = last_json(ran)
    if answer is None or answer["seconds"] > limit:
        return Published("time" if answer is not None else failure(ran), None, None, 0, min(ran.seconds, limit))
    if not answer["agrees"]:
        return Published("failed: another model", None, None, 0, answer["seconds"])
    if answer["failed"]:
        return Published("failed: its solver gives no value", None, None, 0, answer["seconds"])
    return Published(
        "answer", answer["disparate_impact"], answer["statistical_parity_difference"], len(answer["rates"]),
        answer["seconds"],
    )  # fmt: skip


def _solver_folder() -> str | None:
    """Where the SSAT solver is that it calls by the name `abc`."""
    from justicia.errors import JusticiaError
    from justicia.solvers.external.programs import ABC, locate

    try:
        held = locate(ABC)
    except JusticiaError:
        return None
    return None if held is None else str(Path(held).parent)
