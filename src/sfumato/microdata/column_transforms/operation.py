"""The interface of an operation on a column: what a value is published as."""

from decimal import Decimal
from typing import Protocol


class Operation(Protocol):
    """An operation on the numbers of a column."""

    def publish(self, number: Decimal) -> str | None:
        """Return the published text of a number; None if this operation leaves it to the next."""
        ...


def written(number: Decimal) -> str:
    """Return a number as text without needless zeros.

    >>> written(Decimal("1.50")), written(Decimal("1E+3")), written(Decimal("-0.0"))
    ('1.5', '1000', '0')
    """
    text = f"{number.normalize():f}"
    return "0" if text == "-0" else text
