"""Data types of attributes: the names that a configuration may use, and the kind of value of each."""

from typing import Literal

from sfumato.dataclass import dataclass
from sfumato.errors import PlanError, did_you_mean
from sfumato.localization.messages import Message

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


@dataclass(frozen=True, slots=True)
class DataType:
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
