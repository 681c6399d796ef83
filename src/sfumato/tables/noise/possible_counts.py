"""Which true counts are possible for a published one, given the perturbation table, which everyone may know.

A count is possible if its row of the table, or the last one for large counts, can yield the published number. If one of
them yields it far more often than all others together, a reader takes it for the true one.
"""

from collections.abc import Sequence

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.cells.system import Bounds, Numbers, Places
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.noise.feasibility_intervals import FeasibilityIntervals, feasibility_intervals
from sfumato.tables.noise.ptable import Ptable
from sfumato.values import Value

# Posterior probability from which a data user is taken to know the count.
SURE = 0.95
# Maximum number of times that intervals are narrowed again after their ends moved to possible counts.
TURNS = 3


class PossibleCounts(Value):
    """The possible true counts of a published number.

    Attributes:
        counts: The possible counts, ascending.
        chances: The probability of each to be published as that number.
    """

    counts: Places
    chances: Numbers

    @property
    def likeliest(self) -> int | None:
        """The count that a data user takes for the true one; None if none is likely enough."""
        first = int(self.chances.argmax())
        return int(self.counts[first]) if self.chances[first] >= SURE * self.chances.sum() else None


def possible_counts_of(table: Ptable, published: int, zeros: float) -> PossibleCounts:
    """Return the possible true counts of a published number.

    Args:
        table: The perturbation table.
        zeros: The share of empty cells that is published as the smallest positive number.

    >>> from sfumato.tables.noise.ptable import PtableRow
    >>> one = PtableRow(1, np.array([0, 4]), np.array([0.75, 0.25]))
    >>> rows = one, PtableRow(2, np.array([0, 2]), np.array([0.5, 0.5]))
    >>> [possible_counts_of(Ptable(rows), count, 0.0).counts.tolist() for count in (2, 0)]
    [[2, 4], [0, 1, 2]]
    """
    chances: dict[int, float] = {}
    if published == 0 or (zeros and published == table.js + 1):
        chances[0] = 1.0 - zeros if published == 0 else zeros
    for row in table.rows[:-1]:
        chances[row.count] = float(row.chances[row.targets == published].sum())
    last = table.rows[-1]
    for target, chance in zip(last.targets.tolist(), last.chances.tolist(), strict=True):
        count = published - (target - last.count)
        if count >= last.count:
            chances[count] = chance
    possible = sorted(count for count, chance in chances.items() if chance > 0)
    return PossibleCounts(np.array(possible, np.int64), np.array([chances[count] for count in possible]))


def possible_counts(table: Ptable, published: Numbers, zeros: float, values: Numbers | None = None) -> list[Places]:
    """Return the possible counts of each published number; given true values, the count alone if correctly
    inferred.

    Raises:
        DataError: The perturbation table yields a published number for no count.
    """
    unique = {number: possible_counts_of(table, round(number), zeros) for number in set(published.tolist())}
    wrong = [number for number, own in unique.items() if not len(own.counts) or number != round(number)]
    if wrong:
        raise DataError("contradiction.a_published_number_is")
    known = [unique[number] for number in published.tolist()]
    if values is None:
        return [own.counts for own in known]
    return [
        np.array([own.likeliest]) if own.likeliest == value else own.counts
        for own, value in zip(known, values.tolist(), strict=True)
    ]


def hull_of(possible: Sequence[Places]) -> Bounds:
    """Return the minimum and maximum of the possible counts."""
    return Bounds(
        np.array([float(own[0]) for own in possible]),
        np.array([float(own[-1]) for own in possible]),
    )


def snapped(ranges: Bounds, possible: Sequence[Places]) -> Bounds:
    """Return intervals narrowed to ends that are possible counts."""
    low, high = ranges.low.copy(), ranges.high.copy()
    for cell, own in enumerate(possible):
        inside = own[(own >= low[cell] - 1e-6) & (own <= high[cell] + 1e-6)]
        if len(inside):
            low[cell], high[cell] = max(low[cell], inside[0]), min(high[cell], inside[-1])
    return Bounds(low, high)


def reader_counts(
    possible: Sequence[Places], part: TablePart, deadline: Deadline, center: Numbers | None = None
) -> FeasibilityIntervals:
    """Compute intervals of true counts from the possible counts and the constraints, repeated until ends are
    possible.

    Args:
        possible: The possible counts of each cell.
        center: Values that add up and lie in the intervals; by default the true ones.
    """
    values = part.table.values if center is None else center
    hull = hull_of(possible)
    start = Bounds(np.minimum(hull.low, values), np.maximum(hull.high, values))
    reader = FeasibilityIntervals(start, np.zeros(len(values), bool))
    for _ in range(TURNS):
        reader = feasibility_intervals(
            start, part.table.constraints, part.table.sensitive, part.knowledge.precision, deadline, values
        )
        ends = snapped(reader.ranges, possible)
        start = Bounds(np.minimum(ends.low, values), np.maximum(ends.high, values))
        if np.array_equal(start.low, reader.ranges.low) and np.array_equal(start.high, reader.ranges.high):
            break
    return FeasibilityIntervals(start, reader.attained)
