"""Linked columns with the combinations of their codes."""

from sfumato.dataclass import dataclass
from sfumato.tables.cells.dimensions import Code
from sfumato.tables.column_dependencies.record_codes import Names


@dataclass(frozen=True, slots=True)
class Chain:
    """Columns from the top down, with the occurring combinations of their codes.

    Attributes:
        rows: The combinations of their codes.
        inconsistent: Inconsistent combinations: a code is not within the one that nearly all records put it in.
    """

    columns: Names
    rows: frozenset[Code]
    inconsistent: frozenset[Code] = frozenset()
