"""The interface of operations on attributes, and the registry that finds one by name and kind of value.

A new operation is one class with the decorator `operation`. Another package lists its module under the entry point
group `sfumato.operations`; it is loaded when an operation is first looked up.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal, Protocol, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError, PlanError, did_you_mean
from sfumato.localization.messages import Message
from sfumato.values import Value

Kind = Literal["numeric", "integer", "date", "datetime", "string", "boolean", "address", "object", "other"]

# Name in a configuration (any case) -> name in messages, kind.
NAMED: dict[str, tuple[str, Kind]] = {
    "numeric": ("Numeric", "numeric"),
    "double": ("Numeric", "numeric"),
    "integer": ("Numeric", "integer"),
    "date": ("Date", "date"),
    "datetime": ("DateTime", "datetime"),
    "string": ("String", "string"),
    "boolean": ("Boolean", "boolean"),
    "address": ("Address", "address"),
}

XSD = "http://www.w3.org/2001/XMLSchema#"
# Local name in XML Schema -> kind.
XSD_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("decimal", "double", "float"), "numeric"),
    **dict.fromkeys(
        ("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger"),
        "integer",
    ),
    **dict.fromkeys(("negativeInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"), "integer"),
    "date": "date",
    "dateTime": "datetime",
    "dateTimeStamp": "datetime",
    "string": "string",
    "boolean": "boolean",
}
TITLES: dict[Kind, str] = {kind: title for title, kind in NAMED.values()}


class DataType(Value):
    """The type of an attribute's values.

    Attributes:
        name: The name in messages.
        kind: What the values are; operations are registered for kinds.
        levels: For an object, its attributes from specific to general.

    >>> type_named("Double")
    DataType(name='Numeric', kind='numeric', levels=())
    """

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.kind == "object") != bool(self.levels):
            raise ValueError(Message("error.value.object_type_no_other"))


def type_named(name: str, objects: tuple[DataType, ...] = ()) -> DataType:
    """Return the type named in an inline configuration: a basic one, or an object type of the ontology.

    Raises:
        PlanError: There is no such type.
    """
    by_name = {kind.name: kind for kind in objects}
    if name in by_name:
        return by_name[name]
    if name.casefold() not in NAMED:
        valid = {"Numeric", "Integer", "Double", "Date", "DateTime", "String", "Boolean", "Address", *by_name}
        raise PlanError("data-type", hint=did_you_mean(name, valid), name=name)
    return DataType(*NAMED[name.casefold()])


def of_range(iri: str, levels: tuple[str, ...]) -> DataType:
    """Return the type for an attribute's range in a knowledge graph; a class with attributes is an object type."""
    local = iri.removeprefix(XSD)
    if local != iri and local in XSD_KINDS:
        return DataType(TITLES[XSD_KINDS[local]], XSD_KINDS[local])
    short = iri.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1]
    return DataType(short, "object", levels) if levels else DataType(short, "other")


Codes = npt.NDArray[np.int64]
MASK = "*****"
GROUP = "sfumato.operations"
OWN = ("masking", "generalization", "randomization")


class Task(Value):
    """The task of an operation.

    Attributes:
        attribute: The attribute's name.
        buckets: The requested number of buckets.
        random: The random generator for noise.
        smallest_group: The minimum number of members of a group of objects.
    """

    attribute: str
    data_type: DataType
    buckets: int
    random: np.random.Generator
    smallest_group: int = 3


class OperationResult(Value):
    """The published values: for each value the index of its entry, in the order of the values.

    Attributes:
        entries: The distinct published values.
        codes: For each value, the index of its entry.
        groups: Whether values with the same entry are indistinguishable; noise makes no groups.
        buckets: The number of buckets of the values.
    """

    entries: Sequence[Any]
    codes: Codes
    buckets: int
    groups: bool = True

    @staticmethod
    def of(values: Sequence[str | float]) -> "OperationResult":
        """Return the outcome for plain published values.

        >>> OperationResult.of(["a", "b", "a"]).codes.tolist()
        [0, 1, 0]
        """
        places: dict[str | float, int] = {}
        codes = np.fromiter((places.setdefault(value, len(places)) for value in values), np.int64, len(values))
        return OperationResult(tuple(places), codes, len(places))


class Operation(Protocol):
    """An operation that anonymizes the values of an attribute.

    Attributes:
        range_suffix: Added to the attribute's name if ranges are published as bounds.
        graph_suffix: Added to the attribute's name in knowledge graphs and flat responses.
    """

    range_suffix: str
    graph_suffix: str

    def apply(self, values: Sequence[Any], task: Task) -> OperationResult:
        """Anonymize the values, none of which is missing, and keep their order."""
        ...


Registered = TypeVar("Registered", bound=Callable[[], Operation])
_REGISTRY: dict[tuple[str, Kind], Callable[[], Operation]] = {}
ALL_KINDS: tuple[Kind, ...] = get_args(Kind)


def operation(name: str, *kinds: Kind) -> Callable[[Registered], Registered]:
    """Register a class as the operation of a name for some kinds of values."""

    def register(kind: Registered) -> Registered:
        _REGISTRY.update({(normalize(name), values): kind for values in kinds})
        return kind

    return register


def normalize(name: str) -> str:
    """Return the name of an operation in canonical spelling.

    >>> normalize("Randomisation")
    'randomization'
    """
    return name.casefold().replace("isation", "ization")


def find(name: str, data_type: DataType, attribute: str) -> Operation:
    """Return the operation for an attribute.

    Raises:
        PlanError: No operation has this name, or it is not implemented for the type.
    """
    load_all()
    factory = _REGISTRY.get((normalize(name), data_type.kind))
    if factory is None:
        raise PlanError(
            "operation-unsupported", hint=_way_out(data_type), name=name, units=data_type.name, column=attribute
        ).about(column=attribute)
    return factory()


def is_implemented(name: str, data_type: DataType) -> bool:
    """Return whether an operation is implemented for a type.

    >>> from sfumato.attributes.operations.operation import type_named
    >>> [is_implemented("Randomization", type_named(name)) for name in ("String", "Numeric")]
    [False, True]
    """
    load_all()
    return (normalize(name), data_type.kind) in _REGISTRY


def _way_out(data_type: DataType) -> Message:
    names = sorted({name for name, kind in _REGISTRY if kind == data_type.kind})
    return Message("hint.implemented", names=", ".join(names))


def known_operations() -> tuple[str, ...]:
    """Return the names of all operations."""
    load_all()
    return tuple(sorted({name for name, _ in _REGISTRY}))


@cache
def load_all() -> None:
    """Load the built-in operations and those of other packages."""
    for name in OWN:
        import_module(f"sfumato.attributes.operations.{name}")
    for point in entry_points(group=GROUP):
        point.load()


SHOWN_CHARACTERS = 200


class ValueRefusedError(DataError):
    """A value does not fit the requested operation; `place` is its index among the nonmissing values.

    The text names only the attribute. `text_with_place` also names the record, `text_for_sender` the value, for the
    sender, who knows it.

    >>> error = ValueRefusedError("age", Message("request.generalization", type="Numeric"), "no_number", "old", 3)
    >>> str(error).removeprefix("Error when applying anonymization to attribute ")
    'age: Numeric Generalization was requested but the input is not numeric'
    """

    def __init__(self, attribute: str, request: Message, complaint: str, value: object, place: int) -> None:
        self.place = place
        self._parts: dict[str, Any] = {
            "column": attribute,
            "request": request,
            "complaint": Message(f"complaint.{complaint}"),
        }
        super().__init__("value.column", **self._parts)
        self.about(values=(str(value),), column=attribute, rows=(place + 1,))

    def of_row(self, number: int) -> "ValueRefusedError":
        """Return the same error, with the number of the row among all rows, missing values included."""
        self.rows = (number,)
        return self

    def text_with_place(self) -> Message:
        """Return the text with the number of the record."""
        return Message("error.data.value.record", row=self.rows[0], **self._parts)

    def text_for_sender(self) -> Message:
        """Return the text with the value."""
        value = str(self.values[0])
        shown = value if len(value) <= SHOWN_CHARACTERS else value[:SHOWN_CHARACTERS] + "…"
        return Message("error.data.value.sender", example=shown, **self._parts)
