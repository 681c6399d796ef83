"""Numbers whose decimal mark is a comma, with a point instead."""

import re
from collections.abc import Iterable

# A number whose decimal mark is a comma, points between its thousands, perhaps with a currency before or a unit behind
# it; the same for databases, which match whole texts.
COMMA_NUMBER = (
    r"([€$£] ?|[A-Z]{3} )?[+-]?([0-9]{1,3}([.][0-9]{3})+(,[0-9]+)?|[0-9]+,[0-9]+([eE][+-]?[0-9]+)?)"
    r"( ?[%‰€$£°]| [^0-9.,\s]{1,8}|m²|km/h)?"
)

_COMMA_NUMBER = re.compile(COMMA_NUMBER)

_POINTS = str.maketrans({",": ".", ".": None})


def with_points(fields: Iterable[str]) -> list[str]:
    """Fields of a file whose decimal mark is a comma: its numbers with a point and no marks between thousands.

    >>> with_points(["3,5", "-1,2e3", "1.234,5", "€ 1.200", "7,5 %", "a,b", "31.12.2024"])
    ['3.5', '-1.2e3', '1234.5', '€ 1200', '7.5 %', 'a,b', '31.12.2024']

    What has letters at its number is a text, which stays as it was written:

    >>> with_points(["4,5h", "4,5 h"])
    ['4,5h', '4.5 h']
    """
    return [field.translate(_POINTS) if _COMMA_NUMBER.fullmatch(field.strip()) else field for field in fields]
