"""C expressions, the types of their values, conversions, indices and slices."""

from math import isinf, isnan
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from sfumato.native.array_types import ArrayType
from sfumato.values import Value

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


class Scalar(Value):
    """A number: INT, WORD, REAL or FLAG."""

    kind: str

    @property
    def c(self) -> str:
        return C_NAMES[self.kind]

    @property
    def tag(self) -> str:
        return self.kind


class Array(Value):
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


class TupleType(Value):
    """A tuple of several values."""

    items: tuple["Kind", ...]

    @property
    def c(self) -> str:
        return f"Row_{self.tag}"

    @property
    def tag(self) -> str:
        return f"{len(self.items)}_" + "_".join(item.tag for item in self.items)


class Record(Value):
    """A NamedTuple of arrays."""

    name: str
    fields: tuple[tuple[str, "Kind"], ...]

    @property
    def c(self) -> str:
        return f"Record_{self.name}"

    @property
    def tag(self) -> str:
        return self.name


class Nothing(Value):
    """The type of the result of a loop that returns nothing."""

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


class CValue(Value):
    """A C expression; its number, if constant; its members, if it is a tuple.

    roots: The arguments of the loop whose memory it refers to.
    """

    text: str
    kind: Kind
    number: int | float | None = None
    members: tuple["CValue", ...] | None = None
    roots: frozenset[str] = frozenset()


class Slice(Value):
    """Part of a dimension: its start and end; None for the dimension's own ends."""

    begin: CValue | None
    end: CValue | None


def constant(number: int | float | bool, kind: str | None = None) -> CValue:
    """Return a number that is known at translation time."""
    if isinstance(number, bool):
        return CValue(str(int(number)), Scalar(kind or FLAG), int(number))
    if isinstance(number, int):
        return _whole(number, kind or (WORD if number >= 2**63 else INT))
    if isnan(number):
        return CValue("NAN", Scalar(REAL), number)
    text = ("INFINITY" if number > 0 else "-INFINITY") if isinf(number) else number.hex()
    return CValue(f"({text})", Scalar(REAL), number)


def _whole(number: int, kind: str) -> CValue:
    text = f"UINT64_C({number})" if kind == WORD else f"INT64_C({number})"
    return CValue(f"({text})" if number < 0 else text, Scalar(kind), number)


def convert(value: CValue, kind: Kind) -> str:
    """Return a value converted to another type."""
    if value.kind == kind:
        return value.text
    if isinstance(kind, TupleType) and value.members is not None:
        parts = zip(value.members, kind.items, strict=True)
        return f"({kind.c}){{{', '.join(convert(member, item) for member, item in parts)}}}"
    if isinstance(kind, TupleType) and isinstance(value.kind, TupleType):
        pairs = enumerate(zip(value.kind.items, kind.items, strict=True))
        texts = ", ".join(convert(CValue(f"whole.f{at}", have), want) for at, (have, want) in pairs)
        return f"({{ {value.kind.c} whole = {value.text}; ({kind.c}){{{texts}}}; }})"
    if isinstance(kind, Scalar) and isinstance(value.kind, Scalar):
        return truth(value) if kind.kind == FLAG else f"(({kind.c})({value.text}))"
    raise TranslationError(f"{value.kind} where {kind} is wanted")


def truth(value: CValue) -> str:
    """Return the truth test of a value."""
    if not isinstance(value.kind, Scalar):
        raise TranslationError(f"truth of {value.kind}")
    return value.text if value.kind.kind == FLAG else f"({value.text} != 0)"


def lengths(value: CValue) -> list[CValue]:
    """Return the lengths of an array's dimensions."""
    if not isinstance(value.kind, Array):
        raise TranslationError(f"shape of {value.kind}")
    return [CValue(f"{value.text}.n{at}", Scalar(INT)) for at in range(value.kind.dimensions)]


def element(array: CValue, at: list[CValue]) -> str:
    """Return an array element as an assignable expression."""
    dimensions = _array(array).dimensions
    steps = [f"{_index(array, dim, place)}{_stride(array, dim)}" for dim, place in enumerate(at)]
    if len(at) != dimensions:
        raise TranslationError("an index for each dimension is wanted")
    return f"{array.text}.d[{' + '.join(steps)}]"


def load(array: CValue, at: list[CValue]) -> CValue:
    """Return an array element as a number."""
    item = _array(array).item
    text = element(array, at)
    return CValue(text if _array(array).kind in (INT, WORD, REAL, FLAG) else f"((int64_t){text})", item)


def view(array: CValue, at: list[CValue | Slice]) -> CValue:
    """Return a part of an array that shares its memory."""
    kind = _array(array)
    at = [*at, *(Slice(None, None) for _ in range(kind.dimensions - len(at)))]
    if not isinstance(at[-1], Slice):
        raise TranslationError("the last dimension of a part of an array must be a slice")
    shift, sizes, strides = [], [], []
    for dim, place in enumerate(at):
        if isinstance(place, CValue):
            shift.append(f"{_index(array, dim, place)}{_stride(array, dim)}")
            continue
        begin, end = _ends(array, dim, place)
        if begin:
            shift.append(f"{begin}{_stride(array, dim)}")
        sizes.append(f"{end} - {begin}" if begin else end)
        strides.append(f"{array.text}.s{dim}" if dim < kind.dimensions - 1 else "")
    to = Array(kind.kind, len(sizes))
    start = " + ".join([f"{array.text}.d", *shift])
    text = ", ".join([start, *sizes, *(one for one in strides if one)])
    return CValue(f"(({to.c}){{{text}}})", to, roots=array.roots)


def _ends(array: CValue, dim: int, part: Slice) -> tuple[str, str]:
    """Return the start ("" for the beginning) and end of a slice, clipped to its array."""
    length = f"{array.text}.n{dim}"
    begin = f"clip_i8({convert(part.begin, Scalar(INT))}, 0, {length})" if part.begin else ""
    end = f"clip_i8({convert(part.end, Scalar(INT))}, {begin or 0}, {length})" if part.end else length
    return begin, end


def _index(array: CValue, dim: int, place: CValue) -> str:
    if place.number is not None and place.number < 0:
        return f"({array.text}.n{dim} - {-place.number})"
    return f"({place.text})"


def _stride(array: CValue, dim: int) -> str:
    return f" * {array.text}.s{dim}" if dim < _array(array).dimensions - 1 else ""


def _array(value: CValue) -> Array:
    if not isinstance(value.kind, Array):
        raise TranslationError(f"an index of {value.kind}")
    return value.kind
