"""Where cells stand in the space of a table: the number of their code in each dimension, and what lies above it."""

from collections.abc import Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Places
from sfumato.tables.cells.dimensions import Tree
from sfumato.tables.cells.relations import Key


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The codes of cells by their numbers.

    Attributes:
        codes: Cells by dimensions.
        above: For each dimension the number of every code's parent; -1 for the total.
    """

    codes: Places
    above: tuple[Places, ...]

    def rows(self, cells: Places) -> "Coordinates":
        """Those of some cells."""
        return Coordinates(self.codes[cells], self.above)


def coordinates_of(trees: Sequence[Tree], keys: Sequence[Key]) -> Coordinates | None:
    """The coordinates of cells; None where a table has no dimensions."""
    if not trees:
        return None
    codes, above = [], []
    for place, tree in enumerate(trees):
        numbers = {code: number for number, code in enumerate(dict.fromkeys([tree.root, *tree.parents]))}
        above.append(np.array([numbers.get(tree.parents.get(code, ()), -1) for code in numbers], np.int64))
        codes.append(np.array([numbers[key[place]] for key in keys], np.int64))
    return Coordinates(np.stack(codes, axis=1), tuple(above))
