"""What a published label says of a value: which raw values it contains, and which of two labels says more."""

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from draw_rows import PARENTS

_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"^[\[(]?({_NUMBER})(?:[-–]|\.\.|, )({_NUMBER})([\])]?)$")
_BEYOND = re.compile(rf"^(<=|>=|[<>≤≥])({_NUMBER})$")


def number(text: str) -> Decimal | None:
    """A text as an exact number."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def is_star(key: Sequence[str]) -> bool:
    """Whether a row is published as * throughout."""
    return all(label and not label.strip("*") for label in key)


@lru_cache(maxsize=100_000)
def contains(label: str, value: str) -> bool | None:
    """Whether a label contains a raw value; None where nobody can read it."""
    if label == value or is_star([label]):
        return True
    if not value or not label:  # what was missing, or is published as missing
        return None
    if label.startswith("{"):
        return f", {value}, " in f", {label[1:-1]}, "
    if "*" in label and len(label) == len(value):
        return all(shown in ("*", own) for shown, own in zip(label, value, strict=True))
    own = number(value)
    if own is None:  # a text: its labels are those above it
        return label in (PARENTS.get(value), PARENTS.get(PARENTS.get(value, "")))
    if (single := number(label)) is not None:
        return single == own
    if beyond := _BEYOND.match(label):
        end = Decimal(beyond[2])
        return (own == end and beyond[1] not in "<>") or (own < end if beyond[1][0] in "<≤" else own > end)
    if ends := _RANGE.match(label):
        return Decimal(ends[1]) <= own and (own < Decimal(ends[2]) if ends[3] == ")" else own <= Decimal(ends[2]))
    return None


@lru_cache(maxsize=100_000)
def is_within(fine: str, coarse: str) -> bool:
    """Whether one label says all that another says, and more."""
    if fine == coarse or not fine or is_star([fine]) or fine.startswith("{"):
        return False
    if not coarse or is_star([coarse]):
        return True
    ends = _RANGE.match(fine)
    return all(contains(coarse, end) is True for end in ((ends[1], ends[2]) if ends else (fine,)))
