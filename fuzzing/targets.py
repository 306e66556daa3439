"""The registry of targets: what reads the bytes, good bytes to begin with, and how they are mutated."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import commands, readers, seeds, texts
from fuzzing.archive_mutations import mutated_gzip, mutated_parquet, mutated_skops
from fuzzing.bytes_mutations import mutated_bytes, mutated_text
from fuzzing.json_mutations import mutated_json
from fuzzing.option_mutations import OPTION_LINES, mutated_options, words_of
from fuzzing.state_mutations import mutated_joblib, mutated_state
from fuzzing.table_mutations import mutated_lines, mutated_table

__all__ = ["FAULTY", "TARGETS", "Target", "target_of"]

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
        """The commands that read an input: one of them, the same every time."""
        if self.words is not None:
            return (self.words(content),)
        if not self.commands:
            return ()
        return (self.commands[zlib.crc32(content) % len(self.commands)],)


def _people_files() -> dict[str, bytes]:
    return {
        "people.csv": seeds.people_csv(),
        "d.csv": seeds.decisions_table(),
        "model.rule": texts.RULE,
        "numbers.rule": b"if pay >= 60 and age > 25 then yes else no\n",
        **seeds.model_files(),
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


FAULTY = Target("faulty", lambda: [b"nothing"], mutated_bytes, read=readers.faulty)
"""Does what it reads, so that the watching can be watched."""


def target_of(name: str) -> Target:
    """A target by its name."""
    return FAULTY if name == FAULTY.name else TARGETS[name]


def _of(*contents: bytes) -> Callable[[], Sequence[bytes]]:
    return lambda: contents


TARGETS = {
    target.name: target
    for target in (
        Target(
            "csv", lambda: [seeds.people_csv()], mutated_table, commands.TABLES, ".csv", readers.table, _people_files
        ),
        Target("csv_gz", seeds.compressed, mutated_gzip, commands.TABLES, ".csv.gz", readers.table, _people_files),
        Target(
            "parquet", seeds.parquet_files, mutated_parquet, commands.TABLES, ".parquet", readers.table, _people_files
        ),
        Target(
            "decisions", lambda: [seeds.decisions_table()], mutated_table, commands.DECISIONS, ".csv", readers.table
        ),
        Target("pickle", seeds.pickles, mutated_state, commands.MODELS, ".pkl", readers.load, _people_files),
        Target("joblib", seeds.joblibs, mutated_joblib, commands.MODELS, ".joblib", readers.load, _people_files),
        Target("skops", seeds.skops_files, mutated_skops, commands.MODELS, ".skops", readers.load, _people_files),
        Target("xgboost", seeds.xgboost_files, mutated_json, commands.NUMBERED, ".json", readers.load, _people_files),
        Target("lightgbm", seeds.lightgbm_files, mutated_text, commands.NUMBERED, ".txt", readers.load, _people_files),
        Target("rules", _of(*texts.RULES[:3]), mutated_text, commands.MODELS, ".rule", readers.rule, _people_files),
        Target(
            "rules_json", _of(*texts.RULES[3:]), mutated_json, commands.MODELS, ".json", readers.rule, _people_files
        ),
        Target(
            "sdimacs",
            _of(*texts.FORMULAS),
            mutated_text,
            commands.SOLVE,
            ".sdimacs",
            readers.formula,
        ),
        Target(
            "population",
            seeds.populations,
            mutated_json,
            commands.POPULATIONS,
            ".json",
            readers.population,
            _people_files,
        ),
        Target("bif", _of(texts.BIF), mutated_text, commands.NETWORKS, ".bif", readers.population, _people_files),
        Target(
            "network",
            _of(texts.NETWORK, texts.NUMERIC_NETWORK),
            mutated_json,
            commands.NETWORKS,
            ".json",
            readers.population,
            _people_files,
        ),
        Target(
            *("generations", lambda: [seeds.generations_table()], mutated_table, commands.GENERATIONS, ".csv"),
            *(readers.generations, _generation_files),
        ),
        Target(
            *("generations_lines", lambda: [seeds.generations_lines()], mutated_lines, commands.GENERATIONS, ".jsonl"),
            *(readers.generations, _generation_files),
        ),
        Target("specs", _of(*texts.SPECS), mutated_text, commands.SPECS, ".yml", readers.spec, _generation_files),
        Target("plans", _of(*texts.PLANS), mutated_text, commands.PLANS, ".yml", None, _generation_files),
        Target("plans_json", _of(texts.PLANS[1]), mutated_json, commands.PLANS, ".json", None, _generation_files),
        Target(
            *("synonyms", _of(*texts.SYNONYMS), mutated_json, commands.SYNONYMS, ".json", readers.synonyms),
            *(_generation_files,),
        ),
        Target(
            *("enforcement", _of(texts.LABELS), mutated_lines, commands.ENFORCEMENT, ".jsonl", None, _generation_files),
            streams=True,
        ),
        Target(
            *("shield_state", lambda: [seeds.shield_state()], mutated_json, commands.STATE, ".state", None),
            *(_generation_files,),
            streams=True,
        ),
        Target(
            *("vectors", lambda: seeds.vectors()[:2], mutated_text, commands.VECTORS, ".txt", readers.vectors),
            *(_generation_files,),
        ),
        Target(
            *("vectors_binary", lambda: seeds.vectors()[2:3], mutated_bytes, commands.VECTORS, ".bin", readers.vectors),
            *(_generation_files,),
        ),
        Target(
            *("vectors_archive", lambda: seeds.vectors()[4:], mutated_skops, commands.VECTORS, ".npz", readers.vectors),
            *(_generation_files,),
        ),
        Target(
            *("configuration", _of(*texts.CONFIGURATIONS), mutated_text, commands.CONFIGURED, ".toml"),
            *(readers.requirements, _people_files),
        ),
        Target("audits", seeds.audits, mutated_json, commands.REPORT, ".json", readers.audit),
        Target("options", _of(*OPTION_LINES), mutated_options, files=_all_files, words=words_of, streams=True),
    )
}
