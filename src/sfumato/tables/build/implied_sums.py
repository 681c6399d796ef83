"""Sums that two tables have in common, though maybe neither shows them.

Gemeinde by sector and Kreis by branch have the same sums of Kreis by sector.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from sfumato.dataclass import dataclass
from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.batch.code_coverage import Cover, Coverage, finest_codes, variable_of
from sfumato.tables.batch.hidden_cells import Row
from sfumato.tables.cells.cells import Places

# The block of a cell in each common variable, in the order of variable names.
Position = tuple[int, ...]


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
