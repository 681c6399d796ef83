"""Round one table as its plan requests, and compute what a data user can infer."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.errors import DataError, InternalError, PlanError, UnattainableError
from sfumato.tables.cells.constraints import NOISE, ValueUnit, finest_of, precision_of
from sfumato.tables.cells.system import BoolArray, Bounds, LinearConstraints, Numbers, Places, order_of
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.linear_programs import SolverResult, solve
from sfumato.tables.noise.feasibility_intervals import feasibility_intervals
from sfumato.tables.noise.perturbed import PerturbedCells
from sfumato.tables.plan.sections import Rounding
from sfumato.values import Value, replace

# Share of the time for the search; the rest is for the feasibility intervals.
SEARCH = 0.7


class Multiples(Value):
    """Values expressed as multiples of their bases and remainders.

    Attributes:
        below: The number of whole bases in each value, rounded down.
        rest: The remainder as a proportion of the base; 0 for a multiple.
    """

    bases: Numbers
    below: Numbers
    rest: Numbers

    @property
    def whole(self) -> BoolArray:
        """The values that are multiples."""
        return np.asarray(self.rest == 0.0)


def between_multiples(values: Numbers, bases: Numbers) -> Multiples:
    """Return values as multiples of their bases and remainders.

    >>> between_multiples(np.array([7.0, -1.0, 8.0]), np.full(3, 4.0)).rest.tolist()
    [0.75, 0.75, 0.0]
    """
    shares = values / bases
    # A remainder below the precision is a floating-point error.
    near = np.abs(shares - np.round(shares)) <= NOISE * precision_of(values) / bases
    below = np.where(near, np.round(shares), np.floor(shares))
    return Multiples(bases, below, np.where(near, 0.0, shares - below))


# Zero-restricted (Cox 1987, doi:10.1080/01621459.1987.10478456): a multiple is kept, any other value is rounded to an
# adjacent multiple. A solution always exists in two dimensions with a hierarchy in at most one of them. Otherwise the
# integer program may prove that none exists; then cells may move further by as few multiples as needed. The method
# protects a value within one base plus these multiples. An attacker who knows that the total change is minimal can
# infer slightly more, which is not audited.
class Rounded(Value):
    """A rounded table.

    Attributes:
        published: The published multiples.
        steps: Number of further multiples by which cells were allowed to move.
        change: The sum of all changes.
        bound: Lower bound of the sum of changes of any such rounding.
    """

    published: Numbers
    steps: int
    change: float
    bound: float

    @property
    def proved(self) -> bool:
        """Whether the sum of changes is proved to be minimal."""
        return self.change - self.bound <= 1e-6 * max(1.0, self.change)


def round_controlled(
    values: Numbers, bases: Numbers, relations: LinearConstraints, steps: int, deadline: Deadline
) -> Rounded:
    """Round with as few further steps as are needed, up to the number allowed.

    Raises:
        UnattainableError: Provably no rounding adds up, or the time limit was reached before one was found.
    """
    multiples = between_multiples(values, bases)
    for extra in range(steps + 1):
        program = _Program(values, multiples, relations, extra)
        answer = program.solved(deadline.left)
        if len(answer.point):
            return program.rounded(answer)
        if answer.outcome == "unknown":
            raise _out_of_time(extra)
    raise _infeasible(steps)


class _Program:
    """The integer program: each cell is the multiple below it, plus 0 or 1, plus steps up, minus steps down."""

    def __init__(self, values: Numbers, multiples: Multiples, relations: LinearConstraints, extra: int) -> None:
        self.values, self.multiples, self.extra = values, multiples, extra
        self.matrix = relations.matrix(len(values))
        unit = multiples.bases.min(initial=np.inf) if len(values) else 1.0
        self.weights = multiples.bases / unit

    def solved(self, seconds: float) -> SolverResult:
        """Solve the program; the variables are one per cell, then steps up, then steps down."""
        from scipy.sparse import diags, hstack

        weighted = self.matrix @ diags(self.weights)
        whole: Any = hstack([weighted, weighted, -weighted]) if self.extra else weighted
        target = -(weighted @ self.multiples.below)
        costs, bounds = self._costs(), self._bounds()
        return solve(whole.tocsr(), costs, bounds, Bounds(target, target), np.ones(len(costs), bool), seconds)

    def _costs(self) -> Numbers:
        """Return the cost of each variable: the upper multiple instead of the lower one, or a whole base per step."""
        nearer = self.weights * (1.0 - 2.0 * self.multiples.rest)
        return np.concatenate([nearer, self.weights, self.weights]) if self.extra else nearer

    def _bounds(self) -> Bounds:
        free = np.where(self.multiples.whole, 0.0, 1.0)
        none = np.zeros(len(free))
        if not self.extra:
            return Bounds(none, free)
        far = np.full(len(free), float(self.extra))
        # Published numbers are not negative if the values are not.
        down = np.where(self.values >= 0, np.minimum(far, self.multiples.below), far)
        return Bounds(np.concatenate([none, none, none]), np.concatenate([free, far, down]))

    def rounded(self, answer: SolverResult) -> Rounded:
        """Return the rounded table, after checking that every linear constraint holds in integers."""
        parts = np.round(answer.point).reshape(-1, len(self.values))
        counts = self.multiples.below + parts[0]
        if self.extra:
            counts = counts + parts[1] - parts[2]
        if np.abs(self.matrix @ (counts * self.weights)).max(initial=0.0) > 1e-6 * max(1.0, np.abs(counts).max()):
            raise InternalError("rounding")
        published = counts * self.multiples.bases
        change = float(np.abs(published - self.values).sum())
        start = self.multiples.rest * self.weights
        bound = (answer.bound + start.sum()) * (self.multiples.bases[0] / self.weights[0]) if len(counts) else 0.0
        return Rounded(published, self.extra, change, min(float(bound), change))


def _infeasible(steps: int) -> UnattainableError:
    further = f", even with {steps} further steps" if steps else ""
    return UnattainableError("rounding-infeasible", reason=further)


def _out_of_time(extra: int) -> UnattainableError:
    with_steps = f" with {extra} further steps" if extra else ""
    return UnattainableError("time-limit.no_rounding_found", reason=with_steps)


def round_part(
    part: TablePart, rounding: Rounding, bases: Numbers, chances: Numbers, deadline: Deadline
) -> PerturbedCells:
    """Round one table.

    Args:
        chances: A number from 0 to 1 for each cell, for random rounding.

    Raises:
        PlanError: The base is finer than the table.
        UnattainableError: No rounding adds up, or the time limit was reached.
    """
    step = part.knowledge.precision
    if (bases < step * (1 - 1e-9)).any():
        raise PlanError("base", number=step)
    shown = np.ones(len(part.table), bool) if rounding.inner else ~part.finest
    rounded = _rounded(part, rounding, bases, chances, shown, deadline.share(SEARCH))
    start = known_ranges(rounding, rounded.published, bases, step, part, rounded.steps)
    reader = feasibility_intervals(
        start, part.table.constraints, part.table.sensitive, step, deadline, part.table.values
    )
    published = np.array(ValueUnit(step).clean(rounded.published.tolist()))
    return PerturbedCells(part, published, shown, reader.ranges, reader.attained, _figures(rounding, rounded))


def _rounded(
    part: TablePart, rounding: Rounding, bases: Numbers, chances: Numbers, shown: BoolArray, deadline: Deadline
) -> Rounded:
    values, order = part.table.values, order_of(part.table)
    own, relations = values[order.cells], order.relations(part.table.constraints)
    if rounding.kind == "controlled":
        rounded = round_controlled(own, bases[order.cells], relations, rounding.steps, deadline)
        return replace(rounded, published=order.back(rounded.published))
    if rounding.kind == "small-count":
        rounded = round_small_counts(own, float(bases.max(initial=0.0)), relations, shown[order.cells], deadline)
        return replace(rounded, published=order.back(rounded.published))
    random = rounding.kind == "random"
    published = round_randomly(values, bases, chances) if random else round_nearest(values, bases)
    change = float(np.abs(published - values).sum())
    return Rounded(published, 0, change, change)


def known_ranges(
    rounding: Rounding, published: Numbers, bases: Numbers, step: float, part: TablePart, steps: int = 0
) -> Bounds:
    """Return the interval of each cell implied by its published number, for attackers who know kind and base."""
    if rounding.kind == "small-count":
        return _around_small(published, bases, step, part, rounding.inner)
    if rounding.kind == "deterministic":
        down, up = bases / 2, bases / 2 - step * _even(bases, step)
    else:
        down = up = bases * (1 + steps) - step
    low = np.maximum(published - down, part.table.bounds.low)
    return Bounds(low, np.maximum(published + up, low))


def _even(bases: Numbers, step: float) -> Numbers:
    """Return 1 if half a base is a possible value, which is rounded up, otherwise 0; ends are put on the grid later."""
    halves = bases / 2 / step
    return np.where(np.abs(halves - np.round(halves)) < 1e-6, 1.0, 0.0)


def _around_small(published: Numbers, bases: Numbers, step: float, part: TablePart, inner: bool) -> Bounds:
    """Return intervals after small counts were rounded: small inner cells became 0 or the base, others are unchanged.

    Totals follow from their parts. If inner cells are not published, each contributes an error below one base.
    """
    finest = part.finest
    many = np.asarray(inner_sums(part.table.constraints, len(published)).matrix.sum(axis=1)).ravel()
    reach = many * (bases - step)
    low, high = np.maximum(published - reach, 0.0), published + reach
    if inner:
        low = np.where(finest, np.where(published == bases, step, published), low)
        high = np.where(finest, np.where(published == 0, bases - step, published), high)
    else:
        high = np.where(finest, published.max(initial=0.0) + reach.max(initial=0.0), high)
        low = np.where(finest, 0.0, low)
    return Bounds(low, high)


def bases_of(base: float, size: int, cells: Sequence[tuple[float | None, Places]] = ()) -> Numbers:
    """Return the base of each cell; in a cell of several tables, the least common multiple of their bases.

    >>> bases_of(5, 3, [(None, np.array([0, 1])), (3, np.array([1, 2]))]).tolist()
    [5.0, 15.0, 3.0]
    """
    bases = np.zeros(size)
    for own, places in cells:
        for place in places:
            bases[place] = _common(bases[place], own or base)
    return np.where(bases == 0, base, bases)


def _common(one: float, other: float) -> float:
    if not one:
        return other
    # Bases with up to six decimals as integers.
    return math.lcm(round(one * 10**6), round(other * 10**6)) / 10**6


def _figures(rounding: Rounding, rounded: Rounded) -> dict[str, object]:
    figures: dict[str, object] = {"kind": rounding.kind, "base": rounding.base}
    if rounding.kind == "controlled":
        figures["further_steps"] = rounded.steps
    if rounding.kind in ("controlled", "small-count"):
        figures |= {"proved_optimal": rounded.proved, "bound": round(rounded.bound, 6)}
    return figures


def round_randomly(values: Numbers, bases: Numbers, chances: Numbers) -> Numbers:
    """Round each value to an adjacent multiple at random, without bias: the expected result is the value.

    Args:
        chances: A number from 0 to 1 for each cell, equal for equal sets of records.

    >>> round_randomly(np.array([7.0, 7.0, 5.0]), np.full(3, 5.0), np.array([0.39, 0.41, 0.0])).tolist()
    [10.0, 5.0, 5.0]
    """
    multiples = between_multiples(values, bases)
    return np.asarray((multiples.below + (chances < multiples.rest)) * bases)


def round_nearest(values: Numbers, bases: Numbers) -> Numbers:
    """Round each value to the nearest multiple, halves up.

    >>> round_nearest(np.array([7.0, 8.0, 2.5]), np.full(3, 5.0)).tolist()
    [5.0, 10.0, 5.0]
    """
    multiples = between_multiples(values, bases)
    return np.asarray((multiples.below + (multiples.rest >= 0.5 - 1e-9)) * bases)


# The inner cells that contribute to a published cell from 1 to base - 1 are rounded (Langsrud and Heldal, Privacy in
# Statistical Databases 2018); if inner cells are published, these are all small ones. Which go up is chosen so that
# published totals remain close. Larger inner cells are published unchanged and are not protected.
def round_small_counts(
    values: Numbers, base: float, relations: LinearConstraints, shown: BoolArray, deadline: Deadline
) -> Rounded:
    """Round small inner cells, and recompute the totals.

    Args:
        shown: Which cells are published.

    Raises:
        DataError: A value is negative.
        UnattainableError: The time limit was reached before a solution was found.
    """
    if (values < 0).any():
        raise DataError("negative")
    sums = inner_sums(relations, len(values))
    rounded = values[sums.inner].copy()
    small_shown = shown & (values > 0) & (values < base)
    small = (np.asarray(sums.matrix[small_shown].sum(axis=0)).ravel() > 0) & (rounded > 0)
    answer = _chosen(rounded[small], base, sums.matrix[shown][:, small], deadline.left)
    if not len(answer.point) and small.any():
        raise UnattainableError("time-limit.rounding_time")
    rounded[small] = base * np.round(answer.point[: int(small.sum())])
    published = np.asarray(sums.matrix @ rounded)
    change = float(np.abs(published - values)[shown].sum())
    return Rounded(published, 0, change, min(base * answer.bound, change))


def _chosen(counts: Numbers, base: float, sums: Any, seconds: float) -> SolverResult:
    """Return which counts to round up so that the sum of changes of published cells, in bases, is minimal.

    The variables are a choice for each count, then how far each cell lies above and below its value.
    """
    from scipy.sparse import csr_matrix, hstack, identity

    touched = np.diff(sums.tocsr().indptr) > 0
    part = sums.tocsr()[touched]
    size, many = len(counts), part.shape[0]
    if not size:
        return SolverResult("proved", np.zeros(0), 0.0)
    matrix = csr_matrix(hstack([part, -identity(many), identity(many)]))
    target = part @ (counts / base)
    costs = np.concatenate([np.zeros(size), np.ones(2 * many)])
    bounds = Bounds(np.zeros(len(costs)), np.concatenate([np.ones(size), np.full(2 * many, np.inf)]))
    return solve(matrix, costs, bounds, Bounds(target, target), np.arange(len(costs)) < size, seconds)


class InnerSums(Value):
    """The finest cells, and a sparse matrix (cells by finest cells) that adds them up to all cells."""

    inner: Places
    matrix: Any


def inner_sums(relations: LinearConstraints, size: int) -> InnerSums:
    """Express every cell as a sum of finest cells.

    >>> from sfumato.tables.cells.system import make_constraints
    >>> inner_sums(make_constraints([([0, 1, 2], [-1, 1, 1])]), 3).matrix.toarray().tolist()
    [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    from scipy.sparse import csr_matrix

    inner = np.flatnonzero(finest_of(relations, size))
    rows = _rows(inner, _parts(relations), size)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    places = np.array([place for row in rows for place in row], np.int64)
    return InnerSums(inner, csr_matrix((np.ones(len(places)), places, starts), shape=(size, len(inner))))


def _parts(relations: LinearConstraints) -> dict[int, list[int]]:
    """Return the parts of each total, from its first constraint."""
    parts: dict[int, list[int]] = {}
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        if (coefs < 0).sum() == 1:
            parts.setdefault(int(cells[coefs < 0][0]), cells[coefs > 0].tolist())
    return parts


def _rows(inner: Places, parts: dict[int, list[int]], size: int) -> list[list[int]]:
    known = {int(cell): [place] for place, cell in enumerate(inner)}

    def of(cell: int) -> list[int]:
        if cell not in known:
            known[cell] = [place for part in parts.get(cell, []) for place in of(part)]
        return known[cell]

    return [of(cell) for cell in range(size)]
