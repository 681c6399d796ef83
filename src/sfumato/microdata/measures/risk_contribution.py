"""Contribution of each column, and of each level of its generalization, to the re-identification risk.

Each column is examined alone: the number of unique rows and the average risk when it is left out or generalized to a
level while all other columns stay unchanged.
"""

from dataclasses import replace

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Grouper
from sfumato.microdata.measures.subset_grouping import Regrouper
from sfumato.microdata.models.equivalence_classes import Counts

# Limit of the work, about a second: combinations times levels.
MAX_WORK = 60_000_000


@dataclass(frozen=True, slots=True)
class Contribution:
    """The change of the risk when one column is generalized or left out.

    Attributes:
        level: The level it is generalized to; None if it is left out.
        uniques_before, uniques: Unique rows before and after; average_before, average: the average risk.
    """

    column: str
    level: int | None
    uniques_before: int
    uniques: int
    average_before: float
    average: float

    def __str__(self) -> str:
        """The contribution as a sentence.

        >>> str(Contribution("zip", 3, 812, 9, 0.4, 0.1))
        'zip to level 3: uniques fall from 812 to 9'
        """
        what = f"without {self.column}" if self.level is None else f"{self.column} to level {self.level}"
        return f"{what}: uniques fall from {self.uniques_before:,} to {self.uniques:,}"


def of_columns(table: FrequencyTable, work: int = MAX_WORK) -> tuple[Contribution, ...]:
    """Return the contribution of each column: the risk without it; nothing if the table is too large."""
    if len(table.columns) * len(table.counts) > work:
        return ()
    grouper = Regrouper(table)
    every = range(len(table.columns))
    return tuple(
        _contribution(table, column, None, grouper.by([other for other in every if other != column])[1])
        for column in every
    )


def of_steps(table: FrequencyTable, work: int = MAX_WORK) -> tuple[Contribution, ...]:
    """Return the risk reduction of each level of each hierarchy; nothing if the table is too large."""
    steps = sum(ladder.height - 1 for ladder in table.ladders)
    if steps * len(table.counts) > work:
        return ()
    # Only sizes are needed, so the contents of classes are not aggregated.
    grouper = Grouper(replace(table, sensitive={}, persons={}))
    contributions = []
    for column, ladder in enumerate(table.ladders):
        below = grouper.base
        for level in range(1, ladder.height):
            node = tuple(level if place == column else 0 for place in range(len(table.columns)))
            below = grouper.rolled(below, node)
            contributions.append(_contribution(table, column, level, below.sizes))
    return tuple(contributions)


def _contribution(table: FrequencyTable, column: int, level: int | None, sizes: Counts) -> Contribution:
    rows = max(table.rows, 1)
    return Contribution(
        table.columns[column],
        level,
        int((table.counts == 1).sum()),
        int((sizes == 1).sum()),
        len(table.counts) / rows,
        len(sizes) / rows,
    )
