"""Which record codes each code of several tables covers: a recoded code, or the total, covers many.

Two cells are the same if they cover the same codes in every variable, whatever their names. Codes without records in
any table are left out: a total is the same with or without them.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.argus.statuses import masked_of
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.cells.system import BoolArray

# The record codes that a code covers.
Cover = frozenset[str]
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
