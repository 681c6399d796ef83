"""Constraints between tables whose codes of one are sums of codes of another, with cells that no table shows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.argus.statuses import unsafe_of
from sfumato.tables.cells.constraints import Key
from sfumato.tables.cells.system import BoolArray, Bounds, LinearConstraints, Numbers, Places
from sfumato.tables.linear_programs import LinearProgram
from sfumato.tables.linked.codes import Cover
from sfumato.tables.linked.view import (
    Coverage,
    Identity,
    TableView,
    coded_table,
    coverage_of,
    finest_codes,
    uncrossed,
    variable_of,
)

# Limits of the number of implicit cells that are created, and of shown cells that are considered.
MOST, MOST_SHOWN = 50_000, 1_000_000
# Seconds to find values for them, and the share of these for integers; any feasible values suffice.
SECONDS, WHOLE = 20.0, 0.2
# Name prefix of parts, followed by their position.
PART = "part "
# Name of an implicit cell in messages.
UNSHOWN = "a cell that no table shows"
Row = tuple[list[int], list[float]]


@dataclass
class Ties:
    """Constraints that link tables with different codes.

    Attributes:
        coverage: What codes cover.
        places: The number of each cell; cells that no table shows are added.
        judged: For cells that no table shows but records determine: a counted table, and the position in it.
        grows: Whether cells are added that no table shows; otherwise constraints with such cells are left out.
        nested: Variables that need no links, because the codes of one table are among those of the other.
    """

    coverage: Coverage
    tables: Sequence[ArgusTable]
    places: dict[Identity, int]
    rows: list[Row] = field(default_factory=list)
    judged: dict[int, tuple[ArgusTable, int]] = field(default_factory=dict)
    grows: bool = True
    nested: frozenset[str] = frozenset()

    @property
    def shown(self) -> int:
        """Number of cells that tables show."""
        return self._shown

    def __post_init__(self) -> None:
        self._shown = len(self.places)

    def tie(self, numbers: Sequence[int]) -> None:
        """Link some of the tables, for every set of variables that two of them share.

        Raises:
            UnattainableError: There would be too many cells.
        """
        names = {number: frozenset(map(variable_of, self.tables[number].trees)) for number in numbers}
        for shared in sorted({names[one] & names[two] for one, two in combinations(numbers, 2)}, key=sorted):
            own = [number for number in numbers if shared <= names[number] and self._is_whole(number, shared)]
            blocks = {name: self.coverage.blocks(name, own) for name in sorted(shared)}
            if own and any(self._differ(name, blocks[name], own) for name in blocks.keys() - self.nested):
                self._tie_by(blocks, own)

    def _is_whole(self, number: int, shared: Iterable[str]) -> bool:
        """Return whether the totals of a table in its other variables cover everything."""
        others = ((variable_of(tree), tree.root) for tree in self.tables[number].trees)
        covers, everything = self.coverage.covers[number], self.coverage.everything
        return all(covers[name][root] == everything[name] for name, root in others if name not in shared)

    def _differ(self, name: str, blocks: Sequence[Cover], numbers: Sequence[int]) -> bool:
        return any(not self.coverage.leaves[number][name] <= set(blocks) for number in numbers)

    def _tie_by(self, blocks: dict[str, list[Cover]], numbers: Sequence[int]) -> None:
        if prod(len(own) + 1 for own in blocks.values()) > (MOST if self.grows else MOST_SHOWN):
            raise UnattainableError("joint-size.the_codes_of_tables")
        empty = self._empty(blocks, numbers)
        wide = {name: [self.coverage.everything[name], *own] for name, own in blocks.items()}
        for covers in product(*wide.values()):
            self._add(dict(zip(wide, covers, strict=True)), blocks, empty)
        for number in numbers:
            for covers in product(*(sorted(self.coverage.leaves[number][name], key=sorted) for name in blocks)):
                self._divide(dict(zip(blocks, covers, strict=True)), blocks, empty)
        for number in numbers:
            self._judge(self.tables[number], blocks)

    def _judge(self, table: ArgusTable, blocks: dict[str, list[Cover]]) -> None:
        """Count from the records what cells hold that no table shows, and evaluate the rules for them."""
        if table.finer is None or all(place < self.shown for place in self.places.values()):
            return
        counted = table.finer(blocks)
        unsafe = unsafe_of(counted.statuses)
        for cell, key in enumerate(counted.keys):
            place = self.places.get(self._of_parts(counted, key, blocks), -1)
            if place >= self.shown and (place not in self.judged or unsafe[cell]):
                self.judged[place] = counted, cell

    def _of_parts(self, counted: ArgusTable, key: Key, blocks: dict[str, list[Cover]]) -> Identity:
        named = zip(map(variable_of, counted.trees), (tree.root for tree in counted.trees), key, strict=True)
        covers = [(name, code == root or not code[0].startswith(PART), code[0]) for name, root, code in named]
        everything = self.coverage.everything
        return self.coverage.of(
            (name, everything[name] if whole else blocks[name][int(code.removeprefix(PART))])
            for name, whole, code in covers
        )

    def _empty(self, blocks: dict[str, list[Cover]], numbers: Sequence[int]) -> set[Identity]:
        """Return the parts that a table of exactly these parts omits; they are publicly empty."""
        empty: set[Identity] = set()
        for number in numbers:
            parts = [[own for own in blocks[name] if own in self.coverage.leaves[number][name]] for name in blocks]
            there = (self.coverage.of(zip(blocks, covers, strict=True)) for covers in product(*parts))
            empty |= {identity for identity in there if identity not in self.places}
        return empty

    def _add(self, covers: dict[str, Cover], blocks: dict[str, list[Cover]], empty: set[Identity]) -> None:
        """Add the constraints that a total over a variable is the sum of its parts."""
        for name, own in blocks.items():
            if covers[name] == self.coverage.everything[name] and own != [covers[name]]:
                self._relate(self.coverage.of(covers.items()), [{**covers, name: block} for block in own], empty)

    def _divide(self, covers: dict[str, Cover], blocks: dict[str, list[Cover]], empty: set[Identity]) -> None:
        """Add the constraint that a cell is the sum of the parts of its codes."""
        inside = [[block for block in own if block <= covers[name]] for name, own in blocks.items()]
        total = self.coverage.of(covers.items())
        if prod(map(len, inside)) > 1 and total in self.places:
            self._relate(total, [dict(zip(blocks, parts, strict=True)) for parts in product(*inside)], empty)

    def _relate(self, total: Identity, parts: Sequence[dict[str, Cover]], empty: set[Identity]) -> None:
        named = [self.coverage.of(part.items()) for part in parts]
        if not self.grows and any(one not in self.places and one not in empty for one in (total, *named)):
            return
        cells = [self._place(one) for one in (total, *(one for one in named if one not in empty))]
        self.rows.append((cells, [-1.0, *([1.0] * (len(cells) - 1))]))

    def _place(self, identity: Identity) -> int:
        return self.places.setdefault(identity, len(self.places))


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


# The block of a cell in each common variable, in the order of variable names.
Position = tuple[int, ...]


def ties_between(sections: Sequence[TableView]) -> list[Row]:
    """Return constraints between tables whose codes of a column differ, such as ab in one, a and b in another.

    Series have codes of their own and are left out.
    """
    plain = _plain(sections)
    return _tied([(coded_table(one), one.cells) for one in plain], _nested(plain)) if len(plain) > 1 else []


def _plain(sections: Sequence[TableView]) -> list[TableView]:
    return [uncrossed(one) for one in sections if not any(tree.series for tree in one.trees)]


def inconsistent_links(sections: Sequence[TableView]) -> list[Row]:
    """Return constraints between tables that hold except for inconsistent records."""
    plain = _plain(sections)
    odd = [one for one in plain if any(axis.inconsistent for axis in one.axes)]
    if len(plain) < 2 or not odd or any(all(_is_made_of(two, one) for two in odd) for one in odd):
        return []
    fitting = [replace(one, **_fitting(one)) for one in plain]
    return _tied([(coded_table(one), one.cells) for one in fitting])


def _is_made_of(section: TableView, finest: TableView) -> bool:
    """Return whether all cells of a table are sums of cells of another, so that inconsistent records are included."""
    places = {name: place for place, name in enumerate(finest.variables)}
    if not places.keys() >= set(section.variables):
        return False
    for place, (name, axis) in enumerate(zip(section.variables, section.axes, strict=True)):
        own = finest.axes[places[name]]
        if axis.variable and not _are_made_of(axis.finest.values(), own.finest.values()):
            return False
        if not axis.variable and not set(section.finest(place)) <= set(finest.finest(places[name])):
            return False
    return True


def _are_made_of(covers: Iterable[Cover], parts: Iterable[Cover]) -> bool:
    inside = {code: place for place, cover in enumerate(covers) for code in cover}
    return all(len({inside.get(code) for code in part}) == 1 for part in parts)


def _fitting(section: TableView) -> dict[str, Any]:
    """Return axes, keys and cells of a table without inconsistent records; cells with nothing else are dropped."""
    covers = [{code: cover - axis.inconsistent for code, cover in axis.covers.items()} for axis in section.axes]
    axes = tuple(
        replace(axis, covers=own, finest={text: cover - axis.inconsistent for text, cover in axis.finest.items()})
        for axis, own in zip(section.axes, covers, strict=True)
    )
    kept = [
        row
        for row, key in enumerate(section.keys)
        if all(own.get(code, {""}) for own, code in zip(covers, key, strict=True))
    ]
    return {"axes": axes, "keys": tuple(section.keys[row] for row in kept), "cells": section.cells[kept]}


def _tied(tables: Sequence[tuple[ArgusTable, Places]], nested: frozenset[str] = frozenset()) -> list[Row]:
    """Return constraints between tables by what their codes cover, with the joint cells of each."""
    coded = [table for table, _ in tables]
    coverage = coverage_of(coded)
    places: dict[frozenset[tuple[str, Cover]], int] = {}
    rows: list[Row] = []
    for number, (table, cells) in enumerate(tables):
        for row, cell in enumerate(cells.tolist()):
            first = places.setdefault(coverage.identity(number, table, row), cell)
            if first != cell:
                rows.append(([first, cell], [-1.0, 1.0]))
    ties = Ties(coverage, coded, places, grows=False, nested=nested)
    ties.tie(range(len(coded)))
    return rows + ties.rows + common_sums(coverage, tables)


def _nested(sections: Sequence[TableView]) -> frozenset[str]:
    """Return linked columns of which, in each two tables, one has all codes of the other; these need no links."""
    codes: dict[str, set[frozenset[Cover]]] = {}
    for axis in (axis for section in sections for axis in section.axes if axis.finest):
        codes.setdefault(variable_of(axis.tree), set()).add(frozenset(axis.covers.values()))
    return frozenset(
        name for name, own in codes.items() if all(one <= two or two <= one for one, two in combinations(own, 2))
    )


# Gemeinde by sector and Kreis by branch have the same sums of Kreis by sector.
@dataclass(frozen=True, slots=True)
class _Side:
    """One of two tables: what its codes cover, its joint cells, and its finest codes."""

    table: ArgusTable
    cells: Places
    covers: Mapping[str, Mapping[tuple[str, ...], Cover]]
    leaves: Mapping[str, frozenset[Cover]]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(map(variable_of, self.table.trees))

    def is_whole(self, everything: Mapping[str, Cover], shared: frozenset[str]) -> bool:
        """Return whether its totals in other variables cover everything."""
        roots = {variable_of(tree): tree.root for tree in self.table.trees}
        return all(self.covers[name][root] == everything[name] for name, root in roots.items() if name not in shared)

    def sums(self, parts: Mapping[str, Sequence[Cover]]) -> dict[Position, list[int]]:
        """Return for each combination of blocks the cell that equals it, otherwise the finest cells inside."""
        exact, inside = dict[Position, list[int]](), dict[Position, list[int]]()
        places = [self._places(place, parts) for place in range(len(self.table.trees))]
        names = [variable_of(tree) for tree in self.table.trees]
        order = [names.index(name) for name in sorted(parts)]
        for cell, key in zip(self.cells.tolist(), self.table.keys, strict=True):
            own = [codes.get(code, (-1, -1)) for codes, code in zip(places, key, strict=True)]
            for found, position in zip((exact, inside), zip(*own, strict=True), strict=True):
                if -1 not in position:
                    found.setdefault(tuple(position[place] for place in order), []).append(cell)
        return {**inside, **{position: cells[:1] for position, cells in exact.items()}}

    def _places(self, place: int, parts: Mapping[str, Sequence[Cover]]) -> dict[tuple[str, ...], tuple[int, int]]:
        """Return for each code of a dimension the block that it equals, and the block that contains it if it is a
        finest code.
        """
        tree = self.table.trees[place]
        name = variable_of(tree)
        if name not in parts:
            return {tree.root: (0, 0)}
        whole = {part: number for number, part in enumerate(parts[name])}
        unit = {code: number for part, number in whole.items() for code in part}
        finest = finest_codes(self.table, tree)
        return {
            code: (whole.get(cover, -1), unit.get(next(iter(cover), ""), -1) if code in finest else -1)
            for code, cover in self.covers[name].items()
        }


def common_sums(coverage: Coverage, tables: Sequence[tuple[ArgusTable, Places]]) -> list[Row]:
    """Return constraints between each two tables with linked columns: their sums over common blocks are equal.

    Args:
        coverage: What codes cover.
        tables: The tables, with their joint cells.
    """
    sides = [
        _Side(table, cells, covers, leaves)
        for (table, cells), covers, leaves in zip(tables, coverage.covers, coverage.leaves, strict=True)
    ]
    return [row for one, two in combinations(sides, 2) for row in _between(one, two, coverage.everything)]


def _between(one: _Side, two: _Side, everything: Mapping[str, Cover]) -> list[Row]:
    shared = one.names & two.names
    differing = {name for name in shared if one.leaves[name] != two.leaves[name]}
    linked = {name.lower() for side in (one, two) for name in side.table.origins}
    if not differing & linked or not all(side.is_whole(everything, shared) for side in (one, two)):
        return []
    parts = {name: _parts(one.leaves[name], two.leaves[name]) for name in shared}
    first, second = one.sums(parts), two.sums(parts)
    rows = []
    for position in first.keys() & second.keys():
        above, below = sorted((first[position], second[position]), key=len)
        if len(below) > 1:
            rows.append(([*above, *below], [-1.0] * len(above) + [1.0] * len(below)))
    return sorted(rows)


def _parts(one: Iterable[Cover], two: Iterable[Cover]) -> list[Cover]:
    """Return the finest blocks to which the codes of both tables can be summed; only blocks that both contain."""
    above: dict[str, str] = {}

    def top(code: str) -> str:
        while above.setdefault(code, code) != code:
            above[code] = above[above[code]]
            code = above[code]
        return code

    for cover in (*one, *two):
        codes = sorted(cover)
        for code in codes:
            above[top(code)] = top(codes[0])
    groups: dict[str, set[str]] = {}
    for code in list(above):
        groups.setdefault(top(code), set()).add(code)
    both = frozenset().union(*one) & frozenset().union(*two)
    return sorted((frozenset(group) for group in groups.values() if group <= both), key=sorted)
