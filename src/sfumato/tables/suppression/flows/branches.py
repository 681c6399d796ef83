"""Moves in one dimension that leave its sums unchanged: a branch of codes, and another with the opposite sign."""

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Numbers, Places

NOTHING = -1
# About how many codes of ways are kept for the next cell.
REMEMBERED = 4_000_000


@dataclass(frozen=True, slots=True)
class Branches:
    """Ways to move in one dimension.

    Attributes:
        codes: The codes that any of them moves.
        together: Ways by codes, 1 where a code moves with the own one.
        against: The same where it moves against it.
    """

    codes: Places
    together: Numbers
    against: Numbers


class BranchMoves:
    """All ways to move in one dimension, by the code of the cell to be moved."""

    def __init__(self, above: Places) -> None:
        self._paths = paths_of(above)
        self._known: dict[tuple[int, int], tuple[Places, Places]] = {}
        self.size = len(above)

    def cheapest(self, own: int, line: Numbers, width: int) -> Branches:
        """The cheapest ways, by the cells that differ in this dimension alone.

        Args:
            own: The code of the cell to be moved.
            line: What the cells of the codes cost that move with it, and that move against it.
            width: How many ways are chosen, besides that up to the total.
        """
        together, against = np.append(line[0], 0.0), np.append(line[1], 0.0)
        level = int((self._paths == own).any(axis=0).argmax())
        below = np.flatnonzero(self._paths[:, level] == own)
        cheapest = together[self._paths[below, level:]].sum(axis=1).argmin() if len(below) > 1 else 0
        moved, opposite = self._from(int(below[cheapest]), level)
        prices = together[moved].sum(axis=1) + against[opposite].sum(axis=1)
        # Everything up to the total is the last of them.
        chosen = np.append(np.argsort(prices[:-1], kind="stable")[:width], len(moved) - 1)
        moved, opposite = moved[chosen], opposite[chosen]
        codes = np.unique(np.concatenate([moved, opposite]))
        codes = codes[codes != NOTHING]
        return Branches(codes, _counted(moved, codes), _counted(opposite, codes))

    def _from(self, detail: int, level: int) -> tuple[Places, Places]:
        """What moves with a code of a level when a detail of it does, and what may move against it, way by way."""
        if len(self._known) * self._paths.size > REMEMBERED:
            self._known.clear()
        if (detail, level) not in self._known:
            first = self._paths[detail]
            met = (self._paths == first).cumprod(axis=1).sum(axis=1)
            # Branches that meet below the own code leave it as it is.
            others = np.flatnonzero(met <= level)
            after = np.arange(len(first)) >= met[others, None]
            moved, opposite = np.where(after, first, NOTHING), np.where(after, self._paths[others], NOTHING)
            nothing = np.full(len(first), NOTHING)
            self._known[detail, level] = np.vstack([moved, first]), np.vstack([opposite, nothing])
        return self._known[detail, level]


def _counted(moved: Places, codes: Places) -> Numbers:
    """Which codes move in each way."""
    return np.asarray((moved[:, :, None] == codes).any(axis=1), np.float64)


def paths_of(above: Places) -> Places:
    """For each code without others below it, the codes from the total down to itself, then nothing."""
    details = np.setdiff1d(np.arange(len(above)), above)
    paths: list[list[int]] = []
    for code in details.tolist():
        path = [code]
        while above[path[0]] >= 0:
            path.insert(0, int(above[path[0]]))
        paths.append(path)
    longest = max(len(path) for path in paths)
    return np.array([path + [NOTHING] * (longest - len(path)) for path in paths], np.int64)
