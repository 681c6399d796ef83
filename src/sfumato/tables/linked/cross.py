"""Cells of the full cross of variables that form a cycle: no table shows them, but all tables are sums of them.

None is negative, and if a cell of a table is empty, so are its parts in the cross. So tables a by b, b by c and a by c
together may disclose a cell that any two of them hide. Other tables of the same records count, too: a table of counts a
by b by c shows which cells are empty, so that sums of a by b and of a by c disclose more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import prod

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.localization.messages import Message
from sfumato.tables.cells.system import BoolArray, Places
from sfumato.tables.linked.codes import Cover
from sfumato.tables.linked.records import connected
from sfumato.tables.linked.view import CodedTable, Coverage, Row
from sfumato.values import Value

Variables = frozenset[str]
# The finest codes of a variable in a table.
Leaves = frozenset[Cover]
# Separator between a variable and the number of its partition.
BETWEEN = "\x1f"
# Limits of the number of implicit cells that are audited, and of code combinations that are enumerated.
MOST_CROSSED, MOST_COMBINATIONS = 50_000, 20_000_000


def variable_cycles(tables: Iterable[Variables]) -> list[Variables]:
    """Return the variables of cycles, such as a, b, c in the tables a by b, b by c and a by c, by groups of cycles.

    Tables without a cycle disclose together no more than their common cells do: whatever these allow, some cross of
    all variables agrees (Vorob'ev 1962, doi:10.1137/1107014). In a cycle the cross must agree with all tables at once,
    which narrows it. Variables in no cycle are removed repeatedly until none is left (Graham 1979; Yu and Ozsoyoglu
    1979).

    >>> [sorted(own) for own in variable_cycles([frozenset("ab"), frozenset("bc"), frozenset("acd")])]
    [['a', 'b', 'c']]
    >>> variable_cycles([frozenset("ab"), frozenset("bc"), frozenset("ac"), frozenset("abc")])
    []
    """
    left, before = _maximal(tables), list[Variables]()
    while left != before:
        before = left
        shared = {name for one, two in combinations(left, 2) for name in one & two}
        left = _maximal(own & shared for own in left)
    return connected(left)


def _maximal(sets: Iterable[Variables]) -> list[Variables]:
    """Return the distinct sets that are not contained in another."""
    distinct = sorted({own for own in sets if own}, key=sorted)
    return [own for own in distinct if not any(own < other for other in distinct)]


class ImplicitCells(Value):
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
    left_out: tuple[Message, ...] = ()
    dispensable: tuple[Message, ...] = ()


def cross_of(coverage: Coverage, empty: BoolArray, linked: frozenset[str] = frozenset()) -> ImplicitCells:
    """Build the implicit cells of all crosses that disclose more than the common cells of the tables; none if there is
    no cycle and no table of other values shows further empty cells.

    Args:
        coverage: The tables, and those of other values of the same records.
        empty: Which cells of all tables are publicly known to be empty.
        linked: Variables of linked columns, whose codes may differ between tables. A cross that only these require
            is left out if it would have too many cells.

    Raises:
        UnattainableError: There would be too many cells.
    """
    size, rows, broken, left_out, optional = 0, list[Row](), list[str](), list[Message](), list[Message]()
    informative = _informative(coverage)
    own = [table for table in coverage.tables if table.presence is None]
    cycles = connected(
        [*variable_cycles([*(one.variables for one in own), *informative.values()]), *informative.values()]
    )
    for variables in connected([*cycles, *partition_cycles(own, linked)]):
        cycle = _Cycle.of(coverage, variables, informative.keys())
        needed, names = any(one <= variables for one in cycles), " by ".join(sorted(variables))
        message = Message("note.cross_left_out", names=" by ".join(sorted(cycle.blocks)))
        if not needed:
            optional.append(message)
        if not all(margin.cells for margin in cycle.margins):
            # A table has no cells that agree with the others.
            broken += [names] if needed else []
            continue
        try:
            more = cycle.cross(empty, len(empty) + size)
        except UnattainableError:
            if needed and not cycle.others:
                raise
            if needed:
                broken.append(names)
            else:
                left_out.append(message)
            continue
        size, rows = size + more.size, [*rows, *more.rows]
    return ImplicitCells(size, tuple(rows), tuple(broken), tuple(left_out), () if cycles else tuple(optional))


def _informative(coverage: Coverage) -> dict[int, Variables]:
    """Return the tables of other values, by number, that show empty cells which the audited tables do not, with their
    shared variables.
    """
    seen = [name for one in coverage.tables for name in one.variables]
    own = frozenset(name for one in coverage.tables if one.presence is None for name in one.variables)
    informative = {}
    for number, one in enumerate(coverage.tables):
        variables = frozenset(name for name in one.variables if name in own or seen.count(name) > 1)
        if one.presence is not None and len(variables) > 1 and not _is_known(coverage, one, variables):
            informative[number] = variables
    return informative


def _is_known(coverage: Coverage, one: CodedTable, variables: Variables) -> bool:
    """Return whether an audited table is at least as fine, and so has the same empty cells."""
    return any(
        two.presence is None
        and variables <= two.variables
        and coverage.is_whole(two, variables)
        and all(is_finer(two.leaves[name], one.leaves[name]) for name in variables)
        for two in coverage.tables
    )


class _Margin(Value):
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


class _Cycle(Value):
    """Variables that form a cycle, with their partitions into blocks, their tables, and tables of other values that
    show empty cells.
    """

    blocks: dict[str, list[Cover]]
    margins: tuple[_Margin, ...]
    others: tuple[_Margin, ...] = ()

    @classmethod
    def of(cls, coverage: Coverage, variables: Variables, informative: Iterable[int]) -> "_Cycle":
        # In a cycle, other tables have the totals of one variable; with empty cells, possibly none has.
        others = [coverage.tables[number] for number in informative if coverage.tables[number].variables & variables]
        least = 1 if others else 2
        fitting = [
            one
            for one in coverage.tables
            if len(one.variables & variables) >= least
            and (one.presence is None or any(one is other for other in others))
            and coverage.is_whole(one, variables)
        ]
        with_name = {name: [one for one in fitting if name in one.names] for name in sorted(variables)}
        blocks = {name: coverage.blocks(name, tables) for name, tables in with_name.items() if tables}
        margins = [(one.presence is None, _margin(one, blocks)) for one in fitting]
        return cls(
            blocks,
            tuple(margin for audited, margin in margins if audited),
            tuple(margin for audited, margin in margins if not audited),
        )

    def cross(self, empty: BoolArray, first: int) -> ImplicitCells:
        """Build the cells that may be nonzero, numbered from `first`.

        Raises:
            UnattainableError: There are too many cells.
        """
        shape = [len(own) for own in self.blocks.values()]
        if prod(shape) > MOST_COMBINATIONS:
            raise self._too_many(prod(shape))
        there = np.ones(shape, bool)
        for margin in (*self.margins, *self.others):
            there &= self._possible(margin, empty)
        count = int(there.sum())
        if count > MOST_CROSSED:
            raise self._too_many(count)
        numbers = np.full(there.shape, -1, np.int64)
        numbers[there] = np.arange(count) + first
        return ImplicitCells(count, tuple(self._rows(numbers, empty)))

    def _too_many(self, count: int) -> UnattainableError:
        return UnattainableError("joint-size.the_tables_together_are_sums", count=count, names=" by ".join(self.blocks))

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


def _margin(table: CodedTable, blocks: Mapping[str, Sequence[Cover]]) -> _Margin:
    kept = {place: name for place, name in enumerate(table.names) if name in blocks}
    roots = [tree.root for tree in table.trees]
    summed = [all(key[place] == root for place, root in enumerate(roots) if place not in kept) for key in table.keys]
    # The blocks that each code covers.
    inside = {
        place: {
            code: np.array([number for number, block in enumerate(blocks[name]) if block <= cover], np.int64)
            for code, cover in table.covers[name].items()
        }
        for place, name in kept.items()
    }
    names, all_ = tuple(kept.values()), tuple(inside[place][roots[place]] for place in kept)
    parts = {
        row: tuple(inside[place][table.keys[row][place]] for place in kept)
        for row in _finest(table, np.array(summed, bool))
    }
    if table.presence is not None:
        return _Margin(names, all_, (), tuple(own for row, own in parts.items() if table.presence[row]))
    differing = np.zeros(len(table.keys), bool) if table.differing is None else table.differing
    return _Margin(
        names,
        all_,
        tuple((int(table.cells[row]), own) for row, own in parts.items() if not differing[row]),
        tuple(own for row, own in parts.items() if differing[row]),
    )


def _finest(table: CodedTable, summed: BoolArray) -> list[int]:
    """Return the given cells that are not totals of others of them."""
    relations, totals = table.relations(), set[int]()
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        if summed[cells].all():
            totals.update(cells[coefs < 0].tolist())
    return [cell for cell in np.flatnonzero(summed).tolist() if cell not in totals]


# A table by municipality is also one by district, but not the other way round; types and districts are both sums of
# municipalities, and neither follows from the other. So a variable is split into as many as there are partitions of it.
def partition_cycles(tables: Sequence[CodedTable], linked: Iterable[str]) -> list[Variables]:
    """Return the variables of cycles, and variables with two partitions of which neither is finer than the other.

    Args:
        linked: The variables whose codes may differ.
    """
    ways = {name: list(dict.fromkeys(one.leaves[name] for one in tables if name in one.names)) for name in linked}
    edges = [_partitions(table, ways) for table in tables]
    mixed = [
        frozenset(f"{name}{BETWEEN}{place}" for place in range(len(own)))
        for name, own in ways.items()
        if not all(is_finer(one, two) or is_finer(two, one) for one, two in combinations(own, 2))
    ]
    cycles = connected([*variable_cycles([*edges, *mixed]), *mixed])
    return connected(frozenset(name.partition(BETWEEN)[0] for name in cycle) for cycle in cycles)


def _partitions(table: CodedTable, ways: Mapping[str, Sequence[Leaves]]) -> Variables:
    """Return the variables of a table; one with several partitions is replaced by those its codes can be summed to."""
    return frozenset(
        f"{name}{BETWEEN}{place}" if name in ways else name
        for name in table.names
        for place, way in enumerate(ways.get(name, [table.leaves[name]]))
        if name not in ways or is_finer(table.leaves[name], way)
    )


def is_finer(fine: Leaves, coarse: Leaves) -> bool:
    """Return whether every code of one partition lies within one code of the other.

    >>> is_finer(frozenset({frozenset("a"), frozenset("b")}), frozenset({frozenset("ab")}))
    True
    """
    unit = {code: place for place, cover in enumerate(coarse) for code in cover}
    return all(len({unit.get(code, -1) for code in cover}) == 1 for cover in fine)
