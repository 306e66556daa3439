"""Shields in files, by the contract ``justicia.shield/1``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from justicia.errors import ShieldError
from justicia.generations.shield import Shield
from justicia.words import shown

if TYPE_CHECKING:
    import os

__all__ = ["STATE_SCHEMA", "checked_state", "load", "save", "shield_from"]

STATE_SCHEMA = "justicia.shield/1"

_EVER = 1 << 60
_NUMBERS = ("step", "enforced", "failed", "missed")
_LISTS = ("seen", "due")
_SETTINGS = {"values", "beta", "margin", "choice", "rule", "unknown", "seed"}


def checked_state(state: Any, n: int) -> dict[str, Any]:
    """The state of a shield of n values, copied.

    Raises
    ------
    ShieldError
        When it is none.
    """
    if isinstance(state, Mapping) and set(state) == {*_NUMBERS, *_LISTS}:
        lists = [state[name] for name in _LISTS]
        if all(isinstance(held, list) and len(held) == n for held in lists):
            items = [state[name] for name in _NUMBERS] + [item for held in lists for item in held]
            whole = all(isinstance(item, int) and not isinstance(item, bool) and abs(item) < _EVER for item in items)
            if whole and min(state[name] for name in _NUMBERS) >= 0 and max(state["seen"]) <= state["step"]:
                return {name: list(held) if isinstance(held, list) else held for name, held in state.items()}
    raise ShieldError("the state of the shield is broken: start without it")


def save(shield: Shield, path: str | os.PathLike[str]) -> None:
    """Write settings and state, whole or not at all."""
    from justicia.writing import write_whole

    held = {"schema": STATE_SCHEMA, "settings": shield.settings(), "state": shield.state()}
    write_whole(path, json.dumps(held, ensure_ascii=False) + "\n")


def load(path: str | os.PathLike[str]) -> Shield:
    """A shield from a file.

    Raises
    ------
    ShieldError
        When it cannot be read, or holds none.
    """
    try:
        with open(path, encoding="utf-8") as file:
            held = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is no JSON"
        raise ShieldError(f"{shown(path, 200)} cannot be read: {said}") from error
    try:
        return shield_from(held)
    except ShieldError as error:
        raise ShieldError(f"{shown(path, 200)}: {error}") from None


def shield_from(held: Any) -> Shield:
    """A shield from what its file holds.

    Raises
    ------
    ShieldError
    """
    if not isinstance(held, Mapping) or held.get("schema") != STATE_SCHEMA:
        raise ShieldError(f"it is no shield: its schema is not {STATE_SCHEMA}")
    settings = held.get("settings")
    if not isinstance(settings, Mapping) or set(settings) != _SETTINGS:
        raise ShieldError("its settings are broken")
    values, betas = settings["values"], settings["beta"]
    if not isinstance(values, list) or not isinstance(betas, list) or len(betas) != len(values):
        raise ShieldError("its values and deadlines do not go together")
    rest = {name: settings[name] for name in _SETTINGS - {"values", "beta"}}
    shield = Shield(values, dict(zip(map(str, values), betas, strict=True)), **rest)
    shield.restore(held.get("state") or {})
    return shield
