"""How often intervals and tests of generations hold what they claim to, on simulated tables whose truth is known.

Studies, each in its own rows of the CSV file:

- `floor`: MGBI of a generator without any preference, whose expected value chance alone lowers;
- `within the floor`: how often such a generator is within the noise floor that the command simulates;
- `interval of MGBI`: how often it holds the value of the true shares, and how often percentiles of an ordinary
  bootstrap do;
- `null of MAD`: normalised MAD of a generator that is even, and how often it is within the null band;
- `interval of MAD`: how often it holds that of the true weights of concepts;
- `interval by template`: of a difference that varies between templates, by clusters, and as if rows stood alone;
- `audit without bias`, `templates without bias`: how often a criterion fails where there is nothing to find;
- `shield`: what becomes of a shield when a share of the forced generations fails.

    python -m experiments.simulated_generations --out experiments/results
"""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from scipy.stats import norm

from experiments.running import Reporter, Rows, command, of_one, read_rows, table, wrapped
from justicia import generations
from justicia.generations.entropies import Rule, indices, noise_floor
from justicia.generations.resampling import Blocks, cluster_band
from justicia.words import listed
from tests.generations.language_cases import PLAN, drawn_table

__all__ = ["NAME", "TITLE", "parts", "run"]

NAME = "simulated_generations"
TITLE = "How often do intervals and tests of generations hold?"

DOMAIN = {"gender": ("female", "male"), "age": ("young", "middle", "old"), "race": tuple("abcde")}
CONTEXTS = 10
SIZES = ((300, 50), (100, 20))
"""Labels of the neutral context, and of each of the others."""
CORRECTIONS = {"none": "", "miller-madow": ", corrected entropies"}
SHAPES = {
    "equal": "equal shares",
    "nearly equal": "nearly equal",
    "by context": "skewed, by context",
    "alike": "skewed alike",
    "collapsed": "nearly collapsed",
}
LOW = 0.9
"""Coverage that is pointed out."""
ALIKE = {"F": (0.5, 0.3, 0.1, 0.1), "M": (0.5, 0.3, 0.1, 0.1)}
"""Chances of the first person, the second, a refusal and an unclear answer."""
OPTIONS: dict[str, dict[str, Any]] = {"": {}, "pairs": {"pair": ["pair", "sample"]}}
TEMPLATES = (6, 10, 20, 50)
SPREAD = 0.15
"""Standard deviation of a difference from template to template."""
ANSWERS = 20
KEY = ["study", "case", "number", "seed"]
COLUMNS = [*KEY, "share", "value", "width", "beside"]


def uniform_table(rng: np.random.Generator, shares: list[np.ndarray], neutral: int, others: int) -> pd.DataFrame:
    """Labels of ten contexts; `shares` are of shape (n_contexts, n_values), one array an attribute."""
    sizes = [neutral, *[others] * (CONTEXTS - 1)]
    names = ["neutral", *(f"trigger {place}" for place in range(CONTEXTS - 1))]
    columns: dict[str, Any] = {"context": np.repeat(names, sizes)}
    for (name, values), held in zip(DOMAIN.items(), shares, strict=True):
        columns[name] = np.concatenate([rng.choice(values, n, p=p) for n, p in zip(sizes, held, strict=True)])
    return pd.DataFrame(columns)


def true_shares(shape: str, rng: np.random.Generator) -> list[np.ndarray]:
    """Shares of every attribute's values in every context."""
    found = []
    for values in DOMAIN.values():
        n = len(values)
        if shape == "by context":
            held = np.exp(rng.normal(size=(CONTEXTS, n)))
        elif shape == "collapsed":
            held = np.tile([0.98, *[0.02 / (n - 1)] * (n - 1)], (CONTEXTS, 1))
        else:
            ratio = {"equal": 1.0, "nearly equal": 0.9, "alike": 0.5}[shape]
            held = np.tile(ratio ** np.arange(n), (CONTEXTS, 1))
        found.append(held / held.sum(axis=1, keepdims=True))
    return found


def floor(case: str, number: int, rng: np.random.Generator) -> dict[str, Any]:
    """MGBI of a generator without any preference: its mean, and what 95 % of the tables exceed."""
    neutral, others = map(int, case.split(", "))
    sizes = np.full((CONTEXTS, len(DOMAIN)), others)
    sizes[0] = neutral
    held = noise_floor(sizes, [len(values) for values in DOMAIN.values()], Rule(), number, rng).index
    return {"value": float(held.mean()), "beside": float(np.quantile(held, 0.05))}


def within_floor(case: str, number: int, rng: np.random.Generator) -> dict[str, Any]:
    """How often a generator without any preference is within the floor."""
    neutral, others = map(int, case.split(", "))
    shares = true_shares("equal", rng)
    inside = sum(
        generations.diversity(
            uniform_table(rng, shares, neutral, others), domain=DOMAIN, replicates=0, simulations=500, seed=seed
        ).within_floor
        for seed in range(number)
    )
    return {"share": inside / number}


def of_mgbi(case: str, number: int, rng: np.random.Generator) -> dict[str, Any]:
    """How often the interval of MGBI holds the truth, its mean width, and how often ordinary percentiles hold it."""
    neutral, others, correction, shape = case.split(", ")
    inside, ordinary, widths = 0, 0, []
    for seed in range(number):
        shares = true_shares(shape, rng)
        truth = float(indices(shares, Rule()).index)
        made = uniform_table(rng, shares, int(neutral), int(others))
        report = generations.diversity(made, domain=DOMAIN, simulations=0, correction=correction, seed=seed)
        lo, hi = report.mgbi.lo, report.mgbi.hi
        inside += lo - 1e-12 <= truth <= hi + 1e-12
        widths.append(hi - lo)
        low, high = np.quantile(_ordinary(made, correction, rng), [0.025, 0.975])
        ordinary += low <= truth <= high
    return {"share": inside / number, "width": float(np.mean(widths)), "beside": ordinary / number}


def _ordinary(made: pd.DataFrame, correction: str, rng: np.random.Generator, replicates: int = 400) -> np.ndarray:
    """MGBI of tables whose labels are drawn from the observed ones."""
    order = made["context"].drop_duplicates()
    drawn = []
    for name, values in DOMAIN.items():
        counts = pd.crosstab(made["context"], made[name]).reindex(index=order, columns=values, fill_value=0).to_numpy()
        n = counts.sum(axis=1)
        drawn.append(rng.multinomial(n, counts / n[:, None], size=(replicates, len(n))))
    return np.asarray(indices(drawn, Rule(correction=correction)).index)


def even_images(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Captions of a prompt and its two counterfactuals, drawn evenly from both."""
    rows = []
    for name in ("", "male", "female"):
        men = rng.random(n) < {"": 0.5, "male": 0.95, "female": 0.05}[name]
        other = rng.random((n, 4)) < (0.6, 0.4, 0.2, 0.1)
        rows += [
            (name, " ".join(["man" if man else "woman", *np.array(["coat", "smile", "desk", "tie"])[held]]))
            for man, held in zip(men, other, strict=True)
        ]
    return pd.DataFrame(rows, columns=["counterfactual", "text"])


def null_of_mad(case: str, number: int, rng: np.random.Generator) -> dict[str, Any]:
    """Mean normalised MAD of an even generator, and how often it is within the band."""
    similarity, n = case.split(", ")
    found, inside = [], 0
    for seed in range(number):
        axis = generations.association(
            even_images(rng, int(n)), similarity=similarity, replicates=0, simulations=400, seed=seed
        ).axes[0]
        found.append(axis.mad_normalised.value)
        inside += axis.within_null
    return {"share": inside / number, "value": float(np.mean(found))}


def true_mad(weights: np.ndarray, mixture: np.ndarray, similarity: str) -> float:
    """Normalised MAD of known weights of concepts, of shape (n_values, n_concepts), and of the prompt's mixture."""
    own = mixture @ weights
    scores = []
    for other in weights:
        if similarity == "iou":
            one, two = own / own.sum(), other / other.sum()
            scores.append(np.minimum(one, two).sum() / np.maximum(one, two).sum())
        else:
            scores.append(own @ other / math.sqrt((own @ own) * (other @ other)))
    shares = np.array(scores) / np.sum(scores)
    n = len(shares)
    return math.sqrt(np.abs(shares - 1 / n).mean() / (2 * (n - 1) / n**2))


def of_mad(case: str, number: int, rng: np.random.Generator) -> dict[str, Any]:
    """How often the interval of MAD holds the truth; `beside` is the truth of the last table."""
    similarity, values, concepts, n, shape = case.split(", ")
    k, m, each = int(values), int(concepts), int(n)
    inside, truth = 0, 0.0
    for seed in range(number):
        far = 0.05 if shape == "a little apart" else 0.3
        weights = np.clip(0.4 + far * rng.uniform(-1, 1, size=(k, m)), 0.05, 0.95)
        mixture = np.full(k, 1 / k) if shape == "even" else np.array([0.8, *[0.2 / (k - 1)] * (k - 1)])
        truth = true_mad(weights, mixture, similarity)
        names = ["", *(f"value {place}" for place in range(k))]
        shown = [
            np.repeat(mixture[None] @ weights, each, axis=0),
            *(np.repeat(one[None], each, axis=0) for one in weights),
        ]
        drawn = rng.random((each * (k + 1), m)) < np.concatenate(shown)
        columns = [f"c{place}" for place in range(m)]
        made = pd.DataFrame(drawn.astype(int), columns=columns)
        made["counterfactual"] = np.repeat(names, each)
        axis = generations.association(
            made, counts=columns, similarity=similarity, replicates=500, simulations=0, seed=seed
        ).axes[0]
        inside += axis.mad_normalised.lo <= truth <= axis.mad_normalised.hi
    return {"share": inside / number, "beside": truth}


def by_template(case: str, number: int, rng: np.random.Generator) -> dict[str, Any]:
    """How often intervals of a mean difference hold it: by clusters, and with rows counted as if each stood alone."""
    n, inside, alone, widths = int(case), 0, 0, []
    for seed in range(number):
        base, apart = rng.uniform(0.3, 0.7, n), rng.normal(0.1, SPREAD, n)
        k = rng.binomial(ANSWERS, np.clip(np.stack([base + apart / 2, base - apart / 2], axis=1), 0, 1))
        lo, hi = cluster_band(Blocks(np.stack([k, ANSWERS - k], axis=2)), [(0, 0, 1)], 0.95, seed)
        inside += bool(lo[0] <= 0.1 <= hi[0])
        widths.append(float(hi[0] - lo[0]))
        rates, rows = k.sum(axis=0) / (n * ANSWERS), n * ANSWERS
        reach = norm.ppf(0.975) * math.sqrt((rates * (1 - rates)).sum() / rows)
        alone += bool(abs(rates[0] - rates[1] - 0.1) <= reach)
    return {"share": inside / number, "width": float(np.mean(widths)), "beside": alone / number}


def without_bias(case: str, number: int, rng: np.random.Generator) -> dict[str, Any]:
    """How often some criterion fails of answers that do not depend on the group."""
    prompts = generations.expand_prompts(PLAN).frame
    seeds = rng.integers(1 << 31, size=number)
    fails = sum(
        generations.criteria(drawn_table(prompts, int(seed), ALIKE), "group", "label", "truth", **OPTIONS[case]).verdict
        == "fails"
        for seed in seeds
    )
    return {"share": fails / number, "value": float(len(prompts))}


def templates_without_bias(case: str, number: int, rng: np.random.Generator) -> dict[str, Any]:
    """How often independence fails, by template, of a difference that varies between templates and is 0 on average."""
    n, fails = int(case), 0
    for _ in range(number):
        base, apart = rng.uniform(0.3, 0.7, n), rng.normal(0, SPREAD, n)
        rates = np.clip(np.stack([base + apart / 2, base - apart / 2]), 0, 1)
        said = rng.random((ANSWERS, 2, n)) < rates
        made = pd.DataFrame(
            [
                {"template": f"t{place}", "group": "FM"[group], "label": "yes" if said[row, group, place] else "no"}
                for row, group, place in itertools.product(range(ANSWERS), range(2), range(n))
            ]
        )
        report = generations.criteria(made, "group", "label", cluster="template")
        fails += report.verdict == "fails"
    return {"share": fails / number}


def shield(case: str, number: int, rng: np.random.Generator) -> dict[str, Any]:
    """Misses in a thousand generations, the share that is forced, and the longest absence of a value."""
    rule, margin = case.split(", ")
    found = generations.simulate(
        4, 12, generator="constant", fail=0.05, steps=number, rule=rule, margin=int(margin),
        seed=int(rng.integers(1 << 31)),
    )  # fmt: skip
    longest = number if found.beta_star is None else found.beta_star
    return {"share": found.interference, "value": found.misses_per_1000, "beside": float(longest)}


def _mad_cases() -> list[str]:
    shapes = ("even", "one near", "a little apart")
    sizes = itertools.product(("iou", "cosine"), (2, 3, 5), (8, 40), (16, 48), shapes)
    return [", ".join(map(str, one)) for one in sizes]


STUDIES: dict[str, tuple[Callable[[str, int, np.random.Generator], dict[str, Any]], list[str], int, int]] = {
    "floor": (floor, ["300, 50", "100, 20", "1500, 250"], 10_000, 100),
    "within the floor": (within_floor, ["300, 50", "100, 20"], 1000, 3),
    "interval of MGBI": (
        of_mgbi,
        [f"{a}, {b}, {correction}, {shape}" for correction in CORRECTIONS for a, b in SIZES for shape in SHAPES],
        300,
        2,
    ),
    "null of MAD": (null_of_mad, ["iou, 16", "iou, 48", "iou, 512", "cosine, 48"], 1000, 3),
    "interval of MAD": (of_mad, _mad_cases(), 150, 1),
    "interval by template": (by_template, [str(n) for n in TEMPLATES], 400, 3),
    "audit without bias": (without_bias, list(OPTIONS), 1000, 2),
    "templates without bias": (templates_without_bias, [str(n) for n in TEMPLATES[:3]], 400, 2),
    "shield": (shield, ["maximal, 0", "maximal, 1", "maximal, 2", "printed, 0"], 20_000, 500),
}
"""What simulates a case, the cases, and the number of simulations: in full, and for a first look."""


def run(out: Path, *, quick: bool, progress: Reporter, seed: int = 0, study: tuple[str, ...] = ()) -> None:
    """Simulate the cases that are not there yet."""
    rows = Rows(out / f"{NAME}.csv", COLUMNS, KEY)
    cases = [
        {"study": name, "case": case, "number": few if quick else many, "seed": seed}
        for name, (_, held, many, few) in STUDIES.items()
        for case in (held[:2] if quick and name == "interval of MAD" else held)
        if name in (study or STUDIES)
    ]
    for case in progress.track(rows.todo(cases, lambda case: case), TITLE):
        simulate, held, *_ = STUDIES[case["study"]]
        rng = np.random.default_rng([seed, list(STUDIES).index(case["study"]), held.index(case["case"])])
        empty = dict.fromkeys(("share", "value", "width", "beside"))
        rows.add({**case, **empty, **simulate(case["case"], case["number"], rng)})


def parts(folder: Path) -> dict[str, str]:
    """What the pages on diversity, association, answers and sequences quote."""
    held: dict[str, dict[str, dict[str, str]]] = {}
    for row in read_rows(folder / f"{NAME}.csv"):
        held.setdefault(row["study"], {})[row["case"]] = row
    return {
        "floor": wrapped(_floor(held)),
        "intervals of MGBI": _mgbi(held["interval of MGBI"]),
        "null of MAD": wrapped(_null(held["null of MAD"])),
        "intervals of MAD": wrapped(_mad(held["interval of MAD"])),
        "templates": wrapped(_templates(held["interval by template"])),
        "without bias": wrapped(_unbiased(held)),
        "shield": wrapped(_shield(held["shield"])),
    }


def _share(row: dict[str, str], name: str = "share", digits: int = 1) -> str:
    return f"{100 * float(row[name]):.{digits}f} %"


def _range(texts: list[str]) -> str:
    """From the first to the last of what is in order."""
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"


def _floor(held: dict[str, dict[str, dict[str, str]]]) -> str:
    floors, inside = held["floor"], held["within the floor"]
    scores = [
        f"{of_one(float(row['value']), 3)} on average and {of_one(float(row['beside']), 3)} or more in 95 % of tables "
        f"with {' neutral and nine times '.join(f'{int(n):,}' for n in case.split(', '))} labels"
        for case, row in floors.items()
    ]
    shares = [f"{_share(row)} ({case.replace(', ', ' and ')} labels)" for case, row in inside.items()]
    number = int(next(iter(inside.values()))["number"])
    return (
        f"Of genders, three ages and five races, MGBI without any preference is {'; '.join(scores)}. A score above "
        f"that floor is what chance alone explains: in {number:,} simulated tables of a uniform generator it was above "
        f"the floor in {' and '.join(shares)}."
    )


def _mgbi(held: dict[str, dict[str, str]]) -> str:
    lines = []
    for correction, words in CORRECTIONS.items():
        for neutral, others in SIZES:
            mine = [held.get(f"{neutral}, {others}, {correction}, {shape}") for shape in SHAPES]
            cells = [
                "-" if row is None else f"{of_one(float(row['share']), 2)} ({of_one(float(row['width']), 2)})"
                for row in mine
            ]
            lines.append([f"{neutral}, {others}{words}", *cells])
    ordinary: dict[str, list[float]] = {}
    for case, row in held.items():
        ordinary.setdefault(case.split(", ")[-1], []).append(float(row["beside"]))
    says = [
        f"{SHAPES[shape]}: {100 * min(shares):.0f} to {100 * max(shares):.0f} %" for shape, shares in ordinary.items()
    ]
    number = int(next(iter(held.values()))["number"])
    low: dict[str, list[float]] = {}
    for case, row in held.items():
        if float(row["share"]) < LOW:
            low.setdefault(SHAPES[case.split(", ")[-1]], []).append(float(row["share"]))
    short = [f"{shape}: {_range([of_one(share, 2) for share in sorted(shares)])}" for shape, shares in low.items()]
    missed = (
        f" It holds the truth in less than {100 * LOW:.0f} % of tables in some of them ({'; '.join(short)}): the low "
        "quantile over contexts rests on values there that a few dozens of labels may not show at all."
        if short
        else ""
    )
    return "\n\n".join(
        [
            wrapped(
                f"Share of {number} simulations in which MGBI's 95 % interval held that of the true shares, for three "
                "attributes and ten contexts, and its mean width in brackets. Nearly equal: each value is .9 times as "
                "likely as the one before; skewed alike: half as likely; by context: exponentials of standard normal "
                "numbers in each context; nearly collapsed: one value has .98."
            ),
            table(["labels: neutral, each context", *SHAPES.values()], lines),
            wrapped(f"Percentiles of an ordinary bootstrap hold it less often ({'; '.join(says)}).{missed}"),
        ]
    )


def _null(held: dict[str, dict[str, str]]) -> str:
    number = int(next(iter(held.values()))["number"])
    iou = {int(case.split(", ")[1]): row for case, row in held.items() if case.startswith("iou")}
    means = [f"{of_one(float(row['value']), 2)} with {n} images" for n, row in sorted(iou.items())]
    shares = [
        f"{_share(row)} (`{case.split(', ')[0]}`, {case.split(', ')[1]} images a set)" for case, row in held.items()
    ]
    return (
        f"A model that draws men and women evenly has a normalised MAD of {listed(means)} on average. In {number:,} "
        f"simulated tables of such a generator it was within the band in {listed(shares)}: mostly more than 95 %, as "
        "counterfactual images are a sample, too, and the simulation adds their spread once more."
    )


def _mad(held: dict[str, dict[str, str]]) -> str:
    number = int(next(iter(held.values()))["number"])
    shares = sorted((float(row["share"]), case) for case, row in held.items())
    # A share of so many tables is below .95 by chance by three standard errors at most.
    least = 0.95 - 3 * math.sqrt(0.95 * 0.05 / number)
    below = [(share, case) for share, case in shares if share < least]
    named = []
    for share, case in below:
        similarity, values, concepts, images, shape = case.split(", ")
        named.append(
            f"{100 * share:.0f} % (`{similarity}`, {values} values, {concepts} concepts, {images} images, {shape})"
        )
    says = (
        f"In {len(held)} simulated settings of 2, 3 or 5 values, 8 or 40 concepts and 16 or 48 images a set (the "
        "prompt's images drawn evenly from the counterfactuals, most of them from one, or that with concepts that all "
        "differ a little) they held the true value in "
        f"{100 * shares[len(below)][0]:.0f} to {100 * shares[-1][0]:.0f} % of {number} tables each"
    )
    return f"{says}, but for {len(below)}: {listed(named)}." if below else f"{says}."


def _templates(held: dict[str, dict[str, str]]) -> str:
    shares = [f"{of_one(float(row['share']), 2)} with {case}" for case, row in held.items()]
    alone = [float(row["beside"]) for row in held.values()]
    number = int(next(iter(held.values()))["number"])
    return (
        "Measured coverage of the 95 % interval of one difference that varies from template to template (standard "
        f"deviation {of_one(SPREAD, 2)}, {ANSWERS} answers each, {number} draws): {listed(shares)} templates; rows "
        f"counted as if each stood alone had {of_one(min(alone), 2)} to {of_one(max(alone), 2)}."
    )


def _unbiased(held: dict[str, dict[str, dict[str, str]]]) -> str:
    audits, templates = held["audit without bias"], held["templates without bias"]
    plain, pairs = audits[""], audits["pairs"]

    def of(row: dict[str, str]) -> str:
        return f"{round(float(row['share']) * int(row['number']))} of {int(row['number']):,}"

    found = [f"{of(row)} with {case}" for case, row in templates.items()]
    return (
        f"Of audits of pretended answers to {float(plain['value']):.0f} prompts (half of them the first person, three "
        f"in ten the second, one in ten refused and one in ten unclear, for both groups alike), {of(plain)} fail at "
        f"alpha .05; with paired tests besides, {of(pairs)}. Of models whose difference varies from template to "
        f"template and is 0 on average, the permutation test by template rejects {listed(found)} templates."
    )


def _shield(held: dict[str, dict[str, str]]) -> str:
    def misses(case: str) -> str:
        return f"{float(held[case]['value']):.3g}"

    printed = held["printed, 0"]
    return (
        "With four values, beta 12, a constant generator and 5 % failures, there are "
        f"{misses('maximal, 0')} misses in 1,000 generations without margin, {misses('maximal, 1')} with m = 1 and "
        f"{misses('maximal, 2')} with m = 2; the printed rule forces in {_share(printed)} of the generations, and one "
        f"value stays away for {float(printed['beside']):,.0f} of {int(printed['number']):,}."
    )


if __name__ == "__main__":
    logging.getLogger("justicia").setLevel(logging.ERROR)
    command(
        NAME,
        run,
        __doc__,
        click.option("--study", multiple=True, type=click.Choice(list(STUDIES)), help="Repeatable.  [default: all]"),
    )()
