"""Generalization: numbers, dates and times become the range of a bucket, objects such as addresses a level."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.attributes.operations.masking import Masking
from sfumato.attributes.operations.operation import MASK, OperationResult, Task, ValueRefusedError, operation
from sfumato.attributes.operations.scales import assign, read_scale
from sfumato.localization.messages import Message
from sfumato.values import Value


class Interval(Value):
    """A published range.

    The range is that of a bucket. Buckets have equal frequency, so an extreme value shares its bucket with others. Two
    things are not protected: the minimum and maximum of the column, which are the outer bounds, and a person whose
    bucket has only one sensitive value. The achieved k is reported by `kpis`.

    Attributes:
        low: The lower bound.
        high: The upper bound.
        first: Whether there is no bucket below.
        last: Whether there is no bucket above.
    """

    low: float | str
    high: float | str
    first: bool
    last: bool

    def as_range(self) -> dict[str, float | str]:
        """Return the range as its bounds."""
        return {"min": self.low, "max": self.high}

    def as_label(self) -> str:
        """Return the range as a label, open at the ends of the column.

        >>> Interval(10000.0, 25000.0, first=True, last=False).as_label()
        '<= 25000.0'
        """
        if self.first == self.last:
            return f"{self.low} - {self.high}"
        return f"<= {self.high}" if self.first else f">= {self.low}"


class Generalization:
    """Publishes the range of a value's bucket; a value that is alone in its column is masked."""

    range_suffix = "_range"
    graph_suffix = "_generalized"

    def apply(self, values: Sequence[Any], task: Task) -> OperationResult:
        column = read_scale(values, task, "generalization")
        if len(values) == 1:
            return Masking().apply(values, task)  # the range would be the value itself
        codes, low, high = assign(column.numbers, min(task.buckets, len(values)))
        last = len(low) - 1
        bounds = zip(column.write_bounds(low), column.write_bounds(high), strict=True)
        entries = [Interval(*pair, first=place == 0, last=place == last) for place, pair in enumerate(bounds)]
        return OperationResult(entries, codes, len(entries))


@operation("generalization", "numeric", "integer")
class NumericGeneralization(Generalization):
    """Generalizes numbers to ranges."""


@operation("generalization", "date", "datetime")
class DateGeneralization(Generalization):
    """Generalizes dates and times to ranges."""

    range_suffix = "_date_range"


ADDRESS_LEVELS = ("street", "zip", "city", "state", "country")
OTHER_NAMES = {"detail": "street"}
# At each level, the group of each object and the value published for it.
Level = list[tuple[Hashable, Any]]


@operation("generalization", "object")
class ObjectGeneralization:
    """Publishes the value of one level of each object.

    The most specific level at which every group has at least three members (a parameter) is published for all objects.
    If there is none, all objects are masked. Objects without a value at a level form a group of their own.
    """

    range_suffix = ""
    graph_suffix = "_generalized"

    def apply(self, values: Sequence[Any], task: Task) -> OperationResult:
        rows = [_row(value, place, task) for place, value in enumerate(values)]
        return _first_safe(len(task.data_type.levels), lambda level: [_by_value(row[level]) for row in rows], task)


@operation("generalization", "address")
class AddressGeneralization:
    """Publishes one part of each address, given as an object or as text `street, zip city, state, country`.

    Texts belong together if they agree from the level up: the same street in two cities is two streets.
    """

    range_suffix = ""
    graph_suffix = "_generalized"

    def apply(self, values: Sequence[Any], task: Task) -> OperationResult:
        parts = [_address(value, place, task) for place, value in enumerate(values)]
        return _first_safe(len(ADDRESS_LEVELS), lambda level: [(row[level:], row[level]) for row in parts], task)


def _first_safe(levels: int, at: Callable[[int], Level], task: Task) -> OperationResult:
    for level in range(levels):
        members = at(level)
        if all(shown is None for _, shown in members):
            continue  # no object has this level
        groups = Counter(group for group, _ in members)
        if min(groups.values()) >= task.smallest_group:
            return _published(members)
    return Masking().apply(at(0), task)


def _published(members: Level) -> OperationResult:
    entries: dict[Hashable, Any] = {}
    places: dict[Hashable, int] = {}
    for group, shown in members:
        places.setdefault(group, len(places))
        entries.setdefault(group, MASK if shown is None else shown)
    codes = np.fromiter((places[group] for group, _ in members), np.int64, len(members))
    return OperationResult(tuple(entries.values()), codes, len(places))


def _by_value(value: Any) -> tuple[Hashable, Any]:
    return (type(value).__name__, value), value  # 1 and true are different


def _row(value: Any, place: int, task: Task) -> tuple[Any, ...]:
    if not isinstance(value, Mapping):
        raise ValueRefusedError(
            task.attribute, Message("request.generalization", type="Object"), "no_object", value, place
        )
    row = _level_values(value, task.data_type.levels)
    _check_scalars(row, place, task)
    return row


def _level_values(value: Mapping[str, Any], levels: Sequence[str]) -> tuple[Any, ...]:
    if all(level in value for level in levels):
        return tuple(value[level] for level in levels)
    folded = {str(key).casefold(): entry for key, entry in value.items()}
    return tuple(value.get(level, folded.get(level.casefold())) for level in levels)


def _check_scalars(row: tuple[Any, ...], place: int, task: Task) -> None:
    several = any(isinstance(entry, Mapping | list) for entry in row)
    if several or all(entry is None for entry in row):
        complaint = "level_of_several" if several else "no_level"
        raise ValueRefusedError(task.attribute, Message("request.generalization", type="Object"), complaint, "", place)


def _address(value: Any, place: int, task: Task) -> tuple[Any, ...]:
    if isinstance(value, Mapping):
        renamed: dict[str, Any] = {
            OTHER_NAMES.get(str(key).casefold(), str(key)): entry for key, entry in value.items()
        }
        row = _level_values(renamed, ADDRESS_LEVELS)
        _check_scalars(row, place, task)
        return row
    parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else []
    if len(parts) != 4 or not all(parts):
        complaint = "no_address"
        raise ValueRefusedError(
            task.attribute, Message("request.generalization", type="Address"), complaint, value, place
        )
    return (parts[0], *_zip_and_city(parts[1]), parts[2], parts[3])


def _zip_and_city(text: str) -> tuple[str | None, str]:
    """Split off the first word as zip code if it has a digit and something follows."""
    first, _, rest = text.partition(" ")
    has_zip = bool(rest.strip()) and any(letter.isdecimal() for letter in first)
    return (first, rest.strip()) if has_zip else (None, text)
