"""What a data user can infer from changed numbers: feasibility intervals, and possible counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.cells.system import BoolArray, Bounds, LinearConstraints, Numbers, Places
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.linear_programs import LinearProgram
from sfumato.tables.linked.from_plan import LinkedTable, with_cross
from sfumato.tables.noise.perturbed import PerturbedCells
from sfumato.tables.noise.ptable import Ptable
from sfumato.values import Value, replace

ROUNDS = 30
# A push of all cells that determines less than this share of the open ends is the last one.
WORTH = 0.02


class FeasibilityIntervals(Value):
    """The interval of each cell, and for which cells both ends are attained by feasible tables.

    Repeated propagation of the linear constraints narrows the intervals first, which is fast and always valid. Most
    bounds are attained: a feasible table with all cells as low or as high as possible shows this for many cells at
    once. Linear programs find the other exact bounds within the time limit, those of sensitive cells first.
    """

    ranges: Bounds
    attained: BoolArray


def feasibility_intervals(
    start: Bounds,
    relations: LinearConstraints,
    first: BoolArray,
    step: float,
    deadline: Deadline,
    values: Numbers,
    shown: BoolArray | None = None,
) -> FeasibilityIntervals:
    """Compute the feasibility intervals of the true values.

    Args:
        start: The interval of each cell implied by its published number alone.
        first: The cells whose exact intervals are computed first.
        step: The precision; interval ends are multiples of it.
        values: The true values, which the intervals contain whatever the tolerance of the programs.
        shown: The cells whose intervals are requested; all by default.
    """
    matrix = relations.matrix(len(values))
    ends = _Ends(matrix, on_grid(_narrowed(matrix, on_grid(start, step)), step), values, step)
    if shown is not None:
        ends.leave(~shown)
    # Half of the time is reserved for single cells, sensitive ones first.
    ends.push_all(deadline.share(0.5))
    ends.push_each(np.concatenate([np.flatnonzero(first), np.flatnonzero(~first)]), deadline)
    return FeasibilityIntervals(on_grid(Bounds(ends.low, ends.high), step), ends.at_low & ends.at_high)


class _Ends:
    """The interval ends so far, and which of them a feasible table attains."""

    def __init__(self, matrix: Any, ranges: Bounds, values: Numbers, step: float) -> None:
        self.low, self.high = ranges.low.copy(), ranges.high.copy()
        self.at_low = np.isclose(ranges.low, values) | np.isinf(ranges.low)
        self.at_high = np.isclose(ranges.high, values) | np.isinf(ranges.high)
        self._values, self._slack = values, 1e-6 * step
        self._program = LinearProgram(matrix, Bounds(ranges.low - values, ranges.high - values))

    def leave(self, cells: BoolArray) -> None:
        """Request no ends for some cells."""
        self.at_low |= cells
        self.at_high |= cells

    def push_all(self, deadline: Deadline) -> None:
        """Push all cells with open ends down, then up, as long as this determines many ends."""
        for direction, end in ((1.0, deadline.share(0.5)), (-1.0, deadline)):
            while (left := self._open(direction)).any() and self._pushed(np.where(left, direction, 0.0), end):
                if self._open(direction).sum() > (1 - WORTH) * left.sum():
                    break

    def push_each(self, order: Places, deadline: Deadline) -> None:
        """Push cells one by one: the extreme value of each is its end."""
        costs = np.zeros(len(self._values))
        for direction, ends, shown in ((1.0, self.low, self.at_low), (-1.0, self.high, self.at_high)):
            for cell in order[~shown[order]]:
                costs[cell] = direction
                # Another push may have determined it already; without time it stays open.
                point, least = (None, False) if shown[cell] else self._push(costs, deadline)
                costs[cell] = 0.0
                if point is not None and least:
                    furthest = max if direction > 0 else min
                    ends[cell], shown[cell] = furthest(ends[cell], self._values[cell] + point[cell]), True

    def _open(self, direction: float) -> BoolArray:
        return ~(self.at_low if direction > 0 else self.at_high)

    def _pushed(self, costs: Numbers, deadline: Deadline) -> bool:
        return self._push(costs, deadline)[1]

    def _push(self, costs: Numbers, deadline: Deadline) -> tuple[Numbers | None, bool]:
        """Minimize the costs over feasible deviations, until the time is over, and mark all ends attained."""
        point, least = (None, False) if deadline.over else self._program.least(costs, deadline.left)
        if point is not None:
            self.at_low |= self._values + point <= self.low + self._slack
            self.at_high |= self._values + point >= self.high - self._slack
        return point, least


def _narrowed(matrix: Any, start: Bounds) -> Bounds:
    """Narrow intervals by propagating every constraint: a cell is bounded by the other cells of a constraint."""
    low, high = start.low.copy(), start.high.copy()
    entries = matrix.tocoo()
    rows, cells, coefs = entries.row, entries.col, entries.data
    for _ in range(ROUNDS):
        with np.errstate(invalid="ignore"):  # an unbounded cell implies nothing for its constraints
            ends = np.sort(np.stack([coefs * low[cells], coefs * high[cells]]), axis=0)
            least, most = (np.bincount(rows, end, matrix.shape[0])[rows] - end for end in ends)
            # An undefined difference of infinities is unbounded.
            least, most = np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(most), np.inf, most)
            left = np.sort(np.stack([-least / coefs, -most / coefs]), axis=0)
        before = (low.copy(), high.copy())
        np.maximum.at(low, cells, np.nan_to_num(left[0], nan=-np.inf))
        np.minimum.at(high, cells, np.nan_to_num(left[1], nan=np.inf))
        if np.allclose(before[0], low) and np.allclose(before[1], high):
            break
    return Bounds(low, high)


def on_grid(ranges: Bounds, step: float) -> Bounds:
    """Return intervals with ends rounded inwards to multiples of the precision."""
    return Bounds(np.ceil(ranges.low / step - 1e-6) * step, np.floor(ranges.high / step + 1e-6) * step)


def with_cross_ranges(changed: PerturbedCells, joint: LinkedTable, deadline: Deadline) -> PerturbedCells:
    """Narrow the intervals of perturbed tables by implicit cells; unchanged if the variables form no cycle.

    Raises:
        UnattainableError: There are too many implicit cells.
    """
    own, size = changed.part, len(changed.published)
    part = with_cross(own, joint, changed.ranges.high <= 0, deadline=deadline.share(0.5))
    changed = replace(changed, part=replace(own, not_audited=part.not_audited))
    if part.hidden is None:
        return changed
    more = len(part.table) - size
    start = Bounds(
        np.append(changed.ranges.low, part.table.bounds.low[size:]), np.append(changed.ranges.high, [np.inf] * more)
    )
    step, table = own.knowledge.precision, part.table
    reader = feasibility_intervals(
        start, table.constraints, table.sensitive, step, deadline, table.values, ~part.hidden
    )
    return replace(changed, ranges=reader.ranges.rows(np.arange(size)), attained=reader.attained[:size])


# Posterior probability from which a data user is taken to know the count.
SURE = 0.95
# Maximum number of times that intervals are narrowed again after their ends moved to possible counts.
TURNS = 3


class PossibleCounts(Value):
    """The possible true counts of a published number.

    A count is possible if its row of the perturbation table can yield the published number; all large counts share the
    last row. If one count yields it far more often than all others together, a data user takes it for the true one.

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
        raise DataError("contradiction.impossible_number")
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
