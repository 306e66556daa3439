"""Programs that other tools verify, read as models and populations of ours; and what is made of their answers."""

from __future__ import annotations

import math
import textwrap

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from experiments import fairsquare_programs, paper_tables, published_tool
from experiments.rivals import asking
from experiments.rivals.as_ours import drawn, question
from experiments.rivals.places import FAIRSQUARE, Place
from experiments.rivals.programs import Branch, all_tests, read_program
from experiments.rivals.written_programs import as_sampler, program_of
from experiments.running import Ran, Reporter
from justicia.errors import InputError

HEAD = """
def popModel():
    sex = step([(0,1,0.25), (1,2,0.75)])
"""


def written(tmp_path, population, classifier):
    text = HEAD + textwrap.indent(textwrap.dedent(population), "    ")
    text += "    sensitiveAttribute(sex < 1)\n\ndef F():\n" + textwrap.indent(textwrap.dedent(classifier), "    ")
    path = tmp_path / "program.fr"
    path.write_text(text, encoding="utf-8")
    return path


def answered(path):
    held = fairsquare_programs.ask_ours(path)
    assert held.lo == pytest.approx(held.hi, abs=1e-5)
    return held


TREE = """
if job < 1:
    if age < 30:
        t = 1
    else:
        t = 0
elif job < 2:
    t = 0
else:
    t = 1
fairnessTarget(t > 0.5)
"""


def test_tree_over_a_population_that_branches(tmp_path):
    """By hand: 1/4 of the jobs are tested by age, whose distribution depends on sex, 1/4 are favored anyway."""
    path = written(
        tmp_path,
        """
        job = step([(0,1,0.25),(1,2,0.5),(2,3,0.25)])
        if sex < 1:
            age = gaussian(30, 100)
        else:
            age = gaussian(40, 25)
        """,
        TREE,
    )
    expected = (0.25 * 0.5 + 0.25) / (0.25 * norm.cdf(-2) + 0.25)
    held = answered(path)
    assert held.value == pytest.approx(expected, abs=1e-6)
    assert held.verdict is True
    value, error = drawn(path, 400_000, 1)
    assert abs(value - expected) < 4 * error


def test_affine_score_is_a_logistic_regression(tmp_path):
    path = written(
        tmp_path,
        """
        age = gaussian(40, 100)
        gain = gaussian(2, 9)
        """,
        """
        n = (age - 40) / 10
        t = 0.5 * n - 2 * gain + 3
        if sex < 1:
            t = t + 1
        fairnessTarget(t < 0)
        """,
    )
    spread = math.sqrt(0.25 + 36)
    expected = norm.cdf(0, loc=0, scale=spread) / norm.cdf(0, loc=-1, scale=spread)
    assert type(question(read_program(path)).favored).__name__ == "LogisticRegression"
    assert answered(path).value == pytest.approx(expected, abs=1e-6)


LARGER = """
a = gaussian(10, 4)
b = gaussian(9, 9)
g = gaussian(0, 1)
if b > a:
    a = b
"""


@pytest.mark.parametrize("weight", [1.5, -0.75])
def test_score_of_the_larger_of_two(tmp_path, weight):
    """By quadrature over the third number and the larger one."""
    path = written(tmp_path, LARGER, f"fairnessTarget({weight} * a + 2 * g - 10 * {weight} < 0)\n")
    # Both groups alike, so the favored share is found by making only one of them look at it.
    path.write_text(path.read_text().replace("fairnessTarget(", "fairnessTarget(sex > 1 or "), encoding="utf-8")

    def below(x):
        return norm.cdf(x, 10, 2) * norm.cdf(x, 9, 3)

    def share(g):
        limit = (10 * weight - 2 * g) / weight
        return norm.pdf(g) * (below(limit) if weight > 0 else 1 - below(limit))

    expected = quad(share, -9, 9, epsabs=1e-12)[0]
    assert answered(path).value == pytest.approx(expected, abs=1e-6)


def test_larger_of_two_against_a_number_needs_both_below(tmp_path):
    path = written(tmp_path, LARGER, "fairnessTarget(sex > 1 or a < 11)\n")
    assert answered(path).value == pytest.approx(norm.cdf(0.5) * norm.cdf(2 / 3), abs=1e-7)
    path = written(tmp_path, LARGER, "fairnessTarget(sex > 1 or not (a < 11))\n")
    assert answered(path).value == pytest.approx(1 - norm.cdf(0.5) * norm.cdf(2 / 3), abs=1e-7)


def test_score_that_depends_on_a_threshold(tmp_path):
    """Given the gain, the score is normal: by quadrature."""
    path = written(
        tmp_path,
        """
        gain = gaussian(1, 4)
        if gain < 2:
            age = gaussian(30, 100)
        else:
            age = gaussian(50, 25)
        """,
        "fairnessTarget(sex > 1 or 0.1 * age - 2 * gain < 1)\n",
    )

    def share(g):
        mean, deviation = (30, 10) if g < 2 else (50, 5)
        return norm.pdf(g, 1, 2) * norm.cdf((1 + 2 * g) / 0.1, mean, deviation)

    expected = quad(share, -20, 2, epsabs=1e-12)[0] + quad(share, 2, 22, epsabs=1e-12)[0]
    assert answered(path).value == pytest.approx(expected, abs=1e-6)


def test_qualified_people_alone(tmp_path):
    """By hand: of those above 18, the share above 25, in two distributions."""
    path = written(
        tmp_path,
        """
        if sex < 1:
            age = gaussian(20, 25)
        else:
            age = gaussian(30, 100)
        qualified(age > 18)
        """,
        "fairnessTarget(age > 25)\n",
    )
    expected = (norm.sf(1) / norm.sf(-0.4)) / (norm.sf(-0.5) / norm.sf(-1.2))
    assert answered(path).value == pytest.approx(expected, abs=1e-6)


def test_tests_that_earlier_ones_decide_are_left_out(tmp_path):
    path = written(
        tmp_path,
        "age = gaussian(0, 1)\n",
        """
        if age < 1:
            if age < 2:
                t = 1
            else:
                t = 0
        else:
            t = 0
        fairnessTarget(t > 0 and (sex < 1 or sex > 1))
        """,
    )
    program = read_program(path)
    assert isinstance(program.tree, Branch)
    assert sorted(test.limit for test in all_tests(program.tree)) == [1.0, 1.0, 1.0]
    assert (program.protected.name, program.cells) == ("sex", {0})


@pytest.mark.parametrize(
    ("classifier", "says"),
    [
        ("fairnessTarget(age * age < 1)\n", r"line 8: 'age \* age' is not understood"),
        ("x = sex + age\nfairnessTarget(x < 1)\n", "is not understood"),
        ("fairnessTarget(sex < 0.5)\n", "is not understood"),
        ("while age < 1:\n    age = 2\n", "is not understood"),
        ("y = poisson(3)\nfairnessTarget(y < 1)\n", "is not understood"),
        ("y = gaussian(3, 0)\nfairnessTarget(y < 1)\n", "is not understood"),
        ("t = 1\n", "does not say who is protected, or who is favored"),
        ("fairnessTarget(nobody < 1)\n", "'nobody' is not understood"),
        ("fairnessTarget(\n", "cannot be read as a program"),
    ],
)
def test_what_is_no_such_program_is_refused(tmp_path, classifier, says):
    with pytest.raises(InputError, match=says):
        read_program(written(tmp_path, "age = gaussian(0, 1)\n", classifier))


def test_absent_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_program(tmp_path / "none.fr")


def test_sums_that_depend_on_one_another_wholly_are_refused(tmp_path):
    path = written(
        tmp_path,
        "a = gaussian(0, 1)\nb = gaussian(0, 1)\n",
        "fairnessTarget(a < 0 and b < 0 and a + b < -1)\n",
    )
    with pytest.raises(InputError, match="depends wholly on"):
        question(read_program(path))


def test_ratio_of_bounds_is_the_widest():
    rates = [{"0": (0.2, 0.3), "1": (0.4, 0.5)}]
    assert fairsquare_programs.ratio(rates, {"0": 0.5, "1": 0.5}, frozenset("0")) == (0.2 / 0.5, 0.3 / 0.4)
    qualified = [*rates, {"0": (0.8, 0.9), "1": (0.6, 0.7)}]
    lo, hi = fairsquare_programs.ratio(qualified, {"0": 0.5, "1": 0.5}, frozenset("0"))
    assert (lo, hi) == pytest.approx(((0.2 / 0.9) / (0.5 / 0.6), (0.3 / 0.8) / (0.4 / 0.7)))


@pytest.fixture
def replies(monkeypatch, tmp_path):
    """A FairSquare that says what it is told to."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "fairProve.py").touch()
    monkeypatch.setenv("JUSTICIA_FAIRSQUARE", str(tmp_path))

    def reply(**held):
        ran = Ran(**{"status": "done", "seconds": 9.0, "output": "", "errors": "", **held})
        monkeypatch.setattr(asking, "run_program", lambda *_, **__: ran)
        return asking.ask_fairsquare("a.fr", 100.0)

    return reply


def test_answers_of_fairsquare(replies):
    said = "ratio bounds: None None\nratio bounds: 0.5 1.5\nratio bounds: 0.9 1.1\npostcondition holds: FAIR\n"
    held = replies(output=said + '{"seconds": 3.5}\n')
    assert (held.status, held.verdict, held.lo, held.hi, held.seconds) == ("answer", True, 0.9, 1.1, 3.5)
    held = replies(output="ratio bounds: 0.5 0.7\npostcondition does not hold: UNFAIR\n" + '{"seconds": 3.5}\n')
    assert (held.status, held.verdict) == ("answer", False)
    held = replies(status="time", seconds=115.0, output="ratio bounds: 0.5 1.5\nratio bou")
    assert (held.status, held.verdict, held.lo, held.hi, held.seconds) == ("time", None, 0.5, 1.5, 100.0)
    assert replies(output=said + '{"seconds": 101.0}\n').status == "time"
    held = replies(status="failed", errors="Traceback\nValueError: no such file\n")
    assert (held.status, held.verdict) == ("failed: ValueError: no such file", None)
    assert replies(status="failed").status == "failed: no output"


def test_tools_that_are_not_there_are_left_out_and_wrong_places_refused(monkeypatch, tmp_path):
    monkeypatch.delenv("JUSTICIA_FAIRSQUARE", raising=False)
    with Reporter(False) as progress:
        fairsquare_programs.run(tmp_path, quick=True, progress=progress)
    monkeypatch.setenv("JUSTICIA_FAIRSQUARE", str(tmp_path))
    with pytest.raises(InputError, match="is no checkout of FairSquare"):
        FAIRSQUARE.folder()
    monkeypatch.setenv("X_PYTHON", str(tmp_path / "python"))
    with pytest.raises(InputError, match="is no Python"):
        Place("X", None, "X_PYTHON").interpreter()


def test_rates_by_the_assumption():
    """By hand: one group, the tree wants x <= .5 and the second word."""
    import pandas as pd
    from sklearn.tree import DecisionTreeClassifier

    frame = pd.DataFrame(
        {"x": [0, 0, 1, 1], "w_0": [1, 0, 0, 0], "w_1": [0, 1, 0, 1], "w_2": [0, 0, 1, 0], "sex": [0, 0, 0, 0]}
    )
    model = DecisionTreeClassifier(random_state=0).fit(frame, [0, 1, 0, 0])
    assert model.predict(frame).tolist() == [0, 1, 0, 0]
    found = published_tool.brute_force(model, frame, published_tool.codes(frame, ["sex"]))
    assert found == [0.5 * 0.5]
    assert published_tool.codes(frame, ["w", "sex"]).tolist() == ["0 0", "1 0", "2 0", "1 0"]


def test_table_of_numbers_alone():
    frame, label = published_tool.numbers("ricci", ("race",))
    assert list(frame.columns) == ["position", "oral", "written", "race_0", "race_1", "race_2"]
    assert ((frame >= 0) & (frame <= 1)).all().all()
    assert (frame[["race_0", "race_1", "race_2"]].sum(axis=1) == 1).all()
    assert set(np.unique(label)) == {0, 1}


def test_synthetic_example_of_the_paper(tmp_path):
    """By hand: fitness above .61 and income above .29, or income above .69; the paper prints .262."""
    path = tmp_path / "example.fr"
    path.write_text(paper_tables.EXAMPLE_PROGRAM, encoding="utf-8")

    def rate(income, fitness):
        fit = norm.sf((0.61 - fitness) / 0.1)
        return fit * norm.sf((0.29 - income) / 0.1) + (1 - fit) * norm.sf((0.69 - income) / 0.1)

    old, young = rate(0.6, 0.3), rate(0.4, 0.7)
    assert (round(old / young, 3), round(young - old, 3)) == (0.262, 0.521)
    assert answered(path).value == pytest.approx(old / young, abs=1e-6)


@pytest.fixture
def people():
    import pandas as pd

    rng = np.random.default_rng(5)
    sex, word = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    number = rng.normal(sex, 1 + sex, 400)
    frame = pd.DataFrame({"number": number, "word": word, "sex": sex})
    return frame, ((number + 2 * word > 1.2) | (number < -1)).astype(int)


def test_tree_is_written_as_a_program(people, tmp_path):
    """Its ratio is that of the leaves' probabilities, by hand from the tree and the rows."""
    from sklearn.tree import DecisionTreeClassifier

    frame, label = people
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame, label)
    path = tmp_path / "tree.fr"
    path.write_text(program_of(model, frame, "sex"), encoding="utf-8")
    rates = []
    for value in (0, 1):
        rows = frame[frame.sex == value]
        cuts = sorted(model.tree_.threshold[model.tree_.feature == 0])
        ends = np.array([-np.inf, *cuts, np.inf])
        masses = np.diff(norm.cdf(ends, rows.number.mean(), rows.number.std()))
        middles = np.array([cuts[0] - 1, *((ends[1:-2] + ends[2:-1]) / 2), cuts[-1] + 1])
        share = rows.word.mean()
        rate = 0.0
        for word, weight in ((0, 1 - share), (1, share)):
            asked = frame.iloc[: len(middles)].assign(number=middles, word=word, sex=value)
            rate += weight * float(masses @ model.predict(asked))
        rates.append(rate)
    assert answered(path).value == pytest.approx(rates[0] / rates[1], abs=1e-5)


def test_score_is_written_as_a_program(people, tmp_path):
    from sklearn.linear_model import LogisticRegression

    frame, label = people
    kept = frame[["number", "sex"]]
    model = LogisticRegression().fit(kept, label)
    path = tmp_path / "score.fr"
    path.write_text(program_of(model, kept, "sex"), encoding="utf-8")
    weights, bias = model.coef_[0], float(model.intercept_[0])
    rates = []
    for value in (0, 1):
        rows = frame[frame.sex == value].number
        middle = weights[0] * rows.mean() + weights[1] * value + bias
        rates.append(norm.sf(0, middle, abs(weights[0]) * rows.std()))
    assert answered(path).value == pytest.approx(rates[0] / rates[1], abs=1e-5)
    with pytest.raises(InputError, match="column 'word' is 0 or 1"):
        program_of(LogisticRegression().fit(frame, label), frame, "sex")


def test_sampler_draws_the_same_people():
    """The other tool's steps are their numbers, so that what lies in the second is 1 itself."""

    class WrongGroup(Exception):
        pass

    rng = np.random.default_rng(3)

    def sensitive(holds, flag):
        if holds != flag:
            raise WrongGroup

    held = {
        "gaussian": lambda mean, variance: rng.normal(mean, variance**0.5),
        "step": lambda steps: rng.choice(len(steps), p=[p for *_, p in steps]),
        "sensitiveAttribute": sensitive,
    }
    text = HEAD + "    x = gaussian(2, 1)\n    sensitiveAttribute(sex < 1)\n\ndef F():\n    t = x\n"
    text += "    if sex > 1:\n        t = t + 100\n    fairnessTarget(t > 50)\n"
    exec(as_sampler(text), held)
    for flag, expected in ((True, 0), (False, 1)):
        drawn_people = []
        for _ in range(40):
            try:
                drawn_people.append(held["sample"](flag))
            except WrongGroup:
                continue
        assert set(drawn_people) == {expected}
