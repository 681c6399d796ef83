"""Values have fields, defaults and copies; the rest is a promise of msgspec."""

import pickle
from abc import abstractmethod
from functools import cached_property

import pytest

from sfumato.values import AbstractValue, State, Value, asdict, defaults, field, fields, replace, shown


class Inner(Value):
    """One."""

    x: int


class Outer(Value, dict=True):
    """One that holds others."""

    names: tuple[str, ...]
    inner: Inner = Inner(1)
    more: dict[str, list[Inner]] = field(default_factory=dict)

    @cached_property
    def size(self) -> int:
        return len(self.names)


OUTER = Outer(("a", "b"), more={"c": [Inner(2)]})


def test_fields_and_defaults():
    assert fields(Outer) == fields(OUTER) == ("names", "inner", "more")
    assert defaults(Outer) == {"inner": Inner(1), "more": {}}
    assert defaults(Outer)["more"] is not defaults(Outer)["more"]


def test_a_copy_has_the_changes_and_no_cached_value():
    assert OUTER.size == 2
    assert replace(OUTER, names=("a",)).size == 1
    assert pickle.loads(pickle.dumps(OUTER)) == OUTER == replace(OUTER)


def test_plain_values_hold_no_value():
    assert asdict(OUTER) == {"names": ("a", "b"), "inner": {"x": 1}, "more": {"c": [{"x": 2}]}}


def test_hidden_fields_are_not_shown():
    assert shown(OUTER, "names", "more") == "Outer(inner=Inner(x=1))"


def test_only_a_state_changes():
    class Count(State):
        number: int = 0

    count = Count()
    count.number += 1
    assert count == Count(1)
    with pytest.raises(AttributeError):
        OUTER.inner = Inner(2)


def test_an_abstract_value_is_not_made():
    class Shape(AbstractValue):
        @abstractmethod
        def area(self) -> float: ...

    class Square(Shape):
        side: float

        def area(self) -> float:
            return self.side**2

    assert Square(2).area() == 4
    with pytest.raises(TypeError):
        Shape()
