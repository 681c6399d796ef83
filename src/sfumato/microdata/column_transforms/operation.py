"""Operations on single numbers of a column: rounding, top and bottom coding, binning, and their interface."""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from functools import cached_property
from typing import Protocol

from sfumato.dataclass import dataclass
from sfumato.hierarchies.types import MANY_DIGITS, plain


class Operation(Protocol):
    """An operation on the numbers of a column."""

    def publish(self, number: Decimal) -> str | None:
        """Return the published text of a number; None if this operation leaves it to the next."""
        ...


@dataclass(frozen=True, slots=True)
class Bin:
    """The interval from one multiple of the width (included) to the next (excluded).

    >>> Bin(Decimal(10)).publish(Decimal(25)), Bin(Decimal("0.5")).publish(Decimal("-0.2"))
    ('[20, 30)', '[-0.5, 0)')
    """

    width: Decimal

    def publish(self, number: Decimal) -> str:
        step = MANY_DIGITS.divide(number, self.width).to_integral_value(ROUND_FLOOR)
        low, high = (MANY_DIGITS.multiply(end, self.width) for end in (step, MANY_DIGITS.add(step, 1)))
        return f"[{plain(low)}, {plain(high)})"


@dataclass(frozen=True, slots=True)
class Bottom:
    """Numbers below the limit are published as `<limit`.

    >>> Bottom(Decimal(10)).publish(Decimal(9)), Bottom(Decimal(10)).publish(Decimal(10))
    ('<10', None)
    """

    limit: Decimal

    def publish(self, number: Decimal) -> str | None:
        return f"<{plain(self.limit)}" if number < self.limit else None


@dataclass(frozen=True, slots=True)
class Top:
    """Numbers above the limit are published as `>limit`.

    >>> Top(Decimal(100)).publish(Decimal("100.5")), Top(Decimal(100)).publish(Decimal(100))
    ('>100', None)
    """

    limit: Decimal

    def publish(self, number: Decimal) -> str | None:
        return f">{plain(self.limit)}" if number > self.limit else None


@dataclass(frozen=True)
class Round:
    """The nearest multiple of the base; with limits, the nearest one between them, if there is one.

    >>> Round(Decimal(10)).publish(Decimal(25)), Round(Decimal("0.5")).publish(Decimal("1.2"))
    ('30', '1')
    >>> Round(Decimal(25), high=Decimal("118.5")).publish(Decimal(118))
    '100'
    """

    step: Decimal
    low: Decimal | None = None
    high: Decimal | None = None

    def publish(self, number: Decimal) -> str:
        multiple = MANY_DIGITS.divide(number, self.step).to_integral_value(ROUND_HALF_UP)
        return plain(MANY_DIGITS.multiply(self._within(multiple), self.step))

    def _within(self, multiple: Decimal) -> Decimal:
        """Return a multiple between the limits: 125 next to >118.5 would look like an error."""
        least, most = self._ends
        multiple = multiple if least is None else max(multiple, least)
        return multiple if most is None else min(multiple, most)

    @cached_property
    def _ends(self) -> tuple[Decimal | None, Decimal | None]:
        """Return the smallest and the largest multiple between the limits; None if there is none."""
        least = None if self.low is None else MANY_DIGITS.divide(self.low, self.step).to_integral_value(ROUND_CEILING)
        most = None if self.high is None else MANY_DIGITS.divide(self.high, self.step).to_integral_value(ROUND_FLOOR)
        return (None, None) if least is not None and most is not None and least > most else (least, most)
