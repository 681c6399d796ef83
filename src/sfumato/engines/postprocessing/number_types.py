"""Choose column types for replaced numbers: integer or decimal if all new values fit."""

from collections.abc import Sequence

# The limit of a 64-bit column.
_MOST = 2**63


def are_whole(texts: Sequence[str | None]) -> bool:
    """Return whether texts are integers of at most 64 bits, so that no digit is lost.

    >>> are_whole(["20260101123456789", None, "-5"]), are_whole(["2.5"]), are_whole(["1e3"])
    (True, False, False)
    """
    return all(text is None or _is_whole(text) for text in dict.fromkeys(texts))


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and int(digits) < _MOST


def are_decimals(texts: Sequence[str | None], precision: int, scale: int) -> bool:
    """Return whether texts are numbers with at most `precision` digits, of which at most `scale` are decimals.

    >>> are_decimals(["12345678901234567890.25", None], 22, 2), are_decimals(["0.125"], 22, 2)
    (True, False)
    """
    return all(text is None or _is_decimal(text, precision, scale) for text in dict.fromkeys(texts))


def _is_decimal(text: str, precision: int, scale: int) -> bool:
    before, _, behind = text.removeprefix("-").partition(".")
    digits = before + behind
    return (
        digits.isascii() and digits.isdigit() and len(behind) <= scale and len(before.lstrip("0")) <= precision - scale
    )
