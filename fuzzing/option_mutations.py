"""Arguments as inputs: a word a line; names of options stay, their values are mutated."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from fuzzing.bytes_mutations import NUMBERS, WORDS, mutated_text

__all__ = ["OPTION_LINES", "mutated_options", "words_of"]

_DECISIONS = "verify --quiet --decisions d.csv --decision out --favorable yes"
_RULE = "verify --quiet --model model.rule --data people.csv --label out --favorable yes --time-limit 5"
_TABLE = "generations criteria g.csv --group group --response response"

_COMMANDS = (
    f"{_DECISIONS} --sensitive sex,race --missing group --require sample.disparate_impact>=0.8 --reference sex=M,race=a",
    f"{_DECISIONS} --sensitive age --bins age=30,50 --min-group 3 --confidence 0.9 --na x",
    f"{_DECISIONS} --sensitive race --missing group --weight weight --weight-kind sampling --suppress-below 4",
    f"{_DECISIONS} --sensitive sex,race --missing drop --layout ll144 --delimiter , --encoding utf-8",
    "verify --quiet --decisions d.csv --score score --threshold >=0.5 --sensitive sex --tests --require "
    "sample.selection_rate[sex=F]>=10%",
    f"{_RULE} --sensitive sex,race --require selection_rate[race=a]>=0.1 --reference sex=M,race=a --population independent",
    f"{_RULE} --sensitive sex --population tree --tolerance 1e-3 --delta 1e-6 --seed 3 --confidence 0.95 --cross-check",
    f"{_RULE} --sensitive sex --population empirical --one-hot none --bootstrap 40 --given job",
    f"{_RULE} --sensitive age --bins age=30,50 --missing error --require equalized_odds_difference<=1/2 --search learn",
    f"{_RULE} --sensitive sex --population independent --shift 0.05",
    f"{_RULE} --sensitive sex --mediators job --population tree --require remaining_statistical_parity_difference<=.2",
    "population fit people.csv --out - --sensitive sex,race --structure tree --cells 8 --leave-out out --quiet",
    "encode --model model.rule --data people.csv --population independent --group sex=M,race=a --sensitive sex,race "
    "--favorable yes",
    "solve formula.sdimacs --time-limit 3 --solver clauses",
    f"{_TABLE} --truth truth --where context=poor,neutral --confidence 0.9 --alpha 0.05 --pair pair --strata context",
    f"{_TABLE} --refusal unknown --unknown ? --answered --at-most 0.3 --seed 4 --cluster step",
    "generations scores g.csv --score score --group group --where context=poor --at-most 0.4 --pair pair",
    "generations seq g.csv --attr gender --domain female,male --beta 20 --by run --neutral context=neutral --loop-from 3",
    "generations cover g.csv --attrs gender,context --domain gender=female,male --domain context=poor,neutral --t 2 --least .4 "
    "--suggest 2",
    "generations diversity g.csv --attrs gender --domain gender=female,male --context context --neutral neutral --q 0.1 "
    "--quantile linear --epsilon 1e-6 --bootstrap 20 --simulations 20 --least 0.5 --confidence 0.9",
    "generations simulate --values 3 --beta 6 --generator zipf --fail .05 --margin 1 --steps 50",
    "generations prompts --template Is\x1f{pronoun}\x1fa\x1f{job:a}? --cue F=she --cue M=he --slot job=nurse,pilot --samples 2",
    "generations answers answers.jsonl --label yes=right,/Dr.*/ --label no=cannot --refusal /^I/ --several first",
    "generations audit g.csv --spec spec.json --beta gender=12 --attr gender --require least_beta[attribute=gender]<=20 "
    "--replicates 10 --confidence 0.9 --quiet --where context=poor --neutral context=neutral",
    "generations enforce labels.jsonl --attr gender --domain gender=female,male --beta gender=4 --margin 1 --choice random "
    "--retries 1 --unknown ? --split | --off-domain none --quiet",
)

OPTION_LINES = tuple("\n".join(command.split(" ")).replace("\x1f", " ").encode() for command in _COMMANDS)
"""Good commands, a word a line."""

_NAMES = frozenset(word for command in _COMMANDS for word in command.split(" ") if word.startswith("--"))


def words_of(content: bytes) -> tuple[str, ...]:
    """The words of a command; an argument cannot hold a null, and no file is named that could be written."""
    text = content.decode("utf-8", "surrogateescape").replace("\x00", "")
    words = []
    for word in text.split("\n"):
        plain = not word.startswith("-") or word == "-" or word in _NAMES or word[1:2].isdigit()
        words += [word] if plain else []
    if words[:1] != ["population"] and "--out" in words:
        at = words.index("--out")
        words[at + 1 : at + 2] = ["-"]
    return tuple(words)


def mutated_options(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Values become odd ones, parts of them or longer; options are added, taken away or named twice."""
    words = data.decode("utf-8", "surrogateescape").split("\n")
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        values = [at for at, word in enumerate(words) if word not in _NAMES and at > 1]
        way = rng.randrange(8)
        if not values or way == 7:
            words.insert(rng.randrange(len(words) + 1), rng.choice(WORDS))
            continue
        at = rng.choice(values)
        if way == 0:
            words[at] = rng.choice(NUMBERS)
        elif way == 1:
            words[at] = rng.choice(WORDS)
        elif way == 2:
            place = rng.randrange(len(words[at]) + 1)
            words[at] = words[at][:place] + rng.choice(WORDS + NUMBERS) + words[at][place + rng.choice((0, 1)) :]
        elif way == 3 and others:
            other = rng.choice(others).decode("utf-8", "surrogateescape").split("\n")
            place = rng.randrange(len(other))
            words += other[place : place + 2]
        elif way == 4:
            del words[at - 1 : at + 1]
        elif way == 5:
            words[at] = f"{words[at]}{rng.choice((',', '=', '|', '[', ']', '>=', ''))}{words[rng.choice(values)]}"
        else:
            changed = mutated_text(rng, words[at].encode("utf-8", "surrogateescape"), others)
            words[at] = changed.decode("utf-8", "surrogateescape").replace("\n", " ")
    return "\n".join(words).encode("utf-8", "surrogateescape")
