"""Detect columns of tables that are not linked although codes of one look like sums of codes of the other."""

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.build.column_chains import BETWEEN, columns_of, path_of
from sfumato.tables.build.linked_table import LinkedTable
from sfumato.tables.build.table_views import Shared, TableView
from sfumato.tables.cells.cells import Bounds
from sfumato.tables.cells.dimensions import Code
from sfumato.tables.column_dependencies.column_chain import Chain
from sfumato.tables.column_dependencies.likely_subtotals import CodeCells, likely_parts


@dataclass(frozen=True, slots=True)
class LikelyLink:
    """Columns whose codes look like parts of those of other columns, the tables that have them, and the codes."""

    fine: tuple[str, ...]
    coarse: tuple[str, ...]
    tables: tuple[str, str]
    rows: frozenset[Code]

    @property
    def chain(self) -> Chain:
        """The columns as a chain, as records would give it."""
        return Chain((*self.coarse, *self.fine), self.rows)

    @property
    def what(self) -> str:
        """The message about them."""
        fine, coarse = "/".join(self.fine), "/".join(self.coarse)
        return (
            f"what {coarse} in {self.tables[1]} tells of {fine} in {self.tables[0]}, and the other way round: the "
            f"codes of {coarse} look like sums of those of {fine}, so both may be of the same records. Name both as "
            "levels of one dimension, or in one hierarchy, or protect the tables by one plan with the records."
        )


def likely_links(
    joint: LinkedTable, cells: Sequence[Bounds], step: float, known: frozenset[str] = frozenset()
) -> list[LikelyLink]:
    """Return columns that no declared hierarchy or record links, although their cells suggest a link.

    Args:
        joint: The tables.
        cells: The bounds that data users know for the rows of each table.
        step: The precision.
        known: Columns of records, which determine whether two of them are linked.
    """
    found: dict[frozenset[tuple[str, ...]], LikelyLink] = {}
    crossed = [one.variables for one in joint.sections]
    for (one, low), (two, high) in permutations(zip(joint.sections, cells, strict=True), 2):
        for place, other in _pairs(one, two, crossed):
            fine, coarse = columns_of(one.trees[place]), columns_of(two.trees[other])
            if frozenset((fine, coarse)) in found or known.issuperset((*fine, *coarse)):
                continue
            rows = _rows(_Side(one, low, place), _Side(two, high, other), step)
            if rows:
                found[frozenset((fine, coarse))] = LikelyLink(fine, coarse, (one.name, two.name), rows)
    return list(found.values())


def _pairs(one: TableView, two: TableView, crossed: Sequence[Sequence[str]]) -> Iterator[tuple[int, int]]:
    """Yield dimensions of two tables that the other lacks and that no table crosses; a crossing would show both."""
    first, second = one.variables, two.variables
    for place, name in enumerate(first):
        for other, more in enumerate(second):
            apart = name not in second and more not in first
            series = one.trees[place].series or two.trees[other].series
            if apart and not series and not any({name, more} <= set(own) for own in crossed):
                yield place, other


@dataclass(frozen=True, slots=True)
class _Side:
    """A table, the known bounds of its rows, and one of its dimensions."""

    section: TableView
    cells: Bounds
    place: int

    def sums(self) -> Shared:
        """Return the codes of all dimensions that are sums of others."""
        own = zip(self.section.trees, self.section.axes, strict=True)
        return frozenset(axis.names[code] for tree, axis in own for code in set(tree.parents.values()) - {tree.root})

    def cells_of(self, rows: dict[tuple[Code, Shared], int], positions: Sequence[Shared]) -> CodeCells:
        """Return the cells of each code; missing cells are 0."""
        codes, tree = self.section.finest(self.place), self.section.trees[self.place]
        places = np.array([[rows.get((code, one), -1) for one in positions] for code in codes], np.int64)
        low, high = (np.where(places < 0, 0.0, end[places]) for end in (self.cells.low, self.cells.high))
        return CodeCells([BETWEEN.join(path_of(tree, code)) for code in codes], low, high)


def _rows(one: _Side, two: _Side, step: float) -> frozenset[Code]:
    """Return which codes of a table appear to be children of which codes of another; empty if nothing indicates it."""
    masked = any((side.cells.low != side.cells.high).any() for side in (one, two))
    if not masked or not len(two.section.finest(two.place)) <= len(one.section.finest(one.place)):
        return frozenset()
    shared = frozenset(one.section.variables) & frozenset(two.section.variables)
    first, second = one.section.rows_by(one.place, shared), two.section.rows_by(two.place, shared)
    positions = sorted({own for _, own in first} & {own for _, own in second}, key=repr)
    if not positions:
        return frozenset()
    deepest, sums = max(map(len, positions)), one.sums() | two.sums()
    finest = np.array([len(own) == deepest and not own & sums for own in positions])
    fine, coarse = one.cells_of(first, positions), two.cells_of(second, positions)
    parts = likely_parts(fine, coarse, finest, step)
    if parts is None:
        return frozenset()
    trees = (one.section.trees[one.place], two.section.trees[two.place])
    inside, above = one.section.finest(one.place), two.section.finest(two.place)
    return frozenset(
        (*path_of(trees[1], above[part]), *path_of(trees[0], code))
        for code, part in zip(inside, parts.tolist(), strict=True)
    )
