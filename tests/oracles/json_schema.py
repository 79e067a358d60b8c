"""A plain check of JSON against a schema: the keywords that ours use, and no others."""

from __future__ import annotations

TYPES = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}
KNOWN = {
    *("$schema", "$defs", "$ref", "title", "description", "type", "enum", "anyOf"),
    "const",
    *("properties", "required", "additionalProperties", "items", "propertyNames"),
}


def faults(value, schema, root=None, where="$"):
    """Every place where a value does not keep to a schema, in words."""
    root = schema if root is None else root
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    found = []
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        found += faults(value, root["$defs"][name], root, where)
    if "anyOf" in schema:
        tried = [faults(value, part, root, where) for part in schema["anyOf"]]
        if all(tried):
            found += min(tried, key=len)
    if "const" in schema and value != schema["const"]:
        found.append(f"{where}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is none of {schema['enum']}")
    if "type" in schema:
        kinds = schema["type"]
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if not any(TYPES[kind](value) for kind in kinds):
            return [*found, f"{where}: {value!r} is not {' or '.join(kinds)}"]
    if isinstance(value, dict):
        found += _in_object(value, schema, root, where)
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            found += faults(item, schema["items"], root, f"{where}[{i}]")
    return found


def _in_object(value, schema, root, where):
    known = schema.get("properties", {})
    found = [
        f"{where}: no {key}" for key in schema.get("required", ()) if key not in value
    ]
    others = schema.get("additionalProperties", True)
    for key, item in value.items():
        if "propertyNames" in schema:
            found += faults(key, schema["propertyNames"], root, f"{where}.{key} (name)")
        if key in known:
            found += faults(item, known[key], root, f"{where}.{key}")
        elif others is False:
            found.append(f"{where}: {key} is not described")
        elif others is not True:
            found += faults(item, others, root, f"{where}.{key}")
    return found
