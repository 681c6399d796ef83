"""Types of columns whose numbers are replaced: a column of whole numbers stays one where all new numbers are whole."""

from collections.abc import Sequence

# What a column of 64 bits holds.
_MOST = 2**63


def are_whole(texts: Sequence[str | None]) -> bool:
    """Whether texts are whole numbers of at most 64 bits, so that none loses a digit as one.

    >>> are_whole(["20260101123456789", None, "-5"]), are_whole(["2.5"]), are_whole(["1e3"])
    (True, False, False)
    """
    return all(text is None or _is_whole(text) for text in dict.fromkeys(texts))


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and int(digits) < _MOST
