"""Coordinates of cells: the number of their code in each dimension, and the cells that are their totals."""

import math
from collections.abc import Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Places
from sfumato.tables.cells.constraints import Key
from sfumato.tables.cells.dimensions import Code, CodeTree

NOWHERE = -1
# Positions must fit into 64-bit integers.
MOST_PLACES = 1 << 62


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The codes of cells as numbers.

    Attributes:
        codes: Cells by dimensions; NOWHERE for cells that are in no table.
        above: For each dimension the number of every code's parent; -1 for the total.
    """

    codes: Places
    above: tuple[Places, ...]

    def rows(self, cells: Places) -> "Coordinates":
        """Return the coordinates of some cells."""
        return Coordinates(self.codes[cells], self.above)

    def padded(self, size: int) -> "Coordinates":
        """Return the coordinates extended to `size` cells; the further ones are in no table."""
        more = np.full((size - len(self.codes), self.codes.shape[1]), NOWHERE)
        return Coordinates(np.concatenate([self.codes, more]), self.above)


def coordinates_of(trees: Sequence[CodeTree], keys: Sequence[Key]) -> Coordinates | None:
    """Return the coordinates of cells; None if the table has no dimensions, or too many positions."""
    return joint_coordinates([(trees, keys, np.arange(len(keys)))], len(keys)) if trees else None


def joint_coordinates(
    tables: Sequence[tuple[Sequence[CodeTree], Sequence[Key], Places]], size: int
) -> Coordinates | None:
    """Return the coordinates of the cells of several tables in all their dimensions; totals in those of other
    tables.

    Args:
        tables: For each table its dimensions, the codes of its rows, and the cells of these rows.
    """
    axes = list(dict.fromkeys(_axis(tree) for trees, _, _ in tables for tree in trees))
    if math.prod(len(axis.codes) for axis in axes) > MOST_PLACES:
        return None
    codes = np.full((size, len(axes)), NOWHERE)
    for trees, keys, cells in reversed(tables):
        codes[cells] = 0
        for place, tree in enumerate(trees):
            axis = _axis(tree)
            numbers = {code: number for number, code in enumerate(axis.codes)}
            codes[cells, axes.index(axis)] = [numbers[key[place]] for key in keys]
    return Coordinates(codes, tuple(np.array(axis.above) for axis in axes))


@dataclass(frozen=True, slots=True)
class _Axis:
    """A dimension: its codes, the total first, and the number of each one's parent."""

    name: str
    codes: tuple[Code, ...]
    above: tuple[int, ...]


def _axis(tree: CodeTree) -> _Axis:
    codes = tuple(dict.fromkeys([tree.root, *tree.parents]))
    numbers = {code: number for number, code in enumerate(codes)}
    above = (numbers[tree.parents[code]] if code in tree.parents else NOWHERE for code in codes)
    return _Axis(tree.name, codes, tuple(above))
