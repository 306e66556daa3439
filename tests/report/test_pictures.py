"""Geometry of the pictures."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from justicia.enclosure import Enclosure
from justicia.report.pictures import Charted, chart, graph


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=80))
def test_positions_are_in_the_order_of_the_rates(rates):
    bars = [Charted(str(number), "", Enclosure(min(pair), max(pair)), None, None) for number, pair in enumerate(rates)]
    drawn = chart(bars)
    assert drawn is not None
    held = [*drawn.first, *drawn.last]
    assert len(held) + drawn.left_out == len(rates)
    for bar in held:
        assert 0 <= bar.lo <= bar.middle <= bar.hi <= 100
    top = max(place for place, _ in drawn.ticks)
    assert top == 100
    assert 2 <= len(drawn.ticks) <= 6
    # The axis reaches the largest rate, and not far beyond.
    assert float(drawn.ticks[-1][1].split()[0]) >= 100 * max(max(pair) for pair in rates) - 1e-9


def test_nothing_to_draw():
    assert chart([]) is None
    assert chart([Charted("a", "", None, None, None)]) is None
    assert graph({}) is None
    assert graph({"a": [], "b": []}) is None


def test_zero_rates_have_an_axis():
    drawn = chart([Charted("a", "", Enclosure(0, 0), None, None)])
    assert drawn.first[0].middle == 0


def test_ends_are_certain_and_the_dot_is_statistical():
    drawn = chart([Charted("a", "left out", Enclosure(0.2, 1.0), Enclosure(0.25, 0.35), None)])
    bar = drawn.first[0]
    assert (bar.lo, bar.middle, bar.hi) == (20, 30, 100)
    assert bar.says == "verified 0.2000 to 1.0000; statistical 0.2500 to 0.3500"


@settings(deadline=None)
@given(st.integers(1, 20).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n)))
def test_parents_stand_left_of_children_and_boxes_apart(choice):
    parents = {f"f{i}": [f"f{choice[i - 1] % i}"] for i in range(1, len(choice) + 1)}
    drawn = graph(parents)
    boxes = {box.name: box for box in drawn.boxes}
    assert len(boxes) == len(parents) + 1
    for name, held in parents.items():
        assert boxes[held[0]].x + boxes[held[0]].width < boxes[name].x
    for one in drawn.boxes:
        assert one.x >= 0
        assert one.x + one.width <= drawn.width
        assert one.y >= 0
        assert one.y + one.height <= drawn.height
        for other in drawn.boxes:
            if other is not one:
                apart = one.x + one.width < other.x or other.x + other.width < one.x
                assert apart or one.y + one.height <= other.y or other.y + other.height <= one.y
    assert len(drawn.edges) == len(parents)


def test_a_circle_or_a_crowd_is_not_drawn():
    assert graph({"a": ["b"], "b": ["a"]}) is None
    assert graph({f"f{i}": ["root"] for i in range(80)}) is None
