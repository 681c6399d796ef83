"""Perturbation tables: one row per count, the last for all larger ones, with lookup by key."""

from functools import cache

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.tables.cell_key.rows import Row, row_of
from sfumato.tables.cells.cells import Numbers, Places
from sfumato.tables.plan.perturbation import CellKey

# How far a row's variance may be off what is asked for before it is said.
MISSED = 1e-9


@dataclass(frozen=True, slots=True)
class Ptable:
    """A perturbation table.

    Attributes:
        rows: The rows of the counts 1, 2, …; the last one is for all counts from there on.
        variance: The variance asked for; None where the table was read from a file.
    """

    rows: tuple[Row, ...]
    variance: float | None = None

    @property
    def deviation(self) -> int:
        """The largest deviation."""
        return max(int(np.abs(row.targets - row.count)[row.chances > 0].max(initial=0)) for row in self.rows)

    @property
    def js(self) -> int:
        """No count from 1 to this one is published."""
        targets = [int(target) for row in self.rows for target in row.targets[row.chances > 0] if target > 0]
        return min(targets) - 1 if targets else 0

    @property
    def missed(self) -> tuple[Row, ...]:
        """The rows whose variance is not the one asked for."""
        asked = self.variance
        return () if asked is None else tuple(row for row in self.rows if abs(row.variance - asked) > MISSED)

    def row(self, count: int) -> Row:
        """The row of a count."""
        return self.rows[min(count, len(self.rows)) - 1]

    def noise(self, counts: Places, chances: Numbers) -> Places:
        """The noise of each count; none for 0.

        The targets ascend, and the first whose cumulated probability lies above the chance is taken.

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


def _looked_up(row: Row, chances: Numbers) -> Places:
    possible = row.chances > 0
    ends = np.cumsum(row.chances[possible])
    # Nothing lies above the last end, whatever the last digits of the sum.
    ends[-1] = np.inf
    return np.asarray((row.targets[possible] - row.count)[np.searchsorted(ends, chances, side="right")])


@cache
def make_ptable(design: CellKey) -> Ptable:
    """The perturbation table of maximal entropy.

    Raises:
        UnattainableError: The variance is too small for js, or a row has no solution; the text says which.
    """
    small = range(1, design.js + 1)
    least = max((count * (design.js + 1 - count) for count in small), default=0)
    if design.variance < least:
        raise UnattainableError(
            f"a variance of {design.variance:g} is too small for js = {design.js}: a count of at most {design.js} "
            f"becomes 0 or at least {design.js + 1}, which alone has a variance of {least}.",
            f"Take V of at least {least}, or a smaller js.",
            "ptable",
        )
    last = design.deviation + (design.js + 1 if design.js else 0)
    return Ptable(tuple(row_of(count, design) for count in range(1, last + 1)), design.variance)


def remarks(table: Ptable) -> list[str]:
    """What is to be said of a table: the rows that miss the variance."""
    return [
        f"The row of the count {row.count} has a variance of {row.variance:.6g} instead of {table.variance:g}."
        for row in table.missed
    ]
