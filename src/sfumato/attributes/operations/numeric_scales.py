"""Scales: ordered values with distances, converted to numbers and back."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.attributes.operations import dates
from sfumato.attributes.operations.datatypes import Kind
from sfumato.attributes.operations.operation import Task
from sfumato.attributes.operations.value_errors import ValueRefusedError
from sfumato.dataclass import dataclass

Numbers = npt.NDArray[np.float64]
Writer = Callable[[Numbers], list[Any]]
# The expression is unambiguous and bounds the length, so that a malicious text takes no longer than a normal one.
DECIMAL = re.compile(r"(?=.{1,400}\Z)\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
SCALED: tuple[Kind, ...] = ("numeric", "integer", "date", "datetime")


@dataclass(frozen=True, slots=True)
class NumericScale:
    """A column as numbers, and functions that convert numbers back.

    Attributes:
        numbers: The values as numbers.
        write: Converts numbers to values of the column's type.
        write_bounds: Converts numbers to bounds of a range.
    """

    numbers: Numbers
    write: Writer
    write_bounds: Writer


def read_scale(values: Sequence[Any], task: Task, operation: str) -> NumericScale:
    """Read the values of a column.

    Raises:
        ValueRefusedError: A value is not of the type; the error names the attribute.
    """
    request = f"{task.data_type.name} {operation}"
    if task.data_type.kind == "date":
        return _dates(values, task, request)
    if task.data_type.kind == "datetime":
        return _times(values, task, request)
    numbers = _numbers(values, task, request)
    return NumericScale(numbers, _whole if task.data_type.kind == "integer" else _floats, _floats)


def _numbers(values: Sequence[Any], task: Task, request: str) -> Numbers:
    kinds = set(map(type, values))
    if kinds == {str} and not all(map(DECIMAL.fullmatch, values)):
        kinds = set()  # some text is not a number: the slow path finds which
    if kinds and kinds <= {int, float, str, Decimal}:
        try:
            numbers = np.fromiter(map(float, values), np.float64, len(values))
        except (ValueError, OverflowError):
            numbers = np.full(1, np.nan)
        if np.isfinite(numbers).all() and (str not in kinds or kinds == {str}):
            return numbers
    return np.array([_number(value, place, task, request) for place, value in enumerate(values)], np.float64)


def _number(value: Any, place: int, task: Task, request: str) -> float:
    readable = DECIMAL.fullmatch(value) if isinstance(value, str) else isinstance(value, int | float | Decimal)
    if isinstance(value, bool) or not readable:
        raise ValueRefusedError(task.attribute, request, "is not numeric", _shown(value), place)
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise ValueRefusedError(task.attribute, request, "is not a finite number", _shown(value), place)
    return number


def _shown(value: object) -> str:
    """Return a value for display to the sender; a number of thousands of digits is abbreviated."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 1024:
        return "of more than 300 digits"
    return str(value)


def _dates(values: Sequence[Any], task: Task, request: str) -> NumericScale:
    try:
        numbers = dates.days(values)
    except dates.NotADateError as error:
        raise ValueRefusedError(task.attribute, request, "is not a date", values[error.place], error.place) from None
    return NumericScale(numbers.astype(np.float64), _iso_dates, _iso_bounds)


def _times(values: Sequence[Any], task: Task, request: str) -> NumericScale:
    try:
        numbers, zoned = dates.micros(values)
    except dates.NotADateError as error:
        complaint = "is not a date and time"
        raise ValueRefusedError(task.attribute, request, complaint, values[error.place], error.place) from None
    unit = 1 if (numbers % dates.SECOND).any() else dates.SECOND

    def write(written: Numbers) -> list[Any]:
        return dates.iso_times(np.round(written / unit).astype(np.int64) * unit, zoned)

    return NumericScale(numbers.astype(np.float64), write, write)


def _floats(numbers: Numbers) -> list[Any]:
    return list(numbers.tolist())


def _whole(numbers: Numbers) -> list[Any]:
    return [int(number) for number in np.round(numbers).tolist()]


def _iso_dates(numbers: Numbers) -> list[Any]:
    return dates.iso_dates(np.round(numbers).astype(np.int64))


def _iso_bounds(numbers: Numbers) -> list[Any]:
    """Return bounds as dates; a bound between two days is the earlier day, so that the range covers its values."""
    return dates.iso_dates(np.floor(numbers).astype(np.int64))
