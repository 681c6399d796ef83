"""Zero-half cuts: half of a sum of integer rows, rounded to integers.

If a point satisfies rows with equality whose sum is even in every open cell but odd on the right-hand side, half of the
sum is a cut that it violates (Caprara and Fischetti 1996, doi:10.1007/BF02592196; sums are found by elimination as in
Koster, Zymolka and Kutschka 2009, doi:10.1007/s00453-008-9218-7). Three cuts of two cells each are the smallest
example: a point may have half of three cells, a pattern two of them.
"""

from collections.abc import Iterator

import numpy as np

from sfumato.native.array_types import UInt64_2
from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.tables.suppression.master_problem import Cut
from sfumato.values import Value

# Factors by which cuts are multiplied to obtain integer coefficients.
FACTORS = (1.0, 2.0, 3.0)
# Maximum cost of a sum; its cut is violated by half of the difference to 1.
DEAREST = 0.95
# Number of column orders, of examined sums, and of cuts derived from them.
TRIES, SUMS, MOST = 60, 1_500, 100
# Size of the random changes of the column order and of the choice of rows.
COLUMN_WHIM, ROW_WHIM = 0.5, 0.15
# Minimum distance of a point from a violated cut, and maximum parallelism of two cuts of a point.
DISTANCE, PARALLEL = 5e-3, 0.8


class ZeroHalf:
    """Integer rows that patterns satisfy, and the zero-half cuts of their sums; equal seeds give equal cuts."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._chance = np.random.default_rng(0)
        self._rows = _Rows(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
        self._new: list[Cut] = []

    def add(self, cut: Cut) -> None:
        """Add a cut to the rows if it has integer coefficients."""
        whole = _whole(cut)
        if whole is not None:
            self._new.append(whole)

    def cuts(self, shares: Numbers) -> list[Cut]:
        """Return the cuts that a point violates, the most distant first."""
        self._rows, self._new = self._rows.with_cuts(self._new), []
        tight = _tight(self._rows, shares)
        found = [cut for rows in self._sums(tight) if (cut := _half(self._rows, rows, shares)) is not None]
        return _selection(found, shares, self._size)

    def _sums(self, tight: "_Tight") -> Iterator[Places]:
        """Yield the rows of sums that are even in all open cells of a point and odd on the right-hand side."""
        from sfumato.tables.suppression.kernels import odd_sums

        if not len(tight.prices) or not len(tight.rows):
            return
        columns, size = tight.words.shape[1], len(tight.rows)
        own = np.packbits(np.eye(size, -(-size // 64) * 64, dtype=bool), axis=1, bitorder="little").view(np.uint64)
        found, known, count = np.empty((SUMS, own.shape[1]), np.uint64), set[bytes](), 0
        for turn in range(TRIES):
            # The first order follows the cost of cells; later orders are partly random.
            whim = self._chance.random(len(tight.prices)) * (COLUMN_WHIM if turn else 0.0)
            order = np.argsort(-(tight.prices + whim), kind="stable")
            whims = self._chance.random(size) * (ROW_WHIM if turn else 0.0)
            words, odd, slack = np.hstack([tight.words, own]), tight.odd.copy(), tight.slack.copy()
            for sums in found[: odd_sums(words, columns, odd, slack, tight.prices, order, whims, found)]:
                if sums.tobytes() not in known and count < SUMS:
                    known.add(sums.tobytes())
                    count += 1
                    yield tight.rows[np.flatnonzero(np.unpackbits(sums.view(np.uint8), bitorder="little"))]


class _Rows(Value):
    """Integer rows Σ weights · x ≥ least in sparse format, with all entries in one array."""

    cells: Places
    weights: Places
    starts: Places
    least: Places

    def with_cuts(self, cuts: list[Cut]) -> "_Rows":
        if not cuts:
            return self
        sizes = np.cumsum([len(cut.cells) for cut in cuts])
        return _Rows(
            np.concatenate([self.cells, *(cut.cells for cut in cuts)]),
            np.concatenate([self.weights, *(cut.weights.astype(np.int64) for cut in cuts)]),
            np.concatenate([self.starts, len(self.cells) + sizes - [len(cut.cells) for cut in cuts]]),
            np.concatenate([self.least, [int(cut.least) for cut in cuts]]),
        )

    def entries(self, row: int) -> slice:
        end = self.starts[row + 1] if row + 1 < len(self.starts) else len(self.cells)
        return slice(self.starts[row], end)


class _Tight(Value):
    """The rows that a point satisfies almost exactly.

    Attributes:
        rows: The numbers of the rows.
        words: Bits of the open cells in which each row is odd.
        odd: Whether the right-hand side is odd if cells above one half are complemented (1 - x).
        slack: The slack of each row at the point.
        prices: The distance of each cell from the nearer of 0 and 1.
    """

    rows: Places
    words: UInt64_2
    odd: BoolArray
    slack: Numbers
    prices: Numbers


def _whole(cut: Cut) -> Cut | None:
    """Return a cut with integer coefficients; None if no factor gives them."""
    for factor in FACTORS:
        weights, least = cut.weights * factor, cut.least * factor
        if np.abs(weights - np.round(weights)).max(initial=0.0) < 1e-7 and abs(least - np.round(least)) < 1e-6:
            return Cut(cut.cells, np.round(weights), float(np.round(least)))
    return None


def _tight(rows: _Rows, shares: Numbers) -> _Tight:
    count = len(rows.least)
    owners = np.repeat(np.arange(count), np.diff(np.append(rows.starts, len(rows.cells))))
    slack = np.bincount(owners, rows.weights * shares[rows.cells], count) - rows.least
    odd = rows.weights % 2 == 1
    turned = np.bincount(owners, odd & (shares[rows.cells] > 0.5), count).astype(np.int64)
    near = np.flatnonzero(slack < DEAREST)
    cells = np.flatnonzero((shares > 1e-6) & (shares < 1 - 1e-6))
    place, line = np.full(len(shares), -1), np.full(count, -1)
    place[cells], line[near] = np.arange(len(cells)), np.arange(len(near))
    used = odd & (place[rows.cells] >= 0) & (line[owners] >= 0)
    bits = np.zeros((len(near), -(-len(cells) // 64) * 64 + 64), bool)
    bits[line[owners[used]], place[rows.cells[used]]] = True
    bits[:, -1] = (rows.least[near] + turned[near]) % 2 == 1
    words = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    # Of all rows that are odd in the same cells, keep the one with the smallest slack.
    order = np.argsort(slack[near], kind="stable")
    kept = order[np.sort(np.unique(words[order], axis=0, return_index=True)[1])]
    open_shares = shares[cells]
    return _Tight(
        near[kept],
        words[kept, :-1].copy(),
        bits[kept, -1].copy(),
        np.maximum(slack[near][kept], 0.0),
        np.minimum(open_shares, 1 - open_shares),
    )


def _half(rows: _Rows, chosen: Places, shares: Numbers) -> Cut | None:
    """Return half of a sum, rounded up after complementing the cells above one half at the point."""
    weights, least = np.zeros(len(shares), np.int64), int(rows.least[chosen].sum())
    for row in chosen.tolist():
        entries = rows.entries(row)
        weights[rows.cells[entries]] += rows.weights[entries]
    odd = weights % 2 == 1
    turned = odd & (shares > 0.5)
    weights += np.where(odd, np.where(turned, -1, 1), 0)
    least -= int(turned.sum())
    if least % 2 == 0:
        return None
    weights, least = weights // 2, (least + 1) // 2
    if least > 0 and weights.min() >= 0:
        weights = np.minimum(weights, least)
    cells = np.flatnonzero(weights)
    return Cut(cells, weights[cells].astype(np.float64), float(least))


def _selection(cuts: list[Cut], shares: Numbers, size: int) -> list[Cut]:
    """Return the cuts with the largest distance from a point, no two of them nearly parallel."""
    lengths = [float(np.sqrt(cut.weights @ cut.weights)) for cut in cuts]
    distances = np.array([cut.short(shares) / max(length, 1e-9) for cut, length in zip(cuts, lengths, strict=True)])
    chosen: list[Cut] = []
    directions = np.empty((MOST, size))
    for place in np.argsort(-distances, kind="stable").tolist():
        if distances[place] < DISTANCE or len(chosen) == MOST:
            break
        cut, direction = cuts[place], np.zeros(size)
        direction[cut.cells] = cut.weights / lengths[place]
        if (directions[: len(chosen)] @ direction).max(initial=0.0) < PARALLEL:
            directions[len(chosen)] = direction
            chosen.append(cut)
    return chosen
