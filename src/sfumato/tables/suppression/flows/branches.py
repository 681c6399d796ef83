"""What may move in one dimension so that its sums stay as they are: a branch of codes, and another against it."""

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Numbers, Places

NOTHING = -1


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


def cheapest_branches(paths: Places, own: int, line: Numbers, width: int) -> Branches:
    """The cheapest ways to move in one dimension, by the cells that differ in it alone.

    Args:
        paths: The codes above each code of the most detail and itself, the total first.
        own: The code of the cell to be moved.
        line: What the cells of the codes of this dimension cost that move with it, and that move against it.
        width: How many ways are chosen, besides that up to the total.
    """
    together, against = np.append(line[0], 0.0), np.append(line[1], 0.0)
    level = int(np.flatnonzero((paths == own).any(axis=0))[0])
    below = np.flatnonzero(paths[:, level] == own)
    first = paths[below[np.argmin(together[paths[below, level:]].sum(axis=1))]]
    # Branches that meet below the own code leave it as it is.
    met = (paths == first).cumprod(axis=1).sum(axis=1)
    others = np.flatnonzero(met <= level)
    after = np.arange(paths.shape[1]) >= met[others, None]
    moved, opposite = np.where(after, first, NOTHING), np.where(after, paths[others], NOTHING)
    prices = together[moved].sum(axis=1) + against[opposite].sum(axis=1)
    chosen = np.argsort(prices, kind="stable")[:width]
    # Or everything up to the total.
    moved = np.vstack([moved[chosen], first])
    opposite = np.vstack([opposite[chosen], np.full(len(first), NOTHING)])
    codes = np.unique(np.concatenate([moved, opposite]))
    codes = codes[codes != NOTHING]
    return Branches(codes, _counted(moved, codes), _counted(opposite, codes))


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
