"""Proportion of a column's distinct values that the published labels still distinguish.

A loss is a mean over rows and over the domain, and may hide a collapse: a column published as `2000-2199` in every row
may lose only 10 % of a domain that a typing error stretched, yet distinguishes no rows. This measure reports 1 value
left.
"""

from collections.abc import Iterator
from typing import Any

from sfumato.microdata.column_transforms.number_parsing import read_numbers
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.measures.recoded_view import RecodedView
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.recoding import Recoding, tells_something

# A verdict mentions columns whose operations leave at most this number of values.
_FEW = 2


def values_left(view: RecodedView, recoding: Recoding) -> dict[str, dict[str, float]]:
    """Return for each quasi-identifier its distinct values, the informative published labels, and their ratio.

    A missing value is neither a value nor a label. Labels that overlap may be more than the values.
    """
    figures = {}
    for place, column in enumerate(view.columns):
        labels = zip(recoding.labels[place], column.label_rows.tolist(), strict=True)
        after = sum(rows > 0 and tells_something(label) for label, rows in labels)
        before = view.table.value_count(place)
        figures[column.name] = {"before": before, "after": after, "share": min(after / before, 1.0) if before else 1.0}
    return figures


def few_values_left(plan: Plan, table: FrequencyTable) -> Iterator[dict[str, Any]]:
    """Yield the columns whose operations (`publish`) leave only one or two values, and the numbers before and after."""
    for name, column in plan.columns.items():
        if column.operations is None or name not in table.spellings:
            continue
        values = table.sensitive_values[name]
        left = sum(value is not None for value in values)
        texts = [text for text, code in table.spellings[name].items() if text is not None and values[code] is not None]
        before = len({*read_numbers(texts)})
        if left <= _FEW < before:
            yield {"column": name, "values": before, "left": left}
