"""Values: objects that are equal if their fields are, made by msgspec; no other module knows it.

Example:
    >>> class Point(Value):
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), replace(Point(1), y=2), fields(Point), defaults(Point)
    (Point(x=1, y=0), True, Point(x=1, y=2), ('x', 'y'), {'y': 0})
"""

from abc import ABCMeta
from typing import Any, TypeVar, dataclass_transform

from msgspec import NODEFAULT, Struct, StructMeta, field, json
from msgspec.structs import force_setattr

__all__ = [
    "AbstractValue",
    "State",
    "Value",
    "asdict",
    "defaults",
    "field",
    "fields",
    "force_setattr",
    "from_json",
    "replace",
    "shown",
    "to_json",
]

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Value(Struct, frozen=True):
    """Base of objects that never change: their class lists the fields with types and defaults."""


class State(Struct):
    """Base of objects that change: work under way."""


class _AbstractMeta(ABCMeta, StructMeta):
    """Type of values with abstract methods."""


class AbstractValue(Value, metaclass=_AbstractMeta):
    """Base of values with abstract methods."""


def fields(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a value or its class."""
    return kind.__struct_fields__  # type: ignore[no-any-return]


def defaults(kind: Any) -> dict[str, Any]:
    """Return the defaults of the fields that have one, by name."""
    given = kind.__struct_defaults__
    named = zip(fields(kind)[len(fields(kind)) - len(given) :], given, strict=True)
    return {
        name: default.factory() if hasattr(default, "factory") else default
        for name, default in named
        if default is not NODEFAULT
    }


def replace(value: T, /, **changes: Any) -> T:
    """Return a value with some fields changed."""
    return value.__replace__(**changes)  # type: ignore[attr-defined,no-any-return]


def asdict(value: Any) -> dict[str, Any]:
    """Return the fields of a value by name, values within them likewise."""
    return {name: _plain(getattr(value, name)) for name in fields(value)}


def _plain(part: Any) -> Any:
    if isinstance(part, Struct):
        return asdict(part)
    if isinstance(part, list | tuple):
        return type(part)(map(_plain, part))
    return {key: _plain(entry) for key, entry in part.items()} if isinstance(part, dict) else part


def to_json(value: Any) -> str:
    """Return values as JSON; of what JSON has not, such as paths, the text."""
    return json.encode(value, enc_hook=str).decode()


def from_json(text: str, kind: Any) -> Any:
    """Return a value of a type from its JSON."""
    return json.decode(text, type=kind, dec_hook=lambda known, part: known(part))


def shown(value: Any, *hidden: str) -> str:
    """Return the text of a value without some of its fields: secrets and long values."""
    parts = (f"{name}={getattr(value, name)!r}" for name in fields(value) if name not in hidden)
    return f"{type(value).__name__}({', '.join(parts)})"
