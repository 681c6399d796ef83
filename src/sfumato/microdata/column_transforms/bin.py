"""Binning: numbers are published as the interval of a given width, counted from 0, in which they lie."""

from decimal import ROUND_FLOOR, Decimal

from sfumato.dataclass import dataclass
from sfumato.hierarchies.types import MANY_DIGITS, plain


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
