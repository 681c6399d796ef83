"""What operations on single numbers leave of the columns that are no quasi-identifiers, counted on the raw rows."""

from collections.abc import Iterator
from typing import Any

from sfumato.engines.engine import Engine
from sfumato.microdata.measures.coded_columns import coded_column
from sfumato.microdata.plan.model import Plan
from sfumato.pipelines.stages.counting import reading_of

# Of more rows the numbers of a column are not counted one by one.
MOST_ROWS = 2_000_000


def coded_columns(plan: Plan, source: Engine, rows: int) -> Iterator[dict[str, Any]]:
    """The columns that are published rounded, limited or in intervals, with what is left of them."""
    for name, column in plan.columns.items():
        if column.operations is None or name in plan.withheld_columns or rows > MOST_ROWS:
            continue
        counted = source.count((name,), reading_of(plan))
        codes = zip(counted.codes[:, 0].tolist(), counted.counts.tolist(), strict=True)
        texts = {counted.values[0][code]: count for code, count in codes}
        coded = coded_column(
            name, column.operations, {text: count for text, count in texts.items() if text is not None}
        )
        if coded is not None:
            yield coded.to_dict()
