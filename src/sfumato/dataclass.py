"""Dataclasses whose methods are generated on first call, because a command loads hundreds of classes and uses few.

The standard library generates and compiles the methods when the module is loaded, which took a sixth of the time of a
short command. Fields, slots and order of arguments are still determined by the standard library.

Example:
    >>> @dataclass(frozen=True, slots=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), hash(Point(1)) == hash(Point(1))
    (Point(x=1, y=0), True, True)
"""

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

# Number of objects created before generating the initializer is worthwhile.
PATIENCE = 8
Class = type[Any]
Method = Callable[..., Any]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        kind: Class | None = None,
        /,
        *,
        frozen: bool = False,
        slots: bool = False,
        eq: bool = True,
        repr: bool = True,
        kw_only: bool = False,
    ) -> Any:
        """As `dataclasses.dataclass`; fields that are arguments only (`InitVar`) are not known."""

        def made(bare: Class) -> Class:
            return _made(bare, frozen, slots, eq, repr, kw_only)

        return made if kind is None else made(kind)


def _made(bare: Class, frozen: bool, slots: bool, eq: bool, repr: bool, kw_only: bool) -> Class:
    own = dict(vars(bare))
    if bare.__doc__ is None:
        bare.__doc__ = bare.__name__  # otherwise a signature would be written for it
    kind: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(bare)
    methods: dict[str, Any] = {"__init__": _first_init(kind, frozen)}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods["__eq__"] = _later(kind, "__eq__", _eq)
    for name, method in methods.items():
        if name not in own:
            setattr(kind, name, method)
    if eq and not _hashes_itself(own):
        kind.__hash__ = _later(kind, "__hash__", _hash) if frozen else None
    if frozen:
        kind.__setattr__, kind.__delattr__ = _refuse_change, _refuse_deletion
    if frozen and slots:
        kind.__getstate__, kind.__setstate__ = own.get("__getstate__", _state), own.get("__setstate__", _set_state)
    kind.__signature__ = _SIGNATURE
    return kind  # type: ignore[no-any-return]


def _hashes_itself(own: dict[str, Any]) -> bool:
    """Return whether a class defines its hash; Python sets None if only equality is defined."""
    return own.get("__hash__") is not None or ("__hash__" in own and "__eq__" not in own)


def _later(kind: Class, name: str, write: Callable[[Class], Method]) -> Method:
    """Return a method that is generated, and replaced by the result, on first call."""

    def in_place() -> Method:
        written = write(kind)
        written.__qualname__ = f"{kind.__qualname__}.{name}"
        setattr(kind, name, written)
        return written

    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        return in_place()(self, *arguments, **named)

    method.in_place = in_place  # type: ignore[attr-defined]
    return method


def _first_init(kind: Class, frozen: bool) -> Method:
    """Return an initializer that sets fields one by one, which is cheaper than generating a method for few objects."""
    written: Any = _later(kind, "__init__", _frozen_init if frozen else _init)
    assign = object.__setattr__ if frozen else setattr
    left = PATIENCE

    def method(self: Any, *arguments: Any, **named: Any) -> None:
        nonlocal left
        left -= 1
        values = _values(kind, arguments, named) if left >= 0 else None
        if values is None:
            written(self, *arguments, **named)
            return
        for name, value in values.items():
            assign(self, name, value)
        if hasattr(kind, "__post_init__"):
            self.__post_init__()

    method.in_place = written.in_place  # type: ignore[attr-defined]
    return method


def _values(kind: Class, arguments: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any] | None:
    """Return the values of all fields for some arguments; None if invalid, which the generated method reports."""
    known = fields(kind)
    places = [field.name for field in known if field.init and not field.kw_only]
    given = dict(zip(places, arguments, strict=False))
    if len(arguments) > len(places) or given.keys() & named.keys():
        return None
    given |= named
    values = {}
    for field in known:
        if field.init and field.name in given:
            values[field.name] = given.pop(field.name)
        elif field.default is not MISSING:
            values[field.name] = field.default
        elif field.default_factory is not MISSING:
            values[field.name] = field.default_factory()
        elif field.init:
            return None
    return None if given else values


def _frozen_init(kind: Class) -> Method:
    return _init(kind, "_assign_(self, {name!r}, {value})")


def _init(kind: Class, assigning: str = "self.{name} = {value}") -> Method:
    known: dict[str, Any] = {"_assign_": object.__setattr__, "_missing_": MISSING}
    lines: list[str] = []
    places: list[str] = []
    names: list[str] = []
    for field in fields(kind):
        value = field.name
        if field.default is not MISSING:
            known[f"_default_{field.name}"] = field.default
        elif field.default_factory is not MISSING:
            known[f"_make_{field.name}"] = field.default_factory
            value = f"_make_{field.name}()" + f" if {value} is _missing_ else {value}" * field.init
        if field.init:
            (names if field.kw_only else places).append(field.name + _default(field))
        elif field.default is not MISSING:
            value = f"_default_{field.name}"
        elif field.default_factory is MISSING:
            continue
        lines.append(assigning.format(name=field.name, value=value))
    if hasattr(kind, "__post_init__"):
        lines.append("self.__post_init__()")
    arguments = ", ".join(["self", *places, *(["*", *names] if names else [])])
    method = _written("__init__", arguments, lines or ["pass"], known)
    method.__annotations__ = {field.name: field.type for field in fields(kind) if field.init} | {"return": None}
    return method


def _default(field: Field[Any]) -> str:
    if field.default is not MISSING:
        return f"=_default_{field.name}"
    return "" if field.default_factory is MISSING else "=_missing_"


def _eq(kind: Class) -> Method:
    names = [field.name for field in fields(kind) if field.compare]
    same = f"return {_tuple('self', names)} == {_tuple('other', names)}"
    return _written(
        "__eq__", "self, other", [f"if other.__class__ is self.__class__: {same}", "return NotImplemented"], {}
    )


def _hash(kind: Class) -> Method:
    names = [field.name for field in fields(kind) if (field.compare if field.hash is None else field.hash)]
    return _written("__hash__", "self", [f"return hash({_tuple('self', names)})"], {})


def _tuple(value: str, names: list[str]) -> str:
    return f"({''.join(f'{value}.{name}, ' for name in names)})"


def _written(name: str, arguments: str, lines: list[str], known: dict[str, Any]) -> Method:
    exec(f"def {name}({arguments}):\n " + "\n ".join(lines), known)
    return known[name]  # type: ignore[no-any-return]


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_change(_: Any, name: str, __: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    """Return the pickled state of a frozen object."""
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


class _Signature:
    """The signature of a class for documentation: that of its generated `__init__`."""

    def __get__(self, value: Any, kind: Class) -> inspect.Signature:
        init: Any = kind.__init__
        signature = inspect.signature(init.in_place() if hasattr(init, "in_place") else init)
        return signature.replace(parameters=list(signature.parameters.values())[1:])


_SIGNATURE = _Signature()
