"""C expressions with their types, and their conversions, indices and slices."""

from math import isinf, isnan

from sfumato.dataclass import dataclass
from sfumato.native.c_codegen.types import FLAG, INT, REAL, WORD, Array, Kind, Scalar, TranslationError, TupleType


@dataclass(frozen=True, slots=True)
class CValue:
    """A C expression; its number, if constant; its members, if it is a tuple.

    roots: The arguments of the loop whose memory it refers to.
    """

    text: str
    kind: Kind
    number: int | float | None = None
    members: tuple["CValue", ...] | None = None
    roots: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Slice:
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
