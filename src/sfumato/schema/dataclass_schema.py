"""Derive schemas from dataclasses: a field's type, default and note are the only declaration of a plan key.

`Literal` becomes a choice, `bool` a flag, numbers have the bounds of their note, tuples are lists, dataclasses records;
a field without a default is required. If a key needs more than that, the field's annotation contains its schema.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from sfumato.schema.composite import (
    Choice,
    Flag,
    Integer,
    KeySchema,
    ListSchema,
    Number,
    RecordSchema,
    Scalar,
    Schema,
    Text,
)
from sfumato.schema.paths import FilePath, PlanPath
from sfumato.values import Value, defaults, fields

T = TypeVar("T")
# A text that may be written as a number or a Boolean.
TextOrNumber = Annotated[str, Scalar()]


class KeyInfo(Value):
    """Schema information about a field that its type does not contain.

    Attributes:
        about: Description for the schema.
        minimum: Lower bound of a number, or None.
        maximum: Upper bound of a number, or None.
        at_least: Minimum number of list entries.
        key: Its name in a plan, if that is no valid Python attribute.
    """

    about: str = ""
    minimum: float | None = None
    maximum: float | None = None
    at_least: int = 0
    key: str = ""


# For a field that is no plan key: it is set by other code.
NO_KEY = KeyInfo("no key of a plan")


def record_of(kind: type[T], about: str = "", make: Callable[..., T] | None = None) -> RecordSchema[T]:
    """Return the schema of a dataclass, its keys in the order of the fields.

    >>> class Cut(Value):
    ...     mode: Literal["strict", "relaxed"] = "strict"
    >>> record_of(Cut).schema()["properties"]
    {'mode': {'enum': ['strict', 'relaxed']}}
    """
    return RecordSchema(_KeysOf(kind), make or kind, about)


def records_by_name(kinds: Mapping[str, tuple[str, ...]]) -> Mapping[str, RecordSchema[Any]]:
    """Return schemas of dataclasses by their plan names, each loaded on access.

    Args:
        kinds: For each name the module, the class in it, and optionally a description.

    >>> list(records_by_name({"note": ("sfumato.schema.dataclass_schema", "KeyInfo")})["note"].keys)[:2]
    ['about', 'minimum']
    """
    return _RecordsByName(kinds)


class _RecordsByName(Mapping[str, RecordSchema[Any]]):
    """Schemas loaded on access: a command needs only those that its plan names."""

    def __init__(self, kinds: Mapping[str, tuple[str, ...]]) -> None:
        self._kinds = kinds
        self._records: dict[str, RecordSchema[Any]] = {}

    def __getitem__(self, name: str) -> RecordSchema[Any]:
        if name not in self._records:
            module, kind, *about = self._kinds[name]
            self._records[name] = record_of(getattr(import_module(module), kind), "".join(about))
        return self._records[name]

    def __contains__(self, name: object) -> bool:
        return name in self._kinds

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


class _KeysOf(Mapping[str, KeySchema]):
    """The keys of a dataclass, derived on access: of all schemas loaded, a command reads few."""

    def __init__(self, kind: type[Any]) -> None:
        self._kind = kind

    @cached_property
    def _keys(self) -> dict[str, KeySchema]:
        hints, usual = get_type_hints(self._kind, include_extras=True), defaults(self._kind)
        keys = {}
        for name in fields(self._kind):
            note = next((entry for entry in _notes(hints[name]) if isinstance(entry, KeyInfo)), KeyInfo())
            if note is NO_KEY:
                continue
            keys[note.key or name] = KeySchema(shape_of(hints[name]), name not in usual, name)
        return keys

    def __getitem__(self, key: str) -> KeySchema:
        return self._keys[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


def shape_of(hint: Any, note: KeyInfo | None = None) -> Schema[Any]:
    """Return the schema of a type, including its annotation."""
    if get_origin(hint) is Annotated:
        notes = {isinstance(entry, KeyInfo): entry for entry in _notes(hint)}
        return notes[False] if False in notes else shape_of(get_args(hint)[0], notes[True])
    note = note or KeyInfo()
    if get_origin(hint) in (Union, UnionType):
        return shape_of(next(kind for kind in get_args(hint) if kind is not NoneType), note)
    if get_origin(hint) is Literal:
        return Choice(get_args(hint), note.about)
    if get_origin(hint) is tuple:
        return ListSchema(shape_of(get_args(hint)[0]), note.at_least, note.about)
    if isinstance(hint, type) and issubclass(hint, Value):
        return record_of(hint, note.about)
    if hint is PlanPath:
        return FilePath(note.about)
    if hint in (int, float):
        return (Integer if hint is int else Number)(note.minimum, note.maximum, note.about)
    return Flag(note.about) if hint is bool else Text(note.about)


def _notes(hint: Any) -> tuple[Any, ...]:
    """Return what an annotation contains in addition to the type: a note, or a full schema."""
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()
