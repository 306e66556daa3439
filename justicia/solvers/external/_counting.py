"""Run a model counter on a formula; a process of its own, so that it can be stopped and may crash.

Usage: python -I _counting.py pyganak|d4 problem.sdimacs

The prefix is random variables, then perhaps ones under ∃. pyganak sums over the random ones whether others can be
found, and its value is printed; d4 writes its circuit into `problem.nnf`, and whoever asked evaluates it. Nothing of
the package is imported: starting takes as long as the counter's own library.
"""

from __future__ import annotations

import sys
from fractions import Fraction


def _read(path: str) -> tuple[int, dict[int, float], list[list[int]]]:
    n_variables, probabilities, clauses = 0, {}, []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if words[0] == "p":
                n_variables = int(words[2])
            elif words[0] == "r":
                probabilities.update(dict.fromkeys(map(int, words[2:-1]), float(Fraction(words[1]))))
            elif words[0] not in ("e", "c"):
                clauses.append([int(word) for word in words[:-1]])
    return n_variables, probabilities, clauses


def _pyganak(n_variables: int, probabilities: dict[int, float], clauses: list[list[int]]) -> None:
    import pyganak

    counter = pyganak.WeightedCounter()
    counter.new_vars(n_variables)
    counter.add_clauses(clauses)
    for variable, probability in probabilities.items():
        counter.set_lit_weight(variable, probability)
        counter.set_lit_weight(-variable, 1.0 - probability)
    counter.set_sampling_set(sorted(probabilities))
    value = counter.count()
    if -1e-12 < value < 1.0 + 1e-12:
        # The last digit of a sum of weights.
        value = min(max(value, 0.0), 1.0)
    sys.stdout.write(f"\n# satisfying probability = {value!r}\n")


def _d4(n_variables: int, clauses: list[list[int]]) -> None:
    import py_d4

    circuit = py_d4.Solver(clauses, n_variables).compile().getNNFString()
    with open("problem.nnf", "w", encoding="utf-8") as file:
        file.write(circuit)
    sys.stdout.write("\ncompiled\n")


if __name__ == "__main__":
    read = _read(sys.argv[2])
    if sys.argv[1] == "d4":
        _d4(read[0], read[2])
    else:
        _pyganak(*read)
