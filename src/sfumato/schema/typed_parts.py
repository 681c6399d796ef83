"""Plan parts made in Python: their arguments are read like a plan file, when the part is made.

A number may be given for a `Suppression` and a list for a tuple, in Python as in a plan file, and every mistake raises
a PlanError where the part is made, not where it is used.
"""

from collections.abc import Iterator
from functools import cache
from numbers import Number as AnyNumber
from os import PathLike, fspath
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from sfumato.errors import PlanError, issue
from sfumato.localization.messages import message_of
from sfumato.schema.composite import KeySchema
from sfumato.schema.dataclass_schema import record_of
from sfumato.schema.issues import PlanIssues, Refused
from sfumato.values import Value, defaults, force_setattr

T = TypeVar("T", bound=Value)
# No value of a field is this one.
NO_DEFAULT = object()
# Types that a plan file contains itself; others are results of reading.
PLAIN = (str, int, float, bool, type(None), tuple)


class PlanPart(Value):
    """A part of a plan: its fields are read by their schemas, and contradictions are refused.

    >>> from typing import Literal
    >>> class Cut(PlanPart):
    ...     at: tuple[float, ...] = ()
    ...     mode: Literal["strict", "relaxed"] = "strict"
    >>> Cut([1, 2])
    Cut(at=(1.0, 2.0), mode='strict')
    >>> Cut(mode="relax")
    Traceback (most recent call last):
    sfumato.errors.PlanError: Cut.mode: "relax" is not a valid choice. Did you mean "relaxed"?
    """

    def __post_init__(self) -> None:
        read_fields(self)
        try:
            self.check_part()
        except ValueError as error:
            raise PlanError.listing([issue(type(self).__name__, message=message_of(error))]) from None

    def check_part(self) -> None:
        """Refuse fields that contradict each other, by a ValueError."""


def read_fields(value: T) -> T:
    """Return an object with every field as its schema reads it.

    Raises:
        PlanError: With all issues of its fields.
    """
    faults = PlanIssues()
    kind: Any = type(value)
    for part in _parts(kind):
        entry = getattr(value, part.attribute)
        try:
            read = part.read(entry, f"{kind.__name__}.{part.key}", faults)
        except Refused:
            continue
        if read is not entry:
            force_setattr(value, part.attribute, read)
    if faults.entries:
        raise PlanError.listing(faults.entries)
    return value


class PartField(Value):
    """One field: its key and schema, its default, and the classes of values that need not be read."""

    key: str
    attribute: str
    spec: KeySchema
    default: Any
    classes: tuple[type, ...]

    def read(self, entry: Any, at: str, faults: PlanIssues) -> Any:
        """Return the value of an entry: itself if it has such a class, or what its schema makes of it."""
        if entry is self.default or isinstance(entry, self.classes):
            return entry
        if isinstance(entry, tuple | list) and not entry and self.default == ():
            return ()
        return self.spec.shape.read(_plain(entry), at, faults)


@cache
def _parts(kind: Any) -> tuple[PartField, ...]:
    record, hints, usual = record_of(kind), get_type_hints(kind, include_extras=True), defaults(kind)
    return tuple(
        PartField(
            key,
            spec.attribute,
            spec,
            usual.get(spec.attribute, NO_DEFAULT),
            tuple(value_classes(hints[spec.attribute])),
        )
        for key, spec in record.keys.items()
    )


def value_classes(hint: Any) -> Iterator[type]:
    """Yield the classes of values that a field may hold and that no plan file contains.

    >>> from sfumato.errors import PlanIssue
    >>> [*value_classes(float | PlanIssue | None)]
    [<class 'sfumato.errors.PlanIssue'>]
    """
    if get_origin(hint) in (Annotated, Union, UnionType):
        options = get_args(hint)[:1] if get_origin(hint) is Annotated else get_args(hint)
        for option in options:
            yield from value_classes(option)
    elif isinstance(hint, type) and get_origin(hint) is None and hint not in PLAIN:
        yield hint


def _plain(entry: Any) -> Any:
    """Return an entry as in a plan file: a NumPy number as one of Python, a path as text."""
    if isinstance(entry, PathLike):
        return fspath(entry)
    if isinstance(entry, tuple | list):
        return [_plain(one) for one in entry]
    return entry.item() if isinstance(entry, AnyNumber) and hasattr(entry, "item") else entry
