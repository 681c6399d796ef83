"""Express τ-ARGUS tables of the same records in linked variables: cells of one are sums of cells of another.

Variables that determine each other, entirely or for some codes, become one variable, whose codes are the combinations
that occur in the records.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sfumato.tables.argus.office_table import ArgusTable, Finer, masked_of
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.system import BoolArray, Places
from sfumato.tables.linked.cells import coded_office, own_identity
from sfumato.tables.linked.codes import BETWEEN, Cover, axes_of
from sfumato.tables.linked.records import Chain
from sfumato.tables.linked.view import CodedTable, Coverage, Identity, TableView
from sfumato.values import Value, replace


class ZeroPattern(Value):
    """The cells of another table of the same records that may have records; unlisted cells have none."""

    table: ArgusTable
    filled: BoolArray


def presence_of(table: ArgusTable, changed: bool = False) -> ZeroPattern:
    """Return which cells have records, as far as the table shows; perturbed or suppressed cells always may have some.

    Args:
        changed: Whether the numbers of the table were perturbed.
    """
    if changed or table.frequency is None:
        return ZeroPattern(table, np.ones(len(table), bool))
    return ZeroPattern(table, np.asarray((table.frequency > 0) | masked_of(table.statuses)))


class OfficeView(Value):
    """A τ-ARGUS table expressed in linked variables.

    Attributes:
        whole: The original table.
        coded: The same table in linked variables; if it crosses some of them, only the finest of their codes and
            totals. Its cells are positions in `whole`.
        named: `whole` with variable names that are the same in all tables; None if no variables are linked.
    """

    whole: ArgusTable
    coded: CodedTable
    named: TableView | None = None

    @property
    def linked(self) -> dict[str, tuple[str, ...]]:
        """The columns of its linked variables, by their name in lower case."""
        axes = () if self.named is None else self.named.axes
        return {axis.variable.lower(): axis.columns for axis in axes if axis.variable}

    @property
    def inconsistent(self) -> dict[str, Cover]:
        """The combinations of inconsistent records of each linked variable."""
        axes = () if self.named is None else self.named.axes
        return {axis.variable.lower(): axis.inconsistent for axis in axes if axis.inconsistent}

    def section(self, number: int, cells: Places) -> TableView | None:
        """Return the original table with its joint cells; None if no variables are linked.

        Recoded codes get a variable name of their own: another table may use the same codes differently.
        """
        if self.named is None:
            return None
        axes = tuple(
            replace(axis, tree=replace(axis.tree, name=_new_name(axis.tree.name, number)))
            if not axis.variable and axis.tree.name in self.coded.origins
            else axis
            for axis in self.named.axes
        )
        return replace(self.named, cells=cells, axes=axes)

    def identities(self, coded: CodedTable, number: int, coverage: Coverage) -> list[Identity]:
        """Return the identity of each cell of the original table, which has the given number among the tables."""
        rows = {cell: row for row, cell in enumerate(coded.cells.tolist())}
        return [
            coverage.identity(coded, rows[cell]) if cell in rows else self._identity(coded, number, coverage, cell)
            for cell in range(len(self.whole))
        ]

    def _identity(self, coded: CodedTable, number: int, coverage: Coverage, cell: int) -> Identity:
        """Return the identity of a cell that crosses linked variables: the intersection of what its codes cover."""
        covers = {name: coded.covers[name][tree.root] for name, tree in zip(coded.names, coded.trees, strict=True)}
        axes = () if self.named is None else self.named.axes
        for axis, tree, code in zip(axes, self.whole.trees, self.whole.keys[cell], strict=True):
            if code != tree.root and axis.variable:
                covers[axis.variable.lower()] &= axis.covers[code]
            elif code != tree.root:
                covers[tree.name.lower()] = coded.covers[tree.name.lower()][code]
        # A combination of codes without records is not a cell of any other table.
        return coverage.of(covers.items()) if all(covers.values()) else own_identity(number, cell)


def linked_views(tables: Sequence[ArgusTable]) -> list[OfficeView]:
    """Express tables in the variables that are linked in their records.

    Raises:
        UnattainableError: There are too many combinations of codes.
    """
    chains = tuple(dict.fromkeys(chain for table in tables for chain in table.chains))
    if not chains:
        return [OfficeView(table, replace(coded_office(table), finer=table.finer)) for table in tables]
    linked = {name for chain in chains for name in chain.columns}
    named = [_named(table, number, linked) for number, table in enumerate(tables)]
    recodings = [chain for number, table in enumerate(tables) for chain in _recodings(table, number, linked)]
    axes = axes_of([table.trees for table in named], (*chains, *recodings), [table.keys for table in named])
    views = []
    for whole, table, own in zip(tables, named, axes, strict=True):
        view = TableView("", TextColumns({}), table.trees, table.keys, np.arange(len(table)), own)
        coded, plain = view.coded(), coded_office(table)
        finer = whole.finer and _finer(whole.finer, {axis.variable.lower(): axis.columns for axis in own})
        filled = None if plain.filled is None else plain.filled[coded.cells]
        origins = {**plain.origins, **coded.origins}
        views.append(OfficeView(whole, replace(coded, filled=filled, origins=origins, finer=finer), view))
    return views


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
    names = [tree.name.lower() for tree in table.trees]
    trees = tuple(
        replace(tree, name=_new_name(name, number) if name in recoded else name)
        for tree, name in zip(table.trees, names, strict=True)
    )
    origins = {name.lower(): own for name, own in table.origins.items() if name.lower() not in recoded}
    return table.with_columns(trees=trees, origins=origins)


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
