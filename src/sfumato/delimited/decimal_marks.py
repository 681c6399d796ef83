"""Convert numbers with decimal commas to points, and detect commas that may be thousands separators."""

from collections.abc import Iterable

from sfumato.patterns import regex

# Blanks, and other separators of thousands except points and commas; they are never decimal marks.
_BLANKS = " \u00a0\u202f"
_GAPS = f"{_BLANKS}\u2009'\u2019"

# A currency sign before a number, possibly after the letters of a country: R$ 12, US$12, ₺12.
CURRENCY_SIGN = "[A-Z]{0,2}[€$£¥₺₽₹₴₪]"

# A number in a notation with decimal commas, and points or gaps between its thousands. It may have a currency before it
# or a unit after it. Databases use the same pattern, matching whole texts.
_BEFORE_COMMA = f"[0-9]+|[0-9]{{1,3}}([{_GAPS}][0-9]{{3}})+"
COMMA_NUMBER = (
    f"({CURRENCY_SIGN}[{_BLANKS}]?|[A-Z]{{3}}[{_BLANKS}])?[+-]?"
    f"([0-9]{{1,3}}([.][0-9]{{3}})+(,[0-9]+)?|({_BEFORE_COMMA}),[0-9]+([eE][+-]?[0-9]+)?)"
    rf"([{_BLANKS}]?[%‰€$£°₺₽₹₴₪]|[{_BLANKS}][^0-9.,\s]{{1,8}}|m²|km/h)?"
)

_COMMA_NUMBER = regex(COMMA_NUMBER)

# Numbers with a mark before every three digits, and numbers that need none.
_THOUSANDS = regex(r"[+-]?[1-9][0-9]{0,2}(?:([.,])[0-9]{3})(?:\1[0-9]{3})*")
_WHOLE = regex(r"[+-]?[0-9]+")
_NUMBER = regex(r"[+-]?[0-9][0-9.,]*")

# Integers with gaps between thousands, and a fraction.
_GROUPED = regex(rf"([+-]?[0-9]{{1,3}}([{_GAPS}])[0-9]{{3}}(?:\2[0-9]{{3}})*)([.][0-9]+)?")

_POINTS = str.maketrans({",": ".", ".": None})


def with_points(fields: Iterable[str]) -> list[str]:
    """Convert fields of a file with decimal commas to decimal points, without separators of thousands.

    >>> with_points(["3,5", "-1,2e3", "1.234,5", "€ 1.200", "7,5 %", "a,b", "31.12.2024"])
    ['3.5', '-1.2e3', '1234.5', '€ 1200', '7.5 %', 'a,b', '31.12.2024']

    A number directly followed by letters is a text, which remains unchanged:

    >>> with_points(["4,5h", "4,5 h"])
    ['4,5h', '4.5 h']

    Gaps between thousands remain, because amounts are parsed with them:

    >>> with_points(["1 234,50 €", "12 34,5"])
    ['1 234.50 €', '12 34,5']
    """
    return [field.translate(_POINTS) if _COMMA_NUMBER.fullmatch(field.strip()) else field for field in fields]


def thousands_mark(texts: Iterable[str]) -> str | None:
    """Return the mark that may separate thousands in a column's numbers, or else be their decimal mark.

    Every number with marks has them before each three digits; None if that is not so, or if no number has a mark.

    >>> thousands_mark(["1.204", "3", "Ulm"]), thousands_mark(["1,204,310", "12"]), thousands_mark(["1.204", "4310"])
    ('.', ',', '.')
    >>> thousands_mark(["1.204", "3.5"]), thousands_mark(["0.204"])
    (None, None)
    """
    numbers = [text.strip() for text in texts if _NUMBER.fullmatch(text.strip())]
    marked = [_THOUSANDS.fullmatch(text) for text in numbers if not _WHOLE.fullmatch(text)]
    marks = {match[1] if match else None for match in marked}
    return marks.pop() if len(marks) == 1 else None


def without_gaps(text: str) -> str:
    """Return a number without the blanks or apostrophes between its thousands; any other text unchanged.

    >>> without_gaps("1'204"), without_gaps("1 204 310.5"), without_gaps("12 40"), without_gaps("1 204,5")
    ('1204', '1204310.5', '12 40', '1 204,5')
    """
    match = _GROUPED.fullmatch(text.strip())
    return text if match is None else match[1].replace(match[2], "") + (match[3] or "")
