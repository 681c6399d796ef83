"""Perturbation tables: one row per count, the last for all larger ones, with lookup by key."""

from functools import cache

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.localization.messages import Message
from sfumato.tables.cell_key.ptable_rows import PtableRow, row_of
from sfumato.tables.cells.system import Numbers, Places
from sfumato.tables.plan.sections import CellKey

# Deviation of a row's variance from the requested one that is still accepted without a note.
MISSED = 1e-9


@dataclass(frozen=True, slots=True)
class Ptable:
    """A perturbation table.

    Attributes:
        rows: The rows of the counts 1, 2, …; the last one applies to all larger counts.
        variance: The requested variance; None if the table was read from a file.
    """

    rows: tuple[PtableRow, ...]
    variance: float | None = None

    @property
    def deviation(self) -> int:
        """The largest deviation."""
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
