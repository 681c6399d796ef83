"""Top coding: values above a limit get one common label, so that the largest do not identify persons."""

from decimal import Decimal

from sfumato.dataclass import dataclass
from sfumato.hierarchies.types import plain


@dataclass(frozen=True, slots=True)
class Top:
    """Numbers above the limit are published as `>limit`.

    >>> Top(Decimal(100)).publish(Decimal("100.5")), Top(Decimal(100)).publish(Decimal(100))
    ('>100', None)
    """

    limit: Decimal

    def publish(self, number: Decimal) -> str | None:
        return f">{plain(self.limit)}" if number > self.limit else None
