"""Perturbation tables of the cell key method: compute the probabilities of published counts, and look up the noise."""

import math
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.errors import InternalError, UnattainableError
from sfumato.localization.messages import Message
from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.tables.plan.sections import CellKey
from sfumato.values import Value

# Probabilities and slacks of constraints below this are treated as 0.
TINY = 1e-12
# Tolerance for sums of probabilities.
EXACT = 1e-11


class PtableRow(Value):
    """The distribution of the published number of one true count.

    Attributes:
        targets: The possible published numbers, ascending.
        chances: The probability of each target.
    """

    count: int
    targets: Places
    chances: Numbers

    @property
    def mean(self) -> float:
        """The mean of the noise."""
        return float(self.chances @ (self.targets - self.count))

    @property
    def variance(self) -> float:
        """The mean of the squared noise."""
        return float(self.chances @ (self.targets - self.count) ** 2)


def targets_of(count: int, design: CellKey) -> Places:
    """Return the possible published numbers of a count.

    >>> targets_of(2, CellKey(deviation=3, js=1)).tolist()
    [0, 2, 3, 4, 5]
    """
    near = np.arange(max(0, count - design.deviation), count + design.deviation + 1)
    return np.asarray(near[(near == 0) | (near > design.js)], np.int64)


class _Limits(Value):
    """Linear constraints of probabilities: equal · p = sides, and less · p ≤ most."""

    equal: Any
    sides: Numbers
    less: Any
    most: Numbers


def row_of(count: int, design: CellKey) -> PtableRow:
    """Compute the row of a count.

    The targets of a count i are max(0, i - D) to i + D without 1 to js, where D is the `deviation` of the design. Their
    probabilities have mean i and at most the requested variance V. The count itself has at least probability `pstay`
    (above js), and below the count the probabilities do not rise with the distance from it unless that is allowed. A
    small convex program finds the distribution of maximal entropy (Marley and Leaver 2011; Giessing 2016,
    doi:10.1007/978-3-319-45381-1_17).

    Raises:
        UnattainableError: No probabilities satisfy all constraints.
    """
    targets = targets_of(count, design)
    limits = _limits(count, targets, design)
    start = _inside(limits, len(targets))
    if start is None:
        raise UnattainableError(
            "ptable.no_row_for_the_count", count=count, least=targets[0], most=targets[-1], variance=design.variance
        )
    return PtableRow(count, targets, _entropic(limits, start))


def _limits(count: int, targets: Places, design: CellKey) -> _Limits:
    noise = (targets - count).astype(np.float64)
    less, most = [noise**2], [design.variance]
    own = targets == count
    if design.pstay is not None and count > design.js and own.any():
        less.append(-own.astype(np.float64))
        most.append(-design.pstay)
    if design.monotone:
        below = np.flatnonzero(targets <= count)
        for lower, upper in pairwise(below):
            step = np.zeros(len(targets))
            step[lower], step[upper] = 1.0, -1.0
            less.append(step)
            most.append(0.0)
    return _Limits(np.stack([np.ones(len(targets)), noise]), np.array([1.0, 0.0]), np.stack(less), np.array(most))


def _inside(limits: _Limits, size: int) -> Numbers | None:
    """Return feasible probabilities, with slack in every constraint that allows it; None if none are feasible."""
    point = _off_all(limits, size)
    if point is not None and point.min() > TINY and (limits.most - limits.less @ point).min() > TINY:
        return point
    # Some constraints always bind: average the feasible points with the largest slack in each constraint.
    points = [_best(limits, size, slope) for slope in (*np.eye(size), *-limits.less)]
    there = [one for one in points if one is not None]
    return np.asarray(np.mean(there, axis=0)) if there else None


def _off_all(limits: _Limits, size: int) -> Numbers | None:
    """Return the feasible probabilities that maximize the smallest slack of all constraints."""
    wide = _Limits(
        np.hstack([limits.equal, np.zeros((len(limits.equal), 1))]),
        limits.sides,
        np.vstack(
            [np.hstack([limits.less, np.ones((len(limits.less), 1))]), np.hstack([-np.eye(size), np.ones((size, 1))])]
        ),
        np.append(limits.most, np.zeros(size)),
    )
    point = _best(wide, size + 1, np.append(np.zeros(size), 1.0))
    return None if point is None else point[:-1]


def _best(limits: _Limits, size: int, slope: Numbers) -> Numbers | None:
    """Return the probabilities that maximize slope · p."""
    from scipy.optimize import linprog

    found = linprog(-slope, limits.less, limits.most, limits.equal, limits.sides, bounds=[(0, 1)] * size)
    return np.asarray(found.x) if found.status == 0 else None


def _entropic(limits: _Limits, inside: Numbers) -> Numbers:
    """Return the probabilities of maximal entropy.

    The solution is an exponential function of the Lagrange multipliers of the constraints. Minimizing the dual with
    bounds finds the multipliers, and Newton's method then satisfies the binding constraints exactly. Targets with
    probability 0 are left out.
    """
    free = inside > TINY
    tight = limits.most - limits.less @ inside <= TINY
    matrix = np.vstack([limits.equal[1:], limits.less])[:, free]
    sides = np.append(limits.sides[1:], limits.most)
    either = np.append([True], tight)
    scale = np.abs(matrix).max(axis=1, initial=1e-9)
    dual = _Dual(matrix / scale[:, None], sides / scale)
    whole = np.zeros(len(inside))
    whole[free] = dual.exact(dual.near(either), either)
    if not _keeps(limits, whole):
        raise InternalError("ptable")
    return whole


class _Dual(Value):
    """The dual problem: multipliers x of constraints matrix · p (= or ≤) sides; p is proportional to exp(-x·matrix)."""

    matrix: Any
    sides: Numbers

    def chances(self, x: Numbers) -> Numbers:
        powers = -(x @ self.matrix)
        weights = np.exp(powers - powers.max())
        return np.asarray(weights / weights.sum())

    def value(self, x: Numbers) -> tuple[float, Numbers]:
        """Return the dual objective and its gradient."""
        powers = -(x @ self.matrix)
        top = float(powers.max())
        return top + math.log(np.exp(powers - top).sum()) + float(x @ self.sides), self.missing(x)

    def missing(self, x: Numbers) -> Numbers:
        """Return the slack of each constraint; 0 if it binds."""
        return np.asarray(self.sides - self.matrix @ self.chances(x))

    def near(self, either: BoolArray) -> Numbers:
        """Return approximate multipliers; `either` marks equations, whose multipliers may have either sign."""
        from scipy.optimize import minimize

        bounds = [(None if free else 0.0, None) for free in either]
        options = {"maxiter": 5000, "maxfun": 50000, "ftol": 1e-16, "gtol": 1e-10}
        start = np.zeros(len(self.sides))
        return np.asarray(minimize(self.value, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options).x)

    def exact(self, x: Numbers, either: BoolArray) -> Numbers:
        """Return the probabilities, exact on the binding constraints."""
        for _ in range(60):
            left = self.missing(x)
            binding = either | (x > 0) | (left < 0)
            if np.abs(left[binding]).max(initial=0.0) < 1e-15:
                break
            step = self._step_inside(x, left, binding, either)
            longer = np.where(~either & (step < 0), -x / np.minimum(step, -1e-300), np.inf)
            x = x + min(1.0, float(longer.min(initial=np.inf))) * step
            x = np.where(~either & (x < 1e-14), 0.0, x)
        return self.chances(x)

    def _step_inside(self, x: Numbers, left: Numbers, binding: BoolArray, either: BoolArray) -> Numbers:
        """Return a Newton step on the binding constraints, without inequalities that would get a negative multiplier.

        Such inequalities hold with equality at the optimum but do not restrict it; they must not stop the iteration.
        """
        while True:
            step = np.zeros(len(x))
            step[binding] = self._step(self.chances(x), left[binding], binding)
            barred = binding & ~either & (x <= 0) & (step < 0)
            if not barred.any():
                return step
            binding = binding & ~barred

    def _step(self, p: Numbers, left: Numbers, binding: BoolArray) -> Numbers:
        own = self.matrix[binding]
        mean = own @ p
        spread = (own * p) @ own.T - np.outer(mean, mean)
        return np.asarray(-np.linalg.lstsq(spread, left, rcond=1e-13)[0])


def _keeps(limits: _Limits, p: Numbers) -> bool:
    equal = np.abs(limits.equal @ p - limits.sides).max() <= EXACT
    return bool(equal and (limits.less @ p - limits.most).max() <= EXACT and (p >= 0).all())


# Difference between the variance of a row and the requested one up to which no note is written.
MISSED = 1e-9


class Ptable(Value):
    """A perturbation table.

    Attributes:
        rows: The rows of the counts 1, 2, …; the last one applies to all larger counts.
        variance: The requested variance; None if the table was read from a file.
    """

    rows: tuple[PtableRow, ...]
    variance: float | None = None

    @property
    def deviation(self) -> int:
        """The largest difference between a count and its published number."""
        return max(int(np.abs(row.targets - row.count)[row.chances > 0].max(initial=0)) for row in self.rows)

    @property
    def js(self) -> int:
        """The largest count below which no positive count is published."""
        targets = [int(target) for row in self.rows for target in row.targets[row.chances > 0] if target > 0]
        return min(targets) - 1 if targets else 0

    @property
    def missed(self) -> tuple[PtableRow, ...]:
        """The rows whose variance is not the requested one."""
        asked = self.variance
        return () if asked is None else tuple(row for row in self.rows if abs(row.variance - asked) > MISSED)

    def row(self, count: int) -> PtableRow:
        """Return the row of a count."""
        return self.rows[min(count, len(self.rows)) - 1]

    def noise(self, counts: Places, chances: Numbers) -> Places:
        """Return the noise of each count; 0 for count 0.

        Targets ascend; the first whose cumulated probability exceeds the uniform number is taken.

        >>> import numpy as np
        >>> table = make_ptable(CellKey(deviation=2, variance=1.0))
        >>> table.noise(np.array([0, 7, 7]), np.array([0.0, 0.0, 0.99999])).tolist()
        [0, -2, 2]
        """
        noise = np.zeros(len(counts), np.int64)
        which = np.minimum(counts, len(self.rows))
        for place, row in enumerate(self.rows, start=1):
            cells = which == place
            noise[cells] = _looked_up(row, chances[cells])
        return noise


def _looked_up(row: PtableRow, chances: Numbers) -> Places:
    possible = row.chances > 0
    ends = np.cumsum(row.chances[possible])
    # The last end must exceed every number, whatever the rounding of the sum.
    ends[-1] = np.inf
    return np.asarray((row.targets[possible] - row.count)[np.searchsorted(ends, chances, side="right")])


@cache
def make_ptable(design: CellKey) -> Ptable:
    """Compute the perturbation table of maximal entropy.

    Raises:
        UnattainableError: The variance is too small for js, or a row has no solution; the message names it.
    """
    small = range(1, design.js + 1)
    least = max((count * (design.js + 1 - count) for count in small), default=0)
    if design.variance < least:
        raise UnattainableError(
            "ptable.a_variance_of_is_too", variance=design.variance, js=design.js, next=design.js + 1, least=least
        )
    last = design.deviation + (design.js + 1 if design.js else 0)
    return Ptable(tuple(row_of(count, design) for count in range(1, last + 1)), design.variance)


def remarks(table: Ptable) -> list[str]:
    """Return notes about a table: the rows that miss the variance."""
    return [
        Message("reason.ptable_variance", count=row.count, variance=row.variance, wanted=table.variance)
        for row in table.missed
    ]
