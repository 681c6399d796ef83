"""Translate the expressions and calls of a loop to C."""

import ast
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, Protocol

import numpy as np

from sfumato.native.c_codegen.c_values import (
    FLAG,
    INT,
    NOTHING,
    REAL,
    WORD,
    Array,
    CValue,
    Kind,
    Record,
    Scalar,
    Slice,
    TranslationError,
    TupleType,
    constant,
    convert,
    lengths,
    load,
    truth,
    unite,
    view,
)

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


_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_SHIFTS = {ast.LShift: "<<", ast.RShift: ">>"}
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class Scope(Protocol):
    """The context of an expression: the types of its names, the loop's globals, and the other loops."""

    names: dict[str, Kind]
    globals: dict[str, Any]
    roots: dict[str, set[str]]
    written: set[str]

    def specialize(self, function: FunctionType, kinds: tuple[Kind, ...]) -> tuple[str, Kind, frozenset[int]]:
        """Return the C name, the return type, and which arguments are written, of another loop for these types."""
        ...


def expression(node: ast.expr, scope: Scope) -> CValue:
    """Translate an expression to C."""
    handle = _HANDLERS.get(type(node))
    if handle is None:
        raise TranslationError(f"line {node.lineno}: {ast.unparse(node)} is not translated")
    try:
        return handle(node, scope)
    except TranslationError as error:
        if str(error).startswith("line"):
            raise
        raise TranslationError(f"line {node.lineno}: {ast.unparse(node)}: {error}") from None


def known(node: ast.expr, scope: Scope) -> Any:
    """Return the Python object of a global name or a module member."""
    if isinstance(node, ast.Name) and node.id not in scope.names:
        if node.id in scope.globals:
            return scope.globals[node.id]
        return BUILTINS.get(node.id)
    if isinstance(node, ast.Attribute):
        holder = known(node.value, scope)
        return getattr(holder, node.attr) if isinstance(holder, ModuleType) else None
    return None


def _constant(node: ast.Constant, scope: Scope) -> CValue:
    del scope
    if not isinstance(node.value, int | float):
        raise TranslationError("no number")
    return constant(node.value)


def _name(node: ast.expr, scope: Scope) -> CValue:
    if isinstance(node, ast.Name) and node.id in scope.names:
        kind = scope.names[node.id]
        text = f"(*v_{node.id})" if isinstance(kind, Record) else f"v_{node.id}"
        return CValue(text, kind, roots=frozenset(scope.roots.get(node.id, ())))
    return _number(known(node, scope))


def _number(number: Any) -> CValue:
    if isinstance(number, np.uint64):
        return constant(int(number), WORD)
    if isinstance(number, np.integer | np.floating | np.bool_):
        number = number.item()
    if isinstance(number, int | float):
        return constant(number)
    raise TranslationError("no number, and no name of the loop")


def _attribute(node: ast.Attribute, scope: Scope) -> CValue:
    if known(node, scope) is not None:
        return _name(node, scope)
    holder = expression(node.value, scope)
    if isinstance(holder.kind, Record):
        return CValue(f"{holder.text}.{node.attr}", dict(holder.kind.fields)[node.attr], roots=holder.roots)
    if isinstance(holder.kind, Array) and node.attr == "shape":
        sizes = lengths(holder)
        return CValue("", TupleType(tuple(size.kind for size in sizes)), members=tuple(sizes))
    if isinstance(holder.kind, Array) and node.attr == "size":
        return CValue(f"({' * '.join(size.text for size in lengths(holder))})", Scalar(INT))
    raise TranslationError("no such member")


def _subscript(node: ast.Subscript, scope: Scope) -> CValue:
    holder = expression(node.value, scope)
    places = index(node, scope)
    if isinstance(holder.kind, TupleType):
        place = places[0].number if isinstance(places[0], CValue) else None
        if not isinstance(place, int):
            raise TranslationError("a member's number is wanted")
        return holder.members[place] if holder.members else _members(holder, holder.kind)[place]
    whole = [place for place in places if isinstance(place, CValue)]
    if isinstance(holder.kind, Array) and len(whole) == holder.kind.dimensions:
        return load(holder, whole)
    return view(holder, places)


def index(node: ast.Subscript, scope: Scope) -> list[CValue | Slice]:
    """Return the indices of a subscript."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return [_place(part, scope) for part in parts]


def _place(part: ast.expr, scope: Scope) -> CValue | Slice:
    if not isinstance(part, ast.Slice):
        place = expression(part, scope)
        if not isinstance(place.kind, Scalar) or place.kind.kind == REAL:
            raise TranslationError("an index is a whole number")
        return place
    if part.step is not None:
        raise TranslationError("slices have no step")
    ends = [expression(end, scope) if end else None for end in (part.lower, part.upper)]
    return Slice(*ends)


def common(one: CValue, other: CValue) -> Scalar:
    """Return the type in which two numbers are combined; words mix only with constants."""
    if not isinstance(one.kind, Scalar) or not isinstance(other.kind, Scalar):
        raise TranslationError(f"{one.kind} and {other.kind} are no numbers")
    if WORD in (one.kind.kind, other.kind.kind) and one.kind != other.kind:
        odd = other if one.kind.kind == WORD else one
        if odd.kind == Scalar(INT) and isinstance(odd.number, int) and odd.number >= 0:
            return Scalar(WORD)
        raise TranslationError("words and signed numbers are not mixed")
    united = unite(one.kind, other.kind)
    return Scalar(INT) if united == Scalar(FLAG) else united  # type: ignore[return-value]


def operation(operator: ast.operator, one: CValue, other: CValue) -> CValue:
    """Translate a binary operation."""
    if type(operator) in _SHIFTS:
        return CValue(f"({one.text} {_SHIFTS[type(operator)]} {other.text})", common(one, constant(0)))
    kind = common(one, other)
    a, b = convert(one, kind), convert(other, kind)
    if isinstance(operator, ast.Div):
        return CValue(f"({convert(one, Scalar(REAL))} / {convert(other, Scalar(REAL))})", Scalar(REAL))
    if isinstance(operator, ast.FloorDiv | ast.Mod):
        return _division(operator, a, b, kind)
    if isinstance(operator, ast.Pow):
        return CValue(f"pow({convert(one, Scalar(REAL))}, {convert(other, Scalar(REAL))})", Scalar(REAL))
    if type(operator) not in _ARITHMETIC:
        raise TranslationError(f"{type(operator).__name__} is not translated")
    return CValue(f"({a} {_ARITHMETIC[type(operator)]} {b})", kind)


def _division(operator: ast.operator, a: str, b: str, kind: Scalar) -> CValue:
    if kind.kind == WORD:
        return CValue(f"({a} {'/' if isinstance(operator, ast.FloorDiv) else '%'} {b})", kind)
    if kind.kind == REAL:
        if isinstance(operator, ast.Mod):
            raise TranslationError("% of reals is not translated")
        return CValue(f"floor({a} / {b})", kind)
    return CValue(f"floor_{'div' if isinstance(operator, ast.FloorDiv) else 'mod'}_i8({a}, {b})", kind)


def _binary(node: ast.BinOp, scope: Scope) -> CValue:
    return operation(node.op, expression(node.left, scope), expression(node.right, scope))


def _unary(node: ast.UnaryOp, scope: Scope) -> CValue:
    value = expression(node.operand, scope)
    if isinstance(node.op, ast.Not):
        return CValue(f"(!{truth(value)})", Scalar(FLAG))
    if isinstance(node.op, ast.USub) and value.number is not None:
        return constant(-value.number)
    sign = {ast.USub: "-", ast.Invert: "~", ast.UAdd: "+"}[type(node.op)]
    return CValue(f"({sign}{value.text})", common(value, value))


def _logic(node: ast.BoolOp, scope: Scope) -> CValue:
    sign = " && " if isinstance(node.op, ast.And) else " || "
    return CValue(f"({sign.join(truth(expression(one, scope)) for one in node.values)})", Scalar(FLAG))


def _compare(node: ast.Compare, scope: Scope) -> CValue:
    values = [expression(one, scope) for one in (node.left, *node.comparators)]
    texts = []
    for operator, one, other in zip(node.ops, values, values[1:], strict=False):
        kind = common(one, other)
        texts.append(f"({convert(one, kind)} {_COMPARISONS[type(operator)]} {convert(other, kind)})")
    return CValue(texts[0] if len(texts) == 1 else f"({' && '.join(texts)})", Scalar(FLAG))


def _choice(node: ast.IfExp, scope: Scope) -> CValue:
    one, other = expression(node.body, scope), expression(node.orelse, scope)
    kind = one.kind if one.kind == other.kind else common(one, other)
    return CValue(f"({truth(expression(node.test, scope))} ? {convert(one, kind)} : {convert(other, kind)})", kind)


def _row(node: ast.Tuple, scope: Scope) -> CValue:
    members = tuple(expression(one, scope) for one in node.elts)
    kind = TupleType(tuple(member.kind for member in members))
    texts = ", ".join(member.text for member in members)
    roots = frozenset[str]().union(*(member.roots for member in members))
    return CValue(f"(({kind.c}){{{texts}}})", kind, members=members, roots=roots)


def _call(node: ast.Call, scope: Scope) -> CValue:
    if isinstance(node.func, ast.Attribute) and known(node.func, scope) is None:
        holder = expression(node.func.value, scope)
        if node.func.attr == "sort":
            scope.written |= holder.roots
        return method(node.func.attr, holder)
    function = known(node.func, scope)
    dtype = dtype_of(node, lambda one: known(one, scope))
    if dtype is not None:
        plain = [one for one in node.args if not is_dtype(known(one, scope))]
        return new_array(function, [expression(one, scope) for one in plain], dtype)
    values = arguments(node, scope)
    if isinstance(function, FunctionType):
        name, kind, written = scope.specialize(function, tuple(value.kind for value in values))
        for place in written:
            scope.written |= values[place].roots
        return CValue(f"{name}({', '.join(['room', *map(_handed_on, values)])})", kind)
    return builtin(function, values, common)


def _handed_on(value: CValue) -> str:
    """Return an argument of a loop in C: records are large, and are passed by reference."""
    return f"&{value.text}" if isinstance(value.kind, Record) else value.text


def arguments(node: ast.Call, scope: Scope) -> list[CValue]:
    """Return the arguments of a call, with starred rows expanded."""
    if node.keywords:
        raise TranslationError("keywords are not translated")
    values: list[CValue] = []
    for one in node.args:
        value = expression(one.value if isinstance(one, ast.Starred) else one, scope)
        if not isinstance(one, ast.Starred):
            values.append(value)
        elif isinstance(value.kind, TupleType):
            values.extend(value.members or _members(value, value.kind))
    return values


def _members(value: CValue, kind: TupleType) -> list[CValue]:
    return [CValue(f"{value.text}.f{at}", item, roots=value.roots) for at, item in enumerate(kind.items)]


_HANDLERS: dict[type, Callable[[Any, Scope], CValue]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _logic,
    ast.Compare: _compare,
    ast.IfExp: _choice,
    ast.Tuple: _row,
    ast.Call: _call,
}
