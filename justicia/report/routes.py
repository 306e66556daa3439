"""A cross-check in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from justicia.words import counted, shown

if TYPE_CHECKING:
    from justicia.cross_checking import CrossCheck, RouteCheck

__all__ = ["cross_check_text"]

_MOST = 10
_NAMES = {"selection_rate": "selection rates", "tpr": "TPR", "fpr": "FPR"}
_ROUTES = {
    "rows": "by {name}",
    "engine": "by engine {name}",
    "formula": "by the formula and engine {name}",
    "outside": "by the formula and outside solver {name}",
    "monte carlo": "by predict of {people} people drawn of each group",
}


def cross_check_text(check: CrossCheck) -> Text:
    """One line a route; then what disagrees, and what was not compared."""
    text = Text()
    for number, route in enumerate(check.routes):
        text.append(("\n" if number else "") + _route(route))
    for one in check.disagreements[:_MOST]:
        text.append(f"\nDISAGREES: {one}", style="bold red")
    rest = len(check.disagreements) - _MOST
    if rest > 0:
        text.append(f"\nDISAGREES in {rest:,} more", style="bold red")
    for kind, number in check.unchecked.items():
        if number:
            text.append(f"\n{_NAMES[kind]}: no second route to {counted(number, 'group')}", style="yellow")
    return text


def _route(route: RouteCheck) -> str:
    how = _ROUTES[route.route].format(name=shown(route.name), people=f"{route.people or 0:,}")
    text = f"{_NAMES[route.kind]} {how}: {route.agreed:,} of {counted(route.groups, 'group')} agree"
    if route.largest_difference is not None:
        text += f", largest difference {route.largest_difference:.1e}"
    if route.error_probability:
        text += f" (a false alarm has probability {route.error_probability:.0e} at most)"
    return text
