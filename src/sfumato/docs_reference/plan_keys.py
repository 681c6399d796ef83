"""Tables of plan keys for the documentation: accepted values, default and meaning of each key."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from inspect import cleandoc
from typing import Any

from sfumato.docs_reference.schema_text import in_words
from sfumato.hierarchies.registry import TYPES
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

HEAD = "| key | may be | unless given | what it is |\n|---|---|---|---|"
# A marker in a written page that is replaced by its table: <!-- keys: method mondrian -->
MARKER = re.compile(r"<!-- keys: (\w+) ([\w-]+) -->")
KINDS: dict[str, Mapping[str, RecordSchema[Any]]] = {
    "model": SHAPES,
    "method": METHOD.variants,
    "hierarchy": TYPES,
    "rule": RULES,
}
_ATTRIBUTE = re.compile(r"^    (\w+): (.+(?:\n {8,}.+)*)", re.MULTILINE)


def fill(text: str) -> str:
    """Return a written page with the tables that its markers request."""
    return MARKER.sub(lambda marker: keys_table(KINDS[marker[1]][marker[2]]), text)


def keys_table(record: RecordSchema[Any]) -> str:
    """Return the table of the keys of a record."""
    if not record.keys:
        return "It has no keys."
    return "\n".join([HEAD, *_lines(record)])


def _lines(record: RecordSchema[Any]) -> Iterator[str]:
    kind = getattr(record.make, "func", record.make)  # a class, or one with some of its fields given
    defaults, notes = _defaults(kind), _notes(kind)
    for key, spec in record.keys.items():
        attribute, schema = record.attribute(key), spec.shape.schema()
        default = "**needed**" if spec.required else _shown(defaults.get(attribute))
        about = schema.get("description") or notes.get(attribute, "")
        yield f"| `{key}` | {_cell(in_words(schema))} | {_cell(default)} | {_cell(about)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _defaults(kind: Any) -> dict[str, Any]:
    parts = fields(kind) if isinstance(kind, type) and is_dataclass(kind) else ()
    return {part.name: part.default for part in parts if part.default is not MISSING}


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
    return "\n\n".join(
        [
            "# The plan of a release",
            "A plan is a file of YAML or JSON; keys that are not listed here are refused by name. Paths in it are "
            "relative to it. A [JSON Schema](../plan.schema.json) lets editors complete and check it. In the tables, "
            "`mapping` is `key: value` lines. What [models](../models.md), [methods](../methods.md) and "
            "[hierarchies](../hierarchies.md) do is told on their pages.",
            *_sections("", PLAN, set()),
        ]
    )


def table_plan_page() -> str:
    """Return all keys of the plan of tables."""
    return "\n\n".join(
        [
            "# The plan of a table",
            "What each part does is told in [Protect tables](../tables.md); a [JSON Schema](../table-plan.schema.json) "
            "lets editors complete and check it.",
            *_sections("", TABLE_PLAN, set()),
        ]
    )


def _sections(at: str, record: RecordSchema[Any], sections: set[int], about: str = "") -> Iterator[str]:
    """Yield a section for a record, and for each record within it."""
    yield from ([f"## {at}"] if at else ["## The whole"])
    if about or record.about:
        yield _sentence(about or record.about)
    yield keys_table(record)
    for key, spec in record.keys.items():
        for place, part in _parts(f"{at}.{key}" if at else key, spec.shape):
            if id(part) not in sections:
                sections.add(id(part))
                yield from _sections(place, part, sections)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


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
