"""What a population file says, in plain Python: no code of the package."""

from __future__ import annotations


def probability(population: dict, features: list[dict], group: int, point: list[int]) -> float:
    """Probability that a person of a group has certain cells, one a feature."""
    if population["structure"] == "empirical":
        return _of_people(population, group, point)
    if population["structure"] != "auto":
        return _of_tables(population["tables"], features, point, lambda held: held[group])
    total = population["row_weights"][group] * _of_people(population, group, point)
    for one, weight in enumerate(population["class_weights"][group]):
        share = (1 - population["row_weights"][group]) * weight
        total += share * _of_tables(population["tables"], features, point, lambda held, one=one: held[group][one])
    return total


def _of_people(population: dict, group: int, point: list[int]) -> float:
    people = population["people"]
    rows = zip(people["groups"], people["counts"], people["cells"], strict=True)
    found = sum(count for own, count, cells in rows if own == group and cells == list(point))
    return found / population["groups"][group]["rows"]


def _of_tables(tables: list[dict], features: list[dict], point: list[int], of) -> float:
    position = {feature["name"]: i for i, feature in enumerate(features)}
    states = {table["feature"]: table["states"] for table in tables}
    total = 1.0
    for table in tables:
        cell = point[position[table["feature"]]]
        above = 0
        for parent in table["parents"]:
            above = states[parent][point[position[parent]]]
        total *= of(table["probabilities"])[above][table["states"][cell]]
        if table["within"] is not None:
            total *= of(table["within"])[cell]
    return total


def values_in(cell: dict, integers: bool) -> list:
    """Some values that people in a cell may have."""
    if "missing" in cell:
        return [float("nan")]
    if "from" in cell:
        low, high = cell["from"], cell["to"]
        middle = (low + high) // 2 if integers else low + (high - low) * 0.4
        return sorted({low, middle, high})
    if "numbers" in cell:
        return cell["numbers"]
    if "above" in cell:
        return [cell["to"] if cell["to"] is not None else cell["above"] + 1]
    return cell["values"]
