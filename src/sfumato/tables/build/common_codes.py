"""Common names for codes in all linked tables, whichever dimension of which table has them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from sfumato.dataclass import dataclass
from sfumato.tables.batch.coverage import Cover
from sfumato.tables.build.column_chains import (
    BETWEEN,
    LinkedColumns,
    columns_of,
    covers_of,
    linked_columns,
    path_of,
)
from sfumato.tables.cells.dimensions import Code, Tree
from sfumato.tables.cells.relations import Key
from sfumato.tables.nesting.chain import Chain

# A code of a column, or of level columns by the last of them that it names.
Name = tuple[str, Code]


@dataclass(frozen=True, slots=True)
class Axis:
    """A dimension of one of several tables, by what its codes are called in all of them.

    Attributes:
        tree: The dimension; of linked columns each code is one text.
        names: What each code is called; the same where the codes of two tables are one.
        variable: The linked columns, if they are.
        covers: Of linked columns, the combinations that each code stands for.
        finest: Of codes without parts the same, by their texts.
        odd: The combinations of records that do not fit the others.
        columns: Of linked columns their names, in the order of the codes of combinations.
    """

    tree: Tree
    names: Mapping[Code, Name]
    variable: str = ""
    covers: Mapping[Code, Cover] = field(default_factory=dict)
    finest: Mapping[str, Cover] = field(default_factory=dict)
    odd: Cover = frozenset()
    columns: tuple[str, ...] = ()

    def code(self, code: Code) -> Code:
        """A code as the tree here has it."""
        return one_text(code) if self.finest else code


def axes_of(
    tables: Sequence[tuple[Tree, ...]], known: Sequence[Chain] = (), keys: Sequence[Sequence[Key]] = ()
) -> list[tuple[Axis, ...]]:
    """The dimensions of several tables by what their codes are called in all of them.

    Args:
        tables: The dimensions of each table.
        known: Chains of columns that the records tell of.
        keys: The codes of the cells of each table: what a hierarchy has besides says nothing.

    Raises:
        UnattainableError: Codes of level columns go together in too many ways.
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


def _pruned(tree: Tree, codes: set[Code]) -> Tree:
    """The codes of cells and all above them."""
    there: dict[Code, Code] = {}
    for start in codes:
        code = start
        while code != tree.root and code not in there:
            there[code] = tree.parents[code]
            code = there[code]
    return replace(tree, parents={code: parent for code, parent in tree.parents.items() if code in there})


def _distinct(trees: Sequence[Tree], axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """The dimensions of a table, where linked columns that it crosses with one another keep their codes."""
    count = Counter(axis.variable for axis in axes)
    return tuple(
        replace(axis, tree=_own_axis(tree).tree, finest={}) if axis.variable and count[axis.variable] > 1 else axis
        for tree, axis in zip(trees, axes, strict=True)
    )


def _own_axis(tree: Tree) -> Axis:
    """A dimension of columns that are linked with no others."""
    name = "/".join(tree.levels) or tree.name
    return Axis(replace(tree, name=name), {code: (name, code) for code in tree.parents})


def _axis(tree: Tree, linked: LinkedColumns | None, names: "_Names") -> Axis:
    if linked is None:
        return _own_axis(tree)
    covers, totals = covers_of(tree, linked), set(tree.parents.values())
    parents = {one_text(code): one_text(parent) for code, parent in tree.parents.items()}
    finest = {one_text(code)[0]: cover for code, cover in covers.items() if code not in totals}
    coded = Tree(linked.name, one_text(tree.root), parents, series=tree.series)
    return Axis(coded, names.of(tree, covers), linked.name, covers, finest, linked.odd, linked.columns)


def one_text(code: Code) -> Code:
    """A code as one text."""
    return (BETWEEN.join(code),)


def code_names(tree: Tree) -> dict[Code, Name]:
    """What the codes of a dimension are called in any table, as far as it tells by itself.

    A unit of level columns that lies in one unit above goes by the last of them, as if the column stood alone.

    >>> code_names(Tree("", ("T", "T"), {("N", "1"): ("N", "T"), ("N", "T"): ("T", "T")}, ("Kreis", "Land")))["N", "1"]
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
    """The names of codes: those of the same column that stand for the same combinations have one."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, Cover], Name] = {}
        self._columns: dict[Cover, list[str]] = {}

    def add(self, tree: Tree, linked: LinkedColumns) -> None:
        """Name the codes of a dimension, save those that only a hierarchy has."""
        columns, totals = columns_of(tree), set(tree.parents.values())
        for code, cover in covers_of(tree, linked).items():
            path = path_of(tree, code)
            column = columns[len(path) - 1]
            if (tree.levels or code not in totals) and (column, cover) not in self._names:
                self._names[column, cover] = column, path
                self._columns.setdefault(cover, []).append(column)

    def of(self, tree: Tree, covers: Mapping[Code, Cover]) -> dict[Code, Name]:
        """What the codes of a dimension are called.

        A code above others in a hierarchy is that of another column, where no other code here stands for as much.
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
