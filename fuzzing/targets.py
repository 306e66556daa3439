"""The registry of targets: what reads the bytes, good bytes to begin with, and how they are mutated."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import seeds, texts
from fuzzing.archive_mutations import mutated_arrays, mutated_parquet, mutated_skops
from fuzzing.bytes_mutations import mutated_bytes, mutated_text
from fuzzing.json_mutations import mutated_json
from fuzzing.option_mutations import OPTION_LINES, mutated_options, words_of
from fuzzing.state_mutations import mutated_joblib, mutated_state
from fuzzing.table_mutations import mutated_lines, mutated_table

__all__ = ["TARGETS", "Target"]

Words = tuple[str, ...]


@dataclass(frozen=True)
class Target:
    """A reader.

    Attributes
    ----------
    name : str
    seeds : callable
        Gives good inputs.
    mutate : callable
        Gives bad ones: of a generator, an input, and other inputs.
    commands : tuple of tuple of str
        Commands that read a file called {input}; one of them reads each input.
    suffix : str
        Of the file.
    read : callable or None
        Reads a file of this path directly, which is faster; what it refuses is not given to a command.
    files : callable
        Files that the commands need beside it.
    words : callable or None
        Words of a command from an input that is no file but arguments.
    streams : bool
        Whether commands answer line by line, so that there is output before an error.
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    mutate: Callable[[Random, bytes, Sequence[bytes]], bytes]
    commands: tuple[Words, ...] = ()
    suffix: str = ".csv"
    read: Callable[[Path], Any] | None = None
    files: Callable[[], Mapping[str, bytes]] = field(default=dict)
    words: Callable[[bytes], Words] | None = None
    streams: bool = False

    def chosen(self, content: bytes) -> tuple[Words, ...]:
        """The commands that read an input: one, the same every time; those without a condition that it does not meet."""
        if self.words is not None:
            return (self.words(content),)
        return (self.commands[zlib.crc32(content) % len(self.commands)],)


def _people_files() -> dict[str, bytes]:
    return {
        "people.csv": seeds.people_csv(),
        "d.csv": seeds.decisions_table(),
        "model.rule": texts.RULE,
        "numbers.rule": b"if pay >= 60 and age > 25 then yes else no\n",
        "model.pkl": seeds.pickles()[1],
        "linear.pkl": seeds.pickles()[2],
    }


def _generation_files() -> dict[str, bytes]:
    return {
        "g.csv": seeds.generations_table(),
        "g.jsonl": seeds.generations_lines(),
        "spec.json": seeds.generations_spec(),
        "answers.jsonl": texts.ANSWERS,
        "labels.jsonl": texts.LABELS,
    }


def _all_files() -> dict[str, bytes]:
    return {**_people_files(), **_generation_files(), "formula.sdimacs": texts.FORMULAS[0]}


_ABOUT = ("--sensitive", "sex", "--label", "out", "--favorable", "yes", "--quiet", "--time-limit", "5")
_JSON = ("--json", "-")


def _verify(*words: str) -> Words:
    return ("verify", *words, *_ABOUT)


_TABLES = (
    _verify("--model", "model.rule", "--data", "{input}", "--population", "independent"),
    _verify("--model", "model.pkl", "--data", "{input}", "--population", "empirical", *_JSON),
    _verify("--model", "linear.pkl", "--data", "{input}", "--population", "tree"),
    _verify("--model", "model.rule", "--data", "{input}", "--stream", "--population", "independent"),
    _verify("--model", "model.rule", "--data", "{input}", "--missing", "group", "--bins", "age=30,50", "--html", "made.html", "--sensitive", "age"),
    ("verify", "--model", "model.rule", "--data", "{input}", "--quiet"),
    ("population", "fit", "{input}", "--out", "made.json", "--sensitive", "sex,race", "--quiet"),
    ("population", "fit", "{input}", "--out", "-", "--sensitive", "sex", "--label", "out", "--structure", "tree", "--quiet"),
)  # fmt: skip

_DECISIONS = (
    ("verify", "--decisions", "{input}", "--decision", "out", "--favorable", "yes", "--sensitive", "sex,race", "--quiet",
     "--missing", "group"),
    ("verify", "--decisions", "{input}", "--decision", "out", "--favorable", "yes", "--sensitive", "sex", "--tests", "--quiet",
     "--weight", "weight", *_JSON),
    ("verify", "--decisions", "{input}", "--score", "score", "--threshold", "0.5", "--sensitive", "race", "--quiet",
     "--missing", "bounds"),
    ("verify", "--decisions", "{input}", "--decision", "out", "--favorable", "yes", "--sensitive", "race", "--tests",
     "--missing", "drop", "--quiet", "--stream"),
    ("verify", "--decisions", "{input}", "--quiet", "--suppress-below", "5", "--sensitive", "sex", "--html", "made.html"),
    ("verify", "--decisions", "{input}", "--score", "pay", "--threshold", ">=50", "--sensitive", "age", "--bins", "age=30,50",
     "--reference", "age=<= 30", "--require", "sample.disparate_impact>=0.8", "--junit", "made.xml", "--quiet"),
)  # fmt: skip

_MODELS = (
    _verify("--model", "{input}", "--data", "people.csv", "--population", "independent"),
    _verify("--model", "{input}", "--data", "people.csv", "--population", "empirical", *_JSON),
    _verify("--model", "{input}", "--data", "people.csv", "--population", "tree", "--stream"),
    ("encode", "--model", "{input}", "--data", "people.csv", "--population", "independent", "--group", "sex=M", "--favorable",
     "yes", "--sensitive", "sex", "--out", "made.sdimacs"),
)  # fmt: skip

_NUMBERED = (
    ("verify", "--model", "{input}", "--data", "people.csv", "--population", "independent", "--sensitive", "sex", "--quiet",
     "--time-limit", "5"),
    ("verify", "--model", "{input}", "--data", "people.csv", "--population", "tree", "--sensitive", "sex", "--quiet",
     "--time-limit", "5", "--label", "out", "--favorable", "yes"),
)  # fmt: skip

_POPULATIONS = (
    ("population", "show", "{input}"),
    ("population", "show", "{input}", "--all", "--group", "sex=M"),
    ("population", "sample", "{input}", "--rows", "20", "--out", "-"),
    ("population", "sample", "{input}", "--rows", "5", "--out", "made.csv", "--group", "sex=F"),
    ("verify", "--model", "model.rule", "--data", "people.csv", "--population", "{input}", "--quiet", "--time-limit", "5"),
    ("verify", "--model", "model.pkl", "--data", "people.csv", "--population", "{input}", "--quiet", "--time-limit", "5",
     "--sensitive", "sex", *_JSON),
)  # fmt: skip

_NETWORKS = (
    *_POPULATIONS,
    ("population", "show", "{input}", "--sensitive", "sex"),
    ("verify", "--model", "numbers.rule", "--data", "people.csv", "--population", "{input}", "--quiet", "--sensitive", "sex",
     "--time-limit", "5", "--population-out", "made.json"),
)  # fmt: skip

_GENERATIONS = (
    ("generations", "audit", "{input}", "--spec", "spec.json", "--replicates", "40", "--quiet"),
    ("generations", "audit", "{input}", "--spec", "spec.json", "--replicates", "40", "--quiet", *_JSON),
    ("generations", "check", "{input}", "--spec", "spec.json"),
    ("generations", "seq", "{input}", "--attr", "gender", "--domain", "female,male", "--beta", "20", "--by", "run"),
    ("generations", "cover", "{input}", "--spec", "spec.json", "--t", "2", "--suggest", "3"),
    ("generations", "diversity", "{input}", "--attrs", "gender", "--domain", "gender=female,male", "--context", "context",
     "--neutral", "neutral", "--bootstrap", "40", "--simulations", "40"),
    ("generations", "association", "{input}", "--text", "text", "--rare", "0",
     "--bootstrap", "40", "--simulations", "40"),
    ("generations", "criteria", "{input}", "--group", "group", "--response", "response", "--truth", "truth", "--pair", "pair"),
    ("generations", "scores", "{input}", "--score", "score", "--group", "group", "--pair", "pair"),
    ("generations", "answers", "{input}", "--label", "yes=kind", "--label", "no=/str.*/", "--text", "text"),
)  # fmt: skip

_SPECS = (
    ("generations", "audit", "g.csv", "--spec", "{input}", "--replicates", "40", "--quiet"),
    ("generations", "check", "g.csv", "--spec", "{input}"),
    ("generations", "seq", "g.jsonl", "--spec", "{input}", "--attr", "gender"),
    ("generations", "cover", "g.csv", "--spec", "{input}", "--t", "1"),
)

_PLANS = (
    ("generations", "prompts", "{input}", "--quiet"),
    ("generations", "prompts", "{input}", "--out", "made.jsonl", "--quiet"),
    ("generations", "answers", "answers.jsonl", "--rules", "{input}", "--quiet"),
)


def _load(path: Path) -> Any:
    from justicia.models import load_model

    return load_model(path)


def _rule(path: Path) -> Any:
    from justicia.models import read_rule

    return read_rule(path)


def _population(path: Path) -> Any:
    import justicia

    return justicia.read_population(path)


def _formula(path: Path) -> Any:
    from justicia.ssat import from_sdimacs

    return from_sdimacs(path.read_bytes().decode("utf-8", errors="replace"))


def _of(*contents: bytes) -> Callable[[], Sequence[bytes]]:
    return lambda: contents


TARGETS = {
    target.name: target
    for target in (
        Target("csv", lambda: [seeds.people_csv()], mutated_table, _TABLES, files=_people_files),
        Target("parquet", seeds.parquet_files, mutated_parquet, _TABLES, ".parquet", files=_people_files),
        Target("decisions", lambda: [seeds.decisions_table()], mutated_table, _DECISIONS),
        Target("pickle", seeds.pickles, mutated_state, _MODELS, ".pkl", _load, _people_files),
        Target("joblib", seeds.joblibs, mutated_joblib, _MODELS, ".joblib", _load, _people_files),
        Target("skops", seeds.skops_files, mutated_skops, _MODELS, ".skops", _load, _people_files),
        Target("xgboost", seeds.xgboost_files, mutated_json, _NUMBERED, ".json", _load, _people_files),
        Target("lightgbm", seeds.lightgbm_files, mutated_text, _NUMBERED, ".txt", _load, _people_files),
        Target("rules", _of(*texts.RULES[:3]), mutated_text, _MODELS, ".rule", _rule, _people_files),
        Target("rules_json", _of(*texts.RULES[3:]), mutated_json, _MODELS, ".json", _rule, _people_files),
        Target(
            "sdimacs",
            _of(*texts.FORMULAS),
            mutated_text,
            (
                ("solve", "{input}", "--time-limit", "3"),
                ("solve", "{input}", "--time-limit", "3", "--json", "-"),
                ("solve", "{input}", "--time-limit", "3", "--compatible"),
            ),
            ".sdimacs",
            _formula,
        ),
        Target("population", seeds.populations, mutated_json, _POPULATIONS, ".json", _population, _people_files),
        Target("bif", _of(texts.BIF), mutated_text, _NETWORKS, ".bif", _population, _people_files),
        Target(
            "network",
            _of(texts.NETWORK, texts.NUMERIC_NETWORK),
            mutated_json,
            _NETWORKS,
            ".json",
            _population,
            _people_files,
        ),
        Target(
            "generations", lambda: [seeds.generations_table()], mutated_table, _GENERATIONS, files=_generation_files
        ),
        Target(
            "generations_lines",
            lambda: [seeds.generations_lines()],
            mutated_lines,
            _GENERATIONS,
            ".jsonl",
            files=_generation_files,
        ),
        Target("specs", _of(*texts.SPECS), mutated_text, _SPECS, ".yml", files=_generation_files),
        Target("plans", _of(*texts.PLANS), mutated_text, _PLANS, ".yml", files=_generation_files),
        Target(
            "synonyms",
            _of(*texts.SYNONYMS),
            mutated_json,
            (
                (
                    *("generations", "association", "g.csv", "--text", "text", "--rare", "0"),
                    *("--bootstrap", "0", "--simulations", "0"),
                    *("--synonyms", "{input}"),
                ),
            ),
            ".json",
            files=_generation_files,
        ),
        Target(
            "enforcement",
            _of(texts.LABELS),
            mutated_lines,
            (
                ("generations", "enforce", "{input}", "--spec", "spec.json", "--beta", "6", "--quiet"),
                (
                    *(
                        "generations",
                        "enforce",
                        "{input}",
                        "--attr",
                        "gender",
                        "--domain",
                        "female,male",
                        "--beta",
                        "4",
                    ),
                    *("--state", "made.state", "--out", "made.jsonl", "--quiet"),
                ),
            ),
            ".jsonl",
            files=_generation_files,
            streams=True,
        ),
        Target(
            "shield_state",
            lambda: [seeds.shield_state()],
            mutated_json,
            (
                (
                    *("generations", "enforce", "labels.jsonl", "--attr", "gender", "--domain", "female,male"),
                    *("--beta", "4", "--state", "{input}", "--quiet"),
                ),
            ),
            ".state",
            files=_generation_files,
            streams=True,
        ),
        Target(
            "vectors",
            lambda: seeds.vectors()[:2],
            mutated_text,
            (
                (
                    *("generations", "polarity", "g.csv", "--text", "text", "--group", "group"),
                    *("--vectors", "{input}", "--quiet"),
                ),
            ),
            ".txt",
            files=_generation_files,
        ),
        Target(
            "vector_arrays",
            lambda: seeds.vectors()[2:3],
            mutated_arrays,
            (("generations", "polarity", "g.csv", "--text", "text", "--vectors", "{input}", "--quiet"),),
            ".bin",
            files=_generation_files,
        ),
        Target(
            "configuration",
            _of(*texts.CONFIGURATIONS),
            mutated_text,
            (
                (
                    *(
                        "verify",
                        "--decisions",
                        "d.csv",
                        "--decision",
                        "out",
                        "--favorable",
                        "yes",
                        "--sensitive",
                        "sex",
                    ),
                    *("--quiet", "--config", "{input}"),
                ),
            ),
            ".toml",
            files=_people_files,
        ),
        Target("audits", seeds.audits, mutated_json, (("report", "{input}", "--html", "-"),), ".json"),
        Target("options", _of(*OPTION_LINES), mutated_options, files=_all_files, words=words_of, streams=True),
    )
}
