"""Extend witnesses of tables to the cross of their variables, with numbers for the cross that agree.

Iterative proportional fitting (Deming and Stephan 1940, doi:10.1214/aoms/1177731829) finds them quickly if all cells
that may be positive are. If it fails, one may exist nevertheless: then linear programs decide.
"""

from collections.abc import Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.constraints import NOISE
from sfumato.tables.cells.system import AlternativeTable, BoolArray, Numbers, Places
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline

ROUNDS = 200


@dataclass(frozen=True, slots=True)
class _Margin:
    """Cells of one table that are sums of the cross, and which of them each cell of the cross is in; -1 where none."""

    totals: Places
    owners: Places


def crossed_witnesses(
    part: TablePart, witnesses: Sequence[AlternativeTable], deadline: Deadline
) -> tuple[AlternativeTable, ...]:
    """Those of the witnesses that have a cross, with it, as far as the time goes.

    Args:
        part: Tables with the cells of their cross.
        witnesses: Other tables that agree with what is published, without a cross.
        deadline: Until when.
    """
    if part.hidden is None:
        return ()
    fitting = _Fitting.of(part, part.hidden)
    crossed = (None if deadline.over else fitting.crossed(witness) for witness in witnesses)
    return tuple(witness for witness in crossed if witness is not None)


@dataclass(frozen=True, slots=True)
class _Fitting:
    """The cross to be fitted: where its cells are, what they and those of the tables hold, and the tables."""

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
        """The witness with the cross that goes with it; None where none was found."""
        values = self.values.copy()
        values[witness.cells] += witness.amounts
        point = self.fitted(values)
        if point is None:
            return None
        moved = point - self.values[self.cells]
        places = np.append(witness.cells, self.cells)
        return AlternativeTable(witness.cell, places, np.append(witness.amounts, moved))

    def fitted(self, values: Numbers) -> Numbers | None:
        """Numbers of the cross whose sums are what the tables hold."""
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
    """The tables that are sums of the cross: the rows of each share no cell of it."""
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
