"""Convert numbers, dates and times to floats for generalization and noise, and divide them into buckets."""

import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sfumato.attributes.operations.operation import Codes, Kind, Task, ValueRefusedError
from sfumato.localization.messages import Message
from sfumato.values import Value

Days = npt.NDArray[np.int64]
Micros = npt.NDArray[np.int64]
DATE_LENGTH, TIME_LENGTH = 10, 19
ZONE = re.compile(r"(?:\.(?P<fraction>\d{1,9}))?(?P<zone>Z|[+-]\d\d:\d\d)?", re.ASCII)
DATE_ZONE = re.compile(r"(?:Z|[+-]\d\d:\d\d)?|T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?", re.ASCII)
MINUTE = 60_000_000
SECOND = 1_000_000
# Up to this many values, plain Python is faster than arrays.
FEW_VALUES = 200
PLAIN = re.compile(r"(?!0000)\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d)?", re.ASCII)
PLAIN_LINES = re.compile(rf"{PLAIN.pattern}(?:\n{PLAIN.pattern})*+", re.ASCII)
DAY = 86_400 * SECOND
Numbers = npt.NDArray[np.float64]
Writer = Callable[[Numbers], list[Any]]
# No backtracking and a limited length, so that matching a malicious text takes no longer than a normal one.
DECIMAL = re.compile(r"(?=.{1,400}\Z)\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
SCALED: tuple[Kind, ...] = ("numeric", "integer", "date", "datetime")


class NumericScale(Value):
    """A column as numbers, and functions that convert numbers back.

    Attributes:
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
    request = Message(f"request.{operation}", type=task.data_type.name)
    if task.data_type.kind == "date":
        return _dates(values, task, request)
    if task.data_type.kind == "datetime":
        return _times(values, task, request)
    numbers = _numbers(values, task, request)
    return NumericScale(numbers, _whole if task.data_type.kind == "integer" else _floats, _floats)


def _numbers(values: Sequence[Any], task: Task, request: Message) -> Numbers:
    kinds = set(map(type, values))
    if kinds == {str} and not all(map(DECIMAL.fullmatch, values)):
        kinds = set()  # some text is not a number; the loop below finds which
    if kinds and kinds <= {int, float, str, Decimal}:
        try:
            numbers = np.fromiter(map(float, values), np.float64, len(values))
        except (ValueError, OverflowError):
            numbers = np.full(1, np.nan)
        if np.isfinite(numbers).all() and (str not in kinds or kinds == {str}):
            return numbers
    return np.array([_number(value, place, task, request) for place, value in enumerate(values)], np.float64)


def _number(value: Any, place: int, task: Task, request: Message) -> float:
    readable = DECIMAL.fullmatch(value) if isinstance(value, str) else isinstance(value, int | float | Decimal)
    if isinstance(value, bool) or not readable:
        raise ValueRefusedError(task.attribute, request, "no_number", _shown(value), place)
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise ValueRefusedError(task.attribute, request, "not_finite", _shown(value), place)
    return number


def _shown(value: object) -> str:
    """Return a value for the error message to its sender; a very long number is abbreviated."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 1024:
        return "of more than 300 digits"
    return str(value)


def _dates(values: Sequence[Any], task: Task, request: Message) -> NumericScale:
    try:
        numbers = days(values)
    except NotADateError as error:
        raise ValueRefusedError(task.attribute, request, "no_date", values[error.place], error.place) from None
    return NumericScale(numbers.astype(np.float64), _iso_dates, _iso_bounds)


def _times(values: Sequence[Any], task: Task, request: Message) -> NumericScale:
    try:
        numbers, zoned = micros(values)
    except NotADateError as error:
        complaint = "no_moment"
        raise ValueRefusedError(task.attribute, request, complaint, values[error.place], error.place) from None
    unit = 1 if (numbers % SECOND).any() else SECOND

    def write(written: Numbers) -> list[Any]:
        return iso_times(np.round(written / unit).astype(np.int64) * unit, zoned)

    return NumericScale(numbers.astype(np.float64), write, write)


def _floats(numbers: Numbers) -> list[Any]:
    return list(numbers.tolist())


def _whole(numbers: Numbers) -> list[Any]:
    return [int(number) for number in np.round(numbers).tolist()]


def _iso_dates(numbers: Numbers) -> list[Any]:
    return iso_dates(np.round(numbers).astype(np.int64))


def _iso_bounds(numbers: Numbers) -> list[Any]:
    """Return bounds as dates; a bound between two days is the earlier day, so that the range covers its values."""
    return iso_dates(np.floor(numbers).astype(np.int64))


class NotADateError(ValueError):
    """A text is not a date; `place` is its index."""

    def __init__(self, place: int) -> None:
        super().__init__("not a date")
        self.place = place


def days(values: Sequence[Any]) -> Days:
    """Return days since 1970-01-01; a time after the date is ignored.

    >>> days(["1970-01-02", "1899-12-31", "2000-02-29"]).tolist()
    [1, -25568, 11016]

    Raises:
        NotADateError: A value is not an ISO date.
    """
    texts = _texts(values)
    if set(map(len, texts)) == {DATE_LENGTH}:
        return _calendar(texts, DATE_LENGTH) // DAY
    suffixes = {text[DATE_LENGTH:] for text in texts}
    if not all(DATE_ZONE.fullmatch(suffix) for suffix in suffixes):
        raise NotADateError(
            next(place for place, text in enumerate(texts) if not DATE_ZONE.fullmatch(text[DATE_LENGTH:]))
        )
    return _calendar([text[:DATE_LENGTH] for text in texts], DATE_LENGTH) // DAY


def micros(values: Sequence[Any]) -> tuple[Micros, bool]:
    """Return microseconds since 1970-01-01T00:00:00Z, and whether any value has a time zone; the default is UTC.

    >>> micros(["1970-01-01T01:00:00+01:00", "1970-01-01T00:00:00.5Z"])[0].tolist()
    [0, 500000]

    Raises:
        NotADateError: A value is not an ISO date and time.
    """
    texts = [text + "T00:00:00" if len(text) == DATE_LENGTH else text for text in _texts(values)]
    suffixes = [text[TIME_LENGTH:] for text in texts]
    shifts = {suffix: _shift(suffix) for suffix in set(suffixes)}
    if None in shifts.values():
        raise NotADateError(next(place for place, suffix in enumerate(suffixes) if shifts[suffix] is None))
    shifted = np.fromiter((shifts[suffix] for suffix in suffixes), np.int64, len(suffixes))
    whole = _calendar([text[:TIME_LENGTH].replace(" ", "T") for text in texts], TIME_LENGTH)
    return whole + shifted, any(suffix.lstrip(".0123456789") for suffix in shifts)


def iso_dates(numbers: Days) -> list[str]:
    """Return the ISO dates of days since 1970-01-01."""
    return _written(numbers, "datetime64[D]", "D", "")


def iso_times(numbers: Micros, zoned: bool) -> list[str]:
    """Return the ISO texts of microseconds since 1970, with as many decimals as necessary."""
    whole = not (numbers % SECOND).any()
    return _written(numbers, "datetime64[us]", "s" if whole else "us", "Z" if zoned else "")


def _written(numbers: npt.NDArray[np.int64], kind: str, unit: Literal["D", "s", "us"], zone: str) -> list[str]:
    """Return the texts of numbers; each distinct number is formatted once, because dates repeat."""
    if len(numbers) <= FEW_VALUES:
        return _each_written(numbers, kind, unit, zone)
    distinct, inverse = np.unique(numbers, return_inverse=True)
    return list(map(_each_written(distinct, kind, unit, zone).__getitem__, inverse.ravel().tolist()))


def _each_written(numbers: npt.NDArray[np.int64], kind: str, unit: Literal["D", "s", "us"], zone: str) -> list[str]:
    texts: list[str] = np.datetime_as_string(numbers.astype(kind), unit=unit).tolist()
    return [text + zone for text in texts] if zone else texts


def _texts(values: Sequence[Any]) -> list[str]:
    """Return every value as its ISO text; dates and times of Python and of data frames have one."""
    if set(map(type, values)) == {str}:
        return list(values)
    return [_text(value, place) for place, value in enumerate(values)]


def _text(value: Any, place: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, date | datetime):
        return value.isoformat()
    raise NotADateError(place)


def _calendar(texts: list[str], length: int) -> Micros:
    """Return texts of one length as microseconds since 1970; invalid days such as February 30 are refused."""
    if set(map(len, texts)) <= {length} and PLAIN_LINES.fullmatch("\n".join(texts)):
        with suppress(ValueError):
            return np.array(texts, "datetime64[us]").astype(np.int64)
    raise NotADateError(next(place for place, text in enumerate(texts) if not _is_moment(text, length)))


def _is_moment(text: str, length: int) -> bool:
    if len(text) != length or not PLAIN.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _shift(suffix: str) -> int | None:
    """Return the microseconds of a fraction of a second and a time zone, or None if the suffix is neither."""
    match = ZONE.fullmatch(suffix)
    if not match:
        return None
    fraction, zone = match["fraction"], match["zone"]
    micro = int(fraction[:6].ljust(6, "0")) if fraction else 0
    if zone in (None, "Z"):
        return micro
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 14 or minutes > 59:
        return None
    east = (hours * 60 + minutes) * MINUTE
    return micro - east if zone[0] == "+" else micro + east


BucketRule = Literal["unique99", "sqrt"] | int
CONFIDENCE = 0.99
FIRST = np.zeros(1, np.int64)


def unique99(records: int, attributes: int) -> int:
    """Return the number of buckets for which, with 99 % probability, no individual is unique.

    floor( 1 / (1 − (1 − 0.99^(1/k))^(1/k))^(1/n) ) for k records and n attributes, at least 1. It is computed with
    logarithms, because 0.99^(1/k) is close to 1 for many records.

    >>> [unique99(k, n) for k, n in [(20, 1), (16, 1), (10, 2), (1000, 3), (1000, 1)]]
    [3, 2, 1, 4, 87]
    """
    if records < 1 or attributes < 1:
        return 1
    alone = -math.expm1(math.log(CONFIDENCE) / records)
    same = -math.expm1(math.log(alone) / records)
    return max(1, math.floor(math.pow(same, -1 / attributes)))


def number_of_buckets(rule: BucketRule, values: int, attributes: int) -> int:
    """Return the number of buckets by a rule, at most one per value.

    >>> number_of_buckets("sqrt", 8, 3)
    2
    """
    if rule == "unique99":
        return unique99(values, attributes)
    if rule == "sqrt":
        return max(1, math.isqrt(values))
    return max(1, min(rule, values))


def assign(numbers: Numbers, buckets: int) -> tuple[Codes, Numbers, Numbers]:
    """Return the bucket of each number, and the bounds of the buckets.

    For g buckets and m numbers, position i in the sorted order goes to bucket g·i div m. A value goes to the bucket of
    its first position, so that equal values stay together. A bucket with fewer than m/(2g) members, or with a single
    one, is merged with its neighbor, so that an extreme value gets no bucket of its own.

    >>> codes, low, high = assign(np.array([10.0, 12.0, 20.0, 30.0, 40.0, 100.0]), 2)
    >>> codes.tolist(), low.tolist(), high.tolist()
    ([0, 0, 0, 1, 1, 1], [10.0, 25.0], [25.0, 100.0])
    """
    order = np.argsort(numbers, kind="stable")
    ascending = numbers[order]
    first = run_starts(ascending)
    share = len(numbers) // buckets
    starts = _bucket_starts(first, buckets * first // len(numbers), len(numbers), max(min(2, share), (share + 1) // 2))
    between = ascending[starts[1:] - 1] / 2 + ascending[starts[1:]] / 2
    low, high = np.concatenate((ascending[:1], between)), np.concatenate((between, ascending[-1:]))
    codes = np.empty(len(numbers), np.int64)
    codes[order] = np.repeat(np.arange(len(starts)), lengths(starts, len(numbers)))
    return codes, low, high


def run_starts(ascending: npt.NDArray[Any]) -> Codes:
    """Return the start of each distinct value in a sorted array.

    >>> run_starts(np.array([1, 1, 2, 5, 5])).tolist()
    [0, 2, 3]
    """
    changes = np.flatnonzero(ascending[1:] != ascending[:-1])
    return np.concatenate((FIRST, changes + 1))


def lengths(starts: Codes, whole: int) -> Codes:
    """Return the length of each run, given the starts of the runs and the length of the whole array."""
    return np.concatenate((starts[1:], [whole])) - starts


def _bucket_starts(first: Codes, buckets: Codes, whole: int, least: int) -> Codes:
    """Return the starts of buckets in the sorted order, after merging those with fewer than `least` members.

    Args:
        first: The start of each distinct value.
        buckets: The bucket of each of them, ascending.
        whole: The number of positions.
        least: The minimum number of members of a bucket.
    """
    begins = first[run_starts(buckets)].tolist()
    starts = [0]
    for begin in begins[1:]:
        if begin - starts[-1] >= least:
            starts.append(begin)
    if len(starts) > 1 and whole - starts[-1] < least:
        starts.pop()
    return np.array(starts)
