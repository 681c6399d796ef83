"""Facts about respondents that a published file discloses, as inputs for the sensitivity rules.

A file may lack the columns that the rules use and still prove that a cell is sensitive. Two records come from at most
two respondents, and each of two respondents can compute the other's contribution. Each rule is therefore evaluated on
the least sensitive inputs that are consistent with the file: as many respondents as possible, with equal contributions.
A cell that is sensitive under these inputs is sensitive whatever the omitted columns contain.
"""

from collections.abc import Mapping

import numpy as np

from sfumato.tables.cell_labels import MASK
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers, Places
from sfumato.tables.plan.rules import RuleInputs
from sfumato.tables.plan.sections import COUNT, TableSource
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.resolve_plan import as_counts
from sfumato.tables.published_tables.parse_cells import read_texts
from sfumato.values import Value, replace


class ShownFacts(Value):
    """What a published file discloses about the cells of a table.

    Attributes:
        known: The rule inputs that the file shows; NaN where it shows none.
        respondents: Bounds on the number of respondents of each cell.
        holdings: Bounds on the number of holdings of each cell.
        records: Whether the values are whole numbers of records, with at least one per respondent.
        source: The meaning of the columns.
    """

    known: RuleInputs
    respondents: Bounds
    holdings: Bounds
    records: bool
    source: TableSource

    @property
    def complete(self) -> RuleInputs:
        """The rule inputs without columns that lack a number for some published cell.

        Rules cannot be evaluated on such columns.
        """
        known, shown = self.known, ~np.isnan(self.known.values)

        def whole(column: Numbers | None) -> Numbers | None:
            return None if column is None or np.isnan(column[shown]).any() else column

        return replace(known, frequency=whole(known.frequency), holdings=whole(known.holdings))

    @property
    def least_sensitive(self) -> RuleInputs:
        """The least sensitive rule inputs of all cells consistent with the file."""
        every = np.arange(len(self.known.values))
        return replace(self.least_sensitive_at(every, self.known.values), lines=self.known.lines)

    def least_sensitive_at(self, cells: Places, values: Numbers) -> RuleInputs:
        """Return the least sensitive rule inputs of some cells consistent with the file, assuming the given values."""
        known, not_zero = self.known, values != 0
        respondents = self.respondents.rows(cells)
        if known.counts or self.records:
            respondents = Bounds(respondents.low, np.fmin(respondents.high, values))
        people = _max_people(respondents, not_zero)
        holdings = np.minimum(_max_people(self.holdings.rows(cells), not_zero), people)
        shown = _rows(known.contributions, cells) or self._equal_contributions(
            values, holdings, len(self.source.contributions)
        )
        singles = _rows(known.singles, cells) or self._equal_contributions(values, people, len(self.source.respondents))
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

    def _equal_contributions(self, values: Numbers, people: Numbers, largest: int) -> tuple[Numbers, ...]:
        """Return the largest contributions if all respondents of a cell contribute equally.

        They are 0 if a shadow variable is used for contributions, because its unit is unknown.
        """
        each = np.abs(values) / np.maximum(people, 1.0) * (self.source.shadow is None)
        return tuple(np.where(people > place, each, 0.0) for place in range(largest))


def shown_facts(
    plan: TablePlan, columns: TextColumns, exact: Numbers, finest: BoolArray, lines: Mapping[str, Places]
) -> ShownFacts:
    """Return the facts about respondents that a published file discloses.

    Args:
        exact: The published values; NaN if suppressed.
        finest: Whether each cell is not a total of other cells.
        lines: For each dimension, the position of the total that each cell is a part of.
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
    """Return bounds on the number of respondents or holdings from a column, which may itself have suppressed cells."""
    if name is None or name not in columns:
        return Bounds(np.zeros(size), np.full(size, np.inf))
    exact, ranges = read_texts(tuple(text or MASK for text in columns.text(name)), name)
    low, high = (np.where(np.isnan(exact), end, exact) for end in (ranges.low, ranges.high))
    return Bounds(np.nan_to_num(low), np.where(np.isnan(high), np.inf, high))


def _exactly(people: Bounds) -> Numbers:
    return np.where(people.low == people.high, people.low, np.nan)


def _max_people(people: Bounds, not_zero: BoolArray) -> Numbers:
    """Return the maximum number of people; 0 for cells that may be empty."""
    return np.where((people.low > 0) | not_zero, people.high, 0.0)


def _largest(columns: TextColumns, names: tuple[str, ...]) -> tuple[Numbers, ...]:
    """Return the columns of the largest contributions; none unless the file has all of them."""
    return tuple(columns.optional(name) for name in names) if all(name in columns for name in names) else ()


def _rows(contributions: tuple[Numbers, ...], cells: Places) -> tuple[Numbers, ...]:
    return tuple(column[cells] for column in contributions)
