"""Cell references as spreadsheets write them, such as B7, and what cells have besides values: marks, merged ranges."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from sfumato.errors import DataError
from sfumato.localization.messages import first_names

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

    >>> print(listed(["A1", "B2"]), listed(["A1", "A2", "A3", "A4", "A5"]), sep="\\n")
    A1, B2
    A1, A2, A3 and 2 more
    """
    return first_names(names, SHOWN)


class Mark(NamedTuple):
    """A property of a cell.

    Attributes:
        kind: uncomputed: a formula without a stored value; error: an error instead of a value; shown: a format with
            leading zeros; merged: the first of merged cells.
        place: The position of the cell.
        text: The number as displayed.
        last: The last of merged cells, or of those in which a number is repeated.
    """

    kind: Literal["uncomputed", "error", "shown", "merged"]
    place: Place
    text: str = ""
    last: Place = (0, 0)


# The first and the last cell.
Merged = tuple[Place, Place]


def check_merged(merged: Iterable[Merged], start: Place, cells: Sequence[Sequence[Any]], has_header: bool) -> None:
    """Refuse a sheet with non-empty merged cells in its rows.

    All rows but the first of such cells would lack a value that they have: a person, a household, or a sensitive value.
    Models would then not count it.

    Args:
        merged: The merged cells of the sheet.
        start: The position of the first non-empty cell.
        cells: The cells, from that one on.
        has_header: Whether the first row has the column names; cells merged within it are accepted.
    """
    places = [*_in_rows(merged, start, cells, has_header)]
    if not places:
        return
    raise DataError("merged-cells", places=listed(places))


def _in_rows(merged: Iterable[Merged], start: Place, cells: Sequence[Sequence[Any]], has_header: bool) -> Iterator[str]:
    """Yield the references of non-empty merged cells within the rows."""
    for (top, left), (bottom, right) in sorted(merged):
        row, column = top - start[0], left - start[1]
        inside = 0 <= row < len(cells) and 0 <= column < len(cells[row])
        if inside and bottom - start[0] >= has_header and cells[row][column] != "":
            yield f"{name_of((top, left))}:{name_of((bottom, right))}"
