"""What the HTML report says about what was audited, and how: texts from an audit's JSON."""

from __future__ import annotations

import re
import shlex
from typing import Any

from justicia.words import counted

__all__ = [
    "ERRORS",
    "STRUCTURES",
    "command_of",
    "facts_of",
    "glossary_of",
    "method_of",
    "method_words",
    "unseen_of",
    "with_names",
]

Json = dict[str, Any]

STRUCTURES = {
    "tree": "each feature depends on the group and at most one other feature",
    "independent": "features are independent given the group",
    "empirical": "the rows themselves",
}
"""Populations that need more words than their description."""

ERRORS = {
    "verification": "width of the certified bounds: 0 when the answer is exact",
    "sampling": "the rows are a sample: how far their rates may be from those of all people",
    "structure": "how far the population's rates are from those of the rows it was fitted on",
}
"""What each source of error is."""

ENGINES = {
    "paths": "adds up the probabilities of the leaves of the tree that say yes",
    "satisfied_clauses": "adds up, along the population, how likely each set of the rule's conditions is satisfied",
    "sums": "adds up the probabilities of all sums that the score can take",
    "fourier": "finds the distribution of the score from its characteristic function, between two bounds",
    "branch_and_bound": "divides the people into boxes until the trees of the model are sure of each, and adds up",
    "clauses": "writes the question as a formula of stochastic SAT and counts its solutions",
    "normal": "integrates the normal distribution of the score",
    "boxes": "adds up the probabilities of boxes of normally distributed columns",
}
"""How each engine finds a rate."""

_MISSING = {
    "group": "a group of their own",
    "drop": "left out",
    "bounds": "in no group; ranges over all groups that they may be in stand beside the others' rates",
}


def facts_of(held: Json) -> list[tuple[str, str]]:
    """What was audited, as terms and what they are."""
    model, data, check = held.get("model") or {}, held.get("data") or {}, held.get("self_check")
    facts: list[tuple[str, str]] = []
    if model:
        facts.append(("model", model.get("source") or "given in Python"))
        facts.append(("class", model["class"]))
        if model.get("sha256"):
            facts.append(("SHA-256 of the model", model["sha256"]))
        if model["sklearn"]["trained"]:
            facts.append(
                ("scikit-learn", f"trained with {model['sklearn']['trained']}, audited with {model['sklearn']['now']}")
            )
        facts.append(("depends on", ", ".join(model["features"]) or "nothing"))
    facts.append(("table", data.get("source") or "given in Python"))
    if data.get("sha256"):
        facts.append(("SHA-256 of the table", data["sha256"]))
    dropped = sum(data["dropped"].values())
    facts.append(("rows", f"{data['rows']:,} read, {data['rows_used']:,} used, {dropped:,} dropped"))
    facts += [(f"dropped: {reason}", f"{number:,}") for reason, number in data["dropped"].items() if number]
    unseen = sum(rows for values in data["unseen"].values() for rows in values.values())
    facts.append(("unseen values", counted(unseen, "row") if unseen else "none"))
    facts.append(("sensitive columns", ", ".join(held["sensitive"])))
    decisions, weight, publishing = held.get("decisions"), held.get("weight"), held.get("publishing") or {}
    if decisions:
        facts.append(("decisions", f"column {decisions['column']}"))
        facts += [("favorable when", rule) for rule in decisions["rules"]]
    else:
        words = held.get("command") or []
        named = not words or any(word.startswith("--favorable") for word in words)
        facts.append(("favorable outcome", f"{held['favorable'] or '–'}{'' if named else ' (found, not named)'}"))
    if weight:
        facts.append(("row weights", f"column {weight['column']}: {weight['says']}"))
    if publishing.get("min_group"):
        facts.append(("smallest group", f"{publishing['min_group']:,} rows; smaller ones enter no measure"))
    if publishing.get("suppress_below"):
        facts.append(("suppressed", f"counts below {publishing['suppress_below']:,}, and what would give them away"))
    if held.get("missing") in ("group", "drop", "bounds"):
        facts.append(("without a sensitive value", _MISSING[held["missing"]]))
    facts.append(("true outcome", held["label"] or "none: rates by true outcome are left out"))
    if check:
        facts.append(
            (
                "self-check",
                f"{counted(check['mismatches'], 'mismatch', 'mismatches')} of the encoded model with its own predict "
                f"on {counted(check['rows'], 'row')} and {counted(check['boundary_points'], 'boundary point')}",
            )
        )
    return facts


def with_names(method: str) -> str:
    """A statistical method with the names of people as they are written; the JSON has them in lower case.

    >>> with_names("wilson intervals, simultaneous over groups (bonferroni)")
    'Wilson intervals, simultaneous over groups (Bonferroni)'
    """
    return re.sub(r"wilson|clopper|pearson|newcombe|bonferroni|kish", lambda found: found[0].capitalize(), method)


def method_words(method: str) -> str:
    """The same for a page, which says whose method it is.

    >>> method_words("log-ratio")
    "Katz's logarithmic"
    """
    return with_names(method).replace("log-ratio", "Katz's logarithmic")


def unseen_of(held: Json) -> list[tuple[str, str, int]]:
    """Values that the model was not fitted on: column, value and number of rows."""
    unseen = (held.get("data") or {}).get("unseen") or {}
    return [(column, value, rows) for column, values in unseen.items() for value, rows in values.items()]


def command_of(held: Json) -> str:
    """The command line as a shell would take it; empty without one."""
    words = held.get("command")
    return " ".join(shlex.quote(word) for word in words) if words else ""


def method_of(held: Json) -> list[str]:
    """How the answer was found and what it claims, a paragraph each."""
    solver = held.get("solver") or {}
    lines = []
    if not solver:
        return ["The file holds decisions, so the shares of the rows are counted and nothing is verified."]
    guarantee = solver["guarantee"]
    lines.append(
        "The model was encoded as a function of the cells of its features: sets of values that it cannot tell apart. "
        "The encoding was compared with the model's own predict on every row and on both sides of every boundary."
    )
    lines.append(
        "The population is a probability distribution over these cells for every group, named and described above. For "
        "each group the probability that the model says yes was then computed, not sampled: by the engine "
        f"{solver['engine']}{_engine_words(solver['engine'])}, "
        + (
            "going through every group."
            if solver["search"] == "enumerate"
            else "searching for the most and the least favored group by bounds, without going through all of them."
        )
    )
    meaning = {
        "exact": "The rates are exact: no error but the rounding of floating-point numbers, below 1e-12.",
        "bounds": "The rates are certified bounds: the probability under the population certainly lies between them.",
        "statistical": (
            "Some bounds come from drawing people at random: they hold but for the stated small probability, and stand "
            "in columns of their own."
        ),
    }
    lines.append(meaning[guarantee])
    lines.append(
        "Exact is said of the model under this population, not of the world: whether the population describes the "
        "people is a question of its fit and of the rows it came from, whose errors are listed apart. The rates of the "
        "rows stand beside the verified ones; where the two disagree, look at the fit first."
    )
    return lines


def _has_statistical(grouping: Json) -> bool:
    return any((group.get("selection_rate") or {}).get("statistical") for group in grouping["groups"])


def _engine_words(engine: str) -> str:
    """What an engine does, between brackets; nothing of one that is outside."""
    says = ENGINES.get(engine)
    return f" (which {says})" if says else ""


def glossary_of(held: Json, confidence: str) -> list[tuple[str, str]]:
    """The words of the report and what they mean."""
    terms = [
        (
            "group",
            "The people who share their values in the sensitive columns; compound when there is more than one column.",
        ),
        (
            "selection rate",
            "Share of a group that gets the favorable outcome. Some papers call it positive predictive value, which "
            "elsewhere means precision.",
        ),
        ("rows", "Counted among the people in the table."),
        (
            f"{confidence} interval",
            "Where the rate of all people lies with this confidence, if the rows are a random sample of them: Wilson's "
            "interval for a rate, one group at a time.",
        ),
    ]
    if held.get("model"):
        terms.insert(
            2,
            (
                "verified",
                "Computed from the model and the population, for everyone whom the population describes, not only for "
                "the people in the table.",
            ),
        )
        if any(_has_statistical(grouping) for grouping in held["groupings"]):
            terms.insert(
                3,
                (
                    "statistical",
                    "Verified too, but narrowed by drawing people at random where certain bounds leave something open; "
                    "it holds but for a very small probability.",
                ),
            )
    if held["label"]:
        terms += [
            ("TPR", "True positive rate: selection rate of the people whose true outcome is favorable."),
            ("FPR", "False positive rate: selection rate of the people whose true outcome is not favorable."),
        ]
    if held["requirements"]:
        terms.append(
            (
                "met, breached, undecided",
                "A requirement is met or breached when the bounds of its measure lie wholly on one side of the limit; "
                "undecided when they straddle it, or when the measure is undefined.",
            )
        )
    terms.append(
        (
            "disparate impact",
            "The smallest selection rate divided by the largest: how many people of the group selected least are "
            "selected for each one of the group selected most, of as many people.",
        )
    )
    if held.get("model"):
        terms.append(
            ("population", "The distribution of people that the verified rates are about, group by group; see above.")
        )
    if held["label"]:
        terms.append(("precision", "Share of the selected people whose true outcome is favorable."))
    if any(grouping.get("adverse_impact") for grouping in held["groupings"]):
        terms.append(
            (
                "p, Holm",
                "How often chance alone would set two groups so far apart if both had one rate; Holm's correction "
                "keeps the chance of a single false alarm among all comparisons as small as that of one.",
            )
        )
    terms.append(("undefined", "A rate of nobody: there are no people to take it over. It is neither 0 nor 1."))
    return terms
