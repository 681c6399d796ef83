"""One independent table of a source, with its position in it."""

import math
from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import DataError, UnattainableError
from sfumato.tables.cells.cells import Bounds, Mask, Places, Reach, Table
from sfumato.tables.cells.coordinates import Coordinates, coordinates_of
from sfumato.tables.cells.dimensions import Tree
from sfumato.tables.cells.knowledge import Knowledge
from sfumato.tables.cells.relations import Key, finest_of


@dataclass(frozen=True, slots=True)
class Margin:
    """The most that a rule asks of the range of an unsafe cell, on each side, whatever the cell.

    Attributes:
        fixed: Whatever its value is.
        share: As a share of its value.
        limit: The largest value, without its sign, that the rule calls unsafe.
    """

    fixed: float = 0.0
    share: float = 0.0
    limit: float = math.inf

    def of(self, size: float) -> float:
        """The reach, where a cell may be so large.

        >>> Margin(share=0.1).of(500), Margin(share=1, limit=10).of(500), Margin(fixed=2).of(math.inf)
        (50.0, 10, 2)
        """
        return max(self.fixed, self.share * min(self.limit, size)) if self.share else self.fixed


@dataclass(frozen=True, slots=True)
class Terms:
    """What the rules of a plan make public of the cells that they call unsafe.

    Attributes:
        span: The range of the only rule, where it is the range rule: every primary cell lies in it.
        small: Whether all unsafe cells are small ones, by the range rule.
        margins: The most that each rule asks of a range.
        zone: The width of the values that a rule on counts calls unsafe.
    """

    span: tuple[float, float] | None = None
    small: bool = False
    margins: tuple[Margin, ...] = ()
    zone: float = 0.0


@dataclass(frozen=True, slots=True)
class Part:
    """One independent table: the rows of a group, with what is known of it and what must stay open, resolved.

    Attributes:
        rows: The rows of the source that are its cells.
        table: The cells with what the strongest attacker knows of each and what must stay open.
        trees: The dimensions; empty for a table given by cells and relations.
        keys: The codes of each cell.
        group: The group's values, for messages.
        public: What a reader knows who is not told which masked cells are primary.
        knowledge: What the attacker knows besides.
        terms: What the rules make public.
        asked: How far the rules want the ranges of unsafe cells to reach, whatever anyone knows; shorter than the table
            where cells of a cross were added. The table's own reach where it is not given.
        inferred: Whether the least values are inferred from what is published, not named for each cell.
        masked_before: Cells that a release of before masked, and that stay masked.
        unshown: Cells that are in no table, but tie tables together: they stay masked, and nothing is said of them.
        unattacked: What nobody attacks, and why.
        coordinates: Where the cells of several tables stand, which have no trees and keys in common.
    """

    rows: Places
    table: Table
    public: Bounds
    trees: tuple[Tree, ...] = ()
    keys: tuple[Key, ...] = ()
    group: tuple[str, ...] = ()
    knowledge: Knowledge = field(default_factory=Knowledge)
    terms: Terms = field(default_factory=Terms)
    asked: Reach | None = None
    inferred: bool = False
    masked_before: Mask | None = None
    unshown: Mask | None = None
    unattacked: tuple[str, ...] = ()
    coordinates: Coordinates | None = None

    @property
    def where(self) -> Coordinates | None:
        """Where the cells stand, where the table has dimensions; those that are in no table stand nowhere."""
        if self.coordinates is None:
            return coordinates_of(self.trees, self.keys)
        return self.coordinates.padded(len(self.table))

    @property
    def finest(self) -> Mask:
        """Cells that are no total of others that a table shows."""
        if self.unshown is None:
            return finest_of(self.table.relations, len(self.table))
        return finest_of(self.table.relations.without(self.unshown), len(self.table)) & ~self.unshown

    @property
    def shown(self) -> "Part":
        """The part without cells that are in no table."""
        return self if self.unshown is None else replace(self.without(self.unshown), unshown=None)

    def without(self, left_out: Mask) -> "Part":
        """The part without some cells, and without the relations that they are in."""
        cells, table = np.flatnonzero(~left_out), self.table
        own = Table(
            table.values[cells],
            table.status[cells],
            table.costs[cells],
            table.bounds.rows(cells),
            Reach(table.reach.down[cells], table.reach.up[cells]),
            table.relations.without(left_out),
            tuple(table.names[cell] for cell in cells),
        )
        asked = None if self.asked is None else self.asked.rows(cells[cells < len(self.asked.down)])
        before, unshown = (None if mask is None else mask[cells] for mask in (self.masked_before, self.unshown))
        return replace(
            self,
            rows=self.rows[cells],
            table=own,
            public=self.public.rows(cells),
            asked=asked,
            masked_before=before,
            unshown=unshown,
            coordinates=None if self.coordinates is None else self.coordinates.padded(len(table)).rows(cells),
        )


def in_part(error: UnattainableError, rows: Places, names: Sequence[str]) -> UnattainableError:
    """The same error with the names of the cells that cannot be protected, and their rows in the source."""
    cells = [row - 1 for row in error.rows]
    what = f"{', '.join(names[cell] for cell in cells[:5])}: {error.what}" if cells else error.what
    name = error.code.partition(".")[2]
    return UnattainableError(what, error.do, name, rows=[int(rows[cell]) + 1 for cell in cells])


def in_group(error: DataError, group: tuple[str, ...], rows: Places) -> DataError:
    """The same error with the rows of the source, naming the group."""
    where = f" (group {', '.join(group)})" if group else ""
    name = error.code.partition(".")[2]
    numbers = [int(rows[row - 1]) + 1 for row in error.rows]
    return DataError(error.what + where, error.do, name, values=error.values, column=error.column, rows=numbers)
