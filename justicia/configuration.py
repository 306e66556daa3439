"""Requirements that a project keeps in a file: ``justicia.toml``, or the table ``[tool.justicia]`` of pyproject.toml.

::

    require = ["disparate_impact>=0.8", "sample.selection_rate[race=Black]>=0.1"]

"""

from __future__ import annotations

import logging
import tomllib
from pathlib import Path
from typing import Any

from justicia.errors import InputError
from justicia.words import counted, did_you_mean, shown

__all__ = ["FILES", "requirements_of"]

logger = logging.getLogger(__name__)

FILES = ("justicia.toml", "pyproject.toml")
"""Files of the current folder that are looked at, the first that has something for us."""

_KEYS = ("require",)


def requirements_of(config: str | None) -> list[str]:
    """The requirements of a configuration file.

    Parameters
    ----------
    config : str or None
        A file; "none" for no file; None for ``justicia.toml``, else ``pyproject.toml``, of the current folder, if they
        have any.

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        When a file that is named cannot be read, or holds something else.
    """
    if config == "none":
        return []
    if config is not None:
        path = Path(config)
        if not path.is_file():
            raise InputError(f"--config {config}: there is no such file")
        held = _table(path, asked=True)
    else:
        found = ((path, _table(path, asked=False)) for path in map(Path, FILES))
        path, held = next(((path, table) for path, table in found if table is not None), (Path(), None))
    if held is None:
        return []
    strange = [key for key in held if key not in _KEYS]
    if strange:
        raise InputError(f"{path}: justicia knows no key {shown(strange[0])!r}{did_you_mean(strange[0], _KEYS)}")
    require = held.get("require", [])
    texts = [require] if isinstance(require, str) else require
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{path}: require is a list of texts such as 'disparate_impact>=0.8', not {shown(require)}")
    if texts:
        logger.info("%s of %s; --config none leaves them out", counted(len(texts), "requirement"), path)
    return texts


def _table(path: Path, *, asked: bool) -> dict[str, Any] | None:
    """The keys of a file that are meant for us; None where there are none."""
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            whole = tomllib.load(file)
    except (RecursionError, ValueError) as error:
        # Beside what is no TOML: brackets in brackets without end, and whole numbers of thousands of digits.
        if path.name == "pyproject.toml" and not asked:
            logger.warning("%s is no TOML (%s): no requirements are read from it", path, error)
            return None
        raise InputError(f"{path} is no TOML: {error}") from None
    if path.name != "pyproject.toml" and set(whole) != {"tool"}:
        held: Any = whole
    else:
        tools = whole.get("tool", {})
        held = tools.get("justicia") if isinstance(tools, dict) else None
    if held is None:
        if asked:
            raise InputError(f"{path} has no table [tool.justicia]")
        return None
    if not isinstance(held, dict):
        raise InputError(f"{path}: tool.justicia is a table of keys, not {shown(held)}")
    return held
