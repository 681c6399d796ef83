"""Records derived from Values: choices, bounds, lists, names and what must be there."""

from typing import Annotated, Literal

import pytest

from sfumato.errors import PlanError
from sfumato.schema.composite import read
from sfumato.schema.dataclass_schema import KeyInfo, TextOrNumber, record_of
from sfumato.values import Value, field


class Part(Value):
    name: str
    mode: Literal["strict", "relaxed"] = "strict"


class Whole(Value):
    k: Annotated[int, KeyInfo("rows", minimum=2)]
    class_column: Annotated[str | None, KeyInfo(key="class")] = None
    codes: Annotated[tuple[TextOrNumber, ...], KeyInfo(at_least=1)] = ()
    part: Part = field(default_factory=lambda: Part("a"))
    share: Annotated[float | None, KeyInfo(maximum=1)] = None
    flag: bool = False


SHAPE = record_of(Whole, "a whole")


def test_a_value_is_read_into_the_dataclass() -> None:
    plain = {"k": 3, "class": "c", "codes": [1, "b"], "part": {"name": "p", "mode": "relaxed"}, "flag": True}
    assert read(SHAPE, plain) == Whole(3, "c", ("1", "b"), Part("p", "relaxed"), None, True)
    assert read(SHAPE, {"k": 2}) == Whole(2)


@pytest.mark.parametrize(
    ("plain", "at"),
    [
        ({}, "k"),
        ({"k": 1}, "k"),
        ({"k": 2, "class_column": "c"}, "class_column"),
        ({"k": 2, "codes": []}, "codes"),
        ({"k": 2, "part": {"mode": "strict"}}, "part.name"),
        ({"k": 2, "part": {"name": "p", "mode": "loose"}}, "part.mode"),
        ({"k": 2, "share": 1.5}, "share"),
        ({"k": 2, "flag": "yes"}, "flag"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(plain, at) -> None:
    with pytest.raises(PlanError) as caught:
        read(SHAPE, plain)
    assert [fault.path for fault in caught.value.issues] == [at]


def test_the_schema_says_the_same() -> None:
    schema = SHAPE.schema()
    assert (schema["required"], schema["description"]) == (["k"], "a whole")
    assert schema["properties"]["k"] == {"type": "integer", "minimum": 2, "description": "rows"}
    assert schema["properties"]["class"] == {"type": "string", "minLength": 1}
    assert schema["properties"]["part"]["properties"]["mode"] == {"enum": ["strict", "relaxed"]}
