"""Parse the numbers of a column; the single parser used by limits, intervals and suggestions."""

from collections.abc import Sequence

from sfumato.hierarchies.types import canonical


def read_numbers(texts: Sequence[str]) -> list[str | None]:
    """Return the number in each text, without padding, unit and thousands separators; None if a text is no number.

    >>> read_numbers(["  3201", "1'000", "10 %", "12-14", "500-", "0x10"])
    ['3201', '1000', '10', None, None, None]
    """
    return canonical(texts, "amount")[0]
