"""The interface of an operation on a column: what a value is published as."""

from decimal import Decimal
from typing import Protocol


class Operation(Protocol):
    """One thing that is done to the numbers of a column."""

    def publish(self, number: Decimal) -> str | None:
        """What a number is published as; None where this operation leaves it to the next."""
        ...


def written(number: Decimal) -> str:
    """A number without needless zeros.

    >>> written(Decimal("1.50")), written(Decimal("1E+3")), written(Decimal("-0.0"))
    ('1.5', '1000', '0')
    """
    text = f"{number.normalize():f}"
    return "0" if text == "-0" else text
