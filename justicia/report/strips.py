"""The picture of a sequence: a row a value, a block where a generation shows it, and when it is due."""

from __future__ import annotations

from typing import Any

from justicia.report.figures import Figure, Key, Row, Shape, circle, line, path, rect, step_ticks, word
from justicia.words import counted, shown

__all__ = ["strip_figure"]

Json = dict[str, Any]

_BLOCKS = (3.0, 17.0)
_DUE = (20.0, 36.0)
_APART = 240
"""Generations up to which blocks are told apart; of more, neighbours run together."""

_WIDE_ENOUGH = 14.0


def strip_figure(question: Json, strip: Json, name: str) -> Figure:
    """The labels of one run.

    Parameters
    ----------
    question, strip : dict
        Of the section of sequences in an audit's JSON: a question, and one of its strips.
    name : str
        Of the attribute.
    """
    result = next(one for one in question["runs"] if one["run"] == strip["run"])
    labels, beta = strip["labels"], question["beta"]
    gaps = {one["value"]: one for one in result["values"]}
    rows = [_row(value, gaps[value], question, strip, result) for value in question["domain"]]
    unknown = [position for position, label in enumerate(labels) if None in _held(label)]
    if unknown:
        shapes = (_blocks("unknown", unknown, len(labels)),)
        rows.append(Row("not known", f"{counted(len(unknown), 'generation')} with an unknown label", shapes, 20))
    run = "" if strip["run"] is None else f", run {shown(strip['run'])}"
    window = "" if len(labels) == strip["n"] else f" Generations {_window(strip)} of {strip['n']:,} are drawn."
    steps = "" if strip["steps"] == [strip["first"], strip["first"] + len(labels) - 1] else _steps(strip)
    if beta is None:
        asked = ""
    else:
        asked = (
            f" The line falls from {beta}, when the value was shown, to 0, when {counted(beta, 'generation')} in a row "
            "have lacked it."
        )
    caption = f"{shown(name, 80)}{run}: a block is a generation that shows the value.{asked}{steps}{window}"
    offset = strip["first"] - 1
    ticks = tuple((x, f"{int(text.replace(',', '')) + offset:,}") for x, text in step_ticks(len(labels)))
    return Figure(
        f"{name}{run}", caption, tuple(rows), ticks, "generation", _keys(strip, beta, bool(unknown)), dense=True
    )


def _window(strip: Json) -> str:
    return f"{strip['first']:,} to {strip['first'] + len(strip['labels']) - 1:,}"


def _steps(strip: Json) -> str:
    first, last = strip["steps"]
    return f" Their steps in the table go from {first} to {last}."


def _held(label: Any) -> list[Any]:
    return label if isinstance(label, list) else [label]


def _blocks(look: str, places: list[int], n: int) -> Shape:
    """Blocks of one unit each at places from 0; next to each other they are told apart unless there are many."""
    if n <= _APART:
        text = "".join(f"M{place}.12 0h.76v1h-.76z" for place in places)
    else:
        pieces, start = [], None
        for position, place in enumerate(places):
            start = place if start is None else start
            if position + 1 == len(places) or places[position + 1] != place + 1:
                pieces.append(f"M{start} 0h{place + 1 - start}v1h-{place + 1 - start}z")
                start = None
        text = "".join(pieces)
    return path(look, text, (n, 1), *_BLOCKS)


def _row(value: str, gap: Json, question: Json, strip: Json, result: Json) -> Row:
    labels, beta, n = strip["labels"], question["beta"], len(strip["labels"])
    places = [position for position, label in enumerate(labels) if value in _held(label)]
    shapes: list[Shape] = []
    worst = result["witness"] is not None and result["witness"]["value"] == value
    tall = beta is not None
    if worst:
        shapes += _band(
            result["witness"], strip, _DUE[1] if tall else _BLOCKS[1], past=beta is None or _wide(gap, beta)
        )
    if places:
        shapes.append(_blocks("block", places, n))
    forced = [place for place in strip["enforced"] if place - strip["first"] in set(places)]
    shapes += [circle("enforced", 100 * (place - strip["first"] + 0.5) / n, _BLOCKS[1] + 1.5, 2.6) for place in forced]
    if beta is not None:
        shapes += _due(value, labels, beta, strip["first"])
    says = f"{counted(len(places), 'generation')} of {n:,}; widest gap {_gap(gap)}"
    if worst:
        says += f"; {result['witness']['text']}"
    status = "" if beta is None else "breached" if gap["gap"]["lo"] > beta else "undecided" if _wide(gap, beta) else ""
    return Row(shown(value, 60), says, tuple(shapes), 40 if tall else 20, f"gap {_gap(gap)}", status)


def _wide(gap: Json, beta: int) -> bool:
    return bool(gap["gap"]["hi"] > beta)


def _gap(gap: Json) -> str:
    lo, hi = gap["gap"]["lo"], gap["gap"]["hi"]
    return f"{lo:,}+" if not gap["count"] else f"{hi:,}" if lo == hi else f"{lo:,} to {hi:,}"


def _band(witness: Json, strip: Json, bottom: float, *, past: bool) -> list[Shape]:
    """The widest gap of the run, from the end of one occurrence to the beginning of the next."""
    if witness["gap"] is None or witness["gap"] < 2:
        return []
    n, before_first = len(strip["labels"]), strip["first"] - 1
    start = max(0, (witness["after"] or 0) - before_first)
    end = min(n, (strip["n"] + 1 if witness["before"] is None else witness["before"]) - 1 - before_first)
    if end <= start:
        return []
    x, x2 = 100 * start / n, 100 * end / n
    look = "gap" if past else "gap within"
    shapes = [rect(look, x, x2, 1, bottom)]
    if x2 - x >= _WIDE_ENOUGH:
        shapes.append(word("gaptext", (x + x2) / 2, 14, f"{witness['gap'] - 1:,} without"))
    return shapes


def _due(value: str, labels: list[Any], beta: int, first: int) -> list[Shape]:
    """Within how many generations the value is due, after each; and the generations at which it was missed."""
    top, bottom = _DUE
    n = len(labels)
    # A window that begins inside a run does not say since when the value is missing.
    left: int | None = beta if first == 1 else None
    points, misses = [] if left is None else [(0, left)], []
    for place, label in enumerate(labels):
        if value in _held(label):
            if left is not None:
                points.append((place, left))
            left = beta
            points.append((place, beta))
            points.append((place + 1, beta))
        elif left is not None:
            left = max(0, left - 1)
            points.append((place + 1, left))
            if left == 0 and (len(points) < 2 or points[-2][1] > 0):
                misses.append(place + 1)
    text = "M" + "L".join(f"{x} {beta - y}" for x, y in _corners(points)) if points else ""
    shapes = [line("zero", 0, 100, bottom, bottom)]
    if text:
        shapes.append(path("due", text, (n, beta), top, bottom))
    shapes += [circle("miss", 100 * place / n, bottom, 3) for place in misses]
    return shapes


def _corners(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The points at which a line through them turns."""
    kept: list[tuple[int, int]] = []
    for point in points:
        if kept and point == kept[-1]:
            continue
        if len(kept) > 1:
            (a, b), (c, d) = kept[-2], kept[-1]
            if (c - a) * (point[1] - d) == (d - b) * (point[0] - c):
                kept[-1] = point
                continue
        kept.append(point)
    return kept


def _keys(strip: Json, beta: int | None, unknown: bool) -> tuple[Key, ...]:
    keys = [
        Key((rect("block", 2, 8, 3, 14), rect("block", 11, 17, 3, 14)), "shown"),
        Key((rect("gap", 2, 32, 2, 14),), "the widest gap"),
    ]
    if unknown:
        keys.append(Key((rect("unknown", 8, 14, 3, 14), rect("unknown", 18, 24, 3, 14)), "label not known"))
    if beta is not None:
        keys.append(Key((line("due", 2, 32, 2, 14),), f"due within, from {beta} to 0"))
        keys.append(Key((circle("miss", 17, 8, 3),), "missed"))
    if strip["enforced"]:
        keys.append(Key((circle("enforced", 17, 8, 2.6),), "enforced"))
    return tuple(keys)
