"""Number formats that show leading zeros, such as those of postcodes."""

from collections.abc import Callable

from sfumato.patterns import regex

# A language, zeros with separators, and formats of negative numbers.
ZEROS = regex(r'(?:\[\$-[0-9A-Fa-f]+\])?((?:0|\\.|"[^"]*"|[- ])*)(?:;.*)?')
PIECES = regex(r'0|\\.|"[^"]*"|[- ]')


def shown_by(form: str) -> Callable[[str], str | None] | None:
    """Return a function that formats numbers with leading zeros; None for a format without leading zeros.

    >>> show = shown_by('"D-"00000')
    >>> show("1067"), show("1234567"), show("10.5"), show("-3")
    ('D-01067', 'D-1234567', None, None)
    >>> shown_by("000\\\\-00")("7"), shown_by("0.00"), shown_by("0")
    ('000-07', None, None)
    """
    found = ZEROS.fullmatch(form)
    pieces = PIECES.findall(found[1]) if found else []
    zeros = pieces.count("0")
    return (lambda value: _shown(value, pieces, zeros)) if zeros > 1 else None


def _shown(value: str, pieces: list[str], zeros: int) -> str | None:
    """Return a number in its format; surplus digits are placed before the first zero."""
    whole = _whole(value)
    if whole is None:
        return None
    digits = whole.zfill(zeros)
    more = len(digits) - zeros
    texts, place = [], 0
    for piece in pieces:
        end = place + (piece == "0") * (1 + (more if place == 0 else 0))
        texts.append(digits[place:end] if piece == "0" else piece[1:].rstrip('"') if piece[0] in '\\"' else piece)
        place = end
    return "".join(texts)


def _whole(value: str) -> str | None:
    """Return the digits of a non-negative integer, else None."""
    try:
        number = float(value)
    except ValueError:
        return None
    return str(int(number)) if number >= 0 and number.is_integer() else None
