"""Constraints between tables whose codes of one are sums of codes of another, with cells that no table shows.

If one table has a, b and another ab, then ab is the sum of a and b. If one has ab and c, another a and bc, then b is a
cell that neither shows, and that a reader of both can compute.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.cells.dimensions import Code
from sfumato.tables.cells.system import BoolArray, Bounds, LinearConstraints, Numbers
from sfumato.tables.linear_programs import LinearProgram
from sfumato.tables.linked.codes import Cover
from sfumato.tables.linked.records import connected
from sfumato.tables.linked.view import CodedTable, Coverage, Identity, Row, TableView, coverage_of
from sfumato.values import State, field, replace

# Limits of the number of implicit cells that are created, and of shown cells that are considered.
MOST, MOST_SHOWN = 50_000, 1_000_000
# Seconds to find values for implicit cells, and the share of these for integers; any feasible values suffice.
SECONDS, WHOLE = 20.0, 0.2
# Name prefix of parts, followed by their position.
PART = "part "
# Name of an implicit cell in messages.
UNSHOWN = "a cell that no table shows"
# The parts into which variables are divided.
Blocks = Mapping[str, Sequence[Cover]]
# The block of a cell in each common variable, in the order of variable names.
Position = tuple[int, ...]


class Ties(State):
    """Constraints that link tables with different codes.

    Attributes:
        places: The number of each cell; cells that no table shows are added.
        grows: Whether cells are added that no table shows; otherwise constraints with such cells are left out.
        nested: Variables that need no links, because the codes of one table are among those of the other.
        judge: Called with the parts of variables by which tables were linked, and these tables.
    """

    coverage: Coverage
    places: dict[Identity, int]
    rows: list[Row] = field(default_factory=list)
    grows: bool = True
    nested: frozenset[str] = frozenset()
    judge: Callable[[Blocks, Sequence[CodedTable]], None] | None = None

    def tie(self, tables: Sequence[CodedTable]) -> None:
        """Link some of the tables, for every set of variables that two of them share.

        Raises:
            UnattainableError: There would be too many cells.
        """
        for shared in sorted({one.variables & two.variables for one, two in combinations(tables, 2)}, key=sorted):
            own = [one for one in tables if shared <= one.variables and self.coverage.is_whole(one, shared)]
            blocks = {name: self.coverage.blocks(name, own) for name in sorted(shared)}
            differ = (not one.leaves[name] <= set(blocks[name]) for name in blocks.keys() - self.nested for one in own)
            if own and any(differ):
                self._tie_by(blocks, own)

    def _tie_by(self, blocks: Blocks, tables: Sequence[CodedTable]) -> None:
        if prod(len(own) + 1 for own in blocks.values()) > (MOST if self.grows else MOST_SHOWN):
            raise UnattainableError("joint-size.the_codes_of_tables")
        empty = self._empty(blocks, tables)
        everything = self.coverage.everything
        for covers in product(*([everything[name], *own] for name, own in blocks.items())):
            whole = dict(zip(blocks, covers, strict=True))
            # A total over a variable is the sum of its parts.
            for name, own in blocks.items():
                if whole[name] == everything[name] and own != [whole[name]]:
                    self._relate(whole, [{**whole, name: block} for block in own], empty)
        for table in tables:
            for covers in product(*(sorted(table.leaves[name], key=sorted) for name in blocks)):
                # A cell is the sum of the parts of its codes.
                whole = dict(zip(blocks, covers, strict=True))
                inside = [[block for block in own if block <= whole[name]] for name, own in blocks.items()]
                if prod(map(len, inside)) > 1 and self.coverage.of(whole.items()) in self.places:
                    self._relate(whole, [dict(zip(blocks, own, strict=True)) for own in product(*inside)], empty)
        if self.judge is not None:
            self.judge(blocks, tables)

    def _empty(self, blocks: Blocks, tables: Iterable[CodedTable]) -> set[Identity]:
        """Return the parts that a table of exactly these parts omits; they are publicly empty."""
        shown = ([[own for own in blocks[name] if own in table.leaves[name]] for name in blocks] for table in tables)
        there = {self.coverage.of(zip(blocks, covers, strict=True)) for parts in shown for covers in product(*parts)}
        return there - self.places.keys()

    def _relate(self, whole: Mapping[str, Cover], parts: Iterable[Mapping[str, Cover]], empty: set[Identity]) -> None:
        """Add the constraint that a cell is the sum of its parts."""
        named = [one for one in (self.coverage.of(part.items()) for part in parts) if one not in empty]
        cells = [self.coverage.of(whole.items()), *named]
        if self.grows or all(one in self.places for one in cells):
            own = [self.places.setdefault(one, len(self.places)) for one in cells]
            self.rows.append((own, [-1.0, *([1.0] * len(named))]))


def ties_between(views: Iterable[TableView]) -> list[Row]:
    """Return constraints between tables whose codes of a column differ, such as ab in one, a and b in another.

    Series have codes of their own and are left out.
    """
    plain = _plain(views)
    return _tied(plain, _nested(plain)) if len(plain) > 1 else []


def _plain(views: Iterable[TableView]) -> list[TableView]:
    return [one.uncrossed() for one in views if not any(tree.series for tree in one.trees)]


def inconsistent_links(views: Iterable[TableView]) -> list[Row]:
    """Return constraints between tables that hold except for inconsistent records."""
    plain = _plain(views)
    odd = [one for one in plain if any(axis.inconsistent for axis in one.axes)]
    if len(plain) < 2 or not odd or any(all(_is_made_of(two, one) for two in odd) for one in odd):
        return []
    return _tied([_fitting(one) for one in plain])


def _is_made_of(view: TableView, finest: TableView) -> bool:
    """Return whether all cells of a table are sums of cells of another, so that inconsistent records are included."""
    places = {name: place for place, name in enumerate(finest.variables)}
    if not places.keys() >= set(view.variables):
        return False
    for place, (name, axis) in enumerate(zip(view.variables, view.axes, strict=True)):
        if not axis.variable:
            made = set(view.finest(place)) <= set(finest.finest(places[name]))
        else:
            inside = {code: number for number, cover in enumerate(axis.finest.values()) for code in cover}
            parts = finest.axes[places[name]].finest.values()
            made = all(len({inside.get(code) for code in part}) == 1 for part in parts)
        if not made:
            return False
    return True


def _fitting(view: TableView) -> TableView:
    """Return a table without inconsistent records; cells with nothing else are dropped."""
    axes = tuple(
        replace(
            axis,
            covers={code: cover - axis.inconsistent for code, cover in axis.covers.items()},
            finest={text: cover - axis.inconsistent for text, cover in axis.finest.items()},
        )
        for axis in view.axes
    )
    kept = [
        row
        for row, key in enumerate(view.keys)
        if all(axis.covers.get(code, {""}) for axis, code in zip(axes, key, strict=True))
    ]
    return replace(view, axes=axes, keys=tuple(view.keys[row] for row in kept), cells=view.cells[kept])


def _tied(views: Iterable[TableView], nested: frozenset[str] = frozenset()) -> list[Row]:
    """Return constraints between tables by what their codes cover."""
    coverage = coverage_of([one.coded() for one in views])
    places: dict[Identity, int] = {}
    rows: list[Row] = []
    for table in coverage.tables:
        for row, cell in enumerate(table.cells.tolist()):
            first = places.setdefault(coverage.identity(table, row), cell)
            if first != cell:
                rows.append(([first, cell], [-1.0, 1.0]))
    ties = Ties(coverage, places, grows=False, nested=nested)
    ties.tie(coverage.tables)
    pairs = combinations(coverage.tables, 2)
    return [*rows, *ties.rows, *(row for one, two in pairs for row in _common_sums(coverage, one, two))]


def _nested(views: Iterable[TableView]) -> frozenset[str]:
    """Return linked columns of which, in each two tables, one has all codes of the other; these need no links."""
    codes: dict[str, set[frozenset[Cover]]] = {}
    for view in views:
        for name, axis in zip(view.variables, view.axes, strict=True):
            if axis.finest:
                codes.setdefault(name, set()).add(frozenset(axis.covers.values()))
    return frozenset(
        name for name, own in codes.items() if all(one <= two or two <= one for one, two in combinations(own, 2))
    )


def _common_sums(coverage: Coverage, one: CodedTable, two: CodedTable) -> list[Row]:
    """Return constraints between two tables with linked columns: their sums over common blocks are equal.

    Gemeinde by sector and Kreis by branch have the same sums of Kreis by sector.
    """
    shared = one.variables & two.variables
    differing = {name for name in shared if one.leaves[name] != two.leaves[name]}
    linked = one.origins.keys() | two.origins.keys()
    if not differing & linked or not all(coverage.is_whole(table, shared) for table in (one, two)):
        return []
    parts = {name: _common_parts(one.leaves[name], two.leaves[name]) for name in shared}
    first, second = _sums(one, parts), _sums(two, parts)
    rows = []
    for position in first.keys() & second.keys():
        above, below = sorted((first[position], second[position]), key=len)
        if len(below) > 1:
            rows.append(([*above, *below], [-1.0] * len(above) + [1.0] * len(below)))
    return sorted(rows)


def _common_parts(one: Iterable[Cover], two: Iterable[Cover]) -> list[Cover]:
    """Return the finest blocks to which the codes of both tables can be summed; only blocks that both contain."""
    groups = connected([*one, *two])
    both = frozenset().union(*one) & frozenset().union(*two)
    return [group for group in groups if group <= both]


def _sums(table: CodedTable, parts: Blocks) -> dict[Position, list[int]]:
    """Return for each combination of blocks the cell that equals it, otherwise the finest cells inside."""
    exact, inside = dict[Position, list[int]](), dict[Position, list[int]]()
    blocks = [_blocks_of(table, place, parts.get(name)) for place, name in enumerate(table.names)]
    order = [table.names.index(name) for name in sorted(parts)]
    for cell, key in zip(table.cells.tolist(), table.keys, strict=True):
        own = [codes.get(code, (-1, -1)) for codes, code in zip(blocks, key, strict=True)]
        for found, position in zip((exact, inside), zip(*own, strict=True), strict=True):
            if -1 not in position:
                found.setdefault(tuple(position[place] for place in order), []).append(cell)
    return {**inside, **{position: cells[:1] for position, cells in exact.items()}}


def _blocks_of(table: CodedTable, place: int, parts: Sequence[Cover] | None) -> dict[Code, tuple[int, int]]:
    """Return for each code of a variable the block that it equals, and the one that contains it if it is finest."""
    if parts is None:
        return {table.trees[place].root: (0, 0)}
    whole = {part: number for number, part in enumerate(parts)}
    unit = {code: number for part, number in whole.items() for code in part}
    finest = table.finest(place)
    return {
        code: (whole.get(cover, -1), unit.get(next(iter(cover), ""), -1) if code in finest else -1)
        for code, cover in table.covers[table.names[place]].items()
    }


def possible_values(
    values: Numbers,
    known: BoolArray,
    relations: LinearConstraints,
    step: float,
    tolerance: float,
    seconds: float = SECONDS,
) -> Numbers:
    """Return the cell values, with feasible values for cells that no table shows.

    Raises:
        UnattainableError: There are no feasible values, or the time is over.
    """
    if known.all():
        return values
    matrix = relations.matrix(len(values)).tocsc()
    sides = -(matrix[:, np.flatnonzero(known)] @ values[known]) / step
    rows = np.flatnonzero(np.diff(matrix[:, np.flatnonzero(~known)].tocsr().indptr))
    low = np.full(int((~known).sum()), -np.inf if (values[known] < 0).any() else 0.0)
    slack = tolerance / step + 1e-6 * max(1.0, float(np.abs(sides).max(initial=0.0)) * 1e-6)
    limits = Bounds(np.round(sides[rows], 6) - slack, np.round(sides[rows], 6) + slack)
    point = _point(matrix[rows][:, np.flatnonzero(~known)], low, limits, min(seconds, SECONDS))
    if point is None:
        raise UnattainableError("joint-size.no_numbers_were_found")
    filled = values.copy()
    filled[~known] = point * step
    return filled


def _point(matrix: Any, low: Numbers, limits: Bounds, seconds: float) -> Numbers | None:
    """Return values within the limits, integers if found quickly; None if there are none."""
    bounds, nothing = Bounds(low, np.full(len(low), np.inf)), np.zeros(len(low))
    whole, _ = LinearProgram(matrix, bounds, limits, integer=True).least(nothing, seconds * WHOLE)
    if whole is not None:
        return np.round(whole)
    point, _ = LinearProgram(matrix, bounds, limits).least(nothing, seconds * (1 - WHOLE))
    return None if point is None else np.maximum(point, low)
