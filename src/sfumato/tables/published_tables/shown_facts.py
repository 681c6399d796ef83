"""What a published file proves of those behind its cells: by its columns, or by its values where it has none.

A file may lack the columns that rules look at and still prove that a cell is sensitive: of 2 records, no more than 2
respondents have any, and of 2 respondents, each one learns the other. So each rule judges the safest of all that agree
with the file: the largest number of respondents, each of whom contributes the same. What is sensitive then is sensitive
whatever the file leaves out.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cell_labels import MASK
from sfumato.tables.cells.cells import BoolArray, Bounds, Numbers, Places
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.plan.rule_inputs import RuleInputs
from sfumato.tables.plan.source import COUNT, TableSource
from sfumato.tables.protection_levels.resolve_plan import as_counts
from sfumato.tables.published_tables.parse_cells import read_texts


@dataclass(frozen=True, slots=True)
class ShownFacts:
    """What a file shows of the cells of a table.

    Attributes:
        known: What rules may look at as the file shows it; not a number where it shows nothing.
        respondents: Between which numbers the respondents of each cell are.
        holdings: Between which numbers the holdings behind them are.
        records: Whether the values are whole numbers of records, of which each respondent has one at least.
        source: What the columns mean.
    """

    known: RuleInputs
    respondents: Bounds
    holdings: Bounds
    records: bool
    source: TableSource

    @property
    def complete(self) -> RuleInputs:
        """The facts without columns that say nothing of a published cell: a rule cannot be judged by these."""
        known, shown = self.known, ~np.isnan(self.known.values)

        def whole(column: Numbers | None) -> Numbers | None:
            return None if column is None or np.isnan(column[shown]).any() else column

        return replace(known, frequency=whole(known.frequency), holdings=whole(known.holdings))

    @property
    def safest(self) -> RuleInputs:
        """The safest facts of all cells that agree with the file."""
        every = np.arange(len(self.known.values))
        return replace(self.safest_at(every, self.known.values), lines=self.known.lines)

    def safest_at(self, cells: Places, values: Numbers) -> RuleInputs:
        """The safest facts of some cells that agree with the file, if they have these values."""
        known, there = self.known, values != 0
        respondents = self.respondents.rows(cells)
        if known.counts or self.records:
            respondents = Bounds(respondents.low, np.fmin(respondents.high, values))
        people = _most(respondents, there)
        holdings = np.minimum(_most(self.holdings.rows(cells), there), people)
        shown = _rows(known.contributions, cells) or self._alike(values, holdings, len(self.source.contributions))
        singles = _rows(known.singles, cells) or self._alike(values, people, len(self.source.respondents))
        return replace(
            known,
            values=values,
            frequency=people,
            holdings=holdings,
            contributions=shown,
            finest=known.finest[cells],
            columns=known.columns.rows(cells),
            singles=singles,
            lines={},
        )

    def _alike(self, values: Numbers, people: Numbers, largest: int) -> tuple[Numbers, ...]:
        """The largest contributions to cells in which all contribute the same; of a shadow, nobody knows the unit."""
        each = np.abs(values) / np.maximum(people, 1.0) * (self.source.shadow is None)
        return tuple(np.where(people > place, each, 0.0) for place in range(largest))


def shown_facts(
    plan: TablePlan, columns: TextColumns, exact: Numbers, finest: BoolArray, lines: Mapping[str, Places]
) -> ShownFacts:
    """Return what a published file shows.

    Args:
        exact: The published values; not a number where suppressed.
        finest: Cells that are no total of others.
        lines: For each dimension, the place of the total that each cell is a part of.
    """
    source, size = plan.table, len(exact)
    counts, named = as_counts(source, exact), {getattr(rule, "column", "") for rule in plan.primary}
    respondents, holdings = (_people(columns, name, size) for name in (source.frequency, source.holdings))
    shown = exact[~np.isnan(exact)]
    known = RuleInputs(
        values=exact,
        frequency=_exactly(respondents) if source.frequency in columns else counts,
        holdings=_exactly(holdings) if source.holdings in columns else None,
        contributions=_largest(columns, source.contributions),
        finest=finest,
        counts=counts is not None,
        columns=TextColumns({name: columns.text(name) for name in named if name in columns}),
        singles=_largest(columns, source.respondents),
        lines=lines,
        records=source.value == COUNT,
    )
    return ShownFacts(known, respondents, holdings, known.records and np.array_equal(shown, np.round(shown)), source)


def _people(columns: TextColumns, name: str | None, size: int) -> Bounds:
    """Between which numbers a column says that respondents or holdings are; it may be suppressed itself."""
    if name is None or name not in columns:
        return Bounds(np.zeros(size), np.full(size, np.inf))
    exact, ranges = read_texts(tuple(text or MASK for text in columns.text(name)), name)
    low, high = (np.where(np.isnan(exact), end, exact) for end in (ranges.low, ranges.high))
    return Bounds(np.nan_to_num(low), np.where(np.isnan(high), np.inf, high))


def _exactly(people: Bounds) -> Numbers:
    return np.where(people.low == people.high, people.low, np.nan)


def _most(people: Bounds, there: BoolArray) -> Numbers:
    """The largest number of people; nobody where there may be nobody."""
    return np.where((people.low > 0) | there, people.high, 0.0)


def _largest(columns: TextColumns, names: tuple[str, ...]) -> tuple[Numbers, ...]:
    """The largest contributions where a file shows all of them."""
    return tuple(columns.optional(name) for name in names) if all(name in columns for name in names) else ()


def _rows(contributions: tuple[Numbers, ...], cells: Places) -> tuple[Numbers, ...]:
    return tuple(column[cells] for column in contributions)
