"""Good files that are short enough to stand here as text."""

from __future__ import annotations

__all__ = [
    "ANSWERS",
    "BIF",
    "CONFIGURATIONS",
    "FORMULAS",
    "LABELS",
    "NETWORK",
    "NUMERIC_NETWORK",
    "PLANS",
    "RULE",
    "RULES",
    "SPECS",
    "SYNONYMS",
]

RULE = b"if (sex = M or pay >= 60) and age > 25 and job not in (z) then yes else no\n"

RULES = (
    RULE,
    b"# remark\n(\"race\" = 'a' and age <= 40) or (pay > 1e1 and not job in (x, 'y')) or sex is missing\n",
    b"age > 25",
    b'{"schema": "justicia.rule/1", "form": "CNF", "holds": "yes", "fails": "no", "parts": [[{"column": "sex", "test": '
    b'"in", "values": ["M"]}, {"column": "pay", "test": ">=", "number": 60}], [{"column": "age", "test": ">", "number": '
    b'40, "not": true}], [{"column": "job", "test": "missing", "not": true}]]}',
    b'{"form": "DNF", "parts": [[{"column": "age", "test": "<", "number": 40.5}], []]}',
)

FORMULAS = (
    b"c a comment\np cnf 3 2\ne 1 0\nr 0.5 2 0\na 3 0\n1 -2 3 0\n-1 2 -3 0\n",
    b"p cnf 6 7\nr 0.25 1 2 0\ne 3 4 0\nr 0.75 5 0\na 6 0\n1 3 0\n-1 4 5 0\n2 -4 0\n-3 -5 6 0\n3 4 0\n1 2 3 4 5 0\n-6 1 0\n",
    b"p cnf 5 4\nr 1e-3 1 0\nr 1/3 2 0\ne 3 0\nr 0.5 4 5 0\n1 2 0\n-2 3 4 0\n5 -3 0\n-4 -5 1 0\n",
)

BIF = b"""// what a regulator states
network people { property "made by hand"; }
variable sex { type discrete [ 2 ] { F, M }; property p = 1; }
variable age { type discrete[3] { "<= 25", "(25, 40]", "> 40" }; }
variable race { type discrete [2] { a, b }; }
variable job { type discrete [3] { x, y, z }; }
variable pay { type discrete [2] { "<= 60", "> 60" }; }
probability ( sex ) { table 0.4, 0.6; }
/* nobody below 25
   among men */
probability ( age | sex ) { (F) 0.2 0.3 0.5; (M) 0, 0.25, 0.75; }
probability ( race | sex, age ) { default 0.7, 0.3; (M, "> 40") 0.1, 0.9; }
probability ( job ) { table 0.2 0.3 0.5; }
probability ( pay | job ) { table .1 .2 .3 .9 .8 .7; }
"""

NETWORK = b"""{"schema": "justicia.network/1", "variables": [
 {"name": "sex", "values": ["F", "M"], "probabilities": [0.5, 0.5]},
 {"name": "age", "edges": [25, 40], "parents": ["sex"], "probabilities": [[0.2, 0.3, 0.5], [0, 0.25, 0.75]]},
 {"name": "job", "values": ["x", "y", "z", null], "parents": ["sex"], "probabilities": [[0.2, 0.3, 0.4, 0.1],
  [0.2, 0.3, 0.5, 0]]},
 {"name": "pay", "ranges": [{"above": null, "to": 60}, {"above": 60, "to": null}], "probabilities": [0.3, 0.7]},
 {"name": "out", "values": ["yes", "no"], "parents": ["age", "pay"], "probabilities": [[[0.1, 0.9], [0.2, 0.8]],
  [[0.3, 0.7], [0.4, 0.6]], [[0.5, 0.5], [0.6, 0.4]]]}]}"""

NUMERIC_NETWORK = b"""{"schema": "justicia.network/1", "variables": [
 {"name": "sex", "values": ["F", "M"], "probabilities": [0.5, 0.5]},
 {"name": "job", "values": ["x", "y", "z"], "probabilities": [0.5, 0.3, 0.2]},
 {"name": "dependents", "values": [0, 1, 2], "probabilities": [0.5, 0.3, 0.2]},
 {"name": "pay", "parents": ["sex"], "normal": {"mean": [40, 46], "standard_deviation": [12, 15]}},
 {"name": "debt", "parents": ["sex", "pay", "dependents"], "normal": {"mean": [2, 1], "variance": 9,
  "coefficients": {"pay": [0.3, 0.25], "dependents": 1.5}}},
 {"name": "age", "parents": ["sex"], "steps": [{"from": 18, "to": 30, "probability": [0.4, 0.2]},
  {"from": 30, "to": 70, "probability": [0.6, 0.8]}]}]}"""

SPECS = (
    b"""schema: justicia.generations.spec/1
run: run
step: step
prompt: prompt
where: {context: [poor, neutral]}
neutral: {context: neutral}
unknown: ["?", unknown]
off_domain: none
attributes:
  gender: {domain: [female, male], beta: 20}
  ethnicity: {domain: [asian, black, white], separator: "|"}
""",
    b"""attributes:
  gender: [female, male]
  context: [poor, neutral]
columns: {context: none, group: group, response: response, truth: truth, score: none, pair: pair}
settings:
  sequences: {together: [[gender, context]]}
  coverage: {t: 2}
require: ["least_beta[attribute=gender]<=20"]
""",
    b'{"run": "run", "step": "step", "attributes": {"gender": {"domain": ["female", "male"], "unknown": ["x"], "beta": 5}}}',
)

PLANS = (
    b"""schema: justicia.generations.prompts/1
templates:
  - {id: who, text: "Nurse or doctor? {Pronoun} {pronoun:is} right, says {name}.", truth: nurse}
  - "{name} is {job:a} and loves {pronoun:possessive} work. Describe {pronoun:object}."
groups:
  F: {pronoun: she, name: [Maria, Sofia]}
  M: {pronoun: he, name: [Ryan, Timothy]}
slots:
  job: [engineer, nurse]
samples: 2
labels:
  nurse: [nurse]
  doctor: [doctor, "/\\\\bdr\\\\b/"]
refusals: ["I cannot"]
""",
    b'{"templates": ["Is {pronoun} a good {job}?"], "groups": {"F": "she", "M": "ey/em/eir/eirs/emself"}, "slots": {"job": '
    b'["nurse", "pilot"]}, "labels": {"yes": ["yes", "/^sure/"], "no": ["no"]}}',
)

ANSWERS = (
    b'{"prompt_id": "who-1", "model": "m", "answer": "The nurse is right."}\n'
    b'{"prompt_id": "who-2", "model": "m", "answer": "Dr No, of course"}\n'
    b'{"prompt_id": "who-3", "model": "m", "answer": "I cannot say"}\n'
)

LABELS = (
    b'{"gender": "male", "ethnicity": "asian|black"}\n{"gender": null, "ethnicity": ["white"]}\n{"gender": "female", "ethnicity": ""}\n'
    * 5
)

SYNONYMS = (
    b'{"kind": "gentle", "strong": "firm", "tall": "high"}',
    b'{"gentle": ["kind", "mild"], "firm": ["strong"]}',
)

CONFIGURATIONS = (
    b'require = ["disparate_impact>=0.8", "sample.selection_rate[sex=F]>=0.1"]\n',
    b'require = "sample.disparate_impact>=4/5"\n',
    b'[tool.justicia]\nrequire = [\n  "sample.disparate_impact>=0.8",\n  \'selection_rate[sex="F"]>=10%\',\n]\n',
)
