"""Rounding: numbers are published as the nearest multiple of a step, halves away from zero."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from sfumato.microdata.publishing.operation import written


@dataclass(frozen=True, slots=True)
class Round:
    """The nearest multiple of the step.

    >>> Round(Decimal(10)).publish(Decimal(25)), Round(Decimal("0.5")).publish(Decimal("1.2"))
    ('30', '1')
    """

    step: Decimal

    def publish(self, number: Decimal) -> str:
        return written((number / self.step).to_integral_value(ROUND_HALF_UP) * self.step)
