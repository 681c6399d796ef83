"""Certificates: alternative tables that show that a cell is protected, each checked before it counts.

An alternative table (witness) consists of deviations from the true values that satisfy every linear constraint, change
suppressed cells only, and stay within known bounds. If it moves a sensitive cell as far as its protection level, an
attacker who cannot exclude it cannot compute the cell more closely. For an attacker who can exclude it, another one is
needed. The origin of alternative tables does not matter, because each is checked.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.cells.constraints import NOISE, ValueUnit
from sfumato.tables.cells.system import AlternativeTable, BoolArray, Bounds, Numbers, Places
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.values import Value, field, replace


class AuditEvidence(Value):
    """Evidence and time limits that the caller supplies to the audit.

    Attributes:
        witnesses: Alternative tables that agree with the publication; each is checked before it counts.
        deadline: Until when intervals are computed for cells that alternative tables prove to be safe.
        limit: When the audit must end.
        promised: Whether only cells with a protection interval are audited.
    """

    witnesses: Sequence[AlternativeTable] = ()
    deadline: Deadline = field(default_factory=Deadline)
    limit: Deadline = field(default_factory=Deadline)
    promised: bool = False

    def check_limit(self) -> None:
        """Refuse to continue after the limit."""
        if self.limit.over:
            raise UnattainableError("time-limit.the_time_was_over")


class Inside(Value):
    """The knowledge of all insiders, as deviations in units: one entry per insider and cell.

    Attributes:
        count: Number of insiders.
        starts: Where the entries of each cell begin.
        who: The insider of each entry.
        bounds: The insider's bounds for the deviation of the cell.
        needs: How far below and above its value the cell must remain variable to the insider.
    """

    count: int
    starts: Places
    who: Places
    bounds: Bounds
    needs: Bounds

    def needs_of(self, cell: int, sign: int, need: float) -> Numbers:
        """Return the required deviation of a cell for each insider; at most that for an outsider."""
        needs, own = np.full(self.count, need), slice(self.starts[cell], self.starts[cell + 1])
        needs[self.who[own]] = np.minimum((self.needs.high if sign > 0 else self.needs.low)[own], need)
        return needs

    def entries_of(self, cells: Places) -> tuple[Places, Places]:
        """Return the entries of some cells, and for each entry the position of its cell among these."""
        counts = self.starts[cells + 1] - self.starts[cells]
        before = np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(self.starts[cells], counts) + np.arange(len(before)) - before, np.repeat(
            np.arange(len(cells)), counts
        )


def certified(
    witnesses: Sequence[AlternativeTable],
    matrix: Any,
    masked: BoolArray,
    bounds: Bounds,
    needs: Bounds,
    inside: Inside,
    scale: ValueUnit,
) -> BoolArray:
    """Return the suppressed cells that alternative tables prove safe; cells without protection level only have to move.

    Args:
        witnesses: Alternative tables supplied by the caller.
        matrix: Constraints (rows) by cells (columns).
        masked: Which cells are suppressed.
        bounds: Bounds of the deviation of each cell, in units, from public knowledge.
        needs: Required deviation below and above each value, in units; NaN if the cell has no protection level.
        inside: The knowledge of the insiders.
        scale: Conversion to units of the table's precision.
    """
    safe = np.zeros(len(masked), bool)
    pools: dict[tuple[int, int], list[_Shown]] = {}
    kept = _kept(witnesses, matrix, masked, bounds, scale)
    for witness in kept:
        own = _own(witness)
        pools.setdefault((witness.cell, 1 if own > 0 else -1), []).append(_Shown(witness, abs(own)))
    # An interval narrower than one unit might contain a single value of the table, whatever its protection level.
    widest = _kept([_drawn_out(witness, bounds) for witness in kept], matrix, masked, bounds, ValueUnit(1.0))
    wide = {witness.cell for witness in widest if abs(_own(witness)) >= 1.0 - NOISE}
    promised = ~np.isnan(needs.low)
    for cell in np.flatnonzero(masked & promised).tolist():
        sides = ((-1, float(needs.low[cell])), (1, float(needs.high[cell])))
        safe[cell] = cell in wide and all(
            need < NOISE or _withstood(pools.get((cell, sign), []), cell, sign, need, inside) for sign, need in sides
        )
    moved = Bounds(np.zeros(len(masked)), np.zeros(len(masked)))
    for witness in widest:
        np.minimum.at(moved.low, witness.cells, witness.amounts)
        np.maximum.at(moved.high, witness.cells, witness.amounts)
    return safe | (masked & ~promised & (moved.high - moved.low >= 1.0 - NOISE))


class _Shown(Value):
    """An alternative table in units, and how far it moves its cell."""

    witness: AlternativeTable
    reach: float


def _kept(
    witnesses: Sequence[AlternativeTable], matrix: Any, masked: BoolArray, bounds: Bounds, scale: ValueUnit
) -> list[AlternativeTable]:
    """Return the alternative tables, in units, that satisfy every constraint and bound and move only
    suppressed cells.
    """
    from scipy.sparse import csc_matrix

    steps = [AlternativeTable(one.cell, one.cells, one.amounts / scale.precision) for one in witnesses]
    if not steps:
        return []
    starts = np.concatenate([[0], np.cumsum([len(one.cells) for one in steps])])
    cells, amounts = np.concatenate([one.cells for one in steps]), np.concatenate([one.amounts for one in steps])
    wrong = np.zeros(len(steps), bool)
    if matrix.shape[0]:
        off = abs(matrix @ csc_matrix((amounts, cells, starts), shape=(matrix.shape[1], len(steps)))).max(axis=0)
        wrong = np.asarray(off.todense()).ravel() > NOISE
    outside = ~masked[cells] | (amounts < bounds.low[cells] - NOISE) | (amounts > bounds.high[cells] + NOISE)
    wrong |= np.add.reduceat(outside, starts[:-1]) > 0
    return [one for one, bad in zip(steps, wrong.tolist(), strict=True) if not bad and one.cell in one.cells]


def _own(witness: AlternativeTable) -> float:
    """Return by how much an alternative table moves the cell that it is for."""
    return float(witness.amounts[witness.cells == witness.cell][0])


def _drawn_out(witness: AlternativeTable, bounds: Bounds) -> AlternativeTable:
    """Enlarge the deviations of an alternative table within the bounds, until each is at least one unit."""
    moving = np.abs(witness.amounts) > NOISE
    amounts, cells = witness.amounts[moving], witness.cells[moving]
    room = np.where(amounts > 0, bounds.high[cells], bounds.low[cells]) / amounts
    steps = 1.0 / np.abs(amounts).min(initial=1.0)
    return replace(witness, amounts=witness.amounts * max(min(room.min(initial=np.inf), steps), 1.0))


def _withstood(pool: Sequence[_Shown], cell: int, sign: int, need: float, inside: Inside) -> bool:
    """Return whether one alternative table moves far enough, and every insider who excludes it has another one."""
    if not any(shown.reach >= need - NOISE for shown in pool):
        return False
    needs = inside.needs_of(cell, sign, need)
    doubts = [_disbelievers(shown, needs, inside) for shown in pool]
    full = [own for own, shown in zip(doubts, pool, strict=True) if shown.reach >= need - NOISE]
    left = min(full, key=np.count_nonzero)
    for own, shown in zip(doubts, pool, strict=True):
        left = left & (own | (shown.reach < needs - NOISE))
    return not left.any()


def _disbelievers(shown: _Shown, needs: Numbers, inside: Inside) -> BoolArray:
    """Return the insiders who can exclude an alternative table, scaled down to their required deviation."""
    entries, places = inside.entries_of(shown.witness.cells)
    who = inside.who[entries]
    moved = needs[who] / shown.reach * shown.witness.amounts[places]
    doubting = np.zeros(inside.count, bool)
    doubting[who[(moved < inside.bounds.low[entries] - NOISE) | (moved > inside.bounds.high[entries] + NOISE)]] = True
    return doubting


def inside_of(
    cells: Sequence[Places], bounds: Sequence[Bounds], reach: Sequence[tuple[Numbers, Numbers]], size: int
) -> Inside:
    """Collect by cell what insiders know: their cells, the bounds of the deviations, and the required deviations."""
    if not cells:
        nothing = Bounds(np.zeros(0), np.zeros(0))
        return Inside(0, np.zeros(size + 1, np.int64), np.zeros(0, np.int64), nothing, nothing)
    every = np.concatenate(list(cells))
    who = np.repeat(np.arange(len(cells)), [len(own) for own in cells])
    order = np.argsort(every, kind="stable")
    low, high = (np.concatenate([getattr(own, side) for own in bounds])[order] for side in ("low", "high"))
    down, up = (np.concatenate([own[side] for own in reach])[order] for side in (0, 1))
    starts = np.concatenate([[0], np.cumsum(np.bincount(every, minlength=size))])
    return Inside(len(cells), starts, who[order], Bounds(low, high), Bounds(down, up))


ROUNDS = 200


class _Margin(Value):
    """The cells of one table that are sums of implicit cells.

    Attributes:
        totals: The cells of the table.
        owners: For each implicit cell, the position in `totals` of the cell that it is a part of; -1 if none.
    """

    totals: Places
    owners: Places


def crossed_witnesses(
    part: TablePart, witnesses: Sequence[AlternativeTable], deadline: Deadline
) -> tuple[AlternativeTable, ...]:
    """Extend alternative tables to implicit cells; tables for which that fails are left out.

    The implicit cells need values consistent with the alternative table. Iterative proportional
    fitting (Deming and Stephan 1940, doi:10.1214/aoms/1177731829) finds them quickly if all cells that may be positive
    are positive. If it fails, there may be such values nevertheless, and linear programs decide.

    Args:
        part: The linked tables with their implicit cells.
        witnesses: Alternative tables without values of the implicit cells.
        deadline: The time limit; alternative tables not extended by then are left out.
    """
    if part.hidden is None:
        return ()
    fitting = _Fitting.of(part, part.hidden)
    crossed = (None if deadline.over else fitting.crossed(witness) for witness in witnesses)
    return tuple(witness for witness in crossed if witness is not None)


class _Fitting(Value):
    """Iterative proportional fitting of the implicit cells to the tables.

    Attributes:
        cells: The implicit cells.
        values: The true values of all cells.
        margins: The tables whose cells are sums of implicit cells.
        step: The precision of the table.
        start: The values from which the fitting starts.
    """

    cells: Places
    values: Numbers
    margins: tuple[_Margin, ...]
    step: float
    start: Numbers

    @classmethod
    def of(cls, part: TablePart, unshown: BoolArray) -> "_Fitting":
        cells = np.flatnonzero(unshown)
        bare = cls(cells, part.table.values, _margins(part, unshown), part.knowledge.precision, np.ones(len(cells)))
        start = bare.fitted(part.table.values)
        return bare if start is None else cls(cells, bare.values, bare.margins, bare.step, start)

    def crossed(self, witness: AlternativeTable) -> AlternativeTable | None:
        """Return an alternative table with consistent implicit cells; None if the fitting fails."""
        values = self.values.copy()
        values[witness.cells] += witness.amounts
        point = self.fitted(values)
        if point is None:
            return None
        moved = point - self.values[self.cells]
        places = np.append(witness.cells, self.cells)
        return AlternativeTable(witness.cell, places, np.append(witness.amounts, moved))

    def fitted(self, values: Numbers) -> Numbers | None:
        """Return implicit cells whose sums are the given values; None if the fitting fails."""
        point = self.start.copy()
        for _ in range(ROUNDS):
            off = 0.0
            for margin in self.margins:
                wanted, inside = values[margin.totals], margin.owners >= 0
                sums = np.bincount(margin.owners[inside], point[inside], len(wanted))
                off = max(off, float(np.abs(sums - wanted).max(initial=0.0)))
                ratios = np.divide(wanted, sums, out=np.zeros(len(wanted)), where=sums > 0)
                point[inside] *= ratios[margin.owners[inside]]
            if off < NOISE * self.step / 10:
                return point
        return None


def _margins(part: TablePart, unshown: BoolArray) -> tuple[_Margin, ...]:
    """Return the tables whose cells are sums of implicit cells; in one table, no two sums share an implicit cell."""
    relations, first = part.table.constraints, int(np.argmax(unshown))
    margins, totals = list[_Margin](), list[int]()
    owners = np.full(int(unshown.sum()), -1, np.int64)
    for relation in range(len(relations)):
        cells, _ = relations.row(relation)
        below = cells[unshown[cells]] - first
        if not unshown[cells].any():
            continue
        if (owners[below] >= 0).any():
            margins.append(_Margin(np.array(totals, np.int64), owners))
            totals, owners = [], np.full(len(owners), -1, np.int64)
        owners[below] = len(totals)
        totals.append(int(cells[~unshown[cells]][0]))
    return (*margins, _Margin(np.array(totals, np.int64), owners))
