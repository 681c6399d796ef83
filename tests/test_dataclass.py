"""House dataclasses behave as those of the standard library, though their methods are written when they are called."""

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from sfumato.dataclass import PATIENCE
from sfumato.dataclass import dataclass as late


@late(frozen=True, slots=True)
class Pickled:
    """At the top of a module, where pickle finds it."""

    missing: int
    assign: tuple[str, ...] = ()


def _family(make: Any) -> dict[str, Any]:
    """The same classes, made by one or the other."""

    @make(frozen=True, slots=True)
    class Base:
        """One."""

        kinds: ClassVar[int] = 3
        first: int
        missing: list[int] = field(default_factory=list)
        hidden: str = field(default="h", repr=False, compare=False)

    @make(frozen=True, slots=True)
    class Derived(Base):
        last: int = 4
        kept: int = field(default=7, init=False)

    @make(frozen=True)
    class Checked:  # noqa: PLW1641
        value: int

        def __post_init__(self) -> None:
            if self.value < 0:
                raise ValueError(self.value)

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

    @make(slots=True)
    class Open:
        a: int
        made: dict[str, int] = field(default_factory=dict, init=False)

    @make(frozen=True, slots=True, kw_only=True)
    class Named:
        a: int
        b: int = 2

    @make(frozen=True, eq=False, repr=False)
    class Itself:
        a: int

    return {kind.__name__: kind for kind in (Base, Derived, Checked, Open, Named, Itself)}


CALLS = {
    "defaults": lambda k: repr(k["Base"](1)).rpartition(".")[2],
    "derived": lambda k: repr(k["Derived"](1, [2], "x", last=5)).rpartition(".")[2],
    "not given": lambda k: k["Derived"](1).kept,
    "a list each": lambda k: k["Base"](1).missing is k["Base"](1).missing,
    "equal": lambda k: (k["Base"](1, [2], "a") == k["Base"](1, [2], "b"), k["Base"](1) == k["Base"](2)),
    "another kind": lambda k: k["Base"](1) == k["Derived"](1),
    "hash": lambda k: hash(k["Named"](a=1)) == hash((1, 2)),
    "checked": lambda k: k["Checked"](-1),
    "own methods": lambda k: (repr(k["Checked"](1)), k["Checked"](1) == 5, hash(k["Checked"](1)) == hash((1,))),
    "unhashable": lambda k: hash(k["Open"](1)),
    "open": lambda k: setattr(k["Open"](1), "a", 2),
    "frozen": lambda k: setattr(k["Base"](1), "first", 2),
    "deleted": lambda k: delattr(k["Base"](1), "first"),
    "slots": lambda k: (k["Base"].__slots__, k["Derived"].__slots__, hasattr(k["Derived"](1), "__dict__")),
    "too many": lambda k: k["Named"](1),
    "too few": lambda k: k["Base"](),
    "unknown": lambda k: k["Base"](1, other=2),
    "replace": lambda k: dataclasses.replace(k["Derived"](1), last=9).last,
    "asdict": lambda k: dataclasses.asdict(k["Derived"](1)),
    "fields": lambda k: [entry.name for entry in dataclasses.fields(k["Derived"])],
    "match": lambda k: (k["Derived"].__match_args__, k["Named"].__match_args__),
    "copy": lambda k: copy.copy(k["Base"](1, [2])).missing,
    "identity": lambda k: (k["Itself"](1) == k["Itself"](1), "object at" in repr(k["Itself"](1))),
    "names": lambda k: list(inspect.signature(k["Derived"]).parameters),
}


@pytest.mark.parametrize("patience", [0, PATIENCE])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_behaves_as_the_standard_one(call, patience, monkeypatch):
    monkeypatch.setattr("sfumato.dataclass.PATIENCE", patience)

    def outcome(kinds):
        try:
            return call(kinds)
        except Exception as error:
            return type(error)

    assert outcome(_family(late)) == outcome(_family(dataclasses.dataclass))


def test_a_frozen_value_is_pickled():
    value = Pickled(1, ("a",))
    assert pickle.loads(pickle.dumps(value)) == value == Pickled(missing=1, assign=("a",))
    with pytest.raises(FrozenInstanceError, match="missing"):
        value.missing = 2


def test_methods_are_written_when_they_are_called_often():
    kind = _family(late)["Base"]
    before = kind.__init__
    for _ in range(PATIENCE):
        kind(1)
        assert kind.__init__ is before
    kind(1)
    assert kind.__init__ is not before
    assert kind.__init__.__qualname__.endswith("Base.__init__")


def test_a_command_compiles_few_methods():
    """The standard one would write 6 methods for each of some hundred classes while modules are loaded."""
    code = (
        "import builtins, sys\ncalls = 0\nreal = builtins.exec\n"
        "def counted(*a):\n global calls\n calls += isinstance(a[0], str)\n return real(*a)\n"
        "builtins.exec = counted\nimport sfumato.pipelines.release\nprint(calls)"
    )
    made = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(made.stdout) < 150
