"""Convert numbers with decimal commas to points, and detect commas that may be thousands separators."""

from collections.abc import Iterable

from sfumato.patterns import regex

# Blanks, and what may stand between thousands besides points and commas: never a decimal mark.
_BLANKS = " \u00a0\u202f"
_GAPS = f"{_BLANKS}\u2009'\u2019"

# A sign of a currency before a number, and the letters of a country before that: R$ 12, US$12, ₺12.
CURRENCY_SIGN = "[A-Z]{0,2}[€$£¥₺₽₹₴₪]"

# A number whose decimal mark is a comma, points or gaps between its thousands, perhaps with a currency before or a unit
# behind it; the same for databases, which match whole texts.
_BEFORE_COMMA = f"[0-9]+|[0-9]{{1,3}}([{_GAPS}][0-9]{{3}})+"
COMMA_NUMBER = (
    f"({CURRENCY_SIGN}[{_BLANKS}]?|[A-Z]{{3}}[{_BLANKS}])?[+-]?"
    f"([0-9]{{1,3}}([.][0-9]{{3}})+(,[0-9]+)?|({_BEFORE_COMMA}),[0-9]+([eE][+-]?[0-9]+)?)"
    rf"([{_BLANKS}]?[%‰€$£°₺₽₹₴₪]|[{_BLANKS}][^0-9.,\s]{{1,8}}|m²|km/h)?"
)

_COMMA_NUMBER = regex(COMMA_NUMBER)

# Numbers with a mark before every three digits, and such that need none.
_THOUSANDS = regex(r"[+-]?[1-9][0-9]{0,2}(?:([.,])[0-9]{3})(?:\1[0-9]{3})*")
_WHOLE = regex(r"[+-]?[0-9]+")
_BELOW = regex(r"[+-]?[0-9]{1,3}")
_NUMBER = regex(r"[+-]?[0-9][0-9.,]*")

# Whole thousands with gaps, and a fraction.
_GROUPED = regex(rf"([+-]?[0-9]{{1,3}}([{_GAPS}])[0-9]{{3}}(?:\2[0-9]{{3}})*)([.][0-9]+)?")

_POINTS = str.maketrans({",": ".", ".": None})


def with_points(fields: Iterable[str]) -> list[str]:
    """Fields of a file whose decimal mark is a comma: its numbers with a point and no marks between thousands.

    >>> with_points(["3,5", "-1,2e3", "1.234,5", "€ 1.200", "7,5 %", "a,b", "31.12.2024"])
    ['3.5', '-1.2e3', '1234.5', '€ 1200', '7.5 %', 'a,b', '31.12.2024']

    What has letters at its number is a text, which stays as it was written:

    >>> with_points(["4,5h", "4,5 h"])
    ['4,5h', '4.5 h']

    Gaps between thousands stay, since whoever reads amounts knows them:

    >>> with_points(["1 234,50 €", "12 34,5"])
    ['1 234.50 €', '12 34,5']
    """
    return [field.translate(_POINTS) if _COMMA_NUMBER.fullmatch(field.strip()) else field for field in fields]


def thousands_mark(texts: Iterable[str], throughout: bool = True) -> str | None:
    """The mark that may stand between the thousands of a column's numbers, or else before their fractions.

    Every number that has a mark has it before each three digits, and one without is below a thousand, unless marks
    need not be written throughout; None where that is not so, or no number has a mark.

    >>> thousands_mark(["1.204", "3", "Ulm"]), thousands_mark(["1,204,310", "12"])
    ('.', ',')
    >>> thousands_mark(["1.204", "3.5"]), thousands_mark(["1.204", "4310"]), thousands_mark(["0.204"])
    (None, None, None)
    >>> thousands_mark(["1.204", "4310"], throughout=False)
    '.'
    """
    numbers = [text.strip() for text in texts if _NUMBER.fullmatch(text.strip())]
    plain = _BELOW if throughout else _WHOLE
    marked = [match for text in numbers if not plain.fullmatch(text) for match in [_THOUSANDS.fullmatch(text)]]
    marks = {match[1] if match else None for match in marked}
    return marks.pop() if len(marks) == 1 else None


def without_gaps(text: str) -> str:
    """A number without the blanks or apostrophes between its thousands; any other text as it is.

    >>> without_gaps("1'204"), without_gaps("1 204 310.5"), without_gaps("12 40"), without_gaps("1 204,5")
    ('1204', '1204310.5', '12 40', '1 204,5')
    """
    match = _GROUPED.fullmatch(text.strip())
    return text if match is None else match[1].replace(match[2], "") + (match[3] or "")
