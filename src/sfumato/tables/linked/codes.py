"""Common names for codes in all linked tables, and the combinations of record codes that each covers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sfumato.errors import UnattainableError
from sfumato.localization.messages import joined
from sfumato.tables.cells.constraints import Key
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.linked.records import Chain, connected
from sfumato.values import Value, field, replace

# Maximum number of code combinations.
MOST = 500_000
# Separator between the codes of a combination; no code contains it.
BETWEEN = "\x1f"
# The codes of some columns of a combination; a column without information is left out.
Combination = Mapping[str, str]
# The record codes that a code covers.
Cover = frozenset[str]


class LinkedColumns(Value):
    """Columns linked by chains, and which combinations each code of some of them covers.

    Cells are identified by the combinations that a code covers, because tables name the same cell differently. With
    level columns [Land, Kreis] a cell is called (N, Total); in a table with the column Land alone it is called N. With
    [Land, Kreis, Gemeinde], (N, N1, Total) is the cell (N, N1) of the former.

    Attributes:
        inconsistent: The combinations of the few inconsistent records.
    """

    columns: tuple[str, ...]
    combinations: tuple[Combination, ...]
    inconsistent: Cover = frozenset()
    _covers: dict[tuple[str, ...], dict[Code, Cover]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The columns' name as one variable."""
        return "/".join(self.columns)

    def cover(self, columns: tuple[str, ...], code: Code) -> Cover:
        """Return the combinations that a code of some columns covers."""
        if columns not in self._covers:
            self._covers[columns] = self._covers_of(columns)
        return self._covers[columns].get(code, frozenset())

    def add(self, columns: tuple[str, ...], code: Code, cover: Cover) -> None:
        """Set what a code covers that occurs in no combination."""
        if not self.cover(columns, code):
            self._covers[columns][code] = cover

    def _covers_of(self, columns: tuple[str, ...]) -> dict[Code, Cover]:
        covers: dict[Code, set[str]] = {}
        for one in self.combinations:
            if all(column in one for column in columns):
                text = _text(self.columns, one)
                covers.setdefault(tuple(one[column] for column in columns), set()).add(text)
        return {code: frozenset(cover) for code, cover in covers.items()}


def _text(columns: Sequence[str], one: Combination) -> str:
    return BETWEEN.join(one.get(column, "") for column in columns)


def columns_of(tree: CodeTree) -> tuple[str, ...]:
    """Return the columns of a dimension, from the top down."""
    return tuple(reversed(tree.levels)) or (tree.name,)


def path_of(tree: CodeTree, code: Code) -> Code:
    """Return the codes of a level from the top down, without totals; for a single column, its code."""
    return code[: tree.height(code)] if tree.levels else code


def linked_columns(trees: Sequence[CodeTree], known: Iterable[Chain] = ()) -> list[LinkedColumns]:
    """Return the linked columns, if dimensions use them in different ways.

    Args:
        known: Chains found in the records.

    Raises:
        UnattainableError: There are too many combinations of codes.
    """
    chains = [*known, *_chains(trees)]
    linked = []
    for columns in connected(frozenset(chain.columns) for chain in chains):
        own = [tree for tree in trees if columns_of(tree)[0] in columns]
        if len({columns_of(tree) for tree in own}) > 1:
            linked.append(_linked([chain for chain in chains if chain.columns[0] in columns], own))
    return linked


def _chains(trees: Iterable[CodeTree]) -> list[Chain]:
    """Return the level columns of dimensions, those with most levels first."""
    rows: dict[tuple[str, ...], set[Code]] = {}
    for tree in trees:
        if tree.levels:
            below = set(tree.parents.values())
            own = rows.setdefault(columns_of(tree), set())
            own.update(code for code in tree.parents if code not in below and len(path_of(tree, code)) == len(code))
    ordered = sorted(rows.items(), key=lambda entry: (-len(entry[0]), entry[0]))
    return [Chain(columns, frozenset(codes)) for columns, codes in ordered]


def _linked(chains: Sequence[Chain], trees: Sequence[CodeTree]) -> LinkedColumns:
    """Join chains on their common columns into combinations of linked columns."""
    waiting, columns, combinations = list(chains), list[str](), list[Combination]()
    while waiting:
        chain = next((one for one in waiting if set(one.columns) & set(columns)), waiting[0])
        waiting.remove(chain)
        combinations = _joined(combinations, columns, chain)
        columns += [name for name in chain.columns if name not in columns]
    odd = frozenset(
        _text(columns, one)
        for chain in chains
        for one in (combinations if chain.inconsistent else ())
        if tuple(one.get(column, "") for column in chain.columns) in chain.inconsistent
    )
    linked = _with_hierarchies(LinkedColumns(tuple(columns), tuple(combinations), odd), trees)
    alone = {tuple(one.items()): one for tree in trees for one in _alone(tree, linked)}
    if not alone:
        return linked
    return _with_hierarchies(LinkedColumns(linked.columns, (*combinations, *alone.values()), odd), trees)


def _with_hierarchies(linked: LinkedColumns, trees: Iterable[CodeTree]) -> LinkedColumns:
    """Set what the inner codes of hierarchies cover: another table may have them as its finest codes."""
    for tree in trees:
        for code, cover in covers_of(tree, linked).items() if not tree.levels else ():
            if cover:
                linked.add((tree.name,), code, cover)
    return linked


def covers_of(tree: CodeTree, linked: LinkedColumns) -> dict[Code, Cover]:
    """Return what each code of a dimension covers, by its level columns or by the children in its hierarchy."""
    columns, parts = columns_of(tree), tree.children()

    def cover(code: Code) -> Cover:
        if code in parts and not tree.levels:
            return frozenset().union(*map(cover, parts[code]))
        path = path_of(tree, code)
        return linked.cover(columns[: len(path)], path)

    return {code: cover(code) for code in tree.parents}


def _joined(combinations: Sequence[Combination], columns: Sequence[str], chain: Chain) -> list[Combination]:
    shared = tuple(name for name in chain.columns if name in columns)
    rows: dict[Code, list[Combination]] = {}
    for code in sorted(chain.rows):
        own = dict(zip(chain.columns, code, strict=True))
        rows.setdefault(tuple(own[name] for name in shared), []).append(own)
    merged, met = list[Combination](), set[Code]()
    for one in combinations:
        key = tuple(one.get(name, "") for name in shared)
        met.add(key)
        merged += [{**one, **own} for own in rows.get(key, [{}])]
        if len(merged) > MOST:
            raise UnattainableError("joint-size.the_codes_of_go_together", columns=joined(chain.columns))
    return merged + [own for key, some in rows.items() if key not in met for own in some]


def _alone(tree: CodeTree, linked: LinkedColumns) -> list[Combination]:
    """Return finest codes that are in no chain; each covers only itself."""
    columns, totals = columns_of(tree), set(tree.parents.values())
    paths = [path_of(tree, code) for code in tree.parents if code not in totals]
    return [dict(zip(columns, path, strict=False)) for path in paths if not linked.cover(columns[: len(path)], path)]


# A code of a column; for level columns, identified by its lowest column.
Name = tuple[str, Code]


class CommonDimension(Value):
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
    of_column, names = {column: one for one in linked for column in one.columns}, _Names()
    linked_trees = [[(tree, of_column.get(columns_of(tree)[0])) for tree in trees] for trees in tables]
    for tree, own in (pair for pairs in linked_trees for pair in pairs):
        if own is not None:
            names.add(tree, own)
    axes = []
    for trees, pairs in zip(whole, linked_trees, strict=True):
        every = zip(trees, pairs, strict=True)
        axes.append(
            _distinct(
                trees, [_own_axis(full) if own is None else _axis(tree, own, names) for full, (tree, own) in every]
            )
        )
    return axes


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


def _axis(tree: CodeTree, linked: LinkedColumns, names: "_Names") -> CommonDimension:
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
