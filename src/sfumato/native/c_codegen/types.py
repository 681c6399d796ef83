"""Types of values in a loop, and their names in C."""

from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.native.array_types import ArrayType

INT, WORD, REAL, FLAG = "i8", "u8", "f8", "b1"
C_NAMES = {
    "b1": "uint8_t", "u1": "uint8_t", "i1": "int8_t", "i2": "int16_t", "u2": "uint16_t",
    "i4": "int32_t", "u4": "uint32_t", "i8": "int64_t", "u8": "uint64_t", "f8": "double",
}  # fmt: skip
# The type in which array elements are computed: integers as 64 bits.
_WIDENED = {"b1": FLAG, "u8": WORD, "f8": REAL}
_RANK = {FLAG: 0, INT: 1, REAL: 2}


class TranslationError(Exception):
    """A loop uses something that cannot be translated; the message says what and where."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number: INT, WORD, REAL or FLAG."""

    kind: str

    @property
    def c(self) -> str:
        return C_NAMES[self.kind]

    @property
    def tag(self) -> str:
        return self.kind


@dataclass(frozen=True, slots=True)
class Array:
    """An array of numbers with a number of dimensions."""

    kind: str
    dimensions: int

    @property
    def c(self) -> str:
        return f"Array_{self.tag}"

    @property
    def tag(self) -> str:
        return f"{self.kind}x{self.dimensions}"

    @property
    def item(self) -> Scalar:
        return Scalar(_WIDENED.get(self.kind, INT))


@dataclass(frozen=True, slots=True)
class TupleType:
    """A tuple of several values."""

    items: tuple["Kind", ...]

    @property
    def c(self) -> str:
        return f"Row_{self.tag}"

    @property
    def tag(self) -> str:
        return f"{len(self.items)}_" + "_".join(item.tag for item in self.items)


@dataclass(frozen=True, slots=True)
class Record:
    """A NamedTuple of arrays."""

    name: str
    fields: tuple[tuple[str, "Kind"], ...]

    @property
    def c(self) -> str:
        return f"Record_{self.name}"

    @property
    def tag(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Nothing:
    """What a loop that returns nothing returns."""

    c = "void"
    tag = "none"


Kind = Scalar | Array | TupleType | Record | Nothing
NOTHING = Nothing()


def unite(one: Kind | None, other: Kind) -> Kind:
    """Return the type that can hold both."""
    if one is None or one == other:
        return other
    if isinstance(one, TupleType) and isinstance(other, TupleType) and len(one.items) == len(other.items):
        return TupleType(tuple(unite(a, b) for a, b in zip(one.items, other.items, strict=True)))
    if isinstance(one, Scalar) and isinstance(other, Scalar) and WORD not in (one.kind, other.kind):
        return one if _RANK[one.kind] >= _RANK[other.kind] else other
    raise TranslationError(f"one name for {one} and {other}")


def kinds_of(hint: Any) -> list[Kind]:
    """Return the types that an annotation allows."""
    if get_origin(hint) in (Union, UnionType):
        return [kind for part in get_args(hint) for kind in kinds_of(part)]
    for extra in getattr(hint, "__metadata__", ()):
        if isinstance(extra, ArrayType):
            return [Array(extra.kind, extra.dimensions)]
    if get_origin(hint) is tuple:
        return [TupleType(tuple(kinds_of(part)[0] for part in get_args(hint)))]
    scalars = {int: INT, np.int64: INT, float: REAL, np.float64: REAL, bool: FLAG, np.uint64: WORD}
    if hint in scalars:
        return [Scalar(scalars[hint])]
    if hint in (None, NoneType):
        return [NOTHING]
    if hasattr(hint, "_fields"):
        hints = get_type_hints(hint, include_extras=True)
        name = f"{hint.__module__.rpartition('.')[0].rpartition('.')[2]}_{hint.__name__}"
        return [Record(name, tuple((field, kinds_of(hints[field])[0]) for field in hint._fields))]
    raise TranslationError(f"no type of a loop's argument: {hint}")
