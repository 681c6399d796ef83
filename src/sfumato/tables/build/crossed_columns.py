"""Linked columns crossed with one another in a table: Land by Kreis by size, if another table has the Gemeinden.

Together with that table both columns are one dimension, whose codes are pairs of codes and cover the intersection of
both.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sfumato.tables.batch.code_coverage import Cover
from sfumato.tables.build.common_codes import CommonDimension, one_text
from sfumato.tables.build.table_views import TableView
from sfumato.tables.cells.constraints import Key
from sfumato.tables.cells.dimensions import Code, CodeTree

# Positions of dimensions; those of the same linked columns are merged.
Places = tuple[int, ...]


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


def _crossed_places(axes: Sequence[CommonDimension]) -> list[Places]:
    """Group the dimensions of a table that are merged; a dimension without crossed linked columns is its own group."""
    count = Counter(axis.variable for axis in axes if axis.variable)
    groups: dict[str, list[int]] = {}
    for place, axis in enumerate(axes):
        groups.setdefault(axis.variable if count[axis.variable] > 1 else f"\0{place}", []).append(place)
    return [tuple(own) for own in groups.values()]


def _crossed_axis(
    axes: Sequence[CommonDimension], trees: Sequence[CodeTree], keys: Sequence[Key], places: Places
) -> CommonDimension:
    """Merge dimensions of the same linked columns into one, with the finest codes of all and their total.

    Args:
        places: The dimensions to merge.
    """
    if len(places) == 1:
        return axes[places[0]]
    finest = [_finest(trees[place], {key[place] for key in keys}) for place in places]
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


def _finest(tree: CodeTree, codes: set[Code]) -> set[Code]:
    there = codes - {tree.root}
    return there - {tree.parents[code] for code in there}


def _cover(covers: Sequence[Mapping[Code, Cover]], codes: Sequence[Code]) -> Cover:
    """Return what all of the codes cover together."""
    own = [covers[place].get(code, frozenset()) for place, code in enumerate(codes)]
    return frozenset.intersection(*own)
