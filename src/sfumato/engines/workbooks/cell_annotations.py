"""Properties of workbook cells other than their values, as a common type for all formats."""

from typing import Literal, NamedTuple

from sfumato.engines.workbooks.cell_references import Place


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
