"""Cells of the full cross of variables that form a cycle: no table shows them, but all tables are sums of them.

None is negative, and if a cell of a table is empty, so are its parts in the cross. So tables a by b, b by c and a by c
together may disclose a cell that any two of them hide. Other tables of the same records count, too: a table of counts a
by b by c shows which cells are empty, so that sums of a by b and of a by c disclose more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import prod

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.cells.system import BoolArray, Places
from sfumato.tables.linked.codes import Cover
from sfumato.tables.linked.records import Variables, connected, variable_cycles
from sfumato.tables.linked.ties import Row
from sfumato.tables.linked.view import Coverage, variable_of

# The finest codes of a variable in a table.
Leaves = frozenset[Cover]
# Separator between a variable and the number of its partition.
BETWEEN = "\x1f"
# Limits of the number of implicit cells that are audited, and of code combinations that are enumerated.
MOST_CROSSED, MOST_COMBINATIONS = 50_000, 20_000_000
# Message for a cross that is left out.
LEFT_OUT = (
    "the cross of {}, which no table shows and all are sums of: it has too many cells, so that tables were attacked by "
    "the sums that each two have in common, and not by what all of them leave of the cross. Publish coarser codes or "
    "fewer tables, to have it attacked."
)


@dataclass(frozen=True, slots=True)
class TableCells:
    """A table, the positions of its cells among those of all tables, and the cells that are no sums of implicit cells.

    Attributes:
        places: Positions of its cells.
        differing: Cells whose value differs from that of the same codes in another table, or that are parts of such
            cells.
        filled: For a table of other values of the same records: which cells are not empty. Only these zeros are
            used.
    """

    table: ArgusTable
    places: Places
    differing: BoolArray | None = None
    filled: BoolArray | None = None

    @property
    def variables(self) -> Variables:
        """Its variables."""
        return frozenset(map(variable_of, self.table.trees))


@dataclass(frozen=True, slots=True)
class ImplicitCells:
    """Implicit cells, numbered after the cells of the tables.

    Attributes:
        size: Number of implicit cells.
        rows: Constraints: a cell of a table is the sum of these implicit cells.
        broken: Variables of cycles in which a table has no cells that agree with the others, or whose cross with
            the empty cells of other tables is too large; these are not audited.
        left_out: Messages for crosses that are too large; their tables are audited pairwise instead.
        dispensable: Messages for crosses that are optional; empty if any cross is required.
    """

    size: int = 0
    rows: tuple[Row, ...] = ()
    broken: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    dispensable: tuple[str, ...] = ()


def cross_of(
    coverage: Coverage, tables: Sequence[TableCells], empty: BoolArray, linked: frozenset[str] = frozenset()
) -> ImplicitCells:
    """Build the implicit cells of all crosses that disclose more than the common cells of the tables; none if there is
    no cycle and no table of other values shows further empty cells.

    Args:
        coverage: What codes cover.
        tables: The tables, and those of other values of the same records.
        empty: Which cells of all tables are publicly known to be empty.
        linked: Variables of linked columns, whose codes may differ between tables. A cross that only these require
            is left out if it would have too many cells.

    Raises:
        UnattainableError: There would be too many cells.
    """
    size, rows, broken, left_out, optional = 0, list[Row](), list[str](), list[str](), list[str]()
    telling = _telling(coverage, tables)
    edges = {number: own.variables for number, own in enumerate(tables) if own.filled is None}
    cycles = connected([*variable_cycles([*edges.values(), *telling.values()]), *telling.values()])
    for variables in connected([*cycles, *grain_cycles(coverage, edges, linked)]):
        cycle = _Cycle.of(coverage, tables, variables, frozenset(telling))
        needed = any(own <= variables for own in cycles)
        optional += [] if needed else [cycle.left_out]
        more = cycle.cross_if_small(empty, len(empty) + size, needed)
        if more is None:
            broken.append(" by ".join(sorted(variables)))
            continue
        size, rows, left_out = size + more.size, [*rows, *more.rows], [*left_out, *more.left_out]
    return ImplicitCells(size, tuple(rows), tuple(broken), tuple(left_out), () if cycles else tuple(optional))


def _telling(coverage: Coverage, tables: Sequence[TableCells]) -> dict[int, Variables]:
    """Return the tables of other values that show empty cells which the audited tables do not, with their shared
    variables.
    """
    seen = [name for one in tables for name in one.variables]
    own = frozenset(name for one in tables if one.filled is None for name in one.variables)
    telling = {}
    for number, one in enumerate(tables):
        variables = frozenset(name for name in one.variables if name in own or seen.count(name) > 1)
        if one.filled is not None and len(variables) > 1 and not _is_told(coverage, tables, number, variables):
            telling[number] = variables
    return telling


def _is_told(coverage: Coverage, tables: Sequence[TableCells], number: int, variables: Variables) -> bool:
    """Return whether an audited table is at least as fine, and so has the same empty cells."""
    coarse = coverage.leaves[number]
    return any(
        two.filled is None
        and variables <= two.variables
        and _is_whole(coverage, other, two.table, variables)
        and all(is_finer(coverage.leaves[other][name], coarse[name]) for name in variables)
        for other, two in enumerate(tables)
    )


@dataclass(frozen=True, slots=True)
class _Margin:
    """A table summed over the variables that are not in the cycle.

    Attributes:
        names: Its variables in the cycle.
        all: For each of them, the blocks that the table covers.
        cells: Its finest cells: position among those of all tables, and blocks of each variable.
        differing: Blocks of finest cells that are not sums of implicit cells.
    """

    names: tuple[str, ...]
    all: tuple[Places, ...]
    cells: tuple[tuple[int, tuple[Places, ...]], ...]
    differing: tuple[tuple[Places, ...], ...]


@dataclass(frozen=True, slots=True)
class _Cycle:
    """Variables that form a cycle, with their partitions into blocks, their tables, and tables of other values that
    show empty cells.
    """

    blocks: dict[str, list[Cover]]
    margins: tuple[_Margin, ...]
    others: tuple[_Margin, ...] = ()

    @classmethod
    def of(
        cls, coverage: Coverage, tables: Sequence[TableCells], variables: Variables, telling: frozenset[int]
    ) -> "_Cycle":
        # In a cycle, other tables have the totals of one variable; with empty cells, possibly none has.
        telling = frozenset(number for number in telling if tables[number].variables & variables)
        least = 1 if telling else 2
        own = [
            number
            for number, one in enumerate(tables)
            if len(one.variables & variables) >= least
            and (one.filled is None or number in telling)
            and _is_whole(coverage, number, one.table, variables)
        ]
        with_name = {name: [one for one in own if name in tables[one].variables] for name in sorted(variables)}
        blocks = {name: coverage.blocks(name, numbers) for name, numbers in with_name.items() if numbers}
        margins = {number: _margin(coverage, number, tables[number], blocks) for number in own}
        return cls(
            blocks,
            tuple(margin for number, margin in margins.items() if number not in telling),
            tuple(margin for number, margin in margins.items() if number in telling),
        )

    @property
    def left_out(self) -> str:
        """The message if its cross is left out."""
        return LEFT_OUT.format(" by ".join(sorted(self.blocks)))

    def cross_if_small(self, empty: BoolArray, first: int, needed: bool) -> ImplicitCells | None:
        """Build the cells that may be nonzero; None if a table has none that agree, or other tables make too many.

        If there are too many and they are optional, none are built, and the message is set.

        Raises:
            UnattainableError: There are too many cells, and all are required.
        """
        if not all(margin.cells for margin in self.margins):
            return None if needed else ImplicitCells()
        try:
            return self.cross(empty, first)
        except UnattainableError:
            if not needed:
                return ImplicitCells(left_out=(self.left_out,))
            if self.others:
                return None
            raise

    def cross(self, empty: BoolArray, first: int) -> ImplicitCells:
        """Build the cells that may be nonzero, numbered from `first`."""
        there = self._there(empty)
        count = int(there.sum())
        if count > MOST_CROSSED:
            raise _too_many(self.blocks, count)
        numbers = np.full(there.shape, -1, np.int64)
        numbers[there] = np.arange(count) + first
        return ImplicitCells(count, tuple(self._rows(numbers, empty)))

    def _there(self, empty: BoolArray) -> BoolArray:
        shape = [len(own) for own in self.blocks.values()]
        if prod(shape) > MOST_COMBINATIONS:
            raise _too_many(self.blocks, prod(shape))
        there = np.ones(shape, bool)
        for margin in (*self.margins, *self.others):
            there &= self._possible(margin, empty)
        return there

    def _possible(self, margin: _Margin, empty: BoolArray) -> BoolArray:
        """Return where a table may be nonzero: in its cells that are not empty, and where it has no cells."""
        possible = np.ones([len(own) if name in margin.names else 1 for name, own in self.blocks.items()], bool)
        possible[self._inside(margin, margin.all, one=True)] = False
        for parts in (*margin.differing, *(parts for cell, parts in margin.cells if not empty[cell])):
            possible[self._inside(margin, parts, one=True)] = True
        return possible

    def _inside(self, margin: _Margin, parts: Sequence[Places], one: bool = False) -> tuple[Places, ...]:
        """Return the index of blocks of a table's variables; other variables are whole, or one place if `one`."""
        own = dict(zip(margin.names, parts, strict=True))
        sizes = {name: 1 if one else len(blocks) for name, blocks in self.blocks.items()}
        return np.ix_(*(own[name] if name in own else np.arange(size) for name, size in sizes.items()))

    def _rows(self, numbers: Places, empty: BoolArray) -> Iterator[Row]:
        """Yield one constraint per finest cell that is not empty: it is the sum of the implicit cells below it."""
        for margin in self.margins:
            for cell, parts in margin.cells:
                below = numbers[self._inside(margin, parts)]
                below = below[below >= 0]
                if not empty[cell]:
                    yield [cell, *below.tolist()], [-1.0, *([1.0] * len(below))]


def _is_whole(coverage: Coverage, number: int, table: ArgusTable, variables: Variables) -> bool:
    """Return whether the totals of a table in its other variables cover everything."""
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
    all_ = tuple(inside[place][roots[place]] for place in kept)
    if own.filled is not None:
        return _Margin(tuple(kept.values()), all_, (), tuple(parts[cell] for cell in cells if own.filled[cell]))
    differing = np.zeros(len(table), bool) if own.differing is None else own.differing
    return _Margin(
        tuple(kept.values()),
        all_,
        tuple((int(own.places[cell]), parts[cell]) for cell in cells if not differing[cell]),
        tuple(parts[cell] for cell in cells if differing[cell]),
    )


def _parts(coverage: Coverage, number: int, name: str, blocks: Sequence[Cover]) -> dict[tuple[str, ...], Places]:
    """Return for each code of a variable the positions of the blocks that it covers."""
    return {
        code: np.array([place for place, block in enumerate(blocks) if block <= cover], np.int64)
        for code, cover in coverage.covers[number][name].items()
    }


def _finest(table: ArgusTable, summed: BoolArray) -> list[int]:
    """Return the given cells that are not totals of others of them."""
    relations, totals = table.relations(), set[int]()
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        if summed[cells].all():
            totals.update(cells[coefs < 0].tolist())
    return [cell for cell in np.flatnonzero(summed).tolist() if cell not in totals]


def _too_many(blocks: dict[str, list[Cover]], count: int) -> UnattainableError:
    return UnattainableError("joint-size.the_tables_together_are_sums", count=count, names=" by ".join(blocks))


# A table by municipality is also one by district, but not the other way round; types and districts are both sums of
# municipalities, and neither follows from the other. So a variable is split into as many as there are partitions of it.
def grain_cycles(coverage: Coverage, tables: Mapping[int, Variables], linked: Iterable[str]) -> list[Variables]:
    """Return the variables of cycles, and variables with two partitions of which neither is finer than the other.

    Args:
        coverage: What codes cover.
        tables: The variables of each table, by its number.
        linked: The variables whose codes may differ.
    """
    ways = {name: _ways(coverage, name, tables) for name in linked}
    edges = [_grains(coverage, number, variables, ways) for number, variables in tables.items()]
    mixed = [
        frozenset(_grain(name, place) for place in range(len(own)))
        for name, own in ways.items()
        if not all(is_finer(one, two) or is_finer(two, one) for one, two in combinations(own, 2))
    ]
    cycles = connected([*variable_cycles([*edges, *mixed]), *mixed])
    return connected(frozenset(name.partition(BETWEEN)[0] for name in cycle) for cycle in cycles)


def _ways(coverage: Coverage, name: str, tables: Mapping[int, Variables]) -> list[Leaves]:
    """Return the different partitions of a variable in the tables."""
    return list(dict.fromkeys(coverage.leaves[number][name] for number, own in tables.items() if name in own))


def _grains(coverage: Coverage, number: int, variables: Variables, ways: Mapping[str, list[Leaves]]) -> frozenset[str]:
    """Return the variables of a table; one with several partitions is replaced by those its codes can be summed to."""
    plain = [name for name in variables if name not in ways]
    made = [
        _grain(name, place)
        for name in variables - set(plain)
        for place, way in enumerate(ways[name])
        if is_finer(coverage.leaves[number][name], way)
    ]
    return frozenset((*plain, *made))


def _grain(name: str, place: int) -> str:
    return f"{name}{BETWEEN}{place}"


def is_finer(fine: Leaves, coarse: Leaves) -> bool:
    """Return whether every code of one partition lies within one code of the other.

    >>> is_finer(frozenset({frozenset("a"), frozenset("b")}), frozenset({frozenset("ab")}))
    True
    """
    unit = {code: place for place, cover in enumerate(coarse) for code in cover}
    return all(len({unit.get(code, -1) for code in cover}) == 1 for cover in fine)
