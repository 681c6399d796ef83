"""One of several linked tables by common codes, and which record codes each of its codes covers.

Two cells are the same if they cover the same codes in every variable, whatever their names. Codes without records in
any table are left out: a total is the same with or without them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from sfumato.tables.argus.office_table import Finer
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import Key, derive
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.cells.system import BoolArray, LinearConstraints, Places
from sfumato.tables.linked.codes import CommonDimension, Cover, one_text
from sfumato.values import Value, field, replace

# Identity of a cell: the covered codes of each variable, without variables in which it covers everything.
Identity = frozenset[tuple[str, Cover]]
# A linear constraint: cells and their coefficients.
Row = tuple[list[int], list[float]]


class TableView(Value):
    """One of several linked tables: `cells` are the joint cells of its rows, `axes` the common names of its codes."""

    name: str
    columns: TextColumns
    trees: tuple[CodeTree, ...]
    keys: tuple[Key, ...]
    cells: Places
    axes: tuple[CommonDimension, ...]

    @property
    def variables(self) -> list[str]:
        """The common names of its dimensions."""
        return [axis.tree.name.lower() for axis in self.axes]

    def finest(self, place: int) -> list[Code]:
        """Return the finest codes of a dimension."""
        tree = self.trees[place]
        there, totals = {key[place] for key in self.keys}, set(tree.parents.values())
        return [code for code in tree.parents if code in there and code not in totals]

    def uncrossed(self) -> "TableView":
        """Merge dimensions of the same linked columns; of the cells, the finest and the totals are kept.

        Land by Kreis by size, if another table has the Gemeinden: together with that table both columns are one
        dimension, whose codes are pairs of codes and cover the intersection of both.
        """
        count = Counter(axis.variable for axis in self.axes if axis.variable)
        merged: dict[str, list[int]] = {}
        for place, axis in enumerate(self.axes):
            merged.setdefault(axis.variable if count[axis.variable] > 1 else f"\0{place}", []).append(place)
        return self if len(merged) == len(self.axes) else _merged(self, list(merged.values()))

    def coded(self) -> "CodedTable":
        """Return the table by common codes; dimensions of the same linked columns are merged."""
        own = self.uncrossed()
        axes = own.axes
        return CodedTable(
            tuple(axis.tree for axis in axes),
            tuple(tuple(axis.code(code) for axis, code in zip(axes, key, strict=True)) for key in own.keys),
            own.cells,
            origins={axis.tree.name.lower(): axis.finest for axis in axes if axis.finest},
        )


def _merged(view: TableView, groups: Sequence[Sequence[int]]) -> TableView:
    """Merge the dimensions of each group."""
    axes = tuple(view.axes[own[0]] if len(own) == 1 else _crossed_axis(view, own) for own in groups)
    roots = [_joined(view.trees[place].root for place in own) for own in groups]
    keys = [tuple(_joined(key[place] for place in own) for own in groups) for key in view.keys]
    kept = [
        row
        for row, key in enumerate(keys)
        if all(
            len(own) == 1 or code == root or code in axis.covers
            for own, code, root, axis in zip(groups, key, roots, axes, strict=True)
        )
    ]
    trees = tuple(axis.tree if len(own) > 1 else view.trees[own[0]] for own, axis in zip(groups, axes, strict=True))
    return replace(view, axes=axes, trees=trees, keys=tuple(keys[row] for row in kept), cells=view.cells[kept])


def _crossed_axis(view: TableView, places: Sequence[int]) -> CommonDimension:
    """Merge dimensions of the same linked columns into one, with the finest codes of all and their total.

    The codes of the merged dimension are tuples of codes, which cover the records that all codes of the tuple cover.
    """
    finest = [finest_codes(view.trees[place], (key[place] for key in view.keys)) for place in places]
    covers: dict[Code, Cover] = {}
    for key in view.keys:
        own = [key[place] for place in places]
        if all(code in codes for code, codes in zip(own, finest, strict=True)):
            both = [view.axes[place].covers.get(code, frozenset()) for place, code in zip(places, own, strict=True)]
            if cover := frozenset.intersection(*both):
                covers[_joined(own)] = cover
    root, first = _joined(view.trees[place].root for place in places), view.axes[places[0]]
    tree = CodeTree(first.variable, one_text(root), {one_text(code): one_text(root) for code in covers})
    names = {code: (first.variable, code) for code in covers}
    finest_covers = {one_text(code)[0]: own for code, own in covers.items()}
    return replace(first, tree=tree, names=names, covers=covers, finest=finest_covers)


def _joined(codes: Iterable[Code]) -> Code:
    """Join the codes of several dimensions into one."""
    return tuple(text for code in codes for text in code)


def finest_codes(tree: CodeTree, codes: Iterable[Code]) -> set[Code]:
    """Return those codes of cells for which the table has no finer cells."""
    there = set(codes) - {tree.root}
    return there - {tree.parents[code] for code in there}


class CodedTable(Value):
    """A table by common codes, and what these cover.

    Attributes:
        trees: Its variables.
        cells: The positions of its cells among those of all tables.
        filled: The cells that are not empty, or suppressed; None if all may have records.
        origins: The record codes that each code of a recoded or linked variable covers, by its name in lower case.
        covers: For each variable, the record codes that each code covers; set by `coverage_of`, as are the leaves.
        leaves: For each variable, what the finest codes cover.
        differing: Cells whose value differs from that of the same codes in another table, or that are parts of such.
        presence: For a table of other values of the same records, of which only zeros are used: which cells may have
            records.
        finer: Tabulates the records by other codes, with statuses by the table's rules.
    """

    trees: tuple[CodeTree, ...]
    keys: tuple[Key, ...]
    cells: Places
    filled: BoolArray | None = None
    origins: Mapping[str, Mapping[str, Cover]] = field(default_factory=dict)
    covers: Mapping[str, Mapping[Code, Cover]] = field(default_factory=dict)
    leaves: Mapping[str, frozenset[Cover]] = field(default_factory=dict)
    differing: BoolArray | None = None
    presence: BoolArray | None = None
    finer: Finer | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its variables, spelled the same for all tables."""
        return tuple(tree.name.lower() for tree in self.trees)

    @property
    def variables(self) -> frozenset[str]:
        """Its variables as a set."""
        return frozenset(self.names)

    def finest(self, place: int) -> set[Code]:
        """Return the finest codes of a variable."""
        return finest_codes(self.trees[place], (key[place] for key in self.keys))

    def relations(self) -> LinearConstraints:
        """Return the constraints between its cells."""
        return derive(self.trees, self.keys)


class Coverage(Value):
    """Several tables, and all record codes of each of their variables."""

    tables: tuple[CodedTable, ...]
    everything: Mapping[str, Cover]

    def identity(self, table: CodedTable, row: int) -> Identity:
        """Return the identity of a cell of a table."""
        return self.of(
            (name, table.covers[name][code]) for name, code in zip(table.names, table.keys[row], strict=True)
        )

    def of(self, covers: Iterable[tuple[str, Cover]]) -> Identity:
        """Return the identity of a cell that covers given codes in each variable."""
        return frozenset((name, cover) for name, cover in covers if cover != self.everything[name])

    def is_whole(self, table: CodedTable, variables: Iterable[str]) -> bool:
        """Return whether the totals of a table in its other variables cover everything."""
        roots = {name: tree.root for name, tree in zip(table.names, table.trees, strict=True)}
        return all(table.covers[name][roots[name]] == self.everything[name] for name in roots.keys() - set(variables))

    def blocks(self, name: str, tables: Iterable[CodedTable]) -> list[Cover]:
        """Return the coarsest partition of a variable of which the codes of all given tables are unions."""
        places: dict[str, list[int]] = {code: [] for code in self.everything[name]}
        for table in tables:
            inside: dict[str, list[int]] = {}
            for place, leaf in enumerate(sorted(table.leaves[name], key=sorted)):
                for code in leaf:
                    inside.setdefault(code, []).append(place)
            for code in places:
                places[code] += inside.get(code, [-1])
        groups: dict[tuple[int, ...], set[str]] = {}
        for code, own in places.items():
            groups.setdefault(tuple(own), set()).add(code)
        return sorted((frozenset(group) for group in groups.values()), key=sorted)


def coverage_of(tables: Sequence[CodedTable]) -> Coverage:
    """Return tables with what their codes cover, by their hierarchies and recodings."""
    below = _hierarchies(tables)
    covers = [
        {name: _covers(tree, table.origins.get(name, {}), below[name]) for name, tree in _variables(table)}
        for table in tables
    ]
    there, covered = _there(tables, covers), list[CodedTable]()
    everything: dict[str, Cover] = {}
    for table, own in zip(tables, covers, strict=True):
        leaves: dict[str, frozenset[Cover]] = {}
        for place, (name, tree) in enumerate(_variables(table)):
            codes = {code: (cover & there[name]) or cover for code, cover in own[name].items()}
            # Hierarchies may have codes without records.
            leaves[name] = frozenset(codes[code] for code in table.finest(place) if codes[code] <= there[name])
            codes[tree.root] = frozenset().union(*leaves[name]) or frozenset({""})
            own[name], everything[name] = codes, everything.get(name, frozenset()) | codes[tree.root]
        covered.append(replace(table, covers=own, leaves=leaves))
    return Coverage(tuple(covered), everything)


def _variables(table: CodedTable) -> list[tuple[str, CodeTree]]:
    return list(zip(table.names, table.trees, strict=True))


def _hierarchies(tables: Iterable[CodedTable]) -> dict[str, dict[str, list[str]]]:
    """Return the children of codes in any hierarchy of their variable that was not recoded."""
    below: dict[str, dict[str, list[str]]] = {}
    for table in tables:
        for name, tree in _variables(table):
            known = below.setdefault(name, {})
            for code, parts in tree.children().items() if name not in table.origins else ():
                if code != tree.root:
                    known.setdefault("/".join(code), ["/".join(part) for part in parts])
    return below


def _covers(tree: CodeTree, origins: Mapping[str, Cover], below: Mapping[str, Sequence[str]]) -> dict[Code, Cover]:
    """Return what each code of a hierarchy covers; the total is set later."""
    parts = tree.children()

    def cover(code: Code) -> Cover:
        if code in parts:
            return frozenset().union(*(cover(part) for part in parts[code]))
        name = "/".join(code)
        return frozenset(origins[name]) if name in origins else _record_codes(name, below, frozenset())

    return {code: cover(code) for code in tree.parents}


def _record_codes(name: str, below: Mapping[str, Sequence[str]], passed: frozenset[str]) -> Cover:
    """Return the finest codes below a record code, by the hierarchies of all tables."""
    if name in passed or name not in below:
        return frozenset({name})
    return frozenset().union(*(_record_codes(part, below, passed | {name}) for part in below[name]))


def _there(tables: Sequence[CodedTable], covers: Sequence[Mapping[str, Mapping[Code, Cover]]]) -> dict[str, Cover]:
    """Return for each variable the codes that have records in some table."""
    sure: dict[str, set[str]] = {}
    unsure: dict[str, list[Cover]] = {}
    for table, own in zip(tables, covers, strict=True):
        filled = range(len(table.keys)) if table.filled is None else np.flatnonzero(table.filled).tolist()
        for place, name in enumerate(table.names):
            known = sure.setdefault(name, set())
            for code in {table.keys[row][place] for row in filled} & table.finest(place):
                cover = own[name][code]
                if len(cover) > 1 and name not in table.origins:
                    unsure.setdefault(name, []).append(cover)
                else:
                    known |= cover
    for name, lists in unsure.items():
        # If only the total of a code is shown, all its children may have records.
        sure[name] = sure[name].union(*(cover for cover in lists if not cover & sure[name]))
    return {name: frozenset(codes) for name, codes in sure.items()}


def rows_of(relations: LinearConstraints, cells: Places | None = None) -> Iterator[Row]:
    """Yield the constraints of a table.

    Args:
        cells: The positions of its cells among those of all tables; by default its own are kept.
    """
    for place in range(len(relations)):
        own, coefs = relations.row(place)
        yield (own if cells is None else cells[own]).tolist(), coefs.tolist()


def unique_rows(rows: Iterable[Row]) -> dict[frozenset[tuple[int, float]], Row]:
    """Return the distinct constraints; coefficients of a cell that occurs several times are added up."""
    unique: dict[frozenset[tuple[int, float]], Row] = {}
    for cells, coefs in rows:
        sums: dict[int, float] = {}
        for cell, coef in zip(cells, coefs, strict=True):
            sums[cell] = sums.get(cell, 0.0) + coef
        kept = {cell: coef for cell, coef in sums.items() if coef}
        if kept:
            unique.setdefault(frozenset(kept.items()), (list(kept), list(kept.values())))
    return unique
