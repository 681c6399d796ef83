"""Numeric bounds of published labels: the minimum and maximum of the values behind each label."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from math import isinf

from sfumato.hierarchies.types import exact
from sfumato.patterns import regex

Bounds = tuple[float | None, float | None]
NOTHING: Bounds = (None, None)
_MOST_WHOLE = 2.0**63
_NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_RANGE = regex(rf"({_NUMBER})(?:-|\.\.)({_NUMBER})")
_INTERVAL = regex(rf"[\[(]({_NUMBER}), ({_NUMBER})[\])]")
_CLASS_RANGE = regex(rf"\[({_NUMBER})–({_NUMBER})\]")
_SINGLE = regex(_NUMBER)


def bounds_of(label: str | None) -> Bounds:
    """Return the smallest and the largest number that a label covers; None if unbounded.

    >>> bounds_of("36-40"), bounds_of("[0.5, 1.5)"), bounds_of("39"), bounds_of(">80"), bounds_of("*")
    ((36.0, 40.0), (0.5, 1.5), (39.0, 39.0), (80.0, None), (None, None))
    >>> bounds_of("[-10–40]"), bounds_of("100000000000000001")
    ((-10.0, 40.0), (None, None))
    """
    if label is None:
        return NOTHING
    low, high = ends_of(label)
    return _exactly(low), _exactly(high)


def _exactly(end: str | None) -> float | None:
    """Return an end as a number; None, i.e. unbounded, if no floating-point number represents it."""
    number = None if end is None else float(end)
    return number if number is None or isinf(number) or Decimal(end or 0) == exact(number) else None


def ends_of(label: str) -> tuple[str | None, str | None]:
    """Return the ends of a label as written.

    >>> ends_of("36-40"), ends_of("<20"), ends_of("*")
    (('36', '40'), (None, '20'), (None, None))
    """
    for pattern in (_RANGE, _INTERVAL, _CLASS_RANGE):
        if found := pattern.fullmatch(label):
            return found[1], found[2]
    if _SINGLE.fullmatch(label):
        return label, label
    if label[:1] in ("<", ">") and _SINGLE.fullmatch(label[1:]):
        limit = label[1:]
        return (None, limit) if label[0] == "<" else (limit, None)
    return None, None


def in_order(labels: Iterable[str]) -> list[str]:
    """Return labels from the lowest to the highest, those without bounds at the end.

    >>> in_order(["*", "40-49", "<20", "9", "20-39"])
    ['<20', '9', '20-39', '40-49', '*']
    """

    def place(label: str) -> tuple[bool, float, float, str]:
        low, high = bounds_of(label)
        outside = (low, high) == NOTHING
        least = low if low is not None else float("-inf")
        return outside, least, high if high is not None else float("inf"), label

    return sorted(labels, key=place)


def is_whole(labels: Mapping[str, Bounds]) -> bool:
    """Return whether all ends of intervals are integers of 64 bits."""
    ends = (number for bounds in labels.values() for number in bounds if number is not None)
    return all(number.is_integer() and abs(number) < _MOST_WHOLE for number in ends)
