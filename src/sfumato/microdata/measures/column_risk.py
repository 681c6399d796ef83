"""Risk by column: how well each set of columns distinguishes rows, and what each column contributes to the risk.

Motwani, R., Xu, Y. (2007). Efficient algorithms for masking and finding quasi-identifiers,
https://theory.stanford.edu/~xuying/papers/minkey_vldb07.pdf. The distinction of a set of columns is the number of
distinct combinations / rows, its separation the share of all pairs of rows that differ in at least one of the columns.
With up to `MAX_COLUMNS` columns all sets are measured; with more, or if the table is too large, the most distinguishing
ones are extended by one column each until `limit` sets were measured. The result says so.

The contribution of a column is the number of unique rows and the average risk when it alone is left out or generalized
to a level.
"""

import heapq
from collections.abc import Iterator, Sequence
from math import inf

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Grouper, Regrouper
from sfumato.microdata.measures.uniques import ColumnSet, column_sets
from sfumato.microdata.models.equivalence_classes import Counts
from sfumato.values import Value, replace

MAX_COLUMNS = 10
LIMIT = 1_000
# Limit of the work, about a second: combinations times sets.
MAX_WORK = 60_000_000


class ColumnSetRisk(Value):
    """How well a set of columns distinguishes rows."""

    columns: tuple[str, ...]
    classes: int
    uniques: int
    distinction: float
    separation: float


class Subsets(Value):
    """All sets of columns that were measured, the most distinguishing of each size first.

    Attributes:
        complete: Whether all sets were measured.
        total: The number of sets.
    """

    sets: tuple[ColumnSetRisk, ...]
    total: int
    complete: bool


def all_sets(table: FrequencyTable) -> list[list[ColumnSet]] | None:
    """Return all sets of quasi-identifiers by size, the largest first; None above the limit."""
    width = len(table.columns)
    few = width <= MAX_COLUMNS and (2**width - 1) * len(table.counts) <= MAX_WORK * 4
    return list(column_sets(table, width)) if few else None


def subsets(table: FrequencyTable, limit: int = LIMIT, known: Sequence[Sequence[ColumnSet]] | None = None) -> Subsets:
    """Measure the sets of quasi-identifiers of a table.

    Args:
        known: All sets, if already computed.
    """
    width = len(table.columns)
    every = all_sets(table) if known is None else known
    if every is not None:
        sets = [_risk_of(table, one.columns, one.classes, one.uniques, one.pairs) for level in every for one in level]
    else:
        sets = list(_best_first(table, min(limit, max(width, MAX_WORK // max(len(table.counts), 1)))))
    sets.sort(key=lambda telling: (len(telling.columns), -telling.distinction, -telling.separation, telling.columns))
    return Subsets(tuple(sets), 2**width - 1, len(sets) == 2**width - 1)


def _risk_of(table: FrequencyTable, chosen: Sequence[int], classes: int, uniques: int, pairs: float) -> ColumnSetRisk:
    """Return the risk of a set of columns; `pairs` are ordered pairs of rows in one class."""
    rows = table.rows
    separation = 1 - pairs / (rows * (rows - 1)) if rows > 1 else 0.0
    return ColumnSetRisk(
        tuple(table.columns[column] for column in chosen), classes, uniques, classes / max(rows, 1), separation
    )


def _best_first(table: FrequencyTable, limit: int) -> Iterator[ColumnSetRisk]:
    """Yield single columns first, then the most distinguishing sets extended by one column, up to the limit."""
    grouper = Regrouper(table)
    width = len(table.columns)
    waiting: list[tuple[float, tuple[int, ...]]] = [(-inf, (column,)) for column in range(width)]
    seen = {chosen for _, chosen in waiting}
    measured = 0
    while waiting and measured < limit:
        _, chosen = heapq.heappop(waiting)
        sizes = grouper.sizes_by(chosen)[1]
        pairs = float((sizes.astype(float) * (sizes - 1)).sum())
        telling = _risk_of(table, chosen, len(sizes), int((sizes == 1).sum()), pairs)
        measured += 1
        yield telling
        for more in range(width):
            wider = tuple(sorted({*chosen, more}))
            if wider not in seen:
                seen.add(wider)
                heapq.heappush(waiting, (-telling.distinction / len(wider), wider))


class Contribution(Value):
    """The change of the risk when one column is generalized or left out.

    Attributes:
        level: The level it is generalized to; None if it is left out.
        uniques_before: Unique rows before.
        uniques: Unique rows after.
        average_before: Average risk before.
        average: Average risk after.
    """

    column: str
    level: int | None
    uniques_before: int
    uniques: int
    average_before: float
    average: float

    def __str__(self) -> str:
        """Return the contribution as a sentence.

        >>> str(Contribution("zip", 3, 812, 9, 0.4, 0.1))
        'zip to level 3: uniques fall from 812 to 9'
        """
        what = f"without {self.column}" if self.level is None else f"{self.column} to level {self.level}"
        return f"{what}: uniques fall from {self.uniques_before:,} to {self.uniques:,}"


def of_columns(table: FrequencyTable, work: int = MAX_WORK) -> tuple[Contribution, ...]:
    """Return the contribution of each column, the risk without it; empty if the table is too large."""
    if len(table.columns) * len(table.counts) > work:
        return ()
    grouper = Regrouper(table)
    every = range(len(table.columns))
    return tuple(
        _contribution(table, column, None, grouper.by([other for other in every if other != column])[1])
        for column in every
    )


def of_steps(table: FrequencyTable, work: int = MAX_WORK) -> tuple[Contribution, ...]:
    """Return the risk reduction of each level of each hierarchy; empty if the table is too large."""
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
