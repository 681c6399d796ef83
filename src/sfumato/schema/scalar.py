"""Schemas of single values (texts, numbers, Booleans, choices), and the interface common to all schemas."""

from collections.abc import Iterable, Mapping, Sequence
from sys import float_info
from types import NoneType
from typing import Any, ClassVar, Protocol, TypeVar

from sfumato.errors import did_you_mean
from sfumato.localization.messages import Message
from sfumato.schema.issues import PlanIssues, Refused
from sfumato.values import Value

T_co = TypeVar("T_co", covariant=True)
JsonSchema = dict[str, Any]
# The largest integer that compiled loops can process.
LARGEST = 2**63 - 1
# Names of types in messages. The first match is used: a Boolean is an integer, too, so it comes first.
KINDS: dict[type, str] = {
    NoneType: "nothing",
    bool: "true/false",
    int: "a whole number",
    float: "a number",
    str: "text",
    Mapping: "a mapping",
    Sequence: "a list",
    type: "a class",
}


class Schema(Protocol[T_co]):
    """The schema of a value."""

    def read(self, value: object, at: str, faults: PlanIssues) -> T_co: ...

    def schema(self) -> JsonSchema: ...


def kind_of(value: object) -> str:
    """Return the word for a value's type in a message."""
    return next((word for kind, word in KINDS.items() if isinstance(value, kind)), type(value).__name__)


class Text(Value):
    """A text, not empty unless allowed; numbers and dates parsed by YAML are refused."""

    about: str = ""
    may_be_empty: bool = False

    def read(self, value: object, at: str, faults: PlanIssues) -> str:
        if not isinstance(value, str):
            raise faults.refuse(at, "text", kind=kind_of(value))
        if not value and not self.may_be_empty:
            raise faults.refuse(at, "not_empty")
        return value

    def schema(self) -> JsonSchema:
        return described({"type": "string"} | ({} if self.may_be_empty else {"minLength": 1}), self.about)


class Scalar(Value):
    """A text, or a number or Boolean read as its text (keys and values of a tree, codes of totals)."""

    about: str = ""

    def read(self, value: object, at: str, faults: PlanIssues) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, str | int | float):
            raise faults.refuse(at, "scalar", kind=kind_of(value))
        # A number from a plan file keeps its notation.
        return str(getattr(value, "text", value))

    def schema(self) -> JsonSchema:
        return described({"type": ["string", "number", "boolean"]}, self.about)


class _Bounded(Value):
    """Numbers within bounds."""

    minimum: float | None = None
    maximum: float | None = None
    about: str = ""
    kind: ClassVar[str] = "number"

    def check(self, value: float, at: str, faults: PlanIssues) -> None:
        if self.minimum is not None and value < self.minimum:
            raise faults.refuse(at, "at_least", least=self.minimum, number=value)
        if self.maximum is not None and value > self.maximum:
            raise faults.refuse(at, "at_most", most=self.maximum, number=value)

    def schema(self) -> JsonSchema:
        bounds = {"minimum": self.minimum, "maximum": self.maximum}
        return described(
            {"type": self.kind} | {name: bound for name, bound in bounds.items() if bound is not None}, self.about
        )


class Integer(_Bounded):
    """An integer within bounds."""

    kind = "integer"

    def read(self, value: object, at: str, faults: PlanIssues) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise faults.refuse(at, "whole", kind=kind_of(value))
        if abs(value) > LARGEST:
            raise faults.refuse(at, "most", most=LARGEST)
        self.check(value, at, faults)
        return value


class Number(_Bounded):
    """A finite number within bounds."""

    def read(self, value: object, at: str, faults: PlanIssues) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise faults.refuse(at, "number", kind=kind_of(value))
        if not abs(value) <= float_info.max:  # an integer may be too large for a float
            raise faults.refuse(at, "finite")
        self.check(value, at, faults)
        return float(value)


class Flag(Value):
    """True or false."""

    about: str = ""

    def read(self, value: object, at: str, faults: PlanIssues) -> bool:
        if not isinstance(value, bool):
            raise faults.refuse(at, "flag", kind=kind_of(value))
        return value

    def schema(self) -> JsonSchema:
        return described({"type": "boolean"}, self.about)


class Choice(Value):
    """One of several names."""

    names: tuple[str, ...]
    about: str = ""

    def read(self, value: object, at: str, faults: PlanIssues) -> Any:
        if value not in self.names:
            raise refuse_choice(at, value, self.names, faults)
        return value

    def schema(self) -> JsonSchema:
        return described({"enum": list(self.names)}, self.about)


class Anything(Value):
    """Any value, checked by the code that uses it."""

    about: str = ""

    def read(self, value: object, at: str, faults: PlanIssues) -> Any:  # noqa: ARG002
        return value

    def schema(self) -> JsonSchema:
        return described({}, self.about)


def refuse_choice(at: str, value: object, names: Iterable[str], faults: PlanIssues) -> Refused:
    """Refuse a name that is not in a list, with the nearest one as a hint."""
    shown = f'"{value}"' if isinstance(value, str) else kind_of(value)
    return faults.refuse(at, message=Message("error.part.choice", name=shown), hint=did_you_mean(name_of(value), names))


def name_of(value: object) -> str:
    """Return a value as text for the comparison with names; empty if it is no text."""
    return value if isinstance(value, str) else ""


def described(schema: JsonSchema, about: str) -> JsonSchema:
    return schema | ({"description": about} if about else {})
