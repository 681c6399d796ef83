"""Describe a JSON Schema in words, short enough for a table cell."""

from collections.abc import Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]
KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "mapping",
    "array": "list",
    "null": "nothing",
}
MOST_CHOICES = 12
# Mappings with more keys get a table of their own.
MOST_KEYS = 4
# Larger bounds come from the machine, not from the plan.
LARGEST = 2**53


def in_words(schema: Schema) -> str:
    """Return the accepted values in words.

    >>> in_words({"type": "integer", "minimum": 1})
    'whole number, at least 1'
    >>> in_words({"anyOf": [{"enum": ["key"]}, {"type": "object", "properties": {"k": {}}}]})
    '`key` or `{k}`'
    """
    if "oneOf" in schema:
        return _by_tag(schema["oneOf"])
    if "anyOf" in schema:
        return _alternatives(schema["anyOf"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{choice}`" for choice in schema["enum"][:MOST_CHOICES])
    if "$ref" in schema:
        return f"[{_last(schema)}](#{_last(schema).lower()})"
    return _kind(schema)


def _last(schema: Schema) -> str:
    return str(schema["$ref"].rpartition("/")[2])


def _by_tag(options: Sequence[Schema]) -> str:
    """Return one of several mappings distinguished by the value of a key, by these values."""
    tags = [(key, part["const"]) for option in options for key, part in option["properties"].items() if "const" in part]
    return f"mapping with `{tags[0][0]}`: " + ", ".join(f"`{name}`" for _, name in tags)


def _alternatives(options: Sequence[Schema]) -> str:
    words = list(dict.fromkeys(in_words(option) for option in options))
    return " or ".join(words) if len(words) <= MOST_CHOICES else " or ".join([*words[:MOST_CHOICES], "…"])


def _kind(schema: Schema) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(KINDS[name] for name in kind)
    if kind == "array":
        return f"list of {in_words(schema.get('items', {}))}"
    if kind == "object":
        return _mapping(schema)
    if schema.get("minimum") == schema.get("maximum") is not None:
        return f"`{schema['minimum']}`"
    bounds = [f"at {word} {schema[key]:g}" for key, word in _BOUNDS if schema.get(key, LARGEST) < LARGEST]
    return ", ".join([KINDS.get(str(kind), "anything"), *bounds])


_BOUNDS = (("minimum", "least"), ("maximum", "most"))


def _mapping(schema: Schema) -> str:
    names = list(schema.get("properties", {}))
    if len(names) > MOST_KEYS:
        return "mapping, see below"
    if names:
        return "`{" + ", ".join(names) + "}`"
    values = schema.get("additionalProperties")
    return f"mapping to {in_words(values)}" if isinstance(values, Mapping) and values else "mapping"
