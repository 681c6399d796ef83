"""Publish intervals instead of blanks: narrow ones that satisfy the protection levels and do not reveal the values.

An interval computed from a suppressed value reveals the value to anyone who knows the method: the middle of "value ± 1"
is the value. Here the feasibility interval of a data user is divided into classes of equal width (one in the middle is
wider). Every value of a class is published as the same interval: the class, extended on both sides by the required
width. The method reveals the class, never the value in it. Classes are chosen one cell after another, each within what
the earlier classes leave possible. Only cells that do not determine each other get classes, because several classes
around the same suppressed value would intersect.
"""

import math

import numpy as np
import numpy.typing as npt

from sfumato.tables.cells.system import BoolArray, Bounds, LinearConstraints, Numbers, Places, no_bounds
from sfumato.tables.cells.table_part import PublicRuleInfo, TablePart
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.linear_programs import LinearProgram
from sfumato.values import Value

Span = tuple[float, float]


class ValueClasses(Value):
    """Interval classes: the division of a feasibility interval into classes of equal width.

    Attributes:
        reach: How far a published interval extends beyond its class, on each side.
        step: The precision of the values.
        zone: The width of the interval of values that the rule classifies as sensitive. An attacker who knows that a
            cell is in this interval must not find a part of it in one class and the rest in the next.
    """

    reach: float
    step: float
    zone: float = 0.0

    @property
    def width(self) -> float:
        """The width of a class: it holds more values than an interval must cover."""
        return rounded_up(max(2 * self.reach + self.step, self.zone), 2)

    def origin(self, value: float, span: Span) -> Span:
        """Return the class of a value in the division of a span; a class in the middle takes the remainder.

        The outermost classes on both sides are as wide as all others, because a small value of one cell implies a large
        value of another.

        >>> classes = ValueClasses(1, 1)
        >>> classes.origin(4, (1, 8)), classes.origin(8, (1, 8)), classes.origin(2, (0, 3))
        ((4.0, 8.0), (4.0, 8.0), (0.0, 3.0))
        >>> [ValueClasses(1, 1).origin(value, (1, 11)) for value in (3, 5, 8, 9)]
        [(1.0, 3.0), (4.0, 8.0), (4.0, 8.0), (9.0, 11.0)]
        """
        low, high = self._multiple(span[0]), self._multiple(span[1])
        if math.isfinite(low) and math.isfinite(high):
            found = self._between(value, low, high)
            # The outermost classes end at the ends of the span, even if these are not multiples of the precision.
            return float(span[0] if found[0] <= low else found[0]), float(span[1] if found[1] >= high else found[1])
        if math.isfinite(high):
            return self._class(value, high + self.step)
        return self._class(value, low if math.isfinite(low) else 0.0)

    def _multiple(self, end: float) -> float:
        """Return an end rounded down to a multiple of the precision."""
        return round(math.floor(end / self.step + 1e-6) * self.step, 10) if math.isfinite(end) else end

    def _between(self, value: float, low: float, high: float) -> Span:
        """Return the class of a value between two ends; classes start at the nearer end."""
        count = math.floor((high - low + self.step) / self.width + 1e-9)
        if count < 2:
            return low, high
        middle, start = low + count // 2 * self.width, high + self.step - (count - 1 - count // 2) * self.width
        if middle - self.step / 2 < value < start - self.step / 2:
            return round(middle, 10), round(start - self.step, 10)
        return self._class(value, low if value < middle else start)

    def _class(self, value: float, start: float) -> Span:
        """Return the class of a value, given the start of any class."""
        low = round(start + math.floor((value - start) / self.width + 1e-9) * self.width, 10)
        return low, round(low + self.width - self.step, 10)

    def published(self, origin: Span, span: Span) -> Span:
        """Return the published interval of a class, within the feasibility interval of the outsider."""
        return max(origin[0] - self.reach, span[0]), min(origin[1] + self.reach, span[1])


def rounded_up(value: float, digits: int) -> float:
    """Return a number rounded up to some significant digits.

    >>> rounded_up(21.0, 2), rounded_up(201.0, 2), rounded_up(0.15, 1)
    (21.0, 210.0, 0.2)
    """
    power = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return float(round(math.ceil(value / power - 1e-9) * power, 12))


def clusters(relations: LinearConstraints, masked: BoolArray) -> Places:
    """Return for each cell the number of its component of suppressed cells; -1 if the cell is published."""
    from scipy.sparse.csgraph import connected_components

    cells = np.flatnonzero(masked)
    part = abs(relations.matrix(len(masked))[:, cells])
    found = np.full(len(masked), -1, np.int64)
    found[cells] = connected_components(part.T @ part, directed=False)[1]
    return found


def free_cells(relations: LinearConstraints, cells: Places) -> list[int]:
    """Return the suppressed cells that others do not determine; totals are determined by their parts first."""
    totals = np.isin(cells, relations.cells[relations.coefs < 0])
    order = np.concatenate([cells[totals], cells[~totals]])
    matrix = relations.matrix(int(relations.cells.max(initial=0)) + 1)[:, order]
    used = np.flatnonzero(np.diff(matrix.indptr))
    pivots = _pivots(matrix[used].toarray())
    return [int(cell) for place, cell in enumerate(order) if place not in pivots]


def _pivots(matrix: npt.NDArray[np.float64]) -> set[int]:
    """Return the columns that later columns determine."""
    columns: set[int] = set()
    rest = matrix.copy()
    for column in range(rest.shape[1]):
        if not len(rest):
            break
        row = int(np.abs(rest[:, column]).argmax())
        if abs(rest[row, column]) > 1e-9:
            columns.add(column)
            pivot = rest[row] / rest[row, column]
            rest = np.delete(rest, row, axis=0)
            rest = rest - np.outer(rest[:, column], pivot)
    return columns


class IntervalReader:
    """A data user of the table: the feasibility intervals of suppressed cells, narrowed as cells are published."""

    def __init__(self, relations: LinearConstraints, values: Numbers, cells: Places, bounds: Bounds) -> None:
        matrix = relations.matrix(len(values))[:, cells]
        used = matrix[np.flatnonzero(np.diff(matrix.indptr))]
        self._values = values
        self._place = {int(cell): place for place, cell in enumerate(cells)}
        # Variables are deviations from the true values, which suits linear programs best.
        self._program = LinearProgram(
            used, Bounds(bounds.low[cells] - values[cells], bounds.high[cells] - values[cells])
        )

    def span(self, cell: int) -> Span:
        """Return the minimum and maximum feasible value of a cell."""
        place, value = self._place[cell], float(self._values[cell])
        low, high = self._program.extreme(place, 1.0).value, self._program.extreme(place, -1.0).value
        return round(value + low, 8), round(value + high, 8)

    def learn(self, cell: int, span: Span) -> None:
        """Narrow the interval of a cell to a published one."""
        value = float(self._values[cell])
        self._program.bound(self._place[cell], span[0] - value, span[1] - value)


def draw(
    reader: IntervalReader, values: Numbers, cells: list[int], grid: ValueClasses, end: Deadline = FOREVER
) -> dict[int, tuple[Span, Span]] | None:
    """Return the published interval and the class of each free cell; None if the time limit is reached."""
    anyway, drawn = dict[int, Span](), {}
    for cell in cells:
        if end.over:
            return None
        anyway[cell] = reader.span(cell)
    for cell in cells:
        if end.over:
            return None
        origin = grid.origin(float(values[cell]), reader.span(cell))
        reader.learn(cell, origin)
        drawn[cell] = grid.published(origin, anyway[cell]), origin
    return drawn


def class_ranges(part: TablePart, masked: BoolArray, deadline: Deadline | None = None) -> Bounds:
    """Return the published intervals of some suppressed cells; NaN for cells that remain suppressed.

    A width computed from suppressed values would reveal them. Therefore the width is the maximum that the rules of the
    plan can require for any cell of the same component, sensitive or not. It assumes the largest value that a rule
    allows a sensitive cell or, without such a limit, the largest value that a data user considers possible.

    The cells of a component get intervals together; if the time limit is reached, they get none.
    """
    end = deadline or Deadline()
    cluster = clusters(part.table.constraints, masked)
    ranges = no_bounds(len(masked))
    for number in range(cluster.max(initial=-1) + 1):
        for cell, span in _together(part, np.flatnonzero(cluster == number), end).items():
            ranges.low[cell], ranges.high[cell] = span
    return ranges


def _together(part: TablePart, cells: Places, deadline: Deadline) -> dict[int, Span]:
    """Return the intervals of a component; none if an attacker who knows the method could narrow one too far."""
    table = part.table
    reader = IntervalReader(table.constraints, table.values, cells, part.public)
    step = part.knowledge.precision
    before = _spans(reader, cells, deadline)
    if before is None:
        return {}
    reach = _reach(part.terms, max(max(abs(low), abs(high)) for low, high in before), step)
    if not math.isfinite(reach):
        return {}
    grid = ValueClasses(reach, step, part.terms.zone)
    ranges = draw(reader, table.values, free_cells(table.constraints, cells), grid, deadline)
    if ranges is None:
        return {}
    after = _spans(reader, cells, deadline)
    narrow = after is None or any(
        _width(new) < min(2 * reach, _width(old)) - step / 2 for new, old in zip(after, before, strict=True)
    )
    return {} if narrow else {cell: span for cell, (span, _) in ranges.items()}


def _spans(reader: IntervalReader, cells: Places, deadline: Deadline) -> list[Span] | None:
    """Return the feasibility intervals of cells; None if the time limit is reached."""
    spans: list[Span] = []
    for cell in cells.tolist():
        if deadline.over:
            return None
        spans.append(reader.span(cell))
    return spans


def _reach(terms: PublicRuleInfo, size: float, step: float) -> float:
    """Return the maximum width that any of the cells can require, rounded up."""
    most = max((margin.of(size) for margin in terms.margins), default=0.0)
    return rounded_up(max(most, step), 1) if math.isfinite(most) else math.inf


def _width(span: Span) -> float:
    return span[1] - span[0]
