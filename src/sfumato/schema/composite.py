"""Composite schemas (lists, maps, records, unions) that read the values of a plan and write its JSON Schema.

A schema reads a plain value (as YAML or JSON gives it) into a typed one. Every issue is collected with its path, so
that a user sees all of them at once; unknown names are refused with the nearest valid one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from typing import Any, Generic, TypeVar

from sfumato.errors import PlanError, did_you_mean
from sfumato.localization.messages import Message, message_of
from sfumato.schema.frozen_dict import FrozenDict
from sfumato.schema.issues import PlanIssues, Refused
from sfumato.schema.scalar import (
    LARGEST,
    Anything,
    Choice,
    Flag,
    Integer,
    JsonSchema,
    Number,
    Scalar,
    Schema,
    Text,
    described,
    kind_of,
    name_of,
    refuse_choice,
)
from sfumato.values import Value

# All schemas can be imported from here.
__all__ = [
    "LARGEST",
    "Anything",
    "Choice",
    "Conversion",
    "Flag",
    "Integer",
    "JsonSchema",
    "KeySchema",
    "ListSchema",
    "MapSchema",
    "Number",
    "RecordSchema",
    "Scalar",
    "Schema",
    "TaggedUnionSchema",
    "Text",
    "UnionSchema",
    "kind_of",
    "read",
]

T = TypeVar("T")
# Minimum similarity of a suggested name.
NEAR = 0.6


def read(shape: Schema[T], value: object, at: str = "") -> T:
    """Read a value, or raise a PlanError with all its issues.

    >>> read(Integer(minimum=1), 5)
    5
    """
    faults = PlanIssues()
    try:
        result = shape.read(value, at, faults)
    except Refused:
        raise PlanError.listing(faults.entries) from None
    if faults.entries:
        raise PlanError.listing(faults.entries)
    return result


class ListSchema(Value, Generic[T]):
    """A list of values of one schema, read into a tuple."""

    item: Schema[T]
    at_least: int = 0
    about: str = ""

    def read(self, value: object, at: str, faults: PlanIssues) -> tuple[T, ...]:
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            raise faults.refuse(at, "list", kind=kind_of(value))
        _check_many(value, self.at_least, at, faults)
        return tuple(_all(((self.item, entry, f"{at}[{place}]") for place, entry in enumerate(value)), faults))

    def schema(self) -> JsonSchema:
        size = {"minItems": self.at_least} if self.at_least else {}
        return described({"type": "array", "items": self.item.schema()} | size, self.about)


class MapSchema(Value, Generic[T]):
    """A mapping from user-defined names to values of one schema."""

    value: Schema[T]
    at_least: int = 0
    about: str = ""

    def read(self, value: object, at: str, faults: PlanIssues) -> FrozenDict[T]:
        if not isinstance(value, Mapping):
            raise faults.refuse(at, "mapping", kind=kind_of(value))
        _check_many(value, self.at_least, at, faults)
        entries = [(Scalar().read(key, at, faults), entry) for key, entry in value.items()]
        read_entries = _all(((self.value, entry, _join(at, key)) for key, entry in entries), faults)
        return FrozenDict({key: entry for (key, _), entry in zip(entries, read_entries, strict=True)})

    def schema(self) -> JsonSchema:
        size = {"minProperties": self.at_least} if self.at_least else {}
        return described({"type": "object", "additionalProperties": self.value.schema()} | size, self.about)


class KeySchema(Value):
    """One key of a record: its schema, whether it is required, and its argument name if different."""

    shape: Schema[Any]
    required: bool = False
    attribute: str = ""


class RecordSchema(Value, Generic[T]):
    """A mapping with known keys, passed to `make`; missing keys get its defaults.

    `make` may raise ValueError or PlanError for issues between keys; its text becomes the issue.
    """

    keys: Mapping[str, KeySchema]
    make: Callable[..., T]
    about: str = ""

    def read(self, value: object, at: str, faults: PlanIssues) -> T:
        entry: Any = value
        if _is_made(self.make, entry):
            return entry  # type: ignore[no-any-return]
        if not isinstance(value, Mapping):
            raise faults.refuse(at, "mapping", kind=kind_of(value))
        before = len(faults.entries)
        for key in value:
            if key not in self.keys:
                faults.refuse(_join(at, str(key)), "unknown_key", hint=did_you_mean(str(key), self.keys))
        for key, spec in self.keys.items():
            if spec.required and key not in value:
                faults.refuse(_join(at, key), "missing_key")
        present = [key for key in self.keys if key in value]
        entries = _all(((self.keys[key].shape, value[key], _join(at, key)) for key in present), faults, before)
        try:
            return self.make(**dict(zip(map(self.attribute, present), entries, strict=True)))
        except (ValueError, PlanError) as error:
            raise faults.refuse(at, message=_said(error)) from None

    def attribute(self, key: str) -> str:
        """Return the name of a key in `make` and in the value that it makes."""
        return self.keys[key].attribute or key.replace("-", "_")

    def schema(self) -> JsonSchema:
        required = [key for key, spec in self.keys.items() if spec.required]
        schema: JsonSchema = {
            "type": "object",
            "properties": {key: spec.shape.schema() for key, spec in self.keys.items()},
            "additionalProperties": False,
        }
        return described(schema | ({"required": required} if required else {}), self.about)


class TaggedUnionSchema(Value, Generic[T]):
    """One of several records, distinguished by the value of one key (`type`, `model`, `name`)."""

    tag: str
    variants: Mapping[str, RecordSchema[T]]
    about: str = ""

    def read(self, value: object, at: str, faults: PlanIssues) -> T:
        if not isinstance(value, Mapping):
            raise faults.refuse(at, "mapping_key", name=self.tag, kind=kind_of(value))
        rest = {key: entry for key, entry in value.items() if key != self.tag}
        name = value.get(self.tag)
        if self.tag not in value:
            faults.refuse(
                _join(at, self.tag), "missing_key", hint=Message("hint.valid", names=", ".join(self.variants))
            )
        elif not isinstance(name, str) or name not in self.variants:
            refuse_choice(_join(at, self.tag), name, self.variants, faults)
        else:
            return self.variants[name].read(rest, at, faults)
        self._nearest(name).read(rest, at, faults)
        raise Refused

    def _nearest(self, name: object) -> "RecordSchema[Any]":
        """Return the schema of the other keys if the tag is wrong: the nearest variant, or the keys common to all."""
        from difflib import get_close_matches

        near = get_close_matches(name_of(name), self.variants, n=1, cutoff=NEAR)
        if near:
            return self.variants[near[0]]
        return RecordSchema(
            {key: KeySchema(Anything()) for variant in self.variants.values() for key in variant.keys}, dict
        )

    def schema(self) -> JsonSchema:
        return described({"oneOf": [self._variant(name) for name in self.variants]}, self.about)

    def _variant(self, name: str) -> JsonSchema:
        schema = self.variants[name].schema()
        schema["properties"] = {self.tag: {"const": name}} | schema["properties"]
        schema["required"] = [self.tag, *schema.get("required", [])]
        return schema


class UnionSchema(Value):
    """One of several schemas, distinguished by the type of the value: the first with a matching `kinds` reads it."""

    options: tuple[tuple[tuple[type, ...], Schema[Any]], ...]
    about: str = ""

    def read(self, value: object, at: str, faults: PlanIssues) -> Any:
        for kinds, shape in self.options:
            if isinstance(value, kinds):
                return shape.read(value, at, faults)
        raise faults.refuse(at, "unfit", kind=kind_of(value))

    def schema(self) -> JsonSchema:
        return described({"anyOf": [shape.schema() for _, shape in self.options]}, self.about)


class Conversion(Value, Generic[T]):
    """A value of another schema, converted."""

    shape: Schema[Any]
    make: Callable[[Any], T]

    def read(self, value: object, at: str, faults: PlanIssues) -> T:
        plain = self.shape.read(value, at, faults)
        try:
            return self.make(plain)
        except (ValueError, PlanError) as error:
            raise faults.refuse(at, message=_said(error)) from None

    def schema(self) -> JsonSchema:
        return self.shape.schema()


def _is_made(make: Any, value: Any) -> bool:
    """Return whether a value is an object made in Python by the class of a record, and already checked."""
    return isinstance(make, type) and issubclass(make, Value) and isinstance(value, make)


def _said(error: ValueError | PlanError) -> Message:
    """Return the message without the name of the part, which its path already shows."""
    if isinstance(error, PlanError):
        return Message("sentences", parts=tuple(fault.message for fault in error.issues))
    return message_of(error)


def _all(parts: Iterable[tuple[Schema[Any], object, str]], faults: PlanIssues, before: int | None = None) -> list[Any]:
    """Read all parts, collecting the issues of each; refuse if there are new ones."""
    before = len(faults.entries) if before is None else before
    entries = []
    for shape, value, at in parts:
        with suppress(Refused):
            entries.append(shape.read(value, at, faults))
    if len(faults.entries) > before:
        raise Refused
    return entries


def _check_many(value: Sized, at_least: int, at: str, faults: PlanIssues) -> None:
    if len(value) < at_least:
        raise faults.refuse(at, "entries", least=at_least, number=len(value))


def _join(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key
