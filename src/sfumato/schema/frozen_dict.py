"""An immutable mapping, for the named parts of a plan."""

from typing import Any, NoReturn, TypeVar

V = TypeVar("V")


class FrozenDict(dict[str, V]):
    """A dictionary that refuses changes, and is hashable if its values are.

    >>> zips = FrozenDict({"zip": 5})
    >>> zips == {"zip": 5}, hash(zips) == hash(FrozenDict(zip=5))
    (True, True)
    >>> zips["sex"] = 2
    Traceback (most recent call last):
    TypeError: this mapping cannot be changed: make a new plan from it, for example by plan.quasi(…)
    """

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping cannot be changed: make a new plan from it, for example by plan.quasi(…)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)
