"""Translate calls of supported Python and NumPy functions to C."""

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato.native.c_codegen.c_values import CValue, constant, convert, lengths
from sfumato.native.c_codegen.types import FLAG, INT, NOTHING, REAL, WORD, Array, Scalar, TranslationError, TupleType

BUILTINS: dict[str, Any] = {
    "len": len, "min": min, "max": max, "abs": abs, "float": float, "int": int, "bool": bool, "range": range,
    "True": True, "False": False,
}  # fmt: skip
_DTYPES = {
    np.bool_: "b1", np.int8: "i1", np.uint8: "u1", np.int16: "i2", np.int32: "i4", np.uint32: "u4", np.int64: "i8",
    np.uint64: "u8", np.float64: "f8",
}  # fmt: skip
_CASTS = {int: INT, np.int64: INT, np.uint64: WORD, float: REAL, np.float64: REAL, bool: FLAG, np.bool_: FLAG}
_NEW: tuple[Any, ...] = (np.zeros, np.empty, np.ones, np.full)
_REALS = {np.log: "log", np.sqrt: "sqrt", np.exp: "exp", np.floor: "floor", np.ceil: "ceil"}
_METHODS = {"copy": "twin", "max": "most", "min": "least", "ravel": "flat", "sort": "sort"}


def is_dtype(item: Any) -> bool:
    """Return whether a Python object is an array element type."""
    return isinstance(item, type) and item in _DTYPES


def dtype_of(node: ast.Call, object_of: Callable[[ast.expr], Any]) -> str | None:
    """Return the element type of the array that a call makes; None if it makes none of a given shape."""
    function = object_of(node.func)
    if not any(function is maker for maker in _NEW):
        return None
    types = [object_of(one) for one in (*node.args, *(word.value for word in node.keywords))]
    kinds = [_DTYPES[one] for one in types if is_dtype(one)]
    return kinds[0] if kinds else "?" if function is np.full else "f8"


def new_array(function: Any, values: list[CValue], dtype: str) -> CValue:
    """Translate the creation of an array: `np.zeros`, `np.empty`, `np.ones`, `np.full`."""
    shape = _shape(values[0])
    fill = values[1] if function is np.full else constant(1) if function is np.ones else None
    if dtype == "?":
        dtype = fill.kind.kind if fill and isinstance(fill.kind, Scalar) else "f8"
    kind = Array(dtype, len(shape))
    new = f"new_{kind.tag}(room, {int(function is np.zeros)}, {', '.join(shape)})"
    if fill is None:
        return CValue(new, kind)
    return CValue(f"({{ {kind.c} made = {new}; fill_{kind.tag}(made, {convert(fill, kind.item)}); made; }})", kind)


def _shape(value: CValue) -> list[str]:
    if isinstance(value.kind, TupleType):
        return [convert(member, Scalar(INT)) for member in value.members or ()]
    return [convert(value, Scalar(INT))]


def method(name: str, holder: CValue) -> CValue:
    """Translate an array method without arguments."""
    if not isinstance(holder.kind, Array) or name not in _METHODS:
        raise TranslationError(f"the method {name} is not translated")
    room = "room, " if name == "copy" else ""
    text = f"{_METHODS[name]}_{holder.kind.tag}({room}{holder.text})"
    if name in ("max", "min"):
        return CValue(f"(({holder.kind.item.c}){text})", holder.kind.item)
    if name == "ravel":
        return CValue(text, Array(holder.kind.kind, 1), roots=holder.roots)
    return CValue(text, NOTHING if name == "sort" else holder.kind)


def builtin(function: Any, values: list[CValue], common: Callable[[CValue, CValue], Scalar]) -> CValue:
    """Translate a call of a Python or NumPy function."""
    if function is len:
        return lengths(values[0])[0]
    if function in (min, max):
        return _extreme(function, values, common)
    if isinstance(function, type) and function in _CASTS:
        return _cast(values[0], _CASTS[function])
    if function is abs:
        name = "fabs" if values[0].kind == Scalar(REAL) else "abs_i8"
        return CValue(f"{name}({values[0].text})", common(values[0], values[0]))
    for known, name in _REALS.items():
        if function is known:
            return CValue(f"{name}({convert(values[0], Scalar(REAL))})", Scalar(REAL))
    return _array_function(function, values)


def _cast(value: CValue, kind: str) -> CValue:
    if isinstance(value.number, int) and kind in (INT, WORD):
        return constant(value.number % 2**64 if kind == WORD else value.number, kind)
    return CValue(convert(value, Scalar(kind)), Scalar(kind))


def _extreme(function: Any, values: list[CValue], common: Callable[[CValue, CValue], Scalar]) -> CValue:
    name = "min" if function is min else "max"
    best = values[0]
    for other in values[1:]:
        kind = common(best, other)
        best = CValue(f"{name}_{kind.kind}({convert(best, kind)}, {convert(other, kind)})", kind)
    return best


def _array_function(function: Any, values: list[CValue]) -> CValue:
    array = values[0]
    if not isinstance(array.kind, Array):
        raise TranslationError(f"{function} is not translated")
    tag = array.kind.tag
    if function is np.flatnonzero:
        return CValue(f"nonzero_{tag}(room, {array.text})", Array("i8", 1))
    if function in (np.zeros_like, np.empty_like):
        sizes = ", ".join(size.text for size in lengths(array))
        return CValue(f"new_{tag}(room, {int(function is np.zeros_like)}, {sizes})", array.kind)
    if function is np.sort:
        return CValue(f"sorted_{tag}(room, {array.text})", array.kind)
    if function is np.partition:
        return CValue(f"parted_{tag}(room, {array.text}, {convert(values[1], Scalar(INT))})", array.kind)
    if function is np.searchsorted:
        return CValue(f"place_{tag}({array.text}, {convert(values[1], array.kind.item)})", Scalar(INT))
    raise TranslationError(f"{function} is not translated")
