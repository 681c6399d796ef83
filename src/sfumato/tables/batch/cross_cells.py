"""Cells of the cross of variables that go round in a circle: no table shows them, but all tables are sums of them.

None is negative. So tables a by b, b by c and a by c may tell a cell that each two of them hide.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.batch.coverage import Cover, Coverage, variable_of
from sfumato.tables.batch.unshown_cells import MOST, Row
from sfumato.tables.batch.variable_cycles import Variables, variable_cycles
from sfumato.tables.cells.cells import Mask, Places
from sfumato.tables.office.office_table import OfficeTable

# Crosses of more combinations of codes than these are not looked through for those that may hold something.
MOST_COMBINATIONS = 20_000_000


@dataclass(frozen=True, slots=True)
class TableCells:
    """A table, and where its cells are among those of all tables."""

    table: OfficeTable
    places: Places


@dataclass(frozen=True, slots=True)
class Cross:
    """Cells of crosses, numbered behind those of the tables.

    Attributes:
        size: How many there are.
        rows: Which cells of tables are the sum of which of them.
    """

    size: int = 0
    rows: tuple[Row, ...] = ()


def cross_of(coverage: Coverage, tables: Sequence[TableCells], empty: Mask) -> Cross:
    """The cells of all crosses that tell more of several tables than their common cells; none where no circle is.

    Args:
        coverage: What codes stand for.
        tables: The tables.
        empty: Which of the cells of all tables everyone knows to hold nothing.

    Raises:
        UnattainableError: There would be too many.
    """
    size, rows = 0, list[Row]()
    for circle in variable_cycles(_variables(own.table) for own in tables):
        more = _Circle.of(coverage, tables, circle).cross(empty, len(empty) + size)
        size, rows = size + more.size, [*rows, *more.rows]
    return Cross(size, tuple(rows))


def _variables(table: OfficeTable) -> Variables:
    return frozenset(map(variable_of, table.trees))


@dataclass(frozen=True, slots=True)
class _Margin:
    """A table with totals in the variables that are not in the circle.

    Attributes:
        names: Its variables in the circle.
        all: The parts of each of them that it is of.
        cells: Its finest cells: the place among those of all tables, and the parts of each variable.
    """

    names: tuple[str, ...]
    all: tuple[Places, ...]
    cells: tuple[tuple[int, tuple[Places, ...]], ...]


@dataclass(frozen=True, slots=True)
class _Circle:
    """Variables that go round, each with the parts that all codes are made of, and the tables of them."""

    blocks: dict[str, list[Cover]]
    margins: tuple[_Margin, ...]

    @classmethod
    def of(cls, coverage: Coverage, tables: Sequence[TableCells], circle: Variables) -> "_Circle":
        own = [
            number
            for number, one in enumerate(tables)
            if len(_variables(one.table) & circle) > 1 and _is_whole(coverage, number, one.table, circle)
        ]
        with_name = {name: [one for one in own if name in _variables(tables[one].table)] for name in sorted(circle)}
        blocks = {name: coverage.blocks(name, numbers) for name, numbers in with_name.items() if numbers}
        return cls(blocks, tuple(_margin(coverage, number, tables[number], blocks) for number in own))

    def cross(self, empty: Mask, first: int) -> Cross:
        """The cells that may hold something, numbered from the first on."""
        there = self._there(empty)
        count = int(there.sum())
        if count > MOST:
            raise _too_many(self.blocks)
        numbers = np.full(there.shape, -1, np.int64)
        numbers[there] = np.arange(count) + first
        return Cross(count, tuple(self._rows(numbers)))

    def _there(self, empty: Mask) -> Mask:
        shape = [len(own) for own in self.blocks.values()]
        if prod(shape) > MOST_COMBINATIONS:
            raise _too_many(self.blocks)
        there = np.ones(shape, bool)
        for margin in self.margins:
            there &= self._possible(margin, empty)
        return there

    def _possible(self, margin: _Margin, empty: Mask) -> Mask:
        """Where a table may hold something: in its cells that are not empty, and where it is of nothing."""
        axes = list(self.blocks)
        possible = np.ones([len(self.blocks[name]) if name in margin.names else 1 for name in axes], bool)
        possible[self._inside(margin, margin.all, one=True)] = False
        for wanted in (False, True):
            for cell, parts in margin.cells:
                if empty[cell] == wanted:
                    possible[self._inside(margin, parts, one=True)] = not wanted
        return possible

    def _inside(self, margin: _Margin, parts: Sequence[Places], one: bool = False) -> tuple[Places, ...]:
        """Where parts of a table's variables are; in other variables everywhere, or in the `one` place that is."""
        own = dict(zip(margin.names, parts, strict=True))
        sizes = {name: 1 if one else len(blocks) for name, blocks in self.blocks.items()}
        return np.ix_(*(own[name] if name in own else np.arange(size) for name, size in sizes.items()))

    def _rows(self, numbers: Places) -> Iterator[Row]:
        """Every finest cell is the sum of the cells of the cross below it."""
        for margin in self.margins:
            for cell, parts in margin.cells:
                below = numbers[self._inside(margin, parts)]
                below = below[below >= 0]
                if len(below):
                    yield [cell, *below.tolist()], [-1.0, *([1.0] * len(below))]


def _is_whole(coverage: Coverage, number: int, table: OfficeTable, circle: Variables) -> bool:
    """Whether the totals of a table in its other variables are totals of everything."""
    others = [(variable_of(tree), tree.root) for tree in table.trees if variable_of(tree) not in circle]
    return all(coverage.covers[number][name][root] == coverage.everything[name] for name, root in others)


def _margin(coverage: Coverage, number: int, own: TableCells, blocks: dict[str, list[Cover]]) -> _Margin:
    table, covers = own.table, coverage.covers[number]
    names = [variable_of(tree) for tree in table.trees]
    kept = [place for place, name in enumerate(names) if name in blocks]
    roots = {place: tree.root for place, tree in enumerate(table.trees)}
    summed = [all(key[place] == root for place, root in roots.items() if place not in kept) for key in table.keys]

    def parts(name: str, cover: Cover) -> Places:
        return np.array([place for place, block in enumerate(blocks[name]) if block <= cover], np.int64)

    inside = {
        place: {code: parts(names[place], cover) for code, cover in covers[names[place]].items()} for place in kept
    }
    cells = tuple(
        (int(own.places[cell]), tuple(inside[place][table.keys[cell][place]] for place in kept))
        for cell in _finest(table, np.array(summed, bool))
    )
    return _Margin(tuple(names[place] for place in kept), tuple(inside[place][roots[place]] for place in kept), cells)


def _finest(table: OfficeTable, summed: Mask) -> list[int]:
    """Those of some cells that are no totals of others of them."""
    relations, totals = table.relations(), set[int]()
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        if summed[cells].all():
            totals.update(cells[coefs < 0].tolist())
    return [cell for cell in np.flatnonzero(summed).tolist() if cell not in totals]


def _too_many(blocks: dict[str, list[Cover]]) -> UnattainableError:
    return UnattainableError(
        f"the tables together are sums of cells of {' by '.join(blocks)}, too many for anyone to tell what they give "
        "away.",
        "Publish the one table that crosses all of these variables, fewer tables, or coarser codes.",
        "joint-size",
    )
