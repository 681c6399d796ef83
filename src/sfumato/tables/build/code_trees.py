"""Build the tree of a dimension: from level columns, from a hierarchy file, or flat."""

from collections.abc import Sequence
from pathlib import Path

from sfumato.tables.cells.dimensions import Code, CodeTree, file_tree, flat_tree, level_tree
from sfumato.tables.plan.crossing import Dimension


def tree_of(name: str, dimension: Dimension, codes: Sequence[Code]) -> CodeTree:
    """Build the tree of a dimension, whose hierarchy file has been located, for the codes of the rows."""
    if dimension.levels:
        return level_tree(name, codes, dimension.levels, dimension.total)
    texts = [code[0] for code in codes]
    if dimension.hierarchy is None:
        return flat_tree(name, texts, dimension.total)
    return file_tree(name, dimension.hierarchy.within(Path()), dimension.total, texts, dimension.encoding)
