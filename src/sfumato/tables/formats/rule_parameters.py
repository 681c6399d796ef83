"""Validate the parameters of rules and methods in a batch file."""

import math
from collections.abc import Sequence

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Message


@dataclass(frozen=True, slots=True)
class Span:
    """The valid range of a parameter.

    Attributes:
        what: Name of the parameter.
        least: The minimum.
        most: The maximum.
        whole: Whether it must be an integer.
        inside: Whether both ends are excluded.
    """

    what: str
    least: float = 0.0
    most: float = math.inf
    whole: bool = False
    inside: bool = False

    def holds(self, number: float) -> bool:
        """Return whether a number is valid."""
        if self.whole and not float(number).is_integer():
            return False
        return self.least < number < self.most if self.inside else self.least <= number <= self.most

    def __str__(self) -> str:
        kind = Message("error.part.kind_whole") if self.whole else Message("error.part.kind_number")
        if math.isinf(self.most):
            limits = f"above {self.least:g}" if self.inside else f"of at least {self.least:g}"
        else:
            limits = (
                f"{'between' if self.inside else 'from'} {self.least:g} {'and' if self.inside else 'to'} {self.most:g}"
            )
        return f"{self.what} is {kind} {limits}"


_MARGIN = Span("the margin in percent")
_MANY = Span("the number of contributors", 1, whole=True)
_PERCENT = Span("p", 0, 100, inside=True)
_SHARE = Span("the percentage", 0, 100)
_SWITCH = Span("the switch", 0, 1, whole=True)
# The parameters of each rule, and how many of them are required.
NUMBERS: dict[str, tuple[int, tuple[Span, ...]]] = {
    "P": (1, (_PERCENT, _MANY)),
    "NK": (2, (_MANY, Span("k", 0, 100, inside=True))),
    "FREQ": (1, (Span("the least number of respondents", 1, whole=True), _MARGIN)),
    "ZERO": (1, (Span("the margin"),)),
    "REQ": (1, (Span("the first percentage", 0, 100), _SHARE, Span("the number of respondents"), _MARGIN)),
    **dict.fromkeys(("WGT", "MIS"), (1, (_SWITCH,))),
    "MAN": (1, (_MARGIN,)),
}

_TABLE = Span("the number of the table", whole=True)
_MINUTES = Span("the number of minutes")
_BASE, _STEPS = Span("the base", inside=True), Span("the number of steps", whole=True)
# The parameters of each protection method, and how many of them are required.
METHODS: dict[str, tuple[int, tuple[Span, ...]]] = {
    "GH": (1, (_TABLE, Span("the percentage of bounds"), Span("the size of models"), _SWITCH)),
    "MOD": (1, (_TABLE, _MINUTES, _SWITCH, _SWITCH, _SWITCH)),
    "OPT": (1, (_TABLE, _MINUTES)),
    "RND": (
        2,
        (_TABLE, Span("the base", inside=True), Span("the number of steps", whole=True), _MINUTES, _SWITCH, _SWITCH),
    ),
    **dict.fromkeys(("NET", "CTA", "CKM"), (1, (_TABLE,))),
}
# How many of them are used here; a message lists the unused ones.
USED = {"GH": 1, "MOD": 2, "RND": 4}


def method_fault(method: str, numbers: Sequence[float]) -> str:
    """Return what is wrong with the parameters of a protection method; empty if they are valid.

    >>> method_fault("OPT", (1, -1)), method_fault("NET", (1, 2))
    ('the number of minutes is a number of at least 0', 'NET has 1 numbers')
    """
    return _fault(method, *METHODS[method], numbers)


def _fault(name: str, fewest: int, spans: Sequence[Span], numbers: Sequence[float]) -> str:
    if not fewest <= len(numbers) <= len(spans):
        return f"{name} has {fewest}{f' to {len(spans)}' if len(spans) > fewest else ''} numbers"
    return next((str(span) for span, number in zip(spans, numbers, strict=False) if not span.holds(number)), "")


def numbers_fault(rule: str, numbers: Sequence[float]) -> str:
    """Return what is wrong with the parameters of a rule; empty if they are valid, or all 0, which disables
    the rule.

    >>> numbers_fault("NK", (1, 150))
    'k is a number between 0 and 100'
    >>> numbers_fault("P", (0, 0))
    ''
    """
    fewest, spans = NUMBERS[rule]
    if rule == "P" and len(numbers) == 3:
        fewest, spans = 3, (_PERCENT, Span("q, above p,", numbers[0], inside=True), _MANY)
    if not fewest <= len(numbers) <= len(spans):
        most = 3 if rule == "P" else len(spans)
        return f"{rule} has {fewest}{f' to {most}' if most > fewest else ''} numbers"
    if not any(numbers):
        return ""
    if rule == "REQ" and not numbers[0]:
        return "the first percentage is above 0"
    return next((str(span) for span, number in zip(spans, numbers, strict=False) if not span.holds(number)), "")
