"""Audits that were written as JSON, read again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from justicia.errors import InputError
from justicia.report.generations_schema import AUDIT_SCHEMA, audit_schema
from justicia.report.json import SCHEMA, schema
from justicia.words import shown

__all__ = ["audit_from_json", "read_audit"]


def read_audit(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The audit in a JSON file, checked against its schema.

    Raises
    ------
    InputError
        When the file cannot be read, or does not hold an audit; the message says where.
    """
    name = shown(os.fspath(path), 200)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"{name} cannot be read: {error}") from error
    try:
        return audit_from_json(content)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def audit_from_json(content: str | bytes) -> dict[str, Any]:
    """The audit in a JSON text, checked against its schema.

    Raises
    ------
    InputError
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
        held = json.loads(text, parse_constant=_refuse)
    except UnicodeDecodeError:
        raise InputError("the file is no text in UTF-8") from None
    except json.JSONDecodeError as error:
        raise InputError(f"no JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise InputError("no audit: its lists are nested too deeply") from None
    except ValueError as error:
        raise InputError(f"no JSON: {error}") from None
    found = held.get("schema") if isinstance(held, dict) else None
    schemas = {SCHEMA: schema, AUDIT_SCHEMA: audit_schema}
    if not isinstance(found, str) or found not in schemas:
        says = "it names no schema" if found is None else f"its schema is {shown(found)}"
        raise InputError(
            f"no audit that can be read here: {says}, not {SCHEMA} or {AUDIT_SCHEMA}; write one with justicia verify "
            "--json or justicia generations audit --json"
        )
    try:
        fault = best_match(Draft202012Validator(schemas[found]()).iter_errors(held))
    except RecursionError:
        raise InputError("no audit: its lists are nested too deeply") from None
    if fault is not None:
        where = fault.json_path.removeprefix("$.") if fault.json_path != "$" else "the audit"
        raise InputError(f"no whole audit: {shown(where, 120)}: {shown(fault.message, 200)}")
    checked: dict[str, Any] = held
    return checked


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number")
