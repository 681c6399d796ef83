"""The interface of operations on attributes, and the registry that finds one by name and kind of value.

A new operation is one class with the decorator `operation`. Another package lists its module under the entry point
group `sfumato.operations`; it is loaded when an operation is first looked up.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Protocol, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from sfumato.attributes.operations.datatypes import DataType, Kind
from sfumato.dataclass import dataclass
from sfumato.errors import PlanError

Codes = npt.NDArray[np.int64]
MASK = "*****"
GROUP = "sfumato.operations"
OWN = ("masking", "generalization", "randomization")


@dataclass(frozen=True, slots=True)
class Task:
    """The task of an operation.

    Attributes:
        attribute: The attribute's name.
        buckets: The requested number of buckets.
        random: The random generator for noise.
        smallest_group: The minimum number of members of a group of objects.
    """

    attribute: str
    data_type: DataType
    buckets: int
    random: np.random.Generator
    smallest_group: int = 3


@dataclass(frozen=True, slots=True)
class OperationResult:
    """The published values: for each value the index of its entry, in the order of the values.

    Attributes:
        entries: The distinct published values.
        codes: For each value, the index of its entry.
        groups: Whether values with the same entry are indistinguishable; noise makes no groups.
        buckets: The number of buckets of the values.
    """

    entries: Sequence[Any]
    codes: Codes
    buckets: int
    groups: bool = True

    @staticmethod
    def of(values: Sequence[str | float]) -> "OperationResult":
        """Return the outcome for plain published values.

        >>> OperationResult.of(["a", "b", "a"]).codes.tolist()
        [0, 1, 0]
        """
        places: dict[str | float, int] = {}
        codes = np.fromiter((places.setdefault(value, len(places)) for value in values), np.int64, len(values))
        return OperationResult(tuple(places), codes, len(places))


class Operation(Protocol):
    """An operation that anonymizes the values of an attribute.

    Attributes:
        range_suffix: Added to the attribute's name if ranges are published as bounds.
        graph_suffix: Added to the attribute's name in knowledge graphs and flat responses.
    """

    range_suffix: str
    graph_suffix: str

    def apply(self, values: Sequence[Any], task: Task) -> OperationResult:
        """Anonymize the values, none of which is missing, and keep their order."""
        ...


Registered = TypeVar("Registered", bound=Callable[[], Operation])
_REGISTRY: dict[tuple[str, Kind], Callable[[], Operation]] = {}
ALL_KINDS: tuple[Kind, ...] = get_args(Kind)


def operation(name: str, *kinds: Kind) -> Callable[[Registered], Registered]:
    """Register a class as the operation of a name for some kinds of values."""

    def register(kind: Registered) -> Registered:
        _REGISTRY.update({(normalize(name), values): kind for values in kinds})
        return kind

    return register


def normalize(name: str) -> str:
    """Return the name of an operation in canonical spelling.

    >>> normalize("Randomisation")
    'randomization'
    """
    return name.casefold().replace("isation", "ization")


def find(name: str, data_type: DataType, attribute: str) -> Operation:
    """Return the operation for an attribute.

    Raises:
        PlanError: No operation has this name, or it is not implemented for the type.
    """
    load_all()
    factory = _REGISTRY.get((normalize(name), data_type.kind))
    if factory is None:
        raise PlanError(
            "operation-unsupported", hint=_way_out(data_type), name=name, units=data_type.name, column=attribute
        ).about(column=attribute)
    return factory()


def is_implemented(name: str, data_type: DataType) -> bool:
    """Return whether an operation is implemented for a type.

    >>> from sfumato.attributes.operations.datatypes import type_named
    >>> [is_implemented("Randomization", type_named(name)) for name in ("String", "Numeric")]
    [False, True]
    """
    load_all()
    return (normalize(name), data_type.kind) in _REGISTRY


def _way_out(data_type: DataType) -> str:
    names = sorted({name for name, kind in _REGISTRY if kind == data_type.kind})
    return "Implemented for this type: " + ", ".join(names) + "."


def known_operations() -> tuple[str, ...]:
    """Return the names of all operations."""
    load_all()
    return tuple(sorted({name for name, _ in _REGISTRY}))


@cache
def load_all() -> None:
    """Load the built-in operations and those of other packages."""
    for name in OWN:
        import_module(f"sfumato.attributes.operations.{name}")
    for point in entry_points(group=GROUP):
        point.load()
