"""One independent table of a source, with its position in it, and the order in which its rows are published.

Rows are sorted by their codes alone: sorted by their values, a suppressed value would be disclosed by its neighbors.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sfumato.errors import DataError, UnattainableError
from sfumato.localization.messages import Message
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import Coordinates, Key, coordinates_of, finest_of
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.cells.system import AttackerKnowledge, BoolArray, Bounds, Places, ProtectionLevels, Table
from sfumato.values import Value, field, replace


class SafetyMargin(Value):
    """The largest protection level that a rule requires on each side of a sensitive cell, whatever the cell.

    Attributes:
        fixed: Minimum level, independent of the value.
        share: Level as a proportion of the value.
        limit: The largest absolute value that the rule classifies as sensitive.
    """

    fixed: float = 0.0
    share: float = 0.0
    limit: float = math.inf

    def of(self, size: float) -> float:
        """Return the level for cells up to the given size.

        >>> SafetyMargin(share=0.1).of(500), SafetyMargin(share=1, limit=10).of(500), SafetyMargin(fixed=2).of(math.inf)
        (50.0, 10, 2)
        """
        return max(self.fixed, self.share * min(self.limit, size)) if self.share else self.fixed


class PublicRuleInfo(Value):
    """What the rules of a plan make public about sensitive cells.

    Attributes:
        span: The range of the only rule, if it is the range rule: it contains every primary cell.
        small: Whether all sensitive cells are small, by the range rule.
        margins: The largest protection level that each rule requires.
        zone: The width of the values that a rule on counts classifies as sensitive.
    """

    span: tuple[float, float] | None = None
    small: bool = False
    margins: tuple[SafetyMargin, ...] = ()
    zone: float = 0.0


class TablePart(Value):
    """One independent table: the rows of a group, with attacker knowledge and protection levels.

    Attributes:
        rows: The rows of the source that are its cells.
        table: The cells with the a priori bounds of the strongest attacker and the protection levels.
        trees: The dimensions; empty for a table given by cells and constraints.
        group: The group's values, for messages.
        public: The bounds known to data users who cannot tell which suppressed cells are primary.
        knowledge: What attackers know in addition.
        terms: What the rules make public.
        requested: The requested protection levels, before a priori bounds lower them; shorter than the table if
            implicit cells were added. None if they equal the levels of the table.
        inferred: Whether lower bounds are inferred from what is published rather than given for each cell.
        suppressed_before: Cells that an earlier release suppressed; they stay suppressed.
        hidden: Hidden cells: in no table, always suppressed, and without protection level; they link tables.
        not_audited: What is not audited, and why.
        coordinates: The coordinates of the cells of several tables, which have no common trees and keys.
    """

    rows: Places
    table: Table
    public: Bounds
    trees: tuple[CodeTree, ...] = ()
    keys: tuple[Key, ...] = ()
    group: tuple[str, ...] = ()
    knowledge: AttackerKnowledge = field(default_factory=AttackerKnowledge)
    terms: PublicRuleInfo = field(default_factory=PublicRuleInfo)
    requested: ProtectionLevels | None = None
    inferred: bool = False
    suppressed_before: BoolArray | None = None
    hidden: BoolArray | None = None
    not_audited: tuple[Message, ...] = ()
    coordinates: Coordinates | None = None

    @property
    def where(self) -> Coordinates | None:
        """The coordinates of the cells if the table has dimensions; cells in no table are NOWHERE."""
        if self.coordinates is None:
            return coordinates_of(self.trees, self.keys)
        return self.coordinates.padded(len(self.table))

    @property
    def finest(self) -> BoolArray:
        """The cells that are not totals of others that a table shows."""
        if self.hidden is None:
            return finest_of(self.table.constraints, len(self.table))
        return finest_of(self.table.constraints.without(self.hidden), len(self.table)) & ~self.hidden

    @property
    def shown(self) -> "TablePart":
        """The part without cells that are in no table."""
        return self if self.hidden is None else replace(self.without(self.hidden), hidden=None)

    def without(self, left_out: BoolArray) -> "TablePart":
        """Return the part without some cells, and without the constraints that contain them."""
        cells, table = np.flatnonzero(~left_out), self.table
        own = table.rows(cells, table.constraints.without(left_out))
        asked = None if self.requested is None else self.requested.rows(cells[cells < len(self.requested.lower)])
        before, unshown = (None if mask is None else mask[cells] for mask in (self.suppressed_before, self.hidden))
        return replace(
            self,
            rows=self.rows[cells],
            table=own,
            public=self.public.rows(cells),
            requested=asked,
            suppressed_before=before,
            hidden=unshown,
            coordinates=None if self.coordinates is None else self.coordinates.padded(len(table)).rows(cells),
        )


def in_part(error: UnattainableError, rows: Places, names: Sequence[str]) -> UnattainableError:
    """Return the same error with the names and source rows of the cells that cannot be protected."""
    cells = [row - 1 for row in error.rows]
    named = ", ".join(names[cell] for cell in cells[:5])
    message = Message("error.part.of_cells", names=named, message=error.message) if cells else error.message
    return error.with_text(message).about(rows=[int(rows[cell]) + 1 for cell in cells])


def in_group(error: DataError, group: tuple[str, ...], rows: Places) -> DataError:
    """Return the same error with the rows of the source and the name of the group."""
    message = error.message
    if group:
        message = Message("error.part.of_group", message=message, names=", ".join(group))
    numbers = [int(rows[row - 1]) + 1 for row in error.rows]
    return error.with_text(message).about(values=error.values, column=error.column, rows=numbers)


def by_codes(parts: Sequence[TablePart], columns: TextColumns) -> list[int]:
    """Return the rows of the source in order: by group, each total before its parts, numbers before texts.

    The order never depends on values, because the position of a suppressed value among its neighbors would reveal it.

    A table given by cells and constraints has ids instead of codes.
    """
    ranked = []
    for part in parts:
        group = tuple(ordered(text) for text in part.group)
        ranked += [(group, rank, int(row)) for rank, row in zip(_ranks(part, columns), part.rows, strict=True)]
    return [row for *_, row in sorted(ranked)]


def _ranks(part: TablePart, columns: TextColumns) -> Iterable[tuple[Any, ...]]:
    if not part.trees:
        return [((ordered(text),),) for text in columns.rows(part.rows).text("id")]
    return code_ranks(part.trees, part.keys)


def code_ranks(trees: Sequence[CodeTree], keys: Sequence[Key]) -> Iterable[tuple[int, ...]]:
    """Return the position of the codes of each key within each dimension."""
    places = []
    for tree, codes in zip(trees, zip(*keys, strict=True), strict=True):
        order = sorted(set(codes), key=lambda code: _path(tree, code))
        places.append({code: place for place, code in enumerate(order)})
    columns = zip(places, zip(*keys, strict=True), strict=True)
    return zip(*([own[code] for code in codes] for own, codes in columns), strict=True)


def in_code_order(tree: CodeTree) -> CodeTree:
    """Return the tree with its codes in published order."""
    codes = sorted(tree.parents, key=lambda code: _path(tree, code))
    return replace(tree, parents={code: tree.parents[code] for code in codes})


def _path(tree: CodeTree, code: Code) -> tuple[tuple[float, str], ...]:
    """Return the codes from below the total down to a code; empty for the total, which is therefore first."""
    if tree.levels:
        return tuple(ordered(text) for text in code[: tree.height(code)])
    path: list[tuple[float, str]] = []
    while code != tree.root:
        path.append(ordered(code[0]))
        code = tree.parents[code]
    return tuple(reversed(path))


def ordered(text: str) -> tuple[float, str]:
    """Return the sort key of a code: numbers by size, then all other texts.

    >>> sorted(["b", "10", "9", "a", "nan"], key=ordered)
    ['9', '10', 'a', 'b', 'nan']
    """
    try:
        number = float(text)
    except ValueError:
        return math.inf, text
    return (number, text) if math.isfinite(number) else (math.inf, text)
