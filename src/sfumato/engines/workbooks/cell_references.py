"""Cell references as spreadsheets write them, such as B7."""

from collections.abc import Sequence

# Row and column, from 0.
Place = tuple[int, int]
SHOWN = 3
LETTERS = 26
_BEFORE_A = ord("A") - 1


def name_of(place: Place) -> str:
    """Return the reference of a cell.

    >>> name_of((0, 0)), name_of((8, 25)), name_of((9, 26)), name_of((0, 701)), name_of((0, 702))
    ('A1', 'Z9', 'AA10', 'ZZ1', 'AAA1')
    """
    return f"{_letters(place[1])}{place[0] + 1}"


def _letters(column: int) -> str:
    above, place = divmod(column, LETTERS)
    return (_letters(above - 1) if above else "") + chr(_BEFORE_A + 1 + place)


def place_of(name: str) -> Place:
    """Return the position of a cell by its reference.

    >>> [name_of(place_of(name)) for name in ("A1", "Z9", "AA10", "ZZ1", "AAA1")]
    ['A1', 'Z9', 'AA10', 'ZZ1', 'AAA1']

    Raises:
        ValueError: It is no name of a cell.
    """
    letters = name.rstrip("0123456789")
    column = 0
    for letter in letters.upper():
        column = column * LETTERS + ord(letter) - _BEFORE_A
    return int(name[len(letters) :]) - 1, column - 1


def listed(names: Sequence[str]) -> str:
    """Return the first of some references, and how many more there are.

    >>> listed(["A1", "B2"]), listed(["A1", "A2", "A3", "A4", "A5"])
    ('A1, B2', 'A1, A2, A3 and 2 more')
    """
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"
