"""Bottom coding: values below a limit get one common label, so that the smallest do not identify persons."""

from decimal import Decimal

from sfumato.dataclass import dataclass
from sfumato.hierarchies.types import plain


@dataclass(frozen=True, slots=True)
class Bottom:
    """Numbers below the limit are published as `<limit`.

    >>> Bottom(Decimal(10)).publish(Decimal(9)), Bottom(Decimal(10)).publish(Decimal(10))
    ('<10', None)
    """

    limit: Decimal

    def publish(self, number: Decimal) -> str | None:
        return f"<{plain(self.limit)}" if number < self.limit else None
