"""The interface of an operation on a column: what a value is published as."""

from decimal import Decimal
from typing import Protocol


class Operation(Protocol):
    """An operation on the numbers of a column."""

    def publish(self, number: Decimal) -> str | None:
        """Return the published text of a number; None if this operation leaves it to the next."""
        ...
