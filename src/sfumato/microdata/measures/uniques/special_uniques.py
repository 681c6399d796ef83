"""Special uniques: rows that few columns are enough to single out, scored by how few and how many sets do.

Elliot, M., Manning, A., Ford, R. (2002). A computational algorithm for handling the special uniques problem,
https://doi.org/10.1142/S0218488502001600; Manning, A., Haglin, D., Keane, J. (2008). A recursive search algorithm for
statistical disclosure assessment (SUDA2), https://doi.org/10.1007/s10618-007-0078-6. A minimal unique of a row is a set
of columns that singles it out and of which no part does. A row's score is the sum over its minimal uniques of size s of
(M - s)!, for M columns. DIS (Skinner, C., Elliot, M. (2002), https://doi.org/10.1111/1467-9868.00365) is the
probability that a match with a unique row is right; it is shared out to the rows by their scores (Elliot et al. 2005).

All sets of columns are gone through from small to large; what a smaller set singles out is in no larger one's way.
Where there are too many sets, those up to some size are, and the answer says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, factorial

import numpy as np

from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.measures.uniques import special_kernels
from sfumato.microdata.models.classes import Counts, Floats

# The sampling fraction that DIS takes where nobody knows better.
USUAL_FRACTION = 0.01
# Rows times sets of columns that may be gone through: some seconds of work.
MOST_WORK = 400_000_000
Bits = dict[tuple[int, ...], "np.ndarray"]


@dataclass(frozen=True, slots=True)
class SpecialUniques:
    """The special uniques of a table.

    Attributes:
        rows: Rows with a minimal unique; sizes: how many minimal uniques there are of each number of columns.
        columns: For each column its share of all scores; shares add to more than 1.
        dis: The probability that a match with a unique row is right; fraction: of the population sampled, as taken.
        highest_dis: Of the row with the greatest score.
        largest: Up to which number of columns sets were looked at; complete: whether these are all.
        certain: Whether DIS is 1 only because no two rows are alike.
        scores, shares, row_dis: Of each combination of the table, for the caller alone: never in a report.
    """

    rows: int
    sizes: tuple[int, ...]
    columns: Mapping[str, float]
    dis: float
    fraction: float
    highest_dis: float
    largest: int
    complete: bool
    certain: bool
    scores: Floats = field(repr=False, default_factory=lambda: np.zeros(0))
    shares: Floats = field(repr=False, default_factory=lambda: np.zeros((0, 0)))
    row_dis: Floats = field(repr=False, default_factory=lambda: np.zeros(0))

    def to_dict(self) -> dict[str, object]:
        """Without anything of single rows."""
        names = ("rows", "sizes", "dis", "fraction", "highest_dis", "largest", "complete", "certain")
        return {name: getattr(self, name) for name in names} | {"columns": dict(self.columns)}


def special_uniques(table: FrequencyTable, fraction: float | None = None, work: int = MOST_WORK) -> SpecialUniques:
    """The special uniques of a frequency table.

    Args:
        fraction: Of the population that was sampled; from the weights where there are some, else 0.01.
        work: Rows times sets of columns that may be gone through.
    """
    width = len(table.columns)
    search = _Search(table.codes, table.counts)
    largest = search.run(_largest(width, len(table.counts), work))
    total = float(search.scores.sum())
    taken = _fraction(table) if fraction is None else fraction
    uniques, pairs = int((table.counts == 1).sum()), 2 * int((table.counts == 2).sum())
    dis = dis_of(uniques, pairs, taken)
    row_dis = dis_of_rows(search.scores, uniques, dis, width)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(search.scores[:, None] > 0, search.shares / search.scores[:, None], 0.0)
    columns = search.shares.sum(axis=0) / total if total else np.zeros(width)
    return SpecialUniques(
        int((search.scores > 0).sum()),
        tuple(search.sizes),
        dict(zip(table.columns, columns.tolist(), strict=True)),
        dis,
        taken,
        float(row_dis.max(initial=0.0)),
        largest,
        search.exhausted or largest == width,
        bool(uniques and not pairs),
        search.scores,
        shares,
        row_dis,
    )


def _largest(width: int, rows: int, work: int) -> int:
    """Up to which number of columns the sets are few enough."""
    sets = 0
    for size in range(1, width + 1):
        sets += comb(width, size)
        if size > 1 and sets * rows > work:
            return size - 1
    return width


def _fraction(table: FrequencyTable) -> float:
    weights = None if table.sample is None else table.sample.weights
    return USUAL_FRACTION if weights is None else table.rows * 1e6 / float(weights.sum())


def dis_of(uniques: int, pairs: int, fraction: float) -> float:
    """The probability that a match with a unique row is right.

    Args:
        uniques: Rows that are unique; pairs: rows in classes of exactly two.

    >>> round(dis_of(4, 4, 0.01), 8), round(dis_of(4, 6, 0.01), 8)
    (0.01, 0.00668896)
    """
    right = uniques * fraction
    return right / (right + pairs * (1 - fraction)) if uniques else 0.0


def dis_of_rows(scores: Floats, uniques: int, dis: float, width: int) -> Floats:
    """DIS shared out to rows by their scores; 0 for rows without one."""
    shares = np.zeros(len(scores))
    scored = scores > 0
    if not scored.any() or not dis:
        return shares
    power = 1 + (8 - width) / 20
    strength = scores[scored] ** power * (scores[scored] ** -power).sum()
    shares[scored] = 1 / (1 + (uniques / dis - uniques) / strength)
    return shares


class _Search:
    """Goes through sets of columns from small to large."""

    def __init__(self, codes: "np.ndarray", counts: Counts) -> None:
        self.codes, self.counts = np.ascontiguousarray(codes), counts
        rows, self.width = codes.shape
        self.scores, self.shares = np.zeros(rows), np.zeros((rows, self.width))
        self.sizes: list[int] = []
        self.exhausted = False
        self._rows = np.empty(rows, np.int64)
        self._singled = np.empty(rows, bool)
        self._table = np.empty(2 << max(rows, 1).bit_length(), np.int64)
        self._words = (rows + 63) // 64

    def run(self, largest: int) -> int:
        """Go through all sets up to a size, or until no row is left; up to which size that was."""
        every = np.full(self._words, np.iinfo(np.uint64).max, np.uint64)
        every[-1] >>= np.uint64(-len(self.counts) % 64)
        left: Bits = {(): every}
        for size in range(1, largest + 1):
            left = self._level(left, size)
            if not left:
                self.exhausted = True
                return size
        return largest

    def _level(self, smaller: Bits, size: int) -> Bits:
        """All sets of a size, from what those of one column less have left."""
        points, uniques, larger = float(factorial(self.width - size)), 0, {}
        for chosen in combinations(range(self.width), size):
            parts = [smaller.get((*chosen[:at], *chosen[at + 1 :])) for at in range(size)]
            subsets = [part for part in parts if part is not None]
            if len(subsets) < size:
                continue
            count = special_kernels.common(np.array(subsets), self._rows)
            rows, columns = self._rows[:count], np.array(chosen, np.int64)
            special_kernels.alone(self.codes, self.counts, columns, rows, self._table, self._singled)
            left = np.zeros(self._words, np.uint64)
            single, others = special_kernels.score(
                rows, self.counts, self._singled, columns, points, self.scores, self.shares, left
            )
            uniques += single
            if others:
                larger[chosen] = left
        self.sizes.append(uniques)
        return larger
