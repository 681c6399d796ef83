"""The order of the rows of a table that is handed out: by their codes alone, whatever order the cells came in.

Rows that came sorted by their values would tell a masked value by its neighbors.
"""

import math
from collections.abc import Sequence

from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.dimensions import Code, Tree
from sfumato.tables.cells.parts import Part

Rank = tuple[tuple[float, str], ...]


def by_codes(parts: Sequence[Part], columns: Columns) -> list[int]:
    """The rows of the source: groups in order, each total before its parts, numbers before texts.

    A table given by cells and relations has ids instead of codes.
    """
    ranked = []
    for part in parts:
        group = tuple(ordered(text) for text in part.group)
        ranked += [(group, rank, int(row)) for rank, row in zip(_ranks(part, columns), part.rows, strict=True)]
    return [row for *_, row in sorted(ranked)]


def _ranks(part: Part, columns: Columns) -> list[tuple[Rank, ...]]:
    if not part.trees:
        return [((ordered(text),),) for text in columns.rows(part.rows).text("id")]
    return [tuple(_path(tree, code) for tree, code in zip(part.trees, key, strict=True)) for key in part.keys]


def _path(tree: Tree, code: Code) -> Rank:
    """The codes from below the total down to one: empty for the total itself, which so comes first."""
    if tree.levels:
        return tuple(ordered(text) for text in code[: tree.height(code)])
    path: list[tuple[float, str]] = []
    while code != tree.root:
        path.append(ordered(code[0]))
        code = tree.parents[code]
    return tuple(reversed(path))


def ordered(text: str) -> tuple[float, str]:
    """What codes are sorted by: numbers by their size, all other texts after them.

    >>> sorted(["b", "10", "9", "a", "nan"], key=ordered)
    ['9', '10', 'a', 'b', 'nan']
    """
    try:
        number = float(text)
    except ValueError:
        return math.inf, text
    return (number, text) if math.isfinite(number) else (math.inf, text)
