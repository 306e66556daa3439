"""The JSON Schema of ``justicia.generations.audit/1``, made from those of the reports that its sections hold."""

from __future__ import annotations

import copy
from typing import Any

from justicia.report import generations_json, language_json

__all__ = ["AUDIT_SCHEMA", "audit_schema"]

AUDIT_SCHEMA = "justicia.generations.audit/1"

Json = dict[str, Any]

_OF_THE_AUDIT = ("schema", "tool", "created", "command", "data", "warnings", "least", "most", "verdict")
_TEXT: Json = {"type": "string"}
_TEXT_OR_NULL: Json = {"type": ["string", "null"]}
_TEXTS: Json = {"type": "array", "items": _TEXT}
_COUNT: Json = {"type": "integer", "minimum": 0}
_PLACE: Json = {"type": ["integer", "null"], "minimum": 1}
_NUMBER: Json = {"type": "number"}
_YES_OR_NO: Json = {"type": "boolean"}
_LISTS: Json = {"type": "object", "additionalProperties": _TEXTS}


def _object(properties: Json, optional: tuple[str, ...] = ()) -> Json:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


def _list(of: Json) -> Json:
    return {"type": "array", "items": of}


def _ref(place: str, name: str) -> Json:
    return {"$ref": f"#/$defs/{place}.{name}"}


def _without(of: Json, names: tuple[str, ...], more: Json | None = None) -> Json:
    """An object's schema without some of its keys, and with others."""
    held = copy.deepcopy(of)
    for name in names:
        held["properties"].pop(name, None)
    held["properties"].update(more or {})
    held["required"] = [*(name for name in held["required"] if name not in names), *(more or {})]
    return held


def audit_schema() -> Json:
    """The JSON Schema of an audit of generations, by JSON Schema 2020-12."""
    definitions: Json = {}
    for place, held in (("generations", generations_json.schema()), ("language", language_json.schema())):
        for name, definition in held["$defs"].items():
            definitions[f"{place}.{name}"] = _moved(definition, place)
    contents = {
        "sequences": _sequences(definitions),
        "coverage": _coverage(definitions),
        "diversity": _diversity(definitions),
        "association": _association(definitions),
        "criteria": _criteria(definitions),
        "pairs": _pairs(definitions),
        "scores": _scores(definitions),
        "polarity": _polarity(definitions),
    }
    head = {"name": _TEXT, "title": _TEXT}
    done = [
        _object(
            {
                **head,
                "name": {"const": name},
                "computed": {"const": True},
                "reason": {"type": "null"},
                "remedy": {"type": "null"},
                "content": content,
            }
        )
        for name, content in contents.items()
    ]
    lacking = _object(
        {**head, "computed": {"const": False}, "reason": _TEXT, "remedy": _TEXT, "content": {"type": "null"}}
    )
    attribute = _object({"domain": _TEXTS, "beta": _PLACE, "unknown": _TEXTS})
    finding = _object(
        {
            "kind": _TEXT,
            "level": {"enum": ["fault", "warning", "note"]},
            "column": _TEXT_OR_NULL,
            "count": _COUNT,
            "text": _TEXT,
        }
    )
    requirement = _object({"text": _TEXT, "status": {"enum": ["met", "breached", "undecided"]}, "reason": _TEXT})
    root = _object(
        {
            "schema": {"const": AUDIT_SCHEMA},
            "tool": _object({"name": {"const": "justicia"}, "version": _TEXT}),
            "created": _TEXT,
            "command": {"type": ["array", "null"], "items": _TEXT},
            "data": _ref("generations", "data"),
            "columns": {"type": "object", "additionalProperties": _TEXT_OR_NULL},
            "attributes": {"type": "object", "additionalProperties": attribute},
            "neutral": _LISTS,
            "off_domain": {"enum": ["error", "none", "unknown"]},
            "confidence": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "seed": _COUNT,
            "replicates": _COUNT,
            "requirements": _list(requirement),
            "sections": _list({"oneOf": [lacking, *done]}),
            "findings": _list(finding),
            "warnings": _TEXTS,
        }
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Audit of generations by justicia",
        **root,
        "$defs": definitions,
    }


def _moved(of: Any, place: str) -> Any:
    """A definition whose references name the schema that it came from."""
    if isinstance(of, dict):
        return {
            key: value.replace("#/$defs/", f"#/$defs/{place}.") if key == "$ref" else _moved(value, place)
            for key, value in of.items()
        }
    return [_moved(one, place) for one in of] if isinstance(of, list) else of


_LACKS = _list(_object({"what": _TEXT, "reason": _TEXT, "remedy": _TEXT}))


def _sequences(definitions: Json) -> Json:
    gap = _object({"lo": {"type": "integer", "minimum": 1}, "hi": {"type": "integer", "minimum": 1}})
    value = _object(
        {"value": _TEXT, "count": _COUNT, "possible": _COUNT, "gap": gap, "after": _PLACE, "before": _PLACE}
    )
    run = _without(definitions["generations.result"], (), {"values": _list(value)})
    strip = _object(
        {
            "run": _TEXT_OR_NULL,
            "n": _COUNT,
            "first": {"type": "integer", "minimum": 1},
            "labels": _list({"type": ["string", "null", "array"], "items": _TEXT_OR_NULL}),
            "enforced": _list({"type": "integer", "minimum": 1}),
            "steps": _list(_NUMBER),
        }
    )
    question = _object(
        {
            "attribute": _TEXTS,
            "domain": _TEXTS,
            "beta": _PLACE,
            "verdict": _ref("generations", "verdict"),
            "verdicts": {"type": "object", "additionalProperties": _COUNT},
            "runs": _list(run),
            "runs_left_out": _COUNT,
            "strips": _list(strip),
        }
    )
    return _object({"questions": _list(question), "evidence": _list(_ref("generations", "evidence"))})


def _coverage(definitions: Json) -> Json:
    whole = definitions["generations.coverage"]["properties"]["results"]["items"]
    run = _without(whole, ("verdict", "reason"), {"missing_count": _COUNT})
    pair = _object({"attributes": _TEXTS, "values": _list(_TEXTS), "counts": _list(_list(_COUNT)), "unknown": _COUNT})
    return _object(
        {
            "attributes": _TEXTS,
            "sizes": {"type": "object", "additionalProperties": _COUNT},
            "t": {"type": "integer", "minimum": 1},
            "runs": _list(run),
            "runs_left_out": _COUNT,
            "pairs": _list(pair),
        }
    )


def _diversity(definitions: Json) -> Json:
    model = _without(definitions["generations.diversity"], _OF_THE_AUDIT, {"model": _TEXT_OR_NULL})
    return _object(
        {
            "attributes": _TEXTS,
            "left_out": _TEXTS,
            "context": _TEXT_OR_NULL,
            "models": _list(model),
            "lacks": _LACKS,
        }
    )


def _association(definitions: Json) -> Json:
    held = _without(definitions["generations.association"], _OF_THE_AUDIT)
    axes = held["properties"]["axes"]
    axes["items"] = _without(axes["items"], ("verdict",))
    return held


def _criteria(definitions: Json) -> Json:
    columns = {"group": _TEXT, "response": _TEXT}
    columns |= dict.fromkeys(("truth", "model", "cluster"), _TEXT_OR_NULL)
    columns["strata"] = _TEXTS
    return _object(
        {
            "columns": _object(columns),
            "groups": _TEXTS,
            "responses": _TEXTS,
            "refusal_words": _TEXTS,
            "unknown": _TEXT,
            "answered": _YES_OR_NO,
            "rows_used": _COUNT,
            "alpha": _NUMBER,
            "criteria": _list(_without(definitions["language.criterion"], ("verdict", "reason"))),
            "refusals": _list(_ref("language", "refusals")),
            "models": _list(_ref("language", "contrast")),
            "lacks": _LACKS,
        }
    )


def _pairs(definitions: Json) -> Json:
    pair = _without(definitions["language.pairs"], ("verdict", "reason"))
    return _object({"pairs": _list(pair), "columns": _TEXTS, "alpha": _NUMBER})


def _score_part(definitions: Json, column: str) -> Json:
    whole = definitions["language.polarity"]["properties"]
    columns = {column: _TEXT, **dict.fromkeys(("group", "model", "cluster"), _TEXT_OR_NULL), "pair": _TEXTS}
    bins = _object({"model": _TEXT_OR_NULL, "group": _TEXT_OR_NULL, "counts": _list(_COUNT)})
    comparisons = _moved_items(definitions, whole["comparisons"])
    return {
        "columns": _object(columns),
        **{name: whole[name] for name in ("groups", "scores")},
        "alpha": _NUMBER,
        "comparisons": _list(_without(comparisons, ("verdict", "reason"))),
        "scores_left_out": _YES_OR_NO,
        "bins": _object({"from": _NUMBER, "to": _NUMBER, "groups": _list(bins)}),
    }


def _moved_items(definitions: Json, of: Json) -> Json:
    """What a list holds, also where that is a definition of its own."""
    items: Json = of["items"]
    return definitions[items["$ref"].removeprefix("#/$defs/")] if "$ref" in items else items


def _scores(definitions: Json) -> Json:
    return _object(_score_part(definitions, "score"))


def _polarity(definitions: Json) -> Json:
    whole = definitions["language.polarity"]["properties"]
    scale = {name: whole[name] for name in ("vectors", "poles", "half")}
    return _object({**_score_part(definitions, "text"), **scale, "lacks": _LACKS})
