"""What is preserved of columns that are no quasi-identifiers: after numeric coding, and their distributions."""

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.engines.engine import Engine, MissingRules
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.measures.coded_columns import coded_column
from sfumato.microdata.measures.value_shares import coded_shares, counted_shares
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.recoding import tells_something
from sfumato.pipelines.release_stages.missing_rules import published_reading, reading_of
from sfumato.pipelines.release_stages.shared_counts import SharedCounts

# Above this number of rows, the numbers of a column are not counted one by one.
MOST_ROWS = 2_000_000
# Maximum number of cells of sensitive columns counted again for their distributions.
MOST_CELLS = 20_000_000


def coded_columns(plan: Plan, source: Engine, rows: int) -> Iterator[dict[str, Any]]:
    """Yield the columns published rounded, limited or in intervals, with what is preserved of them."""
    for name, column in plan.columns.items():
        if column.operations is None or name in plan.removed_columns or rows > MOST_ROWS:
            continue
        texts = _texts(source.count((name,), reading_of(plan)))
        coded = coded_column(
            name, column.operations, {text: count for text, count in texts.items() if text is not None}
        )
        if coded is not None:
            yield {**coded.to_dict(), "shares": coded_shares(column.operations, texts)}


def sensitive_shares(
    plan: Plan, source: Engine, published: Engine, shared: SharedCounts, rows: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the distribution of each published sensitive column before and after, except for transformed ones."""
    names = [name for name in plan.shown_sensitive if plan.columns[name].operations is None]
    reading = published_reading(plan, source)
    for name in names[: MOST_CELLS // max(2 * rows, 1)]:
        before = _texts(shared.count(source, (name,), reading))
        after = _texts(shared.count(published, (name,), MissingRules(plan.data.missing)))
        shares, others = counted_shares(before, after, plan.columns[name].holds_numbers)
        yield name, {"shares": shares, "others": others}


def _texts(counted: ValueCounts) -> Mapping[str | None, int]:
    """Return the number of rows of each text of a column; a star is a missing value."""
    rows: dict[str | None, int] = {}
    for (code,), count in zip(counted.codes.tolist(), counted.counts.tolist(), strict=True):
        text = counted.values[0][code]
        told = text if tells_something(text) else None
        rows[told] = rows.get(told, 0) + count
    return rows
