"""Common names for codes in all linked tables, whichever dimension of which table has them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from sfumato.dataclass import dataclass
from sfumato.tables.batch.code_coverage import Cover
from sfumato.tables.build.column_chains import (
    BETWEEN,
    LinkedColumns,
    columns_of,
    covers_of,
    linked_columns,
    path_of,
)
from sfumato.tables.cells.constraints import Key
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.column_dependencies.column_chain import Chain

# A code of a column; for level columns, identified by its lowest column.
Name = tuple[str, Code]


@dataclass(frozen=True, slots=True)
class CommonDimension:
    """A dimension of one of several tables, with the common names of its codes.

    Attributes:
        tree: The dimension; for linked columns each code is one text.
        names: The common name of each code; equal if codes of two tables are the same.
        variable: Name of the linked columns; empty if the dimension is not linked.
        covers: For linked columns, the combinations that each code covers.
        finest: The same for the finest codes, by their texts.
        inconsistent: The combinations of inconsistent records.
        columns: For linked columns their names, in the order of the codes of combinations.
    """

    tree: CodeTree
    names: Mapping[Code, Name]
    variable: str = ""
    covers: Mapping[Code, Cover] = field(default_factory=dict)
    finest: Mapping[str, Cover] = field(default_factory=dict)
    inconsistent: Cover = frozenset()
    columns: tuple[str, ...] = ()

    def code(self, code: Code) -> Code:
        """Return a code as written in `tree`."""
        return one_text(code) if self.finest else code


def axes_of(
    tables: Sequence[tuple[CodeTree, ...]], known: Sequence[Chain] = (), keys: Sequence[Sequence[Key]] = ()
) -> list[tuple[CommonDimension, ...]]:
    """Return the dimensions of several tables with common code names.

    Args:
        known: Chains of columns found in the records.
        keys: The codes of the cells of each table; other codes of a hierarchy are ignored.

    Raises:
        UnattainableError: There are too many combinations of codes of level columns.
    """
    whole = tables
    if keys:
        tables = [
            tuple(_pruned(tree, {key[place] for key in own}) for place, tree in enumerate(trees))
            for trees, own in zip(tables, keys, strict=True)
        ]
    linked = linked_columns([tree for trees in tables for tree in trees], known)
    if not linked:
        return [tuple(_own_axis(tree) for tree in trees) for trees in whole]
    of_column = {column: one for one in linked for column in one.columns}
    names = _Names()
    for trees in tables:
        for tree in trees:
            if columns_of(tree)[0] in of_column:
                names.add(tree, of_column[columns_of(tree)[0]])
    axes = [[_axis(tree, of_column.get(columns_of(tree)[0]), names) for tree in trees] for trees in tables]
    return [
        _distinct(trees, [axis if axis.variable else _own_axis(tree) for axis, tree in zip(own, trees, strict=True)])
        for trees, own in zip(whole, axes, strict=True)
    ]


def _pruned(tree: CodeTree, codes: set[Code]) -> CodeTree:
    """Keep only the codes of cells and their ancestors."""
    there: dict[Code, Code] = {}
    for start in codes:
        code = start
        while code != tree.root and code not in there:
            there[code] = tree.parents[code]
            code = there[code]
    return replace(tree, parents={code: parent for code, parent in tree.parents.items() if code in there})


def _distinct(trees: Sequence[CodeTree], axes: Sequence[CommonDimension]) -> tuple[CommonDimension, ...]:
    """Keep the original codes of linked columns that a table crosses with one another."""
    count = Counter(axis.variable for axis in axes)
    return tuple(
        replace(axis, tree=_own_axis(tree).tree, finest={}) if axis.variable and count[axis.variable] > 1 else axis
        for tree, axis in zip(trees, axes, strict=True)
    )


def _own_axis(tree: CodeTree) -> CommonDimension:
    """Return a dimension that is not linked with others."""
    name = "/".join(tree.levels) or tree.name
    return CommonDimension(replace(tree, name=name), {code: (name, code) for code in tree.parents})


def _axis(tree: CodeTree, linked: LinkedColumns | None, names: "_Names") -> CommonDimension:
    if linked is None:
        return _own_axis(tree)
    covers, totals = covers_of(tree, linked), set(tree.parents.values())
    parents = {one_text(code): one_text(parent) for code, parent in tree.parents.items()}
    finest = {one_text(code)[0]: cover for code, cover in covers.items() if code not in totals}
    coded = CodeTree(linked.name, one_text(tree.root), parents, series=tree.series)
    return CommonDimension(
        coded, names.of(tree, covers), linked.name, covers, finest, linked.inconsistent, linked.columns
    )


def one_text(code: Code) -> Code:
    """Return a code as one text."""
    return (BETWEEN.join(code),)


def code_names(tree: CodeTree) -> dict[Code, Name]:
    """Return the names of the codes of a dimension, as far as the dimension alone determines them.

    A unit of level columns that has a single parent is named by its lowest column alone.

    >>> tree = CodeTree("", ("T", "T"), {("N", "1"): ("N", "T"), ("N", "T"): ("T", "T")}, ("Kreis", "Land"))
    >>> code_names(tree)["N", "1"]
    ('Kreis', ('1',))
    """
    if not tree.levels:
        return {code: (tree.name, code) for code in tree.parents}
    columns, paths = columns_of(tree), {code: path_of(tree, code) for code in tree.parents}
    count = Counter((len(path), path[-1]) for path in paths.values())
    return {
        code: (columns[len(path) - 1], path[-1:])
        if count[len(path), path[-1]] == 1
        else ("/".join(reversed(columns[: len(path)])), path)
        for code, path in paths.items()
    }


class _Names:
    """The names of codes: codes of the same column that cover the same combinations share a name."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, Cover], Name] = {}
        self._columns: dict[Cover, list[str]] = {}

    def add(self, tree: CodeTree, linked: LinkedColumns) -> None:
        """Name the codes of a dimension, except those that only a hierarchy has."""
        columns, totals = columns_of(tree), set(tree.parents.values())
        for code, cover in covers_of(tree, linked).items():
            path = path_of(tree, code)
            column = columns[len(path) - 1]
            if (tree.levels or code not in totals) and (column, cover) not in self._names:
                self._names[column, cover] = column, path
                self._columns.setdefault(cover, []).append(column)

    def of(self, tree: CodeTree, covers: Mapping[Code, Cover]) -> dict[Code, Name]:
        """Return the names of the codes of a dimension.

        An inner code of a hierarchy gets the name of another column's code if that covers the same, uniquely.
        """
        names, columns, totals = dict[Code, Name](), columns_of(tree), set(tree.parents.values())
        count = Counter(covers.values())
        for code, cover in covers.items():
            if tree.levels or code not in totals:
                names[code] = self._names[columns[len(path_of(tree, code)) - 1], cover]
                continue
            others = [column for column in self._columns.get(cover, ()) if column != tree.name]
            names[code] = self._names[others[0], cover] if others and count[cover] == 1 else (tree.name, code)
        return names
