"""The JSON Schemas that are shipped with the package."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

__all__ = ["read_schema"]


def read_schema(package: str, name: str) -> dict[str, Any]:
    """A schema that lies beside the modules of a package.

    >>> read_schema("justicia.report", "audit")["properties"]["schema"]
    {'const': 'justicia.audit/1'}
    """
    text = (resources.files(package) / f"{name}.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
