"""JSON Schema of the answers, read off the types that write them.

Only what these types use is understood: typed dicts, lists, dicts, literals, unions
and plain values. Anything else is an error, so that no answer goes undescribed.
"""

from __future__ import annotations

import inspect
import types
from typing import (
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(verb: str) -> dict[str, Any]:
    """Write the JSON Schema of a verb's answer.

    Parameters
    ----------
    verb : str
        A key of `veridical.cli.answers.ANSWERS`.
    """
    from veridical.cli.answers import ANSWERS

    kinds, has_page = ANSWERS[verb]
    definitions: dict[str, Any] = {}
    answers = [_schema(kind, definitions) for kind in kinds]
    if has_page:
        for kind in kinds:
            described = definitions[kind.__name__]
            described["properties"]["page"] = {
                "description": "Where the report was written, if one was asked for.",
                "type": ["string", "null"],
            }
            described["required"].append("page")
    return {
        "$schema": _DIALECT,
        "title": f"The answer of veridical {verb} --json",
        **(answers[0] if len(answers) == 1 else {"anyOf": answers}),
        "$defs": dict(sorted(definitions.items())),
    }


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind is Any:
        return {}
    if kind is type(None):
        return {"type": "null"}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if is_typeddict(kind):
        return _reference(kind, definitions)
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, types.UnionType):
        return _union([_schema(part, definitions) for part in parts])
    if origin is list:
        return {"type": "array", "items": _schema(parts[0], definitions)}
    if origin is dict:
        keys: dict[str, Any] = {}
        if get_origin(parts[0]) is Literal:
            keys = {"propertyNames": {"enum": list(get_args(parts[0]))}}
        values = _schema(parts[1], definitions)
        return {"type": "object", **keys, "additionalProperties": values}
    raise TypeError(f"no JSON Schema for {kind!r}")


def _reference(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in definitions:
        definitions[name] = {}  # taken, should it hold itself
        hints = get_type_hints(kind, localns=_names())
        definitions[name] = {
            "description": inspect.cleandoc(kind.__doc__ or ""),
            "type": "object",
            "properties": {
                key: _schema(value, definitions) for key, value in hints.items()
            },
            "required": list(hints),
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{name}"}


def _union(parts: list[dict[str, Any]]) -> dict[str, Any]:
    if all(set(part) == {"type"} for part in parts):
        return {"type": [part["type"] for part in parts]}
    return {"anyOf": parts}


def _names() -> dict[str, Any]:
    """Names that the summaries' modules import only for type checkers."""
    from veridical.comparison import records
    from veridical.report import schema

    return {**vars(records), **vars(schema)}
