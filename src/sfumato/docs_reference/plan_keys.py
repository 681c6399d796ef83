"""Tables of plan keys for the documentation: accepted values in words, default and meaning of each key."""

import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from typing import Any

from sfumato.hierarchies.registry import TYPES
from sfumato.localization.messages import words_in
from sfumato.microdata.models.registry import SHAPES
from sfumato.microdata.plan.methods import METHOD, Suppression
from sfumato.microdata.plan.write import PLAN
from sfumato.schema.composite import (
    Conversion,
    ListSchema,
    MapSchema,
    RecordSchema,
    Schema,
    TaggedUnionSchema,
    UnionSchema,
)
from sfumato.tables.plan.table_plan import PLAN as TABLE_PLAN
from sfumato.tables.plan.table_plan import RULES
from sfumato.values import Value, defaults

HEAD = "| key | may be | unless given | what it is |\n|---|---|---|---|"
# The marker in a documentation page that is replaced by a table of keys: <!-- keys: method mondrian -->
MARKER = re.compile(r"<!-- keys: (\w+) ([\w-]+) -->")
KINDS: dict[str, Mapping[str, RecordSchema[Any]]] = {
    "model": SHAPES,
    "method": METHOD.variants,
    "hierarchy": TYPES,
    "rule": RULES,
}
_ATTRIBUTE = re.compile(r"^    (\w+): (.+(?:\n {8,}.+)*)", re.MULTILINE)


def fill(text: str) -> str:
    """Return a documentation page with its markers replaced by tables of keys, and of the privacy models."""
    text = text.replace("<!-- models -->", models_table()) if "<!-- models -->" in text else text
    return MARKER.sub(lambda marker: keys_table(KINDS[marker[1]][marker[2]]), text)


def models_table() -> str:
    """Return the table of the privacy models: what each guarantees, and what it does not protect against."""
    texts = words_in("en")
    lines = [
        f"| [`{name}`](models/{name}.md) | {table_cell(texts[f'model.{name}.says'])} "
        f"| {table_cell(texts[f'promise.{name}.limit'])} |"
        for name in SHAPES
    ]
    return "\n".join(["| model | guarantee | limits |", "|---|---|---|", *lines])


def keys_table(record: RecordSchema[Any]) -> str:
    """Return the table of the keys of a record."""
    if not record.keys:
        return "It has no keys."
    return "\n".join([HEAD, *_lines(record)])


def _lines(record: RecordSchema[Any]) -> Iterator[str]:
    kind = getattr(record.make, "func", record.make)  # a class, or a partial of a class with some fields set
    usual, notes = _defaults(kind), _notes(kind)
    for key, spec in record.keys.items():
        attribute, schema = record.attribute(key), spec.shape.schema()
        default = "**needed**" if spec.required else _shown(usual.get(attribute))
        about = schema.get("description") or notes.get(attribute, "")
        yield f"| `{key}` | {table_cell(in_words(schema))} | {table_cell(default)} | {table_cell(about)} |"


def table_cell(text: str) -> str:
    """Return a text escaped for a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def _defaults(kind: Any) -> dict[str, Any]:
    return defaults(kind) if isinstance(kind, type) and issubclass(kind, Value) else {}


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, Suppression):
        return _shown(default.share)
    if isinstance(default, str | int | float):
        return f"`{default:g}`" if isinstance(default, float) else f"`{default}`"
    return ""


def _notes(kind: Any) -> dict[str, str]:
    """Return the attribute descriptions in the docstring of a class and of its ancestors."""
    notes: dict[str, str] = {}
    for ancestor in reversed(getattr(kind, "__mro__", (kind,))):
        _, _, attributes = cleandoc(ancestor.__doc__ or "").partition("Attributes:\n")
        notes |= {name: re.sub(r"\s+", " ", says) for name, says in _ATTRIBUTE.findall(attributes)}
    return notes


def plan_page() -> str:
    """Return all keys of the plan of a release."""
    about = (
        "A plan is a file of YAML or JSON; keys that are not listed here are refused by name. Paths in it are relative "
        "to it. A [JSON Schema](../plan.schema.json) lets editors complete and check it. In the tables, `mapping` is "
        "`key: value` lines. [Models](../models.md), [methods](../methods.md) and [hierarchies](../hierarchies.md) "
        "have pages of their own."
    )
    return "\n\n".join(["# The plan of a release", about, *_sections("", PLAN, set())])


def table_plan_page() -> str:
    """Return all keys of the plan of tables."""
    about = (
        "[Protect tables](../tables.md) explains what each part does; a [JSON Schema](../table-plan.schema.json) lets "
        "editors complete and check it."
    )
    return "\n\n".join(["# The plan of a table", about, *_sections("", TABLE_PLAN, set())])


def _sections(at: str, record: RecordSchema[Any], sections: set[int], about: str = "") -> Iterator[str]:
    """Yield a section for a record, and for each record within it."""
    yield f"## {at or 'The whole'}"
    if says := about or record.about:
        yield says[:1].upper() + says[1:].rstrip(".") + "."
    yield keys_table(record)
    for key, spec in record.keys.items():
        for place, part in _parts(f"{at}.{key}" if at else key, spec.shape):
            if id(part) not in sections:
                sections.add(id(part))
                yield from _sections(place, part, sections)


def _parts(at: str, shape: Schema[Any]) -> Iterator[tuple[str, RecordSchema[Any]]]:
    """Yield the records inside a schema, by path."""
    match shape:
        case RecordSchema():
            yield at, shape
        case TaggedUnionSchema():
            for name, record in shape.variants.items():
                yield f"{at.rpartition('.')[2]}: {name}", record
        case ListSchema():
            yield from _parts(at, shape.item)
        case MapSchema():
            yield from _parts(f"{at}.NAME", shape.value)
        case Conversion():
            yield from _parts(at, shape.shape)
        case UnionSchema():
            for _, option in shape.options:
                yield from _parts(at, option)
        case _:
            return


TYPE_WORDS = {
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
# Larger bounds are technical limits of integers, and are not documented.
LARGEST = 2**53


def in_words(schema: Mapping[str, Any]) -> str:
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


def _last(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"].rpartition("/")[2])


def _by_tag(options: Sequence[Mapping[str, Any]]) -> str:
    """Describe a choice between mappings that differ in the value of one key, by these values."""
    tags = [(key, part["const"]) for option in options for key, part in option["properties"].items() if "const" in part]
    return f"mapping with `{tags[0][0]}`: " + ", ".join(f"`{name}`" for _, name in tags)


def _alternatives(options: Sequence[Mapping[str, Any]]) -> str:
    words = list(dict.fromkeys(in_words(option) for option in options))
    return " or ".join(words) if len(words) <= MOST_CHOICES else " or ".join([*words[:MOST_CHOICES], "…"])


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(TYPE_WORDS[name] for name in kind)
    if kind == "array":
        return f"list of {in_words(schema.get('items', {}))}"
    if kind == "object":
        return _mapping(schema)
    if schema.get("minimum") == schema.get("maximum") is not None:
        return f"`{schema['minimum']}`"
    bounds = [f"at {word} {schema[key]:g}" for key, word in _BOUNDS if schema.get(key, LARGEST) < LARGEST]
    return ", ".join([TYPE_WORDS.get(str(kind), "anything"), *bounds])


_BOUNDS = (("minimum", "least"), ("maximum", "most"))


def _mapping(schema: Mapping[str, Any]) -> str:
    names = list(schema.get("properties", {}))
    if len(names) > MOST_KEYS:
        return "mapping, see below"
    if names:
        return "`{" + ", ".join(names) + "}`"
    values = schema.get("additionalProperties")
    return f"mapping to {in_words(values)}" if isinstance(values, Mapping) and values else "mapping"
