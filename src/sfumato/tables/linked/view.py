"""One of several linked tables by common codes, and which record codes each of its codes covers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.argus.argus_table import ArgusTable, plain_table
from sfumato.tables.argus.statuses import masked_of
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import Key
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.cells.system import BoolArray, Places
from sfumato.tables.linked.codes import CommonDimension, Cover, one_text

# Identity of a cell: the covered codes of each variable, without variables in which it covers everything.
Identity = frozenset[tuple[str, Cover]]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which record codes the codes of several tables cover.

    Attributes:
        covers: For each table and variable, the record codes that each code covers.
        leaves: For each table and variable, what the finest codes cover.
        everything: For each variable, all record codes.
    """

    covers: tuple[Mapping[str, Mapping[Code, Cover]], ...]
    leaves: tuple[Mapping[str, frozenset[Cover]], ...]
    everything: Mapping[str, Cover]

    def identity(self, number: int, table: ArgusTable, cell: int) -> Identity:
        """Return the identity of a cell of a table."""
        pairs = zip(map(variable_of, table.trees), table.keys[cell], strict=True)
        return self.of((name, self.covers[number][name][code]) for name, code in pairs)

    def of(self, covers: Iterable[tuple[str, Cover]]) -> Identity:
        """Return the identity of a cell that covers given codes in each variable."""
        return frozenset((name, cover) for name, cover in covers if cover != self.everything[name])

    def blocks(self, name: str, numbers: Sequence[int]) -> list[Cover]:
        """Return the coarsest partition of a variable of which the codes of all given tables are unions."""
        places: dict[str, list[int]] = {}
        for leaves in (self.leaves[number][name] for number in numbers):
            for place, leaf in enumerate(sorted(leaves, key=sorted)):
                for code in leaf:
                    places.setdefault(code, []).append(place)
            for code in self.everything[name] - frozenset().union(*leaves):
                places.setdefault(code, []).append(-1)
        groups: dict[tuple[int, ...], set[str]] = {}
        for code, own in places.items():
            if code in self.everything[name]:
                groups.setdefault(tuple(own), set()).add(code)
        return sorted((frozenset(group) for group in groups.values()), key=sorted)


def variable_of(tree: CodeTree) -> str:
    """Return the name of a variable, spelled the same for all tables."""
    return tree.name.lower()


def coverage_of(tables: Sequence[ArgusTable]) -> Coverage:
    """Return what the codes of tables cover, by their hierarchies and recodings."""
    below = _hierarchies(tables)
    whole = [{variable_of(tree): _covers(table, tree, below) for tree in table.trees} for table in tables]
    there = _there(tables, whole)
    covers, leaves = [], []
    for table, own in zip(tables, whole, strict=True):
        kept = {
            name: {code: (cover & there[name]) or cover for code, cover in codes.items()} for name, codes in own.items()
        }
        ends = {
            variable_of(tree): _ends(table, tree, kept[variable_of(tree)], there[variable_of(tree)])
            for tree in table.trees
        }
        for tree in table.trees:
            kept[variable_of(tree)][tree.root] = frozenset().union(*ends[variable_of(tree)]) or frozenset({""})
        covers.append(kept)
        leaves.append(ends)
    everything = {
        name: frozenset().union(*(own[name][_root(table, name)] for table, own in _with(tables, covers, name)))
        for name in there
    }
    return Coverage(tuple(covers), tuple(leaves), everything)


def _with(
    tables: Sequence[ArgusTable], covers: Sequence[Mapping[str, Mapping[Code, Cover]]], name: str
) -> list[tuple[ArgusTable, Mapping[str, Mapping[Code, Cover]]]]:
    return [(table, own) for table, own in zip(tables, covers, strict=True) if name in own]


def _root(table: ArgusTable, name: str) -> Code:
    return next(tree.root for tree in table.trees if variable_of(tree) == name)


def _ends(table: ArgusTable, tree: CodeTree, covers: Mapping[Code, Cover], there: Cover) -> frozenset[Cover]:
    """Return what the finest codes of a table cover, if records have it; hierarchies may have finer codes."""
    return frozenset(covers[code] for code in finest_codes(table, tree) if covers[code] <= there)


def finest_codes(table: ArgusTable, tree: CodeTree) -> set[Code]:
    """Return the codes of cells for which the table has no finer cells."""
    place = table.trees.index(tree)
    codes = {key[place] for key in table.keys} - {tree.root}
    return codes - {tree.parents[code] for code in codes}


def _hierarchies(tables: Sequence[ArgusTable]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the children of codes in any hierarchy of their variable that was not recoded."""
    below: dict[str, dict[str, tuple[str, ...]]] = {}
    for table in tables:
        for tree in table.trees:
            known = below.setdefault(variable_of(tree), {})
            for code, parts in tree.children().items() if tree.name not in table.origins else ():
                if code != tree.root:
                    known.setdefault("/".join(code), tuple("/".join(part) for part in parts))
    return below


def _covers(table: ArgusTable, tree: CodeTree, below: Mapping[str, Mapping[str, tuple[str, ...]]]) -> dict[Code, Cover]:
    """Return what each code of a hierarchy covers; the total is set later."""
    origins, parts = table.origins.get(tree.name, {}), tree.children()
    known = below[variable_of(tree)]

    def cover(code: Code) -> Cover:
        if code in parts:
            return frozenset().union(*(cover(part) for part in parts[code]))
        name = "/".join(code)
        return frozenset(origins[name]) if name in origins else _finest(name, known, frozenset())

    return {code: cover(code) for code in tree.parents}


def _finest(name: str, below: Mapping[str, tuple[str, ...]], passed: frozenset[str]) -> Cover:
    """Return the finest codes below a record code, by the hierarchies of all tables."""
    if name in passed or name not in below:
        return frozenset({name})
    return frozenset().union(*(_finest(part, below, passed | {name}) for part in below[name]))


def _there(tables: Sequence[ArgusTable], covers: Sequence[Mapping[str, Mapping[Code, Cover]]]) -> dict[str, Cover]:
    """Return for each variable the codes that have records in some table."""
    sure: dict[str, set[str]] = {}
    unsure: dict[str, list[Cover]] = {}
    for table, own in zip(tables, covers, strict=True):
        filled = _filled(table)
        for place, tree in enumerate(table.trees):
            name, finest = variable_of(tree), finest_codes(table, tree)
            for code in {table.keys[cell][place] for cell in np.flatnonzero(filled)} & finest:
                cover = own[name][code]
                several = len(cover) > 1 and tree.name not in table.origins
                unsure.setdefault(name, []).append(cover) if several else sure.setdefault(name, set()).update(cover)
            sure.setdefault(name, set())
    for name, lists in unsure.items():
        # If only the total of a code is shown, all its children may have records.
        sure[name] = sure[name].union(*(cover for cover in lists if not cover & sure[name]))
    return {name: frozenset(codes) for name, codes in sure.items()}


def _filled(table: ArgusTable) -> BoolArray:
    """Return the cells that are not zero, or that are suppressed."""
    filled = (table.values != 0) | masked_of(table.statuses)
    return np.asarray(filled if table.frequency is None else filled | (table.frequency > 0))


# The codes of a cell in the dimensions that two tables share.
Shared = frozenset[object]


@dataclass(frozen=True, slots=True)
class TableView:
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
        return [variable_of(axis.tree) for axis in self.axes]

    def finest(self, place: int) -> list[Code]:
        """Return the finest codes of a dimension."""
        tree = self.trees[place]
        there, totals = {key[place] for key in self.keys}, set(tree.parents.values())
        return [code for code in tree.parents if code in there and code not in totals]

    def rows_by(self, place: int, shared: frozenset[str]) -> dict[tuple[Code, Shared], int]:
        """Return the rows by the code of a dimension and of the shared variables, with totals in all others."""
        kept = [own for own, name in enumerate(self.variables) if name in shared]
        others = [own for own in range(len(self.trees)) if own not in kept and own != place]
        roots = [tree.root for tree in self.trees]
        return {
            (key[place], self._shared(key, kept)): row
            for row, key in enumerate(self.keys)
            if all(key[own] == roots[own] for own in others)
        }

    def _shared(self, key: Key, kept: Sequence[int]) -> Shared:
        return frozenset(self.axes[own].names[key[own]] for own in kept if key[own] != self.trees[own].root)


def coded_table(section: TableView) -> ArgusTable:
    """Return the table with common codes; its values are placeholders."""
    axes = section.axes
    keys = tuple(tuple(axis.code(code) for axis, code in zip(axes, key, strict=True)) for key in section.keys)
    table = plain_table("", tuple(axis.tree for axis in axes), keys, np.ones(len(keys)))
    return table.with_columns(origins={axis.tree.name: axis.finest for axis in axes if axis.finest})


# Positions of dimensions; those of the same linked columns are merged.
Positions = tuple[int, ...]


def uncrossed(section: TableView) -> TableView:
    """Merge dimensions of the same linked columns in a table; of its cells, the finest and the totals are kept."""
    groups = _crossed_places(section.axes)
    if len(groups) == len(section.axes):
        return section
    axes = tuple(_crossed_axis(section.axes, section.trees, section.keys, places) for places in groups)
    roots = [_joined([section.trees[place].root for place in places]) for places in groups]
    keys = [tuple(_joined([key[place] for place in places]) for places in groups) for key in section.keys]
    kept = [
        row
        for row, key in enumerate(keys)
        if all(
            len(places) == 1 or code == root or code in axis.covers
            for places, code, root, axis in zip(groups, key, roots, axes, strict=True)
        )
    ]
    trees = tuple(
        axis.tree if len(places) > 1 else section.trees[places[0]] for places, axis in zip(groups, axes, strict=True)
    )
    return replace(section, axes=axes, trees=trees, keys=tuple(keys[row] for row in kept), cells=section.cells[kept])


def _crossed_places(axes: Sequence[CommonDimension]) -> list[Positions]:
    """Group the dimensions of a table that are merged; a dimension without crossed linked columns is its own group."""
    count = Counter(axis.variable for axis in axes if axis.variable)
    groups: dict[str, list[int]] = {}
    for place, axis in enumerate(axes):
        groups.setdefault(axis.variable if count[axis.variable] > 1 else f"\0{place}", []).append(place)
    return [tuple(own) for own in groups.values()]


def _crossed_axis(
    axes: Sequence[CommonDimension], trees: Sequence[CodeTree], keys: Sequence[Key], places: Positions
) -> CommonDimension:
    """Merge dimensions of the same linked columns into one, with the finest codes of all and their total.

    Args:
        places: The dimensions to merge.
    """
    if len(places) == 1:
        return axes[places[0]]
    finest = [_finest_codes(trees[place], {key[place] for key in keys}) for place in places]
    covers: dict[Code, Cover] = {}
    for key in keys:
        own = tuple(key[place] for place in places)
        if all(code in codes for code, codes in zip(own, finest, strict=True)):
            covers[_joined(own)] = _cover([axes[place].covers for place in places], own)
    covers = {code: cover for code, cover in covers.items() if cover}
    root = _joined([trees[place].root for place in places])
    first = axes[places[0]]
    tree = CodeTree(first.variable, one_text(root), {one_text(code): one_text(root) for code in covers})
    names = {code: (first.variable, code) for code in covers}
    finest_covers = {one_text(code)[0]: own for code, own in covers.items()}
    return CommonDimension(tree, names, first.variable, covers, finest_covers, first.inconsistent, first.columns)


def _joined(codes: Sequence[Code]) -> Code:
    """Join the codes of several dimensions into one."""
    return tuple(text for code in codes for text in code)


def _finest_codes(tree: CodeTree, codes: set[Code]) -> set[Code]:
    there = codes - {tree.root}
    return there - {tree.parents[code] for code in there}


def _cover(covers: Sequence[Mapping[Code, Cover]], codes: Sequence[Code]) -> Cover:
    """Return what all of the codes cover together."""
    own = [covers[place].get(code, frozenset()) for place, code in enumerate(codes)]
    return frozenset.intersection(*own)
