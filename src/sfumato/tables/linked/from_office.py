"""Office tables of one file of records by variables that are linked: cells of one are sums of cells of another."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.argus.argus_table import ArgusTable, Finer
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.system import Places
from sfumato.tables.linked.codes import BETWEEN, CommonDimension, Cover, axes_of
from sfumato.tables.linked.records import Chain
from sfumato.tables.linked.view import Coverage, Identity, TableView, coded_table, uncrossed, variable_of


@dataclass(frozen=True, slots=True)
class VariableTable:
    """A table expressed in linked variables.

    Attributes:
        whole: The original table.
        table: The same table in linked variables; if it crosses some of them, only the finest of their codes and
            totals.
        cells: The cells of `whole` that `table` consists of.
        axes: What the codes of each dimension of `whole` cover; empty if no variables are linked.
        named: `whole` with variable names that are the same in all tables; None if no variables are linked.
    """

    whole: ArgusTable
    table: ArgusTable
    cells: Places
    axes: tuple[CommonDimension, ...] = ()
    named: ArgusTable | None = None

    def section(self, number: int, cells: Places) -> TableView | None:
        """Return the original table as a table view with its joint cells; None if no variables are linked.

        Recoded codes get a variable name of their own: another table may use the same codes differently.
        """
        if self.named is None:
            return None
        recoded = self.named.origins
        axes = [
            replace(axis, tree=replace(axis.tree, name=_new_name(axis.tree.name, number)))
            if not axis.variable and axis.tree.name in recoded
            else axis
            for axis in self.axes
        ]
        return TableView("", TextColumns({}), self.named.trees, self.named.keys, cells, tuple(axes))

    @property
    def linked(self) -> frozenset[str]:
        """The linked variables of the table."""
        return frozenset(axis.variable.lower() for axis in self.axes if axis.variable)

    def identities(self, number: int, coverage: Coverage) -> list[Identity]:
        """Return the identity of each cell of the original table, which has the given number among the tables."""
        places = {cell: place for place, cell in enumerate(self.cells.tolist())}
        return [
            coverage.identity(number, self.table, places[cell])
            if cell in places
            else self._identity(number, coverage, cell)
            for cell in range(len(self.whole))
        ]

    def _identity(self, number: int, coverage: Coverage, cell: int) -> Identity:
        """Return the identity of a cell that crosses linked variables: the intersection of what its codes cover."""
        known = coverage.covers[number]
        covers = {variable_of(tree): known[variable_of(tree)][tree.root] for tree in self.table.trees}
        for axis, tree, code in zip(self.axes, self.whole.trees, self.whole.keys[cell], strict=True):
            if code != tree.root and axis.variable:
                covers[axis.variable.lower()] &= axis.covers[code]
            elif code != tree.root:
                covers[variable_of(tree)] = known[variable_of(tree)][code]
        # A combination of codes without records is not a cell of any other table.
        return coverage.of(covers.items()) if all(covers.values()) else own_identity(number, cell)


def own_identity(number: int, cell: int) -> Identity:
    """Return the identity of a cell that no other table has."""
    return frozenset({("", frozenset({str(number), str(cell)}))})


def linked_views(tables: Sequence[ArgusTable]) -> list[VariableTable]:
    """Express tables in the variables that are linked in their records.

    Raises:
        UnattainableError: There are too many combinations of codes.
    """
    chains = tuple(dict.fromkeys(chain for table in tables for chain in table.chains))
    if not chains:
        return [VariableTable(table, table, np.arange(len(table))) for table in tables]
    linked = {name for chain in chains for name in chain.columns}
    named = [_named(table, number, linked) for number, table in enumerate(tables)]
    recodings = [chain for number, table in enumerate(tables) for chain in _recodings(table, number, linked)]
    axes = axes_of([table.trees for table in named], (*chains, *recodings), [table.keys for table in named])
    return [_view(table, one, own) for table, one, own in zip(tables, named, axes, strict=True)]


def cover_codes(columns: Sequence[str], cover: Cover, everything: Cover) -> tuple[Sequence[str], str]:
    """Name a part of linked variables, by the codes of one of them if these identify it, otherwise by all codes.

    >>> cover_codes(("gem", "kreis"), frozenset({"a\x1f1", "b\x1f1"}), frozenset({"a\x1f1", "b\x1f1", "c\x1f2"}))
    (['gem'], 'a+b')
    """
    names = [name for name in columns if BETWEEN not in name]
    for place, name in enumerate(columns):
        codes = {text.split(BETWEEN)[place] for text in cover}
        if name in names and cover == {text for text in everything if text.split(BETWEEN)[place] in codes}:
            return [name], "+".join(sorted(codes))
    places = [columns.index(name) for name in names]
    return names, "+".join(sorted(_texts_at(text, places).replace(BETWEEN, "/") for text in cover))


def _new_name(name: str, number: int) -> str:
    """Return the name of a variable as recoded by one table; the original variable determines it."""
    return f"{name}{BETWEEN}{number}"


def _recodings(table: ArgusTable, number: int, linked: Iterable[str]) -> list[Chain]:
    return [
        Chain((name.lower(), _new_name(name.lower(), number)), frozenset((old, new) for new in own for old in own[new]))
        for name, own in table.origins.items()
        if name.lower() in linked
    ]


def _named(table: ArgusTable, number: int, linked: Iterable[str]) -> ArgusTable:
    """Return the table with variable names that are the same in all tables."""
    recoded = {name.lower() for name in table.origins} & set(linked)
    names = [variable_of(tree) for tree in table.trees]
    trees = tuple(
        replace(tree, name=_new_name(name, number) if name in recoded else name)
        for tree, name in zip(table.trees, names, strict=True)
    )
    origins = {name.lower(): own for name, own in table.origins.items() if name.lower() not in recoded}
    return table.with_columns(trees=trees, origins=origins)


def _view(whole: ArgusTable, named: ArgusTable, axes: tuple[CommonDimension, ...]) -> VariableTable:
    section = TableView("", TextColumns({}), named.trees, named.keys, np.arange(len(named)), axes)
    one = uncrossed(section)
    coded = coded_table(one)
    table = named.rows(one.cells).with_columns(
        trees=coded.trees,
        keys=coded.keys,
        origins={**named.origins, **coded.origins},
        finer=None if named.finer is None else _finer(named.finer, {own.variable.lower(): own.columns for own in axes}),
    )
    return VariableTable(whole, table, one.cells, axes, named)


def _finer(finer: Finer, linked: Mapping[str, Sequence[str]]) -> Finer:
    """Return a function that counts records by codes of linked variables."""

    def by_linked(parts: Mapping[str, Sequence[frozenset[str]]]) -> ArgusTable:
        own = {}
        for name, blocks in parts.items():
            columns = linked.get(name, (name,))
            places = [place for place, column in enumerate(columns) if BETWEEN not in column]
            own[BETWEEN.join(columns[place] for place in places)] = [
                frozenset(_texts_at(text, places) for text in block) for block in blocks
            ]
        counted = finer(own)
        trees = tuple(replace(tree, name=name) for tree, name in zip(counted.trees, parts, strict=True))
        return counted.with_columns(trees=trees)

    return by_linked


def _texts_at(text: str, places: Sequence[int]) -> str:
    texts = text.split(BETWEEN)
    return BETWEEN.join(texts[place] for place in places)
