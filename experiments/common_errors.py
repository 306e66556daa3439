"""Small inputs on which tools that measure fairness err, each with what is true and what every tool says.

The truth of each input follows by counting: features are independent in the rows, group by group, so that the rates of
the rows are the rates of the distribution, too. AIF360 (`aif360.sklearn.metrics`) and Fairlearn get the decisions; the
published Justicia gets the model and the table, if `JUSTICIA_PUBLISHED_PYTHON` names the Python that it is installed
for. What does not apply to a tool is left out.

    python -m experiments.common_errors --out experiments/results
"""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import os
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import justicia
from experiments.running import Reporter, Rows, command, read_rows, table
from justicia import metrics
from justicia.enclosure import Enclosure
from justicia.errors import InputError

__all__ = ["NAME", "TITLE", "cases", "run", "section"]

NAME = "common_errors"
TITLE = "Inputs on which tools err"

KEY = ["case", "tool"]
COLUMNS = [*KEY, "asked", "truth", "says", "right"]
TOOLS = ("AIF360", "Fairlearn", "published Justicia", "justicia")

UNDEFINED, REFUSED = "undefined", "refused"
"""What is true where a rate has nobody to count, and where the call makes no sense."""

NEAR = 1e-6
LIMIT = 60.0
"""Seconds of the processor that the published Justicia gets."""


@dataclass(frozen=True)
class Case:
    """An input.

    Attributes
    ----------
    name : str
    asked : str
    truth : float or str
        A number, `UNDEFINED`, or `REFUSED`: an error that names the mistake.
    asks : dict of str to callable
        By tool. A number, an `Enclosure` or None for undefined is its answer; what it raises is one, too.
    """

    name: str
    asked: str
    truth: float | str
    asks: dict[str, Callable[[], Any]] = field(default_factory=dict)


def says(ask: Callable[[], Any]) -> tuple[str, float | Enclosure | str]:
    """An answer in words, and what it comes to."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            held = ask()
    except Exception as error:
        line = str(error).strip().splitlines()[0] if str(error).strip() else ""
        return f"{type(error).__name__}: {line}"[:200].rstrip(": "), REFUSED
    if isinstance(held, Enclosure) and not held.exact:
        return f"{float(held.lo):.4f} to {float(held.hi):.4f}, undecided", held
    value = math.nan if held is None else float(held)
    return (UNDEFINED, UNDEFINED) if math.isnan(value) else (f"{value:.6g}", value)


def is_right(truth: float | str, found: float | Enclosure | str) -> bool:
    """Whether an answer says what is true; bounds do when they hold it."""
    if isinstance(truth, str) or isinstance(found, str):
        return truth == found
    if isinstance(found, Enclosure):
        return float(found.lo) - NEAR <= truth <= float(found.hi) + NEAR
    return abs(truth - found) <= NEAR


def _aif360(selected: Any, groups: Any, privileged: Any, function: str = "disparate_impact_ratio", **more: Any) -> Any:
    """AIF360's measure; the groups stand in the index."""
    from justicia.peers import PEERS

    module = PEERS["aif360"].load()
    index = pd.Index(groups, name="group")
    truth = more.pop("truth", selected)
    held = (pd.Series(np.asarray(column), index=index) for column in (truth, selected))
    return getattr(module, function)(*held, prot_attr=more.pop("column", "group"), priv_group=privileged, **more)


def _fairlearn(selected: Any, groups: Any, function: str = "demographic_parity_ratio", truth: Any = None) -> Any:
    import fairlearn.metrics

    return getattr(fairlearn.metrics, function)(
        selected if truth is None else truth, selected, sensitive_features=groups
    )


def _published(model: Any, people: pd.DataFrame, sensitive: list[str], encoding: str, limit: float = LIMIT) -> Any:
    from experiments.rivals.published import ask_published

    answer = ask_published(model, people, sensitive, encoding, limit)
    if answer.status != "answer":
        raise RuntimeError(answer.status)
    return answer.disparate_impact


def _verified(model: Any, people: pd.DataFrame, sensitive: list[str], **more: Any) -> Any:
    """The verified disparate impact under independent features."""
    audit = justicia.verify(
        model, people, sensitive_features=sensitive, favorable=1, population=more.pop("population", "independent"),
        **more,
    )  # fmt: skip
    return audit.disparate_impact


def _tree(people: pd.DataFrame, chosen: Any) -> Any:
    """A tree that gives exactly these decisions."""
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(random_state=0).fit(people, np.asarray(chosen, dtype=int))
    if (model.predict(people) != np.asarray(chosen)).any():
        raise InputError("the tree does not give these decisions")
    return model


def _linear(people: pd.DataFrame, weights: list[float], bias: float) -> Any:
    """A logistic regression with these weights."""
    from sklearn.linear_model import LogisticRegression

    labels = np.arange(len(people)) % 2
    model = LogisticRegression().fit(people, labels)
    model.coef_, model.intercept_ = np.array([weights]), np.array([bias])
    return model


def _every(columns: dict[str, list[int]], times: int = 1) -> pd.DataFrame:
    """Every combination of values, so many times."""
    rows = list(itertools.product(*columns.values())) * times
    return pd.DataFrame(rows, columns=list(columns))


def _of_model(
    name: str, asked: str, truth: float | str, model: Any, people: pd.DataFrame, sensitive: list[str], encoding: str
) -> Case:
    """A case in which every tool gets the same model and rows; the best group is AIF360's privileged one."""
    decided = model.predict(people)
    groups = people[sensitive].astype(str).agg("|".join, axis=1).to_numpy()
    best = pd.Series(decided).groupby(groups).mean().idxmax()
    return Case(
        name, asked, truth,
        {
            "AIF360": lambda: _aif360(decided, groups, best),
            "Fairlearn": lambda: _fairlearn(decided, people[sensitive]),
            "published Justicia": lambda: _published(model, people, sensitive, encoding),
            "justicia": lambda: _verified(model, people, sensitive),
        },
    )  # fmt: skip


def _threshold_order() -> Case:
    people = _every({"s": [0, 1], "x": [1, 2, 3]}, 100)
    chosen = np.where(people["s"] == 1, people["x"] == 2, people["x"] == 1)
    return _of_model(
        "threshold order",
        "Two thresholds of one number: one group is selected for x = 2 of 1 to 3, one for x = 1. Disparate impact?",
        1.0, _tree(people, chosen), people, ["s"], "Enum",
    )  # fmt: skip


def _rare() -> Case:
    people = pd.DataFrame({"s": np.repeat([0, 1], 5000), "x": 0})
    people.loc[:1, "x"] = 1
    people.loc[5000:5009, "x"] = 1
    return _of_model(
        "rare probability", "Rates of 2 and of 10 in 5,000. Disparate impact?",
        0.2, _tree(people, people["x"]), people, ["s"], "Enum-correlation",
    )  # fmt: skip


def _small_weights() -> Case:
    people = _every({"s": [0, 1], "a": [0, 1], "b": [0, 1], "c": [0, 1]}, 50)
    # Beside s = 1 one of b and c suffices, beside s = 0 it takes both: 3/8 and 1/8.
    model = _linear(people, [0.003, 1.0, 0.004, 0.004], -1.006)
    return _of_model(
        "small weights",
        "A score of 1 a + .004 b + .004 c + .003 s above 1.006. Disparate impact?",
        1 / 3, model, people, ["s"], "Learn",
    )  # fmt: skip


def _empty_group() -> Case:
    people = _every({"s": [0, 1], "t": [0, 1], "x": [0, 1]}, 50)
    chosen = np.where((people["s"] == 1) & (people["t"] == 1), 0, people["x"])
    model = _tree(people, chosen)
    held = people[(people["s"] == 0) | (people["t"] == 0)].reset_index(drop=True)
    return _of_model(
        "group without rows",
        "Nobody is in the group s = 1, t = 1, which the model would never select; of each other group, half are "
        "selected. Disparate impact of the groups that have people?",
        1.0, model, held, ["s", "t"], "Enum",
    )  # fmt: skip


def _never_positive() -> Case:
    people = _every({"s": [0, 1], "x": [0, 1]}, 50)
    model = _linear(people, [0.1, 0.1], -1.0)
    return _of_model(
        "never-positive model", "Nobody is selected. Disparate impact?", UNDEFINED, model, people, ["s"], "Learn"
    )


def _misspelt() -> Case:
    people = _every({"sex": [0, 1], "x": [0, 1]}, 50)
    model = _tree(people, people["x"] & people["sex"])
    decided = model.predict(people)
    return Case(
        "misspelt column", "The sensitive column `sex` is called `sxe`. What is wrong?", REFUSED,
        {
            "AIF360": lambda: _aif360(decided, people["sex"].to_numpy(), 1, column="sxe"),
            "Fairlearn": lambda: _fairlearn(decided, people["sxe"]),
            "published Justicia": lambda: _published(model, people, ["sxe"], "Enum"),
            "justicia": lambda: _verified(model, people, ["sxe"]),
        },
    )  # fmt: skip


_TEXT = np.array([">50K"] * 3 + ["<=50K"] * 1 + [">50K"] * 1 + ["<=50K"] * 3)
_TEXT_GROUPS = np.array(["m"] * 4 + ["f"] * 4)


def _text_labels() -> Case:
    """No tool can know which word is favorable: a number is a mistake that nobody sees."""
    return Case(
        "text labels, favorable one not named",
        "Decisions are `>50K` and `<=50K`, and nobody says which one is favorable. What is wrong?", REFUSED,
        {
            "AIF360": lambda: _aif360(_TEXT, _TEXT_GROUPS, "m"),
            "Fairlearn": lambda: _fairlearn(_TEXT, _TEXT_GROUPS),
            "justicia": lambda: metrics.disparate_impact(None, _TEXT, sensitive_features=_TEXT_GROUPS),
        },
    )  # fmt: skip


def _dotted_labels() -> Case:
    truth = np.array([f"{word}." for word in _TEXT])

    def fairlearn() -> Any:
        import fairlearn.metrics

        return fairlearn.metrics.MetricFrame(
            metrics=lambda y_true, y_pred: fairlearn.metrics.true_positive_rate(y_true, y_pred, pos_label=">50K"),
            y_true=truth, y_pred=_TEXT, sensitive_features=_TEXT_GROUPS,
        ).difference()  # fmt: skip

    return Case(
        "text labels with a dot",
        "True outcomes are `>50K.`, as in Adult's test file, and decisions `>50K`, which is named favorable. What is "
        "wrong?", REFUSED,
        {
            "AIF360": lambda: _aif360(
                _TEXT, _TEXT_GROUPS, "m", "equal_opportunity_difference", truth=truth, pos_label=">50K"
            ),
            "Fairlearn": fairlearn,
            "justicia": lambda: metrics.equal_opportunity_difference(
                truth, _TEXT, sensitive_features=_TEXT_GROUPS, pos_label=">50K"
            ),
        },
    )  # fmt: skip


def _always_right() -> Case:
    groups = np.repeat(["a", "b", "c"], 4)
    truth = np.array([1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    return Case(
        "group without positives",
        "A model that is always right; one of three groups has no favorable true outcome. Equalized odds difference of "
        "the rates that there are? (AIF360: average odds error of that group and the others)", 0.0,
        {
            "AIF360": lambda: _aif360(truth, groups, "c", "average_odds_error", truth=truth),
            "Fairlearn": lambda: _fairlearn(truth, groups, "equalized_odds_difference", truth),
            "justicia": lambda: metrics.equalized_odds_difference(truth, truth, sensitive_features=groups),
        },
    )  # fmt: skip


def _opposite() -> Case:
    groups = np.repeat(["a", "b"], 4)
    truth = np.array([1, 1, 0, 0] * 2)
    decided = np.array([1, 1, 0, 0, 0, 0, 1, 1])
    return Case(
        "opposite gaps",
        "True positive rates 1 and 0, false positive rates 0 and 1. Average odds difference?", 1.0,
        {
            "AIF360": lambda: abs(_aif360(decided, groups, "a", "average_odds_difference", truth=truth)),
            "Fairlearn": lambda: _fairlearn_mean(truth, decided, groups),
            "justicia": lambda: metrics.average_odds_difference(truth, decided, sensitive_features=groups),
        },
    )  # fmt: skip


def _fairlearn_mean(truth: Any, decided: Any, groups: Any) -> Any:
    import fairlearn.metrics

    return fairlearn.metrics.equalized_odds_difference(truth, decided, sensitive_features=groups, agg="mean")


def _time_out() -> Case:
    """A forest that takes longer than it gets; the rows are all combinations, so that counting them is the truth."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    names = [f"x{i}" for i in range(13)]
    people = _every({"s": [0, 1], **{name: [0, 1] for name in names}})
    numbers = people.to_numpy()
    label = (numbers @ rng.normal(size=14) + rng.normal(size=len(people)) > 0.3).astype(int)
    forest = RandomForestClassifier(40, random_state=0, n_jobs=1).fit(people, label)
    tree = DecisionTreeClassifier(random_state=0).fit(people, forest.predict(people))
    decided = forest.predict(people)
    rates = pd.Series(decided).groupby(people["s"]).mean()
    best = int(rates.idxmax())
    return Case(
        "time that does not suffice",
        "A large model: a forest of 40 trees, for the published Justicia one tree that decides like it; one second, or "
        "ten for each of its solver's runs, which is the least that it takes. Disparate impact?",
        float(rates.min() / rates.max()),
        {
            "AIF360": lambda: _aif360(decided, people["s"].to_numpy(), best),
            "Fairlearn": lambda: _fairlearn(decided, people["s"]),
            "published Justicia": lambda: _published(tree, people, ["s"], "Enum", 1.0),
            "justicia": lambda: _verified(forest, people, ["s"], time_limit=1.0),
        },
    )  # fmt: skip


_STOPPED = """#!/bin/sh
echo '  > Best upper bound: 9.000000e-01'
echo '  > Best lower bound: 1.000000e-01'
"""
"""A solver whose time is over: bounds, and no value."""


@contextlib.contextmanager
def _stopped_solver() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "abc"
        program.write_text(_STOPPED, encoding="utf-8")
        program.chmod(0o755)
        held = os.environ.get("JUSTICIA_ABC")
        os.environ["JUSTICIA_ABC"] = str(program)
        try:
            yield
        finally:
            if held is None:
                del os.environ["JUSTICIA_ABC"]
            else:
                os.environ["JUSTICIA_ABC"] = held


def _stopped() -> Case:
    people = _every({"s": [0, 1], "x": [0, 1], "z": [0, 1]}, 50)
    model = _tree(people, np.where(people["s"] == 1, people["x"], people["x"] & people["z"]))

    def published() -> Any:
        with _stopped_solver():
            return _published(model, people, ["s"], "Enum")

    def ours() -> Any:
        with _stopped_solver():
            return _verified(model, people, ["s"], solver="abc")

    return Case(
        "time-out taken for an answer",
        "Rates 1/2 and 1/4, and an SSAT solver whose time is over when it knows that a rate is between .1 and .9. "
        "Disparate impact?", 0.5, {"published Justicia": published, "justicia": ours},
    )  # fmt: skip


_CASES = (
    _threshold_order, _rare, _small_weights, _empty_group, _never_positive, _time_out, _stopped, _misspelt,
    _text_labels, _dotted_labels, _always_right, _opposite,
)  # fmt: skip


def cases(*, quick: bool = False) -> list[Case]:
    """All inputs; without the large one when it has to be quick."""
    return [make() for make in _CASES if not quick or make is not _time_out]


def _present(progress: Reporter) -> set[str]:
    """Tools that can be asked."""
    from importlib.util import find_spec

    held = {"justicia"}
    for tool, package in (("AIF360", "aif360"), ("Fairlearn", "fairlearn")):
        if find_spec(package) is None:
            progress.note(f"{tool} is left out: pip install 'justicia-verifier[compare]'")
        else:
            held.add(tool)
    if find_spec("experiments.rivals") is not None:
        from experiments.rivals.places import PUBLISHED, found

        if found(PUBLISHED, progress):
            held.add("published Justicia")
    return held


def run(out: Path, *, quick: bool, progress: Reporter, seed: int = 0) -> None:
    """Ask every tool that is there and has not been asked yet; nothing here is random."""
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    present = _present(progress)
    asked = [(case, tool) for case in cases(quick=quick) for tool in TOOLS if tool in case.asks and tool in present]
    todo = rows.todo(asked, lambda one: {"case": one[0].name, "tool": one[1]})
    for case, tool in progress.track(todo, TITLE):
        words, found = says(case.asks[tool])
        if tool == "published Justicia" and words.startswith("FileNotFoundError"):
            continue
        truth = case.truth if isinstance(case.truth, str) else f"{case.truth:.6g}"
        rows.add(
            {"case": case.name, "tool": tool, "asked": case.asked, "truth": truth, "says": words,
             "right": is_right(case.truth, found)}
        )  # fmt: skip


def section(folder: Path) -> str:
    """What the CSV file says."""
    rows = read_rows(folder / f"{NAME}.csv")
    by_case: dict[str, dict[str, dict[str, str]]] = {}
    for row in rows:
        by_case.setdefault(row["case"], {})[row["tool"]] = row
    tools = [tool for tool in TOOLS if any(tool in held for held in by_case.values())]

    def cell(held: dict[str, dict[str, str]], tool: str) -> str:
        if tool not in held:
            return "-"
        mark = "" if held[tool]["right"] == "True" else "✗ "
        return f"{mark}{held[tool]['says']}"

    lines = []
    for name, held in by_case.items():
        first = next(iter(held.values()))
        lines.append([f"**{name}**. {first['asked']}", first["truth"], *(cell(held, tool) for tool in tools)])
    tally = []
    for tool in tools:
        asked = [held[tool] for held in by_case.values() if tool in held]
        tally.append(f"{tool} {sum(row['right'] == 'True' for row in asked)} of {len(asked)}")
    return "\n\n".join(
        [
            "Each input is small, and what is true follows by counting. ✗ marks an answer that is not it; `undefined` "
            "is true where there is nobody to count, `refused` where the call makes no sense and an error says so; "
            "`-`: the question does not apply. Bounds are right when they hold the truth.",
            table(["input", "true", *tools], lines),
            f"Right: {', '.join(tally)}. An error of a tool's own on an input that makes sense is not right, but no "
            "answer either: nobody is misled.",
        ]
    )


if __name__ == "__main__":
    command(NAME, run, __doc__)()
