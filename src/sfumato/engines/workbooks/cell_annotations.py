"""Properties of workbook cells besides their values, as a common type for all formats."""

from typing import Literal, NamedTuple

from sfumato.engines.workbooks.cell_references import Place


class Mark(NamedTuple):
    """Something that is said of a cell.

    Attributes:
        kind: uncomputed: a formula of which the file holds no value; error: it holds one in place of a value;
            shown: its format shows a number with leading zeros; merged: it stands for the cells up to another, too.
        place: Where the cell is.
        text: How the number is shown.
        last: The last of merged cells, or of those that a number is repeated in.
    """

    kind: Literal["uncomputed", "error", "shown", "merged"]
    place: Place
    text: str = ""
    last: Place = (0, 0)
