"""Limits of top and bottom coding: those that are shares of the rows become numbers, as the rows have them."""

from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.engines.engine import Engine, Reading
from sfumato.hierarchies.types import canonical
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.publishing.plan import Limit, PublishPlan, limit_at
from sfumato.microdata.recoding.grids import number_grid


def with_limits(plan: Plan, source: Engine) -> Plan:
    """The plan with limits of top and bottom coding that were shares of the rows as numbers."""
    columns = dict(plan.columns)
    for name, column in plan.columns.items():
        publish = column.published
        if publish is None or not publish.shares:
            continue
        columns[name] = replace(column, publish=_limited(publish, *_values(plan, source, name)))
    return replace(plan, columns=columns)


def _values(plan: Plan, source: Engine, name: str) -> tuple[Any, Any]:
    """The numbers of a column, ascending, and how many rows have each."""
    text_counts = source.count((name,), Reading())
    texts = text_counts.values[0]
    present = [text for text in texts if text is not None and text not in plan.data.missing]
    forms, _ = canonical(present, "decimal")
    numbers = dict(zip(present, forms, strict=True))
    pairs = [
        (float(form), int(rows))
        for (code,), rows in zip(text_counts.codes.tolist(), text_counts.counts.tolist(), strict=True)
        if (form := numbers.get(texts[code] or "")) is not None
    ]
    values = sorted(pairs)
    return np.array([value for value, _ in values]), np.array([rows for _, rows in values])


def _limited(publish: PublishPlan, values: Any, rows: Any) -> PublishPlan:
    def at(limit: float | Limit | None) -> float | Limit | None:
        if not isinstance(limit, Limit) or limit.share is None:
            return limit
        ends = np.cumsum(rows)
        place = int(np.searchsorted(ends, limit.share * ends[-1] - 1e-9)) if len(ends) else 0
        return limit_at(_between(values, min(place, len(values) - 1), 1 if limit is publish.top else -1))

    return replace(publish, top=at(publish.top), bottom=at(publish.bottom))


def _between(values: Any, place: int, side: int) -> float:
    """The roundest number between a value and its neighbor on a side, so that the limit is nobody's own value.

    >>> _between(np.array([1000.0, 8382.0, 9120.0]), 1, 1), _between(np.array([3.0, 4.0]), 0, 1)
    (9000.0, 3.0)
    """
    if not 0 <= place < len(values):
        return 0.0
    if not 0 <= place + side < len(values):
        return float(values[place])
    grid = number_grid(values)
    low, high = sorted(int(step) for step in grid.below(values[[place, place + side]]))
    if high - low < 2:
        return float(values[place])
    return float(grid.text(grid.roundest(low + 1, high - 1)))
