"""Columns of records as tables show them: recoded, or by hierarchy levels above their codes.

Raw codes may cover one record each, which proves nothing; the codes that the table shows cover many.
"""

from collections.abc import Iterable, Sequence
from itertools import product

from sfumato.dataclass import dataclass
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.column_dependencies.functional_dependencies import Link
from sfumato.tables.column_dependencies.record_codes import Names, RecordCodes

# Separator between the name of a column and the number of its view; no column name contains it.
WAY = "\x1e"


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column of records as a table shows it.

    Attributes:
        codes: The code that the table shows for each row.
        instead: Whether the table does not show the original codes.
    """

    column: str
    codes: tuple[str, ...]
    instead: bool = False


@dataclass(frozen=True, slots=True)
class ColumnViews:
    """Records with columns as tables show them.

    Attributes:
        records: The records, with a column for each view.
        names: The added columns.
        tables: The columns of each table, once per choice of views.
    """

    records: RecordCodes
    names: Names
    tables: tuple[frozenset[str], ...]


def ways_of(
    records: RecordCodes, tables: Sequence[frozenset[str]], shown: Sequence[Sequence[ShownColumn]]
) -> ColumnViews | None:
    """Return the records with the columns that tables show recoded; None if there are none.

    Args:
        shown: For each table, the columns that it shows recoded.
    """
    ways = dict.fromkeys((one.column, one.codes) for own in shown for one in own)
    if not ways:
        return None
    names = {way: f"{way[0]}{WAY}{place}" for place, way in enumerate(ways)}
    codes = RecordCodes({**records.codes, **{name: own for (_, own), name in names.items()}}, records.counts)
    choices = [
        choice
        for columns, own in zip(tables, shown, strict=True)
        for choice in _choices(columns, own, [names[one.column, one.codes] for one in own])
    ]
    return ColumnViews(codes, tuple(names.values()), tuple(choices))


def _choices(columns: Iterable[str], shown: Sequence[ShownColumn], names: Sequence[str]) -> list[frozenset[str]]:
    """Return the columns of a table for each choice among their views."""
    ways = {column: [column] for column in columns}
    for one in shown:
        ways[one.column] = [] if one.instead else ways[one.column]
    for one, name in zip(shown, names, strict=True):
        ways[one.column].append(name)
    return list(map(frozenset, product(*ways.values())))


def of_records(link: Link) -> Link:
    """Return a link with the original column names."""
    fine = tuple(name.partition(WAY)[0] for name in link.fine)
    return Link(frozenset(name.partition(WAY)[0] for name in link.columns), link.inconsistent, fine)


def upper_levels(column: str, tree: CodeTree, codes: Sequence[str]) -> list[ShownColumn]:
    """Return a column by each hierarchy level above its finest codes; a code on a higher level stays itself.

    >>> tree = CodeTree("gem", ("T",), {("N",): ("T",), ("S",): ("T",), ("a",): ("N",)})
    >>> [one.codes for one in upper_levels("gem", tree, ["a", "S", "a"])]
    [('N', 'S', 'N')]
    """
    paths = {code: _path(tree, (code,)) for code in set(codes)}
    deepest = max(map(len, paths.values()), default=0)
    return [
        ShownColumn(column, tuple(paths[code][min(level, len(paths[code])) - 1] for code in codes))
        for level in range(1, deepest)
    ]


def _path(tree: CodeTree, code: Code) -> list[str]:
    """Return a code and its ancestors without the total, from the top down."""
    path = [code[0]]
    while code in tree.parents and tree.parents[code] != tree.root:
        code = tree.parents[code]
        path.insert(0, code[0])
    return path
