"""The commands that read inputs; {input} is the input's file, and files that they write begin with made."""

from __future__ import annotations

import shlex

__all__ = [
    "CONFIGURED",
    "DECISIONS",
    "ENFORCEMENT",
    "GENERATIONS",
    "MODELS",
    "NETWORKS",
    "NUMBERED",
    "PLANS",
    "POPULATIONS",
    "REPORT",
    "SOLVE",
    "SPECS",
    "STATE",
    "SYNONYMS",
    "TABLES",
    "VECTORS",
]


def _commands(text: str) -> tuple[tuple[str, ...], ...]:
    """Commands, one a line."""
    return tuple(tuple(shlex.split(line)) for line in text.strip().splitlines())


TABLES = _commands(
    """
verify --model model.rule --data {input} --population independent --sensitive sex --label out --favorable yes --quiet --time-limit 5
verify --model model.pkl --data {input} --population empirical --json - --sensitive sex --label out --favorable yes --quiet --time-limit 5
verify --model linear.pkl --data {input} --population tree --sensitive sex --label out --favorable yes --quiet --time-limit 5
verify --model model.rule --data {input} --stream --population independent --sensitive sex --label out --favorable yes --quiet --time-limit 5
verify --model model.rule --data {input} --missing group --bins age=30,50 --html made.html --sensitive age --sensitive sex --label out --favorable yes --quiet --time-limit 5
verify --model model.rule --data {input} --quiet
population fit {input} --out made.json --sensitive sex,race --quiet
population fit {input} --out - --sensitive sex --label out --structure tree --quiet
"""
)

DECISIONS = _commands(
    """
verify --decisions {input} --decision out --favorable yes --sensitive sex,race --quiet --missing group
verify --decisions {input} --decision out --favorable yes --sensitive sex --tests --quiet --weight weight --json -
verify --decisions {input} --score score --threshold 0.5 --sensitive race --quiet --missing bounds
verify --decisions {input} --decision out --favorable yes --sensitive race --tests --missing drop --quiet --stream
verify --decisions {input} --quiet --suppress-below 5 --sensitive sex --html made.html
verify --decisions {input} --score pay --threshold '>=50' --sensitive age --bins age=30,50 --reference 'age=<= 30' --require 'sample.disparate_impact>=0.8' --junit made.xml --quiet
"""
)

MODELS = _commands(
    """
verify --model {input} --data people.csv --population independent --sensitive sex --label out --favorable yes --quiet --time-limit 5
verify --model {input} --data people.csv --population empirical --json - --sensitive sex --label out --favorable yes --quiet --time-limit 5
verify --model {input} --data people.csv --population tree --stream --sensitive sex --label out --favorable yes --quiet --time-limit 5
encode --model {input} --data people.csv --population independent --group sex=M --favorable yes --sensitive sex --out made.sdimacs
"""
)

NUMBERED = _commands(
    """
verify --model {input} --data people.csv --population independent --sensitive sex --quiet --time-limit 5
verify --model {input} --data people.csv --population tree --sensitive sex --quiet --time-limit 5 --label out --favorable yes
"""
)

POPULATIONS = _commands(
    """
population show {input}
population show {input} --all --group sex=M
population sample {input} --rows 20 --out -
population sample {input} --rows 5 --out made.csv --group sex=F
verify --model model.rule --data people.csv --population {input} --quiet --time-limit 5
verify --model model.pkl --data people.csv --population {input} --quiet --time-limit 5 --sensitive sex --json -
"""
)

NETWORKS = POPULATIONS + _commands(
    """
population show {input} --sensitive sex
verify --model numbers.rule --data people.csv --population {input} --quiet --sensitive sex --time-limit 5 --population-out made.json
"""
)

GENERATIONS = _commands(
    """
generations audit {input} --spec spec.json --replicates 40 --quiet
generations audit {input} --spec spec.json --replicates 40 --quiet --json -
generations check {input} --spec spec.json
generations seq {input} --attr gender --domain female,male --beta 20 --by run
generations cover {input} --spec spec.json --t 2 --suggest 3
generations diversity {input} --attrs gender --domain gender=female,male --context context --neutral neutral --bootstrap 40 --simulations 40
generations association {input} --text text --rare 0 --bootstrap 40 --simulations 40
generations criteria {input} --group group --response response --truth truth --pair pair
generations scores {input} --score score --group group --pair pair
generations answers {input} --label yes=kind --label 'no=/str.*/' --text text
"""
)

SPECS = _commands(
    """
generations audit g.csv --spec {input} --replicates 40 --quiet
generations check g.csv --spec {input}
generations seq g.jsonl --spec {input} --attr gender
generations cover g.csv --spec {input} --t 1
"""
)

PLANS = _commands(
    """
generations prompts {input} --quiet
generations prompts {input} --out made.jsonl --quiet
generations answers answers.jsonl --rules {input} --quiet
"""
)

ENFORCEMENT = _commands(
    """
generations enforce {input} --spec spec.json --beta 6 --quiet
generations enforce {input} --attr gender --domain female,male --beta 4 --quiet --state made.state --out made.jsonl
"""
)

STATE = _commands(
    """
generations enforce labels.jsonl --attr gender --domain female,male --beta 4 --quiet --state {input}
"""
)

VECTORS = _commands(
    """
generations polarity g.csv --text text --group group --vectors {input} --quiet
"""
)

SYNONYMS = _commands(
    """
generations association g.csv --text text --rare 0 --bootstrap 0 --simulations 0 --synonyms {input}
"""
)

CONFIGURED = _commands(
    """
verify --decisions d.csv --decision out --favorable yes --sensitive sex --quiet --config {input}
"""
)

SOLVE = _commands(
    """
solve {input} --time-limit 3
solve {input} --time-limit 3 --json -
solve {input} --time-limit 3 --compatible
"""
)

REPORT = _commands("report {input} --html -")
