"""Relations between tables whose codes of one are sums of codes of another."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.batch.code_coverage import Cover, Coverage, coverage_of, finest_codes, variable_of
from sfumato.tables.batch.hidden_cells import Row, Ties
from sfumato.tables.build.crossed_columns import uncrossed
from sfumato.tables.build.table_views import TableView, coded_table
from sfumato.tables.cells.system import Places

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
