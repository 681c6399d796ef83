"""Counts shared by several stages: small files are counted once by all their columns, then aggregated."""

from collections.abc import Callable, Sequence

from sfumato.engines.engine import Engine, MissingRules
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.counts.marginal_counts import counted_by
from sfumato.microdata.plan.model import Plan

# Up to this many rows and columns, all columns are counted once together.
MOST_AT_ONCE = 200_000
MOST_COLUMNS = 40
# Maximum number of codes kept for later counts.
MOST_KEPT = 20_000_000


class SharedCounts:
    """The counts of the original and published rows of a release.

    Attributes:
        rows: The approximate number of rows, or None if unknown.
    """

    def __init__(self, plan: Plan, source: Engine) -> None:
        together = (*plan.quasi_identifiers, *plan.value_columns, *other_columns(plan))
        self.rows = source.expected_rows()
        self._columns = tuple(dict.fromkeys(together)) if len(together) <= MOST_COLUMNS else ()
        self._kept: dict[tuple[int, MissingRules, tuple[str, ...]], ValueCounts] = {}
        self._free = MOST_KEPT

    def count(self, rows: Engine, columns: Sequence[str], reading: MissingRules) -> ValueCounts:
        """Count the rows of an engine by some columns, as the engine would."""
        few = self.rows is not None and self.rows <= MOST_AT_ONCE
        if not few or not set(columns) <= set(self._columns) or not set(self._columns) <= set(rows.columns):
            return self._once(rows, tuple(columns), reading, rows.count)
        whole = self._once(rows, self._columns, reading, rows.count)
        return self._once(rows, tuple(columns), reading, lambda names, _: counted_by(whole, names))

    def _once(
        self, rows: Engine, columns: tuple[str, ...], reading: MissingRules, count: Callable[..., ValueCounts]
    ) -> ValueCounts:
        """Return the counts by some columns, from earlier counts if available."""
        key = id(rows), reading, columns
        if key in self._kept:
            return self._kept[key]
        text_counts = count(columns, reading)
        if text_counts.codes.size <= self._free:
            self._free -= text_counts.codes.size
            self._kept[key] = text_counts
        return text_counts


def other_columns(plan: Plan) -> tuple[str, ...]:
    """Return the published columns that are no quasi-identifiers, including weights."""
    weights = (name for name in plan.named("weight") if name not in plan.removed_columns)
    return (*plan.shown_sensitive, *plan.named("insensitive"), *weights)
