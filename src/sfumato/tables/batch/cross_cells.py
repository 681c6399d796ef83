"""Cells of the cross of variables that form a cycle: no table shows them, but all tables are sums of them.

None is negative, and where a table has nothing there is nothing in the cross. So tables a by b, b by c and a by c may
tell a cell that each two of them hide.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.batch.coverage import Cover, Coverage, variable_of
from sfumato.tables.batch.unshown_cells import Row
from sfumato.tables.batch.variable_cycles import Variables, variable_cycles
from sfumato.tables.cells.cells import Mask, Places
from sfumato.tables.office.office_table import OfficeTable

# More cells of crosses than these are not attacked; more combinations of codes are not looked through for them.
MOST_CROSSED, MOST_COMBINATIONS = 50_000, 20_000_000


@dataclass(frozen=True, slots=True)
class TableCells:
    """A table, where its cells are among those of all tables, and which of them are no sums of a cross.

    Attributes:
        table: The table.
        places: Where its cells are.
        differing: Those that hold something else than cells of the same codes in another table, or are part of one.
    """

    table: OfficeTable
    places: Places
    differing: Mask | None = None

    @property
    def variables(self) -> Variables:
        """What it crosses."""
        return frozenset(map(variable_of, self.table.trees))


@dataclass(frozen=True, slots=True)
class Cross:
    """Cells of crosses, numbered behind those of the tables.

    Attributes:
        size: How many there are.
        rows: Which cells of tables are the sum of which of them.
        broken: Variables of cycles of which a table has no cells that agree with the others: nothing is said of these.
    """

    size: int = 0
    rows: tuple[Row, ...] = ()
    broken: tuple[str, ...] = ()


def cross_of(coverage: Coverage, tables: Sequence[TableCells], empty: Mask) -> Cross:
    """The cells of all crosses that tell more of several tables than their common cells; none where there is no cycle.

    Args:
        coverage: What codes stand for.
        tables: The tables.
        empty: Which of the cells of all tables everyone knows to hold nothing.

    Raises:
        UnattainableError: There would be too many.
    """
    size, rows, broken = 0, list[Row](), list[str]()
    for variables in variable_cycles(own.variables for own in tables):
        cycle = _Cycle.of(coverage, tables, variables)
        if not all(margin.cells for margin in cycle.margins):
            broken.append(" by ".join(sorted(variables)))
            continue
        more = cycle.cross(empty, len(empty) + size)
        size, rows = size + more.size, [*rows, *more.rows]
    return Cross(size, tuple(rows), tuple(broken))


@dataclass(frozen=True, slots=True)
class _Margin:
    """A table with totals in the variables that are not in the cycle.

    Attributes:
        names: Its variables in the cycle.
        all: The parts of each of them that it is of.
        cells: Its finest cells: the place among those of all tables, and the parts of each variable.
        differing: The parts of finest cells that are no sums of a cross.
    """

    names: tuple[str, ...]
    all: tuple[Places, ...]
    cells: tuple[tuple[int, tuple[Places, ...]], ...]
    differing: tuple[tuple[Places, ...], ...]


@dataclass(frozen=True, slots=True)
class _Cycle:
    """Variables that form a cycle, each with the parts that all codes are made of, and the tables of them."""

    blocks: dict[str, list[Cover]]
    margins: tuple[_Margin, ...]

    @classmethod
    def of(cls, coverage: Coverage, tables: Sequence[TableCells], variables: Variables) -> "_Cycle":
        own = [
            number
            for number, one in enumerate(tables)
            if len(one.variables & variables) > 1 and _is_whole(coverage, number, one.table, variables)
        ]
        with_name = {name: [one for one in own if name in tables[one].variables] for name in sorted(variables)}
        blocks = {name: coverage.blocks(name, numbers) for name, numbers in with_name.items() if numbers}
        return cls(blocks, tuple(_margin(coverage, number, tables[number], blocks) for number in own))

    def cross(self, empty: Mask, first: int) -> Cross:
        """The cells that may hold something, numbered from the first on."""
        there = self._there(empty)
        count = int(there.sum())
        if count > MOST_CROSSED:
            raise _too_many(self.blocks, count)
        numbers = np.full(there.shape, -1, np.int64)
        numbers[there] = np.arange(count) + first
        return Cross(count, tuple(self._rows(numbers, empty)))

    def _there(self, empty: Mask) -> Mask:
        shape = [len(own) for own in self.blocks.values()]
        if prod(shape) > MOST_COMBINATIONS:
            raise _too_many(self.blocks, prod(shape))
        there = np.ones(shape, bool)
        for margin in self.margins:
            there &= self._possible(margin, empty)
        return there

    def _possible(self, margin: _Margin, empty: Mask) -> Mask:
        """Where a table may hold something: in its cells that are not empty, and where it is of nothing."""
        possible = np.ones([len(own) if name in margin.names else 1 for name, own in self.blocks.items()], bool)
        possible[self._inside(margin, margin.all, one=True)] = False
        for parts in (*margin.differing, *(parts for cell, parts in margin.cells if not empty[cell])):
            possible[self._inside(margin, parts, one=True)] = True
        return possible

    def _inside(self, margin: _Margin, parts: Sequence[Places], one: bool = False) -> tuple[Places, ...]:
        """Where parts of a table's variables are; in other variables everywhere, or in the `one` place that is."""
        own = dict(zip(margin.names, parts, strict=True))
        sizes = {name: 1 if one else len(blocks) for name, blocks in self.blocks.items()}
        return np.ix_(*(own[name] if name in own else np.arange(size) for name, size in sizes.items()))

    def _rows(self, numbers: Places, empty: Mask) -> Iterator[Row]:
        """Every finest cell is the sum of the cells of the cross below it; where there are none, nothing."""
        for margin in self.margins:
            for cell, parts in margin.cells:
                below = numbers[self._inside(margin, parts)]
                below = below[below >= 0]
                if not empty[cell]:
                    yield [cell, *below.tolist()], [-1.0, *([1.0] * len(below))]


def _is_whole(coverage: Coverage, number: int, table: OfficeTable, variables: Variables) -> bool:
    """Whether the totals of a table in its other variables are totals of everything."""
    others = [(variable_of(tree), tree.root) for tree in table.trees if variable_of(tree) not in variables]
    return all(coverage.covers[number][name][root] == coverage.everything[name] for name, root in others)


def _margin(coverage: Coverage, number: int, own: TableCells, blocks: dict[str, list[Cover]]) -> _Margin:
    table, names = own.table, [variable_of(tree) for tree in own.table.trees]
    kept = {place: name for place, name in enumerate(names) if name in blocks}
    roots = [tree.root for tree in table.trees]
    summed = [all(key[place] == root for place, root in enumerate(roots) if place not in kept) for key in table.keys]
    inside = {place: _parts(coverage, number, name, blocks[name]) for place, name in kept.items()}
    cells = _finest(table, np.array(summed, bool))
    parts = {cell: tuple(inside[place][table.keys[cell][place]] for place in kept) for cell in cells}
    differing = np.zeros(len(table), bool) if own.differing is None else own.differing
    return _Margin(
        tuple(kept.values()),
        tuple(inside[place][roots[place]] for place in kept),
        tuple((int(own.places[cell]), parts[cell]) for cell in cells if not differing[cell]),
        tuple(parts[cell] for cell in cells if differing[cell]),
    )


def _parts(coverage: Coverage, number: int, name: str, blocks: Sequence[Cover]) -> dict[tuple[str, ...], Places]:
    """For each code of a variable the places of the parts that it is made of."""
    return {
        code: np.array([place for place, block in enumerate(blocks) if block <= cover], np.int64)
        for code, cover in coverage.covers[number][name].items()
    }


def _finest(table: OfficeTable, summed: Mask) -> list[int]:
    """Those of some cells that are no totals of others of them."""
    relations, totals = table.relations(), set[int]()
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        if summed[cells].all():
            totals.update(cells[coefs < 0].tolist())
    return [cell for cell in np.flatnonzero(summed).tolist() if cell not in totals]


def _too_many(blocks: dict[str, list[Cover]], count: int) -> UnattainableError:
    return UnattainableError(
        f"the tables together are sums of {count:,} cells of {' by '.join(blocks)}, too many to tell what they give "
        "away.",
        "Publish the one table that crosses all of these variables, fewer tables, or coarser codes.",
        "joint-size",
    )
