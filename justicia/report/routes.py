"""A cross-check as JSON and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from justicia.words import counted, shown

if TYPE_CHECKING:
    from justicia.cross_checking import CrossCheck
    from justicia.enclosure import Enclosure

__all__ = ["cross_check_text", "cross_check_to_dict", "disagreement_lines", "open_lines", "route_lines"]

Json = dict[str, Any]

_MOST = 10
_NAMES = {"selection_rate": "selection rates", "tpr": "TPR", "fpr": "FPR"}
_ROUTES = {
    "rows": "by {name}",
    "engine": "by engine {name}",
    "formula": "by the formula and engine {name}",
    "outside": "by the formula and outside solver {name}",
    "monte carlo": "by predict of {people} people drawn of each group",
}


def cross_check_to_dict(check: CrossCheck, *, timed: bool) -> Json:
    """What second routes say, by the contract of the audit's JSON; seconds only where they are wanted."""
    return {
        "status": check.status,
        "unchecked": {kind: check.unchecked.get(kind, 0) for kind in _NAMES},
        "routes": [
            {
                "rate": route.kind,
                "route": route.route,
                "name": route.name,
                "groups": route.groups,
                "agreed": route.agreed,
                "largest_difference": route.largest_difference,
                "error_probability": route.error_probability,
                "people": route.people,
                "seconds": round(route.seconds, 6) if timed else None,
                **({} if route.reason is None else {"reason": route.reason}),
            }
            for route in check.routes
        ],
        "disagreements": [
            {
                "group": one.group,
                "rate": one.kind,
                "verified": _ends(one.verified),
                "route": one.route,
                "other": _ends(one.other),
            }
            for one in check.disagreements
        ],
    }


def _ends(enclosure: Enclosure) -> Json:
    return {"lo": float(enclosure.lo), "hi": float(enclosure.hi)}


def cross_check_text(check: CrossCheck) -> Text:
    """One line a route; then what disagrees, and what was not compared."""
    held = cross_check_to_dict(check, timed=False)
    text = Text("\n".join(route_lines(held)))
    for line in disagreement_lines(held):
        text.append(f"\n{line}", style="bold red")
    for line in open_lines(held):
        text.append(f"\n{line}", style="yellow")
    return text


def route_lines(held: Json) -> list[str]:
    """What each route was, on how many groups it agrees, and how far it is apart."""
    lines = []
    for route in held["routes"]:
        how = _ROUTES[route["route"]].format(name=shown(route["name"]), people=f"{route['people'] or 0:,}")
        reason = shown(route.get("reason") or "", 200)
        text = f"{_NAMES[route['rate']]} {how}: "
        if not route["groups"]:
            lines.append(f"{text}{reason or 'no group is compared'}")
            continue
        text += f"{route['agreed']:,} of {counted(route['groups'], 'group')} agree"
        if route["largest_difference"] is not None:
            text += f", largest difference {route['largest_difference']:.1e}"
        if route["error_probability"]:
            text += f" (a false alarm has probability {route['error_probability']:.0e} at most)"
        if reason:
            text += f"; of others: {reason}"
        lines.append(text)
    return lines


def disagreement_lines(held: Json) -> list[str]:
    """What disagrees, as far as a reader looks."""
    lines = []
    for one in held["disagreements"][:_MOST]:
        who = shown(", ".join(one["group"].values()), 200)
        ends = [f"{one[key]['lo']:.6g} to {one[key]['hi']:.6g}" for key in ("verified", "other")]
        lines.append(f"DISAGREES: {one['rate']} of {who}: verified {ends[0]}, by {shown(one['route'])} {ends[1]}")
    rest = len(held["disagreements"]) - _MOST
    return [*lines, f"DISAGREES in {rest:,} more"] if rest > 0 else lines


def open_lines(held: Json) -> list[str]:
    """Groups without a second route."""
    return [
        f"{_NAMES[kind]}: no second route to {counted(number, 'group')}"
        for kind, number in held["unchecked"].items()
        if number
    ]
